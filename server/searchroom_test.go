package server_test

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
)

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
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if strings.Contains(string(a.do("GET", "/metrics", nil).raw),
			fmt.Sprintf("memoryd_bytes_in_flight_waiting{of=\"answers\"} %d", clients-1)) {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the searches did not wait")
		}
	}
	if now := heldBytes(); now > before+12<<20 {
		t.Errorf("%d MB are held, and %d MB were before", now>>20, before>>20)
	}
}
