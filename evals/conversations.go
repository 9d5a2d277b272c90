package evals

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"
)

//go:embed conversations/*.txtar
var conversationFiles embed.FS

// Conversations reads the conversations that come with memoryd. Their questions
// are of five categories: single-hop (one turn answers, in words of the question),
// paraphrase (one turn answers, in other words), temporal (the question asks for a
// time), multi-hop (several turns together answer), and preference (a wish or a
// habit has changed).
func Conversations() (*Dataset, error) {
	categories := []string{"single-hop", "paraphrase", "temporal", "multi-hop", "preference"}
	d := &Dataset{Name: "conversations", Categories: categories, Pooled: "all"}
	names, err := conversationFiles.ReadDir("conversations")
	if err != nil {
		return nil, err
	}
	for _, entry := range names {
		raw, err := conversationFiles.ReadFile(path.Join("conversations", entry.Name()))
		if err != nil {
			return nil, err
		}
		c, err := parseConversation(strings.TrimSuffix(entry.Name(), ".txtar"), txtar.Parse(raw))
		if err != nil {
			return nil, err
		}
		d.Conversations = append(d.Conversations, c)
	}
	return d, d.validate()
}

// parseConversation reads a conversation. Its sections are N/conversation for
// each session, as in a [Case], and questions, a line each:
//
//	category: What is asked? | 1-3, 2-14
//
// where the evidence is turns: the third of session 1 and the fourteenth of 2. The section
// pairs has, in each line, a question and another about the same thing that nothing answers:
//
//	What is asked? | 1-3 | What was never said?
func parseConversation(name string, ar *txtar.Archive) (c Conversation, err error) {
	c.Name = name
	for _, f := range ar.Files {
		session, kind, _ := strings.Cut(f.Name, "/")
		switch {
		case kind == "conversation":
			s := Session{ID: session}
			s.Events, err = conversation(session, string(f.Data))
			c.Sessions = append(c.Sessions, s)
		case f.Name == "questions":
			c.Questions, err = parseQuestions(string(f.Data))
		case f.Name == "pairs":
			c.pairs, err = parsePairs(string(f.Data))
		default:
			err = fmt.Errorf("there is no such section")
		}
		if err != nil {
			return c, fmt.Errorf("conversation %s: %s: %w", name, f.Name, err)
		}
	}
	return c, nil
}

// said is the category of the answered questions of pairs.
const said = "said"

// questionPair is two questions about the same thing.
type questionPair struct {
	answered   Question
	unanswered string
}

func parsePairs(text string) (out []questionPair, err error) {
	for line := range strings.Lines(text) {
		fields := strings.Split(strings.TrimSpace(line), " | ")
		if len(fields) != 3 {
			return nil, fmt.Errorf("%q is not as What is asked? | 1-3 | What was never said?", line)
		}
		q := Question{Text: fields[0], Category: said, Evidence: strings.Split(fields[1], ", ")}
		out = append(out, questionPair{q, fields[2]})
	}
	return out, nil
}

// Pairs reads the same conversations with other questions: for each that a turn answers
// there is one about the same thing that nothing answers, in Unanswered. The weights of
// confidence are not fitted on them.
func Pairs() (*Dataset, error) {
	d, err := Conversations()
	if err != nil {
		return nil, err
	}
	d.Name, d.Categories = "pairs", []string{said}
	for i := range d.Conversations {
		c := &d.Conversations[i]
		c.Questions = nil
		for _, p := range c.pairs {
			c.Questions, c.Unanswered = append(c.Questions, p.answered), append(c.Unanswered, p.unanswered)
		}
	}
	return d, d.validate()
}

func parseQuestions(text string) (out []Question, err error) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		category, rest, ok := strings.Cut(line, ": ")
		question, evidence, ok2 := strings.Cut(rest, " | ")
		q := Question{Text: question, Category: category, Evidence: strings.Split(evidence, ", ")}
		if slices.Sort(q.Evidence); !ok || !ok2 || len(slices.Compact(slices.Clone(q.Evidence))) < len(q.Evidence) {
			return nil, fmt.Errorf("%q is not as category: What is asked? | 1-3, 2-14", line)
		}
		out = append(out, q)
	}
	return out, nil
}
