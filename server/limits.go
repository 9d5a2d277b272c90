package server

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/quota"
	"github.com/memoryd/memoryd/sessionstore"
)

// limitBody is a limit that is set, and how much of it is used.
type limitBody struct {
	Name  string  `json:"name"` // of the flag that sets it, without its dash
	Limit float64 `json:"limit"`
	Used  int64   `json:"used"`
	// ResetTime is when none of it is used if nothing else comes: of a rate, and of what
	// models do in a day. It is absent while none is.
	ResetTime time.Time `json:"resetTime,omitzero"`
}

// appLimits answers GET /v1/apps/{app}/limits.
func (s *Server) appLimits(c echo.Context) error {
	app, err := pathParam(c, "app")
	if err != nil {
		return err
	}
	return s.limits(c, memory.Scope{App: app}, memory.Shared(app), "shared", 0)
}

// userLimits answers GET {scope}/limits: nothing in it is about the app as a whole, so that a
// key of one user learns nothing of the others.
func (s *Server) userLimits(c echo.Context, scope memory.Scope) error {
	return s.limits(c, scope, scope, "user", s.opts.MaxSessions)
}

// limits answers with the limits of the key that asks, and those of scope. kept is the
// scope whose memories and sessions count, and of begins the names of the limits of those.
func (s *Server) limits(c echo.Context, scope, kept memory.Scope, of string, sessions int) error {
	ctx := c.Request().Context()
	// The limits of requests come first, then those of models, then those of what is kept: an
	// operator reads them in the order of the flags.
	uses, err := s.opts.Quotas.Uses(ctx, quota.Request{By: callerOf(c), Scope: scope})
	if err != nil {
		return err
	}
	day, err := s.opts.ModelQuotas.Uses(ctx, scope)
	if err != nil {
		return err
	}
	room, has, err := s.ingest.Room(ctx, kept)
	if err != nil {
		return err
	}
	uses = append(append(uses, day...), keptUses(of, room, has)...)
	if sessions > 0 {
		n, err := s.countSessions(ctx, kept, sessionstore.List{NoAside: true})
		if err != nil {
			return err
		}
		uses = append(uses, quota.Use{Flag: of + "-sessions", Limit: float64(sessions), Used: int64(n)})
	}
	out, now := []limitBody{}, time.Now()
	for _, u := range uses {
		body := limitBody{Name: u.Flag, Limit: u.Limit, Used: u.Used}
		if u.Until > 0 && u.Used > 0 {
			body.ResetTime = now.Add(u.Until).UTC().Truncate(time.Microsecond)
		}
		out = append(out, body)
	}
	return sendJSON(c, http.StatusOK, map[string]any{"limits": out})
}

// keptUses are the limits of what a scope has of memories.
func keptUses(of string, room, has ingest.Limits) (out []quota.Use) {
	if room.Memories > 0 {
		out = append(out, quota.Use{Flag: of + "-memories", Limit: float64(room.Memories), Used: int64(has.Memories)})
	}
	if room.Bytes > 0 {
		out = append(out, quota.Use{Flag: of + "-bytes", Limit: float64(room.Bytes), Used: has.Bytes})
	}
	return out
}
