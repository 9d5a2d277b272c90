package sqlitestore

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
)

// schemaCounts has SQLite take the fields that counts need out of the docs, into an index
// of its own: no write has to name them, and a count reads no doc. Column body is the doc
// without its seal; it is NULL where that is no JSON, so that a damaged memory can still be
// deleted. Column until is validTo without its Z, so that texts sort as times do, also
// those with fractions of a second. Column ahead is 1 for a memory that may be dated in the
// future: memory.DatedFor decides that by the doc.
const schemaCounts = `
ALTER TABLE memories ADD COLUMN body TEXT AS (
  iif(json_valid(CAST(` + unsealed + ` AS TEXT)), CAST(` + unsealed + ` AS TEXT), NULL)) VIRTUAL;
ALTER TABLE memories ADD COLUMN state TEXT AS (coalesce(body ->> 'state', '')) VIRTUAL;
ALTER TABLE memories ADD COLUMN until TEXT AS (rtrim(body ->> 'validTo', 'Z')) VIRTUAL;
ALTER TABLE memories ADD COLUMN forgotten INTEGER AS (body -> 'forgotten' IS NOT NULL) VIRTUAL;
ALTER TABLE memories ADD COLUMN ahead INTEGER AS (
  coalesce(body ->> 'timestamp' > body ->> 'receiveTime', 0)) VIRTUAL;
CREATE INDEX memories_counts ON memories (scope, kind, state, until, forgotten, ahead, expires) WHERE deleted = 0;
`

// unsealed is the doc of a memory without its seal; see sqlitedb.Seal.
const unsealed = `iif(substr(doc, -5, 1) = x'00', substr(doc, 1, length(doc) - 5), doc)`

// Count implements memory.Counter.
func (s *Store) Count(ctx context.Context, scope memory.Scope) (out memory.Counts, err error) {
	now := s.now()
	s.db.Used(0)
	err = s.db.Read(ctx, func(tx *sql.Tx) error {
		if err := countKnown(ctx, tx, scope, now, &out); err != nil {
			return err
		}
		return s.countRead(ctx, tx, scope, now, &out)
	})
	if err != nil {
		return memory.Counts{}, scope.Wrap("count memories", err)
	}
	return out, nil
}

// byDoc is a condition on memories of which the doc decides whether they count: they may
// be dated in the future, or were written by a version without column expires.
const byDoc = `(ahead OR expires IS -1)`

// countKnown counts the memories that the index knows all about.
func countKnown(ctx context.Context, tx *sql.Tx, scope memory.Scope, now time.Time, out *memory.Counts) error {
	at := strings.TrimSuffix(now.UTC().Truncate(time.Microsecond).Format(time.RFC3339Nano), "Z")
	rows, err := tx.QueryContext(ctx, `SELECT kind, state, (until IS NULL OR until > ?) AND NOT forgotten, count(*)
		FROM memories INDEXED BY memories_counts
		WHERE `+inScope+` AND deleted = 0 AND (expires IS NULL OR expires > ?) AND NOT `+byDoc+` GROUP BY 1, 2, 3`,
		at, scope.App, scope.User, now.UnixMicro())
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var kind memory.Kind
		var state memory.State
		var current bool
		var n int
		if err := rows.Scan(&kind, &state, &current, &n); err != nil {
			return err
		}
		out.Add(n, kind, state, current)
	}
	return rows.Err()
}

// countRead counts the others, by their docs.
func (s *Store) countRead(ctx context.Context, tx *sql.Tx, scope memory.Scope, now time.Time,
	out *memory.Counts) error {
	docs, err := sqlitedb.Collect(ctx, tx, func(rows *sql.Rows) (m stored, err error) {
		return m, rows.Scan(&m.id, &m.doc)
	}, `SELECT id, doc FROM memories INDEXED BY memories_counts WHERE `+inScope+` AND deleted = 0 AND `+byDoc,
		scope.App, scope.User)
	if err != nil {
		return err
	}
	for _, one := range docs {
		var m memory.Memory
		if err := decode(one.doc, &m); err != nil {
			s.unreadable(scope, one.id, err)
		} else if m.Live(now) {
			out.Count(&m, now)
		}
	}
	return nil
}
