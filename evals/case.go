// Package evals tells how good memory is.
//
// Of extraction and consolidation it has golden cases, and tells how near an
// extractor comes to them ([Run]): little stories in one or more sessions, and
// what is to be remembered at the end of each.
//
// Of retrieval it has conversations, and questions of which it is known where
// their answers were said ([Conversations]); it reads those of others too
// ([LoCoMo]). A [Bank] is a dataset that has become memories ([Fill]), of which
// all is asked in one or more settings of the ranking ([Bank.Ask]).
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
	// Budget is how many tokens a model reads in one batch here; 0 leaves it to
	// the model.
	Budget   int
	Sessions []Session // in the order in which they arrive
	Want     []Fact    // what is known at the end
}

// Session is a part of a story.
type Session struct {
	ID     string
	Events []sessionstore.Event
}

// Fact is what is known: a line of the section memories.
type Fact struct {
	Text   string
	Topics []string
	Said   time.Time // these three are days; zero is unset
	From   time.Time
	Until  time.Time // set where it is superseded
}

// Cases are all there are, by name.
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
//	N/conversation       what is said: "2024-05-08T13:56:00Z Ann: text", where
//	                     "assistant" is the model's side; more lines of a text
//	                     are indented by two spaces
//	N/events.jsonl       in place of that, events as JSON, one a line
//	N/extract.json       what a model answers when it is asked for facts, and
//	N/consolidate.json   for verdicts; once more for each batch
//
// then budget, if a batch is to be small, prompts (the data of all that a model
// is asked), and memories (what is known at the end). Those with a model's part
// are for the tests.
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

func (c *Case) add(session, text string, read func(session, text string) ([]sessionstore.Event, error)) error {
	events, err := read(session, text)
	if err == nil && slices.ContainsFunc(c.Sessions, func(s Session) bool { return s.ID == session }) {
		err = fmt.Errorf("the session is there already")
	}
	c.Sessions = append(c.Sessions, Session{ID: session, Events: events})
	return err
}

// assistant is the author of what the model says.
const assistant = "assistant"

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

// spoken is an event in which somebody says something.
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
// | until 2024-06-01", without what is unset.
func (f Fact) String() string {
	parts := []string{f.Text}
	if len(f.Topics) > 0 {
		parts = append(parts, strings.Join(f.Topics, ", "))
	}
	for _, d := range f.days() {
		if !d.day.IsZero() {
			parts = append(parts, d.name+" "+d.day.UTC().Format(time.DateOnly))
		}
	}
	return strings.Join(parts, " | ")
}

type day struct {
	name string
	day  *time.Time
}

func (f *Fact) days() []day { return []day{{"said", &f.Said}, {"from", &f.From}, {"until", &f.Until}} }

// parseFacts reads lines of String.
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

func factOf(m *memory.Memory) Fact {
	return Fact{Text: m.Fact, Topics: m.Topics, Said: m.Timestamp, From: m.ValidFrom, Until: m.ValidTo}
}
