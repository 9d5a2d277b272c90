package server_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

// newSession creates the empty session s and returns the path of its events.
func newSession(a *api) string {
	a.t.Helper()
	a.want(201, "POST", scope+"/sessions", `{"id": "s"}`)
	return scope + "/sessions/s/events"
}

func TestAppendOneEvent(t *testing.T) {
	a := start(t)
	events := newSession(a)
	out := a.want(200, "POST", events, `{"id": "e1", "author": "user", "timestamp": 1700000000, "content": "hello"}`)
	equal(t, "the answer", out, `{"events": [{"id": "e1", "author": "user", "timestamp": "2023-11-14T22:13:20.000000Z",
		"content": {"role": "user", "parts": [{"text": "hello"}]}}], "lastUpdateTime": "2023-11-14T22:13:20.000000Z",
		"findable": false}`)
	out = a.want(200, "POST", events, `{"author": "guide", "content": {"parts": [{"text": "hi"}]}}`)
	if text(out, "events", 0, "id") == "" || text(out, "events", 0, "timestamp") == "" {
		t.Errorf("an event without id and time is stored as %v", at(out, "events", 0))
	}
	same(t, "lastUpdateTime", at(out, "lastUpdateTime"), at(out, "events", 0, "timestamp"))
	same(t, "as read", at(a.want(200, "GET", scope+"/sessions/s", nil), "events", 1), at(out, "events", 0))
}

func TestAppendManyEvents(t *testing.T) {
	a := start(t)
	events := newSession(a)
	out := a.want(200, "POST", events, `{"events": [{"id": "e1", "timestamp": 1700000002},
		{"id": "e2", "timestamp": 1700000001}, {"id": "e1", "author": "again"}]}`)
	same(t, "answered in the order sent", each(list(out, "events"), "id"), []string{"e1", "e2", "e1"})
	same(t, "the repeated one", at(out, "events", 2), at(out, "events", 0))
	same(t, "read in the order said", each(list(a.want(200, "GET", scope+"/sessions/s", nil), "events"), "id"),
		[]string{"e2", "e1"})
	equal(t, "none", at(a.want(200, "POST", events, `{"events": []}`), "events"), `[]`)

	before := a.contents()
	a.refused(400, "POST", events, `{"events": [{"id": "e3", "actions": {"stateDelta": {"k": 1}}}, {"id": 5}]}`,
		"events[1]", "id")
	a.refused(400, "POST", events, `{"events": [{"id": "e3"}], "event": {}}`, "event")
	a.refused(400, "POST", events, `{"events": [{"id": "e3"}], "appName": "other"}`, "appName")
	for _, body := range []string{``, `[]`, `null`, `"x"`, `5`, `[{"id": "e3"}]`, `{"events": {"id": "e3"}}`,
		`{"events": [[]]}`, `{"events": [null]}`, `{"events": null}`} {
		a.refused(400, "POST", events, body)
	}
	same(t, "what is stored", a.contents(), before)
	a.refused(404, "POST", scope+"/sessions/missing/events", `{"events": [{"id": "e1"}]}`, "missing")
	a.refused(404, "POST", "/v1/apps/app/users/bob/sessions/s/events", `{"events": [{"id": "e1"}]}`)
}

// TestAppendRepeated checks that an event id already in the session is not stored
// again: the stored event comes back, and the state stays.
func TestAppendRepeated(t *testing.T) {
	a := start(t)
	events := newSession(a)
	first := a.want(200, "POST", events,
		`{"events": [{"id": "e1", "content": "first", "actions": {"stateDelta": {"k": 1}}}]}`)
	again := a.want(200, "POST", events,
		`{"events": [{"id": "e1", "content": "second", "actions": {"stateDelta": {"k": 2}}}]}`)
	same(t, "the answer to a repetition", again, first)
	s := a.want(200, "GET", scope+"/sessions/s", nil)
	equal(t, "state", at(s, "state"), `{"k": 1}`)
	same(t, "events", len(list(s, "events")), 1)
	a.want(201, "POST", scope+"/sessions", `{"id": "s2"}`)
	other := a.want(200, "POST", scope+"/sessions/s2/events", `{"events": [{"id": "e1", "content": "elsewhere"}]}`)
	same(t, "the same id in another session", text(other, "events", 0, "content", "parts", 0, "text"), "elsewhere")
}

// TestAppendPartial checks that a partial event comes back and is not stored.
func TestAppendPartial(t *testing.T) {
	a := start(t)
	events := newSession(a)
	before := a.contents()
	out := a.want(200, "POST", events,
		`{"events": [{"id": "e1", "partial": true, "content": {"role": "model", "parts": [{"text": "He"}]},
		"actions": {"stateDelta": {"k": 1, "user:k": 1}}, "more": 5}]}`)
	equal(t, "echoed", at(out, "events", 0, "more"), `5`)
	same(t, "echoed", text(out, "events", 0, "content", "parts", 0, "text"), "He")
	same(t, "what is stored", a.contents(), before)
	a.want(200, "POST", events, `{"events": [{"id": "e1", "partial": false, "content": "Hello"}]}`)
	same(t, "events", len(list(a.want(200, "GET", scope+"/sessions/s", nil), "events")), 1)
}

func TestAppendState(t *testing.T) {
	a := start(t)
	events := newSession(a)
	out := a.want(200, "POST", events,
		`{"events": [{"actions": {"stateDelta": {"k": 1, "null": null, "user:u": 2, "app:a": 3, "temp:t": 4}}},
		{"actions": {"state_delta": {"k": 5}}}]}`)
	equal(t, "the stored delta", at(out, "events", 0, "actions", "stateDelta"),
		`{"k": 1, "null": null, "user:u": 2, "app:a": 3}`)
	s := a.want(200, "GET", scope+"/sessions/s", nil)
	equal(t, "state", at(s, "state"), `{"k": 5, "null": null, "user:u": 2, "app:a": 3}`)
	if strings.Contains(fmt.Sprint(s), "temp:") {
		t.Errorf("temp: state is kept: %v", s)
	}
}

// TestOutputKey checks that outputKey puts the text of an event into the state.
func TestOutputKey(t *testing.T) {
	a := start(t)
	events := newSession(a)
	a.want(200, "POST", events+"?outputKey=answer",
		`{"events": [{"author": "guide", "content": {"parts": [{"text": "thinking", "thought": true},
		{"text": "forty"}, {"text": "\"two\""}]}, "actions": {"stateDelta": {"k": 1}}}]}`)
	equal(t, "state", at(a.want(200, "GET", scope+"/sessions/s", nil), "state"), `{"answer": "forty\"two\"", "k": 1}`)
	a.want(200, "POST", events+"?outputKey=user:answer",
		`{"events": [{"author": "guide", "content": "x", "actions": null}]}`)
	equal(t, "the user's state", at(a.want(200, "GET", scope+"/sessions/s", nil), "state", "user:answer"), `"x"`)
	a.want(200, "POST", events+"?outputKey=answer",
		`{"events": [{"partial": true, "content": "no"}, {"author": "guide"}]}`)
	equal(t, "state after partial and wordless events",
		at(a.want(200, "GET", scope+"/sessions/s", nil), "state", "answer"), `"forty\"two\""`)
	out := a.want(200, "POST", events+"?outputKey=temp:x",
		`{"events": [{"id": "tmp", "author": "guide", "content": "x"}]}`)
	equal(t, "delta under a temp: key", at(out, "events", 0, "actions", "stateDelta"), `{}`)

	a.want(200, "POST", events+"?outputKey=answer", `{"events": [{"content": "What is it?"},
		{"author": "guide", "content": {"parts": [{"text": "Let me see."}, {"functionCall": {"name": "f"}}]}}]}`)
	equal(t, "state after a question and a call", at(a.want(200, "GET", scope+"/sessions/s", nil), "state", "answer"),
		`"forty\"two\""`)

	before := a.contents()
	a.refused(400, "POST", events+"?outputKey=", `{"events": [{"content": "x"}]}`, "outputKey")
	a.refused(400, "POST", events+"?outputKey=user:", `{"events": [{"content": "x"}]}`, "outputKey")
	a.refused(400, "POST", events+"?outputKey="+strings.Repeat("k", 300), `{"events": [{"content": "x"}]}`, "outputKey")
	a.refused(400, "POST", events+"?outputKey=a%00b", `{"events": [{"content": "x"}]}`, "outputKey")
	a.refused(400, "POST", events+"?outputKey=%ff", `{"events": [{"content": "x"}]}`, "outputKey")
	a.refused(400, "POST", events+"?output_key=k", `{"events": [{"content": "x"}]}`, "output_key")
	same(t, "what is stored", a.contents(), before)
}

// TestEventRoundTrip checks that an event of an ADK client comes back exactly as
// it was sent.
func TestEventRoundTrip(t *testing.T) {
	a := start(t)
	events := newSession(a)
	blob := base64.StdEncoding.EncodeToString([]byte("\x89PNG\x00\xff\xfe\r\n"))
	const camel = `{"id": "e1", "invocationId": "i1", "author": "guide", "timestamp": "2024-05-08T13:56:00.123456Z",
		"content": {"role": "model", "parts": [{"text": "é \u0001 \\ / <b>&amp; 🙂 \u2028"},
			{"inlineData": {"mimeType": "image/png", "data": "BLOB"}},
			{"functionCall": {"name": "f", "args": {"snake_case": 1, "camelCase": 2}}}]},
		"actions": {"stateDelta": {"snake_key": {"inner_key": 1}}, "artifactDelta": {"a.txt": 3}, "transferToAgent": "x",
			"rewindBeforeInvocationId": "i0", "compaction": {"startTimestamp": 1.5, "compactedContent": {"role": "model"}}},
		"longRunningToolIds": ["x"], "usageMetadata": {"promptTokenCount": 12345678901234567890},
		"customMetadata": {"a_b": null, "aB": []},
		"partial": false, "turnComplete": null, "errorCode": "E",
		"unknown": {"big": 123456789012345678901234567890.000000001, "small": 1e-999, "huge": 1E999, "minus": -0,
			"float": 1.10, "nested": [[[{}]]], "": ""},
		"unknown_too": [true, null, "x"]}`
	want := strings.ReplaceAll(camel, "BLOB", blob)
	out := a.want(200, "POST", events, `{"events": [`+want+`]}`)
	equal(t, "as answered", at(out, "events", 0), want)
	equal(t, "as read", at(a.want(200, "GET", scope+"/sessions/s", nil), "events", 0), want)

	for from, to := range map[string]string{
		`"e1"`: `"e2"`, "invocationId": "invocation_id", "stateDelta": "state_delta",
		"artifactDelta": "artifact_delta", "transferToAgent": "transfer_to_agent",
		"rewindBeforeInvocationId": "rewind_before_invocation_id", "longRunningToolIds": "long_running_tool_ids",
		"usageMetadata": "usage_metadata", "customMetadata": "custom_metadata", "turnComplete": "turn_complete",
		"errorCode": "error_code", "inlineData": "inline_data", "mimeType": "mime_type",
		"functionCall": "function_call", `"2024-05-08T13:56:00.123456Z"`: "1715176560.123456",
	} {
		want = strings.ReplaceAll(want, from, to)
	}
	out = a.want(200, "POST", events, `{"events": [`+want+`]}`)
	equal(t, "the snake_case one", at(out, "events", 0),
		strings.ReplaceAll(strings.ReplaceAll(camel, "BLOB", blob), `"e1"`, `"e2"`))
	a.refused(400, "POST", events, `{"events": [{"invocationId": "a", "invocation_id": "a"}]}`, "invocationId")
}

// TestEventTimes checks that times are accepted as RFC 3339 with any offset and as
// epoch seconds, from 1900 up to 2200.
func TestEventTimes(t *testing.T) {
	a := start(t)
	events := newSession(a)
	for in, want := range map[string]string{
		`"2024-02-29T23:59:59.9999999Z"`: "2024-02-29T23:59:59.999999Z",
		`"2024-03-01T00:00:00+14:00"`:    "2024-02-29T10:00:00.000000Z",
		`0`:                              "1970-01-01T00:00:00.000000Z",
		`-1.5`:                           "1969-12-31T23:59:58.500000Z",
		`1.7e9`:                          "2023-11-14T22:13:20.000000Z",
		`"1900-01-01T00:00:00Z"`:         "1900-01-01T00:00:00.000000Z",
		`"2199-12-31T23:59:59.99Z"`:      "2199-12-31T23:59:59.990000Z",
	} {
		out := a.want(200, "POST", events, `{"events": [{"timestamp": `+in+`}]}`)
		same(t, in, text(out, "events", 0, "timestamp"), want)
	}
	for _, bad := range []string{
		`""`, `"now"`, `"2024-03-01"`, `"2024-03-01 00:00:00"`, `"2024-02-30T00:00:00Z"`, `"0000-01-01T00:00:00Z"`,
		`"0001-01-01T00:00:00Z"`, `"9999-12-31T23:59:59Z"`, `1700000000000`, `1e999`, `-1e999`, `true`, `{}`, `[]`,
		`"1700000000"`,
	} {
		a.refused(400, "POST", events, `{"events": [{"timestamp": `+bad+`}]}`, "timestamp")
	}
}

// TestEventShapes checks that words in any accepted shape become memories of the one
// who said them, and that an event whose words would be lost is refused whole.
func TestEventShapes(t *testing.T) {
	a := start(t)
	for i, event := range []string{
		`{"text": "I live in Ghent."}`, `{"message": "I live in Ghent."}`,
		`{"author": "Human", "content": "I live in Ghent."}`, `{"author": "ann", "content": "I live in Ghent."}`,
		`{"role": "user", "content": [{"type": "text", "text": "I live in Ghent."}]}`,
		`{"type": "human", "content": "I live in Ghent."}`, `{"role": "user", "parts": [{"text": "I live in Ghent."}]}`,
		`{"message": {"role": "user", "content": "I live in Ghent."}}`,
	} {
		app := fmt.Sprintf("/v1/apps/shapes%d/users/ann", i)
		a.want(200, "POST", app+"/memories/ingest?wait=true", `{"sessionId": "s", "events": [`+event+`]}`)
		facts := list(a.want(200, "GET", app+"/memories?kind=fact", nil), "memories")
		if len(facts) != 1 || !strings.Contains(fmt.Sprint(facts), "Ghent") {
			t.Errorf("the facts of %s are %v", event, facts)
		}
	}
	for i, event := range []string{
		`{"role": "assistant", "content": "I live in Ghent."}`, `{"type": "ai", "content": "I live in Ghent."}`,
		`{"author": "bot", "text": "I live in Ghent."}`, `{"author": "bob", "content": "I live in Ghent."}`,
	} {
		app := fmt.Sprintf("/v1/apps/agents%d/users/ann", i)
		a.want(200, "POST", app+"/memories/ingest?wait=true", `{"sessionId": "s", "events": [`+event+`]}`)
		all := a.want(200, "GET", app+"/memories", nil)
		same(t, event, each(list(all, "memories"), "kind"), []string{"turn"})
	}
	before := a.contents()
	for event, field := range map[string]string{
		`{"body": "I live in Ghent."}`:                        "body",
		`{"author": "user", "says": "I live in Ghent."}`:      "says",
		`{"role": "narrator", "content": "I live in Ghent."}`: "narrator",
		`{"text": "I live", "message": "in Ghent."}`:          "message",
	} {
		a.refused(400, "POST", scope+"/memories/ingest", `{"sessionId": "s", "events": [{"content": "x"}, `+event+`]}`,
			"events[1]", field)
		a.refused(400, "POST", scope+"/sessions", `{"events": [`+event+`]}`, "events[0]", field)
	}
	same(t, "what is stored", a.contents(), before)
}
