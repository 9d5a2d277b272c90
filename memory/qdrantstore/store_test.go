package qdrantstore_test

import (
	"testing"
	"time"

	"github.com/memoryd/memoryd/internal/qdranttest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/qdrantstore"
	"github.com/memoryd/memoryd/memory/storetest"
)

var model = qdrantstore.Model{Embedder: "test", Dimension: storetest.Dimension, Analyzer: "test"}

// Searches go by an index in memory.
func TestStore(t *testing.T) { suite(t, 1000, 0, func(*qdrantstore.Store) {}) }

// The suite passes if the indexes have no vectors, and Qdrant compares those.
func TestStoreOfIndexesWithoutVectors(t *testing.T) { suite(t, 1000, 0, qdrantstore.KeepNoVectors) }

// The suite passes if hardly any session is read whole, too.
func TestStoreOfLongSessions(t *testing.T) { suite(t, 1, 1, func(*qdrantstore.Store) {}) }

// suite runs the suite on a store that reads only sessions of up to whole turns
// whole, has so many bytes for indexes, and is set up by set.
func suite(t *testing.T, whole int, cacheBytes int64, set func(*qdrantstore.Store)) {
	q := qdranttest.Start(t)
	storetest.Run(t, func(t *testing.T) storetest.Harness {
		url := q.URL(t)
		return storetest.Harness{
			Shared: true,
			Open: func(t *testing.T, now func() time.Time, model memory.Model) (memory.Store, error) {
				s, err := qdrantstore.Open(t.Context(), url, model,
					&qdrantstore.Options{Exact: true, Now: now, Timeout: time.Minute, CacheBytes: cacheBytes})
				if err != nil {
					return nil, err
				}
				qdrantstore.ReadWhole(s, whole)
				set(s)
				return s, nil
			},
			StoredModel: func(t *testing.T, id string) memory.Model {
				all, err := qdrantstore.StoredModels(t.Context(), url, nil)
				if err != nil {
					t.Fatal(err)
				}
				return all[id]
			},
			Close: func(t *testing.T, s memory.Store) {
				if err := s.(*qdrantstore.Store).Close(); err != nil {
					t.Error(err)
				}
			},
		}
	})
}
