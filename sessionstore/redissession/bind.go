package redissession

import (
	"cmp"
	"context"
	"fmt"
	"strings"
)

// Bind implements sessionstore.Progress.
func (s *Store) Bind(ctx context.Context, memories string) (bound string, err error) {
	if err = s.redis.SetNX(ctx, boundKey, memories, 0).Err(); err == nil {
		bound, err = s.redis.Get(ctx, boundKey).Result()
	}
	if err != nil {
		return "", fmt.Errorf("bind sessions to memories: %w", s.kind(ctx, err))
	}
	s.health.mu.Lock()
	defer s.health.mu.Unlock()
	s.health.bound = cmp.Or(s.health.bound, bound)
	return bound, nil
}

// Bound reports whether the sessions know which memory store has their memories.
func (s *Store) Bound(ctx context.Context) (bool, error) {
	n, err := s.redis.Exists(ctx, boundKey).Result()
	if err != nil {
		return false, fmt.Errorf("read the memory store of the sessions: %w", s.kind(ctx, err))
	}
	return n > 0, nil
}

// Rebind implements sessionstore.Progress.
func (s *Store) Rebind(ctx context.Context, memories string) (sessions int, err error) {
	defer s.notify.ChangedAll()
	if sessions, err = s.rebind(ctx, memories); err != nil {
		return 0, fmt.Errorf("bind sessions to other memories: %w", err)
	}
	return sessions, nil
}

func (s *Store) rebind(ctx context.Context, memories string) (sessions int, err error) {
	all, err := s.keys(ctx, sessionKeys)
	if err != nil {
		return 0, err
	}
	for _, k := range all {
		prefix, ref, _ := strings.Cut(k, "session:")
		v, err := s.run(ctx, rebindScript, prefix, ref, s.clock())
		if err != nil {
			return 0, err
		}
		if n, _ := v.(int64); n == 1 {
			sessions++
		}
	}
	// Last, so that a start that comes before is refused. A process that starts
	// after it looks at all partitions.
	return sessions, s.kind(ctx, s.redis.Set(ctx, boundKey, memories, 0).Err())
}
