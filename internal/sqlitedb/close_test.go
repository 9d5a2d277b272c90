package sqlitedb

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"testing"
)

// A Read whose caller gave up holds nothing open once it has returned: Close is
// the last to close the file, and SQLite removes the log.
func TestCloseAfterCancelledReads(t *testing.T) {
	for range 200 {
		path := filepath.Join(t.TempDir(), "memoryd.db")
		db, err := Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		_ = db.Read(ctx, func(tx *sql.Tx) error {
			rows, err := tx.QueryContext(ctx, `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT i FROM n`)
			if err != nil {
				return err
			}
			defer rows.Close()
			for i := 0; rows.Next() && i < 10; i++ {
			}
			cancel()
			return rows.Err()
		})
		cancel()
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path + "-wal"); err == nil {
			t.Fatal("the log is still there")
		}
	}
}
