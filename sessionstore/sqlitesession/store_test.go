package sqlitesession_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/memoryd/memoryd/internal/filetest"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/sessionstore/sessiontest"
	"github.com/memoryd/memoryd/sessionstore/sqlitesession"
)

func TestStore(t *testing.T) {
	sessiontest.Run(t, func(t *testing.T) sessiontest.Harness {
		path := filepath.Join(t.TempDir(), "memoryd.db")
		open := map[sessiontest.Backend]*sqlitedb.DB{}
		openTTL := func(t *testing.T, now func() time.Time, ttl time.Duration) sessiontest.Backend {
			t.Helper()
			db, err := sqlitedb.Open(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			s, err := sqlitesession.New(db, &sqlitesession.Options{Now: now, MaxState: sessiontest.MaxState,
				MaxKeys: sessiontest.MaxKeys, MaxSessions: sessiontest.MaxSessions,
				AuditEntries: sessiontest.AuditEntries, TTL: ttl})
			if err != nil {
				t.Fatal(err)
			}
			open[s] = db
			return s
		}
		return sessiontest.Harness{
			Embedded: true,
			Open: func(t *testing.T, now func() time.Time) sessiontest.Backend {
				t.Helper()
				return openTTL(t, now, 0)
			},
			OpenTTL: openTTL,
			Close: func(t *testing.T, b sessiontest.Backend) {
				t.Helper()
				if err := open[b].Close(); err != nil {
					t.Error(err)
				}
			},
			Keeps: func(t *testing.T, text string) bool { return len(filetest.With(t, filepath.Dir(path), text)) > 0 },
		}
	})
}
