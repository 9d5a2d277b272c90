// Package sqlitedb opens memoryd's one SQLite file and runs everything that
// reads or writes it: one process per file, one writer, commits in groups.
package sqlitedb

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"
)

// DB is an open database. Its methods may be called concurrently.
type DB struct {
	path string

	writer *sql.DB
	// conn is the writer's connection, kept from group to group, and stmts has the
	// statements prepared on it. Only writeLoop uses them.
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
	tried tried // of writeLoop too

	reader *sql.DB
	// reading is held by every Read of a file, and exclusively to shorten the
	// write-ahead log.
	reading sync.RWMutex

	lock   *flock.Flock           // keeps other processes out
	opened map[string]os.FileInfo // the file, its lock and its log when they were opened
	made   made                   // by Open, for Discard
	source string                 // of connections to the file
	log    *slog.Logger

	handles  handles
	record   *os.File   // nil if it cannot be kept
	newest   generation // of the log, or the main file if that is newer
	seen     seen
	failures atomic.Int64 // of SQLite
	damage   atomic.Pointer[damage]

	copying    atomic.Int32   // 1 while a backup reads
	copies     sync.WaitGroup // the same, to wait for
	maxCopyLog int64

	reserve reserve

	unreadableMu sync.Mutex
	unreadable   map[Row]bool // rows met so far

	queue  *queue
	scrubs scrubs
	// used is when a request used it last, in nanoseconds since 1970, and usedTook how long
	// one took, in nanoseconds; see Rest.
	used, usedTook atomic.Int64

	failing  atomic.Bool // a write could not be kept, and none was since
	closing  chan struct{}
	stopped  chan struct{} // closed once writeLoop has returned
	stopOnce sync.Once
}

// Options are the settings of Open. Nil is all defaults.
type Options struct {
	// CheckTime is how long SQLite's quick check of the structure may take before
	// Open returns. A check that needs longer is given up. Defaults to 2 s.
	CheckTime time.Duration
	// Reserve is how many bytes of the disk are kept for writes that free room; see
	// Turn.Freeing. Defaults to none.
	Reserve int64
	Log     *slog.Logger // gets what is damaged. Defaults to discarding.
}

// Open opens or creates the database at path. With [Memory] as its path the
// database is gone when it is closed. Open fails if another process has the file
// open, if the file is not a memoryd database, if it cannot be read and written, or
// if a part of it is gone that SQLite would not miss. A file whose structure is
// damaged is opened, if SQLite can, and is only read; see Damaged.
func Open(path string, opts *Options) (*DB, error) {
	o := Options{}
	if opts != nil {
		o = *opts
	}
	if o.CheckTime == 0 {
		o.CheckTime = 2 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	db := &DB{path: path, log: o.Log, reserve: reserve{bytes: o.Reserve}, unreadable: map[Row]bool{},
		queue: newQueue(), maxCopyLog: maxCopyLog,
		closing: make(chan struct{}), stopped: make(chan struct{})}
	if err := db.open(o.CheckTime); err != nil {
		return nil, errors.Join(err, db.discardFiles())
	}
	go db.writeLoop() // Close waits for it
	return db, nil
}

// Path is the absolute path of the file, or [Memory].
func (db *DB) Path() string { return db.path }

// Check reports whether the file can be read. If the last write could not be
// kept, it tries one, so that room on a disk that was full is noticed before a
// request needs it.
func (db *DB) Check(ctx context.Context) error {
	if err := db.checkFiles(ctx); err != nil {
		return err
	}
	if err := db.reserve.check(); err != nil {
		return err
	}
	if db.failing.Load() {
		return db.Write(ctx, Urgent(), func(tx *Tx) error {
			_, err := tx.Exec(`CREATE TABLE room (x); INSERT INTO room VALUES (zeroblob(65536)); DROP TABLE room`)
			return err
		})
	}
	return db.Read(ctx, func(tx *sql.Tx) error {
		var n int
		return tx.QueryRowContext(ctx, `SELECT count(*) FROM schema_versions`).Scan(&n)
	})
}

// checkFiles looks at the files, unless the writer is just doing so.
func (db *DB) checkFiles(ctx context.Context) error {
	db.reading.RLock() // so that the log is not shortened meanwhile
	defer db.reading.RUnlock()
	if db.seen.mu.TryLock() {
		defer db.seen.mu.Unlock()
		if err := db.look(ctx, false); err != nil {
			return err
		}
	}
	return db.Damaged()
}

// Close finishes the writes and reads that have begun and closes the file.
func (db *DB) Close() error {
	db.stop()
	err := db.closeConnections()
	if db.lock != nil {
		err = errors.Join(err, db.lock.Close())
	}
	return err
}

// stop waits for the writes and reads that have begun, and ends writeLoop.
func (db *DB) stop() {
	db.stopOnce.Do(func() { close(db.closing) })
	<-db.stopped
	db.reading.Lock() // once the last Read has returned
	db.reading.Unlock()
	db.copies.Wait()
}

// closeConnections closes everything except the lock.
func (db *DB) closeConnections() error {
	// SQLite would copy the log into the main file when the last connection closes, and
	// remove it. Of a damaged database both stay as they are, for memoryd recover.
	whole := db.Damaged() == nil
	var errs []error
	if db.record != nil {
		if whole && db.seen.infos != nil {
			db.clearRecord()
		}
		errs = append(errs, closeFile(db.record))
	}
	errs = append(errs, db.handles.close())
	if db.reader != nil && db.reader != db.writer && whole {
		errs = append(errs, db.reader.Close())
	}
	if db.writer != nil {
		db.release()
		errs = append(errs, db.writer.Close())
	}
	return errors.Join(errs...)
}
