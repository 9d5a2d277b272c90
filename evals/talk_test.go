package evals

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/extract/rules"
)

// TestTalk holds what the rules make of ordinary talk. Of the set that rules may be written for it shows each fact
// that is missed or too many; of the held-out set it shows only the figures, so that rules are not written for it.
func TestTalk(t *testing.T) {
	sets, err := Talk()
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	turns := 0
	for _, name := range []string{"tuned", "heldout"} {
		s, err := RunTalk(t.Context(), rules.New(), sets[name])
		if err != nil {
			t.Fatal(err)
		}
		turns += s.Turns
		fmt.Fprintf(&got, "%s: %s\n", name, &s)
		if name == "tuned" {
			list(&got, "missed", s.Missed)
			list(&got, "extra", s.Extra)
		}
	}
	if turns < 300 {
		t.Errorf("%d turns of users, want 300", turns)
	}
	sameAsFile(t, "testdata/talk", got.String())
}

func list(b *strings.Builder, name string, facts []string) {
	slices.Sort(facts)
	for _, f := range facts {
		fmt.Fprintf(b, "  %s: %s\n", name, f)
	}
}

// A fact counts as right with its day and its topic; a mistake in the file is found.
func TestTalkScore(t *testing.T) {
	talk, err := parseTalk("> I moved to Rome yesterday\n+ I moved to Rome | KEY_CONVERSATION_DETAILS | from 2024-05-07\n" +
		"\n\n< Where do you live?\nAnn> in Rome\n+ I work in Oslo\n\n@ 2024-01-01T08:00:00Z\n> Hi!\n+ I am a nurse\n")
	if err != nil || len(talk) != 3 || len(talk[1].Turns) != 2 || talk[2].Turns[0].Timestamp.Year() != 2024 {
		t.Fatalf("%+v, %v", talk, err)
	}
	s, err := RunTalk(t.Context(), rules.New(), talk)
	if err != nil || s.Turns != 3 || s.Wanted != 3 || s.Found != 2 || s.Right != 1 || len(s.Extra) != 1 ||
		len(s.Missed) != 2 || s.Precision() != .5 {
		t.Errorf("%s, missed %q, extra %q, %v", &s, s.Missed, s.Extra, err)
	}
	for _, text := range []string{"+ I am a nurse", "hello", "> Hi\n+ x | from then", "@ yesterday\n> Hi"} {
		if _, err := parseTalk(text); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}
