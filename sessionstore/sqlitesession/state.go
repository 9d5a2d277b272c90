package sqlitesession

import (
	"context"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// setSessionState sets one key of a session's own state.
const setSessionState = `INSERT INTO session_state VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value`

// applyState sets the keys of delta where their prefix says. Each key is a row, so
// that two sessions that set different keys of their user do not overwrite each
// other.
func applyState(tx *sqlitedb.Tx, scope memory.Scope, ref int64, delta sessionstore.State) error {
	parts := delta.Split()
	for k, v := range parts.App {
		if _, err := tx.Exec(`INSERT INTO app_state VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value`,
			scope.App, k, []byte(v)); err != nil {
			return err
		}
	}
	for k, v := range parts.User {
		if _, err := tx.Exec(`INSERT INTO user_state VALUES (?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET value = excluded.value`, scope.App, scope.User, k, []byte(v)); err != nil {
			return err
		}
	}
	return applyOwnState(tx, ref, parts.Session)
}

// applyOwnState sets keys of a session's own state.
func applyOwnState(tx *sqlitedb.Tx, ref int64, state sessionstore.State) error {
	for k, v := range state {
		if _, err := tx.Exec(setSessionState, ref, k, []byte(v)); err != nil {
			return err
		}
	}
	return nil
}

// selectState reads the merged view of state, keys with their prefix.
const selectState = `SELECT key, value FROM session_state WHERE ref = ?1
	UNION ALL SELECT 'user:' || key, value FROM user_state WHERE app = ?2 AND user = ?3
	UNION ALL SELECT 'app:' || key, value FROM app_state WHERE app = ?2`

// readState reads the merged view of a session's state.
func readState(ctx context.Context, tx sqlitedb.Querier, scope memory.Scope, ref int64) (sessionstore.State, error) {
	return queryState(ctx, tx, selectState, ref, scope.App, scope.User)
}

// readOwnState reads a session's own state.
func readOwnState(ctx context.Context, tx sqlitedb.Querier, ref int64) (sessionstore.State, error) {
	return queryState(ctx, tx, `SELECT key, value FROM session_state WHERE ref = ?`, ref)
}

// readSharedState reads the state that all sessions of a user see.
func readSharedState(ctx context.Context, tx sqlitedb.Querier, scope memory.Scope) (sessionstore.State, error) {
	return queryState(ctx, tx, `SELECT 'user:' || key, value FROM user_state WHERE app = ?1 AND user = ?2
		UNION ALL SELECT 'app:' || key, value FROM app_state WHERE app = ?1`, scope.App, scope.User)
}

// queryState reads keys and values. It is not built on Collect: Get runs it, and
// a list of pairs would be made for nothing.
func queryState(ctx context.Context, tx sqlitedb.Querier, query string, args ...any) (sessionstore.State, error) {
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
