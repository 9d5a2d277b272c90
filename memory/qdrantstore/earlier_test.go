package qdrantstore_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/internal/qdranttest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/qdrantstore"
)

const earlierCalls = "testdata/earlier/calls.jsonl.gz"

var earlier = flag.String("earlier", "", "path of an earlier memoryd, to write "+earlierCalls)

// earlierStory is what the earlier memoryd is asked to do: method, path under
// the scope, body.
var earlierStory = [][3]string{
	{"POST", "memories/ingest?wait=true", `{"sessionId": "home", "events": [
		{"id": "h1", "author": "Ann", "timestamp": "2024-01-01T08:00:00Z",
			"content": {"role": "user", "parts": [{"text": "I live in Lisbon."}]}},
		{"id": "h2", "author": "Ann", "timestamp": "2024-01-01T08:01:00Z",
			"content": {"role": "user", "parts": [{"text": "My cat is called Momo."}]}}]}`},
	{"POST", "memories/ingest?wait=true", `{"sessionId": "move", "events": [
		{"id": "m1", "author": "Ann", "timestamp": "2024-06-01T08:00:00Z",
			"content": {"role": "user", "parts": [{"text": "I moved to Porto."}]}}]}`},
	{"POST", "memories", `{"fact":"Ann keeps bees.","metadata":{"source":"form"}}`},
	{"PATCH", "memories/ID", `{"fact":"Ann keeps bees and hens."}`},
	{"POST", "memories/ID/rollback", `{"revision":1}`},
	{"POST", "memories", `{"fact":"Ann collects stamps."}`},
	{"DELETE", "memories/ID", ``},
}

// recordEarlier runs the earlier memoryd on a Qdrant that records it.
func recordEarlier(t *testing.T, binary string) {
	t.Helper()
	var calls bytes.Buffer
	z := gzip.NewWriter(&calls)
	q := qdranttest.Record(t, z)
	cmd := exec.Command(binary, "serve", "-data", t.TempDir(), "-listen", "127.0.0.1:0", "-log-level", "error",
		"-memories", "qdrant://"+q.Addr+"?collection=earlier")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	url := ""
	for lines := bufio.NewScanner(out); url == "" && lines.Scan(); {
		_, url, _ = strings.Cut(lines.Text(), "serves ")
	}
	id := ""
	for _, c := range earlierStory {
		path := "/v1/apps/app/users/ann/" + strings.Replace(c[1], "ID", id, 1)
		req, err := http.NewRequest(c[0], url+path, strings.NewReader(c[2]))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode >= 300 {
			t.Fatalf("%s %s: %d %s, %v", c[0], c[1], resp.StatusCode, body, err)
		}
		if _, rest, ok := strings.Cut(string(body), `"id":"`); ok {
			id, _, _ = strings.Cut(rest, `"`)
		}
	}
	if err := errors.Join(cmd.Process.Signal(os.Interrupt), cmd.Wait(), z.Close()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(earlierCalls, calls.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A collection that an earlier version has written is known as one without a
// version of its lookup keys. A start with one does not open it. It moves
// without loss, and its vectors stay.
func TestEarlierCollection(t *testing.T) {
	if *earlier != "" {
		recordEarlier(t, *earlier)
	}
	f, err := os.Open(earlierCalls)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	calls, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	q := qdranttest.Start(t)
	url := q.URL(t)
	_, name, _ := strings.Cut(url, "collection=")
	q.Replay(t, calls, "earlier", name)

	all, err := qdrantstore.StoredModels(t.Context(), url, nil)
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	for id, was := range all {
		if was.Keys != "" || was.Embedder == "" || was.Dimension == 0 || was.Analyzer == "" {
			t.Errorf("its model is %+v", was)
		}
		now := was
		now.Keys = "keys-1"
		other := openExact(t, url, now)
		if other.ID() == id {
			t.Errorf("it was opened for %v", now)
		}
		if err := other.Discard(); err != nil {
			t.Fatal(err)
		}
		s := openExact(t, url, was)
		before := exported(t, s)
		checkEarlier(t, before)
		if at, err := s.Removed(t.Context()); err != nil || at.IsZero() {
			t.Errorf("an earlier build may have removed some: %v, %v", at, err)
		}
		m, err := s.Move(t.Context(), now)
		if err != nil {
			t.Fatal(err)
		}
		index := func(_ context.Context, records []memory.Record) error {
			for i := range records {
				records[i].Terms = memory.Terms{"again": 1}
			}
			return nil
		}
		if err := m.Finish(t.Context(), index); err != nil {
			t.Fatal(err)
		}
		moved := openExact(t, url, now)
		if at, err := moved.Removed(t.Context()); err != nil || at.IsZero() {
			t.Errorf("after the move: %v, %v", at, err)
		}
		if moved.ID() != id {
			t.Errorf("it is store %s, not %s", moved.ID(), id)
		}
		for id, r := range before {
			if r.Terms = nil; !r.Deleted {
				r.Terms = memory.Terms{"again": 1}
			}
			before[id] = r
		}
		if diff := cmp.Diff(before, exported(t, moved)); diff != "" {
			t.Errorf("moved (-before +after):\n%s", diff)
		}
	}
}

// openExact opens a store until the test is over.
func openExact(t *testing.T, url string, model memory.Model) *qdrantstore.Store {
	t.Helper()
	s, err := qdrantstore.Open(t.Context(), url, model, &qdrantstore.Options{Exact: true, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// exported is all that a store has, by the id of the memory.
func exported(t *testing.T, s *qdrantstore.Store) map[string]memory.Record {
	t.Helper()
	out := map[string]memory.Record{}
	add := func(r memory.Record) error {
		out[r.Memory.ID] = r
		return nil
	}
	if err := s.Export(t.Context(), add); err != nil {
		t.Fatal(err)
	}
	return out
}

// checkEarlier checks that the story is all there.
func checkEarlier(t *testing.T, records map[string]memory.Record) {
	t.Helper()
	revisions := map[string]int{}
	for _, r := range records {
		name := string(r.Memory.Kind) + ": " + r.Memory.Fact
		revisions[name] = len(r.History)
		if (name == "fact: Ann collects stamps.") != r.Deleted {
			t.Errorf("%q is deleted: %v", r.Memory.Fact, r.Deleted)
		}
		if !r.Deleted && (len(r.Terms) == 0 || r.Vector == nil) {
			t.Errorf("%q has %d words and %d numbers", r.Memory.Fact, len(r.Terms), len(r.Vector))
		}
		if ended := !r.Memory.ValidTo.IsZero(); ended != (name == "fact: I live in Lisbon.") {
			t.Errorf("%q is no longer current: %v", r.Memory.Fact, ended)
		}
	}
	want := map[string]int{
		"fact: Ann collects stamps.": 2, "fact: Ann keeps bees.": 3, "fact: I live in Lisbon.": 2,
		"fact: I moved to Porto.": 1, "fact: My cat is called Momo.": 1,
		"turn: I live in Lisbon.": 1, "turn: I moved to Porto.": 1, "turn: My cat is called Momo.": 1,
	}
	if diff := cmp.Diff(want, revisions); diff != "" {
		t.Errorf("revisions by fact (-want +got):\n%s", diff)
	}
}
