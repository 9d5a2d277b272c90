package vertex_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/memoryd/memoryd"
)

// newKey makes a key by the HTTP API.
func newKey(t *testing.T, bank *memoryd.Bank, as, app, body string) string {
	t.Helper()
	r := httptest.NewRequest("POST", "http://localhost/v1/apps/"+app+"/keys", strings.NewReader(body))
	if as != "" {
		r.Header.Set("Authorization", "Bearer "+as)
	}
	w := httptest.NewRecorder()
	bank.ServeHTTP(w, r)
	i := bytes.Index(w.Body.Bytes(), []byte("memoryd_"))
	if i < 0 {
		t.Fatalf("make a key: %d %s", w.Code, w.Body)
	}
	shown := w.Body.String()[i:]
	return shown[:strings.IndexByte(shown, '"')]
}

// Once there are keys, each call wants one of the engine, of the user and of the verb, and a caller
// for one user is not told of the sessions of others.
func TestKeys(t *testing.T) {
	f := newFixture(t)
	const engine = "/v1/reasoningEngines/1"
	for _, user := range []string{"ann", "bob"} {
		f.must("POST", engine+"/sessions?sessionId="+user, `{"userId": "`+user+`"}`)
	}
	admin := newKey(t, f.bank, "", "1", `{"can": ["read", "write", "admin"]}`)
	all := newKey(t, f.bank, admin, "1", `{"can": ["read", "write"]}`)
	reads := newKey(t, f.bank, admin, "1", `{"can": ["read"]}`)
	ann := newKey(t, f.bank, admin, "1", `{"can": ["read", "write"], "userId": "ann"}`)
	const event = `{"author": "user", "invocationId": "i", "timestamp": "2026-01-02T03:04:05Z"}`
	calls := []struct{ verb, path, body string }{
		{"GET", "/sessions/ann", ""}, {"GET", "/sessions/ann/events", ""},
		{"GET", "/sessions?filter=user_id=ann", ""}, {"POST", "/sessions", `{"userId": "ann"}`},
		{"POST", "/sessions/ann:appendEvent", event}, {"PATCH", "/sessions/ann", `{"displayName": "x"}`},
		{"POST", "/memories:retrieve", `{"scope": {"user_id": "ann"}, "similaritySearchParams": {"searchQuery": "x"}}`},
		{"POST", "/memories:retrieve", `{"scope": {"app_name": "a", "user_id": "ann"}}`},
		{"POST", "/memories:retrieveProfiles", `{"scope": {"user_id": "ann"}}`},
		{"POST", "/memories:generate", `{"scope": {"app_name": "a", "user_id": "ann"},
			"directMemoriesSource": {"directMemories": [{"fact": "x"}]}}`},
		{"POST", "/memories:generate", `{"scope": {"user_id": "ann"}, "directContentsSource": {"events": [{"content": {
			"parts": [{"text": "I live in Graz."}]}}]}}`},
		{"POST", "/memories:generate", `{"vertexSessionSource": {"session": "reasoningEngines/1/sessions/ann"}}`},
		{"POST", "/memories:generate", `{"scope": {"app_name": "a", "user_id": "ann"},
			"vertexSessionSource": {"session": "reasoningEngines/1/sessions/ann"}}`},
		{"POST", "/memories:ingestEvents", `{"scope": {"user_id": "ann"}, "directContentsSource": {"events": [{"content": {
			"parts": [{"text": "I live in Graz."}]}}]}}`},
	}
	for _, c := range calls {
		writes := c.verb != "GET" && !strings.Contains(c.path, ":retrieve")
		for _, tt := range []struct {
			key  string
			want int
		}{{"", 401}, {"memoryd_wrong", 401}, {all, 200}, {ann, 200}, {admin, 200}, {reads, map[bool]int{false: 200,
			true: 403}[writes]}} {
			if code, answer := f.call(tt.key, c.verb, engine+c.path, c.body); code != tt.want {
				t.Errorf("%s %s with key %.12s: %d, want %d: %s", c.verb, c.path, tt.key, code, tt.want, answer)
			}
		}
		other := strings.ReplaceAll(c.path, "ann", "bob")
		body := strings.ReplaceAll(c.body, "ann", "bob")
		want := http.StatusNotFound
		if !strings.Contains(other+body, "/bob") {
			want = http.StatusForbidden
		}
		if code, answer := f.call(ann, c.verb, engine+other, body); code != want {
			t.Errorf("%s %s with the key of ann: %d, want %d: %s", c.verb, other, code, want, answer)
		}
		if code, answer := f.call(admin, c.verb, "/v1/reasoningEngines/2"+c.path, c.body); code != 403 {
			t.Errorf("%s %s of another engine: %d: %s", c.verb, c.path, code, answer)
		}
	}
	if code, answer := f.call(ann, "GET", engine+"/sessions", ""); code != 200 || strings.Contains(answer, "bob") {
		t.Errorf("ann lists all: %d %s", code, answer)
	}
	_, answer := f.call(ann, "POST", engine+"/memories:generate", `{"scope": {"app_name": "a", "user_id": "ann"},
		"directMemoriesSource": {"directMemories": [{"fact": "Ann has a secret."}]}}`)
	var op operation
	if err := json.Unmarshal([]byte(answer), &op); err != nil {
		t.Fatal(err)
	}
	bob := newKey(t, f.bank, admin, "1", `{"can": ["read", "write"], "userId": "bob"}`)
	for key, want := range map[string]int{ann: 200, all: 200, bob: 404, "": 401} {
		code, answer := f.call(key, "GET", "/v1/"+op.Name, "")
		if code != want || want != 200 && strings.Contains(answer, "secret") {
			t.Errorf("GET of an operation of ann with key %.12s: %d, want %d: %s", key, code, want, answer)
		}
	}
	if code, answer := f.call(all, "GET", engine+"/sessions", ""); code != 403 {
		t.Errorf("a key without the verb admin lists all users: %d %s", code, answer)
	}
}

// The calls about memories want a key of the verb and of the user, whose memories are those of
// all scopes with the user's id.
func TestKeysOfMemories(t *testing.T) {
	f := newFixture(t)
	const engine = "/v1/reasoningEngines/1"
	for id, scope := range map[string]string{
		"ann1": `{"user_id": "ann"}`, "ann2": `{"app_name": "x", "user_id": "ann"}`, "ann3": `{"user_id": "ann", "z": ""}`,
		"bob1": `{"user_id": "bob"}`, "bob2": `{"app_name": "x", "user_id": "bob"}`, "bob3": `{"app_name": "ann"}`,
	} {
		f.must("POST", engine+"/memories?memoryId="+id, `{"fact": "tea", "scope": `+scope+`}`)
	}
	admin := newKey(t, f.bank, "", "1", `{"can": ["read", "write", "admin"]}`)
	all := newKey(t, f.bank, admin, "1", `{"can": ["read", "write"]}`)
	reads := newKey(t, f.bank, admin, "1", `{"can": ["read"]}`)
	ann := newKey(t, f.bank, admin, "1", `{"can": ["read", "write", "admin"], "userId": "ann"}`)
	const scoped = "filter=scope%3D%22%7B%5C%22app_name%5C%22%3A%5C%22x%5C%22%2C%5C%22user_id%5C%22%3A%5C%22ann%5C%22%7D%22"
	const purged = `{"filter": "scope=\"{\\\"app_name\\\":\\\"x\\\",\\\"user_id\\\":\\\"ann\\\"}\" AND fact=none"}`
	for _, c := range []struct {
		verb, path, body       string
		all, reads, ann, other int // of these keys; other is ann's for bob
	}{
		{"GET", "/memories/ann2", "", 200, 200, 200, 404},
		{"GET", "/memories/ann2/revisions", "", 200, 200, 200, 404},
		{"GET", "/memories/ann2/revisions/1", "", 200, 200, 200, 404},
		{"GET", "/memories?" + scoped, "", 200, 200, 200, 403},
		{"GET", "/memories", "", 403, 403, 200, 200},
		{"POST", "/memories", `{"fact": "milk", "scope": {"user_id": "ann", "y": "1"}}`, 200, 403, 200, 403},
		{"PATCH", "/memories/ann2", `{"fact": "x"}`, 200, 403, 200, 404},
		{"POST", "/memories/ann2:rollback", `{"targetRevisionId": "1"}`, 200, 403, 200, 404},
		{"POST", "/memories:purge", purged, 403, 403, 200, 403},
		{"DELETE", "/memories/ann2", "", 200, 403, 404, 404},
	} {
		for key, want := range map[string]int{"": 401, "memoryd_wrong": 401, reads: c.reads, admin: 0} {
			code, answer := f.call(key, c.verb, engine+c.path, c.body)
			if code != want && want != 0 || want == 0 && c.verb == "GET" && code != 200 {
				t.Errorf("%s %s with key %.12s: %d, want %d: %s", c.verb, c.path, key, code, want, answer)
			}
			if c.verb == "DELETE" && want == 0 {
				f.mustAs(admin, "POST", engine+"/memories/ann2:rollback", `{"targetRevisionId": "1"}`)
			}
		}
		for _, k := range []struct {
			key  string
			want int
		}{{all, c.all}, {ann, c.ann}} {
			if code, answer := f.call(k.key, c.verb, engine+c.path, c.body); code != k.want {
				t.Errorf("%s %s with key %.12s: %d, want %d: %s", c.verb, c.path, k.key, code, k.want, answer)
			}
		}
		path, body := strings.ReplaceAll(c.path, "ann", "bob"), strings.ReplaceAll(c.body, "ann", "bob")
		if code, answer := f.call(ann, c.verb, engine+path, body); code != c.other {
			t.Errorf("%s %s with the key of ann: %d, want %d: %s", c.verb, path, code, c.other, answer)
		}
		if code, answer := f.call(admin, c.verb, "/v1/reasoningEngines/2"+c.path, c.body); code != 403 {
			t.Errorf("%s %s of another engine: %d: %s", c.verb, c.path, code, answer)
		}
	}
	for _, id := range []string{"bob1", "free"} { // whether an id is in use is not told to those who may not write there
		code, answer := f.call(ann, "POST", engine+"/memories?memoryId="+id, `{"fact": "x", "scope": {"user_id": "bob"}}`)
		if code != 403 {
			t.Errorf("ann makes memory %s of bob: %d, want 403: %s", id, code, answer)
		}
	}
	_, answer := f.call(ann, "GET", engine+"/memories?orderBy=create_time", "")
	if strings.Contains(answer, "bob") || !strings.Contains(answer, "ann1") || !strings.Contains(answer, "ann3") {
		t.Errorf("ann lists %s", answer)
	}
}

// In express mode a client shows a key in a header of its own and names no project. Names in answers
// have none then, as it sent them, whatever named the session before.
func TestExpress(t *testing.T) {
	f := newFixture(t)
	key := newKey(t, f.bank, "", "1", `{"can": ["read", "write", "admin"]}`)
	ask := func(method, path, body string) string {
		t.Helper()
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("X-Goog-Api-Key", key)
		w := httptest.NewRecorder()
		f.rest.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			t.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
		}
		return w.Body.String()
	}
	const express, full = "reasoningEngines/1/sessions", "projects/p/locations/memoryd/reasoningEngines/1/sessions"
	ask("POST", "/v1beta1/"+full+"?sessionId=s1", `{"userId": "ann"}`)
	for _, under := range []string{express, full} {
		for _, path := range []string{under, under + "/s1"} {
			if got := ask("GET", "/v1beta1/"+path, ""); !strings.Contains(got, `"name":"`+under+`/s1"`) {
				t.Errorf("GET %s: %s", path, got)
			}
		}
	}
}

// No request is a fault of memoryd.
func FuzzREST(f *testing.F) {
	for _, s := range [][3]string{
		{"POST", "/v1beta1/projects/p/locations/l/reasoningEngines/1/sessions?sessionId=a", `{"userId": "a"}`},
		{"GET", "/v1/reasoningEngines/1/sessions?filter=user_id%3D%22a%22&pageSize=2&orderBy=createTime", ""},
		{"POST", "/v1/reasoningEngines/1/sessions/a:appendEvent", `{"author": "a", "invocationId": "i",
			"timestamp": {"seconds": 1}, "rawEvent": {"id": 1, "vertexEnvelope": 2, "timestamp": []}}`},
		{"POST", "/v1/reasoningEngines/1/sessions/a:appendEvent", `{"event": {"author": "a", "invocation_id": "i",
			"timestamp": "2026-01-02T03:04:05Z", "actions": {"stateDelta": {"": 1}}, "eventMetadata": {"partial": "x"}}}`},
		{"GET", "/v1/reasoningEngines/1/sessions/a/events?pageToken=b2Zmc2V0IDE&pageSize=1&filter=timestamp%3E%221%22", ""},
		{"PATCH", "/v1/reasoningEngines/1/sessions/%61?update_mask=ttl", `{"ttl": "1s", "labels": {"a": 1}}`},
		{"GET", "/v1/projects/p/locations/l/operations/o-cw", ""},
		{"POST", "/v1beta1/reasoningEngines/1/memories:generate", `{"scope": {"user_id": "a"}, "directContentsSource": {
			"events": [{"content": {"role": "user", "parts": [{"text": "I like tea."}, {"functionCall": {}}]}}, {}]}}`},
		{"POST", "/v1beta1/reasoningEngines/1/memories:generate", `{"scope": {"a": "b"}, "directMemoriesSource": {
			"direct_memories": [{"fact": "x", "topics": [{"managedMemoryTopic": 2}]}]}, "metadata": {"k": {"doubleValue": 1}},
			"metadataMergeStrategy": 3, "revisionExpireTime": {"seconds": 4102444800}, "allowedTopics": [{}]}`},
		{"POST", "/v1/reasoningEngines/1/memories:generate", `{"vertexSessionSource": {"session":
			"reasoningEngines/1/sessions/a", "startTime": "2026-01-02T03:04:05Z", "endTime": {"seconds": 1}}}`},
		{"POST", "/v1/reasoningEngines/1:ingestEvents", `{"scope": {"user_id": "a"}, "streamId": "\u0085/..",
			"generationTriggerConfig": {"generationRule": {"eventCount": "2", "idleDuration": "60s"}}}`},
		{"POST", "/v1/reasoningEngines/1/memories:retrieve", `{"scope": {"user_id": "a"}, "simpleRetrievalParams":
			{"pageSize": 2, "pageToken": "e30"}, "filter": "fact:\"x\"", "memoryTypes": [1, "STRUCTURED_PROFILE"]}`},
		{"POST", "/v1/reasoningEngines/1/memories:retrieveProfiles", `{"scope": {"user_id": "a"}}`},
		{"GET", "/v1/reasoningEngines/1/operations/MQBhAHg", ""},
		{"POST", "/v1/reasoningEngines/1/memories?memoryId=m", `{"fact": "f", "scope": {"user_id": "a"}, "ttl": "1s",
			"topics": [{"managedMemoryTopic": 1}], "metadata": {"k": {"doubleValue": 1e400}}, "memoryType": 2}`},
		{"POST", "/v1/reasoningEngines/1/memories", `{"scope": {"~": "%"}, "structuredContent": {"data": {"a": [1]}}}`},
		{"GET", "/v1/memoryBanks/1/memories?filter=scope.a%3D1+OR+-memory_type%3DSTRUCTURED_PROFILE&orderBy=updateTime+asc",
			""},
		{"PATCH", "/v1/reasoningEngines/1/memories/m?updateMask=metadata.a,ttl", `{"metadata": {"a": {"stringValue": ""}}}`},
		{"GET", "/v1/reasoningEngines/1/memories/m/revisions?filter=labels.a%3Ab&pageToken=2", ""},
		{"POST", "/v1/reasoningEngines/1/memories/m:rollback", `{"targetRevisionId": "1"}`},
		{"POST", "/v1/reasoningEngines?reasoningEngineId=2", `{"labels": {"a": 1}, "contextSpec": {"memory_bank_config":
			{"ttlConfig": {"defaultTtl": "1s"}, "customizationConfigs": [{"memoryTopics": [{"managedMemoryTopic": {}}]}],
			"structuredMemoryConfigs": [{"schemaConfigs": [{"schema": {"type": []}}]}]}}}`},
		{"PATCH", "/v1/memoryBanks/2?updateMask=context_spec.memory_bank_config,x..y", `{"contextSpec": {"properties": {"a": 1}}}`},
		{"GET", "/v1/reasoningEngines?filter=labels.a%3Db&pageToken=MQ&pageSize=1", ""},
		{"DELETE", "/v1/reasoningEngines/2", `{"force": "true"}`},
		{"POST", "/v1/reasoningEngines/1/memories:purge", `{"filter": "scope=\"{}\"", "filter_groups": [{"filters":
			[{"key": "k", "op": 2, "value": {"timestamp_value": "2026-01-02T03:04:05Z"}, "negate": true}]}]}`},
	} {
		f.Add(s[0], s[1], s[2])
	}
	fix := newFixture(f)
	fix.must("POST", "/v1/reasoningEngines/1/sessions?sessionId=a", `{"userId": "a"}`)
	fix.must("POST", "/v1/reasoningEngines/1/memories?memoryId=m", `{"fact": "f", "scope": {"user_id": "a"}}`)
	f.Fuzz(func(t *testing.T, verb, path, body string) {
		r, err := http.NewRequest(verb, "http://localhost/"+strings.TrimPrefix(path, "/"), strings.NewReader(body))
		if err != nil {
			return
		}
		w := httptest.NewRecorder()
		fix.rest.ServeHTTP(w, r)
		if w.Code >= 500 && w.Code != 501 && w.Code != 503 {
			t.Errorf("%s %s %s: %d %s", verb, path, body, w.Code, w.Body)
		}
		if !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s %s: the answer is no JSON: %s", verb, path, w.Body)
		}
	})
}
