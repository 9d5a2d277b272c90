package server

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"html"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/sourcegraph/conc"

	"github.com/memoryd/memoryd/memory"
)

//go:embed index.html
var index string

// home answers GET / with a page that explains memoryd. Its commands use the
// URL that the browser asked for, so that they can be copied as they are.
func (s *Server) home(c echo.Context) error {
	console := ""
	if s.opts.Console != nil {
		console = `<p>Look at what it remembers, and why: <a href="console">the console</a>.</p>` + "\n"
	}
	fill := strings.NewReplacer("{{version}}", html.EscapeString(s.opts.Version),
		"{{server}}", html.EscapeString(s.schemeOf(c.Request())+"://"+c.Request().Host), "{{console}}", console)
	// The page has one style of its own, and nothing else to load or run.
	c.Response().Header().Set("Content-Security-Policy", nothing+"; style-src 'unsafe-inline'")
	return c.HTML(http.StatusOK, fill.Replace(index))
}

// Console is the page for people at /console.
type Console interface {
	// Serve answers with a file of the page, or with the page itself if name is empty. It
	// reports whether there is one; if not, it answers nothing.
	Serve(w http.ResponseWriter, r *http.Request, name string) bool
}

// console answers GET and HEAD of /console, and of the files of that page. net/http leaves
// the body out where the method is HEAD.
func (s *Server) console(c echo.Context) error {
	if s.opts.Console == nil || !s.opts.Console.Serve(c.Response(), c.Request(), c.Param("file")) {
		return echo.ErrNotFound
	}
	return nil
}

// consoleSlash leads from /console/ to the page, whose relative links would lead elsewhere from
// there. The way is relative too, as a proxy may serve memoryd below a path of its own. It is no
// route: paths of the OpenAPI document end without a slash.
func (s *Server) consoleSlash(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if s.opts.Console == nil || r.URL.Path != "/console/" ||
			r.Method != http.MethodGet && r.Method != http.MethodHead {
			return next(c)
		}
		return c.Redirect(http.StatusPermanentRedirect, "../console")
	}
}

// alive answers GET /livez: the process can answer requests.
func (s *Server) alive(c echo.Context) error { return c.String(http.StatusOK, "ok\n") }

// aliveHead answers HEAD /livez.
func (s *Server) aliveHead(c echo.Context) error { return c.NoContent(http.StatusOK) }

// notReady holds why each failing store fails, by the name of its check. The
// client of /readyz gets what public returns. The log has the reasons.
type notReady map[string]error

func (n notReady) names() []string { return slices.Sorted(maps.Keys(n)) }

func (n notReady) Error() string {
	var reasons []string
	for _, name := range n.names() {
		reasons = append(reasons, fmt.Sprintf("%s: %v", name, n[name]))
	}
	return "not ready: " + strings.Join(reasons, "; ")
}

// public names the failing stores. Of those that are damaged it says what is.
func (n notReady) public() string {
	var out []string
	for _, name := range n.names() {
		if damage := (*memory.Damage)(nil); errors.As(n[name], &damage) {
			name += " (" + damage.Error() + ")"
		}
		out = append(out, name)
	}
	return "not ready: " + strings.Join(out, ", ")
}

func (notReady) Unwrap() error { return memory.ErrUnavailable }

// checkTime bounds all checks of one /readyz together. Probes commonly give up
// after a few seconds, and then the answer that names the slow store is lost.
const checkTime = 2 * time.Second

// check runs all checks, and returns those that fail. They run at the same time, so
// that a store that hangs does not use up the time of the others.
func (s *Server) check(ctx context.Context) notReady {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	failed := notReady{}
	var mu sync.Mutex
	var checks conc.WaitGroup
	for name, check := range s.opts.Checks {
		checks.Go(func() {
			if err := check(ctx); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed[name] = err
			}
		})
	}
	checks.Wait()
	return failed
}

// errStatusAlone has describe say nothing beyond the status.
var errStatusAlone = errors.New("the caller has shown no key")

// hidesState reports whether the caller may not see how parts of memoryd are. While the
// store of the keys is away nobody can be told apart: a memoryd that had no keys before
// shows its state then.
func (s *Server) hidesState(r *http.Request) bool {
	_, err := s.caller(r)
	return err != nil && s.ring.WasClosed()
}

// ready answers GET /readyz: 200 with a line for each check and note, or 503
// with the names of the checks that fail. Where callers must show a key, one without
// gets the status alone.
func (s *Server) ready(c echo.Context) error {
	failed := s.check(c.Request().Context())
	if s.hidesState(c.Request()) {
		if len(failed) > 0 {
			return fmt.Errorf("%w: %w", errStatusAlone, failed)
		}
		return sendJSON(c, http.StatusOK, struct{}{})
	}
	if len(failed) > 0 {
		return failed
	}
	out := map[string]string{}
	for name := range s.opts.Checks {
		out[name] = "ok"
	}
	for name, note := range s.opts.Notes {
		if text := note(); text != "" {
			out[name] = text
		}
	}
	return sendJSON(c, http.StatusOK, out)
}
