package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memoryd/memoryd/internal/qdranttest"
	"github.com/memoryd/memoryd/internal/redistest"
)

// keyed sends a request with a key, and returns its status and answer. It tries again
// as call does.
func keyed(t *testing.T, key, method, url string, body any) (int, []byte) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		status, answer := keyedOnce(t, key, method, url, body)
		if status != http.StatusServiceUnavailable || time.Now().After(end) {
			return status, answer
		}
	}
}

// keyedOnce is keyed for what may be refused.
func keyedOnce(t *testing.T, key, method, url string, body any) (int, []byte) {
	t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest(method, url, bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil
	}
	defer res.Body.Close()
	var out bytes.Buffer
	_, _ = out.ReadFrom(res.Body)
	return res.StatusCode, out.Bytes()
}

// printed runs a command, and returns its stdout without the line break.
func printed(t *testing.T, args ...string) string {
	t.Helper()
	cmd := command(args...)
	var out, words bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &words
	if err := cmd.Run(); err != nil {
		t.Fatalf("memoryd %q: %v: %s", args, err, &words)
	}
	return strings.TrimSpace(out.String())
}

// keyIDOf is the id in a key.
func keyIDOf(key string) string { return strings.Split(key, "_")[1] }

// refusedSoon waits until a memoryd refuses a key, and logs how long that took: less than
// a second on a machine that does not stand still.
func refusedSoon(t *testing.T, key, url string) {
	t.Helper()
	began := time.Now()
	for {
		status, _ := keyed(t, key, "GET", url, nil)
		if status == http.StatusUnauthorized {
			t.Logf("the key was refused after %v", time.Since(began))
			return
		}
		if time.Since(began) > 20*time.Second {
			t.Fatalf("%v after it ended, the key gets %d", time.Since(began), status)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// The commands make, list, rotate and revoke keys, beside a memoryd that runs and
// without one. The key alone is on stdout.
func TestKeysCommands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	before := printed(t, "keys", "create", "-data", dir, "-app", "*", "-can", "read,write,admin")
	p := start(t, dir)
	memories := p.url + "/v1/apps/shop/users/ann/memories"
	beside := printed(t, "keys", "create", "-data", dir, "-app", "shop", "-user", "ann", "-can", "read", "-expires", "90d",
		"-name", "of ann")
	for _, key := range []string{before, beside} {
		if status, answer := keyed(t, key, "GET", memories, nil); status != 200 {
			t.Errorf("%.12s…: %d %s", key, status, answer)
		}
	}
	if status, _ := keyed(t, "", "GET", memories, nil); status != 401 {
		t.Errorf("no key: %d", status)
	}
	listed := printed(t, "keys", "list", "-data", dir)
	if !strings.Contains(listed, keyIDOf(beside)) || !strings.Contains(listed, "of ann") || strings.Contains(listed, beside) {
		t.Errorf("the list:\n%s", listed)
	}
	rotated := printed(t, "keys", "rotate", keyIDOf(beside), "-data", dir)
	refusedSoon(t, beside, memories)
	if status, _ := keyed(t, rotated, "GET", memories, nil); status != 200 {
		t.Errorf("the new secret: %d", status)
	}
	printed(t, "keys", "revoke", "-data", dir, keyIDOf(beside))
	refusedSoon(t, rotated, memories)
	// Each says which store the key is in, since only callers of that one may show it.
	told := func(place string, args ...string) {
		t.Helper()
		out, err := command(append([]string{"keys", "create", "-app", "other"}, args...)...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), " in "+place+": keep it now") {
			t.Errorf("%q: %v: %s", args, err, out)
		}
	}
	told(filepath.Join(dir, dataFile), "-data", dir)
	// From elsewhere, with an admin key.
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(before+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	remote := printed(t, "keys", "create", "-server", p.url, "-key-file", file, "-app", "shop")
	if status, _ := keyed(t, remote, "POST", memories, map[string]any{"fact": "I like tea."}); status != 201 {
		t.Errorf("a key that was made from elsewhere: %d", status)
	}
	told(p.url, "-server", p.url, "-key-file", file)
	addr := strings.TrimPrefix(p.url, "http://")
	if said := readied(t, "-listen", addr, "-key-file", file); !strings.Contains(said, "memories") {
		t.Errorf("ready with a key says %s", said)
	}
	if said := readied(t, "-listen", addr); strings.Contains(said, "memories") {
		t.Errorf("ready without a key says %s", said)
	}
	p.terminate(t)
	told(filepath.Join(dir, dataFile), "-data", dir)
	printed(t, "keys", "revoke", "-data", dir, keyIDOf(before))
	if listed := printed(t, "keys", "list", "-data", dir); strings.Count(listed, "revoked") != 2 {
		t.Errorf("the list:\n%s", listed)
	}
	for want, args := range map[string][]string{
		"-app is missing":                {"keys", "create", "-data", dir},
		"want 1d to 3650":                {"keys", "create", "-data", dir, "-app", "a", "-expires", "0d"},
		"keys: want one of create, list": {"keys"},
		"want one id: ":                  {"keys", "revoke", "-data", dir},
	} {
		runFails(t, want, 2, args...)
	}
	runFails(t, "there is no verb", 1, "keys", "create", "-data", dir, "-app", "a", "-can", "all")
	runFails(t, "not found", 1, "keys", "revoke", "-data", dir, "none")
	// A store that is not there is named, and not made.
	empty := filepath.Join(t.TempDir(), "home")
	runFails(t, "there is no file "+filepath.Join(empty, dataFile), 1, "keys", "list", "-data", empty)
	if _, err := os.Stat(empty); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("keys list made %s: %v", empty, err)
	}
	// All keys have ended, and the address of others is served: it is closed.
	open := start(t, dir, "-listen", "0.0.0.0:0")
	if status, _ := keyed(t, "", "GET", open.url+"/metrics", nil); status != 401 {
		t.Errorf("after all keys have ended: %d", status)
	}
}

// A key that one memoryd revokes, another one of the same Redis refuses within a second.
// The first start admits the key of the file, and no later one does.
func TestKeysOfSeveral(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "key")
	admin := printed(t, "keys", "generate")
	if err := os.WriteFile(file, []byte(admin+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	stores := []string{"-sessions", redistest.Start(t).URL(), "-memories", qdranttest.Start(t).URL(t)}
	args := append([]string{"-bootstrap-key-file", file}, stores...)
	one, two := start(t, t.TempDir(), args...), start(t, t.TempDir(), args...)
	made := printed(t, append([]string{"keys", "create", "-app", "shop"}, stores...)...)
	for _, p := range []*process{one, two} {
		for _, key := range []string{admin, made} {
			if status, answer := keyed(t, key, "GET", p.url+"/v1/apps/shop/users/ann/memories", nil); status != 200 {
				t.Errorf("%s: %d %s", p.url, status, answer)
			}
		}
	}
	status, answer := keyed(t, admin, "DELETE", one.url+"/v1/apps/shop/keys/"+keyIDOf(made), nil)
	if status != 204 {
		t.Fatalf("revoke: %d %s", status, answer)
	}
	refusedSoon(t, made, two.url+"/v1/apps/shop/users/ann/memories")
	if status, answer := keyed(t, admin, "DELETE", two.url+"/v1/apps/*/keys/"+keyIDOf(admin), nil); status != 204 {
		t.Fatalf("revoke: %d %s", status, answer)
	}
	three := start(t, t.TempDir(), args...)
	refusedSoon(t, admin, three.url+"/metrics")
}

// However memoryd is killed, the audit log tells of every memory that was made.
func TestAuditKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	key := printed(t, "keys", "create", "-data", dir, "-app", "*", "-can", "read,write,admin")
	refused := 0
	for round := range 3 {
		p := start(t, dir)
		killed := make(chan struct{})
		killLater := sync.OnceFunc(func() {
			time.AfterFunc(time.Duration(100+70*round)*time.Millisecond, func() { p.kill(); close(killed) })
		})
		for n := 0; ; n++ {
			fact := map[string]any{"fact": fmt.Sprintf("Number %d of round %d is my favourite.", n, round)}
			status, answer := keyedOnce(t, key, "POST", p.url+"/v1/apps/shop/users/ann/memories", fact)
			if status == 0 {
				break
			}
			switch status {
			case http.StatusCreated:
				killLater()
			case http.StatusServiceUnavailable: // the log may tell of it, and no memory was made
				refused++
				n--
				time.Sleep(100 * time.Millisecond)
			default:
				t.Fatalf("%d %s", status, answer)
			}
			if n == 250 {
				<-killed // a page has room for the facts of all rounds
			}
		}
		<-killed
	}
	p := start(t, dir)
	var memories struct{ Memories []struct{ ID string } }
	var told int
	token := ""
	for {
		var page struct {
			Entries       []struct{ Outcome, Action string }
			NextPageToken string
		}
		_, answer := keyed(t, key, "GET", p.url+"/v1/apps/shop/audit?pageSize=1000&pageToken="+token, nil)
		if err := json.Unmarshal(answer, &page); err != nil {
			t.Fatal(err)
		}
		for _, e := range page.Entries {
			if e.Outcome == "begun" && e.Action == "POST {scope}/memories" {
				told++
			}
		}
		if token = page.NextPageToken; token == "" {
			break
		}
	}
	_, answer := keyed(t, key, "GET", p.url+"/v1/apps/shop/users/ann/memories?kind=fact&history=true&pageSize=1000", nil)
	if err := json.Unmarshal(answer, &memories); err != nil {
		t.Fatal(err)
	}
	if n := len(memories.Memories); n < 3 || told < n || told > n+refused+3 {
		t.Errorf("%d memories, and the log tells of %d", n, told)
	}
}
