package storetest

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// scored is a candidate with its place in the two lists of a search.
type scored struct {
	memory.Candidate
	lexical float64
}

func (r *reference) Search(ctx context.Context, scope memory.Scope, q memory.Query) (memory.Found, error) {
	now, err := r.begin(ctx)
	if err != nil {
		return memory.Found{}, err
	}
	defer r.mu.Unlock()
	stats, all := r.measure(scope, q, now)
	hits := map[string]bool{}
	for _, list := range [][]scored{lexicalOf(all), denseOf(all)} {
		for _, s := range list[:min(q.Limit, len(list))] {
			hits[s.Memory.ID] = true
		}
	}
	for _, s := range all {
		if q.Cited && s.Memory.Kind == memory.KindTurn && slices.ContainsFunc(all, func(f scored) bool { return hits[f.Memory.ID] && cites(f.Memory, s.Memory) }) {
			hits[s.Memory.ID] = true
		}
	}
	found := memory.Found{Stats: stats}
	sessions := map[string][]memory.Candidate{}
	for _, s := range all {
		if m := s.Memory; m.Kind == memory.KindTurn {
			sessions[m.Source.SessionID] = append(sessions[m.Source.SessionID], s.Candidate)
		} else if hits[m.ID] {
			found.Runs = append(found.Runs, []memory.Candidate{s.Candidate})
		}
	}
	for _, turns := range sessions {
		found.Runs = append(found.Runs, runsOf(turns, hits, q.Context)...)
	}
	return found, nil
}

// cites reports whether a fact rests on a turn.
func cites(f, t memory.Memory) bool {
	return f.Kind == memory.KindFact && t.Source.SessionID == f.Source.SessionID && len(t.Source.EventIDs) > 0 &&
		slices.Contains(f.Source.EventIDs, t.Source.EventIDs[0])
}

// measure compares every live memory of a scope with the query.
func (r *reference) measure(scope memory.Scope, q memory.Query, now time.Time) (memory.Stats, []scored) {
	stats := memory.Stats{DF: make([]int, len(q.Terms)), Sessions: map[string]memory.SessionStats{}}
	sessions := map[string]memory.SessionStats{}
	var all []scored
	for _, rec := range r.scopes[scope] {
		m, ok := rec.live(now)
		if !ok {
			continue
		}
		s := scored{Candidate: memory.Candidate{Memory: clone(*m), Freqs: make([]int, len(q.Terms)), Length: rec.terms.Length(), Match: q.Match(m, now)}}
		stats.Docs++
		in := sessions[m.Source.SessionID]
		if in.DF == nil {
			in.DF = make([]int, len(q.Terms))
		}
		for i, term := range q.Terms {
			if s.Freqs[i] = rec.terms[term]; s.Freqs[i] > 0 {
				stats.DF[i]++
				if m.Kind == memory.KindTurn {
					in.DF[i]++
				}
			}
		}
		if m.Kind == memory.KindTurn {
			in.Turns++
			sessions[m.Source.SessionID] = in
		}
		if rec.vector != nil {
			for i, x := range q.Vector {
				s.Cosine += float64(x) * float64(rec.vector[i])
			}
		}
		all = append(all, s)
	}
	if !q.Sessions {
		clear(sessions)
	}
	stats.SessionCount = len(sessions)
	for id, in := range sessions {
		if slices.Max(append(in.DF, 0)) > 0 {
			stats.Sessions[id] = in
		}
	}
	for i := range all {
		all[i].lexical = memory.LexicalScore(stats, all[i].Freqs, all[i].Length)
	}
	return stats, all
}

// lexicalOf ranks those that pass the filter and have a lexical score.
func lexicalOf(all []scored) []scored {
	return rank(all, func(s scored) float64 { return s.lexical })
}

// denseOf ranks those that pass the filter and whose cosine is above 0.
func denseOf(all []scored) []scored {
	return rank(all, func(s scored) float64 { return s.Cosine })
}

func rank(all []scored, score func(scored) float64) []scored {
	var list []scored
	for _, s := range all {
		if s.Match && score(s) > 0 {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b scored) int {
		return cmp.Or(cmp.Compare(score(b), score(a)), cmp.Compare(a.Memory.ID, b.Memory.ID))
	})
	return list
}

// runsOf puts the turns of one session that were found, with n around each,
// into runs: one for those that overlap.
func runsOf(turns []memory.Candidate, hits map[string]bool, n int) [][]memory.Candidate {
	slices.SortFunc(turns, func(a, b memory.Candidate) int { return inSession(a.Memory, b.Memory) })
	var out [][]memory.Candidate
	from, to := 0, 0
	for i, c := range turns {
		if !hits[c.Memory.ID] {
			continue
		}
		if i-n >= to {
			if to > 0 {
				out = append(out, turns[from:to])
			}
			from = max(0, i-n)
		}
		to = min(len(turns), i+n+1)
	}
	if to > 0 {
		out = append(out, turns[from:to])
	}
	return out
}
