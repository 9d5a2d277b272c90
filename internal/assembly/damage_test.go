package assembly_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memoryd/memoryd/internal/assembly"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/sqlitestore"
	"github.com/memoryd/memoryd/sessionstore"
	"github.com/memoryd/memoryd/sessionstore/sqlitesession"
)

var damageModel = memory.Model{Embedder: "e", Dimension: 16, Analyzer: "words"}

// damageUsers are the users in a populated file, with a session each.
var damageUsers = []string{"ann", "bob", "cleo"}

const damageEvents = 25 // of each user, each with a memory

// pair are both stores of a file.
type pair struct {
	db       *sqlitedb.DB
	sessions *sqlitesession.Store
	memories *sqlitestore.Store
}

func openPair(path string) (p pair, err error) {
	if p.db, err = sqlitedb.Open(path, nil); err != nil {
		return p, err
	}
	if p.memories, err = sqlitestore.New(p.db, damageModel, nil); err == nil {
		p.sessions, err = sqlitesession.New(p.db, nil)
	}
	if err != nil {
		return p, errors.Join(err, p.db.Close())
	}
	return p, nil
}

func scopeOf(user string) memory.Scope { return memory.Scope{App: "app", User: user} }

func eventOf(t *testing.T, user string, i int) sessionstore.Event {
	t.Helper()
	e, err := sessionstore.ParseEvent(fmt.Appendf(nil, `{"id": "%s-%d", "author": "user", "timestamp": %d,
		"content": {"role": "user", "parts": [{"text": "%s"}]}, "actions": {"stateDelta": {"k%d": "v"}}}`,
		user, i, 1_700_000_000+i, said(user, i), i))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func said(user string, i int) string { return strings.Repeat(fmt.Sprintf("%s says %d. ", user, i), 10) }

func memoryOf(user string, i int) memory.Write {
	w := memory.Write{Actor: "test", Memory: memory.Memory{ID: fmt.Sprintf("%s-%030d", user, i), Scope: scopeOf(user),
		Kind: memory.KindTurn, Fact: said(user, i), Author: "user", Timestamp: time.Unix(int64(1_700_000_000+i), 0),
		Source: memory.Source{SessionID: user, EventIDs: []string{fmt.Sprint(user, "-", i)}}},
		Terms: memory.Terms{"says": 10, user: 10, fmt.Sprint(i): 10}, Vector: make([]float32, 16)}
	w.Vector[i%16] = 1
	return w
}

// populate makes a file with sessions and memories, all of them done.
func populate(t *testing.T, path string) {
	t.Helper()
	p, err := openPair(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if _, err := p.sessions.Bind(ctx, p.memories.ID()); err != nil {
		t.Fatal(err)
	}
	for _, user := range damageUsers {
		key := sessionstore.Key{Scope: scopeOf(user), ID: user}
		var events []sessionstore.Event
		var writes []memory.Write
		for i := range damageEvents {
			events, writes = append(events, eventOf(t, user, i)), append(writes, memoryOf(user, i))
		}
		if _, err := p.sessions.Append(ctx, key, events, sessionstore.Append{Create: true,
			Request: &sessionstore.Request{ID: "op-" + user}}); err != nil {
			t.Fatal(err)
		}
		if _, err := p.memories.Put(ctx, scopeOf(user), writes); err != nil {
			t.Fatal(err)
		}
	}
	for {
		work, err := p.sessions.Claim(ctx, "test", time.Minute, 10)
		if err != nil {
			t.Fatal(err)
		}
		if len(work) == 0 {
			break
		}
		for _, w := range work {
			if err := p.sessions.Finish(ctx, w, w.Requested, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := p.db.Close(); err != nil {
		t.Fatal(err)
	}
}

// whole counts the memories and events of a user that are as they were written. Any
// other one fails the test.
func whole(t *testing.T, p pair, user string) (memories, events int, err error) {
	t.Helper()
	list := memory.List{PageSize: 10}
	for {
		page, err := p.memories.List(t.Context(), scopeOf(user), list)
		if err != nil {
			return 0, 0, err
		}
		for _, m := range page.Memories {
			n := 0
			if _, err := fmt.Sscanf(m.ID, user+"-%d", &n); err != nil || m.Fact != said(user, n) || m.Scope != scopeOf(user) {
				t.Errorf("user %s has memory %+v", user, m)
			}
			memories++
		}
		if list.PageToken = page.NextPageToken; list.PageToken == "" {
			break
		}
	}
	session, err := p.sessions.Get(t.Context(), sessionstore.Key{Scope: scopeOf(user), ID: user},
		sessionstore.Get{NumRecent: -1})
	if err != nil {
		return memories, 0, err
	}
	for _, e := range session.Events {
		n := 0
		if strings.Contains(string(e.Doc), "DATA_LOSS") {
			continue
		}
		if _, err := fmt.Sscanf(e.ID, user+"-%d", &n); err != nil || e.Text() != said(user, n) {
			t.Errorf("user %s has event %s", user, e.Doc)
		}
		events++
	}
	return memories, events, nil
}

// mostOnPage is more than the memories or events of which one page holds a part.
const mostOnPage = 25

// checkDamaged opens a damaged file, reads and writes it, and recovers it.
func checkDamaged(t *testing.T, path string) {
	t.Helper()
	p, err := openPair(path)
	if err != nil {
		if !strings.Contains(err.Error(), "damaged") && !strings.Contains(err.Error(), "backup") {
			t.Errorf("a start is refused without the reason: %v", err)
		}
	} else {
		missing := 0
		for _, user := range damageUsers {
			memories, events, err := whole(t, p, user)
			missing += 2*damageEvents - memories - events
			if err != nil && !errors.As(err, new(*memory.Damage)) {
				t.Errorf("read: %v", err)
			}
		}
		stats := p.db.Stats()
		if missing > 0 && stats.Damaged == "" && stats.Unreadable == 0 {
			t.Errorf("%d are missing, and nothing is said", missing)
		}
		_, writeErr := p.memories.Put(t.Context(), scopeOf("ann"), []memory.Write{memoryOf("ann", 1000)})
		red := p.db.Check(t.Context())
		if err := p.db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if writeErr == nil && red == nil {
			kept(t, path)
		}
	}
	checkRecovered(t, path)
}

// kept fails the test unless the acknowledged write is there.
func kept(t *testing.T, path string) {
	t.Helper()
	p, err := openPair(path)
	if err != nil {
		t.Errorf("after an acknowledged write: %v", err)
		return
	}
	defer p.db.Close()
	id := memoryOf("ann", 1000).Memory.ID
	if found, err := p.memories.Get(t.Context(), scopeOf("ann"), []string{id}); err != nil || len(found) != 1 {
		t.Errorf("an acknowledged write is lost: %v, %v", found, err)
	}
}

// checkRecovered recovers a file, and compares what it gets with what was there.
func checkRecovered(t *testing.T, path string) {
	t.Helper()
	to := filepath.Join(t.TempDir(), "saved.db")
	saved, err := assembly.Recover(context.Background(), path, to, damageModel)
	if err != nil {
		t.Errorf("recover: %v", err)
		return
	}
	p, err := openPair(to)
	if err != nil {
		t.Errorf("open what was recovered: %v", err)
		return
	}
	defer p.db.Close()
	checkSound(t, p)
	lostMemories, lostEvents := 0, 0
	for _, user := range damageUsers {
		memories, events, err := whole(t, p, user)
		if err != nil && !(errors.Is(err, memory.ErrNotFound) && len(saved.Lost) > 0) {
			t.Errorf("read what was recovered: %v", err)
		}
		lostMemories += damageEvents - min(memories, damageEvents)
		lostEvents += damageEvents - events
	}
	if lostMemories > mostOnPage || lostEvents > mostOnPage || lostMemories+lostEvents > 0 && len(saved.Lost) == 0 {
		t.Errorf("%d memories and %d events are lost; listed are %v", lostMemories, lostEvents, saved.Lost)
	}
	if lostMemories > 0 && saved.Again == 0 {
		t.Errorf("%d memories are lost, and are not made again; listed are %v", lostMemories, saved.Lost)
	}
}

// checkSound fails the test if something is wrong with the stores of a file.
func checkSound(t *testing.T, p pair) {
	t.Helper()
	found := func(f memory.Finding) {
		if f.Rule != sessionstore.RuleOrphans { // turns of sessions that are lost stay
			t.Errorf("what was recovered: %+v", f)
		}
	}
	if err := p.sessions.Audit(t.Context(), func(sessionstore.SessionRecord) error { return nil }, found); err != nil {
		t.Error(err)
	}
	if err := p.memories.Audit(t.Context(), func(memory.Record) error { return nil }, found); err != nil {
		t.Error(err)
	}
}

// leafPages are the pages that have the rows of a table.
func leafPages(t *testing.T, path, table string) (pages []int64) {
	t.Helper()
	db, err := sqlitedb.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Read(t.Context(), func(tx *sql.Tx) (err error) {
		pages, err = sqlitedb.Collect(t.Context(), tx, func(rows *sql.Rows) (n int64, err error) {
			return n, rows.Scan(&n)
		}, `SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path`, table)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return pages
}

// Whatever page of a file is zeroed, and whatever byte is changed: no start panics,
// nothing is answered that was not written, what is missing is said, a write that is
// acknowledged stays, and recover saves everything outside that page.
func TestDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memoryd.db")
	populate(t, path)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	record, err := os.ReadFile(path + ".state")
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	pages := len(raw) / page
	t.Logf("%d pages", pages)
	random := rand.New(rand.NewPCG(1, 2))
	run := func(name string, damaged []byte) {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "memoryd.db")
			if err := errors.Join(os.WriteFile(path, damaged, 0o600),
				os.WriteFile(path+".state", record, 0o600)); err != nil {
				t.Fatal(err)
			}
			checkDamaged(t, path)
		})
	}
	changed := func(change func(raw []byte)) []byte {
		out := append([]byte{}, raw...)
		change(out)
		return out
	}
	run("none", raw)
	for n := range pages {
		run(fmt.Sprint("zeroed page ", n+1), changed(func(raw []byte) { clear(raw[n*page : (n+1)*page]) }))
		at := n*page + random.IntN(page)
		run(fmt.Sprint("flipped byte ", at), changed(func(raw []byte) { raw[at] ^= 1 << random.IntN(8) }))
		if n%3 > 0 { // few of these differ from each other
			continue
		}
		at = n*page + random.IntN(12) // of the header of the page
		run(fmt.Sprint("flipped byte ", at), changed(func(raw []byte) { raw[at] ^= 1 << random.IntN(8) }))
	}
	run("cut in a page", raw[:len(raw)-100])
	for _, table := range []string{"memories", "events"} {
		leaves := leafPages(t, path, table)
		run("a page of "+table+" twice", changed(func(raw []byte) {
			from, to := leaves[0], leaves[1]
			copy(raw[(to-1)*page:to*page], raw[(from-1)*page:from*page])
		}))
	}
}
