package redissession

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// lookedTogether is how many sessions one script reads for a list with a filter.
const lookedTogether = 500

// look is a walk through the sessions of a user, or of an app if scope has no user, in
// the order of a list.
type look struct {
	store *Store
	scope memory.Scope
	list  sessionstore.List
	// before or after is the place up to which the walk has come, by the list's order.
	before int64
	after  *sessionstore.Place
	ended  bool
	walk   *walk // of the list by last updates, once it has begun
	found  findings
}

// lookThrough reads a page of a list that has a filter or another order. It reads the
// sessions first, and then the states of those that belong on the page.
func (s *Store) lookThrough(ctx context.Context, scope memory.Scope, pager sessionstore.Pager,
	list sessionstore.List) (page sessionstore.Page, err error) {
	l := &look{store: s, scope: scope, list: list, before: pager.Before, after: pager.After,
		found: findings{users: map[string]state{}}}
	most, step := pager.Size+1, pager.Size+1
	switch {
	case list.Where != nil:
		most, step = sessionstore.MaxLooked, lookedTogether
	case list.NoAside: // few are left out
		most = sessionstore.MaxLooked
	}
	if list.Order.Updated {
		if err := s.fillLists(ctx, scope.App); err != nil {
			return page, err
		}
	}
	token := func(of *listed) string {
		if list.Order.Updated {
			return pager.PlaceToken(of.place())
		}
		return pager.Token(of.number)
	}
	var found []listed
	next, looked := "", 0
	for next == "" && looked < most && !l.ended {
		some, err := l.step(ctx, min(step, most-looked))
		if err != nil {
			return page, err
		}
		looked += max(len(some), (step+1)/2) // a step that has found few has looked at many
		for i := range some {
			of := &some[i]
			if !of.Session.Match(list.Where) {
				continue
			}
			if len(found) == pager.Size { // the last one that was looked at before it
				next = token(&found[pager.Size-1])
				break
			}
			found = append(found, *of)
		}
	}
	if next == "" && !l.ended {
		next = pager.Token(l.before)
		if list.Order.Updated {
			next = pager.PlaceToken(*l.after)
		}
	}
	if !list.NoState && len(found) > 0 {
		values, err := allOf(s.together(ctx, appStateCall(scope.App, list.Room)))
		if err != nil {
			return page, err
		}
		l.found.app, l.found.appBytes = appStateOf(values[0])
	}
	return s.showAll(ctx, list, l.found, found, next, token)
}

// place is where l is in a list by update.
func (l *listed) place() sessionstore.Place {
	return sessionstore.Place{At: l.LastUpdateTime.UnixMicro(), Name: l.User + "/" + l.ID}
}

// step reads the next sessions of the walk, up to so many, without their states.
func (l *look) step(ctx context.Context, many int) ([]listed, error) {
	switch {
	case l.list.Order.Updated:
		return l.recent(ctx, many)
	case l.scope.User != "":
		return l.ofUser(ctx, many)
	}
	return l.ofApp(ctx, many)
}

// ofUser reads sessions of a user in the order of their making.
func (l *look) ofUser(ctx context.Context, many int) ([]listed, error) {
	v, err := l.store.run(ctx, listScript, scopePrefix(l.scope), l.before, many, -1, l.store.clock(),
		truth(l.list.Order.Ascending), truth(l.list.NoAside), name(l.scope))
	if err != nil {
		return nil, err
	}
	out, err := l.found.learn(v)
	if l.ended = len(out) < many; len(out) > 0 {
		l.before = out[len(out)-1].number
	}
	return out, err
}

// ofApp reads sessions of an app in the order of their making.
func (l *look) ofApp(ctx context.Context, many int) (out []listed, err error) {
	by := redis.ZRangeArgs{Key: appPrefix(l.scope.App) + "sessions", ByScore: true,
		Start: fmt.Sprintf("(%d", l.before), Stop: "-inf", Rev: true, Count: int64(many)}
	if l.list.Order.Ascending {
		by.Stop, by.Rev = "+inf", false
	}
	names, err := l.store.redis.ZRangeArgsWithScores(ctx, by).Result()
	if err != nil {
		return nil, l.store.kind(ctx, err)
	}
	if l.ended = len(names) < many; len(names) > 0 {
		l.before = int64(names[len(names)-1].Score)
	}
	return l.read(ctx, names)
}

// read reads sessions of an app by their names. Those that have expired, or are being
// deleted, are missing.
func (l *look) read(ctx context.Context, names []redis.Z) (out []listed, err error) {
	list := l.list
	list.NoState = true
	sessions, err := l.store.named(ctx, l.scope.App, names, list, &l.found)
	for _, n := range names {
		if one, ok := sessions[n.Member.(string)]; ok {
			one.number = int64(n.Score)
			out = append(out, one)
		}
	}
	return out, err
}

// recent reads sessions in the order of their last updates. An update that comes meanwhile
// moves a session in the list.
func (l *look) recent(ctx context.Context, many int) ([]listed, error) {
	if l.walk == nil {
		l.walk = &walk{store: l.store, set: "recent", scope: l.scope, ascending: l.list.Order.Ascending, after: l.after}
	}
	names, err := l.walk.names(ctx, many)
	if err != nil {
		return nil, err
	}
	l.after, l.ended = l.walk.after, l.walk.ended
	return l.read(ctx, names)
}

// fillLists puts the sessions of an app that earlier versions have stored into the lists
// that those did not have: by id, and by last update. Both lists of the app's slot have
// the same sessions then, so that one look at their sizes tells.
func (s *Store) fillLists(ctx context.Context, app string) error {
	sessions, ids := appPrefix(app)+"sessions", appPrefix(app)+"ids"
	pipe := s.redis.Pipeline()
	all, have := pipe.ZCard(ctx, sessions), pipe.ZCard(ctx, ids)
	if _, err := pipe.Exec(ctx); err != nil {
		return s.kind(ctx, err)
	}
	if all.Val() == have.Val() {
		return nil
	}
	for cursor := uint64(0); ; {
		names, next, err := s.redis.ZScan(ctx, sessions, cursor, "", 500).Result()
		if err != nil {
			return s.kind(ctx, err)
		}
		args := map[int][]any{}
		var add []redis.Z
		for i := 0; i+1 < len(names); i += 2 { // a name, and its score
			key := splitName(app, names[i])
			p := partitionOf(key.Scope)
			args[p] = append(args[p], name(key.Scope), key.ID)
			add = append(add, redis.Z{Member: key.ID + "/" + key.User})
		}
		var calls []call
		for p, a := range args {
			calls = append(calls, call{touchScript, partitionPrefix(p), a})
		}
		if _, err := allOf(s.together(ctx, calls...)); err != nil {
			return err
		}
		if len(add) > 0 { // last, as their number tells that all is done
			if err := s.redis.ZAdd(ctx, ids, add...).Err(); err != nil {
				return s.kind(ctx, err)
			}
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}

// Find implements sessionstore.Store. A list in the app's slot has the ids.
func (s *Store) Find(ctx context.Context, app, id string) ([]sessionstore.Key, error) {
	out, err := s.find(ctx, app, id)
	if err != nil {
		return nil, fmt.Errorf("find session %q of app %q: %w", id, app, err)
	}
	return out, nil
}

func (s *Store) find(ctx context.Context, app, id string) (out []sessionstore.Key, err error) {
	if err := s.fillLists(ctx, app); err != nil {
		return nil, err
	}
	from, to := "["+id+"/", "("+id+"0" // 0 is behind /
	found, err := s.redis.ZRangeByLex(ctx, appPrefix(app)+"ids",
		&redis.ZRangeBy{Min: from, Max: to, Count: sessionstore.MaxFound}).Result()
	if err != nil {
		return nil, s.kind(ctx, err)
	}
	names := make([]redis.Z, len(found))
	for i, f := range found {
		names[i].Member = f[len(id)+1:] + "/" + id
	}
	l := &look{store: s, scope: memory.Scope{App: app}, found: findings{users: map[string]state{}}}
	sessions, err := l.read(ctx, names)
	for _, one := range sessions {
		out = append(out, one.Key)
	}
	if err == nil && len(out) == 0 {
		err = s.completeApp()
	}
	return out, err
}
