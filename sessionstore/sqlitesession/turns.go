package sqlitesession

import (
	"context"
	"database/sql"
	"errors"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// maxTurns is how many events one transaction writes the turns of, so that a long
// session does not hold up other writers: some tens of milliseconds.
const maxTurns = 200

// eventsPerTurn is how many events are stored in the time of one turn. A transaction
// that stores more than maxTurns events writes fewer turns, or none.
const eventsPerTurn = 10

// PutTurns writes the turns of events of a session into the memories of the same
// file. It returns how many of the events it is done with, from the first on:
// those that have a turn and those that have none. An error undoes the whole
// transaction.
type PutTurns func(tx *sqlitedb.Tx, events []sessionstore.NumberedEvent) (done int, err error)

// AppendTurns is Append with a Request. In the same transaction put writes the
// turns of the requested events that were not written before: of those stored by
// this call, and of those that were stored without a request. It writes at most
// maxTurns of them, fewer if it stores many events, and what is left is returned, for WriteTurns. left is empty,
// its Done equal to its Requested, if all are written.
func (s *Store) AppendTurns(ctx context.Context, key sessionstore.Key, events []sessionstore.Event,
	opts sessionstore.Append, put PutTurns) (out sessionstore.Appended, left sessionstore.Work, err error) {
	return s.appendAnd(ctx, key, events, opts, put)
}

// WriteTurns goes on where AppendTurns has left off, with a transaction of its
// own, and returns what is left then.
func (s *Store) WriteTurns(ctx context.Context, left sessionstore.Work, put PutTurns) (sessionstore.Work, error) {
	key := left.Key
	err := s.db.Write(ctx, sqlitedb.For(key.Scope), func(tx *sqlitedb.Tx) error {
		row, err := findSession(tx.QueryRow(`SELECT `+sessionColumns+` FROM sessions WHERE ref = ?`, left.Ref))
		if errors.Is(err, memory.ErrNotFound) { // it is gone, and its memories were made before
			left.Done = left.Requested
			return nil
		}
		if err != nil {
			return err
		}
		now, err := putTurns(tx, key, &row, put)
		left.Done = min(now.Done, left.Requested)
		return err
	})
	if err != nil {
		return left, key.Wrap("write turns", err)
	}
	return left, nil
}

// Unwritten returns the events of a session whose turns AppendTurns would write.
func (s *Store) Unwritten(ctx context.Context, key sessionstore.Key) (left sessionstore.Work, err error) {
	err = s.db.Read(ctx, func(tx *sql.Tx) error {
		find := tx.StmtContext(ctx, s.prepared[selectSession])
		row, err := s.visible(find.QueryRowContext(ctx, key.App, key.User, key.ID))
		left = row.work(key, max(row.done, row.turns))
		return err
	})
	if err != nil {
		return left, key.Wrap("read turns", err)
	}
	return left, nil
}

// putTurns writes turns of the session's events with put, and moves its turns
// position. It returns the events that are left.
func putTurns(tx *sqlitedb.Tx, key sessionstore.Key, row *sessionRow, put PutTurns) (sessionstore.Work, error) {
	left := row.work(key, max(row.done, row.turns))
	if left.Done == left.Requested {
		return left, nil
	}
	events := row.fresh
	// Events that came before without a request are only in the file.
	if len(events) == 0 || events[0].Seq > left.Done+1 {
		var err error
		if events, err = walk(context.Background(), tx, row.ref, left.Done, maxTurns); err != nil {
			return left, err
		}
	}
	most := maxTurns - max(0, len(row.fresh)-maxTurns)/eventsPerTurn
	if most <= 0 {
		return left, nil
	}
	done, err := put(tx, events[:min(len(events), most)])
	if err != nil || done == 0 {
		return left, err
	}
	left.Done = events[done-1].Seq
	_, err = tx.Exec(`UPDATE sessions SET turns = ? WHERE ref = ?`, left.Done, row.ref)
	return left, err
}
