package main

import (
	"fmt"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/memory"
)

// A rollback goes on by itself after memoryd was killed within it, several times, and
// brings everything back exactly.
func TestRollbackKilled(t *testing.T) {
	t.Parallel()
	const scope = "/v1/apps/shop/users/ann"
	dir := t.TempDir()
	p := start(t, dir)
	type operation struct {
		ID       string
		Done     bool
		Metadata struct {
			State, RollbackOf string
		}
		Response struct{ Memories []struct{ Action string } }
	}
	ingest := func(session string, texts ...string) (op operation) {
		t.Helper()
		var events []any
		for n, text := range texts {
			events = append(events, map[string]any{"id": fmt.Sprint(session, n), "author": "user", "content": text,
				"timestamp": 1.7e9 + float64(len(session)*10_000+n)})
		}
		code, err := call("POST", p.url+scope+"/memories/ingest?wait=true",
			map[string]any{"sessionId": session, "events": events}, &op)
		if err != nil || code != 200 && code != 202 { // 202: it takes longer than a request waits
			t.Fatal(code, err)
		}
		for !op.Done {
			time.Sleep(10 * time.Millisecond)
			if code, err := call("GET", p.url+"/v1/operations/"+op.ID, nil, &op); err != nil || code != 200 {
				t.Fatal(code, err)
			}
		}
		return op
	}
	held := func() (out []memory.Memory) {
		t.Helper()
		for token := ""; ; {
			var page struct {
				Memories      []memory.Memory
				NextPageToken string
			}
			code, err := call("GET", p.url+scope+"/memories?history=true&kind=fact&pageSize=1000&pageToken="+token, nil, &page)
			if err != nil || code != 200 {
				t.Fatal(code, err)
			}
			for _, m := range page.Memories {
				m.Revision, m.UpdateTime = 0, time.Time{}
				out = append(out, m)
			}
			if token = page.NextPageToken; token == "" {
				return out
			}
		}
	}
	var old, changed []string
	for n := range 600 {
		old = append(old, fmt.Sprintf("My parcel number %d is in Lisbon.", n))
		changed = append(changed, fmt.Sprintf("My crate number %d is in Porto.", n))
	}
	ingest("s", append(old, "I live in Rome.")...)
	before := held()
	op := ingest("new", append(changed, "I moved to Oslo.")...)
	if len(op.Response.Memories) < 500 {
		t.Fatalf("%d changes", len(op.Response.Memories))
	}
	for round := range 4 {
		killed := make(chan struct{})
		go func() {
			time.Sleep(time.Duration(10+25*round) * time.Millisecond)
			p.kill()
			close(killed)
		}()

		_, _ = call("POST", p.url+"/v1/operations/"+op.ID+"/rollback?wait=true", nil, nil)
		<-killed
		p = start(t, dir)
	}
	if code, err := call("POST", p.url+"/v1/operations/"+op.ID+"/rollback", nil, nil); err != nil || code != 202 && code != 409 {
		t.Fatal(code, err)
	}
	var did operation
	for deadline := time.Now().Add(time.Minute); !did.Done; {
		var list struct{ Operations []operation }
		if code, err := call("GET", p.url+scope+"/operations", nil, &list); err != nil || code != 200 || time.Now().After(deadline) {
			t.Fatal(code, err)
		}
		for _, o := range list.Operations {
			if o.Metadata.RollbackOf == op.ID {
				did = o
			}
		}
	}
	if code, err := call("GET", p.url+"/v1/operations/"+did.ID, nil, &did); err != nil || code != 200 ||
		did.Metadata.State != "SUCCEEDED" || len(did.Response.Memories) < len(op.Response.Memories) {
		t.Errorf("%d, %v: %s, %d changes of %d", code, err, did.Metadata.State, len(did.Response.Memories),
			len(op.Response.Memories))
	}
	if diff := gocmp.Diff(before, held()); diff != "" {
		t.Errorf("facts (-before +after the rollback):\n%s", diff)
	}
}
