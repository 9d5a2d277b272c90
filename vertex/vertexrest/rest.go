// Package vertexrest serves package vertex over HTTP: paths, JSON and errors as clients of
// Google's REST services send and expect them.
package vertexrest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/vertex"
)

// DefaultMaxBody is the default of Options.MaxBody, in bytes.
const DefaultMaxBody = 32 << 20

// Options configure New. The zero value is the default.
type Options struct {
	// MaxBody bounds the body of a request, in bytes. Defaults to DefaultMaxBody.
	MaxBody int64
}

// Handler serves calls.
type Handler struct {
	service *vertex.Service
	opts    Options
}

// New makes a Handler.
func New(service *vertex.Service, opts *Options) *Handler {
	h := &Handler{service: service}
	if opts != nil {
		h.opts = *opts
	}
	if h.opts.MaxBody == 0 {
		h.opts.MaxBody = DefaultMaxBody
	}
	return h
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, id, err := h.serve(w, r)
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	if id != "" {
		w.Header().Set("X-Request-Id", id)
	}
	code, raw := http.StatusOK, []byte(nil)
	if err == nil {
		raw, err = vertex.Encode(answer)
	}
	if err != nil {
		e := h.service.Describe(err, id)
		if code = e.Code; code == http.StatusServiceUnavailable || code == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(memory.RetryAfter(err).Seconds())))))
		}
		if code == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", `Bearer realm="memoryd"`)
		}
		e.Message = strings.ToValidUTF8(memory.Cut(e.Message, maxMessage), "\uFFFD")
		raw, _ = vertex.Encode(struct { // two numbers and texts
			Error vertex.Error `json:"error"`
		}{e})
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(raw)+1))
	w.WriteHeader(code)
	if r.Method != http.MethodHead {
		_, _ = w.Write(append(raw, '\n')) // a client that has left is no error
	}
}

// maxMessage bounds the message of an error, in bytes: it may repeat a part of the request.
const maxMessage = 1000

// serve carries out one request.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request) (answer any, id string, err error) {
	resource, method, err := route(r.Method, r.URL.EscapedPath())
	if err != nil {
		return nil, "", err
	}
	if r.ContentLength > h.opts.MaxBody {
		return nil, "", tooLarge(h.opts.MaxBody)
	}
	size := r.ContentLength
	if size < 0 { // the header does not tell
		size = h.opts.MaxBody
	}
	read := func() (json.RawMessage, error) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.opts.MaxBody))
		if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
			return nil, tooLarge(large.Limit)
		} else if err != nil {
			return nil, fmt.Errorf("%w: the body did not arrive: %v", memory.ErrInvalid, err)
		}
		return body, nil
	}
	return h.service.Do(r.Context(), &vertex.Call{
		Protocol: "REST", Method: method, Resource: resource, Query: r.URL.Query(), Read: read, Bytes: size,
		Request: r,
	})
}

func tooLarge(limit int64) error {
	return fmt.Errorf("%w: the body has more than %d bytes (-max-body)", memory.ErrInvalid, limit)
}

// methods are the methods of REST by verb, kind of the resource, whether it names one of the kind, and
// the custom verb behind the colon.
var methods = map[string]string{
	"POST sessions":               "CreateSession",
	"GET sessions":                "ListSessions",
	"GET sessions/*":              "GetSession",
	"PATCH sessions/*":            "UpdateSession",
	"DELETE sessions/*":           "DeleteSession",
	"GET sessions/*/events":       "ListEvents",
	"GET operations/*":            "GetOperation",
	"POST sessions/*:appendEvent": "AppendEvent",

	"POST memories:generate":         "GenerateMemories",
	"POST memories:ingestEvents":     "IngestEvents",
	"POST engines/*:ingestEvents":    "IngestEvents",
	"POST memories:retrieve":         "RetrieveMemories",
	"POST memories:retrieveProfiles": "RetrieveProfiles",

	"POST memories":              "CreateMemory",
	"GET memories":               "ListMemories",
	"GET memories/*":             "GetMemory",
	"PATCH memories/*":           "UpdateMemory",
	"DELETE memories/*":          "DeleteMemory",
	"GET memories/*/revisions":   "ListMemoryRevisions",
	"GET memories/*/revisions/*": "GetMemoryRevision",
	"POST memories/*:rollback":   "RollbackMemory",
	"POST memories:purge":        "PurgeMemories",

	"POST engines":     "CreateReasoningEngine",
	"GET engines":      "ListReasoningEngines",
	"GET engines/*":    "GetReasoningEngine",
	"PATCH engines/*":  "UpdateReasoningEngine",
	"DELETE engines/*": "DeleteReasoningEngine",
}

// route returns what a request is for.
func route(verb, path string) (r vertex.Resource, method string, err error) {
	path = strings.Trim(path, "/")
	version, name, _ := strings.Cut(path, "/")
	if version != "v1" && version != "v1beta1" {
		return r, "", vertex.Unimplemented(verb + " /" + memory.Cut(path, 100))
	}
	custom := ""
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		name, custom = name[:i], name[i:]
	}
	if r, err = vertex.ParseName(name, true); err != nil {
		if errors.Is(err, memory.ErrNotFound) { // another service of Google's
			err = vertex.Unimplemented(verb + " /" + memory.Cut(path, 100))
		}
		return r, "", err
	}
	if r.SubKind == "operations" {
		if r.Engine == "" {
			if r.Engine = vertex.OperationEngine(r.SubID); r.Engine == "" {
				return r, "", fmt.Errorf("operation %.100q: %w", r.SubID, memory.ErrNotFound)
			}
		}
		if method = methods[verb+" operations/*"+custom]; method != "" {
			method = vertex.OperationMethod(r.SubID)
		}
	} else {
		method = methods[verb+" "+shape(r)+custom]
	}
	if method == "" {
		return r, "", vertex.Unimplemented(verb + " /" + memory.Cut(path, 100))
	}
	return r, method, nil
}

// A memory bank is an engine by another name: both collections have the same methods.

// shape is the kind of what a resource names, with * for each id.
func shape(r vertex.Resource) string {
	out := r.Kind
	if out == "" {
		if out = "engines"; r.Engine != "" {
			out += "/*"
		}
	}
	if r.ID != "" {
		out += "/*"
	}
	if r.SubKind != "" {
		out += "/" + r.SubKind
	}
	if r.SubID != "" {
		out += "/*"
	}
	return out
}
