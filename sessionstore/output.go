package sessionstore

import (
	"encoding/json"
	"strings"
)

// WithOutput is e with its text in actions.stateDelta under key, as ADK does for
// an agent with that output_key: the text parts of a final response, joined,
// thoughts left out. Any other event is as it was, and so is one without text,
// which would wipe out what was said before. The error is ErrInvalid for what is
// no key of state.
//
// Which responses are final is ADK's rule (Event.is_final_response): those
// without function calls and their responses, that are not partial, and do not
// end in the output of code; and whatever skips the summary of a function's
// response, or waits for a long-running one, as the turn ends there. ADK Python
// also writes what was said so far beside calls of functions, until the final
// response has it all; that needs the whole turn, and is left out.
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
	// What is of another type, as content may be a string, is left as it is.
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
