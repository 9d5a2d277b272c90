package sqlitesession_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
	"github.com/memoryd/memoryd/sessionstore/sqlitesession"
)

// A lease is renewed while another write holds the writer, however long that takes, and
// also after it has run out: no other process can have taken it.
func TestRenewalWaitsForNothing(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	db, err := sqlitedb.Open(filepath.Join(t.TempDir(), "memoryd.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s, err := sqlitesession.New(db, &sqlitesession.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	scope := memory.Scope{App: "app", User: "ann"}
	e, err := sessionstore.ParseEvent([]byte(`{"id": "e", "content": {"role": "user", "parts": [{"text": "hello"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	request := &sessionstore.Request{ID: sessionstore.OperationID(scope, "1")}
	if _, err := s.Append(t.Context(), sessionstore.Key{Scope: scope, ID: "s"}, []sessionstore.Event{e},
		sessionstore.Append{Create: true, Request: request}); err != nil {
		t.Fatal(err)
	}
	if works, err := s.Claim(t.Context(), "one", 10*time.Second, 1); err != nil || len(works) != 1 {
		t.Fatalf("claimed %v, %v", works, err)
	}
	begun, release, stalled := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		stalled <- db.Write(t.Context(), sqlitedb.Urgent(), func(*sqlitedb.Tx) error {
			close(begun)
			<-release
			return nil
		})
	}()
	<-begun
	now = now.Add(time.Minute)
	if err := s.Renew(t.Context(), scope, "one", 10*time.Second); err != nil {
		t.Errorf("a renewal during a write that stalls: %v", err)
	}
	close(release)
	if err := <-stalled; err != nil {
		t.Error(err)
	}
	if works, err := s.Claim(t.Context(), "two", 10*time.Second, 1); err != nil || len(works) != 0 {
		t.Errorf("another claims %v, %v", works, err)
	}
}
