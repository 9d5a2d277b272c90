package sqlitestore

import (
	"container/list"
	"context"
	"database/sql"
	"encoding/json"
	"sync"

	"github.com/memoryd/memoryd/memory"
)

// entry is a memory with what it is found by.
type entry struct {
	memory memory.Memory
	terms  memory.Terms
	vector []float32
}

// cache holds the indexes of the scopes used last, within a limit of bytes.
//
// Writes are told to an index as they are committed, and taken in by whoever
// reads it next: the one writer of the file never waits for a search. An index
// registers first and reads the file after, so each write is in what it reads,
// or among what it was told, or both, which does no harm.
type cache struct {
	limit int64
	build func(context.Context, memory.Scope, *index) error

	mu     sync.Mutex
	used   int64
	scopes map[memory.Scope]*list.Element // of *cached
	recent *list.List                     // most recent first
}

// maxUntaken is how many writes an index may be told of without being read; it
// is cheaper to read the file again than to keep more of them.
const maxUntaken = 10_000

type cached struct {
	scope memory.Scope
	ready chan struct{} // closed when the file was read
	err   error
	index *index
	bytes int64 // as counted in cache.used

	taking sync.Mutex // one at a time takes writes in, in order
	mu     sync.Mutex
	told   []func(*index) // writes not taken in yet
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
		// Others wait for this index too, so one caller's ctx must not end it.
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

func (c *cache) fill(ctx context.Context, el *list.Element, e *cached) {
	if e.err = c.build(ctx, e.scope, e.index); e.err != nil {
		c.drop(el)
	} else {
		c.weigh(e)
	}
	close(e.ready)
}

// takeIn brings the index up to date with what it was told before the call,
// and returns how many writes that were.
func (e *cached) takeIn() int {
	e.taking.Lock()
	defer e.taking.Unlock()
	e.mu.Lock()
	told := e.told
	e.told = nil
	e.mu.Unlock()
	for _, f := range told {
		f(e.index)
	}
	return len(told)
}

// tell has the index of a scope, if there is one, take in a write.
func (c *cache) tell(scope memory.Scope, f func(*index)) {
	c.mu.Lock()
	el, ok := c.scopes[scope]
	c.mu.Unlock()
	if !ok {
		return
	}
	e := el.Value.(*cached)
	e.mu.Lock()
	e.told = append(e.told, f)
	full := len(e.told) > maxUntaken
	e.mu.Unlock()
	if full {
		c.drop(el)
	}
}

func (c *cache) put(scope memory.Scope, e *entry) {
	c.tell(scope, func(ix *index) { ix.put(e) })
}

func (c *cache) remove(scope memory.Scope, gone *memory.Memory) {
	c.tell(scope, func(ix *index) { ix.remove(gone.ID, gone.Revision) })
}

// weigh brings the count of bytes up to date and drops the indexes unused for
// longest while there are too many. The most recent one always stays.
func (c *cache) weigh(e *cached) {
	size := e.index.size()
	c.mu.Lock()
	defer c.mu.Unlock()
	if el := c.scopes[e.scope]; el == nil || el.Value != any(e) {
		return // dropped meanwhile, and perhaps another in its place
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
			WHERE scope = (SELECT n FROM scopes WHERE app = ? AND user = ?) AND deleted = 0`, scope.App, scope.User)
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
			if err := decode(doc, &e.memory); err != nil {
				return err
			}
			if err := json.Unmarshal(terms, &e.terms); err != nil {
				return err
			}
			e.vector = bytesVector(vector)
			ix.put(&e)
		}
		return rows.Err()
	})
}
