package server_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memoryd/memoryd/internal/filetest"
)

// inDir keeps the database of a server in a directory of its own.
func inDir(dir string) func(*setup) {
	return func(s *setup) { s.path = filepath.Join(dir, "memoryd.db") }
}

// said ingests what a user says, one event each, and waits for the memories.
func (a *api) said(user, session, key string, texts ...string) string {
	a.t.Helper()
	var events []any
	for i, text := range texts {
		events = append(events, map[string]any{"id": fmt.Sprintf("%s-%s-%d", user, session, i), "author": "user",
			"content": text})
	}
	op := a.want(200, "POST", "/v1/apps/shop/users/"+user+"/memories/ingest?wait=true",
		map[string]any{"sessionId": session, "events": events}, "Authorization", "Bearer "+key)
	return text(op, "id")
}

// dryRun asks what an erasing would take.
func (a *api) dryRun(method, path string, with ...string) any {
	a.t.Helper()
	if method == "POST" {
		return a.want(200, method, path, request{"dryRun": true}, with...)
	}
	path, _, _ = strings.Cut(path, "?")
	return a.want(200, method, path+"?dryRun=true", nil, with...)
}

// erased erases, and returns the counts. A dry run before it answers the same ones.
func (a *api) erased(method, path string, with ...string) any {
	a.t.Helper()
	dry := a.dryRun(method, path, with...)
	out := a.want(200, method, path, nil, with...)
	same(a.t, "a dry run of "+method+" "+path, dry, out)
	return out
}

// A user is forgotten while others talk: what the others have is as before, byte for byte,
// and of the user there is nothing: in no answer, and in no file. The audit log goes on to
// tell what happened, without the user's id, and a key of the user is no key any more.
func TestEraseUser(t *testing.T) {
	dir := t.TempDir()
	a := start(t, inDir(dir))
	admin := a.admin()
	with := []string{"Authorization", "Bearer " + admin}
	const zoe = "/v1/apps/shop/users/zoe-okapi"
	op := a.said("zoe-okapi", "talk-numbat", admin, "I live in Quetzaltown.", "I moved to Axolotlville.",
		"My sister is called Pangolina.")
	a.want(201, "POST", zoe+"/sessions", map[string]any{"state": map[string]any{"user:pet": "dugong", "app:kept": 1}}, with...)
	fact := a.want(201, "POST", zoe+"/memories", map[string]any{"fact": "I collect marimbas."}, with...)
	a.want(200, "PATCH", zoe+"/memories/"+text(fact, "id"), map[string]any{"fact": "I collect zithers."}, with...)
	bound := a.key(admin, "shop", "zoe-okapi", "read")
	a.said("bob", "s", admin, "I live in Lisbon.")
	a.said("zoe-okapi2", "talk-numbat2", admin, "I live in Rome.")
	others := func() string {
		var out strings.Builder
		for _, user := range []string{"bob", "zoe-okapi2"} {
			for _, path := range []string{"/memories?history=true", "/sessions", "/operations"} {
				out.Write(a.do("GET", "/v1/apps/shop/users/"+user+path, nil, with...).raw)
			}
		}
		return out.String()
	}
	before := others()
	secrets := []string{"Quetzaltown", "Axolotlville", "Pangolina", "dugong", "marimbas", "zithers", "zoe-okapi-",
		"talk-numbat-", op}
	for _, word := range secrets {
		if len(filetest.With(t, dir, word)) == 0 && word != "talk-numbat-" {
			t.Errorf("%q is in no file before either", word)
		}
	}

	var talking sync.WaitGroup
	stop := make(chan struct{})
	for i := range 3 {
		talking.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
					a.do("POST", fmt.Sprintf("/v1/apps/shop/users/talker%d/memories/ingest", i), map[string]any{
						"sessionId": "s", "events": []any{map[string]any{"id": fmt.Sprint(n), "content": "I like tea."}}}, with...)
				}
			}
		})
	}
	a.want(400, "DELETE", zoe, nil, with...)
	a.want(400, "DELETE", zoe+"?confirm=zoe", nil, with...)
	out := a.erased("DELETE", zoe+"?confirm=zoe-okapi", with...)
	close(stop)
	talking.Wait()
	for name, least := range map[string]float64{"sessions": 2, "events": 3, "memories": 6, "revisions": 7} {
		if n := number(out, name); n < least {
			t.Errorf("%s: %v, want %v or more", name, n, least)
		}
	}
	if after := others(); after != before {
		t.Errorf("what others have has changed:\n%s\n%s", before, after)
	}
	for _, word := range secrets {
		if files := filetest.With(t, dir, word); len(files) > 0 {
			t.Errorf("%q is still in %v", word, files)
		}
	}
	a.want(404, "GET", "/v1/operations/"+op, nil, with...)
	a.want(401, "GET", zoe+"/memories", nil, "Authorization", "Bearer "+bound)
	if got := a.do("GET", zoe+"/memories?history=true", nil, with...); strings.Contains(string(got.raw), "fact") {
		t.Errorf("memories: %s", got.raw)
	}
	a.want(404, "GET", zoe+"/memories/"+text(fact, "id")+"/revisions", nil, with...)
	again := a.want(200, "DELETE", zoe+"?confirm=zoe-okapi", nil, with...)
	if n := number(again, "memories"); n != 0 {
		t.Errorf("the second time %v memories", n)
	}
	log := string(a.do("GET", "/v1/apps/shop/audit?pageSize=1000", nil, with...).raw)
	if n := strings.Count(log, `"DELETE {scope} dryRun"`); n != 1 {
		t.Errorf("%d entries of a dry run in the audit log: %s", n, log)
	}
	if strings.Contains(log, `"zoe-okapi"`) || strings.Contains(log, `"talk-numbat"`) || !strings.Contains(log, "erased-") ||
		!strings.Contains(log, "DELETE {scope}") {
		t.Errorf("the audit log: %s", log)
	}
	users := string(a.do("GET", "/v1/apps/shop/users", nil, with...).raw)
	if strings.Contains(users, `"zoe-okapi"`) || !strings.Contains(users, `"zoe-okapi2"`) {
		t.Errorf("users: %s", users)
	}
}

// A session is erased with the facts and turns made of it. Those of other sessions stay,
// and so does what the user and the app remember beside it.
func TestEraseSession(t *testing.T) {
	dir := t.TempDir()
	a := start(t, inDir(dir))
	const ann = "/v1/apps/shop/users/ann"
	a.said("ann", "s1", "", "I live in Quetzaltown.", "My dog is called Axolotl.")
	a.said("ann", "s2", "", "I am allergic to peanuts.")
	a.do("DELETE", ann+"/sessions/s1", nil) // which leaves its memories
	out := a.erased("POST", ann+"/sessions/s1/erase")
	if number(out, "memories") < 3 {
		t.Errorf("erased: %v", out)
	}
	for _, word := range []string{"Quetzaltown", "Axolotl"} {
		if files := filetest.With(t, dir, word); len(files) > 0 {
			t.Errorf("%q is still in %v", word, files)
		}
	}
	got := string(a.do("GET", ann+"/memories", nil).raw)
	if !strings.Contains(got, "peanuts") || strings.Contains(got, "Quetzal") {
		t.Errorf("memories: %s", got)
	}
	a.want(200, "POST", ann+"/sessions/s1/erase", map[string]any{})
	a.want(400, "POST", ann+"/sessions/s1/erase", map[string]any{"all": true})
	a.refused(400, "POST", ann+"/sessions/s1/erase", request{"dryRun": "true"}, "dryRun")
}

// A memory is erased with its turn, and with the other facts of that turn. The turn does
// not come back when the client sends its session once more, and the memory of another
// turn stays.
func TestEraseMemory(t *testing.T) {
	dir := t.TempDir()
	a := start(t, inDir(dir))
	const ann = "/v1/apps/shop/users/ann"
	texts := []string{"I live in Quetzaltown and my dog is called Axolotl.", "I am allergic to peanuts."}
	op := a.said("ann", "s1", "", texts...)
	var id string
	for _, m := range list(a.want(200, "GET", ann+"/memories?kind=fact", nil), "memories") {
		if strings.Contains(text(m, "fact"), "Quetzaltown") {
			id = text(m, "id")
		}
	}
	a.do("DELETE", ann+"/memories/"+id, nil) // a deletion keeps its revisions
	if len(filetest.With(t, dir, "Quetzaltown")) == 0 {
		t.Error("a deletion has erased the words")
	}
	a.refused(400, "POST", ann+"/memories/"+id+"/erase", request{"dryRun": 1}, "dryRun")
	out := a.erased("POST", ann+"/memories/"+id+"/erase")
	if number(out, "events") != 1 || number(out, "memories") < 2 {
		t.Errorf("erased: %v", out)
	}
	gone := func() {
		t.Helper()
		for _, word := range []string{"Quetzaltown", "Axolotl"} {
			if files := filetest.With(t, dir, word); len(files) > 0 {
				t.Errorf("%q is still in %v", word, files)
			}
		}
	}
	gone()
	a.want(404, "GET", ann+"/memories/"+id+"/revisions", nil)
	a.want(404, "POST", ann+"/memories/"+id+"/erase", nil)
	a.want(404, "POST", ann+"/memories/"+id+"/erase", request{"dryRun": true})
	if got := string(a.do("GET", "/v1/operations/"+op, nil).raw); strings.Contains(got, "Quetzal") {
		t.Errorf("the operation: %s", got)
	}
	if n := len(list(a.want(200, "GET", ann+"/sessions/s1", nil), "events")); n != 2 {
		t.Errorf("the session has %d events", n)
	}
	a.said("ann", "s1", "", texts...)
	gone()
	if got := string(a.do("GET", ann+"/memories", nil).raw); !strings.Contains(got, "peanuts") {
		t.Errorf("memories: %s", got)
	}
}

// An app is erased with all of its users, and listed no longer. Its neighbour stays.
func TestEraseApp(t *testing.T) {
	dir := t.TempDir()
	a := start(t, inDir(dir))
	for i := range 5 {
		user := fmt.Sprintf("user%d", i)
		a.said(user, "s", "", "I live in Quetzaltown.")
		a.want(201, "POST", "/v1/apps/other/users/"+user+"/memories", map[string]any{"fact": "I live in Lisbon."})
	}
	a.want(201, "POST", "/v1/apps/shop/users/user0/sessions", map[string]any{"state": map[string]any{"app:k": "numbat"}})
	apps := func(want string) {
		t.Helper()
		if got := string(a.do("GET", "/v1/apps", nil).raw); strings.TrimSpace(got) != want {
			t.Errorf("apps: %s, want %s", got, want)
		}
	}
	apps(`{"apps":[{"id":"other"},{"id":"shop"}]}`)
	var users []string
	for token := ""; ; {
		page := a.want(200, "GET", "/v1/apps/other/users?pageSize=2&pageToken="+token, nil)
		users = append(users, each(list(page, "users"), "id")...)
		if token = text(page, "nextPageToken"); token == "" {
			break
		}
	}
	if got := strings.Join(users, " "); got != "user0 user1 user2 user3 user4" {
		t.Errorf("users: %s", got)
	}
	a.refused(400, "GET", "/v1/apps?pageToken=!", nil, "pageToken")
	a.refused(400, "DELETE", "/v1/apps/shop", nil, "confirm", "?confirm=shop")
	for _, path := range []string{"/v1/apps/shop", "/v1/apps/shop/users/user0"} {
		a.refused(400, "DELETE", path+"?dryRun=maybe", nil, "dryRun", "true or false")
		a.refused(400, "DELETE", path+"?dryRun=false", nil, "confirm")
		a.refused(400, "DELETE", path+"?confirm="+path[strings.LastIndex(path, "/")+1:], request{"dryRun": true}, "dryRun")
	}
	a.want(201, "POST", "/v1/apps/shop/memories", request{"fact": "The shop is closed on Mondays."})
	out := a.erased("DELETE", "/v1/apps/shop?confirm=shop")
	if number(out, "users") != 5 {
		t.Errorf("erased: %v", out)
	}
	apps(`{"apps":[{"id":"other"}]}`)
	for _, word := range []string{"Quetzaltown", "numbat"} {
		if files := filetest.With(t, dir, word); len(files) > 0 {
			t.Errorf("%q is still in %v", word, files)
		}
	}
	if got := a.do("GET", "/v1/apps/other/users/user3/memories", nil); got.status != http.StatusOK ||
		!strings.Contains(string(got.raw), "Lisbon") {
		t.Errorf("the other app: %d %s", got.status, got.raw)
	}
}

// Clients that go on writing do not keep an app from being erased: the call ends, and all that was
// there when it began is gone.
func TestEraseAppWritten(t *testing.T) {
	a := start(t)
	for i := range 20 {
		a.said(fmt.Sprintf("old%d", i), "s", "", "I live in Quetzaltown.")
	}
	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				path := fmt.Sprintf("/v1/apps/shop/users/w%dn%d/memories", w, i)
				if got := a.do("POST", path, map[string]any{"fact": "I have a dog."}); got.status != http.StatusCreated {
					t.Errorf("%s: %d %s", path, got.status, got.raw)
					return
				}
			}
		})
	}
	a.want(200, "DELETE", "/v1/apps/shop?confirm=shop", nil)
	stop()
	writers.Wait()
	for i := range 20 {
		user := fmt.Sprintf("old%d", i)
		if got := a.do("GET", "/v1/apps/shop/users/"+user+"/memories", nil); strings.Contains(string(got.raw), "Quetzaltown") {
			t.Errorf("%s: %s", user, got.raw)
		}
	}
}

// A worker that goes on after an erasing does not bring back the words that it had read.
// The extractor waits meanwhile, as a slow model does.
func TestEraseWhileExtracting(t *testing.T) {
	for name, erase := range map[string]func(a *api, ann string){
		"user":    func(a *api, ann string) { a.want(200, "DELETE", ann+"?confirm=ann", nil) },
		"session": func(a *api, ann string) { a.want(200, "POST", ann+"/sessions/s1/erase", nil) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			slow := newGate()
			a := start(t, inDir(dir), func(s *setup) { s.extractor = slow })
			const ann = "/v1/apps/shop/users/ann"
			events := []any{map[string]any{"id": "e1", "author": "user", "content": "I live in Quetzaltown."}}
			op := a.want(202, "POST", ann+"/memories/ingest", map[string]any{"sessionId": "s1", "events": events})
			for text(a.want(200, "GET", "/v1/operations/"+text(op, "id"), nil), "metadata", "state") != "RUNNING" {
				time.Sleep(time.Millisecond)
			}
			erase(a, ann)
			close(slow.open)
			// The worker is over once it makes memories of another session of the user.
			a.want(200, "POST", ann+"/memories/ingest?wait=true", map[string]any{"sessionId": "s2", "events": []any{
				map[string]any{"id": "e2", "author": "user", "content": "I am allergic to peanuts."}}})
			got := a.do("GET", ann+"/memories?history=true", nil).raw
			if strings.Contains(string(got), "Quetzaltown") || !strings.Contains(string(got), "peanuts") {
				t.Errorf("memories: %s", got)
			}
			if files := filetest.With(t, dir, "Quetzaltown"); len(files) > 0 {
				t.Errorf("the words are in %v", files)
			}
		})
	}
}
