// Package sqlitestore keeps memories, their vectors and their words in
// memoryd's SQLite file. Searches are exact: they run over an in-memory index
// of the scope. The index is read from the file at the first search, or before
// it by Warm, follows every write, and is dropped when other scopes need the memory.
package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/index"
)

// Model identifies how the words, vectors and lookup keys in a file are made.
type Model = memory.Model

// Options are the settings of New. Nil is all defaults.
type Options struct {
	// CacheBytes bounds the indexes kept in memory, all scopes together. The one
	// used last is kept even when it alone is larger. Defaults to
	// index.DefaultBytes.
	CacheBytes int64
	Now        func() time.Time // Defaults to time.Now.
}

// Store implements memory.Store.
type Store struct {
	db    *sqlitedb.DB
	id    string
	model Model
	moves int64       // to other models, before this one
	at    place       // of the words and vectors in use, by moves
	moved atomic.Bool // to another model, or about to be
	now   func() time.Time
	cache *index.Cache
	swept atomic.Bool // since the log was emptied last

	warmBytes int64     // the least size of an index that Warm notes
	companion Companion // nil if Accompany was not called
	seen      []byte    // the last that is stored of it
}

var _ memory.Store = (*Store)(nil)

// New makes the tables if they are missing. If the file was made with another
// model, New fails and leaves the file as it is.
func New(db *sqlitedb.DB, model Model, opts *Options) (*Store, error) {
	if opts == nil {
		opts = &Options{}
	}
	stored, err := StoredModel(db)
	switch {
	case errors.Is(err, memory.ErrNotFound):
	case err != nil:
		return nil, err
	case stored != model:
		return nil, fmt.Errorf("the memories in %s were made with %v, but this start has %v: %s",
			db.Path(), stored, model, stored.Remedy(model))
	}
	// Only from here on the file is changed.
	s := &Store{db: db, model: model, now: opts.Now, warmBytes: warmBytes}
	if s.now == nil {
		s.now = time.Now
	}
	s.cache = index.NewCache(opts.CacheBytes, s.load)
	if err := db.Migrate(component, schemas...); err != nil {
		return nil, err
	}
	return s, s.claim()
}

// StoredModel gives the model that the memories in a file were made with. The
// error is ErrNotFound if there are none. It only reads, and it reads files of
// earlier versions as they are.
func StoredModel(db *sqlitedb.DB) (stored Model, err error) {
	none := fmt.Errorf("the model of the memories in %s: %w", db.Path(), memory.ErrNotFound)
	has, err := db.Has(component)
	if err != nil {
		return stored, err
	}
	if !has {
		return stored, none
	}
	err = db.Read(context.Background(), func(tx *sql.Tx) error {
		columns := modelColumns
		versioned := false
		err := tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM pragma_table_info('memory_model') WHERE name = 'keys')`).
			Scan(&versioned)
		if err != nil {
			return err
		}
		if !versioned { // written before the keys had a version
			columns = `embedder, dimension, analyzer, ''`
		}
		return scanModel(tx.QueryRow(`SELECT `+columns+` FROM memory_model`), &stored)
	})
	if errors.Is(err, sql.ErrNoRows) {
		err = none
	}
	return stored, err
}

// modelColumns are the columns of a Model in memory_model and next_model;
// scanModel reads them.
const modelColumns = `embedder, dimension, analyzer, keys`

func scanModel(row *sql.Row, m *Model) error {
	return row.Scan(&m.Embedder, &m.Dimension, &m.Analyzer, &m.Keys)
}

// claim makes a new file this store's, and reads which store an old one is. It
// writes nothing into an old one, which may be damaged.
func (s *Store) claim() error {
	err := s.db.Read(context.Background(), func(tx *sql.Tx) error {
		return tx.QueryRow(`SELECT id, moves FROM memory_model`).Scan(&s.id, &s.moves)
	})
	if errors.Is(err, sql.ErrNoRows) {
		s.id = uuid.NewString()
		err = s.db.Write(context.Background(), sqlitedb.For(memory.Scope{}), func(tx *sqlitedb.Tx) error {
			_, err := tx.Exec(`INSERT INTO memory_model (one, id, `+modelColumns+`) VALUES (1, ?, ?, ?, ?, ?)`,
				s.id, s.model.Embedder, s.model.Dimension, s.model.Analyzer, s.model.Keys)
			return err
		})
	}
	s.at = placeAfter(s.moves)
	return err
}

// DB returns the file that the memories are in.
func (s *Store) DB() *sqlitedb.DB { return s.db }

// CacheStats returns figures of the indexes that searches keep in memory.
func (s *Store) CacheStats() index.Stats { return s.cache.Stats() }

// Search implements memory.Store.
func (s *Store) Search(ctx context.Context, scope memory.Scope, q memory.Query) (memory.Found, error) {
	if err := memory.ValidateVector(q.Vector, s.model.Dimension); err != nil {
		return memory.Found{}, scope.Wrap("search memories", err)
	}
	if err := ctx.Err(); err != nil {
		return memory.Found{}, err
	}
	began := time.Now()
	defer func() { s.db.Used(time.Since(began)) }()
	ix, err := s.cache.Get(ctx, scope, s.now)
	if err != nil {
		return memory.Found{}, scope.Wrap("search memories", err)
	}
	return ix.Search(&q, s.now()), nil
}

// PrepareSearch implements memory.Store. Nothing can be done without the query.
func (s *Store) PrepareSearch(_ context.Context, scope memory.Scope) memory.PreparedSearch {
	return func(ctx context.Context, q memory.Query) (memory.Found, error) { return s.Search(ctx, scope, q) }
}

// ID implements memory.Store.
func (s *Store) ID() string { return s.id }

// write runs fn alone, as long as the memories have not been moved to another
// model.
func (s *Store) write(ctx context.Context, turn sqlitedb.Turn, fn func(*sqlitedb.Tx) error) error {
	return s.db.Write(ctx, turn, func(tx *sqlitedb.Tx) error {
		if err := s.checkMoved(); err != nil {
			return err
		}
		return fn(tx)
	})
}

// Get implements memory.Store.
func (s *Store) Get(ctx context.Context, scope memory.Scope, ids []string) ([]memory.Memory, error) {
	var out []memory.Memory
	var unreadable []string
	now := s.now()
	s.db.Used(0)
	err := s.db.Read(ctx, func(tx *sql.Tx) error {
		one, err := tx.PrepareContext(ctx, `SELECT doc FROM memories WHERE `+inScope+` AND id = ? AND deleted = 0`)
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
			var m memory.Memory
			if err == nil {
				err = decode(doc, &m)
			} else if !sqlitedb.IsDamage(err) {
				return err
			}
			if err != nil {
				s.unreadable(scope, id, err)
				unreadable = append(unreadable, id)
			} else if m.Live(now) {
				out = append(out, m)
			}
		}
		return nil
	})
	if len(unreadable) > 0 && err == nil {
		err = errUnreadable(unreadable)
	}
	if errors.As(err, new(*memory.Damage)) {
		return out, scope.Wrap("get memories", err)
	}
	if err != nil {
		return nil, scope.Wrap("get memories", err)
	}
	return out, nil
}

// Revisions implements memory.Store.
func (s *Store) Revisions(ctx context.Context, scope memory.Scope, id string, before int64) (
	out []memory.Revision, err error) {
	if before == 0 {
		before = math.MaxInt64
	}
	err = s.db.Read(ctx, func(tx *sql.Tx) (err error) {
		now := s.now().UnixMicro()
		var n int64
		err = tx.QueryRowContext(ctx, `SELECT n FROM memories m WHERE `+inScope+` AND id = ? AND NOT `+vanished,
			scope.App, scope.User, id, now).Scan(&n)
		if errors.Is(err, sql.ErrNoRows) {
			return memory.ErrNotFound
		}
		if err != nil {
			return err
		}
		out, err = readRevisions(ctx, tx, n, before, now)
		return err
	})
	if err != nil {
		return nil, scope.Wrap(fmt.Sprintf("revisions of memory %.80q", id), err)
	}
	return memory.CutRevisions(out), nil
}

// readRevisions reads the revisions of the memory n below a number that are shown at a
// time, newest first, one more than Revisions returns if there are so many.
func readRevisions(ctx context.Context, tx *sql.Tx, n, before, now int64) (out []memory.Revision, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT `+stepColumns+`
		FROM memories m JOIN revisions r ON r.memory = m.n
		WHERE m.n = ? AND r.revision < ? AND `+shown+` ORDER BY r.revision DESC`, n, before, now)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	bytes := int64(0)
	for len(out) <= memory.MaxPageSize && bytes <= memory.MaxListBytes && rows.Next() {
		st, err := scanStep(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, memory.RevisionsOf([]memory.Step{st})...)
		bytes += st.Memory.Bytes()
	}
	return out, rows.Err()
}

// stepColumns are those of revisions r and memories m that scanStep reads.
const stepColumns = `r.revision, r.action, r.time, r.actor, r.operation, r.labels, r.expires, coalesce(r.doc, m.doc)`

// scanStep reads a revision, its memory last.
func scanStep(rows *sql.Rows) (st memory.Step, err error) {
	var at int64
	var expires sql.NullInt64
	var labels, doc []byte
	if err := rows.Scan(&st.Revision, &st.Action, &at, &st.Actor, &st.Operation, &labels, &expires, &doc); err != nil {
		return st, err
	}
	if labels != nil {
		if err := decode(labels, &st.Labels); err != nil {
			return st, fmt.Errorf("labels of revision %d: %w", st.Revision, err)
		}
	}
	st.Time = time.UnixMicro(at).UTC()
	if expires.Valid {
		st.ExpireTime = time.UnixMicro(expires.Int64).UTC()
	}
	if err := decode(doc, &st.Memory); err != nil {
		return st, fmt.Errorf("revision %d: %w", st.Revision, err)
	}
	return st, nil
}

// readHistory reads the revisions of one memory, oldest first. The condition is
// on table memories.
func readHistory(ctx context.Context, tx *sql.Tx, condition string, args ...any) (out []memory.Step, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT `+stepColumns+`
		FROM (SELECT n, doc FROM memories WHERE `+condition+`) m JOIN revisions r ON r.memory = m.n
		ORDER BY r.revision`, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		st, err := scanStep(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, st)
	}
	return out, rows.Err()
}

// Failures counts the calls of the file that failed in SQLite since it was opened,
// for metrics.
func (s *Store) Failures() int64 { return s.db.Stats().Failures }
