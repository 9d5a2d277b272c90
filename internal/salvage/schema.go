package salvage

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/memoryd/memoryd/internal/sqlitedb"
)

// table is a table of the new file.
type table struct {
	name    string
	columns []column // in the order in which records have them
	noRowid bool
}

// column is a column of a table.
type column struct {
	name, kind string
	null       bool // it may be NULL
	rowid      bool // its value is the rowid, and NULL in the record
}

// tables reads the tables of the new file.
func tables(ctx context.Context, db *sqlitedb.DB) (out []*table, err error) {
	err = db.Read(ctx, func(tx *sql.Tx) error {
		names, err := sqlitedb.Collect(ctx, tx, func(rows *sql.Rows) (t *table, err error) {
			t = &table{}
			err = rows.Scan(&t.name, &t.noRowid)
			return t, err
		}, `SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' ORDER BY name`)
		if err != nil {
			return err
		}
		for _, t := range names {
			if strings.HasPrefix(t.name, "sqlite_") || t.name == "schema_versions" {
				continue
			}
			if err := t.readColumns(ctx, tx); err != nil {
				return err
			}
			out = append(out, t)
		}
		return nil
	})
	return out, err
}

// readColumns reads the columns. Records of a table without rowids begin with its
// primary key.
func (t *table) readColumns(ctx context.Context, tx *sql.Tx) error {
	keys := map[string]int{}
	var err error
	t.columns, err = sqlitedb.Collect(ctx, tx, func(rows *sql.Rows) (c column, err error) {
		var notNull bool
		var key int
		err = rows.Scan(&c.name, &c.kind, &notNull, &key)
		c.null = !notNull && (key == 0 || !t.noRowid)
		c.rowid = key == 1 && c.kind == "INTEGER" && !t.noRowid
		keys[c.name] = key
		return c, err
	}, `SELECT name, type, "notnull", pk FROM pragma_table_info(?) ORDER BY cid`, t.name)
	if err != nil {
		return err
	}
	several := 0 // columns of the primary key: a single INTEGER one is the rowid
	for _, key := range keys {
		several = max(several, key)
	}
	for i := range t.columns {
		t.columns[i].rowid = t.columns[i].rowid && several == 1
	}
	if t.noRowid {
		slices.SortStableFunc(t.columns, func(a, b column) int {
			x, y := keys[a.name], keys[b.name]
			if x == 0 {
				x = len(keys) + 1
			}
			if y == 0 {
				y = len(keys) + 1
			}
			return x - y
		})
	}
	return nil
}

// row returns the values of a record by column; nil if it is not one of the table. A
// record may have fewer values than the table has columns: those were added later.
func (t *table) row(r record, least int) map[string]any {
	if len(r.values) < least || len(r.values) > len(t.columns) {
		return nil
	}
	out := map[string]any{}
	for i, v := range r.values {
		c := t.columns[i]
		if c.rowid {
			if v != nil {
				return nil
			}
			out[c.name] = r.rowid
			continue
		}
		ok := v == nil && c.null
		switch v.(type) {
		case int64:
			ok = c.kind == "INTEGER"
		case string:
			ok = c.kind == "TEXT"
		case []byte:
			ok = c.kind == "BLOB"
		case float64:
			ok = c.kind == "REAL"
		}
		if !ok {
			return nil
		}
		out[c.name] = v
	}
	return out
}
