package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/server"
)

// audited waits until an app's log has an entry of an outcome for an action, and returns
// the newest one.
func (a *api) audited(admin, app, action string, outcome access.Outcome) any {
	a.t.Helper()
	for range 500 {
		page := a.want(200, "GET", "/v1/apps/"+app+"/audit?pageSize=1000", nil, "Authorization", "Bearer "+admin)
		for _, e := range list(page, "entries") {
			if text(e, "action") == action && text(e, "outcome") == string(outcome) {
				return e
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	a.t.Fatalf("the log has no %q of %q", outcome, action)
	return nil
}

// running runs what a server does beside requests, until the test ends.
func (a *api) running() {
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() { a.server.Run(ctx); close(over) }()
	a.t.Cleanup(func() { stop(); <-over })
}

// A change is in the log before it is made and after, with who, what and the ids, and
// without a word of what was said.
func TestAuditLog(t *testing.T) {
	var lines syncBuffer
	a := start(t, func(s *setup) { s.server.Audit.Lines = &lines })
	a.running()
	a.want(201, "POST", scope+"/memories", map[string]any{"fact": "Before there were keys."})
	admin := a.admin()
	made := a.want(201, "POST", "/v1/apps/app/keys", map[string]any{"can": []string{"read", "write"}}, "Authorization",
		"Bearer "+admin)
	key := text(made, "key")
	as := []string{"Authorization", "Bearer " + key}
	fact := a.want(201, "POST", scope+"/memories", map[string]any{"fact": "Ann collects zanzibar stamps."}, as...)
	op := a.want(200, "POST", scope+"/memories/ingest?wait=true", map[string]any{"sessionId": "s", "events": []any{
		map[string]any{"author": "user", "content": "I moved to zanzibar."}}}, as...)
	a.want(200, "PATCH", scope+"/memories/"+text(fact, "id"), map[string]any{"fact": "Ann sells zanzibar stamps."}, as...)
	a.do("PATCH", scope+"/memories/none", map[string]any{"fact": "zanzibar"}, as...)
	a.do("POST", scope+"/tools/remember", map[string]any{"args": map[string]any{"fact": "zanzibar"}}, as...)
	a.do("POST", mcpPath, toolCall("remember", map[string]any{"fact": "zanzibar"}), as...)
	a.want(200, "GET", scope+"/memories", nil, as...)
	a.want(200, "POST", scope+"/memories/search", map[string]any{"query": "zanzibar"}, as...)

	for action, want := range map[string]map[string]string{
		"POST {scope}/memories":                      {"memoryIds": text(fact, "id")},
		"POST {scope}/memories/ingest":               {"operationId": text(op, "id"), "sessionId": "s"},
		"PATCH {scope}/memories/{memory}":            nil,
		"POST {scope}/tools/{tool} remember":         nil,
		"POST /mcp/apps/{app}/users/{user} remember": nil,
	} {
		for _, outcome := range []access.Outcome{access.Begun, access.Done} {
			if action == "PATCH {scope}/memories/{memory}" && outcome == access.Begun {
				continue // the newest is of the one that failed
			}
			e := a.audited(admin, "app", action, outcome)
			if text(e, "actor") != "key:"+text(made, "id") || text(e, "userId") != "ann" || text(e, "requestId") == "" ||
				text(e, "address") == "" {
				t.Errorf("%s: %v", action, e)
			}
			for field, value := range want {
				if outcome == access.Done && !strings.Contains(fmt.Sprint(at(e, field)), value) {
					t.Errorf("%s: %s is %v, want %s", action, field, at(e, field), value)
				}
			}
		}
	}
	failed := a.audited(admin, "app", "PATCH {scope}/memories/{memory}", access.Failed)
	if text(failed, "memoryIds", 0) != "none" || fmt.Sprint(at(failed, "status")) != "404" {
		t.Errorf("the one that failed: %v", failed)
	}
	made2 := a.audited(admin, "app", "POST /v1/apps/{app}/keys", access.Done)
	if text(made2, "keyId") != text(made, "id") {
		t.Errorf("the making of the key: %v", made2)
	}
	facts := a.audited(admin, "app", "make memories", access.Begun)
	if text(facts, "actor") != "memoryd" || text(facts, "operationId") == "" || len(list(facts, "memoryIds")) == 0 {
		t.Errorf("the facts of an operation: %v", facts)
	}
	all := a.do("GET", "/v1/apps/app/audit?pageSize=1000", nil, "Authorization", "Bearer "+admin)
	for _, part := range []string{string(all.raw), lines.String()} {
		for _, word := range []string{"zanzibar", "stamps", key, "GET {scope}", "search", "Before"} {
			if strings.Contains(part, word) {
				t.Errorf("the log has %q: %s", word, part)
			}
		}
	}
	for i, line := range strings.Split(strings.TrimSpace(lines.String()), "\n") {
		if e := (access.Entry{}); json.Unmarshal([]byte(line), &e) != nil || e.ID == "" {
			t.Errorf("line %d is no entry: %s", i, line)
		}
	}
	if users := a.want(200, "GET", "/v1/apps/app/audit?userId=bob", nil, "Authorization", "Bearer "+admin); len(list(users,
		"entries")) > 0 {
		t.Errorf("the log of another user: %v", users)
	}
	if r := a.do("GET", "/v1/apps/app/audit", nil, as...); r.status != 403 {
		t.Errorf("without admin: %d", r.status)
	}
	for _, bad := range []string{"since=x", "pageSize=0", "pageToken=x", "until=1e99"} {
		if r := a.do("GET", "/v1/apps/app/audit?"+bad, nil, "Authorization", "Bearer "+admin); r.status != 400 {
			t.Errorf("%s: %d %s", bad, r.status, r.raw)
		}
	}
}

// Reads are in the log where the options say so, with one entry each.
func TestAuditReads(t *testing.T) {
	a := start(t, func(s *setup) { s.server.Audit.Reads = true })
	a.running()
	admin := a.admin()
	a.want(200, "POST", scope+"/memories/search", map[string]any{"query": "tea"}, "Authorization", "Bearer "+admin)
	e := a.audited(admin, "app", "POST {scope}/memories/search", access.Done)
	if fmt.Sprint(at(e, "status")) != "200" {
		t.Errorf("%v", e)
	}
	page := a.do("GET", "/v1/apps/app/audit", nil, "Authorization", "Bearer "+admin)
	if bytes.Contains(page.raw, []byte(`"begun"`)) {
		t.Errorf("a read has two entries: %s", page.raw)
	}
}

// brokenAudit takes no entries while it is broken.
type brokenAudit struct {
	access.Audit
	broken *bool
}

func (b brokenAudit) AppendAudit(ctx context.Context, entries []access.Entry) error {
	if *b.broken {
		return errors.Join(memory.ErrUnavailable, errors.New("the disk is full"))
	}
	return b.Audit.AppendAudit(ctx, entries)
}

// A change that cannot be told of is not made.
func TestAuditBeforeTheChange(t *testing.T) {
	broken := false
	a := start(t, func(s *setup) { s.server.Audit = server.AuditOptions{To: brokenAudit{nil, &broken}} })
	broken = true
	// Without keys nothing is told of.
	a.want(201, "POST", scope+"/memories", map[string]any{"fact": "one"})
	admin := a.admin()
	as := []string{"Authorization", "Bearer " + admin}
	before := a.contents(as...)
	for _, c := range [][2]string{{"POST", "/memories"}, {"POST", "/sessions"}, {"POST", "/tools/remember"}} {
		body := map[string]any{"fact": "two"}
		switch c[1] {
		case "/sessions":
			body = map[string]any{}
		case "/tools/remember":
			body = map[string]any{"args": map[string]any{"fact": "two"}}
		}
		if r := a.do(c[0], scope+c[1], body, as...); r.status != 503 {
			t.Errorf("%s %s: %d %s", c[0], c[1], r.status, r.raw)
		}
	}
	same(t, "what there is", a.contents(as...), before)
}
