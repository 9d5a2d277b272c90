package server

import (
	"context"
	_ "embed"
	"html"
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

// page says what this is.
func (s *Server) page(c echo.Context) error {
	fill := strings.NewReplacer("{{version}}", html.EscapeString(s.opts.Version), "{{host}}", html.EscapeString(c.Request().Host))
	return c.HTML(http.StatusOK, fill.Replace(index))
}

// notReady names the stores that fail.
type notReady []string

func (n notReady) Error() string { return "not ready: " + strings.Join(n, ", ") }

func (notReady) Unwrap() error { return memory.ErrUnavailable }

// ready asks every store, and names the ones that fail.
func (s *Server) ready(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), 2*time.Second)
	defer cancel()
	out := map[string]string{}
	var failed []string
	var mu sync.Mutex
	var all conc.WaitGroup // so that one that hangs does not take the others' time
	for name, check := range s.opts.Checks {
		out[name] = "ok"
		all.Go(func() {
			if err := check(ctx); err != nil {
				s.opts.Log.Error("not ready", "store", name, "err", err)
				mu.Lock()
				failed = append(failed, name)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	slices.Sort(failed)
	if failed != nil {
		return notReady(failed)
	}
	for name, note := range s.opts.Notes {
		out[name] = note()
	}
	return answer(c, http.StatusOK, out)
}
