// Package appconfig is the configuration of an app: which facts are worth keeping, for how
// long, and what a search does where the request does not say. Its owner writes it as one
// document of JSON, which the session store keeps.
//
// A [Config] is the document, with its rules in [Config.Validate]. A [Cache] reads and
// writes the documents of all apps: it serves one that was read within [Fresh], so that a
// search pays a map look-up, and a change soon holds in every memoryd of the store. The
// zero Config is the configuration of an app that has none.
package appconfig

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/redact"
)

// Config is the configuration of an app.
type Config struct {
	// ManagedTopics turns managed topics on or off. A topic that it does not name is on.
	ManagedTopics map[string]bool `json:"managedTopics,omitempty"`
	// CustomTopics are topics of the app's own, beside the managed ones.
	CustomTopics []Topic `json:"customTopics,omitempty"`
	// Examples show a model which facts to make of a conversation.
	Examples []Example `json:"examples,omitempty"`
	// Person is the grammatical person of facts. Empty leaves it to the extractor.
	Person Person `json:"person,omitempty"`
	// Overrides are for some of the users; see For.
	Overrides []Override `json:"overrides,omitempty"`
	Search    Search     `json:"search,omitzero"`
	TTL       TTL        `json:"ttl,omitzero"`
	// Triggers say when the memories of events are made.
	Triggers Triggers `json:"triggers,omitzero"`
	// TimeZone names the zone of events, facts and questions that come without one.
	TimeZone string `json:"timeZone,omitempty"`
	Audit    Audit  `json:"audit,omitzero"`
	// Profiles are what a structured profile of each user holds.
	Profiles []Profile `json:"profiles,omitempty"`
	// Redaction says which secrets are replaced before anything is stored.
	Redaction Redaction `json:"redaction,omitzero"`
	// Engine is how clients that manage apps as Agent Engines describe the app: an object that
	// memoryd keeps whole. Null for an app that none has declared.
	Engine json.RawMessage `json:"engine,omitempty"`

	zone     *time.Location   // that TimeZone names; nil if it names none
	redactor *redact.Redactor // of the kinds in Redaction; nil if there are none
}

// Redaction says which kinds of secrets are replaced in what comes in, before it is stored
// and before a model sees it.
type Redaction struct {
	Kinds []redact.Kind `json:"kinds,omitempty"`
	// State has them replaced in the state of sessions too. Without it state is kept as it
	// comes: apps keep tokens of their tools there.
	State bool `json:"state,omitempty"`
}

// Topic is a topic of an app's own.
type Topic struct {
	Label       string `json:"label"`
	Description string `json:"description"`
}

// Example is a conversation and the facts in it. No facts teach that there are none.
type Example struct {
	Conversation []json.RawMessage `json:"conversation"` // events, as clients send them
	Facts        []ExampleFact     `json:"facts"`
}

// ExampleFact is a fact of an Example.
type ExampleFact struct {
	Fact  string `json:"fact"`
	Topic string `json:"topic,omitempty"` // a managed one or the label of a custom one
}

// Person is a grammatical person.
type Person string

// The persons.
const (
	First Person = "FIRST" // "I live in Porto."
	Third Person = "THIRD" // "Ann lives in Porto."
)

// Search has the defaults of requests that do not say.
type Search struct {
	TopK     int     `json:"topK,omitempty"` // 0 is memoryd's own
	MinScore float64 `json:"minScore,omitempty"`
	// MinConfidence leaves answers without memories whose confidence is below.
	MinConfidence float64 `json:"minConfidence,omitempty"`
	// Shared has searches find the shared knowledge of the app too.
	Shared bool `json:"shared,omitzero"`
}

// TTL is how long facts and their history live. Zero is for ever.
type TTL struct {
	Created Duration `json:"created,omitzero"` // of a fact, from when it is made
	// Added is that of a fact which a client adds, in place of Created. Nil is Created.
	Added   *Duration `json:"added,omitempty"`
	Updated Duration  `json:"updated,omitzero"` // of a fact that ingestion changes, from then
	// Revisions is how long revisions live, of facts and of turns, from when they are made.
	Revisions RevisionTTL `json:"revisions,omitzero"`
}

// OfAdded is how long a fact lives that a client adds.
func (t *TTL) OfAdded() time.Duration {
	if t.Added != nil {
		return t.Added.Duration
	}
	return t.Created.Duration
}

// RevisionTTL is a Duration of which 0 can't be said: it could mean for ever, and also that
// nothing is to be kept.
type RevisionTTL struct{ Duration }

// UnmarshalJSON implements json.Unmarshaler.
func (t *RevisionTTL) UnmarshalJSON(raw []byte) error {
	if err := t.Duration.UnmarshalJSON(raw); err != nil || t.Duration.Duration == 0 && string(raw) != "null" {
		return invalid("want seconds, or a duration such as \"720h\", from one second to 100 years, not %.40s:"+
			" without it revisions are kept for ever", raw)
	}
	return nil
}

// Audit is what the audit log of the app has beside changes.
type Audit struct {
	Reads bool `json:"reads,omitempty"` // also requests that read in a scope
}

// Duration is a duration, in JSON seconds as a number, or a text such as "3600s" or "48h".
type Duration struct{ time.Duration }

// MaxDuration is 100 years. Expiry times beyond it would leave the range of times that
// the stores accept.
const MaxDuration = 100 * 365 * 24 * time.Hour

// MarshalJSON implements json.Marshaler: seconds, as a text.
func (d Duration) MarshalJSON() ([]byte, error) {
	return []byte(`"` + strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + `s"`), nil
}

// UnmarshalJSON implements json.Unmarshaler. null leaves zero. A duration above zero is a
// second at least.
func (d *Duration) UnmarshalJSON(raw []byte) error {
	text := string(raw)
	if text == "null" {
		return nil
	}
	v, err := parseDuration(text)
	if err != nil || v != 0 && v < time.Second || v > MaxDuration {
		return invalid("want seconds, or a duration such as \"720h\", from one second to 100 years, or 0 for ever,"+
			" not %.40s", raw)
	}
	d.Duration = v.Truncate(time.Microsecond)
	return nil
}

// parseDuration reads the JSON of a duration.
func parseDuration(text string) (time.Duration, error) {
	seconds, err := strconv.ParseFloat(text, 64)
	if err == nil {
		// The bounds keep the product within an int64. It is still too long.
		return time.Duration(max(-1, min(seconds, 2*MaxDuration.Seconds())) * float64(time.Second)), nil
	}
	if text, err = strconv.Unquote(text); err != nil {
		return 0, err
	}
	return time.ParseDuration(text)
}

// read reads a stored configuration. It was valid when it was stored. A newer memoryd may
// have stored fields that this one does not know, which it leaves out.
func read(raw []byte) (*Config, error) {
	c := &Config{}
	if len(raw) == 0 {
		return c, nil
	}
	err := json.Unmarshal(raw, c)
	if err == nil {
		// A kind that only a newer memoryd knows cannot be replaced here: to go on without it
		// would store what the owner wants kept nowhere.
		err = c.makeRedactor()
	}
	if err != nil {
		return nil, err
	}
	c.readProfiles()
	if c.TimeZone != "" {
		c.zone, err = memory.ParseTimeZone("timeZone", c.TimeZone)
	}
	c.makeOverrides()
	return c, err
}

// Check reports why a stored document, or one that is to be restored, is no configuration
// that can be used. It may have fields that only a newer memoryd knows, as read says.
func Check(doc json.RawMessage) error {
	c, err := read(doc)
	if err != nil {
		return err
	}
	return c.Validate()
}

// Declared reports whether a client has declared the app as an engine.
func (c *Config) Declared() bool { return len(c.Engine) > 0 && string(c.Engine) != "null" }

// On reports whether facts of a topic are kept: it is a managed topic that is not off,
// or the label of a custom one.
func (c *Config) On(topic string) bool {
	if managed(topic) {
		on, named := c.ManagedTopics[topic]
		return on || !named
	}
	for i := range c.CustomTopics {
		if c.CustomTopics[i].Label == topic {
			return true
		}
	}
	return false
}

// Keeps reports whether a fact of these topics that a client states is kept: one of them
// is not off, or it has none. It may have topics that c does not know.
func (c *Config) Keeps(topics []string) bool {
	for _, topic := range topics {
		if !managed(topic) || c.On(topic) {
			return true
		}
	}
	return len(topics) == 0
}

// Zone is the time zone that TimeZone names; nil if it names none.
func (c *Config) Zone() *time.Location { return c.zone }

// Redactor replaces the secrets that Redaction names; nil if it names none.
func (c *Config) Redactor() *redact.Redactor { return c.redactor }

// makeRedactor makes the Redactor of c.
func (c *Config) makeRedactor() (err error) {
	if c.redactor = nil; len(c.Redaction.Kinds) > 0 {
		c.redactor, err = redact.New(c.Redaction.Kinds...)
	}
	return err
}

// Shown returns c with every managed topic named.
func (c *Config) Shown() *Config {
	out := *c
	out.ManagedTopics = map[string]bool{}
	for _, topic := range ManagedTopics() {
		out.ManagedTopics[topic] = c.On(topic)
	}
	return &out
}

// ManagedTopics are the topics that every app has unless it turns them off.
func ManagedTopics() []string {
	return []string{memory.TopicPersonalInfo, memory.TopicPreferences, memory.TopicDetails, memory.TopicInstructions}
}
