package tools_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract/rules"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/internal/analyzer"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/sqlitestore"
	"github.com/memoryd/memoryd/retrieve"
	"github.com/memoryd/memoryd/sessionstore"
	"github.com/memoryd/memoryd/sessionstore/sqlitesession"
	"github.com/memoryd/memoryd/tools"
)

var ann = memory.Scope{App: "app", User: "ann"}

// ever is longer than any test takes.
const ever = time.Hour

// bench is a toolbox on real stores.
type bench struct {
	*testing.T
	*tools.Toolbox
	store  *store
	ingest *ingest.Service
	counts *counts
}

// store is a real store whose calls a test can make fail or wait.
type store struct {
	memory.Store
	mu   sync.Mutex
	hook func(ctx context.Context) error // before every Search and Delete
}

func (s *store) before(hook func(context.Context) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hook = hook
}

func (s *store) called(ctx context.Context) error {
	s.mu.Lock()
	hook := s.hook
	s.mu.Unlock()
	if hook == nil {
		return nil
	}
	return hook(ctx)
}

func (s *store) PrepareSearch(ctx context.Context, scope memory.Scope) memory.PreparedSearch {
	search := s.Store.PrepareSearch(context.WithoutCancel(ctx), scope)
	return func(ctx context.Context, q memory.Query) (memory.Found, error) {
		if err := s.called(ctx); err != nil {
			return memory.Found{}, err
		}
		return search(context.WithoutCancel(ctx), q)
	}
}

func (s *store) Delete(ctx context.Context, scope memory.Scope, removals []memory.Removal) ([]memory.Outcome, error) {
	if err := s.called(ctx); err != nil {
		return nil, err
	}
	return s.Store.Delete(ctx, scope, removals)
}

// counts are the outcomes that a toolbox has reported.
type counts struct {
	mu sync.Mutex
	of map[string]int
}

func (c *counts) add(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of[name]++
}

// all returns the counts and resets them.
func (c *counts) all() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.of
	c.of = map[string]int{}
	return out
}

// newBench makes a bench. Nothing is ingested until run.
func newBench(t *testing.T, opts tools.Options) *bench {
	t.Helper()
	db, err := sqlitedb.Open(filepath.Join(t.TempDir(), "memoryd.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	sessions, err := sqlitesession.New(db, nil)
	if err != nil {
		t.Fatal(err)
	}
	model := embed.Builtin{}.Model()
	memories, err := sqlitestore.New(
		db,
		memory.Model{Embedder: model.Name, Dimension: model.Dimension, Analyzer: analyzer.Name},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, store: &store{Store: memories}, counts: &counts{of: map[string]int{}}}
	b.ingest = ingest.New(sessions, b.store, embed.Builtin{}, rules.New(), &ingest.Options{Poll: 5 * time.Millisecond})
	opts.Called = func(tool string, o tools.Outcome) { b.counts.add(tool + " " + string(o)) }
	opts.Preloaded = func(o tools.Outcome, _ time.Duration) { b.counts.add(string(o)) }
	b.Toolbox = tools.New(retrieve.New(b.store, embed.Builtin{}, nil), b.ingest, &opts)
	return b
}

// run makes memories until the test is over.
func (b *bench) run() {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { b.ingest.Run(ctx) })
	b.Cleanup(func() { cancel(); running.Wait() })
}

// say ingests turns, and waits until they are memories.
func (b *bench) say(session string, events ...string) {
	b.Helper()
	var list []sessionstore.Event
	for _, doc := range events {
		e, err := sessionstore.ParseEvent([]byte(doc))
		if err != nil {
			b.Fatal(err)
		}
		list = append(list, e)
	}
	op, err := b.ingest.Ingest(b.Context(), sessionstore.Key{Scope: ann, ID: session}, list, ingest.RequestOptions{})
	if err != nil {
		b.Fatal(err)
	}
	if op, err = b.ingest.Wait(b.Context(), ann, op.ID, ever); err != nil || op.State != sessionstore.Succeeded {
		b.Fatalf("%+v, %v", op, err)
	}
}

// call calls a tool and reads its result.
func (b *bench) call(name, args string) map[string]any {
	b.Helper()
	raw, err := b.Call(b.Context(), ann, name, json.RawMessage(args))
	if err != nil {
		b.Fatalf("%s %s: %v", name, args, err)
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		b.Fatalf("%s %s: %v: %s", name, args, err, raw)
	}
	return out
}

// at follows names and indexes into JSON; nil if nothing is there.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}
