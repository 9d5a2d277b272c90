package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/internal/sqlitedb"
)

// The store of an earlier version, and what that version makes of it; see
// testdata/earlier/README.md.
const (
	earlierStore = "testdata/earlier/memoryd.db.gz"
	earlierWant  = "testdata/earlier/want.json"
)

var earlier = flag.String("earlier", "", "path of the memoryd that wrote "+earlierStore+", to write "+earlierWant)

// earlierUsers are the users in the store; each but ann has one kind of pending
// work.
var earlierUsers = []string{"ann", "bob", "cleo", "dora", "emil"}

// unpackEarlier gives a data directory with the store, and the time of its last
// write. Finished operations are kept for seven days: they are made recent.
func unpackEarlier(t *testing.T) (data string, written time.Time) {
	t.Helper()
	f, err := os.Open(earlierStore)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	data = t.TempDir()
	path := filepath.Join(data, "memoryd.db")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := sqlitedb.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.Write(t.Context(), sqlitedb.Urgent(), func(tx *sqlitedb.Tx) error {
		var at int64
		if err := tx.QueryRow(`SELECT max(create_time) FROM operations`).Scan(&at); err != nil {
			return err
		}
		written = time.UnixMicro(at)
		_, err := tx.Exec(`UPDATE operations SET done_time = ? WHERE done_time > 0`, time.Now().UnixMicro())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return data, written
}

// snapshot reads everything of the users over HTTP, by path, once nothing is
// pending. It leaves out the values that differ between runs: times after written,
// and the numbers of attempts.
func snapshot(t *testing.T, url string, written time.Time) map[string]any {
	t.Helper()
	out := map[string]any{}
	get := func(path string) any {
		t.Helper()
		var v any
		if code, err := call("GET", url+path, nil, &v); err != nil || code != 200 {
			t.Fatalf("GET %s: %d, %v", path, code, err)
		}
		out[path] = timeless(v, written)
		return v
	}
	list := func(path, name string) (ids []string) {
		t.Helper()
		items, _ := get(path).(map[string]any)[name].([]any)
		for _, item := range items {
			ids = append(ids, item.(map[string]any)["id"].(string))
		}
		return ids
	}
	for _, user := range earlierUsers {
		scope := "/v1/apps/notes/users/" + user
		waitForOperations(t, url+scope)
		list(scope+"/operations", "operations")
		for _, id := range list(scope+"/sessions", "sessions") {
			get(scope + "/sessions/" + id)
		}
		withoutCreateTimes(t, out, scope+"/sessions")
		for _, id := range list(scope+"/memories?history=true&pageSize=1000&orderBy=timestamp", "memories") {
			get(scope + "/memories/" + id + "/revisions")
		}
	}
	withoutTrust(out)
	return out
}

// withoutTrust takes the trust of memories out of what was read: the earlier version did
// not keep it, so that only memories of work that was pending have it.
func withoutTrust(v any) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "trust")
		for _, one := range v {
			withoutTrust(one)
		}
	case []any:
		for _, one := range v {
			withoutTrust(one)
		}
	}
}

// withoutCreateTimes takes the times of making out of what was read of sessions: the
// earlier version did not keep them. It checks that a session was made when its first
// event was.
func withoutCreateTimes(t *testing.T, read map[string]any, sessions string) {
	t.Helper()
	for path, answer := range read {
		if !strings.HasPrefix(path, sessions) {
			continue
		}
		all := []any{answer}
		if path == sessions {
			all, _ = answer.(map[string]any)["sessions"].([]any)
		}
		for _, one := range all {
			s := one.(map[string]any)
			if events, _ := s["events"].([]any); len(events) > 0 && s["createTime"] != nil {
				if first := events[0].(map[string]any)["timestamp"]; s["createTime"] != first {
					t.Errorf("%s was made at %v, and its first event at %v", path, s["createTime"], first)
				}
			}
			delete(s, "createTime")
		}
	}
}

// waitForOperations returns when all operations of a scope are done.
func waitForOperations(t *testing.T, scope string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		var page struct{ Operations []struct{ Done bool } }
		if code, err := call("GET", scope+"/operations", nil, &page); err != nil || code != 200 {
			t.Fatal(code, err)
		}
		pending := 0
		for _, op := range page.Operations {
			if !op.Done {
				pending++
			}
		}
		if pending == 0 && len(page.Operations) > 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s: %d of %d operations are pending", scope, pending, len(page.Operations))
		}
	}
}

// timeless replaces times after written, and drops how often work was tried, and when it
// ended, which the earlier version did not tell.
func timeless(v any, written time.Time) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "attempts")
		delete(v, "lastError")
		delete(v, "endTime")
		for name, value := range v {
			text, _ := value.(string)
			if at, err := time.Parse(time.RFC3339, text); err == nil && at.After(written.Add(10*time.Millisecond)) {
				value = "later"
			}
			v[name] = timeless(value, written)
		}
	case []any:
		for i := range v {
			v[i] = timeless(v[i], written)
		}
	}
	return v
}

// serveEarlier runs the earlier memoryd on the store.
func serveEarlier(t *testing.T, binary, data string) (url string) {
	t.Helper()
	cmd := exec.Command(binary, "serve", "-data", data, "-listen", "127.0.0.1:0", "-log-level", "error")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, url, ok := strings.Cut(lines.Text(), "serves "); ok {
			return url
		}
	}
	t.Fatal("it does not serve")
	return ""
}

// A store that an earlier version wrote is refused with the command that brings
// it up, and left as it is. Then that command finishes the pending work and loses
// nothing: sessions, state, memories with their history, and operations are those
// that the earlier version would have come to.
func TestEarlierStore(t *testing.T) {
	if *earlier != "" {
		data, written := unpackEarlier(t)
		raw, err := json.MarshalIndent(snapshot(t, serveEarlier(t, *earlier, data), written), "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(earlierWant, append(raw, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(earlierWant)
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	data, written := unpackEarlier(t)
	file := filepath.Join(data, "memoryd.db")
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	runFails(t, "memoryd reembed", 1, "serve", "-data", data, "-listen", "127.0.0.1:0")
	if after, err := os.ReadFile(file); err != nil || !bytes.Equal(before, after) {
		t.Errorf("a refused start has changed the store (%v)", err)
	}

	p := startAs(t, "reembed", nil, data)
	movedTo(t, p)
	if diff := gocmp.Diff(want, snapshot(t, p.url, written)); diff != "" {
		t.Errorf("brought up (-earlier version +this version):\n%s", diff)
	}
	p.terminate(t)
	p = start(t, data)
	if diff := gocmp.Diff(want, snapshot(t, p.url, written)); diff != "" {
		t.Errorf("served after that (-earlier version +this version):\n%s", diff)
	}
	for _, c := range []struct{ user, query, fact string }{
		{"ann", "Who is allergic to peanuts?", "My daughter Ines is allergic to peanuts."},
		{"dora", "Which pets are there?", "Dora has three ferrets."},
		{"emil", "What is the goat called?", "I have a goat called Ferdinand."},
	} {
		found := searched(t, p, "/v1/apps/notes/users/"+url.PathEscape(c.user), c.query)
		if _, ok := found[c.fact]; !ok {
			t.Errorf("%s: %q finds %v", c.user, c.query, found)
		}
	}
}
