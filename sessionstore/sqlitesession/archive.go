package sqlitesession

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"time"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Export implements sessionstore.Archive. It reads one state at a time, each in a
// transaction of its own: states may be large, and an export of a large file must not
// keep its log from being shortened.
func (s *Store) Export(ctx context.Context, session func(sessionstore.SessionRecord) error,
	shared func(sessionstore.SharedState) error) error {
	owners, err := s.readyToExport(ctx)
	if err != nil {
		return fmt.Errorf("export sessions: %w", err)
	}
	for _, owner := range owners {
		state, err := s.sharedState(ctx, owner)
		if err != nil {
			return fmt.Errorf("export sessions: %w", err)
		}
		if err := shared(sessionstore.SharedState{Scope: owner, State: state}); err != nil {
			return err
		}
	}
	for after := int64(0); ; {
		next, err := s.nextRecord(ctx, after)
		if err != nil {
			return fmt.Errorf("export sessions: %w", err)
		}
		if next == nil {
			return nil
		}
		if err := session(next.SessionRecord); err != nil {
			return err
		}
		after = next.ref
	}
}

// readyToExport returns the apps and users that have shared state, unless deleted
// sessions have work left. An app has no user.
func (s *Store) readyToExport(ctx context.Context) (owners []memory.Scope, err error) {
	scan := func(rows *sql.Rows) (one memory.Scope, err error) {
		err = rows.Scan(&one.App, &one.User)
		return one, err
	}
	err = s.db.Read(ctx, func(tx *sql.Tx) (err error) {
		left := 0
		err = tx.QueryRowContext(ctx, `SELECT count(*) FROM sessions
			WHERE (deleted = 1 OR NOT `+unexpired+`) AND (requested > done AND failed = 0 OR wait_due > 0)`,
			s.now().UnixMicro()).Scan(&left)
		if err != nil {
			return err
		}
		if left > 0 {
			return sessionstore.UnfinishedDeleted(left)
		}
		owners, err = sqlitedb.Collect(ctx, tx, scan, `SELECT app, '' AS user FROM app_state
			UNION SELECT app, user FROM user_state ORDER BY app, user`)
		return err
	})
	return owners, err
}

// sharedState reads the state of an app, or of a user.
func (s *Store) sharedState(ctx context.Context, owner memory.Scope) (state sessionstore.State, err error) {
	err = s.db.Read(ctx, func(tx *sql.Tx) (err error) {
		if owner.User == "" {
			state, err = queryState(ctx, tx, `SELECT key, value FROM app_state WHERE app = ?`, owner.App)
		} else {
			state, err = queryState(ctx, tx, `SELECT key, value FROM user_state WHERE app = ? AND user = ?`,
				owner.App, owner.User)
		}
		return err
	})
	return state, err
}

// sessionRecord is a session to export, and its number.
type sessionRecord struct {
	sessionstore.SessionRecord
	ref int64
}

// recordColumns are the columns that scanRecord reads.
const recordColumns = `ref, app, user, id, update_time, seq, requested, done, failed, last_error,
	coalesce(plan, x''), plan_to, chosen, ` + waitColumns + `, ` + detailColumns

// scanRecord reads a session to export, without its state.
func scanRecord(rows *sql.Rows) (r sessionRecord, err error) {
	var updated int64
	var plan []byte
	var details detailRow
	var chosen bool
	var w waitingRow
	err = rows.Scan(append([]any{&r.ref, &r.App, &r.User, &r.ID, &updated, &r.Events, &r.Requested, &r.Done, &r.Failed,
		&r.LastError, &plan, &r.PlanTo, &chosen}, append(w.places(), details.fields()...)...)...)
	if err != nil {
		return r, err
	}
	r.Waiting = w.read()
	r.Ref, r.LastUpdateTime = strconv.FormatInt(r.ref, 10), sessionstore.FromMicros(updated)
	if len(plan) > 0 {
		r.Plan = plan
	}
	if r.Details, r.CreateTime, err = details.read(); !chosen {
		r.ExpireTime = time.Time{}
	}
	return r, err
}

// nextRecord reads the session to export with the next number above after; nil if there
// is none.
func (s *Store) nextRecord(ctx context.Context, after int64) (next *sessionRecord, err error) {
	err = s.db.Read(ctx, func(tx *sql.Tx) error {
		found, err := sqlitedb.Collect(ctx, tx, scanRecord,
			`SELECT `+recordColumns+` FROM sessions WHERE deleted = 0 AND `+unexpired+` AND ref > ?
			ORDER BY ref LIMIT 1`, s.now().UnixMicro(), after)
		if err != nil || len(found) == 0 {
			return err
		}
		next = &found[0]
		next.State, err = readOwnState(ctx, tx, next.ref)
		return err
	})
	return next, err
}

// Restore implements sessionstore.Archive.
func (s *Store) Restore(ctx context.Context, r sessionstore.SessionRecord) error {
	if err := r.Validate(); err != nil {
		return r.Wrap("restore", err)
	}
	err := s.db.Write(ctx, sqlitedb.For(r.Scope), func(tx *sqlitedb.Tx) error {
		row, err := s.present(tx, r.Key)
		if err != nil || row.seq > r.Events && !r.Merge { // it has gone on since
			return err
		}
		if err := r.ValidateEvents(row.seq); err != nil {
			return err
		}
		if r.Merge {
			return s.merge(tx, &row, r)
		}
		if err := applyOwnState(tx, row.ref, r.State); err != nil {
			return err
		}
		if err := s.restoreDetails(tx, &row, r); err != nil {
			return err
		}
		_, err = tx.Exec(`UPDATE sessions SET update_time = ? WHERE ref = ?`, r.LastUpdateTime.UnixMicro(), row.ref)
		if err != nil {
			return err
		}
		if err := row.setWaiting(tx, r.RestoreWaiting(row.wait.read(), row.requested), row.waitOp); err != nil {
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

// merge restores what a session lacks of r, and requests the events that are new.
func (s *Store) merge(tx *sqlitedb.Tx, row *sessionRow, r sessionstore.SessionRecord) error {
	for k, v := range r.State {
		_, err := tx.Exec(`INSERT INTO session_state (ref, key, value) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
			row.ref, k, []byte(v))
		if err != nil {
			return err
		}
	}
	var created any // NULL leaves the time as it is
	if !r.CreateTime.IsZero() {
		created = r.CreateTime.UnixMicro()
	}
	_, err := tx.Exec(`UPDATE sessions SET name = CASE name WHEN '' THEN ?1 ELSE name END,
		update_time = max(update_time, ?2), create_time = min(create_time, coalesce(?3, create_time)) WHERE ref = ?4`,
		r.DisplayName, r.LastUpdateTime.UnixMicro(), created, row.ref)
	if err == nil {
		err = s.renew(tx, row)
	}
	if err != nil || r.Requested == 0 || row.seq <= row.requested {
		return err
	}
	if err := row.setWaiting(tx, row.wait.read().Over(), 0); err != nil {
		return err
	}
	_, err = tx.Exec(`UPDATE sessions SET`+setRequested+`seq WHERE ref = ?2`, s.now().UnixMicro(), row.ref)
	if err != nil {
		return err
	}
	return requeue(tx, r.Scope)
}

// restoreDetails gives a session the details that r has. A time to expire that has
// passed is kept: the session has expired.
func (s *Store) restoreDetails(tx *sqlitedb.Tx, row *sessionRow, r sessionstore.SessionRecord) error {
	err := setDetails(tx, row, asPatch(r.Details))
	if err == nil && !r.CreateTime.IsZero() {
		_, err = tx.Exec(`UPDATE sessions SET create_time = ? WHERE ref = ?`, r.CreateTime.UnixMicro(), row.ref)
	}
	if err != nil {
		return err
	}
	return s.renew(tx, row)
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
