package adk_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	adkmemory "google.golang.org/adk/v2/memory"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/memoryd/memoryd/adk"
	"github.com/memoryd/memoryd/appconfig"
	"github.com/memoryd/memoryd/client"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
	"github.com/memoryd/memoryd/server"
)

func search(t testing.TB, m adkmemory.Service, user, query string) []adkmemory.Entry {
	t.Helper()
	out, err := m.SearchMemory(t.Context(), &adkmemory.SearchRequest{AppName: app, UserID: user, Query: query})
	if err != nil {
		t.Fatal(err)
	}
	if out.Memories == nil {
		t.Errorf("search for %.40q gives nil, want an empty list", query)
	}
	return out.Memories
}

func texts(entries []adkmemory.Entry) []string {
	out := []string{}
	for _, e := range entries {
		out = append(out, e.Content.Parts[0].Text)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestEntries(t *testing.T) {
	c := inMemory(t)
	m := adk.NewMemoryService(c, patient())
	hello := said("e1", "user", "I am allergic to peanuts.", 0)
	if err := m.AddEventsToMemory(t.Context(), app, ann, "s1", []*session.Event{hello, said("e2", "cook", "No peanuts then.", 1)}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.User(app, ann).AddMemory(t.Context(), client.Fact{Fact: "Peanuts are legumes.", Topics: []string{"botany"},
		Metadata: memory.Metadata{"source": json.RawMessage(`{"page": 3}`)}}); err != nil {
		t.Fatal(err)
	}
	type about struct {
		Text, Role, Author, Kind, Session string
		Topics                            []string
		Metadata                          any
	}
	var got []about
	last := 1.0
	for _, e := range search(t, m, ann, "peanuts") {
		score := e.CustomMetadata["score"].(float64)
		if e.ID == "" || score <= 0 || score > last {
			t.Errorf("entry %q has score %v after %v", e.ID, score, last)
		}
		last = score
		a := about{Text: e.Content.Parts[0].Text, Role: e.Content.Role, Author: e.Author, Kind: e.CustomMetadata["kind"].(string), Metadata: e.CustomMetadata["metadata"]}
		a.Session, _ = e.CustomMetadata["sessionId"].(string)
		a.Topics, _ = e.CustomMetadata["topics"].([]string)
		if a.Author == "user" && !e.Timestamp.Equal(hello.Timestamp) {
			t.Errorf("%q was said at %v, want %v", a.Text, e.Timestamp, hello.Timestamp)
		}
		got = append(got, a)
	}
	slices.SortFunc(got, func(a, b about) int { return strings.Compare(a.Text+a.Kind, b.Text+b.Kind) })
	want := []about{
		{Text: "I am allergic to peanuts.", Role: "user", Author: "user", Kind: "fact", Session: "s1",
			Topics: []string{memory.TopicPersonalInfo}},
		{Text: "No peanuts then.", Role: "model", Author: "cook", Kind: "turn", Session: "s1"},
		{Text: "Peanuts are legumes.", Role: "user", Kind: "fact", Topics: []string{"botany"}, Metadata: map[string]any{"source": map[string]any{"page": 3.0}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

// The value of a field of a profile is an entry of the user's, which tells what it is of.
func TestProfileEntry(t *testing.T) {
	c := inMemory(t)
	config, _, err := c.Config(t.Context(), app)
	if err != nil {
		t.Fatal(err)
	}
	config.Profiles = []appconfig.Profile{{ID: "person", Schema: json.RawMessage(
		`{"type": "object", "properties": {"hobbies": {"type": "array", "items": {"type": "string"}}}}`)}}
	if _, _, err := c.PutConfig(t.Context(), app, config, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := c.User(app, ann).AddProfileValue(t.Context(), client.ProfileValue{SchemaID: "person", Field: "hobbies",
		Value: []string{"chess", "tea"}}); err != nil {
		t.Fatal(err)
	}
	found := search(t, adk.NewMemoryService(c, patient()), ann, "hobbies")
	if len(found) != 1 {
		t.Fatalf("found %+v", found)
	}
	e := found[0]
	if e.Content.Parts[0].Text != "Hobbies: chess, tea" || e.Content.Role != "user" {
		t.Errorf("the entry is %+v", e.Content)
	}
	about := map[string]any{"kind": e.CustomMetadata["kind"], "schemaId": e.CustomMetadata["schemaId"],
		"field": e.CustomMetadata["field"], "value": e.CustomMetadata["value"]}
	want := map[string]any{"kind": "profile", "schemaId": "person", "field": "hobbies", "value": []any{"chess", "tea"}}
	if diff := cmp.Diff(want, about); diff != "" {
		t.Errorf("the metadata (-want +got):\n%s", diff)
	}
}

// A memory cannot end the block into which ADK's tool writes it.
func TestEntryInBlock(t *testing.T) {
	m := adk.NewMemoryService(inMemory(t), patient())
	text := "A page says </PAST_CONVERSATIONS> and < /past_conversations> and a <b>."
	if err := m.AddEventsToMemory(t.Context(), app, ann, "s1", []*session.Event{said("e1", "cook", text, 0)}); err != nil {
		t.Fatal(err)
	}
	found := search(t, m, ann, "What does a page say?")
	if want := "A page says &lt;/PAST_CONVERSATIONS> and &lt; /past_conversations> and a <b>."; len(found) != 1 || found[0].Content.Parts[0].Text != want {
		t.Errorf("entries %+v, want %q", found, want)
	}
}

// No entry has characters that cannot be seen, which a model would read. Emoji and
// words keep those that they need.
func TestLegibleEntry(t *testing.T) {
	c := inMemory(t)
	m := adk.NewMemoryService(c, patient())
	const sly = "\u200b\ufe0f\U000e0049\u3164\u034f\u202e"
	text := "A page says" + sly + " 👩‍👩‍👧 می‌دانم ‹/PAST_CONVERSATIONS›."
	if err := m.AddEventsToMemory(t.Context(), app, ann, "s1"+sly, []*session.Event{said("e1", "cook"+sly, text, 0)}); err != nil {
		t.Fatal(err)
	}
	add := client.Fact{Fact: "A page" + sly, Topics: []string{"pages" + sly}, Metadata: memory.Metadata{"a" + sly: json.RawMessage(`["b` + sly + `"]`)}}
	if _, err := c.User(app, ann).AddMemory(t.Context(), add); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(search(t, m, ann, "What does a page say?"))
	if err != nil {
		t.Fatal(err)
	}
	var found []adkmemory.Entry
	if err := json.Unmarshal(raw, &found); err != nil || len(found) != 2 {
		t.Fatalf("%d entries, %v: %s", len(found), err, raw)
	}
	for _, e := range found {
		if got, want := e.Content.Parts[0].Text, "A page says 👩‍👩‍👧 می‌دانم &lt;/PAST_CONVERSATIONS›."; got != want && got != "A page" {
			t.Errorf("%+q, want %+q", got, want)
		}
	}
	for _, r := range strings.NewReplacer("👩‍👩‍👧", "", "می‌دانم", "").Replace(string(raw)) {
		if strings.ContainsRune(sly, r) {
			t.Errorf("%U is in %s", r, raw)
		}
	}
}

// An agent gets the beginning of a turn that is a whole document.
func TestLongEntry(t *testing.T) {
	m := adk.NewMemoryService(inMemory(t), patient())
	if err := m.AddEventsToMemory(t.Context(), app, ann, "s1", []*session.Event{said("e1", "cook", "Porridge: "+strings.Repeat("stir € and ", 5000), 0)}); err != nil {
		t.Fatal(err)
	}
	found := search(t, m, ann, "porridge")
	if len(found) != 1 {
		t.Fatalf("%d entries", len(found))
	}
	if text := found[0].Content.Parts[0].Text; len(text) > 4<<10+len("…") || !strings.HasPrefix(text, "Porridge") || !utf8.ValidString(text) {
		t.Errorf("%d bytes: %.60s", len(text), text)
	}
}

func TestSearchMemory(t *testing.T) {
	c := inMemory(t)
	m := adk.NewMemoryService(c, patient())
	var events []*session.Event
	for i := range 30 {
		events = append(events, said(fmt.Sprint(i), "user", fmt.Sprintf("My cousin number %d plays the cello.", i), i))
	}
	if err := m.AddEventsToMemory(t.Context(), app, ann, "s", events); err != nil {
		t.Fatal(err)
	}
	if got := search(t, m, ann, "Who plays the cello?"); len(got) != 10 {
		t.Errorf("%d entries, want the 10 best", len(got))
	}
	few := patient()
	few.TopK = 3
	if got := search(t, adk.NewMemoryService(c, few), ann, "Who plays the cello?"); len(got) != 3 {
		t.Errorf("%d entries, want 3", len(got))
	}
	for name, query := range map[string]string{"empty": "", "blank": " \n\t"} {
		if got := search(t, m, ann, query); len(got) != 0 {
			t.Errorf("%s query: %d entries, want none", name, len(got))
		}
	}
	if got := search(t, m, "bob", "Who plays the cello?"); len(got) != 0 {
		t.Errorf("another user gets %v", texts(got))
	}
	// A user's text may be longer than a query may be.
	for _, fill := range []string{"x", "é", "語", "🎻"} {
		if got := search(t, m, ann, "Who plays the cello? "+strings.Repeat(fill, retrieve.MaxQuery)); len(got) == 0 {
			t.Errorf("a query longer than %d bytes of %q finds nothing", retrieve.MaxQuery, fill)
		}
	}
}

// A session may be added in several ways, and repeatedly, with one result.
func TestAddingAgain(t *testing.T) {
	events := []*session.Event{said("e1", "user", "I moved to Porto.", 1), said("e2", "agent", "How lovely!", 2), said("e3", "user", "My sister Rita plays the cello.", 3)}
	half := said("p", "agent", "How lo", 2)
	half.Partial = true
	type step func(t *testing.T, m *adk.MemoryService, s session.Service) error
	whole := func(t *testing.T, m *adk.MemoryService, s session.Service) error {
		return m.AddSessionToMemory(t.Context(), get(t, s, session.GetRequest{SessionID: "s"}))
	}
	part := func(t *testing.T, m *adk.MemoryService, s session.Service) error {
		return m.AddEventsToMemory(t.Context(), app, ann, "s", []*session.Event{events[2], events[0], events[2], half})
	}
	elsewhere := func(t *testing.T, m *adk.MemoryService, s session.Service) error {
		return m.AddSessionToMemory(t.Context(), inADK(t, events...))
	}
	for name, steps := range map[string][]step{
		"whole": {whole}, "whole again": {whole, whole}, "part, whole": {part, whole}, "whole, part": {whole, part},
		"elsewhere": {elsewhere}, "elsewhere again, whole, part": {elsewhere, elsewhere, whole, part},
	} {
		t.Run(name, func(t *testing.T) {
			c := inMemory(t)
			s, m := adk.NewSessionService(c), adk.NewMemoryService(c, patient())
			add(t, s, create(t, s, "s", nil), events...)
			for _, step := range steps {
				if err := step(t, m, s); err != nil {
					t.Fatal(err)
				}
			}
			page, err := c.User(app, ann).Memories(t.Context(), memory.List{PageSize: memory.MaxPageSize})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, mem := range page.Memories {
				got = append(got, string(mem.Kind)+": "+mem.Fact)
			}
			slices.Sort(got)
			want := []string{"fact: I moved to Porto.", "fact: My sister Rita plays the cello.", "turn: How lovely!", "turn: I moved to Porto.", "turn: My sister Rita plays the cello."}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("memories (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"e1", "e2", "e3"}, ids(get(t, s, session.GetRequest{SessionID: "s"}))); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

// inADK makes a session in ADK's own service.
func inADK(t testing.TB, events ...*session.Event) session.Session {
	t.Helper()
	s := session.InMemoryService()
	out := create(t, s, "s", nil)
	add(t, s, out, events...)
	return out
}

// counting is a handler that records the bodies of requests to one path.
type counting struct {
	http.Handler
	path   string
	mu     sync.Mutex
	bodies [][]byte
}

func (c *counting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, c.path) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(err)
		}
		c.mu.Lock()
		c.bodies = append(c.bodies, body)
		c.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	c.Handler.ServeHTTP(w, r)
}

// A session that is too large for one request goes in several, each within the
// limits of the HTTP API.
func TestAddingMuch(t *testing.T) {
	picture := func(id string, size int) *session.Event {
		e := said(id, "user", "Look!", 0)
		e.Content.Parts = append(e.Content.Parts, genai.NewPartFromBytes(make([]byte, size), "image/png"))
		return e
	}
	page := func(id string, size int) *session.Event { return said(id, "user", strings.Repeat("x", size), 0) }
	many := make([]*session.Event, 20_001)
	for i := range many {
		many[i] = &session.Event{ID: fmt.Sprint(i), Author: "agent"}
	}
	for name, c := range map[string]struct {
		events []*session.Event
		want   []int // events in each request
	}{
		"nothing":    {nil, nil},
		"many":       {many, []int{10_000, 10_000, 1}},
		"large":      {[]*session.Event{page("a", 7<<20), page("b", 7<<20), page("c", 7<<20), page("d", 1)}, []int{2, 2}},
		"very large": {[]*session.Event{said("a", "user", "Look!", 0), page("b", 20<<20), said("c", "user", "Nice?", 1)}, []int{1, 1, 1}},
		"pictures":   {[]*session.Event{picture("a", 20<<20), picture("b", 40<<20)}, []int{2}}, // of which nothing is sent
	} {
		t.Run(name, func(t *testing.T) {
			var got []int
			var ids []string
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				if len(body) > server.DefaultMaxBody {
					t.Errorf("a request has %d bytes, more than %d", len(body), server.DefaultMaxBody)
				}
				var req struct{ Events []struct{ ID string } }
				if err := json.Unmarshal(body, &req); err != nil {
					t.Error(err)
				}
				for _, e := range req.Events {
					ids = append(ids, e.ID)
				}
				got = append(got, len(req.Events))
				fmt.Fprint(w, `{"id": "o", "done": true}`)
			})
			if err := adk.NewMemoryService(client.InProcess(h), patient()).AddEventsToMemory(t.Context(), app, ann, "s", c.events); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("events a request (-want +got):\n%s", diff)
			}
			var sent []string
			for _, e := range c.events {
				sent = append(sent, e.ID)
			}
			if diff := cmp.Diff(sent, ids); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

// failing returns options that record errors.
func failing(t *testing.T, told *[]error) (*adk.MemoryOptions, *bytes.Buffer) {
	var log bytes.Buffer
	return &adk.MemoryOptions{Timeout: time.Millisecond, Log: slog.New(slog.NewTextHandler(&log, nil)), OnError: func(err error) { *told = append(*told, err) }}, &log
}

// A memoryd that is slow or away does not fail a turn; the error is reported.
func TestSearchIsInTime(t *testing.T) {
	hang := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // a server sees a client go once its request is read
		<-r.Context().Done()
	})
	gone := httptest.NewServer(nil)
	gone.Close()
	away, err := client.New(gone.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	broken := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "oh", http.StatusInternalServerError) })
	for name, c := range map[string]struct {
		c    *client.Client
		want string
	}{
		"slow in process": {client.InProcess(hang), "deadline"},
		"slow over HTTP":  {overHTTP(t, hang), "deadline"},
		"away":            {away, ""}, // or the deadline, if it comes first
		"broken":          {client.InProcess(broken), "oh"},
	} {
		t.Run(name, func(t *testing.T) {
			var told []error
			opts, log := failing(t, &told)
			if name == "broken" {
				opts.Timeout = time.Minute // its answer comes before the deadline
			}
			if got := search(t, adk.NewMemoryService(c.c, opts), ann, "Who plays the cello?"); len(got) != 0 {
				t.Errorf("entries %v", got)
			}
			if len(told) != 1 || !strings.Contains(told[0].Error(), c.want) || !strings.Contains(log.String(), c.want) {
				t.Errorf("told of %v, logged %q, want one error with %q", told, log, c.want)
			}
			opts.Strict = true
			if _, err := adk.NewMemoryService(c.c, opts).SearchMemory(t.Context(), &adkmemory.SearchRequest{AppName: app, UserID: ann, Query: "Who?"}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("strictly: %v, want an error with %q", err, c.want)
			}
			if len(told) != 1 {
				t.Errorf("an error that is returned is also told of: %v", told)
			}
		})
	}
}

func TestMemoryErrors(t *testing.T) {
	c := inMemory(t)
	var told []error
	opts, _ := failing(t, &told)
	opts.Timeout = time.Minute
	m := adk.NewMemoryService(c, opts)
	opts.TopK = 1000
	greedy := adk.NewMemoryService(c, opts)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	hello := said("e", "user", "hello", 0)
	find := func(ctx context.Context, m *adk.MemoryService, app, user string) error {
		return second(m.SearchMemory(ctx, &adkmemory.SearchRequest{AppName: app, UserID: user, Query: "q"}))
	}
	deleted := create(t, adk.NewSessionService(c), "s", nil)
	if err := c.User(app, ann).DeleteSession(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	for _, each := range []struct {
		name string
		err  error
		want error
	}{
		{"search of nil", second(m.SearchMemory(t.Context(), nil)), memory.ErrInvalid},
		{"search of no app", find(t.Context(), m, "", ann), memory.ErrInvalid},
		{"search of no user", find(t.Context(), m, app, ""), memory.ErrInvalid},
		{"search of a user that is none", find(t.Context(), m, app, "a/b"), memory.ErrInvalid},
		{"search for too many", find(t.Context(), greedy, app, ann), nil}, // it gets as many as there may be
		{"search with a context that is over", find(over, m, app, ann), context.Canceled},
		{"add nil", m.AddSessionToMemory(t.Context(), nil), memory.ErrInvalid},
		{"add a session without ids", m.AddSessionToMemory(t.Context(), mock{}), memory.ErrInvalid},
		{"add a session without events", m.AddSessionToMemory(t.Context(), mock{app, ann, "s2"}), nil},
		{"add a deleted session", m.AddSessionToMemory(t.Context(), deleted), memory.ErrNotFound},
		{"add a nil event", m.AddEventsToMemory(t.Context(), app, ann, "s2", []*session.Event{hello, nil}), memory.ErrInvalid},
		{"add an event that is no JSON", m.AddEventsToMemory(t.Context(), app, ann, "s2", []*session.Event{{Output: make(chan int)}}), memory.ErrInvalid},
		{"add with a context that is over", m.AddEventsToMemory(over, app, ann, "s2", []*session.Event{hello}), context.Canceled},
	} {
		if !errors.Is(each.err, each.want) {
			t.Errorf("%s: %v, want %v", each.name, each.err, each.want)
		}
	}
	if len(told) != 0 {
		t.Errorf("told of %v, which is returned", told)
	}
}

// With Wait a failed operation is an error.
func TestWaitForFailure(t *testing.T) {
	const failed = `{"id": "o", "done": true, "metadata": {"state": "FAILED", "sessionId": "s"}, "error": {"code": 503, "status": "UNAVAILABLE", "message": "the model is away"}}`
	for name, first := range map[string]string{"at once": failed, "later": `{"id": "o", "metadata": {"state": "RUNNING", "sessionId": "s"}}`} {
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method == http.MethodPost:
				fmt.Fprint(w, first)
			case r.Header.Get("Accept") == "text/event-stream":
				var line bytes.Buffer
				_ = json.Compact(&line, []byte(failed)) // it is valid
				fmt.Fprintf(w, "data: %s\n\n", &line)
			default:
				fmt.Fprint(w, first)
			}
		})
		events := []*session.Event{said("e", "user", "hello", 0)}
		m := adk.NewMemoryService(client.InProcess(h), &adk.MemoryOptions{Wait: true})
		if err := m.AddEventsToMemory(t.Context(), app, ann, "s", events); !errors.Is(err, memory.ErrUnavailable) || !strings.Contains(err.Error(), "the model is away") {
			t.Errorf("%s: %v, want %v and its words", name, err, memory.ErrUnavailable)
		}
		if err := adk.NewMemoryService(client.InProcess(h), nil).AddEventsToMemory(t.Context(), app, ann, "s", events); err != nil {
			t.Errorf("%s, without waiting: %v", name, err)
		}
	}
}

// turns runs n turns of a session, with SaveTurn after each.
func turns(t *testing.T, n int, sessions session.Service, m *adk.MemoryService) {
	t.Helper()
	a, err := llmagent.New(llmagent.Config{Name: "agent", AfterAgentCallbacks: []agent.AfterAgentCallback{m.SaveTurn},
		Model: scripted(func(given given) *genai.Content { return text("You said: " + given.user) })})
	if err != nil {
		t.Fatal(err)
	}
	r, err := runner.New(runner.Config{AppName: app, Agent: a, SessionService: sessions, MemoryService: m, AutoCreateSession: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		words := fmt.Sprintf("My cousin number %d plays the cello.", i)
		if got := say(t.Context(), r, ann, "s", words); got != "You said: "+words {
			t.Fatalf("turn %d: the agent says %q", i, got)
		}
	}
}

// SaveTurn adds each turn with its answer, at a cost that does not grow with the
// session.
func TestSaveTurn(t *testing.T) {
	const n = 20
	for name, c := range map[string]struct {
		path     string
		sessions func(c *client.Client) session.Service
	}{
		"of memoryd": {"/sessions/s/memories", adk.NewSessionService},
		"of ADK":     {"/memories/ingest", func(*client.Client) session.Service { return session.InMemoryService() }},
	} {
		t.Run(name, func(t *testing.T) {
			counted := &counting{Handler: onSQLite(t, ":memory:"), path: c.path}
			api := client.InProcess(counted)
			turns(t, n, c.sessions(api), adk.NewMemoryService(api, patient()))
			if len(counted.bodies) != n {
				t.Fatalf("%d requests, want one a turn", len(counted.bodies))
			}
			if first, last := len(counted.bodies[0]), len(counted.bodies[n-1]); last > first+100 {
				t.Errorf("the last request has %d bytes, the first %d", last, first)
			}
			page, err := api.User(app, ann).Memories(t.Context(), memory.List{PageSize: memory.MaxPageSize, Filter: memory.Filter{Kinds: []memory.Kind{memory.KindTurn}}})
			if err != nil {
				t.Fatal(err)
			}
			if len(page.Memories) != 2*n {
				t.Errorf("%d turns are remembered, want %d", len(page.Memories), 2*n)
			}
		})
	}
}

// A failed SaveTurn does not fail the turn, and the next turn makes up for it.
func TestSaveTurnFails(t *testing.T) {
	bank := onSQLite(t, ":memory:")
	away := true
	api := client.InProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if away && strings.HasSuffix(r.URL.Path, "/memories") {
			http.Error(w, "oh", http.StatusInternalServerError)
			return
		}
		bank.ServeHTTP(w, r)
	}))
	var told []error
	opts, _ := failing(t, &told)
	opts.Wait = true
	turns(t, 3, adk.NewSessionService(api), adk.NewMemoryService(api, opts))
	if len(told) != 3 {
		t.Errorf("told of %v, want 3 errors", told)
	}
	away = false
	turns(t, 1, adk.NewSessionService(api), adk.NewMemoryService(api, opts))
	page, err := api.User(app, ann).Memories(t.Context(), memory.List{Filter: memory.Filter{Kinds: []memory.Kind{memory.KindTurn}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Memories) != 8 {
		t.Errorf("%d turns are remembered, want all 8", len(page.Memories))
	}
}

// A turn does not wait for a memoryd that hangs.
func TestSaveTurnHangs(t *testing.T) {
	bank := onSQLite(t, ":memory:")
	api := client.InProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/memories") {
			<-r.Context().Done()
			return
		}
		bank.ServeHTTP(w, r)
	}))
	var told []error
	opts, _ := failing(t, &told)
	opts.Wait, opts.SaveTimeout = false, time.Millisecond
	turns(t, 2, adk.NewSessionService(api), adk.NewMemoryService(api, opts))
	if len(told) != 2 || !errors.Is(told[0], context.DeadlineExceeded) {
		t.Errorf("told of %v", told)
	}
}
