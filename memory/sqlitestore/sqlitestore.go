// Package sqlitestore keeps memories, their vectors and their words in
// memoryd's SQLite file. Searches are exact: they run over an in-memory index
// of the scope, which is read from the file when first needed, follows every
// write, and is dropped when others need the room.
package sqlitestore

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
)

// Times are microseconds since 1970, UTC. A deleted memory keeps its row,
// without words and vector, so that nothing brings it back by chance. A
// revision's doc is empty while it is the current one: memories has it.
const schema = `
CREATE TABLE memory_model (one INTEGER PRIMARY KEY CHECK (one = 1), id TEXT NOT NULL, embedder TEXT NOT NULL, dimension INTEGER NOT NULL, analyzer TEXT NOT NULL) STRICT;

CREATE TABLE scopes (n INTEGER PRIMARY KEY, app TEXT NOT NULL, user TEXT NOT NULL, UNIQUE (app, user)) STRICT;

CREATE TABLE memories (
  n           INTEGER PRIMARY KEY,
  scope       INTEGER NOT NULL,
  id          TEXT NOT NULL,
  revision    INTEGER NOT NULL,
  deleted     INTEGER NOT NULL DEFAULT 0,
  kind        TEXT NOT NULL,
  session     TEXT NOT NULL,
  timestamp   INTEGER NOT NULL,
  create_time INTEGER NOT NULL,
  update_time INTEGER NOT NULL,
  doc         BLOB NOT NULL, -- the whole memory, JSON
  terms       BLOB,          -- word to count, JSON
  vector      BLOB,          -- float32, little endian
  UNIQUE (scope, id)
) STRICT;
CREATE INDEX memories_timestamp ON memories (scope, timestamp, id) WHERE deleted = 0;
CREATE INDEX memories_create ON memories (scope, create_time, id) WHERE deleted = 0;
CREATE INDEX memories_update ON memories (scope, update_time, id) WHERE deleted = 0;
CREATE INDEX memories_session ON memories (scope, session, timestamp, id) WHERE deleted = 0;

CREATE TABLE revisions (
  memory    INTEGER NOT NULL, -- memories.n
  revision  INTEGER NOT NULL,
  action    TEXT NOT NULL,
  time      INTEGER NOT NULL,
  actor     TEXT NOT NULL,
  operation TEXT NOT NULL,
  doc       BLOB,
  PRIMARY KEY (memory, revision)
) STRICT, WITHOUT ROWID;
`

// Words and vectors have two places, which take turns: those at terms and
// vector are in use after an even number of moves to another model, and the
// others are those of the move that goes on, if there is one. What it lacks is
// in memory_behind, kept there by triggers, so that no write can pass it by.
const moving = `
ALTER TABLE memory_model ADD COLUMN moves INTEGER NOT NULL DEFAULT 0;
ALTER TABLE memories ADD COLUMN terms1 BLOB;
ALTER TABLE memories ADD COLUMN vector1 BLOB;

CREATE TABLE next_model (one INTEGER PRIMARY KEY CHECK (one = 1), embedder TEXT NOT NULL, dimension INTEGER NOT NULL, analyzer TEXT NOT NULL) STRICT;
CREATE TABLE memory_behind (memory INTEGER PRIMARY KEY) STRICT; -- memories.n

CREATE TRIGGER memories_insert AFTER INSERT ON memories WHEN EXISTS (SELECT 1 FROM next_model)
  BEGIN INSERT INTO memory_behind VALUES (new.n); END;
CREATE TRIGGER memories_update AFTER UPDATE OF revision ON memories WHEN EXISTS (SELECT 1 FROM next_model)
  BEGIN INSERT INTO memory_behind VALUES (new.n) ON CONFLICT DO NOTHING; END;
CREATE TRIGGER memories_delete AFTER DELETE ON memories WHEN EXISTS (SELECT 1 FROM next_model)
  BEGIN DELETE FROM memory_behind WHERE memory = old.n; END;
`

// place is the columns of one set of words and vectors.
type place struct{ terms, vector string }

// placeAfter is the place in use after some moves.
func placeAfter(moves int64) place {
	if moves%2 == 0 {
		return place{"terms", "vector"}
	}
	return place{"terms1", "vector1"}
}

// DefaultCacheBytes is room for the indexes of about 250,000 memories with
// vectors of 256 numbers.
const DefaultCacheBytes = 512 << 20

// Model is what the vectors and words in a file were made with.
type Model = memory.Model

// Options are what New lets one choose.
type Options struct {
	// CacheBytes bounds the indexes kept in memory, all scopes together; the
	// one in use is kept even when it alone is larger. Defaults to
	// DefaultCacheBytes.
	CacheBytes int64
	Now        func() time.Time // Defaults to time.Now.
}

// Store implements memory.Store.
type Store struct {
	db    *sqlitedb.DB
	id    string
	model Model
	moves int64 // to other models, before this one
	at    place
	moved atomic.Bool // to another model, or about to be
	now   func() time.Time
	cache *cache
}

var _ memory.Store = (*Store)(nil)

// New makes the tables if they are missing. It fails if the file was made with
// another model.
func New(db *sqlitedb.DB, model Model, opts *Options) (*Store, error) {
	if opts == nil {
		opts = &Options{}
	}
	s := &Store{db: db, model: model, now: opts.Now}
	if s.now == nil {
		s.now = time.Now
	}
	limit := opts.CacheBytes
	if limit == 0 {
		limit = DefaultCacheBytes
	}
	s.cache = newCache(limit, s.load)
	if err := migrate(db); err != nil {
		return nil, err
	}
	return s, db.Write(context.Background(), s.claim)
}

func migrate(db *sqlitedb.DB) error { return db.Migrate("memories", schema, moving) }

// Held gives the model that the memories in a file were made with; ErrNotFound
// if it is for none yet.
func Held(db *sqlitedb.DB) (held Model, err error) {
	if err := migrate(db); err != nil {
		return held, err
	}
	err = db.Read(context.Background(), func(tx *sql.Tx) error {
		return tx.QueryRow(`SELECT embedder, dimension, analyzer FROM memory_model`).Scan(&held.Embedder, &held.Dimension, &held.Analyzer)
	})
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("the model of the memories in %s: %w", db.Path(), memory.ErrNotFound)
	}
	return held, err
}

// claim reads what the file was made for, or makes it this store's.
func (s *Store) claim(tx *sqlitedb.Tx) error {
	was := s.model
	err := tx.QueryRow(`SELECT id, embedder, dimension, analyzer, moves FROM memory_model`).
		Scan(&s.id, &was.Embedder, &was.Dimension, &was.Analyzer, &s.moves)
	s.at = placeAfter(s.moves)
	if errors.Is(err, sql.ErrNoRows) {
		s.id = uuid.NewString()
		_, err = tx.Exec(`INSERT INTO memory_model (one, id, embedder, dimension, analyzer) VALUES (1, ?, ?, ?, ?)`, s.id, s.model.Embedder, s.model.Dimension, s.model.Analyzer)
		return err
	}
	if err == nil && was != s.model {
		return fmt.Errorf("the memories in %s were made with %v, but this start has %v: %s", s.db.Path(), was, s.model, was.Remedy(s.model))
	}
	return err
}

// ID implements memory.Store.
func (s *Store) ID() string { return s.id }

// row is a memory as the file has it.
type row struct {
	n       int64
	deleted bool
	vector  bool
	memory  memory.Memory
}

// write runs fn alone, as long as the memories have not been moved elsewhere.
func (s *Store) write(ctx context.Context, fn func(*sqlitedb.Tx) error) error {
	return s.db.Write(ctx, func(tx *sqlitedb.Tx) error {
		if s.moved.Load() {
			return fmt.Errorf("%w: the memories are moving from %v to another", memory.ErrUnavailable, s.model)
		}
		return fn(tx)
	})
}

// current reads the row of a memory; nil if there is none.
func (s *Store) current(tx *sqlitedb.Tx, scope int64, id string) (*row, error) {
	var r row
	var doc []byte
	err := tx.QueryRow(`SELECT n, deleted, `+s.at.vector+` IS NOT NULL, doc FROM memories WHERE scope = ? AND id = ?`, scope, id).
		Scan(&r.n, &r.deleted, &r.vector, &doc)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &r, decode(doc, &r.memory)
}

func scopeNumber(tx *sqlitedb.Tx, scope memory.Scope, create bool) (n int64, err error) {
	if create {
		if _, err := tx.Exec(`INSERT INTO scopes (app, user) VALUES (?, ?) ON CONFLICT DO NOTHING`, scope.App, scope.User); err != nil {
			return 0, err
		}
	}
	err = tx.QueryRow(`SELECT n FROM scopes WHERE app = ? AND user = ?`, scope.App, scope.User).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil // no scope has the number 0
	}
	return n, err
}

// Get implements memory.Store.
func (s *Store) Get(ctx context.Context, scope memory.Scope, ids []string) ([]memory.Memory, error) {
	var out []memory.Memory
	now := s.now()
	err := s.db.Read(ctx, func(tx *sql.Tx) error {
		one, err := tx.PrepareContext(ctx, `SELECT doc FROM memories WHERE scope = (SELECT n FROM scopes WHERE app = ? AND user = ?) AND id = ? AND deleted = 0`)
		if err != nil {
			return err
		}
		defer one.Close()
		for _, id := range ids {
			var doc []byte
			err := one.QueryRowContext(ctx, scope.App, scope.User, id).Scan(&doc)
			if errors.Is(err, sql.ErrNoRows) {
				continue
			}
			if err != nil {
				return err
			}
			var m memory.Memory
			if err := decode(doc, &m); err != nil {
				return err
			}
			if m.Live(now) {
				out = append(out, m)
			}
		}
		return nil
	})
	if err != nil {
		return nil, wrap("get memories", scope, err)
	}
	return out, nil
}

// Revisions implements memory.Store.
func (s *Store) Revisions(ctx context.Context, scope memory.Scope, id string) ([]memory.Revision, error) {
	var out []memory.Revision
	err := s.db.Read(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT r.revision, r.action, r.time, r.actor, r.operation, coalesce(r.doc, m.doc)
			FROM revisions r JOIN memories m ON m.n = r.memory
			WHERE m.scope = (SELECT n FROM scopes WHERE app = ? AND user = ?) AND m.id = ? ORDER BY r.revision DESC`, scope.App, scope.User, id)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var r memory.Revision
			var at int64
			var doc []byte
			if err := rows.Scan(&r.Revision, &r.Action, &at, &r.Actor, &r.Operation, &doc); err != nil {
				return err
			}
			if err := decode(doc, &r.Memory); err != nil {
				return err
			}
			r.Fact, r.CreateTime = r.Memory.Fact, time.UnixMicro(at).UTC()
			out = append(out, r)
		}
		return rows.Err()
	})
	if err == nil && len(out) == 0 {
		err = memory.ErrNotFound
	}
	if err != nil {
		return nil, wrap(fmt.Sprintf("revisions of memory %.80q", id), scope, err)
	}
	return out, nil
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // metadata stays as it was written
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func decode(doc []byte, v any) error {
	if err := json.Unmarshal(doc, v); err != nil {
		return fmt.Errorf("stored memory: %w", err)
	}
	return nil
}

func wrap(call string, scope memory.Scope, err error) error {
	return fmt.Errorf("%s of app %q, user %q: %w", call, scope.App, scope.User, err)
}
