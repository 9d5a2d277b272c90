// Package redissession keeps sessions in Redis, or on a Redis Cluster, for any
// number of memoryd processes at a time.
//
// # Keys
//
// A scope belongs to one of 1,024 partitions, chosen by a hash of its ids. All
// keys of a partition begin with memoryd:{N}: and so are in one slot of a
// cluster, where a script does whatever belongs together in one step:
//
//	n                  the last number given: of sessions, operations, messages
//	live:SCOPE         zset: session id, scored by the number of its present life (REF)
//	session:REF        hash: scope, id, the marks requested and done, attempts, errors
//	state:REF          hash: the session's own state
//	user:SCOPE         hash: the user's state
//	events:REF         stream: the events, numbered in order of arrival; only ever appended to
//	times:REF          zset: the same numbers, scored by the events' timestamps
//	ids:REF            hash: event id to number
//	plan:REF           string: the stored plan of the batch that is worked on
//	asked:, tries:     zset per SCOPE: sessions that wait, by since when and by when they are due
//	since, due         zset: the scopes that wait, by the first of those
//	leases             hash: scope to end and owner of its lease
//	operation:ID       hash; operations:SCOPE, waiting:REF, covers:REF  zset of ids
//	changes:REF        zset: what events changed, scored by their number
//	outbox:APP         list: messages to the app's keys; outboxes  set: the apps of those
//
// SCOPE is app/user: no id has a slash in it. What all users of an app share is
// in one slot of its own, memoryd:{a:APP}: with its state, the list of its
// sessions, and the last message applied of each partition. And
// memoryd:{work}:partitions names the partitions that may have work.
//
// # What is atomic
//
// An event, the session's and the user's state, and a request for memories are
// stored in one step. A change to app: state, and the session's place in the
// list of its app, go into the partition's outbox in that same step, are
// applied before the call returns, and, if the process dies in between, by
// whichever process looks for work next. Each message is applied once and in
// the order of its partition; until it is, other users do not see the change.
//
// # Durability
//
// What has been answered is as safe as Redis makes it: with appendfsync always
// nothing is lost; with everysec a crash of the machine (not of the process)
// loses up to two seconds; without the append-only file all since the last
// snapshot goes. A failover loses what the replica had not received yet.
package redissession

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// partitions is how many there are. It is part of the data: it never changes.
const partitions = 1024

const (
	workIndex = "memoryd:{work}:partitions"
	boundKey  = "memoryd:{work}:bound"
	probeKey  = "memoryd:{work}:probe"
)

// Options are what Open lets one choose.
type Options struct {
	// TTL ends a session that long after its last event, or after all its
	// events that memories were asked for are in memory, whichever is later.
	// Defaults to never.
	TTL time.Duration
	// Now replaces the clock, which by default is Redis's own where times of
	// several processes are compared. For tests.
	Now func() time.Time
	// Timeout bounds one call. Defaults to 5 s.
	Timeout time.Duration
}

// Store implements sessionstore.Store, Progress and Operations.
type Store struct {
	redis redis.UniversalClient
	opts  Options

	mu        sync.Mutex
	marked    map[int]time.Time // partitions, and when this process put them into the work index
	swept     time.Time         // when all partitions were looked at last
	delivered map[outbox]string // up to which message each app has all
}

var (
	_ sessionstore.Store      = (*Store)(nil)
	_ sessionstore.Progress   = (*Store)(nil)
	_ sessionstore.Operations = (*Store)(nil)
)

// Open connects to the Redis at a URL: redis://, or rediss:// for TLS, and
// redis+cluster:// or rediss+cluster:// with one or more hosts of a cluster,
// separated by commas, each as //user:password@host:port. It fails if Redis
// cannot serve: if it is away, refuses the password, is a replica, or may throw
// sessions away when its memory is full.
func Open(ctx context.Context, url string, opts *Options) (*Store, error) {
	s := &Store{marked: map[int]time.Time{}, delivered: map[outbox]string{}}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.Timeout == 0 {
		s.opts.Timeout = 5 * time.Second
	}
	var err error
	if s.redis, err = connect(url, s.opts.Timeout); err != nil {
		return nil, err
	}
	if err := s.verify(ctx); err != nil {
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			err = fmt.Errorf("%w: no answer within %v: is it a Redis, and one that speaks TLS if the URL says rediss?", memory.ErrUnavailable, s.opts.Timeout)
		}
		s.redis.Close()
		return nil, fmt.Errorf("redis at %s: %w", redacted(url), err)
	}
	return s, nil
}

// Close closes the connections.
func (s *Store) Close() error { return s.redis.Close() }

// redacted is a URL without what may be a secret in it.
func redacted(raw string) string {
	scheme, rest, _ := strings.Cut(raw, "://")
	if i := strings.LastIndex(rest, "@"); i >= 0 {
		rest = "…@" + rest[i+1:]
	}
	return scheme + "://" + rest
}

// DiscardLibraryLog turns off the log of the Redis library for the whole
// process. The library writes a line to stderr for each connection that it
// cannot make, although the error reaches the caller too. It has no logger of
// one client, so this is for a program's main function to decide.
func DiscardLibraryLog() { logging.Disable() }

// connect makes a client. It never retries a call that may have had its
// effect: who called knows whether to.
func connect(raw string, timeout time.Duration) (redis.UniversalClient, error) {
	scheme, rest, ok := strings.Cut(raw, "://")
	plain, cluster := strings.CutSuffix(scheme, "+cluster")
	if !ok || plain != "redis" && plain != "rediss" {
		return nil, errors.New("that is no URL of a Redis: want redis://, rediss://, redis+cluster:// or rediss+cluster://")
	}
	if !cluster {
		o, err := redis.ParseURL(raw)
		if err != nil {
			return nil, unreadable
		}
		o.MaxRetries, o.DialerRetries, o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.ContextTimeoutEnabled = -1, 1, timeout, timeout, timeout, true
		return redis.NewClient(o), nil
	}
	login, hosts := "", rest
	if i := strings.LastIndex(rest, "@"); i >= 0 {
		login, hosts = rest[:i+1], rest[i+1:]
	}
	hosts, query, _ := strings.Cut(hosts, "?")
	addrs := strings.Split(strings.TrimSuffix(hosts, "/"), ",")
	u := plain + "://" + login + addrs[0] + "?" + query
	for _, a := range addrs[1:] {
		u += "&addr=" + url.QueryEscape(a)
	}
	o, err := redis.ParseClusterURL(u)
	if err != nil {
		return nil, unreadable
	}
	o.MaxRetries, o.DialerRetries, o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.ContextTimeoutEnabled = -1, 1, timeout, timeout, timeout, true
	if plain == "rediss" && o.TLSConfig == nil {
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	o.NewClient = func(o *redis.Options) *redis.Client {
		c := redis.NewClient(o)
		c.AddHook(once{})
		return c
	}
	return redis.NewClusterClient(o), nil
}

// once keeps a cluster's client from sending again what may have had its
// effect: of a broken connection it is told in a way that it does not take for
// one. Redirections, and connections that were never made, it follows up.
type once struct{}

func (once) DialHook(next redis.DialHook) redis.DialHook { return next }

func (once) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := broken(next(ctx, cmd))
		if err != nil {
			cmd.SetErr(err)
		}
		return err
	}
}

func (once) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		for _, cmd := range cmds {
			if e := broken(cmd.Err()); e != nil {
				cmd.SetErr(e)
			}
		}
		return broken(err)
	}
}

func broken(err error) error {
	var op *net.OpError
	var timeout net.Error
	if errors.As(err, &op) && op.Op == "dial" {
		return err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &op) || errors.As(err, &timeout) && timeout.Timeout() {
		return fmt.Errorf("%w: redis: the connection broke: %v", memory.ErrUnavailable, err)
	}
	return err
}

// unreadable is what is told of a URL that cannot be parsed: not why, as that
// may repeat a part of the password.
var unreadable = errors.New("the URL cannot be read: want redis://:PASSWORD@HOST:PORT/DB, with what is odd in the password as %XX")

// verify asks every master whether it can serve.
func (s *Store) verify(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	check := func(ctx context.Context, c *redis.Client) error {
		info, err := c.Info(ctx, "server", "memory", "replication", "cluster").Result()
		if err != nil {
			return s.kind(ctx, err)
		}
		return fit(info)
	}
	switch c := s.redis.(type) {
	case *redis.Client:
		info, err := c.Info(ctx, "cluster").Result()
		if err == nil && field(info, "cluster_enabled") == "1" {
			return errors.New("it is a node of a cluster: write redis+cluster:// in the URL")
		}
		if err := check(ctx, c); err != nil {
			return err
		}
	case *redis.ClusterClient:
		if err := c.ForEachMaster(ctx, check); err != nil {
			return s.kind(ctx, err)
		}
	}
	return s.Check(ctx)
}

// fit reads Redis's own account of itself.
func fit(info string) error {
	if role := field(info, "role"); role != "" && role != "master" {
		return errors.New("it is a read-only replica: name its master in the URL")
	}
	var major int
	if v := field(info, "redis_version"); v != "" {
		if fmt.Sscanf(v, "%d.", &major); major < 7 {
			return fmt.Errorf("it is version %s, and 7 or later is needed", v)
		}
	}
	if p := field(info, "maxmemory_policy"); p != "" && p != "noeviction" && field(info, "maxmemory") != "0" {
		return fmt.Errorf("its maxmemory-policy is %s, which throws sessions away when its memory is full: set maxmemory-policy noeviction", p)
	}
	return nil
}

func field(info, name string) string {
	for line := range strings.Lines(info) {
		if v, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// Check reports whether Redis can be reached and takes writes.
func (s *Store) Check(ctx context.Context) error {
	return s.kind(ctx, s.redis.Set(ctx, probeKey, "1", time.Minute).Err())
}

// kind gives a failure of Redis the kind it has for callers.
func (s *Store) kind(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case overdue(ctx):
		return context.DeadlineExceeded
	case errors.Is(err, redis.Nil), errors.Is(err, memory.ErrUnavailable):
		return err
	}
	text := err.Error()
	hint := ""
	switch {
	case strings.HasPrefix(text, "ERR max number of clients"):
	case strings.HasPrefix(text, "ERR") || strings.HasPrefix(text, "WRONGTYPE"):
		return err // a fault of ours
	case strings.HasPrefix(text, "OOM") || strings.Contains(text, "-OOM"):
		hint = "its memory is full: give it more maxmemory, or sessions a TTL"
	case strings.HasPrefix(text, "READONLY"):
		hint = "it has become a read-only replica"
	case strings.HasPrefix(text, "MISCONF"):
		hint = "it cannot write to its disk"
	case strings.HasPrefix(text, "NOAUTH"), strings.HasPrefix(text, "WRONGPASS"), strings.Contains(text, "invalid username-password"):
		hint = "it refuses the user or password in the URL"
	case strings.HasPrefix(text, "NOPERM"):
		hint = "the user in the URL may not do this"
	}
	if hint != "" {
		return fmt.Errorf("%w: %s: %w", memory.ErrUnavailable, hint, err)
	}
	return fmt.Errorf("%w: redis: %w", memory.ErrUnavailable, err)
}

// overdue reports whether a context's time is up, though it may not say so yet:
// it is the connection's time too, which says so a moment before.
func overdue(ctx context.Context) bool {
	at, ok := ctx.Deadline()
	return ok && time.Until(at) < 10*time.Millisecond
}

// A partition's number and the prefix of its keys.
func partition(scope memory.Scope) int {
	h := fnv.New32a()
	h.Write([]byte(scope.App + "/" + scope.User)) // never fails
	return int(h.Sum32() % partitions)
}

func prefixOf(partition int) string { return fmt.Sprintf("memoryd:{%d}:", partition) }

func prefix(scope memory.Scope) string { return prefixOf(partition(scope)) }

func appPrefix(app string) string { return "memoryd:{a:" + app + "}:" }

func name(scope memory.Scope) string { return scope.App + "/" + scope.User }

func scopeOf(name string) memory.Scope {
	app, user, _ := strings.Cut(name, "/")
	return memory.Scope{App: app, User: user}
}

// now is the time events get that have none.
func (s *Store) now() time.Time {
	if s.opts.Now != nil {
		return s.opts.Now()
	}
	return time.Now()
}

// clock is the time as scripts take it: "" for Redis's own.
func (s *Store) clock() string {
	if s.opts.Now == nil {
		return ""
	}
	return micros(s.opts.Now())
}

func micros(t time.Time) string { return fmt.Sprint(t.UnixMicro()) }

// over is when an operation that ended before it can be read no more.
func (s *Store) over() string { return micros(s.now().Add(-sessionstore.OperationTTL)) }
