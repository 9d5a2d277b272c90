package ingest

import (
	"context"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/conc/panics"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/internal/fair"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// DefaultMaxWatchers is the default of Options.MaxWatchers. One app alone can have
// half of them, and one user alone a quarter. A stream takes some 40 KB, so all take 80 MB.
const DefaultMaxWatchers = 2000

// What watching may cost.
const (
	// pollEvery is how often the state of an operation is read that another
	// process may change, and pollPer how much less often for each operation that
	// is watched: all of them together are read a thousand times a second at most.
	pollEvery = 250 * time.Millisecond
	pollPer   = time.Millisecond
	// paceRead is the time between two reads of an operation for each operation of
	// its scope that is watched. A read takes some 60 µs.
	paceRead = 250 * time.Microsecond
	// paceShow is the time between two states that watchers see for each watcher of
	// the operation. To show a state to one takes some 50 µs, so that watchers take
	// a hundredth of a processor from the work that they watch. The last state is
	// shown at once.
	paceShow = 4 * time.Millisecond
	maxPace  = 2 * time.Second // of both
	// readTime bounds one read of a state.
	readTime = 10 * time.Second
	never    = 365 * 24 * time.Hour // between polls of what is never polled
)

// watchKey names a watched operation. An id alone could be a forged one, with
// another scope in it.
type watchKey struct {
	scope memory.Scope
	id    string
}

// watches are the operations that are watched. One goroutine for each of them
// reads it: at once when this process has changed it, and every pollEvery if
// another process may. The goroutine ends when the operation is done, or with the
// last watcher.
type watches struct {
	sessions Sessions
	max      int
	leased   func(memory.Scope) bool // whether only this process works in a scope

	refused atomic.Int64

	mu         sync.Mutex
	operations map[watchKey]*watch
	places     *fair.Shares         // of watchers
	scopes     map[memory.Scope]int // operations of each
	left       map[*watch]struct{}  // without watchers, whose goroutines have not ended
}

func newWatches(sessions Sessions, max int, leased func(memory.Scope) bool) *watches {
	return &watches{sessions: sessions, max: max, leased: leased, operations: map[watchKey]*watch{},
		places: fair.NewShares(int64(max)), scopes: map[memory.Scope]int{}, left: map[*watch]struct{}{}}
}

// watch is one watched operation.
type watch struct {
	key      watchKey
	watchers int // guarded by watches.mu
	cancel   context.CancelFunc
	ended    chan struct{}          // closed when the goroutine has ended
	wake     chan struct{}          // has a value if the operation may have changed since it was read
	session  atomic.Pointer[string] // that the operation is of; nil until it was read

	// held is the state that was read last, and shown the time when watchers last
	// saw one. Both belong to the goroutine.
	held  *sessionstore.Operation
	shown time.Time

	mu      sync.Mutex
	latest  *Update
	err     error         // why there will be no later one
	changed chan struct{} // closed and replaced with each change of the two
}

// join adds a watcher of an operation.
func (h *watches) join(key watchKey) (*watch, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.places.Fits(key.scope, 1, 0) {
		h.refused.Add(1)
		app, user := h.places.Has(key.scope)
		return nil, memory.Refuse(time.Second, "this user has %d streams of operations and requests that wait for one"+
			" and this app %d, and %d of %d places are free: -max-watchers sets how many there are: try again later,"+
			" or read the operation without waiting", user, app, h.places.Free(), h.max)
	}
	w := h.operations[key]
	if w == nil {
		ctx, cancel := context.WithCancel(access.With(context.Background(), access.System))
		w = &watch{key: key, cancel: cancel, ended: make(chan struct{}), wake: make(chan struct{}, 1),
			changed: make(chan struct{})}
		h.operations[key] = w
		h.scopes[key.scope]++
		go h.follow(ctx, w) // wait waits for it
	}
	w.watchers++
	h.places.Add(key.scope, 1)
	return w, nil
}

// leave removes a watcher of an operation.
func (h *watches) leave(w *watch) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w.watchers--
	h.places.Add(w.key.scope, -1)
	if w.watchers > 0 {
		return
	}
	w.cancel()
	h.forget(w)
	select {
	case <-w.ended:
	default:
		h.left[w] = struct{}{}
	}
}

// forget has the next watcher of an operation read it anew. The caller holds mu.
func (h *watches) forget(w *watch) {
	if h.operations[w.key] != w {
		return
	}
	delete(h.operations, w.key)
	if h.scopes[w.key.scope]--; h.scopes[w.key.scope] == 0 {
		delete(h.scopes, w.key.scope)
	}
}

// wait returns when the goroutines have ended whose watchers have left. A store
// may take a while to give up a read.
func (h *watches) wait() {
	for {
		h.mu.Lock()
		var one *watch
		for w := range h.left {
			one = w
			break
		}
		h.mu.Unlock()
		if one == nil {
			return
		}
		<-one.ended
	}
}

// follow reads an operation whenever it may have changed, until it is done or
// cannot be read, or ctx ends.
func (h *watches) follow(ctx context.Context, w *watch) {
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.forget(w)
		delete(h.left, w)
		close(w.ended)
	}()
	all, cancel := h.sessions.Subscribe(w.key.scope, w.mayHaveChanged)
	defer cancel()
	for {
		var op *sessionstore.Operation
		var err error
		if panicked := panics.Try(func() { op, err = h.read(ctx, w) }); panicked != nil {
			err = panicked.AsError()
		}
		if err != nil || op.Done() {
			h.mu.Lock()
			h.forget(w) // a Retry may resume the operation
			h.mu.Unlock()
			w.publish(op, err)
			return
		}
		w.held = op
		if !h.rest(ctx, w, all) {
			return
		}
	}
}

// read reads an operation.
func (h *watches) read(ctx context.Context, w *watch) (*sessionstore.Operation, error) {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	op, err := h.sessions.Status(ctx, w.key.scope, w.key.id)
	if err != nil {
		return nil, err
	}
	w.session.Store(&op.Key.ID)
	return op, nil
}

// rest shows the state that was read, and returns when the operation is to be read
// again. It reports false if ctx has ended. all says that all changes are told: then
// it does not poll.
func (h *watches) rest(ctx context.Context, w *watch, all bool) bool {
	h.mu.Lock()
	read := min(maxPace, time.Duration(h.scopes[w.key.scope])*paceRead)
	show := min(maxPace, time.Duration(w.watchers)*paceShow)
	every := max(pollEvery, time.Duration(len(h.operations))*pollPer)
	h.mu.Unlock()
	if all {
		every = never
	}
	rested := time.NewTimer(read)
	defer rested.Stop()
	due := time.NewTimer(time.Until(w.shown.Add(show)))
	defer due.Stop()
	poll := time.NewTicker(every)
	defer poll.Stop()
	var wake <-chan struct{} // of w, when it has rested
	for {
		select {
		case <-due.C:
			w.publish(w.held, nil)
			w.shown = time.Now()
		case <-rested.C:
			wake = w.wake
		case <-wake:
			return true
		case <-poll.C:
			if !h.leased(w.key.scope) {
				return true
			}
		case <-ctx.Done():
			return false
		}
	}
}

// mayHaveChanged has the operation read again if it is of the session.
func (w *watch) mayHaveChanged(session string) {
	if of := w.session.Load(); of != nil && session != "" && session != *of {
		return
	}
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// publish has the watchers see a state, or the error after which there is none.
func (w *watch) publish(op *sessionstore.Operation, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err != nil:
		w.err = err
	case w.latest != nil && reflect.DeepEqual(w.latest.Operation, op):
		return
	default:
		w.latest = &Update{Operation: op}
	}
	close(w.changed)
	w.changed = make(chan struct{})
}

// state returns what was published last, and a channel that is closed with the
// next.
func (w *watch) state() (latest *Update, err error, changed <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.latest, w.err, w.changed
}

// WatchStats counts watchers, for metrics.
type WatchStats struct {
	Watchers   int   // connected streams and waiting requests
	Limit      int   // Options.MaxWatchers
	Operations int   // that they watch
	Refused    int64 // watchers beyond Options.MaxWatchers, since the start
}

// WatchStats returns the present counts.
func (s *Service) WatchStats() WatchStats {
	h := s.watches
	h.mu.Lock()
	defer h.mu.Unlock()
	return WatchStats{Watchers: h.max - int(h.places.Free()), Limit: h.max, Operations: len(h.operations),
		Refused: h.refused.Load()}
}
