package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/extract/rules"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// full checks that an error is a refusal by a flag.
func (b *bench) full(what string, err error, flag string) {
	b.Helper()
	if refusal := (*memory.Refusal)(nil); !errors.As(err, &refusal) || refusal.Flag() != flag {
		b.Errorf("%s: %v, want a refusal by -%s", what, err, flag)
	}
}

func (b *bench) add(scope memory.Scope, fact string) memory.Memory {
	b.Helper()
	m, err := b.service.Add(b.Context(), scope, ingest.NewMemory{Fact: fact})
	if err != nil {
		b.Fatal(err)
	}
	return m
}

// A scope with as many memories as it may have takes no new one by any way, and nothing
// is stored of what is refused. Changes and deletions pass, and make room.
func TestLimitOfMemories(t *testing.T) {
	b := newBench(t, parts{opts: ingest.Options{Limits: ingest.Limits{Memories: 3}}})
	ctx := t.Context()
	for i := range 3 {
		b.add(scope, fmt.Sprint("fact ", i))
	}
	_, err := b.service.Add(ctx, scope, ingest.NewMemory{Fact: "one more"})
	b.full("Add", err, "user-memories")
	_, err = b.service.Ingest(ctx, key("s"), []sessionstore.Event{event(t, "e", 0, "hello")}, ingest.RequestOptions{})
	b.full("Ingest", err, "user-memories")
	if _, err := b.sessions.Get(ctx, key("s"), sessionstore.Get{}); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("the session of a refused request: %v", err)
	}
	_, err = b.service.IngestFacts(ctx, scope, []ingest.GivenFact{{Fact: "one more"}}, ingest.RequestOptions{})
	b.full("IngestFacts", err, "user-memories")
	if all, _, err := b.sessions.Operations(ctx, scope, sessionstore.List{}); err != nil || len(all) > 0 {
		t.Errorf("operations of refused requests: %v, %v", all, err)
	}
	b.add(memory.Scope{App: scope.App, User: "bob"}, "of another user")
	b.add(memory.Scope{App: "other", User: scope.User}, "of another app")

	gone := b.all(memory.KindFact)[0]
	text := strings.Repeat("longer ", 100)
	if _, err := b.service.Update(ctx, scope, gone.ID, ingest.Patch{Fact: &text}); err != nil {
		t.Errorf("Update: %v", err)
	}
	if err := b.service.Delete(ctx, scope, gone.ID); err != nil {
		t.Fatal(err)
	}
	b.add(scope, "in its place")
	_, err = b.service.Rollback(ctx, scope, gone.ID, 1, ingest.Patch{})
	b.full("Rollback of a deleted one", err, "user-memories")
	live := b.all(memory.KindFact)[0]
	if _, err := b.service.Rollback(ctx, scope, live.ID, 1, ingest.Patch{}); err != nil {
		t.Errorf("Rollback of one that is there: %v", err)
	}
}

// Bytes count as Memory.Bytes has them. What makes them fewer passes also beyond the
// limit.
func TestLimitOfBytes(t *testing.T) {
	b := newBench(t, parts{opts: ingest.Options{Limits: ingest.Limits{Bytes: 2000}}})
	ctx := t.Context()
	one := b.add(scope, strings.Repeat("x", 200))
	two := b.add(scope, strings.Repeat("y", 200))
	left := 2000 - int(one.Bytes()+two.Bytes())
	long := strings.Repeat("z", 200+left)
	if _, err := b.service.Update(ctx, scope, one.ID, ingest.Patch{Fact: &long}); err != nil {
		t.Errorf("a change up to the limit: %v", err)
	}
	longer, topics := strings.Repeat("y", 201), []string{"t"}
	_, err := b.service.Update(ctx, scope, two.ID, ingest.Patch{Fact: &longer})
	b.full("a longer fact", err, "user-bytes")
	_, err = b.service.Update(ctx, scope, two.ID, ingest.Patch{Topics: &topics})
	b.full("a topic more", err, "user-bytes")
	_, err = b.service.Add(ctx, scope, ingest.NewMemory{Fact: "x"})
	b.full("Add", err, "user-bytes")
	_, err = b.service.Ingest(ctx, key("s"), []sessionstore.Event{event(t, "e", 0, "hello")}, ingest.RequestOptions{})
	b.full("Ingest", err, "user-bytes")
	short := "x"
	if _, err := b.service.Update(ctx, scope, one.ID, ingest.Patch{Fact: &short}); err != nil {
		t.Errorf("a shorter fact: %v", err)
	}
	if _, err := b.service.Update(ctx, scope, two.ID, ingest.Patch{Fact: &longer}); err != nil {
		t.Errorf("a longer fact where there is room: %v", err)
	}
}

// A request that was taken is carried out whole, also beyond the limit.
func TestLimitLosesNothing(t *testing.T) {
	b := newBench(t, parts{opts: ingest.Options{Limits: ingest.Limits{Memories: 1}}})
	b.run()
	var events []sessionstore.Event
	for i, name := range []string{"Tom", "Kim", "Lea"} {
		events = append(events, event(t, name, i, "My cat is called "+name+"."))
	}
	op, err := b.service.Ingest(t.Context(), key("s"), events, ingest.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b.done(op)
	found, err := b.memories.Search(t.Context(), scope, memory.Query{})
	if err != nil || found.Stats.Docs < len(events) {
		t.Errorf("%d memories of %d events, %v", found.Stats.Docs, len(events), err)
	}
	_, err = b.service.Ingest(t.Context(), key("s"), events, ingest.RequestOptions{})
	b.full("the next request", err, "user-memories")
}

// Of many that are added at once, exactly as many are stored as may be.
func TestLimitConcurrent(t *testing.T) {
	b := newBench(t, parts{opts: ingest.Options{Limits: ingest.Limits{Memories: 10}}})
	var added atomic.Int64
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			_, err := b.service.Add(t.Context(), scope, ingest.NewMemory{Fact: fmt.Sprint("fact ", i)})
			if err == nil {
				added.Add(1)
			} else if !errors.Is(err, memory.ErrExhausted) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if added.Load() != 10 || len(b.facts()) != 10 {
		t.Errorf("%d were added, and there are %d", added.Load(), len(b.facts()))
	}
}

// refusing is an extractor that a limit of memoryd refuses some times.
type refusing struct {
	extract.Extractor
	left  atomic.Int64
	after time.Duration
}

func (r *refusing) Extract(ctx context.Context, b extract.Batch) (extract.Found, error) {
	if r.left.Add(-1) >= 0 {
		return extract.Found{}, fmt.Errorf("ask: %w", memory.Refuse(r.after, "-app-model-calls sets how many"))
	}
	return r.Extractor.Extract(ctx, b)
}

// retries notes when work is due again.
type retries struct {
	ingest.Sessions
	at chan time.Time
}

func (r *retries) Fail(ctx context.Context, w sessionstore.Work, cause string, retry time.Time) error {
	err := r.Sessions.Fail(ctx, w, cause, retry)
	r.at <- retry
	return err
}

// Work that a limit of memoryd refuses is never given up, and is due when the limit says.
func TestRefusedWorkWaits(t *testing.T) {
	r := &refusing{Extractor: rules.New()}
	r.left.Store(5)
	b := newBench(t, parts{extractor: r, opts: ingest.Options{MaxAttempts: 1}})
	b.run()
	b.succeeds(b.ingest("s", event(t, "e", 0, "My cat is called Tom.")))

	r = &refusing{Extractor: rules.New(), after: 20 * time.Hour}
	r.left.Store(1)
	at := make(chan time.Time, 1)
	b = newBench(t, parts{extractor: r, sessions: func(s ingest.Sessions) ingest.Sessions { return &retries{s, at} }})
	b.run()
	op := b.ingest("s", event(t, "e", 0, "My cat is called Tom."))
	if wait := time.Until(<-at); wait < 19*time.Hour || wait > 21*time.Hour {
		t.Errorf("the work is due in %v", wait)
	}
	op, err := b.sessions.Status(t.Context(), scope, op.ID)
	if err != nil || op.Done() || !strings.Contains(op.LastError, "-app-model-calls") {
		t.Errorf("the operation is %+v, %v", op, err)
	}
}
