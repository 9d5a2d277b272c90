package qdrantstore

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/qdrant/go-client/qdrant"

	"github.com/memoryd/memoryd/internal/qdranttest"
	"github.com/memoryd/memoryd/memory"
)

// nearWrite is a turn of a session, or a fact that cites one. Some facts have ended.
func nearWrite(r *rand.Rand, i int) memory.Write {
	m := memory.Memory{ID: fmt.Sprint("m", i), Scope: followScope, Kind: memory.KindTurn, Author: "Ann",
		Fact: fmt.Sprint("said ", i), Timestamp: time.Unix(1_700_000_000+int64(i), 0).UTC(),
		Source: memory.Source{SessionID: fmt.Sprint("s", i%7), EventIDs: []string{fmt.Sprint("e", i)}}}
	if i%4 == 3 {
		m.Kind, m.Author, m.Source.EventIDs = memory.KindFact, "", []string{fmt.Sprint("e", i-7)}
		m.Topics = []string{fmt.Sprint("topic", i%3)}
		if i%8 == 7 {
			m.ValidTo, m.SupersededBy = m.Timestamp.Add(time.Hour), fmt.Sprint("m", i-4)
		}
	}
	w := memory.Write{Actor: "test", Memory: m, Terms: memory.Terms{fmt.Sprint("w", i%11): 1 + i%3, "all": 1}}
	if i%9 > 0 { // of few numbers, so that many cosines are the same
		w.Vector = []float32{float32(r.IntN(3) - 1), float32(r.IntN(3) - 1), float32(r.IntN(2)), 1}
		length := norm(w.Vector)
		for j := range w.Vector {
			w.Vector[j] /= float32(length)
		}
	}
	return w
}

func putAll(t *testing.T, s *Store, writes ...memory.Write) {
	t.Helper()
	out, err := s.Put(t.Context(), followScope, writes)
	for _, o := range out {
		if err == nil {
			err = o.Err
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// alike fails unless two searches found the same memories with the same cosines.
func alike(t *testing.T, got, want memory.Found) {
	t.Helper()
	flat := func(f memory.Found) map[string]memory.Candidate {
		out := map[string]memory.Candidate{}
		for i, run := range append(f.Runs, f.Succession) {
			for _, c := range run {
				out[fmt.Sprint(c.Memory.ID, i < len(f.Runs))] = c
			}
		}
		return out
	}
	is, should := flat(got), flat(want)
	for id, w := range should {
		g, ok := is[id]
		if !ok || g.Memory.Revision != w.Memory.Revision || !slices.Equal(g.Freqs, w.Freqs) || g.Match != w.Match ||
			!(math.Abs(g.Cosine-w.Cosine) < 1e-6) {
			t.Errorf("%s: %+v, want %+v", id, g, w)
		}
	}
	if len(is) != len(should) || len(got.Runs) != len(want.Runs) || !slices.Equal(got.Stats.DF, want.Stats.DF) {
		t.Errorf("%d memories in %d runs, want %d in %d", len(is), len(got.Runs), len(should), len(want.Runs))
	}
}

// An index without vectors finds what one with vectors finds, whatever the filter, in two
// rounds: one call brings it up to date while another one reads the lists, and then the
// cosines of the other memories are read. Writes of other processes are seen.
func TestSearchWithoutVectors(t *testing.T) {
	t.Parallel()
	url := qdranttest.Start(t).URL(t)
	whole, s, other := followed(t, url), followed(t, url), followed(t, url)
	KeepNoVectors(s)
	r := rand.New(rand.NewPCG(1, 2))
	const n = 600
	for i := range n {
		putAll(t, other, nearWrite(r, i))
	}
	// Qdrant decides no part of it.
	where := memory.Not{Where: memory.Cmp{Field: memory.FieldSession, Op: memory.OpEqual, Value: memory.Text("s1")}}
	rare := memory.Not{Where: memory.Cmp{Field: memory.FieldFact, Op: memory.OpNot, Value: memory.Text("said 7")}}
	c := &calls{}
	c.record(t, s, url)
	short := 0
	var without, with atomic.Int64 // memories whose cosines are read without their payload, and with it
	c.mu.Lock()
	c.after = func(_ string, req any) {
		if call, ok := req.(*qdrant.QueryPoints); ok {
			count := map[bool]*atomic.Int64{true: &without, false: &with}[call.GetWithPayload() == nil]
			count.Add(int64(call.GetLimit()))
		}
	}
	c.mu.Unlock()
	for i := range 60 {
		q := memory.Query{Terms: []string{fmt.Sprint("w", i%11), "absent"}, Vector: []float32{0.6, 0, 0, 0.8},
			Limit: 5 + i, Context: i % 3, Cited: i%2 == 0, Sessions: true, Succession: i%4 < 3}
		switch i % 5 {
		case 1:
			q.Kinds = []memory.Kind{memory.KindTurn}
		case 2:
			q.Where = where
		case 3:
			q.SessionID, q.History = "s3", true
		case 4:
			q.Where = rare
		case 0:
			q.AsOf = time.Unix(1_700_000_000+n/2, 0)
		}
		putAll(t, other, nearWrite(r, n+i))
		want, err := whole.Search(t.Context(), followScope, q)
		if err != nil {
			t.Fatal(err)
		}
		c.take()
		got, err := s.Search(t.Context(), followScope, q)
		if err != nil {
			t.Fatal(err)
		}
		alike(t, got, want)
		count := map[string]int{}
		for _, method := range c.take() {
			count[method]++
		}
		if i > 0 && (count["QueryBatch"] < 2 || count["QueryBatch"] > 3 || count["Get"] > 1 ||
			len(count) > 1+min(1, count["Query"])+count["Get"]) {
			t.Errorf("calls: %v", count)
		}
		if count["QueryBatch"] > 2 {
			short++
		}
	}
	if short == 0 || short > 30 {
		t.Errorf("%d of 60 searches have asked for longer lists", short)
	}
	if without.Load() < 50*with.Load() || with.Load() == 0 { // only those just written are read with it
		t.Errorf("%d cosines are read without a payload and %d with one", without.Load(), with.Load())
	}
	q := memory.Query{Terms: []string{"w3"}, Limit: 5}
	if _, err := s.Search(t.Context(), followScope, q); err != nil {
		t.Fatal(err)
	}
	if made := c.take(); !slices.Equal(made, []string{"QueryBatch"}) {
		t.Errorf("a search by words alone: %v", made)
	}
}

// A memory that changes between the calls of a search is found as it was before or as it is
// after, with the cosine of that. If memories change all the time, Qdrant's lists answer.
func TestWritesBetweenCallsWithoutVectors(t *testing.T) {
	t.Parallel()
	for _, all := range []bool{false, true} {
		url := qdranttest.Start(t).URL(t)
		s, other := followed(t, url), followed(t, url)
		KeepNoVectors(s)
		version := func(revision int64) memory.Write {
			w := wordWrite("m")
			w.Memory.Fact, w.Expect = fmt.Sprint("m", revision), revision-1
			w.Vector = [][]float32{{0, 1, 0, 0}, {0.6, 0.8, 0, 0}}[revision%2]
			return w
		}
		writes := []memory.Write{version(1)}
		for i := range 2 * spare { // they are nearer, so that no list has m
			w := wordWrite(fmt.Sprint("near", i))
			w.Vector = []float32{1, 0, 0, 0}
			writes = append(writes, w)
		}
		putAll(t, other, writes...)
		q := memory.Query{Terms: []string{"m"}, Vector: []float32{1, 0, 0, 0}, Limit: 1}
		if _, err := s.Search(t.Context(), followScope, q); err != nil {
			t.Fatal(err)
		}
		c := &calls{}
		c.record(t, s, url)
		revision := int64(1)
		c.mu.Lock()
		c.after = func(method string, req any) {
			batch, ok := req.(*qdrant.QueryBatchPoints)
			follows := method == "Get" || ok && batch.GetQueryPoints()[0].GetUsing() == ""
			if follows && (all || revision == 1) {
				revision++
				putAll(t, other, version(revision))
			}
		}
		c.mu.Unlock()
		found, err := s.Search(t.Context(), followScope, q)
		s.filler.all.Wait() // after the lists it reads the index again
		if err != nil {
			t.Fatal(err)
		}
		for _, run := range found.Runs {
			if is := run[0]; is.Memory.ID == "m" {
				if want := 0.6 * float64(is.Memory.Revision%2); math.Abs(is.Cosine-want) > 1e-6 {
					t.Errorf("revision %d has the cosine %v", is.Memory.Revision, is.Cosine)
				}
			}
		}
		if lists := slices.Contains(c.take(), "Count"); lists != all || len(found.Runs) != 2 || revision == 1 {
			t.Errorf("changes all the time: %v; Qdrant's lists answer: %v; found: %+v", all, lists, found.Runs)
		}
	}
}

// A scope whose vectors have no room has an index without them, within its bytes, and one
// with them once there is room.
func TestNoRoomForVectors(t *testing.T) {
	t.Parallel()
	q := qdranttest.Start(t)
	const n, limit = 300, 600_000
	model := Model{Embedder: "e", Dimension: 512, Analyzer: "a"}
	s, err := Open(t.Context(), q.URL(t), model, &Options{CacheBytes: limit})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	query := memory.Query{Terms: []string{"w1"}, Vector: make([]float32, model.Dimension), Limit: 5}
	query.Vector[0] = 1
	var writes []memory.Write
	for i := range n {
		w := wordWrite(fmt.Sprint("w", i))
		w.Vector = make([]float32, model.Dimension)
		w.Vector[i] = 1
		writes = append(writes, w)
	}
	putAll(t, s, writes...)
	found, err := s.Search(t.Context(), followScope, query)
	if err != nil || len(found.Runs) != 2 {
		t.Fatal(found, err)
	}
	ix := s.cache.Held(followScope)
	if c := s.CacheStats(); ix == nil || !ix.Apart() || c.Bytes > limit/2 || s.sizes.of(followScope) != bare {
		t.Errorf("figures %+v, index %v", c, ix)
	}
	gone := []memory.Removal{}
	for i := 20; i < n; i++ {
		gone = append(gone, memory.Removal{ID: fmt.Sprint("w", i), Actor: "test"})
	}
	if _, err := s.Delete(t.Context(), followScope, gone); err != nil {
		t.Fatal(err)
	}
	s.cache.Clear()
	s.sizes.scopes[followScope] = measured{bare, time.Now().Add(-2 * measuredFor)}
	if _, err := s.Search(t.Context(), followScope, query); err != nil {
		t.Fatal(err)
	}
	if ix := s.cache.Held(followScope); ix == nil || ix.Apart() {
		t.Error("an index that has room for vectors has none")
	}
}
