package redissession

import (
	"context"
	"fmt"
	"maps"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// readTogether is how many events are read in one command, so that a long
// session does not keep Redis from serving others.
const readTogether = 500

// Get implements sessionstore.Store.
func (s *Store) Get(ctx context.Context, key sessionstore.Key, get sessionstore.Get) (*sessionstore.Session, error) {
	out, err := s.get(ctx, key, get)
	if err != nil {
		return nil, key.Wrap("get", err)
	}
	return out, nil
}

func (s *Store) get(ctx context.Context, key sessionstore.Key, get sessionstore.Get) (*sessionstore.Session, error) {
	v, err := s.run(ctx, getScript, prefix(key.Scope), name(key.Scope), key.ID, get.NumRecent, get.AfterMicros())
	if err != nil {
		return nil, err
	}
	r, _ := v.([]any)
	answer := reply(r)
	if answer.text(0) == "MISSING" {
		return nil, memory.ErrNotFound
	}
	out := &sessionstore.Session{Key: key, LastUpdateTime: sessionstore.FromMicros(answer.num(2)), State: sessionstore.State{}}
	answer.list(3).state("", out.State)
	answer.list(4).state(sessionstore.UserPrefix, out.State)
	app, err := s.appState(ctx, key.App)
	if err != nil {
		return nil, err
	}
	maps.Copy(out.State, app)
	seqs := make([]int64, len(answer.list(5)))
	for i := range seqs {
		seqs[i] = answer.list(5).num(i)
	}
	if out.Events, err = s.events(ctx, eventsKey(key.Scope, answer.text(1)), seqs); err == nil && len(out.Events) < len(seqs) {
		err = memory.ErrNotFound // it was deleted meanwhile
	}
	return out, err
}

func eventsKey(scope memory.Scope, ref string) string { return prefix(scope) + "events:" + ref }

// events reads those of the numbers given, in their order: runs of numbers that
// follow one another by one command each.
func (s *Store) events(ctx context.Context, stream string, seqs []int64) ([]sessionstore.Event, error) {
	var out []sessionstore.Event
	for len(seqs) > 0 {
		pipe := s.redis.Pipeline()
		var answers []*redis.XMessageSliceCmd
		for total := 0; len(seqs) > 0 && total < readTogether; {
			n := 1
			for n < len(seqs) && n < readTogether && seqs[n] == seqs[0]+int64(n) {
				n++
			}
			answers = append(answers, pipe.XRange(ctx, stream, id(seqs[0]), id(seqs[n-1])))
			seqs = seqs[n:]
			total += n
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return nil, s.kind(ctx, err)
		}
		for _, a := range answers {
			for _, m := range a.Val() {
				e, err := eventOf(m)
				if err != nil {
					return nil, err
				}
				out = append(out, e)
			}
		}
	}
	return out, nil
}

// id is that of an event in its stream.
func id(seq int64) string { return strconv.FormatInt(seq, 10) + "-0" }

func eventOf(m redis.XMessage) (sessionstore.Event, error) {
	doc, _ := m.Values["d"].(string)
	return sessionstore.ReadEvent([]byte(doc))
}

func (s *Store) appState(ctx context.Context, app string) (sessionstore.State, error) {
	values, err := s.redis.HGetAll(ctx, appPrefix(app)+"state").Result()
	if err != nil {
		return nil, s.kind(ctx, err)
	}
	out := sessionstore.State{}
	for k, v := range values {
		out[sessionstore.AppPrefix+k] = []byte(v)
	}
	return out, nil
}

// List implements sessionstore.Store.
func (s *Store) List(ctx context.Context, scope memory.Scope, list sessionstore.List) (page sessionstore.Page, err error) {
	page, err = s.list(ctx, scope, list)
	if err != nil {
		return sessionstore.Page{}, fmt.Errorf("list sessions of app %q, user %q: %w", scope.App, scope.User, err)
	}
	return page, nil
}

func (s *Store) list(ctx context.Context, scope memory.Scope, list sessionstore.List) (page sessionstore.Page, err error) {
	pager, err := list.Pager("sessions", scope.App, scope.User)
	if err != nil {
		return page, err
	}
	v, err := s.run(ctx, listScript, prefix(scope), pager.Before, pager.Size, name(scope))
	if err != nil {
		return page, err
	}
	app, err := s.appState(ctx, scope.App)
	if err != nil {
		return page, err
	}
	found, next := sessionstore.CutPage(pager, sessionsOf(v, app), func(l listed) int64 { return l.ref })
	page.NextPageToken = next
	for _, f := range found {
		page.Sessions = append(page.Sessions, f.Session)
	}
	return page, nil
}

// listed is a session and its number in the list.
type listed struct {
	sessionstore.Session
	ref int64
}

// sessionsOf reads what the list script gives.
func sessionsOf(v any, app sessionstore.State) (out []listed) {
	r, _ := v.([]any)
	users := map[string]sessionstore.State{}
	for u := reply(r).list(1); len(u) > 0; u = u[1:] {
		state := maps.Clone(app)
		u.list(0).list(1).state(sessionstore.UserPrefix, state)
		users[u.list(0).text(0)] = state
	}
	for l := reply(r).list(0); len(l) > 0; l = l[1:] {
		one := l.list(0)
		se := listed{ref: one.num(0)}
		se.Scope, se.ID, se.LastUpdateTime = scopeOf(one.text(1)), one.text(2), sessionstore.FromMicros(one.num(3))
		se.State = maps.Clone(users[one.text(1)])
		one.list(4).state("", se.State)
		out = append(out, se)
	}
	return out
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
			if session, ok := sessions[n.Member.(string)]; ok { // else it has expired, or goes just now
				found = append(found, listed{session, before})
			}
		}
		if len(names) < want {
			break
		}
	}
	found, page.NextPageToken = sessionstore.CutPage(pager, found, func(l listed) int64 { return l.ref })
	for _, f := range found {
		page.Sessions = append(page.Sessions, f.Session)
	}
	return page, nil
}

// named reads sessions of an app by user/id, from all the partitions they are in.
func (s *Store) named(ctx context.Context, app string, names []redis.Z, state sessionstore.State) (map[string]sessionstore.Session, error) {
	args := map[int][]any{}
	for _, n := range names {
		key := scopeOf(n.Member.(string)) // user/id
		scope := memory.Scope{App: app, User: key.App}
		p := partition(scope)
		args[p] = append(args[p], name(scope), key.User)
	}
	out := map[string]sessionstore.Session{}
	for p, a := range args {
		v, err := s.run(ctx, listScript, prefixOf(p), append([]any{"", 0}, a...)...)
		if err != nil {
			return nil, err
		}
		for _, f := range sessionsOf(v, state) {
			out[f.User+"/"+f.ID] = f.Session
		}
	}
	return out, nil
}
