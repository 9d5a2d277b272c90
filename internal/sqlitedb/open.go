package sqlitedb

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gofrs/flock"
	sqlite3 "modernc.org/sqlite/lib"
)

// Memory as a path gives a database that is gone when it is closed.
const Memory = ":memory:"

// applicationID identifies a file as memoryd's (PRAGMA application_id): "memd"
// in ASCII.
const applicationID = 0x6d656d64

// maxReaders bounds the connections that read: each has a cache of its own (2
// MB) and open files. A Read must not begin inside another one.
const maxReaders = 16

// ErrInUse is the error of Open for a file that another process has open.
var ErrInUse = errors.New("in use by another memoryd")

func (db *DB) open() error {
	if db.path == Memory {
		return db.openMemory()
	}
	if err := db.lockFile(); err != nil {
		return err
	}
	source := (&url.URL{Scheme: "file", Path: db.path}).String() + "?_pragma=busy_timeout(10000)"
	id, err := db.readApplicationID(source)
	if err != nil {
		return err
	}
	// SQLite keeps the pages that a savepoint would restore in memory, not in a file.
	const pragmas = "&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=temp_store(MEMORY)"
	if db.writer, err = sql.Open("sqlite", source+pragmas); err != nil {
		return err
	}
	db.writer.SetMaxOpenConns(1)
	if err := db.writeApplicationID(id); err != nil {
		return fmt.Errorf("open %s: %w", db.path, Error(err))
	}
	if db.reader, err = sql.Open("sqlite", source+"&_pragma=query_only(1)"); err != nil {
		return err
	}
	db.reader.SetMaxOpenConns(maxReaders)
	db.reader.SetMaxIdleConns(maxReaders)
	if err := db.writer.QueryRow(`SELECT count(*) FROM sqlite_schema`).Scan(new(int)); err != nil { // makes the log
		return fmt.Errorf("open %s: %w", db.path, Error(err))
	}
	db.opened = map[string]os.FileInfo{}
	for _, path := range []string{db.path, db.path + ".lock", db.path + "-wal"} {
		if db.opened[path], err = os.Stat(path); err != nil {
			return err
		}
	}
	return nil
}

func (db *DB) openMemory() (err error) {
	if db.writer, err = sql.Open("sqlite", ":memory:"); err != nil {
		return err
	}
	// One connection is one database, so readers take turns with the writer.
	db.writer.SetMaxOpenConns(1)
	db.reader = db.writer
	return db.writeApplicationID(0)
}

// lockFile takes the lock of this process on the file, and makes both if they
// are missing.
func (db *DB) lockFile() (err error) {
	if db.path, err = filepath.Abs(db.path); err != nil {
		return err
	}
	db.made.directories = missingDirectories(filepath.Dir(db.path))
	if err := os.MkdirAll(filepath.Dir(db.path), 0o700); err != nil {
		return fmt.Errorf("create the directory of %s: %w", db.path, err)
	}
	newLock := missing(db.path + ".lock")
	db.lock = flock.New(db.path+".lock", flock.SetPermissions(0o600))
	switch ok, err := db.lock.TryLock(); {
	case err != nil:
		return fmt.Errorf("lock %s: %w", db.path, err)
	case !ok: // the lock is another process's, so it stays
		return fmt.Errorf("%s is %w", db.path, ErrInUse)
	}
	db.made.lock, db.made.file = newLock, missing(db.path)
	f, err := os.OpenFile(db.path, os.O_RDWR|os.O_CREATE, 0o600) // before SQLite creates it with mode 0644
	if err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	return f.Close()
}

// readApplicationID returns the application id of the file without changing the
// file. It fails if the file is neither memoryd's nor empty.
func (db *DB) readApplicationID(source string) (id int, err error) {
	look, err := sql.Open("sqlite", source+"&_pragma=query_only(1)")
	if err != nil {
		return 0, err
	}
	defer look.Close()
	var tables int
	err = look.QueryRow(`SELECT (SELECT application_id FROM pragma_application_id),
		(SELECT count(*) FROM sqlite_schema)`).Scan(&id, &tables)
	if code(err) == sqlite3.SQLITE_NOTADB || err == nil && id != applicationID && (id != 0 || tables > 0) {
		return 0, fmt.Errorf("%s is not a memoryd database, and is left as it is", db.path)
	}
	if err != nil {
		return 0, fmt.Errorf("open %s: %w", db.path, Error(err))
	}
	return id, nil
}

// writeApplicationID makes the file memoryd's, unless id says that it is. So a
// file that is memoryd's is opened without a write, for which a full disk has no
// room.
func (db *DB) writeApplicationID(id int) error {
	if id == applicationID {
		return nil
	}
	if _, err := db.writer.Exec("PRAGMA application_id = " + strconv.Itoa(applicationID)); err != nil {
		return err
	}
	_, err := db.writer.Exec(`CREATE TABLE IF NOT EXISTS schema_versions (
		component TEXT PRIMARY KEY, version INTEGER NOT NULL)`)
	return err
}
