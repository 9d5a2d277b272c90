package qdrantstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"

	"github.com/memoryd/memoryd/internal/qdranttest"
	"github.com/memoryd/memoryd/memory"
)

var followScope = memory.Scope{App: "app", User: "ann"}

// followModel is the model of the stores of these tests.
var followModel = Model{Embedder: "e", Dimension: 4, Analyzer: "a"}

// followed opens a store.
func followed(t *testing.T, url string) *Store {
	t.Helper()
	s, err := Open(t.Context(), url, followModel, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// putWord stores a memory that only its own word finds.
func putWord(t *testing.T, s *Store, word string) {
	t.Helper()
	out, err := s.Put(t.Context(), followScope, []memory.Write{wordWrite(word)})
	if err != nil || out[0].Err != nil {
		t.Fatal(out, err)
	}
}

func wordWrite(word string) memory.Write {
	return memory.Write{Actor: "test", Terms: memory.Terms{word: 1}, Memory: memory.Memory{
		ID: word, Scope: followScope, Kind: memory.KindFact, Fact: word, Timestamp: time.Unix(1_700_000_000, 0)}}
}

// has reports which of some words a search finds.
func has(t *testing.T, s *Store, words ...string) (out []string) {
	t.Helper()
	found, err := s.Search(t.Context(), followScope, memory.Query{Terms: words, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range found.Runs {
		out = append(out, run[0].Memory.ID)
	}
	slices.Sort(out)
	return out
}

// calls records the methods that a store calls, and may run something after a call, or change
// the answer to it.
type calls struct {
	mu    sync.Mutex
	made  []string
	after func(method string, req any)
	edit  func(reply any)
}

// record has a store make its calls through it.
func (c *calls) record(t *testing.T, s *Store, url string) {
	t.Helper()
	set, err := parseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	set.config.GrpcOptions = append(set.config.GrpcOptions, grpc.WithChainUnaryInterceptor(
		func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker,
			opts ...grpc.CallOption) error {
			err := invoke(ctx, method, req, reply, cc, opts...)
			c.mu.Lock()
			c.made = append(c.made, path.Base(method))
			after, edit := c.after, c.edit
			c.mu.Unlock()
			if edit != nil {
				edit(reply)
			}
			if after != nil {
				after(path.Base(method), req)
			}
			return err
		}))
	s.client.Close()
	if s.client, err = qdrant.NewClient(&set.config); err != nil {
		t.Fatal(err)
	}
}

func (c *calls) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.made
	c.made = nil
	return out
}

// A search of a scope whose index is there makes one call: it reads the head, or what has
// changed if this process has written. A write of another process takes both.
func TestWarmSearchIsOneCall(t *testing.T) {
	t.Parallel()
	q := qdranttest.Start(t)
	url := q.URL(t)
	s, other := followed(t, url), followed(t, url)
	for i := range 30 {
		putWord(t, other, fmt.Sprint("w", i))
	}
	c := &calls{}
	c.record(t, s, url)
	has(t, s, "w1")
	c.take()
	finds := func(word string, want ...string) {
		t.Helper()
		if got := has(t, s, word); len(got) != 1 {
			t.Fatal(got)
		}
		if made := c.take(); !slices.Equal(made, want) {
			t.Errorf("%q: the calls are %v, not %v", word, made, want)
		}
	}
	for i := range 3 {
		w, x, y := fmt.Sprint("w", i), fmt.Sprint("x", i), fmt.Sprint("y", i)
		finds(w, "Get")
		putWord(t, other, x)
		finds(x, "Get", "QueryBatch")
		finds(x, "QueryBatch") // the first one may have come too early for some of the shards
		putWord(t, s, y)
		c.take()
		finds(y, "QueryBatch")
		finds(y, "QueryBatch")
	}
}

// A prepared search sees what was written before it was prepared, by any process, while
// others write.
func TestPreparedSearch(t *testing.T) {
	t.Parallel()
	url := qdranttest.Start(t).URL(t)
	s, other := followed(t, url), followed(t, url)
	putWord(t, other, "w0")
	has(t, s, "w0")
	c := &calls{}
	c.record(t, s, url)
	for i := 1; i < 40; i++ {
		before, between := fmt.Sprint("w", i), fmt.Sprint("x", i)
		putWord(t, other, before)
		search := s.PrepareSearch(t.Context(), followScope)
		putWord(t, []*Store{s, other}[i%2], between)
		for range 2 {
			found, err := search(t.Context(), memory.Query{Terms: []string{before, between}, Limit: 100})
			if err != nil {
				t.Fatal(err)
			}
			is := func(run []memory.Candidate) bool { return run[0].Memory.ID == before }
			if !slices.ContainsFunc(found.Runs, is) {
				t.Fatalf("%q is not found: %+v", before, found.Runs)
			}
		}
		if got := has(t, s, before, between); len(got) != 2 {
			t.Fatal(got)
		}
	}
	has(t, s, "w0")
	has(t, s, "w0")
	c.take()
	for range 3 {
		search := s.PrepareSearch(t.Context(), followScope)
		for range 2 {
			if _, err := search(t.Context(), memory.Query{Terms: []string{"w0"}, Limit: 1}); err != nil {
				t.Fatal(err)
			}
		}
		if made := c.take(); !slices.Equal(made, []string{"Get"}) {
			t.Errorf("a prepared search of an unchanged scope makes the calls %v", made)
		}
	}
}

// A prepared search of a store that is closed meanwhile ends, and makes no call after that. One
// that is given up ends too, and a later one goes on.
func TestPreparedSearchEnds(t *testing.T) {
	t.Parallel()
	url := qdranttest.Start(t).URL(t)
	s := followed(t, url)
	putWord(t, s, "w")
	has(t, s, "w")
	ctx, cancel := context.WithCancel(t.Context())
	search := s.PrepareSearch(ctx, followScope)
	cancel()
	if _, err := search(ctx, memory.Query{Terms: []string{"w"}, Limit: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("a search that was given up: %v", err)
	}
	if got := has(t, s, "w"); len(got) != 1 {
		t.Fatal(got)
	}
	for range 20 {
		s.PrepareSearch(t.Context(), followScope)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.PrepareSearch(t.Context(), followScope)(t.Context(), memory.Query{}); err == nil {
		t.Error("a closed store answers")
	}
}

// A write that is overtaken by others before it has changed the head gets a new number,
// and is found by a search that has seen the others. A writer that is cut off in between
// has acknowledged nothing. A repetition of its write is found.
func TestSlowWriter(t *testing.T) {
	t.Parallel()
	q := qdranttest.Start(t)
	url := q.URL(t)
	s, slow, other := followed(t, url), followed(t, url), followed(t, url)
	putWord(t, other, "first")
	has(t, s, "first")
	c := &calls{}
	c.record(t, slow, url)
	reads := 0
	c.after = func(method string, _ any) {
		if method == "Get" {
			if reads++; reads == 1 { // it has read the head, and now others write and search
				for _, word := range []string{"second", "third"} {
					putWord(t, other, word)
					has(t, s, word)
				}
			}
		}
	}
	putWord(t, slow, "slow")
	if got := has(t, s, "slow", "second", "third"); len(got) != 3 {
		t.Errorf("found: %v", got)
	}
	c.after = nil

	// Cut off: its points have the number of another write, and it is gone.
	read, err := other.readToWrite(t.Context(), followScope, nil)
	if err != nil {
		t.Fatal(err)
	}
	putWord(t, other, "fourth")
	has(t, s, "fourth")
	has(t, s, "fourth")
	w := wordWrite("cut")
	d := memory.DecidePut(&w, nil, time.Now())
	change, _, err := changeOf(d, nil, w.Terms, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := change.record.point(nil)
	if err != nil {
		t.Fatal(err)
	}
	p.Payload[changeField] = qdrant.NewValueInt(changeNumber(followScope, read.head.n+1))
	if err := other.update(t.Context(), other.collection, insertOnly(p)); err != nil {
		t.Fatal(err)
	}
	out, err := slow.Put(t.Context(), followScope, []memory.Write{w})
	if err != nil || out[0].Err != nil || out[0].Changed {
		t.Fatal(out, err)
	}
	if got := has(t, s, "cut"); len(got) != 1 {
		t.Error("a write that was cut off and then repeated is not found")
	}
}

// An index is thrown away when the collection comes back without writes that it has
// seen, even when others have written since: no answer mixes both. Check tells it.
func TestNoMixture(t *testing.T) {
	t.Parallel()
	q := qdranttest.Start(t)
	url := q.URL(t)
	s, other := followed(t, url), followed(t, url)
	putWord(t, other, "kept")
	restore := q.Backup(t)
	putWord(t, other, "lost")
	if got := has(t, s, "kept", "lost"); len(got) != 2 {
		t.Fatal(got)
	}
	restore()
	for _, word := range []string{"new1", "new2", "new3"} {
		putWord(t, followed(t, url), word)
	}
	if got := strings.Join(has(t, s, "kept", "lost", "new1", "new2", "new3"), " "); got != "kept new1 new2 new3" {
		t.Errorf("found: %s", got)
	}
	var log bytes.Buffer
	s.Look(t.Context(), slog.New(slog.NewTextHandler(&log, nil)))
	if err := s.Check(t.Context()); err == nil || !strings.Contains(log.String(), "Qdrant has lost memories") {
		t.Errorf("check: %v; log: %s", err, log.String())
	}
}

// Indexes stay within their bytes over many scopes. A scope that would take more than
// half of them has none, and is searched all the same.
func TestIndexesAreBounded(t *testing.T) {
	t.Parallel()
	q := qdranttest.Start(t)
	s, err := Open(t.Context(), q.URL(t), followModel, &Options{CacheBytes: 200_000})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	fill := func(user string, n int, description string) memory.Scope {
		scope := memory.Scope{App: "app", User: user}
		var writes []memory.Write
		for i := range n {
			w := wordWrite(fmt.Sprint("word", i))
			w.Memory.Scope, w.Vector = scope, []float32{1, 0, 0, 0}
			if description != "" { // alike ones are kept once
				w.Memory.Description = fmt.Sprint(i, " ", description)
			}
			writes = append(writes, w)
		}
		if _, err := s.Put(t.Context(), scope, writes); err != nil {
			t.Fatal(err)
		}
		return scope
	}
	search := func(scope memory.Scope, n int) {
		t.Helper()
		found, err := s.Search(t.Context(), scope, memory.Query{Terms: []string{"word7"}, Vector: []float32{1, 0, 0, 0},
			Limit: 5})
		if err != nil || found.Stats.Docs != n {
			t.Errorf("%d memories of %d, %v", found.Stats.Docs, n, err)
		}
	}
	for i := range 60 {
		search(fill(fmt.Sprint("user", i), 20, ""), 20)
		if c := s.CacheStats(); c.Bytes > c.Limit || c.Scopes == 0 {
			t.Fatalf("figures %+v", c)
		}
	}
	if c := s.CacheStats(); c.Bytes < c.Limit/2 {
		t.Errorf("little of the room is used: %+v", c)
	}
	large := fill("large", 400, "")
	scopes := s.CacheStats().Scopes
	for range 2 {
		search(large, 400)
	}
	if c := s.CacheStats(); c.Bytes > c.Limit || c.Scopes > scopes || c.Loads != 61 {
		t.Errorf("after searches of a large scope: %+v", c)
	}
	fat := fill("fat", 30, strings.Repeat("a word ", 580)) // few memories of 4 kB each
	for range 2 {
		search(fat, 30)
	}
	if c := s.CacheStats(); c.Bytes > c.Limit || c.Scopes > scopes || c.Loads != 62 {
		t.Errorf("after searches of a scope of large memories: %+v", c)
	}
}
