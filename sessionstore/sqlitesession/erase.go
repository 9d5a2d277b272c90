package sqlitesession

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// schemaErase finds all lives of a user, and those whose erasing has begun: their
// column deleted is 2, which no other query asks for.
const schemaErase = `
CREATE INDEX sessions_user ON sessions (app, user);
CREATE INDEX sessions_erasing ON sessions (ref) WHERE deleted = 2;
`

const (
	// erasedTogether is how many lives one transaction erases, and erasedRows how many
	// rows of one life: others write in between.
	erasedTogether = 50
	erasedRows     = 2000
)

// EraseSession implements sessionstore.Eraser.
func (s *Store) EraseSession(ctx context.Context, key sessionstore.Key, dryRun bool) (
	sessionstore.Erased, error) {
	out, err := s.erase(ctx, key.Scope, key.ID, false, dryRun)
	if err != nil {
		return out, key.Wrap("erase", err)
	}
	return out, nil
}

// EraseUser implements sessionstore.Eraser.
func (s *Store) EraseUser(ctx context.Context, scope memory.Scope, dryRun bool) (sessionstore.Erased, error) {
	out, err := s.erase(ctx, scope, "", true, dryRun)
	if err != nil {
		return out, scope.Wrap("erase sessions", err)
	}
	return out, nil
}

// EraseEvents implements sessionstore.Eraser.
func (s *Store) EraseEvents(ctx context.Context, key sessionstore.Key, events []string, dryRun bool) (
	n int, err error) {
	list, err := json.Marshal(events)
	switch {
	case err != nil:
	case dryRun:
		err = s.db.Read(ctx, func(tx *sql.Tx) error {
			return eachBlank(ctx, tx, key, string(list), func(eventRow, sessionstore.Event) error {
				n++
				return nil
			})
		})
	default:
		err = s.db.Write(ctx, sqlitedb.For(key.Scope).Freeing(), func(tx *sqlitedb.Tx) error {
			n = 0
			return eachBlank(context.Background(), tx, key, string(list),
				func(e eventRow, blank sessionstore.Event) error {
					n++
					return storeBlank(tx, e, blank)
				})
		})
		if err == nil {
			err = s.db.Scrub(ctx)
		}
	}
	if err != nil {
		return n, key.Wrap("erase events", err)
	}
	return n, nil
}

// eachBlank yields the events of a JSON list of ids that are not blank yet, with their
// blanks.
func eachBlank(ctx context.Context, q sqlitedb.Querier, key sessionstore.Key, list string,
	yield func(eventRow, sessionstore.Event) error) error {
	found, err := sqlitedb.Collect(ctx, q, scanEventRow, `SELECT e.ref, e.seq, e.time, e.id, e.doc
		FROM sessions s INDEXED BY sessions_user JOIN events e ON e.ref = s.ref
		WHERE app = ? AND user = ? AND s.id = ? AND e.id IN (SELECT value FROM json_each(?))`,
		key.App, key.User, key.ID, list)
	for _, e := range found {
		was := e.read(q)
		blank, err := sessionstore.Blank(was)
		if err != nil || string(blank.Doc) == string(was.Doc) {
			continue
		}
		if err := yield(e, blank); err != nil {
			return err
		}
	}
	return err
}

// storeBlank blanks an event. A worker that has read it is like one whose lease has
// ended: its claim is void.
func storeBlank(tx *sqlitedb.Tx, e eventRow, blank sessionstore.Event) error {
	_, err := tx.Exec(`UPDATE events SET doc = ? WHERE ref = ? AND seq = ?`, sqlitedb.Seal(blank.Doc), e.ref, e.seq)
	if err == nil {
		_, err = tx.Exec(`DELETE FROM changes WHERE ref = ? AND seq = ?`, e.ref, e.seq)
	}
	if err == nil {
		_, err = tx.Exec(`UPDATE sessions SET plan = NULL, plan_to = 0, attempts = attempts + (attempts > 0)
			WHERE ref = ?`, e.ref)
	}
	return err
}

// erase hides the lives of a scope, or those of one session id, in one transaction, and
// then removes their rows in several. A start goes on with what was hidden. A dry run only
// counts them.
func (s *Store) erase(ctx context.Context, scope memory.Scope, id string, user, dryRun bool) (
	out sessionstore.Erased, err error) {
	if dryRun {
		err = s.db.Read(ctx, func(tx *sql.Tx) error {
			return s.eachLife(ctx, tx, scope, id, user, func(l life) { l.count(&out) })
		})
		return out, err
	}
	err = s.db.Write(ctx, sqlitedb.For(scope).Freeing(), func(tx *sqlitedb.Tx) error {
		out = sessionstore.Erased{}
		if err := s.beginErase(tx, scope, id, user, &out); err != nil {
			return err
		}
		return s.release(tx, scope)
	})
	s.notify.Changed(sessionstore.Key{Scope: scope, ID: id})
	if err != nil {
		return out, err
	}
	return out, s.finishErase(ctx)
}

const (
	ofScope = ` WHERE app = ?1 AND user = ?2`
	livesOf = ofScope + ` AND (?3 OR id = ?4)` // of a user, or of a session id
)

// life is one life of a session id.
type life struct {
	ref     int64
	id      string
	deleted int // 1 for one that has expired too, and 2 for one that an erasing has hidden
	events  int
}

// count counts a life that is erased, unless an erasing hid it before: that one has counted it.
func (l *life) count(out *sessionstore.Erased) {
	if l.deleted == 0 {
		out.Sessions++
	}
	if l.deleted != 2 {
		out.Events += l.events
	}
}

// eachLife yields the lives of a user, or those of one session id.
func (s *Store) eachLife(ctx context.Context, q sqlitedb.Querier, scope memory.Scope, id string, user bool,
	yield func(life)) error {
	return sqlitedb.Each(ctx, q, func(rows *sql.Rows) error {
		var l life
		err := rows.Scan(&l.ref, &l.id, &l.deleted, &l.events)
		if err == nil {
			yield(l)
		}
		return err
	}, `SELECT ref, id, CASE WHEN deleted = 0 AND NOT (expire_time = 0 OR expire_time > ?5) THEN 1 ELSE deleted END, seq
		FROM sessions INDEXED BY sessions_user`+livesOf, scope.App, scope.User, user, id, s.now().UnixMicro())
}

// beginErase hides the lives and removes what is found by the scope. Operations of lives
// that are gone already go here too, with their changes.
func (s *Store) beginErase(tx *sqlitedb.Tx, scope memory.Scope, id string, user bool, out *sessionstore.Erased) error {
	sessions := ofScope + ` AND (?3 OR session = ?4)`
	args := []any{scope.App, scope.User, user, id}
	err := s.eachLife(context.Background(), tx, scope, id, user, func(l life) {
		l.count(out)
		key := sessionstore.Key{Scope: scope, ID: l.id}
		out.Lives = append(out.Lives, sessionstore.Life(key, strconv.FormatInt(l.ref, 10)))
	})
	if err != nil {
		return err
	}
	for _, statement := range []string{
		`DELETE FROM changes WHERE ref IN (SELECT ref FROM operations` + sessions + `)`,
		`DELETE FROM operations` + sessions,
		`UPDATE sessions SET deleted = 2, requested = done, failed = 0, plan = NULL, last_error = '',
			wait_to = 0, wait_since = 0, wait_last = 0, wait_due = 0, wait_op = 0` + livesOf,
	} {
		if _, err := tx.Exec(statement, args...); err != nil {
			return err
		}
	}
	if user {
		_, err = tx.Exec(`DELETE FROM user_state`+ofScope, scope.App, scope.User)
		if err == nil {
			_, err = tx.Exec(`DELETE FROM shared_bytes`+ofScope, scope.App, scope.User)
		}
	}
	return err
}

// finishErase removes the rows of hidden lives until none is left, and then what the
// file's log has of them.
func (s *Store) finishErase(ctx context.Context) error {
	for left := true; left; {
		err := s.db.Write(ctx, sqlitedb.For(memory.Scope{}).Freeing(), func(tx *sqlitedb.Tx) error {
			refs, err := sqlitedb.Collect(ctx, tx, func(rows *sql.Rows) (ref int64, err error) {
				return ref, rows.Scan(&ref)
			}, `SELECT ref FROM sessions WHERE deleted = 2 LIMIT ?`, erasedTogether)
			left = len(refs) > 0
			for _, ref := range refs {
				if done, err := eraseLife(tx, ref); err != nil || !done {
					return err
				}
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return s.db.Scrub(ctx)
}

// resumeErase finishes an erasing that an earlier process has begun.
func (s *Store) resumeErase(ctx context.Context) error {
	var left bool
	err := s.db.Read(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM sessions WHERE deleted = 2)`).Scan(&left)
	})
	if err != nil || !left {
		return err
	}
	return s.finishErase(ctx)
}

// eraseLife removes rows of a life, and reports whether that was all of them.
func eraseLife(tx *sqlitedb.Tx, ref int64) (done bool, err error) {
	for _, rows := range []string{"events WHERE ref = ?1 AND seq IN (SELECT seq FROM events WHERE ref = ?1 LIMIT ?2)",
		"changes WHERE rowid IN (SELECT rowid FROM changes WHERE ref = ?1 LIMIT ?2)",
		"session_state WHERE ref = ?1 AND key IN (SELECT key FROM session_state WHERE ref = ?1 LIMIT ?2)"} {
		res, err := tx.Exec(`DELETE FROM `+rows, ref, erasedRows)
		if err != nil {
			return false, err
		}
		if n, err := res.RowsAffected(); err != nil || n == erasedRows {
			return false, err
		}
	}
	_, err = tx.Exec(`DELETE FROM sessions WHERE ref = ?`, ref)
	return true, err
}

// EraseApp implements sessionstore.Eraser.
func (s *Store) EraseApp(ctx context.Context, app string) error {
	err := s.db.Write(ctx, sqlitedb.Urgent(), func(tx *sqlitedb.Tx) error {
		_, err := tx.Exec(`DELETE FROM app_state WHERE app = ?`, app)
		if err == nil {
			_, err = tx.Exec(`DELETE FROM shared_bytes WHERE app = ? AND user = ''`, app)
		}
		if err == nil {
			_, err = tx.Exec(`DELETE FROM configs WHERE app = ?`, app)
		}
		return err
	})
	if err == nil {
		err = s.db.Scrub(ctx)
	}
	if err != nil {
		return fmt.Errorf("erase app %q: %w", app, err)
	}
	return nil
}

// nextName reads the names after ?1, each with one step in an index.
const nextName = `WITH RECURSIVE names (name, n) AS (
	SELECT (%[1]s), 0
	UNION ALL SELECT (%[2]s), n + 1 FROM names WHERE name IS NOT NULL AND n < ?2)
	SELECT name FROM names WHERE name IS NOT NULL LIMIT ?2`

// names reads a page of names; least selects the least name after %s.
func (s *Store) names(ctx context.Context, least, after string, limit int, args ...any) (out []string, err error) {
	query := fmt.Sprintf(nextName, fmt.Sprintf(least, "?1"), fmt.Sprintf(least, "names.name"))
	err = s.db.Read(ctx, func(tx *sql.Tx) (err error) {
		out, err = sqlitedb.Collect(ctx, tx, func(rows *sql.Rows) (name string, err error) {
			return name, rows.Scan(&name)
		}, query, append([]any{after, limit}, args...)...)
		return err
	})
	return out, err
}

// Users implements sessionstore.Eraser.
func (s *Store) Users(ctx context.Context, app, after string, limit int) ([]string, error) {
	out, err := s.names(ctx, `SELECT min(u) FROM (
		SELECT min(user) AS u FROM sessions INDEXED BY sessions_user WHERE app = ?3 AND user > %[1]s
		UNION ALL SELECT min(user) FROM user_state WHERE app = ?3 AND user > %[1]s)`, after, limit, app)
	if err != nil {
		return nil, fmt.Errorf("list users of app %q: %w", app, err)
	}
	return out, nil
}

// Apps implements sessionstore.Eraser.
func (s *Store) Apps(ctx context.Context, after string, limit int) ([]string, error) {
	out, err := s.names(ctx, `SELECT min(a) FROM (
		SELECT min(app) AS a FROM sessions INDEXED BY sessions_user WHERE app > %[1]s
		UNION ALL SELECT min(app) FROM user_state WHERE app > %[1]s
		UNION ALL SELECT min(app) FROM app_state WHERE app > %[1]s
		UNION ALL SELECT min(app) FROM configs WHERE app > %[1]s)`, after, limit)
	if err != nil {
		return nil, fmt.Errorf("list apps: %w", err)
	}
	return out, nil
}

// EraseKeys implements access.Keys.
func (s *Store) EraseKeys(ctx context.Context, app, user string) error {
	err := s.changeKeys(ctx, func(tx *sqlitedb.Tx) (bool, error) {
		return tx.Changes(`DELETE FROM keys WHERE app = ? AND user = ?`, app, user)
	})
	if err == nil {
		err = s.db.Scrub(ctx)
	}
	if err != nil {
		return fmt.Errorf("erase keys of app %q, user %q: %w", app, user, err)
	}
	return nil
}

// rewriteTogether is how many entries of the audit log one transaction looks at.
const rewriteTogether = 1000

// RewriteAudit implements access.Audit.
func (s *Store) RewriteAudit(ctx context.Context, app string, change func(*access.Entry) bool) error {
	last := int64(0)
	for left := true; left; {
		err := s.db.Write(ctx, sqlitedb.For(memory.Scope{}).Freeing(), func(tx *sqlitedb.Tx) error {
			rows, err := sqlitedb.Collect(ctx, tx, func(rows *sql.Rows) (r auditRow, err error) {
				return r, rows.Scan(&r.n, &r.doc)
			}, `SELECT n, doc FROM audit_log WHERE app = ? AND n > ? ORDER BY n LIMIT ?`, app, last, rewriteTogether)
			left = len(rows) == rewriteTogether
			for _, r := range rows {
				if err := rewriteEntry(tx, r, change); err != nil {
					return err
				}
				last = r.n
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("rewrite the audit log of app %q: %w", app, err)
		}
	}
	return s.db.Scrub(ctx)
}

// rewriteEntry stores an entry of the log if change has changed it.
func rewriteEntry(tx *sqlitedb.Tx, r auditRow, change func(*access.Entry) bool) error {
	var e access.Entry
	if err := json.Unmarshal(r.doc, &e); err != nil {
		return fmt.Errorf("entry %d: %w", r.n, err)
	}
	if !change(&e) {
		return nil
	}
	doc, err := json.Marshal(e)
	if err == nil {
		_, err = tx.Exec(`UPDATE audit_log SET doc = ? WHERE n = ?`, doc, r.n)
	}
	return err
}
