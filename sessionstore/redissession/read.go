package redissession

import (
	"context"
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
	v, err := s.run(ctx, getScript, scopePrefix(key.Scope), name(key.Scope), key.ID, get.NumRecent, get.AfterMicros())
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
	}
	out := &sessionstore.Session{Key: key, LastUpdateTime: sessionstore.FromMicros(answer.num(2)),
		State: sessionstore.State{}}
	answer.list(3).state("", out.State)
	answer.list(4).state(sessionstore.UserPrefix, out.State)
	app, err := s.appState(ctx, key.App)
	if err != nil {
		return nil, err
	}
	maps.Copy(out.State, app)
	if err := s.whole(key.Scope, answer.num(1)); err != nil {
		return nil, err
	}
	numbers := make([]int64, len(answer.list(5)))
	for i := range numbers {
		numbers[i] = answer.list(5).num(i)
	}
	out.Events, err = s.events(ctx, eventsKey(key.Scope, answer.text(1)), numbers)
	if err == nil && len(out.Events) < len(numbers) {
		err = memory.ErrNotFound // it was deleted meanwhile
	}
	return out, err
}

// eventsKey is the name of the stream of a session's events.
func eventsKey(scope memory.Scope, ref string) string { return scopePrefix(scope) + "events:" + ref }

// events reads the events of these numbers, in their order. It reads consecutive
// numbers with one command.
func (s *Store) events(ctx context.Context, stream string, numbers []int64) ([]sessionstore.Event, error) {
	var out []sessionstore.Event
	for len(numbers) > 0 {
		pipe := s.redis.Pipeline()
		var answers []*redis.XMessageSliceCmd
		for total := 0; len(numbers) > 0 && total < readTogether; {
			n := 1
			for n < len(numbers) && n < readTogether && numbers[n] == numbers[0]+int64(n) {
				n++
			}
			answers = append(answers, pipe.XRange(ctx, stream, streamID(numbers[0]), streamID(numbers[n-1])))
			numbers = numbers[n:]
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

// streamID is the id of an event in its stream.
func streamID(number int64) string { return strconv.FormatInt(number, 10) + "-0" }

// eventOf reads an event from its message in the stream.
func eventOf(m redis.XMessage) (sessionstore.Event, error) {
	doc, _ := m.Values["d"].(string)
	return sessionstore.ReadEvent([]byte(doc))
}

// appState reads the state of an app, keys with their prefix.
func (s *Store) appState(ctx context.Context, app string) (sessionstore.State, error) {
	v, err := s.run(ctx, appScript, appPrefix(app))
	if err != nil {
		return nil, err
	}
	out := sessionstore.State{}
	replyOf(v).state(sessionstore.AppPrefix, out)
	return out, nil
}
