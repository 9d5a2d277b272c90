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

// A list over very many sessions with a filter that none passes comes in pages, each of
// which looks at a part of them, in every order.
func TestListLooksAtParts(t *testing.T) {
	db, err := sqlitedb.Open(filepath.Join(t.TempDir(), "memoryd.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s, err := sqlitesession.New(db, nil)
	if err != nil {
		t.Fatal(err)
	}
	const many = 100_000
	scope := memory.Scope{App: "shop", User: "ann"}
	err = db.Write(t.Context(), sqlitedb.For(scope), func(tx *sqlitedb.Tx) error {
		_, err := tx.Exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
			INSERT INTO sessions (app, user, id, update_time, create_time, name, labels)
			SELECT 'shop', 'ann', 's' || i, i % 1000, i, 'Talk ' || i, '{"team":"blue"}' FROM n`, many)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	where := memory.Cmp{Field: "labels", Key: "team", Op: memory.OpEqual, Value: memory.Text("red")}
	for _, order := range []sessionstore.Order{{}, {Updated: true}} {
		list := sessionstore.List{Where: where, Order: order}
		pages, longest := 0, time.Duration(0)
		for more := true; more; pages++ {
			began := time.Now()
			page, err := s.List(t.Context(), scope, list)
			if err != nil || len(page.Sessions) > 0 {
				t.Fatalf("%d sessions, %v", len(page.Sessions), err)
			}
			longest = max(longest, time.Since(began))
			list.PageToken, more = page.NextPageToken, page.NextPageToken != ""
		}
		if least := many / sessionstore.MaxLooked; pages < least || pages > least+1 {
			t.Errorf("%d pages, want %d", pages, least)
		}
		t.Logf("%+v: %d pages, the longest took %v", order, pages, longest)
	}
}
