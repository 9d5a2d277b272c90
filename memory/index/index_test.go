package index

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// random is a memory with some words, one of them often.
func random(r *rand.Rand, id int, revision int64, dimension int) *Entry {
	e := &Entry{Memory: memory.Memory{
		ID: fmt.Sprint("m", id), Scope: ann, Kind: memory.KindTurn, Fact: "f", Author: fmt.Sprint("author", r.IntN(3)),
		Timestamp: time.Unix(int64(r.IntN(1000)), 0), Revision: revision,
		Source: memory.Source{SessionID: fmt.Sprint("s", r.IntN(5)), EventIDs: []string{fmt.Sprint("e", id)}},
	}, Terms: memory.Terms{}}
	for range r.IntN(6) {
		e.Terms[fmt.Sprint("w", r.IntN(20))] = 1 + r.IntN(3)
	}
	e.Terms[fmt.Sprint("often", r.IntN(3))] = manyFreq - 2 + r.IntN(100)
	if r.IntN(10) > 0 {
		e.Vector = make([]float32, dimension)
		for i := range e.Vector {
			e.Vector[i] = r.Float32() - .5
		}
		n := float32(norm(e.Vector))
		for i := range e.Vector {
			e.Vector[i] /= n
		}
	}
	return e
}

// A search gives the memories with the words, frequencies and cosines that they have,
// and the statistics of those alone, however they have changed, and whether one core
// searches or several.
func TestSearchGivesTheMemories(t *testing.T) {
	const dimension = 3
	for _, n := range []int{50, 3000, 3 * helped * blockRows} {
		r := rand.New(rand.NewPCG(1, uint64(n)))
		ix, has := newIndex(), map[string]*Entry{}
		for i := range n {
			e := random(r, r.IntN(2*n/3), int64(i+1), dimension)
			ix.Put(e)
			has[e.Memory.ID] = e
			if i%7 == 0 {
				gone := fmt.Sprint("m", r.IntN(n))
				ix.Remove(gone, int64(i+2))
				delete(has, gone)
			}
		}
		for range 20 {
			question := random(r, 0, 1, dimension)
			q := memory.Query{Vector: question.Vector, Limit: 5, Context: 1, Sessions: true}
			for term := range question.Terms {
				q.Terms = append(q.Terms, term)
			}
			found := ix.Search(&q, time.Now())
			check(t, &found, &q, has)
		}
	}
}

// check compares what was found with what a walk over all memories finds.
func check(t *testing.T, found *memory.Found, q *memory.Query, has map[string]*Entry) {
	t.Helper()
	want := memory.Stats{Docs: len(has), DF: make([]int, len(q.Terms))}
	sessions := map[string]int{}
	for _, e := range has {
		sessions[e.Memory.Source.SessionID]++
		for i, term := range q.Terms {
			if e.Terms[term] > 0 {
				want.DF[i]++
			}
		}
	}
	if s := found.Stats; s.Docs != want.Docs || !slices.Equal(s.DF, want.DF) || s.SessionCount != len(sessions) {
		t.Fatalf("statistics %+v, want %+v and %d sessions", s, want, len(sessions))
	}
	best := 0.0
	for _, e := range has {
		if e.Vector != nil && q.Vector != nil {
			best = max(best, cosine(e.Vector, q.Vector))
		}
	}
	closest := 0.0
	for _, run := range found.Runs {
		for _, c := range run {
			e := has[c.Memory.ID]
			if e == nil || e.Memory.Revision != c.Memory.Revision || e.Memory.Author != c.Memory.Author {
				t.Fatalf("%+v is not what is stored: %+v", c.Memory, e)
			}
			for i, term := range q.Terms {
				if c.Freqs[i] != e.Terms[term] {
					t.Fatalf("%s has %q %d times, not %d", c.Memory.ID, term, e.Terms[term], c.Freqs[i])
				}
			}
			if c.Length != e.Terms.Length() {
				t.Fatalf("%s has %d words, not %d", c.Memory.ID, e.Terms.Length(), c.Length)
			}
			closest = max(closest, c.Cosine)
		}
	}
	if math.Abs(closest-best) > 1e-6 {
		t.Fatalf("the closest has %v, not %v", closest, best)
	}
}

// cosine is that of a vector of unit length with another.
func cosine(unit, other []float32) (sum float64) {
	for i, x := range unit {
		sum += float64(x) * float64(other[i])
	}
	return sum / norm(other)
}

// A block of vectors has no more room than its vectors will need, and one that is not
// full has room for a quarter more at most.
func TestBlocksHaveNoSpareRoom(t *testing.T) {
	const dimension = 5
	var v vectors
	for i := range int32(2*blockRows + blockRows/2) {
		v.add(i, []float32{float32(i), 1, 2, 3, 4})
		last := v.blocks[len(v.blocks)-1]
		if room := cap(last); room > blockRows*dimension || 4*room > 5*len(last)+4*dimension {
			t.Fatalf("room for %d numbers after %d", room, len(last))
		}
	}
	for i := range int32(len(v.slots)) {
		if got := v.row(i)[0]; got != float32(i) {
			t.Fatalf("row %d begins with %v", i, got)
		}
	}
}

// The vectors of a page that a store has read get the room that they need at once.
func TestVectorsOfPageHaveTheirRoom(t *testing.T) {
	page := func(n int, vector []float32) (out []*Entry) {
		for i := range n {
			out = append(out, &Entry{Vector: vector,
				Memory: memory.Memory{ID: fmt.Sprint("m", len(vector), i), Scope: ann, Kind: memory.KindFact}})
		}
		return out
	}
	const rest = 300
	c := NewCache(0, func(_ context.Context, _ memory.Scope, take func([]*Entry) int64) (Refresh, error) {
		take(append(page(blockRows, nil), page(blockRows+rest, []float32{1, 2, 3})...))
		return nil, nil
	})
	defer c.Close()
	ix, err := c.Get(t.Context(), ann, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if room := cap(ix.vectors.blocks[1]); len(ix.vectors.blocks) != 2 || room != 3*rest {
		t.Errorf("%d blocks, the last with room for %d numbers", len(ix.vectors.blocks), room)
	}
	before := ix.vectors.bytes()
	ix.putPage(page(blockRows, []float32{1})) // of another dimension
	ix.Put(&Entry{Memory: memory.Memory{ID: "one", Scope: ann, Kind: memory.KindFact}, Vector: []float32{1, 2, 3}})
	if more := ix.vectors.bytes() - before; more > 4*3*rest/2 {
		t.Errorf("one more vector takes %d bytes", more)
	}
}

// A memory that has expired is in no answer, also one that another call has put in since the
// index was brought up to date.
func TestExpiredIsNotFound(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	ix := newIndex()
	ix.Put(fact(memory.Scope{App: "app", User: "ann"}, "kept", 1))
	gone := fact(memory.Scope{App: "app", User: "ann"}, "gone", 1)
	gone.Memory.ExpireTime = now
	ix.Put(gone)
	q := &memory.Query{Terms: []string{"coffee"}, Limit: 10}
	if found := ix.Search(q, now.Add(-time.Second)); found.Stats.Docs != 2 {
		t.Errorf("before it expires: %+v", found)
	}
	if found := ix.Search(q, now); found.Stats.Docs != 1 || len(found.Runs) != 1 {
		t.Errorf("once it has expired: %+v", found)
	}
	ix.Put(gone)
	if found, _ := ix.SearchNear(q, &Near{}, nil, now); found.Stats.Docs != 1 || len(found.Runs) != 1 {
		t.Errorf("with lists: %+v", found)
	}
}
