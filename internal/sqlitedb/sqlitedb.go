// Package sqlitedb opens memoryd's one SQLite file and runs everything that
// reads or writes it: one process per file, one writer, commits in groups.
package sqlitedb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"github.com/gofrs/flock"

	"github.com/memoryd/memoryd/memory"
)

// DB is an open database. Its methods may be called concurrently.
type DB struct {
	path string

	writer *sql.DB
	// conn is the writer's connection, kept from group to group, and stmts has the
	// statements prepared on it. Only writeLoop uses them.
	conn  *sql.Conn
	stmts map[string]*sql.Stmt

	reader *sql.DB
	// reading is held by every Read of a file, and exclusively to shorten the
	// write-ahead log.
	reading sync.RWMutex

	lock   *flock.Flock           // keeps other processes out
	opened map[string]os.FileInfo // the file, its lock and its log when they were opened
	made   made                   // by Open, for Discard

	queue    chan *job
	failing  atomic.Bool // a write could not be kept, and none was since
	closing  chan struct{}
	stopped  chan struct{} // closed once writeLoop has returned
	stopOnce sync.Once
}

// Open opens or creates the database at path. With [Memory] as its path the
// database is gone when it is closed. Open fails if another process has the file
// open, if the file is not a memoryd database, or if it cannot be read and
// written.
func Open(path string) (*DB, error) {
	db := &DB{path: path, queue: make(chan *job, maxGroup), closing: make(chan struct{}), stopped: make(chan struct{})}
	if err := db.open(); err != nil {
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
	if err := db.moved(); err != nil {
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

// moved fails if the file, its lock or its log is no longer at its path. SQLite
// would go on writing to a file that was deleted or moved away, and the data
// would be lost.
func (db *DB) moved() error {
	for path, was := range db.opened {
		if now, err := os.Stat(path); err != nil || !os.SameFile(now, was) {
			return fmt.Errorf("%w: %s was moved or deleted while in use: put it back, or start again",
				memory.ErrUnavailable, path)
		}
	}
	return nil
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
}

// closeConnections closes everything except the lock.
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
