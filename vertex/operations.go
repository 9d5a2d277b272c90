package vertex

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Operation is a long-running operation. Most are done at once.
type Operation struct {
	Name     string            `json:"name"`
	Metadata OperationMetadata `json:"metadata"`
	Done     bool              `json:"done,omitempty"`
	Response *Response         `json:"response,omitempty"`
	Error    *OperationError   `json:"error,omitempty"`
}

// OperationMetadata tells when an operation was begun and when it was last seen.
type OperationMetadata struct {
	Type       string `json:"@type"`
	CreateTime Time   `json:"createTime,omitzero"`
	UpdateTime Time   `json:"updateTime,omitzero"`
}

// OperationError is why an operation has failed. The code is that of gRPC.
type OperationError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Response is the result of an operation, with its type.
type Response struct {
	Type  string // the name of the type, without its package
	Value any
}

// Names of types.
const (
	emptyType = "Empty"
	typeURL   = "type.googleapis.com/"
	protos    = "google.cloud.aiplatform.v1beta1."
)

// URL is the type as a google.protobuf.Any has it.
func (r *Response) URL() string {
	if r.Type == emptyType {
		return typeURL + "google.protobuf.Empty"
	}
	return typeURL + protos + r.Type
}

// MarshalJSON implements json.Marshaler: the type stands beside the fields of the value.
func (r *Response) MarshalJSON() ([]byte, error) {
	raw, err := Encode(r.Value)
	if err != nil {
		return nil, err
	}
	head := fmt.Sprintf(`{"@type":%q`, r.URL())
	if string(raw) == "{}" {
		return []byte(head + "}"), nil
	}
	return append([]byte(head+","), raw[1:]...), nil
}

// doneOperation is an operation that is done. The caller names it.
func doneOperation(of string, value any, at time.Time) *Operation {
	return &Operation{Done: true, Response: &Response{of, value}, Metadata: metadata(of, at, at)}
}

func metadata(of string, from, to time.Time) OperationMetadata {
	switch of {
	case emptyType:
		of = "Delete"
	case "Session":
		of = "CreateSession"
	}
	return OperationMetadata{typeURL + protos + of + "OperationMetadata", Time{from}, Time{to}}
}

// The kinds of operations that are done at once. The id of one spells out its kind and its target.
const (
	createdSession = "s"
	createdMemory  = "m"
	updatedMemory  = "u"
	rolledBack     = "b"
	purgedMemories = "p"
	changedEngine  = "e"
	deletedEngine  = "x"
	deleted        = "d"
	idMark         = "o-"
)

// operationID spells out an operation that is done. So GET can answer it without anything stored,
// by whichever memoryd and for ever. The target is the id of what was made, or a number.
func operationID(kind, engine, target string) string {
	return idMark + base64.RawURLEncoding.EncodeToString([]byte(kind+"\x00"+engine+"\x00"+target))
}

// readOperationID is the reverse of operationID. A text that is none of its ids is one of memoryd's
// own operations, or of nothing.
func readOperationID(id string) (kind, engine, target string, ok bool) {
	text, ok := strings.CutPrefix(id, idMark)
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	parts := strings.Split(string(raw), "\x00")
	if !ok || err != nil || len(parts) != 3 || !plainID.MatchString(parts[1]) {
		return "", "", "", false
	}
	return parts[0], parts[1], parts[2], true
}

// OperationEngine is the engine of an operation that comes without its name; "" if the id is of
// no operation.
func OperationEngine(id string) string {
	if _, engine, _, ok := readOperationID(id); ok {
		return engine
	}
	if scope, err := sessionstore.OperationScope(id); err == nil && plainID.MatchString(scope.App) {
		return scope.App
	}
	return ""
}

// operationOf is an operation of ingestion as clients see it.
func (s *Service) operationOf(ctx context.Context, r Resource, op *sessionstore.Operation, shown map[string]string) (
	*Operation, error) {
	of := "GenerateMemories"
	if strings.HasPrefix(op.Key.ID, sessionstore.StreamPrefix) {
		of = "IngestEvents"
	}
	out := &Operation{Name: r.engine() + "/operations/" + op.ID, Done: op.Done(),
		Metadata: metadata(of, op.CreateTime, s.opts.Now())}
	switch {
	case op.State == sessionstore.Failed:
		const internal = 13 // as gRPC has it
		out.Error = &OperationError{internal, "memories were not made: " + op.LastError}
	case op.Done() && of == "IngestEvents":
		out.Response = &Response{of + "Response", struct{}{}}
	case op.Done():
		made, err := s.generatedBy(ctx, r, op, shown)
		if err != nil {
			return nil, err
		}
		out.Response = &Response{of + "Response", made}
	}
	return out, nil
}

func (s *Service) getOperation(ctx context.Context, call *Call) (any, error) {
	r := call.Resource
	id := r.SubID
	missing := fmt.Errorf("operation %.200q: %w", id, memory.ErrNotFound)
	if scope, err := sessionstore.OperationScope(id); err == nil && scope.App == r.Engine {
		if !mine(ctx, scope.User) {
			return nil, missing // as what it has made is to this caller
		}
		ctx = asOwner(ctx, scope.User)
		op, err := s.ingest.Sessions().Status(ctx, scope, id)
		if err != nil {
			return nil, err
		}
		return s.operationOf(ctx, r, op, nil)
	}
	kind, engine, target, ok := readOperationID(id)
	if !ok || engine != r.Engine {
		return nil, missing
	}
	var op *Operation
	switch kind {
	case createdSession:
		r.ID = target
		key, err := s.find(ctx, r)
		if err == nil {
			var got *sessionstore.Session
			if got, err = s.sessions.Get(ctx, key, sessionstore.Get{}); err == nil {
				return s.doneSession(r, got)
			}
		}
		if !errors.Is(err, memory.ErrNotFound) {
			return nil, err
		}
		op = doneOperation("Session", &sessionBody{Name: r.session(target)}, s.opts.Now()) // deleted since
		op.Name = r.session(target) + "/operations/" + id
	case createdMemory, updatedMemory:
		r.Kind, r.ID = "memories", target
		_, m, err := s.findMemory(ctx, r)
		if err == nil {
			return s.doneMemory(r, kind, m, nil), nil
		}
		if !errors.Is(err, memory.ErrNotFound) {
			return nil, err
		}
		op = s.doneMemory(r, kind, &memory.Memory{ID: target}, map[string]string{}) // deleted since
	case purgedMemories:
		count, err := strconv.Atoi(target)
		if err != nil || count < 0 {
			return nil, missing
		}
		return s.donePurge(r, count), nil
	case deleted, rolledBack:
		op = doneOperation(emptyType, struct{}{}, s.opts.Now())
		op.Name = r.engine() + "/operations/" + id
		if r.Kind != "" && r.ID != "" {
			op.Name = r.engine() + "/" + r.Kind + "/" + r.ID + "/operations/" + id
		}
	default:
		return nil, missing
	}
	return op, nil
}
