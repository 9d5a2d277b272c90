package sqlitedb

import (
	"cmp"
	"slices"
)

// Row is a row that cannot be read: its table and what identifies it, in words.
type Row struct{ Table, Key string }

// Unreadable notes a row that cannot be read, and logs it the first time. The rest
// of its table is read on without it.
func (db *DB) Unreadable(row Row, err error) {
	db.unreadableMu.Lock()
	known := db.unreadable[row]
	db.unreadable[row] = true
	db.unreadableMu.Unlock()
	if !known {
		db.log.Error("a row cannot be read and is left out: memoryd check lists all of them",
			"file", db.path, "table", row.Table, "row", row.Key, "err", err)
	}
}

// UnreadableRows are the rows noted so far.
func (db *DB) UnreadableRows() (out []Row) {
	db.unreadableMu.Lock()
	defer db.unreadableMu.Unlock()
	for row := range db.unreadable {
		out = append(out, row)
	}
	slices.SortFunc(out, func(a, b Row) int { return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Key, b.Key)) })
	return out
}

// Stats are figures about a database.
type Stats struct {
	Damaged    string // what is damaged; "" if nothing is known to be
	Unreadable int    // rows met since Open that cannot be read
	Failures   int64  // of SQLite in reads and writes since Open
}

// Stats returns the figures of now.
func (db *DB) Stats() Stats {
	db.unreadableMu.Lock()
	defer db.unreadableMu.Unlock()
	s := Stats{Unreadable: len(db.unreadable), Failures: db.failures.Load()}
	if d := db.damage.Load(); d != nil {
		s.Damaged = d.what
	}
	return s
}
