package sqlitesession

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// maxLease is longer than any lease lasts: one that ends later was not written by a
// memoryd whose clock is right.
const maxLease = time.Hour

// faults are queries for rows that break a rule. Each row is an app, a user, what it
// is about, and what is wrong with it.
var faults = []struct{ rule, query string }{
	{sessionstore.RulePositions, `SELECT app, user, id, printf('done %d, requested %d, %d events', done, requested, seq)
		FROM sessions WHERE NOT (0 <= done AND done <= requested AND requested <= seq)`},
	{sessionstore.RulePositions, `SELECT app, user, id,
		printf('event %d waits for its trigger; requested %d, %d events', wait_to, requested, seq) FROM sessions
		WHERE (wait_due > 0) <> (wait_to > 0) OR wait_due > 0 AND NOT (requested < wait_to AND wait_to <= seq)
		OR wait_due > 0 AND deleted <> 0`},
	{sessionstore.RuleEvents, `SELECT app, user, s.id, printf('it has %d events, numbered %d to %d, and says %d',
		count(e.seq), coalesce(min(e.seq), 0), coalesce(max(e.seq), 0), s.seq)
		FROM sessions s LEFT JOIN events e ON e.ref = s.ref GROUP BY s.ref
		HAVING count(e.seq) <> s.seq OR coalesce(max(e.seq), 0) <> s.seq OR coalesce(min(e.seq), 1) <> 1`},
	{sessionstore.RuleWork, `WITH due AS (
		  SELECT app, user, min(request_time) AS since, min(due_time) AS due FROM sessions
		  WHERE requested > done AND failed = 0 GROUP BY app, user)
		SELECT app, user, '', 'it has work, and is not in the work list as it should be' FROM (
		  SELECT * FROM due EXCEPT SELECT app, user, since, due FROM waiting)
		UNION ALL SELECT app, user, '', 'it is in the work list, and has no work of that time' FROM (
		  SELECT app, user, since, due FROM waiting EXCEPT SELECT * FROM due)`},
	{sessionstore.RulePlan, `SELECT app, user, id, printf('a plan up to event %d, and the events %d to %d wait',
		plan_to, done + 1, requested) FROM sessions
		WHERE length(plan) > 0 AND NOT (plan_to > done AND plan_to <= requested)`},
	{sessionstore.RuleOperations, `SELECT o.app, o.user, o.id,
		printf('it is about events %d to %d of %d; ended %d, done %d', o.first + 1, o.last, s.seq,
		  o.done_time > 0, s.done)
		FROM operations o JOIN sessions s ON s.ref = o.ref
		WHERE NOT (0 <= o.first AND o.first <= o.last AND o.last <= s.seq) OR o.done_time = 0 AND o.last <= s.done`},
	{sessionstore.RuleOperations, `SELECT app, user, id, 'it has not ended, and its session is gone' FROM operations o
		WHERE done_time = 0 AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.ref = o.ref)`},
	{
		sessionstore.RuleOrphans,
		`SELECT '', '', printf('session number %d', ref), printf('%d events, and no session', count(*))
		FROM events e WHERE NOT EXISTS (SELECT 1 FROM sessions s WHERE s.ref = e.ref) GROUP BY ref`,
	},
	{
		sessionstore.RuleOrphans,
		`SELECT '', '', printf('session number %d', ref), printf('%d values of state, and no session',
		count(*)) FROM session_state e WHERE NOT EXISTS (SELECT 1 FROM sessions s WHERE s.ref = e.ref) GROUP BY ref`,
	},
	{memory.RuleUnreadable, `SELECT app, '', key, 'a value of app: state is no JSON' FROM app_state
		WHERE NOT json_valid(CAST(value AS TEXT))
		UNION ALL SELECT app, user, key, 'a value of user: state is no JSON' FROM user_state
		WHERE NOT json_valid(CAST(value AS TEXT))
		UNION ALL SELECT app, user, s.id, 'a value of its state is no JSON: ' || key
		FROM session_state JOIN sessions s USING (ref)
		WHERE NOT json_valid(CAST(value AS TEXT))`},
}

// auditPage is how many rows one read transaction covers. An event may have a
// megabyte.
const auditPage = 100

// Audit implements sessionstore.Audited.
func (s *Store) Audit(ctx context.Context, session func(sessionstore.SessionRecord) error,
	found func(memory.Finding)) error {
	for _, fault := range faults {
		err := s.auditRows(ctx, fault.rule, found, fault.query)
		if err != nil {
			return fmt.Errorf("audit sessions: %w", err)
		}
	}
	late := s.now().Add(maxLease).UnixMicro()
	err := s.auditRows(ctx, sessionstore.RuleLeases, found, `SELECT app, user, owner,
		'a lease ends more than an hour from now' FROM leases WHERE until > ?`, late)
	if err == nil {
		err = s.auditEvents(ctx, found)
	}
	if err == nil {
		err = s.auditSessions(ctx, session, found)
	}
	if err != nil {
		return fmt.Errorf("audit sessions: %w", err)
	}
	return nil
}

// auditRows reports the rows of a query, and a query that meets damage.
func (s *Store) auditRows(ctx context.Context, rule string, found func(memory.Finding),
	query string, args ...any) error {
	var all []memory.Finding
	err := s.db.Read(ctx, func(tx *sql.Tx) (err error) {
		all, err = sqlitedb.Collect(ctx, tx, sqlitedb.ScanFinding, `SELECT * FROM (`+query+`) LIMIT 1000`, args...)
		return err
	})
	for _, f := range all {
		f.Rule = rule
		found(f)
	}
	return s.orUnreadable(err, "the rows for rule "+rule, found)
}

// orUnreadable reports damage of the file as a finding. It returns any other error.
func (s *Store) orUnreadable(err error, what string, found func(memory.Finding)) error {
	if err != nil && sqlitedb.IsDamage(err) {
		found(memory.Finding{Rule: memory.RuleUnreadable, Of: what, Text: err.Error()})
		return nil
	}
	return err
}

// auditEvents reads every event.
func (s *Store) auditEvents(ctx context.Context, found func(memory.Finding)) error {
	type row struct {
		rowid int64
		eventRow
	}
	walk := sqlitedb.Walk[row]{Page: auditPage, Table: "events", Found: found,
		Query: `SELECT rowid, ref, seq, time, id, doc FROM events WHERE rowid > ? ORDER BY rowid LIMIT ?`,
		Scan: func(rows *sql.Rows) (r row, err error) {
			return r, rows.Scan(&r.rowid, &r.ref, &r.seq, &r.time, &r.id, &r.doc)
		}}
	return walk.Run(ctx, s.db, func(page []sqlitedb.Walked[row]) error {
		for _, one := range page {
			r := one.Row
			doc, err := r.doc, one.Err
			if err == nil {
				doc, err = sqlitedb.Unseal(doc)
			}
			var e sessionstore.Event
			if err == nil {
				e, err = sessionstore.ReadEvent(doc)
			}
			switch {
			case err != nil:
				found(memory.Finding{Rule: memory.RuleUnreadable, Of: eventName(r.ref, r.seq), Text: err.Error()})
			case e.ID != r.id || e.Timestamp.UnixMicro() != r.time:
				found(memory.Finding{Rule: sessionstore.RuleEvents, Of: eventName(r.ref, r.seq),
					Text: fmt.Sprintf("it is event %q of %v, and is listed as %q of %v", e.ID, e.Timestamp, r.id,
						sessionstore.FromMicros(r.time))})
			}
		}
		return nil
	})
}

func eventName(ref, seq int64) string { return fmt.Sprintf("event %d of session number %d", seq, ref) }

// auditSessions yields all sessions.
func (s *Store) auditSessions(ctx context.Context, session func(sessionstore.SessionRecord) error,
	found func(memory.Finding)) error {
	walk := sqlitedb.Walk[sessionRecord]{Page: auditPage, Table: "sessions", Found: found, Scan: scanRecord,
		Query: `SELECT ` + recordColumns + ` FROM sessions WHERE ref > ? ORDER BY ref LIMIT ?`}
	return walk.Run(ctx, s.db, func(page []sqlitedb.Walked[sessionRecord]) error {
		for _, one := range page {
			r := one.Row
			switch {
			case one.Err != nil:
				found(memory.Finding{Rule: memory.RuleUnreadable, Scope: r.Scope,
					Of: cmp.Or(r.ID, fmt.Sprintf("session number %d", one.Number)), Text: one.Err.Error()})
				continue
			case len(r.Plan) > 0 && !json.Valid(r.Plan):
				found(memory.Finding{Rule: memory.RuleUnreadable, Scope: r.Scope, Of: r.ID,
					Text: "its plan is no JSON"})
			}
			if err := session(r.SessionRecord); err != nil {
				return err
			}
		}
		return nil
	})
}
