package sqlitesession

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/sessionstore"
)

// schemaConfigs has the configuration of each app that has one.
const schemaConfigs = `
CREATE TABLE configs (
  app      TEXT PRIMARY KEY,
  revision INTEGER NOT NULL,
  doc      BLOB NOT NULL -- JSON
) STRICT, WITHOUT ROWID;
`

var _ sessionstore.Configs = (*Store)(nil)

// Config implements sessionstore.Configs.
func (s *Store) Config(ctx context.Context, app string) (doc json.RawMessage, revision int64, err error) {
	err = s.db.Read(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT doc, revision FROM configs WHERE app = ?`, app).
			Scan((*[]byte)(&doc), &revision)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read the configuration of app %q: %w", app, err)
	}
	return doc, revision, nil
}

// PutConfig implements sessionstore.Configs.
func (s *Store) PutConfig(ctx context.Context, app string, doc json.RawMessage, expect int64) (revision int64,
	err error) {
	if err = sessionstore.CheckConfig(app, doc); err == nil {
		err = s.db.Write(ctx, sqlitedb.Urgent(), func(tx *sqlitedb.Tx) error {
			err := tx.QueryRow(`SELECT COALESCE(MAX(revision), 0) FROM configs WHERE app = ?`, app).Scan(&revision)
			if err != nil {
				return err
			}
			if expect != sessionstore.AnyRevision && expect != revision {
				return sessionstore.StaleConfig(expect, revision)
			}
			revision++
			_, err = tx.Exec(`INSERT INTO configs (app, revision, doc) VALUES (?, ?, ?)
				ON CONFLICT DO UPDATE SET revision = excluded.revision, doc = excluded.doc`, app, revision, []byte(doc))
			return err
		})
	}
	if err != nil {
		return 0, fmt.Errorf("store the configuration of app %q: %w", app, err)
	}
	return revision, nil
}

// ExportConfigs implements sessionstore.Archive. It reads one document at a time.
func (s *Store) ExportConfigs(ctx context.Context, config func(sessionstore.ConfigRecord) error) error {
	for r := (sessionstore.ConfigRecord{}); ; {
		err := s.db.Read(ctx, func(tx *sql.Tx) error {
			return tx.QueryRowContext(ctx, `SELECT app, revision, doc FROM configs WHERE app > ? ORDER BY app LIMIT 1`,
				r.App).Scan(&r.App, &r.Revision, (*[]byte)(&r.Doc))
		})
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("export configurations: %w", err)
		}
		if err := config(r); err != nil {
			return err
		}
	}
}

// RestoreConfig implements sessionstore.Archive.
func (s *Store) RestoreConfig(ctx context.Context, r sessionstore.ConfigRecord) error {
	err := r.Validate()
	if err == nil {
		err = s.db.Write(ctx, sqlitedb.Urgent(), func(tx *sqlitedb.Tx) error {
			_, err := tx.Exec(`INSERT INTO configs (app, revision, doc) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
				r.App, r.Revision, []byte(r.Doc))
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("restore the configuration of app %q: %w", r.App, err)
	}
	return nil
}
