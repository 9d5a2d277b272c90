package redissession

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// operationOf reads what operation() in common.lua gives.
func operationOf(scope memory.Scope, r reply) (*sessionstore.Operation, error) {
	request, session, err := sessionstore.ReadRequest(r.text(0), r.text(1), []byte(r.text(11)))
	if err != nil {
		return nil, err
	}
	first, last, ended := r.num(2), r.num(3), r.num(5)
	o := &sessionstore.Operation{Request: request, Key: sessionstore.Key{Scope: scope, ID: session}, CreateTime: fromMicros(r.num(4)),
		Attempts: int(r.num(6)), EventsTotal: int(last - first), EventsDone: int(max(0, min(r.num(7), last)-first)), LastError: r.text(9)}
	switch {
	case ended > 0:
		o.State, o.EventsDone, o.LastError = sessionstore.Succeeded, o.EventsTotal, ""
	case r.text(8) == "1":
		o.State = sessionstore.Failed
	case o.Attempts > 0 || o.EventsDone > 0:
		o.State = sessionstore.Running
	default:
		o.State = sessionstore.Pending
	}
	return o, nil
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
	return out, nil
}

// Operations implements sessionstore.Operations.
func (s *Store) Operations(ctx context.Context, scope memory.Scope, list sessionstore.List) (out []sessionstore.Operation, next string, err error) {
	of := []string{"operations", scope.App, scope.User}
	size, before, err := pageOf(list, of)
	if err != nil {
		return nil, "", err
	}
	v, err := s.run(ctx, operationsScript, prefix(scope), name(scope), before, size+1, s.over())
	if err != nil {
		return nil, "", fmt.Errorf("list operations of app %q, user %q: %w", scope.App, scope.User, err)
	}
	r, _ := v.([]any)
	found := reply(r)
	if len(found) > size {
		found = found[:size]
		next = sessionstore.PageToken(found.list(size-1).text(0), of...)
	}
	for i := range found {
		o, err := operationOf(scope, found.list(i).list(1))
		if err != nil {
			return nil, "", err
		}
		out = append(out, *o)
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
