// Package ingest makes memories of sessions, and loses nothing on the way.
//
// A request is answered once its events are in the session store. The session
// store is also the queue: it has, of each session, the number of the last event
// that memories were requested of, and of the last one they were made of.
// Workers claim the sessions where the first is ahead, one at a time in each
// scope, and process them in batches. For each batch a worker puts the turns
// into memory, has the facts extracted, reads the stored memories that bear on
// them, and has package consolidate plan what changes. It stores the plan,
// applies it, and only then counts the events as done. A batch that is
// interrupted is processed again, with the same result.
package ingest

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/trace"

	"github.com/memoryd/memoryd/appconfig"
	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/internal/fair"
	"github.com/memoryd/memoryd/internal/tracing"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Sessions is a session store with all that ingestion needs.
type Sessions interface {
	sessionstore.Store
	sessionstore.Progress
	sessionstore.Operations
	sessionstore.Configs
	sessionstore.Eraser
	sessionstore.Expirer
}

// Options are the choices of New. The zero value has the defaults.
type Options struct {
	// Workers is how many scopes are worked on at a time. Defaults to 4.
	Workers int
	// BatchEvents is how many events one batch has at most. Defaults to 200.
	BatchEvents int
	// LeaseTTL is how long a lease on a scope lasts unless it is renewed.
	// Defaults to 10 s.
	LeaseTTL time.Duration
	// MaxAttempts is after how many attempts an operation has failed. Attempts
	// while the memory store is unavailable do not end it. Defaults to 10.
	MaxAttempts int
	// Backoff is the wait after the nth attempt failed. Defaults to half a
	// second, doubling up to a minute, give or take a quarter at random.
	Backoff func(attempt int) time.Duration
	// Poll is how often a Service looks for work that it did not get itself: due
	// retries, and requests to other processes. Defaults to 1 s.
	Poll time.Duration
	// Sweep is how often a Service removes sessions and memories that have expired. Defaults
	// to 1 min.
	Sweep time.Duration
	// MaxWatchers is how many watchers of operations there may be: streams and
	// requests that wait. Defaults to DefaultMaxWatchers.
	MaxWatchers int
	// Fallback finds provisional facts while the extractor gives no answer.
	// Defaults to none.
	Fallback extract.Extractor
	// Together is set if the sessions and the memories are in one place, where one
	// step writes both: the turns of a request are then written in the step that
	// stores its events. Defaults to none.
	Together Together
	// Zone is the time zone of events and facts that come without an offset and whose
	// request names no zone. Nil leaves the offset open, and their days are those of UTC.
	Zone *time.Location
	// Limits bound what the scope of one user has, and SharedLimits the shared knowledge of
	// one app. Both default to none.
	Limits, SharedLimits Limits
	// SweepAfter is how long an expired memory stays in the store, where a rollback can
	// bring it back, before it is removed for good. A negative one keeps it. Defaults to
	// DefaultSweepAfter.
	SweepAfter time.Duration
	// Processors is how many there are. Half of them compute what requests do not wait
	// for. Defaults to GOMAXPROCS.
	Processors int
	// Account is told, before the facts of a batch change, of the operation whose batch
	// it is and which facts. The batch is tried again later if it fails, and may be told
	// of again with the same id. Defaults to nothing.
	Account func(context.Context, Accounted) error
	// Tracer begins the spans of batches. Defaults to none.
	Tracer trace.Tracer
	// TraceContent has spans show what was found.
	TraceContent bool
	Now          func() time.Time // Defaults to time.Now.
	Log          *slog.Logger     // Defaults to discarding.
}

// Accounted is what Options.Account is told of: the changes of one batch.
type Accounted struct {
	ID        string // the same at every attempt
	Key       sessionstore.Key
	Operation string
	Facts     []string // ids of the memories that change
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
	set(&out.SweepAfter, DefaultSweepAfter)
	set(&out.Poll, time.Second)
	set(&out.Sweep, time.Minute)
	set(&out.Processors, runtime.GOMAXPROCS(0))
	set(&out.MaxWatchers, DefaultMaxWatchers)
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

// set gives a value that was left out its default.
func set[T comparable](v *T, fallback T) {
	var zero T
	if *v == zero {
		*v = fallback
	}
}

// Service takes requests, and processes them while Run runs.
type Service struct {
	sessions  Sessions
	memories  memory.Store
	embedder  embed.Embedder
	extractor extract.Extractor
	opts      Options
	tracer    *tracing.Tracer // nil without traces
	owner     string          // of leases
	// gate has batches take turns by app and user: at most half of the processors
	// compute for what nobody waits for.
	gate *fair.Gate

	hint           chan struct{} // there may be work
	renewalsFailed atomic.Int64
	findableLate   atomic.Int64

	configs *appconfig.Cache // of apps, read as memoryd itself
	redact  *Redactor
	watches *watches
	rooms   rooms
	mu      sync.Mutex
	leased  map[*lease]bool // of the batches in work
	batches BatchStats      // without Running
	// unheeded are the apps, and fields of their configurations, that warnUnheeded has
	// logged.
	unheeded map[string]bool
}

// New makes a Service.
func New(
	sessions Sessions, memories memory.Store, embedder embed.Embedder, extractor extract.Extractor, opts *Options,
) *Service {
	s := &Service{
		sessions: sessions, memories: classifyErrors{memories}, embedder: embedder, extractor: extractor,
		opts: opts.withDefaults(), owner: uuid.NewString(),
		hint: make(chan struct{}, 1), leased: map[*lease]bool{}, rooms: rooms{scopes: map[memory.Scope]*roomTurn{}},
		unheeded: map[string]bool{}, batches: BatchStats{Ended: map[string]int64{}},
	}
	s.tracer = tracing.New(s.opts.Tracer, s.opts.TraceContent)
	s.gate = fair.NewBackgroundGate(max(1, s.opts.Processors/2))
	s.configs = appconfig.NewCache(sessions, s.opts.Now, s.opts.Log)
	s.memories = agingStore{s.memories, s.configs, s.opts.Now}
	s.redact = NewRedactor(s.configs)
	s.sessions, s.opts.Together = s.redact.Sessions(sessions), s.redact.Together(s.opts.Together)
	s.watches = newWatches(sessions, s.opts.MaxWatchers, s.holds)
	return s
}

// Configs are the configurations of apps.
func (s *Service) Configs() *appconfig.Cache { return s.configs }

// Redactor replaces secrets as the configurations of apps ask for it.
func (s *Service) Redactor() *Redactor { return s.redact }

// Sessions is the session store of the Service. What is written to it has its secrets
// replaced: see [Redactor].
func (s *Service) Sessions() Sessions { return s.sessions }

// Memories is the memory store of the Service, for reads.
func (s *Service) Memories() memory.Store { return s.memories }

// log is the log of what happens in a session, in the trace of ctx.
func (s *Service) log(ctx context.Context, key sessionstore.Key) *slog.Logger {
	return s.opts.Log.With("session", key.ID, "app", key.App, "user", key.User).With(tracing.Log(ctx)...)
}

// Retry makes the work of a failed operation due at once. The error is ErrInvalid if the
// operation was rolled back.
func (s *Service) Retry(ctx context.Context, scope memory.Scope, id string) (*sessionstore.Operation, error) {
	by, err := s.RolledBack(ctx, scope, id)
	if err == nil && by != "" {
		err = fmt.Errorf("%w: operation %q is rolled back by operation %q, and is not carried out again",
			memory.ErrInvalid, id, by)
	}
	if err != nil {
		return nil, fmt.Errorf("retry: %w", err)
	}
	op, err := s.sessions.Retry(ctx, scope, id)
	if err != nil {
		return nil, fmt.Errorf("retry: %w", err)
	}
	s.wake()
	return op, nil
}

// wake tells Run that there may be work.
func (s *Service) wake() {
	select {
	case s.hint <- struct{}{}:
	default:
	}
}
