// Package redissession keeps sessions in Redis, or on a Redis Cluster, for any
// number of memoryd processes at a time.
//
// # Keys
//
// A scope belongs to one of 1,024 partitions, chosen by a hash of its ids. All
// keys of a partition begin with memoryd:{N}: and so are in one slot of a
// cluster, where a script changes several of them in one step:
//
//	n                  the last number given: of sessions, operations, messages
//	live:SCOPE         zset: session id, scored by the number of its present life (REF)
//	aside:SCOPE        set: those of the session ids that are aside
//	session:REF        hash: scope, id, the positions requested and done, attempts, errors,
//	                   the size of the session's own state; its name, its labels as JSON,
//	                   when it was created, when it expires, and if a client has chosen that;
//	                   rule and own, its trigger; wait_to, wait_since, wait_last, wait_due and
//	                   wait_op, while events wait for that
//	expiring           zset: the REFs of sessions that expire, by when
//	recent:APP         zset: user/id of the sessions of an app, by when they were updated
//	state:REF          hash: the session's own state
//	user:SCOPE         hash: the user's state; userbytes:SCOPE  string: its size
//	events:REF         stream: the events, numbered in order of arrival; only ever appended to
//	times:REF          zset: the same numbers, scored by the events' timestamps
//	ids:REF            hash: event id to number
//	plan:REF           string: the stored plan of the batch in progress
//	asked:, tries:     zset per SCOPE: sessions that wait, by since when and by when they are due
//	since, due         zset: the scopes that wait, by the first of those
//	triggers           zset: sessions whose events wait for a trigger, by when they are due
//	leases             hash: scope to end and owner of its lease
//	operation:ID       hash; operations:SCOPE, waiting:REF, covers:REF  zset of ids
//	ran:APP            zset: user/id of the operations of an app, by when they were made
//	ended:SCOPE        zset: ids of operations, by when they ended
//	gone               zset: deleted sessions whose work was given up, by when
//	changes:REF        zset: the changes of events, scored by the events' numbers
//	mark               hash: the number of writes, by all and by each process; see lua/guard.lua
//	outbox:APP         list: messages to the app's keys; outboxes  set: the apps of those
//
// SCOPE is app/user: no id has a slash in it. The keys that all users of an app
// share are in one slot, memoryd:{a:APP}: its state and that state's size, room in it
// that is reserved for changes on their way, the lists of its sessions, in the order of
// their making and by id, and of its users,
// its audit log (a stream), claims of ids that are about to be used in the whole app
// (claim:DIGEST, strings that expire), and the last message applied of each partition. And
// memoryd:{work}:partitions names the partitions that may have work, memoryd:{work}:apps
// the apps, and memoryd:{work}:ran says that the lists ran:APP have what earlier versions
// stored. The counts of an app's quotas begin with
// memoryd:{q:APP}/ and expire; see package quota.
//
// The keys of callers are in a slot of their own, memoryd:{keys}:
//
//	key:ID             hash: the key, with its hash in hexadecimal
//	list, list:APP     zset, all of one score: time of making and id, of all keys and of an app's
//	dead               zset: ids of keys that are revoked or expire, by when
//	revision           string: how often keys changed
//
// # What is atomic
//
// An event, the session's and the user's state, and a request for memories are
// stored in one step. A change to app: state, and the session's place in the
// list of its app, go into the partition's outbox in that same step. They are
// applied before the call returns; if the process dies in between, the next
// process that looks for work applies them. Each message is applied once and in
// the order of its partition. Until then other users do not see the change.
// On one Redis the reservation of room, the step and the delivery are sent at once.
//
// # Durability
//
// Redis decides how safe an answered write is. With appendfsync always, nothing
// is lost. With everysec, a crash of the machine (not of the process) loses up to
// two seconds. Without the append-only file, all since the last snapshot is lost.
// A failover loses the writes that the replica had not received yet.
//
// # Losses
//
// Each process remembers of the mark of each partition, and of each app that has
// state, how many writes it has seen. Every script compares that with the mark before
// it does anything, and Watch compares all of them once a second. Where writes are
// gone the script records the loss in the mark, and has later numbers be higher than
// all that were lost. Check then fails, and with Options.Contain reads that may not
// be whole do, until Accept, or until the data is back. Open reads all marks, and marks
// what builds before marks have written.
//
// A memory store can keep what the processes have seen, so that it outlives them: see
// Seen and Expect.
package redissession

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// partitions is how many there are. It is part of the stored data, so it never
// changes.
const partitions = 1024

const (
	workIndex = "memoryd:{work}:partitions"
	boundKey  = "memoryd:{work}:bound"
	probeKey  = "memoryd:{work}:probe"
)

// Options configure Open. The zero value is the default.
type Options struct {
	// TTL is how long after its last Append or Update a session expires that has no
	// ExpireTime of its own, in whole milliseconds. Defaults to never.
	TTL time.Duration
	// Now replaces the clock, for tests. By default times that several processes
	// compare are those of Redis.
	Now func() time.Time
	// MaxSessions is how many sessions a user of an app may have. Defaults to any
	// number. One that has expired may count until it is removed.
	MaxSessions int
	// Contain has reads fail with a memory.Damage where acknowledged data is gone and
	// the answer may not be whole: what is missing may have been lost, and a list may
	// lack sessions. By default reads give what is left.
	Contain bool
	// Timeout bounds one call. Defaults to 5 s.
	Timeout time.Duration
	// MaxState bounds the state of a session, of a user and of an app, each in bytes
	// as sessionstore.StateBytes counts them. Defaults to
	// sessionstore.DefaultMaxState.
	MaxState int64
	// MaxKeys is how many keys an app may have. Defaults to access.MaxKeys.
	MaxKeys int
	// AuditEntries is how many entries the audit log of an app has, and some more.
	// Defaults to access.DefaultAuditEntries.
	AuditEntries int
}

// Store implements sessionstore.Store, Progress, Operations and Archive, access.Keys
// and access.Audit.
type Store struct {
	redis redis.UniversalClient
	// side is for renewals of leases, health and Watch. It has connections of its own,
	// so that these never wait behind other calls for one.
	side   redis.UniversalClient
	opts   Options
	notify sessionstore.Notifier // of changes to operations by this process
	counts sessionstore.OperationCounts
	// failures counts the calls that failed because of Redis.
	failures atomic.Int64
	hadKeys  atomic.Bool // there were keys of callers when this process looked

	mu        sync.Mutex
	enlisted  map[int]time.Time    // partitions, and when this process put them into the work index
	swept     time.Time            // when all partitions were looked at last
	delivered map[outbox]string    // up to which message each app has all
	apps      map[string]time.Time // that this process has put into the list of apps, and when

	marks  marks
	health health

	leaving sync.WaitGroup // calls that give places back; see Leave
}

var (
	_ sessionstore.Store      = (*Store)(nil)
	_ sessionstore.Progress   = (*Store)(nil)
	_ sessionstore.Operations = (*Store)(nil)
	_ sessionstore.Audited    = (*Store)(nil)
	_ sessionstore.Archive    = (*Store)(nil)
	_ sessionstore.Eraser     = (*Store)(nil)
	_ sessionstore.Expirer    = (*Store)(nil)
)

// Open connects to the Redis at a URL: redis://, or rediss:// for TLS, and
// redis+cluster:// or rediss+cluster:// with one or more hosts of a cluster,
// separated by commas, each as //user:password@host:port. Open fails if Redis
// cannot serve: if it does not answer, refuses the password, is a replica, or may
// evict sessions when its memory is full.
func Open(ctx context.Context, url string, opts *Options) (*Store, error) {
	s := &Store{enlisted: map[int]time.Time{}, delivered: map[outbox]string{},
		apps: map[string]time.Time{}, marks: marks{owner: uuid.NewString(), all: map[string]*mark{}}}
	s.marks.lossy, s.health.told = s.sweepSoon, map[string]time.Time{}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.Timeout == 0 {
		s.opts.Timeout = 5 * time.Second
	}
	if s.opts.MaxState <= 0 {
		s.opts.MaxState = sessionstore.DefaultMaxState
	}
	s.opts.AuditEntries = cmp.Or(s.opts.AuditEntries, access.DefaultAuditEntries)
	var err error
	if s.redis, err = connect(url, s.opts.Timeout, 0); err != nil {
		return nil, err
	}
	if s.side, err = connect(url, s.opts.Timeout, sidePool); err != nil {
		return nil, errors.Join(err, s.redis.Close())
	}
	err = s.verify(ctx)
	if err == nil {
		err = s.readMarks(ctx)
	}
	if err == nil {
		err = s.fillRan(ctx)
	}
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			err = fmt.Errorf("%w: no answer within %v: is it a Redis, and one that speaks TLS if the URL says rediss?",
				memory.ErrUnavailable, s.opts.Timeout)
		}
		_ = s.Close()
		return nil, fmt.Errorf("redis at %s: %w", redacted(url), err)
	}
	return s, nil
}

// Close closes the connections.
func (s *Store) Close() error {
	s.leaving.Wait()
	return errors.Join(s.redis.Close(), s.side.Close())
}

// partitionOf returns the number of a scope's partition.
func partitionOf(scope memory.Scope) int {
	h := fnv.New32a()
	h.Write([]byte(name(scope))) // never fails
	return int(h.Sum32() % partitions)
}

// partitionPrefix begins the names of a partition's keys.
func partitionPrefix(partition int) string { return fmt.Sprintf("memoryd:{%d}:", partition) }

// scopePrefix begins the names of a scope's keys.
func scopePrefix(scope memory.Scope) string { return partitionPrefix(partitionOf(scope)) }

// appPrefix begins the names of the keys that all users of an app share.
func appPrefix(app string) string { return appsPrefix + app + "}:" }

const appsPrefix = "memoryd:{a:"

// name is a scope as keys and scripts have it.
func name(scope memory.Scope) string { return scope.App + "/" + scope.User }

// scopeOf is the scope of a name.
func scopeOf(name string) memory.Scope {
	app, user, _ := strings.Cut(name, "/")
	return memory.Scope{App: app, User: user}
}

// now is the time of events that have none.
func (s *Store) now() time.Time {
	if s.opts.Now != nil {
		return s.opts.Now()
	}
	return time.Now()
}

// clock is the time that a script is given: "" for Redis's own.
func (s *Store) clock() string {
	if s.opts.Now == nil {
		return ""
	}
	return micros(s.opts.Now())
}

// micros is a time as scripts have it.
func micros(t time.Time) string { return fmt.Sprint(t.UnixMicro()) }

// expired is when an operation ended that can no longer be read: all that ended
// before it.
func (s *Store) expired() string { return micros(s.now().Add(-sessionstore.OperationTTL)) }
