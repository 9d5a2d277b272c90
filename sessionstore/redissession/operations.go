package redissession

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// operationOf reads what operation() in common.lua gives.
func operationOf(scope memory.Scope, r reply) (sessionstore.Operation, error) {
	return sessionstore.StoredOperation{
		ID: r.text(0), Scope: scope, Session: r.text(1), First: r.num(2), Last: r.num(3), CreateTime: sessionstore.FromMicros(r.num(4)),
		Ended: r.num(5) > 0, Attempts: int(r.num(6)), SessionDone: r.num(7), Failed: r.text(8) == "1", LastError: r.text(9),
		Request: []byte(r.text(11)),
	}.Operation()
}

// Operation implements sessionstore.Operations.
func (s *Store) Operation(ctx context.Context, scope memory.Scope, id string) (*sessionstore.Operation, error) {
	v, err := s.run(ctx, operationScript, prefix(scope), name(scope), id, s.over())
	r, _ := v.([]any)
	if err == nil && len(r) == 0 {
		err = memory.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("operation %.80q: %w", id, err)
	}
	out, err := operationOf(scope, reply(r).list(0))
	if err != nil {
		return nil, err
	}
	docs := reply(r).list(1)
	for i := range docs {
		out.Changes = append(out.Changes, json.RawMessage(docs.text(i)))
	}
	return &out, nil
}

// Operations implements sessionstore.Operations.
func (s *Store) Operations(ctx context.Context, scope memory.Scope, list sessionstore.List) (out []sessionstore.Operation, next string, err error) {
	pager, err := list.Pager("operations", scope.App, scope.User)
	if err != nil {
		return nil, "", err
	}
	v, err := s.run(ctx, operationsScript, prefix(scope), name(scope), pager.Before, pager.Size+1, s.over())
	if err != nil {
		return nil, "", fmt.Errorf("list operations of app %q, user %q: %w", scope.App, scope.User, err)
	}
	r, _ := v.([]any)
	found, next := sessionstore.CutPage(pager, r, func(one any) int64 { l, _ := one.([]any); return reply(l).num(0) })
	for i := range found {
		o, err := operationOf(scope, reply(found).list(i).list(1))
		if err != nil {
			return nil, "", err
		}
		out = append(out, o)
	}
	return out, next, nil
}

// Retry implements sessionstore.Operations.
func (s *Store) Retry(ctx context.Context, scope memory.Scope, id string) (*sessionstore.Operation, error) {
	err := s.mark(ctx, partition(scope))
	if err == nil {
		_, err = s.run(ctx, retryScript, prefix(scope), name(scope), id, s.clock())
	}
	if err != nil {
		return nil, fmt.Errorf("retry operation %.80q: %w", id, err)
	}
	return s.Operation(ctx, scope, id)
}
