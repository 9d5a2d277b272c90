package sqlitesession

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
)

// changesTogether is how many changes one transaction reads of those that an erasing
// looks at.
const changesTogether = 500

// EraseChanges implements sessionstore.Eraser.
func (s *Store) EraseChanges(ctx context.Context, scope memory.Scope, has func(json.RawMessage) bool) (int, error) {
	n, err := s.eraseChanges(ctx, scope, has)
	if err == nil && n > 0 {
		err = s.db.Scrub(ctx)
	}
	if err != nil {
		return n, scope.Wrap("erase changes", err)
	}
	return n, nil
}

// numbered is a stored document and the number of its row.
type numbered struct {
	n   int64
	doc []byte
}

func scanNumbered(rows *sql.Rows) (d numbered, err error) { return d, rows.Scan(&d.n, &d.doc) }

func (s *Store) eraseChanges(ctx context.Context, scope memory.Scope, has func(json.RawMessage) bool) (
	n int, err error) {
	read := func(query string, args ...any) (out []numbered, err error) {
		err = s.db.Read(ctx, func(tx *sql.Tx) (err error) {
			out, err = sqlitedb.Collect(ctx, tx, scanNumbered, query, args...)
			return err
		})
		return out, err
	}
	// remove runs a statement with the number of each document that has something.
	remove := func(found []numbered, statement string) error {
		var gone []int64
		for _, d := range found {
			if has(d.doc) {
				gone = append(gone, d.n)
			}
		}
		if len(gone) == 0 {
			return nil
		}
		n += len(gone)
		return s.db.Write(ctx, sqlitedb.For(scope).Freeing(), func(tx *sqlitedb.Tx) error {
			for _, number := range gone {
				if _, err := tx.Exec(statement, number); err != nil {
					return err
				}
			}
			return nil
		})
	}
	plans, err := read(`SELECT ref, plan FROM sessions INDEXED BY sessions_user
		WHERE app = ? AND user = ? AND plan IS NOT NULL`, scope.App, scope.User)
	if err == nil {
		err = remove(plans, `UPDATE sessions SET plan = NULL, plan_to = 0, attempts = attempts + (attempts > 0)
			WHERE ref = ?`)
	}
	if err != nil {
		return n, err
	}
	lives, err := read(`SELECT DISTINCT ref, x'' FROM operations WHERE app = ? AND user = ?`, scope.App, scope.User)
	for _, life := range lives {
		for after, more := int64(0), true; more && err == nil; {
			var page []numbered
			page, err = read(`SELECT rowid, doc FROM changes INDEXED BY changes_ref WHERE ref = ? AND rowid > ?
				ORDER BY rowid LIMIT ?`, life.n, after, changesTogether)
			if err == nil {
				err = remove(page, `DELETE FROM changes WHERE rowid = ?`)
			}
			if more = len(page) == changesTogether; more {
				after = page[len(page)-1].n
			}
		}
	}
	return n, err
}
