package sqlitedb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Migrate brings the tables of one component up to date: it runs the steps that
// the file has not seen yet. A component only ever adds steps. Migrate fails if
// the file has seen more steps than there are, as a newer memoryd wrote it.
func (db *DB) Migrate(component string, steps ...string) error {
	return db.Write(context.Background(), Urgent(), func(tx *Tx) error {
		version := 0
		err := tx.QueryRow(`SELECT version FROM schema_versions WHERE component = ?`, component).Scan(&version)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if version > len(steps) {
			return fmt.Errorf("%s was written by a newer memoryd (%s schema %d, this one knows %d): use that version",
				db.path, component, version, len(steps))
		}
		if version == len(steps) {
			return nil
		}
		for _, step := range steps[version:] {
			if _, err := tx.Exec(step); err != nil {
				return err
			}
		}
		_, err = tx.Exec(`INSERT INTO schema_versions VALUES (?1, ?2) ON CONFLICT DO UPDATE SET version = ?2`,
			component, len(steps))
		return err
	})
}

// Has reports whether the file has the tables of a component.
func (db *DB) Has(component string) (bool, error) {
	n := 0
	err := db.Read(context.Background(), func(tx *sql.Tx) error {
		return tx.QueryRow(`SELECT count(*) FROM schema_versions WHERE component = ?`, component).Scan(&n)
	})
	return n > 0, err
}
