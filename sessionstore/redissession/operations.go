package redissession

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// operationOf reads the answer of operation() in common.lua.
func operationOf(scope memory.Scope, r reply) (sessionstore.Operation, error) {
	return sessionstore.StoredOperation{
		ID: r.text(0), Scope: scope, Session: r.text(1), Request: []byte(r.text(11)),
		CreateTime: sessionstore.FromMicros(r.num(4)), Attempts: int(r.num(6)),
		First: r.num(2), Last: r.num(3), EndTime: timeOrNone(r.num(5)),
		SessionDone: r.num(7), Failed: r.text(8) == "1", LastError: r.text(9),
		Due: timeOrNone(r.num(12)), Trigger: sessionstore.ReadTrigger(r.text(13)),
	}.Operation()
}

// timeOrNone is a time as scripts have it, with 0 for none.
func timeOrNone(micros int64) (t time.Time) {
	if micros != 0 {
		t = sessionstore.FromMicros(micros)
	}
	return t
}

// Status implements sessionstore.Operations.
func (s *Store) Status(ctx context.Context, scope memory.Scope, id string) (*sessionstore.Operation, error) {
	answer, err := s.readOperation(ctx, operationScript, scope, id)
	if err == nil {
		var out sessionstore.Operation
		if out, err = operationOf(scope, answer); err == nil {
			return &out, nil
		}
	}
	return nil, fmt.Errorf("operation %.80q: %w", id, err)
}

// readOperation runs a script that reads an operation, or a part of it, and answers
// nothing if there is none.
func (s *Store) readOperation(ctx context.Context, script *redis.Script, scope memory.Scope, id string, args ...any) (
	reply, error) {
	v, err := s.run(ctx, script, scopePrefix(scope), append([]any{name(scope), id, s.expired()}, args...)...)
	if err != nil {
		return nil, err
	}
	answer := replyOf(v)
	if len(answer) == 0 {
		return nil, s.missing(scope)
	}
	return answer, nil
}

// Changes implements sessionstore.Operations. A position has the number of changes
// before it.
func (s *Store) Changes(ctx context.Context, scope memory.Scope, id string, after sessionstore.ChangePosition) (
	page []json.RawMessage, next sessionstore.ChangePosition, err error) {
	answer, err := s.readOperation(ctx, changesScript, scope, id, after.Number)
	if err != nil {
		return nil, next, fmt.Errorf("changes of operation %.80q: %w", id, err)
	}
	next.Number = answer.num(0)
	for _, doc := range answer.list(1).texts() {
		page = append(page, json.RawMessage(doc))
	}
	return page, next, nil
}

// Operations implements sessionstore.Operations.
func (s *Store) Operations(ctx context.Context, scope memory.Scope, list sessionstore.List) (
	out []sessionstore.Operation, next string, err error) {
	pager, err := list.Pager("operations", scope.App, scope.User)
	if err != nil {
		return nil, "", err
	}
	v, err := s.run(ctx, operationsScript, scopePrefix(scope), name(scope), pager.Before, pager.Size+1, s.expired())
	if err == nil {
		err = s.complete(scope)
	}
	if err != nil {
		return nil, "", fmt.Errorf("list operations of app %q, user %q: %w", scope.App, scope.User, err)
	}
	number := func(one any) int64 { return replyOf(one).num(0) }
	found, next := sessionstore.CutPage(pager, replyOf(v), number)
	for _, one := range found {
		op, err := operationOf(scope, replyOf(one).list(1))
		if err != nil {
			return nil, "", err
		}
		out = append(out, op)
	}
	return out, next, nil
}

// Retry implements sessionstore.Operations.
func (s *Store) Retry(ctx context.Context, scope memory.Scope, id string) (*sessionstore.Operation, error) {
	err := s.enlist(ctx, partitionOf(scope))
	if err == nil {
		_, err = s.run(ctx, retryScript, scopePrefix(scope), name(scope), id, s.clock())
	}
	if err != nil {
		return nil, fmt.Errorf("retry operation %.80q: %w", id, err)
	}
	op, err := s.Status(ctx, scope, id)
	key := sessionstore.Key{Scope: scope}
	if err == nil {
		key = op.Key
	}
	s.notify.Changed(key)
	return op, err
}

// Subscribe implements sessionstore.Operations. Other processes may change the
// operations too.
func (s *Store) Subscribe(scope memory.Scope, changed func(session string)) (all bool, cancel func()) {
	return false, s.notify.Subscribe(scope, changed)
}

// OperationCounts returns how many operations this process has brought into each
// state, for metrics.
func (s *Store) OperationCounts() map[sessionstore.OperationState]int64 { return s.counts.ByState() }

// Backlog implements sessionstore.Operations. It asks the partitions of the work
// index, so it may miss for a minute what that index has lost.
func (s *Store) Backlog(ctx context.Context) (out sessionstore.Backlog, err error) {
	listed, err := s.listed(ctx)
	if err != nil || len(listed) == 0 {
		return out, err
	}
	pipe := s.redis.Pipeline()
	scopes, oldest := make([]*redis.IntCmd, len(listed)), make([]*redis.ZSliceCmd, len(listed))
	triggers := make([]*redis.IntCmd, len(listed))
	for i, p := range listed {
		since := partitionPrefix(p) + "since"
		triggers[i] = pipe.ZCard(ctx, partitionPrefix(p)+"triggers")
		scopes[i], oldest[i] = pipe.ZCard(ctx, since), pipe.ZRangeWithScores(ctx, since, 0, 0)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return out, fmt.Errorf("read the backlog: %w", s.kind(ctx, err))
	}
	for i := range listed {
		out.Scopes += int(scopes[i].Val())
		out.Triggers += int(triggers[i].Val())
		for _, z := range oldest[i].Val() {
			if at := sessionstore.FromMicros(int64(z.Score)); out.Oldest.IsZero() || at.Before(out.Oldest) {
				out.Oldest = at
			}
		}
	}
	return out, nil
}
