package redissession

import (
	"context"
	"fmt"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Get implements sessionstore.Store.
func (s *Store) Get(ctx context.Context, key sessionstore.Key, get sessionstore.Get) (*sessionstore.Session, error) {
	out, err := s.get(ctx, key, get)
	if err != nil {
		return nil, key.Wrap("get", err)
	}
	return out, nil
}

func (s *Store) get(ctx context.Context, key sessionstore.Key, get sessionstore.Get) (*sessionstore.Session, error) {
	at, err := get.Position(key)
	if err != nil {
		return nil, err
	}
	out := &sessionstore.Session{Key: key}
	answer, err := s.read(ctx, key, get, at, out)
	if err != nil {
		return nil, err
	}
	switch answer.text(0) {
	case "MISSING":
		return nil, s.missing(key.Scope)
	case "DAMAGED":
		return nil, memory.Damaged("session %q lacks events that were acknowledged: Redis has lost or evicted them. %s",
			key.ID, remedy)
	case "LIFE":
		return nil, get.Life(at, answer.text(1))
	case "ROOM":
		return nil, &sessionstore.NoRoom{Bytes: answer.num(1)}
	}
	out.LastUpdateTime = sessionstore.FromMicros(answer.num(2))
	if err := detailsIn(answer[10:], out); err != nil {
		return nil, err
	}
	answer.list(3).state("", out.State)
	answer.list(4).state(sessionstore.UserPrefix, out.State)
	if err := s.whole(key.Scope, answer.num(1)); err != nil {
		return nil, err
	}
	for _, doc := range answer.list(5) {
		text, _ := doc.(string)
		e, err := sessionstore.ReadEvent([]byte(text))
		if err != nil {
			return nil, err
		}
		out.Events = append(out.Events, e)
	}
	if answer.text(6) != "" {
		end := sessionstore.Position{Ref: answer.text(1), Last: answer.num(7), Seq: answer.num(8)}
		out.NextPageToken = end.Token(key)
	}
	return out, nil
}

// detailsIn reads the name, the labels, when a session was made, and when it expires.
func detailsIn(r reply, out *sessionstore.Session) (err error) {
	out.DisplayName, out.CreateTime = r.text(0), sessionstore.FromMicros(r.num(2))
	if out.Labels, err = sessionstore.ReadLabels(r.text(1)); err != nil {
		return err
	}
	if at := r.num(3); at > 0 {
		out.ExpireTime = sessionstore.FromMicros(at)
	}
	return nil
}

// read runs get.lua, and puts the state of the app into out unless get asks for none.
func (s *Store) read(ctx context.Context, key sessionstore.Key, get sessionstore.Get, at sessionstore.Position,
	out *sessionstore.Session) (reply, error) {
	session := func(appBytes int64) call {
		return call{getScript, scopePrefix(key.Scope), []any{name(key.Scope), key.ID, get.NumRecent, get.AfterMicros(),
			at.Ref, at.Last, at.Seq, get.Limit(), get.Room, appBytes, truth(get.NoState),
			s.clock()}}
	}
	calls := []call{session(0)}
	if !get.NoState {
		calls = append(calls, appStateCall(key.App, get.Room))
	}
	answers, err := allOf(s.together(ctx, calls...))
	if err != nil {
		return nil, err
	}
	found := replyOf(answers[0])
	if get.NoState {
		return found, nil
	}
	var appBytes int64
	out.State, appBytes = appStateOf(answers[1])
	// The page was made as if the app had no state. It is the same with it if there is
	// room for both.
	bytes := int64(0)
	switch found.text(0) {
	case "OK":
		bytes = found.num(9)
	case "ROOM":
		bytes = found.num(1)
	}
	if get.Room == 0 || bytes+appBytes <= get.Room {
		return found, nil
	}
	again := s.together(ctx, session(appBytes))[0]
	return replyOf(again.value), again.err
}

// State implements sessionstore.Store. The two states are in different slots, and read in
// one round trip. Each script is told of all the room: a state that has more alone is not
// read, and two that have more together are refused here.
func (s *Store) State(ctx context.Context, scope memory.Scope, room int64) (sessionstore.State, error) {
	state, err := s.state(ctx, scope, room)
	if err != nil {
		return nil, fmt.Errorf("read the state of app %q, user %q: %w", scope.App, scope.User, err)
	}
	return state, nil
}

func (s *Store) state(ctx context.Context, scope memory.Scope, room int64) (sessionstore.State, error) {
	answers, err := allOf(s.together(ctx, call{userStateScript, scopePrefix(scope), []any{name(scope), room}},
		appStateCall(scope.App, room)))
	if err != nil {
		return nil, err
	}
	out, bytes := appStateOf(answers[1])
	user := replyOf(answers[0])
	if bytes += user.num(0); room > 0 && bytes > room {
		return nil, &sessionstore.NoRoom{Bytes: bytes}
	}
	user.list(1).state(sessionstore.UserPrefix, out)
	return out, s.complete(scope) // a state that lacks what was lost would not be true
}

// appStateCall reads the state of an app; if it has more than room bytes, its size
// alone. 0 is no bound.
func appStateCall(app string, room int64) call {
	return call{appStateScript, appPrefix(app), []any{room}}
}

// appStateOf is the answer of an appStateCall: the state, keys with their prefix, and
// its size.
func appStateOf(v any) (sessionstore.State, int64) {
	out := sessionstore.State{}
	replyOf(v).list(1).state(sessionstore.AppPrefix, out)
	return out, replyOf(v).num(0)
}
