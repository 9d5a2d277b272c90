package sqlitedb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/memoryd/memoryd/memory"
)

// Migrate brings the tables of one component up to date: it runs the steps that
// the file has not seen yet, or makes at once what all of them come to if the file
// has seen none. A component only ever adds steps. Migrate fails if
// the file has seen more steps than there are, as a newer memoryd wrote it, and if a
// table or an index is missing that the steps have made.
func (db *DB) Migrate(component string, steps ...string) error {
	version := 0
	read := func(row *sql.Row) error {
		err := row.Scan(&version)
		if code(err) == sqlite3.SQLITE_ERROR { // every memoryd has made this table so
			return errDamagedFile(db.path, err.Error())
		}
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if version > len(steps) {
			return fmt.Errorf("%s was written by a newer memoryd (%s schema %d, this one knows %d): use that version",
				db.path, component, version, len(steps))
		}
		return nil
	}
	made, err := blueprintOf(steps)
	if err != nil {
		return err
	}
	const stored = `SELECT version FROM schema_versions WHERE component = ?`
	// A start that changes nothing writes nothing, so a damaged file can be served for
	// reading.
	err = db.Read(context.Background(), func(tx *sql.Tx) error { return read(tx.QueryRow(stored, component)) })
	if err == nil && version < len(steps) {
		err = db.Write(context.Background(), For(memory.Scope{}), func(tx *Tx) error {
			if err := read(tx.QueryRow(stored, component)); err != nil {
				return err
			}
			left := steps[version:]
			if version == 0 && made.script != "" {
				left = []string{made.script}
			}
			for i, step := range left {
				if err := db.migrateStep(tx, component, step, version > 0, version+i+1); err != nil {
					return err
				}
			}
			_, err = tx.Exec(`INSERT INTO schema_versions VALUES (?1, ?2) ON CONFLICT DO UPDATE SET version = ?2`,
				component, len(steps))
			return err
		})
	}
	if err != nil {
		return err
	}
	return db.hasAll(made)
}

// migrateStep runs one step. Where an earlier memoryd has filled the tables, the log tells of
// its begin and its end: an index of a million rows takes minutes, in which nothing answers.
func (db *DB) migrateStep(tx *Tx, component, step string, filled bool, number int) error {
	log := db.log.With("file", db.path, "tables", component, "step", number)
	began := time.Now()
	if filled {
		log.Info("the file is brought up to date, which takes minutes if it is large: leave it running")
	}
	_, err := tx.Exec(step)
	if filled && err == nil {
		log.Info("a step of bringing the file up to date is done", "took", time.Since(began).Round(time.Millisecond))
	}
	return err
}

// objects are the tables, indexes and triggers of a database.
const objects = `SELECT type || ' ' || name FROM sqlite_schema ORDER BY 1`

// A blueprint is what the steps of a component make of an empty file.
type blueprint struct {
	names  []string // the objects, in order
	script string   // makes them all; empty if the steps write rows, too
}

// blueprints holds the blueprints of this process, by the steps. The steps of a component are
// the same for each file, and SQLite reads the whole schema again after each change of a table.
var blueprints sync.Map

// blueprintOf runs steps in a database of their own, the first time that it is called with them.
func blueprintOf(steps []string) (*blueprint, error) {
	all := strings.Join(steps, "\n")
	if b, ok := blueprints.Load(all); ok {
		return b.(*blueprint), nil
	}
	model, err := sql.Open("sqlite", Memory)
	if err != nil {
		return nil, err
	}
	defer model.Close()
	model.SetMaxOpenConns(1) // each connection would be a database of its own
	for _, step := range steps {
		if _, err := model.Exec(step); err != nil {
			return nil, err
		}
	}
	b := &blueprint{}
	if b.names, err = collectNames(model.QueryContext(context.Background(), objects)); err != nil {
		return nil, err
	}
	// A changed table keeps the text that would make it as it is now. SQLite itself makes what has
	// no text, and what has a name of its own.
	statements, err := collectNames(model.QueryContext(context.Background(), `SELECT sql FROM sqlite_schema
		WHERE sql IS NOT NULL AND name NOT GLOB 'sqlite_*' AND total_changes() = 0 ORDER BY rowid`))
	if err != nil {
		return nil, err
	}
	if len(statements) > 0 {
		b.script = strings.Join(statements, ";\n") + ";"
	}
	blueprints.Store(all, b)
	return b, nil
}

// hasAll fails if the file lacks what the steps make: a part of its schema is gone.
func (db *DB) hasAll(made *blueprint) error {
	var have []string
	err := db.Read(context.Background(), func(tx *sql.Tx) (err error) {
		have, err = collectNames(tx.QueryContext(context.Background(), objects))
		return err
	})
	if err != nil {
		return err
	}
	for _, name := range made.names {
		if _, found := slices.BinarySearch(have, name); !found {
			return errDamagedFile(db.path, "the "+name+" is missing")
		}
	}
	return nil
}

// collectNames reads rows of one text.
func collectNames(rows *sql.Rows, err error) (out []string, _ error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		out = append(out, name)
	}
	return out, rows.Err()
}

// Has reports whether the file has the tables of a component.
func (db *DB) Has(component string) (bool, error) {
	n := 0
	err := db.Read(context.Background(), func(tx *sql.Tx) error {
		return tx.QueryRow(`SELECT count(*) FROM schema_versions WHERE component = ?`, component).Scan(&n)
	})
	return n > 0, err
}
