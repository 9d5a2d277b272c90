package qdrantstore

import (
	"errors"
	"testing"
	"time"

	"github.com/memoryd/memoryd/internal/qdranttest"
	"github.com/memoryd/memoryd/memory"
)

// Discard removes the collection that this store has made, and only if nothing
// is in it. Another process that has it open gets no write acknowledged then.
func TestDiscard(t *testing.T) {
	q := qdranttest.Start(t)
	there := func(s *Store) bool {
		t.Helper()
		ok, err := q.Client(t).CollectionExists(t.Context(), s.collection)
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	url := q.URL(t)
	made := open(t, url, oldModel)
	other := open(t, url, oldModel)
	if err := other.Discard(); err != nil || !there(made) {
		t.Fatalf("the collection of another is gone, %v", err)
	}
	writer := open(t, url, oldModel)
	if err := made.Discard(); err != nil || there(made) {
		t.Fatalf("the collection is still there, %v", err)
	}
	_, err := writer.Put(t.Context(), moveUser, []memory.Write{noted("m", 0)})
	if !errors.Is(err, memory.ErrUnavailable) {
		t.Errorf("a write after that: %v", err)
	}

	filled := open(t, url, oldModel)
	fill(t, filled, 1)
	if err := filled.Discard(); err != nil || !there(filled) {
		t.Fatalf("a collection with a memory is gone, %v", err)
	}
	again := open(t, url, oldModel)
	got, err := again.Get(t.Context(), moveUser, []string{"m0"})
	if err != nil || len(got) != 1 || again.ID() != filled.ID() {
		t.Errorf("of it there is %v, %v", got, err)
	}
	if _, err := again.Put(t.Context(), moveUser, []memory.Write{noted("on", 0)}); err != nil {
		t.Errorf("a write into it: %v", err)
	}
}

// A removal that was cut off is undone by the next start.
func TestDiscardCutOff(t *testing.T) {
	url := qdranttest.Start(t).URL(t)
	s := open(t, url, oldModel)
	retiring := *s.made
	retiring.State = retired
	if ok, err := s.swap(t.Context(), s.collection, s.made, &retiring); !ok || err != nil {
		t.Fatal(ok, err)
	}
	next, err := Open(t.Context(), url, oldModel, &Options{Timeout: 4 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	if _, err := next.Put(t.Context(), moveUser, []memory.Write{noted("m", 0)}); err != nil || next.ID() != s.ID() {
		t.Errorf("a write into store %s: %v", next.ID(), err)
	}
}
