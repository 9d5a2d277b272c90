package sqlitedb

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/memoryd/memoryd/memory"
)

// damage is what is known to be damaged: the error of every write from then on.
type damage struct {
	what string // without the path, so that clients can read it
	err  error
}

// remedy follows what is damaged in the error of a file that is served on.
const remedy = "nothing is written to it any more, and what can be read is still answered. " +
	"memoryd check lists what is damaged. Stop memoryd, then put a backup in its place, " +
	"or run memoryd recover OLD NEW"

// MarkDamaged has every later write refused and Check fail, until the next Open.
// The first damage stays the one that is named. A store calls it for damage that
// it reads around; errors that Read and Write return are marked already.
func (db *DB) MarkDamaged(what string) error {
	words := memory.Damaged("the database is damaged (%s): %s", what, remedy)
	d := &damage{what: what, err: fmt.Errorf("%s: %w", db.path, words)}
	if db.damage.CompareAndSwap(nil, d) {
		db.log.Error("the database is damaged: it is read on, and no longer written", "file", db.path, "damage", what,
			"remedy", "stop memoryd, then put a backup in its place or run memoryd recover OLD NEW")
	}
	return db.damage.Load().err
}

// Damaged returns the error that says what is damaged; nil if nothing is known to
// be.
func (db *DB) Damaged() error {
	if d := db.damage.Load(); d != nil {
		return d.err
	}
	return nil
}

// classify wraps a failure of SQLite in the kind of error that callers know, and
// counts it, and marks the database as damaged if that is what it says.
func (db *DB) classify(err error) error {
	if code(err) != 0 {
		db.failures.Add(1)
	}
	if !IsDamage(err) {
		return Error(err)
	}
	return fmt.Errorf("%w: %w", db.MarkDamaged(err.Error()), err)
}

// IsDamage reports whether err says that SQLite cannot make sense of the file: a
// page or the log has other bytes than were written, or fewer.
func IsDamage(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return true
	}
	switch e.Code() {
	// A frame of the log that ends before its page does is a short read.
	case sqlite3.SQLITE_IOERR_CORRUPTFS, sqlite3.SQLITE_IOERR_DATA, sqlite3.SQLITE_IOERR_SHORT_READ:
		return true
	}
	return false
}
