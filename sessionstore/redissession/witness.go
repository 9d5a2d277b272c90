package redissession

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/redis/go-redis/v9"
)

// memoriesKey is a hash of the memory store's collections: how far each had got when
// it last told, and "0" once a loss of it is accepted.
const memoriesKey = "memoryd:{work}:memories"

// seenMark is what Seen has of a mark. Its names are part of the stored data.
type seenMark struct {
	Made   string           `json:"made"`
	N      int64            `json:"n"`
	Before map[string]int64 `json:"before,omitempty"`
}

// Seen is what this process has seen of the marks of all partitions, for another store
// to keep: up to about 60 bytes for each of the 1,024 that have data. It is nil if
// nothing was ever written. Equal marks give equal text.
func (s *Store) Seen() ([]byte, error) {
	s.marks.mu.Lock()
	defer s.marks.mu.Unlock()
	out := map[string]seenMark{}
	for prefix, k := range s.marks.all {
		if !strings.HasPrefix(prefix, appsPrefix) && prefix != workPrefix {
			out[prefix] = seenMark{Made: k.made, N: k.n, Before: maps.Clone(k.before)}
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	return json.Marshal(out)
}

// Expect takes what a process has Seen as if this one had, and compares Redis with it
// at once. So data that was lost while no process ran is noticed.
func (s *Store) Expect(ctx context.Context, seen []byte) error {
	if len(seen) == 0 {
		return nil
	}
	var all map[string]seenMark
	if err := json.Unmarshal(seen, &all); err != nil {
		return fmt.Errorf("read how far the sessions had got: %w", err)
	}
	for prefix, k := range all {
		s.marks.expect(prefix, k)
	}
	within, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	return s.lookAtMarks(within)
}

// expect takes what another process has seen of a mark, unless this one has seen more.
func (m *marks) expect(prefix string, seen seenMark) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.all[prefix]
	switch {
	case k == nil:
		m.all[prefix] = &mark{made: seen.Made, n: seen.N, before: seen.Before}
	case k.made == seen.Made:
		k.n = max(k.n, seen.N)
		if k.before == nil {
			k.before = seen.Before
		}
	default:
		k.made, k.n, k.own, k.before = seen.Made, seen.N, 0, seen.Before
	}
}

// Remember keeps how far a collection of memories had got: a number that grows with
// its writes.
func (s *Store) Remember(ctx context.Context, collection string, beat int64) error {
	return s.kind(ctx, s.side.HSet(ctx, memoriesKey, collection, beat).Err())
}

// Remembered returns how far a collection had got. It is 0 if that is not known.
// accepted says that a loss of it was accepted since.
func (s *Store) Remembered(ctx context.Context, collection string) (beat int64, accepted bool, err error) {
	beat, err = s.side.HGet(ctx, memoriesKey, collection).Int64()
	if errors.Is(err, redis.Nil) {
		return 0, false, nil
	}
	return beat, beat == 0, s.kind(ctx, err)
}

// AcceptMemories has all processes go on with memories that are older than they were.
func (s *Store) AcceptMemories(ctx context.Context) error {
	names, err := s.side.HKeys(ctx, memoriesKey).Result()
	for _, name := range names {
		err = errors.Join(err, s.side.HSet(ctx, memoriesKey, name, 0).Err())
	}
	if err != nil {
		return fmt.Errorf("accept older memories: %w", s.kind(ctx, err))
	}
	return nil
}
