package memoryd_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/internal/qdranttest"
	"github.com/memoryd/memoryd/internal/redistest"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/qdrantstore"
	"github.com/memoryd/memoryd/memory/sqlitestore"
	"github.com/memoryd/memoryd/server"
	"github.com/memoryd/memoryd/sessionstore/redissession"
	"github.com/memoryd/memoryd/sessionstore/sqlitesession"
)

// sequences is how many sequences of calls TestTenants makes on each backend.
var sequences = flag.Int("sequences", 150, "`NUMBER` of random sequences of calls by three tenants, on each backend")

// tenantUser is one user of one of three tenants. Everything that is stored in its scope
// has its word, and nothing else has.
type tenantUser struct {
	scope      memory.Scope
	word       string
	memories   []string
	operations []string
	tokens     []string
}

func (u *tenantUser) path() string {
	return "/v1/apps/" + url.PathEscape(u.scope.App) + "/users/" + url.PathEscape(u.scope.User)
}

// tenantKey is a key and what it may do.
type tenantKey struct {
	shown     string
	principal *access.Principal
}

// tenants are three tenants of one memoryd, and what they know.
type tenants struct {
	*rand.Rand
	t     *testing.T
	bank  *memoryd.Bank
	log   *bytes.Buffer
	users []*tenantUser
	keys  []tenantKey
	words map[string]string // of the shared knowledge, by app
	calls int
	may   int // calls that were allowed
}

// TestTenants has three tenants make random calls with keys of their own, over HTTP and
// MCP, against scopes, sessions, memories, operations and page tokens of all of them. A
// call does what its key allows and answers with nothing of another scope; every other
// call is refused, and answers with nothing at all.
func TestTenants(t *testing.T) {
	backends := map[string]func(t *testing.T) (ingest.Sessions, memory.Store, access.Keys){
		"embedded": func(t *testing.T) (ingest.Sessions, memory.Store, access.Keys) {
			db, err := sqlitedb.Open(filepath.Join(t.TempDir(), "memoryd.db"), nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { db.Close() })
			memories, err := sqlitestore.New(db, memoryd.ModelOf(embed.Builtin{}), nil)
			if err != nil {
				t.Fatal(err)
			}
			sessions, err := sqlitesession.New(db, nil)
			if err != nil {
				t.Fatal(err)
			}
			return sessions, memories, sessions
		},
		"redis and qdrant": func(t *testing.T) (ingest.Sessions, memory.Store, access.Keys) {
			sessions, err := redissession.Open(t.Context(), redistest.Start(t).URL(), nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { sessions.Close() })
			memories, err := qdrantstore.Open(t.Context(), qdranttest.Start(t).URL(t), memoryd.ModelOf(embed.Builtin{}), nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { memories.Close() })
			return sessions, memories, sessions
		},
	}
	for name, open := range backends {
		t.Run(name, func(t *testing.T) {
			sessions, memories, keys := open(t)
			log := &bytes.Buffer{}
			bank := memoryd.New(sessions, memories, &memoryd.Options{Server: server.Options{
				Keys: keys, Log: slog.New(slog.NewTextHandler(log, nil))}})
			ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
			ran := make(chan struct{})
			go func() { bank.Run(ctx); close(ran) }()
			w := &tenants{Rand: rand.New(rand.NewPCG(17, 4)), t: t, bank: bank, log: log, words: map[string]string{}}
			w.settle()
			for range *sequences {
				for range 1 + w.IntN(6) {
					w.step()
				}
			}
			bank.Stop()
			stop()
			<-ran
			t.Logf("%d calls, of which %d were allowed", w.calls, w.may)
			if w.may < w.calls/8 || w.may > w.calls*4/5 {
				t.Errorf("%d of %d calls were allowed: the test is of one kind", w.may, w.calls)
			}
			for _, u := range w.users {
				if strings.Contains(log.String(), u.word) {
					t.Errorf("the log has what %v said", u.scope)
				}
			}
			for _, k := range w.keys {
				if strings.Contains(log.String(), k.shown) {
					t.Errorf("the log has a key")
				}
			}
		})
	}
}

// settle makes users, keys of many kinds, and something in every scope.
func (w *tenants) settle() {
	for _, app := range []string{"shop", "shop:", "bank"} {
		for _, user := range []string{"ann", "bob", "ann:"} {
			n := len(w.users)
			w.users = append(w.users, &tenantUser{scope: memory.Scope{App: app, User: user},
				word: "quux" + string(rune('a'+n)) + "zel"})
		}
	}
	owner := tenantKey{"", access.Owner}
	for _, u := range w.users {
		w.configure(owner, u)
		w.value(owner, u)
		w.ingest(owner, u)
		w.remember(owner, u)
	}
	for i, app := range []string{"shop", "shop:", "bank"} {
		w.words[app] = "vrok" + string(rune('a'+i)) + "mal"
		w.send("POST", "/v1/apps/"+url.PathEscape(app)+"/memories", "",
			map[string]any{"fact": "The manual has the " + w.words[app] + " number 1."})
		w.send("POST", "/v1/apps/"+url.PathEscape(app)+"/memories", "",
			map[string]any{"fact": "The manual has the " + w.words[app] + " number 2."})
	}
	all := access.Read | access.Write | access.Admin
	first := w.key("", access.AllApps, "", all)
	w.keys = append(w.keys, first)
	for _, u := range w.users {
		for _, verbs := range []access.Verbs{access.Read, access.Write, access.Read | access.Write, all} {
			w.keys = append(w.keys, w.key(first.shown, u.scope.App, u.scope.User, verbs))
		}
	}
	for _, app := range []string{"shop", "shop:", "bank"} {
		for _, verbs := range []access.Verbs{access.Read, access.Write, access.Admin, all} {
			w.keys = append(w.keys, w.key(first.shown, app, "", verbs))
		}
	}
}

func (w *tenants) key(admin, app, user string, can access.Verbs) tenantKey {
	w.t.Helper()
	status, body := w.send("POST", "/v1/apps/"+url.PathEscape(app)+"/keys", admin,
		map[string]any{"userId": user, "can": can.Names()})
	var made struct{ Key string }
	if err := json.Unmarshal(body, &made); status != 201 || err != nil {
		w.t.Fatalf("make a key of %s: %d %s", app, status, body)
	}
	return tenantKey{made.Key, &access.Principal{App: app, User: user, Can: can}}
}

// send sends a request, without a network.
func (w *tenants) send(method, path, key string, body any) (int, []byte) {
	var in io.Reader = http.NoBody
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			w.t.Fatal(err)
		}
		in = bytes.NewReader(raw)
	}
	r := httptest.NewRequest(method, "http://localhost"+path, in)
	if key != "" {
		r.Header.Set([]string{"Authorization", "X-Goog-Api-Key"}[w.IntN(2)], key)
		if r.Header.Get("Authorization") != "" {
			r.Header.Set("Authorization", "Bearer "+key)
		}
	}
	out := httptest.NewRecorder()
	w.bank.ServeHTTP(out, r)
	return out.Code, out.Body.Bytes()
}

// call sends a request that takes verbs in a scope, and checks that it was allowed or
// refused as the key says, and that the answer has no word of another scope. about are
// the scopes whose words it may have if it is allowed.
func (w *tenants) call(k tenantKey, in memory.Scope, verbs access.Verbs, method, path string, body any,
	about ...*tenantUser) (status int, answer []byte, ok bool) {
	w.t.Helper()
	w.calls++
	status, answer = w.send(method, path, k.shown, body)
	may := k.principal.Check(in, verbs) == nil
	if may {
		w.may++
	}
	if denied := status == 401 || status == 403; denied == may {
		w.t.Errorf("%s %s with a key of %q, %q that may %s: %d %s", method, path, k.principal.App, k.principal.User,
			k.principal.Can, status, answer)
	}
	for app, word := range w.words { // only what asks for it has shared knowledge, and only that of its app
		asks := strings.Contains(fmt.Sprint(body), "shared:true") || strings.HasPrefix(path, "/v1/apps/"+url.PathEscape(app)+"/memories")
		if (!may || !asks || app != in.App) && bytes.Contains(answer, []byte(word)) {
			w.t.Errorf("%s %s with a key of %q, %q answers with what %q shares: %s", method, path, k.principal.App,
				k.principal.User, app, answer)
		}
	}
	for _, u := range w.users {
		if (!may || !slices.Contains(about, u)) && bytes.Contains(answer, []byte(u.word)) {
			w.t.Errorf("%s %s with a key of %q, %q answers with what is of %v: %s", method, path, k.principal.App,
				k.principal.User, u.scope, answer)
		}
	}
	return status, answer, may && status < 300
}

func one[T any](w *tenants, from []T) T { return from[w.IntN(len(from))] }

func (w *tenants) ingest(k tenantKey, u *tenantUser) {
	w.t.Helper()
	body := map[string]any{"sessionId": "s", "events": []any{map[string]any{"author": "user",
		"content": fmt.Sprintf("I bought the %s number %d.", u.word, w.IntN(1000))}}}
	_, answer, ok := w.call(k, u.scope, access.Write, "POST", u.path()+"/memories/ingest"+one(w, []string{"", "?wait=true"}),
		body, u)
	var op struct{ ID string }
	if ok && json.Unmarshal(answer, &op) == nil {
		u.operations = append(u.operations, op.ID)
	}
}

func (w *tenants) remember(k tenantKey, u *tenantUser) {
	w.t.Helper()
	_, answer, ok := w.call(k, u.scope, access.Write, "POST", u.path()+"/memories",
		map[string]any{"fact": fmt.Sprintf("I keep the %s number %d.", u.word, w.IntN(1000))}, u)
	var m struct{ ID string }
	if ok && json.Unmarshal(answer, &m) == nil {
		u.memories = append(u.memories, m.ID)
	}
}

// configure gives the app of a user a profile.
func (w *tenants) configure(k tenantKey, u *tenantUser) {
	w.t.Helper()
	w.call(k, memory.Scope{App: u.scope.App}, access.Admin, "PUT", "/v1/apps/"+url.PathEscape(u.scope.App)+"/config",
		map[string]any{"profiles": []any{map[string]any{"id": "things", "schema": map[string]any{"type": "object",
			"properties": map[string]any{"number": map[string]any{"type": "string"}}}}}}, u)
}

// value gives a user the value of a field, which has the same name for all.
func (w *tenants) value(k tenantKey, u *tenantUser) {
	w.t.Helper()
	_, answer, ok := w.call(k, u.scope, access.Write, "POST", u.path()+"/memories", map[string]any{"kind": "profile",
		"schemaId": "things", "field": "number", "value": u.word}, u)
	var m struct{ ID string }
	if ok && json.Unmarshal(answer, &m) == nil {
		u.memories = append(u.memories, m.ID)
	}
}

// list reads a list with a token of any list, and keeps the token that comes back.
func (w *tenants) list(k tenantKey, u *tenantUser, of *tenantUser) {
	w.t.Helper()
	path := u.path() + one(w, []string{"/memories", "/sessions", "/operations"}) + "?pageSize=1"
	if len(of.tokens) > 0 && w.IntN(2) == 0 {
		path += "&pageToken=" + url.QueryEscape(one(w, of.tokens))
	}
	_, answer, ok := w.call(k, u.scope, access.Read, "GET", path, nil, u)
	var page struct{ NextPageToken string }
	if ok && json.Unmarshal(answer, &page) == nil && page.NextPageToken != "" {
		u.tokens = append(u.tokens, page.NextPageToken)
	}
}

// step makes one call: of a random key, on a random scope, with ids of another one.
func (w *tenants) step() {
	w.t.Helper()
	k, u, of := one(w, w.keys), one(w, w.users), one(w, w.users)
	if k.principal.App != access.AllApps && w.IntN(2) == 0 { // half of the calls are in the key's own app
		for u.scope.App != k.principal.App {
			u = one(w, w.users)
		}
	}
	id, op := one(w, of.memories), one(w, of.operations)
	read, write, path := access.Read, access.Write, u.path()
	query := map[string]any{"query": one(w, []*tenantUser{u, of}).word + " number", "topK": 20}
	app := "/v1/apps/" + url.PathEscape(u.scope.App)
	switch w.IntN(27) {
	case 0:
		w.ingest(k, u)
	case 1:
		w.remember(k, u)
	case 2, 3:
		w.list(k, u, of)
	case 4:
		delete(query, "explain")
		status, answer, ok := w.call(k, u.scope, read, "POST", path+"/memories/search", map[string]any{"query": "number", "topK": 20}, u)
		if ok && !bytes.Contains(answer, []byte(u.word)) {
			w.t.Errorf("%v finds nothing of its own: %d %s", u.scope, status, answer)
		}
	case 5:
		w.call(k, u.scope, read, "POST", path+"/memories/search", query, append(w.echoed(query), u)...)
	case 6:
		w.call(k, u.scope, read, "POST", path+"/memories/context", map[string]any{"query": "number"}, u)
	case 7:
		w.call(k, u.scope, read, "GET", path+"/memories/"+id, nil, u)
	case 8:
		w.call(k, u.scope, read, "GET", path+"/memories/"+id+"/revisions", nil, u)
	case 9:
		w.call(k, u.scope, write, "PATCH", path+"/memories/"+id, map[string]any{"fact": "I mend the " + u.word + "."}, u)
	case 10:
		w.call(k, u.scope, write, "DELETE", path+"/memories/none", nil, u)
	case 11: // the operation's own scope counts
		w.call(k, of.scope, read, "GET", "/v1/operations/"+op, nil, of)
	case 12:
		w.call(k, of.scope, write, "POST", "/v1/operations/"+op+"/retry", nil, of)
	case 13:
		w.call(k, u.scope, read, "GET", path+"/sessions/s", nil, u)
	case 14:
		w.call(k, u.scope, write, "POST", path+"/sessions/s/events", map[string]any{"author": "user",
			"content": "I see the " + u.word + "."}, u)
	case 15:
		w.call(k, memory.Scope{App: u.scope.App}, access.Admin, "GET", "/v1/apps/"+url.PathEscape(u.scope.App)+"/sessions", nil,
			w.of(u.scope.App)...)
	case 16:
		app := one(w, []string{u.scope.App, access.AllApps})
		w.call(k, memory.Scope{App: app}, access.Admin, "GET", "/v1/apps/"+url.PathEscape(app)+"/keys?pageSize=3", nil)
	case 17:
		w.call(k, u.scope, read, "POST", path+"/tools/load_memory", map[string]any{"args": map[string]any{"query": "number"}}, u)
	case 18:
		w.mcp(k, u, read, "tools/call", map[string]any{"name": "search_memory", "arguments": map[string]any{"query": "number"}})
		for _, uri := range []string{"memories/" + id, "sessions/s", "sessions/saved-s", "context/number"} {
			w.mcp(k, u, read, "resources/read", map[string]any{"uri": "memoryd://" + uri})
		}
	case 20: // the id of another user's memory is that of none
		if of != u {
			w.call(k, u.scope, access.Admin, "POST", path+"/memories/"+id+"/erase", nil, u)
		}
		w.call(k, u.scope, access.Admin, "POST", path+"/sessions/none/erase", nil, u)
	case 21:
		w.call(k, u.scope, access.Admin, "DELETE", path+"?confirm=none", nil, u)
		w.call(k, memory.Scope{App: u.scope.App}, access.Admin, "DELETE", app+"?confirm=none", nil)
	case 22:
		w.call(k, memory.Scope{}, access.Admin, "GET", "/v1/apps", nil)
		w.call(k, memory.Scope{App: u.scope.App}, access.Admin, "GET", app+"/users", nil, w.of(u.scope.App)...)
	case 23:
		w.call(k, memory.Scope{App: u.scope.App}, access.Admin, "GET", app+"/config", nil)
		w.configure(k, u)
	case 26:
		w.value(k, u)
		_, answer, ok := w.call(k, u.scope, read, "GET", path+"/profiles?ids=true", nil, u)
		if ok && !bytes.Contains(answer, []byte(u.word)) {
			w.t.Errorf("%v has no profile of its own: %s", u.scope, answer)
		}
	case 24, 25:
		w.shared(k, u)
	case 19:
		w.mcp(k, u, write, "tools/call", map[string]any{"name": "remember",
			"arguments": map[string]any{"fact": "I paint the " + u.word + "."}})
		w.mcp(k, u, write, "tools/call", map[string]any{"name": "save_conversation", "arguments": map[string]any{"sessionId": "s",
			"messages": []any{map[string]any{"role": "user", "text": "I draw the " + u.word + "."}}}})
	}
}

// shared makes one call that is about the shared knowledge of an app.
func (w *tenants) shared(k tenantKey, u *tenantUser) {
	w.t.Helper()
	word, app := w.words[u.scope.App], memory.Scope{App: u.scope.App}
	path := "/v1/apps/" + url.PathEscape(u.scope.App) + "/memories"
	switch w.IntN(6) {
	case 0, 1: // every reader finds it, and by no other way
		status, answer, ok := w.call(k, u.scope, access.Read, "POST", u.path()+"/memories/search",
			map[string]any{"query": "number", "topK": 100, "shared": true}, u)
		if ok && (!bytes.Contains(answer, []byte(word)) || !bytes.Contains(answer, []byte(u.word))) {
			w.t.Errorf("%v does not find both its own and what is shared: %d %s", u.scope, status, answer)
		}
	case 2:
		w.call(k, u.scope, access.Read, "POST", u.path()+"/memories/context", map[string]any{"query": "number", "shared": true}, u)
	case 3:
		w.call(k, app, access.Admin, "GET", path, nil)
		w.call(k, app, access.Admin, "POST", path+"/search", map[string]any{"query": "number"})
	case 4:
		w.call(k, app, access.Admin, "POST", path, map[string]any{"fact": "The manual has the " + word + " too."})
	case 5: // no user is in the path of shared knowledge, and no path of a user leads there
		w.call(k, memory.Scope{App: u.scope.App, User: "/shared"}, 0, "GET",
			"/v1/apps/"+url.PathEscape(u.scope.App)+"/users/%2Fshared/memories", nil)
	}
}

// echoed are the users whose words a query has, which an error may repeat.
func (w *tenants) echoed(query map[string]any) (out []*tenantUser) {
	for _, u := range w.users {
		if strings.Contains(fmt.Sprint(query), u.word) {
			out = append(out, u)
		}
	}
	return out
}

// of are the users of an app.
func (w *tenants) of(app string) (out []*tenantUser) {
	for _, u := range w.users {
		if u.scope.App == app {
			out = append(out, u)
		}
	}
	return out
}

func (w *tenants) mcp(k tenantKey, u *tenantUser, verbs access.Verbs, method string, params any) {
	w.t.Helper()
	path := "/mcp" + strings.TrimPrefix(u.path(), "/v1")
	w.call(k, u.scope, verbs, "POST", path, map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, u)
}
