package evals

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/sourcegraph/conc"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/internal/assembly"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

var scope = memory.Scope{App: "evals", User: "user"}

// attempts is how often a batch is tried: a provider may be unavailable for a
// moment.
const attempts = 3

// stores are those of one evaluation, in a directory that close removes.
type stores struct {
	*assembly.Stores
	dir string
}

// openStores opens both stores in a new directory, with a clock; nil is time.Now.
func openStores(ctx context.Context, e embed.Embedder, now func() time.Time) (s *stores, err error) {
	s = &stores{Stores: assembly.NewStores()}
	s.Now = now
	if s.dir, err = os.MkdirTemp("", "memoryd-eval-"); err != nil {
		return nil, err
	}
	if err := s.OpenBoth(ctx, filepath.Join(s.dir, "memoryd.db"), assembly.ModelOf(e)); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *stores) close() error { return errors.Join(s.Close(), os.RemoveAll(s.dir)) }

// ingest runs ingestion while feed gives it sessions, and returns the cost of the
// extractor.
func (s *stores) ingest(ctx context.Context, x extract.Extractor, e embed.Embedder, budget int,
	feed func(context.Context, *player) error) (extract.Usage, error) {
	playing, over := context.WithCancelCause(ctx)
	w := &watched{Extractor: x, budget: budget, over: over}
	opts := &assembly.Options{Embedder: e, Extractor: w, MaxAttempts: attempts, Now: s.Now}
	parts := assembly.Connect(s.Sessions, s.Memories, opts)
	var running conc.WaitGroup
	running.Go(func() { parts.Ingest.Run(playing) })
	err := feed(playing, &player{parts.Ingest, w})
	over(nil)
	running.Wait()
	return w.used, err
}

// play makes memories of the sessions of a case, one after the other, in stores of
// its own, and returns the facts at the end in the order in which they were said.
// If the extractor fails, it returns the facts of the sessions before and the
// extractor's error.
func play(ctx context.Context, x extract.Extractor, e embed.Embedder, c Case) (
	facts []Fact, used extract.Usage, err error) {
	s, err := openStores(ctx, e, nil)
	if err != nil {
		return nil, used, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	used, failed := s.ingest(ctx, x, e, c.Budget, func(ctx context.Context, p *player) error {
		for _, session := range c.Sessions {
			key := sessionstore.Key{Scope: scope, ID: session.ID}
			op, err := p.take(ctx, key, session.Events)
			if err == nil {
				err = p.wait(ctx, key, op)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	facts, err = known(ctx, s.Memories)
	return facts, used, errors.Join(failed, err)
}

// player gives sessions to a service that runs.
type player struct {
	service *ingest.Service
	watched *watched
}

// take stores the events of a session, and asks for their memories.
func (p *player) take(ctx context.Context, key sessionstore.Key, events []sessionstore.Event) (
	*sessionstore.Operation, error) {
	op, err := p.service.Ingest(ctx, key, events, ingest.RequestOptions{})
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return op, err
}

// longest is longer than any evaluation waits for one operation: only ctx ends it.
const longest = 365 * 24 * time.Hour

// wait returns when the memories that take asked for are made. Its error is the
// reason why they cannot be.
func (p *player) wait(ctx context.Context, key sessionstore.Key, op *sessionstore.Operation) error {
	op, err := p.service.Wait(ctx, key.Scope, op.ID, longest)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return err
	case op.State != sessionstore.Succeeded && p.watched.failed() != nil:
		return p.watched.failed()
	case op.State != sessionstore.Succeeded:
		return errors.New(op.LastError)
	}
	return nil
}

// known returns all facts of the scope that hold or have held, in the order in
// which they were said. A fact that ended as it was said never held: it only
// repeats another one.
func known(ctx context.Context, memories memory.Store) ([]Fact, error) {
	facts := memory.Filter{Kinds: []memory.Kind{memory.KindFact}, History: true}
	list := memory.List{PageSize: memory.MaxPageSize, Filter: facts}
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

// watched adds up the cost of an extractor, and ends the play at a failure that
// another attempt cannot mend.
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

// Extract implements extract.Extractor.
func (w *watched) Extract(ctx context.Context, b extract.Batch) (extract.Found, error) {
	out, err := w.Extractor.Extract(ctx, b)
	w.note(ctx, out.Usage, err)
	return out, err
}

// Consolidate implements extract.Extractor.
func (w *watched) Consolidate(ctx context.Context, c extract.Comparison, repaired bool) (extract.Consolidated, error) {
	out, err := w.Extractor.Consolidate(ctx, c, repaired)
	w.note(ctx, out.Usage, err)
	return out, err
}

// note counts the cost of a call, and how it went.
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

// failed is the error of the last call that failed.
func (w *watched) failed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}
