package vertex_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/server"
	"github.com/memoryd/memoryd/vertex"
)

const engines = "/v1beta1/projects/p/locations/memoryd/reasoningEngines"

// native makes a request of the HTTP API.
func (f *fixture) native(method, path, body string) string {
	f.t.Helper()
	w := httptest.NewRecorder()
	f.bank.ServeHTTP(w, httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(body)))
	if w.Code != http.StatusOK {
		f.t.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
	}
	return w.Body.String()
}

// The configuration of an engine that acts becomes that of the app. Parts that the description of an
// engine has no word for stay, and so does a change by the HTTP API until the next one of contextSpec.
func TestEngineConfig(t *testing.T) {
	f := newFixture(t)
	f.native("PUT", "/v1/apps/e/config", `{"timeZone": "Europe/Lisbon", "triggers": {"appends": true}, "person": "FIRST"}`)
	f.must("POST", engines+"?reasoningEngineId=e", `{"displayName": "E", "contextSpec": {"memoryBankConfig": {
		"customizationConfigs": [{"scopeKeys": ["team"], "enableThirdPersonMemories": false},
			{"memoryTopics": [{"managedMemoryTopic": {"managedTopicEnum": 2}},
				{"customMemoryTopic": {"label": "diet", "description": "What the user eats."}}],
			"generateMemoriesExamples": [{"conversationSource": {"events": [{"content": {"parts": [{"text": "I am vegan."}]}}]},
				"generatedMemories": [{"fact": "I am vegan.", "topics": [{"customMemoryTopicLabel": "diet"}]}]}],
			"enableThirdPersonMemories": true}],
		"structuredMemoryConfigs": [{"schemaConfigs": [{"id": "user", "memorySchema":
			{"type": "OBJECT", "properties": {"propertyOrdering": {"type": "STRING"}}, "propertyOrdering": ["x"]}}]}],
		"ttlConfig": {"granularTtlConfig": {"createTtl": "60s", "generateUpdatedTtl": "90s"}, "memoryRevisionDefaultTtl": "3600s"},
		"generationConfig": {"generationTriggerConfig": {"generationRule": {"fixedInterval": "120s", "overlapEventCount": 2}}}}}}`)
	config := func() (out map[string]any) {
		if err := json.Unmarshal([]byte(f.native("GET", "/v1/apps/e/config", "")), &out); err != nil {
			t.Fatal(err)
		}
		delete(out, "engine")
		delete(out, "revision")
		return out
	}
	var want map[string]any
	if err := json.Unmarshal([]byte(`{"timeZone": "Europe/Lisbon", "person": "THIRD",
		"triggers": {"appends": true, "interval": "120s", "overlap": 2},
		"managedTopics": {"USER_PERSONAL_INFO": false, "USER_PREFERENCES": true, "KEY_CONVERSATION_DETAILS": false,
			"EXPLICIT_INSTRUCTIONS": false},
		"customTopics": [{"label": "diet", "description": "What the user eats."}],
		"examples": [{"conversation": [{"author": "user", "content": {"parts": [{"text": "I am vegan."}]}}],
			"facts": [{"fact": "I am vegan.", "topic": "diet"}]}],
		"overrides": [{"users": "^~(?:.*&)?team=", "person": "FIRST"}],
		"ttl": {"added": "60s", "updated": "90s", "revisions": "3600s"},
		"profiles": [{"id": "user", "schema": {"type": "object", "properties": {"propertyOrdering": {"type": "string"}}}}]
		}`), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, config()); diff != "" {
		t.Errorf("the configuration: -want +got\n%s", diff)
	}
	made := f.must("POST", engines+"/e/memories?memoryId=m", `{"fact": "x", "scope": {"user_id": "ann"}}`)
	if !strings.Contains(made, "expireTime") {
		t.Errorf("a memory without the ttl of createTtl: %s", made)
	}

	doc := f.native("GET", "/v1/apps/e/config", "")
	f.native("PUT", "/v1/apps/e/config", strings.Replace(doc, `"THIRD"`, `"FIRST"`, 1))
	f.must("PATCH", engines+"/e", `{"description": "d", "labels": {"a": "b"}}`)
	if got := config()["person"]; got != "FIRST" {
		t.Errorf("a change of the description has undone one by the HTTP API: the person is %v", got)
	}
	f.must("PATCH", engines+"/e?updateMask=context_spec.memory_bank_config.customization_configs", `{"contextSpec":
		{"memoryBankConfig": {"customizationConfigs": [{"disableNaturalLanguageMemories": true}]}}}`)
	got := config()
	if got["customTopics"] != nil || got["examples"] != nil || got["profiles"] == nil || got["person"] != nil ||
		strings.Contains(f.native("GET", "/v1/apps/e/config", ""), `"USER_PREFERENCES":true`) {
		t.Errorf("without memories in words: %v", got)
	}
	f.must("PATCH", engines+"/e?updateMask=contextSpec", `{}`)
	if got := config(); got["profiles"] != nil || got["ttl"] != nil || got["timeZone"] != "Europe/Lisbon" {
		t.Errorf("without contextSpec: %v", got)
	}
}

// A customization counts in the scopes that have its keys, and of several that with the most keys.
func TestCustomizationsByScope(t *testing.T) {
	f := newFixture(t)
	f.must("POST", engines+"?reasoningEngineId=e", `{"contextSpec": {"memoryBankConfig": {"customizationConfigs": [
		{"scopeKeys": ["team"], "disableNaturalLanguageMemories": true},
		{"scopeKeys": ["user_id", "team"], "memoryTopics": [{"managedMemoryTopic": {"managedTopicEnum": "USER_PREFERENCES"}}]},
		{"memoryTopics": [{"managedMemoryTopic": {"managedTopicEnum": "USER_PERSONAL_INFO"}}]}]}}}`)
	for scope, want := range map[string]string{
		`{"user_id": "ann"}`:                        "Porto",
		`{"app_name": "x", "user_id": "ann"}`:       "Porto",
		`{"team": "x", "user_id": "ann"}`:           "tea",
		`{"team": "x", "user_id": "ann", "z": "1"}`: "tea",
		`{"app_name": "x", "team": "x"}`:            "",
	} {
		got := f.must("POST", engines+"/e/memories:generate", `{"scope": `+scope+`, "directContentsSource": {"events": [
			{"content": {"role": "user", "parts": [{"text": "I live in Porto. I like green tea."}]}}]}}`)
		for _, word := range []string{"Porto", "tea"} {
			if strings.Contains(got, word) != (word == want) {
				t.Errorf("in the scope %s: %s, want what is about %q", scope, got, want)
			}
		}
	}
}

// An engine that makes no revisions lists none. Rollbacks still know them.
func TestEngineWithoutRevisions(t *testing.T) {
	f := newFixture(t)
	f.must("POST", engines+"?reasoningEngineId=e", `{"contextSpec": {"memoryBankConfig": {"disableMemoryRevisions": true}}}`)
	f.must("POST", engines+"/e/memories?memoryId=m", `{"fact": "x", "scope": {"user_id": "ann"}}`)
	f.must("PATCH", engines+"/e/memories/m", `{"fact": "y"}`)
	if got := f.must("GET", engines+"/e/memories/m/revisions", ""); got != "{}" {
		t.Errorf("revisions: %s", got)
	}
	f.must("POST", engines+"/e/memories/m:rollback", `{"targetRevisionId": "1"}`)
	if got := f.must("GET", engines+"/e/memories/m", ""); !strings.Contains(got, `"fact":"x"`) {
		t.Errorf("after the rollback: %s", got)
	}
}

// With declared engines alone nothing of another engine is served, over either name of the
// collection, and a deleted one is gone at once.
func TestDeclaredEngines(t *testing.T) {
	bank, err := memoryd.Open(t.Context(), ":memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = bank.Close() })
	f := serve(t, bank, &vertex.Options{Engines: vertex.DeclaredEngines})
	calls := []struct{ verb, path, body string }{
		{"POST", "/e/sessions", `{"userId": "ann"}`}, {"GET", "/e/sessions", ""}, {"GET", "/e/memories", ""},
		{"POST", "/e/memories", `{"fact": "x", "scope": {"user_id": "ann"}}`},
		{"POST", "/e/memories:retrieve", `{"scope": {"user_id": "ann"}}`},
		{"POST", "/e:ingestEvents", `{"scope": {"user_id": "ann"}}`}, {"GET", "/e", ""},
	}
	all := func(when string, want int) {
		t.Helper()
		for _, c := range calls {
			for _, base := range []string{engines, strings.Replace(engines, "reasoningEngines", "memoryBanks", 1)} {
				if code, answer := f.call("", c.verb, base+c.path, c.body); code != want {
					t.Errorf("%s: %s %s: %d, want %d: %s", when, c.verb, c.path, code, want, answer)
				}
			}
		}
	}
	all("before", http.StatusNotFound)
	f.must("POST", engines+"?reasoningEngineId=e", `{}`)
	all("declared", http.StatusOK)
	f.must("DELETE", engines+"/e", `{"force": true}`)
	all("deleted", http.StatusNotFound)
}

// An operation on an engine is answered by its name, also without the engine in it, as long as the
// engine is there; that of a deletion always.
func TestEngineOperations(t *testing.T) {
	f := newFixture(t)
	op := func(answer string) (name string) {
		var out struct{ Name string }
		if err := json.Unmarshal([]byte(answer), &out); err != nil {
			t.Fatal(err)
		}
		return out.Name
	}
	made := op(f.must("POST", engines+"?reasoningEngineId=e", `{"displayName": "E"}`))
	short := "projects/p/locations/memoryd/operations/" + made[strings.LastIndexByte(made, '/')+1:]
	for _, name := range []string{made, short} {
		if got := f.must("GET", "/v1beta1/"+name, ""); !strings.Contains(got, `"displayName":"E"`) || op(got) != made {
			t.Errorf("%s: %s", name, got)
		}
	}
	gone := op(f.must("DELETE", engines+"/e", ""))
	if got := f.must("GET", "/v1beta1/"+gone, ""); !strings.Contains(got, "google.protobuf.Empty") {
		t.Errorf("%s: %s", gone, got)
	}
	if code, answer := f.call("", "GET", "/v1beta1/"+made, ""); code != http.StatusNotFound {
		t.Errorf("%s: %d %s", made, code, answer)
	}
	memory := op(f.must("POST", engines+"/e/memories?memoryId=m", `{"fact": "x", "scope": {"user_id": "ann"}}`))
	if got := f.must("GET", "/v1beta1/"+memory, ""); !strings.Contains(got, `"fact":"x"`) || op(got) != memory {
		t.Errorf("%s: %s", memory, got)
	}
	purge := op(f.must("POST", engines+"/e/memories:purge", `{"filter": "fact=x", "force": true}`))
	if got := f.must("GET", "/v1beta1/"+purge, ""); !strings.Contains(got, `"purgeCount":1`) || op(got) != purge {
		t.Errorf("%s: %s", purge, got)
	}
	if got := f.must("GET", "/v1beta1/"+memory, ""); op(got) != memory || strings.Contains(got, `"fact":"x"`) {
		t.Errorf("%s of a memory that is gone: %s", memory, got)
	}
}

// Engines take the verb admin, of a key for all users: for the app of the engine, or for all apps to
// create and to list others.
func TestKeysOfEngines(t *testing.T) {
	f := newFixture(t)
	for _, e := range []string{"1", "2"} {
		f.must("POST", engines+"?reasoningEngineId="+e, `{}`)
	}
	root := newKey(t, f.bank, "", "*", `{"can": ["read", "write", "admin"]}`)
	admin := newKey(t, f.bank, root, "1", `{"can": ["read", "write", "admin"]}`)
	ann := newKey(t, f.bank, root, "1", `{"can": ["read", "write", "admin"], "userId": "ann"}`)
	writes := newKey(t, f.bank, root, "1", `{"can": ["read", "write"]}`)
	for _, c := range []struct {
		verb, path, body                string
		root, admin, other, ann, writes int // other is admin's for engine 2
	}{
		{"GET", "/1", "", 200, 200, 403, 403, 403},
		{"PATCH", "/1", `{"displayName": "x"}`, 200, 200, 403, 403, 403},
		{"GET", "", "", 200, 200, 200, 403, 403},
		{"POST", "", `{}`, 200, 403, 403, 403, 403},
		{"DELETE", "/1", "", 200, 404, 403, 403, 403},
	} {
		for _, k := range []struct {
			key, path string
			want      int
		}{{"", c.path, 401}, {writes, c.path, c.writes}, {ann, c.path, c.ann}, {admin, strings.Replace(c.path, "1", "2", 1),
			c.other}, {root, c.path, c.root}, {admin, c.path, c.admin}} {
			if code, answer := f.call(k.key, c.verb, engines+k.path, c.body); code != k.want {
				t.Errorf("%s %s with key %.12s: %d, want %d: %s", c.verb, k.path, k.key, code, k.want, answer)
			}
		}
	}
	code, answer := f.call(admin, "GET", engines, "")
	if code != 200 || strings.Contains(answer, "Engines/2") {
		t.Errorf("a key for one app lists %d %s", code, answer)
	}
}

// A value of a profile is changed by its structuredContent. Its words follow, and its revisions tell
// both.
func TestProfileMemory(t *testing.T) {
	f := newFixture(t)
	f.must("POST", engines+"?reasoningEngineId=e", `{"contextSpec": {"memoryBankConfig": {"structuredMemoryConfigs": [{
		"schemaConfigs": [{"id": "user", "schema": {"type": "OBJECT", "properties": {"first_name": {"type": "STRING"},
		"age": {"type": "INTEGER"}}}}]}]}}}`)
	var made struct{ Response struct{ Name string } }
	if err := json.Unmarshal([]byte(f.must("POST", engines+"/e/memories", `{"scope": {"user_id": "ann"},
		"structuredContent": {"schemaId": "user", "data": {"first_name": "Ann"}}, "revisionLabels": {"a": "b"}}`)),
		&made); err != nil {
		t.Fatal(err)
	}
	path := "/v1beta1/" + made.Response.Name
	f.must("PATCH", path+"?updateMask=structured_content", `{"structured_content": {"schema_id": "user", "data":
		{"first_name": "Anna"}}, "fact": "not looked at"}`)
	if got := f.must("GET", path, ""); !strings.Contains(got, `"data":{"first_name":"Anna"}`) ||
		!strings.Contains(got, `"fact":"First name: Anna"`) {
		t.Errorf("after the change: %s", got)
	}
	got := f.must("GET", path+"/revisions?filter=labels.a%3Db", "")
	if !strings.Contains(got, `"structuredData":{"first_name":"Ann"}`) || strings.Contains(got, "Anna") {
		t.Errorf("the first revision: %s", got)
	}
	for body, want := range map[string]string{
		`{"structuredContent": {"schemaId": "user", "data": {"age": 3}}}`:                    "structuredContent: ",
		`{"structuredContent": {"schemaId": "user", "data": {"first_name": 3}}}`:             "first_name",
		`{"structuredContent": {"schemaId": "user", "data": {"first_name": "a", "age": 3}}}`: "one field",
		`{"fact": "Ann"}`: "fact: ",
	} {
		if code, answer := f.call("", "PATCH", path, body); code != http.StatusBadRequest || !strings.Contains(answer, want) {
			t.Errorf("%s: %d %s", body, code, answer)
		}
	}
}

// A path of a mask that no update could follow is an error that names it, and changes nothing: one of
// no field, into a value that has no parts, or deeper than the names of a map.
func TestMaskPaths(t *testing.T) {
	f := newFixture(t)
	const created = `{"displayName": "E", "description": "d", "labels": {"a_b": "1", "c.d": "2"},
		"spec": {"agentFramework": "x"}}`
	f.must("POST", engines+"?reasoningEngineId=e", created)
	f.must("POST", engines+"/e/sessions?sessionId=s", `{"userId": "ann", "displayName": "S", "labels": {"a": "1"}}`)
	f.must("POST", engines+"/e/memories?memoryId=m", `{"fact": "x", "scope": {"user_id": "ann"},
		"metadata": {"n": {"stringValue": "1"}, "p.q": {"stringValue": "2"}}}`)
	for _, c := range []struct{ path, mask string }{
		{"", "displayName.x"}, {"", "description.x"}, {"", "labels.a_b.x"}, {"", "labels.new.x"},
		{"", "nose"}, {"", "spec.agent_framework.x"}, {"", "labels..x"}, {"", "spec."}, {"", "description,displayName.x"},
		{"/sessions/s", "displayName.x"}, {"/sessions/s", "labels.a"}, {"/sessions/s", "sessionState.x"},
		{"/sessions/s", "nose"}, {"/sessions/s", "ttl.seconds"}, {"/sessions/s", "labels."},
		{"/memories/m", "fact.x"}, {"/memories/m", "topics.x"}, {"/memories/m", "metadata.n.stringValue"},
		{"/memories/m", "metadata.p.q"}, {"/memories/m", "nose.x"}, {"/memories/m", "metadata."},
	} {
		before := f.must("GET", engines+"/e"+c.path, "")
		code, answer := f.call("", "PATCH", engines+"/e"+c.path+"?updateMask="+c.mask, `{"displayName": "changed"}`)
		if path := c.mask[strings.IndexByte(c.mask, ',')+1:]; code != 400 || !strings.Contains(answer, path) {
			t.Errorf("%s with mask %s: %d %s", c.path, c.mask, code, answer)
		}
		if after := f.must("GET", engines+"/e"+c.path, ""); after != before {
			t.Errorf("%s with mask %s: %s", c.path, c.mask, after)
		}
	}
	f.must("PATCH", engines+"/e?updateMask=labels.a_b,labels.%60c.d%60,spec.agent_framework,encryptionSpec.kmsKeyName",
		`{"labels": {"a_b": "3"}, "spec": {"agentFramework": "y"}}`)
	if got := f.must("GET", engines+"/e", ""); !strings.Contains(got, `"labels":{"a_b":"3"}`) ||
		!strings.Contains(got, `"agentFramework":"y"`) || strings.Contains(got, "encryptionSpec") {
		t.Errorf("paths that are: %s", got)
	}
	f.must("PATCH", engines+"/e/memories/m?updateMask=metadata.%60p.q%60,metadata.n", `{"fact": "not this",
		"metadata": {"n": {"stringValue": "3"}}}`)
	if got := f.must("GET", engines+"/e/memories/m", ""); !strings.Contains(got, `"metadata":{"n":{"stringValue":"3"}}`) ||
		strings.Contains(got, "not this") {
		t.Errorf("names in the metadata: %s", got)
	}
}

// failing are keys and an audit log that cannot be erased while broken says so.
type failing struct {
	access.Keys
	access.Audit
	broken string
	erased []string
}

func (f *failing) KeysRevision(context.Context) (int64, error) { return 0, nil }

func (f *failing) ListKeys(context.Context, string, access.ListKeys) (access.KeyPage, error) {
	return access.KeyPage{Keys: []access.Key{{User: "ann"}}}, nil
}

func (f *failing) erase(what string) error {
	if f.broken == what {
		return memory.ErrUnavailable
	}
	f.erased = append(f.erased, what)
	return nil
}

func (f *failing) EraseKeys(context.Context, string, string) error { return f.erase("keys") }

func (f *failing) RewriteAudit(context.Context, string, func(*access.Entry) bool) error {
	return f.erase("audit")
}

// A delete of an engine that fails on its way is repeated until all of it is gone: keys, the names
// in the audit log, and at the end the description that says there is such an engine.
func TestDeleteEngineAgain(t *testing.T) {
	store := &failing{}
	bank, err := memoryd.Open(t.Context(), ":memory:", &memoryd.Options{Server: server.Options{Keys: store,
		Audit: server.AuditOptions{To: store}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := bank.Close(); err != nil {
			t.Error(err)
		}
	})
	f := serve(t, bank, &vertex.Options{Engines: vertex.DeclaredEngines})
	f.must("POST", engines+"?reasoningEngineId=e", `{}`)
	f.must("POST", engines+"/e/memories?memoryId=m", `{"fact": "x", "scope": {"user_id": "ann"}}`)
	for _, store.broken = range []string{"keys", "audit"} {
		if code, answer := f.call("", "DELETE", engines+"/e", `{"force": true}`); code != http.StatusServiceUnavailable {
			t.Errorf("a delete that fails at %s: %d %s", store.broken, code, answer)
		}
	}
	store.broken = ""
	f.must("DELETE", engines+"/e", `{"force": true}`)
	if diff := cmp.Diff([]string{"keys", "keys", "audit"}, store.erased); diff != "" {
		t.Errorf("erased: -want +got\n%s", diff)
	}
	if code, answer := f.call("", "GET", engines+"/e", ""); code != http.StatusNotFound {
		t.Errorf("after the delete: %d %s", code, answer)
	}
}

// Of several calls that create memories of one id at a time, in different scopes, one succeeds.
func TestOneMemoryOfAnID(t *testing.T) {
	for name, open := range map[string]func(testing.TB) *fixture{"embedded": newFixture, "scaled": newScaledFixture} {
		t.Run(name, func(t *testing.T) { oneMemoryOfAnID(t, open(t)) })
	}
}

func oneMemoryOfAnID(t *testing.T, f *fixture) {
	for round := range 5 {
		const calls = 8
		codes := make(chan int, calls)
		for i := range calls {
			go func() {
				code, _ := f.call("", "POST", fmt.Sprintf("%s/e/memories?memoryId=m%d", engines, round),
					fmt.Sprintf(`{"fact": "x", "scope": {"user_id": "u%d"}}`, i))
				codes <- code
			}()
		}
		all := map[int]int{}
		for range calls {
			all[<-codes]++
		}
		if diff := cmp.Diff(map[int]int{http.StatusOK: 1, http.StatusConflict: calls - 1}, all); diff != "" {
			t.Errorf("answers: -want +got\n%s", diff)
		}
		f.must("GET", fmt.Sprintf("%s/e/memories/m%d", engines, round), "")
	}
}
