package sqlitestore

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"errors"
	"slices"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
)

// schemaRevoked has the lives whose writes are refused, as keyed hashes, and since when.
const schemaRevoked = `
CREATE TABLE revoked (life BLOB PRIMARY KEY, time INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`

// erasedTogether is how many memories one transaction erases. Others write in between.
const erasedTogether = 500

// erasable is a memory of a scope that an erasing looks at: all that it has been.
type erasable struct {
	n     int64
	now   memory.Memory
	steps []pastStep
}

// pastStep is a past revision with its own copy of the memory.
type pastStep struct {
	revision int64
	memory   memory.Memory
}

// Erase implements memory.Store.
func (s *Store) Erase(ctx context.Context, scope memory.Scope, which memory.Erasure) (out memory.Erased, err error) {
	if err := which.Validate(); err != nil {
		return out, scope.Wrap("erase memories", err)
	}
	var rows []int64
	var links []erasable
	if which.All {
		rows, err = s.rowsOf(ctx, scope)
	} else {
		rows, links, err = s.findErasable(ctx, scope, which)
	}
	for some := range slices.Chunk(rows, erasedTogether) {
		if err == nil {
			err = s.eraseRows(ctx, scope, some, &out)
		}
	}
	if err == nil {
		err = s.unlink(ctx, scope, links)
	}
	if err == nil {
		err = s.db.Scrub(ctx)
	}
	if err != nil {
		return out, scope.Wrap("erase memories", err)
	}
	return out, nil
}

// rowsOf reads the numbers of all memories of a scope.
func (s *Store) rowsOf(ctx context.Context, scope memory.Scope) (rows []int64, err error) {
	err = s.db.Read(ctx, func(tx *sql.Tx) (err error) {
		rows, err = sqlitedb.Collect(ctx, tx, scanNumber, `SELECT n FROM memories WHERE `+inScope,
			scope.App, scope.User)
		return err
	})
	return rows, err
}

func scanNumber(rows *sql.Rows) (n int64, err error) { return n, rows.Scan(&n) }

// findErasable reads all memories of a scope with their histories. It returns the rows
// of those that are to be erased, and the others that name one of them, without its id.
func (s *Store) findErasable(ctx context.Context, scope memory.Scope, which memory.Erasure) (
	rows []int64, links []erasable, err error) {
	var left []erasable
	erased := map[string]bool{}
	for after := int64(0); ; {
		var page []erasable
		err := s.db.Read(ctx, func(tx *sql.Tx) (err error) {
			page, err = s.readErasable(ctx, tx, scope, after)
			return err
		})
		if err != nil {
			return nil, nil, err
		}
		if len(page) == 0 {
			break
		}
		for _, e := range page {
			after = e.n
			takes := which.Takes(&e.now) ||
				slices.ContainsFunc(e.steps, func(p pastStep) bool { return which.Takes(&p.memory) })
			if takes {
				rows, erased[e.now.ID] = append(rows, e.n), true
			} else if e.linked() {
				left = append(left, e)
			}
		}
	}
	for _, e := range left {
		if e.unlink(erased) {
			links = append(links, e)
		}
	}
	return rows, links, nil
}

// linked reports whether a memory names another one, or did so once.
func (e *erasable) linked() bool {
	names := func(m *memory.Memory) bool { return m.SupersededBy != "" || len(m.Forgotten) > 0 }
	return names(&e.now) || slices.ContainsFunc(e.steps, func(p pastStep) bool { return names(&p.memory) })
}

// unlink removes the ids of erased memories, and keeps of the steps those that changed.
func (e *erasable) unlink(erased map[string]bool) (changed bool) {
	changed = e.now.Unlink(erased)
	var steps []pastStep
	for _, p := range e.steps {
		if p.memory.Unlink(erased) {
			steps = append(steps, p)
		}
	}
	e.steps = steps
	return changed || len(e.steps) > 0
}

// readErasable reads a page of memories behind row after. One that cannot be read has its
// columns alone: it can be erased, like any other.
func (s *Store) readErasable(ctx context.Context, tx *sql.Tx, scope memory.Scope, after int64) ([]erasable, error) {
	out, err := sqlitedb.Collect(ctx, tx, func(rows *sql.Rows) (e erasable, err error) {
		var id, session string
		var doc []byte
		if err := rows.Scan(&e.n, &id, &session, &doc); err != nil {
			return e, err
		}
		if decode(doc, &e.now) != nil {
			e.now = memory.Memory{ID: id, Source: memory.Source{SessionID: session}}
		}
		return e, nil
	}, `SELECT n, id, session, doc FROM memories WHERE `+inScope+` AND n > ? ORDER BY n LIMIT ?`,
		scope.App, scope.User, after, erasedTogether)
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i].steps, err = sqlitedb.Collect(ctx, tx, func(rows *sql.Rows) (p pastStep, err error) {
			var doc []byte
			if err := rows.Scan(&p.revision, &doc); err != nil {
				return p, err
			}
			_ = decode(doc, &p.memory) // a damaged one is not the only one
			return p, nil
		}, `SELECT revision, doc FROM revisions WHERE memory = ? AND doc IS NOT NULL`, out[i].n)
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// eraseRows erases some memories in one transaction, and the row of a scope of which
// nothing is left.
func (s *Store) eraseRows(ctx context.Context, scope memory.Scope, rows []int64, out *memory.Erased) error {
	var erased memory.Erased
	err := s.write(ctx, sqlitedb.For(scope).Freeing(), func(tx *sqlitedb.Tx) error {
		erased = memory.Erased{}
		for _, n := range rows {
			revisions, err := affected(tx, `DELETE FROM revisions WHERE memory = ?`, n)
			if err != nil {
				return err
			}
			memories, err := affected(tx, `DELETE FROM memories WHERE n = ?`, n)
			if err != nil {
				return err
			}
			erased.Add(memory.Erased{Memories: memories, Revisions: revisions})
		}
		tx.OnCommit(func() { s.cache.Drop(scope) })
		_, err := tx.Exec(`DELETE FROM scopes WHERE app = ?1 AND user = ?2
			AND NOT EXISTS (SELECT 1 FROM memories WHERE scope = scopes.n)`, scope.App, scope.User)
		return err
	})
	if err == nil {
		out.Add(erased)
	}
	return err
}

func affected(tx *sqlitedb.Tx, query string, args ...any) (int, error) {
	res, err := tx.Exec(query, args...)
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	return int(n), err
}

// unlink stores memories that no longer name what was erased, if they are still at the
// revision that was read: what a later one names, it names of what is there.
func (s *Store) unlink(ctx context.Context, scope memory.Scope, links []erasable) error {
	for some := range slices.Chunk(links, erasedTogether) {
		err := s.write(ctx, sqlitedb.For(scope).Freeing(), func(tx *sqlitedb.Tx) error {
			for i := range some {
				if err := some[i].store(tx); err != nil {
					return err
				}
			}
			tx.OnCommit(func() { s.cache.Drop(scope) })
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *erasable) store(tx *sqlitedb.Tx) error {
	doc, err := seal(memory.EncodeJSON(&e.now))
	if err != nil {
		return err
	}
	changed, err := tx.Changes(`UPDATE memories SET doc = ? WHERE n = ? AND revision = ?`, doc, e.n, e.now.Revision)
	if err == nil && !changed { // a newer revision has its own copy of this one
		_, err = tx.Exec(`UPDATE revisions SET doc = ? WHERE memory = ? AND revision = ?`, doc, e.n, e.now.Revision)
	}
	for _, p := range e.steps {
		if err != nil {
			return err
		}
		if doc, err = seal(memory.EncodeJSON(&p.memory)); err == nil {
			_, err = tx.Exec(`UPDATE revisions SET doc = ? WHERE memory = ? AND revision = ?`, doc, e.n, p.revision)
		}
	}
	return err
}

// lifeHash is a life as the file keeps it.
func (s *Store) lifeHash(life string) []byte {
	h := hmac.New(sha256.New, []byte(s.id))
	h.Write([]byte(life))
	return h.Sum(nil)[:16]
}

// Revoke implements memory.Store.
func (s *Store) Revoke(ctx context.Context, scope memory.Scope, lives []string) error {
	err := memory.ValidateLives(lives)
	if err == nil && len(lives) > 0 {
		err = s.db.Write(ctx, sqlitedb.For(scope).Freeing(), func(tx *sqlitedb.Tx) error {
			now := s.now()
			for _, life := range lives {
				if _, err := tx.Exec(`INSERT INTO revoked VALUES (?1, ?2) ON CONFLICT DO UPDATE SET time = ?2`,
					s.lifeHash(life), now.UnixMicro()); err != nil {
					return err
				}
			}
			_, err := tx.Exec(`DELETE FROM revoked WHERE time < ?`, now.Add(-memory.RevokedFor).UnixMicro())
			return err
		})
	}
	if err != nil {
		return scope.Wrap("revoke writes", err)
	}
	return nil
}

// revoked reports whether the write comes from what was erased.
func (s *Store) revoked(tx *sqlitedb.Tx, w *memory.Write) (bool, error) {
	if w.Life == "" {
		return false, nil
	}
	err := tx.QueryRow(`SELECT 1 FROM revoked WHERE life = ?`, s.lifeHash(w.Life)).Scan(new(int))
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// Users implements memory.Store.
func (s *Store) Users(ctx context.Context, app, after string, limit int) ([]string, error) {
	out, err := s.names(ctx, `SELECT user FROM scopes WHERE app = ?3 AND user > ?1 AND EXISTS
		(SELECT 1 FROM memories WHERE scope = scopes.n) ORDER BY user LIMIT ?2`, after, limit, app)
	if err != nil {
		return nil, memory.Scope{App: app}.Wrap("list users of memories", err)
	}
	return out, nil
}

// Apps implements memory.Store.
func (s *Store) Apps(ctx context.Context, after string, limit int) ([]string, error) {
	out, err := s.names(ctx, `SELECT DISTINCT app FROM scopes WHERE app > ?1 AND EXISTS
		(SELECT 1 FROM memories WHERE scope = scopes.n) ORDER BY app LIMIT ?2`, after, limit)
	if err != nil {
		return nil, memory.Scope{}.Wrap("list apps of memories", err)
	}
	return out, nil
}

func (s *Store) names(ctx context.Context, query, after string, limit int, args ...any) (out []string, err error) {
	err = s.db.Read(ctx, func(tx *sql.Tx) (err error) {
		out, err = sqlitedb.Collect(ctx, tx, func(rows *sql.Rows) (name string, err error) {
			return name, rows.Scan(&name)
		}, query, append([]any{after, limit}, args...)...)
		return err
	})
	return out, err
}
