package ingest

import (
	"context"
	"sync"
	"time"

	"github.com/memoryd/memoryd/internal/fair"
	"github.com/memoryd/memoryd/memory"
)

// Limits bound what one scope has of live memories, turns included. A zero is none. A
// write or a request that would begin beyond them is refused with a memory.Refusal, and
// nothing of it is stored. A request that was taken is carried out whole, so that a
// scope may end beyond its limits by what the request brings: nothing that was
// acknowledged is dropped. Deletions always pass.
type Limits struct {
	Memories int
	Bytes    int64 // as Memory.Bytes counts them
}

// fullTime is when a client may ask again that was refused because a scope is full. It is
// a guess: somebody has to delete memories first, or they expire.
const fullTime = time.Minute

// roomFor refuses what would bring a scope more memories and bytes than it may have.
func (s *Service) roomFor(ctx context.Context, scope memory.Scope, memories int, bytes int64) error {
	if memories <= 0 && bytes <= 0 {
		return nil
	}
	l, has, err := s.Room(ctx, scope)
	if err != nil {
		return err
	}
	if l.Memories > 0 && memories > 0 && has.Memories+memories > l.Memories {
		return memory.Refuse(fullTime, "%s has %d memories, and may have %d: delete some:"+
			" %s sets how many there may be", whose(scope), has.Memories, l.Memories, flagOf(scope, "memories"))
	}
	if l.Bytes > 0 && bytes > 0 && has.Bytes+bytes > l.Bytes {
		return memory.Refuse(fullTime, "%s has memories of %d bytes, and may have %d: %d more do not fit:"+
			" delete some: %s sets how many there may be", whose(scope), has.Bytes, l.Bytes, bytes,
			flagOf(scope, "bytes"))
	}
	return nil
}

// Room returns the limits of a scope, and how much of them is used: of a limit that is not
// set, nothing is counted.
func (s *Service) Room(ctx context.Context, scope memory.Scope) (l, has Limits, err error) {
	if l = s.limitsOf(scope); l == (Limits{}) {
		return l, has, nil
	}
	found, err := s.memories.Search(ctx, scope, memory.Query{Bytes: l.Bytes > 0, CountHidden: l.Memories > 0})
	if err != nil {
		return l, has, err
	}
	if l.Memories > 0 {
		has.Memories = found.Stats.Docs + found.Stats.Hidden
	}
	return l, Limits{has.Memories, found.Stats.Bytes}, nil
}

// limitsOf returns the limits of a scope.
func (s *Service) limitsOf(scope memory.Scope) Limits {
	if scope.OfApp() {
		return s.opts.SharedLimits
	}
	return s.opts.Limits
}

// whose says to whom the limits of a scope belong, and flagOf which flag sets one of them.
func whose(scope memory.Scope) string {
	if scope.OfApp() {
		return "the shared knowledge of this app"
	}
	return "this user"
}

func flagOf(scope memory.Scope, limit string) memory.Flag {
	if scope.OfApp() {
		return memory.Flag("-shared-" + limit)
	}
	return memory.Flag("-user-" + limit)
}

// roomForMore refuses a request for memories of a scope that is full. How many memories
// it makes is not known yet.
func (s *Service) roomForMore(ctx context.Context, scope memory.Scope) error {
	return s.roomFor(ctx, scope, 1, 1)
}

// rooms has the writes of clients to one scope that a limit bounds come one after
// another, from the look at what there is until the write is stored.
type rooms struct {
	mu     sync.Mutex
	scopes map[memory.Scope]*roomTurn
}

// roomTurn is that of one scope.
type roomTurn struct {
	free  chan struct{} // has a value while no write is under way
	users int           // that have it or wait
}

// enter waits for the turn of a scope, if it has limits.
func (s *Service) enter(ctx context.Context, scope memory.Scope) (leave func(), err error) {
	if s.limitsOf(scope) == (Limits{}) {
		return func() {}, nil
	}
	return s.turn(ctx, scope)
}

// turn waits for the turn of a scope.
func (s *Service) turn(ctx context.Context, scope memory.Scope) (leave func(), err error) {
	r := &s.rooms
	r.mu.Lock()
	t := r.scopes[scope]
	if t == nil {
		t = &roomTurn{free: make(chan struct{}, 1)}
		t.free <- struct{}{}
		r.scopes[scope] = t
	}
	t.users++
	r.mu.Unlock()
	gone := func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if t.users--; t.users == 0 {
			delete(r.scopes, scope)
		}
	}
	defer fair.Pause(ctx)()
	select {
	case <-t.free:
		return func() { t.free <- struct{}{}; gone() }, nil
	case <-ctx.Done():
		gone()
		return nil, ctx.Err()
	}
}
