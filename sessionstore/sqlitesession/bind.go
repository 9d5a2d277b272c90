package sqlitesession

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
)

// Bind implements sessionstore.Progress.
func (s *Store) Bind(ctx context.Context, memories string) (bound string, err error) {
	const stored = `SELECT memories FROM bound`
	// A start that binds nothing writes nothing, as the file may be damaged.
	err = s.db.Read(ctx, func(tx *sql.Tx) error { return tx.QueryRowContext(ctx, stored).Scan(&bound) })
	if errors.Is(err, sql.ErrNoRows) {
		err = s.db.Write(ctx, sqlitedb.Urgent(), func(tx *sqlitedb.Tx) error {
			err := tx.QueryRow(stored).Scan(&bound)
			if errors.Is(err, sql.ErrNoRows) {
				bound = memories
				_, err = tx.Exec(`INSERT INTO bound VALUES (1, ?)`, memories)
			}
			return err
		})
	}
	if err != nil {
		return "", fmt.Errorf("bind sessions to memories: %w", err)
	}
	return bound, nil
}

// Rebind implements sessionstore.Progress.
func (s *Store) Rebind(ctx context.Context, memories string) (sessions int, err error) {
	err = s.db.Write(ctx, sqlitedb.Urgent(), func(tx *sqlitedb.Tx) error {
		_, err := tx.Exec(`INSERT INTO bound VALUES (1, ?1) ON CONFLICT DO UPDATE SET memories = ?1`, memories)
		if err != nil {
			return err
		}
		scopes, err := sqlitedb.Collect(ctx, tx, scanScope, `SELECT app, user FROM sessions WHERE requested > 0`)
		if err != nil {
			return err
		}
		sessions = len(scopes)
		// The changes are made again.
		_, err = tx.Exec(`DELETE FROM changes WHERE ref IN (SELECT ref FROM sessions WHERE requested > 0)`)
		if err != nil {
			return err
		}
		_, err = tx.Exec(`UPDATE sessions SET done = 0, turns = 0, plan = NULL, plan_to = 0, attempts = 0, failed = 0,
			request_time = ?, due_time = 0, last_error = '' WHERE requested > 0`, s.now().UnixMicro())
		if err != nil {
			return err
		}
		// Users have many sessions, and a scope needs only one look.
		requeued := map[memory.Scope]bool{}
		for _, scope := range scopes {
			if requeued[scope] {
				continue
			}
			requeued[scope] = true
			if err := requeue(tx, scope); err != nil {
				return err
			}
		}
		return nil
	})
	s.notify.ChangedAll()
	if err != nil {
		return 0, fmt.Errorf("bind sessions to other memories: %w", err)
	}
	return sessions, nil
}

// scanScope reads a scope from a row of app and user.
func scanScope(rows *sql.Rows) (scope memory.Scope, err error) {
	err = rows.Scan(&scope.App, &scope.User)
	return scope, err
}
