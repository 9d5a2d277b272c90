package sessionstore

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/memoryd/memoryd/memory"
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

	// RevisionTTL is how long revisions that are made for the request live, likewise.
	RevisionTTL time.Duration `json:"revisionTtl,omitempty"`

	// Metadata is that of facts which the request makes. MetadataMerge says what becomes of
	// the metadata of a fact that it updates or says again.
	Metadata      memory.Metadata `json:"metadata,omitempty"`
	MetadataMerge MetadataMerge   `json:"metadataMergeStrategy,omitempty"`

	// Labels are those of all revisions that are made for the request.
	Labels memory.Labels `json:"labels,omitempty"`

	// Traceparent is the place in a trace where the request was made, as a W3C header of
	// that name has it, so that the worker can continue the trace. Empty without traces.
	Traceparent string `json:"traceparent,omitempty"`
}

// MetadataMerge is what the metadata of a request does to facts that are known.
type MetadataMerge string

// The ways to merge. The empty one is MergeOverwrite.
const (
	// MergeOverwrite puts the metadata of the request in place of that of the fact.
	MergeOverwrite MetadataMerge = "OVERWRITE"
	// MergeUnite adds it to that of the fact. Where both have a name, the request's counts.
	MergeUnite MetadataMerge = "MERGE"
	// MergeExact compares new facts only with those whose metadata is the same, and adds
	// them beside all others.
	MergeExact MetadataMerge = "REQUIRE_EXACT_MATCH"
)

// Validate accepts the ways to merge and the empty one. The error names the field as
// requests have it.
func (m MetadataMerge) Validate() error {
	switch m {
	case "", MergeOverwrite, MergeUnite, MergeExact:
		return nil
	}
	return fmt.Errorf("%w: metadataMergeStrategy: want %s, %s or %s, not %.40q", memory.ErrInvalid,
		MergeOverwrite, MergeUnite, MergeExact, string(m))
}

// Merged is the metadata of a fact that had some and is updated by the request: nil if the
// request has none. Metadata that would have too many bytes together stays as it is.
func (r *Request) Merged(had memory.Metadata) memory.Metadata {
	if len(r.Metadata) == 0 || r.MetadataMerge != MergeUnite {
		return maps.Clone(r.Metadata)
	}
	out := maps.Clone(r.Metadata)
	for name, value := range had {
		if _, there := out[name]; !there {
			out[name] = value
		}
	}
	if out.Validate() != nil {
		return maps.Clone(had)
	}
	return out
}

// Doc is the request without its ID, as JSON for a store to keep.
func (r Request) Doc() ([]byte, error) { return memory.EncodeJSON(r) }

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
