package sqlitedb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"

	"github.com/memoryd/memoryd/memory"
)

// Foreign is a SQLite file of another program, open to be read alone.
type Foreign struct {
	*sql.DB
	// Columns are the columns of each table. Views are left out: a file can name any query
	// as one.
	Columns map[string][]string
}

// Has reports whether there is a table with some columns.
func (f *Foreign) Has(table string, columns ...string) bool {
	return !slices.ContainsFunc(columns, func(c string) bool { return !slices.Contains(f.Columns[table], c) }) &&
		f.Columns[table] != nil
}

// OpenForeign opens a file of another program. Nothing in it is changed, and no function
// that its schema names is run. Temporary tables are in a temporary file, and belong to a
// connection. The error is ErrInvalid if it is no SQLite database.
func OpenForeign(ctx context.Context, path string) (f *Foreign, err error) {
	whole, err := filepath.Abs(path) // a relative one would be taken for a host
	if err != nil {
		return nil, err
	}
	source := (&url.URL{Scheme: "file", Path: filepath.ToSlash(whole)}).String() +
		"?mode=ro&_pragma=busy_timeout(10000)&_pragma=trusted_schema(0)&_pragma=temp_store(1)" + cellCheck
	f = &Foreign{Columns: map[string][]string{}}
	if f.DB, err = sql.Open("sqlite", source); err != nil {
		return nil, err
	}
	if err := f.readColumns(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %s: %w", memory.ErrInvalid, path, err), f.Close())
	}
	return f, nil
}

// readColumns reads the schema.
func (f *Foreign) readColumns(ctx context.Context) (err error) {
	rows, err := f.QueryContext(ctx, `SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c
		WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%'`)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			return err
		}
		f.Columns[table] = append(f.Columns[table], column)
	}
	return rows.Err()
}
