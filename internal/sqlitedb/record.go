package sqlitedb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// record is the file PATH.state. It shows that PATH was a database of memoryd, and
// how far its write-ahead log was committed, so that the next Open notices a
// database that is empty or gone, and a log that is gone or has become shorter.
//
// It is written after each commit and not flushed: a process that is killed leaves
// it up to date, and after a crash of the machine it is at most behind.
type record struct {
	was     bool   // a database was here
	salts   uint64 // of the log
	frames  uint32 // committed in it, and not yet in the main file; 0 if the main file has all
	changes uint32 // the change counter in the header of the main file
}

// recordFormat has a fixed width, so that a write replaces the one before.
const recordFormat = "memoryd keeps a database beside this file: log %016x %010d, changes %010d\n"

// readRecord reads the record at a path. A record that cannot be read shows only
// that there was a database.
func readRecord(path string) (r record, err error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(raw) == 0 {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	r.was = true
	if n, err := fmt.Sscanf(string(raw), recordFormat, &r.salts, &r.frames, &r.changes); err != nil || n != 3 {
		return record{was: true}, nil
	}
	return r, nil
}

// openRecord opens the record for writing.
func (db *DB) openRecord() (err error) {
	db.made.record = missing(db.path + ".state")
	db.record, err = os.OpenFile(db.path+".state", os.O_RDWR|os.O_CREATE, 0o600)
	return err
}

// writeRecord writes how far the log is committed. A record that cannot be written,
// as on a full disk, only makes the next Open notice less.
func (db *DB) writeRecord() {
	if db.record == nil {
		return
	}
	r := record{}
	if ix, ok := readIndex(db.handles.index); ok && ix.backfill < ix.frames {
		r.salts, r.frames = ix.salts, ix.frames
	}
	r.changes = binary.BigEndian.Uint32(db.seen.header[24:])
	db.putRecord(r)
}

func (db *DB) putRecord(r record) {
	_, _ = db.record.WriteAt(fmt.Appendf(nil, recordFormat, r.salts, r.frames, r.changes), 0)
}

// clearRecord says that the main file is about to have all that the log has.
func (db *DB) clearRecord() {
	if db.seen.infos != nil {
		db.putRecord(record{changes: binary.BigEndian.Uint32(db.seen.header[24:])})
	}
}

// errDamagedFile is the form of the error for a file that is not opened, as SQLite
// would remove what is left to read.
func errDamagedFile(path, what string) error {
	return fmt.Errorf("%s is damaged and is left as it is: %s. Put a backup in its place"+
		" (remove %s-wal and %s.state first), or salvage what can be read: memoryd recover %s NEW",
		path, what, path, path, path)
}

// checkBeside compares the file with its record and its log before SQLite opens it:
// SQLite takes an empty file for a new database, deletes the log beside it, and
// drops what follows the first damaged frame of a log.
func (db *DB) checkBeside() error {
	r, err := readRecord(db.path + ".state")
	if err != nil {
		return err
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
	switch {
	case w.lost:
		return errDamagedFile(db.path,
			"its write-ahead log (-wal) is damaged, and acknowledged writes behind that place would be lost")
	case r.frames > 0 && w.header && w.salts != r.salts:
		return nil // the process was killed after the log had begun again
	case r.frames > w.frames:
		return errDamagedFile(db.path, fmt.Sprintf("of its write-ahead log (-wal) %d of %d pages are left",
			w.frames, r.frames))
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
	if r.was && string(head[:len(magic)]) != magic {
		return errDamagedFile(db.path, "its first page does not say that it is a database, which it was")
	}
	if changes := binary.BigEndian.Uint32(head[24:]); r.was && changes < r.changes {
		if w.frames > 0 {
			return errDamagedFile(db.path,
				"it is an older copy, and the write-ahead log (-wal) beside it belongs to a newer one")
		}
		db.log.Warn("the database is older than when memoryd stopped:"+
			" memoryd check tells whether sessions and memories agree", "file", db.path)
	}
	return nil
}

// magic begins every file of SQLite.
const magic = "SQLite format 3\x00"

// readHeader reads the header of the main file, as far as there is one.
func readHeader(f io.ReaderAt) (head [100]byte, err error) {
	_, err = f.ReadAt(head[:], 0)
	return head, ended(err)
}
