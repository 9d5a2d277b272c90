package sqlitesession

import (
	"context"
	"database/sql"
	"time"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// waitColumns are the columns of a waitingRow.
const waitColumns = `rule, own_rule, wait_to, wait_since, wait_last, wait_due`

// waitingRow has the columns that tell how a session waits for its trigger.
type waitingRow struct {
	rule                 string
	own                  bool
	to, since, last, due int64
}

// places are where Scan puts the columns.
func (w *waitingRow) places() []any { return []any{&w.rule, &w.own, &w.to, &w.since, &w.last, &w.due} }

func (w *waitingRow) read() sessionstore.Waiting {
	return sessionstore.Waiting{Trigger: sessionstore.ReadTrigger(w.rule), Own: w.own, To: w.to,
		Since: timeOrNone(w.since), Last: timeOrNone(w.last), Due: timeOrNone(w.due)}
}

// timeOrNone is a time as a column has it, with 0 for none.
func timeOrNone(micros int64) (t time.Time) {
	if micros != 0 {
		t = sessionstore.FromMicros(micros)
	}
	return t
}

func microsOrNone(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// setWaiting stores how the session waits, for an operation.
func (r *sessionRow) setWaiting(tx *sqlitedb.Tx, next sessionstore.Waiting, op int64) error {
	if next.Due.IsZero() {
		op = 0
	}
	if next == r.wait.read() && op == r.waitOp {
		return nil
	}
	_, err := tx.Exec(`UPDATE sessions SET rule = ?, own_rule = ?, wait_to = ?, wait_since = ?, wait_last = ?,
		wait_due = ?, wait_op = ? WHERE ref = ?`, next.Trigger.Text(), next.Own, next.To, microsOrNone(next.Since),
		microsOrNone(next.Last), microsOrNone(next.Due), op, r.ref)
	return err
}

// fire requests the events of a session that wait for its trigger, since a time.
func fire(tx *sqlitedb.Tx, scope memory.Scope, ref, since int64) error {
	_, err := tx.Exec(`UPDATE sessions SET`+setRequested+`wait_to,
		wait_to = 0, wait_since = 0, wait_last = 0, wait_due = 0, wait_op = 0 WHERE ref = ?2 AND wait_due > 0`,
		since, ref)
	if err != nil {
		return err
	}
	return requeue(tx, scope)
}

// maxFired bounds the triggers that one claim fires, so that it does not hold up other
// writers: some milliseconds. The next claim goes on.
const maxFired = 200

// fireDue fires the triggers that are due.
func (s *Store) fireDue(tx *sqlitedb.Tx, now time.Time) error {
	type due struct {
		key      sessionstore.Key
		ref, due int64
	}
	found, err := sqlitedb.Collect(context.Background(), tx, func(rows *sql.Rows) (d due, err error) {
		return d, rows.Scan(&d.ref, &d.key.App, &d.key.User, &d.key.ID, &d.due)
	}, `SELECT ref, app, user, id, wait_due FROM sessions WHERE wait_due > 0 AND wait_due <= ?
		ORDER BY wait_due LIMIT ?`, now.UnixMicro(), maxFired)
	if err != nil {
		return err
	}
	for _, d := range found {
		if err := fire(tx, d.key.Scope, d.ref, d.due); err != nil {
			return err
		}
		tx.OnCommit(func() { s.notify.Changed(d.key) })
	}
	return nil
}
