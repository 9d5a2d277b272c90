package sqlitesession

import (
	"context"
	"database/sql"
	"errors"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Append implements sessionstore.Store.
func (s *Store) Append(ctx context.Context, key sessionstore.Key, events []sessionstore.Event, opts sessionstore.Append) (out sessionstore.Appended, err error) {
	if err := key.Validate(); err != nil {
		return out, err
	}
	if err := opts.Validate(); err != nil {
		return out, key.Wrap("append", err)
	}
	err = s.db.Write(ctx, func(tx *sqlitedb.Tx) error {
		row, err := s.target(tx, key, opts)
		if err != nil {
			return err
		}
		if out.Events, err = s.append(tx, key, &row, events, opts); err != nil {
			return err
		}
		out.LastUpdateTime = sessionstore.FromMicros(row.updateTime)
		if opts.Request == nil {
			return nil
		}
		if out.Operation, err = s.request(tx, key, &row, *opts.Request); err != nil || !opts.OneShot {
			return err
		}
		return purge(tx, row.ref) // if there is nothing to do
	})
	if err != nil {
		return sessionstore.Appended{}, key.Wrap("append", err)
	}
	return out, nil
}

// target is the session that an append goes to.
func (s *Store) target(tx *sqlitedb.Tx, key sessionstore.Key, opts sessionstore.Append) (sessionRow, error) {
	if opts.OneShot {
		return insertSession(tx, key, s.now(), true)
	}
	row, err := findSession(tx.QueryRow(selectSession, key.App, key.User, key.ID))
	if errors.Is(err, memory.ErrNotFound) && opts.Create {
		return insertSession(tx, key, s.now(), false)
	}
	return row, err
}

// append stores events and their state, and moves row along.
func (s *Store) append(tx *sqlitedb.Tx, key sessionstore.Key, row *sessionRow, events []sessionstore.Event, opts sessionstore.Append) ([]sessionstore.Event, error) {
	out := make([]sessionstore.Event, 0, len(events))
	stored, rewinds := false, false
	for _, e := range sessionstore.Prepare(events, s.now()) {
		if e.Partial {
			out = append(out, e)
			continue
		}
		res, err := tx.Exec(`INSERT INTO events (ref, seq, id, time, doc) VALUES (?, ?, ?, ?, ?) ON CONFLICT (ref, id) DO NOTHING`,
			row.ref, row.seq+1, e.ID, e.Timestamp.UnixMicro(), []byte(e.Doc))
		if err != nil {
			return nil, err
		}
		if n, err := res.RowsAffected(); err != nil {
			return nil, err
		} else if n == 0 {
			if e, err = storedEvent(tx, row.ref, e.ID); err != nil {
				return nil, err
			}
			out = append(out, e)
			continue
		}
		row.seq++
		row.updateTime = e.Timestamp.UnixMicro()
		stored = true
		rewinds = rewinds || e.RewindBefore != ""
		if opts.ChangesState() {
			if err := applyState(tx, key.Scope, row.ref, e.StateDelta); err != nil {
				return nil, err
			}
		}
		out = append(out, e)
	}
	if stored {
		if _, err := tx.Exec(`UPDATE sessions SET seq = ?, update_time = ?, rewinds = max(rewinds, ?) WHERE ref = ?`,
			row.seq, row.updateTime, rewinds, row.ref); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func storedEvent(tx *sqlitedb.Tx, ref int64, id string) (sessionstore.Event, error) {
	var doc []byte
	if err := tx.QueryRow(`SELECT doc FROM events WHERE ref = ? AND id = ?`, ref, id).Scan(&doc); err != nil {
		return sessionstore.Event{}, err
	}
	return sessionstore.ReadEvent(doc)
}

// request raises the requested mark to the last event and records who asked.
// Asking again for work that was given up makes it due again.
func (s *Store) request(tx *sqlitedb.Tx, key sessionstore.Key, row *sessionRow, r sessionstore.Request) (*sessionstore.Operation, error) {
	doc, err := r.Doc()
	if err != nil {
		return nil, err
	}
	now := s.now().UnixMicro()
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
	done := int64(0)
	if row.seq == row.done {
		done = now
	}
	if _, err := tx.Exec(`INSERT INTO operations (id, ref, app, user, session, first, last, create_time, done_time, request)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, r.ID, row.ref, key.App, key.User, key.ID, row.done, row.seq, now, done, doc); err != nil {
		return nil, err
	}
	if err := s.forget(tx); err != nil {
		return nil, err
	}
	rows, err := tx.Query(selectOperations+` WHERE o.id = ?`, r.ID)
	if err != nil {
		return nil, err
	}
	ops, err := scanOperations(rows)
	if err != nil || len(ops) != 1 {
		return nil, errors.Join(err, sql.ErrNoRows)
	}
	return &ops[0].Operation, nil
}

// forget drops a few operations that nobody can read any more, so that each
// new one pays for two old ones, and what is left of a deleted session whose
// work was given up as long ago.
func (s *Store) forget(tx *sqlitedb.Tx) error {
	over := s.now().Add(-sessionstore.OperationTTL).UnixMicro()
	if _, err := tx.Exec(`DELETE FROM operations WHERE n IN
		(SELECT n FROM operations WHERE done_time > 0 AND done_time < ? LIMIT 2)`, over); err != nil {
		return err
	}
	var ref int64
	err := tx.QueryRow(`SELECT ref FROM sessions WHERE failed = 1 AND deleted = 1 AND due_time < ? LIMIT 1`, over).Scan(&ref)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, stmt := range []string{`UPDATE sessions SET requested = done WHERE ref = ?`, `DELETE FROM operations WHERE ref = ? AND done_time = 0`} {
		if _, err := tx.Exec(stmt, ref); err != nil {
			return err
		}
	}
	return purge(tx, ref)
}

// forgetChanges drops changes that no operation is left to report, twice as
// many as there are new ones.
func (s *Store) forgetChanges(tx *sqlitedb.Tx, added int) error {
	_, err := tx.Exec(`DELETE FROM changes WHERE rowid IN (SELECT c.rowid FROM changes c WHERE time < ?1 AND NOT EXISTS
		(SELECT 1 FROM operations o WHERE o.ref = c.ref AND o.first < c.seq AND o.last >= c.seq AND (o.done_time = 0 OR o.done_time >= ?1))
		LIMIT ?2)`, s.now().Add(-sessionstore.OperationTTL).UnixMicro(), 2*added+2)
	return err
}
