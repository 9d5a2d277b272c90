package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
)

var _ memory.Movable = (*Store)(nil)

// Model implements memory.Movable.
func (s *Store) Model() memory.Model { return s.model }

// move is a memory.Move of the store in a file. It writes into the columns that
// are not in use, and the turn is one write that exchanges the two.
type move struct {
	s      *Store
	to     Model
	next   place // where the words and vectors of to are
	tidied int64 // the memory up to which the room of the old ones is given back
}

// Move implements memory.Movable.
func (s *Store) Move(ctx context.Context, to Model) (memory.Move, error) {
	m := &move{s: s, to: to, next: placeAfter(s.moves + 1)}
	err := s.write(ctx, func(tx *sqlitedb.Tx) error {
		if err := m.goesOn(tx); !errors.Is(err, memory.ErrAborted) {
			return err
		}
		if err := stay(tx); err != nil {
			return err
		}
		if _, err := tx.Exec(`INSERT INTO next_model VALUES (1, ?, ?, ?)`, to.Embedder, to.Dimension, to.Analyzer); err != nil {
			return err
		}
		_, err := tx.Exec(`INSERT INTO memory_behind SELECT n FROM memories WHERE deleted = 0`)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("move the memories to %v: %w", to, err)
	}
	return m, nil
}

// Stay implements memory.Movable.
func (s *Store) Stay(ctx context.Context) error {
	if err := s.write(ctx, stay); err != nil {
		return fmt.Errorf("give up moving the memories: %w", err)
	}
	return nil
}

func stay(tx *sqlitedb.Tx) error {
	for _, stmt := range []string{`DELETE FROM next_model`, `DELETE FROM memory_behind`} {
		if _, err := tx.Exec(stmt); err != nil {
			return err
		}
	}
	return nil
}

// goesOn is ErrAborted if the file is not on its way to this model.
func (m *move) goesOn(tx *sqlitedb.Tx) error {
	var to Model
	err := tx.QueryRow(`SELECT embedder, dimension, analyzer FROM next_model`).Scan(&to.Embedder, &to.Dimension, &to.Analyzer)
	if errors.Is(err, sql.ErrNoRows) || err == nil && to != m.to {
		return fmt.Errorf("%w: this move was given up", memory.ErrAborted)
	}
	return err
}

// stepMemories is how many memories one step takes.
const stepMemories = 100

// behind is one memory that the other model lacks.
type behind struct {
	n, revision int64
	record      memory.Record
}

// Step implements memory.Move.
func (m *move) Step(ctx context.Context, index memory.Indexer) (int, error) {
	n, err := m.step(ctx, index)
	if err != nil {
		return 0, fmt.Errorf("move memories to %v: %w", m.to, err)
	}
	return n, nil
}

func (m *move) step(ctx context.Context, index memory.Indexer) (int, error) {
	some, err := m.behind(ctx)
	if err != nil {
		return 0, err
	}
	var live []memory.Record
	for _, b := range some {
		if !b.record.Deleted {
			live = append(live, b.record)
		}
	}
	if len(live) > 0 {
		if err := index(ctx, live); err != nil {
			return 0, err
		}
	}
	return len(some), m.s.db.Write(ctx, func(tx *sqlitedb.Tx) error {
		if err := m.goesOn(tx); err != nil {
			return err
		}
		next := live
		for _, b := range some {
			r := b.record
			if !r.Deleted {
				r, next = next[0], next[1:]
			}
			if err := m.keep(tx, b, &r); err != nil {
				return err
			}
		}
		return nil
	})
}

// behind reads some of the memories that the other model lacks.
func (m *move) behind(ctx context.Context) (out []behind, err error) {
	err = m.s.db.Read(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT m.n, m.revision, m.deleted, m.doc, m.`+m.s.at.vector+` FROM memory_behind b JOIN memories m ON m.n = b.memory
			ORDER BY b.memory LIMIT ?`, stepMemories)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var b behind
			var doc, vector []byte
			if err := rows.Scan(&b.n, &b.revision, &b.record.Deleted, &doc, &vector); err != nil {
				return err
			}
			if err := decode(doc, &b.record.Memory); err != nil {
				return err
			}
			if m.s.model.SameEmbedder(m.to) {
				b.record.Vector = bytesVector(vector)
			}
			out = append(out, b)
		}
		return rows.Err()
	})
	return out, err
}

// keep stores what a memory is found by at the other model, unless it has
// changed meanwhile.
func (m *move) keep(tx *sqlitedb.Tx, b behind, r *memory.Record) error {
	if r.Vector != nil && len(r.Vector) != m.to.Dimension {
		return fmt.Errorf("%w: vector of memory %q has %d numbers, not %d", memory.ErrInvalid, r.Memory.ID, len(r.Vector), m.to.Dimension)
	}
	var terms []byte // none of a deleted one
	if !r.Deleted {
		var err error
		if terms, err = encode(r.Terms); err != nil {
			return err
		}
	}
	res, err := tx.Exec(`UPDATE memories SET `+m.next.terms+` = ?, `+m.next.vector+` = ? WHERE n = ? AND revision = ?`, terms, vectorBytes(r.Vector), b.n, b.revision)
	if err != nil {
		return err
	}
	if kept, err := res.RowsAffected(); err != nil || kept == 0 {
		return err
	}
	_, err = tx.Exec(`DELETE FROM memory_behind WHERE memory = ?`, b.n)
	return err
}

// Finish implements memory.Move.
func (m *move) Finish(ctx context.Context, index memory.Indexer) (err error) {
	m.s.moved.Store(true)
	defer func() {
		if err != nil {
			m.s.moved.Store(false)
		}
	}()
	for {
		// The writes that were let through before end before one of ours begins.
		err := m.s.db.Write(ctx, m.turn)
		if !errors.Is(err, errBehind) {
			return err
		}
		if _, err := m.Step(ctx, index); err != nil {
			return err
		}
	}
}

var errBehind = errors.New("some memories are not there yet")

// turn makes the other model the file's.
func (m *move) turn(tx *sqlitedb.Tx) error {
	if err := m.goesOn(tx); err != nil {
		return err
	}
	left := 0
	if err := tx.QueryRow(`SELECT count(*) FROM (SELECT 1 FROM memory_behind LIMIT 1)`).Scan(&left); err != nil {
		return err
	}
	if left > 0 {
		return errBehind
	}
	if err := stay(tx); err != nil {
		return err
	}
	_, err := tx.Exec(`UPDATE memory_model SET embedder = ?, dimension = ?, analyzer = ?, moves = moves + 1`, m.to.Embedder, m.to.Dimension, m.to.Analyzer)
	return err
}

// Progress implements memory.Move.
func (m *move) Progress(ctx context.Context) (done, total int, err error) {
	left := 0
	err = m.s.db.Read(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM memories WHERE deleted = 0), (SELECT count(*) FROM memory_behind)`).Scan(&total, &left)
	})
	if err != nil {
		return 0, 0, fmt.Errorf("count the memories that have moved: %w", err)
	}
	return max(0, total-left), total, nil // what was deleted since may be among those left
}

// Tidy implements memory.Move.
func (m *move) Tidy(ctx context.Context) (more bool, err error) {
	old := m.s.at
	err = m.s.db.Write(ctx, func(tx *sqlitedb.Tx) error {
		_, err := tx.Exec(`UPDATE memories SET `+old.terms+` = NULL, `+old.vector+` = NULL WHERE n > ? AND n <= ?`, m.tidied, m.tidied+stepMemories)
		if err != nil {
			return err
		}
		m.tidied += stepMemories
		return tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM memories WHERE n > ?)`, m.tidied).Scan(&more)
	})
	return more, err
}
