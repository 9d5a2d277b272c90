package memoryd

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sourcegraph/conc"
	"go.opentelemetry.io/otel/trace"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/internal/assembly"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
	"github.com/memoryd/memoryd/server"
)

// Options choose the parts of a memoryd.
type Options struct {
	Embedder  embed.Embedder    // Defaults to embed.Builtin.
	Extractor extract.Extractor // Defaults to the rules.
	Fallback  extract.Extractor // finds facts while Extractor fails. Defaults to none.
	Reranker  retrieve.Reranker // Defaults to none.
	Reranked  int               // matches that it sees, up to 50. Defaults to 30.
	Expander  retrieve.Expander // Defaults to none.
	Workers   int               // users whose memories are made at a time. Defaults to 4.
	// CacheBytes bounds what searches keep in memory of a Bank that Open makes, all
	// users together. Defaults to 512 MiB.
	CacheBytes int64
	// MaxState bounds the state of a session, of a user and of an app of a Bank that
	// Open makes, each in bytes. Defaults to sessionstore.DefaultMaxState.
	MaxState int64
	// MaxSessions is how many sessions a user of an app may have in a Bank that Open
	// makes. Defaults to any number.
	MaxSessions int
	// SessionTTL is how long after its last event or change a session expires, in a Bank
	// that Open makes, if it has no time of its own. Defaults to never.
	SessionTTL time.Duration
	// Limits bound what the memory of one user has. Defaults to none.
	Limits ingest.Limits
	// SharedLimits bound the shared knowledge of one app. Defaults to none.
	SharedLimits ingest.Limits
	// MaxWatchers is how many streams and waiting requests may watch operations.
	// Defaults to ingest.DefaultMaxWatchers.
	MaxWatchers int
	// SweepAfter is how long an expired memory can be brought back, before it is removed for
	// good; negative keeps it. Defaults to ingest.DefaultSweepAfter.
	SweepAfter time.Duration
	// Processors is how many there are for what requests and ingestion compute.
	// Defaults to GOMAXPROCS.
	Processors int
	// TimeZone is that of events, facts and questions which come without an offset and
	// whose request names none: "today" is the day there. Defaults to none: their days
	// are those of UTC, and no offset is kept.
	TimeZone *time.Location
	// Tracer begins the spans of requests, of batches and of their steps. Defaults to none.
	Tracer trace.Tracer
	// TraceContent has spans show what was said, asked and answered.
	TraceContent bool
	// Server has the options of the HTTP API. Its Log, Tracer and TraceContent are those
	// above unless it has a Log or a Tracer of its own. Its Checks default in Open to one
	// of the file.
	Server server.Options
	Log    *slog.Logger // Defaults to discarding.
}

// Bank is a whole memoryd in this process: it serves the HTTP API and makes
// memories. Package client calls it without a network in between.
type Bank struct {
	ingest    *ingest.Service
	retriever *retrieve.Retriever
	server    *server.Server
	close     func() error // of a Bank that Open made
}

// New makes a Bank of two stores, which the caller closes. It makes memories
// while Run runs.
func New(sessions ingest.Sessions, memories memory.Store, opts *Options) *Bank {
	o := Options{}
	if opts != nil {
		o = *opts
	}
	if o.Server.Log == nil {
		o.Server.Log = o.Log
	}
	if o.Server.Tracer == nil {
		o.Server.Tracer, o.Server.TraceContent = o.Tracer, o.TraceContent
	}
	o.Server.Processors = o.Processors
	bank := &Bank{close: func() error { return nil }}
	parts := assembly.Connect(sessions, memories, &assembly.Options{Guarded: true, Account: bank.account,
		Embedder: o.Embedder, Extractor: o.Extractor,
		Fallback: o.Fallback, Reranker: o.Reranker, Reranked: o.Reranked, Expander: o.Expander, Workers: o.Workers,
		MaxWatchers: o.MaxWatchers, Processors: o.Processors, SweepAfter: o.SweepAfter, Zone: o.TimeZone,
		Limits: o.Limits, Shared: o.SharedLimits, Log: o.Log,
		Tracer: o.Tracer, TraceContent: o.TraceContent})
	bank.ingest, bank.retriever = parts.Ingest, parts.Retriever
	bank.server = server.New(parts.Sessions, parts.Memories, parts.Ingest, parts.Retriever, &o.Server)
	return bank
}

// Parts are what a Bank serves, behind its guards, for packages that serve it in another protocol.
// Their calls begin with Server.Enter: the context of a call without a principal reaches nothing.
type Parts struct {
	Ingest    *ingest.Service
	Retriever *retrieve.Retriever
	Server    *server.Server
}

// Parts returns the parts of the Bank.
func (b *Bank) Parts() Parts {
	return Parts{b.ingest, b.retriever, b.server}
}

// account tells the audit log of the facts that ingestion is about to change.
func (b *Bank) account(ctx context.Context, a ingest.Accounted) error {
	return b.server.Account(ctx, a)
}

// FileName is the name of the file that holds everything in a data directory.
const FileName = "memoryd.db"

// Open makes a Bank of the embedded stores in a directory, which it creates if
// it is missing, and makes memories until Close. ":memory:" as the directory
// keeps nothing. One process at a time can use a directory, be it this one or
// the command memoryd. Open refuses memories of another embedder: memoryd
// reembed moves them. An Open that fails creates no file and no directory.
//
// This package links the driver modernc.org/sqlite, which registers the name "sqlite" with database/sql
// when a program starts. A program that links another driver of that name ends there, with
// "sql: Register called twice for driver sqlite": github.com/glebarez/go-sqlite is one, and so is
// github.com/glebarez/sqlite, GORM's dialect over it. Drivers of the name "sqlite3" go beside this
// one: github.com/mattn/go-sqlite3, which needs cgo and which gorm.io/driver/sqlite takes, and
// github.com/ncruces/go-sqlite3/driver, which does not. A program that cannot change its driver calls a
// memoryd that runs as a server, by package client, which links none.
//
// zombiezen.com/go/sqlite has the same engine and registers nothing. It is no driver of
// database/sql, on which both embedded stores, backups and repair are built: about 9,500 lines
// of code that prepare, scan and hold transactions through it would change.
func Open(ctx context.Context, dir string, opts *Options) (*Bank, error) {
	o := Options{}
	if opts != nil {
		o = *opts
	}
	path := dir
	if dir != sqlitedb.Memory {
		path = filepath.Join(dir, FileName)
	}
	if o.Embedder == nil {
		o.Embedder = embed.Builtin{}
	}
	stores := assembly.NewStores()
	stores.Log = o.Log
	stores.CacheBytes, stores.MaxState, stores.MaxSessions = o.CacheBytes, o.MaxState, o.MaxSessions
	stores.SessionTTL = o.SessionTTL
	if err := stores.OpenBoth(ctx, path, assembly.ModelOf(o.Embedder)); err != nil {
		return nil, errors.Join(err, stores.Discard())
	}
	if o.Server.Backup == nil {
		o.Server.Backup = stores.Backup
	}
	if o.Server.Keys == nil {
		o.Server.Keys = stores.Sessions
	}
	if o.Server.Audit.To == nil {
		o.Server.Audit.To = stores.Sessions
	}
	if o.Server.Checks == nil {
		o.Server.Checks = stores.Checks
	}
	if o.Server.Figures == nil {
		o.Server.Figures = stores.Figures()
	}
	b := New(stores.Sessions, stores.Memories, &o)
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	var working conc.WaitGroup
	working.Go(func() { b.Run(work) })
	b.close = func() error {
		b.Stop()
		b.server.Close()
		stop()
		working.Wait()
		return stores.Close()
	}
	return b, nil
}

// ModelOf returns the model of memories that this version makes with an embedder:
// a memory store for New is opened for it.
func ModelOf(e embed.Embedder) memory.Model { return assembly.ModelOf(e) }

// ServeHTTP serves the HTTP API. After Close it answers 410.
func (b *Bank) ServeHTTP(w http.ResponseWriter, r *http.Request) { b.server.ServeHTTP(w, r) }

// Gatherer returns the metrics that GET /metrics shows.
func (b *Bank) Gatherer() prometheus.Gatherer { return b.server.Gatherer() }

// Run makes memories until ctx is over. It returns once the work that it has
// begun is finished, and the work that requests have left behind. Open calls Run
// itself; more calls do no harm.
func (b *Bank) Run(ctx context.Context) {
	var parts conc.WaitGroup
	parts.Go(func() { b.server.Run(ctx) })
	b.ingest.Run(ctx)
	parts.Wait()
	b.server.Wait()
}

// Stop ends the streams and the waiting requests of the HTTP API, before a
// shutdown.
func (b *Bank) Stop() { b.server.Stop() }

// Close finishes the requests and the work that have begun, and closes the
// stores that Open has opened. Later requests are answered 410.
func (b *Bank) Close() error { return b.close() }
