package ingest

import (
	"github.com/google/uuid"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// RequestOptions are what a request may choose. If several requests wait for one
// session, the options of the oldest hold for all.
type RequestOptions struct {
	// DisableConsolidation leaves known memories alone: new facts are added
	// beside them, unless they say the same.
	DisableConsolidation bool
}

// request makes a new request in a scope.
func (o RequestOptions) request(scope memory.Scope) *sessionstore.Request {
	return &sessionstore.Request{
		ID: sessionstore.OperationID(scope, uuid.NewString()), DisableConsolidation: o.DisableConsolidation,
	}
}

// SessionOf is the id of the session that an operation is about; "" if it is
// about none.
func SessionOf(op *sessionstore.Operation) string {
	if op.Facts {
		return ""
	}
	return op.Key.ID
}
