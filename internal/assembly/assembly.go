// Package assembly puts a memoryd together: it opens the stores that are SQLite
// files, checks that sessions and memories belong together, and connects both
// with an embedder, an extractor, a reranker and an expander. memoryd.Open, the command and
// the evaluations all use it, so that each of them runs the same memoryd.
//
// The package imports no vendor's library: a program that embeds memoryd links
// Redis, Qdrant and models of others only if it names them itself.
package assembly

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/memoryd/memoryd/access/guard"
	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/extract/canonical"
	"github.com/memoryd/memoryd/extract/rules"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/internal/analyzer"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
)

// Options choose the parts that work on the two stores.
type Options struct {
	Embedder    embed.Embedder    // Defaults to embed.Builtin.
	Extractor   extract.Extractor // Defaults to the rules.
	Fallback    extract.Extractor // finds facts while Extractor fails. Defaults to none.
	Reranker    retrieve.Reranker // Defaults to none.
	Reranked    int               // matches that it sees. Defaults to retrieve's.
	Expander    retrieve.Expander // Defaults to none.
	Workers     int               // users whose memories are made at a time. Defaults to ingest's.
	MaxWatchers int               // of operations. Defaults to ingest's.
	Processors  int               // that there are. Defaults to GOMAXPROCS.
	MaxAttempts int               // tries before an operation has failed. Defaults to ingest's.
	SweepAfter  time.Duration     // that expired memories stay. Defaults to ingest's; negative: for ever.
	Limits      ingest.Limits     // of what one user has. Defaults to none.
	Shared      ingest.Limits     // of the shared knowledge of one app. Defaults to none.
	Zone        *time.Location    // of events and questions without one. Defaults to none, as in ingest and retrieve.
	Log         *slog.Logger      // Defaults to discarding.
	Now         func() time.Time  // The clock, that of the stores. Defaults to time.Now.
	// Account is that of ingest. Defaults to nothing.
	Account func(context.Context, ingest.Accounted) error
	// Tracer begins the spans of batches, and TraceContent has spans show what was found.
	// Defaults to none.
	Tracer       trace.Tracer
	TraceContent bool
	// Guarded has the stores reached through guards alone: the context of every call
	// must have a principal. A server of requests needs it.
	Guarded bool
}

// Parts work on two stores: Ingest makes memories of sessions, Retriever finds
// them. The stores are those that the parts use, behind guards if the options say so.
type Parts struct {
	Sessions  ingest.Sessions
	Memories  memory.Store
	Ingest    *ingest.Service
	Retriever *retrieve.Retriever
}

// Connect makes the parts that work on sessions and memories.
func Connect(sessions ingest.Sessions, memories memory.Store, opts *Options) Parts {
	o := Options{}
	if opts != nil {
		o = *opts
	}
	if o.Embedder == nil {
		o.Embedder = embed.Builtin{}
	}
	if o.Extractor == nil {
		o.Extractor = rules.New()
	}
	together := Together(sessions, memories)
	if o.Guarded {
		sessions, memories, together = guard.Sessions(sessions), guard.Memories(memories), guard.Together(together)
	}
	service := ingest.New(sessions, memories, o.Embedder, o.Extractor, &ingest.Options{
		Workers: o.Workers, MaxWatchers: o.MaxWatchers,
		Processors: o.Processors, MaxAttempts: o.MaxAttempts, SweepAfter: o.SweepAfter,
		Fallback: o.Fallback, Zone: o.Zone, Log: o.Log,
		Now: o.Now, Limits: o.Limits, SharedLimits: o.Shared, Account: o.Account,
		Tracer: o.Tracer, TraceContent: o.TraceContent, Together: together})
	return Parts{
		Sessions: service.Sessions(), Memories: memories, Ingest: service,
		Retriever: retrieve.New(memories, o.Embedder, &retrieve.Options{
			Reranker: o.Reranker, Reranked: o.Reranked, Expander: o.Expander, Zone: o.Zone, Log: o.Log,
			Now: o.Now, Redact: service.Redactor().Query,
		}),
	}
}

// ModelOf returns the model of memories that this version makes with an embedder.
func ModelOf(e embed.Embedder) memory.Model {
	return memory.Model{
		Embedder: e.Model().Name, Dimension: e.Model().Dimension, Analyzer: analyzer.Name, Keys: canonical.Version,
	}
}
