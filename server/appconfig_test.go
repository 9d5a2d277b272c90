package server_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/gemini"
	"github.com/memoryd/memoryd/internal/modeltest"
	"github.com/memoryd/memoryd/openai"
)

const configPath = "/v1/apps/app/config"

// configured puts a configuration.
func (a *api) configured(config string) any {
	a.t.Helper()
	return a.want(200, "PUT", configPath, config)
}

// known puts a configuration that searches go by at once. They wait 100 ms at most for one
// that was not read yet, and a dry run waits for it.
func (a *api) known(config string) {
	a.t.Helper()
	a.configured(config)
	a.want(200, "POST", scope+"/memories/dryRun", `{"sessionId":"known","events":[{"content":"Hello."}]}`)
}

// secondsSaid has what ingested sends said one after another.
var secondsSaid atomic.Int64

// ingested makes memories of sentences of the user, said one after another in a session.
// more are further fields of the request.
func (a *api) ingested(session, more string, sentences ...string) any {
	a.t.Helper()
	var events []string
	for i, s := range sentences {
		events = append(events, fmt.Sprintf(`{"id":"%s-%d","author":"user","timestamp":%d,"content":%q}`, session, i,
			1_700_000_000+secondsSaid.Add(1), s))
	}
	return a.want(200, "POST", scope+"/memories/ingest?wait=true",
		fmt.Sprintf(`{"sessionId":%q,"events":[%s]%s}`, session, strings.Join(events, ","), more))
}

// facts are the texts of the facts of the scope, sorted.
func (a *api) facts() (out []string) {
	a.t.Helper()
	for _, m := range list(a.want(200, "GET", scope+"/memories?kind=fact", nil), "memories") {
		out = append(out, text(m, "fact"))
	}
	slices.Sort(out)
	return out
}

// A configuration has a revision, and a change of an older one is refused. An app without
// one has the defaults. A refusal names the wrong field.
func TestConfig(t *testing.T) {
	a := start(t)
	none := a.want(200, "GET", configPath, nil)
	same(t, "defaults", none, map[string]any{"revision": json.Number("0"), "managedTopics": map[string]any{"USER_PERSONAL_INFO": true,
		"USER_PREFERENCES": true, "KEY_CONVERSATION_DETAILS": true, "EXPLICIT_INSTRUCTIONS": true}})
	raw, err := json.Marshal(none)
	if err != nil {
		t.Fatal(err)
	}
	a.configured(string(raw)) // what was read can be written
	a.configured(`{"revision":1,"search":{"topK":3}}`)
	a.refused(409, "PUT", configPath, `{"revision":1,"search":{"topK":4}}`, "revision 2")
	a.configured(`{"search":{"topK":5},"ttl":{"created":"1h"}}`)
	got := a.want(200, "GET", configPath, nil)
	same(t, "revision", at(got, "revision"), json.Number("3"))
	same(t, "topK", at(got, "search", "topK"), json.Number("5"))
	same(t, "ttl", at(got, "ttl", "created"), "3600s")
	same(t, "another app", at(a.want(200, "GET", "/v1/apps/other/config", nil), "revision"), json.Number("0"))

	a.refused(400, "PUT", configPath, `{"customTopics":[{"label":"A","description":"a"},{"label":"a","description":"b"}]}`,
		"customTopics[1].label")
	a.refused(400, "PUT", configPath, `{"ttl":{"created":-1}}`, "ttl.created")
	a.refused(400, "PUT", configPath, `{"colour":1}`, "colour")
	a.refused(400, "PUT", configPath, `{"revision":-1}`, "revision")
	a.refused(400, "PUT", configPath, `{"examples":[{"conversation":[{"content":"x","y":"`+strings.Repeat("x", 256<<10)+
		`"}],"facts":[]}]}`, "at most")
	a.refused(400, "GET", "/v1/apps/*/config", nil, "app")
	same(t, "revision", at(a.want(200, "GET", configPath, nil), "revision"), json.Number("3"))
}

// Only an admin of the app reads and changes its configuration, and the audit log tells
// of a change. Reads are in the log of an app whose configuration asks for it.
func TestConfigGuardedAndAudited(t *testing.T) {
	a := start(t)
	a.running()
	admin := a.admin()
	owner, user := a.key(admin, "app", "", "read", "write", "admin"), a.key(admin, "app", "ann", "read", "write", "admin")
	for _, key := range []string{user, a.key(admin, "app", "", "read", "write"), a.key(admin, "other", "", "admin")} {
		for _, method := range []string{"GET", "PUT"} {
			if r := a.do(method, configPath, `{}`, "Authorization", "Bearer "+key); r.status != 403 {
				t.Errorf("%s: %d %s", method, r.status, r.raw)
			}
		}
	}
	// It also serves a key that may not read it.
	a.want(200, "GET", scope+"/memories", nil, "Authorization", "Bearer "+user)
	a.want(200, "PUT", configPath, `{"audit":{"reads":true}}`, "Authorization", "Bearer "+owner)
	a.want(200, "POST", scope+"/memories/search", `{"query":"tea"}`, "Authorization", "Bearer "+user)
	e := a.audited(admin, "app", "PUT /v1/apps/{app}/config", access.Done)
	if !strings.HasPrefix(text(e, "actor"), "key:") {
		t.Errorf("entry %v", e)
	}
	a.audited(admin, "app", "POST {scope}/memories/search", access.Done)
	log := a.want(200, "GET", "/v1/apps/app/audit?pageSize=1000", nil, "Authorization", "Bearer "+admin)
	for _, e := range list(log, "entries") {
		if text(e, "action") == "GET {scope}/memories" {
			t.Error("a read is in the log that came before the configuration asked for it")
		}
	}
}

// Facts whose topics are all off are dropped, the rules' too, and a request may allow
// fewer topics.
func TestConfigTopics(t *testing.T) {
	a := start(t)
	said := []string{"My name is Ann.", "I love green tea."}
	a.ingested("before", "", said...)
	if got := a.facts(); len(got) != 2 {
		t.Fatalf("without a configuration: %q", got)
	}
	a.configured(`{"managedTopics":{"USER_PREFERENCES":false}}`)
	a.ingested("off", "", "I love black coffee.", "My dog is called Rex.")
	got := a.facts()
	if strings.Contains(strings.Join(got, " "), "coffee") || !strings.Contains(strings.Join(got, " "), "Rex") {
		t.Errorf("with preferences off: %q", got)
	}
	a.refused(400, "POST", scope+"/memories/ingest", `{"sessionId":"x","events":[],"allowedTopics":["USER_PREFERENCES"]}`,
		"allowedTopics[0]", "off")
	a.refused(400, "POST", scope+"/sessions/off/memories", `{"allowedTopics":["DIET"]}`, "allowedTopics[0]", "DIET")
	a.refused(400, "POST", scope+"/memories/dryRun", `{"sessionId":"x","events":[],"allowedTopics":["DIET"]}`,
		"allowedTopics[0]")
	a.configured(`{"customTopics":[{"label":"DIET","description":"What they eat."}]}`)
	a.ingested("allowed", `,"allowedTopics":["USER_PREFERENCES"]`, "I love the opera.", "My cat is called Tom.")
	got = a.facts()
	if all := strings.Join(got, " "); !strings.Contains(all, "opera") || strings.Contains(all, "Tom") {
		t.Errorf("with preferences allowed alone: %q", got)
	}
	// Facts that a client states have the same rule, and labels of their own.
	for facts, kept := range map[string]bool{
		`{"fact":"Ann bikes.","topics":["SPORT"]}`: false, `{"fact":"Ann runs."}`: false,
		`{"fact":"Ann eats oats.","topics":["SPORT","DIET"]}`: true,
	} {
		op := a.want(200, "POST", scope+"/memories/ingest?wait=true", `{"facts":[`+facts+`],"allowedTopics":["DIET"]}`)
		if n := len(list(op, "response", "memories")); (n == 1) != kept {
			t.Errorf("%s: %d memories", facts, n)
		}
	}
	// A model that remembers what is off is told so.
	a.configured(`{"managedTopics":{"USER_PREFERENCES":false}}`)
	for topics, word := range map[string]string{`["USER_PREFERENCES"]`: "not remembered",
		`["USER_PREFERENCES","SPORT"]`: "stored"} {
		r := a.want(200, "POST", scope+"/tools/remember", `{"args":{"fact":"Ann loves jazz.","topics":`+topics+`}}`)
		if raw, err := json.Marshal(at(r, "result")); err != nil || !strings.Contains(string(raw), word) {
			t.Errorf("remember of %s: %s, %v", topics, raw, err)
		}
	}
	// A request to forget is followed, whatever is off.
	a.configured(`{"managedTopics":{"USER_PREFERENCES":false,"USER_PERSONAL_INFO":false,"KEY_CONVERSATION_DETAILS":false,` +
		`"EXPLICIT_INSTRUCTIONS":false}}`)
	a.ingested("forget", "", "Please forget that I love the opera.", "I live in Porto.")
	if all := strings.Join(a.facts(), " "); strings.Contains(all, "opera") || strings.Contains(all, "Porto") {
		t.Errorf("with all topics off: %q", all)
	}
}

// The log says once for each app and field what the rules cannot heed.
func TestConfigUnheeded(t *testing.T) {
	var log syncBuffer
	a := start(t, logTo(&log), func(s *setup) { s.ingest.Log = s.server.Log })
	a.configured(`{"person":"THIRD","customTopics":[{"label":"DIET","description":"d"}],
		"examples":[{"conversation":[{"content":"Hi."}],"facts":[]}]}`)
	a.ingested("s", "", "My name is Ann.")
	a.ingested("t", "", "I live in Porto.")
	for _, field := range []string{"person", "customTopics", "examples"} {
		if n := strings.Count(log.String(), "field="+field); n != 1 {
			t.Errorf("the log tells %d times of %s:\n%s", n, field, log.String())
		}
	}
}

// Models are shown topics, examples and the person, in the true form of both services.
// Their facts may have a custom topic, and those of a topic that is off are dropped.
func TestConfigModels(t *testing.T) {
	answer := func(modeltest.Request) modeltest.Reply {
		fact := func(fact, topic, quote string) map[string]any {
			return map[string]any{"fact": fact, "topic": topic, "events": []int{1}, "quote": quote, "when": "",
				"confidence": 1, "forget": false}
		}
		raw, err := json.Marshal(map[string]any{"facts": []any{
			fact("I am allergic to sesame.", "DIET", "allergic to sesame"),
			fact("I love tea.", "USER_PREFERENCES", "love tea"),
			fact("I like tea a lot.", "SOMETHING", "love tea"),
			fact("I live in Porto.", "USER_PERSONAL_INFO", "live in Porto")}})
		if err != nil {
			t.Fatal(err)
		}
		return modeltest.Reply{Text: string(raw)}
	}
	for name, open := range map[string]func() (*modeltest.Server, extract.Generator){
		"openai": func() (*modeltest.Server, extract.Generator) {
			s := modeltest.NewOpenAI(t, answer)
			c, err := openai.New(&openai.Options{Getenv: s.Getenv, Wait: time.Microsecond})
			if err != nil {
				t.Fatal(err)
			}
			return s, c.Generator("gpt-4.1-mini")
		},
		"gemini": func() (*modeltest.Server, extract.Generator) {
			s := modeltest.NewGemini(t, answer)
			c, err := gemini.New(&gemini.Options{Getenv: s.Getenv, Wait: time.Microsecond})
			if err != nil {
				t.Fatal(err)
			}
			return s, c.Generator("gemini-2.5-flash")
		},
	} {
		t.Run(name, func(t *testing.T) {
			model, generator := open()
			a := start(t, func(s *setup) { s.extractor = extract.NewModel(generator, nil) })
			a.configured(`{"managedTopics":{"USER_PREFERENCES":false},"person":"FIRST",
				"customTopics":[{"label":"DIET","description":"What they eat."}],
				"examples":[{"conversation":[{"content":"I never eat nuts."}],"facts":[{"fact":"I eat no nuts.","topic":"DIET"}]},
					{"conversation":[{"content":"Nice weather!"}],"facts":[]}]}`)
			a.ingested("s", "", "I am allergic to sesame, I love tea and I live in Porto.")
			if got := a.facts(); !slices.Equal(got, []string{"I am allergic to sesame.", "I live in Porto."}) {
				t.Errorf("facts %q", got)
			}
			found := a.want(200, "GET", scope+"/memories?topic=DIET", nil)
			if len(list(found, "memories")) != 1 {
				t.Errorf("of the custom topic: %v", found)
			}
			q := model.Requests()[0]
			for _, shown := range []string{"- DIET: What they eat.", "first person", "I never eat nuts.",
				`{"fact":"I eat no nuts.","topic":"DIET"}`, `{"facts":[]}`, "not file it under another one: USER_PREFERENCES"} {
				if !strings.Contains(q.System, shown) {
					t.Errorf("the model is not shown %q:\n%s", shown, q.System)
				}
			}
			schema, err := json.Marshal(q.Schema)
			if err != nil || !strings.Contains(string(schema), `"DIET"`) || strings.Contains(string(schema), "USER_PREFERENCES") {
				t.Errorf("schema %s, %v", schema, err)
			}
			// Another app's prompt has nothing of it.
			a.want(200, "POST", "/v1/apps/plain/users/ann/memories/ingest?wait=true",
				`{"sessionId":"s","events":[{"author":"user","content":"I live in Porto."}]}`)
			if last := model.Requests()[len(model.Requests())-1]; strings.Contains(last.System, "For this application") {
				t.Errorf("an app without a configuration has the prompt\n%s", last.System)
			}
		})
	}
}

// Searches, contexts and tools that do not say how many memories they want, and how good
// ones, have what the configuration says.
func TestConfigSearch(t *testing.T) {
	a := start(t)
	for i := range 12 {
		a.want(201, "POST", scope+"/memories", map[string]any{"fact": fmt.Sprintf("Ann drinks tea number %d.", i)})
	}
	counts := func() (out []int) {
		search := a.want(200, "POST", scope+"/memories/search", `{"query":"tea"}`)
		said := a.want(200, "POST", scope+"/memories/search", `{"query":"tea","topK":9,"minScore":0}`)
		block := a.want(200, "POST", scope+"/memories/context", `{"query":"tea"}`)
		load := a.want(200, "POST", scope+"/tools/load_memory", `{"args":{"query":"tea"}}`)
		tool := a.want(200, "POST", scope+"/tools/search_memory", `{"args":{"query":"tea"}}`)
		preload := a.want(200, "POST", scope+"/tools/preload_memory", `{"args":{"query":"tea"}}`)
		for _, l := range [][]any{list(search, "memories"), list(said, "memories"), list(block, "memories"),
			list(load, "result", "memories"), list(tool, "result", "memories"), list(preload, "result", "memories")} {
			out = append(out, len(l))
		}
		return out
	}
	same(t, "counts", counts(), []int{10, 9, 12, 10, 10, 12})
	a.known(`{"search":{"topK":3}}`)
	same(t, "counts with topK 3", counts(), []int{3, 9, 3, 3, 3, 3})
	a.known(`{"search":{"minScore":1}}`)
	same(t, "counts with minScore 1", counts(), []int{0, 9, 0, 0, 0, 0})
}

// Facts get the lifetime that the configuration gives, from when they are made, changed
// or said again. They end others as facts that last do. A client's word on one counts
// before it.
func TestConfigTTL(t *testing.T) {
	a := start(t)
	a.ingested("before", "", "I live in Lisbon.")
	a.configured(`{"ttl":{"created":"1h","updated":"3h"}}`)
	a.ingested("s", "", "My dog is called Rex.")
	live := func(word string) (any, time.Duration) {
		t.Helper()
		for _, m := range list(a.want(200, "GET", scope+"/memories?kind=fact&history=true", nil), "memories") {
			expires, _ := at(m, "expireTime").(string)
			if !strings.Contains(text(m, "fact"), word) || at(m, "supersededBy") != nil && word == "Rex" {
				continue
			}
			if expires == "" {
				return m, 0
			}
			until, err := time.Parse(time.RFC3339Nano, expires)
			if err != nil {
				t.Fatal(err)
			}
			return m, time.Until(until).Round(10 * time.Minute)
		}
		t.Fatalf("there is no fact with %s", word)
		return nil, 0
	}
	lives := func(word string, want time.Duration) any {
		t.Helper()
		m, got := live(word)
		if got != want {
			t.Errorf("%s lives for %v, want %v: %v", word, got, want, m)
		}
		return m
	}
	lives("Lisbon", 0)
	if m := lives("Rex", time.Hour); at(m, "defaultExpiry") != true {
		t.Errorf("memory %v", m)
	}
	a.ingested("again", "", "My dog is called Rex.")
	rex := lives("Rex", 3*time.Hour)
	a.ingested("moved", "", "I live in Porto.")
	lives("Porto", time.Hour)
	if m := lives("Lisbon", 3*time.Hour); text(m, "supersededBy") == "" {
		t.Errorf("a fact with a lifetime has not ended %v", m)
	}
	own := a.want(200, "PATCH", scope+"/memories/"+text(rex, "id"), `{"ttl":"48h"}`)
	a.ingested("once more", "", "My dog is called Rex.")
	kept := a.want(200, "GET", scope+"/memories/"+text(rex, "id"), nil)
	same(t, "expiry that a client chose", at(kept, "expireTime"), at(own, "expireTime"))
	same(t, "default expiry", at(kept, "defaultExpiry"), nil)
	a.want(201, "POST", scope+"/memories", `{"fact":"Ann likes trams."}`)
	lives("trams", time.Hour)
	a.want(201, "POST", scope+"/memories", `{"fact":"Ann likes boats.","ttl":"5h"}`)
	if m := lives("boats", 5*time.Hour); at(m, "defaultExpiry") != nil {
		t.Errorf("memory %v", m)
	}
	a.ingested("short", `,"ttl":"2h"`, "My cat is called Tom.")
	lives("Tom", 2*time.Hour)
	a.configured(`{}`)
	a.ingested("after", "", "My bird is called Kiwi.")
	lives("Kiwi", 0)
}

// Events, facts and questions without an offset are in the time zone of the app, unless
// they name one.
func TestConfigZone(t *testing.T) {
	a := start(t)
	a.configured(`{"timeZone":"America/Los_Angeles"}`)
	const event = `{"id":"e1","author":"user","timestamp":"2026-03-02T07:30:00Z","content":"I start at the bakery tomorrow."}`
	a.want(200, "POST", scope+"/memories/ingest?wait=true", `{"sessionId":"s","events":[`+event+`]}`)
	if m := a.factOf(scope); text(m, "utcOffset") != "-08:00" || !strings.Contains(text(m, "fact"), "(2026-03-02)") {
		t.Errorf("fact %v", m)
	}
	other := "/v1/apps/app/users/bob"
	a.want(200, "POST", other+"/memories/ingest?wait=true", `{"sessionId":"s","events":[`+event+`],"timeZone":"Asia/Tokyo"}`)
	if m := a.factOf(other); text(m, "utcOffset") != "+09:00" {
		t.Errorf("fact %v", m)
	}
	m := a.want(201, "POST", scope+"/memories", `{"fact":"Ann likes trams."}`)
	if offset := text(m, "utcOffset"); offset != "-08:00" && offset != "-07:00" {
		t.Errorf("a fact of a client has the offset %s", offset)
	}
	a.want(201, "POST", scope+"/sessions", `{"id":"t","events":[`+event+`]}`)
	if e := at(a.want(200, "GET", scope+"/sessions/t", nil), "events", 0); text(e, "utcOffset") != "-08:00" {
		t.Errorf("event %v", e)
	}
}
