package redissession_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/memoryd/memoryd/internal/redistest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
	"github.com/memoryd/memoryd/sessionstore/redissession"
)

func key(user, id string) sessionstore.Key {
	return sessionstore.Key{Scope: memory.Scope{App: "app", User: user}, ID: id}
}

// event is an event that sets session and user state to its own id.
func event(t testing.TB, id string, more ...string) sessionstore.Event {
	t.Helper()
	e, err := sessionstore.ParseEvent(fmt.Appendf(nil, `{"id": %q, "author": "user", "content": "hello",`+
		` "actions": {"stateDelta": {"k": %q, "user:k": %q%s}}}`,
		id, id, id, strings.Join(more, "")))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func add(t testing.TB, s *redissession.Store, k sessionstore.Key, events ...sessionstore.Event) error {
	t.Helper()
	_, err := s.Append(t.Context(), k, events, sessionstore.Append{Create: true})
	return err
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// has checks the ids of a session's events, and that its state is that of the
// last one.
func has(t testing.TB, s *redissession.Store, k sessionstore.Key, ids ...string) {
	t.Helper()
	se, err := s.Get(t.Context(), k, sessionstore.Get{NumRecent: -1})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range se.Events {
		got = append(got, e.ID)
	}
	last := fmt.Sprintf("%q", ids[len(ids)-1])
	if fmt.Sprint(got) != fmt.Sprint(ids) || string(se.State["k"]) != last || string(se.State["user:k"]) != last {
		t.Errorf("events %v, state %s and %s, want %v", got, se.State["k"], se.State["user:k"], ids)
	}
}

// unavailable checks that an error is ErrUnavailable and has a hint.
func unavailable(t testing.TB, err error, hint string) {
	t.Helper()
	if !errors.Is(err, memory.ErrUnavailable) || !strings.Contains(err.Error(), hint) {
		t.Errorf("error is %v, want %v with %q", err, memory.ErrUnavailable, hint)
	}
}

// Open fails for a Redis that cannot serve, as far as that can be known.
func TestOpenRefuses(t *testing.T) {
	plain := redistest.Start(t)
	locked := redistest.Start(t, "--requirepass", "hunter2")
	evicting := redistest.Start(t, "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru")
	host, port, _ := net.SplitHostPort(plain.Addr)
	replica := redistest.Start(t, "--replicaof", host+" "+port)
	cluster := redistest.StartCluster(t)
	for _, c := range []struct{ url, want string }{
		{"redis://127.0.0.1:1", "refused"},
		{"http://127.0.0.1:1", "want redis://"},
		{"redis://x:hunter2@127.0.0.1:nope", "cannot be read"},
		{"redis://:hunter2/x@127.0.0.1:1", "cannot be read"},
		{"redis:hunter2@127.0.0.1:1", "want redis://"},
		{"redis://hunter2@127.0.0.1:1", "refused"},
		{"redis://" + locked.Addr, "password"},
		{"redis://:wrong-hunter2@" + locked.Addr, "password"},
		{"redis+cluster://:wrong-hunter2@" + locked.Addr, "cluster"},
		{evicting.URL(), "noeviction"},
		{replica.URL(), "replica"},
		{"redis://" + cluster.Masters[0].Addr, "redis+cluster://"},
		{"redis+cluster://" + plain.Addr, "cluster"},
		{"rediss://" + plain.Addr, "TLS"},
	} {
		s, err := redissession.Open(t.Context(), c.url, &redissession.Options{Timeout: 3 * time.Second})
		if err == nil {
			s.Close()
			t.Errorf("%s was opened", c.url)
			continue
		}
		if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want something with %q", c.url, err, c.want)
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the error tells the password: %v", err)
		}
	}
	s := open(t, "redis://:hunter2@"+locked.Addr+"/2", nil)
	must(t, add(t, s, key("ann", "s"), event(t, "e1")))
	must(t, s.Close())
}

// While Redis does not answer, every call fails with ErrUnavailable. Once it is
// back, all that was answered is there, and the same store works.
func TestRestart(t *testing.T) {
	r := redistest.Start(t)
	s := open(t, r.URL(), &redissession.Options{Timeout: 2 * time.Second})
	defer s.Close()
	k := key("ann", "s")
	var ids []string
	for i := range 100 {
		ids = append(ids, fmt.Sprint("e", i))
		must(t, add(t, s, k, event(t, ids[i])))
	}
	r.Kill()
	ctx := t.Context()
	_, getErr := s.Get(ctx, k, sessionstore.Get{})
	_, listErr := s.ListApp(ctx, "app", sessionstore.List{})
	_, claimErr := s.Claim(ctx, "me", time.Second, 1)
	for what, err := range map[string]error{"append": add(t, s, k, event(t, "lost")), "get": getErr, "list": listErr,
		"claim": claimErr,
		"check": s.Check(ctx), "delete": s.Delete(ctx, k)} {
		if !errors.Is(err, memory.ErrUnavailable) {
			t.Errorf("%s: %v", what, err)
		}
	}
	r.Run(t)
	must(t, s.Check(ctx))
	has(t, s, k, ids...)
	must(t, add(t, s, k, event(t, "on")))
	has(t, s, k, append(ids, "on")...)
}

// A full memory refuses an append as a whole, and stored data can be read.
func TestFullMemory(t *testing.T) {
	r := redistest.Start(t)
	s := open(t, r.URL(), nil)
	defer s.Close()
	k := key("ann", "s")
	must(t, add(t, s, k, event(t, "e1")))
	c := r.Client(t)
	must(t, c.ConfigSet(t.Context(), "maxmemory", "1mb").Err())
	unavailable(t, add(t, s, k, event(t, "e2")), "maxmemory")
	unavailable(t, s.Check(t.Context()), "maxmemory")
	has(t, s, k, "e1")
	must(t, c.ConfigSet(t.Context(), "maxmemory", "0").Err())
	must(t, add(t, s, k, event(t, "e3")))
	has(t, s, k, "e1", "e3")
}

// A master that becomes a replica refuses writes, as a whole.
func TestBecomesReplica(t *testing.T) {
	r, other := redistest.Start(t), redistest.Start(t)
	s := open(t, r.URL(), nil)
	defer s.Close()
	k := key("ann", "s")
	must(t, add(t, s, k, event(t, "e1")))
	c := r.Client(t)
	other.Kill() // it would empty its new replica
	host, port, _ := net.SplitHostPort(other.Addr)
	must(t, c.SlaveOf(t.Context(), host, port).Err())
	unavailable(t, add(t, s, k, event(t, "e2")), "replica")
	unavailable(t, s.Check(t.Context()), "replica")
	must(t, c.SlaveOf(t.Context(), "no", "one").Err())
	must(t, s.Check(t.Context()))
	must(t, add(t, s, k, event(t, "e3")))
	has(t, s, k, "e1", "e3")
}

// An append whose connection is cut, before the request or before the answer
// arrives, fails. Its event is stored once or not at all. Sent again, it is
// stored once.
func TestCutConnection(t *testing.T) {
	r := redistest.Start(t)
	w := newWire(t)
	w.to.Store(&r.Addr)
	cutAppends(t, "redis://"+w.addr, r.URL(), w)
}

// The same holds on a cluster, whose client would send again by itself.
func TestCutConnectionOnCluster(t *testing.T) {
	wires := []*wire{newWire(t), newWire(t), newWire(t)}
	c := redistest.StartClusterWith(t, func(i int) []string {
		_, port, _ := net.SplitHostPort(wires[i].addr)
		return []string{"--cluster-announce-port", port}
	})
	for i, m := range c.Masters {
		wires[i].to.Store(&m.Addr)
	}
	url := "redis+cluster://" + wires[0].addr
	cutAppends(t, url, url, wires...)

	// A session that was made and not answered is there, and a claim that was
	// finished and not answered is done.
	s := open(t, url, &redissession.Options{Timeout: 2 * time.Second})
	defer s.Close()
	cut := func(v bool) {
		for _, w := range wires {
			w.answers.Store(v)
		}
	}
	cut(true)
	_, err := s.Create(t.Context(), key("ann", "made"), sessionstore.Create{})
	cut(false)
	if !errors.Is(err, memory.ErrUnavailable) {
		t.Errorf("a cut create: %v", err)
	}
}

// cutAppends cuts the wires of a store in the middle of appends, and reads the
// sessions through another store.
func cutAppends(t *testing.T, url, plain string, wires ...*wire) {
	s := open(t, url, &redissession.Options{Timeout: 2 * time.Second})
	defer s.Close()
	direct := open(t, plain, nil)
	defer direct.Close()
	k := key("ann", "s")
	must(t, add(t, s, k, event(t, "e0")))
	ids := []string{"e0"}
	for i := 1; i <= 20; i++ {
		id := fmt.Sprint("e", i)
		cut := func(v bool) {
			for _, w := range wires {
				if i%2 == 0 {
					w.answers.Store(v)
				} else {
					w.requests.Store(v)
				}
			}
		}
		cut(true)
		err := add(t, s, k, event(t, id))
		cut(false)
		if !errors.Is(err, memory.ErrUnavailable) {
			t.Errorf("cut append %d: %v", i, err)
		}
		if i%2 == 0 {
			has(t, direct, k, append(ids, id)...) // only its answer was lost
		} else {
			has(t, direct, k, ids...)
		}
		ids = append(ids, id)
		must(t, add(t, s, k, event(t, id)))
		has(t, direct, k, ids...)
	}
}

// wire forwards connections to a server, and on demand cuts them at the next
// request or at the next answer.
type wire struct {
	addr              string
	to                atomic.Pointer[string]
	requests, answers atomic.Bool
}

func newWire(t testing.TB) *wire {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	w := &wire{addr: l.Addr().String()}
	var conns sync.WaitGroup
	t.Cleanup(func() { l.Close(); conns.Wait() })
	conns.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", *w.to.Load())
			if err != nil {
				client.Close()
				continue
			}
			pipe := func(from, to net.Conn, cut *atomic.Bool) {
				defer client.Close()
				defer server.Close()
				buf := make([]byte, 64<<10)
				for {
					n, err := from.Read(buf)
					if err != nil || cut.Load() {
						return
					}
					if _, err := to.Write(buf[:n]); err != nil {
						return
					}
				}
			}
			conns.Go(func() { pipe(client, server, &w.requests) })
			conns.Go(func() { pipe(server, client, &w.answers) })
		}
	})
	return w
}

// asWriter makes the test binary a process that opens the store at this URL,
// waits for a line, and appends one event with app: state.
const asWriter = "MEMORYD_TEST_REDIS_WRITER"

func TestMain(m *testing.M) {
	if url := os.Getenv(asWriter); url != "" {
		writer(url, os.Getenv("MEMORYD_TEST_USER"))
	}
	os.Exit(m.Run())
}

func writer(url, user string) {
	s, err := redissession.Open(context.Background(), url, &redissession.Options{Timeout: time.Minute})
	if err != nil {
		panic(err)
	}
	redissession.Hook(s, neverDelivers{})
	e, err := sessionstore.ParseEvent([]byte(`{"id": "e2", "content": "hello", "actions": {"stateDelta": {"k": "e2",` +
		` "user:k": "e2", "app:k": "e2"}}}`))
	if err != nil {
		panic(err)
	}
	fmt.Println("ready")
	fmt.Scanln()
	_, err = s.Append(context.Background(), key(user, "s"), []sessionstore.Event{e}, sessionstore.Append{})
	panic(fmt.Sprint("not killed: ", err))
}

// neverDelivers holds up the step in the slot of the app, for ever.
type neverDelivers struct{}

func (neverDelivers) DialHook(next redis.DialHook) redis.DialHook { return next }

func (neverDelivers) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (neverDelivers) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if args := cmd.Args(); len(args) > 1 && args[1] == redissession.DeliverHash() {
			select {}
		}
		return next(ctx, cmd)
	}
}

// master is the server that has the slot of a key.
func master(t testing.TB, c *redistest.Cluster, key string) *redistest.Server {
	t.Helper()
	ctx := t.Context()
	slot, err := c.Masters[0].Client(t).ClusterKeySlot(ctx, key).Result()
	must(t, err)
	slots, err := c.Masters[0].Client(t).ClusterSlots(ctx).Result()
	must(t, err)
	for _, part := range slots {
		for _, m := range c.Masters {
			if int(slot) >= part.Start && int(slot) <= part.End && part.Nodes[0].Addr == m.Addr {
				return m
			}
		}
	}
	t.Fatalf("no node has slot %d", slot)
	return nil
}

// keysOf returns the keys on a master that match a pattern.
func keysOf(t testing.TB, m *redistest.Server, pattern string) []string {
	t.Helper()
	keys, err := m.Client(t).Keys(t.Context(), pattern).Result()
	must(t, err)
	return keys
}

// failsDelivery fails the step in the slot of the app.
type failsDelivery struct{ neverDelivers }

func (failsDelivery) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if args := cmd.Args(); len(args) > 1 && args[1] == redissession.DeliverHash() {
			err := fmt.Errorf("%w: cut", memory.ErrUnavailable)
			cmd.SetErr(err)
			return err
		}
		return next(ctx, cmd)
	}
}

func (failsDelivery) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		var rest []redis.Cmder
		for _, cmd := range cmds {
			if args := cmd.Args(); len(args) > 1 && args[1] == redissession.DeliverHash() {
				cmd.SetErr(fmt.Errorf("%w: cut", memory.ErrUnavailable))
			} else {
				rest = append(rest, cmd)
			}
		}
		return next(ctx, rest)
	}
}

// An append that changes no state is stored by its first step. If the second one
// fails, the append has its operation all the same, and the list of the app has the
// session once a process has looked for work. An append of state fails: the app's state
// does not show it.
func TestRequestedUndelivered(t *testing.T) {
	r := redistest.Start(t)
	s := open(t, r.URL(), nil)
	defer s.Close()
	redissession.Hook(s, failsDelivery{})
	k := key("ann", "s")
	how := sessionstore.Append{Create: true, KeepState: true,
		Request: &sessionstore.Request{ID: sessionstore.OperationID(k.Scope, "op")}}
	done, err := s.Append(t.Context(), k, []sessionstore.Event{event(t, "e1")}, how)
	if err != nil || done.Operation == nil || done.Operation.EventsTotal != 1 {
		t.Fatalf("%+v, %v", done.Operation, err)
	}
	if err := add(t, s, k, event(t, "e2", `, "app:k": 1`)); !errors.Is(err, memory.ErrUnavailable) {
		t.Errorf("app: state that was not delivered: %v", err)
	}
	other := open(t, r.URL(), nil)
	defer other.Close()
	if work, err := other.Claim(t.Context(), "other", time.Minute, 1); err != nil || len(work) != 1 {
		t.Errorf("%d pieces of work, %v", len(work), err)
	}
	page, err := other.ListApp(t.Context(), "app", sessionstore.List{})
	if err != nil || len(page.Sessions) != 1 {
		t.Errorf("the app has %d sessions, %v", len(page.Sessions), err)
	}
}

// An append that failed after its event was stored is done by the same append once
// more: the event stays one, and the state of the app is there with the answer. Until
// then each retry fails.
func TestRetryUndelivered(t *testing.T) {
	r := redistest.Start(t)
	s, other := open(t, r.URL(), nil), open(t, r.URL(), nil)
	defer s.Close()
	defer other.Close()
	k := key("ann", "s")
	must(t, add(t, other, k, event(t, "e1")))
	redissession.Hook(s, failsDelivery{})
	again := event(t, "e2", `, "app:k": "two"`)
	for range 2 {
		if err := add(t, s, k, again); !errors.Is(err, memory.ErrUnavailable) {
			t.Errorf("app: state that was not delivered: %v", err)
		}
	}
	has(t, other, k, "e1", "e2")
	must(t, add(t, other, k, again))
	has(t, other, k, "e1", "e2")
	of := func() string {
		se, err := other.Get(t.Context(), k, sessionstore.Get{})
		must(t, err)
		return string(se.State["app:k"])
	}
	if got := of(); got != `"two"` {
		t.Errorf("the state of the app is %q once the append is acknowledged", got)
	}
	must(t, add(t, other, k, event(t, "e3", `, "app:k": "three"`)))
	must(t, add(t, other, k, again)) // a late copy, which sets nothing back
	if got := of(); got != `"three"` {
		t.Errorf("the state of the app is %q after an older event was sent again", got)
	}
}

// A process that is killed between the step in its partition and the step in
// the app's slot leaves the change to app: state in the outbox. Another process
// delivers it, once.
func TestKilledBeforeDelivery(t *testing.T) {
	c := redistest.StartCluster(t)
	s := open(t, c.URL(), nil)
	defer s.Close()
	appNode := master(t, c, "memoryd:{a:app}:state")
	var k sessionstore.Key // of a user whose partition is on another node
	var stream string
	for i := 0; stream == ""; i++ {
		k = key(fmt.Sprint("u", i), "s")
		must(t, add(t, s, k, event(t, "e1", `, "app:k": "e1"`)))
		for _, m := range c.Masters {
			if live := keysOf(t, m, "*live:app/"+k.User); m != appNode && len(live) > 0 {
				ref := m.Client(t).ZScore(t.Context(), live[0], "s").Val()
				stream = strings.Replace(live[0], "live:app/"+k.User, fmt.Sprint("events:", ref), 1)
			}
		}
	}
	node := master(t, c, stream).Client(t)

	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asWriter+"="+c.URL(), "MEMORYD_TEST_USER="+k.User)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	_, err = io.ReadFull(out, make([]byte, len("ready\n")))
	must(t, err)
	_, err = io.WriteString(in, "go\n")
	must(t, err)
	waitFor(t, func() bool { return node.XLen(t.Context(), stream).Val() == 2 }) // until the event is stored
	must(t, cmd.Process.Kill())
	cmd.Wait()

	appState := func(s *redissession.Store) string {
		se, err := s.Get(t.Context(), k, sessionstore.Get{})
		if err != nil {
			return err.Error()
		}
		return string(se.State["app:k"])
	}
	if got := appState(s); got != `"e1"` {
		t.Fatalf("app: state before it was delivered: %s", got)
	}
	// The next to look for work delivers it; a later change is not undone by
	// bringing the earlier one once more.
	for i, want := range []string{`"e2"`, `"e3"`} {
		if i > 0 {
			must(t, add(t, s, k, event(t, "e3", `, "app:k": "e3"`)))
		}
		other := open(t, c.URL(), nil)
		_, err = other.Claim(t.Context(), "other", time.Second, 1)
		must(t, err)
		if got := appState(other); got != want {
			t.Errorf("app: state is %s, want %s", got, want)
		}
		must(t, other.Close())
	}
	has(t, s, k, "e1", "e2", "e3")
}

// While a slot moves to another node, appends to its sessions fail as a whole.
// They succeed once it has moved.
func TestSlotMoves(t *testing.T) {
	c := redistest.StartCluster(t)
	s := open(t, c.URL(), nil)
	defer s.Close()
	ctx := t.Context()
	k := key("ann", "s")
	must(t, add(t, s, k, event(t, "e1")))
	var from, to *redistest.Server
	var some string
	for _, m := range c.Masters {
		if live := keysOf(t, m, "*live:app/ann"); len(live) > 0 {
			from, some = m, live[0]
		} else {
			to = m
		}
	}
	source, target := from.Client(t), to.Client(t)
	slot := int(source.ClusterKeySlot(ctx, some).Val())
	id := func(c *redis.Client) string { return c.ClusterMyID(ctx).Val() }
	must(t, target.Do(ctx, "cluster", "setslot", slot, "importing", id(source)).Err())
	must(t, source.Do(ctx, "cluster", "setslot", slot, "migrating", id(target)).Err())
	host, port, _ := net.SplitHostPort(to.Addr)
	moving := source.ClusterGetKeysInSlot(ctx, slot, 1000).Val()
	if len(moving) < 5 {
		t.Fatalf("only %v in the slot", moving)
	}
	for i, key := range moving {
		unavailable(t, add(t, s, k, event(t, fmt.Sprint("lost", i))), "")
		must(t, source.Migrate(ctx, host, port, key, 0, 5*time.Second).Err())
	}
	unavailable(t, add(t, s, k, event(t, "lost")), "")
	for _, m := range c.Masters {
		must(t, m.Client(t).Do(ctx, "cluster", "setslot", slot, "node", id(target)).Err())
	}
	must(t, add(t, s, k, event(t, "e2")))
	has(t, s, k, "e1", "e2")
}

// Earlier versions had the keys of sessions expire. A session whose keys are gone is in no
// list, and its id is free. One whose keys are there keeps them once it has an event
// more.
func TestKeysOfEarlierTTL(t *testing.T) {
	r := redistest.Start(t)
	s := open(t, r.URL(), nil)
	defer s.Close()
	ctx, c := t.Context(), r.Client(t)
	kept, gone := key("ann", "kept"), key("ann", "gone")
	must(t, add(t, s, kept, event(t, "e1")))
	must(t, add(t, s, gone, event(t, "e1")))
	for _, name := range keysOf(t, r, "*:session:*") {
		of := name[strings.LastIndex(name, ":"):]
		id := c.HGet(ctx, name, "id").Val()
		for _, part := range keysOf(t, r, "memoryd:{[0-9]*"+of) {
			if id == "gone" {
				must(t, c.Del(ctx, part).Err())
			} else {
				must(t, c.PExpire(ctx, part, time.Hour).Err())
			}
		}
	}
	if _, err := s.Get(ctx, gone, sessionstore.Get{}); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("Get of the session that has expired: %v", err)
	}
	page, err := s.List(ctx, kept.Scope, sessionstore.List{})
	if err != nil || len(page.Sessions) != 1 || page.Sessions[0].ID != "kept" {
		t.Errorf("List gives %+v, %v", page.Sessions, err)
	}
	must(t, add(t, s, gone, event(t, "e9"))) // a new life of that name
	has(t, s, gone, "e9")
	must(t, add(t, s, kept, event(t, "e2")))
	for _, name := range keysOf(t, r, "memoryd:{[0-9]*") {
		if left := c.PTTL(ctx, name).Val(); left >= 0 {
			t.Errorf("%s has %v left", name, left)
		}
	}
	has(t, s, kept, "e1", "e2")
}

// A one-shot session stays until its memories are made, and leaves no key that
// does not expire.
func TestTTLOneShot(t *testing.T) {
	r := redistest.Start(t)
	s := open(t, r.URL(), &redissession.Options{TTL: 10 * time.Millisecond})
	defer s.Close()
	ctx, k := t.Context(), key("ann", "s")
	for _, events := range [][]sessionstore.Event{nil, {event(t, "e1")}} {
		request := &sessionstore.Request{ID: sessionstore.OperationID(k.Scope, fmt.Sprint("op", len(events)))}
		_, err := s.Append(ctx, k, events, sessionstore.Append{OneShot: true, Request: request})
		must(t, err)
	}
	time.Sleep(50 * time.Millisecond) // longer than the TTL
	works, err := s.Claim(ctx, "me", time.Minute, 1)
	if err != nil || len(works) != 1 {
		t.Fatalf("claimed %+v, %v", works, err)
	}
	must(t, s.Finish(ctx, works[0], 1, nil))
	for _, name := range append(keysOf(t, r, "*:session:*"), keysOf(t, r, "*:events:*")...) {
		t.Errorf("%s is left", name)
	}
	for _, name := range append(keysOf(t, r, "*:operation:*"), keysOf(t, r, "*:covers:*")...) {
		if left := r.Client(t).PTTL(ctx, name).Val(); left <= 0 {
			t.Errorf("%s does not expire", name)
		}
	}
}

// waitFor waits until ok, and fails the test after 90 s.
func waitFor(t testing.TB, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(90 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited for nothing")
		}
	}
}

// The store speaks TLS if the URL says rediss.
func TestTLS(t *testing.T) {
	r := redistest.StartTLS(t)
	_, err := redissession.Open(t.Context(), "rediss://"+r.Addr, nil)
	if err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("with a certificate that no authority has signed: %v", err)
	}
	s := open(t, "rediss://"+r.Addr+"?skip_verify=true", nil)
	defer s.Close()
	must(t, add(t, s, key("ann", "s"), event(t, "e1")))
	has(t, s, key("ann", "s"), "e1")
}

// If a partition's node comes back without its last writes, as after a failover
// to a replica, later answered changes still reach the app.
func TestAfterALoss(t *testing.T) {
	r := redistest.Start(t)
	s := open(t, r.URL(), nil)
	defer s.Close()
	ctx, c := t.Context(), r.Client(t)
	k := key("ann", "s")
	must(t, add(t, s, k, event(t, "e1", `, "app:k": "e1"`)))
	dumps := map[string]string{}
	for _, name := range keysOf(t, r, "memoryd:{[0-9]*") {
		dumps[name] = c.Dump(ctx, name).Val()
	}
	for i := range 10 {
		must(t, add(t, s, k, event(t, fmt.Sprint("lost", i), `, "app:k": "lost"`)))
	}
	for _, name := range keysOf(t, r, "memoryd:{[0-9]*") {
		c.Del(ctx, name)
	}
	for name, dump := range dumps {
		must(t, c.RestoreReplace(ctx, name, 0, dump).Err())
	}
	must(t, add(t, s, k, event(t, "e2", `, "app:k": "e2"`)))
	must(t, add(t, s, key("ann", "new"), event(t, "e1")))
	se, err := s.Get(ctx, k, sessionstore.Get{})
	if err != nil || string(se.State["app:k"]) != `"e2"` {
		t.Errorf("app: state is %s, %v", se.State["app:k"], err)
	}
	page, err := s.ListApp(ctx, "app", sessionstore.List{})
	if err != nil || len(page.Sessions) != 2 {
		t.Errorf("ListApp gives %d sessions, %v", len(page.Sessions), err)
	}
}
