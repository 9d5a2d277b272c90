package sqlitestore

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// Search implements memory.Store.
func (s *Store) Search(ctx context.Context, scope memory.Scope, q memory.Query) (memory.Found, error) {
	if q.Vector != nil && len(q.Vector) != s.model.Dimension {
		return memory.Found{}, wrap("search memories", scope, fmt.Errorf("%w: query vector has %d numbers, not %d", memory.ErrInvalid, len(q.Vector), s.model.Dimension))
	}
	if err := ctx.Err(); err != nil {
		return memory.Found{}, err
	}
	ix, err := s.cache.get(ctx, scope)
	if err != nil {
		return memory.Found{}, wrap("search memories", scope, err)
	}
	now := s.now()
	ix.expire(now)
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	sr := search{ix: ix, q: &q, now: now}
	return sr.run(), nil
}

// search is one query on one index, which is read-locked.
type search struct {
	ix    *index
	q     *memory.Query
	now   time.Time
	words []*word       // of q.Terms; nil where nobody has it
	terms map[int32]int // a word's number to its place in q.Terms
	stats memory.Stats
	norm  float64 // of q.Vector
}

func (s *search) run() memory.Found {
	s.stats = memory.Stats{Docs: len(s.ix.slots), DF: make([]int, len(s.q.Terms))}
	s.terms = make(map[int32]int, len(s.q.Terms))
	for i, t := range s.q.Terms {
		w := s.ix.words[t]
		s.words = append(s.words, w)
		if w != nil {
			s.terms[w.number] = i
			s.stats.DF[i] = w.df
		}
	}
	if s.q.Sessions {
		s.sessions()
	}
	hits := map[int32]bool{}
	for _, slot := range s.lexical() {
		hits[slot] = true
	}
	if s.q.Vector != nil {
		s.norm = norm(s.q.Vector)
		for _, slot := range s.dense() {
			hits[slot] = true
		}
	}
	if s.q.Cited {
		s.cited(hits)
	}
	return memory.Found{Stats: s.stats, Runs: s.runs(hits)}
}

// sessions counts in how many turns of each session each word is.
func (s *search) sessions() {
	s.stats.SessionCount = len(s.ix.sessions)
	s.stats.Sessions = map[string]memory.SessionStats{}
	counts := make(map[int32][]int) // by number of the session
	for i, w := range s.words {
		if w == nil {
			continue
		}
		for _, p := range w.list {
			d := &s.ix.docs[p.slot]
			if d.dead || d.session < 0 {
				continue
			}
			df := counts[d.session]
			if df == nil {
				df = make([]int, len(s.words))
				counts[d.session] = df
			}
			df[i]++
		}
	}
	for number, df := range counts {
		name := s.ix.sessionNames[number]
		s.stats.Sessions[name] = memory.SessionStats{Turns: len(s.ix.sessions[name]), DF: df}
	}
}

// cited adds the turns that the facts among the hits cite.
func (s *search) cited(hits map[int32]bool) {
	events := map[string]map[string]bool{} // by session
	for slot := range hits {
		m := s.ix.docs[slot].memory
		if m.Kind != memory.KindFact || len(s.ix.sessions[m.Source.SessionID]) == 0 {
			continue
		}
		if events[m.Source.SessionID] == nil {
			events[m.Source.SessionID] = map[string]bool{}
		}
		for _, e := range m.Source.EventIDs {
			events[m.Source.SessionID][e] = true
		}
	}
	for session, wanted := range events {
		for _, slot := range s.ix.sessions[session] {
			if wanted[eventID(s.ix.docs[slot].memory)] {
				hits[slot] = true
			}
		}
	}
}

// lexical is the slots of the Limit best by BM25.
func (s *search) lexical() []int32 {
	scores := make([]float64, len(s.ix.docs))
	for _, w := range s.words {
		if w == nil {
			continue
		}
		idf := memory.IDF(s.stats.Docs, w.df)
		for _, p := range w.list {
			scores[p.slot] += idf * memory.Saturate(float64(p.freq), float64(s.ix.docs[p.slot].length))
		}
	}
	best := s.best()
	for slot, score := range scores {
		if score > 0 {
			best.offer(int32(slot), score)
		}
	}
	return best.slots()
}

// dense is the slots of the Limit best by cosine.
func (s *search) dense() []int32 {
	best := s.best()
	for slot := range s.ix.docs {
		if c := s.cosine(&s.ix.docs[slot]); c > 0 {
			best.offer(int32(slot), c)
		}
	}
	return best.slots()
}

// cosine takes stored vectors to be of unit length, as Write says.
func (s *search) cosine(d *doc) float64 {
	v := s.ix.vectorOf(d)
	if v == nil || s.norm == 0 {
		return 0
	}
	return dot(v, s.q.Vector) / s.norm
}

// runs are the hits and the turns around them, apart where they do not touch.
func (s *search) runs(hits map[int32]bool) (out [][]memory.Candidate) {
	places := map[string][]int{} // of the hits in each session
	for slot := range hits {
		if m := s.ix.docs[slot].memory; m.Kind == memory.KindTurn {
			at, _ := s.ix.place(slot)
			places[m.Source.SessionID] = append(places[m.Source.SessionID], at)
		} else {
			out = append(out, []memory.Candidate{s.candidate(slot)})
		}
	}
	for session, at := range places {
		slices.Sort(at)
		turns := s.ix.sessions[session]
		var run []memory.Candidate
		next := 0 // the first turn not in a run yet
		for _, i := range at {
			from, to := max(0, i-s.q.Context), min(len(turns), i+s.q.Context+1)
			if from > next && run != nil {
				out = append(out, run)
				run = nil
			}
			for j := max(from, next); j < to; j++ {
				run = append(run, s.candidate(turns[j]))
			}
			next = max(next, to)
		}
		out = append(out, run)
	}
	return out
}

func (s *search) candidate(slot int32) memory.Candidate {
	d := &s.ix.docs[slot]
	c := memory.Candidate{Memory: d.memory.Clone(), Freqs: make([]int, len(s.words)), Length: d.length, Match: s.q.Match(d.memory, s.now)}
	for _, have := range d.words {
		if i, ok := s.terms[have.word]; ok {
			c.Freqs[i] = int(have.freq)
		}
	}
	if s.q.Vector != nil {
		c.Cosine = s.cosine(d)
	}
	return c
}

// top collects the Limit best slots that are alive and pass the filter; the
// filter is asked only about those that would get in.
type top struct {
	s    *search
	kept []scored // the worst first
}

type scored struct {
	slot  int32
	score float64
}

func (s *search) best() *top { return &top{s: s} }

func (t *top) worse(a, b scored) bool {
	if a.score != b.score {
		return a.score < b.score
	}
	return t.s.ix.docs[a.slot].memory.ID > t.s.ix.docs[b.slot].memory.ID
}

func (t *top) Len() int           { return len(t.kept) }
func (t *top) Less(i, j int) bool { return t.worse(t.kept[i], t.kept[j]) }
func (t *top) Swap(i, j int)      { t.kept[i], t.kept[j] = t.kept[j], t.kept[i] }
func (t *top) Push(x any)         { t.kept = append(t.kept, x.(scored)) }
func (t *top) Pop() any {
	last := t.kept[len(t.kept)-1]
	t.kept = t.kept[:len(t.kept)-1]
	return last
}

func (t *top) offer(slot int32, score float64) {
	d := &t.s.ix.docs[slot]
	c := scored{slot, score}
	full := len(t.kept) >= t.s.q.Limit
	if d.dead || t.s.q.Limit <= 0 || full && !t.worse(t.kept[0], c) || !t.s.q.Match(d.memory, t.s.now) {
		return
	}
	if full {
		t.kept[0] = c
		heap.Fix(t, 0)
		return
	}
	heap.Push(t, c)
}

func (t *top) slots() []int32 {
	slices.SortFunc(t.kept, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	out := make([]int32, len(t.kept))
	for i, c := range t.kept {
		out[i] = c.slot
	}
	return out
}
