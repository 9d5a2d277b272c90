package sqlitedb

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/memoryd/memoryd/memory"
)

// Read runs fn in a read transaction: all its queries see one state.
func (db *DB) Read(ctx context.Context, fn func(*sql.Tx) error) error {
	db.reading.RLock()
	defer db.reading.RUnlock()
	select {
	case <-db.stopped:
		return fmt.Errorf("%w: the database is closed", memory.ErrUnavailable)
	default:
	}
	conn, err := db.reader.Conn(ctx)
	if err != nil {
		return db.classify(err)
	}
	defer conn.Close()
	// With ctx, the end of ctx would have a goroutine end the transaction, perhaps
	// after Read has returned and Close has closed the file. So fn ends its queries
	// with ctx, and Read ends the transaction.
	tx, err := conn.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return db.classify(err)
	}
	defer tx.Rollback() // it only read
	return db.classify(fn(tx))
}

// Prepare returns statements by their text, for transactions of Read to run (see
// sql.Tx.StmtContext), until Close. A caller prepares before it reads: each
// statement takes a connection beside those of Reads in progress.
func (db *DB) Prepare(queries ...string) (map[string]*sql.Stmt, error) {
	out := map[string]*sql.Stmt{}
	for _, q := range queries {
		stmt, err := db.reader.Prepare(q)
		if err != nil {
			return nil, db.classify(err)
		}
		out[q] = stmt
	}
	return out, nil
}

// Querier is a transaction of Read or of Write.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Each runs a query and calls do with each of its rows, until that fails.
func Each(ctx context.Context, q Querier, do func(*sql.Rows) error, query string, args ...any) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := do(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Collect runs a query and returns the values that scan reads from its rows.
func Collect[T any](ctx context.Context, q Querier, scan func(*sql.Rows) (T, error), query string, args ...any) (
	[]T, error) {
	var out []T
	err := Each(ctx, q, func(rows *sql.Rows) error {
		one, err := scan(rows)
		if err == nil {
			out = append(out, one)
		}
		return err
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return out, nil
}
