package sqlitedb

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/memoryd/memoryd/memory"
)

// code is the primary result code of SQLite in err; 0 if err is not SQLite's.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// Error wraps a failure of SQLite in the kind of error that callers know.
func Error(err error) error {
	switch code(err) {
	case 0:
		return err
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%w: the disk is full: %w", memory.ErrUnavailable, err)
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_BUSY,
		sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("%w: the database cannot be read or written: %w", memory.ErrUnavailable, err)
	}
	return err
}
