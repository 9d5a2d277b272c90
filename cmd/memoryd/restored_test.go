package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/internal/qdranttest"
	"github.com/memoryd/memoryd/internal/redistest"
)

// remembers fails the test unless a search of a piece's user finds its first event.
func (p *process) remembers(t *testing.T, of piece) {
	t.Helper()
	var found struct {
		Memories []struct {
			Source struct{ EventIDs []string }
		}
	}
	code, err := call("GET", p.url+of.scope+"/memories?pageSize=500", nil, &found)
	if err != nil || code != 200 {
		t.Fatalf("list of memories: %d, %v", code, err)
	}
	for _, m := range found.Memories {
		for _, id := range m.Source.EventIDs {
			if id == fmt.Sprint(of.events[0]["id"]) {
				return
			}
		}
	}
	t.Errorf("event %v is in none of %d memories", of.events[0]["id"], len(found.Memories))
}

// store has memoryd make memories of a piece, and waits for them.
func (p *process) store(t *testing.T, of piece) {
	t.Helper()
	code, err := call("POST", p.url+of.scope+"/memories/ingest?wait=true",
		map[string]any{"sessionId": of.session, "events": of.events}, nil)
	if err != nil || code != 200 {
		t.Errorf("ingest: %d, %v\n%s", code, err, p.logs.String())
	}
}

// A Redis or a Qdrant that comes back with older data while no memoryd runs is noticed
// by the next start. It can be accepted, and memories that Qdrant has lost can be made
// again.
func TestRestoredWhileStopped(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	q := qdranttest.Start(t)
	stores := []string{"-sessions", r.URL(), "-memories", q.URL(t)}
	pieces := userPieces(0)
	p := start(t, t.TempDir(), stores...)
	stop := func() { t.Helper(); p.terminate(t) }
	begin := func() { t.Helper(); p = start(t, t.TempDir(), stores...) }
	p.store(t, pieces[0])
	stop()
	older := r.Backup(t)
	begin()
	p.ready(t, 200, "")
	p.store(t, pieces[1])
	stop()
	r.Restore(t, older)
	begin()
	p.ready(t, 503, "memoryd accept")
	runs(t, "accept", "-sessions", r.URL())
	p.ready(t, 200, "")
	stop()
	begin()
	p.ready(t, 200, "")

	stop()
	restore := q.Backup(t)
	begin()
	p.store(t, pieces[2])
	stop()
	restore()
	begin()
	p.ready(t, 503, "older than what it has acknowledged")
	runFails(t, "older than what it has acknowledged", 1, append([]string{"check"}, stores...)...)
	stop()
	runFails(t, "rebuild -again", 1, append([]string{"rebuild"}, stores...)...)
	runs(t, append([]string{"rebuild", "-again"}, stores...)...)
	begin()
	p.ready(t, 200, "")
	p.store(t, pieces[3])
	p.remembers(t, pieces[2])
	if said := runs(t, append([]string{"check"}, stores...)...); !strings.Contains(said, "no fault was found") {
		t.Errorf("check says %s", said)
	}

	stop()
	restore()
	begin()
	p.ready(t, 503, "older than what it has acknowledged")
	runs(t, "accept", "-sessions", r.URL())
	p.ready(t, 200, "")
	stop()
	begin()
	p.ready(t, 200, "")
}
