package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/memoryd/memoryd/internal/strict"
)

// callMessage is a JSON-RPC message that calls a tool, with all the fields that
// callDirectly understands.
type callMessage struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  struct {
		Name      string                     `json:"name"`
		Arguments json.RawMessage            `json:"arguments"`
		Meta      map[string]json.RawMessage `json:"_meta"`
	} `json:"params"`
}

// reply is the JSON-RPC answer to a callMessage.
type reply struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  *replyResult    `json:"result,omitzero"`
	Error   *jsonrpc.Error  `json:"error,omitzero"`
}

type replyResult struct {
	Content    []textContent                  `json:"content"`
	Structured json.RawMessage                `json:"structuredContent,omitzero"`
	IsError    bool                           `json:"isError,omitzero"`
	Type       string                         `json:"resultType,omitzero"`
	Meta       map[string]*sdk.Implementation `json:"_meta,omitempty"`
}

type textContent struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// callDirectly answers a call of a known tool without the library, if nothing at
// all is unusual about the request. It reports whether it did. The answer is the
// same as the library's, which TestDirect checks.
//
// The library makes ten passes over the message, five over the result, and starts
// as many goroutines. Together they take a third of the time of a search.
func (s *service) callDirectly(w http.ResponseWriter, r *http.Request, body []byte) bool {
	var m callMessage
	if strict.Decode("", body, &m) != nil || !plainCall(r, &m) {
		return false
	}
	out := reply{Version: m.Version, ID: m.ID}
	result, err := s.callTool(r.Context(), m.Params.Name, m.Params.Arguments)
	if r.Context().Err() != nil {
		return true // the caller of Serve answers that the time is over
	}
	switch {
	case err == nil:
		out.Result = s.replyResult(r, result)
	case !errors.As(err, &out.Error): // callTool returns protocol errors only
		out.Error = internalError
	}
	raw, err := strict.Encode(out)
	if err != nil { // the tool's result is not JSON
		s.opts.Log.Error("request failed", "method", callMethod, "err", err)
		out = reply{Version: m.Version, ID: m.ID, Error: internalError}
		if raw, err = strict.Encode(out); err != nil {
			panic(err) // the id was read as JSON
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(raw) // it only fails if the client has disconnected
	return true
}

func (s *service) replyResult(r *http.Request, result *outcome) *replyResult {
	out := &replyResult{
		Content: []textContent{{"text", result.text}}, Structured: result.structured, IsError: result.failed,
	}
	if isStateless(r) {
		out.Type, out.Meta = "complete", map[string]*sdk.Implementation{sdk.MetaKeyServerInfo: s.info}
	}
	return out
}

// plainCall reports whether m is a well-formed call of a known tool in a version
// of the protocol that the library supports. In every other case the library
// finds the words for what is wrong.
func plainCall(r *http.Request, m *callMessage) bool {
	if m.Version != "2.0" || m.Method != callMethod || !exactID(m.ID) || !versionFits(r, m) {
		return false
	}
	// A client that resumes a stream expects the library's answer to that.
	if len(r.Header.Values("Last-Event-ID")) > 0 {
		return false
	}
	_, err := findTool(m.Params.Name)
	return err == nil && isObject(m.Params.Arguments)
}

// maxDigits is how many digits a float64 always holds exactly. The library reads
// numbers into one.
const maxDigits = 15

// exactID reports whether the library would answer with the same id: a string, or
// a whole number that a float64 holds.
func exactID(id json.RawMessage) bool {
	switch {
	case len(id) == 0:
		return false
	case id[0] == '"':
		return true
	}
	return id[0] >= '0' && id[0] <= '9' && len(id) <= maxDigits && !bytes.ContainsAny(id, ".eE")
}

const versionHeader = "Mcp-Protocol-Version"

// stateless is the version of the protocol that replaced the handshake: since
// then each request carries what the handshake carried before.
const stateless = "2026-07-28"

// isStateless reports whether a request is of that version or a later one.
// Versions are dates, so they compare as text.
func isStateless(r *http.Request) bool { return r.Header.Get(versionHeader) >= stateless }

// versionFits reports whether the headers of a request name a version that the
// library supports, and whether the message agrees with the headers.
func versionFits(r *http.Request, m *callMessage) bool {
	version := r.Header.Get(versionHeader)
	if version != "" && !slices.Contains(sdk.SupportedProtocolVersions(), version) {
		return false
	}
	stated := m.Params.Meta[sdk.MetaKeyProtocolVersion]
	if !isStateless(r) {
		return stated == nil
	}
	info := m.Params.Meta[sdk.MetaKeyClientInfo]
	return string(stated) == `"`+version+`"` &&
		decodes[sdk.ClientCapabilities](m.Params.Meta[sdk.MetaKeyClientCapabilities]) &&
		(info == nil || decodes[sdk.Implementation](info)) &&
		r.Header.Get("Mcp-Method") == m.Method && r.Header.Get("Mcp-Name") == m.Params.Name
}

// decodes reports whether the library can read a JSON object as a T. It uses the
// library's decoder, encoding/json.
func decodes[T any](raw json.RawMessage) bool {
	return len(raw) > 0 && raw[0] == '{' && json.Unmarshal(raw, new(T)) == nil
}
