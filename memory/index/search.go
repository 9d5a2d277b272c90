package index

import (
	"container/heap"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// Search answers a query of memory.Store.Search at a time. The vector has the
// dimension of those in the index.
func (ix *Index) Search(q *memory.Query, now time.Time) memory.Found {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	sr := search{ix: ix, q: q, now: now}
	return sr.run()
}

// search is one query on one index, which is read-locked.
type search struct {
	ix    *Index
	q     *memory.Query
	now   time.Time
	words []*word       // of q.Terms; nil for a word that no memory has
	terms map[int32]int // a word's number to its index in q.Terms
	mask  uint64        // the last bits of the numbers in terms
	stats memory.Stats
	// scores are the lexical scores of all slots.
	scores []float64
	// cosines are those of all slots with q.Vector; nil if there is none.
	cosines []float64
	found   []int32 // the slots in the runs, in no order
}

// run finds the two lists, adds cited turns and context, and measures all.
func (s *search) run() memory.Found {
	s.stats = memory.Stats{Docs: len(s.ix.slots), DF: make([]int, len(s.q.Terms))}
	s.terms = make(map[int32]int, len(s.q.Terms))
	for i, t := range s.q.Terms {
		w := s.ix.words[t]
		s.words = append(s.words, w)
		if w != nil {
			s.terms[w.number] = i
			s.mask |= bit(w.number)
			s.stats.DF[i] = w.df
		}
	}
	measured := s.measure()
	if s.q.Sessions {
		s.sessions()
	}
	hits := s.lexical()
	measured()
	hits = append(hits, s.dense()...)
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

// bit is the place of a word number in search.mask, which rules most words out
// faster than a map does.
func bit(number int32) uint64 { return 1 << (number & 63) }

// sessions counts the turns of each session that have each word.
func (s *search) sessions() {
	s.stats.SessionCount = len(s.ix.sessions)
	rows := make([]int, len(s.ix.sessionNames)) // a session's number to its row in counts, from 1
	var numbers []int32                         // of the sessions, by row
	var counts []int                            // one row a session, one column a word
	n := len(s.words)
	for i, w := range s.words {
		if w == nil {
			continue
		}
		for _, p := range w.list {
			session := s.ix.session[p.slot]
			if session < 0 {
				continue
			}
			row := rows[session]
			if row == 0 {
				numbers = append(numbers, session)
				counts = slices.Grow(counts, n)[:len(counts)+n]
				row = len(numbers)
				rows[session] = row
			}
			counts[(row-1)*n+i]++
		}
	}
	s.stats.Sessions = make(map[string]memory.SessionStats, len(numbers))
	for row, number := range numbers {
		name := s.ix.sessionNames[number]
		s.stats.Sessions[name] = memory.SessionStats{
			Turns: len(s.ix.sessions[name]), DF: counts[row*n : (row+1)*n : (row+1)*n],
		}
	}
}

// cited is the turns that the facts among the hits cite.
func (s *search) cited(hits []int32) (out []int32) {
	citations := memory.Citations{}
	for _, slot := range hits {
		citations.Cite(s.ix.docs[slot].memory)
	}
	for session, events := range citations {
		for _, slot := range s.ix.sessions[session] {
			if events[s.ix.docs[slot].memory.Source.EventID()] {
				out = append(out, slot)
			}
		}
	}
	return out
}

// lexical gives the slots of the Limit best by BM25.
func (s *search) lexical() []int32 {
	s.scores = make([]float64, len(s.ix.docs))
	var saturated saturation
	for _, w := range s.words {
		if w == nil {
			continue
		}
		idf := memory.IDF(s.stats.Docs, w.df)
		for _, p := range w.list {
			s.scores[p.slot] += idf * saturated.of(p.freq, s.ix.lengths[p.slot])
		}
	}
	best := s.best(s.q.Match)
	for slot, score := range s.scores {
		if score > 0 {
			best.offer(int32(slot), score)
		}
	}
	return best.slots()
}

// saturation remembers values of memory.Saturate, which costs a division, for the
// frequencies and lengths that most memories have.
type saturation [4][128]float64

func (known *saturation) of(freq, length int32) float64 {
	if freq >= int32(len(known)) || length >= int32(len(known[0])) {
		return memory.Saturate(float64(freq), float64(length))
	}
	value := &known[freq][length]
	if *value == 0 {
		*value = memory.Saturate(float64(freq), float64(length))
	}
	return *value
}

// helped is how many blocks of vectors an index has from which on a second core
// helps to measure them.
const helped = 8

// measure begins to set s.cosines, and returns a function that does the rest of it
// and waits for the end. In a large index a second core measures meanwhile. One more
// at most: the others are for other searches.
//
// The cosines are exact, as stored vectors are of unit length; see memory.Write.
func (s *search) measure() (rest func()) {
	v := &s.ix.vectors
	length := norm(s.q.Vector)
	if s.q.Vector == nil || length == 0 || len(s.q.Vector) != v.dim {
		return func() {}
	}
	s.cosines = make([]float64, len(s.ix.docs))
	var next atomic.Int32 // block
	work := func() {
		var dots [blockRows]float32
		for block := int(next.Add(1)) - 1; block < len(v.blocks); block = int(next.Add(1)) - 1 {
			v.dots(block, s.q.Vector, dots[:])
			from := block * blockRows
			for i, slot := range v.slots[from:min(from+blockRows, len(v.slots))] {
				s.cosines[slot] = float64(dots[i]) / length
			}
		}
	}
	var helper sync.WaitGroup
	if len(v.blocks) >= helped {
		helper.Go(work)
	}
	return func() {
		work()
		helper.Wait()
	}
}

// dense gives the slots of the Limit best by cosine.
func (s *search) dense() []int32 {
	best := s.best(s.q.Match)
	for slot, c := range s.cosines {
		if c > 0 {
			best.offer(int32(slot), c)
		}
	}
	return best.slots()
}

// runs are the hits with the turns around them; see memory.Found.
func (s *search) runs(hits []int32) (out [][]memory.Candidate) {
	positions := map[int32][]int{} // of the hits in each session
	for _, slot := range hits {
		if session := s.ix.session[slot]; session >= 0 {
			at, _ := s.ix.position(slot)
			positions[session] = append(positions[session], at)
		} else {
			s.found = append(s.found, slot)
			out = append(out, s.candidates([]int32{slot}))
		}
	}
	for session, at := range positions {
		slices.Sort(at)
		turns := s.ix.sessions[s.ix.sessionNames[session]]
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
		if len(s.ix.docs[slot].memory.Forgotten) > 0 {
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
	for i, slot := range slots {
		d, c := &s.ix.docs[slot], &out[i]
		c.Memory, c.Length, c.Match = d.memory, int(s.ix.lengths[slot]), s.q.Match(d.memory, s.now)
		c.Freqs = freqs[i*n : (i+1)*n : (i+1)*n]
		for _, have := range d.words {
			if s.mask&bit(have.word) == 0 {
				continue
			}
			if t, ok := s.terms[have.word]; ok {
				c.Freqs[t] = int(have.freq)
			}
		}
		if s.cosines != nil {
			c.Cosine = s.cosines[slot]
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
	return t.s.ix.docs[a.slot].memory.ID > t.s.ix.docs[b.slot].memory.ID
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
	d, c := &t.s.ix.docs[slot], scored{slot, score}
	if d.memory == nil || full && !t.worse(t.kept[0], c) || !t.passes(d.memory, t.s.now) {
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
