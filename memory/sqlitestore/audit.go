package sqlitestore

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
)

var _ memory.Audited = (*Store)(nil)

// Column removed of memory_model is when memories were last removed for good, 0 for never.
// A file of before this step may have removed some already.
const schemaRemoved = `
ALTER TABLE memory_model ADD COLUMN removed INTEGER NOT NULL DEFAULT 0;
UPDATE memory_model SET removed = CAST(strftime('%s', 'now') AS INTEGER) * 1000000;
`

// noteRemoval stores that memories are removed now.
func (s *Store) noteRemoval(tx *sqlitedb.Tx) error {
	_, err := tx.Exec(`UPDATE memory_model SET removed = max(removed, ?)`, s.now().UnixMicro())
	return err
}

// Removed implements memory.Audited.
func (s *Store) Removed(ctx context.Context) (at time.Time, err error) {
	var micros int64
	err = s.db.Read(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT removed FROM memory_model`).Scan(&micros)
	})
	if err != nil {
		return at, fmt.Errorf("read when memories were last removed: %w", err)
	}
	if micros > 0 {
		at = time.UnixMicro(micros).UTC()
	}
	return at, nil
}

// faults are queries for rows that break a rule. Each row is an app, a user, what it
// is about, and what is wrong with it.
var faults = []struct{ rule, query string }{
	{memory.RuleRecord, `SELECT coalesce(app, ''), coalesce(user, ''), id, 'it is in no scope' FROM memories m
		LEFT JOIN scopes s ON s.n = m.scope WHERE s.n IS NULL`},
	{
		memory.RuleRecord,
		`SELECT '', '', printf('memory number %d', memory), printf('%d revisions, and no memory', count(*))
		FROM revisions r WHERE NOT EXISTS (SELECT 1 FROM memories m WHERE m.n = r.memory) GROUP BY memory`,
	},
	{
		memory.RuleRecord,
		`SELECT app, user, id, printf('it is at revision %d, and its history has %d, up to %d; %d were removed',
		m.revision, count(r.revision), coalesce(max(r.revision), 0), m.removed) FROM memories m
		JOIN scopes s ON s.n = m.scope LEFT JOIN revisions r ON r.memory = m.n GROUP BY m.n
		HAVING count(r.revision) + m.removed <> m.revision OR max(r.revision) <> m.revision`,
	},
	{
		memory.RuleIndex,
		`SELECT s.app, s.user, m.id, 'a list across users has not its place in each order' FROM memories m
		JOIN scopes s ON s.n = m.scope WHERE m.deleted = 0 AND NOT (` + placed("timestamp") + ` AND ` +
			placed("create_time") + ` AND ` + placed("update_time") + `)`,
	},
	{
		memory.RuleIndex,
		`SELECT app, '', id, 'a list across users has a place for it, and it is not there' FROM app_order o
		WHERE NOT EXISTS (SELECT 1 FROM memories m WHERE m.n = o.memory AND m.deleted = 0)`,
	},
	{
		memory.RuleIndex,
		`SELECT '', '', 'app_order', 'it has more places than there are memories' WHERE
		(SELECT count(*) FROM app_order) > 3 * (SELECT count(*) FROM memories WHERE deleted = 0)`,
	},
}

// columns are what table memories has beside the document of a memory.
type columns struct {
	n                   int64
	scope               memory.Scope
	id, kind, session   string
	revision, timestamp int64
	created, updated    int64
	removed             int64
	expires             sql.NullInt64
	deleted             bool
	doc, terms, vector  []byte
}

// Audit implements memory.Audited.
func (s *Store) Audit(ctx context.Context, yield func(memory.Record) error, found func(memory.Finding)) error {
	for _, fault := range faults {
		if err := s.auditRows(ctx, fault.rule, fault.query, found); err != nil {
			return fmt.Errorf("audit memories: %w", err)
		}
	}
	type history struct {
		steps  []memory.Step
		failed error
	}
	var histories []history // of the rows of a page
	now := s.now()
	walk := sqlitedb.Walk[columns]{Query: s.auditQuery(), Page: exportPage, Scan: scanColumns,
		With: func(tx *sql.Tx, page []sqlitedb.Walked[columns]) error {
			histories = make([]history, len(page))
			for i := range page {
				histories[i].steps, histories[i].failed = readHistory(ctx, tx, `n = ?`, page[i].Number)
			}
			return ctx.Err()
		},
		Table: "memories", Found: found}
	err := walk.Run(ctx, s.db, func(page []sqlitedb.Walked[columns]) error {
		for i, one := range page {
			c := one.Row
			if one.Err != nil {
				found(memory.Finding{Rule: memory.RuleUnreadable, Scope: c.scope,
					Of: cmp.Or(c.id, fmt.Sprintf("memory number %d", one.Number)), Text: one.Err.Error()})
				continue
			}
			if histories[i].failed != nil {
				found(c.finding(memory.RuleUnreadable, "its history: "+histories[i].failed.Error()))
			}
			if r := c.record(found); r != nil {
				r.History, r.Removed = histories[i].steps, c.removed
				if int64(len(r.History))+r.Removed == r.Memory.Revision && !r.Keep(now) {
					continue // nothing of it is left
				}
				if err := yield(*r); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("audit memories: %w", err)
	}
	return nil
}

// auditRows reports the rows of a query, and a query that meets damage.
func (s *Store) auditRows(ctx context.Context, rule, query string, found func(memory.Finding)) error {
	var all []memory.Finding
	err := s.db.Read(ctx, func(tx *sql.Tx) (err error) {
		all, err = sqlitedb.Collect(ctx, tx, sqlitedb.ScanFinding, `SELECT * FROM (`+query+`) LIMIT 1000`)
		return err
	})
	for _, f := range all {
		f.Rule = rule
		found(f)
	}
	if err != nil && sqlitedb.IsDamage(err) {
		found(memory.Finding{Rule: memory.RuleUnreadable, Of: "the rows for rule " + rule, Text: err.Error()})
		return nil
	}
	return err
}

// auditQuery reads rows for scanColumns.
func (s *Store) auditQuery() string {
	return `SELECT m.n, coalesce(app, ''), coalesce(user, ''), id, kind, session, revision,
		timestamp, create_time, update_time, removed, expires, deleted, doc, ` + s.at.terms + `, ` + s.at.vector + `
		FROM memories m LEFT JOIN scopes s ON s.n = m.scope WHERE m.n > ? ORDER BY m.n LIMIT ?`
}

func scanColumns(rows *sql.Rows) (c columns, err error) {
	return c, rows.Scan(&c.n, &c.scope.App, &c.scope.User, &c.id, &c.kind, &c.session, &c.revision, &c.timestamp,
		&c.created, &c.updated, &c.removed, &c.expires, &c.deleted, &c.doc, &c.terms, &c.vector)
}

func (c *columns) finding(rule, text string) memory.Finding {
	return memory.Finding{Rule: rule, Scope: c.scope, Of: c.id, Text: text}
}

// knowsExpiry reports whether column expires is right, or yet to be set.
func (c *columns) knowsExpiry(m *memory.Memory) bool {
	if c.expires.Valid && c.expires.Int64 == unknownExpiry {
		return true
	}
	at, ok := expiryOf(m).(int64)
	return c.expires.Valid == ok && c.expires.Int64 == at
}

// record reads the memory of a row, and compares it with the columns beside it; nil
// if it cannot be read.
func (c *columns) record(found func(memory.Finding)) *memory.Record {
	r := &memory.Record{Deleted: c.deleted}
	if err := decode(c.doc, &r.Memory); err != nil {
		found(c.finding(memory.RuleUnreadable, err.Error()))
		return nil
	}
	var err error
	if len(c.terms) > 0 {
		err = decode(c.terms, &r.Terms)
	}
	if err == nil {
		r.Vector, err = bytesVector(c.vector)
	}
	if err != nil {
		found(c.finding(memory.RuleUnreadable, "its words or its vector: "+err.Error()))
	}
	m := &r.Memory
	differ := m.ID != c.id || m.Scope != c.scope || string(m.Kind) != c.kind || m.Source.SessionID != c.session ||
		m.Revision != c.revision || m.Timestamp.UnixMicro() != c.timestamp || m.CreateTime.UnixMicro() != c.created ||
		m.UpdateTime.UnixMicro() != c.updated || !c.knowsExpiry(m)
	if differ {
		found(c.finding(memory.RuleIndex, "the columns that lists go by differ from the memory"))
	}
	if c.deleted && (len(c.terms) > 0 || len(c.vector) > 0) {
		found(c.finding(memory.RuleIndex, "it is deleted, and still has words or a vector"))
	}
	return r
}
