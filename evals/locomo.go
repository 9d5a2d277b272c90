package evals

import (
	"bytes"
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

	"github.com/memoryd/memoryd/extract"
)

// locomoCategories are the names of LoCoMo's categories of questions, by their
// numbers, which begin with 1.
var locomoCategories = []string{"multi-hop", "temporal", "open-domain", "single-hop", "adversarial"}

// pause is the time between two turns of datasets that have the time at which a
// session began, and none of its turns.
const pause = 20 * time.Second

// LoCoMo reads a file of LoCoMo (Maharana et al., "Evaluating Very Long-Term
// Conversational Memory of LLM Agents", ACL 2024), such as locomo10.json: one
// user for each conversation, a session for each of its dated sessions, and an
// event for each turn, whose id is LoCoMo's. The caption of a picture is part of
// its turn's text. Malformed ids of evidence are mended, ids that name no turn are
// dropped, and questions without evidence are left out.
//
// The data is under CC BY-NC 4.0: use it to measure only.
func LoCoMo(file string) (*Dataset, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	d, err := readLoCoMo(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(file), err)
	}
	return d, nil
}

// locomoSample is one conversation of the file.
type locomoSample struct {
	ID           string                     `json:"sample_id"`
	Conversation map[string]json.RawMessage `json:"conversation"`
	Questions    []struct {
		Question string   `json:"question"`
		Category int      `json:"category"`
		Evidence []string `json:"evidence"`
	} `json:"qa"`
	Observations map[string]map[string][]locomoObservation `json:"observation"`
}

// locomoTurn is one turn of a session.
type locomoTurn struct {
	ID      string `json:"dia_id"`
	Speaker string `json:"speaker"`
	Text    string `json:"text"`
	Caption string `json:"blip_caption"`
}

// locomoObservation is [text, ids], where ids is one string or a list of strings.
type locomoObservation struct{ text, ids string }

// UnmarshalJSON implements json.Unmarshaler.
func (o *locomoObservation) UnmarshalJSON(raw []byte) error {
	var pair []json.RawMessage
	if err := json.Unmarshal(raw, &pair); err != nil {
		return err
	}
	if len(pair) != 2 {
		return fmt.Errorf("an observation is not [text, ids]: %.80s", raw)
	}
	o.ids = string(pair[1])
	return json.Unmarshal(pair[0], &o.text)
}

func readLoCoMo(raw []byte) (*Dataset, error) {
	if first := bytes.TrimLeft(raw, " \t\r\n"); len(first) == 0 || first[0] != '[' {
		return nil, errors.New("is not LoCoMo, which is a JSON list of conversations")
	}
	var samples []locomoSample
	if err := json.Unmarshal(raw, &samples); err != nil {
		return nil, located(raw, err)
	}
	d := &Dataset{Name: "locomo", Categories: locomoCategories, Pooled: "categories 1-4", Apart: "adversarial"}
	for i := range samples {
		c, err := samples[i].read()
		if err != nil {
			return nil, fmt.Errorf("conversation %d (sample_id %q): %w", i+1, samples[i].ID, err)
		}
		d.Conversations = append(d.Conversations, c)
	}
	return d, d.validate()
}

// located adds to an error of reading JSON the line of the file.
func located(raw []byte, err error) error {
	at := int64(-1)
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		at = syntax.Offset
	} else if kind := (*json.UnmarshalTypeError)(nil); errors.As(err, &kind) {
		at = kind.Offset
	}
	if at < 0 || at > int64(len(raw)) {
		return err
	}
	return fmt.Errorf("line %d: %w", 1+bytes.Count(raw[:at], []byte("\n")), err)
}

func (s *locomoSample) read() (c Conversation, err error) {
	c.Name = s.ID
	for _, n := range s.numbers() {
		session, err := s.session(n)
		if err != nil {
			return c, fmt.Errorf("session_%d: %w", n, err)
		}
		if len(session.Events) > 0 {
			c.Sessions = append(c.Sessions, session)
		}
	}
	if len(c.Sessions) == 0 {
		return c, errors.New("no session_1 is in its conversation: is this LoCoMo?")
	}
	if err := c.ask(s, locomoCategories); err != nil {
		return c, err
	}
	c.Facts = s.facts(&c)
	return c, nil
}

// ask takes the questions of a file, whose categories are numbers.
func (c *Conversation) ask(s *locomoSample, categories []string) error {
	for i, q := range s.Questions {
		if q.Category < 1 || q.Category > len(categories) {
			return fmt.Errorf("qa %d: category %d is not within 1 to %d", i+1, q.Category, len(categories))
		}
		if strings.TrimSpace(q.Question) == "" {
			return fmt.Errorf("qa %d: it has no question", i+1)
		}
		if evidence := c.mend(strings.Join(q.Evidence, " ")); len(evidence) > 0 {
			category := categories[q.Category-1]
			c.Questions = append(c.Questions, Question{Text: q.Question, Category: category, Evidence: evidence})
		}
	}
	return nil
}

var sessionName = regexp.MustCompile(`^session_(\d+)$`)

// numbers are the numbers of the sessions, in order.
func (s *locomoSample) numbers() (out []int) {
	for key, value := range s.Conversation {
		if m := sessionName.FindStringSubmatch(key); m != nil && len(value) > 0 && value[0] == '[' {
			if n, err := strconv.Atoi(m[1]); err == nil {
				out = append(out, n)
			}
		}
	}
	slices.Sort(out)
	return out
}

func (s *locomoSample) session(n int) (out Session, err error) {
	name := fmt.Sprintf("session_%d", n)
	var turns []locomoTurn
	if err := json.Unmarshal(s.Conversation[name], &turns); err != nil {
		return out, err
	}
	var date string
	if raw := s.Conversation[name+"_date_time"]; raw == nil {
		return out, fmt.Errorf("its %s_date_time is missing", name)
	} else if err := json.Unmarshal(raw, &date); err != nil {
		return out, fmt.Errorf("%s_date_time: %w", name, err)
	}
	began, err := time.Parse("3:04 pm on 2 January, 2006", strings.ToLower(date))
	if err != nil {
		return out, fmt.Errorf("%s_date_time: %q is not as 1:56 pm on 8 May, 2023", name, date)
	}
	out.ID = fmt.Sprintf("session-%d", n)
	for i, t := range turns {
		if t.ID == "" || t.Speaker == "" {
			return out, fmt.Errorf("turn %d has no dia_id or no speaker", i+1)
		}
		at := began.Add(time.Duration(i) * pause).Format(time.RFC3339)
		e, err := spoken(t.ID, t.Speaker, at, "user", captioned(t.Text, t.Caption))
		if err != nil {
			return out, fmt.Errorf("turn %s: %w", t.ID, err)
		}
		out.Events = append(out.Events, e)
	}
	return out, nil
}

// captioned is a text with the caption of the picture that was shared with it.
func captioned(text, caption string) string {
	if caption == "" {
		return text
	}
	return text + " [shares " + caption + "]"
}

var turnIDs = regexp.MustCompile(`D:?(\d+):(\d+)`)

// mend finds ids in a text ("D8:6; D9:17", "D:11:26", "D30:05"), and returns those
// that name a turn, once each.
func (c *Conversation) mend(text string) (out []string) {
	for _, m := range turnIDs.FindAllStringSubmatch(text, -1) {
		session, err := strconv.Atoi(m[1])
		turn, err2 := strconv.Atoi(m[2])
		id := fmt.Sprintf("D%d:%d", session, turn)
		if _, e := c.turn(id); err == nil && err2 == nil && e != nil && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// facts are the observations as facts. A fact has the time and the author of the
// first turn that it cites, and rests on the turns of that turn's session.
func (s *locomoSample) facts(c *Conversation) (out []extract.Fact) {
	for _, n := range s.numbers() {
		bySpeaker := s.Observations[fmt.Sprintf("session_%d_observation", n)]
		for _, speaker := range slices.Sorted(maps.Keys(bySpeaker)) {
			for _, o := range bySpeaker[speaker] {
				if f, ok := c.fact(o.text, c.mend(o.ids)); ok {
					out = append(out, f)
				}
			}
		}
	}
	return out
}

// fact is a statement that rests on turns; ok is false if none of them is there.
func (c *Conversation) fact(text string, ids []string) (f extract.Fact, ok bool) {
	for _, id := range ids {
		session, e := c.turn(id)
		switch {
		case f.SessionID == "":
			t, ok := extract.ReadTurn(session, *e)
			if !ok {
				continue
			}
			f = extract.Fact{SessionID: session, Text: text, Author: t.Author, Timestamp: t.Timestamp,
				EventIDs: []string{id}, Quote: t.Text}
		case f.SessionID == session:
			f.EventIDs = append(f.EventIDs, id)
		}
	}
	return f, f.SessionID != "" && strings.TrimSpace(text) != ""
}
