package evals

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// beamCategories are BEAM's kinds of questions that have an answer.
var beamCategories = []string{"information extraction", "knowledge update", "temporal reasoning",
	"multi session reasoning", "preference following", "instruction following", "contradiction resolution",
	"event ordering", "summarization"}

// BEAM reads chats of BEAM (Tavakoli et al., "Beyond a Million Tokens: Benchmarking and
// Enhancing Long-Term Memory in LLMs", 2025), such as the folder chats/100K/1: one user for
// each folder, a session for each batch of chat.json, and an event for each message, whose
// id is BEAM's number of it. The mark of a question's place in BEAM's plan is no part of
// its text. The questions are those of probing_questions.json, with the messages that each
// cites. Questions without any are left out, except those of abstention, which nothing
// answers. If usersOnly is set, messages of the assistant are not read.
func BEAM(usersOnly bool, folders ...string) (*Dataset, error) {
	d := &Dataset{Name: "beam", Categories: beamCategories, Pooled: "all"}
	for _, folder := range folders {
		c, err := readBEAM(folder, usersOnly)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", folder, err)
		}
		d.Conversations = append(d.Conversations, c)
	}
	return d, d.validate()
}

// beamBatch is a part of a chat that BEAM dates.
type beamBatch struct {
	Number int             `json:"batch_number"`
	Turns  [][]beamMessage `json:"turns"`
}

// beamMessage is one message. The first of a batch has its date.
type beamMessage struct {
	ID      int    `json:"id"`
	Role    string `json:"role"`
	At      string `json:"time_anchor"`
	Content string `json:"content"`
}

func readBEAM(folder string, usersOnly bool) (c Conversation, err error) {
	c.Name = filepath.Base(folder)
	var chat []beamBatch
	if err := readJSON(filepath.Join(folder, "chat.json"), &chat); err != nil {
		return c, err
	}
	for i := range chat {
		s, err := chat[i].session(usersOnly)
		if err != nil {
			return c, fmt.Errorf("chat.json: batch %d: %w", chat[i].Number, err)
		}
		if len(s.Events) > 0 {
			c.Sessions = append(c.Sessions, s)
		}
	}
	var questions map[string][]struct {
		Question string `json:"question"`
		Sources  any    `json:"source_chat_ids"`
	}
	const file = "probing_questions.json"
	if err := readJSON(filepath.Join(folder, "probing_questions", file), &questions); err != nil {
		return c, err
	}
	for _, kind := range slices.Sorted(maps.Keys(questions)) {
		for _, q := range questions[kind] {
			if kind == "abstention" {
				c.Unanswered = append(c.Unanswered, q.Question)
				continue
			}
			if evidence := c.cited(q.Sources); len(evidence) > 0 {
				category := strings.ReplaceAll(kind, "_", " ")
				c.Questions = append(c.Questions, Question{Text: q.Question, Category: category, Evidence: evidence})
			}
		}
	}
	return c, nil
}

// readJSON reads a file of JSON.
func readJSON(file string, into any) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(file), located(raw, err))
	}
	return nil
}

// place is the mark at the end of a user's message that BEAM's plan has a place for.
var place = regexp.MustCompile(`\s*->->\s*\S+\s*$`)

func (b *beamBatch) session(usersOnly bool) (s Session, err error) {
	s.ID = fmt.Sprintf("batch-%d", b.Number)
	var began time.Time
	n := 0
	for _, m := range slices.Concat(b.Turns...) {
		if m.Role != "user" && m.Role != "assistant" {
			return s, fmt.Errorf("message %d: role %q is not user or assistant", m.ID, m.Role)
		}
		if m.At != "" {
			if began, err = time.Parse("January-02-2006", m.At); err != nil {
				return s, fmt.Errorf("message %d: time_anchor %q is not as March-15-2024", m.ID, m.At)
			}
		}
		if began.IsZero() {
			return s, errors.New("its first message has no time_anchor")
		}
		n++
		if usersOnly && m.Role != "user" {
			continue
		}
		author, role := "user", "user"
		if m.Role == "assistant" {
			author, role = "assistant", "model"
		}
		at := began.Add(time.Duration(n) * pause).Format(time.RFC3339)
		e, err := spoken(strconv.Itoa(m.ID), author, at, role, place.ReplaceAllString(m.Content, ""))
		if err != nil {
			return s, fmt.Errorf("message %d: %w", m.ID, err)
		}
		s.Events = append(s.Events, e)
	}
	return s, nil
}

// cited are the messages whose numbers are in a JSON value, once each: BEAM has them in
// lists, in lists of lists, and in lists by the part of an answer.
func (c *Conversation) cited(sources any) (out []string) {
	switch is := sources.(type) {
	case float64:
		id := strconv.Itoa(int(is))
		if _, e := c.turn(id); e != nil {
			out = append(out, id)
		}
	case []any:
		for _, one := range is {
			out = append(out, c.cited(one)...)
		}
	case map[string]any:
		for _, part := range slices.Sorted(maps.Keys(is)) {
			out = append(out, c.cited(is[part])...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
