package server_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// switched is an error that can be turned on and off.
type switched struct {
	mu  sync.Mutex
	err error
}

func (s *switched) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func (s *switched) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// failing is a memory store that fails with one error while it is told to.
type failing struct {
	memory.Store
	switched
}

func (f *failing) wrap(s memory.Store) memory.Store { f.Store = s; return f }

func (f *failing) Put(ctx context.Context, scope memory.Scope, w []memory.Write) ([]memory.Outcome, error) {
	if err := f.failure(); err != nil {
		return nil, err
	}
	return f.Store.Put(ctx, scope, w)
}

func (f *failing) Get(ctx context.Context, scope memory.Scope, ids []string) ([]memory.Memory, error) {
	if err := f.failure(); err != nil {
		return nil, err
	}
	return f.Store.Get(ctx, scope, ids)
}

func (f *failing) Delete(ctx context.Context, scope memory.Scope, r []memory.Removal) ([]memory.Outcome, error) {
	if err := f.failure(); err != nil {
		return nil, err
	}
	return f.Store.Delete(ctx, scope, r)
}

func (f *failing) List(ctx context.Context, scope memory.Scope, l memory.List) (memory.Page, error) {
	if err := f.failure(); err != nil {
		return memory.Page{}, err
	}
	return f.Store.List(ctx, scope, l)
}

func (f *failing) Search(ctx context.Context, scope memory.Scope, q memory.Query) (memory.Found, error) {
	if err := f.failure(); err != nil {
		return memory.Found{}, err
	}
	return f.Store.Search(ctx, scope, q)
}

func (f *failing) Revisions(ctx context.Context, scope memory.Scope, id string) ([]memory.Revision, error) {
	if err := f.failure(); err != nil {
		return nil, err
	}
	return f.Store.Revisions(ctx, scope, id)
}

// failingSessions fails in what the server itself calls, not in the work list.
type failingSessions struct {
	ingest.Sessions
	switched
}

func (f *failingSessions) wrap(s ingest.Sessions) ingest.Sessions { f.Sessions = s; return f }

func (f *failingSessions) Create(ctx context.Context, key sessionstore.Key, c sessionstore.Create) (*sessionstore.Session, error) {
	if err := f.failure(); err != nil {
		return nil, err
	}
	return f.Sessions.Create(ctx, key, c)
}

func (f *failingSessions) Get(ctx context.Context, key sessionstore.Key, g sessionstore.Get) (*sessionstore.Session, error) {
	if err := f.failure(); err != nil {
		return nil, err
	}
	return f.Sessions.Get(ctx, key, g)
}

func (f *failingSessions) List(ctx context.Context, scope memory.Scope, l sessionstore.List) (sessionstore.Page, error) {
	if err := f.failure(); err != nil {
		return sessionstore.Page{}, err
	}
	return f.Sessions.List(ctx, scope, l)
}

func (f *failingSessions) ListApp(ctx context.Context, app string, l sessionstore.List) (sessionstore.Page, error) {
	if err := f.failure(); err != nil {
		return sessionstore.Page{}, err
	}
	return f.Sessions.ListApp(ctx, app, l)
}

func (f *failingSessions) Append(ctx context.Context, key sessionstore.Key, e []sessionstore.Event, opts sessionstore.Append) (sessionstore.Appended, error) {
	if err := f.failure(); err != nil {
		return sessionstore.Appended{}, err
	}
	return f.Sessions.Append(ctx, key, e, opts)
}

func (f *failingSessions) Delete(ctx context.Context, key sessionstore.Key) error {
	if err := f.failure(); err != nil {
		return err
	}
	return f.Sessions.Delete(ctx, key)
}

func (f *failingSessions) Operation(ctx context.Context, scope memory.Scope, id string) (*sessionstore.Operation, error) {
	if err := f.failure(); err != nil {
		return nil, err
	}
	return f.Sessions.Operation(ctx, scope, id)
}

func (f *failingSessions) Operations(ctx context.Context, scope memory.Scope, l sessionstore.List) ([]sessionstore.Operation, string, error) {
	if err := f.failure(); err != nil {
		return nil, "", err
	}
	return f.Sessions.Operations(ctx, scope, l)
}

func (f *failingSessions) Retry(ctx context.Context, scope memory.Scope, id string) (*sessionstore.Operation, error) {
	if err := f.failure(); err != nil {
		return nil, err
	}
	return f.Sessions.Retry(ctx, scope, id)
}

// buffer is a log that the server writes and a test reads.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

const secret = "disk /dev/sda1 burns"

// failures are an error of each kind, as stores wrap them, and what a client
// is told.
var failures = []struct {
	err    error
	code   int
	status string
}{
	{memory.ErrInvalid, 400, "INVALID_ARGUMENT"},
	{memory.ErrNotFound, 404, "NOT_FOUND"},
	{memory.ErrExists, 409, "ALREADY_EXISTS"},
	{memory.ErrAborted, 409, "ABORTED"},
	{memory.ErrExhausted, 429, "RESOURCE_EXHAUSTED"},
	{memory.ErrUnavailable, 503, "UNAVAILABLE"},
	{context.DeadlineExceeded, 503, "UNAVAILABLE"},
	{errors.New(secret), 500, "INTERNAL"},
}

func TestFailingStores(t *testing.T) {
	sessions, memories, log := &failingSessions{}, &failing{}, &buffer{}
	a := start(t, func(s *setup) { s.sessions, s.memories = sessions.wrap, memories.wrap }, logTo(log))
	a.want(201, "POST", scope+"/sessions", `{"id": "s"}`)
	m := a.want(201, "POST", scope+"/memories", `{"fact": "a fact"}`)
	op := a.want(200, "POST", scope+"/sessions/s/memories?wait=true", nil)
	calls := []struct {
		on           *switched
		method, path string
		body         any
	}{
		{&sessions.switched, "POST", scope + "/sessions", `{}`},
		{&sessions.switched, "GET", scope + "/sessions", nil},
		{&sessions.switched, "GET", "/v1/apps/app/sessions", nil},
		{&sessions.switched, "GET", scope + "/sessions/s", nil},
		{&sessions.switched, "PATCH", scope + "/sessions/s", `{"stateDelta": {"k": 1}}`},
		{&sessions.switched, "DELETE", scope + "/sessions/s", nil},
		{&sessions.switched, "POST", scope + "/sessions/s/events", `{"events": [{"content": "x"}]}`},
		{&sessions.switched, "POST", scope + "/sessions/s/memories", nil},
		{&sessions.switched, "POST", scope + "/memories/ingest", `{"sessionId": "s", "events": [{"content": "x"}]}`},
		{&sessions.switched, "GET", scope + "/operations", nil},
		{&sessions.switched, "GET", "/v1/operations/" + text(op, "id"), nil},
		{&sessions.switched, "POST", "/v1/operations/" + text(op, "id") + "/retry", nil},
		{&memories.switched, "POST", scope + "/memories", `{"fact": "x"}`},
		{&memories.switched, "GET", scope + "/memories", nil},
		{&memories.switched, "GET", scope + "/memories/" + text(m, "id"), nil},
		{&memories.switched, "PATCH", scope + "/memories/" + text(m, "id"), `{"fact": "y"}`},
		{&memories.switched, "DELETE", scope + "/memories/" + text(m, "id"), nil},
		{&memories.switched, "GET", scope + "/memories/" + text(m, "id") + "/revisions", nil},
		{&memories.switched, "POST", scope + "/memories/search", `{"query": "x"}`},
	}
	before := a.contents()
	for _, c := range calls {
		for _, f := range failures {
			c.on.fail(fmt.Errorf("the call and its words: %w", f.err))
			r := a.do(c.method, c.path, c.body)
			c.on.fail(nil)
			what := fmt.Sprintf("%s %s with %q", c.method, c.path, f.err)
			msg, err := checkError(r)
			if err != nil || r.status != f.code || !bytes.Contains(r.raw, []byte(`"`+f.status+`"`)) {
				t.Errorf("%s: want %d %s, not %d %s (%v)", what, f.code, f.status, r.status, r.raw, err)
			}
			id := r.header.Get("X-Request-Id")
			if f.code == 500 && (strings.Contains(string(r.raw), secret) || !strings.Contains(msg, id)) {
				t.Errorf("%s: the message is %q", what, msg)
			}
			if f.code == 500 && !strings.Contains(log.String(), secret) {
				t.Errorf("%s: the log has nothing of it", what)
			}
		}
	}
	same(t, "what is stored after refused requests", a.contents(), before)
}

// What memory cannot take yet is safe in the session, and acknowledged; it is
// taken when memory is back, without anybody asking again.
func TestIngestWhileMemoriesAreAway(t *testing.T) {
	m := &failing{}
	m.fail(fmt.Errorf("%w: away", memory.ErrUnavailable))
	a := start(t, func(s *setup) { s.memories, s.ingest.MaxAttempts = m.wrap, 1 })
	op := a.want(202, "POST", scope+"/memories/ingest", talk(t))
	path := "/v1/operations/" + text(op, "id")
	for text(op, "metadata", "lastError") == "" {
		op = a.want(200, "GET", path, nil)
	}
	same(t, "state", text(op, "metadata", "state"), "RUNNING")
	same(t, "events", len(list(a.want(200, "GET", scope+"/sessions/talk", nil), "events")), 7)
	m.fail(nil)
	for at(op, "done") != true {
		op = a.want(200, "GET", path, nil)
	}
	same(t, "state", text(op, "metadata", "state"), "SUCCEEDED")
	found := a.want(200, "POST", scope+"/memories/search", `{"query": "ramen"}`)
	if len(list(found, "memories")) == 0 {
		t.Error("the events were not found afterwards")
	}
}

// A panic in a store is one internal error, and the server goes on.
func TestPanic(t *testing.T) {
	log := &buffer{}
	a := start(t, func(s *setup) { s.memories = func(memory.Store) memory.Store { return nil } }, logTo(log))
	r := a.do("GET", scope+"/memories", nil)
	msg, err := checkError(r)
	if err != nil || r.status != 500 || strings.Contains(msg, "nil pointer") {
		t.Errorf("status %d, %v: %s", r.status, err, r.raw)
	}
	if !strings.Contains(log.String(), "goroutine") {
		t.Error("the log has no stack")
	}
	a.want(200, "GET", scope+"/sessions", nil)
}

// A client's own request id is handed on when it is fit to be shown, and never
// breaks an answer.
func TestRequestID(t *testing.T) {
	m := &failing{}
	a := start(t, func(s *setup) { s.memories = m.wrap })
	ids := map[string]bool{}
	for range 5 {
		ids[a.do("GET", "/livez", nil).header.Get("X-Request-Id")] = true
	}
	if len(ids) != 5 || ids[""] {
		t.Errorf("five requests have the ids %v", ids)
	}
	same(t, "a client's id", a.do("GET", "/livez", nil, "X-Request-Id", "abc-123").header.Get("X-Request-Id"), "abc-123")
	m.fail(errors.New(secret))
	for _, hostile := range []string{"\xff\xfe", "a\tb", strings.Repeat("x", 5000), `"quoted" id=1`} {
		r := a.do("GET", scope+"/memories", nil, "X-Request-Id", hostile)
		if _, err := checkError(r); err != nil || r.status != 500 {
			t.Errorf("X-Request-Id %.20q: status %d, %v", hostile, r.status, err)
		}
	}
}
