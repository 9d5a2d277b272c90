package sqlitedb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/conc/panics"

	"github.com/memoryd/memoryd/memory"
)

const (
	// maxGroup bounds how many writes share a commit, and so how long the first
	// of them waits for the last.
	maxGroup = 256
	// maxGroupTime ends a group after this time, so that a few large writes do
	// not make all others wait for all of them.
	maxGroupTime = 50 * time.Millisecond
	// maxLog is how long the write-ahead log may grow, in bytes. By itself SQLite
	// reuses it only at a moment without readers, which never comes under load.
	maxLog = 64 << 20
)

// job is one call of Write.
type job struct {
	taken atomic.Bool // by the writer, or by a caller who gave up
	turn  Turn
	run   func(*Tx) error
	tx    Tx
	err   error
	done  chan struct{}
}

// call runs the write. A panic in it is a failure of this write alone.
func (j *job) call() (err error) {
	if p := panics.Try(func() { err = j.run(&j.tx) }); p != nil {
		return p.AsError()
	}
	return err
}

// Turn says whose write waits, for the order in which writes get their turn.
type Turn struct {
	scope  memory.Scope
	urgent bool
}

// For is a turn among the writes of a scope. A scope without a user stands for an
// app as a whole, and the zero scope for work of memoryd itself that may wait, such
// as a move to another model.
func For(scope memory.Scope) Turn { return Turn{scope: scope} }

// Urgent is a turn before all others, for short writes that must not wait for what
// clients write: what keeps a lease, a claim of work, and the check of a disk.
func Urgent() Turn { return Turn{urgent: true} }

// Write runs fn inside a transaction, alone, and returns once its changes are on
// the disk. If fn fails, none of its changes stay and Write returns its error. A
// ctx that ends before fn has begun stops it; one that ends later does not.
func (db *DB) Write(ctx context.Context, turn Turn, fn func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := db.Damaged(); err != nil {
		return err
	}
	j := &job{turn: turn, run: fn, done: make(chan struct{})}
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

// writeLoop is the one writer. Each turn takes all writes that wait, up to
// maxGroup, and commits them together: one flush of the disk for all.
func (db *DB) writeLoop() {
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

// commit runs the writes in as many groups as they need.
func (db *DB) commit(jobs []*job) {
	taken := jobs[:0]
	for _, j := range jobs {
		if j.taken.CompareAndSwap(false, true) {
			taken = append(taken, j)
		}
	}
	for len(taken) > 0 {
		n, err := db.runGroup(taken)
		for _, j := range taken[:n] {
			if err != nil && j.err == nil {
				j.err = db.classify(err)
			}
			if errors.Is(j.err, memory.ErrUnavailable) {
				db.failing.Store(true)
			}
			if j.err == nil {
				for _, f := range j.tx.onCommit {
					f()
				}
			}
			close(j.done)
		}
		taken = taken[n:]
	}
}

// runGroup runs the first of the writes and commits them. It returns how many it
// ran; an error means that none of those was committed.
func (db *DB) runGroup(jobs []*job) (n int, err error) {
	defer func() {
		// After a failure the pool checks the connection before its next use. In
		// memory, readers need the one connection.
		if err != nil || db.path == Memory {
			db.release()
		}
	}()
	if err := db.connect(); err != nil {
		return len(jobs), err
	}
	db.seen.mu.Lock()
	defer db.seen.mu.Unlock()
	if err := db.lookBefore(); err != nil {
		return len(jobs), err
	}
	tx := &Tx{db: db}
	if err := tx.run("BEGIN IMMEDIATE"); err != nil {
		return len(jobs), err
	}
	defer func() {
		if err != nil {
			tx.run("ROLLBACK") // the error that led here is the one to return
		}
	}()
	was, err := db.changes(tx)
	if err != nil {
		return len(jobs), err
	}
	if n, err = db.runJobs(tx, jobs); err != nil {
		return n, err
	}
	if err := db.look(context.Background(), true); err != nil {
		db.saveLost(tx)
		return n, err
	}
	now, err := db.changes(tx)
	if err != nil {
		return n, err
	}
	if err := tx.run("COMMIT"); err != nil {
		return n, err
	}
	if now > was {
		db.failing.Store(false)
	}
	if log, err := os.Stat(db.path + "-wal"); err == nil && log.Size() > maxLog {
		db.reading.Lock() // a moment without readers
		defer db.reading.Unlock()
		tx.run("PRAGMA wal_checkpoint(TRUNCATE)") // if it fails, the next commit tries again
	}
	db.note()
	return n, nil
}

// lookBefore looks at the files before a transaction, and makes sure that nothing
// is known to be damaged.
func (db *DB) lookBefore() error {
	err := db.look(context.Background(), false)
	if db.Damaged() != nil {
		return db.Damaged()
	}
	if err != nil {
		if db.connect() == nil {
			db.saveLost(&Tx{db: db})
		}
	}
	return err
}

// saveLost ends the transaction of a group whose log was moved or deleted, and
// saves into the main file, if that is there, what only the lost log has. Damage
// stays as it is, for memoryd recover to read.
func (db *DB) saveLost(tx *Tx) {
	tx.run("ROLLBACK")
	if db.Damaged() == nil {
		tx.run("PRAGMA wal_checkpoint(TRUNCATE)")
		db.seen.infos = nil // until the next commit
	}
}

// runJobs runs writes, each in a savepoint of its own, so that one that fails
// changes nothing and the others stay. It returns how many it ran before the
// group was full. An error is one of the group.
func (db *DB) runJobs(tx *Tx, jobs []*job) (n int, err error) {
	begin := time.Now()
	for n < len(jobs) && (n == 0 || time.Since(begin) < maxGroupTime) {
		j := jobs[n]
		n++
		if err := tx.run("SAVEPOINT job"); err != nil {
			return n, err
		}
		j.tx = Tx{db: db}
		if j.err = db.classify(j.call()); j.err != nil {
			if err := tx.run("ROLLBACK TO job"); err != nil {
				return n, err
			}
		}
		if err := tx.run("RELEASE job"); err != nil {
			return n, err
		}
	}
	return n, db.Damaged() // a write may have met it
}

// changes is how many rows the writer has changed so far. It is read only while
// writes fail: a commit that changes nothing does not show that writes work.
func (db *DB) changes(tx *Tx) (n int, err error) {
	if db.failing.Load() {
		err = tx.QueryRow(`SELECT total_changes()`).Scan(&n)
	}
	return n, err
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
