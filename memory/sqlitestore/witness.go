package sqlitestore

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
)

// Companion is the store of the sessions that the memories are made of, in another
// place than the file.
type Companion interface {
	// Seen is how far the sessions have got.
	Seen() ([]byte, error)
	// Expect has the sessions be at least as far as Seen has told.
	Expect(ctx context.Context, seen []byte) error
}

// The file keeps how far the sessions had got if they are elsewhere, so that sessions
// that come back older are noticed, even if that happened while no process ran.
const schemaCompanion = `
CREATE TABLE companion (one INTEGER PRIMARY KEY CHECK (one = 1), seen BLOB NOT NULL) STRICT;
`

// renewEvery is how often Watch looks whether the sessions have got further.
const renewEvery = 10 * time.Second

// Accompany compares the sessions with how far the file says that they had got, and has
// Watch keep that from now on. It is called before Watch, once it is known that the
// sessions and the memories belong together.
func (s *Store) Accompany(ctx context.Context, c Companion) error {
	var seen []byte
	err := s.db.Read(ctx, func(tx *sql.Tx) error { return tx.QueryRow(`SELECT seen FROM companion`).Scan(&seen) })
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	if err == nil {
		err = c.Expect(ctx, seen)
	}
	if err != nil {
		return fmt.Errorf("compare memories with sessions: %w", err)
	}
	s.companion, s.seen = c, seen
	return nil
}

// Watch keeps how far the sessions have got, until ctx is over. A write that fails is
// tried again: until then the next start knows a little less.
func (s *Store) Watch(ctx context.Context, _ *slog.Logger) {
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-tick.C:
			_ = s.renew(ctx)
		case <-ctx.Done():
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), renewEvery)
	defer cancel()
	_ = s.renew(last)
}

// renew stores how far the sessions have got, unless that is stored already.
func (s *Store) renew(ctx context.Context) error {
	seen, err := s.companion.Seen()
	if err != nil || bytes.Equal(seen, s.seen) {
		return err
	}
	err = s.db.Write(ctx, sqlitedb.For(memory.Scope{}), func(tx *sqlitedb.Tx) error {
		_, err := tx.Exec(`INSERT INTO companion (one, seen) VALUES (1, ?)
			ON CONFLICT DO UPDATE SET seen = excluded.seen`, seen)
		return err
	})
	if err == nil {
		s.seen = seen
	}
	return err
}
