// Package sqlitesession keeps sessions in memoryd's SQLite file.
package sqlitesession

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Options are what New lets one choose.
type Options struct {
	Now func() time.Time // Defaults to time.Now.
}

// Store implements sessionstore.Store, Progress and Operations.
type Store struct {
	db  *sqlitedb.DB
	now func() time.Time
	// reads are the statements that Get runs, prepared: that takes longer than
	// running them.
	reads map[string]*sql.Stmt
}

var (
	_ sessionstore.Store      = (*Store)(nil)
	_ sessionstore.Progress   = (*Store)(nil)
	_ sessionstore.Operations = (*Store)(nil)
)

// New makes the tables if they are missing. The file is this process's alone,
// so leases of an earlier one are void.
func New(db *sqlitedb.DB, opts *Options) (*Store, error) {
	s := &Store{db: db, now: time.Now}
	if opts != nil && opts.Now != nil {
		s.now = opts.Now
	}
	if err := db.Migrate("sessions", schema, schemaRequest); err != nil {
		return nil, err
	}
	var err error
	if s.reads, err = db.Prepare(selectSession, selectState, selectEvents); err != nil {
		return nil, err
	}
	return s, db.Write(context.Background(), func(tx *sqlitedb.Tx) error {
		_, err := tx.Exec(`DELETE FROM leases WHERE until > 0`) // without a WHERE it writes even when there are none, for which a full disk has no room
		return err
	})
}

// Bind implements sessionstore.Progress.
func (s *Store) Bind(ctx context.Context, memories string) (bound string, err error) {
	err = s.db.Write(ctx, func(tx *sqlitedb.Tx) error {
		err := tx.QueryRow(`SELECT memories FROM bound`).Scan(&bound)
		if errors.Is(err, sql.ErrNoRows) {
			bound = memories
			_, err = tx.Exec(`INSERT INTO bound VALUES (1, ?)`, memories)
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("bind sessions to memories: %w", err)
	}
	return bound, nil
}

// Rebind implements sessionstore.Progress.
func (s *Store) Rebind(ctx context.Context, memories string) (sessions int, err error) {
	err = s.db.Write(ctx, func(tx *sqlitedb.Tx) error {
		if _, err := tx.Exec(`INSERT INTO bound VALUES (1, ?1) ON CONFLICT DO UPDATE SET memories = ?1`, memories); err != nil {
			return err
		}
		sessions = 0
		scopes := map[memory.Scope]bool{}
		rows, err := tx.Query(`SELECT app, user FROM sessions WHERE requested > 0`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var scope memory.Scope
			if err := rows.Scan(&scope.App, &scope.User); err != nil {
				return err
			}
			sessions++
			scopes[scope] = true
		}
		if err := rows.Err(); err != nil {
			return err
		}
		for _, statement := range []string{
			`DELETE FROM changes WHERE ref IN (SELECT ref FROM sessions WHERE requested > 0)`, // they are made again
			`UPDATE sessions SET done = 0, plan = NULL, plan_to = 0, attempts = 0, failed = 0, request_time = ?1, due_time = 0, last_error = '' WHERE requested > 0`,
		} {
			if _, err := tx.Exec(statement, s.now().UnixMicro()); err != nil {
				return err
			}
		}
		for scope := range scopes {
			if err := requeue(tx, scope); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("bind sessions to other memories: %w", err)
	}
	return sessions, nil
}

// Create implements sessionstore.Store.
func (s *Store) Create(ctx context.Context, key sessionstore.Key, create sessionstore.Create) (*sessionstore.Session, error) {
	key, err := sessionstore.NewKey(key)
	if err != nil {
		return nil, err
	}
	out := &sessionstore.Session{Key: key}
	err = s.db.Write(ctx, func(tx *sqlitedb.Tx) error {
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
		row, err := findSession(tx.StmtContext(ctx, s.reads[selectSession]).QueryRowContext(ctx, key.App, key.User, key.ID))
		if err != nil {
			return err
		}
		out.LastUpdateTime = sessionstore.FromMicros(row.updateTime)
		prepared := preparedTx{tx, s.reads}
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

const selectEvents = `SELECT doc FROM
	(SELECT doc, time, seq FROM events WHERE ref = ?1 AND (?2 >= 0 OR time >= ?3) ORDER BY time DESC, seq DESC LIMIT ?2)
	WHERE time >= ?3 ORDER BY time, seq` // SQLite: a negative LIMIT is none

func readEvents(ctx context.Context, tx querier, ref int64, get sessionstore.Get) ([]sessionstore.Event, error) {
	rows, err := tx.QueryContext(ctx, selectEvents, ref, get.NumRecent, get.AfterMicros())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []sessionstore.Event
	for rows.Next() {
		var doc []byte
		if err := rows.Scan(&doc); err != nil {
			return nil, err
		}
		e, err := sessionstore.ReadEvent(doc)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, rows.Err()
}

// List implements sessionstore.Store.
func (s *Store) List(ctx context.Context, scope memory.Scope, list sessionstore.List) (sessionstore.Page, error) {
	page, err := s.list(ctx, `app = ? AND user = ?`, []string{scope.App, scope.User}, list)
	if err != nil {
		err = fmt.Errorf("list sessions of app %q, user %q: %w", scope.App, scope.User, err)
	}
	return page, err
}

// ListApp implements sessionstore.Store.
func (s *Store) ListApp(ctx context.Context, app string, list sessionstore.List) (sessionstore.Page, error) {
	page, err := s.list(ctx, `app = ?`, []string{app}, list)
	if err != nil {
		err = fmt.Errorf("list sessions of app %q: %w", app, err)
	}
	return page, err
}

// list reads a page of the sessions that belong to of: an app, or an app and a
// user, as where says.
func (s *Store) list(ctx context.Context, where string, of []string, list sessionstore.List) (page sessionstore.Page, err error) {
	pager, err := list.Pager(append([]string{"sessions"}, of...)...)
	if err != nil {
		return page, err
	}
	var args []any
	for _, id := range of {
		args = append(args, id)
	}
	args = append(args, pager.Before, pager.Size+1)
	err = s.db.Read(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT ref, app, user, id, update_time FROM sessions
			WHERE deleted = 0 AND `+where+` AND ref < ? ORDER BY ref DESC LIMIT ?`, args...)
		if err != nil {
			return err
		}
		found, err := scanListed(rows)
		if err != nil {
			return err
		}
		found, page.NextPageToken = sessionstore.CutPage(pager, found, func(l listed) int64 { return l.ref })
		shared := map[memory.Scope]sessionstore.State{}
		for _, se := range found {
			if shared[se.Scope] == nil { // read once a user, not once a session
				if shared[se.Scope], err = readSharedState(ctx, tx, se.Scope); err != nil {
					return err
				}
			}
			if se.State, err = readOwnState(ctx, tx, se.ref); err != nil {
				return err
			}
			maps.Copy(se.State, shared[se.Scope])
			page.Sessions = append(page.Sessions, se.Session)
		}
		return nil
	})
	return page, err
}

// listed is a session of a page, and its number.
type listed struct {
	sessionstore.Session
	ref int64
}

func scanListed(rows *sql.Rows) (out []listed, err error) {
	defer rows.Close()
	for rows.Next() {
		var l listed
		var updated int64
		if err := rows.Scan(&l.ref, &l.App, &l.User, &l.ID, &updated); err != nil {
			return nil, err
		}
		l.LastUpdateTime = sessionstore.FromMicros(updated)
		out = append(out, l)
	}
	return out, rows.Err()
}

// Delete implements sessionstore.Store.
func (s *Store) Delete(ctx context.Context, key sessionstore.Key) error {
	err := s.db.Write(ctx, func(tx *sqlitedb.Tx) error {
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

// purge removes a deleted session for good, unless work on it is left. What
// has failed for good is left too: it can still be retried.
func purge(tx *sqlitedb.Tx, ref int64) error {
	for _, table := range []string{"events", "session_state", "sessions"} {
		_, err := tx.Exec(`DELETE FROM `+table+` WHERE ref = ?1 AND EXISTS
			(SELECT 1 FROM sessions WHERE ref = ?1 AND deleted = 1 AND requested <= done)`, ref)
		if err != nil {
			return err
		}
	}
	return nil
}

// sessionRow is what an append needs of a session.
type sessionRow struct {
	ref, updateTime, seq, requested, done int64
}

const selectSession = `SELECT ref, update_time, seq, requested, done FROM sessions
	WHERE app = ? AND user = ? AND id = ? AND deleted = 0`

func findSession(row *sql.Row) (r sessionRow, err error) {
	err = row.Scan(&r.ref, &r.updateTime, &r.seq, &r.requested, &r.done)
	if errors.Is(err, sql.ErrNoRows) {
		err = memory.ErrNotFound
	}
	return r, err
}

func insertSession(tx *sqlitedb.Tx, key sessionstore.Key, now time.Time, hidden bool) (r sessionRow, err error) {
	r.updateTime = now.UnixMicro()
	res, err := tx.Exec(`INSERT INTO sessions (app, user, id, update_time, deleted) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		key.App, key.User, key.ID, r.updateTime, hidden)
	if err != nil {
		return r, err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return r, errors.Join(err, memory.ErrExists)
	}
	r.ref, err = res.LastInsertId()
	return r, err
}

func applyState(tx *sqlitedb.Tx, scope memory.Scope, ref int64, delta sessionstore.State) error {
	parts := delta.Split()
	for k, v := range parts.App {
		if _, err := tx.Exec(`INSERT INTO app_state VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value`,
			scope.App, k, []byte(v)); err != nil {
			return err
		}
	}
	for k, v := range parts.User {
		if _, err := tx.Exec(`INSERT INTO user_state VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value`,
			scope.App, scope.User, k, []byte(v)); err != nil {
			return err
		}
	}
	for k, v := range parts.Session {
		if _, err := tx.Exec(`INSERT INTO session_state VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value`,
			ref, k, []byte(v)); err != nil {
			return err
		}
	}
	return nil
}

type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// preparedTx is a transaction that runs prepared statements where there are.
type preparedTx struct {
	*sql.Tx
	stmts map[string]*sql.Stmt
}

func (tx preparedTx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if stmt := tx.stmts[query]; stmt != nil {
		return tx.StmtContext(ctx, stmt).QueryContext(ctx, args...)
	}
	return tx.Tx.QueryContext(ctx, query, args...)
}

const selectState = `SELECT key, value FROM session_state WHERE ref = ?1
	UNION ALL SELECT 'user:' || key, value FROM user_state WHERE app = ?2 AND user = ?3
	UNION ALL SELECT 'app:' || key, value FROM app_state WHERE app = ?2`

// readState reads the merged view of a session's state.
func readState(ctx context.Context, tx querier, scope memory.Scope, ref int64) (sessionstore.State, error) {
	return queryState(ctx, tx, selectState, ref, scope.App, scope.User)
}

func readOwnState(ctx context.Context, tx querier, ref int64) (sessionstore.State, error) {
	return queryState(ctx, tx, `SELECT key, value FROM session_state WHERE ref = ?`, ref)
}

// readSharedState reads what all sessions of a user see.
func readSharedState(ctx context.Context, tx querier, scope memory.Scope) (sessionstore.State, error) {
	return queryState(ctx, tx, `SELECT 'user:' || key, value FROM user_state WHERE app = ?1 AND user = ?2
		UNION ALL SELECT 'app:' || key, value FROM app_state WHERE app = ?1`, scope.App, scope.User)
}

func queryState(ctx context.Context, tx querier, query string, args ...any) (sessionstore.State, error) {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := sessionstore.State{}
	for rows.Next() {
		var k string
		var v []byte
		if err := rows.Scan(&k, &v); err != nil {
			return nil, err
		}
		out[k] = v
	}
	return out, rows.Err()
}
