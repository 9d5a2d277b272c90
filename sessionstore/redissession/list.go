package redissession

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

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
	if list.Where != nil || list.Order != (sessionstore.Order{}) {
		if page, err = s.lookThrough(ctx, scope, pager, list); err == nil {
			err = s.complete(scope)
		}
		return page, err
	}
	calls := []call{{listScript, scopePrefix(scope),
		[]any{pager.Before, pager.Size + 1, stateRoom(list, 1), s.clock(), "", truth(list.NoAside), name(scope)}}}
	if !list.NoState {
		calls = append(calls, appStateCall(scope.App, list.Room))
	}
	values, err := allOf(s.together(ctx, calls...))
	if err != nil {
		return page, err
	}
	found := findings{users: map[string]state{}}
	if found.sessions, err = found.learn(values[0]); err != nil {
		return page, err
	}
	if !list.NoState {
		found.app, found.appBytes = appStateOf(values[1])
	}
	if page, err = s.show(ctx, pager, list, found); err == nil {
		err = s.complete(scope)
	}
	return page, err
}

// stateRoom is how many bytes of states one of some scripts may read for a list: the
// scripts share the room of a page. It is -1 if the list shows no states.
func stateRoom(list sessionstore.List, scripts int) int64 {
	if list.NoState {
		return -1
	}
	return min(cmp.Or(list.Room, sessionstore.MaxListBytes), sessionstore.MaxListBytes) / int64(scripts)
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
	if list.Where != nil || list.Order != (sessionstore.Order{}) {
		if page, err = s.lookThrough(ctx, memory.Scope{App: app}, pager, list); err == nil {
			err = s.completeApp()
		}
		return page, err
	}
	found := findings{users: map[string]state{}}
	for before := pager.Before; len(found.sessions) <= pager.Size; {
		want := pager.Size + 1 - len(found.sessions)
		many := want
		if list.NoAside { // those take a name, and no reading
			many = max(want, lookedTogether)
		}
		names, err := s.redis.ZRevRangeByScoreWithScores(ctx, appPrefix(app)+"sessions",
			&redis.ZRangeBy{Max: fmt.Sprintf("(%d", before), Min: "-inf", Count: int64(many)}).Result()
		if err != nil {
			return page, s.kind(ctx, err)
		}
		ended := len(names) < many
		if !ended {
			before = int64(names[many-1].Score)
		}
		if list.NoAside {
			names = slices.DeleteFunc(names, func(n redis.Z) bool {
				return sessionstore.Aside(splitName(app, n.Member.(string)).ID)
			})
		}
		if len(names) > want {
			names, ended = names[:want], false
			before = int64(names[want-1].Score)
		}
		sessions, err := s.named(ctx, app, names, list, &found)
		if err != nil {
			return page, err
		}
		for _, n := range names {
			if l, ok := sessions[n.Member.(string)]; ok { // otherwise it has expired, or is being deleted
				l.number = int64(n.Score)
				found.sessions = append(found.sessions, l)
			}
		}
		if ended {
			break
		}
	}
	if page, err = s.show(ctx, pager, list, found); err == nil {
		err = s.completeApp()
	}
	return page, err
}

// state is a state of a session or a user, as scripts have it, and its size. all is
// nil if it was not read.
type state struct {
	bytes int64
	all   reply
}

// listed is a session, its number in the list, the number of its life, and its own
// state.
type listed struct {
	sessionstore.Session
	number int64
	ref    string
	own    state
}

// findings are the sessions found for a page, and the states of their users, by name,
// and of their app.
type findings struct {
	sessions []listed
	users    map[string]state
	app      sessionstore.State
	appBytes int64
}

// learn reads the answer of list.lua: it returns the sessions, and keeps the states of
// their users.
func (f *findings) learn(v any) (out []listed, err error) {
	answer := replyOf(v)
	for _, u := range answer.list(1) {
		u := replyOf(u)
		f.users[u.text(0)] = state{u.num(1), u.list(2)}
	}
	for _, one := range answer.list(0) {
		one := replyOf(one)
		l := listed{number: one.num(0), ref: one.text(0), own: state{one.num(4), one.list(5)}}
		l.Scope, l.ID, l.LastUpdateTime = scopeOf(one.text(1)), one.text(2), sessionstore.FromMicros(one.num(3))
		if err := detailsIn(one[6:], &l.Session); err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}

// show makes a page of what was found for it: of as many sessions as the list has room
// for, with their states.
func (s *Store) show(ctx context.Context, pager sessionstore.Pager, list sessionstore.List, f findings) (
	page sessionstore.Page, err error) {
	found, next := sessionstore.CutPage(pager, f.sessions, func(l listed) int64 { return l.number })
	return s.showAll(ctx, list, f, found, next, func(l *listed) string { return pager.Token(l.number) })
}

// showAll makes a page of found, which next follows.
func (s *Store) showAll(ctx context.Context, list sessionstore.List, f findings, found []listed, next string,
	token func(*listed) string) (page sessionstore.Page, err error) {
	page.NextPageToken = next
	if len(found) == 0 {
		return page, nil
	}
	size := func(l listed) int64 {
		if list.NoState {
			return sessionstore.SessionBytes(&l.Session, 0)
		}
		return sessionstore.SessionBytes(&l.Session, l.own.bytes+f.users[name(l.Scope)].bytes+f.appBytes)
	}
	room, err := list.ListRoom(size(found[0]))
	if err != nil {
		return page, err
	}
	for i, l := range found {
		if !room.Fits(size(l)) {
			found, page.NextPageToken = found[:i], token(&found[i-1])
			break
		}
	}
	if !list.NoState {
		if err := s.states(ctx, found, f.users); err != nil {
			return page, err
		}
		merge(found, f)
	}
	for _, l := range found {
		page.Sessions = append(page.Sessions, l.Session)
	}
	return page, nil
}

// states reads the states of sessions, and of their users, that list.lua had no room
// for.
func (s *Store) states(ctx context.Context, found []listed, users map[string]state) error {
	args := map[int][]any{}
	for _, l := range found {
		if l.own.all == nil || users[name(l.Scope)].all == nil {
			p := partitionOf(l.Scope)
			args[p] = append(args[p], name(l.Scope), l.ref)
		}
	}
	own := map[string]reply{} // by partition and number
	for p, a := range args {
		v, err := s.run(ctx, statesScript, partitionPrefix(p), a...)
		if err != nil {
			return err
		}
		for _, one := range replyOf(v).list(0) {
			own[partitionPrefix(p)+replyOf(one).text(0)] = replyOf(one).list(1)
		}
		for _, one := range replyOf(v).list(1) {
			one := replyOf(one)
			users[one.text(0)] = state{users[one.text(0)].bytes, one.list(1)}
		}
	}
	for i := range found {
		l := &found[i]
		if all, ok := own[scopePrefix(l.Scope)+l.ref]; ok {
			l.own.all = all
		}
	}
	return nil
}

// merge gives sessions the merged view of their states.
func merge(found []listed, f findings) {
	shared := map[string]sessionstore.State{}
	for i := range found {
		l := &found[i]
		if shared[name(l.Scope)] == nil {
			state := maps.Clone(f.app)
			f.users[name(l.Scope)].all.state(sessionstore.UserPrefix, state)
			shared[name(l.Scope)] = state
		}
		l.State = maps.Clone(shared[name(l.Scope)])
		l.own.all.state("", l.State)
	}
}

// named reads sessions of an app by their names, user/id, from the partitions that
// they are in. It adds the states of their users to f, and that of the app if f has
// none and the list shows it.
func (s *Store) named(ctx context.Context, app string, names []redis.Z, list sessionstore.List, f *findings) (
	map[string]listed, error) {
	args := map[int][]any{}
	for _, n := range names {
		key := splitName(app, n.Member.(string))
		if list.NoAside && sessionstore.Aside(key.ID) {
			continue
		}
		p := partitionOf(key.Scope)
		args[p] = append(args[p], name(key.Scope), key.ID)
	}
	if len(args) == 0 {
		return nil, nil
	}
	var calls []call
	for p, a := range args {
		room := stateRoom(list, len(args))
		calls = append(calls, call{listScript, partitionPrefix(p), append([]any{"", 0, room, s.clock(), "", ""}, a...)})
	}
	parts := len(calls)
	if f.app == nil && !list.NoState {
		calls = append(calls, appStateCall(app, list.Room))
	}
	values, err := allOf(s.together(ctx, calls...))
	if err != nil {
		return nil, err
	}
	if len(values) > parts {
		f.app, f.appBytes = appStateOf(values[parts])
	}
	out := map[string]listed{}
	for _, v := range values[:parts] {
		some, err := f.learn(v)
		if err != nil {
			return nil, err
		}
		for _, l := range some {
			out[l.User+"/"+l.ID] = l
		}
	}
	return out, nil
}
