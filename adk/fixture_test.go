package adk_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/adk"
	"github.com/memoryd/memoryd/client"
	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/internal/openapitest"
	"github.com/memoryd/memoryd/internal/redistest"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory/sqlitestore"
	"github.com/memoryd/memoryd/sessionstore/redissession"
)

// opener opens an empty memoryd.
type opener func(t testing.TB) *client.Client

// onEach runs a test on every backend, in process and over HTTP.
func onEach(t *testing.T, test func(t *testing.T, open opener)) {
	for name, open := range map[string]func(t *testing.T) func(t testing.TB) http.Handler{
		"sqlite": func(*testing.T) func(t testing.TB) http.Handler {
			return func(t testing.TB) http.Handler { return onSQLite(t, t.TempDir()) }
		},
		"memory": func(*testing.T) func(t testing.TB) http.Handler {
			return func(t testing.TB) http.Handler { return onSQLite(t, ":memory:") }
		},
		"redis": func(t *testing.T) func(t testing.TB) http.Handler {
			r := redistest.Start(t)
			return func(t testing.TB) http.Handler {
				r.Flush(t)
				return onRedis(t, r.URL())
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			handler := open(t)
			t.Run("in process", func(t *testing.T) {
				test(t, func(t testing.TB) *client.Client { return client.InProcess(handler(t)) })
			})
			t.Run("over HTTP", func(t *testing.T) {
				test(t, func(t testing.TB) *client.Client { return overHTTP(t, openapitest.Checked(t, handler(t))) })
			})
		})
	}
}

func onSQLite(t testing.TB, dir string) *memoryd.Bank {
	t.Helper()
	bank, err := memoryd.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := bank.Close(); err != nil {
			t.Error(err)
		}
	})
	return bank
}

// onRedis has its sessions in Redis and its memories in process memory. It does no
// ingestion.
func onRedis(t testing.TB, url string) *memoryd.Bank {
	t.Helper()
	sessions, err := redissession.Open(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sqlitedb.Open(sqlitedb.Memory, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sessions.Close(); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	memories, err := sqlitestore.New(db, memoryd.ModelOf(embed.Builtin{}), nil)
	if err != nil {
		t.Fatal(err)
	}
	return memoryd.New(sessions, memories, nil)
}

func overHTTP(t testing.TB, h http.Handler) *client.Client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	c, err := client.New(s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// inMemory opens a memoryd that stores its data in process memory.
func inMemory(t testing.TB) *client.Client {
	t.Helper()
	return client.InProcess(onSQLite(t, ":memory:"))
}

// patient returns options for tests: searches have a minute, and errors are
// returned.
func patient() *adk.MemoryOptions {
	return &adk.MemoryOptions{Timeout: time.Minute, Wait: true, Strict: true}
}

const (
	app = "shop"
	ann = "ann"
)

func create(t testing.TB, s session.Service, id string, state map[string]any) session.Session {
	t.Helper()
	out, err := s.Create(t.Context(), &session.CreateRequest{AppName: app, UserID: ann, SessionID: id, State: state})
	if err != nil {
		t.Fatal(err)
	}
	return out.Session
}

func get(t testing.TB, s session.Service, req session.GetRequest) session.Session {
	t.Helper()
	req.AppName, req.UserID = app, ann
	out, err := s.Get(t.Context(), &req)
	if err != nil {
		t.Fatal(err)
	}
	return out.Session
}

func add(t testing.TB, s session.Service, to session.Session, events ...*session.Event) {
	t.Helper()
	for _, e := range events {
		if err := s.AppendEvent(t.Context(), to, e); err != nil {
			t.Fatal(err)
		}
	}
}

// said makes an event with a text, at a number of seconds after noon.
func said(id, author, text string, seconds int) *session.Event {
	role := genai.Role(genai.RoleModel)
	if author == "user" {
		role = genai.RoleUser
	}
	return &session.Event{ID: id, Author: author, InvocationID: "i-" + id, Timestamp: time.Date(2026, 3, 2, 12, 0, seconds, 0, time.UTC),
		LLMResponse: model.LLMResponse{Content: genai.NewContentFromText(text, role)}}
}

func ids(s session.Session) []string {
	out := []string{}
	for e := range s.Events().All() {
		out = append(out, e.ID)
	}
	return out
}

func stateOf(s session.Session) map[string]any {
	out := map[string]any{}
	for k, v := range s.State().All() {
		out[k] = v
	}
	return out
}
