package sqlitestore

import (
	"context"
	"database/sql"
	"log/slog"
	"slices"
	"time"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/index"
)

// Table warm has the scopes whose indexes were large when it was last written, and their bytes, so that the next start
// reads those indexes before somebody searches. The first place is that of the scope used last.
const schemaWarm = `
CREATE TABLE warm (place INTEGER PRIMARY KEY, scope INTEGER NOT NULL, bytes INTEGER NOT NULL) STRICT; -- scopes.n
`

const (
	// warmBytes is the least size of an index that is read early: some 2,000 memories. Smaller
	// ones are read within 50 ms.
	warmBytes = 4 << 20
	// warmScopes bounds the table.
	warmScopes = 100
	// warmEvery is how often Warm looks which indexes there are.
	warmEvery = time.Minute
)

// Warm reads the large indexes of the last start, as many of those used last as fill half of the
// cache. Then it keeps in the file which large indexes there are, until ctx is over or the
// memories move to another model. Nothing depends on it but the time of first searches, so that
// what fails is left out.
func (s *Store) Warm(ctx context.Context, _ *slog.Logger) {
	noted := s.readNoted(ctx)
	tick := time.NewTicker(warmEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
		if s.checkMoved() != nil {
			return
		}
		noted = s.noteChanged(ctx, noted)
	}
}

// noteChanged stores which large indexes there are, unless they are those noted, and returns
// which are. It ends soon even if ctx is over.
func (s *Store) noteChanged(ctx context.Context, noted []index.Kept) []index.Kept {
	large := s.cache.Recent(s.warmBytes)
	large = large[:min(len(large), warmScopes)]
	if slices.EqualFunc(large, noted, func(a, b index.Kept) bool { return a.Scope == b.Scope }) {
		return noted
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), renewEvery)
	defer cancel()
	if s.note(ctx, large) != nil {
		return noted
	}
	return large
}

// readNoted reads the indexes that the file says were large, and returns which they are.
func (s *Store) readNoted(ctx context.Context) []index.Kept {
	noted, _ := s.noted(ctx)
	room, some := s.cache.Stats().Limit/2, 0
	for some < len(noted) && noted[some].Bytes <= room {
		room -= noted[some].Bytes
		some++
	}
	// The one used last is read last, as the cache drops what was used first.
	for _, kept := range slices.Backward(noted[:some]) {
		_, _ = s.cache.Get(ctx, kept.Scope, s.now)
	}
	return noted
}

// noted reads which scopes had large indexes.
func (s *Store) noted(ctx context.Context) (out []index.Kept, err error) {
	err = s.db.Read(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT app, user, bytes FROM warm JOIN scopes ON n = scope ORDER BY place`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var k index.Kept
			if err := rows.Scan(&k.Scope.App, &k.Scope.User, &k.Bytes); err != nil {
				return err
			}
			out = append(out, k)
		}
		return rows.Err()
	})
	return out, err
}

// note stores which scopes have large indexes.
func (s *Store) note(ctx context.Context, large []index.Kept) error {
	return s.write(ctx, sqlitedb.For(memory.Scope{}), func(tx *sqlitedb.Tx) error {
		if _, err := tx.Exec(`DELETE FROM warm`); err != nil {
			return err
		}
		for i, k := range large {
			_, err := tx.Exec(`INSERT INTO warm (place, scope, bytes)
				SELECT ?, n, ? FROM scopes WHERE app = ? AND user = ?`, i, k.Bytes, k.Scope.App, k.Scope.User)
			if err != nil {
				return err
			}
		}
		return nil
	})
}
