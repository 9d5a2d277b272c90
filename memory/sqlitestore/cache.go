package sqlitestore

import (
	"container/list"
	"context"
	"database/sql"
	"sync"

	"github.com/memoryd/memoryd/memory"
)

// entry is a memory with its words and its vector.
type entry struct {
	memory memory.Memory
	terms  memory.Terms
	vector []float32
}

// cache keeps the indexes of the scopes used last, within a limit of bytes.
//
// A committed write is queued at the index of its scope, and the next search
// takes the queue in: so the one writer of the file never waits for a search.
// An index is registered before it is read from the file. Each write is
// therefore in the file when that is read, or in the queue, or in both, which
// does no harm.
type cache struct {
	limit int64
	build func(context.Context, memory.Scope, *index) error

	mu     sync.Mutex
	used   int64
	scopes map[memory.Scope]*list.Element // of *cached
	recent *list.List                     // most recent first
}

// maxQueued is how many writes wait at an index that is not searched. Reading
// the file again is cheaper than keeping more of them.
const maxQueued = 10_000

// cached is the index of one scope, from the call that asks for it first.
type cached struct {
	scope memory.Scope
	ready chan struct{} // closed once the file is read
	err   error
	index *index
	bytes int64 // as counted in cache.used

	taking sync.Mutex // held while the queue is taken in, so that writes stay in order
	mu     sync.Mutex
	queue  []func(*index) // writes not taken in yet
}

func newCache(limit int64, build func(context.Context, memory.Scope, *index) error) *cache {
	return &cache{limit: limit, build: build, scopes: map[memory.Scope]*list.Element{}, recent: list.New()}
}

// get returns the index of a scope, up to date with every write committed
// before the call.
func (c *cache) get(ctx context.Context, scope memory.Scope) (*index, error) {
	c.mu.Lock()
	el, ok := c.scopes[scope]
	if ok {
		c.recent.MoveToFront(el)
	} else {
		el = c.recent.PushFront(&cached{scope: scope, ready: make(chan struct{}), index: newIndex()})
		c.scopes[scope] = el
	}
	e := el.Value.(*cached)
	c.mu.Unlock()
	if !ok {
		// Other callers wait for this index too, so the end of this ctx must
		// not end the reading. Close of the file waits for it.
		go c.fill(context.WithoutCancel(ctx), el, e)
	}
	select {
	case <-e.ready:
		if e.err == nil && e.takeIn() > 0 {
			c.weigh(e)
		}
		return e.index, e.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// fill reads the index of a scope for all who wait for it. One that cannot be
// read is dropped, so that the next search tries again.
func (c *cache) fill(ctx context.Context, el *list.Element, e *cached) {
	if e.err = c.build(ctx, e.scope, e.index); e.err != nil {
		c.drop(el)
	} else {
		c.weigh(e)
	}
	close(e.ready)
}

// takeIn brings the index up to date with the writes queued before the call,
// and returns how many there were.
func (e *cached) takeIn() int {
	e.taking.Lock()
	defer e.taking.Unlock()
	e.mu.Lock()
	queue := e.queue
	e.queue = nil
	e.mu.Unlock()
	for _, f := range queue {
		f(e.index)
	}
	return len(queue)
}

// enqueue queues a write at the index of its scope, if there is one.
func (c *cache) enqueue(scope memory.Scope, f func(*index)) {
	c.mu.Lock()
	el, ok := c.scopes[scope]
	c.mu.Unlock()
	if !ok {
		return
	}
	e := el.Value.(*cached)
	e.mu.Lock()
	e.queue = append(e.queue, f)
	full := len(e.queue) > maxQueued
	e.mu.Unlock()
	if full {
		c.drop(el)
	}
}

// put queues a memory that was written.
func (c *cache) put(scope memory.Scope, e *entry) {
	c.enqueue(scope, func(ix *index) { ix.put(e) })
}

// remove queues a deletion.
func (c *cache) remove(scope memory.Scope, gone *memory.Memory) {
	c.enqueue(scope, func(ix *index) { ix.remove(gone.ID, gone.Revision) })
}

// weigh updates the count of bytes and drops the least recently used indexes
// while they exceed the limit. The most recent one always stays.
func (c *cache) weigh(e *cached) {
	size := e.index.size()
	c.mu.Lock()
	defer c.mu.Unlock()
	if el := c.scopes[e.scope]; el == nil || el.Value != any(e) {
		return // dropped meanwhile, and perhaps replaced
	}
	c.used += size - e.bytes
	e.bytes = size
	for c.used > c.limit && c.recent.Len() > 1 {
		c.dropLocked(c.recent.Back())
	}
}

func (c *cache) drop(el *list.Element) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropLocked(el)
}

// dropLocked drops an index, unless it was dropped already. Searches that have it
// go on with it. The caller holds c.mu.
func (c *cache) dropLocked(el *list.Element) {
	e := el.Value.(*cached)
	if c.scopes[e.scope] != el {
		return
	}
	c.used -= e.bytes
	e.bytes = 0
	delete(c.scopes, e.scope)
	c.recent.Remove(el)
}

// load reads all live memories of a scope from the file.
func (s *Store) load(ctx context.Context, scope memory.Scope, ix *index) error {
	return s.db.Read(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT doc, `+s.at.terms+`, `+s.at.vector+` FROM memories
			WHERE `+inScope+` AND deleted = 0`, scope.App, scope.User)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var e entry
			var doc, terms, vector []byte
			if err := rows.Scan(&doc, &terms, &vector); err != nil {
				return err
			}
			if err := memory.DecodeJSON(doc, &e.memory); err != nil {
				return err
			}
			if err := memory.DecodeJSON(terms, &e.terms); err != nil {
				return err
			}
			e.vector = bytesVector(vector)
			ix.put(&e)
		}
		return rows.Err()
	})
}
