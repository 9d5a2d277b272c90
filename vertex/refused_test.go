package vertex_test

import (
	"net/http"
	"strings"
	"testing"
)

// Errors of input name the fields of the request.
func TestInputNamesFields(t *testing.T) {
	f := newFixture(t)
	bank := func(customization string) string {
		return `{"contextSpec": {"memoryBankConfig": {"customizationConfigs": [` + customization + `]}}}`
	}
	topic := func(text string) string { return bank(`{"memoryTopics": [{"customMemoryTopic": {` + text + `}}]}`) }
	for _, tt := range []struct{ path, body, want string }{
		{"", topic(`"description": "d"`), "customizationConfigs[0].memoryTopics[0].customMemoryTopic.label is empty"},
		{"", topic(`"label": "a"`), "customizationConfigs[0].memoryTopics[0].customMemoryTopic.description is empty"},
		{"", bank(`{"scopeKeys": ["*"]}`), `customizationConfigs[0].scopeKeys: invalid argument: "*": want no *`},
		{"/1/memories", `{"fact": "a", "scope": {"user_id": "ann"}, "expireTime": {"seconds": 9223372036854775807}}`,
			"out of range"},
	} {
		code, answer := f.call("", "POST", engines+tt.path, tt.body)
		if code != http.StatusBadRequest || !strings.Contains(strings.ReplaceAll(answer, `\"`, `"`), tt.want) {
			t.Errorf("%s: %d %s, want %s", tt.body, code, answer, tt.want)
		}
	}
}
