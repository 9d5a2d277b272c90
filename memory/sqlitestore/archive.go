package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
)

var _ memory.Archive = (*Store)(nil)

// exportPage is how many memories one read transaction of an export covers.
// SQLite cannot shorten its log while a transaction reads, so none takes long.
const exportPage = 500

// Export implements memory.Archive.
func (s *Store) Export(ctx context.Context, yield func(memory.Record) error) error {
	for after := int64(0); ; {
		var page []memory.Record
		err := s.db.Read(ctx, func(tx *sql.Tx) (err error) {
			page, after, err = s.exportFrom(ctx, tx, after)
			return err
		})
		if err != nil {
			return fmt.Errorf("export memories: %w", err)
		}
		if len(page) == 0 {
			return nil
		}
		now := s.now()
		for _, r := range page {
			if int64(len(r.History))+r.Removed == r.Memory.Revision && !r.Keep(now) {
				continue // nothing of it is left
			}
			if err := yield(r); err != nil {
				return err
			}
		}
	}
}

// exportFrom reads a page of records behind row after, and the number of its
// last row.
func (s *Store) exportFrom(ctx context.Context, tx *sql.Tx, after int64) (page []memory.Record, last int64, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT n, deleted, removed, doc, coalesce(`+s.at.terms+`, 'null'),
		`+s.at.vector+` FROM memories WHERE n > ? ORDER BY n LIMIT ?`, after, exportPage)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	var numbers []int64
	for rows.Next() {
		var r memory.Record
		var doc, terms, vector []byte
		if err := rows.Scan(&last, &r.Deleted, &r.Removed, &doc, &terms, &vector); err != nil {
			return nil, 0, err
		}
		if err := errors.Join(decode(doc, &r.Memory), decode(terms, &r.Terms)); err != nil {
			return nil, 0, fmt.Errorf("row %d: %w", last, err)
		}
		if r.Vector, err = bytesVector(vector); err != nil {
			return nil, 0, fmt.Errorf("row %d: %w", last, err)
		}
		page, numbers = append(page, r), append(numbers, last)
	}
	if err := rows.Err(); err != nil {
		return nil, 0, err
	}
	for i, n := range numbers {
		if page[i].History, err = readHistory(ctx, tx, `n = ?`, n); err != nil {
			return nil, 0, err
		}
	}
	return page, last, nil
}

// Import implements memory.Archive.
func (s *Store) Import(ctx context.Context, records []memory.Record) (stored int, err error) {
	for i := range records {
		if err := records[i].Validate(s.model.Dimension); err != nil {
			return 0, fmt.Errorf("import memories: %w", err)
		}
	}
	err = s.write(ctx, sqlitedb.For(memory.Scope{}), func(tx *sqlitedb.Tx) error {
		stored = 0
		for i := range records {
			done, err := s.importOne(tx, &records[i])
			if err != nil {
				return err
			}
			if done {
				stored++
			}
		}
		return s.noteRemoval(tx)
	})
	if err != nil {
		return 0, fmt.Errorf("import memories: %w", err)
	}
	return stored, nil
}

// importOne stores a record in place of an older one, and reports whether it
// did.
func (s *Store) importOne(tx *sqlitedb.Tx, r *memory.Record) (bool, error) {
	m := r.Memory.Clone()
	scope, err := scopeNumber(tx, m.Scope, true)
	if err != nil {
		return false, err
	}
	was, err := s.current(tx, scope, m.ID)
	if err != nil || !memory.DecideImport(r, was.state()) {
		return false, err
	}
	if was != nil {
		for _, stmt := range []string{`DELETE FROM revisions WHERE memory = ?`, `DELETE FROM memories WHERE n = ?`} {
			if _, err := tx.Exec(stmt, was.n); err != nil {
				return false, err
			}
		}
	}
	n, err := s.insert(tx, scope, r)
	if err != nil {
		return false, err
	}
	if err := importHistory(tx, n, r.History); err != nil {
		return false, err
	}
	for i := range r.History {
		if err := link(tx, scope, n, &r.History[i].Memory); err != nil {
			return false, err
		}
	}
	if r.Deleted {
		tx.OnCommit(func() { s.cache.Remove(m.Scope, &m) })
	} else {
		s.follow(tx, &m, r.Terms, r.Vector)
	}
	return true, nil
}

// importHistory stores the steps of a memory, the last one without a doc of its
// own.
func importHistory(tx *sqlitedb.Tx, n int64, history []memory.Step) (err error) {
	for i := range history {
		var doc []byte
		if i < len(history)-1 {
			if doc, err = seal(memory.EncodeJSON(history[i].Memory)); err != nil {
				return err
			}
		}
		if err := insertStep(tx, n, &history[i], doc); err != nil {
			return err
		}
	}
	return nil
}
