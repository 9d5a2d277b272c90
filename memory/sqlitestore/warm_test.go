package sqlitestore

import (
	"context"
	"testing"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// few is the least size of an index that these tests take for large: some hundred turns.
const few = 100 << 10

// A start reads the large indexes of the start before, as many as fill half of its cache. The one
// that was searched last is the last to be dropped. Small ones wait for a search.
func TestWarm(t *testing.T) {
	s := store(t, 0, time.Now)
	bob, cem := memory.Scope{App: "a", User: "bob"}, memory.Scope{App: "a", User: "cem"}
	put(t, s, ann, turns(ann, 300))
	put(t, s, bob, turns(bob, 300))
	put(t, s, cem, turns(cem, 10))
	search(t, s, ann)
	search(t, s, cem)
	search(t, s, bob)
	if err := s.note(t.Context(), s.cache.Recent(few)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		cacheBytes int64
		want       []memory.Scope
	}{
		"a large cache": {64 << 20, []memory.Scope{ann, bob}},
		"a small cache": {1 << 20, []memory.Scope{bob}},
	} {
		next, err := New(s.DB(), s.model, &Options{CacheBytes: c.cacheBytes})
		if err != nil {
			t.Fatal(err)
		}
		next.warmBytes = few
		early := next.readNoted(t.Context())
		if first := next.cache.Recent(0)[0].Scope; first != bob {
			t.Errorf("%s: %v is the last to be dropped, want %v, which was used last", name, first, bob)
		}
		loads := next.CacheStats().Loads
		for _, scope := range c.want {
			search(t, next, scope)
		}
		if got := next.CacheStats(); got.Loads != loads || loads != int64(len(c.want)) {
			t.Errorf("%s: %d indexes read early and %d for searches, want %d and 0", name, loads, got.Loads-loads,
				len(c.want))
		}
		search(t, next, cem)
		if next.CacheStats().Loads != loads+1 {
			t.Errorf("%s: a small index was read early", name)
		}
		next.noteChanged(t.Context(), early)
		noted, err := next.noted(t.Context())
		if err != nil || len(noted) != len(c.want) || noted[0].Scope != c.want[len(c.want)-1] {
			t.Errorf("%s: the next start reads %v, error %v", name, noted, err)
		}
		if err := s.note(t.Context(), s.cache.Recent(few)); err != nil {
			t.Fatal(err)
		}
	}
}

// A start that ends before it has read all keeps what is to be read.
func TestWarmEndsEarly(t *testing.T) {
	s := store(t, 0, time.Now)
	put(t, s, ann, turns(ann, 300))
	search(t, s, ann)
	if err := s.note(t.Context(), s.cache.Recent(few)); err != nil {
		t.Fatal(err)
	}
	next, err := New(s.DB(), s.model, nil)
	if err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	next.Warm(over, nil)
	if noted, err := next.noted(t.Context()); err != nil || len(noted) != 1 || noted[0].Scope != ann {
		t.Errorf("to be read: %v, error %v, want %v", noted, err, ann)
	}
}

func search(t *testing.T, s *Store, scope memory.Scope) {
	t.Helper()
	if _, err := s.Search(t.Context(), scope, memory.Query{Terms: []string{"word1"}, Limit: 1}); err != nil {
		t.Fatal(err)
	}
}
