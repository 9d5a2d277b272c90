package sqlitesession

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/sessionstore"
)

// exportPage is how many sessions are read in one step.
const exportPage = 200

// Export implements sessionstore.Archive.
func (s *Store) Export(ctx context.Context, session func(sessionstore.SessionRecord) error,
	shared func(sessionstore.SharedState) error) error {
	states, err := s.readyToExport(ctx)
	if err != nil {
		return fmt.Errorf("export sessions: %w", err)
	}
	for _, state := range states {
		if err := shared(state); err != nil {
			return err
		}
	}
	// Each page is a transaction of its own, so that an export of a large file does
	// not keep its log from being shortened.
	for after := int64(0); ; {
		var page []sessionRecord
		err := s.db.Read(ctx, func(tx *sql.Tx) (err error) {
			page, err = exportFrom(ctx, tx, after)
			return err
		})
		if err != nil {
			return fmt.Errorf("export sessions: %w", err)
		}
		if len(page) == 0 {
			return nil
		}
		for _, r := range page {
			if err := session(r.SessionRecord); err != nil {
				return err
			}
			after = r.ref
		}
	}
}

// readyToExport reads the shared state, unless deleted sessions have work left.
func (s *Store) readyToExport(ctx context.Context) (out []sessionstore.SharedState, err error) {
	err = s.db.Read(ctx, func(tx *sql.Tx) (err error) {
		left := 0
		err = tx.QueryRowContext(ctx, `SELECT count(*) FROM sessions
			WHERE deleted = 1 AND requested > done AND failed = 0`).Scan(&left)
		if err != nil {
			return err
		}
		if left > 0 {
			return sessionstore.UnfinishedDeleted(left)
		}
		out, err = readShared(ctx, tx)
		return err
	})
	return out, err
}

// readShared reads the state of all apps and users.
func readShared(ctx context.Context, tx *sql.Tx) (out []sessionstore.SharedState, err error) {
	scan := func(rows *sql.Rows) (one sessionstore.SharedState, err error) {
		var key string
		var value []byte
		err = rows.Scan(&one.App, &one.User, &key, &value)
		one.State = sessionstore.State{key: value}
		return one, err
	}
	values, err := sqlitedb.Collect(ctx, tx, scan, `SELECT app, '' AS user, key, value FROM app_state
		UNION ALL SELECT app, user, key, value FROM user_state ORDER BY app, user`)
	if err != nil {
		return nil, err
	}
	for _, v := range values {
		if len(out) == 0 || out[len(out)-1].Scope != v.Scope {
			out = append(out, v)
			continue
		}
		for key, value := range v.State {
			out[len(out)-1].State[key] = value
		}
	}
	return out, nil
}

// sessionRecord is a session to export, and its number.
type sessionRecord struct {
	sessionstore.SessionRecord
	ref int64
}

// scanRecord reads a session to export, without its state.
func scanRecord(rows *sql.Rows) (r sessionRecord, err error) {
	var updated int64
	var plan []byte
	err = rows.Scan(&r.ref, &r.App, &r.User, &r.ID, &updated, &r.Events, &r.Requested, &r.Done, &r.Failed, &r.LastError,
		&plan, &r.PlanTo)
	r.Ref, r.LastUpdateTime = strconv.FormatInt(r.ref, 10), sessionstore.FromMicros(updated)
	if len(plan) > 0 {
		r.Plan = plan
	}
	return r, err
}

// exportFrom reads the next sessions to export, those with numbers above after.
func exportFrom(ctx context.Context, tx *sql.Tx, after int64) ([]sessionRecord, error) {
	page, err := sqlitedb.Collect(ctx, tx, scanRecord,
		`SELECT ref, app, user, id, update_time, seq, requested, done, failed,
		last_error, coalesce(plan, x''), plan_to
		FROM sessions WHERE deleted = 0 AND ref > ? ORDER BY ref LIMIT ?`, after, exportPage)
	if err != nil {
		return nil, err
	}
	for i := range page {
		if page[i].State, err = readOwnState(ctx, tx, page[i].ref); err != nil {
			return nil, err
		}
	}
	return page, nil
}

// Restore implements sessionstore.Archive.
func (s *Store) Restore(ctx context.Context, r sessionstore.SessionRecord) error {
	if err := r.Validate(); err != nil {
		return r.Wrap("restore", err)
	}
	err := s.db.Write(ctx, sqlitedb.For(r.Scope), func(tx *sqlitedb.Tx) error {
		row, err := findSession(tx.QueryRow(selectSession, r.App, r.User, r.ID))
		if err != nil || row.seq > r.Events { // it has gone on since
			return err
		}
		if err := r.ValidateEvents(row.seq); err != nil {
			return err
		}
		if err := applyOwnState(tx, row.ref, r.State); err != nil {
			return err
		}
		_, err = tx.Exec(`UPDATE sessions SET update_time = ? WHERE ref = ?`, r.LastUpdateTime.UnixMicro(), row.ref)
		if err != nil {
			return err
		}
		// Positions only move forward. Equal ones keep the plan and attempts of this
		// store.
		if r.Done < row.done || r.Requested < row.requested || r.Done == row.done && r.Requested == row.requested {
			return nil
		}
		var plan []byte
		if len(r.Plan) > 0 {
			plan = r.Plan
		}
		if _, err := tx.Exec(`UPDATE sessions SET requested = ?, done = ?, failed = ?, last_error = ?, plan = ?,
			plan_to = ?, attempts = 0, due_time = 0, request_time = ? WHERE ref = ?`,
			r.Requested, r.Done, r.Failed, r.LastError, plan, r.PlanTo, s.now().UnixMicro(), row.ref); err != nil {
			return err
		}
		return requeue(tx, r.Scope)
	})
	s.notify.Changed(r.Key)
	if err != nil {
		return r.Wrap("restore", err)
	}
	return nil
}

// RestoreShared implements sessionstore.Archive.
func (s *Store) RestoreShared(ctx context.Context, sh sessionstore.SharedState) error {
	if err := sh.Validate(); err != nil {
		return fmt.Errorf("restore state: %w", err)
	}
	err := s.db.Write(ctx, sqlitedb.For(sh.Scope), func(tx *sqlitedb.Tx) error {
		for k, v := range sh.State {
			var err error
			if sh.User == "" {
				_, err = tx.Exec(`INSERT INTO app_state VALUES (?, ?, ?) ON CONFLICT DO NOTHING`, sh.App, k, []byte(v))
			} else {
				_, err = tx.Exec(`INSERT INTO user_state VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
					sh.App, sh.User, k, []byte(v))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("restore state of app %q, user %q: %w", sh.App, sh.User, err)
	}
	return nil
}
