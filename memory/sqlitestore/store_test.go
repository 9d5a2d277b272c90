package sqlitestore_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/memoryd/memoryd/internal/filetest"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/sqlitestore"
	"github.com/memoryd/memoryd/memory/storetest"
)

// harness opens stores on one file, with an index cache of the given size.
func harness(cacheBytes int64) func(t *testing.T) storetest.Harness {
	return func(t *testing.T) storetest.Harness {
		path := filepath.Join(t.TempDir(), "memoryd.db")
		open := map[memory.Store]*sqlitedb.DB{}
		return storetest.Harness{
			Open: func(t *testing.T, now func() time.Time, model memory.Model) (memory.Store, error) {
				t.Helper()
				db, err := sqlitedb.Open(path, nil)
				if err != nil {
					t.Fatal(err)
				}
				s, err := sqlitestore.New(db, model, &sqlitestore.Options{Now: now, CacheBytes: cacheBytes})
				if err != nil {
					return nil, errors.Join(err, db.Close())
				}
				open[s] = db
				return s, nil
			},
			StoredModel: func(t *testing.T, _ string) memory.Model {
				t.Helper()
				db, err := sqlitedb.Open(path, nil)
				if err != nil {
					t.Fatal(err)
				}
				defer db.Close()
				m, err := sqlitestore.StoredModel(db)
				if err != nil {
					t.Fatal(err)
				}
				return m
			},
			Keeps: func(t *testing.T, text string) bool { return len(filetest.With(t, filepath.Dir(path), text)) > 0 },
			Close: func(t *testing.T, s memory.Store) {
				t.Helper()
				if err := open[s].Close(); err != nil {
					t.Error(err)
				}
			},
		}
	}
}

func TestStore(t *testing.T) { storetest.Run(t, harness(0)) }

// A cache without room reads a scope from the file whenever another one was
// used before, and must answer the same.
func TestStoreWithoutCache(t *testing.T) { storetest.Run(t, harness(1)) }
