package redissession

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// operationOf reads the answer of operation() in common.lua.
func operationOf(scope memory.Scope, r reply) (sessionstore.Operation, error) {
	return sessionstore.StoredOperation{
		ID: r.text(0), Scope: scope, Session: r.text(1), Request: []byte(r.text(11)),
		CreateTime: sessionstore.FromMicros(r.num(4)), Attempts: int(r.num(6)),
		First: r.num(2), Last: r.num(3), Ended: r.num(5) > 0,
		SessionDone: r.num(7), Failed: r.text(8) == "1", LastError: r.text(9),
	}.Operation()
}

// Operation implements sessionstore.Operations.
func (s *Store) Operation(ctx context.Context, scope memory.Scope, id string) (*sessionstore.Operation, error) {
	out, err := s.operation(ctx, scope, id)
	if err != nil {
		return nil, fmt.Errorf("operation %.80q: %w", id, err)
	}
	return &out, nil
}

func (s *Store) operation(ctx context.Context, scope memory.Scope, id string) (out sessionstore.Operation, err error) {
	v, err := s.run(ctx, operationScript, scopePrefix(scope), name(scope), id, s.expired())
	if err != nil {
		return out, err
	}
	answer := replyOf(v)
	if len(answer) == 0 {
		return out, memory.ErrNotFound
	}
	out, err = operationOf(scope, answer.list(0))
	for _, doc := range answer.list(1).texts() {
		out.Changes = append(out.Changes, json.RawMessage(doc))
	}
	return out, err
}

// Operations implements sessionstore.Operations.
func (s *Store) Operations(ctx context.Context, scope memory.Scope, list sessionstore.List) (
	out []sessionstore.Operation, next string, err error) {
	pager, err := list.Pager("operations", scope.App, scope.User)
	if err != nil {
		return nil, "", err
	}
	v, err := s.run(ctx, operationsScript, scopePrefix(scope), name(scope), pager.Before, pager.Size+1, s.expired())
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
	return s.Operation(ctx, scope, id)
}
