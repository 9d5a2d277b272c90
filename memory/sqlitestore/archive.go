package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
)

var _ memory.Archive = (*Store)(nil)

// exportPage is how many memories are read in one step, so that none keeps the
// log from being shortened for long.
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
		for _, r := range page {
			if err := yield(r); err != nil {
				return err
			}
		}
	}
}

func (s *Store) exportFrom(ctx context.Context, tx *sql.Tx, after int64) (page []memory.Record, last int64, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT n, deleted, doc, coalesce(`+s.at.terms+`, 'null'), `+s.at.vector+` FROM memories WHERE n > ? ORDER BY n LIMIT ?`, after, exportPage)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	var numbers []int64
	for rows.Next() {
		var r memory.Record
		var doc, terms, vector []byte
		if err := rows.Scan(&last, &r.Deleted, &doc, &terms, &vector); err != nil {
			return nil, 0, err
		}
		if err := decode(doc, &r.Memory); err != nil {
			return nil, 0, err
		}
		if err := decode(terms, &r.Terms); err != nil {
			return nil, 0, err
		}
		r.Vector = bytesVector(vector)
		page, numbers = append(page, r), append(numbers, last)
	}
	if err := rows.Err(); err != nil {
		return nil, 0, err
	}
	for i, n := range numbers {
		if page[i].History, err = exportHistory(ctx, tx, n); err != nil {
			return nil, 0, err
		}
	}
	return page, last, nil
}

func exportHistory(ctx context.Context, tx *sql.Tx, n int64) (out []memory.Step, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT r.revision, r.action, r.time, r.actor, r.operation, coalesce(r.doc, m.doc)
		FROM revisions r JOIN memories m ON m.n = r.memory WHERE r.memory = ? ORDER BY r.revision`, n)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var st memory.Step
		var at int64
		var doc []byte
		if err := rows.Scan(&st.Revision, &st.Action, &at, &st.Actor, &st.Operation, &doc); err != nil {
			return nil, err
		}
		st.Time = time.UnixMicro(at).UTC()
		if err := decode(doc, &st.Memory); err != nil {
			return nil, err
		}
		out = append(out, st)
	}
	return out, rows.Err()
}

// Import implements memory.Archive.
func (s *Store) Import(ctx context.Context, records []memory.Record) (stored int, err error) {
	for i := range records {
		if err := records[i].Validate(s.model.Dimension); err != nil {
			return 0, fmt.Errorf("import memories: %w", err)
		}
	}
	err = s.write(ctx, func(tx *sqlitedb.Tx) error {
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
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("import memories: %w", err)
	}
	return stored, nil
}

func (s *Store) importOne(tx *sqlitedb.Tx, r *memory.Record) (bool, error) {
	m := r.Memory.Clone()
	scope, err := scopeNumber(tx, m.Scope, true)
	if err != nil {
		return false, err
	}
	was, err := s.current(tx, scope, m.ID)
	if err != nil || was != nil && was.memory.Revision >= m.Revision {
		return false, err
	}
	n := int64(0)
	if was != nil {
		n = was.n
		for _, stmt := range []string{`DELETE FROM revisions WHERE memory = ?`, `DELETE FROM memories WHERE n = ?`} {
			if _, err := tx.Exec(stmt, n); err != nil {
				return false, err
			}
		}
	}
	doc, err := encode(m)
	if err != nil {
		return false, err
	}
	terms, err := encode(r.Terms)
	if err != nil {
		return false, err
	}
	if r.Deleted {
		terms = nil
	}
	res, err := tx.Exec(`INSERT INTO memories (scope, id, revision, deleted, kind, session, timestamp, create_time, update_time, doc, `+s.at.terms+`, `+s.at.vector+`)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, scope, m.ID, m.Revision, r.Deleted, m.Kind, m.Source.SessionID, m.Timestamp.UnixMicro(),
		m.CreateTime.UnixMicro(), m.UpdateTime.UnixMicro(), doc, terms, vectorBytes(r.Vector))
	if err != nil {
		return false, err
	}
	if n, err = res.LastInsertId(); err != nil {
		return false, err
	}
	for i, st := range r.History {
		var doc []byte
		if i < len(r.History)-1 {
			if doc, err = encode(st.Memory); err != nil {
				return false, err
			}
		}
		if _, err := tx.Exec(`INSERT INTO revisions VALUES (?, ?, ?, ?, ?, ?, ?)`, n, st.Revision, st.Action, st.Time.UnixMicro(), st.Actor, st.Operation, doc); err != nil {
			return false, err
		}
	}
	if r.Deleted {
		tx.OnCommit(func() { s.cache.remove(m.Scope, &m) })
	} else {
		s.follow(tx, &m, r.Terms, r.Vector)
	}
	return true, nil
}
