package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/memoryd/memoryd/internal/qdranttest"
	"github.com/memoryd/memoryd/internal/redistest"
)

// lookAlikes are scopes that some layer could take for one another: by case, by
// Unicode's normal forms, by escapes, by separators of keys and wildcards of
// databases, or by where the app ends and the user begins.
func lookAlikes() (out [][2]string) {
	for _, user := range []string{
		"ann", "Ann", "ANN", "anN", "ann ", " ann", "ann.", "ann..", ".ann", "an", "anna", "annann", "nna", "0", "00", "-0", "0.0", "1e0",
		"caf\u00e9", "cafe\u0301", "cafe", "CAF\u00c9", "\uff41\uff4e\uff4e", "\u00e5nn", "a\u030ann", "\u212bnn", // forms of é and å
		"stra\u00dfe", "strasse", "\ufb01n", "fin", "\u0131", "i", "I", "\u0130", "k", "K", "\u212a", // ß, ligature fi, dotless i, Kelvin
		"ann\u200b", "ann\u200d", "ann\ufeff", "ann\u00ad", "ann\u2060", "\u202eann", "ann\u00a0", "ann\u3000", "\u0430nn", // unseen; a Cyrillic а
		"ann%20", "ann%2e", "ann%2F", "ann%00", "%61nn", "ann+", "ann%", "%", "%25", "_nn", "a_n", "a%n", "a*n", "a?n", "[a]nn", "a\\n",
		"ann:", ":ann", "ann:x", "ann|x", "ann#x", "ann,x", "ann;x", "ann=x", "ann&x", "ann~x", "ann\\x", "ann'x", `ann"x`, "ann`x", "ann$x",
		"{ann}", "{ann", "ann}", "{}ann", "{b}ann", "'; DROP TABLE turns; --", "null", "NULL", "true", "undefined", "[]", "{}", `""`, "-", "--",
	} {
		out = append(out, [2]string{"app", user})
	}
	return append(out,
		[2]string{"App", "ann"}, [2]string{"app ", "ann"}, [2]string{"app.", "ann"}, [2]string{"ap", "pann"}, [2]string{"appa", "nn"},
		[2]string{"app:ann", "x"}, [2]string{"app", "ann:x:y"}, [2]string{"app:ann", "x:y"}, [2]string{"app|ann", "x"}, [2]string{"ann", "app"},
		[2]string{"a{b}", "c"}, [2]string{"a", "{b}c"}, [2]string{"{app}", "ann"}, [2]string{"app\u200b", "ann"}, [2]string{"%61pp", "ann"})
}

// TestLookAlikeScopes writes the same ids into scopes that look alike, and checks
// that each has what was written into it, and nothing of another one.
func TestLookAlikeScopes(t *testing.T) {
	t.Parallel()
	for name, args := range map[string]func(t *testing.T) []string{
		"embedded": func(*testing.T) []string { return nil },
		"redis and qdrant": func(t *testing.T) []string {
			return []string{"-sessions", redistest.Start(t).URL(), "-memories", qdranttest.Start(t).URL(t)}
		},
		"cluster": func(t *testing.T) []string { return []string{"-sessions", redistest.StartCluster(t).URL()} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scopesApart(t, start(t, t.TempDir(), append(args(t), "-log-level", "warn")...))
		})
	}
}

// alike is one of the scopes, with a word of its own that all its texts have.
type alike struct {
	app, user, path, word string
	memory, operation     string // ids
}

// callers is how many requests are made at a time.
const callers = 8

func scopesApart(t *testing.T, p *process) {
	var all []*alike
	for i, names := range lookAlikes() {
		all = append(all, &alike{app: names[0], user: names[1],
			path: p.url + "/v1/apps/" + url.PathEscape(names[0]) + "/users/" + url.PathEscape(names[1]),
			// Letters alone, which no stemmer changes, and of one length.
			word: "zq" + string(rune('b'+i/20)) + string(rune('b'+i%20)) + "kx"})
	}
	each := func(do func(s *alike)) {
		var calls sync.WaitGroup
		for i := range callers {
			calls.Go(func() {
				for j := i; j < len(all); j += callers {
					do(all[j])
				}
			})
		}
		calls.Wait()
	}
	each(func(s *alike) { s.fill(t) })
	each(func(s *alike) { s.check(t, all) })
	// What is deleted in one scope is there in all others.
	first := all[0]
	first.want(t, 204, "DELETE", "/sessions/s", nil)
	first.want(t, 204, "DELETE", "/memories/"+first.memory, nil)
	each(func(s *alike) {
		if s != first {
			s.check(t, all)
		}
	})
	first.want(t, 404, "GET", "/sessions/s", nil)
	first.want(t, 404, "GET", "/memories/"+first.memory, nil)
	if got := first.want(t, 200, "GET", "/memories", nil); !strings.Contains(got, first.word) {
		t.Errorf("the turns of a deleted session are gone: %s", got)
	}
}

// want sends a request within the scope and checks its status.
func (s *alike) want(t *testing.T, status int, method, path string, body any) string {
	t.Helper()
	var answer any
	var raw json.RawMessage
	if status == 200 {
		answer = &raw
	}
	if code, err := call(method, s.path+path, body, answer); err != nil || code != status {
		t.Errorf("%q %q: %s %s: %d, %v, want %d", s.app, s.user, method, path, code, err, status)
	}
	return string(raw)
}

// fill writes a session with state, turns and a fact. All ids are those of every
// other scope.
func (s *alike) fill(t *testing.T) {
	var session struct{ AppName, UserID string }
	body := map[string]any{"id": "s", "state": map[string]any{"mood": s.word, "user:mood": s.word}}
	code, err := call("POST", s.path+"/sessions", body, &session)
	if err != nil || code != 201 || session.AppName != s.app || session.UserID != s.user {
		t.Errorf("%q %q: create: %d, %v, of %q %q", s.app, s.user, code, err, session.AppName, session.UserID)
	}
	var op struct{ ID string }
	events := []any{map[string]any{"id": "e", "author": "user", "content": "I bought the painting " + s.word + "."}}
	code, err = call("POST", s.path+"/memories/ingest?wait=true", map[string]any{"sessionId": "s", "events": events}, &op)
	if err != nil || code != 200 {
		t.Errorf("%q %q: ingest: %d, %v", s.app, s.user, code, err)
	}
	s.operation = op.ID
	var m struct{ ID, AppName, UserID string }
	code, err = call("POST", s.path+"/memories", map[string]any{"fact": "My garden is called " + s.word + "."}, &m)
	if err != nil || code != 201 || m.AppName != s.app || m.UserID != s.user {
		t.Errorf("%q %q: remember: %d, %v, of %q %q", s.app, s.user, code, err, m.AppName, m.UserID)
	}
	s.memory = m.ID
}

// check reads everything of the scope, by every road, and looks for words of others.
func (s *alike) check(t *testing.T, all []*alike) {
	both := "Which painting did I buy, and what is my garden called?"
	other := all[(slices.Index(all, s)+1)%len(all)]
	for _, read := range []struct {
		method, path string
		body         any
		times        int // that the scope's own word is there at least
	}{
		{"GET", "/sessions", nil, 2},
		{"GET", "/sessions/s", nil, 3},
		{"GET", "/memories?history=true&pageSize=1000", nil, 2},
		{"GET", "/operations", nil, 0},
		{"GET", "/memories/" + s.memory, nil, 1},
		{"GET", "/memories/" + s.memory + "/revisions", nil, 1},
		{"POST", "/memories/search", map[string]any{"query": both, "topK": 100}, 2},
		{"POST", "/memories/search", map[string]any{"query": s.word, "topK": 100}, 2},
		{"POST", "/memories/search", map[string]any{"query": other.word, "topK": 100}, 0},
		{"POST", "/memories/context", map[string]any{"query": both}, 2},
	} {
		got := s.want(t, 200, read.method, read.path, read.body)
		if n := strings.Count(got, s.word); n < read.times {
			t.Errorf("%q %q: %s %s %v has %d of its own: %s", s.app, s.user, read.method, read.path, read.body, n, got)
		}
		for _, x := range all {
			if x != s && strings.Contains(got, x.word) {
				t.Errorf("%q %q: %s %s answers with what is in %q %q: %s", s.app, s.user, read.method, read.path, x.app, x.user, got)
			}
		}
	}
	// The ids of another scope's memory and of its operation open nothing here.
	if code, err := call("GET", s.path+"/memories/"+other.memory, nil, nil); err != nil || code != 404 {
		t.Errorf("%q %q: the memory of %q %q: %d, %v", s.app, s.user, other.app, other.user, code, err)
	}
	var listed struct{ Operations []struct{ ID string } }
	if code, err := call("GET", s.path+"/operations", nil, &listed); err != nil || code != 200 ||
		len(listed.Operations) != 1 || listed.Operations[0].ID != s.operation {
		t.Errorf("%q %q: operations: %d, %v: %s", s.app, s.user, code, err, fmt.Sprint(listed))
	}
}
