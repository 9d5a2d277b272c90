package server_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestMostEvents checks that a request may have 10,000 events, and that the
// message about one more has the limit.
func TestMostEvents(t *testing.T) {
	a := start(t)
	events := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,{"id": "e%d"}`, i)
		}
		return `{"sessionId": "s", "events": [` + strings.TrimPrefix(b.String(), ",") + `]}`
	}
	a.refused(400, "POST", scope+"/memories/ingest", events(10_001), "events", "10000")
	a.refused(404, "GET", scope+"/sessions/s", nil)
	a.want(202, "POST", scope+"/memories/ingest", events(10_000))
}

// TestSessionIDOfIngest checks that the session id is trimmed, and that ADK
// Python's name of the field is accepted.
func TestSessionIDOfIngest(t *testing.T) {
	a := start(t)
	a.want(200, "POST", scope+"/memories/ingest?wait=true",
		`{"session_id": " s ", "events": [{"id": "e", "content": "hello"}]}`)
	a.want(200, "GET", scope+"/sessions/s", nil)
	a.refused(400, "POST", scope+"/memories/ingest", `{"sessionId": "s", "session_id": "t"}`, "sessionId")
	a.refused(400, "POST", scope+"/memories/ingest", `{"sessionId": " "}`, "sessionId")
}
