// Package assembly puts a memoryd together: it opens the stores that are SQLite
// files, checks that sessions and memories belong together, and connects both
// with an embedder, an extractor, a reranker and an expander. memoryd.Open, the command and
// the evaluations all use it, so that each of them runs the same memoryd.
//
// The package imports no vendor's library: a program that embeds memoryd links
// Redis, Qdrant and models of others only if it names them itself.
package assembly

import (
	"log/slog"
	"time"

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
	Zone        *time.Location    // of events and questions without one. Defaults to none, as in ingest and retrieve.
	Log         *slog.Logger      // Defaults to discarding.
	Now         func() time.Time  // The clock, that of the stores. Defaults to time.Now.
}

// Parts work on two stores: Ingest makes memories of sessions, Retriever finds
// them.
type Parts struct {
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
	return Parts{
		Ingest: ingest.New(sessions, memories, o.Embedder, o.Extractor, &ingest.Options{
			Workers: o.Workers, MaxWatchers: o.MaxWatchers,
			Processors: o.Processors, MaxAttempts: o.MaxAttempts, Fallback: o.Fallback, Zone: o.Zone, Log: o.Log,
			Now:      o.Now,
			Together: Together(sessions, memories)}),
		Retriever: retrieve.New(memories, o.Embedder, &retrieve.Options{
			Reranker: o.Reranker, Reranked: o.Reranked, Expander: o.Expander, Zone: o.Zone, Log: o.Log,
			Now: o.Now,
		}),
	}
}

// ModelOf returns the model of memories that this version makes with an embedder.
func ModelOf(e embed.Embedder) memory.Model {
	return memory.Model{
		Embedder: e.Model().Name, Dimension: e.Model().Dimension, Analyzer: analyzer.Name, Keys: canonical.Version,
	}
}
