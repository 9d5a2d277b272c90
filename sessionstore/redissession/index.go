package redissession

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"
)

// The work index names the partitions that may have work, so that no process
// needs to look at all of them. A partition is enlisted before it gets work, and
// a partition without work is taken out after a while. If an entry is lost all
// the same, the sweep finds the work.
const (
	enlistEvery = 20 * time.Second // less than the time that unlist.lua waits
	sweepEvery  = time.Minute
)

// enlist puts a partition into the work index.
func (s *Store) enlist(ctx context.Context, partition int) error {
	s.mu.Lock()
	fresh := time.Since(s.enlisted[partition]) < enlistEvery
	s.mu.Unlock()
	if fresh {
		return nil
	}
	if err := enlistScript.Run(ctx, s.redis, []string{workIndex}, partition).Err(); err != nil {
		return s.kind(ctx, err)
	}
	s.mu.Lock()
	s.enlisted[partition] = time.Now()
	s.mu.Unlock()
	return nil
}

// candidates returns the partitions that may have work, or once in sweepEvery
// all of them.
func (s *Store) candidates(ctx context.Context) (all []int, sweep bool, err error) {
	s.mu.Lock()
	sweep = time.Since(s.swept) > sweepEvery
	s.mu.Unlock()
	if sweep {
		all := make([]int, partitions)
		for p := range all {
			all[p] = p
		}
		return all, true, nil
	}
	all, err = s.listed(ctx)
	return all, false, err
}

// listed returns the partitions in the work index.
func (s *Store) listed(ctx context.Context) (all []int, err error) {
	names, err := s.redis.ZRange(ctx, workIndex, 0, -1).Result()
	if err != nil {
		return nil, s.kind(ctx, err)
	}
	for _, n := range names {
		if p, err := strconv.Atoi(n); err == nil {
			all = append(all, p)
		}
	}
	return all, nil
}

// dueScope is a scope with work that is due.
type dueScope struct {
	scope string
	since int64 // when its oldest work was requested
	turn  int   // how many scopes of its app come before it, or are leased
}

// partitionWork is the answer of due.lua for one partition.
type partitionWork struct {
	due         []dueScope
	leased      []string // scopes
	waiting     int64    // scopes with work, due or not
	undelivered []string // apps that have messages in the outbox
}

// partitionWorkOf reads the answer of due.lua.
func partitionWorkOf(v any) (w partitionWork) {
	answer := replyOf(v)
	for due := answer.list(0); len(due) > 0; due = due[2:] {
		w.due = append(w.due, dueScope{scope: due.text(0), since: due.num(1)})
	}
	w.waiting = answer.num(1)
	w.undelivered = answer.list(2).texts()
	w.leased = answer.list(3).texts()
	return w
}

// dueScopes looks for work that is due. Apps take turns, and of an app's scopes
// the longest waiting comes first. It also delivers messages that were left in
// outboxes.
func (s *Store) dueScopes(ctx context.Context, limit int) ([]dueScope, error) {
	look, sweep, err := s.candidates(ctx)
	if err != nil || len(look) == 0 {
		return nil, err
	}
	calls := make([]call, len(look))
	for i, p := range look {
		calls[i] = call{dueScript, partitionPrefix(p), []any{s.clock(), limit}}
	}
	var out []dueScope
	var idle []any
	var failed error
	leased := map[string]int{} // scopes, by app
	for i, a := range s.together(ctx, calls...) {
		if a.err != nil {
			failed = cmp.Or(failed, a.err) // a node does not answer, or a slot moves: others go on
			continue
		}
		w := partitionWorkOf(a.value)
		out = append(out, w.due...)
		for _, scope := range w.leased {
			leased[scopeOf(scope).App]++
		}
		if w.waiting == 0 && len(w.undelivered) == 0 {
			idle = append(idle, look[i])
		} else if sweep { // its entry in the index was lost
			failed = cmp.Or(failed, s.enlist(ctx, look[i]))
		}
		for _, app := range w.undelivered {
			failed = cmp.Or(failed, s.redeliver(ctx, outbox{look[i], app}))
		}
	}
	failed = cmp.Or(failed, s.looked(ctx, sweep && failed == nil, idle))
	if len(out) == 0 {
		return nil, failed
	}
	takeTurns(out, leased)
	return out, nil
}

// looked notes a sweep that is over, and takes partitions without work out of
// the index.
func (s *Store) looked(ctx context.Context, swept bool, idle []any) error {
	if swept {
		s.mu.Lock()
		s.swept = time.Now()
		s.mu.Unlock()
	}
	if len(idle) == 0 {
		return nil
	}
	return s.kind(ctx, unlistScript.Run(ctx, s.redis, []string{workIndex}, idle...).Err())
}

// takeTurns orders scopes so that apps take turns: first by how many scopes of
// their app come before them or are leased, then by how long they wait.
func takeTurns(scopes []dueScope, leased map[string]int) {
	slices.SortStableFunc(scopes, func(a, b dueScope) int { return cmp.Compare(a.since, b.since) })
	for i := range scopes {
		app := scopeOf(scopes[i].scope).App
		leased[app]++
		scopes[i].turn = leased[app]
	}
	slices.SortStableFunc(scopes, func(a, b dueScope) int { return cmp.Compare(a.turn, b.turn) })
}
