package sqlitesession

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/internal/sqlitedb"
)

// schemaAuditLog has the audit logs of all apps, numbered in the order of adding.
const schemaAuditLog = `
CREATE TABLE audit_log (
  n   INTEGER PRIMARY KEY AUTOINCREMENT,
  app TEXT NOT NULL,
  doc BLOB NOT NULL -- the entry, JSON
) STRICT;
CREATE INDEX audit_log_app ON audit_log (app, n);
`

// auditTrim is after how many entries, of all apps, the oldest of an app are looked for.
const auditTrim = 500

var _ access.Audit = (*Store)(nil)

// AppendAudit implements access.Audit.
func (s *Store) AppendAudit(ctx context.Context, entries []access.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	docs := make([][]byte, len(entries))
	for i := range entries {
		var err error
		if docs[i], err = json.Marshal(entries[i]); err != nil {
			return err
		}
	}
	err := s.db.Write(ctx, sqlitedb.Urgent(), func(tx *sqlitedb.Tx) error {
		for i, doc := range docs {
			added, err := tx.Exec(`INSERT INTO audit_log (app, doc) VALUES (?, ?)`, entries[i].App, doc)
			if err != nil {
				return err
			}
			n, err := added.LastInsertId()
			if err != nil {
				return err
			}
			if n%int64(min(auditTrim, s.auditEntries)) == 0 {
				if _, err := tx.Exec(`DELETE FROM audit_log WHERE app = ?1 AND n <= (SELECT n FROM audit_log
					WHERE app = ?1 ORDER BY n DESC LIMIT 1 OFFSET ?2)`, entries[i].App, s.auditEntries); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("append to the audit log: %w", err)
	}
	return nil
}

// auditRow is a row of the log.
type auditRow struct {
	n   int64
	doc []byte
}

// ListAudit implements access.Audit.
func (s *Store) ListAudit(ctx context.Context, app string, list access.ListAudit) (page access.AuditPage, err error) {
	size, err := list.Size()
	before, tokenErr := list.Before()
	if err = cmp.Or(err, tokenErr); err != nil {
		return page, fmt.Errorf("list the audit log of app %q: %w", app, err)
	}
	var rows []auditRow
	err = s.db.Read(ctx, func(tx *sql.Tx) (err error) {
		rows, err = sqlitedb.Collect(ctx, tx, func(rows *sql.Rows) (r auditRow, err error) {
			return r, rows.Scan(&r.n, &r.doc)
		}, `SELECT n, doc FROM audit_log WHERE app = ? AND n < ? ORDER BY n DESC LIMIT ?`, app, before, size+1)
		return err
	})
	if err != nil {
		return page, fmt.Errorf("list the audit log of app %q: %w", app, err)
	}
	if len(rows) > size {
		rows = rows[:size]
		page.NextPageToken = strconv.FormatInt(rows[size-1].n, 10)
	}
	for _, r := range rows {
		var e access.Entry
		if err := json.Unmarshal(r.doc, &e); err != nil {
			return access.AuditPage{}, fmt.Errorf("entry %d of the audit log: %w", r.n, err)
		}
		if list.Match(&e) {
			page.Entries = append(page.Entries, e)
		}
	}
	return page, nil
}
