package sqlitedb_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/internal/filetest"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
)

// What is deleted, replaced or moved before Scrub is in no file after it, and what was
// not is still there.
func TestScrub(t *testing.T) {
	dir := t.TempDir()
	db, err := sqlitedb.Open(filepath.Join(dir, "a.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	write := func(query string, args ...any) {
		t.Helper()
		if err := db.Write(t.Context(), sqlitedb.For(memory.Scope{}), func(tx *sqlitedb.Tx) error {
			_, err := tx.Exec(query, args...)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	write(`CREATE TABLE words (n INTEGER PRIMARY KEY, word TEXT)`)
	for n := range 300 { // small ones within a page, and large ones of many pages
		write(`INSERT INTO words VALUES (?, ?)`, n, strings.Repeat("xylophone ", 1+n*n/40))
	}
	write(`INSERT INTO words VALUES (1000, 'marimba')`)
	write(`UPDATE words SET word = 'glockenspiel' WHERE n < 150`)
	write(`DELETE FROM words WHERE n BETWEEN 100 AND 999`)
	if len(filetest.With(t, dir, "xylophone")) == 0 {
		t.Error("the words were in no file before either")
	}
	for range 3 {
		if err := db.Scrub(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(filetest.With(t, dir, "xylophone")) > 0 {
		t.Error("a file still has what was deleted")
	}
	if len(filetest.With(t, dir, "marimba")) == 0 || len(filetest.With(t, dir, "glockenspiel")) == 0 {
		t.Error("what was not deleted is gone")
	}
}
