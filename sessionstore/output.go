package sessionstore

import (
	"encoding/json"
	"strings"
)

// WithOutput returns e with its text in actions.stateDelta under key, as ADK does
// for an agent with that output_key. The text is that of all text parts of a final
// response, without thoughts. Any other event is returned as it is. So is one
// without text, which would overwrite an earlier text. ErrInvalid if key is no
// valid key of state.
//
// ADK decides which responses are final (Event.is_final_response). A response is
// final if it is not partial, has no function calls and no function responses, and
// does not end in the output of code. A response that skips the summary of a
// function's response, or waits for a long-running function, is final too: the
// turn ends there. ADK Python also writes the text beside function calls until the
// final response; that needs the whole turn, and WithOutput does not do it.
func (e Event) WithOutput(key string) (Event, error) {
	if err := validateKey("outputKey", key); err != nil {
		return e, err
	}
	text := strings.Join(e.texts(), "")
	if e.Author == "user" || text == "" || !e.final() {
		return e, nil
	}
	return e.WithStateDelta(key, quote(text))
}

// final reports whether e is a final response.
func (e *Event) final() bool {
	var doc struct {
		LongRunningToolIDs []json.RawMessage `json:"longRunningToolIds"`
		Actions            struct {
			SkipSummarization bool `json:"skipSummarization"`
		} `json:"actions"`
		Content struct {
			Parts []map[string]json.RawMessage `json:"parts"`
		} `json:"content"`
	}
	// Values of another type stay zero: content may be a string.
	_ = json.Unmarshal(e.Doc, &doc)
	switch {
	case e.Partial:
		return false
	case doc.Actions.SkipSummarization, len(doc.LongRunningToolIDs) > 0:
		return true
	}
	parts := doc.Content.Parts
	has := func(i int, name string) bool { return parts[i][name] != nil && string(parts[i][name]) != "null" }
	for i := range parts {
		if has(i, "functionCall") || has(i, "functionResponse") || i == len(parts)-1 && has(i, "codeExecutionResult") {
			return false
		}
	}
	return true
}
