package sqlitedb_test

import (
	"database/sql"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/internal/sqlitedb"
)

// A new file gets at once what a file gets that each version of the steps has opened: the same
// tables, indexes, triggers and views, of the same text, and the rows that steps write.
func TestNewFileHasAllSteps(t *testing.T) {
	steps := []string{
		`CREATE TABLE a (n INTEGER PRIMARY KEY AUTOINCREMENT, v TEXT NOT NULL UNIQUE -- a text
			) STRICT; CREATE INDEX a_v ON a (v) WHERE n > 1`,
		`ALTER TABLE a ADD COLUMN w BLOB NOT NULL DEFAULT x''; UPDATE a SET w = x'00';`,
		`CREATE TABLE b (v TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
			CREATE TRIGGER a_insert AFTER INSERT ON a BEGIN INSERT INTO b VALUES (NEW.v || ';'); SELECT 1; END`,
		`ALTER TABLE a RENAME COLUMN v TO u; DROP INDEX a_v; CREATE VIEW c AS SELECT u FROM a`,
		`INSERT INTO a (u) VALUES ('first')`,
	}
	for n := 1; n <= len(steps); n++ {
		atOnce, oneByOne := empty(t), empty(t)
		if err := atOnce.Migrate("t", steps[:n]...); err != nil {
			t.Fatal(err)
		}
		for some := 1; some <= n; some++ {
			if err := oneByOne.Migrate("t", steps[:some]...); err != nil {
				t.Fatal(err)
			}
		}
		query := `SELECT coalesce(sql, name) FROM sqlite_schema`
		if n == len(steps) {
			query += ` UNION ALL SELECT u || quote(w) FROM a UNION ALL SELECT v FROM b`
		}
		want := texts(t, oneByOne, query)
		if diff := cmp.Diff(want, texts(t, atOnce, query)); diff != "" || len(want) < 3 {
			t.Errorf("%d steps (-one by one +at once):\n%s", n, diff)
		}
	}
}

// empty opens a new file.
func empty(t *testing.T) *sqlitedb.DB {
	t.Helper()
	db, err := sqlitedb.Open(file(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// texts counts the rows of each text.
func texts(t *testing.T, db *sqlitedb.DB, query string) map[string]int {
	t.Helper()
	out := map[string]int{}
	if err := db.Read(t.Context(), func(tx *sql.Tx) error {
		rows, err := tx.Query(query)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var text string
			if err := rows.Scan(&text); err != nil {
				return err
			}
			out[text]++
		}
		return rows.Err()
	}); err != nil {
		t.Fatal(err)
	}
	return out
}
