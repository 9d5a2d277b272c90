package evals

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/sourcegraph/conc"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/internal/analyzer"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/sqlitestore"
	"github.com/memoryd/memoryd/sessionstore"
	"github.com/memoryd/memoryd/sessionstore/sqlitesession"
)

var scope = memory.Scope{App: "evals", User: "user"}

// attempts is how often a batch is tried: a provider that is away for a moment
// is no reason to begin anew.
const attempts = 3

// play has the sessions of a case become memories, one after the other, in
// stores of its own that are gone when it returns, and gives the facts at the
// end in the order in which they were said. Where the extractor fails it gives
// those of the sessions before, with the extractor's error.
func play(ctx context.Context, x extract.Extractor, e embed.Embedder, c Case) (facts []Fact, used extract.Usage, err error) {
	dir, err := os.MkdirTemp("", "memoryd-eval-")
	if err != nil {
		return nil, used, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	db, err := sqlitedb.Open(filepath.Join(dir, "memoryd.db"))
	if err != nil {
		return nil, used, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	sessions, err := sqlitesession.New(db, nil)
	if err != nil {
		return nil, used, err
	}
	model := e.Model()
	memories, err := sqlitestore.New(db, sqlitestore.Model{Embedder: model.Name, Dimension: model.Dimension, Analyzer: analyzer.Name}, nil)
	if err != nil {
		return nil, used, err
	}
	playing, over := context.WithCancelCause(ctx)
	w := &watched{Extractor: x, budget: c.Budget, over: over}
	service := ingest.New(sessions, memories, e, w, &ingest.Options{MaxAttempts: attempts})
	var running conc.WaitGroup
	running.Go(func() { service.Run(playing) })
	failed := tell(playing, service, w, c)
	over(nil)
	running.Wait()
	facts, err = known(ctx, memories)
	return facts, w.used, errors.Join(failed, err)
}

// tell ingests the sessions of a case, each when the one before it is done.
func tell(ctx context.Context, service *ingest.Service, w *watched, c Case) error {
	for _, s := range c.Sessions {
		op, err := service.Ingest(ctx, sessionstore.Key{Scope: scope, ID: s.ID}, s.Events, ingest.How{})
		if err == nil {
			err = service.Watch(ctx, scope, op.ID, func(now *sessionstore.Operation) error { op = now; return nil })
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return err
		case op.State != sessionstore.Succeeded && w.failed() != nil:
			return w.failed()
		case op.State != sessionstore.Succeeded:
			return errors.New(op.LastError)
		}
	}
	return nil
}

// known is all facts of the scope that hold or have held, in the order in which
// they were said. What has ended as it was said never did: it only says again
// what is known.
func known(ctx context.Context, memories memory.Store) ([]Fact, error) {
	list := memory.List{PageSize: memory.MaxPageSize, Filter: memory.Filter{Kinds: []memory.Kind{memory.KindFact}, History: true}}
	var out []Fact
	for {
		page, err := memories.List(ctx, scope, list)
		if err != nil {
			return nil, err
		}
		for i := range page.Memories {
			if m := &page.Memories[i]; !m.ValidTo.Equal(m.Timestamp) {
				out = append(out, factOf(m))
			}
		}
		if list.PageToken = page.NextPageToken; list.PageToken == "" {
			break
		}
	}
	slices.SortFunc(out, func(a, b Fact) int { return cmp.Or(a.Said.Compare(b.Said), cmp.Compare(a.Text, b.Text)) })
	return out, nil
}

// watched adds up what an extractor costs, and ends the play at a failure that
// another attempt would not mend.
type watched struct {
	extract.Extractor
	budget int
	over   context.CancelCauseFunc

	mu   sync.Mutex
	used extract.Usage
	err  error // of the last call that failed
}

// Budget is the case's, for an extractor that has one.
func (w *watched) Budget() int {
	if own := w.Extractor.Budget(); own == 0 || w.budget == 0 {
		return own
	}
	return w.budget
}

func (w *watched) Extract(ctx context.Context, b extract.Batch) (extract.Found, error) {
	out, err := w.Extractor.Extract(ctx, b)
	w.note(ctx, out.Usage, err)
	return out, err
}

func (w *watched) Consolidate(ctx context.Context, c extract.Comparison, repaired bool) (extract.Consolidated, error) {
	out, err := w.Extractor.Consolidate(ctx, c, repaired)
	w.note(ctx, out.Usage, err)
	return out, err
}

func (w *watched) note(ctx context.Context, u extract.Usage, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.used = w.used.Add(u)
	if err == nil || ctx.Err() != nil {
		return
	}
	w.err = err
	if !errors.Is(err, memory.ErrUnavailable) && !errors.Is(err, memory.ErrExhausted) {
		w.over(err)
	}
}

func (w *watched) failed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}
