package redissession

import (
	"cmp"
	"context"
)

// outbox names the messages of a partition for an app.
type outbox struct {
	partition int
	app       string
}

// deliver brings the messages of an outbox to their app. They stay in the outbox
// until the next append that adds one, or until a process that looks for work
// delivers them again: they are not applied twice.
func (s *Store) deliver(ctx context.Context, from outbox, messages reply) error {
	if len(messages) == 0 {
		return nil
	}
	seq, err := s.run(ctx, deliverScript, appPrefix(from.app), append([]any{from.partition}, messages...)...)
	if err != nil {
		return err
	}
	last, _ := seq.(string)
	s.noteDelivered(from, last)
	return nil
}

// noteDelivered remembers up to which message an app has all.
func (s *Store) noteDelivered(from outbox, last string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.delivered) >= maxDelivered {
		clear(s.delivered) // without an entry, messages are delivered again
	}
	s.delivered[from] = last
}

// maxDelivered bounds the deliveries that a process remembers.
const maxDelivered = 100_000

// lastDelivered is up to which message an app has all; "" if this process does
// not know.
func (s *Store) lastDelivered(from outbox) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.delivered[from]
}

// redeliver brings an app the messages that are left in an outbox, and empties
// it.
func (s *Store) redeliver(ctx context.Context, from outbox) error {
	messages, err := s.redis.LRange(ctx, partitionPrefix(from.partition)+"outbox:"+from.app, 0, -1).Result()
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
	_, err = s.run(ctx, deliveredScript, partitionPrefix(from.partition), from.app, cmp.Or(s.lastDelivered(from), "0"))
	return err
}
