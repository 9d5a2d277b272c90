package assembly

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/memoryd/memoryd/internal/salvage"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/sqlitestore"
	"github.com/memoryd/memoryd/sessionstore/sqlitesession"
)

// Saved is what came of Recover.
type Saved struct {
	*salvage.Report
	Again int // sessions whose memories will be made again
}

// Recover stores what can be read of a damaged SQLite file in a new one. If it fails
// it leaves no new file.
func Recover(ctx context.Context, old, path string, model memory.Model) (saved *Saved, err error) {
	if old, err = sqlitedb.Resolve(old); err != nil {
		return nil, err
	}
	unlock, err := sqlitedb.Lock(old)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	db, err := sqlitedb.Open(path, nil)
	if err != nil {
		return nil, err
	}
	if saved, err = recoverInto(ctx, old, db, model); err != nil {
		return nil, errors.Join(fmt.Errorf("recover %s: %w", old, err), db.Discard())
	}
	return saved, db.Close()
}

func recoverInto(ctx context.Context, old string, db *sqlitedb.DB, model memory.Model) (*Saved, error) {
	const sessions, memories = 0, 1
	report, err := salvage.Run(ctx, old, db,
		[]salvage.Component{sessions: sqlitesession.Salvage(), memories: sqlitestore.Salvage(model)})
	if err != nil {
		return nil, err
	}
	saved := &Saved{Report: report}
	if report.Found[sessions] && report.Found[memories] && report.LostOf(sqlitestore.Tables()...) {
		if saved.Again, err = makeAgain(ctx, db); err != nil {
			return nil, err
		}
	}
	wrong, err := db.IntegrityCheck(ctx)
	if err == nil && len(wrong) > 0 {
		err = fmt.Errorf("the new file is not whole: %s", wrong[0])
	}
	return saved, err
}

// makeAgain has the memories of all sessions made again: those that are there stay as
// they are.
func makeAgain(ctx context.Context, db *sqlitedb.DB) (sessions int, err error) {
	var id string
	err = db.Read(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT id FROM memory_model`).Scan(&id)
	})
	if err != nil {
		return 0, err
	}
	s, err := sqlitesession.New(db, nil)
	if err != nil {
		return 0, err
	}
	return s.Rebind(ctx, id)
}
