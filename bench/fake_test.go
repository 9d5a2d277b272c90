package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// fake is a memoryd that keeps its promises except for the one that a test has it
// break. It is called in the process, so that tests have a clock of their own.
type fake struct {
	takes time.Duration // each request
	stall func() time.Duration
	// The promises that it breaks, each now and then.
	lose, loseFact, double, doubleMemory, hide, cross, boast, unfinished bool
	refuse, failAfter                                                    bool
	slowed                                                               bool // an operation, by streams of it

	mu       sync.Mutex
	requests int
	writes   int
	sessions map[string][]fakeEvent  // by path
	memories map[string][]fakeMemory // by path of the scope
	last     string                  // a text of any scope
	began    map[string]time.Time    // the last request for memories, by path of the scope
	streams  int                     // of the last operation
}

// fakeRate is how many events of an operation become memories in a second.
const fakeRate = 100

// progress is an operation of a scope. It does not end, so that there is time to look.
func (f *fake) progress(scope string) map[string]any {
	rate := float64(fakeRate)
	if f.slowed && f.streams > 0 {
		rate /= 2
	}
	events := int(rate * time.Since(f.began[scope]).Seconds())
	return map[string]any{"id": "op", "metadata": map[string]any{"eventsDone": events}}
}

type fakeEvent struct {
	ID      string `json:"id"`
	Content string `json:"content"`
}

type fakeMemory struct {
	ID     string     `json:"id"`
	Kind   string     `json:"kind"`
	Fact   string     `json:"fact"`
	Source fakeSource `json:"source"`
}

type fakeSource struct {
	SessionID string   `json:"sessionId"`
	EventIDs  []string `json:"eventIds"`
}

func newFake() *fake {
	return &fake{takes: time.Millisecond, sessions: map[string][]fakeEvent{}, memories: map[string][]fakeMemory{},
		began: map[string]time.Time{}}
}

// RoundTrip implements http.RoundTripper.
func (f *fake) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(f.takes) // on the clock of the test
	if f.stall != nil {
		time.Sleep(f.stall())
	}
	w := httptest.NewRecorder()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests++
	if f.refuse && f.requests%7 == 0 {
		w.WriteHeader(http.StatusTooManyRequests)
		return w.Result(), nil
	}
	status, body := f.answer(r)
	if r.Method == "POST" && f.failAfter && f.requests%5 == 0 {
		status, body = 503, "stored, but the answer is lost"
	}
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(body)
	return w.Result(), nil
}

func (f *fake) answer(r *http.Request) (int, any) {
	var body struct {
		ID, SessionID, Fact, Query, Content string
		Events                              []fakeEvent
		Args                                struct{ Query string }
	}
	if r.Body != nil {
		raw, _ := io.ReadAll(r.Body)
		json.Unmarshal(raw, &body)
	}
	path := r.URL.Path
	scope, rest := path, ""
	if i := strings.Index(path, "/users/"); i >= 0 {
		if j := strings.Index(path[i+len("/users/"):], "/"); j >= 0 {
			scope, rest = path[:i+len("/users/")+j], path[i+len("/users/")+j:]
		}
	}
	operation := map[string]any{"id": "op", "done": !f.unfinished}
	switch last := rest[strings.LastIndex(rest, "/")+1:]; {
	case path == "/metrics", path == "/readyz":
		return 200, map[string]any{}
	case r.Header.Get("Accept") == "text/event-stream":
		f.streams++
		return 200, operation
	case last == "operations":
		return 200, map[string]any{"operations": []any{f.progress(scope)}}
	case strings.HasPrefix(path, "/v1/operations/"):
		return 404, "no such operation"
	case last == "ingest":
		f.began[scope], f.streams = time.Now(), 0
		f.store(scope, body.SessionID, body.Events)
		f.remember(scope, body.SessionID)
		if f.boast {
			operation["findable"] = true
		}
		return 202, operation
	case last == "events":
		f.store(scope, strings.Split(rest, "/")[2], []fakeEvent{{body.ID, body.Content}})
		return 200, map[string]any{}
	case r.Method == "POST" && strings.HasPrefix(rest, "/sessions/"):
		f.remember(scope, strings.Split(rest, "/")[2])
		return 200, operation
	case last == "search", last == "context", last == "preload_memory":
		return 200, map[string]any{"memories": f.find(scope, body.Query)}
	case last == "memories" && r.Method == "POST":
		m := fakeMemory{ID: fmt.Sprintf("m%d", f.requests), Kind: "fact", Fact: body.Fact}
		if !f.loseFact {
			f.memories[scope] = append(f.memories[scope], m)
		}
		return 201, m
	case last == "memories":
		return 200, map[string]any{"memories": f.memories[scope]}
	case strings.HasPrefix(rest, "/memories/"):
		for _, m := range f.memories[scope] {
			if m.ID == last {
				return 200, m
			}
		}
		return 404, "no such memory"
	case last == "sessions":
		return 200, map[string]any{}
	}
	return 200, map[string]any{"events": f.sessions[path]}
}

// store keeps events, each once.
func (f *fake) store(scope, session string, events []fakeEvent) {
	key := scope + "/sessions/" + session
	for _, e := range events {
		known := false
		for _, x := range f.sessions[key] {
			known = known || x.ID == e.ID
		}
		f.writes++
		f.last = e.Content
		switch {
		case known && !(f.double && f.writes%3 == 0), f.lose && f.writes%10 == 0:
			continue
		}
		f.sessions[key] = append(f.sessions[key], e)
	}
}

// remember makes turns of the events of a session.
func (f *fake) remember(scope, session string) {
	for _, e := range f.sessions[scope+"/sessions/"+session] {
		known := false
		for _, m := range f.memories[scope] {
			known = known || m.Source.SessionID == session && m.Source.EventIDs[0] == e.ID
		}
		if !known {
			m := fakeMemory{"t-" + session + e.ID, "turn", e.Content, fakeSource{session, []string{e.ID}}}
			f.memories[scope] = append(f.memories[scope], m)
			if f.doubleMemory {
				f.memories[scope] = append(f.memories[scope], m)
			}
		}
	}
}

// find searches by a word.
func (f *fake) find(scope, word string) (out []fakeMemory) {
	if f.cross {
		out = append(out, fakeMemory{Fact: f.last})
	}
	for _, m := range f.memories[scope] {
		if word != "" && strings.Contains(m.Fact, word) && m.Kind == "turn" && !f.hide && !f.boast {
			out = append(out, m)
		}
	}
	return out
}
