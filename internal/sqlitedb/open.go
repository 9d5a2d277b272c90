package sqlitedb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

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

func (db *DB) open(checkTime time.Duration) error {
	if db.path == Memory {
		return db.openMemory()
	}
	if err := db.lockFile(); err != nil {
		return err
	}
	db.source = (&url.URL{Scheme: "file", Path: db.path}).String() + "?_pragma=busy_timeout(10000)"
	look, err := sql.Open("sqlite", db.source+"&_pragma=query_only(1)")
	if err != nil {
		return err
	}
	// SQLite removes the log when the last connection closes. So this one stays until the others are
	// open: a process that is killed before it has written the record would seem to have lost the log.
	defer look.Close()
	id, err := db.readApplicationID(look)
	if err != nil {
		return err
	}
	// SQLite keeps the pages that a savepoint would restore in memory, not in a file.
	// It overwrites what is deleted with zeros, so that erased words are not in the file.
	// The writer makes checkpoints itself; see DB.checkpoint.
	const pragmas = "&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=wal_autocheckpoint(0)" +
		"&_pragma=temp_store(MEMORY)&_pragma=secure_delete(1)" + cellCheck
	before := ""
	if info, err := os.Stat(db.path); err == nil && info.Size() == 0 {
		before = shortens
	}
	if db.writer, err = sql.Open("sqlite", db.source+before+pragmas); err != nil {
		return err
	}
	db.writer.SetMaxOpenConns(1)
	if err := db.writeApplicationID(id); err != nil {
		return db.openError(err)
	}
	if db.reader, err = sql.Open("sqlite", db.source+"&_pragma=query_only(1)"+cellCheck); err != nil {
		return err
	}
	db.reader.SetMaxOpenConns(maxReaders)
	db.reader.SetMaxIdleConns(maxReaders)
	if err := db.writer.QueryRow(`SELECT count(*) FROM sqlite_schema`).Scan(new(int)); err != nil { // makes the log
		return db.openError(err)
	}
	return db.openBeside(checkTime)
}

// shortens makes a new file one that can be shortened; see DB.Shrink. SQLite takes it before
// it makes the first page. In a file that is there it would write, past the generations.
const shortens = "&_pragma=auto_vacuum(2)"

// cellCheck has SQLite compare the parts of a page with each other whenever it reads
// one, so that damage is met as an error and not as other values.
const cellCheck = "&_pragma=cell_size_check(1)"

// openError is the error of Open for one of SQLite's.
func (db *DB) openError(err error) error {
	if IsDamage(err) {
		return errDamagedFile(db.path, err.Error())
	}
	return fmt.Errorf("open %s: %w", db.path, Error(err))
}

// handles are the main file and the index of its log. They stay open as long as
// SQLite has the files open: closing one would end the locks that SQLite holds on
// the file in this process.
type handles struct{ file, index *os.File }

func (h *handles) close() error {
	var errs []error
	for _, f := range []*os.File{h.file, h.index} {
		if f != nil {
			errs = append(errs, closeFile(f))
		}
	}
	return errors.Join(errs...)
}

// closeFile closes a file that may be closed already.
func closeFile(f *os.File) error {
	if err := f.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// openBeside opens what is kept beside SQLite's own connections, and checks the
// structure of the file.
func (db *DB) openBeside(checkTime time.Duration) (err error) {
	if db.handles.file, err = os.Open(db.path); err != nil {
		return err
	}
	if db.handles.index, err = os.Open(db.path + "-shm"); err != nil {
		return err
	}
	db.opened = map[string]os.FileInfo{}
	for _, path := range []string{db.path, db.path + ".lock", db.path + "-wal"} {
		if db.opened[path], err = os.Stat(path); err != nil {
			return err
		}
	}
	if err := db.openRecord(); err != nil {
		return err
	}
	var newest int32
	if err := db.writer.QueryRow(`PRAGMA user_version`).Scan(&newest); err != nil {
		return db.openError(err)
	}
	db.newest = generation(newest)
	db.note()
	db.reserve.path = db.path + ".reserve"
	db.reserve.begin(db.log)
	return db.checkAtOpen(checkTime)
}

// checkAtOpen checks the structure of the file for some time. What is left of the time
// is for the indexes, which the quick check does not compare with their tables.
func (db *DB) checkAtOpen(checkTime time.Duration) error {
	began := time.Now()
	done, err := db.QuickCheck(context.Background(), checkTime)
	if left := checkTime - time.Since(began); done && db.Damaged() == nil && left > checkTime/2 {
		within, cancel := context.WithTimeout(context.Background(), left)
		defer cancel()
		if found, _ := db.integrity(within, "PRAGMA integrity_check(1)"); len(found) > 0 {
			_ = db.MarkDamaged(found[0])
		}
	}
	switch {
	case db.Damaged() != nil: // it is logged, and the file is served for reading
	case err != nil:
		return db.openError(err)
	case !done:
		db.log.Warn("the quick check of the database was not finished: memoryd check does all of it",
			"file", db.path, "limit", checkTime)
	default:
		db.log.Info("the quick check of the database found no damage", "file", db.path,
			"ms", time.Since(began).Milliseconds())
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
	if db.path, err = Resolve(db.path); err != nil {
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
	if err := db.checkBeside(); err != nil {
		db.made.file = false
		return err
	}
	f, err := os.OpenFile(db.path, os.O_RDWR|os.O_CREATE, 0o600) // before SQLite creates it with mode 0644
	if err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	return f.Close()
}

// maxLinks is how many symbolic links Resolve follows, as many as Linux does.
const maxLinks = 40

// Resolve returns the absolute path of the file that a path leads to, through
// symbolic links in its place. The lock, the log and all else that is kept beside a
// database are beside that file, where SQLite has its part of them too. A link that
// leads nowhere is an error: the disk behind it may be away.
func Resolve(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for at := range maxLinks {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) && at > 0 {
			return "", fmt.Errorf("a symbolic link leads to %s, which is not there: is its disk away?", path)
		}
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return path, nil // what else is wrong with it shows when it is opened
		}
		to, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) {
			dir, err := filepath.EvalSymlinks(filepath.Dir(path))
			if err != nil {
				return "", err
			}
			to = filepath.Join(dir, to)
		}
		path = to
	}
	return "", fmt.Errorf("%s: too many symbolic links", path)
}

// Lock keeps memoryd from opening the file at a path until unlock is called, without
// opening or making it. The error is ErrInUse if a process has it open.
func Lock(path string) (unlock func() error, err error) {
	if path, err = Resolve(path); err != nil {
		return nil, err
	}
	if missing(path + ".lock") {
		return func() error { return nil }, nil // no memoryd has ever had it open there
	}
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	switch ok, err := lock.TryLock(); {
	case err != nil:
		return nil, fmt.Errorf("lock %s: %w", path, err)
	case !ok:
		return nil, fmt.Errorf("%s is %w", path, ErrInUse)
	}
	return lock.Close, nil
}

// readApplicationID returns the application id of the file without changing the
// file. It fails if the file is neither memoryd's nor empty.
func (db *DB) readApplicationID(look *sql.DB) (id int, err error) {
	var tables, versions int
	err = look.QueryRow(`SELECT (SELECT application_id FROM pragma_application_id),
		(SELECT count(*) FROM sqlite_schema),
		(SELECT count(*) FROM sqlite_schema WHERE name = 'schema_versions')`).Scan(&id, &tables, &versions)
	was, _ := readRecord(db.path + ".state") // checkBeside has told of one that cannot be read
	foreign := code(err) == sqlite3.SQLITE_NOTADB || err == nil && id != applicationID && (id != 0 || tables > 0)
	switch {
	case foreign && !was.was:
		return 0, fmt.Errorf("%s is not a memoryd database, and is left as it is", db.path)
	case foreign:
		return 0, errDamagedFile(db.path, "its first page does not say that it is a database of memoryd, which it was")
	case err != nil:
		return 0, db.openError(err)
	case id == applicationID && versions == 0 && (tables > 0 || was.was):
		return 0, errDamagedFile(db.path, "the table schema_versions is missing")
	case versions == 0:
		return 0, nil // a start was killed before it made the table
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
	// One transaction, so that the log that brings the file its first pages also brings
	// it its generation.
	_, err := db.writer.Exec(fmt.Sprintf(`BEGIN IMMEDIATE; PRAGMA application_id = %d; PRAGMA user_version = %d;
		CREATE TABLE IF NOT EXISTS schema_versions (component TEXT PRIMARY KEY, version INTEGER NOT NULL);
		COMMIT`, applicationID, int32(newGeneration())))
	return err
}
