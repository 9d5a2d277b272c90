package sqlitestore

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/memoryd/memoryd/memory"
)

// The cache's count of bytes is the sum over the indexes it has, however scopes
// are dropped and read again while others search and write.
func TestCacheCount(t *testing.T) {
	build := func(_ context.Context, scope memory.Scope, ix *index) error {
		for i := range 50 {
			ix.put(&entry{memory: memory.Memory{ID: fmt.Sprint(i), Scope: scope, Kind: memory.KindFact,
				Fact: "likes tea", Revision: 1},
				terms: memory.Terms{"tea": 1}, vector: []float32{1}})
		}
		return nil
	}
	c := newCache(100_000, build) // room for two of these
	var workers sync.WaitGroup
	for w := range 8 {
		workers.Go(func() {
			for i := range 300 {
				scope := memory.Scope{App: "a", User: fmt.Sprint((w + i) % 5)}
				if _, err := c.get(t.Context(), scope); err != nil {
					t.Error(err)
				}
				c.put(scope,
					&entry{memory: memory.Memory{ID: "new", Scope: scope, Kind: memory.KindFact, Fact: "likes coffee",
						Revision: int64(i + 1)},
						terms: memory.Terms{"coffee": 1}})
			}
		})
	}
	workers.Wait()
	indexed := int64(0)
	for el := c.recent.Front(); el != nil; el = el.Next() {
		indexed += el.Value.(*cached).bytes
	}
	if c.used != indexed || c.used > c.limit {
		t.Errorf("counts %d bytes, holds %d, may hold %d", c.used, indexed, c.limit)
	}
}

// Queued writes of a scope that is not searched do not pile up: past a limit
// the index is dropped, and read again for the next search.
func TestQueuedWritesAreBounded(t *testing.T) {
	c := newCache(1<<30, func(context.Context, memory.Scope, *index) error { return nil })
	scope := memory.Scope{App: "a", User: "u"}
	if _, err := c.get(t.Context(), scope); err != nil {
		t.Fatal(err)
	}
	for i := range maxQueued + 2 {
		c.put(scope,
			&entry{memory: memory.Memory{ID: fmt.Sprint(i), Scope: scope, Kind: memory.KindFact, Fact: "x",
				Revision: 1}})
	}
	if len(c.scopes) != 0 || c.used != 0 {
		t.Errorf("%d scopes and %d bytes are left", len(c.scopes), c.used)
	}
}
