package retrieve_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
)

// outdated marks a match.
func outdated(m memory.Match, redundant bool, by ...string) memory.Match {
	m.Outdated = &memory.Outdated{Since: time.Date(2026, 6, 10, 0, 0, 0, 0, time.UTC), By: by, Redundant: redundant}
	return m
}

// What is outdated is left out of a block where its successor is shown, or has its end
// in its line.
func TestOutdatedInBlocks(t *testing.T) {
	fresh := fact("new", "s2", "t2", 20, "", "I moved to Rome.")
	old := turn("old", "s1", 1, "Ann", "I live in Berlin.")
	tells := turn("t2", "s2", 20, "Ann", "I moved to Rome, and the neighbours complain about noise all night, every night.")
	match := func(score float64, m memory.Memory) memory.Match { return memory.Match{Memory: m, Score: score} }
	for _, c := range []struct {
		name          string
		matches       []memory.Match
		text, preload []string // lines of the memories alone
	}{
		{"all of it outdated", []memory.Match{match(.9, fresh), outdated(match(.8, old), true, "new")},
			[]string{"[1] (20 May 2023, Ann) I moved to Rome."}, []string{"Ann: I moved to Rome."}},
		{"some of it outdated", []memory.Match{match(.9, fresh), outdated(match(.8, old), false, "new")},
			[]string{"[1] (20 May 2023, Ann) I moved to Rome.",
				"[2] (1 May 2023, Ann) (until 10 June 2026; now [1]) I live in Berlin."},
			[]string{"Ann: (until 10 June 2026) I live in Berlin.", "Ann: I moved to Rome."}},
		{"asked for", []memory.Match{outdated(match(.9, old), true, "new"), match(.8, fresh)},
			[]string{"[1] (20 May 2023, Ann) I moved to Rome.",
				"[2] (1 May 2023, Ann) (until 10 June 2026; now [1]) I live in Berlin."},
			[]string{"Ann: (until 10 June 2026) I live in Berlin.", "Ann: I moved to Rome."}},
		{"nothing instead", []memory.Match{outdated(match(.9, old), true)},
			[]string{"[1] (1 May 2023, Ann) (until 10 June 2026) I live in Berlin."},
			[]string{"Ann: (until 10 June 2026) I live in Berlin."}},
		{"its successor is not among the matches", []memory.Match{outdated(match(.9, old), true, "gone")},
			[]string{"[1] (1 May 2023, Ann) (until 10 June 2026) I live in Berlin."},
			[]string{"Ann: (until 10 June 2026) I live in Berlin."}},
		{"the turn of the successor says more", []memory.Match{match(.9, fresh), match(.85, tells),
			outdated(match(.8, old), false, "new")},
			[]string{"[1] (1 May 2023, Ann) (until 10 June 2026; now [2]) I live in Berlin.", "[2] (20 May 2023, Ann) " + tells.Fact},
			[]string{"Ann: (until 10 June 2026) I live in Berlin.", "Ann: " + tells.Fact}},
		{"the turn of the successor says more, and all is outdated", []memory.Match{match(.9, fresh), match(.85, tells),
			outdated(match(.8, old), true, "new")},
			[]string{"[1] (20 May 2023, Ann) " + tells.Fact}, []string{"Ann: " + tells.Fact}},
		{"what holds of an outdated turn has its own line", []memory.Match{match(.9, fresh),
			outdated(match(.8, turn("old", "s1", 1, "Ann", "I live in Berlin near the zoo with my dog Rex.")), false, "new"),
			match(.7, fact("dog", "s1", "old", 1, "", "Rex my dog"))},
			[]string{"[1] (1 May 2023, Ann) Rex my dog", "[2] (20 May 2023, Ann) I moved to Rome.",
				"[3] (1 May 2023, Ann) (until 10 June 2026; now [2]) I live in Berlin near the zoo with my dog Rex."},
			[]string{"Ann: Rex my dog", "Ann: (until 10 June 2026) I live in Berlin near the zoo with my dog Rex.",
				"Ann: I moved to Rome."}},
	} {
		for form, want := range map[string][]string{"[": c.text, "Ann": c.preload} {
			b := retrieve.BlockOf(c.matches, nil, 1024)
			if form != "[" {
				b = retrieve.PreloadOf(c.matches, nil, 1024)
			}
			var got []string
			for _, l := range inner(t, b) {
				if strings.HasPrefix(l, form) {
					got = append(got, l)
				}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s (-want +got)\n%s", c.name, d)
			}
			if len(b.Memories) != len(want) {
				t.Errorf("%s: %d memories for %d lines", c.name, len(b.Memories), len(want))
			}
		}
	}
}

// A search for lines gives a fact and its turn as one match, whatever kind is better,
// leaves out what is outdated, and fills topK.
func TestSearchLines(t *testing.T) {
	memories := append(moved(),
		turn("t5", "s5", 5, "Ann", "I adopted a cat called Miso last week, and now the neighbours complain about noise."),
		fact("f5", "s5", "t5", 5, "", "I adopted a cat called Miso in the week of 2023-05-01."),
		turn("t6", "s5", 6, "Ann", "My cat Miso eats fish."), fact("f6", "s5", "t6", 6, "", "My cat Miso eats fish."),
		turn("t7", "s5", 7, "Ann", "Cats are animals, and Miso is one of the nicest of all that I know."),
		fact("f7", "s5", "t7", 7, "", "Miso is one of the nicest."))
	r := remembering(t, memories...)
	lines := func(query string, topK int) (out []string) {
		last := 1.0
		for _, m := range search(t, r, retrieve.Request{Query: query, TopK: topK, Lines: true}) {
			if m.Score > last {
				t.Errorf("%q: %q has score %v behind %v", query, m.Line, m.Score, last)
			}
			last = m.Score
			out = append(out, m.Line)
		}
		return out
	}
	cats := lines("my cat Miso", 3)
	for _, want := range []string{
		`I adopted a cat called Miso in the week of 2023-05-01. ("I adopted a cat called Miso last week, and now the neighbours complain about noise.")`,
		"My cat Miso eats fish.", "Cats are animals, and Miso is one of the nicest of all that I know.",
	} {
		n := 0
		for _, l := range cats {
			if l == want {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%q is there %d times in %q", want, n, cats)
		}
	}
	if got := lines("Berlin", 10); got[0] != "We have settled down near Rome." || strings.Contains(strings.Join(got, "\n"), "I live in Berlin") {
		t.Errorf("Berlin: %q", got)
	}
	if got := lines("Where did I live before?", 2); len(got) != 2 || got[0] != "(until 20 May 2023) I live in Berlin." {
		t.Errorf("before: %q", got)
	}
	if found := search(t, r, retrieve.Request{Query: "Berlin"}); found[0].Line != "" {
		t.Errorf("a line that was not asked for: %q", found[0].Line)
	}
}
