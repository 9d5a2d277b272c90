package server_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/memoryd/memoryd/access"
)

// syncBuffer is a log that many goroutines write.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// key makes a key, shown an admin key of all apps, or none while there is none.
func (a *api) key(admin, app, user string, can ...string) string {
	a.t.Helper()
	v := a.want(http.StatusCreated, "POST", "/v1/apps/"+app+"/keys", map[string]any{"userId": user, "can": can},
		"Authorization", "Bearer "+admin)
	return text(v, "key")
}

// admin makes the first key, which closes the server.
func (a *api) admin() string { return a.key("", "*", "", "read", "write", "admin") }

// secretWord is in everything that the victim of TestEveryRouteIsGuarded has.
const secretWord = "zanzibar"

// TestEveryRouteIsGuarded walks the router with keys that must not do: of another user,
// of another app, with every verb but the one that the route takes, revoked, and with
// none. Each gets a 401 or a 403, or a 404 where the route never was, and nothing that
// belongs to the victim is in the answer or in the log. A route that declares nothing
// fails.
func TestEveryRouteIsGuarded(t *testing.T) {
	var log syncBuffer
	a := start(t, logTo(&log))
	// The ids of the victim's things have the word too, as far as the victim chooses them.
	victim := "/v1/apps/app/users/ann"
	a.want(201, "POST", victim+"/sessions", map[string]any{"id": "s", "state": map[string]any{"k": secretWord}})
	op := a.want(200, "POST", victim+"/memories/ingest?wait=true", map[string]any{"sessionId": "s", "events": []any{
		map[string]any{"id": "e", "author": "user", "content": "I moved to " + secretWord + "."}}})
	fact := a.want(201, "POST", victim+"/memories", map[string]any{"fact": "I love " + secretWord + "."})
	admin := a.admin()
	id := text(a.want(201, "POST", "/v1/apps/app/keys", map[string]any{"can": []string{"read", "write", "admin"},
		"name": secretWord}, "Authorization", "Bearer "+admin), "id")
	all := []string{"read", "write", "admin"}
	revoked := a.want(201, "POST", "/v1/apps/app/keys", map[string]any{"can": all}, "Authorization", "Bearer "+admin)
	a.do("DELETE", "/v1/apps/app/keys/"+text(revoked, "id"), nil, "Authorization", "Bearer "+admin)
	none := map[string]string{"no key": "", "an unknown key": access.Show(access.NewID(), access.NewSecret()),
		"a revoked key": text(revoked, "key"), "a cut key": admin[:len(admin)-1]}
	others := map[string]string{"a key of another user": a.key(admin, "app", "bob", all...),
		"a key of another app": a.key(admin, "other", "", all...), "a key of the same user of another app": a.key(admin,
			"other", "ann", all...)}
	lesser := map[access.Verbs]map[string]string{}
	for _, verb := range []access.Verbs{access.Read, access.Write, access.Admin} {
		var rest []string
		for _, name := range all {
			if name != verb.String() {
				rest = append(rest, name)
			}
		}
		lesser[verb] = map[string]string{"a key of the user without " + verb.String(): a.key(admin, "app", "ann", rest...),
			"a key of the app without " + verb.String(): a.key(admin, "app", "", rest...)}
	}
	fill := strings.NewReplacer(":app", "app", ":user", "ann", ":session", "s", ":memory", text(fact, "id"),
		":operation", text(op, "id"), ":key", id, ":tool", "load_memory")
	before := a.contents("Authorization", "Bearer "+admin)
	walked := 0
	for _, n := range a.server.Needs() {
		keys := map[string]string{}
		add := func(more map[string]string) {
			for name, key := range more {
				keys[name] = key
			}
		}
		switch {
		case n.Open:
			continue
		case n.AnyKey:
		case n.Verbs == 0:
			t.Errorf("%s %s declares nothing", n.Method, n.Path)
			continue
		case n.Some: // by the tool: the walk calls one that reads
			add(others)
			add(lesser[access.Read])
		default:
			add(others)
			add(lesser[n.Verbs])
		}
		add(none)
		for name, key := range keys {
			walked++
			path := fill.Replace(n.Path)
			body := any(map[string]any{"args": map[string]any{"query": "what"}})
			if strings.Contains(n.Path, "mcp") {
				body = toolCall("load_memory", map[string]any{"query": "what"})
			}
			_, is401 := none[name]
			for _, header := range []string{"Authorization", "X-Goog-Api-Key"} {
				shown := key
				if header == "Authorization" {
					shown = "Bearer " + key
				}
				r := a.do(n.Method, path, body, header, shown)
				want := http.StatusForbidden
				if is401 {
					want = http.StatusUnauthorized
				}
				if r.status != want {
					t.Errorf("%s %s with %s: status %d, want %d: %s", n.Method, path, name, r.status, want, r.raw)
				}
				if strings.Contains(string(r.raw)+fmt.Sprint(r.header), secretWord) {
					t.Errorf("%s %s with %s: %v %s", n.Method, path, name, r.header, r.raw)
				}
				if _, err := checkError(r); n.Method != "HEAD" && err != nil {
					t.Errorf("%s %s with %s: %v", n.Method, path, name, err)
				}
			}
		}
	}
	if walked < 200 {
		t.Errorf("walked %d requests only", walked)
	}
	same(t, "what there is", a.contents("Authorization", "Bearer "+admin), before)
	logged := log.String()
	for _, word := range []string{secretWord, admin, text(revoked, "key")} {
		if strings.Contains(logged, word) {
			t.Errorf("the log has %q", word)
		}
	}
	for _, key := range others {
		if strings.Contains(logged, key) {
			t.Errorf("the log has a key")
		}
	}
}

// A tool that writes takes the verb write, over HTTP and MCP.
func TestToolVerbs(t *testing.T) {
	a := start(t)
	admin := a.admin()
	reads, writes := a.key(admin, "app", "ann", "read"), a.key(admin, "app", "ann", "write")
	for tool, verb := range map[string]string{"load_memory": "read", "search_memory": "read", "preload_memory": "read",
		"remember": "write", "forget": "write", "save_conversation": "write"} {
		args := map[string]any{"query": "tea", "fact": "I like tea.", "id": "none",
			"messages": []any{map[string]any{"role": "user", "text": "I like tea."}}}
		for name, key := range map[string]string{"read": reads, "write": writes} {
			for _, k := range []string{"query", "fact", "id", "messages"} {
				if takes := map[string]string{"remember": "fact", "forget": "id", "save_conversation": "messages"}[tool]; k != takes && (takes != "" || k != "query") {
					delete(args, k)
				}
			}
			over := []reply{a.do("POST", scope+"/tools/"+tool, map[string]any{"args": args}, "Authorization", "Bearer "+key)}
			if tool != "preload_memory" {
				over = append(over, a.do("POST", mcpPath, toolCall(tool, args), "Authorization", "Bearer "+key))
			}
			for i, r := range over {
				if may := name == verb; (r.status == 200) != may || !may && r.status != 403 {
					t.Errorf("%s with %s, %d: %d %s", tool, name, i, r.status, r.raw)
				}
			}
		}
	}
	for _, message := range []any{initialize, rpc("tools/list", map[string]any{})} {
		if r := a.do("POST", mcpPath, message, "Authorization", "Bearer "+writes); r.status != 200 {
			t.Errorf("%v: %d %s", message, r.status, r.raw)
		}
	}
	for _, message := range []any{rpc("resources/list", map[string]any{}),
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","METHOD":"resources/list","params":{}}`} {
		r := a.do("POST", mcpPath, message, "Authorization", "Bearer "+writes)
		if r.status == 200 && strings.Contains(string(r.raw), `"resources"`) {
			t.Errorf("%v: %d %s", message, r.status, r.raw)
		}
	}
}

// A key of one user cannot change what all users of the app see.
func TestAppStateTakesAKeyOfTheApp(t *testing.T) {
	a := start(t)
	admin := a.admin()
	ann, app := a.key(admin, "app", "ann", "read", "write"), a.key(admin, "app", "", "read", "write")
	shared := map[string]any{"app:motto": "x", "k": 1}
	event := map[string]any{"author": "user", "content": "hi", "actions": map[string]any{"stateDelta": shared}}
	a.want(201, "POST", scope+"/sessions", map[string]any{"id": "s"}, "Authorization", "Bearer "+ann)
	for path, body := range map[string]any{"/sessions": map[string]any{"state": shared}, "/sessions/s/events": event,
		"PATCH /sessions/s": map[string]any{"stateDelta": shared}} {
		method, path, ok := strings.Cut(path, " ")
		if !ok {
			method, path = "POST", method
		}
		if r := a.do(method, scope+path, body, "Authorization", "Bearer "+ann); r.status != 403 {
			t.Errorf("%s %s: %d %s", method, path, r.status, r.raw)
		}
		if r := a.do(method, scope+path, body, "Authorization", "Bearer "+app); r.status > 201 {
			t.Errorf("%s %s with a key of the app: %d %s", method, path, r.status, r.raw)
		}
	}
	got := a.want(200, "GET", scope+"/sessions/s", nil, "Authorization", "Bearer "+ann)
	if text(got, "state", "app:motto") != "x" {
		t.Errorf("the user does not see the state of the app: %v", got)
	}
}

// The routes of keys: what a key shows, once and later, and what is refused.
func TestKeys(t *testing.T) {
	a := start(t)
	admin := a.admin()
	as := func(key string) []string { return []string{"Authorization", "Bearer " + key} }
	made := a.want(201, "POST", "/v1/apps/app/keys", map[string]any{"can": []string{"read"}, "userId": "ann",
		"name": "a name", "ttl": "48h"}, as(admin)...)
	id, key := text(made, "id"), text(made, "key")
	if text(made, "userId") != "ann" || text(made, "appName") != "app" || text(made, "expireTime") == "" {
		t.Errorf("made %v", made)
	}
	listed := a.do("GET", "/v1/apps/app/keys", nil, as(admin)...)
	if !strings.Contains(string(listed.raw), id) || strings.Contains(string(listed.raw), key) ||
		strings.Contains(string(listed.raw), "hash") {
		t.Errorf("the list: %s", listed.raw)
	}
	a.want(200, "GET", scope+"/memories", nil, as(key)...)
	appAdmin := a.key(admin, "app", "", "admin")
	if r := a.do("GET", "/v1/apps/*/keys", nil, as(appAdmin)...); r.status != 403 {
		t.Errorf("an admin of an app lists every key: %d", r.status)
	}
	if r := a.do("POST", "/v1/apps/*/keys", map[string]any{"can": []string{"read"}}, as(appAdmin)...); r.status != 403 {
		t.Errorf("an admin of an app makes a key for all apps: %d", r.status)
	}
	other := a.want(201, "POST", "/v1/apps/other/keys", map[string]any{"can": []string{"read"}}, as(admin)...)
	for _, path := range []string{text(other, "id"), "none", "%2e%2e"} {
		for _, c := range [][2]string{{"DELETE", ""}, {"POST", "/rotate"}} {
			r := a.do(c[0], "/v1/apps/app/keys/"+path+c[1], nil, as(appAdmin)...)
			if r.status != 404 && r.status != 400 {
				t.Errorf("%s %s: %d %s", c[0], path, r.status, r.raw)
			}
		}
	}
	rotated := a.want(200, "POST", "/v1/apps/app/keys/"+id+"/rotate", nil, as(appAdmin)...)
	if r := a.do("GET", scope+"/memories", nil, as(key)...); r.status != 401 {
		t.Errorf("the secret before: %d", r.status)
	}
	graced := a.want(200, "POST", "/v1/apps/app/keys/"+id+"/rotate", map[string]any{"grace": "1h"}, as(appAdmin)...)
	for _, k := range []any{rotated, graced} {
		a.want(200, "GET", scope+"/memories", nil, as(text(k, "key"))...)
	}
	if r := a.do("DELETE", "/v1/apps/app/keys/"+id, nil, as(appAdmin)...); r.status != 204 {
		t.Errorf("revoke: %d", r.status)
	}
	for _, k := range []any{rotated, graced} {
		if r := a.do("GET", scope+"/memories", nil, as(text(k, "key"))...); r.status != 401 {
			t.Errorf("a revoked key: %d", r.status)
		}
	}
	for name, body := range map[string]string{"no verb": `{}`, "an unknown verb": `{"can":["all"]}`, "a past": `{"can":["read"],
		"expireTime":"2020-01-01T00:00:00Z"}`, "both": `{"can":["read"],"ttl":"1h","expireTime":"2090-01-01T00:00:00Z"}`,
		"a user with a slash": `{"can":["read"],"userId":"a/b"}`, "another app": `{"can":["read"],"appName":"x"}`,
		"an unknown field": `{"can":["read"],"admin":true}`} {
		if r := a.do("POST", "/v1/apps/app/keys", body, as(appAdmin)...); r.status != 400 {
			t.Errorf("%s: %d %s", name, r.status, r.raw)
		}
	}
	// All keys end, and the server stays closed.
	for _, k := range list(a.want(200, "GET", "/v1/apps/*/keys", nil, as(admin)...), "keys") {
		if text(k, "appName") != "*" {
			a.do("DELETE", "/v1/apps/*/keys/"+text(k, "id"), nil, as(admin)...)
		}
	}
	for _, k := range list(a.want(200, "GET", "/v1/apps/*/keys", nil, as(admin)...), "keys") {
		if text(k, "appName") == "*" {
			a.do("DELETE", "/v1/apps/*/keys/"+text(k, "id"), nil, as(admin)...)
		}
	}
	for _, path := range []string{scope + "/memories", "/v1/apps/*/keys", "/metrics", "/v1/tools", "/nothing"} {
		for _, shown := range []string{"", admin} {
			if r := a.do("GET", path, nil, as(shown)...); r.status != 401 || r.header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s after the last key ended: %d", path, r.status)
			}
		}
	}
	for _, path := range []string{"/", "/livez", "/readyz"} {
		if r := a.do("GET", path, nil); r.status != 200 || strings.Contains(string(r.raw), "sessions\":") {
			t.Errorf("%s: %d %s", path, r.status, r.raw)
		}
	}
}

// Whatever is shown in place of a key, the answer is the same, and comes at once.
func TestHostileKeys(t *testing.T) {
	a := start(t)
	admin := a.admin()
	var first string
	for _, shown := range []string{"", "x", admin[:20], admin + admin, strings.Repeat("k", 40_000), "memoryd_", "\x80\xff",
		strings.ToUpper(admin), " ", "Basic " + admin, "null"} {
		for _, header := range []string{"Authorization", "X-Goog-Api-Key"} {
			value := shown
			if header == "Authorization" && !strings.HasPrefix(shown, "Basic") {
				value = "Bearer " + shown
			}
			r := a.do("GET", scope+"/memories", nil, header, value)
			if r.status != 401 {
				t.Errorf("%s: %.60q: %d %s", header, value, r.status, r.raw)
			}
			if first == "" {
				first = string(r.raw)
			}
			if string(r.raw) != first {
				t.Errorf("%.60q: %s, not %s", value, r.raw, first)
			}
		}
	}
	both := a.do("GET", scope+"/memories", nil, "Authorization", "Bearer "+admin, "X-Goog-Api-Key", "another")
	if both.status != 401 {
		t.Errorf("two keys that differ: %d", both.status)
	}
	a.want(200, "GET", scope+"/memories", nil, "Authorization", "bearer "+admin)
	a.want(200, "GET", scope+"/memories", nil, "Authorization", "Bearer "+admin, "X-Goog-Api-Key", admin)
}

// A stream ends when its key does, and sends nothing of what happens later.
func TestStreamEndsWithItsKey(t *testing.T) {
	g := newGate()
	a := start(t, func(s *setup) { s.extractor = g })
	admin := a.admin()
	made := a.want(201, "POST", "/v1/apps/app/keys", map[string]any{"can": []string{"read", "write"}}, "Authorization",
		"Bearer "+admin)
	op := a.want(202, "POST", scope+"/memories/ingest", map[string]any{"sessionId": "s", "events": []any{
		map[string]any{"author": "user", "content": "I moved to Porto."}}}, "Authorization", "Bearer "+text(made, "key"))
	req, err := http.NewRequest("GET", a.url+"/v1/operations/"+text(op, "id"), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Authorization", "Bearer "+text(made, "key"))
	res, err := http.DefaultClient.Do(req)
	if err != nil || res.StatusCode != 200 {
		t.Fatal(res, err)
	}
	defer res.Body.Close()
	first := make([]byte, 1)
	if _, err := res.Body.Read(first); err != nil {
		t.Fatal(err)
	}
	if r := a.do("DELETE", "/v1/apps/app/keys/"+text(made, "id"), nil, "Authorization", "Bearer "+admin); r.status != 204 {
		t.Fatalf("revoke: %d", r.status)
	}
	close(g.open)
	rest, _ := io.ReadAll(res.Body) // it breaks off
	if bytes.Contains(rest, []byte(`"done":true`)) || bytes.Contains(rest, []byte("Porto")) {
		t.Errorf("after its key ended the stream sent %s", rest)
	}
}
