package index

import (
	"container/list"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/memoryd/memoryd/internal/fair"
	"github.com/memoryd/memoryd/memory"
)

// Entry is a memory with its words and its vector, which is nil for none.
type Entry struct {
	Memory memory.Memory
	Terms  memory.Terms
	Vector []float32
	Apart  bool // it has a vector that stays in the store, and Vector is nil; see Index.SearchNear
}

// Stats are figures of a Cache.
type Stats struct {
	Bytes  int64 // that the indexes take, with the writes queued at them
	Limit  int64 // of NewCache
	Scopes int   // that have an index
	Hits   int64 // searches that found the index of their scope
	Misses int64 // calls that found none ready
	Loads  int64 // readings of a scope, from when memories have come or it is found empty
}

// DefaultBytes is room for the indexes of about 250,000 memories with vectors of
// 256 numbers.
const DefaultBytes = 512 << 20

// Cache keeps the indexes of the scopes used last, within a limit of bytes. A
// scope without live memories has no index: a search reads again that it is
// empty, which costs less than to remember it.
//
// A store has two ways to bring an index up to date, and uses one of them.
//
// A store whose only writer is this process queues each committed write at the
// index of its scope (Put and Remove), and the next search takes the queue in: so
// the writer never waits for a search. An index is registered before it is read
// from the store. Each write is therefore in the store when that is read, or in
// the queue, or in both, which does no harm: the queue is taken in after the
// reading and in the order of the commits, so a deletion always follows the writes
// that it deletes.
//
// A store that other processes write too asks it what has changed, before each
// search, by the Refresh that its Loader returns.
type Cache struct {
	limit int64
	load  Loader
	fills sync.WaitGroup

	mu      sync.Mutex
	stats   Stats                          // Bytes, Hits, Misses and Loads alone
	scopes  map[memory.Scope]*list.Element // of *cached
	recent  *list.List                     // most recent first
	filling map[*cached]bool               // those that are read, the dropped ones too
	aheads  map[*Ahead]bool                // those under way
	closed  bool
}

// Loader reads the live memories of a scope from the store and gives take some of
// them at a time. take returns the bytes that all of them take in the index so far. A
// Loader holds nothing of the store while take runs. The Refresh is nil for a store that
// queues its writes.
type Loader func(ctx context.Context, scope memory.Scope, take func([]*Entry) int64) (Refresh, error)

// Refresh brings an index up to date with all writes that were acknowledged before
// the call, and reports whether any has changed it. The error is ErrDiverged if the
// store has lost what the index has. It may be called concurrently.
type Refresh func(ctx context.Context, ix *Index) (changed bool, err error)

// ErrDiverged says that a store has not what it had when an index was read. The
// index is then thrown away, and read again.
var ErrDiverged = errors.New("the store has lost what it had")

// errClosed is that of a call that would begin a reading after Close.
var errClosed = errors.New("the cache of indexes is closed")

// maxQueued is how many writes wait at an index that is not searched. Reading
// the scope again is cheaper than keeping more of them.
const maxQueued = 10_000

// scopeBytes is what the index of a scope takes beside its memories, in bytes:
// measured with indexes of one memory.
const scopeBytes = 1850

// cached is the index of one scope, from the call that asks for it first.
type cached struct {
	scope  memory.Scope
	begun  chan struct{} // closed once the reading has its turn to compute
	ready  chan struct{} // closed once the scope is read, after begun
	err    error
	index  *Index
	fresh  Refresh            // nil for a store that queues its writes
	cancel context.CancelFunc // ends the reading

	taking sync.Mutex // held while the queue is taken in, so that writes stay in order

	// The rest is guarded by cache.mu.
	waiting int      // calls that wait for the reading
	bytes   int64    // as counted in cache.stats, the queue included
	queue   []queued // writes not taken in yet
	queued  int64    // bytes of the queue
}

// queued is a committed write: the new state of a memory, or its deletion.
type queued struct {
	put      *Entry // nil for a deletion
	id       string // of the memory deleted
	revision int64  // of the deletion
}

// NewCache makes a Cache of at most so many bytes; 0 is DefaultBytes. The index used
// last stays even when it alone is larger.
func NewCache(limit int64, load Loader) *Cache {
	if limit == 0 {
		limit = DefaultBytes
	}
	return &Cache{limit: limit, load: load, scopes: map[memory.Scope]*list.Element{}, recent: list.New(),
		filling: map[*cached]bool{}, aheads: map[*Ahead]bool{}}
}

// reloads is how often a call reads an index whose store has lost memories
// meanwhile.
const reloads = 3

// Get returns the index of a scope, up to date with every write acknowledged
// before the call, and without the memories that have expired by now, when it is
// ready. The error is that of the Loader or of its Refresh.
func (c *Cache) Get(ctx context.Context, scope memory.Scope, now func() time.Time) (ix *Index, err error) {
	return c.GetAhead(ctx, scope, now, nil)
}

// GetAhead is Get after Begin: the index is up to date with every write acknowledged before
// that call.
func (c *Cache) GetAhead(ctx context.Context, scope memory.Scope, now func() time.Time, ahead *Ahead) (
	ix *Index, err error) {
	for range reloads {
		if ix, err = c.get(ctx, scope, now, ahead); !errors.Is(err, ErrDiverged) {
			break
		}
		ahead = nil
	}
	return ix, err
}

// Held returns the index of a scope as it is, which Get brings up to date; nil if Get would
// have to read the scope.
func (c *Cache) Held(scope memory.Scope) *Index {
	c.mu.Lock()
	el, ok := c.scopes[scope]
	c.mu.Unlock()
	if !ok {
		return nil
	}
	if e := el.Value.(*cached); e.isReady() {
		return e.index
	}
	return nil
}

// Kept is an index in a Cache.
type Kept struct {
	Scope memory.Scope
	Bytes int64
}

// Recent returns the indexes that are read and take so many bytes at least, the one used last
// first.
func (c *Cache) Recent(least int64) (out []Kept) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for el := c.recent.Front(); el != nil; el = el.Next() {
		e := el.Value.(*cached)
		if e.bytes >= least && e.isReady() {
			out = append(out, Kept{e.scope, e.bytes})
		}
	}
	return out
}

func (c *Cache) get(ctx context.Context, scope memory.Scope, now func() time.Time, ahead *Ahead) (*Index, error) {
	e, made, err := c.find(ctx, scope)
	if err != nil {
		return nil, err
	}
	defer c.leave(e)
	if err := e.wait(ctx); err != nil {
		return nil, err
	}
	if e.err != nil {
		return nil, e.err
	}
	changed := false
	switch {
	case e.fresh == nil:
		changed = c.takeIn(e)
	case made: // fill has asked since the call
		changed = true
	case ahead != nil && ahead.of == e:
		changed, err = ahead.wait(ctx)
	default:
		changed, err = e.fresh(ctx, e.index)
	}
	if err != nil {
		if errors.Is(err, ErrDiverged) {
			c.mu.Lock()
			c.drop(e)
			c.mu.Unlock()
		}
		return nil, err
	}
	if e.index.expire(now()) || changed {
		c.weigh(e, true)
	}
	return e.index, nil
}

// Clear drops all indexes.
func (c *Cache) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.recent.Len() > 0 {
		c.drop(c.recent.Back().Value.(*cached))
	}
}

// Drop drops the index of a scope, if there is one.
func (c *Cache) Drop(scope memory.Scope) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if el, ok := c.scopes[scope]; ok {
		c.drop(el.Value.(*cached))
	}
}

// find returns the entry of a scope, which it makes if it is missing, and counts
// its caller among those that wait. It makes none for a caller that would have to
// wait too long for its turn; see fair.Early.
func (c *Cache) find(ctx context.Context, scope memory.Scope) (e *cached, made bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	el, ok := c.scopes[scope]
	if ok {
		c.recent.MoveToFront(el)
		e := el.Value.(*cached)
		e.waiting++
		if e.isReady() {
			c.stats.Hits++
		} else {
			c.stats.Misses++
		}
		return e, false, nil
	}
	c.stats.Misses++
	if c.closed {
		return nil, false, errClosed
	}
	if err := fair.Early(ctx); err != nil {
		return nil, false, err
	}
	e = &cached{scope: scope, begun: make(chan struct{}), ready: make(chan struct{}), index: newIndex(), waiting: 1,
		bytes: scopeBytes}
	c.stats.Bytes += e.bytes
	c.scopes[scope] = c.recent.PushFront(e)
	// Other callers wait for this index too, so the end of this ctx must not end
	// the reading: the last of them that leaves ends it, or Close.
	ctx, e.cancel = context.WithCancel(context.WithoutCancel(ctx))
	c.filling[e] = true
	c.fills.Go(func() {
		c.fill(ctx, e)
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.filling, e)
	})
	return e, true, nil
}

// Close ends the readings under way, and returns once they have ended. Later ones fail.
func (c *Cache) Close() {
	c.mu.Lock()
	c.closed = true
	for e := range c.filling {
		e.cancel()
	}
	for a := range c.aheads {
		a.cancel()
	}
	c.mu.Unlock()
	c.fills.Wait()
}

// leave is the end of a call that find has counted. The last one that leaves
// before the index is read ends the reading: no call waits for it.
func (c *Cache) leave(e *cached) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.waiting--
	if e.waiting == 0 && !e.isReady() {
		c.drop(e)
		e.cancel()
	}
}

// isReady reports whether the scope is read. One whose reading failed is not in the cache.
func (e *cached) isReady() bool {
	select {
	case <-e.ready:
		return true
	default:
		return false
	}
}

// wait waits until the scope is read. Its caller computes nothing meanwhile, and is
// refused on its own account if the reading does not get its turn in time.
func (e *cached) wait(ctx context.Context) error {
	if e.isReady() {
		return nil
	}
	defer fair.Pause(ctx)()
	if err := fair.Await(ctx, e.begun); err != nil {
		return err
	}
	select {
	case <-e.ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// fill reads the index of a scope for all who wait for it. One that cannot be
// read is dropped, so that the next search tries again.
func (c *Cache) fill(ctx context.Context, e *cached) {
	defer e.cancel()
	ctx, end, err := fair.Fork(ctx)
	defer end()
	close(e.begun)
	var counted sync.Once
	count := func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.stats.Loads++
	}
	if e.err = err; err == nil {
		e.fresh, e.err = c.load(ctx, e.scope, func(page []*Entry) int64 {
			counted.Do(count)
			e.index.putPage(page)
			c.weigh(e, false)
			_ = fair.Yield(ctx) // its error is that of ctx, which build sees too
			bytes, _ := e.index.size()
			return bytes
		})
	}
	if e.err == nil && e.fresh != nil {
		_, e.err = e.fresh(ctx, e.index)
	}
	if e.err != nil {
		c.mu.Lock()
		c.drop(e)
		c.mu.Unlock()
	} else {
		counted.Do(count)
		c.weigh(e, true)
	}
	close(e.ready)
}

// takeIn brings the index up to date with the writes queued before the call, and
// reports whether there were any.
func (c *Cache) takeIn(e *cached) bool {
	e.taking.Lock()
	defer e.taking.Unlock()
	c.mu.Lock()
	queue := e.queue
	e.queue, e.queued = nil, 0 // weigh counts what the index takes instead
	c.mu.Unlock()
	for _, w := range queue {
		if w.put != nil {
			e.index.Put(w.put)
		} else {
			e.index.Remove(w.id, w.revision)
		}
	}
	return len(queue) > 0
}

// enqueue queues a write at the index of its scope, if there is one. size is what
// the write takes until it is taken in.
func (c *Cache) enqueue(scope memory.Scope, w queued, size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	el, ok := c.scopes[scope]
	if !ok {
		return
	}
	e := el.Value.(*cached)
	e.queue = append(e.queue, w)
	e.queued += size
	e.bytes += size
	c.stats.Bytes += size
	if len(e.queue) > maxQueued {
		c.drop(e)
	}
	c.evict()
}

// Put queues a memory that was written. The entry is the cache's from then on.
func (c *Cache) Put(scope memory.Scope, e *Entry) { c.enqueue(scope, queued{put: e}, e.Size()) }

// Remove queues a deletion.
func (c *Cache) Remove(scope memory.Scope, gone *memory.Memory) {
	c.enqueue(scope, queued{id: gone.ID, revision: gone.Revision}, queuedBytes)
}

// weigh updates the count of bytes, and drops the least recently used indexes
// while they exceed the limit. An index without memories is dropped too, once it
// is complete.
func (c *Cache) weigh(e *cached, complete bool) {
	size, empty := e.index.size()
	c.mu.Lock()
	defer c.mu.Unlock()
	if el := c.scopes[e.scope]; el == nil || el.Value != any(e) {
		return // dropped meanwhile, and perhaps replaced
	}
	now := scopeBytes + size + e.queued
	c.stats.Bytes += now - e.bytes
	e.bytes = now
	// A write that is queued comes after all that was read. So an index is empty
	// only if its queue is.
	if complete && empty && len(e.queue) == 0 {
		c.drop(e)
	}
	c.evict()
}

// evict drops the least recently used indexes while all together exceed the
// limit. The most recent one always stays. The caller holds c.mu.
func (c *Cache) evict() {
	for c.stats.Bytes > c.limit && c.recent.Len() > 1 {
		c.drop(c.recent.Back().Value.(*cached))
	}
}

// drop drops an index, unless it was dropped already. Searches that have it go on
// with it. The caller holds c.mu.
func (c *Cache) drop(e *cached) {
	el := c.scopes[e.scope]
	if el == nil || el.Value != any(e) {
		return
	}
	c.stats.Bytes -= e.bytes
	e.bytes = 0
	delete(c.scopes, e.scope)
	c.recent.Remove(el)
}

// Stats returns the figures.
func (c *Cache) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.stats
	out.Limit, out.Scopes = c.limit, len(c.scopes)
	return out
}
