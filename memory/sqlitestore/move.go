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
// are not in use. One write transaction at the end exchanges the two.
type move struct {
	s         *Store
	to        Model
	next      place // of the words and vectors of to
	reclaimed int64 // the row up to which the space of the old words and vectors is given back
}

// Move implements memory.Movable.
func (s *Store) Move(ctx context.Context, to Model) (memory.Move, error) {
	m := &move{s: s, to: to, next: placeAfter(s.moves + 1)}
	err := s.write(ctx, sqlitedb.For(memory.Scope{}), func(tx *sqlitedb.Tx) error {
		if err := m.begun(tx); !errors.Is(err, memory.ErrAborted) {
			return err
		}
		if err := cancelMove(tx); err != nil {
			return err
		}
		if _, err := tx.Exec(`INSERT INTO next_model (one, `+modelColumns+`) VALUES (1, ?, ?, ?, ?)`,
			to.Embedder, to.Dimension, to.Analyzer, to.Keys); err != nil {
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

// CancelMove implements memory.Movable.
func (s *Store) CancelMove(ctx context.Context) error {
	if err := s.write(ctx, sqlitedb.For(memory.Scope{}), cancelMove); err != nil {
		return fmt.Errorf("cancel the move of the memories: %w", err)
	}
	return nil
}

func cancelMove(tx *sqlitedb.Tx) error {
	for _, stmt := range []string{`DELETE FROM next_model`, `DELETE FROM memory_behind`} {
		if _, err := tx.Exec(stmt); err != nil {
			return err
		}
	}
	return nil
}

// begun is nil if the file is moving to m's model, and ErrAborted if it is not.
func (m *move) begun(tx *sqlitedb.Tx) error {
	var to Model
	err := scanModel(tx.QueryRow(`SELECT `+modelColumns+` FROM next_model`), &to)
	if errors.Is(err, sql.ErrNoRows) || err == nil && to != m.to {
		return fmt.Errorf("%w: this move was cancelled", memory.ErrAborted)
	}
	return err
}

// stepMemories is how many memories one step takes.
const stepMemories = 100

// Step implements memory.Move.
func (m *move) Step(ctx context.Context, index memory.Indexer) (int, error) {
	n, err := m.step(ctx, index)
	if err != nil {
		return 0, fmt.Errorf("move memories to %v: %w", m.to, err)
	}
	return n, nil
}

func (m *move) step(ctx context.Context, index memory.Indexer) (int, error) {
	numbers, records, left, err := m.behind(ctx)
	if err != nil {
		return 0, err
	}
	if err := index.Apply(ctx, records); err != nil {
		return 0, err
	}
	return len(records) + len(left), m.s.db.Write(ctx, sqlitedb.For(memory.Scope{}), func(tx *sqlitedb.Tx) error {
		if err := m.begun(tx); err != nil {
			return err
		}
		for _, n := range left {
			if _, err := tx.Exec(`DELETE FROM memory_behind WHERE memory = ?`, n); err != nil {
				return err
			}
		}
		for i, n := range numbers {
			if err := m.keep(tx, n, &records[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// behind reads some of the memories that the other model lacks, with the
// numbers of their rows. left has the numbers of those that cannot be read, which do
// not move.
func (m *move) behind(ctx context.Context) (numbers []int64, records []memory.Record, left []int64, err error) {
	err = m.s.db.Read(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT m.n, m.deleted, m.doc, m.`+m.s.at.vector+`
			FROM memory_behind b JOIN memories m ON m.n = b.memory ORDER BY b.memory LIMIT ?`, stepMemories)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var n int64
			var r memory.Record
			var doc, vector []byte
			if err := rows.Scan(&n, &r.Deleted, &doc, &vector); err != nil {
				return err
			}
			err := decode(doc, &r.Memory)
			if err == nil && m.s.model.SameEmbedder(m.to) {
				r.Vector, err = bytesVector(vector)
			}
			if err != nil {
				m.s.db.Unreadable(sqlitedb.Row{Table: "memories", Key: fmt.Sprintf("n %d", n)}, err)
				left = append(left, n)
				continue
			}
			numbers, records = append(numbers, n), append(records, r)
		}
		return rows.Err()
	})
	return numbers, records, left, err
}

// keep stores the words and the vector that a memory has at the other model,
// unless the memory has changed since it was read.
func (m *move) keep(tx *sqlitedb.Tx, n int64, r *memory.Record) error {
	if err := memory.ValidateVector(r.Vector, m.to.Dimension); err != nil {
		return fmt.Errorf("memory %q: %w", r.Memory.ID, err)
	}
	var terms []byte // none of a deleted memory
	if !r.Deleted {
		var err error
		if terms, err = seal(memory.EncodeJSON(r.Terms)); err != nil {
			return err
		}
	}
	res, err := tx.Exec(`UPDATE memories SET `+m.next.terms+` = ?, `+m.next.vector+` = ? WHERE n = ? AND revision = ?`,
		terms, vectorBytes(r.Vector), n, r.Memory.Revision)
	if err != nil {
		return err
	}
	if kept, err := res.RowsAffected(); err != nil || kept == 0 {
		return err
	}
	_, err = tx.Exec(`DELETE FROM memory_behind WHERE memory = ?`, n)
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
		// Writes run one after another, so those that saw moved unset are over
		// when this one begins.
		err := m.s.db.Write(ctx, sqlitedb.Urgent(), m.exchange)
		if !errors.Is(err, errBehind) {
			return err
		}
		if _, err := m.Step(ctx, index); err != nil {
			return err
		}
	}
}

var errBehind = errors.New("some memories are not there yet")

// exchange makes the other model the file's. The error is errBehind if it lacks
// memories.
func (m *move) exchange(tx *sqlitedb.Tx) error {
	if err := m.begun(tx); err != nil {
		return err
	}
	behind := false
	if err := tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM memory_behind)`).Scan(&behind); err != nil {
		return err
	}
	if behind {
		return errBehind
	}
	if err := cancelMove(tx); err != nil { // it is over, and nothing of it is left to do
		return err
	}
	_, err := tx.Exec(`UPDATE memory_model SET embedder = ?, dimension = ?, analyzer = ?, keys = ?, moves = moves + 1`,
		m.to.Embedder, m.to.Dimension, m.to.Analyzer, m.to.Keys)
	return err
}

// Progress implements memory.Move.
func (m *move) Progress(ctx context.Context) (done, total int, err error) {
	left := 0
	err = m.s.db.Read(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM memories WHERE deleted = 0),
			(SELECT count(*) FROM memory_behind)`).Scan(&total, &left)
	})
	if err != nil {
		return 0, 0, fmt.Errorf("count the memories that have moved: %w", err)
	}
	return max(0, total-left), total, nil // memories deleted since may be among those left
}

// Reclaim implements memory.Move.
func (m *move) Reclaim(ctx context.Context) (more bool, err error) {
	old := m.s.at
	err = m.s.db.Write(ctx, sqlitedb.For(memory.Scope{}), func(tx *sqlitedb.Tx) error {
		_, err := tx.Exec(`UPDATE memories SET `+old.terms+` = NULL, `+old.vector+` = NULL WHERE n > ? AND n <= ?`,
			m.reclaimed, m.reclaimed+stepMemories)
		if err != nil {
			return err
		}
		m.reclaimed += stepMemories
		return tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM memories WHERE n > ?)`, m.reclaimed).Scan(&more)
	})
	return more, err
}
