package vertex

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// memoryKinds are the kinds that are memories to clients: raw turns are none. Clients count
// memories, and one that reads a conversation as text of its own would be counted twice.
func memoryKinds() []memory.Kind { return []memory.Kind{memory.KindFact, memory.KindProfile} }

// memoryBody is a memory in JSON. The fields of its revision come in and never go out, and neither
// does TTL: an answer has the time that follows from it. A field is a pointer where an update
// tells one that is missing from one that is empty.
type memoryBody struct {
	Name               string                   `json:"name,omitempty"`
	CreateTime         Time                     `json:"createTime,omitzero"`
	UpdateTime         Time                     `json:"updateTime,omitzero"`
	DisplayName        *string                  `json:"displayName,omitempty"`
	Description        *string                  `json:"description,omitempty"`
	ExpireTime         Time                     `json:"expireTime,omitzero"`
	TTL                *Duration                `json:"ttl,omitempty"`
	Fact               *string                  `json:"fact,omitempty"`
	Scope              map[string]string        `json:"scope,omitempty"`
	Topics             []topicBody              `json:"topics,omitempty"`
	Metadata           map[string]metadataValue `json:"metadata,omitempty"`
	MemoryType         memoryType               `json:"memoryType,omitempty"`
	StructuredContent  *structuredContent       `json:"structuredContent,omitempty"`
	RevisionTTL        *Duration                `json:"revisionTtl,omitempty"`
	RevisionExpireTime Time                     `json:"revisionExpireTime,omitzero"`
	RevisionLabels     memory.Labels            `json:"revisionLabels,omitempty"`
	DisableRevisions   bool                     `json:"disableMemoryRevisions,omitempty"`
}

// topicBody is a topic in JSON: a managed one or the label of a custom one.
type topicBody struct {
	Managed managedTopic `json:"managedMemoryTopic,omitempty"`
	Label   string       `json:"customMemoryTopicLabel,omitempty"`
}

// metadataValue is a value of metadata in JSON. It has one of the fields. A number stays as it
// is written.
type metadataValue struct {
	String    *string         `json:"stringValue,omitempty"`
	Double    json.RawMessage `json:"doubleValue,omitempty"`
	Bool      *bool           `json:"boolValue,omitempty"`
	Timestamp *Time           `json:"timestampValue,omitempty"`
}

// structuredContent is the value of a field of a profile. Data is an object with one name, that of
// the field: values of different fields are different memories.
type structuredContent struct {
	SchemaID string          `json:"schemaId,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`
}

// memoryType is the type of a memory. Clients may send the number of one.
type memoryType string

// profileType is the type of the values of profiles. All others are facts.
const profileType memoryType = "STRUCTURED_PROFILE"

// UnmarshalJSON implements json.Unmarshaler.
func (t *memoryType) UnmarshalJSON(raw []byte) error {
	name, err := readEnum("memoryType", raw, "MEMORY_TYPE_UNSPECIFIED", "NATURAL_LANGUAGE_COLLECTION",
		string(profileType))
	*t = memoryType(name)
	return err
}

// managedTopic is the name of a managed topic. Clients may send the number of one.
type managedTopic string

// UnmarshalJSON implements json.Unmarshaler.
func (t *managedTopic) UnmarshalJSON(raw []byte) error {
	name, err := readEnum("managedMemoryTopic", raw, append([]string{"MANAGED_TOPIC_ENUM_UNSPECIFIED"},
		managedTopics()...)...)
	*t = managedTopic(name)
	return err
}

// managedTopics are the managed topics in the order of their numbers, from 1 on.
func managedTopics() []string {
	return []string{memory.TopicPersonalInfo, memory.TopicPreferences, memory.TopicDetails, memory.TopicInstructions}
}

// readEnum reads the name or the number of one of the names, in the order of their numbers. The
// first one stands for none, and is "". Clients of protos send numbers where they were built
// before a name, and texts otherwise.
func readEnum(field string, raw []byte, names ...string) (string, error) {
	var name string
	var number int
	i := -1
	switch {
	case string(raw) == "null": // as if it were missing
		return "", nil
	case json.Unmarshal(raw, &name) == nil:
		i = slices.Index(names, name)
	case json.Unmarshal(raw, &number) == nil && number < len(names):
		i = number
	}
	switch {
	case i < 0:
		return "", invalid("%s: there is no %.60s: want one of %s", field, raw, strings.Join(names[1:], ", "))
	case i == 0:
		return "", nil
	}
	return names[i], nil
}

// topicsOf are the topics of a memory in JSON. memoryd has the labels of all topics in one list:
// the four managed ones are told by their names, so a custom one cannot have such a name.
func topicsOf(topics []string) (out []topicBody) {
	for _, topic := range topics {
		if slices.Contains(managedTopics(), topic) {
			out = append(out, topicBody{Managed: managedTopic(topic)})
		} else {
			out = append(out, topicBody{Label: topic})
		}
	}
	return out
}

// readTopics is the reverse of topicsOf.
func readTopics(field string, topics []topicBody) ([]string, error) {
	out := []string{}
	for i, t := range topics {
		if (t.Managed == "") == (t.Label == "") {
			return nil, invalid("%s[%d]: want one of managedMemoryTopic and customMemoryTopicLabel", field, i)
		}
		out = append(out, string(t.Managed)+t.Label)
	}
	return out, nil
}

// A time in metadata is an object, so that it comes back as one: a text that looks like a time
// stays a text.
const timestampKey = "timestampValue"

// valuesOf is the metadata of a memory in JSON. JSON that clients have no type for is a text.
func valuesOf(metadata memory.Metadata) map[string]metadataValue {
	out := map[string]metadataValue{}
	for name, raw := range metadata {
		var v metadataValue
		var text string
		var yes bool
		var at map[string]Time
		switch {
		case json.Unmarshal(raw, &text) == nil && raw[0] == '"':
			v.String = &text
		case json.Unmarshal(raw, &yes) == nil && raw[0] != 'n':
			v.Bool = &yes
		case memory.IsNumber(string(raw)):
			v.Double = raw
		case json.Unmarshal(raw, &at) == nil && len(at) == 1 && !at[timestampKey].IsZero():
			t := at[timestampKey]
			v.Timestamp = &t
		default:
			text = string(raw)
			v.String = &text
		}
		out[name] = v
	}
	return out
}

// readValues is the reverse of valuesOf: metadata that comes back from a client unchanged is the
// same as before, to the byte of a number.
func readValues(field string, metadata map[string]metadataValue) (memory.Metadata, error) {
	out := memory.Metadata{}
	for name, v := range metadata {
		raw, err := v.native()
		if err != nil {
			return nil, fmt.Errorf("%s.%.80s: %w", field, name, err)
		}
		out[name] = raw
	}
	return out, nil
}

// native is the value as memoryd has it.
func (v *metadataValue) native() (out json.RawMessage, err error) {
	n := 0
	for _, part := range []struct {
		has   bool
		value any
	}{{v.String != nil, v.String}, {v.Bool != nil, v.Bool},
		{v.Timestamp != nil, map[string]*Time{timestampKey: v.Timestamp}}} {
		if part.has {
			n++
			if out, err = Encode(part.value); err != nil {
				return nil, err
			}
		}
	}
	if number := strings.Trim(string(v.Double), `"`); number != "" && number != "null" {
		if n++; !memory.IsNumber(number) {
			return nil, invalid("doubleValue: %.60q is no number", number)
		}
		out = json.RawMessage(number)
	}
	if n != 1 {
		return nil, invalid("want one of stringValue, doubleValue, boolValue and timestampValue")
	}
	return out, nil
}

// profile reads the value of a field of a profile. Google's service has one memory for a profile
// as a whole. memoryd has one for each field, which changes and expires on its own.
func (c *structuredContent) profile() (*memory.Profile, error) {
	var data object
	if c != nil {
		var err error
		if data, err = readObject("structuredContent.data", c.Data); err != nil {
			return nil, err
		}
	}
	if len(data) != 1 {
		return nil, invalid("structuredContent.data: want an object with one field of the schema: each field" +
			" is a memory of its own")
	}
	p := &memory.Profile{SchemaID: c.SchemaID}
	for p.Field, p.Value = range data {
	}
	return p, nil
}

// memoryOf is the JSON of a memory. scope is that which the call asks for; nil shows that of
// the memory. With MergedScopes they may differ: a client expects to get back what it has
// asked for.
func (r Resource) memoryOf(m *memory.Memory, scope map[string]string) *memoryBody {
	if scope == nil {
		scope = ScopeOf(m.User)
	}
	fact := m.Fact
	out := &memoryBody{Name: r.memory(m.ID), CreateTime: Time{m.CreateTime}, UpdateTime: Time{m.UpdateTime},
		ExpireTime: Time{m.ExpireTime}, Fact: &fact, Scope: scope, Topics: topicsOf(m.Topics),
		Metadata: valuesOf(m.Metadata)}
	if name := m.DisplayName; name != "" {
		out.DisplayName = &name
	}
	if text := m.Description; text != "" {
		out.Description = &text
	}
	if m.Profile != nil {
		out.MemoryType = profileType
		data, err := Encode(map[string]json.RawMessage{m.Profile.Field: m.Profile.Value})
		if err == nil { // the value was checked as it was stored
			out.StructuredContent = &structuredContent{m.SchemaID, data}
		}
	}
	return out
}

// expiry is when a memory expires: after a time from the write, or at a time. Both are nil if the
// body does not say, so that an update leaves it as it is. A time that has passed is refused by
// the write itself.
func (b *memoryBody) expiry() (ttl *time.Duration, at *time.Time, err error) {
	switch {
	case b.TTL != nil && !b.ExpireTime.IsZero():
		return nil, nil, invalid("ttl and expireTime: want one of them")
	case b.TTL != nil && b.TTL.Duration <= 0:
		return nil, nil, invalid("ttl: want more than 0s")
	case b.TTL != nil:
		return &b.TTL.Duration, nil, nil
	case !b.ExpireTime.IsZero():
		return nil, &b.ExpireTime.Time, nil
	}
	return nil, nil, nil
}

// unlistedLabel is the label of revisions that are kept and that no list of clients shows. They
// are what disableMemoryRevisions asks for: memoryd keeps them for rollbacks and the audit.
const unlistedLabel = "vertex-unlisted"

// revision is what the body says of the revision that a call makes.
func (b *memoryBody) revision() (memory.Labels, ingest.Lifetime, error) {
	return revisionOptions(b.RevisionLabels, b.RevisionTTL, b.RevisionExpireTime, b.DisableRevisions)
}

// revisionOptions are the labels of a revision, and how long it lives. Without a ttl and a time it
// lives as the configuration of the app says, or for ever. An unlisted one has a label that
// tells.
func revisionOptions(labels memory.Labels, ttl *Duration, at Time, unlisted bool) (
	memory.Labels, ingest.Lifetime, error) {
	life := ingest.Lifetime{At: at.Time}
	if ttl != nil {
		if life.TTL = ttl.Duration; ttl.Duration <= 0 {
			return nil, life, invalid("revisionTtl: want more than 0s")
		}
	}
	if _, ok := labels[unlistedLabel]; ok {
		return nil, life, invalid("revisionLabels: %s is a label of memoryd's own", unlistedLabel)
	}
	if unlisted {
		out := memory.Labels{unlistedLabel: "true"}
		for name, value := range labels {
			out[name] = value
		}
		labels = out
	}
	return labels, life, labels.Validate("revisionLabels")
}

// shownLabels are the labels of a revision as clients see them.
func shownLabels(labels memory.Labels) memory.Labels {
	out := memory.Labels{}
	for name, value := range labels {
		if name != unlistedLabel {
			out[name] = value
		}
	}
	return out
}

// doneMemory is the operation of a create or an update of a memory. It is done, and has the whole
// memory: clients read it from there and ask for nothing again.
func (s *Service) doneMemory(r Resource, kind string, m *memory.Memory, scope map[string]string) *Operation {
	body := r.memoryOf(m, scope)
	op := doneOperation("Memory", body, sessionstore.Micros(s.opts.Now()))
	op.Metadata.Type = typeURL + protos + map[string]string{createdMemory: "Create", updatedMemory: "Update"}[kind] +
		"MemoryOperationMetadata"
	op.Name = body.Name + "/operations/" + operationID(kind, r.Engine, m.ID)
	return op
}
