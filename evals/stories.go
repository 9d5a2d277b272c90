package evals

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/memoryd/memoryd/sessionstore"
)

//go:embed stories/*.jsonl
var storyFiles embed.FS

// StorySets are the names of the sets of Stories: the one that rules may be written
// for, and the one that stays unread and is only counted.
var StorySets = []string{"tuned", "heldout"}

// control is the class of the stories in which nothing changes.
const control = "control"

// Story is what a user says over some sessions, and a question at the end. In a story
// of change the turn New ends what the turn Old said. In one of the class "control"
// nothing ends.
type Story struct {
	Name     string         `json:"name"`
	Class    string         `json:"class"` // of what changes, or "control"
	Sessions []StorySession `json:"sessions"`
	Question string         `json:"question"`
	Holds    []string       `json:"holds"` // words of an answer that is true at the end, any of them
	Ended    []string       `json:"ended"` // words of what is no longer true
	Old      string         `json:"old"`   // a part of one turn of the user
	New      string         `json:"new"`   // a part of one turn of the user
	Keep     []string       `json:"keep"`  // of a control: parts of turns of the user

	events   [][]sessionstore.Event // of each session
	old, new turnID
	keep     []turnID // the turns of the user whose facts must stay
}

// StorySession is one session of a story. A turn begins with "user: " or "assistant: ".
type StorySession struct {
	Time  time.Time `json:"time"` // of the first turn; each further one is 20 seconds later
	Turns []string  `json:"turns"`
}

// turnID names an event of a story.
type turnID struct{ session, event string }

// Stories reads the stories of one of StorySets. An error of it names lines, not
// stories.
func Stories(set string) ([]Story, error) {
	raw, err := storyFiles.ReadFile("stories/" + set + ".jsonl")
	if err != nil {
		return nil, err
	}
	out, err := parseStories(raw)
	if err != nil {
		return nil, fmt.Errorf("stories %s: %w", set, err)
	}
	return out, nil
}

// parseStories reads stories as JSON, a line each.
func parseStories(raw []byte) (out []Story, err error) {
	n := 0
	for line := range bytes.Lines(raw) {
		n++
		var s Story
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		err := d.Decode(&s)
		if err == nil {
			err = s.prepare()
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		out = append(out, s)
	}
	return out, nil
}

// prepare makes the events of a story, and finds its turns.
func (s *Story) prepare() (err error) {
	if s.Question == "" || len(s.Holds) == 0 || s.control() != (len(s.Ended) == 0) {
		return errors.New("want a question, holds, and ended in a story of change alone")
	}
	for i, session := range s.Sessions {
		id := fmt.Sprint(i + 1)
		var events []sessionstore.Event
		for j, turn := range session.Turns {
			author, text, ok := strings.Cut(turn, ": ")
			role := map[string]string{"user": "user", assistant: "model"}[author]
			if !ok || role == "" {
				return fmt.Errorf("session %s: turn %d has no author", id, j+1)
			}
			at := session.Time.Add(time.Duration(j) * 20 * time.Second).Format(time.RFC3339)
			e, err := spoken(fmt.Sprintf("%s-%d", id, j+1), author, at, role, text)
			if err != nil {
				return fmt.Errorf("session %s: turn %d: %w", id, j+1, err)
			}
			events = append(events, e)
		}
		s.events = append(s.events, events)
	}
	return s.findTurns()
}

// findTurns finds the turns that Old, New and Keep are parts of.
func (s *Story) findTurns() (err error) {
	if s.control() {
		for _, part := range s.Keep {
			id, err := s.turn("keep", part)
			if err != nil {
				return err
			}
			s.keep = append(s.keep, id)
		}
		return nil
	}
	if s.old, err = s.turn("old", s.Old); err != nil {
		return err
	}
	if s.new, err = s.turn("new", s.New); err != nil {
		return err
	}
	s.each(func(id turnID, _ string) {
		if id != s.old {
			s.keep = append(s.keep, id)
		}
	})
	return nil
}

// turn finds the one turn of the user that has a part.
func (s *Story) turn(field, part string) (found turnID, err error) {
	n := 0
	s.each(func(id turnID, text string) {
		if strings.Contains(text, part) {
			found = id
			n++
		}
	})
	if n != 1 || part == "" {
		return found, fmt.Errorf("%s is a part of %d turns of the user, want one", field, n)
	}
	return found, nil
}

// each calls f with the turns of the user.
func (s *Story) each(f func(id turnID, text string)) {
	for i, session := range s.Sessions {
		for j, turn := range session.Turns {
			if text, ok := strings.CutPrefix(turn, "user: "); ok {
				f(turnID{fmt.Sprint(i + 1), s.events[i][j].ID}, text)
			}
		}
	}
}

func (s *Story) control() bool { return s.Class == control }

// order returns the numbers of the sessions in the order in which they arrive: as it
// happened, or with that of the change first. Of a control the last one comes first.
func (s *Story) order(changeFirst bool) (out []int) {
	first := len(s.Sessions) - 1
	for i := range s.Sessions {
		if fmt.Sprint(i+1) == s.new.session {
			first = i
		}
	}
	if changeFirst {
		out = append(out, first)
	}
	for i := range s.Sessions {
		if !changeFirst || i != first {
			out = append(out, i)
		}
	}
	return out
}
