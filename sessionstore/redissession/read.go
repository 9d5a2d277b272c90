package redissession

import (
	"context"

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
	appBytes := int64(0)
	if !get.NoState {
		if out.State, appBytes, err = s.appState(ctx, key.App, get.Room); err != nil {
			return nil, err
		}
	}
	v, err := s.run(ctx, getScript, scopePrefix(key.Scope), name(key.Scope), key.ID, get.NumRecent, get.AfterMicros(),
		at.Ref, at.Last, at.Seq, get.Limit(), get.Room, appBytes, truth(get.NoState))
	if err != nil {
		return nil, err
	}
	answer := replyOf(v)
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

// appState reads the state of an app, keys with their prefix, and its size. If it
// has more than room bytes it reads the size alone; 0 is no bound.
func (s *Store) appState(ctx context.Context, app string, room int64) (sessionstore.State, int64, error) {
	v, err := s.run(ctx, appStateScript, appPrefix(app), room)
	if err != nil {
		return nil, 0, err
	}
	out := sessionstore.State{}
	replyOf(v).list(1).state(sessionstore.AppPrefix, out)
	return out, replyOf(v).num(0), nil
}
