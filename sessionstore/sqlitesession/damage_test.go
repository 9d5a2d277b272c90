package sqlitesession_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
	"github.com/memoryd/memoryd/sessionstore/sqlitesession"
)

// An event of which one byte has changed costs only itself: another one in its place
// says that it is damaged, in the session and to those who make memories of it.
func TestUnreadableEvent(t *testing.T) {
	db, err := sqlitedb.Open(filepath.Join(t.TempDir(), "memoryd.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s, err := sqlitesession.New(db, nil)
	if err != nil {
		t.Fatal(err)
	}
	key := sessionstore.Key{Scope: memory.Scope{App: "a", User: "u"}, ID: "s"}
	var events []sessionstore.Event
	for _, doc := range []string{`{"id": "e1", "author": "user", "content": "one"}`,
		`{"id": "e2", "author": "user", "content": "two"}`, `{"id": "e3", "author": "user", "content": "three"}`} {
		e, err := sessionstore.ParseEvent([]byte(doc))
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	request := sessionstore.Append{Create: true, Request: &sessionstore.Request{ID: "op"}}
	if _, err := s.Append(t.Context(), key, events, request); err != nil {
		t.Fatal(err)
	}
	if err := db.Write(t.Context(), sqlitedb.For(memory.Scope{}), func(tx *sqlitedb.Tx) error {
		var doc []byte
		if err := tx.QueryRow(`SELECT doc FROM events WHERE id = 'e2'`).Scan(&doc); err != nil {
			return err
		}
		doc[strings.Index(string(doc), "two")] ^= 1 // "uwo" is JSON too
		_, err := tx.Exec(`UPDATE events SET doc = ? WHERE id = 'e2'`, doc)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	got, err := s.Get(t.Context(), key, sessionstore.Get{NumRecent: -1})
	if err != nil || len(got.Events) != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	for i, want := range []string{`"one"`, `"DATA_LOSS"`, `"three"`} {
		if e := got.Events[i]; !strings.Contains(string(e.Doc), want) || e.ID != events[i].ID {
			t.Errorf("event %d: %s", i, e.Doc)
		}
	}
	if text := got.Events[1].Text(); text != "" {
		t.Errorf("the damaged event says %q", text)
	}
	again, err := s.Append(t.Context(), key, events[1:2], sessionstore.Append{})
	if err != nil || !strings.Contains(string(again.Events[0].Doc), "DATA_LOSS") {
		t.Errorf("appended again: %+v, %v", again, err)
	}
	work, err := s.Claim(t.Context(), "owner", time.Minute, 1)
	if err != nil || len(work) != 1 {
		t.Fatal(work, err)
	}
	numbered, err := s.Events(t.Context(), work[0], 0, 10)
	if err != nil || len(numbered) != 3 || numbered[1].Seq != 2 {
		t.Errorf("to make memories of: %+v, %v", numbered, err)
	}
	if got := db.Stats().Unreadable; got != 1 {
		t.Errorf("%d rows are counted", got)
	}
}
