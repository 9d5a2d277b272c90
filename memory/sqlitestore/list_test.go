package sqlitestore

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
)

// A page of a list is read from an index in each order, of deleted memories too: none sorts all that there are.
func TestListSortsNothing(t *testing.T) {
	db, err := sqlitedb.Open(sqlitedb.Memory, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := New(db, memory.Model{Embedder: "e", Dimension: 1, Analyzer: "a"}, nil); err != nil {
		t.Fatal(err)
	}
	for field := range orderColumns {
		for _, deleted := range []bool{false, true} {
			query, args := listQuery(memory.Scope{App: "app", User: "ann"},
				&memory.List{Deleted: deleted, Order: memory.Order{Field: field}}, &memory.Cursor{At: 1, ID: "x"})
			var plan strings.Builder
			if err := db.Read(t.Context(), func(tx *sql.Tx) error {
				rows, err := sqlitedb.Collect(t.Context(), tx, func(rows *sql.Rows) (step string, err error) {
					var id, parent, unused int
					return step, rows.Scan(&id, &parent, &unused, &step)
				}, `EXPLAIN QUERY PLAN `+query, args...)
				plan.WriteString(strings.Join(rows, "\n"))
				return err
			}); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(plan.String(), "TEMP B-TREE") {
				t.Errorf("by %q, deleted %v:\n%s", field, deleted, plan.String())
			}
		}
	}
}
