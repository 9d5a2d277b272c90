package adk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/platform"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/session/sessiontestsuite"
	"google.golang.org/adk/v2/tool/toolconfirmation"
	"google.golang.org/genai"

	"github.com/memoryd/memoryd/adk"
	"github.com/memoryd/memoryd/client"
	"github.com/memoryd/memoryd/internal/redistest"
	"github.com/memoryd/memoryd/memory"
)

// TestSuite runs Google's own suite.
func TestSuite(t *testing.T) {
	onEach(t, func(t *testing.T, open opener) {
		sessiontestsuite.RunServiceTests(t, sessiontestsuite.SuiteOptions{SupportsUserProvidedSessionID: true}, func(t *testing.T) session.Service {
			return adk.NewSessionService(open(t))
		})
	})
}

// Concurrent agents append to one session. No append is refused and none is lost,
// whether they share a session object or have one each.
func TestConcurrentAppends(t *testing.T) {
	const writers, each = 16, 8
	for name, holds := range map[string]func(t *testing.T, s session.Service) []session.Session{
		"one object": func(t *testing.T, s session.Service) []session.Session {
			return slices.Repeat([]session.Session{create(t, s, "s", nil)}, writers)
		},
		"one each": func(t *testing.T, s session.Service) []session.Session {
			out := []session.Session{create(t, s, "s", nil)}
			for len(out) < writers {
				out = append(out, get(t, s, session.GetRequest{SessionID: "s"}))
			}
			return out
		},
	} {
		t.Run(name, func(t *testing.T) {
			onEach(t, func(t *testing.T, open opener) {
				s := adk.NewSessionService(open(t))
				held := holds(t, s)
				var working sync.WaitGroup
				for w := range writers {
					working.Go(func() {
						for i := range each {
							e := said(fmt.Sprintf("e%d-%d", w, i), "agent", "hello", i)
							e.Actions.StateDelta = map[string]any{fmt.Sprintf("k%d", w): float64(i), "user:last": "x", "app:last": "x", "temp:t": i}
							if err := s.AppendEvent(t.Context(), held[w], e); err != nil {
								t.Error(err)
							}
							_ = held[w].State().Set("temp:mine", i) // never fails
							for range held[w].State().All() {
							}
							for range held[w].Events().All() {
							}
							_ = held[w].LastUpdateTime()
						}
					})
				}
				working.Wait()
				stored := get(t, s, session.GetRequest{SessionID: "s"})
				var want []string
				state := map[string]any{"user:last": "x", "app:last": "x"}
				for w := range writers {
					state[fmt.Sprintf("k%d", w)] = float64(each - 1)
					for i := range each {
						want = append(want, fmt.Sprintf("e%d-%d", w, i))
					}
				}
				slices.Sort(want)
				if diff := cmp.Diff(want, slices.Sorted(slices.Values(ids(stored)))); diff != "" {
					t.Errorf("stored events (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(state, stateOf(stored)); diff != "" {
					t.Errorf("stored state (-want +got):\n%s", diff)
				}
				for w, h := range held {
					if name == "one object" {
						if diff := cmp.Diff(want, slices.Sorted(slices.Values(ids(h)))); diff != "" {
							t.Errorf("events of the object (-want +got):\n%s", diff)
						}
					}
					if got, err := h.State().Get(fmt.Sprintf("k%d", w)); got != float64(each-1) || err != nil {
						t.Errorf("writer %d sees its state as %v, %v", w, got, err)
					}
				}
			})
		})
	}
}

// A stale session object can still append.
func TestTwoServices(t *testing.T) {
	onEach(t, func(t *testing.T, open opener) {
		c := open(t)
		one, two := adk.NewSessionService(c), adk.NewSessionService(c)
		mine := create(t, one, "s", map[string]any{"k": "v"})
		theirs := get(t, two, session.GetRequest{SessionID: "s"})
		e2 := said("e2", "agent", "hi", 2)
		e2.Actions.StateDelta = map[string]any{"k": "theirs", "user:u": nil}
		add(t, one, mine, said("e1", "user", "hello", 1))
		add(t, two, theirs, e2)
		add(t, one, mine, said("e3", "user", "bye", 3))
		for name, s := range map[string]session.Service{"one": one, "two": two} {
			got := get(t, s, session.GetRequest{SessionID: "s"})
			if diff := cmp.Diff([]string{"e1", "e2", "e3"}, ids(got)); diff != "" {
				t.Errorf("events by service %s (-want +got):\n%s", name, diff)
			}
			if diff := cmp.Diff(map[string]any{"k": "theirs", "user:u": nil}, stateOf(got)); diff != "" {
				t.Errorf("state by service %s (-want +got):\n%s", name, diff)
			}
			if want := said("", "", "", 3).Timestamp; !got.LastUpdateTime().Equal(want) {
				t.Errorf("LastUpdateTime by service %s is %v, want %v", name, got.LastUpdateTime(), want)
			}
		}
		if diff := cmp.Diff([]string{"e1", "e3"}, ids(mine)); diff != "" {
			t.Errorf("events of the object overtaken (-want +got):\n%s", diff)
		}
	})
}

func TestAppendShowsInTheSession(t *testing.T) {
	s := adk.NewSessionService(inMemory(t))
	mine := create(t, s, "s", map[string]any{"k": "v"})
	before := mine.Events()
	secret := make(chan int) // no JSON: it never leaves
	e := said("", "agent", "hello", 0)
	e.Timestamp = time.Time{}
	e.Actions.StateDelta = map[string]any{"temp:t": secret, "user:u": "u", "k": nil}
	now := time.Date(2026, 3, 2, 12, 0, 0, 123456789, time.FixedZone("east", 3600))
	ctx := platform.WithTimeProvider(platform.WithUUIDProvider(t.Context(), func() string { return "e-1" }), func() time.Time { return now })
	if err := s.AppendEvent(ctx, mine, e); err != nil {
		t.Fatal(err)
	}
	at := now.Truncate(time.Microsecond)
	if e.ID != "e-1" || !e.Timestamp.Equal(at) {
		t.Errorf("the event has id %q and time %v, want those it is stored with: e-1, %v", e.ID, e.Timestamp, at)
	}
	if diff := cmp.Diff(map[string]any{"temp:t": secret, "user:u": "u", "k": nil}, e.Actions.StateDelta); diff != "" {
		t.Errorf("the caller's state delta (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"temp:t": secret, "user:u": "u", "k": nil}, stateOf(mine)); diff != "" {
		t.Errorf("state for the rest of the invocation (-want +got):\n%s", diff)
	}
	if !mine.LastUpdateTime().Equal(at) {
		t.Errorf("LastUpdateTime is %v, want %v", mine.LastUpdateTime(), at)
	}
	if before.Len() != 0 || mine.Events().Len() != 1 || mine.Events().At(1) != nil || mine.Events().At(-1) != nil {
		t.Errorf("%d events before and %d after, want 0 and 1", before.Len(), mine.Events().Len())
	}
	stored := map[string]any{"user:u": "u", "k": nil}
	if diff := cmp.Diff(stored, mine.Events().At(0).Actions.StateDelta); diff != "" {
		t.Errorf("the state delta of the session's event (-want +got):\n%s", diff)
	}
	again := get(t, s, session.GetRequest{SessionID: "s"})
	if diff := cmp.Diff(stored, stateOf(again)); diff != "" {
		t.Errorf("stored state (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(mine.Events().At(0), again.Events().At(0)); diff != "" {
		t.Errorf("the event here and there (-here +there):\n%s", diff)
	}
	if _, err := again.State().Get("temp:t"); !errors.Is(err, session.ErrStateKeyNotExist) {
		t.Errorf("temp: state of an earlier invocation: %v, want %v", err, session.ErrStateKeyNotExist)
	}
}

func TestAppendAgain(t *testing.T) {
	s := adk.NewSessionService(inMemory(t))
	mine := create(t, s, "s", nil)
	e := said("e1", "agent", "hello", 1)
	e.Actions.StateDelta = map[string]any{"k": "first"}
	later := said("e2", "agent", "hello", 2)
	later.Actions.StateDelta = map[string]any{"k": "second"}
	add(t, s, mine, e, later, e)
	for name, got := range map[string]session.Session{"here": mine, "there": get(t, s, session.GetRequest{SessionID: "s"})} {
		if diff := cmp.Diff([]string{"e1", "e2"}, ids(got)); diff != "" {
			t.Errorf("events %s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(map[string]any{"k": "second"}, stateOf(got)); diff != "" {
			t.Errorf("state %s (-want +got):\n%s", name, diff)
		}
	}
}

// A failed append does not change the session object.
func TestAppendFails(t *testing.T) {
	s := adk.NewSessionService(inMemory(t))
	mine := create(t, s, "s", map[string]any{"k": "v"})
	e := said("e1", "agent", "hello", 1)
	e.Actions.StateDelta = map[string]any{"k": make(chan int)}
	if err := s.AppendEvent(t.Context(), mine, e); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("a state that is no JSON: %v, want %v", err, memory.ErrInvalid)
	}
	if err := s.Delete(t.Context(), &session.DeleteRequest{AppName: app, UserID: ann, SessionID: "s"}); err != nil {
		t.Fatal(err)
	}
	e.Actions.StateDelta = map[string]any{"k": "new"}
	if err := s.AppendEvent(t.Context(), mine, e); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("a deleted session: %v, want %v", err, memory.ErrNotFound)
	}
	if mine.Events().Len() != 0 || stateOf(mine)["k"] != "v" {
		t.Errorf("the session shows %v, %v", ids(mine), stateOf(mine))
	}
}

// A session object of another service is read for its ids only.
func TestAppendToAnothersSession(t *testing.T) {
	s := adk.NewSessionService(inMemory(t))
	create(t, s, "s", nil)
	theirs := create(t, session.InMemoryService(), "s", nil)
	add(t, s, theirs, said("e1", "user", "hello", 1))
	if diff := cmp.Diff([]string{"e1"}, ids(get(t, s, session.GetRequest{SessionID: "s"}))); diff != "" {
		t.Errorf("stored events (-want +got):\n%s", diff)
	}
}

func TestState(t *testing.T) {
	s := adk.NewSessionService(inMemory(t))
	values := map[string]any{"n": 3.5, "s": "<b> & é", "l": []any{"a", nil, true}, "m": map[string]any{"a": map[string]any{}}, "z": nil}
	given := map[string]any{"temp:gone": 1}
	for k, v := range values {
		given[k], given["user:"+k], given["app:"+k] = v, v, v
	}
	mine := create(t, s, "s", given)
	delete(given, "temp:gone")
	if diff := cmp.Diff(given, stateOf(mine)); diff != "" {
		t.Errorf("state as created (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(given, stateOf(get(t, s, session.GetRequest{SessionID: "s"}))); diff != "" {
		t.Errorf("state as read (-want +got):\n%s", diff)
	}
	if err := mine.State().Set("k", "here"); err != nil {
		t.Fatal(err)
	}
	if v, err := mine.State().Get("k"); v != "here" || err != nil {
		t.Errorf("a key that is set is %v, %v", v, err)
	}
	if _, err := get(t, s, session.GetRequest{SessionID: "s"}).State().Get("k"); !errors.Is(err, session.ErrStateKeyNotExist) {
		t.Errorf("a key that is set, and in no event: %v, want %v", err, session.ErrStateKeyNotExist)
	}
	if err := s.Delete(t.Context(), &session.DeleteRequest{AppName: app, UserID: ann, SessionID: "s"}); err != nil {
		t.Fatal(err)
	}
	left := map[string]any{}
	for k, v := range values {
		left["user:"+k], left["app:"+k] = v, v
	}
	if diff := cmp.Diff(left, stateOf(create(t, s, "s", nil))); diff != "" {
		t.Errorf("state that outlives a session (-want +got):\n%s", diff)
	}
}

func TestRecentEvents(t *testing.T) {
	const n = 300
	s := adk.NewSessionService(inMemory(t))
	mine := create(t, s, "s", nil)
	for i := range n {
		add(t, s, mine, said(fmt.Sprint(i), "user", "hello", i))
	}
	for _, c := range []struct {
		recent, after, first, count int
	}{
		{0, 0, 0, n}, {-1, 0, 0, n}, {1, 0, n - 1, 1}, {20, 0, n - 20, 20}, {n + 1, 0, 0, n}, {0, 250, 250, 50}, {20, 250, n - 20, 20}, {100, 250, 250, 50}, {20, n, 0, 0},
	} {
		req := session.GetRequest{SessionID: "s", NumRecentEvents: c.recent}
		if c.after > 0 {
			req.After = said("", "", "", c.after).Timestamp.In(time.FixedZone("east", 3600))
		}
		want := []string{}
		for i := range c.count {
			want = append(want, fmt.Sprint(c.first+i))
		}
		if diff := cmp.Diff(want, ids(get(t, s, req))); diff != "" {
			t.Errorf("the last %d after %d s (-want +got):\n%s", c.recent, c.after, diff)
		}
	}
}

// List reads more than one page.
func TestListAll(t *testing.T) {
	s := adk.NewSessionService(inMemory(t))
	for i := range memory.MaxPageSize + 1 {
		create(t, s, fmt.Sprint(i), map[string]any{"i": float64(i)})
	}
	if _, err := s.Create(t.Context(), &session.CreateRequest{AppName: app, UserID: "bob", SessionID: "b"}); err != nil {
		t.Fatal(err)
	}
	for user, want := range map[string]int{ann: memory.MaxPageSize + 1, "bob": 1, "": memory.MaxPageSize + 2, "carl": 0} {
		got, err := s.List(t.Context(), &session.ListRequest{AppName: app, UserID: user})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Sessions) != want || got.Sessions == nil {
			t.Errorf("%d sessions of %q, want %d", len(got.Sessions), user, want)
		}
		for _, each := range got.Sessions {
			if each.UserID() == ann && stateOf(each)["i"] == nil {
				t.Errorf("session %q is listed with state %v", each.ID(), stateOf(each))
			}
		}
	}
}

func TestRestart(t *testing.T) {
	for name, backend := range map[string]func(t *testing.T) (open func(t *testing.T) http.Handler, restart func()){
		"sqlite": func(t *testing.T) (func(t *testing.T) http.Handler, func()) {
			dir := t.TempDir()
			return func(t *testing.T) http.Handler { return onSQLite(t, dir) }, func() {}
		},
		"redis": func(t *testing.T) (func(t *testing.T) http.Handler, func()) {
			redis := redistest.Start(t)
			return func(t *testing.T) http.Handler { return onRedis(t, redis.URL()) }, func() {
				redis.Kill()
				redis.Run(t)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			open, restart := backend(t)
			var bank http.Handler
			s := adk.NewSessionService(client.InProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { bank.ServeHTTP(w, r) })))
			var mine session.Session
			t.Run("first", func(t *testing.T) { // its memoryd is closed when it ends
				bank = open(t)
				mine = create(t, s, "s", map[string]any{"user:k": "v"})
				add(t, s, mine, said("e1", "user", "hello", 1))
			})
			restart()
			t.Run("again", func(t *testing.T) {
				bank = open(t)
				add(t, s, mine, said("e2", "user", "still here", 2))
				got := get(t, s, session.GetRequest{SessionID: "s"})
				if diff := cmp.Diff([]string{"e1", "e2"}, ids(got)); diff != "" {
					t.Errorf("events (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(map[string]any{"user:k": "v"}, stateOf(got)); diff != "" {
					t.Errorf("state (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// An event comes back unchanged, and is stored in the form that ADK writes.
func TestRoundTrip(t *testing.T) {
	onEach(t, func(t *testing.T, open opener) {
		c := open(t)
		s := adk.NewSessionService(c)
		mine := create(t, s, "s", nil)
		e := said("e1", "agent", "<b> & é\u2028", 1)
		e.Branch, e.IsolationScope, e.LongRunningToolIDs, e.Routes = "a.b", "scope", []string{"t1"}, []string{"r1"}
		e.RequestedInput = &session.RequestInput{InterruptID: "r", Message: "Which?", Payload: map[string]any{"mime_type": "x"}}
		e.Output = map[string]any{"n": 1e21, "mime_type": "kept"}
		e.NodeInfo = &session.NodeInfo{Path: "a/b@1", MessageAsOutput: true, OutputFor: []string{"a"}}
		e.Content.Parts = append(e.Content.Parts,
			&genai.Part{Text: "hm", Thought: true, ThoughtSignature: []byte{0, 255}},
			genai.NewPartFromBytes([]byte{0, 1, 2, 254, 255}, "image/png"),
			genai.NewPartFromURI("gs://b/f", "text/plain"),
			&genai.Part{FunctionCall: &genai.FunctionCall{ID: "c1", Name: "f", Args: map[string]any{"mime_type": 1.0, "n": nil}}},
			&genai.Part{FunctionResponse: &genai.FunctionResponse{ID: "c1", Name: "f", Response: map[string]any{"file_uri": []any{1.0, "x"}}}},
			&genai.Part{ExecutableCode: &genai.ExecutableCode{Code: "1+1", Language: genai.LanguagePython}},
			&genai.Part{CodeExecutionResult: &genai.CodeExecutionResult{Outcome: genai.OutcomeOK, Output: "2"}})
		e.Actions = session.EventActions{StateDelta: map[string]any{"k": "v", "z": nil}, ArtifactDelta: map[string]int64{"chunk_id": 1 << 40}, SkipSummarization: true,
			TransferToAgent: "b", Escalate: true, RequestedToolConfirmations: map[string]toolconfirmation.ToolConfirmation{"c1": {Hint: "Sure?", Payload: "p"}}}
		e.LLMResponse = model.LLMResponse{Content: e.Content, TurnComplete: true, Interrupted: true, ErrorCode: "c", ErrorMessage: "m", ModelVersion: "v", SessionResumptionHandle: "h",
			FinishReason: genai.FinishReasonStop, AvgLogprobs: -0.25, CustomMetadata: map[string]any{"mime_type": "x", "deep": map[string]any{"a": []any{}}},
			CitationMetadata:   &genai.CitationMetadata{Citations: []*genai.Citation{{StartIndex: 1, EndIndex: 2, URI: "u", Title: "t"}}},
			GroundingMetadata:  &genai.GroundingMetadata{WebSearchQueries: []string{"q"}, GroundingChunks: []*genai.GroundingChunk{{Web: &genai.GroundingChunkWeb{URI: "u"}}}},
			UsageMetadata:      &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 1, CandidatesTokenCount: 2, TotalTokenCount: 3, CachedContentTokenCount: 4},
			LogprobsResult:     &genai.LogprobsResult{ChosenCandidates: []*genai.LogprobsResultCandidate{{Token: "t", TokenID: 5}}},
			InputTranscription: &genai.Transcription{Text: "in", Finished: true}, OutputTranscription: &genai.Transcription{Text: "out"}}
		empty := &session.Event{ID: "e2", Author: "agent", InvocationID: "i", Timestamp: e.Timestamp, Actions: session.EventActions{StateDelta: map[string]any{}, ArtifactDelta: map[string]int64{}}}
		add(t, s, mine, e, empty)
		got := get(t, s, session.GetRequest{SessionID: "s"})
		raw, err := c.User(app, ann).Session(t.Context(), "s", client.Recent{})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []*session.Event{e, empty} {
			if diff := cmp.Diff(want, got.Events().At(i)); diff != "" {
				t.Errorf("event %d (-want +got):\n%s", i, diff)
			}
			doc, err := json.Marshal(want)
			if err != nil {
				t.Fatal(err)
			}
			var as, is map[string]any
			if err := errors.Join(json.Unmarshal(doc, &as), json.Unmarshal(raw.Events[i].Doc, &is)); err != nil {
				t.Fatal(err)
			}
			as["timestamp"] = want.Timestamp.Format("2006-01-02T15:04:05.000000Z")
			if diff := cmp.Diff(as, is); diff != "" {
				t.Errorf("event %d as stored (-as ADK writes it +got):\n%s", i, diff)
			}
		}
	})
}

// Events of other ADKs can be read, and unknown fields stay.
func TestAnothersEvents(t *testing.T) {
	c := inMemory(t)
	doc := `{"id":"e1","invocation_id":"i1","author":"agent","timestamp":1772452801.5,"content":{"role":"model","parts":[{"text":"hi"}]},"actions":{"state_delta":{"k":1},"agent_state":{"x":1}},"brand_new":{"a":[1e400]}}`
	if _, err := c.User(app, ann).CreateSession(t.Context(), client.NewSession{ID: "s", Events: []client.Event{{Doc: json.RawMessage(doc)}}}); err != nil {
		t.Fatal(err)
	}
	s := adk.NewSessionService(c)
	mine := get(t, s, session.GetRequest{SessionID: "s"})
	e := mine.Events().At(0)
	if want := time.Date(2026, 3, 2, 12, 0, 1, 5e8, time.UTC); e.InvocationID != "i1" || !e.Timestamp.Equal(want) || e.Content.Parts[0].Text != "hi" || stateOf(mine)["k"] != 1.0 {
		t.Errorf("read as %+v, state %v", e, stateOf(mine))
	}
	add(t, s, mine, said("e2", "user", "hello", 60))
	raw, err := c.User(app, ann).Session(t.Context(), "s", client.Recent{})
	if err != nil {
		t.Fatal(err)
	}
	for _, kept := range []string{`"brand_new":{"a":[1e400]}`, `"agentState":{"x":1}`} {
		if !strings.Contains(string(raw.Events[0].Doc), kept) {
			t.Errorf("stored as %s, want %s in it", raw.Events[0].Doc, kept)
		}
	}
}

// mock is a session.Session without a service.
type mock struct{ app, user, id string }

func (m mock) AppName() string           { return m.app }
func (m mock) UserID() string            { return m.user }
func (m mock) ID() string                { return m.id }
func (m mock) State() session.State      { return nil }
func (m mock) Events() session.Events    { return nil }
func (m mock) LastUpdateTime() time.Time { return time.Time{} }

func TestBadRequests(t *testing.T) {
	s := adk.NewSessionService(inMemory(t))
	mine := create(t, s, "s", nil)
	long := strings.Repeat("x", memory.MaxID+1)
	hello := said("e", "user", "hello", 0)
	calls := map[string]func(ctx context.Context, app, user, id string) error{
		"create": func(ctx context.Context, app, user, id string) error {
			_, err := s.Create(ctx, &session.CreateRequest{AppName: app, UserID: user, SessionID: id})
			return err
		},
		"get": func(ctx context.Context, app, user, id string) error {
			_, err := s.Get(ctx, &session.GetRequest{AppName: app, UserID: user, SessionID: id})
			return err
		},
		"list": func(ctx context.Context, app, user, _ string) error {
			_, err := s.List(ctx, &session.ListRequest{AppName: app, UserID: user})
			return err
		},
		"delete": func(ctx context.Context, app, user, id string) error {
			return s.Delete(ctx, &session.DeleteRequest{AppName: app, UserID: user, SessionID: id})
		},
		"append": func(ctx context.Context, app, user, id string) error {
			return s.AppendEvent(ctx, mock{app, user, id}, hello)
		},
	}
	for name, call := range calls {
		for _, bad := range []string{"", ".", "..", "a/b", "a\x00", "\xff", long} {
			for i := range 3 {
				of := []string{app, ann, "s2"}
				of[i] = bad
				if bad == "" && (name == "create" && i == 2 || name == "list" && i == 1) || name == "list" && i == 2 {
					continue // it may be left out
				}
				if err := call(t.Context(), of[0], of[1], of[2]); !errors.Is(err, memory.ErrInvalid) {
					t.Errorf("%s of app %.10q, user %.10q, session %.10q: %v, want %v", name, of[0], of[1], of[2], err, memory.ErrInvalid)
				}
			}
		}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name string
		err  error
		want error
	}{
		{"create that is there", calls["create"](t.Context(), app, ann, "s"), memory.ErrExists},
		{"get of another user", calls["get"](t.Context(), app, "bob", "s"), memory.ErrNotFound},
		{"append to another user's", calls["append"](t.Context(), app, "bob", "s"), memory.ErrNotFound},
		{"delete of a missing one", calls["delete"](t.Context(), app, ann, "nope"), nil},
		{"append with a context that is over", calls["append"](over, app, ann, "s"), context.Canceled},
		{"create of nil", second(s.Create(t.Context(), nil)), memory.ErrInvalid},
		{"get of nil", second(s.Get(t.Context(), nil)), memory.ErrInvalid},
		{"list of nil", second(s.List(t.Context(), nil)), memory.ErrInvalid},
		{"delete of nil", s.Delete(t.Context(), nil), memory.ErrInvalid},
		{"append to nil", s.AppendEvent(t.Context(), nil, hello), memory.ErrInvalid},
		{"append of nil", s.AppendEvent(t.Context(), mine, nil), memory.ErrInvalid},
		{"append of a nil part", s.AppendEvent(t.Context(), mine, &session.Event{LLMResponse: model.LLMResponse{Content: &genai.Content{Parts: []*genai.Part{nil}}}}), memory.ErrInvalid},
		{"append of an impossible time", s.AppendEvent(t.Context(), mine, &session.Event{Timestamp: time.Unix(1<<40, 0)}), memory.ErrInvalid},
		{"append of nothing", s.AppendEvent(t.Context(), mine, &session.Event{}), nil},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.err, c.want)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestMemorydIsGone(t *testing.T) {
	server := httptest.NewServer(onSQLite(t, ":memory:"))
	c, err := client.New(server.URL, &client.Options{Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	s := adk.NewSessionService(c)
	mine := create(t, s, "s", nil)
	server.Close()
	for name, err := range map[string]error{
		"create": second(s.Create(t.Context(), &session.CreateRequest{AppName: app, UserID: ann})),
		"get":    second(s.Get(t.Context(), &session.GetRequest{AppName: app, UserID: ann, SessionID: "s"})),
		"list":   second(s.List(t.Context(), &session.ListRequest{AppName: app})),
		"delete": s.Delete(t.Context(), &session.DeleteRequest{AppName: app, UserID: ann, SessionID: "s"}),
		"append": s.AppendEvent(t.Context(), mine, said("e", "user", "hello", 0)),
	} {
		if !errors.Is(err, memory.ErrUnavailable) || !strings.Contains(err.Error(), server.URL) {
			t.Errorf("%s: %v, want %v that names %s", name, err, memory.ErrUnavailable, server.URL)
		}
	}
	if mine.Events().Len() != 0 {
		t.Errorf("the session shows an event that is not stored")
	}
}

// Space around a session id is ignored in every call.
func TestSpaceAroundID(t *testing.T) {
	s := adk.NewSessionService(inMemory(t))
	key := session.GetRequest{AppName: app, UserID: ann, SessionID: " s1\n"}
	made, err := s.Create(t.Context(), &session.CreateRequest{AppName: key.AppName, UserID: key.UserID, SessionID: key.SessionID})
	if err != nil || made.Session.ID() != "s1" {
		t.Fatalf("%+v, %v", made, err)
	}
	if err := s.AppendEvent(t.Context(), mock{app, ann, key.SessionID}, said("e1", "user", "Hello", 0)); err != nil {
		t.Error(err)
	}
	if got, err := s.Get(t.Context(), &key); err != nil || got.Session.Events().Len() != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if err := s.Delete(t.Context(), &session.DeleteRequest{AppName: app, UserID: ann, SessionID: key.SessionID}); err != nil {
		t.Error(err)
	}
	if _, err := s.Get(t.Context(), &session.GetRequest{AppName: app, UserID: ann, SessionID: "s1"}); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("a deleted session: %v", err)
	}
}
