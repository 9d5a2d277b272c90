package appconfig

import (
	"encoding/json"
	"fmt"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/profile"
)

// Limits of the profiles of an app. A model is shown them with every batch.
const (
	MaxProfiles      = 10
	MaxProfileFields = 100      // of all profiles together
	MaxProfileBytes  = 16 << 10 // of all schemas and descriptions together
)

// Profile is a structured profile that each user of an app may have: an object whose
// fields are filled from what the user says, and by clients.
type Profile struct {
	ID string `json:"id"`
	// Description says what the profile is about, for a model.
	Description string `json:"description,omitempty"`
	// Schema is a JSON schema of type object; see profile.Parse.
	Schema json.RawMessage `json:"schema"`

	parsed *profile.Schema
}

// Parsed is the schema; nil in a configuration that was neither validated nor read from
// a store.
func (p *Profile) Parsed() *profile.Schema { return p.parsed }

// Profile returns the profile of an id; nil if there is none.
func (c *Config) Profile(id string) *Profile {
	for i := range c.Profiles {
		if c.Profiles[i].ID == id {
			return &c.Profiles[i]
		}
	}
	return nil
}

// Field returns a field of a profile; nil if there is none.
func (c *Config) Field(schema, name string) *profile.Field {
	p := c.Profile(schema)
	if p == nil || p.parsed == nil {
		return nil
	}
	return p.parsed.Field(name)
}

// validateProfiles checks the profiles, and reads their schemas.
func (c *Config) validateProfiles() error {
	if len(c.Profiles) > MaxProfiles {
		return invalid("profiles: %d of them, more than %d", len(c.Profiles), MaxProfiles)
	}
	seen, fields, bytes := map[string]int{}, 0, 0
	for i := range c.Profiles {
		p, at := &c.Profiles[i], fmt.Sprintf("profiles[%d]", i)
		if err := memory.ValidateProfileName(at+".id", p.ID); err != nil {
			return err
		}
		if j, twice := seen[p.ID]; twice {
			return invalid("%s.id: %.60q is the id of profiles[%d] too", at, p.ID, j)
		}
		seen[p.ID] = i
		if p.Description != "" {
			if err := checkText(at+".description", p.Description, MaxDescription); err != nil {
				return err
			}
		}
		if len(p.Schema) == 0 {
			return invalid("%s.schema is missing", at)
		}
		var err error
		if p.parsed, err = profile.Parse(at+".schema", p.Schema); err != nil {
			return err
		}
		if fields += len(p.parsed.Fields()); fields > MaxProfileFields {
			return invalid("%s.schema.properties: the profiles have more than %d fields together", at, MaxProfileFields)
		}
		if bytes += len(p.Schema) + len(p.Description); bytes > MaxProfileBytes {
			return invalid("%s.schema: the profiles have more than %d bytes together", at, MaxProfileBytes)
		}
	}
	return nil
}

// readProfiles reads the schemas of a stored configuration. One that a newer memoryd has
// stored, with a keyword that this one does not know, is left out: its fields are not
// filled, and its values not shown, but they stay memories.
func (c *Config) readProfiles() {
	for i := range c.Profiles {
		c.Profiles[i].parsed, _ = profile.Parse("schema", c.Profiles[i].Schema)
	}
}
