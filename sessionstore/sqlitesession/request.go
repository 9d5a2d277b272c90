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

// request raises the requested position to the last event, and records the
// operation. A request for work that was given up makes the work due again.
func (s *Store) request(tx *sqlitedb.Tx, key sessionstore.Key, row *sessionRow, r sessionstore.Request) (
	*sessionstore.Operation, error) {
	doc, err := r.Doc()
	if err != nil {
		return nil, err
	}
	taken := false
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM operations WHERE id = ?)`, r.ID).Scan(&taken)
	if err != nil {
		return nil, err
	}
	if taken {
		return nil, fmt.Errorf("operation %q: %w", r.ID, memory.ErrExists)
	}
	now := s.now().UnixMicro()
	// A session that waits already keeps its place and its next attempt. One that
	// was given up, or had no work, begins to wait now.
	if row.seq > row.done {
		_, err := tx.Exec(`UPDATE sessions SET requested = seq,
			request_time = CASE WHEN requested > done AND failed = 0 THEN request_time ELSE ?1 END,
			attempts = CASE WHEN failed = 0 THEN attempts ELSE 0 END,
			due_time = CASE WHEN failed = 0 AND requested > done THEN due_time ELSE 0 END,
			failed = 0 WHERE ref = ?2`, now, row.ref)
		if err != nil {
			return nil, err
		}
		if err := requeue(tx, key.Scope); err != nil {
			return nil, err
		}
	}
	// All events may be done already, or there are none: then the operation ends as
	// it begins.
	done := int64(0)
	if row.seq == row.done {
		done = now
	}
	if _, err := tx.Exec(`INSERT INTO operations
		(id, ref, app, user, session, first, last, create_time, done_time, request)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.ID, row.ref, key.App, key.User, key.ID, row.done, row.seq, now, done, doc); err != nil {
		return nil, err
	}
	if err := s.dropExpired(tx); err != nil {
		return nil, err
	}
	ops, err := sqlitedb.Collect(context.Background(), tx, scanOperation, selectOperations+` WHERE o.id = ?`, r.ID)
	if err != nil || len(ops) != 1 {
		return nil, errors.Join(err, sql.ErrNoRows)
	}
	tx.OnCommit(func() { s.counts.Requested(ops[0].State) })
	return &ops[0].Operation, nil
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
