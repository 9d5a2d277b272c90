package appconfig

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/internal/strict"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// parse reads a document as a server does.
func parse(doc string) (*Config, error) {
	var c Config
	if err := strict.Decode("", []byte(doc), &c); err != nil {
		return nil, err
	}
	return &c, c.Validate()
}

func profiles(all ...string) string { return `{"profiles":[` + strings.Join(all, ",") + `]}` }

// oneField is a profile of one field of a type.
func oneField(id, typ string) string {
	return fmt.Sprintf(`{"id":%q,"schema":{"type":"object","properties":{"age":{"type":%q}}}}`, id, typ)
}

// manyFields is a profile of n fields, whose id is their number.
func manyFields(n int) string {
	var fields []string
	for i := range n {
		fields = append(fields, fmt.Sprintf(`"f%d":{"type":"string"}`, i))
	}
	many++
	return fmt.Sprintf(`{"id":"many%d","schema":{"type":"object","properties":{%s}}}`, many, strings.Join(fields, ","))
}

var many int

// large is a profile of more than half of the bytes that there may be.
func large(id string) string {
	var fields []string
	for i := range 10 {
		fields = append(fields, fmt.Sprintf(`"f%d":{"type":"string","description":%q}`, i, strings.Repeat("x", 900)))
	}
	return fmt.Sprintf(`{"id":%q,"schema":{"type":"object","properties":{%s}}}`, id, strings.Join(fields, ","))
}

// A configuration has the fields of its profiles when it was validated, and when it was
// read from a store. A schema that this memoryd cannot read has none, and does no harm.
func TestProfiles(t *testing.T) {
	c, err := parse(profiles(oneField("a", "integer"), oneField("b", "boolean")))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := read(doc)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []*Config{c, stored} {
		if c.Profile("a") == nil || c.Field("a", "age") == nil || c.Field("b", "age") == nil ||
			c.Field("a", "name") != nil || c.Field("c", "age") != nil {
			t.Errorf("the fields of %+v", c.Profiles)
		}
	}
	newer, err := read([]byte(strings.Replace(string(doc), "boolean", "color", 1)))
	if err != nil || newer.Field("a", "age") == nil || newer.Profile("b") == nil || newer.Field("b", "age") != nil {
		t.Errorf("with a schema of a newer memoryd: %+v, %v", newer, err)
	}
}

// Each wrong document is refused by a message that names its field.
func TestRefused(t *testing.T) {
	topic := func(label string) string { return fmt.Sprintf(`{"label":%q,"description":"d"}`, label) }
	example := func(e string) string { return `{"examples":[` + e + `]}` }
	said := `{"author":"user","content":"I like tea."}`
	for doc, want := range map[string]string{
		`{"managedTopics":{"USER_HABITS":true}}`:                                                                                                      "managedTopics: there is no managed topic \"USER_HABITS\"",
		`{"managedTopics":{"USER_PREFERENCES":1}}`:                                                                                                    "managedTopics.USER_PREFERENCES",
		`{"customTopics":[` + topic("A") + `,` + topic("B") + `,` + topic("a") + `]}`:                                                                 "customTopics[2].label: \"a\" is the label of customTopics[0]",
		`{"customTopics":[` + topic("user_preferences") + `]}`:                                                                                        "customTopics[0].label: USER_PREFERENCES is a managed topic",
		`{"customTopics":[` + topic("") + `]}`:                                                                                                        "customTopics[0].label is empty",
		`{"customTopics":[` + topic("a/b") + `]}`:                                                                                                     "customTopics[0].label",
		`{"customTopics":[{"label":"A","description":" "}]}`:                                                                                          "customTopics[0].description is empty",
		`{"customTopics":[{"label":"A","description":"` + strings.Repeat("x", 1001) + `"}]}`:                                                          "customTopics[0].description has 1001 bytes",
		`{"customTopics":[` + strings.Repeat(topic("A")+",", 50) + topic("A") + `]}`:                                                                  "customTopics: 51 of them",
		example(`{"conversation":[],"facts":[]}`):                                                                                                     "examples[0].conversation",
		example(`{"conversation":[` + said + `]}`):                                                                                                    "examples[0].facts is missing",
		example(`{"conversation":[{"content":5}],"facts":[]}`):                                                                                        "examples[0].conversation[0]",
		example(`{"conversation":[{"role":"system","content":"x"}],"facts":[]}`):                                                                      "examples[0].conversation[0]: want words",
		example(`{"conversation":[` + said + `],"facts":[{"fact":"x","topic":"DIET"}]}`):                                                              "examples[0].facts[0].topic: \"DIET\" is neither",
		example(`{"conversation":[` + said + `],"facts":[{"fact":""}]}`):                                                                              "examples[0].facts[0].fact is empty",
		example(`{"conversation":[{"content":"` + strings.Repeat("x", 17<<10) + `"}],"facts":[]}`):                                                    "examples[0]: the examples have more than",
		`{"managedTopics":{"USER_PREFERENCES":false},"examples":[{"conversation":[` + said + `],"facts":[{"fact":"x","topic":"USER_PREFERENCES"}]}]}`: "examples[0].facts[0].topic: USER_PREFERENCES is off",
		`{"person":"SECOND"}`:                                             "person: want FIRST or THIRD",
		`{"search":{"topK":101}}`:                                         "search.topK",
		`{"search":{"topK":-1}}`:                                          "search.topK",
		`{"search":{"minConfidence":1.5}}`:                                "search.minConfidence",
		`{"search":{"minScore":1.5}}`:                                     "search.minScore",
		`{"ttl":{"created":-1}}`:                                          "ttl.created",
		`{"ttl":{"created":"-1s"}}`:                                       "ttl.created",
		`{"ttl":{"updated":"0.5s"}}`:                                      "ttl.updated",
		`{"ttl":{"updated":31536000000000}}`:                              "ttl.updated", // a million years
		`{"ttl":{"updated":"8760000000h"}}`:                               "ttl.updated",
		profiles(`{}`):                                                    "profiles[0].id is empty",
		profiles(`{"id":"a/b","schema":{}}`):                              "profiles[0].id",
		profiles(`{"id":"` + strings.Repeat("x", 129) + `","schema":{}}`): "profiles[0].id has 129 bytes",
		profiles(`{"id":"a"}`):                                            "profiles[0].schema is missing",
		profiles(`{"id":"a","schema":null}`):                              "profiles[0].schema",
		profiles(`{"id":"a","schema":{},"fields":1}`):                     "profiles[0].fields",
		profiles(`{"id":"a","description":" ","schema":{}}`):              "profiles[0].description is empty",
		profiles(oneField("a", "string"), oneField("a", "string")):        "profiles[1].id: \"a\" is the id of profiles[0]",
		profiles(oneField("a", "string"), oneField("b", "red")):           "profiles[1].schema.properties.age.type: want one of",
		profiles(manyFields(51)):                                          "profiles[0].schema.properties: 51 fields",
		profiles(manyFields(50), manyFields(50), manyFields(1)):           "profiles[2].schema.properties: the profiles have more than 100",
		profiles(large("a"), large("b")):                                  "profiles[1].schema: the profiles have more than",
		profiles(strings.Split(strings.Repeat(oneField("a", "string")+"|", 10)+"{}", "|")...): "profiles: 11 of them",
		`{"ttl":{"revisions":-1}}`:                        "ttl.revisions",
		`{"ttl":{"revisions":0}}`:                         "ttl.revisions",
		`{"ttl":{"revisions":"0s"}}`:                      "ttl.revisions",
		`{"ttl":{"revisions":"0.5s"}}`:                    "ttl.revisions",
		`{"ttl":{"revisions":31536000000000}}`:            "ttl.revisions", // a million years
		`{"ttl":{"revisions":true}}`:                      "ttl.revisions",
		`{"timeZone":"Mars/Olympus"}`:                     "timeZone: there is no time zone",
		`{"timeZone":"Local"}`:                            "timeZone",
		`{"triggers":{"count":5}}`:                        "triggers",
		`{"triggers":{"events":-1}}`:                      "triggers.events: want 1 to 10000",
		`{"triggers":{"events":10001}}`:                   "triggers.events",
		`{"triggers":{"events":1.5}}`:                     "triggers.events",
		`{"triggers":{"idle":"25h"}}`:                     "triggers.idle: want 1s to 24h",
		`{"triggers":{"idle":"0.5s"}}`:                    "triggers.idle",
		`{"triggers":{"idle":-1}}`:                        "triggers.idle",
		`{"triggers":{"idle":"soon"}}`:                    "triggers.idle: want seconds",
		`{"triggers":{"interval":"721h"}}`:                "triggers.interval: want 1s to 720h",
		`{"triggers":{"interval":1e300}}`:                 "triggers.interval",
		`{"triggers":{"idle":60,"interval":60}}`:          "triggers: has both idle and interval",
		`{"triggers":{"events":5,"overlap":5}}`:           "triggers.overlap: want fewer than events, 5, not 5",
		`{"triggers":{"idle":60,"overlap":101}}`:          "triggers.overlap: want 0 to 100",
		`{"triggers":{"overlap":-1}}`:                     "triggers.overlap",
		`{"triggers":{"appends":1}}`:                      "triggers.appends",
		`{"person":"FIRST","person":"FIRST"}`:             "person",
		`[]`:                                              "want",
		`{"redaction":{"kinds":["keys","stamps"]}}`:       "redaction.kinds[1]: there is no kind \"stamps\": want some of keys, cards",
		`{"redaction":{"kinds":["keys","cards","keys"]}}`: "redaction.kinds[2]: keys is redaction.kinds[0] too",
		`{"redaction":{"kinds":"keys"}}`:                  "redaction.kinds",
		`{"redaction":{"state":true}}`:                    "redaction.state: there are no redaction.kinds",
		`{"redaction":{"cards":true}}`:                    "redaction.cards",
	} {
		if _, err := parse(doc); !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.200s: %v, want %s", doc, err, want)
		}
	}
}

// A document comes back from the store as it was written, and that of a newer memoryd
// can be read.
func TestRoundTrip(t *testing.T) {
	doc := `{"managedTopics":{"USER_PREFERENCES":false},"customTopics":[{"label":"DIET","description":"What they eat."}],` +
		`"examples":[{"conversation":[{"author":"user","content":"Hi <b>"}],"facts":[]}],"person":"THIRD",` +
		`"search":{"topK":20,"minScore":0.25},"ttl":{"created":"7200s","updated":"1.5s","revisions":"3600s"},` +
		`"triggers":{"events":10,"idle":"90s","overlap":2,"appends":true},"timeZone":"Europe/Lisbon","audit":{"reads":true},` +
		`"redaction":{"kinds":["cards","keys"],"state":true}}`
	c, err := parse(doc)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	again, err := read([]byte(strings.TrimSuffix(string(raw), "}") + `,"later":{"a":1}}`))
	if err != nil {
		t.Fatal(err)
	}
	second, err := json.Marshal(again)
	if err != nil || string(second) != string(raw) || again.Zone().String() != "Europe/Lisbon" {
		t.Errorf("%s and then %s in %v, %v", raw, second, again.Zone(), err)
	}
	if c.On(memory.TopicPreferences) || !c.On(memory.TopicDetails) || !c.On("DIET") || c.On("OTHER") {
		t.Error("the topics that are on are others")
	}
	rule := sessionstore.Trigger{Count: 10, Idle: 90 * time.Second, Overlap: 2}
	if c.Triggers.Of() != rule || TriggerOf(rule) != c.Triggers.Trigger || !c.Triggers.Appends {
		t.Errorf("triggers %+v", c.Triggers)
	}
	if again.Redactor() == nil || (&Config{}).Redactor() != nil {
		t.Error("a configuration with redaction has no Redactor, or one without has")
	}
	if c.TTL.Created.Duration != 2*time.Hour || c.TTL.Updated.Duration != 1500*time.Millisecond {
		t.Errorf("lifetimes %v", c.TTL)
	}
}

// store is a Configs that counts reads, and fails or hangs if it is told to.
type store struct {
	doc   string
	reads int
	err   error
	hangs bool
}

func (s *store) Config(ctx context.Context, app string) (json.RawMessage, int64, error) {
	if err := access.Check(ctx, memory.Scope{App: app}, access.Admin); err != nil {
		return nil, 0, err
	}
	s.reads++
	if s.hangs {
		<-ctx.Done()
		return nil, 0, ctx.Err()
	}
	return json.RawMessage(s.doc), 1, s.err
}

func (s *store) PutConfig(_ context.Context, _ string, doc json.RawMessage, _ int64) (int64, error) {
	s.doc = string(doc)
	return 2, s.err
}

// A configuration is read once a second, as memoryd itself, and one that is put holds at
// once. If the store fails or hangs, a search goes on with the last one, and memories are
// not made.
func TestCache(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	s := &store{doc: `{"search":{"topK":7}}`}
	c := NewCache(s, func() time.Time { return now }, nil)
	topK := func() int { return c.Known(t.Context(), "shop").Search.TopK }
	for range 3 {
		if got := topK(); got != 7 || s.reads != 1 {
			t.Fatalf("topK %d after %d reads", got, s.reads)
		}
	}
	s.doc = `{"search":{"topK":8}}`
	if now = now.Add(Fresh); topK() != 8 || s.reads != 2 {
		t.Errorf("a second later: topK %d after %d reads", topK(), s.reads)
	}
	if _, err := c.Put(t.Context(), "shop", &Config{Search: Search{TopK: 9}}, 1); err != nil || topK() != 9 {
		t.Errorf("after a change: topK %d, %v", topK(), err)
	}
	now = now.Add(Fresh)
	for name, fail := range map[string]func(){
		"fails": func() { s.err, s.hangs = memory.ErrUnavailable, false }, "hangs": func() { s.err, s.hangs = nil, true },
	} {
		fail()
		if got := topK(); got != 9 {
			t.Errorf("while the store %s: topK %d", name, got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		if _, err := c.Of(ctx, "shop"); err == nil {
			t.Errorf("while the store %s, Of has no error", name)
		}
		cancel()
		if got := c.Known(t.Context(), "other").Search.TopK; got != 0 {
			t.Errorf("while the store %s, an app that was never read has topK %d", name, got)
		}
	}
}

// The cache holds a bounded number of apps.
func TestCacheBound(t *testing.T) {
	c := NewCache(&store{}, nil, nil)
	for i := range maxCached + 50 {
		c.Known(t.Context(), fmt.Sprint("app", i))
	}
	if len(c.apps) > maxCached {
		t.Errorf("the cache holds %d apps", len(c.apps))
	}
}

// BenchmarkKnown is what a search pays for the configuration of its app.
func BenchmarkKnown(b *testing.B) {
	c := NewCache(&store{doc: `{"search":{"topK":7}}`}, nil, nil)
	for b.Loop() {
		c.Known(b.Context(), "shop")
	}
}

// The first override whose pattern matches the id of a user has all four parts for that user, also
// in a configuration that was read from a store. All else is the app's.
func TestOverrides(t *testing.T) {
	c, err := parse(`{"person": "FIRST", "managedTopics": {"USER_PREFERENCES": false}, "timeZone": "Europe/Lisbon",
		"customTopics": [{"label": "a", "description": "d"}], "redaction": {"kinds": ["cards"]}, "profiles": [` +
		oneField("p", "integer") + `], "overrides": [{"users": "^team-", "person": "THIRD"}, {"users": "a",
		"customTopics": [{"label": "b", "description": "d"}],
		"examples": [{"conversation": [{"author": "user", "content": "hi"}], "facts": [{"fact": "x", "topic": "b"}]}]}]}`)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := read(doc)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []*Config{c, stored} {
		team, ann, bob := c.For("team-a"), c.For("ann"), c.For("bob")
		if team.Person != Third || !team.On("USER_PREFERENCES") || team.On("a") || team.On("b") {
			t.Errorf("the override of teams: %+v", team)
		}
		if ann.Person != "" || ann.On("a") || !ann.On("b") || len(ann.Examples) != 1 {
			t.Errorf("the override of ann: %+v", ann)
		}
		if bob != c || bob.On("USER_PREFERENCES") {
			t.Errorf("bob has %+v", bob)
		}
		for _, of := range []*Config{team, ann} {
			if of.Zone() == nil || of.Redactor() == nil || of.Field("p", "age") == nil {
				t.Errorf("%+v lacks what the app has", of)
			}
		}
	}
	newer, err := read([]byte(`{"overrides": [{"users": "(", "person": "THIRD"}, {"users": "b", "person": "FIRST"}]}`))
	if err != nil || newer.For("a(").Person != "" || newer.For("b").Person != First {
		t.Errorf("with a pattern of a newer memoryd: %+v, %v", newer, err)
	}
	for doc, want := range map[string]string{
		`{"overrides": [{"person": "THIRD"}]}`:                                         "overrides[0].users is empty",
		`{"overrides": [{"users": "("}]}`:                                              "overrides[0].users: ",
		`{"overrides": [{"users": "a", "person": "SECOND"}]}`:                          "overrides[0].person: ",
		`{"overrides": [{"users": "a", "managedTopics": {"X": true}}]}`:                "overrides[0].managedTopics: ",
		`{"overrides": [{"users": "a", "customTopics": [{"label": ""}]}]}`:             "overrides[0].customTopics[0].label",
		`{"overrides": [{"users": "a", "examples": [{}]}]}`:                            "overrides[0].examples[0].conversation",
		`{"overrides": [` + strings.Repeat(`{"users": "a"},`, 20) + `{"users": "a"}]}`: "overrides: 21 of them",
	} {
		if _, err := parse(doc); !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %v, want %q", doc, err, want)
		}
	}
}
