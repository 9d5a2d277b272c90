package server_test

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// untilAnswersWait returns when so many answers wait for room.
func (a *api) untilAnswersWait(want int) {
	a.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if strings.Contains(string(a.do("GET", "/metrics", nil).raw),
			fmt.Sprintf("memoryd_bytes_in_flight_waiting{of=\"answers\"} %d\n", want)) {
			return
		}
		if time.Now().After(end) {
			a.t.Fatalf("%d answers do not wait", want)
		}
	}
}

// TestAnswersWait checks that large answers of tools, of MCP and of dry runs wait for
// room, and that small ones do not.
func TestAnswersWait(t *testing.T) {
	h := &held{app: "app", begun: make(chan struct{}, 10), let: make(chan struct{})}
	a := start(t, func(s *setup) {
		s.memories = func(m memory.Store) memory.Store { h.Store = m; return h }
		s.server.MaxAnswers, s.server.Processors = 1<<20, 8
	})
	for i := range 30 {
		a.want(201, "POST", scope+"/memories", fmt.Sprintf(`{"fact": "bees %d %s", "metadata": {"k": %q}}`, i,
			strings.Repeat("x", 10_000), strings.Repeat("y", 10_000)))
	}
	var events []string
	for i := range 60 {
		events = append(events, fmt.Sprintf(`{"id": "e%d", "author": "user", "content": "I have a brother called %s%c%c."}`,
			i, "Alexander", 'a'+i/26, 'a'+i%26))
	}
	for path, body := range map[string]any{
		scope + "/memories/search":   `{"query": "bees", "topK": 30}`,
		scope + "/tools/load_memory": `{"args": {"query": "bees"}}`,
		scope + "/memories/dryRun":   `{"sessionId": "s", "events": [` + strings.Join(events, ",") + `]}`,
		scope + "/mcp":               toolCall("load_memory", map[string]any{"query": "bees"}),
		mcpPath:                      rpc("resources/list", map[string]any{}),
	} {
		t.Run(path, func(t *testing.T) {
			var requests sync.WaitGroup
			requests.Go(func() { a.want(200, "GET", scope+"/memories", nil) })
			<-h.begun // the list has all the room
			requests.Go(func() {
				if v := a.want(200, "POST", path, body); at(v, "error") != nil || at(v, "result", "isError") != nil {
					t.Errorf("%.300v", v)
				}
			})
			a.untilAnswersWait(1)
			a.want(200, "POST", "/v1/apps/app/users/bob/tools/load_memory", `{"args": {"query": "bees"}}`)
			h.let <- struct{}{}
			if path == mcpPath {
				<-h.begun
				h.let <- struct{}{}
			}
			requests.Wait()
		})
	}
	a.untilAnswersWait(0)
	if got := a.do("GET", "/metrics", nil); !strings.Contains(string(got.raw), `memoryd_bytes_in_flight{of="answers"} 0`) {
		t.Error("room is taken when all is answered")
	}
}

// TestSearchesWaiting checks that searches which wait for room to send their matches
// hold none of these.
func TestSearchesWaiting(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes memories of 8 MB")
	}
	a := start(t, func(s *setup) { s.server.MaxAnswers = 16 << 20 })
	for i := range 100 {
		a.want(201, "POST", scope+"/memories", fmt.Sprintf(`{"fact": "bees %d %s", "metadata": {"k": %q}}`, i,
			strings.Repeat("x", 60_000), strings.Repeat("y", 16_000)))
	}
	body := `{"query": "bees", "topK": 100}`
	a.want(200, "POST", scope+"/memories/search", body)
	before := heldBytes()
	const clients = 16 // the matches of each have metadata of 1.6 MB
	for range clients {
		conn, err := net.Dial("tcp", a.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST %s/memories/search HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n%s", scope, a.addr,
			len(body), body)
	}
	a.untilAnswersWait(clients - 1)
	if now := heldBytes(); now > before+12<<20 {
		t.Errorf("%d MB are held, and %d MB were before", now>>20, before>>20)
	}
}
