package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/sourcegraph/conc"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/internal/analyzer"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory/sqlitestore"
	"github.com/memoryd/memoryd/retrieve"
	"github.com/memoryd/memoryd/server"
	"github.com/memoryd/memoryd/sessionstore/sqlitesession"
)

// house is everything that runs, put together.
type house struct {
	ingest *ingest.Service
	server *server.Server
	files  []*sqlitedb.DB
}

// build opens the stores and connects the rest to them.
func build(cfg config, log *slog.Logger) (h *house, err error) {
	h = &house{}
	defer func() {
		if err != nil {
			h.close()
		}
	}()
	sessionsDB, err := h.open(cfg.sessions)
	if err != nil {
		return h, err
	}
	memoriesDB := sessionsDB
	if !sameFile(cfg.memories, cfg.sessions) {
		if memoriesDB, err = h.open(cfg.memories); err != nil {
			return h, err
		}
	}
	sessions, err := sqlitesession.New(sessionsDB, nil)
	if err != nil {
		return h, fmt.Errorf("sessions in %s: %w", sessionsDB.Path(), err)
	}
	embedder := embed.Builtin{}
	model := sqlitestore.Model{Embedder: embedder.Model().Name, Dimension: embedder.Model().Dimension, Analyzer: analyzer.Name}
	memories, err := sqlitestore.New(memoriesDB, model, nil)
	if err != nil {
		return h, fmt.Errorf("memories in %s: %w", memoriesDB.Path(), err)
	}
	bound, err := sessions.Bind(context.Background(), memories.ID())
	if err != nil {
		return h, fmt.Errorf("sessions in %s: %w", sessionsDB.Path(), err)
	}
	if bound != memories.ID() {
		return h, fmt.Errorf("the sessions in %s have their memories elsewhere, not in %s, which would miss what they have done already:"+
			" name with -memories the store that they were made into, or with -sessions another place for sessions", sessionsDB.Path(), memoriesDB.Path())
	}
	h.ingest = ingest.New(sessions, memories, embedder, extract.NewRules(), &ingest.Options{Log: log})
	h.server = server.New(sessions, memories, h.ingest, retrieve.New(memories, embedder, &retrieve.Options{Log: log}), &server.Options{
		AnyHost: cfg.insecure && !server.Loopback(cfg.listen), Version: version(), Log: log,
		Checks: map[string]func(context.Context) error{"sessions": sessionsDB.Check, "memories": memoriesDB.Check},
	})
	return h, nil
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

func (h *house) open(path string) (*sqlitedb.DB, error) {
	db, err := sqlitedb.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w (name another place with -data, -sessions or -memories)", err)
	}
	h.files = append(h.files, db)
	return db, nil
}

func (h *house) close() error {
	var errs []error
	for _, db := range h.files {
		errs = append(errs, db.Close())
	}
	return errors.Join(errs...)
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
	workers.Go(func() { h.ingest.Run(work) })

	hs := &http.Server{Handler: h.server, ReadHeaderTimeout: headTime, ReadTimeout: bodyTime, WriteTimeout: answerTime, IdleTimeout: idleTime,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}
	served := make(chan error, 1)
	workers.Go(func() { served <- hs.Serve(on) })
	var err error
	select {
	case err = <-served: // the listener broke
	case <-ctx.Done():
		log.Info("stopping: finishing what has begun")
		h.server.Stop()
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
	h, err := build(cfg, log)
	if err != nil {
		return err
	}
	on, err := net.Listen("tcp", cfg.listen)
	if err != nil {
		return errors.Join(fmt.Errorf("-listen: %w (name another address)", err), h.close())
	}
	log.Info("memoryd", "version", version(), "listen", on.Addr().String(), "insecure", cfg.insecure, "sessions", cfg.sessions,
		"memories", cfg.memories, "embedder", cfg.embedder, "extractor", cfg.extractor, "log-format", cfg.logFormat, "log-level", cfg.logLevel)
	fmt.Fprintf(stdout, "memoryd serves http://%s\nits data is in %s\n", on.Addr(), where(cfg))
	return errors.Join(h.run(ctx, on, log), h.close())
}

// where says in words where the data is.
func where(cfg config) string {
	name := func(path string) string {
		if path == sqlitedb.Memory {
			return "memory alone, and gone when it stops"
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
