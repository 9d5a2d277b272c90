package server_test

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// stream reads an operation as server-sent events until the server ends it.
func (a *api) stream(id string) []any {
	a.t.Helper()
	return a.watch(id, func() {})
}

// watch is like stream, and calls began after the first event.
func (a *api) watch(id string, began func()) (out []any) {
	a.t.Helper()
	req, err := http.NewRequest("GET", a.url+"/v1/operations/"+id, nil)
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer res.Body.Close()
	if got := res.Header.Get("Content-Type"); res.StatusCode != 200 || !strings.HasPrefix(got, "text/event-stream") {
		a.t.Fatalf("status %d, Content-Type %q", res.StatusCode, got)
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			if l := lines.Text(); l != "" && !strings.HasPrefix(l, ":") {
				a.t.Errorf("a line of the stream is %q", l)
			}
			continue
		}
		v, err := parse([]byte(data))
		if err != nil {
			a.t.Fatal(err)
		}
		checkTimes(a.t, v)
		if out = append(out, v); len(out) == 1 {
			began()
		}
	}
	if err := lines.Err(); err != nil || len(out) == 0 {
		a.t.Fatalf("the stream gave %d operations and ended with %v", len(out), err)
	}
	return out
}

func TestOperation(t *testing.T) {
	g := newGate()
	a := start(t, func(s *setup) { s.extractor = g })
	op := a.want(202, "POST", scope+"/memories/ingest", talk(t))
	id := text(op, "id")
	if id == "" || at(op, "done") != false {
		t.Fatalf("the operation is %v", op)
	}
	for _, state := range []any{op, a.want(200, "GET", "/v1/operations/"+id, nil)} {
		if s := text(state, "metadata", "state"); s != "PENDING" && s != "RUNNING" {
			t.Errorf("state is %q", s)
		}
		equal(t, "what is to do", []any{at(state, "metadata", "eventsTotal"), at(state, "metadata", "eventsDone")},
			`[7, 0]`)
		if at(state, "response") != nil || at(state, "error") != nil {
			t.Errorf("it has a response or an error before it is done: %v", state)
		}
	}
	if a.with(t).do("GET", "/v1/operations/"+id, nil, "Accept", "application/json").status != 200 {
		t.Error("the operation cannot be read as JSON")
	}
	close(g.open)
	seen := a.stream(id)
	last := seen[len(seen)-1]
	for _, s := range seen[:len(seen)-1] {
		if at(s, "done") != false {
			t.Errorf("the stream goes on after %v", s)
		}
	}
	equal(t, "the end of the stream", []any{at(last, "id"), at(last, "done"), at(last, "metadata", "state"),
		at(last, "metadata", "eventsDone")},
		`["`+id+`", true, "SUCCEEDED", 7]`)
	same(t, "read when done", a.want(200, "GET", "/v1/operations/"+id, nil), last)
	same(t, "streamed when done", a.stream(id), []any{last})
	changes := list(last, "response", "memories")
	if len(changes) == 0 {
		t.Fatal("no changes")
	}
	for _, ch := range changes {
		same(t, "action", text(ch, "action"), "CREATED")
		same(t, "memory as read", a.want(200, "GET", scope+"/memories/"+text(ch, "memory", "id"), nil),
			at(ch, "memory"))
	}
	same(t, "retry of one that has succeeded", a.want(200, "POST", "/v1/operations/"+id+"/retry", nil), last)
}

func TestListOperations(t *testing.T) {
	a := start(t)
	equal(t, "none", a.want(200, "GET", scope+"/operations", nil), `{"operations": []}`)
	var ids []string
	for range 5 {
		op := a.want(200, "POST", scope+"/memories/ingest?wait=true",
			`{"sessionId": "s", "events": [{"content": "I love figs."}]}`)
		ids = append([]string{text(op, "id")}, ids...)
	}
	all := list(a.want(200, "GET", scope+"/operations", nil), "operations")
	same(t, "newest first", each(all, "id"), ids)
	var paged []string
	token := ""
	for range 3 {
		page := a.want(200, "GET", scope+"/operations?pageSize=2&pageToken="+token, nil)
		paged = append(paged, each(list(page, "operations"), "id")...)
		token = text(page, "nextPageToken")
	}
	same(t, "in pages", paged, ids)
	same(t, "token after the last page", token, "")
	equal(t, "of another user", a.want(200, "GET", "/v1/apps/app/users/bob/operations", nil), `{"operations": []}`)

	// The list of the app has those of all users, narrowed by state and user.
	bobs := a.want(200, "POST", "/v1/apps/app/users/bob/memories/ingest?wait=true",
		`{"sessionId": "s", "events": [{"content": "I love figs."}]}`)
	of := "/v1/apps/app/operations"
	everyone := list(a.want(200, "GET", of, nil), "operations")
	same(t, "of the app", each(everyone, "id"), append([]string{text(bobs, "id")}, ids...))
	same(t, "as in the list of the user", everyone[1:], all)
	same(t, "whose", text(everyone, 0, "metadata", "userId"), "bob")
	same(t, "of a user of the app", a.want(200, "GET", of+"?userId="+text(all, 0, "metadata", "userId"), nil),
		a.want(200, "GET", scope+"/operations", nil))
	same(t, "of a state", len(list(a.want(200, "GET", of+"?state=SUCCEEDED&pageSize=4", nil), "operations")), 4)
	equal(t, "of another state", a.want(200, "GET", of+"?state=FAILED", nil), `{"operations": []}`)
	equal(t, "of another app", a.want(200, "GET", "/v1/apps/app2/operations", nil), `{"operations": []}`)
	a.refused(400, "GET", of+"?state=failed", nil, "state", "FAILED")
	a.refused(400, "GET", of+"?userId=a%2Fb", nil, "userId")
	a.refused(400, "GET", of+"?pageToken=none", nil, "pageToken")
}

// TestStreamFails checks that a stream ends when its store fails, and that the line
// of the request has the reason.
func TestStreamFails(t *testing.T) {
	g, sessions, log := newGate(), &failingSessions{}, &buffer{}
	a := start(t, logTo(log), func(s *setup) { s.extractor, s.sessions = g, sessions.wrap })
	op := a.want(202, "POST", scope+"/memories/ingest", talk(t))
	for _, s := range a.watch(text(op, "id"), func() { sessions.fail(errors.New(secret)); close(g.open) }) {
		same(t, "done", at(s, "done"), false)
	}
	line := "" // is in the log when the client sees the stream end
	for l := range strings.Lines(log.String()) {
		if strings.Contains(l, "path=/v1/operations/") {
			line += l
		}
	}
	if !strings.Contains(line, "level=ERROR") || strings.Count(line, secret) != 1 {
		t.Errorf("the line of the stream is %q", line)
	}
}

// TestRetryOperation checks that an operation fails for good after its last
// attempt, and succeeds when a client retries it.
func TestRetryOperation(t *testing.T) {
	m := &failing{}
	m.fail(errors.New("the store is broken: password=hunter2"))
	a := start(t, func(s *setup) {
		s.memories = m.wrap
		s.ingest.MaxAttempts = 1
	})
	op := a.want(200, "POST", scope+"/memories/ingest?wait=true", talk(t))
	equal(t, "done and state", []any{at(op, "done"), at(op, "metadata", "state"), at(op, "metadata", "attempts"),
		at(op, "metadata", "eventsDone")}, `[true, "FAILED", 1, 0]`)
	if text(op, "metadata", "lastError") == "" || at(op, "error", "code") == nil ||
		text(op, "error", "message") == "" || at(op, "response") != nil {
		t.Errorf("a failed operation is %v", op)
	}
	same(t, "events", len(list(a.want(200, "GET", scope+"/sessions/talk", nil), "events")), 7)
	seen := a.stream(text(op, "id"))
	same(t, "streamed", seen[len(seen)-1], op)

	m.fail(nil)
	a.want(200, "POST", "/v1/operations/"+text(op, "id")+"/retry", nil)
	seen = a.stream(text(op, "id"))
	last := seen[len(seen)-1]
	same(t, "state after the retry", text(last, "metadata", "state"), "SUCCEEDED")
	if len(list(last, "response", "memories")) == 0 || at(last, "metadata", "lastError") != nil ||
		at(last, "error") != nil {
		t.Errorf("after the retry the operation is %v", last)
	}
}

// TestHostileOperationIDs checks that malformed and forged ids are not found: an id
// contains its scope, and no operation has the ids made for another one.
func TestHostileOperationIDs(t *testing.T) {
	a := start(t)
	op := a.want(200, "POST", scope+"/memories/ingest?wait=true",
		`{"sessionId": "s", "events": [{"content": "I love figs."}]}`)
	id := text(op, "id")
	raw, err := base64.RawURLEncoding.DecodeString(id)
	if err != nil {
		t.Fatal(err)
	}
	forge := func(app, user string) string {
		unique := string(raw[strings.LastIndexByte(string(raw), 0)+1:])
		return base64.RawURLEncoding.EncodeToString([]byte(app + "\x00" + user + "\x00" + unique))
	}
	same(t, "the forged id of the same scope", forge("app", "ann"), id)
	encode := base64.RawURLEncoding.EncodeToString
	for _, bad := range []string{
		"x", "%20", "%00", "%ff", "..", ".", id + "A", id[:len(id)-1], id + "=", "%0A" + id, id + "%0a",
		strings.Repeat("A", 10_000), forge("app", "bob"), forge("other", "ann"), forge("", ""), forge("a/b", "u"),
		forge("app\x00ann", "u"), forge("\xff", "u"), encode([]byte("app\x00ann\x00")),
		encode([]byte("app\x00ann\x00%")), encode([]byte("app\x00ann\x00' OR 1=1 --")),
	} {
		a.refused(404, "GET", "/v1/operations/"+bad, nil)
		a.refused(404, "POST", "/v1/operations/"+bad+"/retry", nil)
		a.refused(404, "POST", "/v1/operations/"+bad+"/confirm", nil)
		r := a.do("GET", "/v1/operations/"+bad, nil, "Accept", "text/event-stream")
		if _, err := checkError(r); err != nil || r.status != 404 {
			t.Errorf("%.100s as a stream: status %d, %v", bad, r.status, err)
		}
	}
	a.refused(404, "GET", "/v1/operations/", nil)
	a.refused(404, "POST", "/v1/operations//retry", nil)
	a.want(200, "GET", "/v1/operations/"+id, nil)
	// A path segment is unescaped once, also if the escape was not needed.
	a.want(200, "GET", fmt.Sprintf("/v1/operations/%%%02X%s", id[0], id[1:]), nil)
}

// TestStop checks that streams and waits end when the server stops, and that the
// events stay.
func TestStop(t *testing.T) {
	g := newGate()
	a := start(t, func(s *setup) { s.extractor = g })
	t.Cleanup(func() { close(g.open) })
	op := a.want(202, "POST", scope+"/memories/ingest", talk(t))
	waited := make(chan reply, 1)
	go func() { waited <- a.do("POST", scope+"/sessions/talk/memories?wait=true", nil) }()
	for _, s := range a.watch(text(op, "id"), a.server.Stop) {
		same(t, "done", at(s, "done"), false)
	}
	if r := <-waited; r.status != 202 {
		t.Errorf("the wait ends with %d: %s", r.status, r.raw)
	}
	same(t, "events kept", len(list(a.want(200, "GET", scope+"/sessions/talk", nil), "events")), 7)
}
