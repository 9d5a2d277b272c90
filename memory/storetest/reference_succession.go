package storetest

import (
	"time"

	"github.com/memoryd/memoryd/memory"
)

// successionOf computes Found.Succession of runs found among all live memories.
func successionOf(runs [][]memory.Candidate, all []scored, q *memory.Query, now time.Time) (out []memory.Candidate) {
	at := q.CurrentAt(now)
	inRuns, told, byID := map[string]bool{}, memory.Told{}, map[string]scored{}
	for _, run := range runs {
		for _, c := range run {
			inRuns[c.Memory.ID] = true
			told.Add(c.Memory)
		}
	}
	in := map[string]bool{} // by id
	byWords, byMeaning := keysOf(all, q, now)
	for _, list := range [][]scored{byWords, byMeaning} {
		for _, s := range list[:min(q.Limit, len(list))] {
			in[s.Memory.ID] = true
		}
	}
	for _, s := range all {
		byID[s.Memory.ID] = s
		if s.Memory.Departs(at) && told.CitedBy(s.Memory) {
			in[s.Memory.ID] = true
		}
	}
	for range memory.MaxSuccession {
		for id := range in {
			next := byID[id].Memory.SuccessorAt(at)
			if _, live := byID[next]; live {
				in[next] = true
			}
		}
	}
	if q.LeavesOutFacts() {
		citations := memory.Citations{}
		for id := range in {
			if m := byID[id].Memory; !m.Ended(at) {
				citations.Cite(m)
			}
		}
		for _, s := range all {
			if citations.Cites(s.Memory) && (len(s.Memory.Forgotten) == 0 || q.History) {
				in[s.Memory.ID] = true
			}
		}
	}
	for id := range in {
		if !inRuns[id] {
			out = append(out, byID[id].Candidate)
		}
	}
	return out
}

// keysOf ranks the candidates for keys by words and by meaning.
func keysOf(all []scored, q *memory.Query, now time.Time) (byWords, byMeaning []scored) {
	key := func(s scored) bool { return q.IsKey(s.Memory, now) }
	return rankAll(all, key, func(s scored) float64 { return s.lexical }),
		rankAll(all, key, func(s scored) float64 { return s.Cosine })
}
