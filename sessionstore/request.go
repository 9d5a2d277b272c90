package sessionstore

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Request asks for memories of events. A store keeps it with the operation
// that it becomes, and gives it to the worker that claims the events.
type Request struct {
	ID string `json:"-"` // of the operation; see OperationID

	// DisableConsolidation leaves known memories alone: new facts are added
	// beside them.
	DisableConsolidation bool `json:"disableConsolidation,omitempty"`

	// Facts says that each event is a fact itself, so that nothing is extracted.
	// Its operation is about no session.
	Facts bool `json:"facts,omitempty"`

	// Forget says that the only event is the confirmation that everything is to be
	// forgotten. Its operation is about no session.
	Forget bool `json:"forget,omitempty"`

	// Rollback is the id of the operation that is to be undone. Each event has ids of
	// memories that it changed. The operation of the request is about no session.
	Rollback string `json:"rollback,omitempty"`

	// AllowedTopics are the topics that facts are kept of; empty is all.
	AllowedTopics []string `json:"allowedTopics,omitempty"`

	// TTL is how long facts live, in nanoseconds; 0 is what the app's configuration says.
	TTL time.Duration `json:"ttl,omitempty"`

	// Traceparent is the place in a trace where the request was made, as a W3C header of
	// that name has it, so that the worker can continue the trace. Empty without traces.
	Traceparent string `json:"traceparent,omitempty"`
}

// Doc is the request without its ID, as JSON for a store to keep.
func (r Request) Doc() ([]byte, error) { return json.Marshal(r) }

// ReadRequest reads the request of operation id, whose events are in a session
// named session, from the JSON that Doc made. It also returns the id of the
// session that the events are of.
//
// An operation that was stored before requests were has no JSON. Its doc is empty,
// and the request is in its id and in the name of its session.
func ReadRequest(id, session string, doc []byte) (r Request, of string, err error) {
	if len(doc) == 0 {
		r, of = requestOfID(id, session)
		return r, of, nil
	}
	if err := json.Unmarshal(doc, &r); err != nil {
		return r, session, fmt.Errorf("stored request of operation %.80q: %w", id, err)
	}
	r.ID = id
	return r, session, nil
}

// uuidLength is the length of a UUID's text.
const uuidLength = 36

// requestOfID reads a request from an operation's id, where memoryd kept it
// before it kept requests. "plain:" before the UUID disabled consolidation, and
// "of:" with a session's id in base64 named the session that the events were of,
// while a session "range-UUID" held them. Facts were events of a session
// "facts-UUID".
func requestOfID(id, session string) (r Request, of string) {
	rest, ok := strings.CutPrefix(session, "facts-")
	r, of = Request{ID: id, Facts: ok && len(rest) == uuidLength}, session
	raw, err := base64.RawURLEncoding.DecodeString(id)
	parts := strings.Split(string(raw), "\x00")
	if err != nil || len(parts) != 3 {
		return r, of
	}
	unique, plain := strings.CutPrefix(parts[2], "plain:")
	r.DisableConsolidation = plain
	if rest, ok := strings.CutPrefix(unique, "of:"); ok {
		name, _, _ := strings.Cut(rest, ":")
		if raw, err := base64.RawURLEncoding.DecodeString(name); err == nil && len(raw) > 0 {
			of = string(raw)
		}
	}
	return r, of
}
