package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A user is forgotten although memoryd is killed in the middle of it, several times: the
// call is repeated until it answers. Nothing of the user is in a file then, and what
// another one has is byte for byte as before.
func TestEraseKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	send := func(method, path string, body any) (int, []byte) {
		t.Helper()
		return keyed(t, "", method, p.url+"/v1/apps/shop/users/"+path, body)
	}
	said := func(user, word string, sessions int) {
		t.Helper()
		for s := range sessions {
			var events []any
			for n := range 40 {
				events = append(events, map[string]any{"id": fmt.Sprintf("%s-%d-%d", user, s, n), "author": "user",
					"content": fmt.Sprintf("My %s number %d of %d is green.", word, n, s)})
			}
			body := map[string]any{"sessionId": fmt.Sprintf("%s-s%d", user, s), "events": events}
			if status, answer := send("POST", user+"/memories/ingest?wait=true", body); status != http.StatusOK {
				t.Fatalf("%d %s", status, answer)
			}
		}
	}
	said("zoe-okapi", "axolotl", 25)
	said("bob", "tapir", 2)
	for n := range 60 { // a long history
		send("POST", "zoe-okapi/memories", map[string]any{"fact": fmt.Sprintf("I collect numbats, %d so far.", n)})
	}
	others := func() string {
		t.Helper()
		var all strings.Builder
		for _, path := range []string{"bob/memories?history=true&pageSize=1000", "bob/sessions", "bob/sessions/bob-s0",
			"bob/sessions/bob-s1"} {
			status, answer := send("GET", path, nil)
			if status != http.StatusOK {
				t.Fatalf("%s: %d %s", path, status, answer)
			}
			all.Write(answer)
		}
		return all.String()
	}
	before := others()
	for round := range 4 {
		killed := make(chan struct{})
		go func() {
			time.Sleep(time.Duration(5+15*round) * time.Millisecond)
			p.kill()
			close(killed)
		}()
		send("DELETE", "zoe-okapi?confirm=zoe-okapi", nil)
		<-killed
		p = start(t, dir)
		if after := others(); after != before {
			t.Fatalf("round %d: what another user has is not as before", round)
		}
	}
	if status, answer := send("DELETE", "zoe-okapi?confirm=zoe-okapi", nil); status != http.StatusOK {
		t.Fatalf("%d %s", status, answer)
	}
	for _, word := range []string{"axolotl", "numbat", "zoe-okapi"} {
		for _, file := range filesIn(t, dir) {
			if raw, err := os.ReadFile(file); err == nil && bytes.Contains(raw, []byte(word)) {
				t.Errorf("%s still has %q", filepath.Base(file), word)
			}
		}
	}
	if after := others(); after != before {
		t.Error("what another user has is not as before")
	}
	if code := p.terminate(t); code != 0 {
		t.Errorf("exit %d", code)
	}
	if out, err := command("check", "-data", dir).CombinedOutput(); err != nil {
		t.Errorf("check: %v\n%s", err, out)
	}
}

// filesIn names the files of a directory.
func filesIn(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	return files
}
