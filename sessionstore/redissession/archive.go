package redissession

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

var _ sessionstore.Archive = (*Store)(nil)

// Export implements sessionstore.Archive.
func (s *Store) Export(ctx context.Context, session func(sessionstore.SessionRecord) error, shared func(sessionstore.SharedState) error) error {
	if err := s.readyToExport(ctx); err != nil {
		return fmt.Errorf("export sessions: %w", err)
	}
	for _, kind := range []*regexp.Regexp{appStates, userStates} {
		keys, err := s.keys(ctx, kind)
		if err != nil {
			return fmt.Errorf("export sessions: %w", err)
		}
		for _, k := range keys {
			values, err := s.redis.HGetAll(ctx, k).Result()
			if err != nil {
				return fmt.Errorf("export sessions: %w", s.kind(ctx, err))
			}
			sh := sessionstore.SharedState{State: sessionstore.State{}}
			if of := kind.FindStringSubmatch(k)[1]; kind == appStates {
				sh.App = of
			} else {
				sh.Scope = scopeOf(of)
			}
			for name, v := range values {
				sh.State[name] = []byte(v)
			}
			if err := shared(sh); err != nil {
				return err
			}
		}
	}
	apps, err := s.keys(ctx, appLists)
	if err != nil {
		return fmt.Errorf("export sessions: %w", err)
	}
	given := map[sessionstore.Key]bool{}
	for _, k := range apps {
		app := appLists.FindStringSubmatch(k)[1]
		names, err := s.redis.ZRange(ctx, k, 0, -1).Result()
		if err != nil {
			return fmt.Errorf("export sessions: %w", s.kind(ctx, err))
		}
		for _, n := range names {
			user, id, _ := strings.Cut(n, "/")
			key := sessionstore.Key{Scope: memory.Scope{App: app, User: user}, ID: id}
			given[key] = true
			if err := s.exportOne(ctx, key, session); err != nil {
				return err
			}
		}
	}
	// The lists of apps are on other nodes than the sessions. Should one have
	// lost some in a failover, they are exported all the same.
	scopes, err := s.keys(ctx, scopeLists)
	if err != nil {
		return fmt.Errorf("export sessions: %w", err)
	}
	for _, k := range scopes {
		ids, err := s.redis.ZRange(ctx, k, 0, -1).Result()
		if err != nil {
			return fmt.Errorf("export sessions: %w", s.kind(ctx, err))
		}
		for _, id := range ids {
			key := sessionstore.Key{Scope: scopeOf(scopeLists.FindStringSubmatch(k)[1]), ID: id}
			if given[key] {
				continue
			}
			if err := s.exportOne(ctx, key, session); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Store) exportOne(ctx context.Context, key sessionstore.Key, session func(sessionstore.SessionRecord) error) error {
	a, err := s.archived(ctx, key)
	if err != nil {
		return fmt.Errorf("export sessions: %w", err)
	}
	if a == nil {
		return nil // it has expired
	}
	return session(*a)
}

// The keys an export looks for. The first group is the app, or app/user; ids
// have any characters but slashes, so a key counts only if all of it fits.
var (
	appStates  = regexp.MustCompile(`^memoryd:\{a:([^/]*)\}:state$`)
	appLists   = regexp.MustCompile(`^memoryd:\{a:([^/]*)\}:sessions$`)
	userStates = regexp.MustCompile(`^memoryd:\{\d+\}:user:([^/]*/[^/]*)$`)
	scopeLists = regexp.MustCompile(`^memoryd:\{\d+\}:live:([^/]*/[^/]*)$`)
	sessions   = regexp.MustCompile(`^memoryd:\{\d+\}:session:(\d+)$`)
)

// readyToExport delivers what waits for its app, and looks for what an export
// would leave behind.
func (s *Store) readyToExport(ctx context.Context) error {
	for p := range partitions {
		apps, err := s.redis.SMembers(ctx, prefixOf(p)+"outboxes").Result()
		if err != nil {
			return s.kind(ctx, err)
		}
		for _, app := range apps {
			if err := s.redeliver(ctx, outbox{p, app}); err != nil {
				return err
			}
		}
	}
	all, err := s.keys(ctx, sessions)
	if err != nil {
		return err
	}
	left := 0
	for some := range slices.Chunk(all, readTogether) {
		pipe := s.redis.Pipeline()
		answers := make([]*redis.SliceCmd, len(some))
		for i, k := range some {
			answers[i] = pipe.HMGet(ctx, k, "deleted", "requested", "done", "failed")
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return s.kind(ctx, err)
		}
		for _, a := range answers {
			if m := reply(a.Val()); m[0] == "1" && m.num(1) > m.num(2) && m[3] != "1" {
				left++
			}
		}
	}
	if left > 0 {
		return sessionstore.UnfinishedDeleted(left)
	}
	return nil
}

// keys is the names of all keys of a kind, on every master.
func (s *Store) keys(ctx context.Context, kind *regexp.Regexp) (out []string, err error) {
	var mu sync.Mutex
	scan := func(ctx context.Context, c *redis.Client) error {
		it := c.Scan(ctx, 0, "memoryd:*", 1000).Iterator()
		for it.Next(ctx) {
			if kind.MatchString(it.Val()) {
				mu.Lock()
				out = append(out, it.Val())
				mu.Unlock()
			}
		}
		return it.Err()
	}
	switch c := s.redis.(type) {
	case *redis.Client:
		err = scan(ctx, c)
	case *redis.ClusterClient:
		err = c.ForEachMaster(ctx, scan)
	}
	slices.Sort(out)
	return slices.Compact(out), s.kind(ctx, err)
}

func (s *Store) archived(ctx context.Context, key sessionstore.Key) (*sessionstore.SessionRecord, error) {
	v, err := s.run(ctx, archivedScript, prefix(key.Scope), name(key.Scope), key.ID)
	if err != nil {
		return nil, err
	}
	r, _ := v.([]any)
	if len(r) == 0 {
		return nil, nil
	}
	answer := reply(r)
	m := answer.list(1)
	a := &sessionstore.SessionRecord{Key: key, Ref: answer.text(0), State: sessionstore.State{}, LastUpdateTime: sessionstore.FromMicros(m.num(0)), Events: m.num(1),
		Requested: m.num(2), Done: m.num(3), Failed: m.text(4) == "1", LastError: m.text(5), PlanTo: m.num(6)}
	if plan := answer.text(2); plan != "" {
		a.Plan = []byte(plan)
	}
	answer.list(3).state("", a.State)
	return a, nil
}

// Restore implements sessionstore.Archive.
func (s *Store) Restore(ctx context.Context, a sessionstore.SessionRecord) error {
	err := s.mark(ctx, partition(a.Scope))
	if err == nil {
		args := []any{name(a.Scope), a.ID, a.Events, micros(a.LastUpdateTime), a.Requested, a.Done, truth(a.Failed), a.LastError, []byte(a.Plan), a.PlanTo,
			s.clock(), s.opts.TTL.Milliseconds()}
		for k, v := range a.State {
			args = append(args, k, []byte(v))
		}
		var v any
		if v, err = s.run(ctx, restoreScript, prefix(a.Scope), args...); err == nil && v == "MISSING" {
			err = memory.ErrNotFound
		}
	}
	if err != nil {
		return a.Key.Wrap("restore", err)
	}
	return nil
}

// RestoreShared implements sessionstore.Archive.
func (s *Store) RestoreShared(ctx context.Context, sh sessionstore.SharedState) error {
	at := prefix(sh.Scope) + "user:" + name(sh.Scope)
	if sh.User == "" {
		at = appPrefix(sh.App) + "state"
	}
	for k, v := range sh.State {
		if err := s.redis.HSetNX(ctx, at, k, []byte(v)).Err(); err != nil {
			return fmt.Errorf("share state of app %q, user %q: %w", sh.App, sh.User, s.kind(ctx, err))
		}
	}
	return nil
}
