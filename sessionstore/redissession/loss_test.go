package redissession_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memoryd/memoryd/internal/redistest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
	"github.com/memoryd/memoryd/sessionstore/redissession"
)

// lines is a log that a test reads.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.buf.String(), text)
}

func (l *lines) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// watched is a store that refuses reads which may be incomplete, and its log. A test
// looks itself.
func watched(t testing.TB, url string) (*redissession.Store, *lines) {
	t.Helper()
	s := open(t, url, &redissession.Options{Timeout: 5 * time.Second, Contain: true})
	t.Cleanup(func() { s.Close() })
	return s, &lines{}
}

// isDamaged checks that an error says in words that data is gone, and what to do.
func isDamaged(t testing.TB, what string, err error) {
	t.Helper()
	damage := (*memory.Damage)(nil)
	if !errors.As(err, &damage) || !errors.Is(err, memory.ErrUnavailable) ||
		!strings.Contains(damage.Error(), "memoryd accept") {
		t.Errorf("%s: error %v, want a Damage with the remedy", what, err)
	}
}

// lost checks that a store has noticed a loss of data: it is not ready, and answers
// no question about session k as if it were whole. What is stored from now on is
// kept, can be read, and is work at once.
func lost(t testing.TB, s *redissession.Store, log *lines, k sessionstore.Key) {
	t.Helper()
	ctx := t.Context()
	s.Look(ctx, log.logger())
	s.Look(ctx, log.logger())
	isDamaged(t, "check", s.Check(ctx))
	if n := log.count("Redis has lost acknowledged data"); n != 1 {
		t.Errorf("the log says it %d times, want once", n)
	}
	_, err := s.Get(ctx, k, sessionstore.Get{})
	isDamaged(t, "get", err)
	_, err = s.List(ctx, k.Scope, sessionstore.List{})
	isDamaged(t, "list", err)
	_, err = s.ListApp(ctx, k.App, sessionstore.List{})
	isDamaged(t, "list of the app", err)
	_, err = s.Status(ctx, k.Scope, sessionstore.OperationID(k.Scope, "unknown"))
	isDamaged(t, "operation", err)
	_, _, err = s.Operations(ctx, k.Scope, sessionstore.List{})
	isDamaged(t, "operations", err)

	fresh := sessionstore.Key{Scope: k.Scope, ID: "fresh" + k.ID}
	must(t, request(t, s, fresh, "e1", fresh.ID))
	has(t, s, fresh, "e1")
	op, err := s.Status(ctx, k.Scope, sessionstore.OperationID(k.Scope, fresh.ID))
	if err != nil || op.State != sessionstore.Pending {
		t.Errorf("a request after the loss: %+v, %v", op, err)
	}
	claims(t, s, fresh)
}

// claims checks that a store claims the work of a session now.
func claims(t testing.TB, s *redissession.Store, k sessionstore.Key) {
	t.Helper()
	works, err := s.Claim(t.Context(), "me", time.Minute, 1000)
	must(t, err)
	found := false
	for _, w := range works {
		found = found || w.Key.Scope == k.Scope
		must(t, s.Finish(t.Context(), w, w.Requested, nil))
	}
	if found {
		return
	}
	t.Errorf("no work of %v among %d claimed", k.Scope, len(works))
}

// request appends an event, and requests memories of it.
func request(t testing.TB, s *redissession.Store, k sessionstore.Key, id, operation string) error {
	t.Helper()
	_, err := s.Append(t.Context(), k, []sessionstore.Event{event(t, id)}, sessionstore.Append{Create: true,
		Request: &sessionstore.Request{ID: sessionstore.OperationID(k.Scope, operation)}})
	return err
}

// However all data is lost, and whether the process that looks has written it itself
// or only seen it, the loss is noticed, and told until it is accepted.
func TestEmptied(t *testing.T) {
	t.Parallel()
	for name, empty := range map[string]func(testing.TB, *redistest.Server){
		"FLUSHALL":             func(t testing.TB, r *redistest.Server) { r.Flush(t) },
		"restart without file": func(t testing.TB, r *redistest.Server) { r.Wipe(t); r.Run(t) },
	} {
		t.Run(name, func(t *testing.T) {
			r := redistest.Start(t)
			writer, log := watched(t, r.URL())
			reader, readerLog := watched(t, r.URL())
			k := key("ann", "s")
			must(t, request(t, writer, k, "e1", "op"))
			writer.Look(t.Context(), log.logger())
			reader.Look(t.Context(), readerLog.logger())
			must(t, writer.Check(t.Context()))
			empty(t, r)
			lost(t, writer, log, k)
			lost(t, reader, readerLog, key("ann", "other"))

			// A process that starts afterwards reads that data is gone.
			later, laterLog := watched(t, r.URL())
			later.Look(t.Context(), laterLog.logger())
			isDamaged(t, "check of a later process", later.Check(t.Context()))
			if n, err := later.Accept(t.Context()); err != nil || n != 1 {
				t.Errorf("accepted %d losses, %v", n, err)
			}
			for _, s := range []*redissession.Store{writer, reader, later} {
				s.Look(t.Context(), log.logger())
				must(t, s.Check(t.Context()))
				if _, err := s.Get(t.Context(), k, sessionstore.Get{}); !errors.Is(err, memory.ErrNotFound) {
					t.Errorf("a lost session, once that is accepted: %v", err)
				}
				if _, err := s.List(t.Context(), k.Scope, sessionstore.List{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// unmarked removes the marks of a Redis, as if a build before marks had written all.
func unmarked(t testing.TB, r *redistest.Server) {
	t.Helper()
	for _, k := range keysOf(t, r, "*:mark") {
		must(t, r.Client(t).Del(t.Context(), k).Err())
	}
}

// Data that only builds before marks have written is lost as noticeably as any other,
// with no write and no look before.
func TestEmptiedAfterUpgrade(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	k := key("ann", "s")
	s := open(t, r.URL(), nil)
	must(t, request(t, s, k, "e1", "op"))
	must(t, s.Close())
	unmarked(t, r)
	backup := r.Backup(t)
	s, log := watched(t, r.URL())
	has(t, s, k, "e1")
	r.Flush(t)
	lost(t, s, log, k)

	// A backup of before is as old as its data: what came after it is gone.
	r.Restore(t, backup)
	s, log = watched(t, r.URL())
	must(t, add(t, s, k, event(t, "e2")))
	r.Restore(t, backup)
	s.Look(t.Context(), log.logger())
	isDamaged(t, "check", s.Check(t.Context()))
}

// The same holds for one node of a cluster.
func TestNodeEmptiedAfterUpgrade(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t)
	s := open(t, c.URL(), nil)
	for i := range 30 {
		must(t, add(t, s, key(fmt.Sprint("u", i), "s"), event(t, "e1")))
	}
	must(t, s.Close())
	for _, m := range c.Masters {
		unmarked(t, m)
	}
	for _, m := range c.Masters {
		s, log := watched(t, c.URL())
		must(t, s.Check(t.Context()))
		m.Flush(t)
		s.Look(t.Context(), log.logger())
		isDamaged(t, "check", s.Check(t.Context()))
		if _, err := s.Accept(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// A process that still remembers the lost data when the loss is accepted, such as one
// that was stopped meanwhile, does not take it for another loss.
func TestAcceptedBeforeSeen(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	late, lateLog := watched(t, r.URL())
	must(t, add(t, late, key("ann", "s"), event(t, "e1")))
	s, log := watched(t, r.URL())
	r.Flush(t)
	s.Look(t.Context(), log.logger())
	isDamaged(t, "check", s.Check(t.Context()))
	if n, err := s.Accept(t.Context()); err != nil || n != 1 {
		t.Errorf("accepted %d losses, %v", n, err)
	}
	must(t, s.Check(t.Context()))
	must(t, add(t, s, key("ann", "s"), event(t, "e2")))
	late.Look(t.Context(), lateLog.logger())
	must(t, late.Check(t.Context()))
	r.Flush(t)
	late.Look(t.Context(), lateLog.logger())
	isDamaged(t, "the next loss", late.Check(t.Context()))
}

// A write that meets the loss before any look does notices it.
func TestWriteNoticesLoss(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	s, _ := watched(t, r.URL())
	k := key("ann", "s")
	must(t, add(t, s, k, event(t, "e1")))
	r.Flush(t)
	_, err := s.Append(t.Context(), k, []sessionstore.Event{event(t, "e2")}, sessionstore.Append{})
	isDamaged(t, "append to a lost session", err)
	isDamaged(t, "check", s.Check(t.Context()))
}

// An older snapshot is noticed although others write into it before the process looks
// that has seen the newer data, and although it has the same number of writes again.
func TestOlderSnapshot(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	s, log := watched(t, r.URL())
	k := key("ann", "s")
	must(t, request(t, s, k, "e1", "op"))
	backup := r.Backup(t)
	must(t, add(t, s, k, event(t, "e2")))
	s.Look(t.Context(), log.logger())
	must(t, s.Check(t.Context()))
	r.Restore(t, backup)
	blind := open(t, r.URL(), nil) // it has never seen the newer data
	defer blind.Close()
	for i := range 5 {
		must(t, add(t, blind, k, event(t, fmt.Sprint("other", i))))
	}
	s.Look(t.Context(), log.logger())
	isDamaged(t, "check", s.Check(t.Context()))
	_, err := s.Get(t.Context(), k, sessionstore.Get{})
	isDamaged(t, "get", err)

	// The numbers of later sessions are above those of lost ones.
	must(t, add(t, s, key("ann", "later"), event(t, "e1")))
	has(t, s, key("ann", "later"), "e1")
}

// Once the right data is back the store is ready again, by itself. If it is still not
// the newest it is not.
func TestRestoredWhole(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	s, log := watched(t, r.URL())
	k := key("ann", "s")
	must(t, add(t, s, k, event(t, "e1")))
	older := r.Backup(t)
	must(t, add(t, s, k, event(t, "e2")))
	newest := r.Backup(t)
	r.Wipe(t)
	r.Run(t)
	s.Look(t.Context(), log.logger())
	isDamaged(t, "check of an empty one", s.Check(t.Context()))
	r.Restore(t, older)
	s.Look(t.Context(), log.logger())
	s.Look(t.Context(), log.logger())
	isDamaged(t, "check of an older one", s.Check(t.Context()))
	r.Restore(t, newest)
	s.Look(t.Context(), log.logger())
	must(t, s.Check(t.Context()))
	has(t, s, k, "e1", "e2")
}

// On a cluster only the users and apps of the node that has lost its data are
// concerned.
func TestNodeEmptied(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t)
	s, log := watched(t, c.URL())
	keys := map[*redistest.Server]sessionstore.Key{} // by the node that has them
	app := master(t, c, "memoryd:{a:app}:state")
	for i := 0; len(keys) < 3; i++ {
		k := key(fmt.Sprint("u", i), "s")
		must(t, request(t, s, k, "e1", "op"))
		for _, m := range c.Masters {
			if len(keysOf(t, m, "*live:app/"+k.User)) > 0 {
				keys[m] = k
			}
		}
	}
	s.Look(t.Context(), log.logger())
	var emptied *redistest.Server
	for _, m := range c.Masters {
		if m != app {
			emptied = m
		}
	}
	emptied.Flush(t)
	lost(t, s, log, keys[emptied])
	for m, k := range keys {
		if m != emptied {
			has(t, s, k, "e1")
		}
	}
}

// A failover to a replica that lags is noticed where acknowledged writes are gone,
// and not elsewhere. All work that is left is claimed at once.
func TestLaggingReplica(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t)
	s, log := watched(t, c.URL())
	k := key("ann", "s")
	must(t, request(t, s, k, "e1", "op"))
	old := master(t, c, scopeKey(t, c, k))
	replica := c.AddReplica(t, old)
	s.Look(t.Context(), log.logger())
	must(t, s.Check(t.Context()))
	client := replica.Client(t)
	// The master takes no password, so the replica finds no way back to it.
	must(t, client.ConfigSet(t.Context(), "masterauth", "wrong").Err())
	must(t, old.Client(t).ClientKillByFilter(t.Context(), "type", "replica").Err())
	must(t, add(t, s, k, event(t, "e2")))
	old.Kill()
	waitFor(t, func() bool { return client.Do(t.Context(), "cluster", "failover", "takeover").Err() == nil })
	waitFor(t, func() bool {
		s.Look(t.Context(), log.logger())
		damage := (*memory.Damage)(nil)
		_, err := s.Get(t.Context(), k, sessionstore.Get{}) // calls know of the new master, too
		return errors.As(s.Check(t.Context()), &damage) && errors.As(err, &damage)
	})
	lost(t, s, log, k)
}

// A failover that loses nothing leaves the store ready.
func TestFailoverWithoutLoss(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t)
	s, log := watched(t, c.URL())
	k := key("ann", "s")
	must(t, request(t, s, k, "e1", "op"))
	old := master(t, c, scopeKey(t, c, k))
	replica := c.AddReplica(t, old)
	must(t, add(t, s, k, event(t, "e2")))
	must(t, old.Client(t).Do(t.Context(), "wait", 1, 10_000).Err())
	old.Kill()
	client := replica.Client(t)
	waitFor(t, func() bool { return client.Do(t.Context(), "cluster", "failover", "takeover").Err() == nil })
	waitFor(t, func() bool {
		s.Look(t.Context(), log.logger())
		_, err := s.Get(t.Context(), k, sessionstore.Get{})
		return err == nil && s.Check(t.Context()) == nil
	})
	has(t, s, k, "e1", "e2")
	claims(t, s, k)
}

// scopeKey is a key in the partition of a session.
func scopeKey(t testing.TB, c *redistest.Cluster, k sessionstore.Key) string {
	t.Helper()
	for _, m := range c.Masters {
		if live := keysOf(t, m, "*live:app/"+k.User); len(live) > 0 {
			return live[0]
		}
	}
	t.Fatal("no key of the session")
	return ""
}

// An eviction policy is refused at the start whatever the limit of memory is, and
// noticed if it is set later. So are lost keys, a limit that is too low, and
// persistence that is switched off.
func TestSettingsChange(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	r := redistest.Start(t)
	c := r.Client(t)
	s, log := watched(t, r.URL())
	k := key("ann", "s")
	must(t, add(t, s, k, event(t, "e1")))
	look := func() error {
		s.Look(ctx, log.logger())
		return s.Check(ctx)
	}
	must(t, look())
	set := func(name, value string) { t.Helper(); must(t, c.ConfigSet(ctx, name, value).Err()) }

	for _, policy := range []string{"allkeys-lru", "allkeys-random", "volatile-ttl", "volatile-lfu"} {
		set("maxmemory-policy", policy)
		if err := look(); err == nil || !strings.Contains(err.Error(), policy) {
			t.Errorf("%s later: %v", policy, err)
		}
		if s, err := redissession.Open(ctx, r.URL(), nil); err == nil || !strings.Contains(err.Error(), "noeviction") {
			t.Errorf("%s at a start: %v", policy, err)
			s.Close()
		}
	}
	set("maxmemory-policy", "noeviction")
	must(t, look())

	set("maxmemory", "1mb")
	if err := look(); err == nil || !strings.Contains(err.Error(), "maxmemory") {
		t.Errorf("maxmemory lowered: %v", err)
	}
	set("maxmemory", "0")
	must(t, look())

	set("appendonly", "no")
	must(t, look())
	if !strings.Contains(s.Note(), "append-only") {
		t.Errorf("persistence off: note %q", s.Note())
	}
	set("appendonly", "yes")
	for _, setting := range []string{"setting=maxmemory-policy", "setting=maxmemory ", "setting=appendonly"} {
		if log.count(setting) == 0 {
			t.Errorf("the log does not have %s", setting)
		}
	}

	set("maxmemory-policy", "allkeys-lru")
	set("maxmemory", "1mb")
	waitFor(t, func() bool {
		_ = c.Set(ctx, "filler", strings.Repeat("x", 100_000), 0).Err()
		return len(keysOf(t, r, "memoryd:*")) == 0
	})
	set("maxmemory", "0")
	set("maxmemory-policy", "noeviction")
	isDamaged(t, "keys were evicted", look())
	_, err := s.Get(ctx, k, sessionstore.Get{})
	isDamaged(t, "an evicted session", err)
}

// A user who may use neither INFO nor CONFIG can open a store, which says that it
// cannot know what Redis evicts.
func TestInfoForbidden(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	must(
		t,
		r.Client(t).
			Do(t.Context(), "acl", "setuser", "plain", "on", ">secret", "~*", "&*", "+@all", "-info", "-config").
			Err(),
	)
	s, log := watched(t, "redis://plain:secret@"+r.Addr)
	must(t, add(t, s, key("ann", "s"), event(t, "e1")))
	for range 3 {
		s.Look(t.Context(), log.logger())
	}
	must(t, s.Check(t.Context()))
	if n := log.count("neither INFO nor CONFIG"); n != 1 {
		t.Errorf("the log says it %d times:\n%s", n, log.buf.String())
	}
	r.Flush(t)
	s.Look(t.Context(), log.logger())
	isDamaged(t, "check", s.Check(t.Context()))
}
