package server

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/internal/strict"
	"github.com/memoryd/memoryd/memory"
)

// rollbackOperation answers POST /v1/operations/{id}/rollback with the operation that
// undoes another one, or, with dryRun, with what that would change.
func (s *Server) rollbackOperation(c echo.Context, scope memory.Scope, id string) error {
	until, err := waitParam(c)
	if err != nil {
		return err
	}
	var body struct {
		DryRun bool `json:"dryRun"`
	}
	if err := decodeBody(c, &body); err != nil {
		return err
	}
	if body.DryRun {
		return s.previewRollback(c, scope, id)
	}
	ctx, cancel := storing(c, until)
	defer cancel()
	op, err := s.ingest.RollBack(ctx, scope, id)
	if err != nil {
		return err
	}
	if !until.IsZero() {
		releaseBody(c)
		op = s.await(c.Request().Context(), op, until)
	}
	status := http.StatusAccepted
	if op.Done() {
		status = http.StatusOK
	}
	return s.sendOperation(c, status, op, nil)
}

// previewRollback writes what a rollback would change while it finds it, and holds one
// part of that at a time. If a later part cannot be read the answer breaks off.
func (s *Server) previewRollback(c echo.Context, scope memory.Scope, id string) error {
	out := newAnswer(c, http.StatusOK)
	begun := false
	out.text(`{"done":true,"response":{"memories":[`)
	preview := func(ctx context.Context, patience time.Duration) error {
		share, err := s.answers.Take(ctx, scope, changesRoom, patience)
		if err != nil {
			return err
		}
		defer share.Release()
		return s.ingest.PreviewRollBack(ctx, scope, id, func(page []ingest.Changed) error {
			for i := range page {
				raw, err := strict.Encode(&page[i])
				if err != nil {
					return err
				}
				if begun {
					out.text(",")
				}
				begun = true
				out.within(int64(len(raw)))
				out.raw(raw)
			}
			out.flush()
			return out.err
		})
	}
	if err := pageWithin(c, false, preview); err != nil {
		out.fail(err)
	}
	out.text(`]}}`)
	return out.finish()
}
