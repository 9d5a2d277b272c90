package sqlitesession

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"time"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Create implements sessionstore.Store.
func (s *Store) Create(ctx context.Context, key sessionstore.Key, create sessionstore.Create) (
	*sessionstore.Session, error) {
	key, err := sessionstore.NewKey(key)
	if err != nil {
		return nil, err
	}
	out := &sessionstore.Session{Key: key}
	err = s.db.Write(ctx, sqlitedb.For(key.Scope), func(tx *sqlitedb.Tx) error {
		row, err := insertSession(tx, key, s.now(), false)
		if err != nil {
			return err
		}
		if err := applyState(tx, key.Scope, row.ref, create.State); err != nil {
			return err
		}
		if _, err = s.append(tx, key, &row, create.Events, sessionstore.Append{}); err != nil {
			return err
		}
		// Read back, as partial and repeated events are not stored, and order is by
		// timestamp.
		if out.Events, err = readEvents(ctx, tx, row.ref, sessionstore.Get{NumRecent: -1}); err != nil {
			return err
		}
		out.LastUpdateTime = sessionstore.FromMicros(row.updateTime)
		out.State, err = readState(ctx, tx, key.Scope, row.ref)
		return err
	})
	if err != nil {
		return nil, key.Wrap("create", err)
	}
	return out, nil
}

// Get implements sessionstore.Store.
func (s *Store) Get(ctx context.Context, key sessionstore.Key, get sessionstore.Get) (*sessionstore.Session, error) {
	out := &sessionstore.Session{Key: key}
	err := s.db.Read(ctx, func(tx *sql.Tx) error {
		find := tx.StmtContext(ctx, s.prepared[selectSession])
		row, err := findSession(find.QueryRowContext(ctx, key.App, key.User, key.ID))
		if err != nil {
			return err
		}
		out.LastUpdateTime = sessionstore.FromMicros(row.updateTime)
		prepared := preparedTx{tx, s.prepared}
		if out.State, err = readState(ctx, prepared, key.Scope, row.ref); err != nil {
			return err
		}
		out.Events, err = readEvents(ctx, prepared, row.ref, get)
		return err
	})
	if err != nil {
		return nil, key.Wrap("get", err)
	}
	return out, nil
}

// preparedTx is a transaction that runs prepared statements where it has them.
type preparedTx struct {
	*sql.Tx
	stmts map[string]*sql.Stmt
}

// QueryContext implements sqlitedb.Querier.
func (tx preparedTx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if stmt := tx.stmts[query]; stmt != nil {
		return tx.StmtContext(ctx, stmt).QueryContext(ctx, args...)
	}
	return tx.Tx.QueryContext(ctx, query, args...)
}

// selectEvents reads the last ?2 events by time, and of those the ones not
// before ?3. SQLite takes a negative LIMIT as none.
const selectEvents = `SELECT doc FROM
	(SELECT doc, time, seq FROM events WHERE ref = ?1 AND (?2 >= 0 OR time >= ?3) ORDER BY time DESC, seq DESC LIMIT ?2)
	WHERE time >= ?3 ORDER BY time, seq`

// readEvents reads the events of a session that get selects, in order of
// timestamp.
func readEvents(ctx context.Context, tx sqlitedb.Querier, ref int64, get sessionstore.Get) (
	[]sessionstore.Event, error) {
	return sqlitedb.Collect(ctx, tx, scanEvent, selectEvents, ref, get.NumRecent, get.AfterMicros())
}

// scanEvent reads an event from a row of doc.
func scanEvent(rows *sql.Rows) (sessionstore.Event, error) {
	var doc []byte
	if err := rows.Scan(&doc); err != nil {
		return sessionstore.Event{}, err
	}
	return sessionstore.ReadEvent(doc)
}

// Delete implements sessionstore.Store.
func (s *Store) Delete(ctx context.Context, key sessionstore.Key) error {
	err := s.db.Write(ctx, sqlitedb.For(key.Scope), func(tx *sqlitedb.Tx) error {
		row, err := findSession(tx.QueryRow(selectSession, key.App, key.User, key.ID))
		if errors.Is(err, memory.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := tx.Exec(`UPDATE sessions SET deleted = 1 WHERE ref = ?`, row.ref); err != nil {
			return err
		}
		return purge(tx, row.ref)
	})
	if err != nil {
		return key.Wrap("delete", err)
	}
	return nil
}

// purge removes a deleted session for good, unless it has work left. Failed work
// counts as left: it can still be retried. Its operations and changes stay, as
// clients may read them for OperationTTL; they are removed one by one later.
func purge(tx *sqlitedb.Tx, ref int64) error {
	// The row of sessions goes last: the others ask it whether they may go.
	for _, table := range []string{"events", "session_state", "sessions"} {
		_, err := tx.Exec(`DELETE FROM `+table+` WHERE ref = ?1 AND EXISTS
			(SELECT 1 FROM sessions WHERE ref = ?1 AND deleted = 1 AND requested <= done)`, ref)
		if err != nil {
			return err
		}
	}
	return nil
}

// sessionRow has the columns of a session that a write needs.
type sessionRow struct {
	ref, updateTime, seq, requested, done, turns int64
	fresh                                        []sessionstore.NumberedEvent // that the write has stored
}

// work has the events of the session numbered above after.
func (r *sessionRow) work(key sessionstore.Key, after int64) sessionstore.Work {
	return sessionstore.Work{Key: key, Ref: strconv.FormatInt(r.ref, 10), Done: after, Requested: r.seq}
}

// selectSession finds the present life of a session.
const selectSession = `SELECT ref, update_time, seq, requested, done, turns FROM sessions
	WHERE app = ? AND user = ? AND id = ? AND deleted = 0`

// findSession reads the row of selectSession; ErrNotFound if there is none.
func findSession(row *sql.Row) (r sessionRow, err error) {
	err = row.Scan(&r.ref, &r.updateTime, &r.seq, &r.requested, &r.done, &r.turns)
	if errors.Is(err, sql.ErrNoRows) {
		err = memory.ErrNotFound
	}
	return r, err
}

// insertSession adds a session. A hidden one is as if deleted from the start,
// and so does not take its id.
func insertSession(tx *sqlitedb.Tx, key sessionstore.Key, now time.Time, hidden bool) (r sessionRow, err error) {
	r.updateTime = now.UnixMicro()
	res, err := tx.Exec(`INSERT INTO sessions (app, user, id, update_time, deleted) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT DO NOTHING`, key.App, key.User, key.ID, r.updateTime, hidden)
	if err != nil {
		return r, err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return r, errors.Join(err, memory.ErrExists)
	}
	r.ref, err = res.LastInsertId()
	return r, err
}
