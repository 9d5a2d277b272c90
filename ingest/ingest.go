// Package ingest makes memories of sessions, and loses nothing on the way.
//
// A request is answered once its events are in the session store. The session
// store is also the queue: workers claim the sessions whose requested mark is
// ahead of their done mark, one at a time in each scope, and walk them in
// batches. For each batch they put the turns into memory, extract facts, store
// the list of changes, apply it, and only then move the done mark. Whatever is
// interrupted is done again, and does the same again.
package ingest

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Sessions is what ingestion needs of a session store.
type Sessions interface {
	sessionstore.Store
	sessionstore.Progress
	sessionstore.Operations
}

// Options are what New lets one choose.
type Options struct {
	Workers     int           // scopes worked on at a time. Defaults to 4.
	BatchEvents int           // events in one batch. Defaults to 200.
	LeaseTTL    time.Duration // of a scope, renewed at a third of it. Defaults to 10 s.
	MaxAttempts int           // before an operation has failed, but for a memory store that is away. Defaults to 10.
	// Backoff is the wait after the nth attempt failed. Defaults to half a
	// second, doubling up to a minute, with a quarter of chance in it.
	Backoff func(attempt int) time.Duration
	// Poll is how often to look for work that nobody gave a hint of: due
	// retries, and other processes' requests. Defaults to 1 s.
	Poll time.Duration
	// Fallback finds facts while the extractor cannot, until it can. Defaults to
	// none.
	Fallback extract.Extractor
	Now      func() time.Time // Defaults to time.Now.
	Log      *slog.Logger     // Defaults to discarding.
}

func (o *Options) withDefaults() Options {
	out := Options{}
	if o != nil {
		out = *o
	}
	set(&out.Workers, 4)
	set(&out.BatchEvents, 200)
	set(&out.LeaseTTL, 10*time.Second)
	set(&out.MaxAttempts, 10)
	set(&out.Poll, time.Second)
	if out.Backoff == nil {
		out.Backoff = backoff
	}
	if out.Now == nil {
		out.Now = time.Now
	}
	if out.Log == nil {
		out.Log = slog.New(slog.DiscardHandler)
	}
	return out
}

func set[T comparable](v *T, fallback T) {
	var zero T
	if *v == zero {
		*v = fallback
	}
}

// Service takes requests, and works them off while Run runs.
type Service struct {
	sessions  Sessions
	memories  memory.Store
	embedder  embed.Embedder
	extractor extract.Extractor
	opts      Options
	owner     string // of leases

	hint           chan struct{} // there may be work
	renewalsFailed atomic.Int64

	mu       sync.Mutex
	progress map[memory.Scope]chan struct{} // of scopes being watched; closed and removed when an operation may have moved
}

// New makes a Service.
func New(sessions Sessions, memories memory.Store, embedder embed.Embedder, extractor extract.Extractor, opts *Options) *Service {
	return &Service{sessions: sessions, memories: classifyErrors{memories}, embedder: embedder, extractor: extractor, opts: opts.withDefaults(),
		owner: uuid.NewString(), hint: make(chan struct{}, 1), progress: map[memory.Scope]chan struct{}{}}
}

// Ingest stores events in a session, which it creates if it is missing, and
// asks for memories of them. It leaves the session's state alone. When it
// returns the events are durable, and their turns can be found by words unless
// the memory store is too slow to wait for.
func (s *Service) Ingest(ctx context.Context, key sessionstore.Key, events []sessionstore.Event, opts RequestOptions) (*sessionstore.Operation, error) {
	done, err := s.sessions.Append(ctx, key, events, sessionstore.Append{Create: true, KeepState: true, Request: opts.request(key.Scope)})
	if err != nil {
		return nil, err
	}
	if done.Operation.EventsTotal > 0 {
		s.findable(ctx, key, done.Events)
	}
	s.wake()
	return done.Operation, nil
}

// AddSession asks for memories of all the events of a session that have not
// been asked for yet.
func (s *Service) AddSession(ctx context.Context, key sessionstore.Key, opts RequestOptions) (*sessionstore.Operation, error) {
	done, err := s.sessions.Append(ctx, key, nil, sessionstore.Append{Request: opts.request(key.Scope)})
	if err != nil {
		return nil, err
	}
	if n := done.Operation.EventsTotal; n > 0 {
		// The last n by time are those that wait, but for late arrivals, which
		// the walk will find.
		session, err := s.sessions.Get(ctx, key, sessionstore.Get{NumRecent: min(n, maxFindable)})
		if err == nil {
			s.findable(ctx, key, session.Events)
		}
	}
	s.wake()
	return done.Operation, nil
}

// Retry makes a failed operation's work due at once.
func (s *Service) Retry(ctx context.Context, scope memory.Scope, id string) (*sessionstore.Operation, error) {
	op, err := s.sessions.Retry(ctx, scope, id)
	if err != nil {
		return nil, fmt.Errorf("retry: %w", err)
	}
	s.wake()
	return op, nil
}

// wake tells the dispatcher that there may be work.
func (s *Service) wake() {
	select {
	case s.hint <- struct{}{}:
	default:
	}
}
