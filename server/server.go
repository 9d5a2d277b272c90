// Package server serves memoryd over HTTP: a thin layer of decoding, checking
// and encoding over the session store, ingestion and retrieval.
package server

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
	"github.com/memoryd/memoryd/sessionstore"
	"github.com/memoryd/memoryd/tools"
)

// Limits on requests.
const (
	DefaultMaxBody = 32 << 20         // bytes
	requestTime    = 60 * time.Second // for one request, but for streams
	maxWait        = 30 * time.Second // of wait=true
)

// Options are what New lets one choose.
type Options struct {
	MaxBody int64 // bytes of a request's body. Defaults to DefaultMaxBody.
	// AnyHost serves requests whatever their Host header says. By default only
	// loopback names are served, so that a web page whose name was made to
	// point here cannot read what it likes.
	AnyHost bool
	// Checks are what /readyz asks, by name.
	Checks map[string]func(context.Context) error
	// Notes are what else /readyz tells: of what it can do without for a while.
	Notes map[string]func() string
	// PreloadTimeout is how long preload_memory searches, and RememberWait how
	// long remember waits for what comes of a fact. Default as those of package
	// tools do.
	PreloadTimeout, RememberWait time.Duration
	// Version is shown on the page at /.
	Version string
	Log     *slog.Logger // Defaults to discarding.
}

// Server is the HTTP API of one memoryd.
type Server struct {
	sessions  sessionstore.Store
	progress  sessionstore.Operations
	memories  memory.Store
	ingest    *ingest.Service
	retriever *retrieve.Retriever
	tools     *tools.Toolbox
	metrics   *metrics
	opts      Options
	echo      *echo.Echo
	stopping  chan struct{} // closed by stop; ends streams and waits
	stop      func()
	requests  sync.RWMutex // read-locked by every request
	closed    bool
}

// New makes a Server. It serves what is in sessions and memories, through
// ingest and retriever, which use the same two.
func New(sessions ingest.Sessions, memories memory.Store, ingest *ingest.Service, retriever *retrieve.Retriever, opts *Options) *Server {
	s := &Server{sessions: sessions, progress: sessions, memories: memories, ingest: ingest, retriever: retriever}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.MaxBody == 0 {
		s.opts.MaxBody = DefaultMaxBody
	}
	if s.opts.Log == nil {
		s.opts.Log = slog.New(slog.DiscardHandler)
	}
	s.metrics = newMetrics(ingest.RenewalsFailed)
	s.tools = tools.New(retriever, ingest, &tools.Options{PreloadTimeout: s.opts.PreloadTimeout, RememberWait: s.opts.RememberWait, Called: s.metrics.called, Preloaded: s.metrics.preloaded, Log: s.opts.Log})
	s.stopping = make(chan struct{})
	s.stop = sync.OnceFunc(func() { close(s.stopping) })
	s.echo = echo.New()
	s.echo.HTTPErrorHandler = s.fail
	s.echo.Use(
		middleware.RequestIDWithConfig(middleware.RequestIDConfig{Generator: rand.Text}),
		s.logged(),
		s.untilClosed,
		middleware.RecoverWithConfig(middleware.RecoverConfig{DisableErrorHandler: true, LogErrorFunc: s.panicked}),
		s.hostChecked,
		s.timed,
	)
	s.routes()
	return s
}

// Stop ends streams and waits, so that a graceful shutdown need not wait for them.
func (s *Server) Stop() { s.stop() }

// Close waits for the requests that have begun. Later ones are answered 410.
func (s *Server) Close() {
	s.requests.Lock()
	defer s.requests.Unlock()
	s.closed = true
}

// untilClosed serves requests until Close.
func (s *Server) untilClosed(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		s.requests.RLock()
		defer s.requests.RUnlock()
		if s.closed {
			return errClosed
		}
		return next(c)
	}
}

// Wait returns when what requests have left behind is over: no store may be
// closed before. It is called once there are no requests any more.
func (s *Server) Wait() { s.tools.Wait() }

// ServeHTTP implements http.Handler. It has echo match the path as it was sent,
// so that an escaped slash in an id is not taken for one of ours; param
// unescapes, once.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.URL.RawPath = r.URL.EscapedPath()
	if !goodRequestID(r.Header.Get(echo.HeaderXRequestID)) {
		r.Header.Del(echo.HeaderXRequestID) // it gets one of ours
	}
	s.echo.ServeHTTP(w, r)
}

// goodRequestID accepts a caller's own request id if it is short and plain: it
// goes into the log and the answer.
func goodRequestID(id string) bool {
	for _, r := range id {
		if r <= ' ' || r > '~' {
			return false
		}
	}
	return len(id) <= 128
}

func (s *Server) routes() {
	const (
		scope   = "/v1/apps/:app/users/:user"
		session = scope + "/sessions/:session"
		one     = scope + "/memories/:memory"
		op      = "/v1/operations/:operation"
	)
	s.add("GET", "/", s.page)
	s.add("GET", "/livez", func(c echo.Context) error { return c.String(http.StatusOK, "ok\n") })
	s.add("GET", "/readyz", s.ready)
	s.add("HEAD", "/livez", func(c echo.Context) error { return c.NoContent(http.StatusOK) })
	s.add("HEAD", "/readyz", s.ready)

	s.add("GET", "/metrics", s.metrics.serve)

	s.add("GET", "/v1/apps/:app/sessions", s.listAppSessions, "pageSize", "pageToken")
	s.add("POST", scope+"/sessions", scoped(s.createSession))
	s.add("GET", scope+"/sessions", scoped(s.listSessions), "pageSize", "pageToken")
	s.add("GET", session, keyed(s.getSession), "numRecentEvents", "after")
	s.add("PATCH", session, keyed(s.patchSession))
	s.add("DELETE", session, keyed(s.deleteSession))
	s.add("POST", session+"/events", keyed(s.appendEvents), "outputKey")
	s.add("POST", session+"/memories", keyed(s.addSession), "wait")
	s.add("POST", session+"/render", keyed(s.render))

	s.add("POST", scope+"/memories/ingest", scoped(s.ingestEvents), "wait")
	s.add("POST", scope+"/memories/dryRun", scoped(s.dryRun))
	s.add("POST", scope+"/memories/search", scoped(s.search))
	s.add("POST", scope+"/memories/context", scoped(s.promptContext))
	s.add("POST", scope+"/memories", scoped(s.addMemory))
	s.add("GET", scope+"/memories", scoped(s.listMemories), "kind", "topic", "sessionId", "history", "orderBy", "pageSize", "pageToken")
	s.add("GET", one, named(s.getMemory))
	s.add("PATCH", one, named(s.patchMemory))
	s.add("DELETE", one, named(s.deleteMemory))
	s.add("GET", one+"/revisions", named(s.listRevisions))
	s.add("POST", one+"/rollback", named(s.rollbackMemory))

	s.add("GET", "/v1/tools", s.listTools)
	s.add("POST", scope+"/tools/:tool", scoped(s.callTool))
	s.add("POST", "/mcp/apps/:app/users/:user", scoped(s.mcp))

	s.add("GET", scope+"/operations", scoped(s.listOperations), "pageSize", "pageToken")
	s.add("GET", op, operation(s.getOperation))
	s.add("POST", op+"/retry", operation(s.retryOperation))
}

// add makes a route that takes just the query parameters named.
func (s *Server) add(method, path string, h echo.HandlerFunc, params ...string) {
	s.echo.Add(method, path, func(c echo.Context) error {
		query, err := url.ParseQuery(c.Request().URL.RawQuery)
		if err != nil { // else what it cannot read would count as absent
			return invalid("query string %.100q: %v", c.Request().URL.RawQuery, err)
		}
		for name, values := range query {
			if !slices.Contains(params, name) {
				return invalid("unknown query parameter %.60q", name)
			}
			if len(values) > 1 && name != "kind" && name != "topic" {
				return invalid("query parameter %q is given twice", name)
			}
			if !utf8.ValidString(strings.Join(values, "")) {
				return invalid("query parameter %q is not valid UTF-8", name)
			}
		}
		return h(c)
	})
}

// logged writes one line a request.
func (s *Server) logged() echo.MiddlewareFunc {
	return middleware.RequestLoggerWithConfig(middleware.RequestLoggerConfig{
		HandleError: true, // so that the status is the one sent
		LogMethod:   true, LogURIPath: true, LogStatus: true, LogLatency: true, LogRequestID: true,
		LogResponseSize: true, LogError: true,
		LogValuesFunc: func(c echo.Context, v middleware.RequestLoggerValues) error {
			level := slog.LevelInfo
			args := []any{"method", v.Method, "path", v.URIPath, "status", v.Status, "ms", float64(v.Latency.Microseconds()) / 1000,
				"in", c.Request().ContentLength, "out", v.ResponseSize, "id", v.RequestID}
			if v.Error != nil {
				args = append(args, "err", v.Error.Error())
			}
			if v.Status >= 500 && !errors.Is(v.Error, context.Canceled) { // a client that left is no fault
				level = slog.LevelError
			}
			s.opts.Log.Log(c.Request().Context(), level, "request", args...)
			return nil
		},
	})
}

func (s *Server) panicked(c echo.Context, err error, stack []byte) error {
	s.opts.Log.Error("panic", "id", requestID(c), "err", err, "stack", string(stack))
	return err
}

func requestID(c echo.Context) string { return c.Response().Header().Get(echo.HeaderXRequestID) }

// timed bounds a request in time and its body in size. Streams lift the bound
// on writing as they go.
func (s *Server) timed(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		ctx := r.Context()
		if !streams(r) {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, requestTime)
			defer cancel()
		}
		whole := r.Body
		r.Body = http.MaxBytesReader(c.Response(), whole, s.opts.MaxBody)
		c.SetRequest(r.WithContext(ctx))
		var err error
		if r.ContentLength > s.opts.MaxBody { // before it is read
			err = &http.MaxBytesError{Limit: s.opts.MaxBody}
		} else {
			err = next(c)
		}
		if errors.As(err, new(*http.MaxBytesError)) && r.Header.Get("Expect") == "" {
			// Most clients read no answer before they have sent their body, and
			// take a connection that closes meanwhile for broken.
			_, _ = io.CopyN(io.Discard, whole, 8*s.opts.MaxBody)
		}
		return err
	}
}

// param is a path segment, unescaped once.
func param(c echo.Context, name string) (string, error) {
	v, err := url.PathUnescape(c.Param(name))
	if err != nil {
		return "", invalid("path: %v", err)
	}
	return v, memory.ValidateID(name, v)
}

// scoped, keyed, named and operation read what a path names, for the handlers
// of a scope, of a session, of a memory and of an operation.
func scoped(h func(echo.Context, memory.Scope) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		app, err := param(c, "app")
		if err != nil {
			return err
		}
		user, err := param(c, "user")
		if err != nil {
			return err
		}
		return h(c, memory.Scope{App: app, User: user})
	}
}

func keyed(h func(echo.Context, sessionstore.Key) error) echo.HandlerFunc {
	return scoped(func(c echo.Context, scope memory.Scope) error {
		id, err := param(c, "session")
		if err != nil {
			return err
		}
		return h(c, sessionstore.Key{Scope: scope, ID: id})
	})
}

func named(h func(echo.Context, memory.Scope, string) error) echo.HandlerFunc {
	return scoped(func(c echo.Context, scope memory.Scope) error {
		id, err := param(c, "memory")
		if err != nil {
			return err
		}
		return h(c, scope, id)
	})
}

// operation takes the scope from the id, which carries it.
func operation(h func(echo.Context, memory.Scope, string) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		id, err := url.PathUnescape(c.Param("operation"))
		if err != nil {
			return invalid("path: %v", err)
		}
		scope, err := sessionstore.OperationScope(id)
		if err != nil {
			return err
		}
		return h(c, scope, id)
	}
}
