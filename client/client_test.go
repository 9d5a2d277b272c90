package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/appconfig"
	"github.com/memoryd/memoryd/client"
	"github.com/memoryd/memoryd/internal/openapitest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// bank opens a memoryd that stores its data in process memory.
func bank(t testing.TB) *memoryd.Bank {
	t.Helper()
	b, err := memoryd.Open(t.Context(), ":memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// over returns a client that reaches a handler over HTTP.
func over(t testing.TB, h http.Handler, opts *client.Options) *client.Client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	c, err := client.New(s.URL+"/", opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A configuration that was read, changed and written is read again, and a change of an
// older one is refused.
func testConfig(t *testing.T, c *client.Client) {
	ctx := t.Context()
	config, revision, err := c.Config(ctx, "shop")
	if err != nil || revision != 0 {
		t.Fatalf("revision %d, %v", revision, err)
	}
	config.Search.TopK, config.TTL.Created.Duration = 5, time.Hour
	config.CustomTopics = []appconfig.Topic{{Label: "DIET", Description: "What they eat."}}
	config.Profiles = []appconfig.Profile{{ID: "person", Schema: []byte(`{"properties":{"age":{"type":"integer"}},"type":"object"}`)}}
	if _, revision, err = c.PutConfig(ctx, "shop", config, revision); err != nil || revision != 1 {
		t.Fatalf("revision %d, %v", revision, err)
	}
	if _, _, err := c.PutConfig(ctx, "shop", config, 0); !errors.Is(err, memory.ErrAborted) {
		t.Errorf("a change of revision 0: %v", err)
	}
	if _, revision, err = c.PutConfig(ctx, "shop", config, sessionstore.AnyRevision); err != nil || revision != 2 {
		t.Errorf("revision %d, %v", revision, err)
	}
	got, _, err := c.Config(ctx, "shop")
	if diff := cmp.Diff(config, got, cmpopts.IgnoreUnexported(appconfig.Config{}, appconfig.Profile{})); diff != "" || err != nil {
		t.Errorf("%v, configuration (-want +got):\n%s", err, diff)
	}
}

// The values of a profile are added, changed and read.
func testProfiles(t *testing.T, c *client.Client) {
	ctx, u := t.Context(), c.User("shop", "profiled")
	config, _, err := c.Config(ctx, "shop")
	if err != nil {
		t.Fatal(err)
	}
	config.Profiles = []appconfig.Profile{{ID: "person", Schema: []byte(`{"type":"object","properties":{"age":{"type":"integer"}}}`)}}
	if _, _, err := c.PutConfig(ctx, "shop", config, sessionstore.AnyRevision); err != nil {
		t.Fatal(err)
	}
	age := client.ProfileValue{SchemaID: "person", Field: "age", Value: 30, TTL: time.Hour}
	m, err := u.AddProfileValue(ctx, age)
	if err != nil || m.Kind != memory.KindProfile || string(m.Value) != "30" || m.ExpireTime.IsZero() {
		t.Fatalf("%+v, %v", m, err)
	}
	age.Value = "thirty"
	if _, err := u.AddProfileValue(ctx, age); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("a text for a number: %v", err)
	}
	age.Value = 31
	if _, err := u.AddProfileValue(ctx, age); !errors.Is(err, memory.ErrExists) {
		t.Errorf("another value: %v", err)
	}
	if m, err = u.UpdateMemory(ctx, m.ID, client.Change{Value: 31}); err != nil || string(m.Value) != "31" {
		t.Errorf("%+v, %v", m, err)
	}
	got, err := u.Profiles(ctx)
	if err != nil || string(got.Profiles["person"]["age"]) != "31" || got.IDs["person"]["age"] != m.ID {
		t.Errorf("profiles %+v, %v", got, err)
	}
	if n, err := u.Counts(ctx); err != nil || n != (client.Counts{Values: 1}) {
		t.Errorf("counts %+v, %v", n, err)
	}
	if l, err := u.Limits(ctx); err != nil || len(l) != 0 {
		t.Errorf("limits %+v of a memoryd that has none, %v", l, err)
	}
	if l, err := c.AppLimits(ctx, "shop"); err != nil || len(l) != 0 {
		t.Errorf("limits %+v of an app of a memoryd that has none, %v", l, err)
	}
	if r, err := u.Revisions(ctx, m.ID); err != nil || len(r) != 2 || string(r[1].Value) != "30" {
		t.Errorf("revisions %+v, %v", r, err)
	}
}

// TestCalls runs every call over HTTP, where all are as /openapi.json says, and in
// process.
func TestCalls(t *testing.T) {
	for name, connect := range map[string]func(*testing.T) *client.Client{
		"http":      func(t *testing.T) *client.Client { return over(t, openapitest.Checked(t, bank(t)), nil) },
		"inprocess": func(t *testing.T) *client.Client { return client.InProcess(bank(t)) },
	} {
		t.Run(name+"/sessions", func(t *testing.T) { testSessions(t, connect(t)) })
		t.Run(name+"/config", func(t *testing.T) { testConfig(t, connect(t)) })
		t.Run(name+"/profiles", func(t *testing.T) { testProfiles(t, connect(t)) })
		t.Run(name+"/memories", func(t *testing.T) { testMemories(t, connect(t)) })
		t.Run(name+"/options", func(t *testing.T) { testOptions(t, connect(t)) })
		t.Run(name+"/operations", func(t *testing.T) { testOperations(t, connect(t)) })
		t.Run(name+"/erasing", func(t *testing.T) { testErasing(t, connect(t)) })
	}
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func testSessions(t *testing.T, c *client.Client) {
	ctx := t.Context()
	u := c.User("a/pp?", "ann@x.com")
	if _, err := u.Sessions(ctx, sessionstore.List{}); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("an app with a slash: %v", err)
	}
	u = c.User("my app", "ann@x.com %2F")
	session := must[*client.Session](t)
	s := session(u.CreateSession(ctx, client.NewSession{ID: "s 1?", State: map[string]any{"n": 1, "user:lang": "en", "app:v": nil},
		Events: []client.Event{client.Text("user", "Hello <there>")}}))
	if diff := cmp.Diff(map[string]any{"n": 1.0, "user:lang": "en", "app:v": nil}, s.State); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
	if _, err := u.CreateSession(ctx, client.NewSession{ID: "s 1?"}); !errors.Is(err, memory.ErrExists) {
		t.Errorf("the same id again: %v", err)
	}
	appended := must[client.Appended](t)(u.Append(ctx, "s 1?", "said", client.Text("helper", "Welcome"),
		client.Event{Doc: json.RawMessage(`{"author":"helper","content":"and more","unknown":{"b":1.50}}`)}))
	if len(appended.Events) != 2 || appended.Events[0].Text() != "Welcome" || appended.Events[1].ID == "" {
		t.Errorf("appended %+v", appended)
	}
	again := must[client.Appended](t)(u.Append(ctx, "s 1?", "", appended.Events...))
	if diff := cmp.Diff(appended.Events, again.Events); diff != "" {
		t.Errorf("appended again (-first +then):\n%s", diff)
	}
	s = session(u.Session(ctx, "s 1?", client.Recent{}))
	if s.ID != "s 1?" || s.App != "my app" || s.User != "ann@x.com %2F" || len(s.Events) != 3 || s.Events[0].Text() != "Hello <there>" || s.State["said"] != "and more" {
		t.Errorf("session %+v", s)
	}
	for recent, want := range map[client.Recent]int{{Events: 2}: 2, {Events: -1}: 0, {After: s.LastUpdateTime.Add(time.Hour)}: 0} {
		if s := session(u.Session(ctx, "s 1?", recent)); len(s.Events) != want {
			t.Errorf("%+v: %d events, want %d", recent, len(s.Events), want)
		}
	}
	west := time.FixedZone("", -8*3600)
	local := client.Text("user", "It is late here.")
	local.Timestamp = time.Date(2026, 3, 1, 23, 30, 0, 0, west)
	zoned := must[client.Appended](t)(u.In("Asia/Kolkata").Append(ctx, "s 1?", "", local, client.Text("user", "Here it is early.")))
	if e := zoned.Events[0]; e.UTCOffset != "-08:00" || !e.Timestamp.Equal(local.Timestamp) {
		t.Errorf("a local time is stored as %v, %q", e.Timestamp, e.UTCOffset)
	}
	if e := zoned.Events[1]; e.UTCOffset != "+05:30" {
		t.Errorf("an event of a time zone has %q", e.UTCOffset)
	}
	if _, err := u.In("Mars/Olympus").Append(ctx, "s 1?", "", local); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("an unknown time zone: %v", err)
	}
	if s = session(u.PatchSession(ctx, "s 1?", map[string]any{"mood": "good"})); s.State["mood"] != "good" {
		t.Errorf("patched %+v", s.State)
	}
	if s.Events != nil {
		t.Error("a patched session has events")
	}
	name, labels, month, never := "Named", map[string]string{"team": "blue"}, 720*time.Hour, time.Time{}
	s = session(u.UpdateSession(ctx, "s 1?", client.SessionChange{StateDelta: map[string]any{"mood": "bad"},
		DisplayName: &name, Labels: &labels, TTL: &month}))
	if s.State["mood"] != "bad" || s.DisplayName != name || s.Labels["team"] != "blue" || s.Events != nil ||
		time.Until(s.ExpireTime) < month-time.Hour || s.CreateTime.IsZero() {
		t.Errorf("changed %+v", s)
	}
	s = session(u.UpdateSession(ctx, "s 1?", client.SessionChange{State: map[string]any{"own": "all"}}))
	if _, had := s.State["mood"]; had || s.State["own"] != "all" || s.DisplayName != name {
		t.Errorf("with another state: %+v", s)
	}
	s = session(u.UpdateSession(ctx, "s 1?", client.SessionChange{ExpireTime: &never}))
	if s.DisplayName != name || !s.ExpireTime.IsZero() {
		t.Errorf("without a time: %+v", s)
	}
	lasting := session(u.CreateSession(ctx, client.NewSession{ID: "lasts", TTL: month, Labels: labels, DisplayName: name}))
	if lasting.ExpireTime.IsZero() || lasting.DisplayName != name || lasting.Labels["team"] != "blue" {
		t.Errorf("made %+v", lasting)
	}
	if err := u.DeleteSession(ctx, "lasts"); err != nil {
		t.Error(err)
	}
	other := session(u.CreateSession(ctx, client.NewSession{}))
	var ids []string
	for one, err := range u.EachSession(ctx, sessionstore.List{PageSize: 1, NoState: true}) {
		if err != nil || one.State != nil {
			t.Fatalf("session %+v, error %v", one, err)
		}
		ids = append(ids, one.ID)
	}
	if diff := cmp.Diff([]string{other.ID, "s 1?"}, ids); diff != "" {
		t.Errorf("each session (-want +got):\n%s", diff)
	}
	page := must[client.SessionPage](t)(u.Sessions(ctx, sessionstore.List{PageSize: 1}))
	next := must[client.SessionPage](t)(c.AppSessions(ctx, "my app", sessionstore.List{PageSize: 1, PageToken: ""}))
	if len(page.Sessions) != 1 || page.Sessions[0].ID != other.ID || page.NextPageToken == "" || len(next.Sessions) != 1 {
		t.Errorf("lists %+v, %+v", page, next)
	}
	if err := u.DeleteSession(ctx, "s 1?"); err != nil {
		t.Error(err)
	}
	if _, err := u.Session(ctx, "s 1?", client.Recent{}); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("a deleted session: %v", err)
	}
}

func testMemories(t *testing.T, c *client.Client) {
	ctx := t.Context()
	u := c.User("app", "ann")
	op := must[*client.Operation](t)(u.Ingest(ctx, "s1", []client.Event{client.Text("user", "I am allergic to peanuts.")}, true))
	if !op.Done || op.Response == nil || len(op.Response.Memories) != 1 || op.Response.Memories[0].Action != memory.Created {
		t.Fatalf("operation %+v", op)
	}
	one := must[memory.Memory](t)
	added := one(u.AddMemory(ctx, client.Fact{Fact: "Ann sings in a choir.", Topics: []string{"HOBBY"}, TTL: time.Hour,
		Metadata: memory.Metadata{"k": json.RawMessage(`1`)}, Labels: memory.Labels{"by": "added"}}))
	if added.ExpireTime.IsZero() || added.Topics[0] != "HOBBY" {
		t.Errorf("added %+v", added)
	}
	matches := must[[]memory.Match](t)(u.Search(ctx, client.Search{Query: "What is Ann allergic to?", TopK: 1, Explain: true}))
	if len(matches) != 1 || matches[0].Explain == nil || matches[0].Score <= 0 {
		t.Errorf("matches %+v", matches)
	}
	worded := client.Search{Queries: []string{"allergic to what?", "Ann sings."}, TopK: 2, Explain: true}
	matches = must[[]memory.Match](t)(u.Search(ctx, worded))
	if len(matches) != 2 || matches[0].Explain.Query == matches[1].Explain.Query {
		t.Errorf("matches of two wordings %+v", matches)
	}
	block := must[client.Block](t)(u.Context(ctx, client.Search{Query: "choir"}, 100))
	if block.Text == "" || block.Tokens == 0 || len(block.Memories) == 0 {
		t.Errorf("block %+v", block)
	}
	east := u.In("Asia/Kolkata")
	must[*client.Operation](t)(east.Ingest(ctx, "s2", []client.Event{client.Text("user", "I have a dog called Rex.")}, true))
	for _, m := range must[[]memory.Match](t)(east.Search(ctx, client.Search{Query: "dog Rex", SessionID: "s2"})) {
		if m.Memory.UTCOffset != "+05:30" {
			t.Errorf("%+v has another offset", m.Memory)
		}
	}
	if m := one(east.AddMemory(ctx, client.Fact{Fact: "Ann runs."})); m.UTCOffset != "+05:30" {
		t.Errorf("a fact of a time zone: %+v", m)
	}
	list := must[memory.Page](t)(u.Memories(ctx, memory.List{Filter: memory.Filter{Kinds: []memory.Kind{memory.KindFact}, Topics: []string{"HOBBY", "X"}},
		Order: memory.Order{Field: "createTime", Ascending: true}, PageSize: 10}))
	if len(list.Memories) != 1 || list.Memories[0].ID != added.ID {
		t.Errorf("list %+v", list)
	}
	if _, err := u.Memories(ctx, memory.List{Filter: memory.Filter{SupersededBy: "x"}}); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("a filter that the API lacks: %v", err)
	}
	testFilters(t, u, added.ID)
	fact, forever := "Ann conducts a choir.", time.Duration(0)
	changed := one(u.UpdateMemory(ctx, added.ID, client.Change{Fact: &fact, TTL: &forever,
		RevisionTTL: time.Hour, Labels: memory.Labels{"by": "hand"}}))
	if changed.Fact != fact || changed.Revision != 2 || !changed.ExpireTime.IsZero() {
		t.Errorf("changed %+v", changed)
	}
	if past := must[[]memory.Revision](t)(u.Revisions(ctx, added.ID)); len(past) != 2 || !past[1].ExpireTime.IsZero() ||
		past[0].ExpireTime.Sub(past[0].CreateTime).Round(time.Minute) != time.Hour || past[0].Labels["by"] != "hand" ||
		past[1].Labels["by"] != "added" {
		t.Errorf("revisions %+v", past)
	}
	began, never := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), time.Time{}
	if m := one(u.UpdateMemory(ctx, added.ID, client.Change{ValidFrom: &began})); !m.ValidFrom.Equal(began) {
		t.Errorf("dated %+v", m)
	}
	if m := one(u.UpdateMemory(ctx, added.ID, client.Change{ValidFrom: &never})); !m.ValidFrom.IsZero() {
		t.Errorf("dated no longer: %+v", m)
	}
	if back := one(u.Rollback(ctx, added.ID, 1)); back.Fact != added.Fact {
		t.Errorf("rolled back to %+v", back)
	}
	if err := u.DeleteMemory(ctx, added.ID); err != nil {
		t.Error(err)
	}
	if _, err := u.Memory(ctx, added.ID); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("a deleted memory: %v", err)
	}
	gone := must[memory.Page](t)(u.Memories(ctx, memory.List{Deleted: true}))
	if !slices.ContainsFunc(gone.Memories, func(m memory.Memory) bool { return m.ID == added.ID }) ||
		len(gone.Deletions) != len(gone.Memories) {
		t.Errorf("deleted ones: %+v", gone)
	}
	if revisions := must[[]memory.Revision](t)(u.Revisions(ctx, added.ID)); len(revisions) != 6 || revisions[0].Action != memory.Deleted {
		t.Errorf("revisions %+v", revisions)
	}
}

func testOperations(t *testing.T, c *client.Client) {
	ctx := t.Context()
	u := c.User("app", "ann")
	must[*client.Session](t)(u.CreateSession(ctx, client.NewSession{ID: "s1", Events: []client.Event{client.Text("user", "I live in Porto.")}}))
	op := must[*client.Operation](t)(u.AddSession(ctx, "s1", false))
	last := op
	for seen, err := range c.Follow(ctx, op.ID) {
		if err != nil {
			t.Fatal(err)
		}
		last = seen
	}
	if !last.Done || last.ID != op.ID || last.Metadata.State != sessionstore.Succeeded || len(last.Response.Memories) != 1 {
		t.Errorf("the last that is seen: %+v", last)
	}
	read := must[*client.Operation](t)(c.Operation(ctx, op.ID))
	if diff := cmp.Diff(last, read); diff != "" {
		t.Errorf("streamed and read (-streamed +read):\n%s", diff)
	}
	if ops, next, err := c.AppOperations(ctx, "app", sessionstore.OperationList{State: sessionstore.Succeeded,
		User: "ann"}); err != nil || len(ops) != 1 || next != "" || ops[0].Metadata.UserID != "ann" {
		t.Errorf("operations of the app %+v, %q, %v", ops, next, err)
	}
	if ops, next, err := u.Operations(ctx, sessionstore.List{}); err != nil || len(ops) != 1 || next != "" {
		t.Errorf("operations %+v, %q, %v", ops, next, err)
	}
	if _, err := c.RetryOperation(ctx, op.ID); err != nil {
		t.Errorf("retry of what is done: %v", err)
	}
	if _, err := c.ConfirmOperation(ctx, op.ID, true); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("confirmation of what asks for none: %v", err)
	}
	ask := must[*client.Operation](t)(u.Ingest(ctx, "s2", []client.Event{
		client.Text("user", "Forget my boat. Forget everything.")}, true))
	if r := ask.Response; len(r.NotFound) != 1 || r.Confirm == nil || r.Confirm.ID != ask.ID || r.Confirm.Text == "" {
		t.Fatalf("a request to forget everything: %+v", r)
	}
	did := must[*client.Operation](t)(c.ConfirmOperation(ctx, ask.Response.Confirm.ID, true))
	if did.Response == nil || did.Response.Forgotten == nil || did.Response.Forgotten.Turns == 0 {
		t.Errorf("confirmed: %+v", did.Response)
	}
	preview := must[[]client.Changed](t)(c.PreviewRollback(ctx, op.ID))
	undone := must[*client.Operation](t)(c.RollbackOperation(ctx, op.ID, true))
	if undone.Metadata.RollbackOf != op.ID || undone.Response == nil || len(undone.Response.Memories) != len(preview) ||
		len(preview) == 0 {
		t.Errorf("rolled back: %+v, previewed %+v", undone, preview)
	}
	if _, err := c.RollbackOperation(ctx, op.ID, true); !errors.Is(err, memory.ErrExists) {
		t.Errorf("rolled back twice: %v", err)
	}
	for _, err := range c.Follow(ctx, "none") {
		if !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("no such operation: %v", err)
		}
	}
}

// flaky is a transport that lets fail decide on each request, numbered from 1; nil
// passes the request on.
type flaky struct {
	http.Handler
	n    atomic.Int32
	fail func(n int32, h http.Handler) http.HandlerFunc
}

func (f *flaky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if fail := f.fail(f.n.Add(1), f.Handler); fail != nil {
		fail(w, r)
		return
	}
	f.Handler.ServeHTTP(w, r)
}

// lost passes a request on and drops its answer.
func lost(h http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Error(w, "a proxy says no", code) }
}

func testErasing(t *testing.T, c *client.Client) {
	ctx := t.Context()
	for _, user := range []string{"ann@x.com", "bob c?", "cleo"} {
		u := c.User("shop", user)
		must[*client.Operation](t)(u.Ingest(ctx, "s1", []client.Event{client.Text("user", "I live in Porto.")}, true))
		must[*client.Operation](t)(u.Ingest(ctx, "s2", []client.Event{client.Text("user", "I like tea.")}, true))
	}
	users, next, err := c.Users(ctx, "shop", 2, "")
	if err != nil || len(users) != 2 || next == "" {
		t.Fatalf("users: %q %q %v", users, next, err)
	}
	if users, _, err = c.Users(ctx, "shop", 2, next); err != nil || len(users) != 1 || users[0] != "cleo" {
		t.Errorf("the second page of users: %q %v", users, err)
	}
	ann := c.User("shop", "ann@x.com")
	dry := must[client.Erased](t)(ann.PreviewEraseSession(ctx, "s1"))
	if gone := must[client.Erased](t)(ann.EraseSession(ctx, "s1")); gone != dry || gone.Sessions != 1 || gone.Memories < 2 {
		t.Errorf("a session: %+v, a dry run before: %+v", gone, dry)
	}
	facts := must[memory.Page](t)(ann.Memories(ctx, memory.List{}))
	dry = must[client.Erased](t)(ann.PreviewEraseMemory(ctx, facts.Memories[0].ID))
	if gone := must[client.Erased](t)(ann.EraseMemory(ctx, facts.Memories[0].ID)); gone != dry || gone.Events != 1 || gone.Memories < 1 {
		t.Errorf("a memory: %+v, a dry run before: %+v", gone, dry)
	}
	if _, err := ann.EraseMemory(ctx, "none"); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("a memory that never was: %v", err)
	}
	dry = must[client.Erased](t)(c.User("shop", "bob c?").PreviewErase(ctx))
	if gone := must[client.Erased](t)(c.User("shop", "bob c?").Erase(ctx)); gone != dry || gone.Sessions != 2 || gone.Events != 2 {
		t.Errorf("a user: %+v", gone)
	}
	dry = must[client.Erased](t)(c.PreviewEraseApp(ctx, "shop"))
	if gone := must[client.Erased](t)(c.EraseApp(ctx, "shop")); gone != dry || gone.Users != 2 {
		t.Errorf("an app: %+v", gone)
	}
	if apps, _, err := c.Apps(ctx, 0, ""); err != nil || len(apps) != 0 {
		t.Errorf("apps: %q %v", apps, err)
	}
}

// TestRetries checks that a retried call takes effect once, and that a call that
// could take effect twice is not retried.
func TestRetries(t *testing.T) {
	firstLost := func(n int32, h http.Handler) http.HandlerFunc {
		if n == 1 {
			return lost(h)
		}
		return nil
	}
	always := func(code int) func(int32, http.Handler) http.HandlerFunc {
		return func(int32, http.Handler) http.HandlerFunc { return status(code) }
	}
	event := client.Text("user", "I live in Porto.")
	appends := func(ctx context.Context, u *client.User) error {
		_, err := u.Append(ctx, "s1", "", event, client.Event{Doc: json.RawMessage(`{"author":"user","content":"x"}`)})
		return err
	}
	adds := func(ctx context.Context, u *client.User) error {
		_, err := u.AddMemory(ctx, client.Fact{Fact: "Ann sings."})
		return err
	}
	for name, test := range map[string]struct {
		fail     func(int32, http.Handler) http.HandlerFunc
		do       func(context.Context, *client.User) error
		want     error // its kind; nil for none
		requests int32
		sessions int // of one event more than they began with, and memories of kind fact
		events   int
		facts    int
	}{
		"append, answer lost": {fail: firstLost, do: appends, requests: 2, sessions: 1, events: 2},
		"ingest, answer lost": {fail: firstLost, do: func(ctx context.Context, u *client.User) error {
			_, err := u.Ingest(ctx, "s1", []client.Event{event}, false)
			return err
		}, requests: 2, sessions: 1, events: 1},
		"create, answer lost": {fail: firstLost, do: func(ctx context.Context, u *client.User) error {
			s, err := u.CreateSession(ctx, client.NewSession{State: map[string]any{"k": "v"}})
			if err == nil && s.State["k"] != "v" {
				err = errors.New("another session")
			}
			return err
		}, requests: 3, sessions: 2},
		"create by a name, answer lost": {fail: firstLost, do: func(ctx context.Context, u *client.User) error {
			_, err := u.CreateSession(ctx, client.NewSession{ID: "mine"})
			return err
		}, want: memory.ErrUnavailable, requests: 1, sessions: 2},
		"add, answer lost": {fail: firstLost, do: adds, want: memory.ErrUnavailable, requests: 1, sessions: 1, facts: 1},
		"a tool that reads, answer lost": {fail: firstLost, do: func(ctx context.Context, u *client.User) error {
			_, err := u.CallTool(ctx, "load_memory", json.RawMessage(`{"query": "Porto"}`))
			return err
		}, requests: 2, sessions: 1},
		"a tool that writes, answer lost": {fail: firstLost, do: func(ctx context.Context, u *client.User) error {
			_, err := u.CallTool(ctx, "remember", json.RawMessage(`{"fact": "Ann sings."}`))
			return err
		}, want: memory.ErrUnavailable, requests: 1, sessions: 1},
		"delete, answer lost": {fail: func(n int32, h http.Handler) http.HandlerFunc {
			if n == 2 { // the first request adds
				return lost(h)
			}
			return nil
		}, do: func(ctx context.Context, u *client.User) error {
			m, err := u.AddMemory(ctx, client.Fact{Fact: "Ann sings."})
			if err != nil {
				return err
			}
			return u.DeleteMemory(ctx, m.ID)
		}, requests: 3, sessions: 1},
		"delete of none": {do: func(ctx context.Context, u *client.User) error {
			return u.DeleteMemory(ctx, "none")
		}, fail: func(int32, http.Handler) http.HandlerFunc { return nil }, want: memory.ErrNotFound, requests: 1, sessions: 1},
		"append, stores away":    {fail: always(http.StatusServiceUnavailable), do: appends, want: memory.ErrUnavailable, requests: 3, sessions: 1},
		"append, a proxy's 502":  {fail: always(http.StatusBadGateway), do: appends, want: memory.ErrUnavailable, requests: 3, sessions: 1},
		"append, an error of it": {fail: always(http.StatusInternalServerError), do: appends, requests: 1, sessions: 1, want: errAny},
		"add, stores away":       {fail: always(http.StatusServiceUnavailable), do: adds, want: memory.ErrUnavailable, requests: 1, sessions: 1},
		"add, too many": {fail: func(n int32, _ http.Handler) http.HandlerFunc {
			if n == 1 {
				return status(http.StatusTooManyRequests)
			}
			return nil
		}, do: adds, requests: 2, sessions: 1, facts: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := bank(t)
			u := client.InProcess(b).User("app", "ann")
			if _, err := u.CreateSession(t.Context(), client.NewSession{ID: "s1"}); err != nil {
				t.Fatal(err)
			}
			f := &flaky{Handler: b, fail: test.fail}
			err := test.do(t.Context(), over(t, f, &client.Options{Retries: 2}).User("app", "ann"))
			if (err == nil) != (test.want == nil) || test.want != errAny && !errors.Is(err, test.want) {
				t.Errorf("error %v, want %v", err, test.want)
			}
			if n := f.n.Load(); n != test.requests {
				t.Errorf("%d requests, want %d", n, test.requests)
			}
			list := must[client.SessionPage](t)(u.Sessions(t.Context(), sessionstore.List{}))
			s := must[*client.Session](t)(u.Session(t.Context(), "s1", client.Recent{}))
			facts := must[memory.Page](t)(u.Memories(t.Context(), memory.List{Filter: memory.Filter{Kinds: []memory.Kind{memory.KindFact}}}))
			if len(list.Sessions) != test.sessions || len(s.Events) != test.events || len(facts.Memories) != test.facts && test.facts > 0 {
				t.Errorf("%d sessions, %d events, %d facts; want %d, %d, %d", len(list.Sessions), len(s.Events), len(facts.Memories), test.sessions, test.events, test.facts)
			}
		})
	}
}

var errAny = errors.New("any error")

// TestRefused checks that calls wait for a server that is not listening yet.
// So do calls that must not be repeated, because nothing can have arrived.
func TestRefused(t *testing.T) {
	on, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := on.Addr().String()
	on.Close()
	c, err := client.New("http://"+address, &client.Options{Retries: 1})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.User("app", "ann").AddMemory(t.Context(), client.Fact{Fact: "Ann sings."})
	if !errors.Is(err, memory.ErrUnavailable) {
		t.Errorf("nobody there: %v", err)
	}
	refusals := atomic.Int32{}
	b := bank(t)
	c, err = client.New("http://"+address, &client.Options{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		if refusals.Add(1) == 1 {
			return http.DefaultTransport.RoundTrip(r)
		}
		w := httptest.NewRecorder()
		b.ServeHTTP(w, r)
		return w.Result(), nil
	})})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.User("app", "ann").AddMemory(t.Context(), client.Fact{Fact: "Ann sings."}); err != nil || refusals.Load() != 2 {
		t.Errorf("there at the second try: %v after %d", err, refusals.Load())
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A call ends with its context and returns the error of the context.
func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	hang := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() })
	for name, c := range map[string]*client.Client{"http": over(t, hang, nil), "inprocess": client.InProcess(hang)} {
		if _, err := c.User("app", "ann").Memory(ctx, "m"); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		for _, err := range c.Follow(ctx, "o") {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: follow: %v", name, err)
			}
		}
	}
}

// If a context ends between two tries, the error also names the failure of the
// first try.
func TestContextBetweenTries(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c, err := client.New("http://memoryd.invalid", &client.Options{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		cancel()
		return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	})})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.User("app", "ann").Memory(ctx, "m")
	if !errors.Is(err, context.Canceled) || !errors.Is(err, memory.ErrUnavailable) || !strings.Contains(err.Error(), "refused") {
		t.Errorf("%v, want %v and %v", err, context.Canceled, memory.ErrUnavailable)
	}
}

// Follow reconnects after a broken stream and reports the end.
func TestFollowBroken(t *testing.T) {
	streams := atomic.Int32{}
	c := over(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept") != "text/event-stream" {
			io.WriteString(w, `{"id":"o","metadata":{"state":"RUNNING"}}`)
			return
		}
		switch streams.Add(1) {
		case 1: // cut off within a line
			io.WriteString(w, "data: {\"id\":\"o\",\"metadata\":{\"state\":\"RUNNING\"}}\n\ndata: {\"id\"")
		case 2: // a server that is about to stop
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			io.WriteString(w, ": still there\n\ndata: {\"id\":\"o\",\"done\":true,\"metadata\":{\"state\":\"SUCCEEDED\"}}\n\n")
		}
	}), nil)
	var states []sessionstore.OperationState
	for op, err := range c.Follow(t.Context(), "o") {
		if err != nil {
			t.Fatal(err)
		}
		states = append(states, op.Metadata.State)
	}
	if diff := cmp.Diff([]sessionstore.OperationState{sessionstore.Running, sessionstore.Succeeded}, states); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
}

func TestNew(t *testing.T) {
	for _, base := range []string{"", "127.0.0.1:8080", "ftp://x", "http://", "http://x?y=1", "http://x\x00"} {
		if _, err := client.New(base, nil); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%q: %v", base, err)
		}
	}
}

// TestOneTry checks that permanent failures are not retried, and that a slow call
// is given up.
func TestOneTry(t *testing.T) {
	calls := atomic.Int32{}
	count := func(h http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { calls.Add(1); h(w, r) }
	}
	hang := func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	begin := func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		w.Write([]byte("{"))
		<-r.Context().Done()
	}
	for name, test := range map[string]struct {
		c     *client.Client
		words string
		kind  error
	}{
		"redirects":            {over(t, count(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) }), nil), "302", nil},
		"panic":                {client.InProcess(count(func(http.ResponseWriter, *http.Request) { panic("a fault") })), "a fault", nil},
		"panic in the middle":  {client.InProcess(count(func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("{")); panic("a fault") })), "a fault", nil},
		"no answer":            {over(t, count(hang), &client.Options{Timeout: time.Millisecond, Retries: -1}), "in time", memory.ErrUnavailable},
		"half an answer":       {over(t, count(begin), &client.Options{Timeout: 50 * time.Millisecond, Retries: -1}), "in time", memory.ErrUnavailable},
		"an answer of nothing": {over(t, count(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "null") }), nil), "not a session", nil},
	} {
		calls.Store(0)
		_, err := test.c.User("app", "ann").Session(t.Context(), "s", client.Recent{})
		if err == nil || !strings.Contains(err.Error(), test.words) || test.kind != nil && !errors.Is(err, test.kind) {
			t.Errorf("%s: %v, want %q and %v", name, err, test.words, test.kind)
		}
		// A slow machine may run out of time before the request has left.
		least := int32(1)
		if errors.Is(test.kind, memory.ErrUnavailable) {
			least = 0
		}
		if n := calls.Load(); n < least || n > 1 {
			t.Errorf("%s: %d calls", name, n)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	c := client.InProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		cancel()
		select {} // whatever becomes of the context
	}))
	if _, err := c.User("app", "ann").Memory(ctx, "m"); !errors.Is(err, context.Canceled) {
		t.Errorf("a handler that goes on: %v", err)
	}
}

// New works if a program has replaced http.DefaultTransport.
func TestDefaultTransport(t *testing.T) {
	was := http.DefaultTransport
	defer func() { http.DefaultTransport = was }()
	http.DefaultTransport = roundTrip(func(*http.Request) (*http.Response, error) { return nil, errors.New("through ours") })
	c, err := client.New("http://memoryd.invalid", &client.Options{Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Operation(t.Context(), "o"); err == nil || !strings.Contains(err.Error(), "through ours") {
		t.Errorf("%v", err)
	}
}

// An invalid event is refused before it is sent.
func TestNoEvent(t *testing.T) {
	u := client.InProcess(http.NotFoundHandler()).User("app", "ann")
	for _, doc := range []string{"null", "[]", "5", "{"} {
		_, err := u.Append(t.Context(), "s", "", client.Event{Doc: json.RawMessage(doc)})
		if !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), "events[0]") {
			t.Errorf("%s: %v", doc, err)
		}
	}
}

// TestRollbackWith checks that a deleted memory comes back changed, in one revision.
func TestRollbackWith(t *testing.T) {
	u := client.InProcess(bank(t)).User("app", "ann")
	m := must[memory.Memory](t)(u.AddMemory(t.Context(), client.Fact{Fact: "Ann sings."}))
	if err := u.DeleteMemory(t.Context(), m.ID); err != nil {
		t.Fatal(err)
	}
	fact := "Ann dances."
	back := must[memory.Memory](t)(u.RollbackWith(t.Context(), m.ID, 1, client.Change{Fact: &fact}))
	if back.Fact != fact || back.Revision != 3 {
		t.Errorf("rolled back to %+v", back)
	}
}
