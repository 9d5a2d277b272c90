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

func TestStore(t *testing.T) { suite(t, 1000) }

// The suite passes if hardly any session is read whole.
func TestStoreOfLongSessions(t *testing.T) { suite(t, 1) }

// suite runs the suite on a store that reads only sessions of up to whole turns
// whole.
func suite(t *testing.T, whole int) {
	q := qdranttest.Start(t)
	storetest.Run(t, func(t *testing.T) storetest.Harness {
		url := q.URL(t)
		return storetest.Harness{
			Open: func(t *testing.T, now func() time.Time, model memory.Model) (memory.Store, error) {
				s, err := qdrantstore.Open(t.Context(), url, model,
					&qdrantstore.Options{Exact: true, Now: now, Timeout: time.Minute})
				if err != nil {
					return nil, err
				}
				qdrantstore.ReadWhole(s, whole)
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
