package evals

import (
	"context"
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/memoryd/memoryd/extract"
)

//go:embed talk/*.txt
var talkFiles embed.FS

// Exchange is a few turns of ordinary talk, and the facts that each of them should give.
type Exchange struct {
	Turns []extract.Turn
	Want  [][]Fact // of each turn; the days that matter are From
}

// Talk reads the bundled talk by its sets: "tuned", which rules may be written for, and "heldout", which stays
// unread while rules are written. A blank line parts exchanges. The lines of an exchange are:
//
//	@ 2024-03-05T23:30:00-05:00   the time of the turns; 2024-05-08T13:56:00Z if there is no such line
//	> text                        a turn of the user, in which \n is a line break
//	< text                        a turn of the agent
//	Maya> text                    a turn of Maya, one of two people
//	+ fact | topic | from DAY     a fact that the turn above should give; topic and day may be missing
func Talk() (map[string][]Exchange, error) {
	names, err := talkFiles.ReadDir("talk")
	if err != nil {
		return nil, err
	}
	out := map[string][]Exchange{}
	for _, entry := range names {
		raw, err := talkFiles.ReadFile(path.Join("talk", entry.Name()))
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(entry.Name(), ".txt")
		if out[name], err = parseTalk(string(raw)); err != nil {
			return nil, fmt.Errorf("%s: %w", entry.Name(), err)
		}
	}
	return out, nil
}

// talkTime is when talk takes place that does not say when: on a Wednesday.
var talkTime = time.Date(2024, 5, 8, 13, 56, 0, 0, time.UTC)

// parseTalk reads exchanges.
func parseTalk(text string) (out []Exchange, err error) {
	for part := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n") {
		e, err := parseExchange(part)
		if err != nil {
			return nil, err
		}
		if len(e.Turns) > 0 {
			out = append(out, e)
		}
	}
	return out, nil
}

// parseExchange reads the lines of one exchange.
func parseExchange(text string) (e Exchange, err error) {
	at := talkTime
	for line := range strings.SplitSeq(strings.Trim(text, "\n"), "\n") {
		mark, rest, ok := strings.Cut(line, " ")
		switch {
		case line == "":
			continue
		case mark == "@" && len(e.Turns) == 0:
			if at, err = time.Parse(time.RFC3339, rest); err != nil {
				return e, err
			}
		case mark == "+" && len(e.Turns) > 0:
			facts, err := parseFacts(rest)
			if err != nil {
				return e, fmt.Errorf("%q: %w", line, err)
			}
			last := len(e.Want) - 1
			e.Want[last] = append(e.Want[last], facts...)
		case ok && (mark == "<" || strings.HasSuffix(mark, ">")):
			t := extract.Turn{
				SessionID: "talk", EventID: fmt.Sprintf("e%d", len(e.Turns)+1), Author: strings.TrimSuffix(mark, ">"),
				Timestamp: at.Add(time.Duration(len(e.Turns)) * time.Minute), User: mark != "<",
				Text: strings.ReplaceAll(rest, `\n`, "\n"),
			}
			switch mark {
			case "<":
				t.Author = assistant
			case ">":
				t.Author = "user"
			}
			e.Turns, e.Want = append(e.Turns, t), append(e.Want, nil)
		default:
			return e, fmt.Errorf("%q is no line of an exchange", line)
		}
	}
	return e, nil
}

// TalkScore is how near the facts of some exchanges come to the wanted ones.
type TalkScore struct {
	Turns  int // of users
	Wanted int
	Found  int
	Right  int      // wanted and found, on the wanted day and under the wanted topic
	Missed []string // wanted and not right, as the lines of Talk have them
	Extra  []string // found and not right
}

// Precision is the share of the found facts that are right.
func (s *TalkScore) Precision() float64 { return share(s.Right, s.Found) }

// Recall is the share of the wanted facts that were found.
func (s *TalkScore) Recall() float64 { return share(s.Right, s.Wanted) }

// String is the score as a line.
func (s *TalkScore) String() string {
	return fmt.Sprintf("%d turns, %d wanted, %d found, %d right: precision %.2f, recall %.2f",
		s.Turns, s.Wanted, s.Found, s.Right, s.Precision(), s.Recall())
}

// RunTalk has an extractor read exchanges, each as a batch of its own.
func RunTalk(ctx context.Context, x extract.Extractor, exchanges []Exchange) (s TalkScore, err error) {
	for _, e := range exchanges {
		found, err := x.Extract(ctx, extract.Batch{Turns: e.Turns})
		if err != nil {
			return s, err
		}
		for i, t := range e.Turns {
			if t.User {
				s.Turns++
			}
			s.score(e.Want[i], factsOfTurn(found.Facts, t.EventID))
		}
	}
	return s, nil
}

// factsOfTurn are the facts that quote a turn, without requests to forget.
func factsOfTurn(facts []extract.Fact, event string) (out []Fact) {
	for _, f := range facts {
		if f.EventIDs[0] == event && !f.Forget {
			out = append(out, Fact{Text: f.Text, Topics: f.Topics, From: dayOf(f.ValidFrom)})
		}
	}
	return out
}

// dayOf returns the day of a time, in its location, as expected facts have days: its
// midnight in UTC.
func dayOf(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	y, m, d := t.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// score adds the facts of one turn.
func (s *TalkScore) score(want, got []Fact) {
	s.Wanted += len(want)
	s.Found += len(got)
	rightWant, rightGot := make([]bool, len(want)), make([]bool, len(got))
	for _, p := range pairs(want, got) {
		w, g := &want[p.want], &got[p.got]
		topics := !slices.ContainsFunc(w.Topics, func(t string) bool { return !slices.Contains(g.Topics, t) })
		if !rightWant[p.want] && !rightGot[p.got] && topics && (w.From.IsZero() || w.From.Equal(g.From)) {
			rightWant[p.want], rightGot[p.got] = true, true
			s.Right++
		}
	}
	for _, f := range others(want, rightWant) {
		s.Missed = append(s.Missed, f.String())
	}
	for _, f := range others(got, rightGot) {
		s.Extra = append(s.Extra, f.String())
	}
}
