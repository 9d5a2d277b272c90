package main

import (
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// ingestEvent posts one event, and returns the status.
func ingestEvent(t *testing.T, send sender, url, user string, n int) int {
	t.Helper()
	code, err := send("POST", url+"/v1/apps/app/users/"+user+"/memories/ingest?wait=true", map[string]any{
		"sessionId": "s", "events": []any{map[string]any{"id": fmt.Sprint("e", n), "author": "user",
			"content": fmt.Sprintf("I bought a boat named Number%d.", n)}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// turnsOf counts the turns of a user.
func turnsOf(t *testing.T, url, user string) int {
	t.Helper()
	var page struct{ Memories []any }
	code, err := call("GET", url+"/v1/apps/app/users/"+user+"/memories?kind=turn&pageSize=1000", nil, &page)
	if err != nil || code != 200 {
		t.Fatal(code, err)
	}
	return len(page.Memories)
}

// restore puts a file into a new data directory.
func restore(t *testing.T, file string) (data string) {
	t.Helper()
	data = t.TempDir()
	raw, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(filepath.Join(data, "memoryd.db"), raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A backup is taken while memoryd serves and writes, and from the file when none
// does. A start on it has all that was acknowledged before the backup began.
func TestBackup(t *testing.T) {
	t.Parallel()
	data, out := t.TempDir(), t.TempDir()
	p := start(t, data)
	for n := range 10 {
		if code := ingestEvent(t, call, p.url, "ann", n); code != 200 {
			t.Fatal(code)
		}
	}
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
				ingestEvent(t, call, p.url, "bob", n)
			}
		}
	})
	live := filepath.Join(out, "live.db")
	if said := runs(t, "backup", live, "-data", data); !strings.Contains(said, "10 rows") &&
		!strings.Contains(said, "it is whole") {
		t.Error(said)
	}
	close(stop)
	writer.Wait()
	runFails(t, "there already", 1, "backup", "-data", data, live)
	bobs := turnsOf(t, p.url, "bob")
	p.terminate(t)
	stopped := filepath.Join(out, "stopped.db")
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	relative, err := filepath.Rel(here, stopped)
	if err != nil {
		t.Fatal(err)
	}
	runs(t, "backup", "-data", data, "--", relative)

	for file, want := range map[string]int{live: 0, stopped: bobs} {
		p := start(t, restore(t, file))
		if got := turnsOf(t, p.url, "ann"); got != 10 {
			t.Errorf("%s: %d turns, want 10", file, got)
		}
		if got := turnsOf(t, p.url, "bob"); got < want {
			t.Errorf("%s: %d turns of the other user, want %d", file, got, want)
		}
		p.terminate(t)
	}
	entries, err := os.ReadDir(out)
	if err != nil || len(entries) != 2 {
		t.Errorf("left in the directory: %v, %v", entries, err)
	}
}

// A file that is damaged while memoryd serves it is written no longer and read on,
// readiness tells what to do, and recover saves what is left.
func TestDamagedWhileServing(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := start(t, data)
	for n := range 40 {
		if code := ingestEvent(t, call, p.url, "ann", n); code != 200 {
			t.Fatal(code)
		}
	}
	p.terminate(t)
	p = start(t, data)
	if code := ingestEvent(t, call, p.url, "ann", 40); code != 200 {
		t.Fatal(code)
	}
	file, err := os.OpenFile(filepath.Join(data, "memoryd.db"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := file.Truncate(20 * 4096); err != nil {
		t.Fatal(err)
	}
	for n := range 5 {
		if code := ingestEvent(t, callOnce, p.url, "ann", 100+n); code != 503 {
			t.Errorf("a write into the damaged file: %d", code)
		}
	}
	res, err := http.Get(p.url + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	words, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 503 || !strings.Contains(string(words), "memoryd recover") {
		t.Errorf("readyz: %d %s, %v", res.StatusCode, words, err)
	}
	p.kill()
	runFails(t, "memoryd recover", 1, "serve", "-data", data, "-listen", "127.0.0.1:0")
	saved := filepath.Join(t.TempDir(), "saved.db")
	if said := runs(t, "recover", data, saved); !strings.Contains(said, "lost, in ") {
		t.Error(said)
	}
	p = start(t, restore(t, saved))
	if code := ingestEvent(t, call, p.url, "ann", 200); code != 200 {
		t.Errorf("a write into what was saved: %d", code)
	}
}

// An operation tells how many of its events were damaged: its memories were made of the
// others.
func TestOperationTellsDamagedEvents(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := start(t, data)
	session := p.url + "/v1/apps/app/users/ann/sessions/s"
	if code, err := call("POST", p.url+"/v1/apps/app/users/ann/sessions", map[string]any{"id": "s"}, nil); err != nil ||
		code != 201 {
		t.Fatal(code, err)
	}
	for n := range 3 {
		body := map[string]any{"id": fmt.Sprint("e", n), "author": "user",
			"content": fmt.Sprintf("I bought a boat named Number%d.", n)}
		if code, err := call("POST", session+"/events", body, nil); err != nil ||
			code != 200 && code != 201 {
			t.Fatal(code, err)
		}
	}
	p.terminate(t)
	db, err := sql.Open("sqlite", filepath.Join(data, dataFile))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`UPDATE events SET doc = x'7b00ffffffff' WHERE seq = 2`); err != nil {
		t.Fatal(err)
	}
	db.Close()
	p = start(t, data)
	session = p.url + "/v1/apps/app/users/ann/sessions/s"
	var op struct {
		Done     bool
		Metadata struct {
			EventsTotal, EventsDamaged int
			Usage                      map[string]any
		}
	}
	if code, err := call("POST", session+"/memories?wait=true", map[string]any{}, &op); err != nil || code != 200 {
		t.Fatal(code, err)
	}
	if !op.Done || op.Metadata.EventsTotal != 3 || op.Metadata.EventsDamaged != 1 || op.Metadata.Usage != nil {
		t.Errorf("the operation: %+v", op)
	}
	if got := turnsOf(t, p.url, "ann"); got != 2 {
		t.Errorf("%d turns, want the 2 of whole events", got)
	}
}

// An empty file in the place of a database is not taken for a new one.
func TestEmptyInItsPlace(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	start(t, data).terminate(t)
	if err := os.Truncate(filepath.Join(data, "memoryd.db"), 0); err != nil {
		t.Fatal(err)
	}
	runFails(t, "put a backup in its place", 1, "serve", "-data", data, "-listen", "127.0.0.1:0")
}
