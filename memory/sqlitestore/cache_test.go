package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/index"
)

var ann = memory.Scope{App: "a", User: "ann"}

// fact is an entry without a vector.
// The cache's count of bytes is the sum over the indexes it has, however scopes
// are dropped and read again while others search and write.
// Queued writes of a scope that is not searched do not pile up: past a limit
// the index is dropped, and read again for the next search.
// A write that is committed while its scope is read as empty is found by the
// next search, and the index of a scope without memories does not stay.
// A reading that no call waits for any longer ends, and the next call reads anew.
// store is a Store in a file of its own.
func store(t testing.TB, cacheBytes int64, now func() time.Time) *Store {
	t.Helper()
	db, err := sqlitedb.Open(filepath.Join(t.TempDir(), "memoryd.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	s, err := New(db, Model{Embedder: "e", Dimension: 64, Analyzer: "w"}, &Options{CacheBytes: cacheBytes, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// turns are writes of n turns with words and vectors.
func turns(scope memory.Scope, n int) (out []memory.Write) {
	for i := range n {
		w := memory.Write{Memory: memory.Memory{ID: fmt.Sprintf("%036d", i), Scope: scope, Kind: memory.KindTurn,
			Fact: fmt.Sprintf("%5d", i) + strings.Repeat(" some words", 8), Author: "user", Timestamp: time.Unix(1_600_000_000+int64(i%7), 0),
			Source: memory.Source{SessionID: fmt.Sprint("session", i%5), EventIDs: []string{fmt.Sprint("event", i)}}},
			Terms: memory.Terms{}, Vector: make([]float32, 64)}
		w.Vector[i%64] = 1
		for j := range 12 {
			w.Terms[fmt.Sprint("word", i*j%3000)] = 1
		}
		out = append(out, w)
	}
	return out
}

func put(t testing.TB, s *Store, scope memory.Scope, writes []memory.Write) {
	t.Helper()
	if _, err := s.Put(t.Context(), scope, writes); err != nil {
		t.Fatal(err)
	}
}

func search1(t testing.TB, s *Store, scope memory.Scope) memory.Found {
	t.Helper()
	found, err := s.Search(t.Context(), scope, memory.Query{Terms: []string{"word0"}, Limit: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// liveHeap is what the process holds, in bytes.
func liveHeap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what the first one has made ready to be freed
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Searches of scopes without memories leave nothing behind, however many scopes
// there are.
func TestScopesWithoutMemories(t *testing.T) {
	s := store(t, 0, nil)
	const scopes = 30_000
	search := func(from, to int) {
		for i := from; i < to; i++ {
			if found := search1(t, s, memory.Scope{App: "a", User: fmt.Sprint("nobody", i)}); len(found.Runs) > 0 {
				t.Fatal("found something")
			}
		}
	}
	search(0, 1000) // whatever is made once
	before := liveHeap()
	search(1000, scopes)
	grown := liveHeap() - before
	if limit := int64(scopes * 10); grown > limit { // an index of a scope was 2,900 bytes
		t.Errorf("%d scopes without memories left %d bytes, may leave %d", scopes, grown, limit)
	}
	if c := s.CacheStats(); c.Bytes != 0 || c.Scopes != 0 || c.Loads != scopes {
		t.Errorf("figures %+v", c)
	}
}

// The bytes that the cache counts are those of the heap, give or take a tenth: for
// few large scopes and many small ones, after memories have changed, were deleted
// and have expired, and with writes queued.
func TestCacheFollowsHeap(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	cases := map[string]struct {
		scopes, memories int
		change           func(t *testing.T, s *Store, scope memory.Scope, writes []memory.Write)
	}{
		"large": {scopes: 4, memories: 3000},
		"small": {scopes: 3000, memories: 1},
		"changed": {scopes: 20, memories: 200, change: func(t *testing.T, s *Store, scope memory.Scope,
			writes []memory.Write) {
			for revision := range 5 {
				for i := range writes {
					writes[i].Expect, writes[i].Memory.Fact = int64(revision+1), fmt.Sprint("changed ", revision)
				}
				put(t, s, scope, writes)
				search1(t, s, scope)
			}
		}},
		"queued": {scopes: 20, memories: 100, change: func(t *testing.T, s *Store, scope memory.Scope,
			writes []memory.Write) {
			for i := range writes {
				writes[i].Memory.ID += "x"
			}
			put(t, s, scope, writes)
		}},
		"deleted": {scopes: 50, memories: 300, change: func(t *testing.T, s *Store, scope memory.Scope,
			writes []memory.Write) {
			var gone []memory.Removal
			for _, w := range writes[1:] {
				gone = append(gone, memory.Removal{ID: w.Memory.ID})
			}
			if _, err := s.Delete(t.Context(), scope, gone); err != nil {
				t.Fatal(err)
			}
			search1(t, s, scope)
		}},
		"superseded": {scopes: 20, memories: 300, change: func(t *testing.T, s *Store, scope memory.Scope,
			writes []memory.Write) {
			for i := range writes {
				m := &writes[i].Memory
				m.ID, m.Kind, m.ValidTo = m.ID+"f", memory.KindFact, now.Add(-time.Hour)
			}
			put(t, s, scope, writes)
			search1(t, s, scope)
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := store(t, 1<<40, func() time.Time { return now })
			var scopes []memory.Scope
			for i := range c.scopes {
				scope := memory.Scope{App: "app", User: fmt.Sprint("user", i)}
				scopes = append(scopes, scope)
				put(t, s, scope, turns(scope, c.memories))
			}
			search1(t, s, memory.Scope{App: "warm", User: "up"})
			before := liveHeap()
			for _, scope := range scopes {
				search1(t, s, scope)
				if c.change != nil {
					c.change(t, s, scope, turns(scope, c.memories))
				}
			}
			held, counted := liveHeap()-before, s.CacheStats().Bytes
			t.Logf("%d bytes held, %d counted: %.2f", held, counted, float64(held)/float64(counted))
			if held > counted*11/10 || held < counted*9/10 {
				t.Errorf("%d bytes held, %d counted", held, counted)
			}
			runtime.KeepAlive(s)
		})
	}
}

// A scope that empties, because all its memories were deleted or have expired,
// leaves nothing.
func TestEmptiedScope(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	s := store(t, 0, func() time.Time { return now })
	writes := turns(ann, 10)
	for i := range writes {
		writes[i].Memory.ExpireTime = now.Add(time.Hour)
	}
	put(t, s, ann, writes)
	if search1(t, s, ann); s.CacheStats().Scopes != 1 {
		t.Error("the scope has no index")
	}
	now = now.Add(2 * time.Hour)
	if found := search1(t, s, ann); len(found.Runs) > 0 {
		t.Error("expired memories were found")
	}
	if c := s.CacheStats(); c.Bytes != 0 || c.Scopes != 0 {
		t.Errorf("after all have expired: %+v", c)
	}
}

// A reading whose context ends fails, however far it has come: nothing that is missing
// passes for the whole.
func TestLoadCancelled(t *testing.T) {
	s := store(t, 0, nil)
	put(t, s, ann, turns(ann, 3*loadRows+1))
	for at := 1; at <= 3; at++ {
		ctx, cancel := context.WithCancel(t.Context())
		pages := 0
		if _, err := s.load(ctx, ann, func([]*index.Entry) int64 {
			if pages++; pages == at {
				cancel()
			}
			return 0
		}); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at page %d: %v after %d pages", at, err, pages)
		}
		cancel()
	}
}

// While a scope is read nothing of the file is held between two pages, so that
// the writer has its moment without readers, and what is written meanwhile is
// found.
func TestLoadInPages(t *testing.T) {
	s := store(t, 0, nil)
	put(t, s, ann, turns(ann, 3*loadRows+1))
	// A search that begins at the first page sees what was written and deleted
	// while it read the rest.
	pages := 0
	s.cache = index.NewCache(0, func(ctx context.Context, scope memory.Scope, take func([]*index.Entry) int64) (
		index.Refresh, error) {
		return s.load(ctx, scope, func(page []*index.Entry) (bytes int64) {
			bytes = take(page)
			if pages++; pages != 1 {
				return bytes
			}
			late := turns(ann, 1)
			late[0].Memory.ID, late[0].Memory.Timestamp = "late", time.Unix(1, 0) // before the page
			put(t, s, ann, late)
			gone := []memory.Removal{{ID: page[0].Memory.ID}, {ID: fmt.Sprintf("%036d", 3*loadRows)}}
			if _, err := s.Delete(context.Background(), ann, gone); err != nil {
				t.Error(err)
			}
			// The log is now longer than the writer lets it be: it waits for all readers.
			if err := s.db.Write(context.Background(), sqlitedb.Urgent(), func(tx *sqlitedb.Tx) error {
				if _, err := tx.Exec(`CREATE TABLE large (x)`); err != nil {
					return err
				}
				_, err := tx.Exec(`INSERT INTO large VALUES (zeroblob(?))`, 65<<20)
				return err
			}); err != nil {
				t.Error(err)
			}
			return bytes
		})
	})
	found := search1(t, s, ann)
	if found.Stats.Docs != 3*loadRows { // one more, two less
		t.Errorf("%d memories, want %d", found.Stats.Docs, 3*loadRows)
	}
	if pages < 3 || pages > 4 { // a page that was read early may have what was deleted
		t.Errorf("read in %d pages", pages)
	}
}
