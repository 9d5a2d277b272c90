package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// toggledError is an error that a test turns on and off while the server runs.
type toggledError struct {
	mu  sync.Mutex
	err error
}

func (s *toggledError) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func (s *toggledError) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// failing is a memory store whose calls fail while its error is on.
type failing struct {
	memory.Store
	toggledError
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

func (f *failing) PrepareSearch(ctx context.Context, scope memory.Scope) memory.PreparedSearch {
	search := f.Store.PrepareSearch(ctx, scope)
	return func(ctx context.Context, q memory.Query) (memory.Found, error) {
		if err := f.failure(); err != nil {
			return memory.Found{}, err
		}
		return search(ctx, q)
	}
}

func (f *failing) Revisions(ctx context.Context, scope memory.Scope, id string, before int64) (
	[]memory.Revision, error) {
	if err := f.failure(); err != nil {
		return nil, err
	}
	return f.Store.Revisions(ctx, scope, id, before)
}

// failingSessions is a session store whose calls fail while its error is on,
// except those of the work list: ingestion goes on.
type failingSessions struct {
	ingest.Sessions
	toggledError
}

func (f *failingSessions) wrap(s ingest.Sessions) ingest.Sessions { f.Sessions = s; return f }

func (f *failingSessions) Create(
	ctx context.Context, key sessionstore.Key, c sessionstore.Create,
) (*sessionstore.Session, error) {
	if err := f.failure(); err != nil {
		return nil, err
	}
	return f.Sessions.Create(ctx, key, c)
}

func (f *failingSessions) Get(
	ctx context.Context, key sessionstore.Key, g sessionstore.Get,
) (*sessionstore.Session, error) {
	if err := f.failure(); err != nil {
		return nil, err
	}
	return f.Sessions.Get(ctx, key, g)
}

func (f *failingSessions) List(
	ctx context.Context, scope memory.Scope, l sessionstore.List,
) (sessionstore.Page, error) {
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

func (f *failingSessions) Append(
	ctx context.Context, key sessionstore.Key, e []sessionstore.Event, opts sessionstore.Append,
) (sessionstore.Appended, error) {
	if err := f.failure(); err != nil {
		return sessionstore.Appended{}, err
	}
	return f.Sessions.Append(ctx, key, e, opts)
}

func (f *failingSessions) Update(ctx context.Context, key sessionstore.Key, p sessionstore.Patch) error {
	if err := f.failure(); err != nil {
		return err
	}
	return f.Sessions.Update(ctx, key, p)
}

func (f *failingSessions) Delete(ctx context.Context, key sessionstore.Key) error {
	if err := f.failure(); err != nil {
		return err
	}
	return f.Sessions.Delete(ctx, key)
}

func (f *failingSessions) Changes(
	ctx context.Context, scope memory.Scope, id string, after sessionstore.ChangePosition,
) ([]json.RawMessage, sessionstore.ChangePosition, error) {
	if err := f.failure(); err != nil {
		return nil, after, err
	}
	return f.Sessions.Changes(ctx, scope, id, after)
}

func (f *failingSessions) Status(
	ctx context.Context, scope memory.Scope, id string,
) (*sessionstore.Operation, error) {
	if err := f.failure(); err != nil {
		return nil, err
	}
	return f.Sessions.Status(ctx, scope, id)
}

func (f *failingSessions) Operations(
	ctx context.Context, scope memory.Scope, l sessionstore.List,
) ([]sessionstore.Operation, string, error) {
	if err := f.failure(); err != nil {
		return nil, "", err
	}
	return f.Sessions.Operations(ctx, scope, l)
}

func (f *failingSessions) AppOperations(
	ctx context.Context, app string, l sessionstore.OperationList,
) ([]sessionstore.Operation, string, error) {
	if err := f.failure(); err != nil {
		return nil, "", err
	}
	return f.Sessions.AppOperations(ctx, app, l)
}

func (f *failingSessions) Retry(ctx context.Context, scope memory.Scope, id string) (*sessionstore.Operation, error) {
	if err := f.failure(); err != nil {
		return nil, err
	}
	return f.Sessions.Retry(ctx, scope, id)
}

// buffer is a log that a test may read while the server writes it.
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

// secret is the text of an error that no client may see.
const secret = "disk /dev/sda1 failed"

// failures has an error of each kind that stores return, and the status that a
// client gets.
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

// TestFailingStores checks the answer of every route to every kind of error of its
// store: the status, the form, and that a fault shows in the log only.
func TestFailingStores(t *testing.T) {
	sessions, memories, log := &failingSessions{}, &failing{}, &buffer{}
	a := start(t, func(s *setup) { s.sessions, s.memories, s.madeUp = sessions.wrap, memories.wrap, true }, logTo(log))
	a.want(201, "POST", scope+"/sessions", `{"id": "s"}`)
	m := a.want(201, "POST", scope+"/memories", `{"fact": "a fact"}`)
	op := a.want(200, "POST", scope+"/sessions/s/memories?wait=true", nil)
	calls := []struct {
		on           *toggledError
		method, path string
		body         any
	}{
		{&sessions.toggledError, "POST", scope + "/sessions", `{}`},
		{&sessions.toggledError, "GET", scope + "/sessions", nil},
		{&sessions.toggledError, "GET", "/v1/apps/app/sessions", nil},
		{&sessions.toggledError, "GET", scope + "/sessions/s", nil},
		{&sessions.toggledError, "PATCH", scope + "/sessions/s", `{"stateDelta": {"k": 1}}`},
		{&sessions.toggledError, "DELETE", scope + "/sessions/s", nil},
		{&sessions.toggledError, "POST", scope + "/sessions/s/events", `{"events": [{"content": "x"}]}`},
		{&sessions.toggledError, "POST", scope + "/sessions/s/memories", nil},
		{&sessions.toggledError, "POST", scope + "/memories/ingest", `{"sessionId": "s", "events": [{"content": "x"}]}`},
		{&sessions.toggledError, "GET", scope + "/operations", nil},
		{&sessions.toggledError, "GET", "/v1/operations/" + text(op, "id"), nil},
		{&sessions.toggledError, "POST", "/v1/operations/" + text(op, "id") + "/retry", nil},
		{&memories.toggledError, "POST", scope + "/memories", `{"fact": "x"}`},
		{&memories.toggledError, "GET", scope + "/memories", nil},
		{&memories.toggledError, "GET", scope + "/memories/" + text(m, "id"), nil},
		{&memories.toggledError, "PATCH", scope + "/memories/" + text(m, "id"), `{"fact": "y"}`},
		{&memories.toggledError, "DELETE", scope + "/memories/" + text(m, "id"), nil},
		{&memories.toggledError, "GET", scope + "/memories/" + text(m, "id") + "/revisions", nil},
		{&memories.toggledError, "POST", scope + "/memories/search", `{"query": "x"}`},
	}
	before := a.contents()
	for _, c := range calls {
		for _, f := range failures {
			c.on.fail(fmt.Errorf("the call and its arguments: %w", f.err))
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
				t.Errorf("%s: the log does not have the reason", what)
			}
		}
	}
	same(t, "what is stored after refused requests", a.contents(), before)
}

// TestIngestWhileMemoriesAreUnavailable checks that events are acknowledged and
// stored in the session while the memory store fails, and that their memories
// are made without another request once it works again.
func TestIngestWhileMemoriesAreUnavailable(t *testing.T) {
	m := &failing{}
	m.fail(fmt.Errorf("%w: maintenance", memory.ErrUnavailable))
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

// TestPanic checks that a panic in a store becomes one internal error, and that
// the server goes on.
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

// TestRequestID checks that a client's own request id comes back if it is plain
// text, and that a hostile one never breaks an answer.
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
	same(t, "a client's id", a.do("GET", "/livez", nil, "X-Request-Id", "abc-123").header.Get("X-Request-Id"),
		"abc-123")
	m.fail(errors.New(secret))
	for _, hostile := range []string{"\xff\xfe", "a\tb", strings.Repeat("x", 5000), `"quoted" id=1`} {
		r := a.do("GET", scope+"/memories", nil, "X-Request-Id", hostile)
		if _, err := checkError(r); err != nil || r.status != 500 {
			t.Errorf("X-Request-Id %.20q: status %d, %v", hostile, r.status, err)
		}
	}
}
