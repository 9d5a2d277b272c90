package memoryd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"sync"

	"github.com/sourcegraph/conc"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/internal/analyzer"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/sqlitestore"
	"github.com/memoryd/memoryd/retrieve"
	"github.com/memoryd/memoryd/server"
	"github.com/memoryd/memoryd/sessionstore/sqlitesession"
)

// Options are what New and Open let one choose.
type Options struct {
	Embedder  embed.Embedder    // Defaults to embed.Builtin.
	Extractor extract.Extractor // Defaults to the rules.
	Fallback  extract.Extractor // finds facts while Extractor cannot. Defaults to none.
	Reranker  retrieve.Reranker // Defaults to none.
	Workers   int               // users whose memories are made at a time. Defaults to 4.
	Server    server.Options    // of the HTTP API. Its Log defaults to Log, its Checks in Open to one of the file.
	Log       *slog.Logger      // Defaults to discarding.
}

// Bank is a whole memoryd in this process: what serves the HTTP API, and what
// makes memories beside it. Package client calls it without a network in
// between.
type Bank struct {
	ingest *ingest.Service
	server *server.Server
	close  func() error // of a Bank that Open made

	requests sync.RWMutex // held by those that are served
	closed   bool
}

// New makes a Bank of two stores, which stay the caller's to close. It makes
// memories while Run runs.
func New(sessions ingest.Sessions, memories memory.Store, opts *Options) *Bank {
	o := Options{}
	if opts != nil {
		o = *opts
	}
	if o.Embedder == nil {
		o.Embedder = embed.Builtin{}
	}
	if o.Extractor == nil {
		o.Extractor = extract.NewRules()
	}
	if o.Server.Log == nil {
		o.Server.Log = o.Log
	}
	in := ingest.New(sessions, memories, o.Embedder, o.Extractor, &ingest.Options{Log: o.Log, Fallback: o.Fallback, Workers: o.Workers})
	found := retrieve.New(memories, o.Embedder, &retrieve.Options{Reranker: o.Reranker, Log: o.Log})
	return &Bank{ingest: in, server: server.New(sessions, memories, in, found, &o.Server), close: func() error { return nil }}
}

// FileName is the file in a directory of data that everything is in.
const FileName = "memoryd.db"

// Open makes a Bank of the embedded stores in a directory, which is made if it
// is missing, and has it make memories until Close; ":memory:" keeps nothing.
// The directory is used by one process at a time, be it this or the command
// memoryd. Memories that another embedder has made are refused: see memoryd
// reembed.
func Open(ctx context.Context, dir string, opts *Options) (*Bank, error) {
	path := dir
	if dir != sqlitedb.Memory {
		path = filepath.Join(dir, FileName)
	}
	db, err := sqlitedb.Open(path)
	if err != nil {
		return nil, err
	}
	b, err := open(ctx, db, opts)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	var working conc.WaitGroup
	working.Go(func() { b.Run(work) })
	b.close = func() error {
		b.Stop()
		b.requests.Lock() // once those that have begun are over
		b.closed = true
		b.requests.Unlock()
		stop()
		working.Wait()
		return db.Close()
	}
	return b, nil
}

func open(ctx context.Context, db *sqlitedb.DB, opts *Options) (*Bank, error) {
	o := Options{}
	if opts != nil {
		o = *opts
	}
	if o.Embedder == nil {
		o.Embedder = embed.Builtin{}
	}
	if o.Server.Checks == nil {
		o.Server.Checks = map[string]func(context.Context) error{"sessions": db.Check, "memories": db.Check}
	}
	sessions, err := sqlitesession.New(db, nil)
	if err != nil {
		return nil, fmt.Errorf("sessions in %s: %w", db.Path(), err)
	}
	memories, err := sqlitestore.New(db, ModelOf(o.Embedder), nil)
	if err != nil {
		return nil, fmt.Errorf("memories in %s: %w", db.Path(), err)
	}
	bound, err := sessions.Bind(ctx, memories.ID())
	if err != nil {
		return nil, err
	}
	if bound != memories.ID() {
		return nil, fmt.Errorf("%w: the sessions in %s have their memories elsewhere, not in the same file", memory.ErrInvalid, db.Path())
	}
	return New(sessions, memories, &o), nil
}

// ModelOf is what memories are made with by this version and an embedder.
func ModelOf(e embed.Embedder) memory.Model {
	return memory.Model{Embedder: e.Model().Name, Dimension: e.Model().Dimension, Analyzer: analyzer.Name}
}

// ServeHTTP serves the HTTP API, until Close.
func (b *Bank) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.requests.RLock()
	defer b.requests.RUnlock()
	if b.closed {
		http.Error(w, "this memoryd is closed", http.StatusGone)
		return
	}
	b.server.ServeHTTP(w, r)
}

// Run makes memories until ctx is over, and what it has begun is finished, and
// what requests have left behind. Open has called it already.
func (b *Bank) Run(ctx context.Context) {
	b.ingest.Run(ctx)
	b.server.Wait()
}

// Stop ends streams and waits of the HTTP API, before a shutdown.
func (b *Bank) Stop() { b.server.Stop() }

// Close finishes what has begun and closes the stores that Open has opened. What
// is asked for later is answered 410.
func (b *Bank) Close() error { return b.close() }
