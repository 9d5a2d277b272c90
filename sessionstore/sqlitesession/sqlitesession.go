// Package sqlitesession keeps sessions in memoryd's SQLite file.
package sqlitesession

import (
	"context"
	"database/sql"
	"time"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/sessionstore"
)

// Options configure New. The zero value is the default.
type Options struct {
	Now func() time.Time // Defaults to time.Now.
}

// Store implements sessionstore.Store, Progress, Operations and Archive.
type Store struct {
	db  *sqlitedb.DB
	now func() time.Time
	// prepared has the statements that Get runs: preparing them takes longer than
	// running them.
	prepared map[string]*sql.Stmt
}

var (
	_ sessionstore.Store      = (*Store)(nil)
	_ sessionstore.Progress   = (*Store)(nil)
	_ sessionstore.Operations = (*Store)(nil)
	_ sessionstore.Archive    = (*Store)(nil)
)

// New creates the tables if they are missing, and brings those of an earlier
// version up to date. The file belongs to this process alone, so leases of an
// earlier process are void.
func New(db *sqlitedb.DB, opts *Options) (*Store, error) {
	s := &Store{db: db, now: time.Now}
	if opts != nil && opts.Now != nil {
		s.now = opts.Now
	}
	if err := db.Migrate("sessions", schema, schemaRequest); err != nil {
		return nil, err
	}
	var err error
	if s.prepared, err = db.Prepare(selectSession, selectState, selectEvents); err != nil {
		return nil, err
	}
	return s, db.Write(context.Background(), func(tx *sqlitedb.Tx) error {
		// Without a WHERE, SQLite writes even if there are no rows, and a full disk
		// has no room for that.
		_, err := tx.Exec(`DELETE FROM leases WHERE until > 0`)
		return err
	})
}

// expired is when an operation ended that can no longer be read, in
// microseconds: all that ended before it.
func (s *Store) expired() int64 { return s.now().Add(-sessionstore.OperationTTL).UnixMicro() }
