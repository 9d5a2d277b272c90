package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/internal/modeltest"
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

// The same is true of a Redis with memories in a file.
func TestRestoredBesideFile(t *testing.T) {
	t.Parallel()
	r, dir := redistest.Start(t), t.TempDir()
	stores := []string{"-sessions", r.URL()}
	pieces := userPieces(0)
	p := start(t, dir, stores...)
	p.store(t, pieces[0])
	p.terminate(t)
	older := r.Backup(t)
	p = start(t, dir, stores...)
	p.ready(t, 200, "")
	p.store(t, pieces[1])
	p.terminate(t)
	r.Restore(t, older)
	p = start(t, dir, stores...)
	p.ready(t, 503, "memoryd accept")
	runs(t, "accept", "-sessions", r.URL())
	p.ready(t, 200, "")
	p.terminate(t)
	p = start(t, dir, stores...)
	p.ready(t, 200, "")
}

// A Qdrant whose memories a reembed has moved is watched as one that serve has opened:
// the next start notices older data.
func TestRestoredAfterReembed(t *testing.T) {
	t.Parallel()
	g, env := newGate(t, modeltest.NewOpenAI)
	g.left.Store(wide)
	q := qdranttest.Start(t)
	stores := []string{"-sessions", redistest.Start(t).URL(), "-memories", q.URL(t)}
	pieces := userPieces(0)
	p := start(t, t.TempDir(), stores...)
	p.store(t, pieces[0])
	p.terminate(t)
	stores = append(stores, "-embedder", "openai", "-embedding-dimension", "64")
	p = startAs(t, "reembed", env, t.TempDir(), stores...)
	movedTo(t, p)
	p.ready(t, 200, "")
	restore := q.Backup(t)
	p.store(t, pieces[1])
	p.terminate(t)
	restore()
	p = startWith(t, env, t.TempDir(), stores...)
	p.ready(t, 503, "older than what it has acknowledged")
	p.terminate(t)
}

// The process that moved the memories notices that they are lost.
func TestLostAfterReembed(t *testing.T) {
	t.Parallel()
	g, env := newGate(t, modeltest.NewOpenAI)
	g.left.Store(wide)
	q := qdranttest.Start(t)
	at := q.URL(t)
	stores := []string{"-sessions", redistest.Start(t).URL(), "-memories", at}
	p := start(t, t.TempDir(), stores...)
	p.store(t, userPieces(0)[0])
	p.terminate(t)
	p = startAs(t, "reembed", env, t.TempDir(), append(stores, "-embedder", "openai", "-embedding-dimension", "64")...)
	movedTo(t, p)
	p.ready(t, 200, "")
	c := q.Client(t)
	all, err := c.ListCollections(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, name, _ := strings.Cut(at, "collection=")
	for _, n := range all {
		if strings.HasPrefix(n, name+"-") {
			if err := c.DeleteCollection(t.Context(), n); err != nil {
				t.Fatal(err)
			}
		}
	}
	p.ready(t, 503, "the collection of the memories is gone")
	p.terminate(t)
}
