package redissession

import (
	"context"
	"fmt"
	"maps"

	"github.com/redis/go-redis/v9"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// List implements sessionstore.Store.
func (s *Store) List(ctx context.Context, scope memory.Scope, list sessionstore.List) (sessionstore.Page, error) {
	page, err := s.list(ctx, scope, list)
	if err != nil {
		return sessionstore.Page{}, fmt.Errorf("list sessions of app %q, user %q: %w", scope.App, scope.User, err)
	}
	return page, nil
}

func (s *Store) list(ctx context.Context, scope memory.Scope, list sessionstore.List) (
	page sessionstore.Page, err error) {
	pager, err := list.Pager("sessions", scope.App, scope.User)
	if err != nil {
		return page, err
	}
	v, err := s.run(ctx, listScript, scopePrefix(scope), pager.Before, pager.Size+1, name(scope))
	if err != nil {
		return page, err
	}
	app, err := s.appState(ctx, scope.App)
	if err == nil {
		err = s.complete(scope)
	}
	if err != nil {
		return page, err
	}
	return pageOf(pager, sessionsOf(v, app)), nil
}

// ListApp implements sessionstore.Store.
func (s *Store) ListApp(ctx context.Context, app string, list sessionstore.List) (sessionstore.Page, error) {
	page, err := s.listApp(ctx, app, list)
	if err != nil {
		return sessionstore.Page{}, fmt.Errorf("list sessions of app %q: %w", app, err)
	}
	return page, nil
}

func (s *Store) listApp(ctx context.Context, app string, list sessionstore.List) (page sessionstore.Page, err error) {
	pager, err := list.Pager("sessions", app)
	if err != nil {
		return page, err
	}
	state, err := s.appState(ctx, app)
	if err != nil {
		return page, err
	}
	var found []listed
	for before := pager.Before; len(found) <= pager.Size; {
		want := pager.Size + 1 - len(found)
		names, err := s.redis.ZRevRangeByScoreWithScores(ctx, appPrefix(app)+"sessions",
			&redis.ZRangeBy{Max: fmt.Sprintf("(%d", before), Min: "-inf", Count: int64(want)}).Result()
		if err != nil {
			return page, s.kind(ctx, err)
		}
		sessions, err := s.named(ctx, app, names, state)
		if err != nil {
			return page, err
		}
		for _, n := range names {
			before = int64(n.Score)
			if session, ok := sessions[n.Member.(string)]; ok { // otherwise it has expired, or is being deleted
				found = append(found, listed{session, before})
			}
		}
		if len(names) < want {
			break
		}
	}
	return pageOf(pager, found), s.completeApp()
}

// listed is a session and its number in the list.
type listed struct {
	sessionstore.Session
	number int64
}

// pageOf makes a page of the sessions found for it.
func pageOf(pager sessionstore.Pager, found []listed) (page sessionstore.Page) {
	found, page.NextPageToken = sessionstore.CutPage(pager, found, func(l listed) int64 { return l.number })
	for _, l := range found {
		page.Sessions = append(page.Sessions, l.Session)
	}
	return page
}

// sessionsOf reads the answer of list.lua.
func sessionsOf(v any, app sessionstore.State) (out []listed) {
	answer := replyOf(v)
	users := map[string]sessionstore.State{}
	for u := answer.list(1); len(u) > 0; u = u[1:] {
		state := maps.Clone(app)
		u.list(0).list(1).state(sessionstore.UserPrefix, state)
		users[u.list(0).text(0)] = state
	}
	for all := answer.list(0); len(all) > 0; all = all[1:] {
		one := all.list(0)
		l := listed{number: one.num(0)}
		l.Scope, l.ID, l.LastUpdateTime = scopeOf(one.text(1)), one.text(2), sessionstore.FromMicros(one.num(3))
		l.State = maps.Clone(users[one.text(1)])
		one.list(4).state("", l.State)
		out = append(out, l)
	}
	return out
}

// named reads sessions of an app by their names, user/id, from the partitions
// that they are in.
func (s *Store) named(ctx context.Context, app string, names []redis.Z, state sessionstore.State) (
	map[string]sessionstore.Session, error) {
	args := map[int][]any{}
	for _, n := range names {
		key := splitName(app, n.Member.(string))
		p := partitionOf(key.Scope)
		args[p] = append(args[p], name(key.Scope), key.ID)
	}
	out := map[string]sessionstore.Session{}
	for p, a := range args {
		v, err := s.run(ctx, listScript, partitionPrefix(p), append([]any{"", 0}, a...)...)
		if err != nil {
			return nil, err
		}
		for _, l := range sessionsOf(v, state) {
			out[l.User+"/"+l.ID] = l.Session
		}
	}
	return out, nil
}
