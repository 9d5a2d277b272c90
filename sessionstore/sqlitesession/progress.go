package sqlitesession

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// requeue brings a scope's row in waiting up to date with its sessions. Every
// write that changes the positions of a session, or when it is due, ends with it.
// The row has the time since which the oldest of them waits, by which scopes are
// ordered, and the time at which the first of them is due. Both come from an index,
// so the cost does not grow with the number of sessions.
func requeue(tx *sqlitedb.Tx, scope memory.Scope) error {
	if _, err := tx.Exec(`DELETE FROM waiting WHERE app = ? AND user = ?`, scope.App, scope.User); err != nil {
		return err
	}
	const work = `FROM sessions WHERE app = ?1 AND user = ?2 AND requested > done AND failed = 0`
	_, err := tx.Exec(`INSERT INTO waiting
		SELECT ?1, ?2, request_time, (SELECT due_time `+work+` ORDER BY due_time LIMIT 1)
		`+work+` ORDER BY request_time LIMIT 1`, scope.App, scope.User)
	return err
}

// anyDue finds whether work or a trigger is due.
const anyDue = `SELECT 1 FROM waiting WHERE due <= ?1
	UNION ALL SELECT 1 FROM sessions WHERE wait_due > 0 AND wait_due <= ?1 LIMIT 1`

// Claim implements sessionstore.Progress.
func (s *Store) Claim(ctx context.Context, owner string, ttl time.Duration, limit int) ([]sessionstore.Work, error) {
	now := s.now()
	idle := false
	err := s.db.Read(ctx, func(tx *sql.Tx) error {
		// Most of the time nothing is due, and a read costs less than a write.
		err := tx.QueryRowContext(ctx, anyDue, now.UnixMicro()).Scan(new(int))
		idle = errors.Is(err, sql.ErrNoRows)
		if idle {
			return nil
		}
		return err
	})
	if err != nil || idle || limit <= 0 {
		return nil, err
	}
	var out []sessionstore.Work
	err = s.db.Write(ctx, sqlitedb.For(memory.Scope{}), func(tx *sqlitedb.Tx) error {
		if err := s.leases.store(tx); err != nil {
			return err
		}
		var err error
		now := s.now() // the claim may have waited for its turn
		if err := s.fireDue(tx, now); err != nil {
			return err
		}
		if out, err = s.dueWork(tx, now, limit); err != nil {
			return err
		}
		for i := range out {
			if err := claim(tx, &out[i], owner, now.Add(ttl)); err != nil {
				return err
			}
			// Also if the claim fails in the end: then the lease ends by itself.
			s.leases.claimed(out[i].Key.Scope, owner, now.Add(ttl))
		}
		return nil
	})
	for i := range out {
		s.notify.Changed(out[i].Key)
	}
	if err != nil {
		return nil, fmt.Errorf("claim work: %w", err)
	}
	return out, nil
}

// claim leases the scope of w, and counts an attempt on the work and on its
// operations.
func claim(tx *sqlitedb.Tx, w *sessionstore.Work, owner string, until time.Time) error {
	w.Attempts++
	if _, err := tx.Exec(`INSERT INTO leases VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET owner = ?3, until = ?4`,
		w.Key.App, w.Key.User, owner, until.UnixMicro()); err != nil {
		return err
	}
	if _, err := tx.Exec(`UPDATE sessions SET attempts = ? WHERE ref = ?`, w.Attempts, w.Ref); err != nil {
		return err
	}
	// An operation counts its beginning, and each attempt that follows a failure. A
	// batch that follows a finished one is no new attempt.
	_, err := tx.Exec(`UPDATE operations SET attempts = attempts + 1 WHERE ref = ?1 AND done_time = 0 AND last <= ?3
		AND (attempts = 0 OR ?2 > 1 OR EXISTS (SELECT 1 FROM sessions s WHERE s.ref = ?1 AND s.last_error <> ''))`,
		w.Ref, w.Attempts, w.Requested)
	return err
}

// maxApps bounds the apps among which one claim chooses: it looks at each of them. With
// more apps that have work, each claim goes on where the one before has ended.
const maxApps = 1000

// dueWork reads the work that is due in scopes that are not leased: of the apps
// in turn, the scope that has waited longest, and of that scope the session that
// has. A long session waits again after each batch, so that others get their
// turn.
func (s *Store) dueWork(tx *sqlitedb.Tx, now time.Time, limit int) (out []sessionstore.Work, err error) {
	var scopes []memory.Scope
	ends := 1 // to look on to the last app, and then once more from the first one
	if s.lastApp != "" {
		ends = 2
	}
	for len(scopes) == 0 && ends > 0 {
		if scopes, err = s.dueScopes(tx, now, limit); err != nil {
			return nil, err
		}
		if s.lastApp == "" {
			ends--
		}
	}
	for _, scope := range scopes {
		w, err := readWork(tx, scope, now)
		if err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out, nil
}

// nextApps are the first ?2 apps after ?1 that have work.
const nextApps = `WITH RECURSIVE apps (app, n) AS (
	SELECT (SELECT min(app) FROM waiting WHERE app > ?1), 1
	UNION ALL SELECT (SELECT min(app) FROM waiting WHERE app > apps.app), n + 1 FROM apps
	WHERE app IS NOT NULL AND n < ?2)`

// dueScopes reads the scopes with such work, of up to maxApps apps after s.lastApp.
func (s *Store) dueScopes(tx *sqlitedb.Tx, now time.Time, limit int) ([]memory.Scope, error) {
	// Of each app it looks at as many scopes as can be claimed, from the one that has
	// waited longest: an app with many of them hides no other. A scope's turn is its
	// place among these, after those of the app that are leased.
	scopes, err := sqlitedb.Collect(context.Background(), tx, scanScope, nextApps+`,
		ready AS (SELECT w.app, w.user, w.since FROM apps JOIN waiting w ON w.app = apps.app AND w.user IN (
		  SELECT user FROM waiting i INDEXED BY waiting_app WHERE i.app = apps.app AND i.due <= ?3
		  AND NOT EXISTS (SELECT 1 FROM leases l WHERE l.app = i.app AND l.user = i.user AND l.until > ?3)
		  ORDER BY i.since LIMIT ?4)),
		leased AS (SELECT app, count(*) AS n FROM leases WHERE until > ?3 GROUP BY app)
		SELECT app, user FROM ready LEFT JOIN leased USING (app)
		ORDER BY row_number() OVER (PARTITION BY app ORDER BY since) + coalesce(n, 0), since LIMIT ?4`,
		s.lastApp, s.maxApps, now.UnixMicro(), limit)
	if err != nil {
		return nil, err
	}
	// The last of those apps, or none if there are no more.
	err = tx.QueryRow(nextApps+` SELECT coalesce((SELECT app FROM apps WHERE n = ?2), '')`,
		s.lastApp, s.maxApps).Scan(&s.lastApp)
	return scopes, err
}

// readWork reads the session of a scope that has waited longest, and its oldest
// request.
func readWork(tx *sqlitedb.Tx, scope memory.Scope, now time.Time) (w sessionstore.Work, err error) {
	w.Key.Scope = scope
	// sessions_work has the order in which a scope's sessions wait. Left to itself,
	// SQLite may choose sessions_due, and read and sort all of them.
	var operation, session string
	var rule string
	var request, plan []byte
	err = tx.QueryRow(`WITH s AS (
		  SELECT * FROM sessions INDEXED BY sessions_work
		  WHERE app = ? AND user = ? AND requested > done AND failed = 0 AND due_time <= ?
		  ORDER BY request_time, ref LIMIT 1)
		SELECT s.ref, s.id, s.done, requested, s.attempts, coalesce(plan, x''), plan_to, rewinds, rule,
		  coalesce(o.id, ''), coalesce(o.request, x'')
		FROM s LEFT JOIN operations o ON o.n = (SELECT min(n) FROM operations WHERE ref = s.ref AND done_time = 0
		  AND last <= requested)`,
		scope.App, scope.User, now.UnixMicro()).Scan(&w.Ref, &session, &w.Done, &w.Requested, &w.Attempts,
		&plan, &w.PlanTo, &w.Rewinds, &rule, &operation, &request)
	if err != nil {
		return w, err
	}
	if len(plan) > 0 {
		w.Plan = plan
	}
	w.Overlap = sessionstore.ReadTrigger(rule).Overlap
	if w.Request, w.Key.ID, err = sessionstore.ReadRequest(operation, session, request); err != nil {
		return w, err
	}
	w.Asked, err = readAsked(tx, w)
	return w, err
}

// readAsked reads the operations that wait for events of a session, if there are several.
// Of those that asked for the same events the oldest counts.
func readAsked(tx *sqlitedb.Tx, w sessionstore.Work) ([]sessionstore.Asked, error) {
	out, err := sqlitedb.Collect(context.Background(), tx, func(rows *sql.Rows) (a sessionstore.Asked, err error) {
		return a, rows.Scan(&a.Operation, &a.Last)
	}, `SELECT id, last FROM operations WHERE n IN (SELECT min(n) FROM operations INDEXED BY operations_ref
		WHERE ref = ? AND last > ? AND last <= ? AND done_time = 0 GROUP BY last ORDER BY last LIMIT ?) ORDER BY last`,
		w.Ref, w.Done, w.Requested, sessionstore.MaxAsked)
	if len(out) < 2 {
		out = nil
	}
	return out, err
}

// orAborted is ErrAborted unless a statement has changed a row.
func orAborted(changed bool, err error) error {
	if err == nil && !changed {
		return memory.ErrAborted
	}
	return err
}

// Events implements sessionstore.Progress.
func (s *Store) Events(ctx context.Context, work sessionstore.Work, after int64, limit int) (
	out []sessionstore.NumberedEvent, err error) {
	err = s.db.Read(ctx, func(tx *sql.Tx) (err error) {
		out, err = walk(ctx, preparedTx{tx, nil, s.db}, work.Ref, after, limit)
		return err
	})
	if err != nil {
		return nil, work.Key.Wrap("read events", err)
	}
	return out, nil
}

// walk reads up to limit events of a session behind a number, and ends early as
// Events does. ref is that of the session.
func walk(ctx context.Context, tx sqlitedb.Querier, ref any, after int64, limit int) (
	[]sessionstore.NumberedEvent, error) {
	end, err := walkEnd(ctx, tx, ref, after, limit)
	if err != nil {
		return nil, err
	}
	scan := func(rows *sql.Rows) (sessionstore.NumberedEvent, error) {
		e, err := scanEventRow(rows)
		if err != nil {
			return sessionstore.NumberedEvent{}, err
		}
		return sessionstore.NumberedEvent{Seq: e.seq, Event: e.read(tx)}, nil
	}
	return sqlitedb.Collect(ctx, tx, scan, `SELECT `+eventColumns+` FROM events
		WHERE ref = ? AND seq > ? AND seq <= ? ORDER BY seq`, ref, after, end)
}

// walkEnd returns the number of the last event that walk reads.
func walkEnd(ctx context.Context, tx sqlitedb.Querier, ref any, after int64, limit int) (end int64, err error) {
	end = after
	rows, err := tx.QueryContext(ctx,
		`SELECT seq, octet_length(doc) FROM events WHERE ref = ? AND seq > ? ORDER BY seq LIMIT ?`, ref, after, limit)
	if err != nil {
		return end, err
	}
	defer rows.Close()
	room := sessionstore.Room{Limit: sessionstore.WalkBytes}
	for rows.Next() {
		var seq, size int64
		if err := rows.Scan(&seq, &size); err != nil {
			return end, err
		}
		if !room.Fits(size) {
			break
		}
		end = seq
	}
	return end, rows.Err()
}

// Save implements sessionstore.Progress.
func (s *Store) Save(ctx context.Context, work sessionstore.Work, to int64, plan json.RawMessage) error {
	err := s.db.Write(ctx, sqlitedb.For(work.Key.Scope), func(tx *sqlitedb.Tx) error {
		return orAborted(tx.Changes(`UPDATE sessions SET plan = ?, plan_to = ?
			WHERE ref = ? AND done = ? AND attempts = ?`,
			[]byte(plan), to, work.Ref, work.Done, work.Attempts))
	})
	if err != nil {
		return work.Key.Wrap("save the plan", err)
	}
	return nil
}

// Finish implements sessionstore.Progress.
func (s *Store) Finish(ctx context.Context, work sessionstore.Work, to int64, changes []sessionstore.Change) error {
	ref, err := strconv.ParseInt(work.Ref, 10, 64)
	if err != nil {
		return work.Key.Wrap("finish work", err)
	}
	err = s.db.Write(ctx, sqlitedb.For(work.Key.Scope), func(tx *sqlitedb.Tx) error {
		now := s.now().UnixMicro()
		// The done position and the attempts are those of the claim, unless the work
		// was finished or claimed again since. The rest waits again from now, so that
		// other sessions get their turn.
		if err := orAborted(tx.Changes(`UPDATE sessions SET done = ?1, attempts = 0, failed = 0, due_time = 0,
			last_error = '', plan = NULL, plan_to = 0, request_time = ?2
			WHERE ref = ?3 AND done = ?4 AND attempts = ?5 AND ?1 <= requested AND ?1 > done`,
			to, now, ref, work.Done, work.Attempts)); err != nil {
			return err
		}
		for _, c := range changes {
			_, err := tx.Exec(`INSERT INTO changes VALUES (?, ?, ?, ?)`, ref, c.Seq, now, []byte(c.Doc))
			if err != nil {
				return err
			}
		}
		if err := s.dropChanges(tx, len(changes)); err != nil {
			return err
		}
		res, err := tx.Exec(`UPDATE operations SET done_time = ? WHERE ref = ? AND done_time = 0 AND last <= ?`,
			now, ref, to)
		if err != nil {
			return err
		}
		ended, err := res.RowsAffected()
		if err != nil {
			return err
		}
		tx.OnCommit(func() { s.counts.Succeeded(ended) })
		if err := purge(tx, ref); err != nil {
			return err
		}
		return s.release(tx, work.Key.Scope)
	})
	s.notify.Changed(work.Key)
	if err != nil {
		return work.Key.Wrap("finish work", err)
	}
	return nil
}

// Fail implements sessionstore.Progress.
func (s *Store) Fail(ctx context.Context, work sessionstore.Work, cause string, retry time.Time) error {
	failed := retry.IsZero()
	if failed {
		retry = s.now() // when it was given up; see dropExpired
	}
	err := s.db.Write(ctx, sqlitedb.For(work.Key.Scope), func(tx *sqlitedb.Tx) error {
		if err := orAborted(tx.Changes(`UPDATE sessions SET last_error = ?, due_time = ?, failed = ?
			WHERE ref = ? AND done = ? AND attempts = ?`,
			cause, retry.UnixMicro(), failed, work.Ref, work.Done, work.Attempts)); err != nil {
			return err
		}
		if failed {
			var n int64
			const open = `SELECT count(*) FROM operations WHERE ref = ? AND done_time = 0 AND last <= ?`
			if err := tx.QueryRow(open, work.Ref, work.Requested).Scan(&n); err != nil {
				return err
			}
			tx.OnCommit(func() { s.counts.Failed(n) })
		}
		return s.release(tx, work.Key.Scope)
	})
	s.notify.Changed(work.Key)
	if err != nil {
		return work.Key.Wrap("record a failure", err)
	}
	return nil
}

// release ends the lease on a scope. It does not check the owner: its callers have
// checked, by position and attempts, that the work is still theirs.
func (s *Store) release(tx *sqlitedb.Tx, scope memory.Scope) error {
	tx.OnCommit(func() { s.leases.ended(scope) })
	if _, err := tx.Exec(`DELETE FROM leases WHERE app = ? AND user = ?`, scope.App, scope.User); err != nil {
		return err
	}
	return requeue(tx, scope)
}
