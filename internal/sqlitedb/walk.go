package sqlitedb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"

	"github.com/memoryd/memoryd/memory"
)

// Walked is a row that Walk has met.
type Walked[T any] struct {
	Number int64
	Row    T
	Err    error // why the row cannot be read; then Row is not whole
}

// Walk is a way over all rows of a table by their number, past those that cannot be
// read.
type Walk[T any] struct {
	// Query reads rows in the order of their numbers, which are its first column. Its
	// arguments are the number to begin behind, and how many rows.
	Query string
	Page  int // how many rows one transaction reads
	Scan  func(*sql.Rows) (T, error)
	// With reads what else is wanted about the rows of a page, in the transaction that
	// has read them. Nil for nothing.
	With func(tx *sql.Tx, page []Walked[T]) error
	// Table is what the rows are called, and Found gets those that a damaged page hides.
	Table string
	Found func(memory.Finding)
}

// errOrder is the error for rows whose numbers do not ascend: a page is damaged.
var errOrder = errors.New("the rows are not in their order")

// hidden reports whether an error says that rows cannot be read.
func hidden(err error) bool { return IsDamage(err) || errors.Is(err, errOrder) }

// Run calls see with the pages, outside of a transaction.
func (w *Walk[T]) Run(ctx context.Context, db *DB, see func(page []Walked[T]) error) error {
	for after := int64(math.MinInt64); ; {
		page, err := w.read(ctx, db, after, w.Page)
		if err != nil && !hidden(err) {
			return err
		}
		if len(page) > 0 {
			after = page[len(page)-1].Number
			if err := see(page); err != nil {
				return err
			}
			continue
		}
		if err == nil {
			return nil
		}
		last, missed := w.pass(ctx, db, after)
		if missed != nil {
			return missed
		}
		to := fmt.Sprint("to ", last)
		if last == math.MaxInt64 {
			to = "on"
		}
		w.Found(memory.Finding{Rule: memory.RuleUnreadable, Text: err.Error(),
			Of: fmt.Sprintf("%s, row numbers from %d %s", w.Table, max(after, -1)+1, to)})
		if last == math.MaxInt64 {
			return nil
		}
		after = last
	}
}

// pass returns a number behind which rows can be read again, after one behind which they
// cannot; the highest one if there is none.
func (w *Walk[T]) pass(ctx context.Context, db *DB, after int64) (int64, error) {
	good := func(n int64) (bool, error) {
		_, err := w.read(ctx, db, n, 1)
		if err != nil && !hidden(err) {
			return false, err
		}
		return err == nil, nil
	}
	bad, step := max(after, -1), int64(1) // numbers count from 0 or 1
	for {
		if bad > math.MaxInt64-step {
			return math.MaxInt64, nil
		}
		ok, err := good(bad + step)
		if err != nil {
			return 0, err
		}
		if ok {
			break
		}
		bad, step = bad+step, step*2
	}
	for ok := bad + step; ; { // the first good one is behind bad, and at most ok
		if ok-bad == 1 {
			return ok, nil
		}
		middle := bad + (ok-bad)/2
		found, err := good(middle)
		switch {
		case err != nil:
			return 0, err
		case found:
			ok = middle
		default:
			bad = middle
		}
	}
}

// read reads rows behind a number. With an error it returns those that it could read.
func (w *Walk[T]) read(ctx context.Context, db *DB, after int64, limit int) (page []Walked[T], err error) {
	err = db.Read(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, w.Query, after, limit)
		if err != nil {
			return err
		}
		page, err = w.collect(rows, after)
		if w.With != nil {
			err = errors.Join(err, w.With(tx, page))
		}
		return err
	})
	return page, err
}

// collect reads rows with numbers above after, until one cannot be read.
func (w *Walk[T]) collect(rows *sql.Rows, after int64) (page []Walked[T], err error) {
	defer rows.Close()
	for rows.Next() {
		one := Walked[T]{}
		if one.Number, err = number(rows); err != nil {
			return page, err
		}
		if one.Number <= after {
			return page, errOrder
		}
		after = one.Number
		one.Row, one.Err = w.Scan(rows)
		page = append(page, one)
	}
	return page, rows.Err()
}

// ScanFinding scans an app, a user, what it is about, and what is wrong with it. In a
// damaged row any of them may be NULL.
func ScanFinding(rows *sql.Rows) (f memory.Finding, err error) {
	var app, user, of, text sql.NullString
	err = rows.Scan(&app, &user, &of, &text)
	f = memory.Finding{Scope: memory.Scope{App: app.String, User: user.String}, Of: of.String, Text: text.String}
	return f, err
}

// number reads the first column, whatever the others are.
func number(rows *sql.Rows) (n int64, err error) {
	names, err := rows.Columns()
	if err != nil {
		return 0, err
	}
	values := make([]any, len(names))
	values[0] = &n
	for i := range values[1:] {
		values[i+1] = new(any)
	}
	return n, rows.Scan(values...)
}
