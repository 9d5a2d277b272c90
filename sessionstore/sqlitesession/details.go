package sqlitesession

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// schemaDetails adds what clients say of a session. Sessions that are there were made
// when their first event was, as far as the file knows. The indexes are for Expire, and
// for lists by the time of the last change.
const schemaDetails = `
ALTER TABLE sessions ADD COLUMN name TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN labels TEXT NOT NULL DEFAULT ''; -- a JSON object, or empty
ALTER TABLE sessions ADD COLUMN create_time INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN expire_time INTEGER NOT NULL DEFAULT 0; -- 0 is never
ALTER TABLE sessions ADD COLUMN chosen INTEGER NOT NULL DEFAULT 0; -- a client has chosen expire_time
UPDATE sessions SET create_time = coalesce((SELECT min(time) FROM events e WHERE e.ref = sessions.ref), update_time);
CREATE INDEX sessions_expire ON sessions (expire_time) WHERE expire_time > 0 AND deleted = 0;
CREATE INDEX sessions_update ON sessions (app, user, update_time, ref) WHERE deleted = 0;
CREATE INDEX sessions_app_update ON sessions (app, update_time, ref) WHERE deleted = 0;
CREATE INDEX sessions_app_id ON sessions (app, id) WHERE deleted = 0;
`

// unexpired is the condition of a session that has not expired by the time in its
// parameter.
const unexpired = `(expire_time = 0 OR expire_time > ?)`

// detailColumns are the columns that scanDetails reads.
const detailColumns = `name, labels, create_time, expire_time`

// detailRow has the columns of detailColumns.
type detailRow struct {
	name, labels        string
	createTime, expires int64
}

// fields are where to scan detailColumns to.
func (r *detailRow) fields() []any { return []any{&r.name, &r.labels, &r.createTime, &r.expires} }

// read returns the details, and when the session was made.
func (r *detailRow) read() (d sessionstore.Details, created time.Time, err error) {
	d.DisplayName = r.name
	if d.Labels, err = sessionstore.ReadLabels(r.labels); err != nil {
		return d, created, err
	}
	if r.expires > 0 {
		d.ExpireTime = sessionstore.FromMicros(r.expires)
	}
	return d, sessionstore.FromMicros(r.createTime), nil
}

// overdue reports whether a session has expired.
func (s *Store) overdue(r *sessionRow) bool { return r.expires > 0 && r.expires <= s.now().UnixMicro() }

// present finds the session of a key for a write. It hides one that has expired, so
// that its id is free, and returns ErrNotFound for it.
func (s *Store) present(tx *sqlitedb.Tx, key sessionstore.Key) (sessionRow, error) {
	row, err := findSession(tx.QueryRow(selectSession, key.App, key.User, key.ID))
	if err != nil || !s.overdue(&row) {
		return row, err
	}
	if err := s.hide(tx, row.ref); err != nil {
		return row, err
	}
	return sessionRow{}, memory.ErrNotFound
}

// visible is the session of a row for a read.
func (s *Store) visible(row *sql.Row) (sessionRow, error) {
	r, err := findSession(row)
	if err == nil && s.overdue(&r) {
		err = memory.ErrNotFound
	}
	return r, err
}

// hide deletes a session. Its events that wait for a trigger are requested.
func (s *Store) hide(tx *sqlitedb.Tx, ref int64) error {
	if _, err := tx.Exec(`UPDATE sessions SET deleted = 1 WHERE ref = ?`, ref); err != nil {
		return err
	}
	var scope memory.Scope
	err := tx.QueryRow(`SELECT app, user FROM sessions WHERE ref = ? AND wait_due > 0`, ref).
		Scan(&scope.App, &scope.User)
	switch {
	case err == nil:
		err = fire(tx, scope, ref, s.now().UnixMicro())
	case errors.Is(err, sql.ErrNoRows):
		err = nil
	}
	if err != nil {
		return err
	}
	return purge(tx, ref)
}

// renew moves the time when a session expires, unless a client has chosen it.
func (s *Store) renew(tx *sqlitedb.Tx, row *sessionRow) error {
	if row.chosen {
		return nil
	}
	at := int64(0)
	if s.ttl > 0 {
		at = s.now().Add(s.ttl).UnixMicro()
	}
	if at == row.expires {
		return nil
	}
	row.expires = at
	_, err := tx.Exec(`UPDATE sessions SET expire_time = ? WHERE ref = ?`, at, row.ref)
	return err
}

// setDetails changes what a patch changes of the details.
func setDetails(tx *sqlitedb.Tx, row *sessionRow, patch sessionstore.Patch) error {
	set := func(column string, value any) error {
		_, err := tx.Exec(`UPDATE sessions SET `+column+` = ? WHERE ref = ?`, value, row.ref)
		return err
	}
	if patch.DisplayName != nil {
		if err := set("name", *patch.DisplayName); err != nil {
			return err
		}
	}
	if patch.Labels != nil {
		if err := set("labels", sessionstore.LabelsDoc(*patch.Labels)); err != nil {
			return err
		}
	}
	if patch.ExpireTime == nil {
		return nil
	}
	row.chosen = !patch.ExpireTime.IsZero()
	if err := set("chosen", row.chosen); err != nil || !row.chosen {
		return err
	}
	row.expires = patch.ExpireTime.UnixMicro()
	return set("expire_time", row.expires)
}

// asPatch is the patch that gives a new session its details.
func asPatch(d sessionstore.Details) (p sessionstore.Patch) {
	if d.DisplayName != "" {
		p.DisplayName = &d.DisplayName
	}
	if len(d.Labels) > 0 {
		p.Labels = &d.Labels
	}
	if !d.ExpireTime.IsZero() {
		p.ExpireTime = &d.ExpireTime
	}
	return p
}

// Update implements sessionstore.Store.
func (s *Store) Update(ctx context.Context, key sessionstore.Key, patch sessionstore.Patch) error {
	if err := key.Validate(); err != nil {
		return err
	}
	patch, err := patch.Prepare(s.now())
	if err != nil {
		return key.Wrap("update", err)
	}
	batch := prepare(patch.Events, s.now())
	batch.own = patch.State
	err = s.db.Write(ctx, sqlitedb.For(key.Scope), func(tx *sqlitedb.Tx) error {
		row, err := s.present(tx, key)
		if err != nil {
			return err
		}
		if err := setDetails(tx, &row, patch); err != nil {
			return err
		}
		if _, err := s.append(tx, key, &row, batch, sessionstore.Append{}); err != nil || len(row.fresh) > 0 {
			return err
		}
		_, err = tx.Exec(`UPDATE sessions SET update_time = ? WHERE ref = ?`, s.now().UnixMicro(), row.ref)
		return err
	})
	if err != nil {
		return key.Wrap("update", err)
	}
	return nil
}

// expiredEvents bounds the events of the sessions that one transaction removes, unless
// one session alone has more: others wait as long as it runs.
const expiredEvents = 2000

// Expire implements sessionstore.Expirer.
func (s *Store) Expire(ctx context.Context, limit int) (n int, err error) {
	for more := true; more && n < limit; {
		some := 0
		if some, more, err = s.expireSome(ctx, limit-n); err != nil {
			return n, fmt.Errorf("remove expired sessions: %w", err)
		}
		n += some
	}
	return n, nil
}

// expireSome removes up to limit sessions in one transaction, and reports whether more
// may be left.
func (s *Store) expireSome(ctx context.Context, limit int) (n int, more bool, err error) {
	now := s.now().UnixMicro()
	due := false
	err = s.db.Read(ctx, func(tx *sql.Tx) error { // most of the time there is none
		err := tx.QueryRowContext(ctx, `SELECT 1 FROM sessions INDEXED BY sessions_expire
			WHERE expire_time > 0 AND expire_time <= ? AND deleted = 0 LIMIT 1`, now).Scan(new(int))
		if due = err == nil; errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	if err != nil || !due {
		return 0, false, err
	}
	type life struct{ ref, events int64 }
	err = s.db.Write(ctx, sqlitedb.For(memory.Scope{}).Freeing(), func(tx *sqlitedb.Tx) error {
		found, err := sqlitedb.Collect(ctx, tx, func(rows *sql.Rows) (l life, err error) {
			return l, rows.Scan(&l.ref, &l.events)
		}, `SELECT ref, seq FROM sessions INDEXED BY sessions_expire
			WHERE expire_time > 0 AND expire_time <= ? AND deleted = 0 ORDER BY expire_time LIMIT ?`, now, limit)
		if err != nil {
			return err
		}
		room := sessionstore.Room{Limit: expiredEvents}
		for _, l := range found {
			if more = !room.Fits(l.events); more {
				return nil
			}
			if err := s.hide(tx, l.ref); err != nil {
				return err
			}
			n++
		}
		return nil
	})
	return n, more, err
}
