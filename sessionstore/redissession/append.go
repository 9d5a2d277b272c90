package redissession

import (
	"cmp"
	"context"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Create implements sessionstore.Store.
func (s *Store) Create(ctx context.Context, key sessionstore.Key, create sessionstore.Create) (*sessionstore.Session, error) {
	key, err := sessionstore.NewKey(key)
	if err != nil {
		return nil, err
	}
	if _, err := s.append(ctx, key, "new", create.State, create.Events, sessionstore.Append{}); err != nil {
		return nil, key.Wrap("create", err)
	}
	return s.Get(ctx, key, sessionstore.Get{NumRecent: -1})
}

// Append implements sessionstore.Store.
func (s *Store) Append(ctx context.Context, key sessionstore.Key, events []sessionstore.Event, opts sessionstore.Append) (sessionstore.Appended, error) {
	if err := key.Validate(); err != nil {
		return sessionstore.Appended{}, err
	}
	if err := opts.Validate(); err != nil {
		return sessionstore.Appended{}, key.Wrap("append", err)
	}
	mode := "old"
	switch {
	case opts.OneShot:
		mode = "hidden"
	case opts.Create:
		mode = "make"
	}
	out, err := s.append(ctx, key, mode, nil, events, opts)
	if err != nil {
		return sessionstore.Appended{}, key.Wrap("append", err)
	}
	return out, nil
}

// append is one step in the slot of the session, and a second one in that of
// its app if something is for the app.
func (s *Store) append(ctx context.Context, key sessionstore.Key, mode string, state sessionstore.State, events []sessionstore.Event, opts sessionstore.Append) (out sessionstore.Appended, err error) {
	operation, request := "", []byte(nil)
	if opts.Request != nil {
		operation = opts.Request.ID
		if request, err = opts.Request.Doc(); err != nil {
			return out, err
		}
		if err := s.mark(ctx, partition(key.Scope)); err != nil {
			return out, err
		}
	}
	args := []any{name(key.Scope), key.App, key.User, key.ID, s.clock(), mode, truth(!opts.ChangesState()), operation, request, s.over(), s.opts.TTL.Milliseconds(),
		s.lastDelivered(outbox{partition(key.Scope), key.App})}
	args = appendState(args, state)
	out.Events = sessionstore.Prepare(events, s.now())
	var sent []int // the place in out of each event sent
	count := len(args)
	args = append(args, 0)
	for i, e := range out.Events {
		if !e.Partial {
			sent = append(sent, i)
			args = append(args, e.ID, e.Timestamp.UnixMicro(), truth(e.RewindBefore != ""), []byte(e.Doc))
			args = appendState(args, e.StateDelta)
		}
	}
	args[count] = len(sent)
	v, err := s.run(ctx, appendScript, prefix(key.Scope), args...)
	if err != nil {
		return out, err
	}
	r, _ := v.([]any)
	switch reply(r).text(0) {
	case "EXISTS":
		return out, memory.ErrExists
	case "MISSING":
		return out, memory.ErrNotFound
	}
	answer := reply(r)
	out.LastUpdateTime = sessionstore.FromMicros(answer.num(2))
	for had := answer.list(3); len(had) > 0; had = had[2:] {
		i := sent[had.num(0)-1]
		if out.Events[i], err = sessionstore.ReadEvent([]byte(had.text(1))); err != nil {
			return out, err
		}
	}
	if opts.Request != nil {
		op, err := operationOf(key.Scope, answer.list(4))
		if err != nil {
			return out, err
		}
		out.Operation = &op
	}
	return out, s.deliver(ctx, outbox{partition(key.Scope), key.App}, answer.list(5))
}

func truth(v bool) string {
	if v {
		return "1"
	}
	return ""
}

// appendState adds a delta to a script's arguments: how many, then owner, name
// and value of each.
func appendState(args []any, delta sessionstore.State) []any {
	parts := delta.Split()
	args = append(args, len(parts.App)+len(parts.User)+len(parts.Session))
	for owner, state := range map[string]sessionstore.State{"a": parts.App, "u": parts.User, "s": parts.Session} {
		for k, v := range state {
			args = append(args, owner, k, []byte(v))
		}
	}
	return args
}

// outbox names the messages of a partition for an app.
type outbox struct {
	partition int
	app       string
}

// deliver brings a partition's messages to their app. They stay in the outbox
// until the next append that adds one, or until somebody looks for what was
// left undelivered: brought again, they are not applied twice.
func (s *Store) deliver(ctx context.Context, from outbox, messages reply) error {
	if len(messages) == 0 {
		return nil
	}
	seq, err := s.run(ctx, deliverScript, appPrefix(from.app), append([]any{from.partition}, messages...)...)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.delivered) >= maxDelivered {
		clear(s.delivered) // it only spares bringing them again
	}
	s.delivered[from], _ = seq.(string)
	return nil
}

// maxDelivered bounds what is remembered of deliveries.
const maxDelivered = 100_000

// lastDelivered is up to which message an app has all; "" if this process does
// not know.
func (s *Store) lastDelivered(from outbox) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.delivered[from]
}

// redeliver brings an app what is left in an outbox, and empties that.
func (s *Store) redeliver(ctx context.Context, from outbox) error {
	messages, err := s.redis.LRange(ctx, prefixOf(from.partition)+"outbox:"+from.app, 0, -1).Result()
	if err != nil {
		return s.kind(ctx, err)
	}
	r := make(reply, len(messages))
	for i, m := range messages {
		r[i] = m
	}
	if err := s.deliver(ctx, from, r); err != nil {
		return err
	}
	_, err = s.run(ctx, deliveredScript, prefixOf(from.partition), from.app, cmp.Or(s.lastDelivered(from), "0"))
	return err
}

// Delete implements sessionstore.Store.
func (s *Store) Delete(ctx context.Context, key sessionstore.Key) error {
	v, err := s.run(ctx, deleteScript, prefix(key.Scope), name(key.Scope), key.App, key.User, key.ID)
	if err == nil {
		messages, _ := v.([]any)
		err = s.deliver(ctx, outbox{partition(key.Scope), key.App}, messages)
	}
	if err != nil {
		return key.Wrap("delete", err)
	}
	return nil
}
