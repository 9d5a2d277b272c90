package salvage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
)

// Component is what one store knows about its tables.
type Component struct {
	// Tables are all of its tables. The first is one that every file of the store has.
	Tables []string
	// Skip are those of Tables whose rows are not needed: they say what a process was
	// doing.
	Skip []string
	// Migrate makes the tables in the new file.
	Migrate func(*sqlitedb.DB) error
	// Mend reports why a row cannot be kept. It may change the row where other values
	// of it say what is right.
	Mend    func(table string, row map[string]any) error
	Indexes []Index
	// Finish mends what the rows say about each other, and returns what it did, in
	// words.
	Finish func(tx *sqlitedb.Tx) ([]string, error)
}

// Index is an index of the old file. See is called with each of its entries once the
// rows are stored. It says which row the entry names if that is not there, "" if it
// is, and may store what the entry says about it.
type Index struct {
	Name string
	See  func(tx *sqlitedb.Tx, entry []any) (missing string, err error)
}

// Lost is a row, or a page of rows, that could not be salvaged.
type Lost struct{ Table, What string }

// Report is what came of a salvage.
type Report struct {
	Kept  map[string]int // rows by table
	Lost  []Lost
	Notes []string // what was mended
	Found []bool   // by component: the old file has it
}

// LostOf reports whether something of one of the tables was lost. Pages of which the
// table is not known count for every one.
func (r *Report) LostOf(tables ...string) bool {
	return slices.ContainsFunc(r.Lost, func(l Lost) bool {
		return l.Table == unknown || slices.Contains(tables, l.Table)
	})
}

// unknown stands for the table of a page that does not show which one it is of.
const unknown = "?"

// tree is a table or an index in the schema of the old file.
type tree struct {
	name  string
	root  uint32
	table bool // it has rowids
}

// run is one salvage.
type run struct {
	old        *file
	db         *sqlitedb.DB
	components []Component
	tables     map[string]*table
	widths     map[string]map[int]bool // how many values the records of a table have
	reached    map[uint32]bool         // pages whose content is accounted for
	waiting    []pending               // rows to store
	report     *Report
}

// pending is a row to store.
type pending struct {
	table  *table
	row    map[string]any
	orphan bool // it is from a page that no tree reaches
}

// Run stores what can be read of the file at a path in a new, empty database. The error
// is ErrNothing if that is nothing, and no store made the file.
func Run(ctx context.Context, path string, db *sqlitedb.DB, components []Component) (*Report, error) {
	old, err := open(path)
	if err != nil {
		return nil, err
	}
	defer old.close()
	r := &run{old: old, db: db, tables: map[string]*table{}, widths: map[string]map[int]bool{},
		reached: map[uint32]bool{}, report: &Report{Kept: map[string]int{}, Found: make([]bool, len(components))}}
	if old.otherLog {
		r.report.Notes = append(r.report.Notes, "the write-ahead log beside the file belongs to another copy of it:"+
			" nothing of it was used")
	}
	trees := r.schema()
	if err := r.prepare(ctx, trees, components); err != nil {
		return nil, err
	}
	if err := r.readTrees(ctx, trees); err != nil {
		return nil, err
	}
	if err := r.flush(ctx); err != nil { // it may show that something is lost
		return nil, err
	}
	if err := r.readOrphans(ctx); err != nil {
		return nil, err
	}
	if err := r.flush(ctx); err != nil {
		return nil, err
	}
	if !r.found(trees) {
		return nil, fmt.Errorf("%w: %s has no page that shows that it was a file of memoryd", ErrNothing, path)
	}
	return r.report, r.finish(ctx, trees)
}

// ErrNothing is the error of Run for a file of which nothing can be saved.
var ErrNothing = errors.New("nothing can be saved")

// found reports whether the old file was one of memoryd: it has rows or tables of it.
func (r *run) found(trees map[string]tree) bool {
	for _, c := range r.components {
		if slices.ContainsFunc(c.Tables, func(t string) bool { return r.report.Kept[t] > 0 || trees[t].root > 0 }) {
			return true
		}
	}
	return false
}

// schema reads the schema of the old file, as far as it can be.
func (r *run) schema() map[string]tree {
	trees := map[string]tree{}
	r.walk("sqlite_schema", 1, func(n node) bool {
		for _, rec := range n.records {
			if len(rec.values) != 5 {
				continue
			}
			kind, _ := rec.values[0].(string)
			name, _ := rec.values[1].(string)
			root, _ := rec.values[3].(int64)
			sql, _ := rec.values[4].(string)
			if name == "" || root <= 0 || root > int64(r.old.pages) {
				continue
			}
			noRowid := kind == "table" && strings.Contains(strings.ToUpper(sql), "WITHOUT ROWID")
			trees[name] = tree{name: name, root: uint32(root), table: kind == "table" && !noRowid}
		}
		return true
	})
	return trees
}

// prepare makes the tables of the components that the old file has. If its schema
// cannot be read it may have all of them.
func (r *run) prepare(ctx context.Context, trees map[string]tree, components []Component) error {
	whole := len(r.report.Lost) == 0 // the schema
	for i, c := range components {
		if whole && !slices.ContainsFunc(c.Tables, func(t string) bool { return trees[t].root > 0 }) {
			continue
		}
		r.report.Found[i] = true
		r.components = append(r.components, c)
		if err := c.Migrate(r.db); err != nil {
			return err
		}
	}
	all, err := tables(ctx, r.db)
	if err != nil {
		return err
	}
	for _, t := range all {
		r.tables[t.name] = t
	}
	return nil
}

// lose notes a loss.
func (r *run) lose(table, format string, args ...any) {
	r.report.Lost = append(r.report.Lost, Lost{table, fmt.Sprintf(format, args...)})
}

// walk reads the pages of a tree. A page that see does not accept is not of the tree.
func (r *run) walk(name string, root uint32, see func(node) bool) {
	seen := map[uint32]bool{root: true}
	kinds := [2]byte{}
	for next := []uint32{root}; len(next) > 0; {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		n, ok := r.old.parse(at)
		if ok && kinds == [2]byte{} {
			kinds = [2]byte{tableLeaf, tableInterior}
			if n.kind == indexLeaf || n.kind == indexInterior {
				kinds = [2]byte{indexLeaf, indexInterior}
			}
		}
		if !ok || n.kind != kinds[0] && n.kind != kinds[1] || !see(n) {
			r.lose(name, "page %d", at)
			continue
		}
		r.reached[at] = true
		for _, p := range n.overflow {
			r.reached[p] = true
		}
		if n.broken > 0 {
			r.lose(name, "%d rows of page %d", n.broken, at)
		}
		for _, child := range n.children {
			switch {
			case child == 0 || child > r.old.pages:
				r.lose(name, "a page that page %d refers to", at)
			case !seen[child]:
				seen[child] = true
				next = append(next, child)
			}
		}
	}
}

// readTrees reads the rows of all tables, and marks the pages of the indexes.
func (r *run) readTrees(ctx context.Context, trees map[string]tree) error {
	damaged := len(r.report.Lost) > 0 // the schema itself
	for _, name := range slices.Sorted(maps.Keys(trees)) {
		t := r.tables[name]
		losses := len(r.report.Lost)
		var failed error
		r.walk(name, trees[name].root, func(n node) bool {
			if t == nil || r.skipped(name) || len(n.records) == 0 {
				return true
			}
			took := false
			for _, rec := range n.records {
				row := t.row(rec, 1)
				if row == nil {
					continue
				}
				took = true
				if r.widths[name] == nil {
					r.widths[name] = map[int]bool{}
				}
				r.widths[name][len(rec.values)] = true
				failed = cmp.Or(failed, r.take(ctx, pending{t, row, false}))
			}
			return took
		})
		if failed != nil {
			return failed
		}
		if t == nil || r.skipped(name) { // an index, which is made again
			r.report.Lost = r.report.Lost[:losses]
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.tables)) {
		// A table that an earlier version did not have is not lost.
		if damaged && trees[name].root == 0 && !r.skipped(name) {
			r.lose(name, "its place in the file")
		}
	}
	return nil
}

// skipped reports whether the rows of a table are not needed.
func (r *run) skipped(name string) bool {
	return slices.ContainsFunc(r.components, func(c Component) bool { return slices.Contains(c.Skip, name) })
}

// readOrphans reads the pages that no tree reaches. If nothing is lost, nothing in
// them is either: they are what was deleted.
func (r *run) readOrphans(ctx context.Context) error {
	if len(r.report.Lost) == 0 {
		return nil
	}
	free, _ := r.old.free()
	for n := uint32(1); n <= r.old.pages; n++ {
		if r.reached[n] || free[n] {
			continue
		}
		page, ok := r.old.parse(n)
		if !ok || len(page.records) == 0 {
			continue
		}
		t := r.classify(page)
		if t == nil {
			continue
		}
		for _, rec := range page.records {
			if row := r.fits(t, rec); row != nil {
				if err := r.take(ctx, pending{t, row, true}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// fits is the row of a record of an orphan page, if it has as many values as rows of
// the table have.
func (r *run) fits(t *table, rec record) map[string]any {
	if len(rec.values) != len(t.columns) && !r.widths[t.name][len(rec.values)] || len(rec.values) < 2 {
		return nil
	}
	return t.row(rec, 1)
}

// classify finds the one table whose rows most records of a page can be.
func (r *run) classify(page node) (best *table) {
	most := 0
	for _, name := range slices.Sorted(maps.Keys(r.tables)) {
		t := r.tables[name]
		if t.noRowid == (page.kind == tableLeaf) || r.skipped(name) {
			continue
		}
		n := 0
		for _, rec := range page.records {
			if r.fits(t, rec) != nil {
				n++
			}
		}
		switch {
		case n > most:
			best, most = t, n
		case n == most && n > 0:
			best = nil
		}
	}
	return best
}

// together is how many rows are stored in one transaction.
const together = 500

// take checks a row, and has it stored.
func (r *run) take(ctx context.Context, p pending) error {
	if err := r.mend(p.table.name, p.row); err != nil {
		if !p.orphan {
			r.lose(p.table.name, "%s: %v", describe(p), err)
		}
		return ctx.Err()
	}
	if r.waiting = append(r.waiting, p); len(r.waiting) >= together {
		return r.flush(ctx)
	}
	return nil
}

func (r *run) mend(table string, row map[string]any) error {
	for _, c := range r.components {
		if slices.Contains(c.Tables, table) {
			return c.Mend(table, row)
		}
	}
	return errors.New("it is of no store")
}

// describe names a row by its short values.
func describe(p pending) string {
	var out []string
	for _, c := range p.table.columns {
		switch v := p.row[c.name].(type) {
		case int64:
			if len(out) < 4 {
				out = append(out, fmt.Sprintf("%s %d", c.name, v))
			}
		case string:
			out = append(out, fmt.Sprintf("%s %.80q", c.name, v))
		}
	}
	return strings.Join(out, ", ")
}

// flush stores the rows that wait. A row that is there already stays: rows of trees
// come before those of orphan pages, which may be older.
func (r *run) flush(ctx context.Context) error {
	rows := r.waiting
	r.waiting = nil
	if len(rows) == 0 {
		return nil
	}
	var twice []pending
	err := r.db.Write(ctx, sqlitedb.For(memory.Scope{}), func(tx *sqlitedb.Tx) error {
		for _, p := range rows {
			names := slices.Sorted(maps.Keys(p.row))
			args := make([]any, len(names))
			for i, name := range names {
				args[i] = p.row[name]
			}
			stored, err := tx.Changes(`INSERT OR IGNORE INTO `+p.table.name+` (`+strings.Join(names, ", ")+`)
				VALUES (?`+strings.Repeat(", ?", len(names)-1)+`)`, args...)
			if err != nil {
				return fmt.Errorf("table %s: %s: %w", p.table.name, describe(p), err)
			}
			switch {
			case stored:
				r.report.Kept[p.table.name]++
			case !p.orphan: // a page is in the place of another one, which is lost
				twice = append(twice, p)
			}
		}
		return nil
	})
	for _, p := range twice {
		r.lose(p.table.name, "the row that should be in the place of a second copy of %s", describe(p))
	}
	return err
}

// finish lists by the old file's indexes which rows are missing, and mends what the
// rows say about each other.
func (r *run) finish(ctx context.Context, trees map[string]tree) error {
	whole := len(r.report.Lost) == 0
	return r.db.Write(ctx, sqlitedb.For(memory.Scope{}), func(tx *sqlitedb.Tx) error {
		for _, c := range r.components {
			for _, index := range c.Indexes {
				if whole || trees[index.Name].root == 0 {
					continue
				}
				if err := r.compare(tx, trees[index.Name], index.See); err != nil {
					return err
				}
			}
		}
		for _, c := range r.components {
			notes, err := c.Finish(tx)
			if err != nil {
				return err
			}
			r.report.Notes = append(r.report.Notes, notes...)
		}
		return nil
	})
}

// compare calls see with the entries of an index.
func (r *run) compare(tx *sqlitedb.Tx, index tree, see func(*sqlitedb.Tx, []any) (string, error)) (err error) {
	var missing []string
	losses := len(r.report.Lost)
	r.walk(index.name, index.root, func(n node) bool {
		for _, rec := range n.records {
			name, failed := see(tx, rec.values)
			err = cmp.Or(err, failed)
			if name != "" {
				missing = append(missing, name)
			}
		}
		return true
	})
	r.report.Lost = r.report.Lost[:losses] // readTrees has counted the pages
	for _, name := range missing {
		r.lose(index.name, "%s", name)
	}
	return err
}
