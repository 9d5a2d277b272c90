package storetest

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// scored is a candidate with its score in the lexical list. Its score in the
// dense list is Cosine.
type scored struct {
	memory.Candidate
	lexical float64
}

// PrepareSearch implements memory.Store.
func (r *reference) PrepareSearch(_ context.Context, scope memory.Scope) memory.PreparedSearch {
	return func(ctx context.Context, q memory.Query) (memory.Found, error) { return r.Search(ctx, scope, q) }
}

// Search implements memory.Store: it measures all memories, takes the best of
// both lists, adds cited turns, and cuts the sessions into runs.
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
	if q.Cited {
		addCited(hits, all)
	}
	found := memory.Found{Stats: stats}
	sessions := map[string][]memory.Candidate{}
	for _, s := range all {
		if m := s.Memory; m.Kind == memory.KindTurn {
			if len(m.Forgotten) > 0 && !q.History {
				continue
			}
			sessions[m.Source.SessionID] = append(sessions[m.Source.SessionID], s.Candidate)
		} else if hits[m.ID] {
			found.Runs = append(found.Runs, []memory.Candidate{s.Candidate})
		}
	}
	for _, turns := range sessions {
		found.Runs = append(found.Runs, runsOf(turns, hits, q.Context)...)
	}
	if q.Succession {
		found.Succession = successionOf(found.Runs, all, &q, now)
	}
	return found, nil
}

// addCited makes hits of the turns that facts among the hits cite.
func addCited(hits map[string]bool, all []scored) {
	citations := memory.Citations{}
	for _, s := range all {
		if hits[s.Memory.ID] {
			citations.Cite(s.Memory)
		}
	}
	for _, s := range all {
		if citations.Cites(s.Memory) {
			hits[s.Memory.ID] = true
		}
	}
}

// measure compares every live memory of a scope that is not hidden with the query.
func (r *reference) measure(scope memory.Scope, q memory.Query, now time.Time) (memory.Stats, []scored) {
	var all []scored
	var hidden memory.Stats
	for _, rec := range r.scopes[scope] {
		if m, ok := rec.live(now); ok && m.State.Hidden() {
			hidden.Hidden++
			hidden.Bytes += m.Bytes()
		} else if ok {
			all = append(all, scored{Candidate: measured(rec, m, &q, now)})
		}
	}
	stats := statsOf(all, &q)
	if q.Bytes || q.CountHidden {
		stats.Hidden = hidden.Hidden
	}
	if q.Bytes {
		stats.Bytes += hidden.Bytes
	}
	for i := range all {
		all[i].lexical = memory.LexicalScore(stats, all[i].Freqs, all[i].Length)
	}
	return stats, all
}

// measured compares one memory with the query.
func measured(rec *record, m *memory.Memory, q *memory.Query, now time.Time) memory.Candidate {
	found := m.Clone()
	c := memory.Candidate{Memory: &found, Length: rec.terms.Length(), Match: q.Match(m, now)}
	for _, term := range q.Terms {
		c.Freqs = append(c.Freqs, rec.terms[term])
	}
	if rec.vector != nil {
		for i, x := range q.Vector {
			c.Cosine += float64(x) * float64(rec.vector[i])
		}
	}
	return c
}

// statsOf counts all live memories of a scope.
func statsOf(all []scored, q *memory.Query) memory.Stats {
	stats := memory.Stats{Docs: len(all), DF: make([]int, len(q.Terms))}
	sessions := map[string]memory.SessionStats{}
	for _, s := range all {
		if q.Bytes {
			stats.Bytes += s.Memory.Bytes()
		}
		turn := s.Memory.Kind == memory.KindTurn
		in := sessions[s.Memory.Source.SessionID]
		in.ID = s.Memory.Source.SessionID
		if in.DF == nil {
			in.DF = make([]int, len(q.Terms))
		}
		for i, f := range s.Freqs {
			if f > 0 {
				stats.DF[i]++
			}
			if f > 0 && turn {
				in.DF[i]++
			}
		}
		if turn {
			in.Turns++
			sessions[s.Memory.Source.SessionID] = in
		}
	}
	if q.Sessions {
		stats.SessionCount = len(sessions)
		for _, in := range sessions {
			if slices.Max(append(in.DF, 0)) > 0 {
				stats.Sessions = append(stats.Sessions, in)
			}
		}
	}
	return stats
}

// lexicalOf ranks those that pass the filter and have a lexical score.
func lexicalOf(all []scored) []scored {
	return rank(all, func(s scored) float64 { return s.lexical })
}

// denseOf ranks those that pass the filter and whose cosine is above 0.
func denseOf(all []scored) []scored {
	return rank(all, func(s scored) float64 { return s.Cosine })
}

// rank sorts the memories that pass the filter and have a score, best first and
// ties by id.
func rank(all []scored, score func(scored) float64) []scored {
	return rankAll(all, func(s scored) bool { return s.Match }, score)
}

// rankAll sorts the memories that pass and have a score as rank does.
func rankAll(all []scored, passes func(scored) bool, score func(scored) float64) []scored {
	var list []scored
	for _, s := range all {
		if passes(s) && score(s) > 0 {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b scored) int {
		return cmp.Or(cmp.Compare(score(b), score(a)), cmp.Compare(a.Memory.ID, b.Memory.ID))
	})
	return list
}

// runsOf gives the runs around the hits among the turns of one session, with n
// turns on either side.
func runsOf(turns []memory.Candidate, hits map[string]bool, n int) (out [][]memory.Candidate) {
	slices.SortFunc(turns, func(a, b memory.Candidate) int { return memory.CompareTurns(a.Memory, b.Memory) })
	var at []int
	for i, c := range turns {
		if hits[c.Memory.ID] {
			at = append(at, i)
		}
	}
	for _, span := range memory.Spans(at, n, len(turns)) {
		out = append(out, turns[span.From:span.To])
	}
	return out
}
