package sqlitedb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// record is the file PATH.state. It shows that PATH was a database of memoryd, and
// how far its write-ahead log was committed, so that the next Open notices a
// database that is empty or gone, and a log that is gone or has become shorter.
//
// It is written after each commit and not flushed: a process that is killed leaves
// it up to date, and after a crash of the machine it is at most behind. It is flushed
// before the log is emptied or removed, so that it never misses a log that is not
// needed.
type record struct {
	was    bool   // a database was here
	known  bool   // the rest is known
	salts  uint64 // of the log
	frames uint32 // committed in it, and not yet in the main file; 0 if the main file has all
	// file is the generation of the main file, and newest that of the log.
	file, newest generation
}

// recordFormat has a fixed width, so that a write replaces the one before.
const recordFormat = "memoryd keeps a database beside this file: log %016x %010d, generations %08x %08x\n"

// readRecord reads the record at a path. A record that cannot be read, or is of an
// earlier version, shows only that there was a database.
func readRecord(path string) (r record, err error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(raw) == 0 {
		return r, nil
	}
	if err != nil {
		return record{was: true}, err
	}
	if n, err := fmt.Sscanf(string(raw), recordFormat, &r.salts, &r.frames, &r.file, &r.newest); err != nil || n != 4 {
		return record{was: true}, nil
	}
	r.was, r.known = true, true
	return r, nil
}

// openRecord opens the record for writing. One that cannot be written is made again.
// Where that fails too, the database is served without a record, unless the old one
// could be taken for an up-to-date one later.
func (db *DB) openRecord() (err error) {
	path := db.path + ".state"
	was, unread := readRecord(path)
	db.made.record = missing(path)
	if db.record, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600); err == nil {
		return nil
	}
	if os.Remove(path) == nil {
		if db.record, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600); err == nil {
			return nil
		}
	}
	if unread == nil && was.known {
		return fmt.Errorf("%s cannot be written, and would soon say what is not so any longer:"+
			" make it writable, or remove it: %w", path, err)
	}
	db.log.Warn("the record of the database cannot be kept: a log that is gone or cut would not be noticed"+
		" at the next start. Remove what is in its place", "file", path, "err", err)
	return nil
}

// writeRecord writes how far the log is committed. A record that cannot be written,
// as on a full disk, only makes the next Open notice less.
func (db *DB) writeRecord() {
	r := record{file: db.seen.header.generation(), newest: db.newest}
	if ix, ok := readIndex(db.handles.index); ok && ix.backfill < ix.frames {
		r.salts, r.frames = ix.salts, ix.frames
	}
	db.putRecord(r)
}

// putRecord replaces the record, if there is one. One that cannot be replaced is
// emptied: it would claim what is no longer so.
func (db *DB) putRecord(r record) {
	if db.record == nil {
		return
	}
	if _, err := db.record.WriteAt(fmt.Appendf(nil, recordFormat, r.salts, r.frames, r.file, r.newest), 0); err != nil {
		_ = db.record.Truncate(0) // there is nothing else to try
	}
}

// clearRecord says that the main file is about to have all that the log has. It comes
// before the log is emptied or removed, so that a process that is killed then has not
// lost a log.
func (db *DB) clearRecord() {
	if db.record == nil {
		return
	}
	db.putRecord(record{file: db.seen.header.generation(), newest: db.newest})
	_ = db.record.Sync() // if it fails, a crash of the machine may leave the older record
}

// errDamagedFile is the form of the error for a file that is not opened, as SQLite
// would remove what is left to read.
func errDamagedFile(path, what string) error {
	return fmt.Errorf("%s is damaged and is left as it is: %s. Put a backup in its place"+
		" (remove %s-wal and %s.state first), or salvage what can be read: memoryd recover %s NEW",
		path, what, path, path, path)
}

// errOtherLog is the error for a log that is not the one of the file beside it.
func errOtherLog(path string) error {
	return fmt.Errorf("%s is another copy of the database than the one that the write-ahead log beside it belongs to,"+
		" and both are left as they are: together they would be damaged. To go on with this copy, move %s-wal,"+
		" %s-shm and %s.state elsewhere, or save it without them: memoryd recover %s NEW."+
		" To go on with what the log has, put the file back that it belongs to", path, path, path, path, path)
}

// checkBeside compares the file with its record and its log before SQLite opens it:
// SQLite takes an empty file for a new database, deletes the log beside it, writes the
// log of another file into this one, and drops what follows the first damaged frame of
// a log.
func (db *DB) checkBeside() error {
	r, err := readRecord(db.path + ".state")
	if err != nil {
		db.log.Warn("the record of the database cannot be read: a log that is gone or cut is not noticed",
			"file", db.path+".state", "err", err)
	}
	w, err := readWAL(db.path+"-wal", 0)
	if err != nil {
		return err
	}
	info, err := os.Stat(db.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err != nil || info.Size() == 0 {
		state := "is missing"
		if err == nil {
			state = "is empty"
		}
		if r.was || w.size > 0 {
			return fmt.Errorf("%s %s, but the files beside it show that a database was here:"+
				" put a backup in its place, or remove all files that begin with %s to begin anew",
				db.path, state, db.path)
		}
		return nil
	}
	f, err := os.Open(db.path)
	if err != nil {
		return err
	}
	defer f.Close()
	head, err := readHeader(f)
	if err != nil {
		return err
	}
	return db.compare(r, w, head)
}

// compare compares the header of the main file with the record and the log.
func (db *DB) compare(r record, w walState, head header) error {
	if string(head[:len(magic)]) != magic {
		if r.was {
			return errDamagedFile(db.path, "its first page does not say that it is a database, which it was")
		}
		return nil // readApplicationID refuses it
	}
	file := head.generation()
	switch {
	case w.lost:
		return errDamagedFile(db.path,
			"its write-ahead log (-wal) is damaged, and acknowledged writes behind that place would be lost")
	case !w.follows(file):
		return errOtherLog(db.path)
	case r.known && !file.between(r.file, r.newest+1): // the record may be one commit behind
		db.log.Warn("the database is another copy than the one that memoryd has left here:"+
			" memoryd check tells whether sessions and memories agree", "file", db.path)
	case file == r.newest+1 || w.whole && w.salts != r.salts:
		// The process was killed after the log had begun again: the file has what was in it.
	case r.frames > w.frames:
		return errDamagedFile(db.path, fmt.Sprintf("of its write-ahead log (-wal) %d of %d pages are left",
			w.frames, r.frames))
	}
	if !w.has(head) {
		return errOtherLog(db.path)
	}
	return nil
}
