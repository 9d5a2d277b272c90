package sqlitesession

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// schemaKeys has the keys of callers, with times in microseconds and 0 for none, and how
// often they changed.
const schemaKeys = `
CREATE TABLE keys (
  id          TEXT PRIMARY KEY,
  app         TEXT NOT NULL,
  user        TEXT NOT NULL,
  name        TEXT NOT NULL,
  can         INTEGER NOT NULL,
  hash        BLOB NOT NULL,
  old         BLOB NOT NULL,
  old_until   INTEGER NOT NULL,
  create_time INTEGER NOT NULL,
  expire_time INTEGER NOT NULL,
  revoke_time INTEGER NOT NULL,
  used_time   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- For pages of ListKeys, of an app and of all.
CREATE INDEX keys_app ON keys (app, create_time, id);
CREATE INDEX keys_time ON keys (create_time, id);
CREATE TABLE keys_revision (one INTEGER PRIMARY KEY CHECK (one = 1), n INTEGER NOT NULL) STRICT;
`

const (
	keyColumns = `id, app, user, name, can, hash, old, old_until, create_time, expire_time, revoke_time, used_time`
	selectKey  = `SELECT ` + keyColumns + ` FROM keys WHERE id = ?`
	// selectRevision has one row, also without a revision.
	selectRevision = `SELECT COALESCE(MAX(n), 0) FROM keys_revision`
)

var _ access.Keys = (*Store)(nil)

// microsOf is a time as it is stored.
func microsOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// timeOf is a stored time.
func timeOf(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return sessionstore.FromMicros(micros)
}

// scanKey reads a row of keyColumns.
func scanKey(scan func(...any) error) (k access.Key, err error) {
	var can, oldUntil, created, expires, revoked, used int64
	err = scan(&k.ID, &k.App, &k.User, &k.Name, &can, &k.Hash, &k.Old, &oldUntil, &created, &expires, &revoked, &used)
	k.Can, k.OldUntil, k.CreateTime = access.Verbs(can), timeOf(oldUntil), timeOf(created)
	k.ExpireTime, k.RevokeTime, k.LastUsedTime = timeOf(expires), timeOf(revoked), timeOf(used)
	return k, err
}

// KeysRevision implements access.Keys.
func (s *Store) KeysRevision(ctx context.Context) (n int64, err error) {
	err = s.db.Read(ctx, func(tx *sql.Tx) error {
		return tx.StmtContext(ctx, s.prepared[selectRevision]).QueryRowContext(ctx).Scan(&n)
	})
	if err != nil {
		return 0, fmt.Errorf("read the revision of keys: %w", err)
	}
	return n, nil
}

// changeKeys runs a change of keys, and counts it if it changed something.
func (s *Store) changeKeys(ctx context.Context, change func(tx *sqlitedb.Tx) (changed bool, err error)) error {
	return s.db.Write(ctx, sqlitedb.Urgent(), func(tx *sqlitedb.Tx) error {
		changed, err := change(tx)
		if err == nil && changed {
			_, err = tx.Exec(`INSERT INTO keys_revision VALUES (1, 1) ON CONFLICT DO UPDATE SET n = n + 1`)
		}
		return err
	})
}

// RequireKeys implements access.Keys.
func (s *Store) RequireKeys(ctx context.Context) error {
	err := s.changeKeys(ctx, func(tx *sqlitedb.Tx) (bool, error) {
		var n int64
		err := tx.QueryRow(selectRevision).Scan(&n)
		return n == 0, err
	})
	if err != nil {
		return fmt.Errorf("require keys: %w", err)
	}
	return nil
}

// CreateKey implements access.Keys.
func (s *Store) CreateKey(ctx context.Context, k access.Key) error {
	err := k.Validate()
	if err == nil {
		err = s.changeKeys(ctx, func(tx *sqlitedb.Tx) (bool, error) { return true, s.createKey(tx, k) })
	}
	if err != nil {
		return fmt.Errorf("create key %q: %w", k.ID, err)
	}
	return nil
}

func (s *Store) createKey(tx *sqlitedb.Tx, k access.Key) error {
	dead := s.now().Add(-access.KeepDead).UnixMicro()
	if _, err := tx.Exec(`DELETE FROM keys WHERE revoke_time > 0 AND revoke_time <= ?1 OR
		expire_time > 0 AND expire_time <= ?1`, dead); err != nil {
		return err
	}
	var same, all int
	if err := tx.QueryRow(`SELECT COUNT(*) FROM keys WHERE id = ?`, k.ID).Scan(&same); err != nil {
		return err
	}
	if same > 0 {
		return memory.ErrExists
	}
	if err := tx.QueryRow(`SELECT COUNT(*) FROM keys WHERE app = ?`, k.App).Scan(&all); err != nil {
		return err
	}
	if most := cmp.Or(s.maxKeys, access.MaxKeys); all >= most {
		return memory.Refuse(0, "the app has %d keys, and may have no more", most)
	}
	_, err := tx.Exec(`INSERT INTO keys (`+keyColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		k.ID, k.App, k.User, k.Name, int64(k.Can), notNil(k.Hash), notNil(k.Old), microsOf(k.OldUntil),
		microsOf(k.CreateTime), microsOf(k.ExpireTime), microsOf(k.RevokeTime), microsOf(k.LastUsedTime))
	return err
}

// notNil is bytes as a column that is not null takes them.
func notNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// Key implements access.Keys.
func (s *Store) Key(ctx context.Context, id string) (k access.Key, err error) {
	err = s.db.Read(ctx, func(tx *sql.Tx) (err error) {
		k, err = scanKey(tx.StmtContext(ctx, s.prepared[selectKey]).QueryRowContext(ctx, id).Scan)
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		err = memory.ErrNotFound
	}
	if err != nil {
		return access.Key{}, fmt.Errorf("key %.80q: %w", id, err)
	}
	return k, nil
}

// ListKeys implements access.Keys.
func (s *Store) ListKeys(ctx context.Context, app string, list access.ListKeys) (page access.KeyPage, err error) {
	size, from, err := list.Pager(app)
	if err != nil {
		return page, fmt.Errorf("list keys of app %q: %w", app, err)
	}
	query, args := `SELECT `+keyColumns+` FROM keys WHERE TRUE`, []any{}
	if app != access.AllApps {
		query, args = query+` AND app = ?`, append(args, app)
	}
	if from.ID != "" {
		query, args = query+` AND (create_time, id) < (?, ?)`, append(args, from.Micros, from.ID)
	}
	err = s.db.Read(ctx, func(tx *sql.Tx) (err error) {
		read := func(rows *sql.Rows) (access.Key, error) { return scanKey(rows.Scan) }
		page.Keys, err = sqlitedb.Collect(ctx, tx, read,
			query+` ORDER BY create_time DESC, id DESC LIMIT ?`, append(args, size+1)...)
		return err
	})
	if err != nil {
		return access.KeyPage{}, fmt.Errorf("list keys of app %q: %w", app, err)
	}
	page.Cut(app, size)
	return page, nil
}

// RevokeKey implements access.Keys.
func (s *Store) RevokeKey(ctx context.Context, id string, at time.Time) error {
	err := s.changeKeys(ctx, func(tx *sqlitedb.Tx) (bool, error) {
		changed, err := tx.Changes(`UPDATE keys SET revoke_time = ? WHERE id = ? AND revoke_time = 0`, microsOf(at), id)
		if err != nil || changed {
			return changed, err
		}
		_, err = storedKey(tx, id) // it is revoked already, or there is none
		return false, err
	})
	if err != nil {
		return fmt.Errorf("revoke key %.80q: %w", id, err)
	}
	return nil
}

// storedKey reads a key; ErrNotFound if there is none of that id.
func storedKey(tx *sqlitedb.Tx, id string) (access.Key, error) {
	k, err := scanKey(tx.QueryRow(selectKey, id).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		err = memory.ErrNotFound
	}
	return k, err
}

// RotateKey implements access.Keys.
func (s *Store) RotateKey(ctx context.Context, id string, hash []byte, at, oldUntil time.Time) error {
	err := s.changeKeys(ctx, func(tx *sqlitedb.Tx) (bool, error) {
		k, err := storedKey(tx, id)
		if err == nil && !k.Live(at) {
			err = fmt.Errorf("%w: it is revoked or has expired", memory.ErrAborted)
		}
		if err != nil {
			return false, err
		}
		_, err = tx.Exec(`UPDATE keys SET old = hash, old_until = ?, hash = ? WHERE id = ?`,
			microsOf(oldUntil), hash, id)
		return true, err
	})
	if err != nil {
		return fmt.Errorf("rotate key %.80q: %w", id, err)
	}
	return nil
}

// TouchKeys implements access.Keys.
func (s *Store) TouchKeys(ctx context.Context, used map[string]time.Time) error {
	err := s.db.Write(ctx, sqlitedb.Urgent(), func(tx *sqlitedb.Tx) error {
		for id, at := range used {
			if _, err := tx.Exec(`UPDATE keys SET used_time = ?1 WHERE id = ?2 AND used_time < ?1`, microsOf(at),
				id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("record the use of keys: %w", err)
	}
	return nil
}
