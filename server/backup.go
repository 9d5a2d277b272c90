package server

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"
)

// backup answers POST /v1/backup with the SQLite file of a store, as it is at that
// moment. It is a POST so that no page of another site can ask for it; see checkHost.
// A copy that is broken off has fewer bytes than its Content-Length says.
func (s *Server) backup(c echo.Context) error {
	store := c.QueryParam("store")
	if store == "" {
		store = "sessions"
	}
	if store != "sessions" && store != "memories" {
		return invalid("store %.40q: want sessions or memories", store)
	}
	if s.opts.Backup == nil {
		return invalid("this memoryd has no file to back up")
	}
	ctx := c.Request().Context()
	if whole, ok := c.Get(unboundedKey).(context.Context); ok {
		ctx = whole // a large file takes longer than a request may; each write has its own limit
	}
	releaseBody(c)
	a := newAnswer(c, http.StatusOK)
	begin := func(size int64) {
		header := c.Response().Header()
		header.Set(echo.HeaderContentType, "application/vnd.sqlite3")
		header.Set(echo.HeaderContentLength, strconv.FormatInt(size, 10))
		c.Response().WriteHeader(http.StatusOK)
	}
	write := func(p []byte) (int, error) {
		a.within(int64(len(p)))
		return a.send(p)
	}
	if err := s.opts.Backup(ctx, store, writerFunc(write), begin); err != nil {
		return fmt.Errorf("back up the %s: %w", store, err)
	}
	return nil
}
