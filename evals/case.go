// Package evals measures how good memory is.
//
// For extraction and consolidation it has golden cases: little stories in one or
// more sessions, and the facts that must be known at the end of each. [Run] plays
// them with an extractor and scores the facts.
//
// For retrieval it has conversations, and questions with the turns that answer
// them ([Conversations]); it also reads those of LoCoMo ([LoCoMo]). [Fill] makes
// memories of such a dataset, and [Bank.Ask] asks its questions in one or more
// settings of the ranking.
package evals

import (
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

//go:embed cases/*.txtar
var files embed.FS

// Case is one story.
type Case struct {
	Name string
	// Budget bounds the tokens that a model reads in one batch; 0 leaves the
	// bound to the model.
	Budget   int
	Sessions []Session // in the order in which they arrive
	Want     []Fact    // the facts that must be known at the end
}

// Session is a part of a story.
type Session struct {
	ID     string
	Events []sessionstore.Event
}

// Fact is a fact of a case: a line of the section memories.
type Fact struct {
	Text   string
	Topics []string
	Said   time.Time // these three are days; zero is unset
	From   time.Time
	Until  time.Time // set if it is superseded
}

// Cases reads all cases, sorted by name.
func Cases() ([]Case, error) {
	names, err := files.ReadDir("cases")
	if err != nil {
		return nil, err
	}
	var out []Case
	for _, entry := range names {
		raw, err := files.ReadFile(path.Join("cases", entry.Name()))
		if err != nil {
			return nil, err
		}
		c, err := parse(strings.TrimSuffix(entry.Name(), ".txtar"), txtar.Parse(raw))
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// parse reads a case. Its sections are, for each session N:
//
//	N/conversation       turns: "2024-05-08T13:56:00Z Ann: text", where the
//	                     author "assistant" is the model; more lines of a text
//	                     are indented by two spaces
//	N/events.jsonl       in place of that, events as JSON, one a line
//	N/extract.json       a model's answer to a request for facts, and
//	N/consolidate.json   to one for verdicts; one of each for every batch
//
// Then come budget, for small batches, prompts (the data of all requests to a
// model), and memories (the facts at the end). The tests alone read the sections
// with a model's answers and prompts.
func parse(name string, ar *txtar.Archive) (c Case, err error) {
	c.Name = name
	for _, f := range ar.Files {
		text := string(f.Data)
		session, kind, _ := strings.Cut(f.Name, "/")
		switch {
		case kind == "conversation":
			err = c.add(session, text, conversation)
		case kind == "events.jsonl":
			err = c.add(session, text, jsonEvents)
		case f.Name == "budget":
			c.Budget, err = strconv.Atoi(strings.TrimSpace(text))
		case f.Name == "memories":
			c.Want, err = parseFacts(text)
		case f.Name != "prompts" && kind != "extract.json" && kind != "consolidate.json":
			err = fmt.Errorf("there is no such section")
		}
		if err != nil {
			return c, fmt.Errorf("case %s: %s: %w", name, f.Name, err)
		}
	}
	if len(c.Sessions) == 0 {
		return c, fmt.Errorf("case %s: nothing is said in it", name)
	}
	return c, nil
}

// add reads a session of the case.
func (c *Case) add(session, text string, read func(session, text string) ([]sessionstore.Event, error)) error {
	events, err := read(session, text)
	if err == nil && slices.ContainsFunc(c.Sessions, func(s Session) bool { return s.ID == session }) {
		err = fmt.Errorf("the session is there already")
	}
	c.Sessions = append(c.Sessions, Session{ID: session, Events: events})
	return err
}

// assistant is the author of the model's turns.
const assistant = "assistant"

// conversation reads turns, a line each.
func conversation(session, text string) (out []sessionstore.Event, err error) {
	type said struct{ at, author, text string }
	var lines []said
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if more, ok := strings.CutPrefix(line, "  "); ok && len(lines) > 0 {
			lines[len(lines)-1].text += "\n" + more
			continue
		}
		at, rest, _ := strings.Cut(line, " ")
		author, words, ok := strings.Cut(rest, ": ")
		if !ok {
			return nil, fmt.Errorf("%q is not as 2024-05-08T13:56:00Z Ann: text", line)
		}
		lines = append(lines, said{at, author, words})
	}
	for i, s := range lines {
		role := "user"
		if s.author == assistant {
			role = "model"
		}
		e, err := spoken(fmt.Sprintf("%s-%d", session, i+1), s.author, s.at, role, s.text)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// spoken makes an event of a text.
func spoken(id, author, at, role, text string) (sessionstore.Event, error) {
	type part struct {
		Text string `json:"text"`
	}
	type content struct {
		Role  string `json:"role"`
		Parts []part `json:"parts"`
	}
	raw, err := json.Marshal(struct {
		ID        string  `json:"id"`
		Author    string  `json:"author"`
		Timestamp string  `json:"timestamp"`
		Content   content `json:"content"`
	}{id, author, at, content{role, []part{{text}}}})
	if err != nil {
		return sessionstore.Event{}, err
	}
	return sessionstore.ParseEvent(raw)
}

// jsonEvents reads events as JSON, a line each.
func jsonEvents(_, text string) (out []sessionstore.Event, err error) {
	for line := range strings.Lines(text) {
		e, err := sessionstore.ParseEvent([]byte(line))
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// String is a fact as a line: "text | topic | said 2024-05-08 | from 2024-05-07
// | until 2024-06-01", without the parts that are unset.
func (f Fact) String() string {
	parts := []string{f.Text}
	if len(f.Topics) > 0 {
		parts = append(parts, strings.Join(f.Topics, ", "))
	}
	for _, d := range f.days() {
		if !d.day.IsZero() {
			parts = append(parts, d.name+" "+d.day.Format(time.DateOnly))
		}
	}
	return strings.Join(parts, " | ")
}

// day is one of the days of a fact, with its name in a line.
type day struct {
	name string
	day  *time.Time
}

// days are the days of a fact, in the order of a line.
func (f *Fact) days() []day { return []day{{"said", &f.Said}, {"from", &f.From}, {"until", &f.Until}} }

// parseFacts reads facts, a line each as String writes them.
func parseFacts(text string) (out []Fact, err error) {
	for line := range strings.Lines(text) {
		parts := strings.Split(strings.TrimSpace(line), " | ")
		f := Fact{Text: parts[0]}
		for _, part := range parts[1:] {
			name, date, _ := strings.Cut(part, " ")
			days := f.days()
			at := slices.IndexFunc(days, func(d day) bool { return d.name == name })
			if at < 0 {
				f.Topics = strings.Split(part, ", ")
				continue
			}
			if *days[at].day, err = time.Parse(time.DateOnly, date); err != nil {
				return nil, err
			}
		}
		out = append(out, f)
	}
	return out, nil
}

// factOf is the fact of a memory.
func factOf(m *memory.Memory) Fact {
	return Fact{Text: m.Fact, Topics: m.Topics, Said: m.Local(m.Timestamp), From: m.Local(m.ValidFrom),
		Until: m.Local(m.ValidTo)}
}
