package ingest

import (
	"github.com/google/uuid"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// How is what a request may ask for. Where several wait for a session, the
// oldest of them decides for all.
type How struct {
	// DisableConsolidation leaves what is known alone: new facts are added
	// beside it, unless they say the very same.
	DisableConsolidation bool
}

// request makes a new request in a scope.
func (h How) request(scope memory.Scope) *sessionstore.Request {
	return &sessionstore.Request{ID: sessionstore.OperationID(scope, uuid.NewString()), DisableConsolidation: h.DisableConsolidation}
}

// SessionOf is the id of the session that an operation is about; "" if it is
// about none.
func SessionOf(op *sessionstore.Operation) string {
	if op.Facts {
		return ""
	}
	return op.Key.ID
}
