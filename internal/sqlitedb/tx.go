package sqlitedb

import (
	"context"
	"database/sql"
)

// Tx is one write inside a group. Its statements stay prepared as long as the
// database is open, so their texts must be few: values are arguments.
type Tx struct {
	db       *DB
	onCommit []func()
}

// Exec runs a statement.
func (tx *Tx) Exec(query string, args ...any) (sql.Result, error) {
	stmt, err := tx.db.prepared(query)
	if err != nil {
		return nil, err
	}
	return stmt.Exec(args...)
}

// run is Exec without a result.
func (tx *Tx) run(query string) error {
	_, err := tx.Exec(query)
	return err
}

// Changes runs a statement, and reports whether it changed a row.
func (tx *Tx) Changes(query string, args ...any) (bool, error) {
	res, err := tx.Exec(query, args...)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n > 0, err
}

// Query runs a query; the caller closes the rows before the next statement.
func (tx *Tx) Query(query string, args ...any) (*sql.Rows, error) {
	return tx.QueryContext(context.Background(), query, args...)
}

// QueryContext is Query, and ends with ctx.
func (tx *Tx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	stmt, err := tx.db.prepared(query)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, args...)
}

// QueryRow runs a query for one row.
func (tx *Tx) QueryRow(query string, args ...any) *sql.Row {
	stmt, err := tx.db.prepared(query)
	if err != nil {
		return tx.db.conn.QueryRowContext(context.Background(), query, args...) // fails with the same error
	}
	return stmt.QueryRow(args...)
}

// Unreadable notes a row that cannot be read; see DB.Unreadable.
func (tx *Tx) Unreadable(row Row, err error) { tx.db.Unreadable(row, err) }

// OnCommit has f called once the changes of this write are durable, before Write
// returns, and in the order of the commits. f must not write.
func (tx *Tx) OnCommit(f func()) { tx.onCommit = append(tx.onCommit, f) }

// prepared returns a statement of the writer's connection. Preparing most
// statements takes longer than running them.
func (db *DB) prepared(query string) (*sql.Stmt, error) {
	stmt := db.stmts[query]
	if stmt == nil {
		var err error
		if stmt, err = db.conn.PrepareContext(context.Background(), query); err != nil {
			return nil, err
		}
		db.stmts[query] = stmt
	}
	return stmt, nil
}
