package sqlitestore

import (
	"context"
	"database/sql"
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

// unknownExpiry is the value of column expires for a memory whose doc is yet to be read.
const unknownExpiry = -1

// sweptTogether is how many memories one transaction of a sweep removes: some milliseconds.
const sweptTogether = 50

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

// expired is a memory that a sweep removes.
type expired struct {
	doomed
	number int64 // of its scope
	scope  memory.Scope
}

// Sweep implements memory.Sweeper.
func (s *Store) Sweep(ctx context.Context, before time.Time, limit int) (out memory.Erased, more bool, err error) {
	out, more, err = s.sweep(ctx, before, limit)
	if err == nil && !more {
		err = s.db.Shrink(ctx)
	}
	if err == nil && !more && s.swept.CompareAndSwap(true, false) {
		err = s.db.Scrub(ctx)
	}
	if err != nil {
		return out, false, fmt.Errorf("sweep expired memories: %w", err)
	}
	return out, more, nil
}

func (s *Store) sweep(ctx context.Context, before time.Time, limit int) (out memory.Erased, more bool, err error) {
	if learned, err := s.learnExpiries(ctx, limit); learned || err != nil {
		return out, true, err
	}
	var rows []expired
	err = s.db.Read(ctx, func(tx *sql.Tx) (err error) {
		rows, err = sqlitedb.Collect(ctx, tx, func(rows *sql.Rows) (e expired, err error) {
			e.only = true
			return e, rows.Scan(&e.n, &e.id, &e.revision, &e.number, &e.scope.App, &e.scope.User)
		}, `SELECT m.n, m.id, m.revision, m.scope, s.app, s.user FROM memories m JOIN scopes s ON s.n = m.scope
			WHERE m.expires < ? ORDER BY m.expires LIMIT ?`, before.UnixMicro(), limit)
		return err
	})
	for some := range slices.Chunk(rows, sweptTogether) {
		if err == nil {
			err = s.sweepRows(ctx, some, &out)
		}
	}
	return out, len(rows) == limit, err
}

// sweepRows removes some memories in one transaction.
func (s *Store) sweepRows(ctx context.Context, rows []expired, out *memory.Erased) error {
	var swept memory.Erased
	err := s.write(ctx, sqlitedb.For(memory.Scope{}).Freeing(), func(tx *sqlitedb.Tx) error {
		swept = memory.Erased{}
		for i := range rows {
			if err := s.sweepOne(tx, &rows[i], &swept); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && swept.Memories > 0 {
		out.Add(swept)
		s.swept.Store(true)
	}
	return err
}

// sweepOne removes a memory, and its id from those that name it.
func (s *Store) sweepOne(tx *sqlitedb.Tx, e *expired, out *memory.Erased) error {
	did, err := e.erase(tx, out)
	if err != nil || !did {
		return err
	}
	tx.OnCommit(func() { s.cache.Remove(e.scope, &memory.Memory{ID: e.id, Revision: e.revision + 1}) })
	naming, err := tx.Query(`SELECT memory FROM links WHERE scope = ? AND target = ?`, e.number, e.id)
	if err != nil {
		return err
	}
	var numbers []int64
	for naming.Next() {
		n, err := scanNumber(naming)
		if err != nil {
			naming.Close()
			return err
		}
		numbers = append(numbers, n)
	}
	if err := naming.Err(); err != nil {
		return err
	}
	naming.Close()
	gone := map[string]bool{e.id: true}
	for _, n := range numbers {
		one, err := erasableOf(tx, n)
		if err == nil && one != nil {
			err = one.unlink(tx, gone)
		}
		if err != nil {
			return err
		}
	}
	if len(numbers) > 0 {
		tx.OnCommit(func() { s.cache.Drop(e.scope) })
		if _, err := tx.Exec(`DELETE FROM links WHERE scope = ? AND target = ?`, e.number, e.id); err != nil {
			return err
		}
	}
	_, err = tx.Exec(`DELETE FROM scopes WHERE n = ? AND NOT EXISTS (SELECT 1 FROM memories WHERE scope = scopes.n)`,
		e.number)
	return err
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
