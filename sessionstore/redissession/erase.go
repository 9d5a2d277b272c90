package redissession

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/quota"
	"github.com/memoryd/memoryd/sessionstore"
)

// erasedTogether is how many sessions and operations one script erases: others wait as
// long as it runs, some milliseconds.
const erasedTogether = 200

// EraseSession implements sessionstore.Eraser. Redis's own files follow with the next
// rewrite of the append-only file, and the next snapshot.
func (s *Store) EraseSession(ctx context.Context, key sessionstore.Key, dryRun bool) (
	sessionstore.Erased, error) {
	if err := key.Validate(); err != nil {
		return sessionstore.Erased{}, err
	}
	out, err := s.erase(ctx, key.Scope, key.ID, dryRun)
	if err != nil {
		return out, key.Wrap("erase", err)
	}
	return out, nil
}

// EraseUser implements sessionstore.Eraser. Redis's own files follow as in EraseSession.
func (s *Store) EraseUser(ctx context.Context, scope memory.Scope, dryRun bool) (sessionstore.Erased, error) {
	if err := scope.Validate(); err != nil {
		return sessionstore.Erased{}, err
	}
	out, err := s.erase(ctx, scope, "", dryRun)
	if err != nil {
		return out, scope.Wrap("erase sessions", err)
	}
	return out, nil
}

// EraseEvents implements sessionstore.Eraser. Redis's own files follow as in
// EraseSession.
func (s *Store) EraseEvents(ctx context.Context, key sessionstore.Key, events []string, dryRun bool) (int, error) {
	n, err := s.eraseEvents(ctx, key, events, dryRun)
	if err != nil {
		return n, key.Wrap("erase events", err)
	}
	return n, nil
}

func (s *Store) eraseEvents(ctx context.Context, key sessionstore.Key, events []string, dryRun bool) (
	n int, err error) {
	args := []any{name(key.Scope), key.ID, s.clock()}
	for _, id := range events {
		args = append(args, id)
	}
	v, err := s.run(ctx, eventsOfScript, scopePrefix(key.Scope), args...)
	if err != nil {
		return 0, err
	}
	blanks := map[string][]any{} // by life
	for found := replyOf(v); len(found) > 0; found = found[3:] {
		was, err := sessionstore.ReadEvent([]byte(found.text(2)))
		if err != nil {
			return 0, err
		}
		blank, err := sessionstore.Blank(was)
		if err != nil {
			return 0, err
		}
		if string(blank.Doc) == found.text(2) {
			continue
		}
		n++
		if dryRun {
			continue
		}
		blanks[found.text(0)] = append(blanks[found.text(0)], found.text(1), []byte(blank.Doc))
	}
	for ref, args := range blanks {
		if _, err := s.run(ctx, blankScript, scopePrefix(key.Scope), append([]any{ref}, args...)...); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// erase erases the lives of a session id, or of a user if that is "". A dry run counts them,
// by the page.
func (s *Store) erase(ctx context.Context, scope memory.Scope, id string, dryRun bool) (
	out sessionstore.Erased, err error) {
	script, from := eraseScript, -1
	if dryRun {
		script, from = erasableScript, 0
	} else {
		defer s.notify.Changed(sessionstore.Key{Scope: scope, ID: id})
	}
	for more := true; more; {
		v, err := s.run(ctx, script, scopePrefix(scope), name(scope), scope.App, scope.User, id, erasedTogether,
			s.clock(), from)
		if err != nil {
			return out, err
		}
		r := replyOf(v)
		out.Sessions += int(r.num(0))
		out.Events += int(r.num(1))
		for lives := r.list(2); len(lives) > 0; lives = lives[2:] {
			key := sessionstore.Key{Scope: scope, ID: lives.text(1)}
			out.Lives = append(out.Lives, sessionstore.Life(key, lives.text(0)))
		}
		if more = r.num(3) == 1; dryRun {
			from += erasedTogether
			continue
		}
		// The outbox has the ids too, so that it is emptied here and not later.
		if err := s.redeliver(ctx, outbox{partitionOf(scope), scope.App}); err != nil {
			return out, err
		}
	}
	if id != "" || dryRun {
		return out, nil
	}
	return out, s.eraseQuotas(ctx, scope)
}

// eraseQuotas removes what is counted of a user; see quota.Limiter.
func (s *Store) eraseQuotas(ctx context.Context, scope memory.Scope) error {
	of := quotaPrefix(scope.App) + "user/"
	if err := s.redis.Unlink(ctx, of+"rate/"+scope.User, of+"places/"+scope.User).Err(); err != nil {
		return s.kind(ctx, err)
	}
	var fields []string
	for _, name := range quota.UserAmounts(scope.User) {
		fields = append(fields, "of:"+name) // see spend.lua
	}
	return s.kind(ctx, s.redis.HDel(ctx, quotaPrefix(scope.App)+"day", fields...).Err())
}

// EraseApp implements sessionstore.Eraser. The marks of its writes stay, which tell
// losses and have nothing of what was written.
func (s *Store) EraseApp(ctx context.Context, app string) error {
	_, err := s.run(ctx, eraseAppScript, appPrefix(app))
	if err == nil {
		err = s.kind(ctx, s.redis.ZRem(ctx, appsKey, app).Err())
		s.mu.Lock()
		delete(s.apps, app) // its next session lists it again
		s.mu.Unlock()
	}
	if err != nil {
		return fmt.Errorf("erase app %q: %w", app, err)
	}
	return nil
}

// appsKey is a sorted set of the apps.
const appsKey = "memoryd:{work}:apps"

// listInApps puts an app into the list of apps before it gets a session. A process that did
// so a short time ago need not do it again.
func (s *Store) listInApps(ctx context.Context, app string) error {
	s.mu.Lock()
	fresh := time.Since(s.apps[app]) < enlistEvery
	s.mu.Unlock()
	if fresh {
		return nil
	}
	if err := s.redis.ZAdd(ctx, appsKey, redis.Z{Member: app}).Err(); err != nil {
		return s.kind(ctx, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.apps) >= maxMarks {
		clear(s.apps)
	}
	s.apps[app] = time.Now()
	return nil
}

// after reads names of a sorted set whose members all have one score.
func (s *Store) after(ctx context.Context, key, after string, limit int) ([]string, error) {
	if limit <= 0 {
		return nil, ctx.Err()
	}
	from := "-"
	if after != "" {
		from = "(" + after
	}
	names, err := s.redis.ZRangeByLex(ctx, key, &redis.ZRangeBy{Min: from, Max: "+", Count: int64(limit)}).Result()
	return names, s.kind(ctx, err)
}

// Users implements sessionstore.Eraser.
func (s *Store) Users(ctx context.Context, app, after string, limit int) ([]string, error) {
	err := s.fillUsers(ctx, app)
	var out []string
	if err == nil {
		out, err = s.after(ctx, appPrefix(app)+"users", after, limit)
	}
	if err != nil {
		return nil, fmt.Errorf("list users of app %q: %w", app, err)
	}
	return out, nil
}

// fillUsers lists the users of sessions that earlier versions have made, once for each
// app.
func (s *Store) fillUsers(ctx context.Context, app string) error {
	filled := appPrefix(app) + "filled"
	n, err := s.redis.Exists(ctx, filled).Result()
	if err != nil || n == 1 {
		return s.kind(ctx, err)
	}
	for cursor := uint64(0); ; {
		names, next, err := s.redis.ZScan(ctx, appPrefix(app)+"sessions", cursor, "", 1000).Result()
		if err != nil {
			return s.kind(ctx, err)
		}
		var users []redis.Z
		for i := 0; i+1 < len(names); i += 2 { // a name, and its score
			user, _, _ := strings.Cut(names[i], "/")
			users = append(users, redis.Z{Member: user})
		}
		if len(users) > 0 {
			if err := s.redis.ZAdd(ctx, appPrefix(app)+"users", users...).Err(); err != nil {
				return s.kind(ctx, err)
			}
		}
		if cursor = next; cursor == 0 {
			return s.kind(ctx, s.redis.Set(ctx, filled, 1, 0).Err())
		}
	}
}

// Apps implements sessionstore.Eraser.
func (s *Store) Apps(ctx context.Context, after string, limit int) ([]string, error) {
	out, err := s.after(ctx, appsKey, after, limit)
	if err != nil {
		return nil, fmt.Errorf("list apps: %w", err)
	}
	return out, nil
}

// EraseKeys implements access.Keys.
func (s *Store) EraseKeys(ctx context.Context, app, user string) error {
	if err := s.changeKeys(ctx, call{script: eraseKeysScript, args: []any{app, user}}); err != nil {
		return fmt.Errorf("erase keys of app %q, user %q: %w", app, user, err)
	}
	return nil
}

const (
	rewriteTogether = 500
	// rewriteTime is after how long the copy of a log that was not finished goes.
	rewriteTime = 10 * time.Minute
)

// RewriteAudit implements access.Audit. It makes another stream with the same numbers,
// and puts that in the place of the log.
func (s *Store) RewriteAudit(ctx context.Context, app string, change func(*access.Entry) bool) error {
	old := auditKey(app)
	to := old + ":" + uuid.NewString()
	last, changed, err := s.copyAudit(ctx, old, to, change)
	if err == nil && changed {
		err = s.kind(ctx, rewrittenScript.Run(ctx, s.redis, []string{old, to}, last).Err())
	}
	err = cmp.Or(err, s.kind(ctx, s.redis.Unlink(ctx, to).Err()))
	if err != nil {
		return fmt.Errorf("rewrite the audit log of app %q: %w", app, err)
	}
	return nil
}

// copyAudit writes the entries of a log into another stream as change leaves them.
func (s *Store) copyAudit(ctx context.Context, old, to string, change func(*access.Entry) bool) (
	last string, changed bool, err error) {
	for from := "-"; ; from = "(" + last {
		found, err := s.redis.XRangeN(ctx, old, from, "+", rewriteTogether).Result()
		if err != nil || len(found) == 0 {
			return last, changed, s.kind(ctx, err)
		}
		pipe := s.redis.Pipeline()
		for _, m := range found {
			doc, _ := m.Values["e"].(string)
			var e access.Entry
			if err := json.Unmarshal([]byte(doc), &e); err != nil {
				return last, changed, fmt.Errorf("entry %s: %w", m.ID, err)
			}
			if change(&e) {
				changed = true
				b, err := json.Marshal(e)
				if err != nil {
					return last, changed, err
				}
				doc = string(b)
			}
			pipe.XAdd(ctx, &redis.XAddArgs{Stream: to, ID: m.ID, Values: []any{"e", doc}})
			last = m.ID
		}
		pipe.PExpire(ctx, to, rewriteTime)
		if _, err := pipe.Exec(ctx); err != nil {
			return last, changed, s.kind(ctx, err)
		}
	}
}
