package sqlitedb_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
)

// writerFunc is a function as a writer.
type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// One backup is made at a time, and it ends once the log has grown too long.
func TestBackupIsBounded(t *testing.T) {
	db := open(t, file(t))
	fill(t, db, 0, 2000) // some megabytes: more than is written at once
	none := func(int64) {}
	var beside error
	if err := db.Backup(t.Context(), writerFunc(func(p []byte) (int, error) {
		beside = db.Backup(t.Context(), io.Discard, none)
		return len(p), nil
	}), none); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(beside, memory.ErrExhausted) || memory.RetryAfter(beside) == 0 {
		t.Errorf("a second backup: %v", beside)
	}
	sqlitedb.SetMaxCopyLog(db, 1<<10)
	if err := db.Backup(t.Context(), io.Discard, none); !errors.Is(err, memory.ErrUnavailable) ||
		!strings.Contains(err.Error(), "too long") {
		t.Errorf("with a long log: %v", err)
	}
	sqlitedb.SetMaxCopyLog(db, 1<<30)
	if err := db.Backup(t.Context(), io.Discard, none); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
