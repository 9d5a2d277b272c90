package mcp

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/memoryd/memoryd/internal/strict"
)

// message is a call of a tool as it comes in, and all that one can have.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  struct {
		Name      string                     `json:"name"`
		Arguments json.RawMessage            `json:"arguments"`
		Meta      map[string]json.RawMessage `json:"_meta"`
	} `json:"params"`
}

// reply is what it is answered.
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

// direct answers a call of a tool there is, if the message is plain and nothing
// at all is wrong with it, and reports whether it has. The library would do the
// same with ten passes over the message, five over the result and as many
// goroutines, which take a third of the time that a search does; all else is the
// library's.
func (s *service) direct(w http.ResponseWriter, r *http.Request, body []byte) bool {
	var m message
	if strict.Decode("", body, &m) != nil || len(r.Header.Values("Last-Event-ID")) > 0 {
		return false
	}
	if m.Version != "2.0" || m.Method != callMethod || !goodID(m.ID) || !current(r, &m) {
		return false
	}
	tool, err := find(m.Params.Name)
	if err != nil || tool.Check(m.Params.Arguments) != nil {
		return false
	}
	out := reply{Version: m.Version, ID: m.ID}
	result, err := s.callTool(r.Context(), m.Params.Name, m.Params.Arguments)
	if r.Context().Err() != nil {
		return true // whoever routes requests here says so
	}
	if err != nil {
		out.Error = err.(*jsonrpc.Error) // all of ours are
	} else {
		out.Result = &replyResult{Content: []textContent{{"text", result.text}}, Structured: result.structured, IsError: result.failed}
		if modern(r) {
			out.Result.Type, out.Result.Meta = "complete", map[string]*sdk.Implementation{sdk.MetaKeyServerInfo: s.info}
		}
	}
	raw, err := strict.Encode(out)
	if err != nil { // of a result that is no JSON
		s.opts.Log.Error("a fault", "method", callMethod, "err", err)
		http.Error(w, internal.Message, http.StatusInternalServerError)
		return true
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-cache, no-transform")
	_, _ = w.Write(raw) // one that is not sent is the client's loss
	return true
}

// maxDigits is how long a number may be and still is a float64, which is what the
// library reads it into.
const maxDigits = 15

// goodID reports whether an id is one that comes back as it came: a string, or
// a whole number that is not too long.
func goodID(id json.RawMessage) bool {
	switch {
	case len(id) == 0:
		return false
	case id[0] == '"':
		return true
	}
	return id[0] >= '0' && id[0] <= '9' && len(id) <= maxDigits && !bytes.ContainsAny(id, ".eE")
}

const versionHeader = "Mcp-Protocol-Version"

// modern reports whether a request is of the versions in which each says of
// itself what a handshake used to.
func modern(r *http.Request) bool { return r.Header.Get(versionHeader) >= stateless }

// current reports whether the headers of a request are of one version of the
// protocol, and what it says of itself fits.
func current(r *http.Request, m *message) bool {
	version := r.Header.Get(versionHeader)
	if version != "" && !slices.Contains(sdk.SupportedProtocolVersions(), version) {
		return false
	}
	said := m.Params.Meta[sdk.MetaKeyProtocolVersion]
	if !modern(r) {
		return said == nil
	}
	info := m.Params.Meta[sdk.MetaKeyClientInfo]
	return string(said) == `"`+version+`"` && decodes[sdk.ClientCapabilities](m.Params.Meta[sdk.MetaKeyClientCapabilities]) &&
		(info == nil || decodes[sdk.Implementation](info)) && r.Header.Get("Mcp-Method") == m.Method && r.Header.Get("Mcp-Name") == m.Params.Name
}

// decodes reports whether a value is a T, as the library reads it.
func decodes[T any](raw json.RawMessage) bool {
	return len(raw) > 0 && raw[0] == '{' && json.Unmarshal(raw, new(T)) == nil
}
