package sqlitedb_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
)

// A walk goes past rows that cannot be scanned, and past pages that cannot be read, and
// tells of both.
func TestWalk(t *testing.T) {
	const rows = 400
	path := file(t)
	db := open(t, path)
	if err := db.Write(t.Context(), sqlitedb.For(memory.Scope{}), func(tx *sqlitedb.Tx) error {
		_, err := tx.Exec(`CREATE TABLE w (n INTEGER PRIMARY KEY, v, filler TEXT)`)
		for n := 1; n <= rows && err == nil; n++ {
			_, err = tx.Exec(`INSERT INTO w VALUES (?, ?, ?)`, n*10, n, strings.Repeat("f", 300))
		}
		if err == nil {
			_, err = tx.Exec(`UPDATE w SET v = 'no number' WHERE n = 70`)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	pages, err := readPages(t, db)
	if err != nil {
		t.Fatal(err)
	}
	db.Close()

	walked := func(db *sqlitedb.DB) (good, bad []int64, gaps []string) {
		walk := sqlitedb.Walk[int64]{Query: `SELECT n, v FROM w WHERE n > ? ORDER BY n LIMIT ?`, Page: 7, Table: "w",
			Scan: func(rows *sql.Rows) (v int64, err error) {
				return v, rows.Scan(new(int64), &v)
			},
			Found: func(f memory.Finding) { gaps = append(gaps, f.Of) }}
		if err := walk.Run(t.Context(), db, func(page []sqlitedb.Walked[int64]) error {
			for _, one := range page {
				switch {
				case one.Err != nil:
					bad = append(bad, one.Number)
				case one.Number != one.Row*10:
					t.Errorf("row %d has %d", one.Number, one.Row)
				default:
					good = append(good, one.Number)
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if !slices.IsSorted(good) {
			t.Error("rows are not in their order")
		}
		return good, bad, gaps
	}
	good, bad, gaps := walked(open(t, path))
	if len(good) != rows-1 || fmt.Sprint(bad) != "[70]" || len(gaps) > 0 {
		t.Errorf("%d rows, and %v, %v", len(good), bad, gaps)
	}
	for _, at := range []int{1, len(pages) / 2, len(pages) - 1} { // the first, one between, the last
		path := copied(t, path)
		change(t, path, (pages[at]-1)*4096, make([]byte, 4096))
		good, _, gaps := walked(open(t, path))
		if len(gaps) != 1 || !strings.HasPrefix(gaps[0], "w, row numbers from ") {
			t.Errorf("page %d: %v", at, gaps)
		}
		if lost := rows - len(good); lost < 2 || lost > 20 {
			t.Errorf("page %d: %d rows are lost", at, lost)
		}
	}
}

// readPages returns the leaf pages of table w.
func readPages(t *testing.T, db *sqlitedb.DB) (pages []int64, err error) {
	err = db.Read(t.Context(), func(tx *sql.Tx) (err error) {
		pages, err = sqlitedb.Collect(t.Context(), tx, func(rows *sql.Rows) (n int64, err error) {
			return n, rows.Scan(&n)
		}, `SELECT pageno FROM dbstat WHERE name = 'w' AND pagetype = 'leaf' ORDER BY path`)
		return err
	})
	return pages, err
}
