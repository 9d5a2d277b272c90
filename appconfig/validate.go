package appconfig

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/redact"
	"github.com/memoryd/memoryd/sessionstore"
)

// Limits of a configuration. A model is shown topics and examples with every batch, so
// that these keep the prompt within the windows of small models.
const (
	MaxTopics      = 50
	MaxDescription = 1000 // bytes, of a custom topic
	MaxExamples    = 20
	MaxExampleText = 16 << 10 // bytes of text in all examples
	MaxTopK        = 100
	MaxEngine      = 128 << 10 // bytes of Config.Engine
)

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{memory.ErrInvalid}, args...)...)
}

func managed(topic string) bool { return slices.Contains(ManagedTopics(), topic) }

// Validate reports the first rule that c breaks, naming the field as JSON does. It reads
// the time zone.
func (c *Config) Validate() (err error) {
	if err := c.validateFacts(""); err != nil {
		return err
	}
	if c.Search.TopK < 0 || c.Search.TopK > MaxTopK {
		return invalid("search.topK: want 1 to %d, or 0 for the default, not %d", MaxTopK, c.Search.TopK)
	}
	if s := c.Search.MinScore; math.IsNaN(s) || s < 0 || s > 1 {
		return invalid("search.minScore: want 0 to 1, not %v", s)
	}
	if s := c.Search.MinConfidence; math.IsNaN(s) || s < 0 || s > 1 {
		return invalid("search.minConfidence: want 0 to 1, not %v", s)
	}
	if err := c.Triggers.Validate("triggers"); err != nil {
		return err
	}
	if err := c.validateProfiles(); err != nil {
		return err
	}
	if err := c.validateRedaction(); err != nil {
		return err
	}
	if err := c.validateEngine(); err != nil {
		return err
	}
	if c.zone = nil; c.TimeZone != "" {
		if c.zone, err = memory.ParseTimeZone("timeZone", c.TimeZone); err != nil {
			return err
		}
	}
	return c.validateOverrides()
}

// validateFacts checks what says which facts are made. at stands before the fields in errors.
func (c *Config) validateFacts(at string) error {
	for topic := range c.ManagedTopics {
		if !managed(topic) {
			return invalid("%smanagedTopics: there is no managed topic %.60q: want some of %s", at, topic,
				strings.Join(ManagedTopics(), ", "))
		}
	}
	if err := c.validateTopics(at); err != nil {
		return err
	}
	if err := c.validateExamples(at); err != nil {
		return err
	}
	if c.Person != "" && c.Person != First && c.Person != Third {
		return invalid("%sperson: want %s or %s, not %.40q", at, First, Third, c.Person)
	}
	return nil
}

// validateEngine checks that the description of the engine is an object.
func (c *Config) validateEngine() error {
	switch {
	case !c.Declared():
		return nil
	case len(c.Engine) > MaxEngine:
		return invalid("engine: has %d bytes, more than %d", len(c.Engine), MaxEngine)
	case c.Engine[0] != '{' || !json.Valid(c.Engine):
		return invalid("engine: want an object")
	}
	return sessionstore.CheckDepth("engine", c.Engine, sessionstore.MaxDepth)
}

// validateRedaction checks the kinds of secrets that are replaced.
func (c *Config) validateRedaction() error {
	kinds := redact.Kinds()
	for i, kind := range c.Redaction.Kinds {
		if !slices.Contains(kinds, kind) {
			var names []string
			for _, k := range kinds {
				names = append(names, string(k))
			}
			return invalid("redaction.kinds[%d]: there is no kind %.40q: want some of %s", i, string(kind),
				strings.Join(names, ", "))
		}
		if j := slices.Index(c.Redaction.Kinds, kind); j < i {
			return invalid("redaction.kinds[%d]: %s is redaction.kinds[%d] too", i, kind, j)
		}
	}
	if c.Redaction.State && len(c.Redaction.Kinds) == 0 {
		return invalid("redaction.state: there are no redaction.kinds to replace in state")
	}
	return c.makeRedactor()
}

// validateTopics checks the custom topics.
func (c *Config) validateTopics(at string) error {
	if len(c.CustomTopics) > MaxTopics {
		return invalid("%scustomTopics: %d of them, more than %d", at, len(c.CustomTopics), MaxTopics)
	}
	seen := map[string]int{}
	for i, t := range c.CustomTopics {
		field := fmt.Sprintf("%scustomTopics[%d]", at, i)
		if err := memory.ValidateTopic(field+".label", t.Label); err != nil {
			return err
		}
		same := strings.ToLower(t.Label)
		if upper := strings.ToUpper(t.Label); managed(upper) {
			return invalid("%s.label: %s is a managed topic: turn it on in managedTopics, or choose another label",
				field, upper)
		}
		if j, ok := seen[same]; ok {
			return invalid("%s.label: %.60q is the label of customTopics[%d] too", field, t.Label, j)
		}
		seen[same] = i
		if err := checkText(field+".description", t.Description, MaxDescription); err != nil {
			return err
		}
	}
	return nil
}

// validateExamples checks the examples.
func (c *Config) validateExamples(at string) error {
	if len(c.Examples) > MaxExamples {
		return invalid("%sexamples: %d of them, more than %d", at, len(c.Examples), MaxExamples)
	}
	text := 0
	for i := range c.Examples {
		field := fmt.Sprintf("%sexamples[%d]", at, i)
		n, err := c.validateExample(field, &c.Examples[i])
		if err != nil {
			return err
		}
		if text += n; text > MaxExampleText {
			return invalid("%s: the examples have more than %d bytes of text together: give fewer or shorter ones",
				field, MaxExampleText)
		}
	}
	return nil
}

// validateExample checks an example, and returns how many bytes of text it has.
func (c *Config) validateExample(field string, e *Example) (text int, err error) {
	if len(e.Conversation) == 0 {
		return 0, invalid("%s.conversation: want one event at least", field)
	}
	for i, raw := range e.Conversation {
		at := fmt.Sprintf("%s.conversation[%d]", field, i)
		event, err := sessionstore.AcceptEvent("", raw)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", at, err)
		}
		said := event.Text()
		if strings.TrimSpace(said) == "" || event.Content.Role != "user" && event.Content.Role != "model" {
			return 0, invalid("%s: want words of a user or of the agent", at)
		}
		text += len(said)
	}
	if e.Facts == nil {
		return 0, invalid("%s.facts is missing: an empty list teaches that there is nothing to keep", field)
	}
	for i, f := range e.Facts {
		at := fmt.Sprintf("%s.facts[%d]", field, i)
		if err := checkText(at+".fact", f.Fact, MaxDescription); err != nil {
			return 0, err
		}
		switch {
		case f.Topic == "" || c.On(f.Topic):
		case managed(f.Topic):
			return 0, invalid("%s.topic: %s is off in managedTopics", at, f.Topic)
		default:
			return 0, invalid("%s.topic: %.60q is neither a managed topic nor the label of a custom one", at, f.Topic)
		}
		text += len(f.Fact)
	}
	return text, nil
}

// checkText checks a text that a model is shown.
func checkText(field, text string, most int) error {
	switch {
	case strings.TrimSpace(text) == "":
		return invalid("%s is empty", field)
	case len(text) > most:
		return invalid("%s has %d bytes, more than %d", field, len(text), most)
	case !utf8.ValidString(text):
		return invalid("%s is not valid UTF-8", field)
	}
	return nil
}

// CheckAllowed reports the first of the topics that a request allows that c does not have.
func (c *Config) CheckAllowed(field string, topics []string) error {
	if len(topics) > memory.MaxTopics {
		return invalid("%s: %d of them, more than %d", field, len(topics), memory.MaxTopics)
	}
	for i, topic := range topics {
		switch {
		case c.On(topic):
		case managed(topic):
			return invalid("%s[%d]: %s is off in the configuration of the app", field, i, topic)
		default:
			return invalid("%s[%d]: %.60q is neither a managed topic nor a custom one of the app", field, i, topic)
		}
	}
	return nil
}
