package redissession

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/memoryd/memoryd/internal/fair"
	"github.com/memoryd/memoryd/memory"
)

// DiscardLibraryLog turns off the log of the Redis library for the whole
// process. The library writes a line to stderr for each connection that it
// cannot make, although the error reaches the caller too. It has no logger of
// one client, so this is for a program's main function to decide.
func DiscardLibraryLog() { logging.Disable() }

// errUnreadable is the error of a URL that cannot be parsed. It does not say why:
// the reason may repeat a part of the password.
var errUnreadable = errors.New("the URL cannot be read: want redis://:PASSWORD@HOST:PORT/DB, " +
	"with special characters of the password as %XX")

// redacted is a URL without its user and password.
func redacted(raw string) string {
	scheme, rest, _ := strings.Cut(raw, "://")
	if i := strings.LastIndex(rest, "@"); i >= 0 {
		rest = "…@" + rest[i+1:]
	}
	return scheme + "://" + rest
}

// sidePool is how many connections to a node are kept apart for renewals of leases,
// health and Watch. A call takes a millisecond, so a few serve many leases.
const sidePool = 8

// connect makes a client. The client never sends a command again that may have had
// its effect: only the caller knows whether that is safe. pool is the most connections
// to a node; 0 leaves that to the URL.
func connect(raw string, timeout time.Duration, pool int) (redis.UniversalClient, error) {
	scheme, rest, ok := strings.Cut(raw, "://")
	plain, cluster := strings.CutSuffix(scheme, "+cluster")
	if !ok || plain != "redis" && plain != "rediss" {
		return nil, errors.New("that is no URL of a Redis: " +
			"want redis://, rediss://, redis+cluster:// or rediss+cluster://")
	}
	if cluster {
		return connectCluster(plain, rest, timeout, pool)
	}
	o, err := redis.ParseURL(raw)
	if err != nil {
		return nil, errUnreadable
	}
	o.MaxRetries, o.DialerRetries, o.ContextTimeoutEnabled = -1, 1, true
	o.PipelinePoolSize = -1 // pipelines have no connections of their own: pool_size bounds all
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout = timeout, timeout, timeout
	if pool > 0 {
		o.PoolSize, o.MinIdleConns, o.MaxIdleConns, o.MaxActiveConns = pool, 0, 0, 0
	}
	c := redis.NewClient(o)
	c.AddHook(pausing{})
	return c, nil
}

// connectCluster makes a client of a cluster, from a URL without its scheme.
func connectCluster(scheme, rest string, timeout time.Duration, pool int) (redis.UniversalClient, error) {
	login, hosts := "", rest
	if i := strings.LastIndex(rest, "@"); i >= 0 {
		login, hosts = rest[:i+1], rest[i+1:]
	}
	hosts, query, _ := strings.Cut(hosts, "?")
	addrs := strings.Split(strings.TrimSuffix(hosts, "/"), ",")
	u := scheme + "://" + login + addrs[0] + "?" + query
	for _, a := range addrs[1:] {
		u += "&addr=" + url.QueryEscape(a)
	}
	o, err := redis.ParseClusterURL(u)
	if err != nil {
		return nil, errUnreadable
	}
	o.MaxRetries, o.DialerRetries, o.ContextTimeoutEnabled = -1, 1, true
	o.PipelinePoolSize = -1 // pipelines have no connections of their own: pool_size bounds all
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout = timeout, timeout, timeout
	if scheme == "rediss" && o.TLSConfig == nil {
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if pool > 0 {
		o.PoolSize, o.MinIdleConns, o.MaxIdleConns, o.MaxActiveConns = pool, 0, 0, 0
	}
	o.NewClient = func(o *redis.Options) *redis.Client {
		c := redis.NewClient(o)
		c.AddHook(sendOnce{})
		return c
	}
	c := redis.NewClusterClient(o)
	c.AddHook(pausing{})
	return c, nil
}

// pausing has a request compute nothing while Redis does; see fair.Pause.
type pausing struct{}

// DialHook implements redis.Hook.
func (pausing) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (pausing) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		defer fair.Pause(ctx)()
		return next(ctx, cmd)
	}
}

// ProcessPipelineHook implements redis.Hook.
func (pausing) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		defer fair.Pause(ctx)()
		return next(ctx, cmds)
	}
}

// sendOnce keeps the client of a cluster from sending a command again that may have
// had its effect: it wraps the error of a broken connection, so that the client
// does not recognize it. The client still follows redirections, and tries again
// after it could not connect.
type sendOnce struct{}

// DialHook implements redis.Hook.
func (sendOnce) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (sendOnce) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := broken(next(ctx, cmd))
		if err != nil {
			cmd.SetErr(err)
		}
		return err
	}
}

// ProcessPipelineHook implements redis.Hook.
func (sendOnce) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
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

// broken makes ErrUnavailable of the error of a connection that was made and
// broke. Any other error stays.
func broken(err error) error {
	var op *net.OpError
	var timeout net.Error
	if errors.As(err, &op) && op.Op == "dial" {
		return err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &op) ||
		errors.As(err, &timeout) && timeout.Timeout() {
		return fmt.Errorf("%w: redis: the connection broke: %v", memory.ErrUnavailable, err)
	}
	return err
}

// verify asks every master whether it can serve.
func (s *Store) verify(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	check := func(ctx context.Context, c *redis.Client) error {
		info, err := infoOf(ctx, c)
		if err != nil {
			return s.kind(ctx, err)
		}
		return fit(info)
	}
	switch c := s.side.(type) {
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

// fit reports why a Redis cannot serve, from its answer to INFO.
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
	// Also without a limit on memory: one that is set later would have Redis throw
	// sessions away at once.
	if p := field(info, "maxmemory_policy"); evicting(p) {
		return fmt.Errorf("its maxmemory-policy is %s, which throws sessions away when its memory is full: "+
			"set maxmemory-policy noeviction", p)
	}
	return nil
}

// field reads one field of an answer to INFO.
func field(info, name string) string {
	for line := range strings.Lines(info) {
		if v, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// Check reports whether Redis can be reached and takes writes, and whether Watch has
// found that it has lost data, or may throw some away.
func (s *Store) Check(ctx context.Context) error {
	if err := s.side.Set(ctx, probeKey, "1", time.Minute).Err(); err != nil {
		return s.kind(ctx, err)
	}
	return s.unwell()
}

// Failures counts the calls that failed since Open as Redis could not serve, for
// metrics. A call whose time was over is not among them.
func (s *Store) Failures() int64 { return s.failures.Load() }

// kind wraps a failure of Redis in the kind of error that callers know.
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
	if ourFault(text) {
		return err
	}
	s.failures.Add(1)
	s.reload(ctx)
	if hint := hintOf(text); hint != "" {
		return fmt.Errorf("%w: %s: %w", memory.ErrUnavailable, hint, err)
	}
	return fmt.Errorf("%w: redis: %w", memory.ErrUnavailable, err)
}

// reload has both clients of a cluster read again which nodes it has: another one may
// have taken over. It waits for nothing.
func (s *Store) reload(ctx context.Context) {
	for _, client := range []redis.UniversalClient{s.redis, s.side} {
		if c, ok := client.(*redis.ClusterClient); ok {
			c.ReloadState(context.WithoutCancel(ctx))
		}
	}
}

// ourFault reports whether an error of Redis is about the command and not about
// the server: a fault in this package.
func ourFault(text string) bool {
	return (strings.HasPrefix(text, "ERR") || strings.HasPrefix(text, "WRONGTYPE")) &&
		!strings.HasPrefix(text, "ERR max number of clients")
}

// hintOf explains an error of Redis, for the operator.
func hintOf(text string) string {
	switch {
	case strings.HasPrefix(text, "OOM") || strings.Contains(text, "-OOM"):
		return "its memory is full: give it more maxmemory, or sessions a TTL"
	case strings.HasPrefix(text, "READONLY"):
		return "it has become a read-only replica"
	case strings.HasPrefix(text, "MISCONF"):
		return "it cannot write to its disk"
	case strings.HasPrefix(text, "NOAUTH"), strings.HasPrefix(text, "WRONGPASS"),
		strings.Contains(text, "invalid username-password"):
		return "it refuses the user or password in the URL"
	case strings.HasPrefix(text, "NOPERM"):
		return "the user in the URL may not do this"
	}
	return ""
}

// overdue reports whether the time of a context is over although the context
// does not say so yet: the connection has the same deadline, and its error comes
// a moment before.
func overdue(ctx context.Context) bool {
	at, ok := ctx.Deadline()
	return ok && time.Until(at) < 10*time.Millisecond
}
