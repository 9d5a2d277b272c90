package redissession

import (
	"context"
	"fmt"
	"regexp"

	"github.com/redis/go-redis/v9"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// AppOperations implements sessionstore.Operations. The order is that of their times, and of
// their names where those are equal.
func (s *Store) AppOperations(ctx context.Context, app string, list sessionstore.OperationList) (
	out []sessionstore.Operation, next string, err error) {
	out, next, err = s.appOperations(ctx, app, list)
	if err == nil {
		err = s.completeApp()
	}
	if err != nil {
		return nil, "", fmt.Errorf("list operations of app %q: %w", app, err)
	}
	return out, next, nil
}

func (s *Store) appOperations(ctx context.Context, app string, list sessionstore.OperationList) (
	out []sessionstore.Operation, next string, err error) {
	pager, err := list.Pager(app, true)
	if err != nil {
		return nil, "", err
	}
	w := walk{store: s, set: "ran", scope: memory.Scope{App: app, User: list.User}, after: pager.After}
	// Without a state nearly all that are looked at belong on the page. With one few may.
	step := pager.Size + 1
	if list.State != "" {
		step = lookedTogether
	}
	var found []sessionstore.Operation
	var places []sessionstore.Place
	for looked := 0; looked < sessionstore.MaxLooked && !w.ended; looked += step {
		names, err := w.names(ctx, step)
		if err != nil {
			return nil, "", err
		}
		ops, err := s.operationsOf(ctx, app, names)
		if err != nil {
			return nil, "", err
		}
		for _, n := range names {
			if op, ok := ops[n.Member.(string)]; ok { // otherwise it can no longer be read
				found, places = append(found, op), append(places, placeOf(n))
			}
		}
		out, next = list.Cut(pager, found, false, func(i int) string { return pager.PlaceToken(places[i]) })
		if next != "" {
			return out, next, nil
		}
	}
	if !w.ended {
		next = pager.PlaceToken(*w.after)
	}
	return out, next, nil
}

// operationsOf reads operations by their names in the list of their app.
func (s *Store) operationsOf(ctx context.Context, app string, names []redis.Z) (
	map[string]sessionstore.Operation, error) {
	args := map[int][]any{}
	for _, n := range names {
		p := partitionOf(splitName(app, n.Member.(string)).Scope)
		args[p] = append(args[p], n.Member)
	}
	var calls []call
	for p, a := range args {
		calls = append(calls, call{operationsOfScript, partitionPrefix(p), append([]any{app, s.expired()}, a...)})
	}
	values, err := allOf(s.together(ctx, calls...))
	if err != nil {
		return nil, err
	}
	out := map[string]sessionstore.Operation{}
	for _, v := range values {
		for _, one := range replyOf(v) {
			one := replyOf(one)
			op, err := operationOf(splitName(app, one.text(0)).Scope, one.list(1))
			if err != nil {
				return nil, err
			}
			out[one.text(0)] = op
		}
	}
	return out, nil
}

// ranFilled says that the lists of the operations of apps have those that earlier versions
// have stored.
const ranFilled = workPrefix + "ran"

// filledTogether is how many operations one script fills in: no other client is served meanwhile.
const filledTogether = 1000

var operationListKeys = regexp.MustCompile(`^memoryd:\{\d+\}:operations:([^/]*/[^/]*)$`)

// fillRan puts the operations that earlier versions have stored into the lists of their apps,
// once for each Redis. It reads the names of all keys: no list of an earlier version has the
// users who have operations and no session. Processes that do so at once do no harm.
func (s *Store) fillRan(ctx context.Context) error {
	within, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	filled, err := s.redis.Exists(within, ranFilled).Result()
	cancel()
	if err != nil || filled == 1 {
		return s.kind(ctx, err)
	}
	lists, err := s.keys(ctx, operationListKeys)
	if err != nil {
		return err
	}
	for _, k := range lists {
		scope := operationListKeys.FindStringSubmatch(k)[1]
		for from, more := 0, true; more; from += filledTogether {
			v, err := s.run(ctx, ranScript, scopePrefix(scopeOf(scope)), scope, from, filledTogether)
			if err != nil {
				return err
			}
			more = v == int64(1)
		}
	}
	return s.kind(ctx, s.redis.Set(ctx, ranFilled, 1, 0).Err())
}
