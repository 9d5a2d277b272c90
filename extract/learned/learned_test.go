package learned

import (
	"slices"
	"testing"

	"github.com/memoryd/memoryd/extract/english"
)

// The label of a statement with the best score tells what it is about; "" is none.
func TestOf(t *testing.T) {
	for said, want := range map[string]string{
		"I moved to Ghent last week":                  "home.c",
		"Nantes is home now":                          "home.c",
		"I live in Ghent above a bakery":              "home.s",
		"I was laid off last Friday":                  "work.c",
		"I weigh 88 kilos":                            "weight.s",
		"Please stop using emojis":                    "instr-noemoji",
		"I moved the sofa to the wall":                "",
		"My colleague lost his job":                   "",
		"We went to a concert with friends on Friday": "",
	} {
		best := Found{Score: 0}
		for _, f := range Of(english.Lex(said), 0) {
			if f.Score > best.Score {
				best = f
			}
		}
		got := best.Slot
		if slices.Contains([]string{"home", "work", "weight"}, got) {
			got += map[bool]string{false: ".s", true: ".c"}[best.Change]
		}
		if got != want {
			t.Errorf("%q is %q with %.1f, want %q", said, got, best.Score, want)
		}
	}
}

// The weights are those of the features, or nothing would be found.
func TestWeights(t *testing.T) {
	m, ok := parse(weightsFile)
	if !ok {
		t.Fatal("weights.bin is of another size: learn the weights again, see train/README.md")
	}
	if len(m.labels) < 100 || slices.Contains(m.labels, Label{}) {
		t.Errorf("labels %v", m.labels)
	}
	if _, ok := parse(weightsFile[:len(weightsFile)-1]); ok {
		t.Error("a file that lacks a byte is parsed")
	}
}

// A statement of no words or too many has no labels.
func TestOfBounds(t *testing.T) {
	for _, n := range []int{0, maxWords + 1} {
		if got := Of(make(english.Words, n), -100); got != nil {
			t.Errorf("%d words: %v", n, got)
		}
	}
}

func BenchmarkOf(b *testing.B) {
	ws := english.Lex("I moved to Ghent last week, and I still need curtains")
	for b.Loop() {
		Of(ws, 0)
	}
}
