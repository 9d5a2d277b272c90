package extract

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/memoryd/memoryd/internal/legible"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/profile"
)

// Profile is a structured profile that an app wants filled for each user.
type Profile struct {
	ID, Description string
	Schema          *profile.Schema
}

// KnownValue is the value that a field of a profile has.
type KnownValue struct {
	Schema, Field string
	Value         json.RawMessage
}

// Value is a value for a field of a profile, found in turns.
type Value struct {
	SessionID string
	Schema    string // the ID of the profile
	Field     string
	Value     json.RawMessage // one that the schema allows
	Author    string          // the author of the turn that Quote is from
	Timestamp time.Time       // of that turn, in its location
	EventIDs  []string        // the turns that the value cites, at least one
	Quote     string          // literal words of the first cited turn
	// Trust is the least of the turns that the value cites. "" is memory.TrustUser.
	Trust memory.Trust `json:",omitempty"`
}

// field returns a field of the profiles of p; nil if there is none.
func (p *Policy) field(schema, name string) *profile.Field {
	if p == nil {
		return nil
	}
	for i := range p.Profiles {
		if p.Profiles[i].ID == schema {
			return p.Profiles[i].Schema.Field(name)
		}
	}
	return nil
}

// fieldLine is a field of a profile as a model sees it.
type fieldLine struct {
	Profile string          `json:"profile"`
	About   string          `json:"about,omitempty"` // the profile
	Field   string          `json:"field"`
	Title   string          `json:"title"`
	Means   string          `json:"description,omitempty"`
	Schema  json.RawMessage `json:"schema"`
}

// instructProfiles adds the profiles of an app to the instructions of an extraction.
func (p *Policy) instructProfiles(instructions string) string {
	if p == nil || len(p.Profiles) == 0 {
		return instructions
	}
	var b strings.Builder
	b.WriteString(strings.TrimSpace(instructions) + "\n\n" + systemText(profileInstructions) + "\n")
	for i := range p.Profiles {
		about := legible.Line(p.Profiles[i].Description)
		for _, f := range p.Profiles[i].Schema.Fields() {
			writeLine(&b, fieldLine{
				p.Profiles[i].ID, about, f.Name, legible.Line(f.Title), legible.Line(f.Description), f.Shown,
			})
			about = ""
		}
	}
	return strings.TrimSpace(b.String())
}

// addValues adds the values of profiles to the form of an answer.
func (p *Policy) addValues(schema map[string]any) map[string]any {
	if p == nil || len(p.Profiles) == 0 {
		return schema
	}
	var ids, fields []string
	for i := range p.Profiles {
		ids = append(ids, p.Profiles[i].ID)
		for _, f := range p.Profiles[i].Schema.Fields() {
			fields = append(fields, f.Name)
		}
	}
	slices.Sort(fields)
	facts := schema["properties"].(map[string]any)["facts"]
	return object(map[string]any{
		"facts": facts,
		"values": list(object(map[string]any{
			"profile":    enum(ids...),
			"field":      enum(slices.Compact(fields)...),
			"value":      stringType,
			"events":     list(integerType),
			"quote":      stringType,
			"confidence": map[string]any{"type": "number"},
		})),
	})
}

// knownLine is the value of a field as a model sees it.
type knownLine struct {
	Known string          `json:"known"` // the profile
	Field string          `json:"field"`
	Value json.RawMessage `json:"value"`
}

// knownValues writes the values that fields have, before the transcript.
func knownValues(known []KnownValue) string {
	var b strings.Builder
	for _, v := range known {
		writeLine(&b, knownLine{v.Schema, v.Field, json.RawMessage(legible.Line(string(v.Value)))})
	}
	return b.String()
}

// modelValue is a value as a model writes it.
type modelValue struct {
	Profile    string          `json:"profile"`
	Field      string          `json:"field"`
	Value      json.RawMessage `json:"value"` // a text; small models write JSON in its place
	Events     []lineNumber    `json:"events"`
	Quote      string          `json:"quote"`
	Confidence *float64        `json:"confidence"`
}

// value checks a value against the schema of its field and the turns that it cites, and
// fills in what those turns say.
func (m *modelValue) value(b Batch) (Value, bool) {
	v := Value{Schema: m.Profile, Field: m.Field}
	f := b.Policy.field(m.Profile, m.Field)
	if f == nil || m.Confidence != nil && *m.Confidence < minConfidence {
		return v, false
	}
	text := string(m.Value)
	var written string
	if json.Unmarshal(m.Value, &written) == nil {
		text = written
	}
	var ok bool
	if v.Value, ok = f.Read(legible.Line(text)); !ok {
		return v, false
	}
	cited := Fact{}
	if !(&modelFact{Events: m.Events, Quote: m.Quote}).cite(&cited, b.Turns) {
		return v, false
	}
	v.SessionID, v.EventIDs, v.Quote = cited.SessionID, cited.EventIDs, cited.Quote
	v.Author, v.Timestamp = cited.Author, cited.Timestamp
	return v, true
}
