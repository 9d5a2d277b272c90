package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/qdrant/go-client/qdrant"
	"github.com/redis/go-redis/v9"
	_ "modernc.org/sqlite"

	"github.com/memoryd/memoryd/check"
	"github.com/memoryd/memoryd/internal/qdranttest"
	"github.com/memoryd/memoryd/internal/redistest"
)

// checkable fills a memoryd with sessions and memories, and waits until all is made.
func checkable(t *testing.T, p *process) {
	t.Helper()
	for u := range killUsers {
		sendAll(t, p, userPieces(u)[:8])
	}
	contents(t, p.url)
}

// checked runs check with -json, and reads its report.
func checked(t *testing.T, args ...string) (r check.Report) {
	t.Helper()
	out, err := command(append([]string{"check", "-json"}, args...)...).Output()
	if jsonErr := json.Unmarshal(out, &r); jsonErr != nil {
		failed := &exec.ExitError{}
		errors.As(err, &failed)
		t.Fatalf("check %v: %v, %v: %s%s", args, err, jsonErr, out, failed.Stderr)
	}
	if (err != nil) != (r.Faults > 0) {
		t.Errorf("check %v: %d faults, and exits with %v", args, r.Faults, err)
	}
	return r
}

// finds checks that a report has a finding, and says what to do about it.
func finds(t *testing.T, r check.Report, store, rule, of string) {
	t.Helper()
	if r.Rules[rule].Means == "" || r.Rules[rule].Remedy == "" {
		t.Errorf("no advice for rule %q", rule)
	}
	for _, f := range r.Findings {
		if f.Store == store && f.Rule == rule && strings.Contains(f.Of+" "+f.Text+" "+f.User, of) {
			return
		}
	}
	t.Errorf("no finding in %s of rule %s about %q among %d: %+v", store, rule, of, r.Faults, r.Findings)
}

// A check finds each kind of damage in a file, and nothing in a healthy one.
func TestCheckFile(t *testing.T) {
	t.Parallel()
	healthy := t.TempDir()
	p := start(t, healthy)
	checkable(t, p)
	for _, command := range [][]string{{"check"}, {"rebuild"}, {"export", filepath.Join(t.TempDir(), "archive")}} {
		runFails(t, "stop that one first", 1, append(command, "-data", healthy)...)
	}
	p.terminate(t)
	if said := runs(t, "check", "-data", healthy); !strings.Contains(said, "no fault was found") {
		t.Errorf("check says %s", said)
	}
	const turn = `(SELECT n FROM memories WHERE kind = 'turn' AND session = 's1' LIMIT 1)`
	const fact = `(SELECT n FROM memories WHERE kind = 'fact' AND deleted = 0 LIMIT 1)`
	for _, c := range []struct{ store, rule, of, plant string }{
		{"sessions", "unreadable", "configuration", `INSERT INTO configs VALUES ('kill', 1, CAST('{"ttl":7,"search":{"topK":900}}' AS BLOB))`},
		{"sessions", "positions", "s1", `UPDATE sessions SET done = requested + 1 WHERE id = 's1'`},
		{"sessions", "events", "s2", `DELETE FROM events WHERE seq = 2 AND ref IN (SELECT ref FROM sessions WHERE id = 's2')`},
		{"sessions", "events", "s2", `UPDATE events SET seq = 99 WHERE seq = 2 AND ref IN (SELECT ref FROM sessions WHERE id = 's2')`},
		{"sessions", "events", "event 3", `UPDATE events SET id = 'other' WHERE seq = 3`},
		{"sessions", "unreadable", "event 1", `UPDATE events SET doc = x'7b00' WHERE seq = 1`},
		{"sessions", "unreadable", "s0", `INSERT INTO session_state (ref, key, value) SELECT ref, 'k', x'7b' FROM sessions WHERE id = 's0'`},
		{"sessions", "work-list", "u1", `UPDATE sessions SET done = done - 1 WHERE user = 'u1'`},
		{"sessions", "work-list", "u9", `INSERT INTO waiting VALUES ('kill', 'u9', 1, 1)`},
		{"sessions", "plan", "s1", `UPDATE sessions SET plan = x'7b7d', plan_to = done WHERE id = 's1'`},
		{"sessions", "operations", "", `UPDATE operations SET done_time = 0`},
		{"sessions", "operations", "", `UPDATE operations SET last = last + 1000`},
		{"sessions", "orphans", "events", `DELETE FROM sessions WHERE id = 's3'`},
		{"memories", "unreadable", "", `UPDATE memories SET doc = x'7b7d00ffffffff' WHERE n = ` + turn},
		{"memories", "unreadable", "", `UPDATE memories SET doc = substr(doc, 1, 20) WHERE n = ` + fact},
		{"memories", "memory", "", `DELETE FROM revisions WHERE memory = ` + fact},
		{"memories", "memory", "no memory", `INSERT INTO revisions (memory, revision, action, time, actor, operation, doc) SELECT 99999, revision, action, time, actor, operation, doc FROM revisions LIMIT 1`},
		{"memories", "memory", "no scope", `DELETE FROM scopes WHERE user = 'u1'`},
		{"memories", "memory-index", "", `UPDATE memories SET session = 'other' WHERE n = ` + turn},
		{"memories", "turn-missing", "s1", `DELETE FROM memories WHERE kind = 'turn' AND session = 's1'`},
		{"memories", "memory-source", "", `DELETE FROM memories WHERE kind = 'turn'`},
		{"memories", "memory-superseded", "", `DELETE FROM memories WHERE kind = 'fact' AND instr(doc, CAST('supersededBy' AS BLOB)) = 0`},
		{"memories", "manifest", "another store", `UPDATE bound SET memories = 'other'`},
		{"file", "file", "Tree", `SELECT 1`},
	} {
		t.Run(c.rule+" "+c.plant, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(healthy)); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, dataFile)
			db, err := sql.Open("sqlite", file)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec(c.plant); err != nil {
				t.Fatal(err)
			}
			var page, size int64
			if err := db.QueryRow(`SELECT rootpage, page_size FROM sqlite_schema, pragma_page_size
				WHERE name = 'memories_session'`).Scan(&page, &size); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if c.store == "file" { // its first bytes: what kind of page it is
				overwrite(t, file, (page-1)*size, make([]byte, 12))
			}
			finds(t, checked(t, "-data", dir), c.store, c.rule, c.of)
		})
	}
	p = start(t, healthy)
	code, err := call("POST", p.url+"/v1/apps/kill/users/u1/memories/purge", map[string]any{"kind": "turn"}, nil)
	p.terminate(t)
	if r := checked(t, "-data", healthy); err != nil || code != 200 || r.Faults > 0 || r.TurnGone == 0 {
		t.Errorf("after a purge that answers %d, %v: %d events have no turn, %+v", code, err, r.TurnGone, r.Findings)
	}
}

// A check finds no fault in what recover has saved, although memories are still to come,
// and names the pages of a damaged file that it cannot read.
func TestCheckRecovered(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := start(t, data)
	checkable(t, p)
	p.terminate(t)
	file := filepath.Join(data, dataFile)
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`UPDATE memories SET doc = substr(doc, 1, 20) WHERE kind = 'turn'`); err != nil {
		t.Fatal(err)
	}
	saved := filepath.Join(t.TempDir(), dataFile)
	if said := runs(t, "recover", data, saved); !strings.Contains(said, "lost, in memories") {
		t.Error(said)
	}
	if r := checked(t, "-data", filepath.Dir(saved)); r.Faults > 0 || r.Pending == 0 || r.Memories == 0 {
		t.Errorf("what was recovered: %+v", r)
	}

	var page int64
	if err := db.QueryRow(`SELECT min(pageno) FROM dbstat WHERE name = 'memories' AND pagetype = 'leaf'`).
		Scan(&page); err != nil {
		t.Fatal(err)
	}
	db.Close()
	overwrite(t, file, (page-1)*4096, make([]byte, 12))
	finds(t, checked(t, "-data", data), "memories", "unreadable", "memories, row numbers from ")
}

// Of files that memoryd has not made nothing is recovered, and nothing is left.
func TestRecoverNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	garbage := make([]byte, 50_000)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(garbage) // it never fails
	other := filepath.Join(dir, "other.db")
	db, err := sql.Open("sqlite", other)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`CREATE TABLE t (x); INSERT INTO t VALUES (1)`); err != nil {
		t.Fatal(err)
	}
	db.Close()
	raw, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	for name, raw := range map[string][]byte{"garbage": garbage, "zeros": make([]byte, 50_000), "other": raw} {
		dir := t.TempDir()
		old := filepath.Join(dir, "old.db")
		if err := os.WriteFile(old, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		runFails(t, "nothing can be saved", 1, "recover", old, filepath.Join(dir, "new.db"))
		if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
			t.Errorf("%s: left are %v, %v", name, left, err)
		}
	}
}

// A check finds each kind of damage in Redis and Qdrant beside a memoryd that serves
// them, and nothing before.
func TestCheckRedisAndQdrant(t *testing.T) {
	t.Parallel()
	r, q := redistest.Start(t), qdranttest.Start(t)
	stores := []string{"-sessions", r.URL(), "-memories", q.URL(t)}
	p := start(t, t.TempDir(), stores...)
	checkable(t, p)
	if said := runs(t, append([]string{"check"}, stores...)...); !strings.Contains(said, "no fault was found") {
		t.Fatalf("check says %s", said)
	}
	p.terminate(t)
	ctx, c := t.Context(), r.Client(t)
	session := func(user, id string) (prefix, ref string) {
		key, err := c.Keys(ctx, "*live:kill/"+user).Result()
		if err != nil || len(key) != 1 {
			t.Fatalf("%v, %v", key, err)
		}
		prefix, _, _ = strings.Cut(key[0], "live:")
		return prefix, strconv.FormatFloat(c.ZScore(ctx, key[0], id).Val(), 'f', 0, 64)
	}
	for _, f := range []struct {
		store, rule, of string
		plant           func(prefix, ref string) error
	}{
		{"sessions", "events", "s0", func(p, ref string) error { return c.XDel(ctx, p+"events:"+ref, "2-0").Err() }},
		{"sessions", "events", "s0", func(p, ref string) error { return c.Del(ctx, p+"ids:"+ref).Err() }},
		{"sessions", "unreadable", "s0", func(p, ref string) error { return c.HSet(ctx, p+"state:"+ref, "k", "{").Err() }},
		{"sessions", "positions", "s1", func(p, _ string) error {
			_, ref := session("u0", "s1")
			return c.HSet(ctx, p+"session:"+ref, "done", 999).Err()
		}},
		{"sessions", "orphans", "events:", func(p, _ string) error {
			_, ref := session("u0", "s2")
			return c.Del(ctx, p+"session:"+ref).Err()
		}},
		{"sessions", "work-list", "s3", func(p, _ string) error {
			_, ref := session("u0", "s3")
			return c.HSet(ctx, p+"session:"+ref, "done", 1).Err()
		}},
		{"sessions", "work-list", "u7", func(p, _ string) error {
			return c.ZAdd(ctx, p+"since", redis.Z{Score: 1, Member: "kill/u7"}).Err()
		}},
		{"sessions", "leases", "u0", func(p, _ string) error {
			return c.HSet(ctx, p+"leases", "kill/u0", "9000000000000000 somebody").Err()
		}},
		{"sessions", "app-list", "s0", func(string, string) error { return c.Del(ctx, "memoryd:{a:kill}:sessions").Err() }},
		{"sessions", "lost", "memoryd:", func(p, _ string) error { return c.HSet(ctx, p+"mark", "lost", "1700000000000000 0").Err() }},
	} {
		if err := f.plant(session("u0", "s0")); err != nil {
			t.Fatal(err)
		}
		finds(t, checked(t, stores...), f.store, f.rule, f.of)
	}

	if said := runs(t, "accept", "-sessions", r.URL()); !strings.Contains(said, "1 parts") {
		t.Errorf("accept says %s", said)
	}
	if !q.Real {
		return // the stand-in does not have what the test would do to it
	}
	client := qdrantClient(t, q)
	collection := collectionOf(t, client)
	match := func(field, value string) *qdrant.Filter {
		return &qdrant.Filter{Must: []*qdrant.Condition{qdrant.NewMatch(field, value)}}
	}
	for _, f := range []struct {
		rule, of string
		plant    func() error
	}{
		{"memory-index", "session", func() error {
			_, err := client.SetPayload(ctx, &qdrant.SetPayloadPoints{CollectionName: collection, Wait: qdrant.PtrOf(true),
				Payload:        qdrant.NewValueMap(map[string]any{"session": "other"}),
				PointsSelector: qdrant.NewPointsSelectorFilter(match("scope", "kill/u1"))})
			return err
		}},
		{"unreadable", "", func() error {
			_, err := client.SetPayload(ctx, &qdrant.SetPayloadPoints{CollectionName: collection, Wait: qdrant.PtrOf(true),
				Payload:        qdrant.NewValueMap(map[string]any{"doc": "{"}),
				PointsSelector: qdrant.NewPointsSelectorFilter(match("scope", "kill/u1"))})
			return err
		}},
		{"turn-missing", "u2", func() error {
			_, err := client.Delete(ctx, &qdrant.DeletePoints{CollectionName: collection, Wait: qdrant.PtrOf(true),
				Points: qdrant.NewPointsSelectorFilter(match("scope", "kill/u2"))})
			return err
		}},
	} {
		if err := f.plant(); err != nil {
			t.Fatal(err)
		}
		finds(t, checked(t, stores...), "memories", f.rule, f.of)
	}
}

// overwrite writes bytes into a file.
func overwrite(t *testing.T, file string, at int64, b []byte) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(b, at); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// qdrantClient is a plain client of a Qdrant.
func qdrantClient(t *testing.T, q *qdranttest.Server) *qdrant.Client {
	t.Helper()
	host, port, err := net.SplitHostPort(q.Addr)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	client, err := qdrant.NewClient(&qdrant.Config{Host: host, Port: n, SkipCompatibilityCheck: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

// collectionOf is the one collection of a server.
func collectionOf(t *testing.T, client *qdrant.Client) string {
	t.Helper()
	all, err := client.ListCollections(context.Background())
	if err != nil || len(all) == 0 {
		t.Fatalf("collections %v, %v", all, err)
	}
	return all[len(all)-1]
}
