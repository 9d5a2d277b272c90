package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/memoryd/memoryd/internal/legible"
)

// refusal is the answer to a message that is malformed. Its id is null if the
// message has none that can be read.
type refusal struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   *jsonrpc.Error  `json:"error"`
}

// refuse returns the answer to a malformed message.
func refuse(id json.RawMessage, code int64, format string, args ...any) *refusal {
	if id == nil {
		id = json.RawMessage("null")
	}
	message := legible.Text(fmt.Sprintf(format, args...))
	return &refusal{"2.0", id, &jsonrpc.Error{Code: code, Message: message}}
}

// encode returns the refusal as JSON.
func (r *refusal) encode() []byte {
	raw, err := json.Marshal(r)
	if err != nil {
		panic(err) // its parts are JSON
	}
	return raw
}

// malformed returns the answer to a text that is not one message of JSON-RPC, and
// nil for a message. The library would end the connection because of such a text.
func malformed(text []byte) *refusal {
	switch text = bytes.TrimSpace(text); {
	case !utf8.Valid(text):
		return refuse(nil, jsonrpc.CodeParseError, "this is not UTF-8")
	case !json.Valid(text):
		return refuse(nil, jsonrpc.CodeParseError, "this is not JSON")
	case text[0] == '[':
		return refuse(nil, jsonrpc.CodeInvalidRequest, "want one message, not a batch: send each message by itself")
	case text[0] != '{':
		return refuse(nil, jsonrpc.CodeInvalidRequest, "want a message, which is a JSON object")
	}
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(text, &parts); err != nil {
		return refuse(nil, jsonrpc.CodeParseError, "this is not JSON: %v", err)
	}
	var id json.RawMessage
	if given, ok := parts["id"]; ok {
		if given[0] != '"' && (given[0] < '0' || given[0] > '9') && given[0] != '-' {
			return refuse(nil, jsonrpc.CodeInvalidRequest, "id: want a string or a number")
		}
		id = given
	}
	if parts["method"] == nil && parts["result"] == nil && parts["error"] == nil {
		return refuse(id, jsonrpc.CodeInvalidRequest, "method is missing")
	}
	if _, err := jsonrpc.DecodeMessage(text); err != nil {
		return refuse(id, jsonrpc.CodeInvalidRequest, "this is not a message of JSON-RPC 2.0: %v", err)
	}
	return nil
}
