package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
)

// Column expires of memories is when a memory expires, NULL for never. Table links has the
// ids that memories name, or have named at a past revision, so that a sweep finds them. A
// memory that was written before this step has -1 in expires and no links yet: the first
// sweeps read it.
const schemaSweep = `
ALTER TABLE memories ADD COLUMN expires INTEGER DEFAULT -1;
CREATE INDEX memories_expires ON memories (expires) WHERE expires IS NOT NULL;
CREATE TABLE links (
  scope  INTEGER NOT NULL, -- of both memories
  target TEXT NOT NULL,    -- the id that is named
  memory INTEGER NOT NULL, -- memories.n of the memory that names it
  PRIMARY KEY (scope, target, memory)
) STRICT, WITHOUT ROWID;
CREATE INDEX links_memory ON links (memory);
CREATE TRIGGER links_delete AFTER DELETE ON memories BEGIN DELETE FROM links WHERE memory = old.n; END;
`

// Column expires of revisions is when a revision expires, NULL for never. The indexes have
// those that a sweep may remove: past ones, which have their own doc, and deletions. Column
// removed of memories is how many revisions of the memory are no longer in revisions.
const schemaRevisionExpiry = `
ALTER TABLE revisions ADD COLUMN expires INTEGER;
CREATE INDEX revisions_expires ON revisions (expires) WHERE expires IS NOT NULL AND doc IS NOT NULL;
CREATE INDEX revisions_deletions ON revisions (expires)
  WHERE expires IS NOT NULL AND doc IS NULL AND action = 'DELETED';
ALTER TABLE memories ADD COLUMN removed INTEGER NOT NULL DEFAULT 0;
`

// pasts and deletions are conditions on revisions r that these indexes are of.
const (
	pasts     = `r.expires IS NOT NULL AND r.doc IS NOT NULL`
	deletions = `r.expires IS NOT NULL AND r.doc IS NULL AND r.action = 'DELETED'`
)

// shown is a condition on revisions r that a read at a time shows; see memory.Kept.
const shown = `(r.expires IS NULL OR r.expires > ? OR (r.doc IS NULL AND r.action <> 'DELETED'))`

// vanished is a condition on memories m of which nothing is left at a time, as they were
// deleted by a revision that has expired.
const vanished = `EXISTS (SELECT 1 FROM revisions r WHERE r.memory = m.n AND r.revision = m.revision
	AND r.action = 'DELETED' AND r.expires <= ?)`

// unknownExpiry is the value of column expires for a memory whose doc is yet to be read.
const unknownExpiry = -1

// sweptTogether is how many memories one transaction of a sweep removes: some milliseconds,
// of which the flush of the disk is a small part.
const sweptTogether = 400

// expiryOf is the value of column expires for a memory.
func expiryOf(m *memory.Memory) any {
	if m.ExpireTime.IsZero() {
		return nil
	}
	return m.ExpireTime.UnixMicro()
}

// link notes which ids row n names.
func link(tx *sqlitedb.Tx, scope, n int64, m *memory.Memory) error {
	for _, id := range append([]string{m.SupersededBy}, m.Forgotten...) {
		if id == "" {
			continue
		}
		if _, err := tx.Exec(`INSERT INTO links VALUES (?, ?, ?) ON CONFLICT DO NOTHING`, scope, id, n); err != nil {
			return err
		}
	}
	return nil
}

// swept is a memory that a sweep removes.
type swept struct {
	n, revision, number int64 // number is that of its scope
	id                  string
	scope               memory.Scope
}

func scanSwept(rows *sql.Rows) (e swept, err error) {
	return e, rows.Scan(&e.n, &e.id, &e.revision, &e.number, &e.scope.App, &e.scope.User)
}

// Sweep implements memory.Sweeper.
func (s *Store) Sweep(ctx context.Context, before time.Time, limit int) (out memory.Erased, more bool, err error) {
	out, more, err = s.sweep(ctx, before, limit)
	if err == nil && !more {
		err = s.db.Shrink(ctx)
	}
	if err == nil && !more && s.swept.CompareAndSwap(true, false) {
		if err = s.db.Scrub(ctx); err != nil {
			s.swept.Store(true) // the next sweep tries again
		}
	}
	if err != nil {
		return out, false, fmt.Errorf("sweep expired memories: %w", err)
	}
	return out, more, nil
}

func (s *Store) sweep(ctx context.Context, before time.Time, limit int) (out memory.Erased, more bool, err error) {
	began := time.Now()
	if learned, err := s.learnExpiries(ctx, limit); err != nil {
		return out, true, err
	} else if learned {
		return out, true, s.db.Rest(ctx, time.Since(began))
	}
	if any, err := s.anyDue(ctx, before); err != nil || !any {
		return out, false, err
	}
	for _, some := range []func(*sqlitedb.Tx, time.Time, int, *memory.Erased) (int, error){
		s.sweepMemories, sweepRevisions} {
		for left, n := limit, 1; n > 0 && left > 0; left -= n {
			began, most := time.Now(), min(left, sweptTogether)
			if n, err = s.sweepSome(ctx, before, most, some, &out); err == nil && n == most {
				err = s.db.Rest(ctx, time.Since(began)) // there may be more
			}
			if err != nil {
				return out, true, err
			}
			more = more || n == left
		}
	}
	return out, more, nil
}

// anyDue reports whether there is something to remove: most sweeps find nothing, and then do
// not write.
func (s *Store) anyDue(ctx context.Context, before time.Time) (any bool, err error) {
	err = s.db.Read(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM memories WHERE expires < ?1)
			OR EXISTS (SELECT 1 FROM revisions r WHERE r.expires < ?1 AND `+pasts+`)
			OR EXISTS (SELECT 1 FROM revisions r WHERE r.expires < ?1 AND `+deletions+`)`,
			before.UnixMicro()).Scan(&any)
	})
	return any, err
}

// sweepSome removes some in one transaction, and returns how many.
func (s *Store) sweepSome(ctx context.Context, before time.Time, limit int,
	some func(*sqlitedb.Tx, time.Time, int, *memory.Erased) (int, error), out *memory.Erased) (n int, err error) {
	var gone memory.Erased
	err = s.write(ctx, sqlitedb.For(memory.Scope{}).Freeing(), func(tx *sqlitedb.Tx) (err error) {
		gone = memory.Erased{}
		n, err = some(tx, before, limit, &gone)
		return err
	})
	if err == nil && n > 0 {
		out.Add(gone)
		s.swept.Store(true)
	}
	return n, err
}

// sweepMemories removes up to limit memories that expired before a time, or were deleted by
// a revision that did, and has others no longer name them. The statements are about all of
// them: SQLite then goes through each table and index once.
func (s *Store) sweepMemories(tx *sqlitedb.Tx, before time.Time, limit int, out *memory.Erased) (int, error) {
	rows, err := due(tx, before, limit)
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	var numbers, scopes []int64
	gone := map[int64]map[string]bool{} // by scope
	for i := range rows {
		e := &rows[i]
		if gone[e.number] == nil {
			gone[e.number], scopes = map[string]bool{}, append(scopes, e.number)
		}
		gone[e.number][e.id], numbers = true, append(numbers, e.n)
		tx.OnCommit(func() { s.cache.Remove(e.scope, &memory.Memory{ID: e.id, Revision: e.revision + 1}) })
	}
	all := listOf(numbers)
	if err := s.unlinkSwept(tx, all, gone); err != nil {
		return 0, err
	}
	revisions, err := affected(tx, `DELETE FROM revisions WHERE memory IN (SELECT value FROM json_each(?))`, all)
	if err != nil {
		return 0, err
	}
	memories, err := affected(tx, `DELETE FROM memories WHERE n IN (SELECT value FROM json_each(?))`, all)
	if err != nil {
		return 0, err
	}
	out.Add(memory.Erased{Memories: memories, Revisions: revisions})
	if err := s.noteRemoval(tx); err != nil {
		return 0, err
	}
	_, err = tx.Exec(`DELETE FROM scopes WHERE n IN (SELECT value FROM json_each(?))
		AND NOT EXISTS (SELECT 1 FROM memories WHERE scope = scopes.n)`, listOf(scopes))
	return len(rows), err
}

// due reads up to limit memories that a sweep removes.
func due(tx *sqlitedb.Tx, before time.Time, limit int) (out []swept, err error) {
	const columns = `SELECT m.n, m.id, m.revision, m.scope, s.app, s.user FROM `
	ctx := context.Background() // a write ends as a whole
	out, err = sqlitedb.Collect(ctx, tx, scanSwept, columns+`memories m JOIN scopes s ON s.n = m.scope
		WHERE m.expires < ? ORDER BY m.expires LIMIT ?`, before.UnixMicro(), limit)
	if err != nil || len(out) == limit {
		return out, err
	}
	more, err := sqlitedb.Collect(ctx, tx, scanSwept, columns+`revisions r
		JOIN memories m ON m.n = r.memory AND m.revision = r.revision JOIN scopes s ON s.n = m.scope
		WHERE r.expires < ?1 AND `+deletions+` AND coalesce(m.expires >= ?1, 1) ORDER BY r.expires LIMIT ?2`,
		before.UnixMicro(), limit-len(out))
	return append(out, more...), err
}

// unlinkSwept has memories no longer name some that go, given as a list of their numbers,
// and as their ids by scope.
func (s *Store) unlinkSwept(tx *sqlitedb.Tx, all string, gone map[int64]map[string]bool) error {
	type naming struct {
		memory, scope int64
		target        string
	}
	found, err := sqlitedb.Collect(context.Background(), tx, func(rows *sql.Rows) (l naming, err error) {
		return l, rows.Scan(&l.memory, &l.scope, &l.target)
	}, `SELECT l.memory, l.scope, l.target FROM json_each(?1) j JOIN memories m ON m.n = j.value
		JOIN links l ON l.scope = m.scope AND l.target = m.id`, all)
	if err != nil {
		return err
	}
	seen := map[int64]bool{}
	for _, l := range found {
		if _, err := tx.Exec(`DELETE FROM links WHERE scope = ? AND target = ? AND memory = ?`, l.scope, l.target,
			l.memory); err != nil {
			return err
		}
		if seen[l.memory] {
			continue
		}
		seen[l.memory] = true
		one, err := erasableOf(tx, l.memory)
		if err == nil && one != nil && !gone[l.scope][one.now.ID] {
			tx.OnCommit(func() { s.cache.Drop(one.now.Scope) })
			err = one.unlink(tx, gone[l.scope])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sweepRevisions removes up to limit past revisions that expired before a time. Their
// memories keep the count.
func sweepRevisions(tx *sqlitedb.Tx, before time.Time, limit int, out *memory.Erased) (int, error) {
	type past struct{ memory, revision int64 }
	found, err := sqlitedb.Collect(context.Background(), tx, func(rows *sql.Rows) (p past, err error) {
		return p, rows.Scan(&p.memory, &p.revision)
	}, `SELECT r.memory, r.revision FROM revisions r WHERE r.expires < ? AND `+pasts+`
		ORDER BY r.expires LIMIT ?`, before.UnixMicro(), limit)
	if err != nil {
		return 0, err
	}
	removed := map[int64]int{} // by memory
	for _, p := range found {
		n, err := affected(tx, `DELETE FROM revisions WHERE memory = ? AND revision = ?`, p.memory, p.revision)
		if err != nil {
			return 0, err
		}
		removed[p.memory] += n
		out.Add(memory.Erased{Revisions: n})
	}
	for n, count := range removed {
		if _, err := tx.Exec(`UPDATE memories SET removed = removed + ? WHERE n = ?`, count, n); err != nil {
			return 0, err
		}
	}
	return len(found), nil
}

// listOf writes numbers as JSON, for json_each.
func listOf(numbers []int64) string {
	raw, err := json.Marshal(numbers)
	if err != nil { // numbers can be written
		panic(err)
	}
	return string(raw)
}

func scanNumber(rows *sql.Rows) (n int64, err error) { return n, rows.Scan(&n) }

// erasableOf reads row n with its history; nil if there is none that can be read.
func erasableOf(tx *sqlitedb.Tx, n int64) (*erasable, error) {
	e := &erasable{n: n}
	rows, err := tx.Query(`SELECT 0, doc FROM memories WHERE n = ?1
		UNION ALL SELECT revision, doc FROM revisions WHERE memory = ?1 AND doc IS NOT NULL`, n)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var p pastStep
		var doc []byte
		if err := rows.Scan(&p.revision, &doc); err != nil {
			return nil, err
		}
		if decode(doc, &p.memory) != nil {
			continue // a damaged one is not the only one
		}
		if p.revision == 0 {
			e.now = p.memory
		} else {
			e.steps = append(e.steps, p)
		}
	}
	if e.now.ID == "" {
		return nil, rows.Err()
	}
	return e, rows.Err()
}

// learnExpiries reads memories that were written before there was column expires, up to
// limit, and reports whether there were any.
func (s *Store) learnExpiries(ctx context.Context, limit int) (learned bool, err error) {
	var rows []int64
	err = s.db.Read(ctx, func(tx *sql.Tx) (err error) {
		rows, err = sqlitedb.Collect(ctx, tx, scanNumber, `SELECT n FROM memories WHERE expires = ? LIMIT ?`,
			unknownExpiry, limit)
		return err
	})
	for some := range slices.Chunk(rows, sweptTogether) {
		if err != nil {
			break
		}
		err = s.write(ctx, sqlitedb.For(memory.Scope{}), func(tx *sqlitedb.Tx) error {
			for _, n := range some {
				if err := learnExpiry(tx, n); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return len(rows) > 0, err
}

// learnExpiry reads one memory that was written before there was column expires. One that
// cannot be read is not swept.
func learnExpiry(tx *sqlitedb.Tx, n int64) error {
	e, err := erasableOf(tx, n)
	if err != nil {
		return err
	}
	expires := any(nil)
	if e != nil {
		expires = expiryOf(&e.now)
		var scope int64
		if err := tx.QueryRow(`SELECT scope FROM memories WHERE n = ?`, n).Scan(&scope); err != nil {
			return err
		}
		if err := link(tx, scope, n, &e.now); err != nil {
			return err
		}
		for i := range e.steps {
			if err := link(tx, scope, n, &e.steps[i].memory); err != nil {
				return err
			}
		}
	}
	_, err = tx.Exec(`UPDATE memories SET expires = ? WHERE n = ? AND expires = ?`, expires, n, unknownExpiry)
	return err
}
