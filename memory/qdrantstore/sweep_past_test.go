package qdrantstore

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/memoryd/memoryd/internal/qdranttest"
	"github.com/memoryd/memoryd/memory"
)

// agedWord makes a memory with 4 revisions, of which the first 2 expired an hour ago.
func agedWord(t *testing.T, s *Store, id string) {
	t.Helper()
	for i := range int64(4) {
		w := wordWrite(id)
		w.Expect, w.Memory.Fact = i, fmt.Sprint("tea ", i)
		if i < 2 {
			w.Memory.Fact = fmt.Sprint("axolotl ", i)
			w.RevisionExpireTime = time.Now().Add(-time.Hour)
		}
		if out, err := s.Put(t.Context(), followScope, []memory.Write{w}); err != nil || out[0].Err != nil {
			t.Fatal(out, err)
		}
	}
}

// kept are the numbers of the revisions that an export has of a memory, with how many it
// says were removed.
func kept(t *testing.T, s *Store, id string) (numbers []int64, removed int64) {
	t.Helper()
	err := s.Export(t.Context(), func(r memory.Record) error {
		if r.Memory.ID == id {
			removed = r.Removed
			for _, st := range r.History {
				numbers = append(numbers, st.Revision)
			}
		}
		return r.Validate(s.model.Dimension)
	})
	if err != nil {
		t.Error(err)
	}
	return numbers, removed
}

// A sweep of revisions may be cut off after any of its calls: reads have the same before
// the next sweep, which finishes it.
func TestSweepPastCutOff(t *testing.T) {
	t.Parallel()
	q := qdranttest.Start(t)
	cutOff := 0
	for at := 1; ; at++ {
		url := q.URL(t)
		s, other := followed(t, url), followed(t, url)
		agedWord(t, s, "f")
		cut, cancel := context.WithCancel(t.Context())
		c := &calls{}
		c.record(t, s, url)
		n := 0
		c.mu.Lock()
		c.after = func(string, any) {
			if n++; n == at {
				cancel()
			}
		}
		c.mu.Unlock()
		_, _, err := s.Sweep(cut, time.Now(), 10)
		cancel()
		if err != nil {
			cutOff++
		}
		if numbers, removed := kept(t, other, "f"); fmt.Sprint(numbers, removed) != "[3 4] 2" {
			t.Errorf("cut off after call %d: revisions %v, %d removed", at, numbers, removed)
		}
		if _, _, err := other.Sweep(t.Context(), time.Now(), 10); err != nil {
			t.Fatal(err)
		}
		keepsNoWord(t, s, s.collection, "axolotl")
		if numbers, removed := kept(t, other, "f"); fmt.Sprint(numbers, removed) != "[3 4] 2" {
			t.Errorf("after the next sweep: revisions %v, %d removed", numbers, removed)
		}
		out, more, err := other.Sweep(t.Context(), time.Now(), 10)
		if err != nil || more || out != (memory.Erased{}) {
			t.Errorf("a third sweep: %+v, more %t, error %v", out, more, err)
		}
		if n < at {
			break
		}
	}
	if cutOff < 4 {
		t.Errorf("%d sweeps were cut off", cutOff)
	}
}

// A memory that changes while a sweep removes its revisions keeps the count, and what the
// change made past is found by a later sweep.
func TestSweepPastAmidWrites(t *testing.T) {
	t.Parallel()
	q := qdranttest.Start(t)
	for at := 1; ; at++ {
		url := q.URL(t)
		s, other := followed(t, url), followed(t, url)
		agedWord(t, s, "f")
		c := &calls{}
		c.record(t, s, url)
		n := 0
		c.mu.Lock()
		c.after = func(string, any) {
			if n++; n == at {
				changeWord(t, other, "f", "s", "milk", 4)
			}
		}
		c.mu.Unlock()
		if _, _, err := s.Sweep(t.Context(), time.Now(), 10); err != nil {
			t.Fatal(err)
		}
		if n < at {
			return
		}
		for range 2 {
			if numbers, removed := kept(t, other, "f"); fmt.Sprint(numbers, removed) != "[3 4 5] 2" {
				t.Errorf("a write after call %d: revisions %v, %d removed", at, numbers, removed)
			}
			if _, _, err := other.Sweep(t.Context(), time.Now(), 10); err != nil {
				t.Fatal(err)
			}
		}
		keepsNoWord(t, s, s.collection, "axolotl")
	}
}
