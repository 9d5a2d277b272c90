package index

import (
	"container/heap"
	"math"
	"slices"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// Search answers a query of memory.Store.Search at a time. The vector has the
// dimension of those in the index.
func (ix *Index) Search(q *memory.Query, now time.Time) memory.Found {
	ix.lockAt(now)
	defer ix.mu.RUnlock()
	sr := search{ix: ix, q: q, now: now}
	sr.count()
	return sr.run()
}

// search is one query on one index, which is read-locked.
type search struct {
	ix    *Index
	q     *memory.Query
	now   time.Time
	words []int32       // the numbers of q.Terms; noWord for one that no memory has
	terms map[int32]int // a word's number to its index in q.Terms
	mask  uint64        // the last bits of the numbers in terms
	stats memory.Stats
	// scores are the lexical scores of all slots.
	scores []float64
	// cosines are those of all slots with q.Vector; nil if there is none.
	cosines []float64
	near    *Near   // the lists by meaning, if the vectors stay in the store
	byWords []int32 // the list by words, if worded
	worded  bool
	short   bool           // near lacks memories that belong into the lists
	found   []int32        // the slots in the runs, in no order
	one     restored       // the memory that a filter looks at
	rest    *memory.Memory // that one has
}

// noWord stands for the number of a word that no memory has.
const noWord = -1

// memoryOf is the memory of a slot until the next call.
func (s *search) memoryOf(slot int32) *memory.Memory {
	rest := s.ix.docs[slot].rest
	s.ix.restore(slot, &s.one, rest == s.rest)
	s.rest = rest
	return &s.one.Memory
}

// count looks up the words of the query.
func (s *search) count() {
	s.stats = memory.Stats{Docs: len(s.ix.slots), DF: make([]int, len(s.q.Terms))}
	if s.q.Bytes {
		s.stats.Bytes = s.ix.stored
	}
	if s.q.Bytes || s.q.CountHidden {
		s.stats.Hidden = len(s.ix.hidden)
	}
	s.terms = make(map[int32]int, len(s.q.Terms))
	for i, t := range s.q.Terms {
		number := s.ix.words.find(t)
		if number != noWord {
			s.terms[number] = i
			s.mask |= bit(number)
			s.stats.DF[i] = s.ix.df(number)
		}
		s.words = append(s.words, number)
	}
}

// run finds the two lists, adds cited turns and context, and measures all.
func (s *search) run() memory.Found {
	hits := s.lists()
	if s.q.Cited {
		hits = append(hits, s.cited(hits)...)
	}
	slices.Sort(hits)
	out := memory.Found{Stats: s.stats, Runs: s.runs(slices.Compact(hits))}
	if s.q.Succession && len(s.ix.departing) > 0 {
		out.Succession = s.succession()
	}
	return out
}

// cited is the turns that the facts among the hits cite.
func (s *search) cited(hits []int32) (out []int32) {
	citations := memory.Citations{}
	for _, slot := range hits {
		if s.ix.docs[slot].rest.Kind.Statement() {
			citations.Cite(s.memoryOf(slot))
		}
	}
	for session, events := range citations {
		var hashes []uint32
		for event := range events {
			hashes = append(hashes, hashed(event))
		}
		for _, slot := range s.ix.turnsOf(session) {
			if slices.Contains(hashes, s.ix.marks[slot].event) && events[s.ix.docs[slot].event()] {
				out = append(out, slot)
			}
		}
	}
	return out
}

// runs are the hits with the turns around them; see memory.Found.
func (s *search) runs(hits []int32) (out [][]memory.Candidate) {
	positions := map[int32][]int{} // of the hits in each session
	for _, slot := range hits {
		if session := s.ix.marks[slot].session; session >= 0 {
			at, _ := s.ix.position(slot)
			positions[session] = append(positions[session], at)
		} else {
			s.found = append(s.found, slot)
			out = append(out, s.candidates([]int32{slot}))
		}
	}
	for session, at := range positions {
		slices.Sort(at)
		turns := s.ix.sessions[session].turns
		if s.ix.forgotten > 0 && !s.q.History {
			turns, at = s.remembered(turns, at)
		}
		for _, run := range memory.Spans(at, s.q.Context, len(turns)) {
			s.found = append(s.found, turns[run.From:run.To]...)
			out = append(out, s.candidates(turns[run.From:run.To]))
		}
	}
	return out
}

// remembered returns the turns of a session of which no fact was forgotten, and the
// places of the hits among them.
func (s *search) remembered(turns []int32, hits []int) (out []int32, at []int) {
	for i, slot := range turns {
		if len(s.ix.docs[slot].rest.Forgotten) > 0 {
			continue
		}
		if _, hit := slices.BinarySearch(hits, i); hit {
			at = append(at, len(out))
		}
		out = append(out, slot)
	}
	return out, at
}

// candidates measures the memories of a run against the query.
func (s *search) candidates(slots []int32) []memory.Candidate {
	out := make([]memory.Candidate, len(slots))
	n := len(s.words)
	freqs := make([]int, len(slots)*n)
	s.ix.restoring.Lock()
	defer s.ix.restoring.Unlock()
	recent := s.ix.lately()
	for i, slot := range slots {
		d, c := &s.ix.docs[slot], &out[i]
		c.Memory, c.Length = recent.of(s.ix, slot), int(s.ix.marks[slot].length)
		c.Match = s.q.Match(c.Memory, s.now)
		c.Freqs = freqs[i*n : (i+1)*n : (i+1)*n]
		for _, have := range d.words {
			number := have.number()
			if s.mask&bit(number) == 0 {
				continue
			}
			if t, ok := s.terms[number]; ok {
				c.Freqs[t] = s.ix.freqOf(have, slot, number)
			}
		}
		switch {
		case s.cosines != nil:
			c.Cosine = s.cosines[slot]
		case s.near != nil && d.vector == apart:
			c.Cosine = math.NaN()
		}
	}
	return out
}

// top collects the Limit best slots that are live and pass a filter. The
// filter is the slowest check, so it runs only for those that would get in.
type top struct {
	s      *search
	passes func(*memory.Memory, time.Time) bool
	kept   []scored // the worst first
}

// scored is a slot with its score in one of the two lists.
type scored struct {
	slot  int32
	score float64
}

func (s *search) best(passes func(*memory.Memory, time.Time) bool) *top {
	return &top{s: s, passes: passes}
}

// worse orders by score, ties by id: the smaller id is the better one, as on
// every backend.
func (t *top) worse(a, b scored) bool {
	if a.score != b.score {
		return a.score < b.score
	}
	return t.s.ix.docs[a.slot].id() > t.s.ix.docs[b.slot].id()
}

// Len implements heap.Interface.
func (t *top) Len() int { return len(t.kept) }

// Less implements heap.Interface, with the worst slot at the root.
func (t *top) Less(i, j int) bool { return t.worse(t.kept[i], t.kept[j]) }

// Swap implements heap.Interface.
func (t *top) Swap(i, j int) { t.kept[i], t.kept[j] = t.kept[j], t.kept[i] }

// Push implements heap.Interface.
func (t *top) Push(x any) { t.kept = append(t.kept, x.(scored)) }

// Pop implements heap.Interface.
func (t *top) Pop() any {
	last := t.kept[len(t.kept)-1]
	t.kept = t.kept[:len(t.kept)-1]
	return last
}

// offer takes in a slot if it is among the Limit best so far.
func (t *top) offer(slot int32, score float64) {
	full := len(t.kept) >= t.s.q.Limit
	if full && (t.s.q.Limit <= 0 || score < t.kept[0].score) {
		return // most end here, without a look at the memory
	}
	c := scored{slot, score}
	if t.s.ix.docs[slot].rest == nil || full && !t.worse(t.kept[0], c) || !t.passes(t.s.memoryOf(slot), t.s.now) {
		return
	}
	if full {
		t.kept[0] = c
		heap.Fix(t, 0)
		return
	}
	t.kept = append(t.kept, c)
	heap.Fix(t, len(t.kept)-1) // heap.Push would allocate
}

// slots gives the slots collected, in no order.
func (t *top) slots() []int32 {
	out := make([]int32, len(t.kept))
	for i, c := range t.kept {
		out[i] = c.slot
	}
	return out
}
