// Package sqlitedb opens memoryd's one SQLite file and runs everything that
// reads or writes it: one process per file, one writer, commits in groups.
package sqlitedb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"
	"github.com/sourcegraph/conc/panics"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/memoryd/memoryd/memory"
)

// Memory as a path gives a database that is gone when closed.
const Memory = ":memory:"

// applicationID marks a file as ours (PRAGMA application_id): "memd" in ASCII.
const applicationID = 0x6d656d64

// maxGroup bounds how many writes share a commit, and so how long the first of
// them waits for the last.
const maxGroup = 256

// maxGroupTime is when a group is full however few it has, so that a few large
// writes do not make everybody wait for all of them.
const maxGroupTime = 50 * time.Millisecond

// maxReaders bounds the connections that read: each has a cache of its own (2
// MB) and files. No Read may begin inside another.
const maxReaders = 16

// maxLog is how long the write-ahead log may grow, in bytes. SQLite goes back
// to its start by itself only at a moment without readers, which under load
// never comes.
const maxLog = 64 << 20

// DB is an open database. Its methods may be called concurrently.
type DB struct {
	path    string
	writer  *sql.DB
	conn    *sql.Conn            // the writer's, kept from group to group; only loop uses it and what is prepared on it
	stmts   map[string]*sql.Stmt // prepared on conn
	reader  *sql.DB
	lock    *flock.Flock
	queue   chan *job
	closing chan struct{}
	stopped chan struct{}
	once    sync.Once
	reading sync.RWMutex           // held by every Read of a file, and to shorten its log
	made    made                   // by Open, for Discard
	opened  map[string]os.FileInfo // the file, its lock and its log as they were at first
	broken  atomic.Bool            // a write could not be kept, and none could since
}

// Tx is one write inside a group. What it runs stays prepared as long as the
// database is open, so the text of a statement must be one of a few: values are
// arguments.
type Tx struct {
	db       *DB
	onCommit []func()
}

// Exec runs a statement.
func (tx *Tx) Exec(query string, args ...any) (sql.Result, error) {
	stmt, err := tx.db.prepared(query)
	if err != nil {
		return nil, err
	}
	return stmt.Exec(args...)
}

// Query runs a query; the caller closes the rows before the next statement.
func (tx *Tx) Query(query string, args ...any) (*sql.Rows, error) {
	return tx.QueryContext(context.Background(), query, args...)
}

// QueryContext is Query, and ends with ctx.
func (tx *Tx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	stmt, err := tx.db.prepared(query)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, args...)
}

// QueryRow runs a query for one row.
func (tx *Tx) QueryRow(query string, args ...any) *sql.Row {
	stmt, err := tx.db.prepared(query)
	if err != nil {
		return tx.db.conn.QueryRowContext(context.Background(), query, args...) // has the error
	}
	return stmt.QueryRow(args...)
}

// OnCommit has f called once what this write did is durable, before Write
// returns, and in the order of the commits. f must not write.
func (tx *Tx) OnCommit(f func()) { tx.onCommit = append(tx.onCommit, f) }

type job struct {
	taken atomic.Bool // by the writer, or by a caller who gave up
	run   func(*Tx) error
	tx    Tx
	err   error
	done  chan struct{}
}

// Open opens or creates the database at path, or a passing one for [Memory].
// It fails when another process has it open, when the file is not one of ours,
// and when it cannot be read and written.
func Open(path string) (*DB, error) {
	db := &DB{path: path, queue: make(chan *job, maxGroup), closing: make(chan struct{}), stopped: make(chan struct{})}
	if err := db.open(); err != nil {
		return nil, errors.Join(err, db.discardFiles())
	}
	go db.loop()
	return db, nil
}

// ErrInUse is Open's error for a file that another process has open.
var ErrInUse = errors.New("in use by another memoryd")

func (db *DB) open() (err error) {
	if db.path == Memory {
		if db.writer, err = sql.Open("sqlite", ":memory:"); err != nil {
			return err
		}
		// One connection is one database: readers take turns with the writer.
		db.writer.SetMaxOpenConns(1)
		db.reader = db.writer
		return db.mark(0)
	}
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
	case !ok: // the lock is another process's, whoever made it
		return fmt.Errorf("%s is %w", db.path, ErrInUse)
	}
	db.made.lock, db.made.file = newLock, missing(db.path)
	f, err := os.OpenFile(db.path, os.O_RDWR|os.O_CREATE, 0o600) // before SQLite does, whose mode is 0644
	if err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	if err := f.Close(); err != nil {
		return err
	}
	url := (&url.URL{Scheme: "file", Path: db.path}).String() + "?_pragma=busy_timeout(10000)"
	id, err := db.ours(url)
	if err != nil {
		return err
	}
	// What a savepoint would bring back is kept in memory, not in a file beside.
	if db.writer, err = sql.Open("sqlite", url+"&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=temp_store(MEMORY)"); err != nil {
		return err
	}
	db.writer.SetMaxOpenConns(1)
	if err := db.mark(id); err != nil {
		return fmt.Errorf("open %s: %w", db.path, Error(err))
	}
	if db.reader, err = sql.Open("sqlite", url+"&_pragma=query_only(1)"); err != nil {
		return err
	}
	if err := db.writer.QueryRow(`SELECT count(*) FROM sqlite_schema`).Scan(new(int)); err != nil { // makes the log
		return fmt.Errorf("open %s: %w", db.path, Error(err))
	}
	db.opened = map[string]os.FileInfo{}
	for _, path := range []string{db.path, db.path + ".lock", db.path + "-wal"} {
		if db.opened[path], err = os.Stat(path); err != nil {
			return err
		}
	}
	db.reader.SetMaxOpenConns(maxReaders)
	db.reader.SetMaxIdleConns(maxReaders)
	return nil
}

// ours checks that the file is one of ours, or empty, without changing it, and
// gives its application id.
func (db *DB) ours(url string) (id int, err error) {
	look, err := sql.Open("sqlite", url+"&_pragma=query_only(1)")
	if err != nil {
		return 0, err
	}
	defer look.Close()
	var tables int
	err = look.QueryRow(`SELECT (SELECT application_id FROM pragma_application_id), (SELECT count(*) FROM sqlite_schema)`).Scan(&id, &tables)
	if code(err) == sqlite3.SQLITE_NOTADB || err == nil && id != applicationID && (id != 0 || tables > 0) {
		return 0, fmt.Errorf("%s is not a memoryd database, and is left as it is", db.path)
	}
	if err != nil {
		return 0, fmt.Errorf("open %s: %w", db.path, Error(err))
	}
	return id, nil
}

// mark makes the file ours, if its application id says that it is not yet: a
// file that is ours is opened without a write, for which a full disk has no
// room.
func (db *DB) mark(id int) error {
	if id == applicationID {
		return nil
	}
	if _, err := db.writer.Exec("PRAGMA application_id = " + strconv.Itoa(applicationID)); err != nil {
		return err
	}
	_, err := db.writer.Exec(`CREATE TABLE IF NOT EXISTS schema_versions (component TEXT PRIMARY KEY, version INTEGER NOT NULL)`)
	return err
}

// Path is the absolute path of the file, or [Memory].
func (db *DB) Path() string { return db.path }

// Migrate brings the tables of one component up to date: it runs the steps
// that this file has not seen yet. Steps are only ever added.
func (db *DB) Migrate(component string, steps ...string) error {
	return db.Write(context.Background(), func(tx *Tx) error {
		version := 0
		err := tx.QueryRow(`SELECT version FROM schema_versions WHERE component = ?`, component).Scan(&version)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if version > len(steps) {
			return fmt.Errorf("%s was written by a newer memoryd (%s schema %d, this one knows %d): use that version",
				db.path, component, version, len(steps))
		}
		if version == len(steps) {
			return nil
		}
		for _, step := range steps[version:] {
			if _, err := tx.Exec(step); err != nil {
				return err
			}
		}
		_, err = tx.Exec(`INSERT INTO schema_versions VALUES (?1, ?2) ON CONFLICT DO UPDATE SET version = ?2`, component, len(steps))
		return err
	})
}

// Write runs fn inside a transaction, alone, and returns once what it did is
// on the disk. If fn fails nothing of it stays and its error comes back. A ctx
// that ends before fn has begun stops it; one that ends later does not.
func (db *DB) Write(ctx context.Context, fn func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j := &job{run: fn, done: make(chan struct{})}
	select {
	case db.queue <- j:
	case <-ctx.Done():
		return ctx.Err()
	case <-db.stopped:
		return fmt.Errorf("%w: the database is closed", memory.ErrUnavailable)
	}
	select {
	case <-j.done:
		return j.err
	case <-ctx.Done():
		if j.taken.CompareAndSwap(false, true) {
			return ctx.Err()
		}
	case <-db.stopped:
		if j.taken.CompareAndSwap(false, true) {
			return fmt.Errorf("%w: the database is closed", memory.ErrUnavailable)
		}
	}
	<-j.done
	return j.err
}

// Read runs fn in a read transaction: all its queries see one state.
func (db *DB) Read(ctx context.Context, fn func(*sql.Tx) error) error {
	select {
	case <-db.stopped:
		return fmt.Errorf("%w: the database is closed", memory.ErrUnavailable)
	default:
	}
	db.reading.RLock()
	defer db.reading.RUnlock()
	tx, err := db.reader.BeginTx(ctx, nil)
	if err != nil {
		return Error(err)
	}
	defer tx.Rollback() // it only read
	return Error(fn(tx))
}

// Prepare gives statements by their text, for transactions of Read to run (see
// sql.Tx.StmtContext), until Close. It is for the beginning: it takes a
// connection beside those of Reads that are under way.
func (db *DB) Prepare(queries ...string) (map[string]*sql.Stmt, error) {
	out := map[string]*sql.Stmt{}
	for _, q := range queries {
		stmt, err := db.reader.Prepare(q)
		if err != nil {
			return nil, Error(err)
		}
		out[q] = stmt
	}
	return out, nil
}

// Check reports whether the file can be read. If writes could not be kept of
// late it tries one, so that room on a disk that was full is noticed without
// waiting for somebody's request.
func (db *DB) Check(ctx context.Context) error {
	if err := db.moved(); err != nil {
		return err
	}
	if db.broken.Load() {
		return db.Write(ctx, func(tx *Tx) error {
			_, err := tx.Exec(`CREATE TABLE room (x); INSERT INTO room VALUES (zeroblob(65536)); DROP TABLE room`)
			return err
		})
	}
	return db.Read(ctx, func(tx *sql.Tx) error {
		var n int
		return tx.QueryRowContext(ctx, `SELECT count(*) FROM schema_versions`).Scan(&n)
	})
}

// moved fails if the file, its lock or its log is not at its path any more.
// SQLite would go on writing to one that was deleted or moved away, and nobody
// would find it.
func (db *DB) moved() error {
	for path, was := range db.opened {
		if now, err := os.Stat(path); err != nil || !os.SameFile(now, was) {
			return fmt.Errorf("%w: %s was moved or deleted while in use: put it back, or start again", memory.ErrUnavailable, path)
		}
	}
	return nil
}

// Has reports whether the file has the tables of a component.
func (db *DB) Has(component string) (bool, error) {
	n := 0
	err := db.Read(context.Background(), func(tx *sql.Tx) error {
		return tx.QueryRow(`SELECT count(*) FROM schema_versions WHERE component = ?`, component).Scan(&n)
	})
	return n > 0, err
}

// Close finishes the writes begun and closes the file.
func (db *DB) Close() error {
	db.once.Do(func() { close(db.closing) })
	<-db.stopped
	return db.closeFiles()
}

func (db *DB) closeFiles() error {
	err := db.closeConnections()
	if db.lock != nil {
		err = errors.Join(err, db.lock.Close())
	}
	return err
}

// closeConnections closes everything but the lock.
func (db *DB) closeConnections() error {
	var errs []error
	if db.reader != nil && db.reader != db.writer {
		errs = append(errs, db.reader.Close())
	}
	if db.writer != nil {
		db.release()
		errs = append(errs, db.writer.Close())
	}
	return errors.Join(errs...)
}

// loop is the one writer. Each turn takes all writes that wait, up to
// maxGroup, and commits them together: one flush of the disk for all.
func (db *DB) loop() {
	defer close(db.stopped)
	for {
		select {
		case j := <-db.queue:
			group := []*job{j}
		more:
			for len(group) < maxGroup {
				select {
				case j := <-db.queue:
					group = append(group, j)
				default:
					break more
				}
			}
			db.commit(group)
		case <-db.closing:
			return
		}
	}
}

// commit runs writes in as many groups as it takes.
func (db *DB) commit(jobs []*job) {
	live := jobs[:0]
	for _, j := range jobs {
		if j.taken.CompareAndSwap(false, true) {
			live = append(live, j)
		}
	}
	for len(live) > 0 {
		n, err := db.runGroup(live)
		for _, j := range live[:n] {
			if err != nil && j.err == nil {
				j.err = Error(err)
			}
			if errors.Is(j.err, memory.ErrUnavailable) {
				db.broken.Store(true)
			}
			if j.err == nil {
				for _, f := range j.tx.onCommit {
					f()
				}
			}
			close(j.done)
		}
		live = live[n:]
	}
}

// connect gets the writer's connection, unless it has one.
func (db *DB) connect() (err error) {
	if db.conn == nil {
		db.conn, err = db.writer.Conn(context.Background())
		db.stmts = map[string]*sql.Stmt{}
	}
	return err
}

// release gives the writer's connection back.
func (db *DB) release() {
	for _, stmt := range db.stmts {
		stmt.Close()
	}
	db.stmts = nil
	if db.conn != nil {
		db.conn.Close()
		db.conn = nil
	}
}

// prepared gives a statement of the writer's connection. Preparing most
// statements takes longer than running them.
func (db *DB) prepared(query string) (*sql.Stmt, error) {
	stmt := db.stmts[query]
	if stmt == nil {
		var err error
		if stmt, err = db.conn.PrepareContext(context.Background(), query); err != nil {
			return nil, err
		}
		db.stmts[query] = stmt
	}
	return stmt, nil
}

// runGroup runs writes, each in a savepoint of its own so that one that fails
// takes nothing else along, and commits them. It returns how many it took; an
// error means that none of those was committed.
func (db *DB) runGroup(jobs []*job) (n int, err error) {
	defer func() {
		// A connection on which something failed is looked at before its next
		// use, and readers in memory take turns with the writer.
		if err != nil || db.path == Memory {
			db.release()
		}
	}()
	if err := db.connect(); err != nil {
		return len(jobs), err
	}
	tx := Tx{db: db}
	exec := func(stmt string) error { _, err := tx.Exec(stmt); return err }
	if err := exec("BEGIN IMMEDIATE"); err != nil {
		return len(jobs), err
	}
	defer func() {
		if err != nil {
			exec("ROLLBACK") // the error that led here is the one to tell
		}
	}()
	was, err := db.changes(&tx)
	if err != nil {
		return len(jobs), err
	}
	begin := time.Now()
	for n < len(jobs) && (n == 0 || time.Since(begin) < maxGroupTime) {
		j := jobs[n]
		n++
		if err := exec("SAVEPOINT job"); err != nil {
			return n, err
		}
		j.tx = Tx{db: db}
		if j.err = Error(j.call()); j.err != nil {
			if err := exec("ROLLBACK TO job"); err != nil {
				return n, err
			}
		}
		if err := exec("RELEASE job"); err != nil {
			return n, err
		}
	}
	if err := db.moved(); err != nil {
		exec("ROLLBACK")
		exec("PRAGMA wal_checkpoint(TRUNCATE)") // what only the lost log has goes into the file, if that is there
		return n, err
	}
	now, err := db.changes(&tx)
	if err != nil {
		return n, err
	}
	if err := exec("COMMIT"); err != nil {
		return n, err
	}
	if now > was {
		db.broken.Store(false)
	}
	if log, err := os.Stat(db.path + "-wal"); err == nil && log.Size() > maxLog {
		db.reading.Lock() // a moment without readers
		defer db.reading.Unlock()
		exec("PRAGMA wal_checkpoint(TRUNCATE)") // if it fails, the next commit tries again
	}
	return n, nil
}

// changes is how many rows the writer has changed so far, read only while writes
// are broken: a commit of nothing does not mend them.
func (db *DB) changes(tx *Tx) (n int, err error) {
	if db.broken.Load() {
		err = tx.QueryRow(`SELECT total_changes()`).Scan(&n)
	}
	return n, err
}

// call runs the write. A panic in it is its failure alone.
func (j *job) call() (err error) {
	if p := panics.Try(func() { err = j.run(&j.tx) }); p != nil {
		return p.AsError()
	}
	return err
}

func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff // the primary code
	}
	return 0
}

// Error gives a failure of SQLite the kind it has for callers.
func Error(err error) error {
	switch code(err) {
	case 0:
		return err
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%w: the disk is full: %w", memory.ErrUnavailable, err)
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("%w: the database cannot be read or written: %w", memory.ErrUnavailable, err)
	}
	return err
}
