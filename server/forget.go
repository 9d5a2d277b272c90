package server

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
)

// forgetBody is what the response of an operation says of requests to forget, beside
// the memories.
type forgetBody struct {
	// notFound has the words of requests that name nothing known, each once, the first
	// maxNotFound of them.
	notFound []string
	confirm  *ingest.Confirmation // the request to forget everything that was said last
	swept    *ingest.Swept
}

// maxNotFound bounds notFound: an operation may have thousands of events.
const maxNotFound = 100

// add adds what a page of changes says.
func (b *forgetBody) add(changes []ingest.Changed) {
	for i := range changes {
		b.confirm = ingest.Later(b.confirm, changes[i].Confirm)
		if changes[i].Swept != nil {
			b.swept = changes[i].Swept
		}
		words := changes[i].NotFound
		if words != "" && len(b.notFound) < maxNotFound && !slices.Contains(b.notFound, words) {
			b.notFound = append(b.notFound, words)
		}
	}
}

// write writes the fields behind the memories.
func (b *forgetBody) write(out *answer, operation string) {
	if b.confirm != nil {
		out.text(`,"confirm":`)
		out.value(struct {
			ID         string    `json:"id"`
			Text       string    `json:"text"`
			ExpireTime time.Time `json:"expireTime"`
		}{operation, confirmText(b.confirm), b.confirm.ExpireTime})
	}
	if b.swept != nil {
		out.text(`,"forgotten":`)
		out.value(b.swept)
	}
	if len(b.notFound) > 0 {
		out.text(`,"notFound":`)
		out.value(b.notFound)
	}
}

// confirmText asks people what a confirmation confirms.
func confirmText(c *ingest.Confirmation) string {
	return fmt.Sprintf("Forget everything that was said up to %s? All facts and all turns of all sessions are then in"+
		" no search, context or tool's answer.", c.Request.SaidAt().UTC().Format(time.RFC3339))
}

// confirmOperation answers POST /v1/operations/{id}/confirm with the operation that
// forgets everything. The first call starts it, and any other one answers the same.
func (s *Server) confirmOperation(c echo.Context, scope memory.Scope, id string) error {
	until, err := waitParam(c)
	if err != nil {
		return err
	}
	if err := decodeBody(c, &struct{}{}); err != nil { // the body takes no fields
		return err
	}
	ctx, cancel := storing(c, until)
	defer cancel()
	op, err := s.ingest.Confirm(ctx, scope, id)
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
