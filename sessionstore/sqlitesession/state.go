package sqlitesession

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// setSessionState sets one key of a session's own state.
const setSessionState = `INSERT INTO session_state VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value`

// stateChange is the change of state by one write.
type stateChange struct {
	scope memory.Scope
	ref   int64
	max   int64
	delta sessionstore.State // the last value of each key
	// replace removes the keys of the session that delta does not have.
	replace bool
}

func (s *Store) stateChange(scope memory.Scope, ref int64) *stateChange {
	return &stateChange{scope: scope, ref: ref, max: s.max, delta: sessionstore.State{}}
}

// add adds a delta, whose values replace earlier ones. sent is delta as it came, with
// its "temp:" keys.
func (c *stateChange) add(delta, sent sessionstore.State) error {
	maps.Copy(c.delta, delta)
	return sessionstore.CheckDelta(sent, c.max)
}

// store sets the keys where their prefix says. Each key is a row, so that two sessions
// that set different keys of their user do not overwrite each other. It fails if a
// state becomes larger than it may be.
func (c *stateChange) store(tx *sqlitedb.Tx) error {
	if len(c.delta) == 0 && !c.replace {
		return nil
	}
	before, err := readStateSizes(context.Background(), tx, c.scope, c.ref)
	if err != nil {
		return err
	}
	if c.replace {
		if err := clearOwnState(tx, c.ref); err != nil {
			return err
		}
	}
	parts := c.delta.Split()
	for k, v := range parts.App {
		_, err := tx.Exec(`INSERT INTO app_state VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value`,
			c.scope.App, k, []byte(v))
		if err != nil {
			return err
		}
	}
	for k, v := range parts.User {
		if _, err := tx.Exec(`INSERT INTO user_state VALUES (?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET value = excluded.value`, c.scope.App, c.scope.User, k, []byte(v)); err != nil {
			return err
		}
	}
	if err := applyOwnState(tx, c.ref, parts.Session); err != nil {
		return err
	}
	after, err := readStateSizes(context.Background(), tx, c.scope, c.ref)
	if err != nil {
		return err
	}
	return cmp.Or(
		sessionstore.CheckState("session", before.own, after.own, c.max),
		sessionstore.CheckState("user", before.user, after.user, c.max),
		sessionstore.CheckState("app", before.app, after.app, c.max))
}

// stateSizes are the sizes of the states that a session shows.
type stateSizes struct{ own, user, app int64 }

func (z stateSizes) total() int64 { return z.own + z.user + z.app }

// selectStateSizes reads the sizes of the states that a session shows.
const selectStateSizes = `SELECT
	coalesce((SELECT state_bytes FROM sessions WHERE ref = ?1), 0),
	coalesce((SELECT bytes FROM shared_bytes WHERE app = ?2 AND user = ?3), 0),
	coalesce((SELECT bytes FROM shared_bytes WHERE app = ?2 AND user = ''), 0)`

func readStateSizes(ctx context.Context, tx sqlitedb.Querier, scope memory.Scope, ref int64) (z stateSizes, err error) {
	scan := func(rows *sql.Rows) (z stateSizes, err error) {
		err = rows.Scan(&z.own, &z.user, &z.app)
		return z, err
	}
	found, err := sqlitedb.Collect(ctx, tx, scan, selectStateSizes, ref, scope.App, scope.User)
	if err != nil {
		return z, err
	}
	return found[0], nil
}

// clearOwnState removes a session's own state. No trigger counts the rows that go.
func clearOwnState(tx *sqlitedb.Tx, ref int64) error {
	if _, err := tx.Exec(`DELETE FROM session_state WHERE ref = ?`, ref); err != nil {
		return err
	}
	_, err := tx.Exec(`UPDATE sessions SET state_bytes = 0 WHERE ref = ?`, ref)
	return err
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

// State implements sessionstore.Store. Sizes are kept beside the states, so that none is
// read that the caller has no room for.
func (s *Store) State(ctx context.Context, scope memory.Scope, room int64) (out sessionstore.State, err error) {
	err = s.db.Read(ctx, func(tx *sql.Tx) error {
		sizes, err := readStateSizes(ctx, tx, scope, 0) // no session has this number
		if err != nil {
			return err
		}
		if room > 0 && sizes.total() > room {
			return &sessionstore.NoRoom{Bytes: sizes.total()}
		}
		out, err = readSharedState(ctx, tx, scope)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the state of app %q, user %q: %w", scope.App, scope.User, err)
	}
	return out, nil
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
