package server

import (
	"context"
	_ "embed"
	"fmt"
	"html"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/memory"
)

//go:embed index.html
var index string

// page says what this is.
func (s *Server) page(c echo.Context) error {
	fill := strings.NewReplacer("{{version}}", html.EscapeString(s.opts.Version), "{{host}}", html.EscapeString(c.Request().Host))
	return c.HTML(http.StatusOK, fill.Replace(index))
}

// ready asks every store, and names the ones that fail.
func (s *Server) ready(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), 2*time.Second)
	defer cancel()
	out := map[string]string{}
	var failed []string
	for name, check := range s.opts.Checks {
		out[name] = "ok"
		if err := check(ctx); err != nil {
			s.opts.Log.Error("not ready", "store", name, "err", err)
			failed = append(failed, name)
		}
	}
	slices.Sort(failed)
	if failed != nil {
		return fmt.Errorf("%w: not ready: %s", memory.ErrUnavailable, strings.Join(failed, ", "))
	}
	return answer(c, http.StatusOK, out)
}
