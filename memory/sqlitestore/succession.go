package sqlitestore

import (
	"slices"

	"github.com/memoryd/memoryd/memory"
)

// succession finds Found.Succession. It costs a look at each fact that has ended or
// has a client's text; most scopes have few.
func (s *search) succession(runs [][]memory.Candidate) []memory.Candidate {
	at := s.q.CurrentAt(s.now)
	told, inRuns := memory.Told{}, map[int32]bool{}
	for _, run := range runs {
		for i := range run {
			told.Add(&run[i].Memory)
			inRuns[s.ix.slots[run[i].Memory.ID]] = true
		}
	}
	byWords, byMeaning := s.best(s.q.IsKey), s.best(s.q.IsKey)
	var out []int32
	for _, slot := range s.ix.departing {
		d := &s.ix.docs[slot]
		if d.dead || !d.memory.Departs(at) {
			continue
		}
		if told.CitedBy(d.memory) {
			out = append(out, slot)
		}
		if s.scores[slot] > 0 {
			byWords.offer(slot, s.scores[slot])
		}
		if s.q.Vector == nil {
			continue
		}
		if c := s.cosine(d); c > 0 {
			byMeaning.offer(slot, c)
		}
	}
	out = slices.Concat(out, byWords.slots(), byMeaning.slots())
	slices.Sort(out)
	out = slices.Compact(out)
	out = s.successors(out)
	if s.q.LeavesOutFacts() {
		holding := slices.DeleteFunc(slices.Clone(out), func(slot int32) bool {
			return s.ix.docs[slot].memory.Ended(at)
		})
		for _, slot := range s.cited(holding) {
			if len(s.ix.docs[slot].memory.Forgotten) == 0 || s.q.History {
				out = append(out, slot)
			}
		}
	}
	return s.candidates(slices.DeleteFunc(out, func(slot int32) bool { return inRuns[slot] }))
}

// successors adds to some memories what superseded them, and so on.
func (s *search) successors(slots []int32) []int32 {
	at, known := s.q.CurrentAt(s.now), map[int32]bool{}
	for _, slot := range slots {
		known[slot] = true
	}
	for begin, step := 0, 0; begin < len(slots) && step < memory.MaxSuccession; step++ {
		last := slots[begin:]
		begin = len(slots)
		for _, of := range last {
			if slot, ok := s.ix.slots[s.ix.docs[of].memory.SuccessorAt(at)]; ok && !known[slot] {
				known[slot] = true
				slots = append(slots, slot)
			}
		}
	}
	return slots
}
