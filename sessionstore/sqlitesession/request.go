package sqlitesession

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// request raises the requested position to the last event, unless a trigger has the events
// wait, and records the operation. A request for work that was given up makes the work due
// again. Events that wait have one operation: that of the first request for them.
func (s *Store) request(tx *sqlitedb.Tx, key sessionstore.Key, row *sessionRow, a sessionstore.Append) (
	*sessionstore.Operation, error) {
	taken := false
	err := tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM operations WHERE id = ?)`, a.Request.ID).Scan(&taken)
	if err != nil {
		return nil, err
	}
	if taken {
		return nil, fmt.Errorf("operation %q: %w", a.Request.ID, memory.ErrExists)
	}
	now := s.now()
	next, all := row.wait.read().Ask(a, row.requested, row.seq, len(row.fresh) > 0, now)
	op, err := recordOperation(tx, key, row, a, all, now.UnixMicro())
	if err != nil {
		return nil, err
	}
	if all && row.seq > row.done {
		_, err := tx.Exec(`UPDATE sessions SET`+setRequested+`seq WHERE ref = ?2`, now.UnixMicro(), row.ref)
		if err == nil {
			err = requeue(tx, key.Scope)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := row.setWaiting(tx, next, op); err != nil {
		return nil, err
	}
	if err := s.dropExpired(tx); err != nil {
		return nil, err
	}
	ops, err := sqlitedb.Collect(context.Background(), tx, scanOperation, selectOperations+` WHERE o.n = ?`, op)
	if err != nil || len(ops) != 1 {
		return nil, errors.Join(err, sql.ErrNoRows)
	}
	if ops[0].ID == a.Request.ID {
		tx.OnCommit(func() { s.counts.Requested(ops[0].State) })
	}
	return &ops[0].Operation, nil
}

// setRequested are the columns of a session that is requested up to a position, at ?1. A
// session that waits for a worker already keeps its place and its next attempt. One that
// was given up, or had no work, begins to wait now.
const setRequested = `
	request_time = CASE WHEN requested > done AND failed = 0 THEN request_time ELSE ?1 END,
	attempts = CASE WHEN failed = 0 THEN attempts ELSE 0 END,
	due_time = CASE WHEN failed = 0 AND requested > done THEN due_time ELSE 0 END,
	failed = 0, requested = `

// recordOperation records the operation of a request, and returns its number. One that
// goes by the trigger joins those that wait for it. all tells whether all events of the
// session are requested now.
func recordOperation(tx *sqlitedb.Tx, key sessionstore.Key, row *sessionRow, a sessionstore.Append, all bool,
	now int64) (n int64, err error) {
	if row.waitOp != 0 && a.Trigger != nil && !a.Flush {
		_, err := tx.Exec(`UPDATE operations SET last = ? WHERE n = ?`, row.seq, row.waitOp)
		return row.waitOp, err
	}
	doc, err := a.Request.Doc()
	if err != nil {
		return 0, err
	}
	first, done := row.done, int64(0)
	if !all {
		first = row.requested
	} else if row.seq == row.done {
		// All events may be done already, or there are none: then the operation ends as
		// it begins.
		done = now
	}
	res, err := tx.Exec(`INSERT INTO operations
		(id, ref, app, user, session, first, last, create_time, done_time, request)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		a.Request.ID, row.ref, key.App, key.User, key.ID, first, row.seq, now, done, doc)
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// dropExpired removes two operations that can no longer be read, so that the
// table shrinks with each new one. It also removes one deleted session whose
// work was given up as long ago.
func (s *Store) dropExpired(tx *sqlitedb.Tx) error {
	expired := s.expired()
	if _, err := tx.Exec(`DELETE FROM operations WHERE n IN
		(SELECT n FROM operations WHERE done_time > 0 AND done_time < ? LIMIT 2)`, expired); err != nil {
		return err
	}
	var ref int64
	err := tx.QueryRow(`SELECT ref FROM sessions WHERE failed = 1 AND deleted = 1 AND due_time < ? LIMIT 1`,
		expired).Scan(&ref)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	// Without a requested position ahead the session has no work left, as purge
	// wants it. Its operations never ended, so nothing else would remove them.
	if _, err := tx.Exec(`UPDATE sessions SET requested = done WHERE ref = ?`, ref); err != nil {
		return err
	}
	if _, err := tx.Exec(`DELETE FROM operations WHERE ref = ? AND done_time = 0`, ref); err != nil {
		return err
	}
	return purge(tx, ref)
}

// dropChanges removes changes that no operation is left to report, twice as many
// as have been added, so that the table stays bounded without a process that
// cleans up.
func (s *Store) dropChanges(tx *sqlitedb.Tx, added int) error {
	_, err := tx.Exec(`DELETE FROM changes WHERE rowid IN (SELECT c.rowid FROM changes c WHERE time < ?1 AND NOT EXISTS
		(SELECT 1 FROM operations o WHERE o.ref = c.ref AND o.first < c.seq AND o.last >= c.seq
			AND (o.done_time = 0 OR o.done_time >= ?1))
		LIMIT ?2)`, s.expired(), 2*added+2)
	return err
}
