package ingest

import (
	"encoding/base64"
	"strings"

	"github.com/google/uuid"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// request is what was asked for, as work that is claimed must know it. It is in
// the operation's id, which work carries.
type request struct {
	plain bool
	// of is the session that the events are of, where another one carries them:
	// a request that is not for what waits in a session is events of a session
	// of its own, which is deleted at once. What was asked for is still made,
	// as of any deleted session.
	of string
}

// The parts of an operation's id before the UUID.
const (
	plainMark = "plain:"
	ofMark    = "of:"
)

func (r request) operationID(scope memory.Scope) string {
	unique := uuid.NewString()
	if r.of != "" {
		unique = ofMark + base64.RawURLEncoding.EncodeToString([]byte(r.of)) + ":" + unique
	}
	if r.plain {
		unique = plainMark + unique
	}
	return sessionstore.OperationID(scope, unique)
}

func requestOf(operation string) (r request) {
	unique := sessionstore.OperationUnique(operation)
	unique, r.plain = strings.CutPrefix(unique, plainMark)
	if rest, ok := strings.CutPrefix(unique, ofMark); ok {
		name, _, _ := strings.Cut(rest, ":")
		if raw, err := base64.RawURLEncoding.DecodeString(name); err == nil {
			r.of = string(raw)
		}
	}
	return r
}

// SessionOf is the id of the session that an operation is about; "" if it is
// about none.
func SessionOf(op *sessionstore.Operation) string {
	if of := requestOf(op.ID).of; of != "" {
		return of
	}
	if strings.HasPrefix(op.Key.ID, givenPrefix) {
		return ""
	}
	return op.Key.ID
}
