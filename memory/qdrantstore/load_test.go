package qdrantstore

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/qdrant/go-client/qdrant"

	"github.com/memoryd/memoryd/internal/qdranttest"
	"github.com/memoryd/memoryd/memory"
)

// The first search of a scope of few memories takes two rounds of calls, and the one after it a
// single call.
func TestColdSearchIsTwoRounds(t *testing.T) {
	t.Parallel()
	url := qdranttest.Start(t).URL(t)
	s, other := followed(t, url), followed(t, url)
	c := &calls{}
	c.record(t, s, url)
	for n, word := range []string{"", "w1", "w2"} { // a scope without memories has no index
		if word != "" {
			putWord(t, other, word)
		}
		s.cache.Clear()
		c.take()
		if got := has(t, s, "w1", "w2"); len(got) != n {
			t.Errorf("%d memories: the first search finds %v", n, got)
		}
		made := c.take()
		slices.Sort(made)
		if !slices.Equal(made, []string{"Count", "Get", "Scroll"}) {
			t.Errorf("%d memories: the first search makes the calls %v", n, made)
		}
	}
	has(t, s, "w1")
	if made := c.take(); !slices.Equal(made, []string{"Get"}) {
		t.Errorf("the second search makes the calls %v", made)
	}
	putWord(t, other, "w3")
	if got := has(t, s, "w1", "w3"); len(got) != 2 {
		t.Errorf("after a write of another process: %v", got)
	}
}

// A page may have a part of what is written while it is read, or nothing of it. No first search
// is answered by that.
func TestWriteWhileIndexIsRead(t *testing.T) {
	t.Parallel()
	url := qdranttest.Start(t).URL(t)
	s, other := followed(t, url), followed(t, url)
	put := func(words ...string) {
		var writes []memory.Write
		for _, word := range words {
			writes = append(writes, wordWrite(word))
		}
		out, err := other.Put(t.Context(), followScope, writes)
		if err != nil || slices.ContainsFunc(out, func(o memory.Outcome) bool { return o.Err != nil }) {
			t.Error(out, err)
		}
	}
	head := headID(followScope)
	remove := func(words ...string) {
		var gone []memory.Removal
		for _, word := range words {
			gone = append(gone, memory.Removal{ID: word, Actor: "test"})
		}
		out, err := other.Delete(t.Context(), followScope, gone)
		if err != nil || slices.ContainsFunc(out, func(o memory.Outcome) bool { return o.Err != nil }) {
			t.Error(out, err)
		}
	}
	for name, test := range map[string]struct {
		before string // is there
		write  func() // after the head is read
		shows  string // of the memories there before, what the page has all the same
		begun  bool   // the page has the head as it was, as that of a write comes last
		lacks  string // what the page lacks
		want   []string
	}{
		"two writes, the page has the first": {
			write: func() { put("a1"); put("a2") }, lacks: "a2", want: []string{"a1", "a2"}},
		"a part of one write": {
			begun: true, write: func() { put("d1", "d2") }, lacks: "d2", want: []string{"d1", "d2"}},
		"a write that is put in place of another one": {
			before: "b1", write: func() { put("b2"); remove("b1") }, lacks: "b2", want: []string{"b2"}},
		"a delete that the page has a part of": {
			before: "c1 c2", write: func() { remove("c1", "c2") }, shows: "c2"},
	} {
		words := strings.Fields(test.before)
		for _, word := range words {
			put(word)
		}
		put(name) // so that there is a head
		was := map[string]*qdrant.RetrievedPoint{}
		ids := pointIDs(followScope, strings.Fields(test.shows))
		if test.begun {
			ids = append(ids, head)
		}
		points, err := other.get(t.Context(), ids, loadFields.GetInclude().GetFields())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range points {
			was[p.GetId().GetUuid()] = p
		}
		lacks := pointIDs(followScope, []string{test.lacks})[0].GetUuid()
		c, written := &calls{}, false
		c.record(t, s, url)
		c.mu.Lock()
		c.after = func(method string, _ any) {
			if method == "Get" && !written {
				written = true
				test.write()
			}
		}
		c.edit = func(reply any) {
			page, ok := reply.(*qdrant.ScrollResponse)
			if !ok || !written {
				return
			}
			page.Result = slices.DeleteFunc(page.Result, func(p *qdrant.RetrievedPoint) bool {
				id := p.GetId().GetUuid()
				return id == lacks || was[id] != nil
			})
			page.Result = slices.AppendSeq(page.Result, maps.Values(was))
		}
		c.mu.Unlock()
		s.cache.Clear()
		if got := has(t, s, append(words, "a1", "a2", "b2", "d1", "d2")...); !slices.Equal(got, test.want) {
			t.Errorf("%s: found %v, not %v", name, got, test.want)
		}
		c.mu.Lock()
		c.after, c.edit = nil, nil
		c.mu.Unlock()
		if len(test.want) > 0 {
			remove(test.want...)
		}
	}
}

// Of several pages, an earlier one may have a part of a write, and the last one nothing of it:
// not even its head, which comes after all that it tells of.
func TestWriteWhilePagesAreRead(t *testing.T) {
	t.Parallel()
	among := func(from, to string, id func(name string) *qdrant.PointId) string {
		for i := 0; ; i++ {
			if at := id(fmt.Sprint("x", i)).GetUuid(); at >= from && at < to {
				return fmt.Sprint("x", i)
			}
		}
	}
	scope := memory.Scope{App: "app", User: among("f", "g", func(name string) *qdrant.PointId {
		return headID(memory.Scope{App: "app", User: name})
	})}
	point := func(name string) *qdrant.PointId { return pointIDs(scope, []string{name})[0] }
	early, late := among("0", "1", point), among("f", "g", point)
	for _, n := range []int{400, 520} { // two pages of one lane, and two lanes
		url := qdranttest.Start(t).URL(t)
		s, other := followed(t, url), followed(t, url)
		put := func(words ...string) {
			var writes []memory.Write
			for _, word := range words {
				w := wordWrite(word)
				w.Memory.Scope = scope
				writes = append(writes, w)
			}
			out, err := other.Put(t.Context(), scope, writes)
			if err != nil || slices.ContainsFunc(out, func(o memory.Outcome) bool { return o.Err != nil }) {
				t.Error(out, err)
			}
		}
		var words []string
		for i := range n {
			words = append(words, fmt.Sprint("w", i))
		}
		put(words...)
		head, err := other.get(t.Context(), []*qdrant.PointId{headID(scope)}, []string{changeField, tokenField})
		if err != nil {
			t.Fatal(err)
		}
		c, written := &calls{}, false
		c.record(t, s, url)
		c.mu.Lock()
		c.after = func(method string, _ any) {
			if method == "Get" && !written {
				written = true
				put(early, late)
			}
		}
		c.edit = func(reply any) {
			page, ok := reply.(*qdrant.ScrollResponse)
			if !ok {
				return
			}
			page.Result = slices.DeleteFunc(page.Result, func(p *qdrant.RetrievedPoint) bool {
				if p.GetId().GetUuid() == headID(scope).GetUuid() {
					p.Payload = head[0].GetPayload()
				}
				return p.GetId().GetUuid() == point(late).GetUuid()
			})
		}
		c.mu.Unlock()
		found, err := s.Search(t.Context(), scope, memory.Query{Terms: []string{early, late}, Limit: 100})
		if err != nil || len(found.Runs) != 2 {
			t.Errorf("%d memories: %d found, %v", n, len(found.Runs), err)
		}
	}
}

// Vectors that stay in Qdrant are compared in one round, also after a first search.
func TestSmallIndexWithoutVectors(t *testing.T) {
	t.Parallel()
	url := qdranttest.Start(t).URL(t)
	s, other := followed(t, url), followed(t, url)
	KeepNoVectors(s)
	var writes []memory.Write
	for i := range 2 * spare { // the one found by its word is in no list by meaning
		w := wordWrite(fmt.Sprint("w", i))
		w.Vector = []float32{float32(i), 1, 0, 0}
		writes = append(writes, w)
	}
	if _, err := other.Put(t.Context(), followScope, writes); err != nil {
		t.Fatal(err)
	}
	c := &calls{}
	c.record(t, s, url)
	for i := range 3 {
		if _, err := s.Search(t.Context(), followScope,
			memory.Query{Terms: []string{"w0"}, Vector: []float32{1, 0, 0, 0}, Limit: 1}); err != nil {
			t.Fatal(err)
		}
		if made := c.take(); i > 0 && !slices.Equal(slices.Sorted(slices.Values(made)), []string{"Get", "Query", "QueryBatch"}) {
			t.Errorf("search %d makes the calls %v", i, made)
		}
	}
}

// A Qdrant that comes back from a backup while a scope is read has lost what its head was about.
func TestLossWhileIndexIsRead(t *testing.T) {
	t.Parallel()
	q := qdranttest.Start(t)
	url := q.URL(t)
	s, other := followed(t, url), followed(t, url)
	restore := q.Backup(t)
	putWord(t, other, "lost")
	c := &calls{}
	c.record(t, s, url)
	var answered atomic.Int32
	c.mu.Lock()
	c.after = func(method string, _ any) {
		// It has the head, and no other call is under way that the end of Qdrant would cut off.
		if (method == "Get" || method == "Count") && answered.Add(1) == 2 {
			restore()
		}
	}
	c.mu.Unlock()
	if got := has(t, s, "lost"); len(got) > 0 {
		t.Errorf("found %v", got)
	}
	s.Look(t.Context(), slog.New(slog.DiscardHandler))
	if err := s.Check(t.Context()); err == nil {
		t.Error("nothing tells that a write is lost")
	}
}
