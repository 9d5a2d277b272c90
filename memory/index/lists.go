package index

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/memoryd/memoryd/memory"
)

// helped is how many blocks of vectors an index has from which on a second core
// helps to measure them.
const helped = 8

// lists gives the slots of the two lists. In a large index a second core measures the
// vectors while this one goes through the words, and then this one helps it. One more
// at most: the others are for other searches.
func (s *search) lists() []int32 {
	measured := s.measure()
	if !s.worded {
		s.listWords()
	}
	measured()
	return append(slices.Clone(s.byWords), s.dense()...)
}

// listWords does all of a search that goes by the words of the query alone.
func (s *search) listWords() {
	if s.q.Sessions {
		s.sessions()
	}
	s.byWords, s.worded = s.lexical(), true
}

// measure begins to set s.cosines, and returns a function that does the rest of it
// and waits for the end.
//
// The cosines are exact, as stored vectors are of unit length; see memory.Write.
func (s *search) measure() (rest func()) {
	v := &s.ix.vectors
	length := norm(s.q.Vector)
	if s.near != nil || s.q.Vector == nil || length == 0 || len(s.q.Vector) != v.dim {
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
	if s.near != nil {
		return s.listed(&s.near.Hits, s.q.Match)
	}
	best := s.best(s.q.Match)
	for slot, c := range s.cosines {
		if c > 0 {
			best.offer(int32(slot), c)
		}
	}
	return best.slots()
}

// bit is the place of a word number in search.mask, which rules most words out
// faster than a map does.
func bit(number int32) uint64 { return 1 << (number & 63) }

// sessions counts the turns of each session that have each word.
func (s *search) sessions() {
	s.stats.SessionCount = s.ix.sessionCount
	rows := make([]int32, len(s.ix.sessions)) // a session's number to its row in counts, from 1
	n, most := len(s.words), 0                // sessions that have one of the words
	for _, word := range s.words {
		if word != noWord {
			most = min(most+len(s.ix.lists.of(word)), len(s.ix.sessions))
		}
	}
	numbers := make([]int32, 0, most) // of the sessions, by row
	counts := make([]int, 0, most*n)  // one row a session, one column a word
	for i, word := range s.words {
		if word == noWord {
			continue
		}
		for _, p := range s.ix.lists.of(word) {
			number := s.ix.marks[p.number()].session
			if number < 0 {
				continue
			}
			row := rows[number]
			if row == 0 {
				numbers = append(numbers, number)
				counts = counts[:len(counts)+n]
				row = int32(len(numbers))
				rows[number] = row
			}
			counts[int(row-1)*n+i]++
		}
	}
	s.stats.Sessions = make([]memory.SessionStats, len(numbers))
	for row, number := range numbers {
		of := &s.ix.sessions[number]
		s.stats.Sessions[row] = memory.SessionStats{
			ID: of.name, Turns: len(of.turns), DF: counts[row*n : (row+1)*n : (row+1)*n],
		}
	}
}

// lexical gives the slots of the Limit best by BM25.
func (s *search) lexical() []int32 {
	s.scores = make([]float64, len(s.ix.docs))
	var saturated saturation
	for i, word := range s.words {
		if word == noWord {
			continue
		}
		idf := memory.IDF(s.stats.Docs, s.stats.DF[i])
		for _, p := range s.ix.lists.of(word) {
			slot := p.number()
			freq := s.ix.freqOf(p, slot, word)
			s.scores[slot] += idf * saturated.of(freq, int(s.ix.marks[slot].length))
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

func (known *saturation) of(freq, length int) float64 {
	if freq >= len(known) || length >= len(known[0]) {
		return memory.Saturate(float64(freq), float64(length))
	}
	value := &known[freq][length]
	if *value == 0 {
		*value = memory.Saturate(float64(freq), float64(length))
	}
	return *value
}
