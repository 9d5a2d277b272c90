package redissession

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/memoryd/memoryd/memory"
)

// lookEvery is how often Watch looks: what happens to the data is noticed that soon.
const lookEvery = time.Second

// health is what the last look at Redis has found.
type health struct {
	mu      sync.Mutex
	nodes   map[string]node      // masters, by address
	marked  map[string]string    // node.written of each, before the last look at the marks
	at      time.Time            // of that look
	alike   int                  // looks at the marks, one after the other, with the same marked
	failing bool                 // the last look failed
	bound   string               // the memory store that the sessions are bound to
	moved   bool                 // they are bound to another one now
	trouble string               // why the nodes do not do; "" if they do
	notes   []string             // what does no harm yet
	told    map[string]time.Time // the losses that are logged, by prefix: when each was noticed
	evicted atomic.Bool          // keys were evicted, and the loss could not be recorded yet
}

// node is what a look reads of a master.
type node struct {
	run        string // names the run of the server: another one after a restart
	policy     string // maxmemory-policy; "" if the server does not tell
	max, used  int64  // bytes of memory; a max of 0 is no limit
	evicted    int64  // keys, since the server started
	appendOnly string // "1" with the append-only file, "0" without
	writing    string // the status of the last write to the disk: "ok" or "err"
	written    string // differs after a write; "" if the server does not tell
}

// Watch looks at Redis once a second until ctx is over. It notices acknowledged data
// that is gone, an eviction policy, a limit on memory, or persistence switched off,
// and a restart or a failover, after which it has all pending work found at once. It
// logs each of them once, and Check and Note tell them while they last.
func (s *Store) Watch(ctx context.Context, log *slog.Logger) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		s.Look(ctx, log)
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// Look is one look of Watch.
func (s *Store) Look(ctx context.Context, log *slog.Logger) {
	within, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	// At the same time: a node that does not answer takes none of the others' time.
	var parts sync.WaitGroup
	var nodes, marks, binding error
	parts.Go(func() { nodes = s.lookAtNodes(within, log) })
	parts.Go(func() { binding = s.lookAtBinding(within, log) })
	parts.Wait()
	if written, isNew := s.written(); nodes != nil || isNew {
		within, cancel := context.WithTimeout(ctx, s.opts.Timeout)
		defer cancel()
		if marks = s.lookAtMarks(within); marks == nil {
			s.lookedAtMarks(written)
		}
	}
	if ctx.Err() != nil {
		return // Watch ends: that says nothing of Redis
	}
	err := errors.Join(nodes, marks, binding)
	s.health.mu.Lock()
	defer s.health.mu.Unlock()
	switch {
	case err != nil && !s.health.failing:
		log.Warn("Redis cannot be watched", "err", err)
	case err == nil && s.health.failing:
		log.Info("Redis answers again: looking for work everywhere")
		s.sweepSoon()
	}
	s.health.failing = err != nil
	s.tellLosses(log)
}

// marksEvery is how often the marks are looked at where nothing is written.
const marksEvery = time.Minute

// written is what the masters tell of writes, and whether there may have been any since
// the last look at the marks. Where there were none, the marks are as they were.
func (s *Store) written() (now map[string]string, isNew bool) {
	s.health.mu.Lock()
	defer s.health.mu.Unlock()
	now = map[string]string{}
	for addr, n := range s.health.nodes {
		now[addr] = n.written
		isNew = isNew || n.written == ""
	}
	// The first look at other data learns which it is, and the second one compares.
	return now, isNew || s.health.alike < 2 || !maps.Equal(now, s.health.marked) || time.Since(s.health.at) > marksEvery
}

// lookedAtMarks notes a look at the marks, and what the masters told before it.
func (s *Store) lookedAtMarks(written map[string]string) {
	s.health.mu.Lock()
	defer s.health.mu.Unlock()
	if !maps.Equal(written, s.health.marked) {
		s.health.alike = 0
	}
	s.health.alike++
	s.health.marked, s.health.at = written, time.Now()
}

// tellLosses logs the losses that are not logged yet. The caller holds health.mu.
func (s *Store) tellLosses(log *slog.Logger) {
	all := s.marks.losses()
	var fresh []string
	for prefix, l := range all {
		if was, told := s.health.told[prefix]; !told || !was.Equal(l.noticed) {
			s.health.told[prefix] = l.noticed
			fresh = append(fresh, prefix+"*")
		}
	}
	maps.DeleteFunc(s.health.told, func(prefix string, _ time.Time) bool { _, lost := all[prefix]; return !lost })
	if len(fresh) > 0 {
		slices.Sort(fresh)
		log.Error("Redis has lost acknowledged data", "parts", len(fresh), "keys", fresh[:min(len(fresh), 10)],
			"remedy", remedy)
	}
}

// eachMaster calls f with every master, several at a time.
func (s *Store) eachMaster(ctx context.Context, f func(context.Context, *redis.Client) error) error {
	switch c := s.side.(type) {
	case *redis.Client:
		return f(ctx, c)
	case *redis.ClusterClient:
		return c.ForEachMaster(ctx, f)
	}
	return nil
}

// lookAtNodes reads INFO of every master.
func (s *Store) lookAtNodes(ctx context.Context, log *slog.Logger) error {
	var mu sync.Mutex
	found := map[string]node{}
	err := s.eachMaster(ctx, func(ctx context.Context, c *redis.Client) error {
		info, err := infoOf(ctx, c)
		if err != nil {
			return s.kind(ctx, err)
		}
		mu.Lock()
		defer mu.Unlock()
		found[c.Options().Addr] = nodeOf(info)
		return nil
	})
	if err != nil {
		s.reload(ctx)
	}
	if s.keepNodes(found, err == nil, log) {
		if lost := s.recordEviction(ctx); lost != nil {
			s.health.evicted.Store(true) // the next look records it
			err = errors.Join(err, lost)
		}
	}
	return err
}

// keepNodes keeps what was found of the masters, and reports whether keys were evicted
// that are not recorded as lost yet. all says that all masters were found.
func (s *Store) keepNodes(found map[string]node, all bool, log *slog.Logger) (evicted bool) {
	s.health.mu.Lock()
	defer s.health.mu.Unlock()
	was := s.health.nodes
	s.health.nodes = maps.Clone(was)
	if all || was == nil {
		s.health.nodes = map[string]node{}
	}
	maps.Copy(s.health.nodes, found)
	evicted = s.health.evicted.Swap(false)
	for addr, n := range found {
		evicted = s.compare(addr, was, n, log) || evicted
	}
	s.health.trouble, s.health.notes = troubles(s.health.nodes)
	return evicted
}

// compare logs what has changed at a node, and reports whether it has evicted keys.
// A node that was restarted or took over from another may lack entries of the work
// index, so all work is looked for.
func (s *Store) compare(addr string, was map[string]node, n node, log *slog.Logger) (evicted bool) {
	old, known := was[addr]
	if was == nil {
		if n.policy == "" {
			log.Warn("neither INFO nor CONFIG of Redis tells its maxmemory-policy: see to it that it is noeviction",
				"node", addr)
		}
		if n.appendOnly == "0" {
			log.Warn(noAppendOnly, "node", addr)
		}
		return false
	}
	if !known || old.run != n.run {
		log.Warn("a Redis was restarted, or took over from another: looking for work everywhere", "node", addr)
		s.sweepSoon()
		if !known {
			return false
		}
		old.evicted = 0
	}
	for name, v := range map[string][2]any{"maxmemory-policy": {old.policy, n.policy}, "maxmemory": {old.max, n.max},
		"appendonly": {old.appendOnly, n.appendOnly}, "last write to disk": {old.writing, n.writing}} {
		if v[0] != v[1] {
			log.Warn("a setting of Redis has changed", "node", addr, "setting", name, "was", v[0], "is", v[1])
		}
	}
	return n.evicted > old.evicted
}

const noAppendOnly = "Redis has no append-only file: a restart loses what it has stored since its last snapshot"

// troubles says in words why the nodes do not do, and what does no harm yet.
func troubles(nodes map[string]node) (trouble string, notes []string) {
	for _, addr := range slices.Sorted(maps.Keys(nodes)) {
		n := nodes[addr]
		switch {
		case evicting(n.policy):
			trouble = fmt.Sprintf("the maxmemory-policy of Redis is %s, which throws sessions away when its memory "+
				"is full: set maxmemory-policy noeviction", n.policy)
		case n.max > 0 && n.used > n.max:
			trouble = cmp.Or(trouble, fmt.Sprintf("Redis uses %d bytes, more than its maxmemory of %d, and refuses "+
				"writes: raise maxmemory", n.used, n.max))
		case n.max > 0 && n.used > n.max/10*9:
			notes = append(notes, fmt.Sprintf("Redis uses %d of the %d bytes of its maxmemory", n.used, n.max))
		}
		if n.appendOnly == "0" {
			notes = append(notes, noAppendOnly)
		}
		if n.writing == "err" {
			notes = append(notes, "Redis could not write to its disk")
		}
	}
	return trouble, slices.Compact(notes)
}

// evicting reports whether a maxmemory-policy lets Redis throw keys away.
func evicting(policy string) bool { return policy != "" && policy != "noeviction" }

// infoOf reads INFO, and where that does not tell the eviction policy, CONFIG. Of
// what a managed Redis forbids it reads nothing.
func infoOf(ctx context.Context, c *redis.Client) (string, error) {
	info, err := c.Info(ctx, "server", "memory", "replication", "cluster", "stats", "persistence").Result()
	if err != nil && !forbidden(err) {
		return "", err
	}
	if field(info, "maxmemory_policy") == "" {
		config, err := c.ConfigGet(ctx, "maxmemory-policy").Result()
		if err != nil && !forbidden(err) {
			return "", err
		}
		if policy := config["maxmemory-policy"]; policy != "" {
			info += "\nmaxmemory_policy:" + policy + "\n"
		}
	}
	return info, nil
}

// forbidden reports whether Redis refuses a command to this user, or does not have
// it.
func forbidden(err error) bool {
	text := err.Error()
	return strings.HasPrefix(text, "NOPERM") || strings.HasPrefix(text, "ERR unknown command")
}

// nodeOf reads an answer to INFO.
func nodeOf(info string) node {
	number := func(name string) int64 {
		n, _ := strconv.ParseInt(field(info, name), 10, 64)
		return n
	}
	n := node{run: field(info, "run_id"), policy: field(info, "maxmemory_policy"), max: number("maxmemory"),
		used: number("used_memory"), evicted: number("evicted_keys"), appendOnly: field(info, "aof_enabled"),
		writing: "ok"}
	if changes := field(info, "rdb_changes_since_last_save"); changes != "" {
		// Each snapshot begins the count again.
		n.written = n.run + " " + changes + " " + field(info, "rdb_last_save_time")
	}
	if field(info, "aof_last_write_status") == "err" || field(info, "rdb_last_bgsave_status") == "err" {
		n.writing = "err"
	}
	return n
}

// lookAtMarks reads the marks of all partitions, and of the apps that this process
// knows. So each process knows how far all of them had got at the last writes.
func (s *Store) lookAtMarks(ctx context.Context) error {
	prefixes := []string{workPrefix, keysPrefix}
	for p := range partitions {
		prefixes = append(prefixes, partitionPrefix(p))
	}
	prefixes = append(prefixes, s.marks.apps()...)
	var failed error
	for some := range slices.Chunk(prefixes, partitions+1) {
		pipe := s.side.Pipeline()
		answers := make([]*redis.SliceCmd, len(some))
		for i, prefix := range some {
			answers[i] = pipe.HMGet(ctx, prefix+"mark", "made", "n", "lost", s.marks.owner)
		}
		_, _ = pipe.Exec(ctx) // each answer has its own error
		for i, a := range answers {
			err := a.Err()
			if err == nil && s.marks.compare(some[i], reply(a.Val())) {
				_, err = s.runOn(ctx, s.side, markScript, some[i]) // which records the loss
			}
			if err != nil {
				failed = s.kind(ctx, err)
			}
		}
	}
	return failed
}

// workPrefix begins the names of the keys that belong to no partition and no app.
// Its mark counts no writes, and has a loss that concerns all sessions.
const workPrefix = "memoryd:{work}:"

// recordEviction records that any session may have lost keys.
func (s *Store) recordEviction(ctx context.Context) error { return s.recordLoss(ctx, math.MaxInt64) }

// RecordEmptied records that all sessions of before are gone.
func (s *Store) RecordEmptied(ctx context.Context) error { return s.recordLoss(ctx, 0) }

// recordLoss records that sessions up to a number may have lost data, in whichever
// partition.
func (s *Store) recordLoss(ctx context.Context, last int64) error {
	at := micros(time.Now())
	return s.kind(ctx, s.side.HSet(ctx, workPrefix+"mark", "made", at, "n", 0,
		"lost", fmt.Sprintf("%s %d 0 0", at, last)).Err())
}

const boundElsewhere = "the sessions in Redis now belong to another memory store: restart memoryd with the " +
	"-memories that has their memories"

// lookAtBinding looks which memory store the sessions are bound to. A binding that
// is gone is made again: it says what it did before.
func (s *Store) lookAtBinding(ctx context.Context, log *slog.Logger) error {
	s.health.mu.Lock()
	want := s.health.bound
	s.health.mu.Unlock()
	if want == "" {
		return nil
	}
	is, err := s.side.Get(ctx, boundKey).Result()
	if errors.Is(err, redis.Nil) {
		log.Error("Redis has lost the name of the memory store that the sessions belong to: it is stored again")
		is, err = s.Bind(ctx, want)
	}
	if err != nil {
		return s.kind(ctx, err)
	}
	s.health.mu.Lock()
	defer s.health.mu.Unlock()
	if moved := is != want; moved && !s.health.moved {
		log.Error("not ready: " + boundElsewhere)
	}
	s.health.moved = is != want
	return nil
}

// sweepSoon has the next Claim look for work in all partitions, and every request
// enlist its partition again.
func (s *Store) sweepSoon() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.swept = time.Time{}
	clear(s.enlisted)
}

// unwell is why the store is not ready although it answers; nil if it is.
func (s *Store) unwell() error {
	all := s.marks.losses()
	var first *loss
	for _, l := range all {
		if first == nil || l.noticed.Before(first.noticed) {
			first = &l
		}
	}
	if first != nil {
		return memory.Damaged("Redis has lost acknowledged data, in %d of %d parts of the sessions (noticed %s). "+
			"What is stored from now on is kept and worked on; what those parts held before may be missing. %s",
			len(all), partitions, first.noticed.Format(time.RFC3339), remedy)
	}
	s.health.mu.Lock()
	defer s.health.mu.Unlock()
	if s.health.trouble != "" {
		return memory.Damaged("%s", s.health.trouble)
	}
	if s.health.moved {
		return memory.Damaged(boundElsewhere)
	}
	return nil
}

// Note says in words what may become trouble, for /readyz; "" if there is nothing.
func (s *Store) Note() string {
	s.health.mu.Lock()
	defer s.health.mu.Unlock()
	return strings.Join(s.health.notes, "; ")
}

// ClockApart is how far the clock of Redis is ahead of this machine's, to about the time
// of a call.
func (s *Store) ClockApart(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	is, err := s.side.Time(ctx).Result()
	if err != nil {
		return 0, fmt.Errorf("read the clock of Redis: %w", s.kind(ctx, err))
	}
	return is.Sub(began.Add(time.Since(began) / 2)), nil
}
