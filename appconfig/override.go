package appconfig

import (
	"fmt"
	"regexp"

	"github.com/memoryd/memoryd/memory"
)

// MaxOverrides is how many overrides a configuration has at most.
const MaxOverrides = 20

// Override has topics, examples and the person of some users, in place of all four of the app.
// Where several overrides are for a user, the first one counts.
type Override struct {
	// Users is a regular expression of RE2. It is for the users in whose ids it matches
	// anywhere.
	Users         string          `json:"users"`
	ManagedTopics map[string]bool `json:"managedTopics,omitempty"`
	CustomTopics  []Topic         `json:"customTopics,omitempty"`
	Examples      []Example       `json:"examples,omitempty"`
	Person        Person          `json:"person,omitempty"`

	users  *regexp.Regexp
	config *Config // of these users
}

// For is the configuration of a user: c, or what c is with an override. The caller may not change it.
func (c *Config) For(user string) *Config {
	for i := range c.Overrides {
		if o := &c.Overrides[i]; o.users != nil && o.users.MatchString(user) {
			return o.config
		}
	}
	return c
}

// makeOverrides makes the configurations of users. Those that a newer memoryd has stored, with a
// pattern that this one cannot read, are left out. It comes last: they share all else with c.
func (c *Config) makeOverrides() {
	for i := range c.Overrides {
		o := &c.Overrides[i]
		if _, err := memory.Pattern(o.Users); err != nil {
			continue
		}
		o.users = regexp.MustCompile(o.Users) // memory.Pattern has compiled it
		of := *c
		of.ManagedTopics, of.CustomTopics = o.ManagedTopics, o.CustomTopics
		of.Examples, of.Person = o.Examples, o.Person
		of.Overrides = nil
		o.config = &of
	}
}

// validateOverrides checks each override as the configuration of its users.
func (c *Config) validateOverrides() error {
	if len(c.Overrides) > MaxOverrides {
		return invalid("overrides: %d of them, more than %d", len(c.Overrides), MaxOverrides)
	}
	c.makeOverrides()
	for i := range c.Overrides {
		o, at := &c.Overrides[i], fmt.Sprintf("overrides[%d].", i)
		if o.Users == "" {
			return invalid("%susers is empty: without overrides the configuration is that of all users", at)
		}
		if _, err := memory.Pattern(o.Users); err != nil {
			return fmt.Errorf("%susers: %w", at, err)
		}
		if err := o.config.validateFacts(at); err != nil {
			return err
		}
	}
	return nil
}
