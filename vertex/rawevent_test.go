package vertex_test

import (
	"strings"
	"testing"
)

// A rawEvent that lacks what the envelope says takes nothing of it away, and comes back as it was.
func TestRawEventOfAnotherShape(t *testing.T) {
	f := newFixture(t)
	const s = "/v1beta1/reasoningEngines/1/sessions"
	f.must("POST", s+"?sessionId=s", `{"userId": "ann"}`)
	f.must("POST", s+"/s:appendEvent", `{"author": "user", "invocationId": "i", "timestamp": "2026-01-02T03:04:05Z",
		"content": {"role": "user", "parts": [{"text": "I am allergic to nuts."}]}, "errorCode": "E",
		"actions": {"stateDelta": {"k": 1}, "transferAgent": "b"}, "rawEvent": {"id": "e1", "trace": "t", "content": null}}`)
	for path, want := range map[string][]string{
		"/s": {`"sessionState":{"k":1}`},
		"/s/events": {`"text":"I am allergic to nuts."`, `"stateDelta":{"k":1}`, `"transferAgent":"b"`, `"errorCode":"E"`,
			`"rawEvent":{"content":null,"id":"e1","trace":"t"}`},
	} {
		got := strings.ReplaceAll(f.must("GET", s+path, ""), `": `, `":`)
		for _, part := range want {
			if !strings.Contains(got, part) {
				t.Errorf("%s: %s: want %s", path, got, part)
			}
		}
	}
}
