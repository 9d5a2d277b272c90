// Package vertex translates the calls of Google's services of Agent Engine sessions and of Memory
// Bank to those of memoryd, and decides nothing itself. A [Call] has the name of a method, a
// resource and a body of JSON. [Service.Do] carries it out and returns the answer as a value
// that has the JSON of the service.
//
// Package vertexrest reads calls from HTTP, and package vertexgrpc from gRPC. Both end here, so that
// both show the same.
package vertex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
	"github.com/memoryd/memoryd/sessionstore"
)

// ErrUnimplemented says that there is no such method here.
var ErrUnimplemented = errors.New("unimplemented")

// Gate lets calls in as memoryd's own API lets in its requests.
type Gate interface {
	// Enter authenticates the caller of a call and holds it to all limits. The call runs in the
	// context that it returns, and ends with leave. id is that of the call in the log.
	Enter(ctx context.Context, in Entry) (within context.Context, id string, leave func(error), err error)
	// EraseApp erases an app with all that is of it.
	EraseApp(ctx context.Context, app string) error
	// Authenticate returns the error that Enter would have for the caller of a call, of which
	// nothing is read yet, and else how to take room for its message. It counts and logs a
	// refusal.
	Authenticate(ctx context.Context, in Entry) (Room, error)
	// Describe returns the status of an error, its name, and its text for the client.
	Describe(err error, id string) (code int, status, message string)
}

// Room takes room for a message of a size, which is held until release is called.
type Room = func(ctx context.Context, bytes int64) (release func(), err error)

// Entry is what a Gate is told of a call.
type Entry struct {
	Protocol, Method, App string
	Takes                 access.Verbs
	Request               *http.Request // with the key that the caller shows
	Bytes                 int64         // of the body, or the most that it may have
	Held                  bool          // there is room for the body already
	Read                  func() error  // reads the body, if it is not there yet
}

// Options configure New. The zero value is the default.
type Options struct {
	Now    func() time.Time // Defaults to time.Now.
	Scopes Scopes           // Defaults to ExactScopes.
	// Engines defaults to AnyEngine.
	Engines Engines
	// TopK is how many memories a retrieval by similarity finds that does not say. Defaults to
	// DefaultTopK.
	TopK int
	// Wait is how long a call waits for the memories that it asks for. Defaults to 2 s.
	Wait time.Duration
	// Turns has such a retrieval find turns of conversations too, as memories that say their words.
	Turns bool
}

// Service carries out calls.
type Service struct {
	sessions  sessionstore.Store
	memories  memory.Store
	ingest    *ingest.Service
	retriever *retrieve.Retriever
	gate      Gate
	opts      Options
}

// New makes a Service of the sessions and the memories of ingest, behind guards.
func New(ingest *ingest.Service, retriever *retrieve.Retriever, gate Gate, opts *Options) *Service {
	s := &Service{sessions: ingest.Sessions(), memories: ingest.Memories(), ingest: ingest, retriever: retriever,
		gate: gate}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.Now == nil {
		s.opts.Now = time.Now
	}
	if s.opts.TopK == 0 {
		s.opts.TopK = DefaultTopK
	}
	if s.opts.Wait == 0 {
		s.opts.Wait = defaultWait
	}
	return s
}

// Call is one call of a method.
type Call struct {
	Protocol string // "REST" or "gRPC"
	Method   string // such as "CreateSession"
	Resource Resource
	// Query has the parameters that REST has in the query; gRPC has them in the message.
	Query url.Values
	Body  json.RawMessage // "" is {}
	// Read reads the body, of up to Bytes bytes, once the caller is known. Nil if Body has it.
	Read    func() (json.RawMessage, error)
	Bytes   int64
	Request *http.Request
	Held    bool // room for the body is taken, by Service.Authenticate
}

// method is how a method is carried out.
type method struct {
	takes access.Verbs
	do    func(*Service, context.Context, *Call) (any, error)
	// engines says that the method is about engines themselves, which need not be declared for it.
	engines bool
}

// readsAcross is what a call takes that reads of all users where the caller may, and of its own
// user otherwise.
const readsAcross = access.Read | access.Admin

// methods are the methods that there are.
func methods() map[string]method {
	return map[string]method{
		"CreateSession": {access.Write, (*Service).createSession, false},
		"GetSession":    {access.Read, (*Service).getSession, false},
		"ListSessions":  {readsAcross, (*Service).listSessions, false},
		"UpdateSession": {access.Write, (*Service).updateSession, false},
		"DeleteSession": {access.Write, (*Service).deleteSession, false},
		"AppendEvent":   {access.Write, (*Service).appendEvent, false},
		"ListEvents":    {access.Read, (*Service).listEvents, false},
		"GetOperation":  {access.Read, (*Service).getOperation, false},

		"GenerateMemories": {access.Write, (*Service).generateMemories, false},
		"IngestEvents":     {access.Write, (*Service).ingestEvents, false},
		"RetrieveMemories": {access.Read, (*Service).retrieveMemories, false},
		"RetrieveProfiles": {access.Read, (*Service).retrieveProfiles, false},

		"CreateMemory":        {access.Write, (*Service).createMemory, false},
		"GetMemory":           {access.Read, (*Service).getMemory, false},
		"ListMemories":        {readsAcross, (*Service).listMemories, false},
		"UpdateMemory":        {access.Write, (*Service).updateMemory, false},
		"DeleteMemory":        {access.Write, (*Service).deleteMemory, false},
		"ListMemoryRevisions": {access.Read, (*Service).listRevisions, false},
		"GetMemoryRevision":   {access.Read, (*Service).getRevision, false},
		"RollbackMemory":      {access.Write, (*Service).rollbackMemory, false},
		"PurgeMemories":       {access.Admin, (*Service).purgeMemories, false},

		"CreateReasoningEngine": {access.Admin, (*Service).createEngine, true},
		"GetReasoningEngine":    {access.Admin, (*Service).getEngine, true},
		"ListReasoningEngines":  {access.Admin, (*Service).listEngines, true},
		"UpdateReasoningEngine": {access.Admin, (*Service).updateEngine, true},
		"DeleteReasoningEngine": {access.Admin, (*Service).deleteEngine, true},
		"GetEngineOperation":    {access.Admin, (*Service).getEngineOperation, true},
	}
}

// Do carries out a call. Its answer has the JSON of the service; *Operation is one. The id is
// that of the call in the log.
func (s *Service) Do(ctx context.Context, call *Call) (answer any, id string, err error) {
	m, ok := methods()[call.Method]
	if !ok {
		return nil, "", Unimplemented(call.Method)
	}
	in := Entry{Protocol: call.Protocol, Method: "vertex." + call.Method, App: call.Resource.Engine, Takes: m.takes,
		Request: call.Request, Bytes: int64(len(call.Body)), Held: call.Held}
	if call.Read != nil {
		in.Bytes, in.Read = call.Bytes, func() (err error) {
			call.Body, err = call.Read()
			return err
		}
	}
	ctx, id, leave, err := s.gate.Enter(ctx, in)
	if err != nil {
		return nil, id, err
	}
	defer func() { leave(err) }()
	if !m.engines {
		if err = s.declared(ctx, call.Resource); err != nil {
			return nil, id, err
		}
	}
	answer, err = m.do(s, ctx, call)
	return answer, id, err
}

// Authenticate returns why the caller of a method is not let in, before its message is read, and
// else how to take room for that.
func (s *Service) Authenticate(r *http.Request, protocol, method string) (Room, error) {
	return s.gate.Authenticate(r.Context(), Entry{Protocol: protocol, Method: "vertex." + method, Request: r})
}

// Unimplemented is the error of a method that is not here. It lists those that are.
func Unimplemented(what string) error {
	var names []string
	for name := range methods() {
		names = append(names, name)
	}
	slices.Sort(names)
	return fmt.Errorf("%w: memoryd has no %.100s here: it has %s", ErrUnimplemented, what, strings.Join(names, ", "))
}

// Error is what a client is answered.
type Error struct {
	Code    int    `json:"code"`   // of HTTP
	Status  string `json:"status"` // such as "NOT_FOUND"
	Message string `json:"message"`
}

// Describe returns the answer to an error of a call.
func (s *Service) Describe(err error, id string) Error {
	if errors.Is(err, ErrUnimplemented) {
		return Error{http.StatusNotImplemented, "UNIMPLEMENTED", err.Error()}
	}
	if errors.Is(err, ErrPrecondition) {
		return Error{http.StatusBadRequest, "FAILED_PRECONDITION", err.Error()}
	}
	var code int
	var e Error
	code, e.Status, e.Message = s.gate.Describe(err, id)
	e.Code = code
	switch code {
	case http.StatusRequestEntityTooLarge:
		e.Code, e.Status = http.StatusBadRequest, "INVALID_ARGUMENT"
	case http.StatusRequestTimeout, http.StatusGone:
		e.Code, e.Status = http.StatusServiceUnavailable, "UNAVAILABLE"
	case http.StatusMethodNotAllowed:
		e.Code, e.Status = http.StatusNotImplemented, "UNIMPLEMENTED"
	}
	return e
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{memory.ErrInvalid}, args...)...)
}
