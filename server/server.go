// Package server is the HTTP API of memoryd. It decodes and checks requests,
// calls the session store, ingestion, retrieval and the tools, and encodes what
// they return. It holds no rules about memories itself.
//
// A handler returns its error and does not log it. The table in errors.go turns
// the error into a status, and the middleware writes one line for each request,
// with its error if there is one.
package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"runtime"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"github.com/sourcegraph/conc"
	"go.opentelemetry.io/otel/trace"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/internal/fair"
	"github.com/memoryd/memoryd/internal/inflight"
	"github.com/memoryd/memoryd/internal/tracing"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/quota"
	"github.com/memoryd/memoryd/retrieve"
	"github.com/memoryd/memoryd/sessionstore"
	"github.com/memoryd/memoryd/tools"
)

// DefaultMaxBody is the default of Options.MaxBody, in bytes. It leaves room for
// events with inline images.
const DefaultMaxBody = 32 << 20

// Bounds in time.
const (
	requestTime = 60 * time.Second // of one request; a stream may last longer
	// DefaultBodyTime is the default of Options.BodyTime.
	DefaultBodyTime = requestTime
	maxWait         = 30 * time.Second // of wait=true, well within requestTime
)

// The defaults of bounds on the bytes that requests hold at a time.
const (
	DefaultMaxBodies  = 192 << 20
	DefaultMaxAnswers = 64 << 20
)

// Options configure New. The zero value is the default.
type Options struct {
	// MaxBody bounds the body of a request, in bytes. Defaults to
	// DefaultMaxBody.
	MaxBody int64
	// BodyTime is how long the body of a request may take to arrive. Defaults to
	// DefaultBodyTime.
	BodyTime time.Duration
	// MaxBodies bounds the memory that the bodies of all requests take at a time, in
	// bytes: a body counts with what decoding makes of it. Defaults to
	// DefaultMaxBodies.
	MaxBodies int64
	// MaxAnswers bounds what is held of large answers at a time, in bytes. Defaults to
	// DefaultMaxAnswers.
	MaxAnswers int64
	// AnyHost serves requests with any Host header. By default the server
	// accepts loopback names only, so that a web page whose DNS name resolves to
	// 127.0.0.1 cannot read memories through the user's browser.
	AnyHost bool
	// Hosts are further names that the Host header may have, without a port. They count
	// unless AnyHost is set.
	Hosts []string
	// Origins are those of web pages that may call the server, as function Origin returns
	// them. Pages of other origins can read no answer and change nothing. Defaults to none.
	Origins []string
	// TrustedProxies are the addresses of proxies whose X-Forwarded-For, -Host and -Proto
	// count. Of all others they are ignored. Defaults to none.
	TrustedProxies []netip.Prefix
	// Checks are what /readyz asks, by the name that it reports. A check returns
	// nil when its store can serve requests.
	Checks map[string]func(context.Context) error
	// Notes are further lines of /readyz, by name, each the state of a part that
	// memoryd can do without for a while, such as a remote model. An empty one is left
	// out.
	Notes map[string]func() string
	// Processors is how many there are: one more request than that computes at a
	// time. Defaults to GOMAXPROCS.
	Processors int
	// Requests is how many requests may be in progress; fair.Shares has how many an app
	// may have of them, and a user. Defaults to DefaultRequests.
	Requests int
	// QueueTime is how long a request may wait for a processor or for its turn to
	// write; one that would wait longer is refused. Defaults to DefaultQueueTime.
	QueueTime time.Duration
	// PreloadTimeout bounds the search of preload_memory. Defaults to that of
	// package tools.
	PreloadTimeout time.Duration
	// RememberWait is how long remember waits until its fact is stored. Defaults
	// to that of package tools.
	RememberWait time.Duration
	// Figures are those of the stores, for /metrics.
	Figures Figures
	// Backup writes the file of a store, "sessions" or "memories", into w, once it has
	// called size with the bytes that will come. Without it there is no backup.
	Backup func(ctx context.Context, store string, w io.Writer, size func(int64)) error
	// Keys are those that callers show. Without them everybody who reaches the server is
	// its owner, unless there is a Verifier.
	Keys access.Keys
	// Verifier checks the tokens of an issuer. Defaults to none.
	Verifier access.Verifier
	// Quotas hold requests to what a key, an app and a user may take. Defaults to no such
	// limits.
	Quotas *quota.Limiter
	// ModelQuotas are those of calls of models, and MaxSessions is how many sessions a user
	// may have, 0 for any number. The models and the stores hold to them; the server tells
	// how much of them is used.
	ModelQuotas *quota.Meter
	MaxSessions int
	// Audit configures the audit log. Defaults to none.
	Audit AuditOptions
	// Console answers GET /console and GET /console/NAME, without a key. Defaults to none,
	// and 404s.
	Console Console
	// Version is shown on the page at / and to clients of MCP.
	Version string
	// Tracer begins the spans of requests. Defaults to none.
	Tracer trace.Tracer
	// TraceContent has spans show what was said, asked and answered.
	TraceContent bool
	// Log gets a line for each request. Defaults to discarding.
	Log *slog.Logger
}

// Server is the HTTP API of one memoryd.
type Server struct {
	sessions   sessionstore.Store
	operations sessionstore.Operations
	memories   memory.Store
	ingest     *ingest.Service
	retriever  *retrieve.Retriever
	tools      *tools.Toolbox
	metrics    *metrics
	bodies     *inflight.Pool // of more than smallBody
	smallOnes  *inflight.Pool // of up to smallBody
	answers    *inflight.Pool
	changes    changePages
	opts       Options
	tracer     *tracing.Tracer // nil without traces
	ring       *access.Ring    // nil without keys and issuer
	audit      *auditLog       // nil if none is kept
	needs      map[string]need // by method and path of a route
	routes     []declaration
	api        document // of GET /openapi.json
	echo       *echo.Echo
	places     *fair.Places
	gate       *fair.Gate

	stop   context.CancelFunc                // ends streams and waits
	atStop func(func()) (forget func() bool) // has stop call a function

	requests sync.RWMutex // read-locked by every request, so that Close can wait for them
	closed   bool         // guarded by requests
}

// New makes a Server. sessions are those of ingest.Sessions. retriever must use the same
// memories as ingest, behind guards where the server has keys; see package guard.
func New(
	sessions ingest.Sessions, memories memory.Store, ingest *ingest.Service, retriever *retrieve.Retriever,
	opts *Options,
) *Server {
	s := &Server{sessions: sessions, operations: sessions, memories: memories, ingest: ingest, retriever: retriever}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.MaxBody == 0 {
		s.opts.MaxBody = DefaultMaxBody
	}
	s.opts.BodyTime = cmp.Or(s.opts.BodyTime, DefaultBodyTime)
	s.opts.MaxBodies = cmp.Or(s.opts.MaxBodies, DefaultMaxBodies)
	s.opts.MaxAnswers = cmp.Or(s.opts.MaxAnswers, DefaultMaxAnswers)
	s.bodies = inflight.New(s.opts.MaxBodies, "bodies of requests", "-max-bodies")
	s.smallOnes = inflight.New(max(1, s.opts.MaxBodies/8), "small bodies of requests", "-max-bodies")
	s.changes.held = map[changePlace]*changePage{}
	s.answers = inflight.New(s.opts.MaxAnswers, "answers", "-max-answers")
	if s.opts.Log == nil {
		s.opts.Log = slog.New(slog.DiscardHandler)
	}
	s.places = fair.NewPlaces(cmp.Or(s.opts.Requests, DefaultRequests))
	// While one that computes is put off by the system, another one does.
	slots := 1 + cmp.Or(s.opts.Processors, runtime.GOMAXPROCS(0))
	s.gate = fair.NewGate(slots, cmp.Or(s.opts.QueueTime, DefaultQueueTime))
	s.tracer = tracing.New(s.opts.Tracer, s.opts.TraceContent)
	s.metrics = newMetrics(s.opts.Version)
	figures := s.ownFigures()
	maps.Copy(figures, s.opts.Figures)
	s.metrics.registry.MustRegister(newBacklog(sessions, s.opts.Log), newFigures(figures))
	s.tools = tools.New(retriever, ingest, &tools.Options{
		PreloadTimeout: s.opts.PreloadTimeout,
		RememberWait:   s.opts.RememberWait,
		Called:         s.metrics.called,
		Preloaded:      s.metrics.preloaded,
		Log:            s.opts.Log,
	})
	serving, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.atStop = func(f func()) func() bool { return context.AfterFunc(serving, f) }
	if s.opts.Keys != nil || s.opts.Verifier != nil {
		s.ring = access.NewRing(s.opts.Keys, &access.RingOptions{Verifier: s.opts.Verifier, Log: s.opts.Log})
	}
	s.audit = newAuditLog(s.opts.Audit, s.opts.Log)
	s.needs = map[string]need{}
	s.echo = echo.New()
	s.echo.HTTPErrorHandler = s.fail
	// The outermost comes first. The log sees every answer, also that of a
	// panic; checkHost, authenticate and holdToQuotas run before any part of the body
	// is read.
	s.echo.Use(endBroken)
	if s.tracer != nil {
		s.echo.Use(s.trace)
	}
	s.echo.Use(
		middleware.RequestIDWithConfig(middleware.RequestIDConfig{Generator: rand.Text}),
		s.logRequests(),
		s.refuseAfterClose,
		middleware.RecoverWithConfig(middleware.RecoverConfig{DisableErrorHandler: true, LogErrorFunc: s.logPanic}),
		s.checkHost,
		s.cors(),
		s.consoleSlash, // needs no key, as the page itself
		s.authenticate,
		s.holdToQuotas,
		s.boundRequest,
		s.admit,
		s.account,
		s.redactErrors,
	)
	s.addRoutes()
	api, err := apiDocument(s.opts.Version, s.routes)
	if err != nil {
		panic(err) // the text is a part of the program
	}
	s.api = newDocument(api)
	s.metrics.addRoutes(s.echo.Routes())
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	secure(w.Header())
	s.unproxy(r)
	// echo matches routes against RawPath if it is set. So an escaped slash
	// stays part of an id instead of separating two segments. pathParam unescapes
	// the segment later, once.
	r.URL.RawPath = r.URL.EscapedPath()
	if !plainRequestID(r.Header.Get(echo.HeaderXRequestID)) {
		r.Header.Del(echo.HeaderXRequestID) // the middleware makes one
	}
	s.echo.ServeHTTP(w, r)
}

// Stop ends streams and the waiting of wait=true, so that a graceful shutdown
// does not have to wait for them. Their operations go on.
func (s *Server) Stop() { s.stop() }

// Close waits for the requests that have begun. The server answers later ones
// 410.
func (s *Server) Close() {
	s.requests.Lock()
	defer s.requests.Unlock()
	s.closed = true
}

// Run keeps account of the use of keys, and of what callers did, until ctx is over.
func (s *Server) Run(ctx context.Context) {
	var parts conc.WaitGroup
	defer parts.Wait()
	if s.audit != nil {
		parts.Go(func() { s.audit.run(ctx) })
	}
	if s.ring != nil {
		parts.Go(func() { s.ring.Run(ctx) })
	}
}

// Wait returns when the searches are over that outlived their requests. Call it
// after the last request and before the stores are closed.
func (s *Server) Wait() { s.tools.Wait() }
