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
	found, users := sessionsOf(v)
	if page, err = s.show(ctx, scope.App, pager, list, found, users); err == nil {
		err = s.complete(scope)
	}
	return page, err
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
	var found []listed
	users := map[string]int64{}
	for before := pager.Before; len(found) <= pager.Size; {
		want := pager.Size + 1 - len(found)
		names, err := s.redis.ZRevRangeByScoreWithScores(ctx, appPrefix(app)+"sessions",
			&redis.ZRangeBy{Max: fmt.Sprintf("(%d", before), Min: "-inf", Count: int64(want)}).Result()
		if err != nil {
			return page, s.kind(ctx, err)
		}
		sessions, err := s.named(ctx, app, names, users)
		if err != nil {
			return page, err
		}
		for _, n := range names {
			before = int64(n.Score)
			if l, ok := sessions[n.Member.(string)]; ok { // otherwise it has expired, or is being deleted
				l.number = before
				found = append(found, l)
			}
		}
		if len(names) < want {
			break
		}
	}
	if page, err = s.show(ctx, app, pager, list, found, users); err == nil {
		err = s.completeApp()
	}
	return page, err
}

// listed is a session, its number in the list, the number of its life, and the size
// of its own state.
type listed struct {
	sessionstore.Session
	number int64
	ref    string
	bytes  int64
}

// show makes a page of the sessions found for it: as many as the list has room for,
// with their states. users has the sizes of the states of their users.
func (s *Store) show(ctx context.Context, app string, pager sessionstore.Pager, list sessionstore.List,
	found []listed, users map[string]int64) (page sessionstore.Page, err error) {
	found, page.NextPageToken = sessionstore.CutPage(pager, found, func(l listed) int64 { return l.number })
	if len(found) == 0 {
		return page, nil
	}
	appState, appBytes := sessionstore.State{}, int64(0)
	if !list.NoState {
		if appState, appBytes, err = s.appState(ctx, app, list.Room); err != nil {
			return page, err
		}
	}
	size := func(l listed) int64 {
		if list.NoState {
			return sessionstore.SessionBytes(l.Key, 0)
		}
		return sessionstore.SessionBytes(l.Key, l.bytes+users[name(l.Scope)]+appBytes)
	}
	room, err := list.ListRoom(size(found[0]))
	if err != nil {
		return page, err
	}
	for i, l := range found {
		if !room.Fits(size(l)) {
			found, page.NextPageToken = found[:i], pager.Token(found[i-1].number)
			break
		}
	}
	if !list.NoState {
		if err := s.states(ctx, found, appState); err != nil {
			return page, err
		}
	}
	for _, l := range found {
		page.Sessions = append(page.Sessions, l.Session)
	}
	return page, nil
}

// states reads the states of sessions of an app with this state.
func (s *Store) states(ctx context.Context, found []listed, app sessionstore.State) error {
	args := map[int][]any{}
	for _, l := range found {
		p := partitionOf(l.Scope)
		args[p] = append(args[p], name(l.Scope), l.ref)
	}
	own, users := map[string]reply{}, map[string]reply{} // by partition and number; by scope
	for p, a := range args {
		v, err := s.run(ctx, statesScript, partitionPrefix(p), a...)
		if err != nil {
			return err
		}
		for _, one := range replyOf(v).list(0) {
			own[partitionPrefix(p)+replyOf(one).text(0)] = replyOf(one).list(1)
		}
		for _, one := range replyOf(v).list(1) {
			users[replyOf(one).text(0)] = replyOf(one).list(1)
		}
	}
	shared := map[string]sessionstore.State{}
	for i := range found {
		l := &found[i]
		if shared[name(l.Scope)] == nil {
			state := maps.Clone(app)
			users[name(l.Scope)].state(sessionstore.UserPrefix, state)
			shared[name(l.Scope)] = state
		}
		l.State = maps.Clone(shared[name(l.Scope)])
		own[scopePrefix(l.Scope)+l.ref].state("", l.State)
	}
	return nil
}

// sessionsOf reads the answer of list.lua: sessions, and the sizes of the states of
// their users.
func sessionsOf(v any) (out []listed, users map[string]int64) {
	answer := replyOf(v)
	users = map[string]int64{}
	for _, u := range answer.list(1) {
		users[replyOf(u).text(0)] = replyOf(u).num(1)
	}
	for _, one := range answer.list(0) {
		one := replyOf(one)
		l := listed{number: one.num(0), ref: one.text(0), bytes: one.num(4)}
		l.Scope, l.ID, l.LastUpdateTime = scopeOf(one.text(1)), one.text(2), sessionstore.FromMicros(one.num(3))
		out = append(out, l)
	}
	return out, users
}

// named reads sessions of an app by their names, user/id, from the partitions that
// they are in, and adds the sizes of the states of their users to users.
func (s *Store) named(ctx context.Context, app string, names []redis.Z, users map[string]int64) (
	map[string]listed, error) {
	args := map[int][]any{}
	for _, n := range names {
		key := splitName(app, n.Member.(string))
		p := partitionOf(key.Scope)
		args[p] = append(args[p], name(key.Scope), key.ID)
	}
	out := map[string]listed{}
	for p, a := range args {
		v, err := s.run(ctx, listScript, partitionPrefix(p), append([]any{"", 0}, a...)...)
		if err != nil {
			return nil, err
		}
		found, sizes := sessionsOf(v)
		maps.Copy(users, sizes)
		for _, l := range found {
			out[l.User+"/"+l.ID] = l
		}
	}
	return out, nil
}
