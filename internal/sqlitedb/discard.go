package sqlitedb

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// suffixes are those of the files that SQLite and this package keep beside a
// database: its write-ahead log and that log's index.
func suffixes() []string { return []string{"", "-wal", "-shm"} }

// made has the files and directories that Open created.
type made struct {
	directories []string // outermost first
	lock, file  bool
	record      bool
}

// missingDirectories returns those of a directory and its parents that do not
// exist, outermost first.
func missingDirectories(dir string) (out []string) {
	for {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			return out
		}
		out = append([]string{dir}, out...)
		if filepath.Dir(dir) == dir {
			return out
		}
		dir = filepath.Dir(dir)
	}
}

// missing reports whether nothing is at a path.
func missing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// Discard closes the database and removes what Open created: the file, its lock,
// and directories that are then empty. Files that were there before Open stay. A
// start that is refused after Open calls Discard in place of Close.
func (db *DB) Discard() error {
	db.stop()
	return db.discardFiles()
}

// discardFiles removes the files while it holds the lock, so that no other process
// has opened them. The lock is removed last. On a system that cannot remove an open
// file, that is after the lock was closed.
func (db *DB) discardFiles() error {
	errs := []error{db.closeConnections()}
	if db.made.file {
		for _, suffix := range suffixes() {
			errs = append(errs, remove(db.path+suffix))
		}
	}
	if db.made.record {
		errs = append(errs, remove(db.path+".state"), remove(db.path+".reserve"))
	}
	if db.lock != nil {
		lockFile := db.path + ".lock"
		left := db.made.lock && remove(lockFile) != nil
		errs = append(errs, db.lock.Close())
		if left {
			errs = append(errs, remove(lockFile))
		}
	}
	for i := len(db.made.directories) - 1; i >= 0; i-- {
		_ = os.Remove(db.made.directories[i]) // it fails for one that is not empty: others use it
	}
	return errors.Join(errs...)
}

// remove removes a file that may be missing.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
