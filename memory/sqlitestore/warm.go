package sqlitestore

import (
	"context"
	"database/sql"
	"log/slog"
	"slices"
	"time"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
)

// Table warm has the scopes whose indexes were large when it was last written, so that the next
// start reads them before somebody searches. The first place is that of the scope used last.
const schemaWarm = `CREATE TABLE warm (place INTEGER PRIMARY KEY, scope INTEGER NOT NULL) STRICT; -- scopes.n`

const (
	// warmBytes is the least size of an index that is read early: some 2,000 memories. Smaller
	// ones are read within 50 ms.
	warmBytes = 4 << 20
	// warmScopes bounds the table.
	warmScopes = 100
	// warmEvery is how often Warm looks which indexes there are.
	warmEvery = time.Minute
)

// Warm reads the large indexes of the last start, one after another, until half of the cache is
// full. Then it keeps in the file which large indexes there are, until ctx is over. Nothing
// depends on it but the time of first searches: what fails is left out.
func (s *Store) Warm(ctx context.Context, _ *slog.Logger) {
	noted, err := s.noted(ctx)
	if err != nil {
		return
	}
	for _, scope := range noted {
		if stats := s.cache.Stats(); stats.Bytes > stats.Limit/2 {
			break
		}
		_, _ = s.cache.Get(ctx, scope, s.now)
	}
	tick := time.NewTicker(warmEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
		large := s.cache.Recent(warmBytes)
		large = large[:min(len(large), warmScopes)]
		if slices.Equal(large, noted) {
			continue
		}
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), renewEvery)
		if s.note(last, large) == nil {
			noted = large
		}
		cancel()
	}
}

// noted reads which scopes had large indexes.
func (s *Store) noted(ctx context.Context) (out []memory.Scope, err error) {
	err = s.db.Read(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT app, user FROM warm JOIN scopes ON n = scope ORDER BY place`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var scope memory.Scope
			if err := rows.Scan(&scope.App, &scope.User); err != nil {
				return err
			}
			out = append(out, scope)
		}
		return rows.Err()
	})
	return out, err
}

// note stores which scopes have large indexes.
func (s *Store) note(ctx context.Context, large []memory.Scope) error {
	return s.write(ctx, sqlitedb.For(memory.Scope{}), func(tx *sqlitedb.Tx) error {
		if _, err := tx.Exec(`DELETE FROM warm`); err != nil {
			return err
		}
		for i, scope := range large {
			_, err := tx.Exec(`INSERT INTO warm (place, scope) SELECT ?, n FROM scopes WHERE app = ? AND user = ?`,
				i, scope.App, scope.User)
			if err != nil {
				return err
			}
		}
		return nil
	})
}
