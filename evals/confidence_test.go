package evals

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract/rules"
)

// TestPairs has the confidence of answers to questions that a turn answers, and of
// questions about the same things that nothing answers.
func TestPairs(t *testing.T) {
	d, err := Pairs()
	if err != nil {
		t.Fatal(err)
	}
	alone := OneSpeaker(d)
	alone.Name = "pairs, one speaker"
	var trials []Trial
	for _, d := range []*Dataset{d, alone} {
		trials = append(trials, confidenceOf(t, d)...)
	}
	byQuestion := map[string]float64{}
	for _, t := range trials {
		if t.Set == d.Name && t.Kind != swapped {
			byQuestion[t.Question] = t.Confidence
		}
	}
	var got strings.Builder
	got.WriteString(ConfidenceTable(trials))
	got.WriteString("\nconfidence where a turn answers, and where nothing does\n")
	pairs, more := 0, 0
	for i := range d.Conversations {
		c := &d.Conversations[i]
		for j, q := range c.Questions {
			none := c.Unanswered[j]
			fmt.Fprintf(&got, "%.3f  %.3f  %s: %s | %s\n", byQuestion[q.Text], byQuestion[none], c.Name, q.Text, none)
			pairs++
			if byQuestion[q.Text] > byQuestion[none] {
				more++
			}
		}
	}
	fmt.Fprintf(&got, "%d of %d answered questions have more\n", more, pairs)
	if pairs < 40 || len(byQuestion) != 2*pairs {
		t.Errorf("%d pairs, %d questions", pairs, len(byQuestion))
	}
	sameAsFile(t, "testdata/confidence", got.String())
}

// confidenceOf asks the questions of a dataset.
func confidenceOf(t *testing.T, d *Dataset) []Trial {
	t.Helper()
	b, err := Fill(t.Context(), d, rules.New(), embed.Builtin{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}()
	trials, err := b.Confidence(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return trials
}

// Of one speaker are what that one says, and the questions that it answers. What the other
// says is asked of this one, and nothing answers it.
func TestOneSpeaker(t *testing.T) {
	c, err := parseConversation("goats", archive(
		"1/conversation", "2024-01-01T08:00:00Z Ann: I have a goat.\n2024-01-01T08:01:00Z Bob: I have a hen.\n",
		"2/conversation", "2024-01-02T08:00:00Z Bob: My hen is called Ada.\n",
		"questions", "plain: What does Ann have? | 1-1\nplain: What is Bob's hen called? | 2-1\n"+
			"plain: Which animals are there? | 1-1, 1-2\napart: Is Bob's goat white? | 1-1\n"))
	if err != nil {
		t.Fatal(err)
	}
	d := &Dataset{Name: "d", Conversations: []Conversation{c}, Categories: []string{"plain", "apart"}, Apart: "apart"}
	var got []string
	for _, c := range OneSpeaker(d).Conversations {
		for _, s := range c.Sessions {
			for _, e := range s.Events {
				got = append(got, c.Name+": "+s.ID+" "+e.ID+" "+e.Author)
			}
		}
		for _, q := range c.Questions {
			got = append(got, c.Name+": "+q.Text)
		}
		for _, q := range c.Unanswered {
			got = append(got, c.Name+": nothing answers: "+q)
		}
	}
	if d := cmp.Diff([]string{
		"goats, Ann: 1 1-1 Ann",
		"goats, Ann: What does Ann have?",
		"goats, Ann: nothing answers: What is Ann's hen called?",
		"goats, Bob: 1 1-2 Bob", "goats, Bob: 2 2-1 Bob",
		"goats, Bob: What is Bob's hen called?",
		"goats, Bob: nothing answers: What does Bob have?",
		"goats, Bob: nothing answers: Is Bob's goat white?",
	}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestParsePairs(t *testing.T) {
	for _, text := range []string{"What? | 1-1\n", "What? | 1-1 | Why? | 1-2\n", "\n"} {
		if got, err := parsePairs(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}
