package server_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// TestRefusal checks that a client reads a refusal by a limit of memoryd, without
// the words of the calls around it, and when to come again; and that the words of
// a model or a store that is busy itself stay in the log.
func TestRefusal(t *testing.T) {
	const refused = "resource exhausted: 16 of 16 are in use: -limit sets how many"
	busy := &memory.Later{After: 30 * time.Second, Err: fmt.Errorf("model at 10.0.0.1: %w", memory.ErrExhausted)}
	m := &failing{}
	a := start(t, func(s *setup) { s.memories = m.wrap })
	for _, c := range []struct {
		name, message, after string
		err                  error
	}{
		{"a refusal", refused, "3",
			memory.Refuse(2001*time.Millisecond, "%d of %d are in use: -limit sets how many", 16, 16)},
		{"a refusal without a time", refused, "1", memory.Refuse(0, "16 of 16 are in use: -limit sets how many")},
		{"a busy model", "memoryd cannot do this now", "30", busy},
		{"a busy store", "memoryd cannot do this now", "1", memory.ErrExhausted},
	} {
		m.fail(fmt.Errorf("read 10.0.0.1:6334 of app %q: %w", "app", c.err))
		r := a.do("GET", scope+"/memories", nil)
		message, err := checkError(r)
		if err != nil || r.status != 429 || !strings.HasPrefix(message, c.message) || strings.Contains(message, "10.0.0.1") {
			t.Errorf("%s: %d %q, %v", c.name, r.status, message, err)
		}
		same(t, c.name+": Retry-After", r.header.Get("Retry-After"), c.after)

		m.fail(fmt.Errorf("read 10.0.0.1:6334 of app %q: %w", "app", c.err))
		args := `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search_memory",
			"arguments": {"query": "ramen"}}}`
		raw := string(a.do("POST", "/mcp"+strings.TrimPrefix(scope, "/v1"), args).raw)
		if strings.Contains(raw, "10.0.0.1") || strings.Contains(raw, refused) != (c.message == refused) {
			t.Errorf("%s over MCP: %s", c.name, raw)
		}
		m.fail(nil)
	}
}

// TestDamage checks that a client reads what is damaged, without the words of the
// calls around it.
func TestDamage(t *testing.T) {
	const damaged = "the events of this user are gone: run memoryd check"
	m := &failing{}
	a := start(t, func(s *setup) { s.memories = m.wrap })
	m.fail(fmt.Errorf("read 10.0.0.1:6334 of app %q: %w", "app", memory.Damaged("%s", damaged)))
	r := a.do("GET", scope+"/memories", nil)
	if message, err := checkError(r); err != nil || r.status != 503 || message != damaged {
		t.Errorf("%d %q, %v", r.status, message, err)
	}
}
