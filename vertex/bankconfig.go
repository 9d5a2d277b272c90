package vertex

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/memoryd/memoryd/appconfig"
	"github.com/memoryd/memoryd/memory"
)

// The configuration of a memory bank is that of the app in other words. A part without a counterpart
// is kept in the description of the engine, so that clients read back what they have written, and
// has no effect: see docs/vertex.md. A configuration that contradicts itself, or that the app could
// not have, is refused as a whole, and nothing changes.

// bankConfig is contextSpec.memoryBankConfig of an engine: how its memories are made. Models, and
// the number of revisions that consolidation sees, are memoryd's own.
type bankConfig struct {
	Generation struct {
		// Trigger is the rule of streams whose requests have none.
		Trigger struct {
			Rule *triggerRule `json:"generationRule"`
		} `json:"generationTriggerConfig"`
	} `json:"generationConfig"`
	TTL struct {
		// Default counts for all memories, or Granular by how a memory was made.
		Default  *Duration `json:"defaultTtl"`
		Granular *struct {
			Create          *Duration `json:"createTtl"`
			GenerateCreated *Duration `json:"generateCreatedTtl"`
			GenerateUpdated *Duration `json:"generateUpdatedTtl"`
		} `json:"granularTtlConfig"`
		// Revisions is how long a revision lives, from when it is made.
		Revisions *Duration `json:"memoryRevisionDefaultTtl"`
	} `json:"ttlConfig"`
	// Customizations may differ by the keys of scopes; see setTopics.
	Customizations   []customization    `json:"customizationConfigs"`
	Structured       []structuredConfig `json:"structuredMemoryConfigs"`
	DisableRevisions bool               `json:"disableMemoryRevisions"`
}

// customization says which facts are made of what is said in scopes of some keys.
type customization struct {
	ScopeKeys []string `json:"scopeKeys"`
	Topics    []struct {
		Managed *struct {
			Name managedTopic `json:"managedTopicEnum"`
		} `json:"managedMemoryTopic"`
		Custom *struct {
			Label       string `json:"label"`
			Description string `json:"description"`
		} `json:"customMemoryTopic"`
	} `json:"memoryTopics"`
	Examples []struct {
		Source struct {
			Events []struct {
				Content json.RawMessage `json:"content"`
			} `json:"events"`
		} `json:"conversationSource"`
		Memories []struct {
			Fact   string      `json:"fact"`
			Topics []topicBody `json:"topics"`
		} `json:"generatedMemories"`
	} `json:"generateMemoriesExamples"`
	// ThirdPerson is false for the first person. Nil leaves it to the extractor.
	ThirdPerson *bool `json:"enableThirdPersonMemories"`
	// DisableLanguage has values of profiles be made alone.
	DisableLanguage bool `json:"disableNaturalLanguageMemories"`
}

// structuredConfig has the schemas of structured profiles. A schema is one of OpenAPI: an object with
// the fields of the profile. The type of its memories is always that of profiles.
type structuredConfig struct {
	ScopeKeys []string `json:"scopeKeys"`
	Schemas   []struct {
		ID string `json:"id"`
		// Schema has another name in Google's SDK, which renames it for the request.
		Schema json.RawMessage `json:"schema"`
		Memory json.RawMessage `json:"memorySchema"`
		Type   memoryType      `json:"memoryType"`
	} `json:"schemaConfigs"`
}

// configure has the configuration of an app follow b. Parts of it that b has no word for stay.
func (b *bankConfig) configure(c *appconfig.Config, scopes Scopes) error {
	if err := b.setTriggers(c); err != nil {
		return err
	}
	if err := b.setTTL(c); err != nil {
		return err
	}
	if err := b.setTopics(c, scopes); err != nil {
		return err
	}
	return b.setProfiles(c)
}

// setTriggers sets when the memories of streams are made whose requests bring no rule. Whether events
// that are appended to a session ask for memories too is the app's own choice, and stays.
func (b *bankConfig) setTriggers(c *appconfig.Config) error {
	appends := c.Triggers.Appends
	c.Triggers = appconfig.Triggers{Appends: appends}
	if rule := b.Generation.Trigger.Rule; rule != nil {
		native, err := rule.native()
		if err != nil {
			return err
		}
		c.Triggers.Trigger = appconfig.TriggerOf(*native)
	}
	return nil
}

// setTTL sets how long memories and revisions live. memoryd counts from the same moments: when a
// client creates a memory, when one is generated, and when generating changes one or finds it said
// again. Without a duration a memory lives for ever.
func (b *bankConfig) setTTL(c *appconfig.Config) error {
	lives := func(field string, d *Duration) (out appconfig.Duration, err error) {
		if d == nil {
			return out, nil
		}
		raw, err := Encode(appconfig.Duration{Duration: d.Duration})
		if err == nil && d.Duration > 0 {
			err = out.UnmarshalJSON(raw) // which knows the bounds
		} else if err == nil {
			err = invalid("want more than 0s")
		}
		if err != nil {
			return out, invalid("ttlConfig.%s: %v", field, strings.TrimPrefix(err.Error(), "invalid argument: "))
		}
		return out, nil
	}
	var err error
	c.TTL = appconfig.TTL{}
	if c.TTL.Revisions.Duration, err = lives("memoryRevisionDefaultTtl", b.TTL.Revisions); err != nil {
		return err
	}
	g := b.TTL.Granular
	switch {
	case g != nil && b.TTL.Default != nil:
		return invalid("ttlConfig: defaultTtl and granularTtlConfig: want one of them")
	case g == nil:
		c.TTL.Created, err = lives("defaultTtl", b.TTL.Default)
		c.TTL.Updated = c.TTL.Created
		return err
	}
	added, err := lives("granularTtlConfig.createTtl", g.Create)
	if err == nil {
		c.TTL.Added = &added // also if it has none: it does not follow the others
		c.TTL.Created, err = lives("granularTtlConfig.generateCreatedTtl", g.GenerateCreated)
	}
	if err == nil {
		c.TTL.Updated, err = lives("granularTtlConfig.generateUpdatedTtl", g.GenerateUpdated)
	}
	return err
}

// setTopics sets the topics, the examples and the person: those of the customization without
// scopeKeys for all scopes, and those of the others for scopes that have all of their keys, which are
// users of the app. Of several that fit, the one with the most keys counts. Errors name the fields of b.
func (b *bankConfig) setTopics(c *appconfig.Config, scopes Scopes) error {
	c.ManagedTopics, c.CustomTopics, c.Examples, c.Person, c.Overrides = nil, nil, nil, "", nil
	seen := map[string]int{}
	keys := map[string]int{} // how many there are, by the pattern of the users
	for i := range b.Customizations {
		from, at := &b.Customizations[i], fmt.Sprintf("customizationConfigs[%d]", i)
		o, err := from.override(at)
		if err != nil {
			return err
		}
		if o.Users, err = usersWith(from.ScopeKeys, scopes); err != nil {
			return fmt.Errorf("%s.scopeKeys: %w", at, err)
		}
		if other, twice := seen[o.Users]; twice {
			return invalid("%s.scopeKeys: customizationConfigs[%d] is for the same scopes", at, other)
		}
		if seen[o.Users] = i; o.Users == "" {
			c.ManagedTopics, c.CustomTopics = o.ManagedTopics, o.CustomTopics
			c.Examples, c.Person = o.Examples, o.Person
			continue
		}
		keys[o.Users] = len(from.ScopeKeys)
		c.Overrides = append(c.Overrides, o)
	}
	slices.SortStableFunc(c.Overrides, func(a, b appconfig.Override) int { return keys[b.Users] - keys[a.Users] })
	return nil
}

// usersWith is a pattern of the native users of scopes that have some keys; "" for all users.
func usersWith(keys []string, scopes Scopes) (string, error) {
	keys = slices.Clone(keys)
	slices.Sort(keys) // as the native user has them
	keys = slices.Compact(keys)
	if len(keys) > 0 && keys[0] == "" {
		return "", invalid("a key is empty")
	}
	for _, key := range keys {
		if strings.Contains(key, "*") { // no scope has one
			return "", invalid("%.80q: want no * in a key; without keys it is for all scopes", key)
		}
	}
	if scopes == MergedScopes && slices.Contains(keys, userKey) { // both are the scope of the user
		keys = slices.DeleteFunc(keys, func(key string) bool { return key == appKey })
	}
	var pairs []string
	for _, key := range keys {
		pairs = append(pairs, regexp.QuoteMeta(pair(key, "")))
	}
	of := mapPrefix + "(?:.*&)?" + strings.Join(pairs, "[^&]*&(?:.*&)?")
	switch {
	case len(keys) == 0:
		return "", nil
	case len(keys) == 1 && keys[0] == userKey: // a user's own scope has that key alone
		return "^(?:[^" + mapPrefix + "]|" + of + ")", nil
	}
	return "^" + of, nil
}

// override has the topics, the examples and the person of a customization. Topics that are named are
// the only ones; without any, all managed topics count, as in an app without a configuration.
func (from *customization) override(at string) (o appconfig.Override, err error) {
	if len(from.Topics) > 0 || from.DisableLanguage {
		o.ManagedTopics = map[string]bool{} // those that are named, and no others
		for _, topic := range appconfig.ManagedTopics() {
			o.ManagedTopics[topic] = false
		}
	}
	for i, t := range from.Topics {
		if t.Custom != nil {
			// The app's configuration checks these too, by names that the request does not have.
			topic := fmt.Sprintf("%s.memoryTopics[%d].customMemoryTopic", at, i)
			if err := memory.ValidateTopic(topic+".label", t.Custom.Label); err != nil {
				return o, err
			}
			if strings.TrimSpace(t.Custom.Description) == "" {
				return o, invalid("%s.description is empty", topic)
			}
		}
		switch {
		case (t.Managed == nil) == (t.Custom == nil) || t.Managed != nil && t.Managed.Name == "":
			return o, invalid("%s.memoryTopics[%d]: want one of managedMemoryTopic and customMemoryTopic", at, i)
		case from.DisableLanguage:
		case t.Managed != nil:
			o.ManagedTopics[string(t.Managed.Name)] = true
		default:
			o.CustomTopics = append(o.CustomTopics, appconfig.Topic(*t.Custom))
		}
	}
	switch {
	case from.ThirdPerson != nil && *from.ThirdPerson:
		o.Person = appconfig.Third
	case from.ThirdPerson != nil:
		o.Person = appconfig.First
	}
	if from.DisableLanguage {
		return o, nil // examples teach facts
	}
	o.Examples, err = from.examples(at)
	return o, err
}

// examples are conversations and what is remembered of them. An example without memories teaches that
// there is nothing to remember. Events without a role are the user's.
func (from *customization) examples(at string) (out []appconfig.Example, err error) {
	for i, in := range from.Examples {
		e := appconfig.Example{Facts: []appconfig.ExampleFact{}}
		for _, event := range in.Source.Events {
			var content struct {
				Role string `json:"role"`
			}
			if json.Unmarshal(event.Content, &content) != nil || content.Role == "" {
				content.Role = "user"
			}
			raw, err := Encode(map[string]any{"author": content.Role, "content": event.Content})
			if err != nil {
				return nil, err
			}
			e.Conversation = append(e.Conversation, raw)
		}
		for j, m := range in.Memories {
			topics, err := readTopics("topics", m.Topics)
			if err != nil {
				return nil, invalid("%s.generateMemoriesExamples[%d].generatedMemories[%d]: %v", at, i, j, err)
			}
			fact := appconfig.ExampleFact{Fact: m.Fact}
			if len(topics) > 0 {
				fact.Topic = topics[0]
			}
			e.Facts = append(e.Facts, fact)
		}
		out = append(out, e)
	}
	return out, nil
}

// setProfiles sets the schemas of structured profiles. All of them count in all scopes: their ids
// tell them apart.
func (b *bankConfig) setProfiles(c *appconfig.Config) error {
	c.Profiles = nil
	for i, config := range b.Structured {
		for j, schema := range config.Schemas {
			if len(schema.Schema) == 0 {
				schema.Schema = schema.Memory
			}
			var doc any
			if err := json.Unmarshal(schema.Schema, &doc); err != nil {
				return invalid("structuredMemoryConfigs[%d].schemaConfigs[%d].schema: want a schema", i, j)
			}
			raw, err := Encode(jsonSchema(doc))
			if err != nil {
				return err
			}
			c.Profiles = append(c.Profiles, appconfig.Profile{ID: schema.ID, Schema: raw})
		}
	}
	return nil
}

// jsonSchema turns a schema of OpenAPI, as clients send it, into one of JSON: the types are in lower
// case, and what tells nothing about values is left out.
func jsonSchema(doc any) any {
	in, ok := doc.(map[string]any)
	if !ok {
		return doc
	}
	out := map[string]any{}
	for key, value := range in {
		switch key {
		case "type":
			if name, ok := value.(string); ok {
				value = strings.ToLower(name)
			}
		case "properties":
			fields := map[string]any{}
			if named, ok := value.(map[string]any); ok {
				for name, field := range named {
					fields[name] = jsonSchema(field)
				}
				value = fields
			}
		case "items":
			value = jsonSchema(value)
		// The order of fields, examples and defaults tell nothing about a value. memoryd has no
		// field be null: a value that is missing has no memory.
		case "propertyOrdering", "nullable", "example", "default":
			continue
		}
		out[key] = value
	}
	return out
}
