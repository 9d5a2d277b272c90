package extract

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/internal/legible"
)

// Policy says which facts an app wants. The zero value is every fact of a managed topic,
// and so is nil.
type Policy struct {
	Off      []string // managed topics of which nothing is kept
	Custom   []Topic  // the app's own
	Examples []Example
	Person   Person
	Profiles []Profile // that are filled beside facts
	// Allowed are the topics that a request is content with; empty is all.
	Allowed []string
}

// Topic is a topic of an app's own.
type Topic struct{ Label, Description string }

// Example is a conversation and the facts in it, for a model to follow.
type Example struct {
	Turns []Turn // their times are zero if the example has none
	Facts []ExampleFact
}

// ExampleFact is a fact of an Example.
type ExampleFact struct{ Text, Topic string }

// Person is the grammatical person of facts. "" leaves it to the extractor.
type Person string

// The persons.
const (
	FirstPerson Person = "FIRST"
	ThirdPerson Person = "THIRD"
)

// The fields of a policy, as the configuration of an app names them.
const (
	FieldCustomTopics = "customTopics"
	FieldExamples     = "examples"
	FieldPerson       = "person"
	FieldProfiles     = "profiles"
)

// Topics are the topics that a fact may have: the managed ones that are on, and the
// app's own.
func (p *Policy) Topics() []string {
	out := slices.Clone(managedTopics)
	if p == nil {
		return out
	}
	out = slices.DeleteFunc(out, func(t string) bool { return slices.Contains(p.Off, t) })
	for i := range p.Custom {
		out = append(out, p.Custom[i].Label)
	}
	return out
}

// Restricts reports whether a fact can be of a topic that is not kept.
func (p *Policy) Restricts() bool { return p != nil && len(p.Off)+len(p.Allowed) > 0 }

// keeps reports whether facts of a topic are kept.
func (p *Policy) keeps(topic string) bool {
	return !slices.Contains(p.Off, topic) && (len(p.Allowed) == 0 || slices.Contains(p.Allowed, topic))
}

// Keep returns the topics of a fact without those that are off, and reports whether the
// fact is kept: one of its topics is on, and allowed. given says that a client states the
// fact itself. A fact without topics is then kept unless the request allows some only. Of
// facts that were found in words one without topics is dropped as soon as p restricts
// topics: it may be of any.
func (p *Policy) Keep(topics []string, given bool) ([]string, bool) {
	if !p.Restricts() {
		return topics, true
	}
	if len(topics) == 0 {
		return topics, given && len(p.Allowed) == 0
	}
	on := slices.DeleteFunc(slices.Clone(topics), func(t string) bool { return slices.Contains(p.Off, t) })
	return on, slices.ContainsFunc(on, p.keeps)
}

// Unheeded returns the fields of p, as the configuration of an app names them, that an
// extractor cannot heed which only knows managed topics, and states facts in person.
func (p *Policy) Unheeded(person Person) (fields []string) {
	if p == nil {
		return nil
	}
	if len(p.Custom) > 0 {
		fields = append(fields, FieldCustomTopics)
	}
	if len(p.Examples) > 0 {
		fields = append(fields, FieldExamples)
	}
	if p.Person != "" && p.Person != person {
		fields = append(fields, FieldPerson)
	}
	if len(p.Profiles) > 0 {
		fields = append(fields, FieldProfiles)
	}
	return fields
}

// instruct adds what an app wants to the instructions of an extraction. They are the same
// for all calls of an app, so that providers can cache them.
func (p *Policy) instruct(instructions string) string {
	if p == nil || len(p.Off)+len(p.Custom)+len(p.Examples) == 0 && p.Person == "" {
		return instructions
	}
	var b strings.Builder
	b.WriteString(instructions)
	b.WriteString("\n\nFor this application the following holds in place of what was said above.\n")
	if len(p.Off) > 0 {
		b.WriteString("\nKeep nothing of these topics, and do not file it under another one: " +
			strings.Join(p.Off, ", ") + ". A request to forget is given all the same.\n")
	}
	if len(p.Custom) > 0 {
		b.WriteString("\nKeep facts of these topics too, with the label as \"topic\". Where one of them fits," +
			" it comes before the topics above:\n")
		for _, t := range p.Custom {
			b.WriteString("- " + legible.Line(t.Label) + ": " + legible.Line(t.Description) + "\n")
		}
	}
	p.instructPerson(&b, "\"fact\"")
	for i := range p.Examples {
		b.WriteString("\nExample of this application:\n")
		p.Examples[i].write(&b)
	}
	return strings.TrimSpace(b.String())
}

// instructPerson adds in which person a text is written.
func (p *Policy) instructPerson(b *strings.Builder, text string) {
	switch p.Person {
	case FirstPerson:
		b.WriteString("\nWrite " + text + " in the first person, as the user would say it (\"I live in Porto.\")," +
			" unless it is about somebody else.\n")
	case ThirdPerson:
		b.WriteString("\nWrite " + text + " in the third person, never with \"I\" (\"The user lives in Porto.\").\n")
	}
}

// instructComparison adds what an app wants to the instructions of a comparison.
func (p *Policy) instructComparison(instructions string) string {
	if p == nil || p.Person == "" {
		return instructions
	}
	var b strings.Builder
	b.WriteString(instructions + "\n")
	p.instructPerson(&b, "\"text\"")
	return strings.TrimSpace(b.String())
}

// exampleLine is a turn of an example as a model sees it.
type exampleLine struct {
	N    int    `json:"n"`
	Time string `json:"time,omitempty"`
	Role string `json:"role"`
	Text string `json:"text"`
}

// exampleFact is a fact of an example as a model sees it. What it lacks of an answer the
// example above it shows.
type exampleFact struct {
	Fact  string `json:"fact"`
	Topic string `json:"topic,omitempty"`
}

// write writes an example: its turns, and then the facts as they would be answered.
func (e *Example) write(b *strings.Builder) {
	for i := range e.Turns {
		t := &e.Turns[i]
		l := exampleLine{N: i + 1, Role: roleOf(t), Text: legible.Text(t.Text)}
		if !t.Timestamp.IsZero() {
			l.Time = timeOf(t)
		}
		writeLine(b, l)
	}
	if len(e.Facts) == 0 {
		b.WriteString("There is nothing worth keeping here. Answer:\n{\"facts\":[]}\n")
		return
	}
	b.WriteString("The facts to give, each completed by the fields above:\n")
	for _, f := range e.Facts {
		writeLine(b, exampleFact{legible.Line(f.Text), f.Topic})
	}
}
