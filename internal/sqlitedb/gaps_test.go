package sqlitedb_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/memoryd/memoryd/internal/filetest"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
)

// What SQLite has moved from page to page before it was deleted is in no file after
// Scrub. The rest can be read, whatever was cleared.
func TestScrubMoved(t *testing.T) {
	for _, vacuum := range []string{"NONE", "INCREMENTAL"} {
		t.Run("auto_vacuum="+vacuum, func(t *testing.T) { scrubMoved(t, vacuum) })
	}
}

func scrubMoved(t *testing.T, vacuum string) {
	dir := t.TempDir()
	raw, err := sql.Open("sqlite", filepath.Join(dir, "a.db"))
	if err == nil {
		_, err = raw.Exec("PRAGMA auto_vacuum = " + vacuum + "; VACUUM")
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sqlitedb.Open(filepath.Join(dir, "a.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	write := func(do func(*sqlitedb.Tx) error) {
		t.Helper()
		if err := db.Write(t.Context(), sqlitedb.For(memory.Scope{}), do); err != nil {
			t.Fatal(err)
		}
	}
	const rows = 30_000
	write(func(tx *sqlitedb.Tx) error {
		_, err := tx.Exec(`CREATE TABLE words (word TEXT PRIMARY KEY, more TEXT, n INTEGER) WITHOUT ROWID`)
		if err == nil {
			_, err = tx.Exec(`CREATE INDEX words_more ON words (more)`)
		}
		for i, n := range rand.New(rand.NewPCG(1, 1)).Perm(rows) {
			word := fmt.Sprintf("tapir %06d", n)
			if n%10 == 0 {
				word = fmt.Sprintf("xylophone %06d", n)
			}
			if err == nil {
				_, err = tx.Exec(`INSERT INTO words VALUES (?, ?, ?)`, fmt.Sprintf("%03d %s", (i*7919)%1000, word), word, n)
			}
		}
		return err
	})
	write(func(tx *sqlitedb.Tx) error {
		_, err := tx.Exec(`DELETE FROM words WHERE n % 10 = 0`)
		return err
	})
	if err := db.Scrub(memory.WithMoreToErase(t.Context())); err != nil {
		t.Fatal(err)
	}
	if len(filetest.With(t, dir, "xylophone")) == 0 {
		t.Fatal("the deletion leaves no copies, so that this test shows nothing of Scrub")
	}
	if err := db.Scrub(t.Context()); err != nil {
		t.Fatal(err)
	}
	if files := filetest.With(t, dir, "xylophone"); len(files) > 0 {
		t.Errorf("%v still have what was deleted", files)
	}
	write(func(tx *sqlitedb.Tx) error {
		var found string
		if err := tx.QueryRow(`SELECT * FROM pragma_integrity_check`).Scan(&found); err != nil || found != "ok" {
			t.Errorf("integrity check: %q, %v", found, err)
		}
		var mode int
		if err := tx.QueryRow(`PRAGMA auto_vacuum`).Scan(&mode); err != nil || []string{"NONE", "FULL", "INCREMENTAL"}[mode] != vacuum {
			t.Errorf("auto_vacuum is %d, %v", mode, err)
		}
		var n, sum int
		if err := tx.QueryRow(`SELECT count(*), sum(n) FROM words INDEXED BY words_more WHERE more LIKE 'tapir %'`).
			Scan(&n, &sum); err != nil || n != rows*9/10 || sum != rows*(rows-1)/2-rows/10*(rows-10)/2 {
			t.Errorf("%d rows with the sum %d, %v", n, sum, err)
		}
		return nil
	})
}
