package extract

import (
	"bytes"
	_ "embed" // the instructions are text files, so that they read as they are sent
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/memoryd/memoryd/internal/legible"
	"github.com/memoryd/memoryd/memory"
)

// managedTopics are the topics that a model may give a fact.
var managedTopics = []string{
	memory.TopicPersonalInfo, memory.TopicPreferences, memory.TopicDetails, memory.TopicInstructions,
}

// The instructions of the prompts. Each is the same in every call, so
// that providers can cache it.
var (
	//go:embed prompts/extract.txt
	extractInstructions string
	//go:embed prompts/consolidate.txt
	consolidateInstructions string
	//go:embed prompts/profiles.txt
	profileInstructions string
	//go:embed prompts/rerank.txt
	rerankInstructions string
	//go:embed prompts/expand.txt
	expandInstructions string
)

// systemText is the text of an instructions file, without the line break that
// ends the file.
func systemText(file string) string { return strings.TrimSpace(file) }

// extractSchema is the form of an answer whose facts have one of some topics.
func extractSchema(topics []string) map[string]any {
	if len(topics) == 0 {
		topics = managedTopics // every fact is dropped, but not a request to forget
	}
	return object(map[string]any{
		"facts": list(object(map[string]any{
			"fact":       stringType,
			"topic":      enum(topics...),
			"events":     list(integerType),
			"quote":      stringType,
			"when":       stringType,
			"confidence": map[string]any{"type": "number"},
			"forget":     map[string]any{"type": "boolean"},
		})),
	})
}

var consolidateSchema = object(map[string]any{
	"verdicts": list(object(map[string]any{
		"fact":    integerType,
		"action":  enum(string(Create), string(Update), string(Delete), string(Nothing)),
		"same":    integerType,
		"text":    stringType,
		"against": list(integerType),
		"reason":  stringType,
	})),
})

var (
	stringType  = map[string]any{"type": "string"}
	integerType = map[string]any{"type": "integer"}
)

func enum(values ...string) map[string]any {
	return map[string]any{"type": "string", "enum": values}
}

func list(of map[string]any) map[string]any { return map[string]any{"type": "array", "items": of} }

// object describes an object that requires all of its properties and allows no
// others.
func object(properties map[string]any) map[string]any {
	var names []string
	for name := range properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return map[string]any{
		"type": "object", "properties": properties, "required": names, "additionalProperties": false,
	}
}

// writeLine appends v as one line of JSON. The encoding keeps a text from
// passing for a line of its own.
func writeLine(b *strings.Builder, v any) {
	var raw bytes.Buffer
	enc := json.NewEncoder(&raw)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // v has only strings, numbers and booleans
	}
	b.Write(raw.Bytes())
}

// eventLine is a turn as a model sees it.
type eventLine struct {
	N      int    `json:"n,omitempty"`
	Time   string `json:"time"`
	Day    string `json:"day"`
	Author string `json:"author,omitempty"`
	Role   string `json:"role"`
	Text   string `json:"text"`
}

// roleOf is the role of a turn as a model sees it.
func roleOf(t *Turn) string {
	switch t.Trust {
	case memory.TrustTool, memory.TrustExternal:
		return string(t.Trust)
	}
	if t.User {
		return "user"
	}
	return "model"
}

// timeOf is the time of a turn as a model sees it.
func timeOf(t *Turn) string { return t.Timestamp.Format(time.RFC3339) }

// transcript writes a batch as data for a model. Every turn has its own time,
// since relative dates count from it. Earlier turns have no number, and only
// the last contextTokens of them are included.
func transcript(b Batch) string {
	var out strings.Builder
	write := func(n int, t *Turn) {
		writeLine(&out, eventLine{
			n, timeOf(t), t.Timestamp.Weekday().String(), legible.Line(t.Author), roleOf(t), legible.Text(t.Text),
		})
	}
	room := contextTokens
	from := len(b.Before)
	for from > 0 && room >= Tokens(b.Before[from-1].Text) {
		from--
		room -= Tokens(b.Before[from].Text)
	}
	for i := range b.Before[from:] {
		write(0, &b.Before[from+i])
	}
	for i := range b.Turns {
		write(i+1, &b.Turns[i])
	}
	return out.String()
}

// comparisonLine is a memory or a new fact as a model sees it.
type comparisonLine struct {
	N      int    `json:"n"`
	Memory string `json:"memory,omitempty"`
	Fact   string `json:"fact,omitempty"`
	Forget bool   `json:"forget,omitempty"`
	By     string `json:"by,omitempty"`
	Said   string `json:"said"`
	Until  string `json:"until,omitempty"`
}

// comparisonData writes a comparison as data for a model.
func comparisonData(c Comparison) string {
	var out strings.Builder
	for i := range c.Known {
		m := &c.Known[i]
		l := comparisonLine{
			N: i + 1, Memory: memory.Cut(legible.Text(m.Fact), maxFactBytes), By: legible.Line(m.Author),
			Said: m.Local(m.Timestamp).Format(time.RFC3339),
		}
		if !m.ValidTo.IsZero() {
			l.Until = m.Local(m.ValidTo).Format(time.RFC3339)
		}
		writeLine(&out, l)
	}
	for i := range c.New {
		f := &c.New[i]
		writeLine(&out, comparisonLine{
			N: len(c.Known) + i + 1, Fact: memory.Cut(legible.Text(f.Text), maxFactBytes), Forget: f.Forget,
			By: legible.Line(f.Author), Said: f.Timestamp.Format(time.RFC3339),
		})
	}
	return out.String()
}
