package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/conc"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/qdrantstore"
	"github.com/memoryd/memoryd/memory/sqlitestore"
	"github.com/memoryd/memoryd/server"
	"github.com/memoryd/memoryd/sessionstore"
	"github.com/memoryd/memoryd/sessionstore/redissession"
	"github.com/memoryd/memoryd/sessionstore/sqlitesession"
)

// house is everything that runs, put together.
type house struct {
	models *models
	bank   atomic.Pointer[memoryd.Bank] // of the memories of one embedder
	work   func(context.Context)        // what goes on beside requests, until its context is over
	files  map[string]*sqlitedb.DB
	closes []func() error
	checks map[string]func(context.Context) error
}

// ServeHTTP implements http.Handler.
func (h *house) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.bank.Load().ServeHTTP(w, r)
}

func newHouse() *house {
	return &house{files: map[string]*sqlitedb.DB{}, checks: map[string]func(context.Context) error{}}
}

// stores are the two stores that the configuration names.
type stores struct {
	sessions interface {
		ingest.Sessions
		sessionstore.Archive
	}
	memories interface {
		memory.Movable
		memory.Archive
	}
}

// build opens the stores and connects the rest to them.
func build(ctx context.Context, cfg config, log *slog.Logger) (h *house, err error) {
	h = newHouse()
	defer func() {
		if err != nil {
			h.close()
		}
	}()
	if h.models, err = newModels(cfg, log); err != nil {
		return h, err
	}
	st, err := h.stores(ctx, cfg, memoryd.ModelOf(h.models.embedder), log)
	if err != nil {
		return h, err
	}
	h.employ(cfg, st, h.models.embedder, log)
	return h, nil
}

// employ has requests served, and sessions ingested, with the memories of an
// embedder.
func (h *house) employ(cfg config, st *stores, e embed.Embedder, log *slog.Logger) {
	bank := memoryd.New(st.sessions, st.memories, &memoryd.Options{Embedder: e, Extractor: h.models.extractor, Fallback: h.models.fallback,
		Reranker: h.models.reranker, Workers: cfg.workers, Log: log, Server: server.Options{
			AnyHost: cfg.insecure && !cfg.names && !server.Loopback(cfg.listen), Version: version(), Checks: maps.Clone(h.checks), Notes: maps.Clone(h.models.notes), PreloadTimeout: cfg.preload,
		}})
	h.bank.Store(bank)
	h.work = bank.Run
}

// open opens both stores.
func (h *house) open(ctx context.Context, cfg config, m memory.Model) (*stores, error) {
	st := &stores{}
	if err := h.sessions(ctx, cfg, st); err != nil {
		return nil, err
	}
	return st, h.memories(ctx, cfg, m, st)
}

// stores opens both stores, and sees that they belong together.
func (h *house) stores(ctx context.Context, cfg config, m memory.Model, log *slog.Logger) (*stores, error) {
	st := &stores{}
	if err := h.sessions(ctx, cfg, st); err != nil {
		return nil, err
	}
	return st, h.join(ctx, cfg, m, st, log)
}

// join opens the memories, and sees that they belong to the sessions.
func (h *house) join(ctx context.Context, cfg config, m memory.Model, st *stores, log *slog.Logger) error {
	if err := h.memories(ctx, cfg, m, st); err != nil {
		return err
	}
	bound, err := st.sessions.Bind(ctx, st.memories.ID())
	if err != nil {
		return fmt.Errorf("-sessions: %w", err)
	}
	if bound != st.memories.ID() {
		return fmt.Errorf("the sessions in %s have their memories elsewhere, not in %s, which would miss what they have done already:"+
			" name with -memories the store that they were made into, or with -sessions another place for sessions"+
			"; if they were made with another -embedder, or by another version, move them: memoryd reembed with the flags of this start"+
			" (or, if that store is lost, have the memories made anew: memoryd rebuild)", shown(cfg.sessions), shown(cfg.memories))
	}
	if inRedis(cfg.sessions) && !inQdrant(cfg.memories) {
		log.Warn("the sessions can be shared, but the memories are in a file of this process: run one memoryd only", "memories", cfg.memories)
	}
	return nil
}

func (h *house) sessions(ctx context.Context, cfg config, st *stores) error {
	if inRedis(cfg.sessions) {
		s, err := redissession.Open(ctx, cfg.sessions, &redissession.Options{TTL: cfg.ttl})
		if err != nil {
			return fmt.Errorf("-sessions: %w", err)
		}
		h.closes = append(h.closes, s.Close)
		h.checks["sessions"] = s.Check
		st.sessions = s
		return nil
	}
	db, err := h.file(cfg.sessions)
	if err != nil {
		return err
	}
	if err := exchanged(db, "sessions", "memories"); err != nil && !sameFile(cfg.sessions, cfg.memories) {
		return err
	}
	h.checks["sessions"] = db.Check
	s, err := sqlitesession.New(db, nil)
	if err != nil {
		return fmt.Errorf("sessions in %s: %w", db.Path(), err)
	}
	st.sessions = s
	return nil
}

func (h *house) memories(ctx context.Context, cfg config, m memory.Model, st *stores) error {
	if inQdrant(cfg.memories) {
		s, err := qdrantstore.Open(ctx, cfg.memories, m, nil)
		if err != nil {
			return fmt.Errorf("-memories: %w", err)
		}
		h.closes = append(h.closes, s.Close)
		h.checks["memories"] = s.Check
		st.memories = s
		return nil
	}
	db, err := h.memoryFile(cfg)
	if err != nil {
		return err
	}
	h.checks["memories"] = db.Check
	s, err := sqlitestore.New(db, m, nil)
	if err != nil {
		return fmt.Errorf("memories in %s: %w", db.Path(), err)
	}
	st.memories = s
	return nil
}

// memoryFile opens the file of the memories.
func (h *house) memoryFile(cfg config) (*sqlitedb.DB, error) {
	db, err := h.file(cfg.memories)
	if err != nil {
		return nil, err
	}
	if err := exchanged(db, "memories", "sessions"); err != nil && !sameFile(cfg.sessions, cfg.memories) {
		return nil, err
	}
	return db, nil
}

// exchanged fails if a file holds what it is not named for, and nothing of what
// it is: a start would find nothing, and begin anew in the wrong files.
func exchanged(db *sqlitedb.DB, named, other string) error {
	has, err := db.Has(named)
	hasOther, err2 := db.Has(other)
	if err := errors.Join(err, err2); err != nil {
		return fmt.Errorf("%s: %w", db.Path(), err)
	}
	if hasOther && !has {
		return fmt.Errorf("%s holds %s and no %s: are -sessions and -memories exchanged?", db.Path(), other, named)
	}
	return nil
}

// file opens a SQLite file, once.
func (h *house) file(path string) (*sqlitedb.DB, error) {
	for name, db := range h.files {
		if sameFile(name, path) {
			return db, nil
		}
	}
	db, err := sqlitedb.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w (name another place with -data, -sessions or -memories)", err)
	}
	h.files[path] = db
	h.closes = append(h.closes, db.Close)
	return db, nil
}

func (h *house) close() error {
	var errs []error
	for _, c := range h.closes {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}

// sameFile reports whether two paths lead to one file, there or yet to be made.
func sameFile(a, b string) bool {
	if x, err := os.Stat(a); err == nil {
		y, err := os.Stat(b)
		return err == nil && os.SameFile(x, y)
	}
	x, err1 := filepath.Abs(a)
	y, err2 := filepath.Abs(b)
	return err1 == nil && err2 == nil && x == y
}

// How long the parts of a request may take that are not the handler's: its
// head, its body, its answer; and how long a shutdown waits for all of it.
const (
	headTime     = 10 * time.Second
	bodyTime     = 60 * time.Second
	answerTime   = 120 * time.Second
	idleTime     = 120 * time.Second
	shutdownTime = 10 * time.Second
)

// run serves on a listener until ctx is over, then finishes what has begun.
func (h *house) run(ctx context.Context, on net.Listener, log *slog.Logger) error {
	work, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWork()
	var workers conc.WaitGroup
	workers.Go(func() { h.work(work) })
	workers.Go(func() { h.models.probe(work, log) })

	hs := &http.Server{Handler: h, ReadHeaderTimeout: headTime, ReadTimeout: bodyTime, WriteTimeout: answerTime, IdleTimeout: idleTime,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}
	served := make(chan error, 1)
	workers.Go(func() { served <- hs.Serve(on) })
	var err error
	select {
	case err = <-served: // the listener broke
	case <-ctx.Done():
		log.Info("stopping: finishing what has begun")
		h.bank.Load().Stop()
		within, cancel := context.WithTimeout(context.Background(), shutdownTime)
		defer cancel()
		if err = hs.Shutdown(within); errors.Is(err, context.DeadlineExceeded) {
			log.Warn("requests that were not over are cut off")
			err = hs.Close()
		}
	}
	stopWork()
	workers.Wait()
	return err
}

func serve(ctx context.Context, cfg config, stdout, stderr io.Writer) error {
	log := cfg.logger(stderr)
	h, err := build(ctx, cfg, log)
	if err != nil {
		return err
	}
	return h.live(ctx, cfg, stdout, log)
}

// live listens, says so, and serves until ctx is over.
func (h *house) live(ctx context.Context, cfg config, stdout io.Writer, log *slog.Logger) error {
	on, err := h.listen(cfg, stdout, log)
	if err != nil {
		return errors.Join(err, h.close())
	}
	return errors.Join(h.run(ctx, on, log), h.close())
}

// listen listens and says so.
func (h *house) listen(cfg config, stdout io.Writer, log *slog.Logger) (net.Listener, error) {
	on, err := net.Listen("tcp", cfg.listen)
	if err != nil {
		return nil, fmt.Errorf("-listen: %w (name another address)", err)
	}
	log.Info("memoryd", "version", version(), "listen", on.Addr().String(), "insecure", cfg.insecure, "loopback-names", cfg.names, "sessions", shown(cfg.sessions),
		"session-ttl", cfg.ttl, "memories", shown(cfg.memories), "embedder", h.models.embedder.Model().Name,
		"embedding-dimension", h.models.embedder.Model().Dimension, "extractor", h.models.extractor.Name(), "extractor-fallback", cfg.fallback,
		"extractor-tokens", cfg.batchTokens, "reranker", h.models.rerankerName(), "preload-timeout", cfg.preload, "workers", cfg.workers, "log-format", cfg.logFormat, "log-level", cfg.logLevel)
	fmt.Fprintf(stdout, "memoryd serves http://%s\nits data is in %s\n", on.Addr(), where(cfg))
	return on, nil
}

// where says in words where the data is.
func where(cfg config) string {
	name := func(path string) string {
		switch {
		case path == sqlitedb.Memory:
			return "memory alone, and gone when it stops"
		case inRedis(path), inQdrant(path):
			return shown(path)
		}
		if abs, err := filepath.Abs(path); err == nil {
			return abs
		}
		return path
	}
	if sameFile(cfg.sessions, cfg.memories) {
		return name(cfg.sessions)
	}
	return name(cfg.sessions) + " (sessions) and " + name(cfg.memories) + " (memories)"
}
