package redissession

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// The work index names the partitions that may have work, so that nobody need
// look at all of them. A partition is put into it before work is; one without
// work is taken out after a while. Should a mark be lost all the same, the
// sweep finds the work.
const (
	markEvery  = 20 * time.Second // less than what unmark.lua waits
	sweepEvery = time.Minute
)

func (s *Store) mark(ctx context.Context, partition int) error {
	s.mu.Lock()
	fresh := time.Since(s.marked[partition]) < markEvery
	s.mu.Unlock()
	if fresh {
		return nil
	}
	if err := markScript.Run(ctx, s.redis, []string{workIndex}, partition).Err(); err != nil {
		return s.kind(ctx, err)
	}
	s.mu.Lock()
	s.marked[partition] = time.Now()
	s.mu.Unlock()
	return nil
}

// toLookAt is the partitions that may have work, or now and then, in a sweep,
// all of them.
func (s *Store) toLookAt(ctx context.Context) (look []int, sweep bool, err error) {
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
	names, err := s.redis.ZRange(ctx, workIndex, 0, -1).Result()
	if err != nil {
		return nil, false, s.kind(ctx, err)
	}
	for _, n := range names {
		if p, err := strconv.Atoi(n); err == nil {
			look = append(look, p)
		}
	}
	return look, false, nil
}

// head is a scope with work, and since when it waits.
type head struct {
	scope string
	since int64
	turn  int // how many scopes of its app come before it, or are leased
}

// heads looks for work that is due, the longest waiting first, and looks after
// what was left undelivered.
func (s *Store) heads(ctx context.Context, limit int) ([]head, error) {
	look, sweep, err := s.toLookAt(ctx)
	if err != nil || len(look) == 0 {
		return nil, err
	}
	pipe := s.redis.Pipeline()
	answers := make([]*redis.Cmd, len(look))
	for i, p := range look {
		answers[i] = headsScript.Eval(ctx, pipe, keys(prefixOf(p)), s.clock(), limit)
	}
	_, _ = pipe.Exec(ctx) // each answer has its own error
	var out []head
	var idle []any
	var failed error
	leased := map[string]int{} // by app
	for i, a := range answers {
		if err := a.Err(); err != nil {
			failed = cmp.Or(failed, s.kind(ctx, err)) // a node is away, or a slot on its way: others go on
			continue
		}
		r, _ := a.Val().([]any)
		answer := reply(r)
		for due := answer.list(0); len(due) > 0; due = due[2:] {
			out = append(out, head{scope: due.text(0), since: due.num(1)})
		}
		left := answer.list(2)
		for taken := answer.list(3); len(taken) > 0; taken = taken[1:] {
			leased[scopeOf(taken.text(0)).App]++
		}
		if answer.num(1) == 0 && len(left) == 0 {
			idle = append(idle, look[i])
		} else if sweep { // a mark was lost, or never made
			failed = cmp.Or(failed, s.mark(ctx, look[i]))
		}
		for j := range left {
			failed = cmp.Or(failed, s.redeliver(ctx, outbox{look[i], left.text(j)}))
		}
	}
	if sweep && failed == nil {
		s.mu.Lock()
		s.swept = time.Now()
		s.mu.Unlock()
	}
	if len(idle) > 0 {
		err := unmarkScript.Run(ctx, s.redis, []string{workIndex}, idle...).Err()
		failed = cmp.Or(failed, s.kind(ctx, err))
	}
	if len(out) == 0 {
		return nil, failed
	}
	slices.SortStableFunc(out, func(a, b head) int { return cmp.Compare(a.since, b.since) })
	for i := range out { // apps take turns
		app := scopeOf(out[i].scope).App
		leased[app]++
		out[i].turn = leased[app]
	}
	slices.SortStableFunc(out, func(a, b head) int { return cmp.Compare(a.turn, b.turn) })
	return out, nil
}

// Claim implements sessionstore.Progress.
func (s *Store) Claim(ctx context.Context, owner string, ttl time.Duration, limit int) ([]sessionstore.Work, error) {
	if limit <= 0 {
		return nil, nil
	}
	out, err := s.claim(ctx, owner, ttl, limit)
	if err != nil && len(out) == 0 {
		return nil, fmt.Errorf("claim work: %w", err)
	}
	return out, nil // what is claimed is to be worked on, whatever came after it
}

func (s *Store) claim(ctx context.Context, owner string, ttl time.Duration, limit int) (out []sessionstore.Work, err error) {
	heads, err := s.heads(ctx, limit)
	if err != nil {
		return nil, err
	}
	var failed error
	for _, h := range heads {
		if len(out) == limit {
			break
		}
		scope := scopeOf(h.scope)
		v, err := s.run(ctx, claimScript, prefix(scope), h.scope, owner, s.clock(), ttl.Microseconds())
		if err != nil {
			failed = cmp.Or(failed, err) // of one scope: the others go on
			continue
		}
		r, _ := v.([]any)
		if len(r) == 0 {
			continue // another was faster
		}
		w := reply(r)
		request, session, err := sessionstore.ReadRequest(w.text(5), w.text(1), []byte(w.text(9)))
		if err != nil {
			failed = cmp.Or(failed, err)
			continue
		}
		work := sessionstore.Work{Key: sessionstore.Key{Scope: scope, ID: session}, Ref: w.text(0), Done: w.num(2), Requested: w.num(3),
			Attempts: int(w.num(4)), Request: request, Rewinds: w.text(6) == "1", PlanTo: w.num(8)}
		if plan := w.text(7); plan != "" {
			work.Plan = json.RawMessage(plan)
		}
		out = append(out, work)
	}
	return out, failed
}

// changed is ErrAborted unless a script says that it did something.
func changed(v any, err error) error {
	if n, _ := v.(int64); err == nil && n == 0 {
		return memory.ErrAborted
	}
	return err
}

// Renew implements sessionstore.Progress.
func (s *Store) Renew(ctx context.Context, scope memory.Scope, owner string, ttl time.Duration) error {
	if err := changed(s.run(ctx, renewScript, prefix(scope), name(scope), owner, s.clock(), ttl.Microseconds())); err != nil {
		return fmt.Errorf("renew lease on app %q, user %q: %w", scope.App, scope.User, err)
	}
	return nil
}

// Events implements sessionstore.Progress.
func (s *Store) Events(ctx context.Context, work sessionstore.Work, after int64, limit int) (out []sessionstore.NumberedEvent, err error) {
	if limit <= 0 {
		return nil, nil
	}
	messages, err := s.redis.XRangeN(ctx, eventsKey(work.Key.Scope, work.Ref), id(after+1), "+", int64(limit)).Result()
	if err != nil {
		return nil, work.Key.Wrap("read events", s.kind(ctx, err))
	}
	for i, m := range messages {
		e, err := eventOf(m)
		if err != nil {
			return nil, work.Key.Wrap("read events", err)
		}
		out = append(out, sessionstore.NumberedEvent{Seq: after + 1 + int64(i), Event: e}) // there are no gaps
	}
	return out, nil
}

// Save implements sessionstore.Progress.
func (s *Store) Save(ctx context.Context, work sessionstore.Work, to int64, plan json.RawMessage) error {
	if err := changed(s.run(ctx, saveScript, prefix(work.Key.Scope), work.Ref, work.Done, work.Attempts, to, []byte(plan))); err != nil {
		return work.Key.Wrap("save the plan", err)
	}
	return nil
}

// Finish implements sessionstore.Progress.
func (s *Store) Finish(ctx context.Context, work sessionstore.Work, to int64, changes []sessionstore.Change) error {
	scope := work.Key.Scope
	args := []any{name(scope), work.Ref, work.Done, work.Attempts, to, s.clock(), s.over(), s.opts.TTL.Milliseconds()}
	for _, c := range changes {
		args = append(args, c.Seq, []byte(c.Doc))
	}
	if err := changed(s.run(ctx, finishScript, prefix(scope), args...)); err != nil {
		return work.Key.Wrap("finish work", err)
	}
	return nil
}

// Fail implements sessionstore.Progress.
func (s *Store) Fail(ctx context.Context, work sessionstore.Work, cause string, retry time.Time) error {
	due := ""
	if !retry.IsZero() {
		due = micros(retry)
	}
	scope := work.Key.Scope
	if err := changed(s.run(ctx, failScript, prefix(scope), name(scope), work.Ref, work.Done, work.Attempts, cause, due, s.clock())); err != nil {
		return work.Key.Wrap("record a failure", err)
	}
	return nil
}

// Bind implements sessionstore.Progress.
func (s *Store) Bind(ctx context.Context, memories string) (bound string, err error) {
	if err = s.redis.SetNX(ctx, boundKey, memories, 0).Err(); err == nil {
		bound, err = s.redis.Get(ctx, boundKey).Result()
	}
	if err != nil {
		return "", fmt.Errorf("bind sessions to memories: %w", s.kind(ctx, err))
	}
	return bound, nil
}

// Rebind implements sessionstore.Progress.
func (s *Store) Rebind(ctx context.Context, memories string) (moved int, err error) {
	if moved, err = s.rebind(ctx, memories); err != nil {
		return 0, fmt.Errorf("bind sessions to other memories: %w", err)
	}
	return moved, nil
}

func (s *Store) rebind(ctx context.Context, memories string) (moved int, err error) {
	all, err := s.keys(ctx, sessions)
	if err != nil {
		return 0, err
	}
	for _, k := range all {
		prefix, ref, _ := strings.Cut(k, "session:")
		v, err := s.run(ctx, undoneScript, prefix, ref, s.clock())
		if err != nil {
			return 0, err
		}
		if n, _ := v.(int64); n == 1 {
			moved++
		}
	}
	// Last, so that a start in between is refused. All partitions are looked at
	// after it.
	return moved, s.kind(ctx, s.redis.Set(ctx, boundKey, memories, 0).Err())
}
