package vertex_test

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
)

// A body takes a small multiple of its bytes in memory, whatever it is made of. One with more values
// in a list or a map than there may be is refused by the name of that and its limit.
func TestBodyMemory(t *testing.T) {
	f := newFixture(t)
	const engine = "/v1/reasoningEngines/1"
	f.must("POST", engine+"/sessions?sessionId=s", `{"userId": "ann"}`)
	const bytes = 4 << 20
	many := func(value string) string { return strings.Repeat(value+",", bytes/(len(value)+1)) + value }
	var names strings.Builder
	for i := range bytes / 10 {
		names.WriteString(`"` + strings.Repeat("a", 1+i%3) + string(rune('0'+i%10)) + strings.ToUpper(
			string(rune('a'+i/10%26))+string(rune('a'+i/260%26))+string(rune('a'+i/6760%26))+string(rune('a'+i/175760%26))) + `":0,`)
	}
	names.WriteString(`"z":0`)
	const event = `"author": "a", "invocationId": "i", "timestamp": "2026-01-02T03:04:05Z", `
	for _, tt := range []struct{ path, body, want string }{
		{"/memories:generate", `{"scope": {"user_id": "a"}, "directContentsSource": {"events": [` + many(`{}`) + `]}}`,
			"directContentsSource.events: more than 10000 values"},
		{"/memories:generate", `{"scope": {"user_id": "a"}, "directMemoriesSource": {"directMemories": [` + many(`{}`) + `]}}`,
			"directMemoriesSource.directMemories: more than 10000 values"},
		{"/memories:generate", `{"allowedTopics": [` + many(`{}`) + `]}`, "allowedTopics: more than 10000 values"},
		{"/memories:generate", `{"scope": {` + strings.ReplaceAll(names.String(), ":0", `:""`) + `}}`, "scope: more than 10000 values"},
		{"/memories:generate", `{"scope": {"user_id": "a"}, "directContentsSource": {"events": [{"content": {"parts": [` +
			many(`{}`) + `]}}]}}`, "content.parts: more than 100000 values"},
		{"/memories:generate", `{"scope": {"user_id": "a"}, "directContentsSource": {"events": [{"content": {"parts": [{` +
			`"functionCall": {"args": {"a": [` + many(`[]`) + `]}}}]}}]}}`, "content.parts: more than 100000 values"},
		{"/memories:retrieve", `{"scope": {"user_id": "a"}, "filterGroups": [` + many(`{"op":1}`) + `]}`,
			"filterGroups: more than 10000 values"},
		{"/memories:retrieve", `{"scope": {"user_id": "a"}, "filterGroups": [` + many(`{"filters":[`+strings.Repeat(`{},`, 99)+
			`{}]}`) + `]}`, "filters: the lists and maps of the body have more than 20000 values together"},
		{"/memories:purge", `{"filterGroups": [{"filters": [` + many(`{}`) + `]}]}`, "filterGroups[0].filters: more than 10000"},
		{"/memories", `{"scope": {"user_id": "a"}, "fact": "x", "topics": [` + many(`{}`) + `]}`, "topics: more than 10000"},
		{"/memories", `{"scope": {"user_id": "a"}, "metadata": {` + strings.ReplaceAll(names.String(), ":0", ":{}") + `}}`,
			"metadata: more than 10000 values"},
		{"/memories", `{"scope": {"user_id": "a"}, "structuredContent": {"schemaId": "s", "data": {` + names.String() + `}}}`,
			"structuredContent.data: more than 10000 fields"},
		{"/memories", `{"scope": {"user_id": "a"}, "structuredContent": {"schemaId": "s", "data": {"f": [` + many(`{}`) + `]}}}`,
			""},
		{"/sessions", `{"userId": "a", "labels": {` + strings.ReplaceAll(names.String(), ":0", `:""`) + `}}`, "labels: more than 10000 values"},
		{"/sessions", `{"userId": "a", "sessionState": {` + names.String() + `}}`, "sessionState has more than"},
		{"/sessions", `{"userId": "a", "x": [` + many(`{}`) + `]}`, ""},
		{"/sessions/s:appendEvent", `{` + event + `"rawEvent": {` + names.String() + `}}`, "rawEvent: more than 10000 fields"},
		{"/sessions/s:appendEvent", `{` + event + `"actions": {"stateDelta": {` + names.String() + `}}}`, "more than"},
		{"/sessions/s:appendEvent", `{` + event + `"eventMetadata": {"customMetadata": {` + names.String() + `}}}`,
			"eventMetadata.customMetadata: more than 10000 fields"},
		{"/sessions/s:appendEvent", `{` + event + `"content": {"parts": [` + many(`{}`) + `]}}`, "parts has more than"},
		{"/sessions/s:appendEvent", `{` + event + `"rawEvent": {"content": {"parts": [` + many(`{}`) + `]}}}`,
			"parts has more than"},
		{"/sessions/s:appendEvent", `{` + event + `"rawEvent": {"x": [` + many(`{}`) + `]}}`, ""},
		{"?reasoningEngineId=2", `{"x": [` + many(`{}`) + `]}`, "more than 131072 for an engine"},
		{"?reasoningEngineId=2", `{` + names.String() + `}`, "more than 131072 for an engine"},
		{"?reasoningEngineId=2", `{"contextSpec": {"a": [` + many(`{}`) + `]}}`, "more than 131072 for an engine"},
	} {
		path := strings.Replace(engine+tt.path, "/1?", "?", 1)
		var before, after runtime.MemStats
		r := httptest.NewRequest("POST", path, strings.NewReader(tt.body))
		w := httptest.NewRecorder()
		runtime.ReadMemStats(&before)
		f.rest.ServeHTTP(w, r)
		runtime.ReadMemStats(&after)
		// All that was allocated, also what was free again before the end. Besides a multiple of the body that is
		// what the most fields take that the state of an event may have.
		if took := after.TotalAlloc - before.TotalAlloc; took > 12*uint64(len(tt.body))+64<<20 {
			t.Errorf("%s %.80s takes %d MB, %.1f times its size", tt.path, tt.body, took>>20,
				float64(took)/float64(len(tt.body)))
		}
		if code := w.Code; (code != http.StatusBadRequest || !strings.Contains(w.Body.String(), tt.want)) && tt.want != "" ||
			tt.want == "" && code != http.StatusOK && code != http.StatusBadRequest {
			t.Errorf("%s %.80s: %d %.300s\nwant 400 with %q", tt.path, tt.body, code, w.Body, tt.want)
		}
	}
}
