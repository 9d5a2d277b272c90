package sqlitesession

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

var _ sessionstore.Archive = (*Store)(nil)

// exportPage is how many sessions are read in one step.
const exportPage = 200

// Export implements sessionstore.Archive.
func (s *Store) Export(ctx context.Context, session func(sessionstore.SessionRecord) error, shared func(sessionstore.SharedState) error) error {
	var all []sessionstore.SharedState
	err := s.db.Read(ctx, func(tx *sql.Tx) (err error) {
		left := 0
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM sessions WHERE deleted = 1 AND requested > done AND failed = 0`).Scan(&left); err != nil {
			return err
		}
		if left > 0 {
			return sessionstore.UnfinishedDeleted(left)
		}
		all, err = readShared(ctx, tx)
		return err
	})
	if err != nil {
		return fmt.Errorf("export sessions: %w", err)
	}
	for _, sh := range all {
		if err := shared(sh); err != nil {
			return err
		}
	}
	for after := int64(0); ; {
		var page []sessionstore.SessionRecord
		err := s.db.Read(ctx, func(tx *sql.Tx) (err error) {
			page, after, err = exportFrom(ctx, tx, after)
			return err
		})
		if err != nil {
			return fmt.Errorf("export sessions: %w", err)
		}
		if len(page) == 0 {
			return nil
		}
		for _, a := range page {
			if err := session(a); err != nil {
				return err
			}
		}
	}
}

func readShared(ctx context.Context, tx *sql.Tx) (out []sessionstore.SharedState, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT app, '' AS user, key, value FROM app_state UNION ALL SELECT app, user, key, value FROM user_state ORDER BY app, user`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var scope memory.Scope
		var key string
		var value []byte
		if err := rows.Scan(&scope.App, &scope.User, &key, &value); err != nil {
			return nil, err
		}
		if len(out) == 0 || out[len(out)-1].Scope != scope {
			out = append(out, sessionstore.SharedState{Scope: scope, State: sessionstore.State{}})
		}
		out[len(out)-1].State[key] = value
	}
	return out, rows.Err()
}

func exportFrom(ctx context.Context, tx *sql.Tx, after int64) (page []sessionstore.SessionRecord, last int64, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT ref, app, user, id, update_time, seq, requested, done, failed, last_error, coalesce(plan, x''), plan_to
		FROM sessions WHERE deleted = 0 AND ref > ? ORDER BY ref LIMIT ?`, after, exportPage)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	var refs []int64
	for rows.Next() {
		var a sessionstore.SessionRecord
		var update int64
		var plan []byte
		if err := rows.Scan(&last, &a.App, &a.User, &a.ID, &update, &a.Events, &a.Requested, &a.Done, &a.Failed, &a.LastError, &plan, &a.PlanTo); err != nil {
			return nil, 0, err
		}
		a.Ref, a.LastUpdateTime = strconv.FormatInt(last, 10), sessionstore.FromMicros(update)
		if len(plan) > 0 {
			a.Plan = plan
		}
		page, refs = append(page, a), append(refs, last)
	}
	if err := rows.Err(); err != nil {
		return nil, 0, err
	}
	for i, ref := range refs {
		if page[i].State, err = readOwnState(ctx, tx, ref); err != nil {
			return nil, 0, err
		}
	}
	return page, last, nil
}

// Restore implements sessionstore.Archive.
func (s *Store) Restore(ctx context.Context, a sessionstore.SessionRecord) error {
	err := s.db.Write(ctx, func(tx *sqlitedb.Tx) error {
		row, err := findSession(tx.QueryRow(selectSession, a.App, a.User, a.ID))
		if err != nil || row.seq > a.Events {
			return err
		}
		for k, v := range a.State {
			if _, err := tx.Exec(`INSERT INTO session_state VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value`, row.ref, k, []byte(v)); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(`UPDATE sessions SET update_time = ? WHERE ref = ?`, a.LastUpdateTime.UnixMicro(), row.ref); err != nil {
			return err
		}
		if a.Done < row.done || a.Requested < row.requested || a.Done == row.done && a.Requested == row.requested {
			return nil
		}
		var plan []byte
		if len(a.Plan) > 0 {
			plan = a.Plan
		}
		if _, err := tx.Exec(`UPDATE sessions SET requested = ?, done = ?, failed = ?, last_error = ?, plan = ?, plan_to = ?, attempts = 0, due_time = 0, request_time = ?
			WHERE ref = ?`, a.Requested, a.Done, a.Failed, a.LastError, plan, a.PlanTo, s.now().UnixMicro(), row.ref); err != nil {
			return err
		}
		return requeue(tx, a.Scope)
	})
	if err != nil {
		return a.Key.Wrap("restore", err)
	}
	return nil
}

// RestoreShared implements sessionstore.Archive.
func (s *Store) RestoreShared(ctx context.Context, sh sessionstore.SharedState) error {
	err := s.db.Write(ctx, func(tx *sqlitedb.Tx) error {
		for k, v := range sh.State {
			stmt, args := `INSERT INTO user_state VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`, []any{sh.App, sh.User, k, []byte(v)}
			if sh.User == "" {
				stmt, args = `INSERT INTO app_state VALUES (?, ?, ?) ON CONFLICT DO NOTHING`, []any{sh.App, k, []byte(v)}
			}
			if _, err := tx.Exec(stmt, args...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("share state of app %q, user %q: %w", sh.App, sh.User, err)
	}
	return nil
}
