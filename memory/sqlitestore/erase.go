package sqlitestore

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"errors"
	"maps"
	"slices"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
)

// schemaRevoked has the lives whose writes are refused, as keyed hashes, and since when.
const schemaRevoked = `
CREATE TABLE revoked (life BLOB PRIMARY KEY, time INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`

// Bounds on one transaction of an erasing. Others write in between.
const (
	erasedTogether = 200 // memories
	readTogether   = 500 // memories that are read for it
)

// erasable is a memory of a scope that an erasing looks at: all that it has been.
type erasable struct {
	n      int64
	now    memory.Memory
	steps  []pastStep
	stored int // see doomed
}

// pastStep is a past revision with its own copy of the memory.
type pastStep struct {
	revision int64
	memory   memory.Memory
}

// doomed is a memory that is to be erased.
type doomed struct {
	n        int64
	id       string
	revision int64 // that it is at
	stored   int   // how many revisions the file has: others have expired
	only     bool  // it is erased at this revision only
}

// storedRevisions is the column of doomed.stored, of table memories.
const storedRevisions = `(SELECT count(*) FROM revisions WHERE memory = n)`

// Erase implements memory.Store.
func (s *Store) Erase(ctx context.Context, scope memory.Scope, which memory.Erasure) (out memory.Erased, err error) {
	switch err = which.Validate(); {
	case err != nil:
	case which.DryRun:
		err = s.find(ctx, scope, which, func(d doomed) {
			out.Add(memory.Erased{Memories: 1, Revisions: d.stored})
		}, nil)
	default:
		if out, err = s.erase(ctx, scope, which); err == nil {
			err = s.db.Scrub(ctx)
		}
	}
	if err != nil {
		return out, scope.Wrap("erase memories", err)
	}
	return out, nil
}

// find yields the memories that an erasing takes and, unless leave is nil, those that it
// leaves and that may name one of these.
func (s *Store) find(ctx context.Context, scope memory.Scope, which memory.Erasure,
	take func(doomed), leave func(erasable)) error {
	switch {
	case which.All:
		return s.findAll(ctx, scope, take)
	case len(which.Sessions) == 0:
		return s.findNamed(ctx, scope, which.Named(), take, leave)
	}
	return s.findErasable(ctx, scope, which, take, leave)
}

func (s *Store) erase(ctx context.Context, scope memory.Scope, which memory.Erasure) (out memory.Erased, err error) {
	var rows []doomed
	var left []erasable
	err = s.find(ctx, scope, which, func(d doomed) { rows = append(rows, d) },
		func(e erasable) { left = append(left, e) })
	links := linksTo(rows, left)
	for some := range slices.Chunk(rows, erasedTogether) {
		if err == nil {
			err = s.eraseRows(ctx, scope, some, links, &out)
		}
	}
	if which.All && err == nil {
		s.cache.Drop(scope)
	}
	return out, err
}

// linksTo returns the memories that name one of some that are to be erased, or have done
// so, by the id that they name.
func linksTo(rows []doomed, left []erasable) map[string][]*erasable {
	erased := make(map[string]bool, len(rows))
	for _, d := range rows {
		erased[d.id] = true
	}
	out := map[string][]*erasable{}
	for i := range left {
		e := &left[i]
		note := func(m *memory.Memory) {
			for _, id := range append([]string{m.SupersededBy}, m.Forgotten...) {
				if has := out[id]; erased[id] && (len(has) == 0 || has[len(has)-1] != e) {
					out[id] = append(has, e)
				}
			}
		}
		note(&e.now)
		for j := range e.steps {
			note(&e.steps[j].memory)
		}
	}
	return out
}

// eachDoomed yields the memories of a scope that meet a condition.
func eachDoomed(ctx context.Context, tx *sql.Tx, scope memory.Scope, yield func(doomed), condition string,
	args ...any) error {
	return sqlitedb.Each(ctx, tx, func(rows *sql.Rows) error {
		var d doomed
		err := rows.Scan(&d.n, &d.id, &d.revision, &d.stored)
		if err == nil {
			yield(d)
		}
		return err
	}, `SELECT n, id, revision, `+storedRevisions+` FROM memories WHERE `+inScope+condition,
		append([]any{scope.App, scope.User}, args...)...)
}

// findAll yields the memories that a scope has.
func (s *Store) findAll(ctx context.Context, scope memory.Scope, take func(doomed)) error {
	return s.db.Read(ctx, func(tx *sql.Tx) error { return eachDoomed(ctx, tx, scope, take, "") })
}

// findNamed is find for memories by their ids, at the revisions that they are to be erased
// at.
func (s *Store) findNamed(ctx context.Context, scope memory.Scope, named map[string]int64,
	take func(doomed), leave func(erasable)) error {
	found := false
	for some := range slices.Chunk(slices.Collect(maps.Keys(named)), readTogether) {
		err := s.db.Read(ctx, func(tx *sql.Tx) (err error) {
			for _, id := range some {
				if err == nil {
					err = eachDoomed(ctx, tx, scope, func(d doomed) {
						if d.only = named[id] != 0; !d.only || d.revision == named[id] {
							take(d)
							found = true
						}
					}, ` AND id = ?`, id)
				}
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	if !found || leave == nil {
		return nil
	}
	return s.eachErasable(ctx, scope, mayLink, func(e erasable) {
		if e.linked() {
			leave(e)
		}
	})
}

// mayLink is a condition on table memories that holds for all memories that name another
// one, or have done so, and for few others: most are read no further.
const mayLink = ` AND (revision > 1 OR instr(doc, CAST('"supersededBy"' AS BLOB)) > 0
	OR instr(doc, CAST('"forgotten"' AS BLOB)) > 0)`

// findErasable is find by what memories have been: it reads all of a scope with their
// histories.
func (s *Store) findErasable(ctx context.Context, scope memory.Scope, which memory.Erasure,
	take func(doomed), leave func(erasable)) error {
	named := which.Named()
	return s.eachErasable(ctx, scope, "", func(e erasable) {
		_, takes := named[e.now.ID]
		takes = takes || which.Takes(&e.now) ||
			slices.ContainsFunc(e.steps, func(p pastStep) bool { return which.Takes(&p.memory) })
		if takes {
			take(doomed{n: e.n, id: e.now.ID, revision: e.now.Revision, stored: e.stored})
		} else if leave != nil && e.linked() {
			leave(e)
		}
	})
}

// eachErasable yields the memories of a scope that meet a condition, with their histories.
func (s *Store) eachErasable(ctx context.Context, scope memory.Scope, condition string, yield func(erasable)) error {
	for after := int64(0); ; {
		var page []erasable
		err := s.db.Read(ctx, func(tx *sql.Tx) (err error) {
			page, err = s.readErasable(ctx, tx, scope, condition, after)
			return err
		})
		if err != nil || len(page) == 0 {
			return err
		}
		for _, e := range page {
			after = e.n
			yield(e)
		}
	}
}

// linked reports whether a memory names another one, or did so once.
func (e *erasable) linked() bool {
	names := func(m *memory.Memory) bool { return m.SupersededBy != "" || len(m.Forgotten) > 0 }
	return names(&e.now) || slices.ContainsFunc(e.steps, func(p pastStep) bool { return names(&p.memory) })
}

// readErasable reads a page of memories behind row after. One that cannot be read has its
// columns alone: it can be erased, like any other.
func (s *Store) readErasable(ctx context.Context, tx *sql.Tx, scope memory.Scope, condition string, after int64) (
	[]erasable, error) {
	out, err := sqlitedb.Collect(ctx, tx, func(rows *sql.Rows) (e erasable, err error) {
		var id, session string
		var doc []byte
		var revision int64
		if err := rows.Scan(&e.n, &id, &session, &revision, &doc, &e.stored); err != nil {
			return e, err
		}
		if decode(doc, &e.now) != nil {
			e.now = memory.Memory{ID: id, Revision: revision, Source: memory.Source{SessionID: session}}
		}
		return e, nil
	}, `SELECT n, id, session, revision, doc, `+storedRevisions+` FROM memories WHERE `+inScope+` AND n > ?`+condition+`
		ORDER BY n LIMIT ?`, scope.App, scope.User, after, readTogether)
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

// eraseRows erases some memories in one transaction, with the row of a scope of which
// nothing is left. Others no longer name them from then on.
func (s *Store) eraseRows(ctx context.Context, scope memory.Scope, rows []doomed, links map[string][]*erasable,
	out *memory.Erased) error {
	var erased memory.Erased
	err := s.write(ctx, sqlitedb.For(scope).Freeing(), func(tx *sqlitedb.Tx) error {
		erased = memory.Erased{}
		gone := map[string]bool{}
		for _, d := range rows {
			did, err := d.erase(tx, &erased)
			if err != nil {
				return err
			}
			if did {
				gone[d.id] = true
				if _, err := tx.Exec(`DELETE FROM links WHERE scope = (SELECT n FROM scopes WHERE app = ? AND user = ?)
					AND target = ?`, scope.App, scope.User, d.id); err != nil {
					return err
				}
				tx.OnCommit(func() { s.cache.Remove(scope, &memory.Memory{ID: d.id, Revision: d.revision + 1}) })
			}
		}
		if len(gone) > 0 {
			if err := s.noteRemoval(tx); err != nil {
				return err
			}
		}
		if err := s.unlink(tx, scope, gone, links); err != nil {
			return err
		}
		_, err := tx.Exec(`DELETE FROM scopes WHERE app = ?1 AND user = ?2
			AND NOT EXISTS (SELECT 1 FROM memories WHERE scope = scopes.n)`, scope.App, scope.User)
		return err
	})
	if err == nil {
		out.Add(erased)
	}
	return err
}

// erase removes the rows of a memory, and reports whether there was one.
func (d *doomed) erase(tx *sqlitedb.Tx, out *memory.Erased) (did bool, err error) {
	only := int64(0)
	if d.only {
		only = d.revision
	}
	memories, err := affected(tx, `DELETE FROM memories WHERE n = ?1 AND id = ?2 AND (?3 = 0 OR revision = ?3)`,
		d.n, d.id, only)
	if err != nil || memories == 0 {
		return false, err
	}
	revisions, err := affected(tx, `DELETE FROM revisions WHERE memory = ?`, d.n)
	out.Add(memory.Erased{Memories: memories, Revisions: revisions})
	return true, err
}

func affected(tx *sqlitedb.Tx, query string, args ...any) (int, error) {
	res, err := tx.Exec(query, args...)
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	return int(n), err
}

// unlink has the memories that name one that is gone no longer do so, if they are still
// at the revision that was read: what a later one names, it names of what is there.
func (s *Store) unlink(tx *sqlitedb.Tx, scope memory.Scope, gone map[string]bool, links map[string][]*erasable) error {
	changed := map[*erasable]bool{}
	for id := range gone {
		for _, e := range links[id] {
			changed[e] = true
		}
	}
	if len(changed) == 0 {
		return nil
	}
	for e := range changed {
		if err := e.unlink(tx, gone); err != nil {
			return err
		}
	}
	tx.OnCommit(func() { s.cache.Drop(scope) })
	return nil
}

// unlink stores what changes of a memory and of its past revisions.
func (e *erasable) unlink(tx *sqlitedb.Tx, gone map[string]bool) error {
	if e.now.Unlink(gone) {
		doc, err := seal(memory.EncodeJSON(&e.now))
		if err != nil {
			return err
		}
		changed, err := tx.Changes(`UPDATE memories SET doc = ? WHERE n = ? AND id = ? AND revision = ?`,
			doc, e.n, e.now.ID, e.now.Revision)
		if err == nil && !changed { // a newer revision has its own copy of this one
			_, err = tx.Exec(`UPDATE revisions SET doc = ?1 WHERE memory = ?2 AND revision = ?3
				AND EXISTS (SELECT 1 FROM memories WHERE n = ?2 AND id = ?4)`, doc, e.n, e.now.Revision, e.now.ID)
		}
		if err != nil {
			return err
		}
	}
	for i := range e.steps {
		p := &e.steps[i]
		if !p.memory.Unlink(gone) {
			continue
		}
		doc, err := seal(memory.EncodeJSON(&p.memory))
		if err != nil {
			return err
		}
		if _, err = tx.Exec(`UPDATE revisions SET doc = ?1 WHERE memory = ?2 AND revision = ?3
			AND EXISTS (SELECT 1 FROM memories WHERE n = ?2 AND id = ?4)`, doc, e.n, p.revision, e.now.ID); err != nil {
			return err
		}
	}
	return nil
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
	out, err := s.names(ctx, `SELECT user FROM scopes WHERE app = ?3 AND user > ?1 AND user NOT LIKE '/%' AND EXISTS
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
