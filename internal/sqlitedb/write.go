package sqlitedb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/sourcegraph/conc/panics"

	"github.com/memoryd/memoryd/internal/fair"
	"github.com/memoryd/memoryd/memory"
)

const (
	// maxGroup bounds how many writes share a commit.
	maxGroup = 256
	// maxGroupTime ends a group after this time. A group with a write of an app of
	// which no other write waits ends before the next app of which many do. So an app
	// that writes little waits for two commits at most, however much others write. Its
	// turn is charged with the commit.
	maxGroupTime = 50 * time.Millisecond
	// minGroupTime is the same while several apps write, unless commits take long: a
	// commit takes longer the more its group has written, and all of the group wait for
	// it. See queue.groupTime.
	minGroupTime = 10 * time.Millisecond
	// sharedFor is how long several apps count as writing after turns of two of them.
	sharedFor = time.Second
)

// job is one call of Write.
type job struct {
	turn   Turn
	ticket *fair.Ticket[*job] // nil for an urgent one
	asked  time.Time
	took   time.Duration
	// background is set for a write that no request waits for: it ends no group early.
	background bool
	alone      bool // nothing else of its app waited when its turn came
	run        func(*Tx) error
	tx         Tx
	err        error
	done       chan struct{}
}

// call runs the write. A panic in it is a failure of this write alone.
func (j *job) call() (err error) {
	if p := panics.Try(func() { err = j.run(&j.tx) }); p != nil {
		return p.AsError()
	}
	return err
}

// write is Write without the reserve.
func (db *DB) write(ctx context.Context, turn Turn, fn func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := db.Damaged(); err != nil {
		return err
	}
	if !turn.urgent {
		if err := fair.Refuse(ctx, db.queue.wait(turn.scope)); err != nil {
			return err
		}
	}
	defer fair.Pause(ctx)()
	j := &job{turn: turn, background: fair.Background(ctx), run: fn, done: make(chan struct{})}
	db.queue.push(j)
	select {
	case <-j.done:
		return j.err
	case <-ctx.Done():
		if db.queue.leave(j) {
			return ctx.Err()
		}
	case <-db.stopped:
		if db.queue.leave(j) {
			return fmt.Errorf("%w: the database is closed", memory.ErrUnavailable)
		}
	}
	<-j.done
	return j.err
}

// writeLoop is the one writer. It commits the writes that wait in groups: one flush
// of the disk for all.
func (db *DB) writeLoop() {
	defer close(db.stopped)
	for {
		select {
		case <-db.queue.wake:
		case <-db.closing:
			return
		}
		for j := db.queue.first(); j != nil; j = db.queue.first() {
			db.commit(j)
			select {
			case <-db.closing:
				return
			default:
			}
		}
	}
}

// commit runs a group of writes, of which the first is given, and tells their
// callers.
func (db *DB) commit(first *job) {
	begin := time.Now()
	group, err := db.runGroup(first)
	db.queue.charge(group, time.Since(begin))
	for _, j := range group {
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
	}
	for _, j := range group {
		close(j.done)
	}
	db.checkpoint()
}

// runGroup runs writes and commits them. It returns those that it ran; an error
// means that none of them was committed.
func (db *DB) runGroup(first *job) (group []*job, err error) {
	defer func() {
		// After a failure the pool checks the connection before its next use. In
		// memory, readers need the one connection.
		if err != nil || db.path == Memory {
			db.release()
		}
	}()
	group = []*job{first}
	if err := db.connect(); err != nil {
		return group, err
	}
	db.seen.mu.Lock()
	defer db.seen.mu.Unlock()
	if err := db.lookBefore(); err != nil {
		return group, err
	}
	tx := &Tx{db: db}
	if err := tx.run("BEGIN IMMEDIATE"); err != nil {
		return group, err
	}
	defer func() {
		if err != nil {
			tx.run("ROLLBACK") // the error that led here is the one to return
		}
	}()
	if err := db.count(tx); err != nil {
		return group, err
	}
	was, err := db.changes(tx)
	if err != nil {
		return group, err
	}
	if group, err = db.runJobs(tx, first); err != nil {
		return group, err
	}
	if err := db.look(context.Background(), true); err != nil {
		db.saveLost(tx)
		return group, err
	}
	now, err := db.changes(tx)
	if err != nil {
		return group, err
	}
	if err := tx.run("COMMIT"); err != nil {
		return group, err
	}
	if now > was {
		db.failing.Store(false)
	}
	db.note()
	return group, nil
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
		db.clearRecord()
		tx.run("PRAGMA wal_checkpoint(TRUNCATE)")
		db.seen.infos = nil // until the next commit
	}
}

// runJobs runs writes, each in a savepoint of its own, so that one that fails
// changes nothing and the others stay: the first one, and then those whose turn it
// is, until the group ends; see queue.join. It returns those that it ran. An error
// is one of the group.
func (db *DB) runJobs(tx *Tx, first *job) (group []*job, err error) {
	begin := time.Now()
	last := begin
	for j := first; j != nil; j = db.queue.join() {
		group = append(group, j)
		if err := tx.run("SAVEPOINT job"); err != nil {
			return group, err
		}
		j.tx = Tx{db: db}
		if j.err = db.classify(j.call()); j.err != nil {
			if err := tx.run("ROLLBACK TO job"); err != nil {
				return group, err
			}
		}
		if err := tx.run("RELEASE job"); err != nil {
			return group, err
		}
		now := time.Now()
		j.took, last = now.Sub(last), now
		if now.Sub(begin) >= db.queue.groupTime(now) || len(group) == maxGroup {
			break
		}
	}
	return group, db.Damaged() // a write may have met it
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
