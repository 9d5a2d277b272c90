package redissession

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"time"

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
		return nil, wrap("get", key, err)
	}
	return out, nil
}

func (s *Store) get(ctx context.Context, key sessionstore.Key, get sessionstore.Get) (*sessionstore.Session, error) {
	after := "-inf"
	if !get.After.IsZero() {
		// A time between two microseconds is after the first of them.
		after = micros(get.After.Add(time.Microsecond - 1))
	}
	v, err := s.run(ctx, getScript, prefix(key.Scope), name(key.Scope), key.ID, get.NumRecent, after)
	if err != nil {
		return nil, err
	}
	r, _ := v.([]any)
	answer := reply(r)
	if answer.text(0) == "MISSING" {
		return nil, memory.ErrNotFound
	}
	out := &sessionstore.Session{Key: key, LastUpdateTime: fromMicros(answer.num(2)), State: sessionstore.State{}}
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
	e, err := sessionstore.ParseEvent([]byte(doc))
	if err != nil {
		return e, fmt.Errorf("stored event: %w", err)
	}
	return e, nil
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
	of := []string{"sessions", scope.App, scope.User}
	size, before, err := pageOf(list, of)
	if err != nil {
		return page, err
	}
	v, err := s.run(ctx, listScript, prefix(scope), before, size, name(scope))
	if err != nil {
		return page, err
	}
	app, err := s.appState(ctx, scope.App)
	if err != nil {
		return page, err
	}
	found := sessionsOf(v, app)
	if len(found) > size {
		found = found[:size]
		page.NextPageToken = sessionstore.PageToken(found[size-1].ref, of...)
	}
	for _, f := range found {
		page.Sessions = append(page.Sessions, f.Session)
	}
	return page, nil
}

// listed is a session and its number.
type listed struct {
	sessionstore.Session
	ref string
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
		se := listed{ref: one.text(0)}
		se.Scope, se.ID, se.LastUpdateTime = scopeOf(one.text(1)), one.text(2), fromMicros(one.num(3))
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
	of := []string{"sessions", app}
	size, before, err := pageOf(list, of)
	if err != nil {
		return page, err
	}
	state, err := s.appState(ctx, app)
	if err != nil {
		return page, err
	}
	for {
		names, err := s.redis.ZRevRangeByScoreWithScores(ctx, appPrefix(app)+"sessions",
			&redis.ZRangeBy{Max: "(" + before, Min: "-inf", Count: int64(size + 1 - len(page.Sessions))}).Result()
		if err != nil {
			return page, s.kind(ctx, err)
		}
		found, err := s.named(ctx, app, names, state)
		if err != nil {
			return page, err
		}
		for _, n := range names {
			se, ok := found[n.Member.(string)]
			if !ok {
				continue // it has expired, or goes just now
			}
			if len(page.Sessions) == size {
				page.NextPageToken = sessionstore.PageToken(before, of...)
				return page, nil
			}
			page.Sessions = append(page.Sessions, se)
			before = strconv.FormatFloat(n.Score, 'f', 0, 64)
		}
		if len(names) == 0 || len(page.Sessions) <= size && len(names) < size+1-len(page.Sessions) {
			return page, nil
		}
		before = strconv.FormatFloat(names[len(names)-1].Score, 'f', 0, 64)
	}
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

// pageOf reads a page request; the place in a token is the number that the page
// begins below.
func pageOf(list sessionstore.List, of []string) (size int, before string, err error) {
	size, before = list.PageSize, "+inf"
	if size == 0 {
		size = memory.DefaultPageSize
	}
	if size < 1 || size > memory.MaxPageSize {
		return 0, "", fmt.Errorf("%w: pageSize %d is not within 1 to %d", memory.ErrInvalid, size, memory.MaxPageSize)
	}
	if list.PageToken != "" {
		if before, err = sessionstore.ReadPageToken(list.PageToken, of...); err != nil {
			return 0, "", err
		}
		if _, err := strconv.ParseUint(before, 10, 53); err != nil {
			return 0, "", fmt.Errorf("%w: pageToken %.40q is not one of ours", memory.ErrInvalid, list.PageToken)
		}
	}
	return size, before, nil
}
