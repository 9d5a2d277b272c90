package sqlitedb

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/memoryd/memoryd/memory"
)

// A file gives the room of deleted rows back to the disk, and what is left in it is whole.
func TestShrink(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.db")
	db, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	write := func(statement string) {
		t.Helper()
		if err := db.Write(t.Context(), For(memory.Scope{}), func(tx *Tx) error {
			_, err := tx.Exec(statement)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	size := func() int64 {
		t.Helper()
		if err := db.Scrub(t.Context()); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	write(`CREATE TABLE rows (n INTEGER PRIMARY KEY, text TEXT)`)
	write(`WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 4000)
		INSERT INTO rows SELECT n, hex(randomblob(1000)) FROM c`)
	full := size()
	write(`DELETE FROM rows WHERE n % 10 > 0`)
	if err := db.Shrink(t.Context()); err != nil {
		t.Fatal(err)
	}
	if now := size(); now > full/4 {
		t.Errorf("the file has %d bytes of %d, a tenth of its rows", now, full)
	}
	if found, err := db.IntegrityCheck(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("the file is damaged: %v, %v", found, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = Open(path, nil); err != nil || db.Damaged() != nil {
		t.Fatalf("opened again: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
