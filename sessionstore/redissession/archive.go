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

// Export implements sessionstore.Archive.
func (s *Store) Export(ctx context.Context, session func(sessionstore.SessionRecord) error,
	shared func(sessionstore.SharedState) error) error {
	if err := s.readyToExport(ctx); err != nil {
		return fmt.Errorf("export sessions: %w", err)
	}
	if err := s.exportShared(ctx, shared); err != nil {
		return err
	}
	names, err := s.sessionNames(ctx)
	if err != nil {
		return fmt.Errorf("export sessions: %w", err)
	}
	for _, key := range names {
		r, err := s.record(ctx, key)
		if err != nil {
			return fmt.Errorf("export sessions: %w", err)
		}
		if r == nil {
			continue // it has expired
		}
		if err := session(*r); err != nil {
			return err
		}
	}
	return nil
}

// The keys that an export looks for. The first group is the app, or app/user;
// ids have any characters except slashes, so the whole name has to match.
var (
	appStateKeys  = regexp.MustCompile(`^memoryd:\{a:([^/]*)\}:state$`)
	appListKeys   = regexp.MustCompile(`^memoryd:\{a:([^/]*)\}:sessions$`)
	userStateKeys = regexp.MustCompile(`^memoryd:\{\d+\}:user:([^/]*/[^/]*)$`)
	scopeListKeys = regexp.MustCompile(`^memoryd:\{\d+\}:live:([^/]*/[^/]*)$`)
	configKeys    = regexp.MustCompile(`^memoryd:\{a:([^/]*)\}:config$`)
	sessionKeys   = regexp.MustCompile(`^memoryd:\{\d+\}:session:(\d+)$`)
)

// checkTogether is how many sessions are looked at in one command.
const checkTogether = 500

// readyToExport delivers the messages that wait for their apps, and fails if
// deleted sessions have work left.
func (s *Store) readyToExport(ctx context.Context) error {
	for p := range partitions {
		apps, err := s.redis.SMembers(ctx, partitionPrefix(p)+"outboxes").Result()
		if err != nil {
			return s.kind(ctx, err)
		}
		for _, app := range apps {
			if err := s.redeliver(ctx, outbox{p, app}); err != nil {
				return err
			}
		}
	}
	all, err := s.keys(ctx, sessionKeys)
	if err != nil {
		return err
	}
	left := 0
	for some := range slices.Chunk(all, checkTogether) {
		pipe := s.redis.Pipeline()
		answers := make([]*redis.SliceCmd, len(some))
		for i, k := range some {
			answers[i] = pipe.HMGet(ctx, k, "deleted", "requested", "done", "failed", "expires", "wait_due")
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return s.kind(ctx, err)
		}
		for _, a := range answers {
			m := reply(a.Val())
			over := m.num(4) > 0 && m.num(4) <= s.now().UnixMicro()
			work := m.num(1) > m.num(2) && m[3] != "1" || m.num(5) > 0
			if (m[0] == "1" || over) && work {
				left++
			}
		}
	}
	if left > 0 {
		return sessionstore.UnfinishedDeleted(left)
	}
	return nil
}

// exportShared yields the state of each app and user. It reads one at a time: states
// may be large.
func (s *Store) exportShared(ctx context.Context, shared func(sessionstore.SharedState) error) error {
	for _, kind := range []*regexp.Regexp{appStateKeys, userStateKeys} {
		keys, err := s.keys(ctx, kind)
		if err != nil {
			return fmt.Errorf("export sessions: %w", err)
		}
		for _, k := range keys {
			values, err := s.redis.HGetAll(ctx, k).Result()
			if err != nil {
				return fmt.Errorf("export sessions: %w", s.kind(ctx, err))
			}
			one := sessionstore.SharedState{State: sessionstore.State{}}
			if of := kind.FindStringSubmatch(k)[1]; kind == appStateKeys {
				one.App = of
			} else {
				one.Scope = scopeOf(of)
			}
			for name, v := range values {
				one.State[name] = []byte(v)
			}
			if err := shared(one); err != nil {
				return err
			}
		}
	}
	return nil
}

// sessionNames reads the keys of all sessions: of each app in the order of their
// making, then those that the app's list lacks. The list of an app is on another
// node than the sessions, and may have lost some in a failover.
func (s *Store) sessionNames(ctx context.Context) (out []sessionstore.Key, err error) {
	lists, err := s.keys(ctx, appListKeys)
	if err != nil {
		return nil, err
	}
	listed := map[sessionstore.Key]bool{}
	for _, k := range lists {
		app := appListKeys.FindStringSubmatch(k)[1]
		names, err := s.redis.ZRange(ctx, k, 0, -1).Result()
		if err != nil {
			return nil, s.kind(ctx, err)
		}
		for _, n := range names {
			key := splitName(app, n)
			listed[key] = true
			out = append(out, key)
		}
	}
	scopes, err := s.keys(ctx, scopeListKeys)
	if err != nil {
		return nil, err
	}
	for _, k := range scopes {
		ids, err := s.redis.ZRange(ctx, k, 0, -1).Result()
		if err != nil {
			return nil, s.kind(ctx, err)
		}
		for _, id := range ids {
			key := sessionstore.Key{Scope: scopeOf(scopeListKeys.FindStringSubmatch(k)[1]), ID: id}
			if !listed[key] {
				out = append(out, key)
			}
		}
	}
	return out, nil
}

// splitName reads the name that a session has in the list of its app: user/id.
func splitName(app, name string) sessionstore.Key {
	user, id, _ := strings.Cut(name, "/")
	return sessionstore.Key{Scope: memory.Scope{App: app, User: user}, ID: id}
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

// record reads a session to export; nil if there is none.
func (s *Store) record(ctx context.Context, key sessionstore.Key) (*sessionstore.SessionRecord, error) {
	v, err := s.run(ctx, recordScript, scopePrefix(key.Scope), name(key.Scope), key.ID, s.clock())
	if err != nil {
		return nil, err
	}
	answer := replyOf(v)
	if len(answer) == 0 {
		return nil, nil
	}
	m := answer.list(1)
	r := &sessionstore.SessionRecord{Key: key, Ref: answer.text(0), State: sessionstore.State{},
		LastUpdateTime: sessionstore.FromMicros(m.num(0)), Events: m.num(1), Requested: m.num(2), Done: m.num(3),
		Failed: m.text(4) == "1", LastError: m.text(5), PlanTo: m.num(6), Waiting: waitingOf(m[12:])}
	if plan := answer.text(2); plan != "" {
		r.Plan = []byte(plan)
	}
	answer.list(3).state("", r.State)
	var shown sessionstore.Session
	err = detailsIn(m[7:], &shown)
	r.Details, r.CreateTime = shown.Details, shown.CreateTime
	return r, err
}

// waitingOf reads the fields of how a session waits for its trigger.
func waitingOf(m reply) sessionstore.Waiting {
	return sessionstore.Waiting{Trigger: sessionstore.ReadTrigger(m.text(0)), Own: m.text(1) == "1", To: m.num(2),
		Since: timeOrNone(m.num(3)), Last: timeOrNone(m.num(4)), Due: timeOrNone(m.num(5))}
}

// waitingArgs are the fields that waitingOf reads; no trigger is "".
func waitingArgs(w sessionstore.Waiting) []any {
	rule := ""
	if w != (sessionstore.Waiting{}) {
		rule = w.Trigger.Text()
	}
	return []any{rule, truth(w.Own), w.To, microsOrNone(w.Since), microsOrNone(w.Last), microsOrNone(w.Due)}
}

// Restore implements sessionstore.Archive.
func (s *Store) Restore(ctx context.Context, r sessionstore.SessionRecord) error {
	if err := r.Validate(); err != nil {
		return r.Wrap("restore", err)
	}
	err := s.enlist(ctx, partitionOf(r.Scope))
	if err == nil {
		args := []any{name(r.Scope), r.ID, r.Events, micros(r.LastUpdateTime), r.Requested, r.Done, truth(r.Failed),
			r.LastError, []byte(r.Plan), r.PlanTo, s.clock(), s.ttl(), truth(r.Merge)}
		details := detailsOf(r.Details)
		if !r.CreateTime.IsZero() {
			details = append(details, "created", micros(r.CreateTime))
		}
		args = append(append(args, len(details)), details...)
		args = append(args, waitingArgs(r.Waiting)...)
		for k, v := range r.State {
			args = append(args, k, []byte(v))
		}
		var v any
		v, err = s.run(ctx, restoreScript, scopePrefix(r.Scope), args...)
		if stored, fewer := v.(int64); fewer && err == nil {
			err = r.ValidateEvents(stored)
		} else if err == nil && v == "MISSING" {
			err = memory.ErrNotFound
		}
	}
	s.notify.Changed(r.Key)
	if err != nil {
		return r.Wrap("restore", err)
	}
	return nil
}

// RestoreShared implements sessionstore.Archive.
func (s *Store) RestoreShared(ctx context.Context, sh sessionstore.SharedState) error {
	if err := sh.Validate(); err != nil {
		return fmt.Errorf("restore state: %w", err)
	}
	at, bytes := scopePrefix(sh.Scope)+"user:"+name(sh.Scope), scopePrefix(sh.Scope)+"userbytes:"+name(sh.Scope)
	if sh.User == "" {
		at, bytes = appPrefix(sh.App)+"state", appPrefix(sh.App)+"bytes"
	}
	if sh.User != "" {
		// The user may have no session.
		if err := s.redis.ZAdd(ctx, appPrefix(sh.App)+"users", redis.Z{Member: sh.User}).Err(); err != nil {
			return fmt.Errorf("restore state of app %q, user %q: %w", sh.App, sh.User, s.kind(ctx, err))
		}
	}
	if err := s.listInApps(ctx, sh.App); err != nil {
		return fmt.Errorf("restore state of app %q, user %q: %w", sh.App, sh.User, err)
	}
	// Without the size, the next change counts it.
	if err := s.redis.Del(ctx, bytes).Err(); err != nil {
		return fmt.Errorf("restore state of app %q, user %q: %w", sh.App, sh.User, s.kind(ctx, err))
	}
	for k, v := range sh.State {
		if err := s.redis.HSetNX(ctx, at, k, []byte(v)).Err(); err != nil {
			return fmt.Errorf("restore state of app %q, user %q: %w", sh.App, sh.User, s.kind(ctx, err))
		}
	}
	return nil
}
