package vertex

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/memoryd/memoryd/appconfig"
)

// The configuration of a memory bank is that of the app in other words. Whatever has no counterpart
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
	// Customizations and Structured may differ by the keys of scopes; see chosen.
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
func (b *bankConfig) configure(c *appconfig.Config) error {
	if err := b.setTriggers(c); err != nil {
		return err
	}
	if err := b.setTTL(c); err != nil {
		return err
	}
	if err := b.setTopics(c); err != nil {
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

// chosen is the customization that counts: that without scopeKeys, else that of the scope of a user,
// else the first. memoryd has one for all scopes of an app.
func (b *bankConfig) chosen() (*customization, error) {
	var general, users []int
	for i := range b.Customizations {
		keys := b.Customizations[i].ScopeKeys
		if len(keys) == 0 {
			general = append(general, i)
		} else if slices.Contains(keys, userKey) {
			users = append(users, i)
		}
	}
	if len(general) > 1 {
		return nil, invalid("customizationConfigs[%d]: customizationConfigs[%d] has no scopeKeys too: want one without",
			general[1], general[0])
	}
	all := append(append(general, users...), 0)
	if len(b.Customizations) == 0 {
		return &customization{}, nil
	}
	return &b.Customizations[all[0]], nil
}

// setTopics sets the topics, the examples and the person. Topics that are named are the only ones;
// without any, all managed topics count, as in an app without a configuration.
func (b *bankConfig) setTopics(c *appconfig.Config) error {
	from, err := b.chosen()
	if err != nil {
		return err
	}
	c.ManagedTopics, c.CustomTopics, c.Examples, c.Person = nil, nil, nil, ""
	if len(from.Topics) > 0 || from.DisableLanguage {
		c.ManagedTopics = map[string]bool{} // those that are named, and no others
		for _, topic := range appconfig.ManagedTopics() {
			c.ManagedTopics[topic] = false
		}
	}
	for i, t := range from.Topics {
		switch {
		case (t.Managed == nil) == (t.Custom == nil) || t.Managed != nil && t.Managed.Name == "":
			return invalid("memoryTopics[%d]: want one of managedMemoryTopic and customMemoryTopic", i)
		case from.DisableLanguage:
		case t.Managed != nil:
			c.ManagedTopics[string(t.Managed.Name)] = true
		default:
			c.CustomTopics = append(c.CustomTopics, appconfig.Topic(*t.Custom))
		}
	}
	switch {
	case from.ThirdPerson != nil && *from.ThirdPerson:
		c.Person = appconfig.Third
	case from.ThirdPerson != nil:
		c.Person = appconfig.First
	}
	if from.DisableLanguage {
		return nil // examples teach facts
	}
	return from.setExamples(c)
}

// setExamples sets the examples: conversations and what is remembered of them. An example without
// memories teaches that there is nothing to remember. Events without a role are the user's.
func (from *customization) setExamples(c *appconfig.Config) error {
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
				return err
			}
			e.Conversation = append(e.Conversation, raw)
		}
		for j, m := range in.Memories {
			topics, err := readTopics("topics", m.Topics)
			if err != nil {
				return invalid("generateMemoriesExamples[%d].generatedMemories[%d]: %v", i, j, err)
			}
			fact := appconfig.ExampleFact{Fact: m.Fact}
			if len(topics) > 0 {
				fact.Topic = topics[0]
			}
			e.Facts = append(e.Facts, fact)
		}
		c.Examples = append(c.Examples, e)
	}
	return nil
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
