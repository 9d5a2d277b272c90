package index

import (
	"slices"

	"github.com/memoryd/memoryd/memory"
)

// succession finds Found.Succession of the runs. It costs a look at each fact that has
// ended or has a client's text, and one at each turn found; most scopes have few.
func (s *search) succession() []memory.Candidate {
	at := s.q.CurrentAt(s.now)
	inRuns := make([]bool, len(s.ix.docs))
	var out []int32
	for _, slot := range s.found {
		inRuns[slot] = true
		session := s.ix.marks[slot].session
		if session < 0 {
			continue
		}
		for _, fact := range s.ix.citing[cited{session, s.ix.docs[slot].event()}] {
			if f := &s.ix.docs[fact]; f.rest != nil && f.departs(at) {
				out = append(out, fact)
			}
		}
	}
	byWords, byMeaning := s.best(s.q.IsKey), s.best(s.q.IsKey)
	var nearest []int32
	if s.near != nil {
		nearest = s.listed(&s.near.Keys, s.q.IsKey)
	}
	for _, slot := range s.ix.departing {
		if s.scores[slot] > 0 {
			byWords.offer(slot, s.scores[slot])
		}
		if s.cosines != nil && s.cosines[slot] > 0 {
			byMeaning.offer(slot, s.cosines[slot])
		}
	}
	out = slices.Concat(out, byWords.slots(), byMeaning.slots(), nearest)
	slices.Sort(out)
	out = slices.Compact(out)
	out = s.successors(out)
	if s.q.LeavesOutFacts() {
		holding := slices.DeleteFunc(slices.Clone(out), func(slot int32) bool {
			return s.ix.docs[slot].ended(at)
		})
		for _, slot := range s.cited(holding) {
			if len(s.ix.docs[slot].rest.Forgotten) == 0 || s.q.History {
				out = append(out, slot)
			}
		}
		slices.Sort(out) // a turn may be cited by one fact and have superseded another
		out = slices.Compact(out)
	}
	return s.candidates(slices.DeleteFunc(out, func(slot int32) bool { return inRuns[slot] }))
}

// successors adds to some memories what superseded them, and so on.
func (s *search) successors(slots []int32) []int32 {
	at, known := s.q.CurrentAt(s.now), make([]bool, len(s.ix.docs))
	for _, slot := range slots {
		known[slot] = true
	}
	for begin, step := 0, 0; begin < len(slots) && step < memory.MaxSuccession; step++ {
		last := slots[begin:]
		begin = len(slots)
		for _, of := range last {
			if slot, ok := s.ix.slots[s.ix.docs[of].successorAt(at)]; ok && !known[slot] {
				known[slot] = true
				slots = append(slots, slot)
			}
		}
	}
	return slots
}
