package retrieve_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
)

// signCases are memories, and a question whose answer has a sign of least to most.
var signCases = []struct {
	sign, query string
	lines       []string
	least, most float64
}{
	{"constant", "the old kettle", []string{"s/Ann/01-03: The old kettle is on the table."}, 1, 1},

	// All that is relevant is told by the one whom the question names, or by the other.
	{"speaker", "Where did Bob learn the cello?",
		[]string{"s/Bob/01-03: I did learn the cello in Porto.", "t/Ann/01-04: It rained."}, 0.9, 1},
	{"speaker", "Where did Bob learn the cello?",
		[]string{"s/Ann/01-03: I did learn the cello in Porto.", "t/Bob/01-04: It rained."}, 0, 0.1},
	// The question names no author.
	{"speaker", "the cello",
		[]string{"s/Ann/01-03: I did learn the cello in Porto.", "t/Bob/01-04: It rained."}, 0.5, 0.5},
	// One person alone speaks, whatever an agent adds: who tells it says nothing.
	{"speaker", "Where did Bob learn the cello?", []string{"s/Bob/01-03: I did learn the cello in Porto."}, 0.5, 0.5},
	{"speaker", "Where did Bob learn the cello?", []string{"s/Ann/01-03: I did learn the cello in Porto."}, 0.5, 0.5},
	{"speaker", "Where did Bob learn the cello?",
		[]string{"s/Bob/01-03: I did learn the cello.", "s/bot (agent)/01-03: Where did you learn the cello? In Porto."}, 0.5, 0.5},
	// What an agent says counts for no person.
	{"speaker", "Where did Bob learn the cello?",
		[]string{"s/Bob/01-03: I did learn the cello.", "t/bot (agent)/01-03: I did learn the cello.", "u/Ann/01-04: It rained."}, 0.9, 1},
	// Bob only asks, which tells nothing of him. Without a statement the sign is 0.
	{"speaker", "Where did Bob learn the cello?",
		[]string{"s/Ann/01-03: I did learn the cello.", "t/Bob/01-04: Where did you learn the cello?"}, 0, 0.1},
	{"speaker", "Where did Bob learn the cello?",
		[]string{"s/Bob/01-03: Where did she learn the cello?", "t/Ann/01-04: Did she learn the cello?"}, 0, 0},
	// Ann's "you" may be Bob, so that it counts less than her "I".
	{"speaker", "Where did Bob learn the cello?",
		[]string{"s/Ann/01-03: I did learn the cello, Bob.", "t/Bob/01-03: I did learn the cello."}, 0.2, 0.45},
	{"speaker", "Where did Bob learn the cello?",
		[]string{"s/Ann/01-03: You did learn the cello, Bob.", "t/Bob/01-03: I did learn the cello."}, 0.55, 0.8},

	// One person alone speaks, whom the question is about or not.
	{"about", "Where did I learn the cello?", []string{"s/ann/01-03: I did learn the cello in Porto."}, 1, 1},
	{"about", "Where did Bob learn the cello?", []string{"s/ann/01-03: Bob did learn the cello in Porto."}, 0, 0},
	{"about", "Where did I learn the cello?",
		[]string{"s/ann/01-03: I did learn the cello in Porto.", "s/Bob/01-03: In Porto, the cello!"}, 0.5, 0.5},

	// One person under two names is one person, and what a client states is about the user.
	{"about", "Where did I learn the cello?",
		[]string{"s/user/01-03: I did learn the cello in Porto.", "s/ann/01-03: In Porto, the cello!"}, 1, 1},
	{"about", "Where did I learn the cello?", []string{"fact//01-03: I did learn the cello in Porto."}, 1, 1},
	{"about", "Where did I learn the cello?", []string{"s/bot (agent)/01-03: You did learn the cello in Porto."}, 0, 0},
	{"about", "Where did Bob learn the cello?", []string{"fact//01-03: I did learn the cello in Porto."}, 0, 0},

	{"unsaid", "the old kettle", []string{"s/Ann/01-03: The old kettle is on the table."}, 0, 0},
	{"unsaid", "the old kettle", []string{"s/Ann/01-03: The old table."}, 0.5, 0.9}, // none has the rarer word
	{"unsaid", "a red kite", []string{"s/Ann/01-03: a"}, 0, 1},

	{"relevance", "The old kettle leaks.", []string{"s/Ann/01-03: The old kettle leaks."}, 0.6, 1},
	{"relevance", "the kettle at the museum", []string{"s/Ann/01-03: The kettle."}, 0.05, 0.6},

	{"answer", "When did the roof leak?", []string{"s/Ann/01-03: The roof did leak yesterday."}, 1, 1},
	{"answer", "When did the roof leak?", []string{"s/Ann/01-03: The roof did leak badly."}, 0, 0},
	{"answer", "Who fixed the roof?", []string{"s/Ann/01-03: The roof, Marco fixed it."}, 1, 1},
}

// Each sign of confidence has its value from what it looks at, and the log-odds of
// confidence are their sum.
func TestSigns(t *testing.T) {
	seen := map[string]bool{}
	for i, c := range signCases {
		seen[c.sign] = true
		t.Run(fmt.Sprint(i, " ", c.sign), func(t *testing.T) {
			store := told(t, c.lines...)
			got, err := retrieve.New(store, embed.Builtin{}, nil).
				Answer(t.Context(), ann, retrieve.Request{Query: c.query, Explain: true})
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			sum := 0.0
			for _, s := range got.Signs {
				names, sum = append(names, s.Name), sum+s.Value*s.Weight
				if s.Name == c.sign && (s.Value < c.least || s.Value > c.most) {
					t.Errorf("%q: %s is %v, want %v to %v", c.query, s.Name, s.Value, c.least, c.most)
				}
			}
			if d := cmp.Diff(retrieve.Signs(), names); d != "" {
				t.Errorf("signs (-want +got):\n%s", d)
			}
			if want := 1 / (1 + math.Exp(-sum)); math.Abs(got.Confidence-want) > 0.00051 {
				t.Errorf("confidence %v, want %v", got.Confidence, want)
			}
		})
	}
	if missing := slices.DeleteFunc(retrieve.Signs(), func(s string) bool { return seen[s] }); len(missing) > 0 {
		t.Errorf("no case of %v", missing)
	}
}

// An answer of less confidence than asked for has no matches and keeps its confidence
// and signs; where nothing is found, confidence is 0.
func TestMinConfidence(t *testing.T) {
	r := retrieve.New(told(t, "s/Ann/01-03: The old kettle is on the table."), embed.Builtin{}, nil)
	ask := func(req retrieve.Request) retrieve.Answer {
		t.Helper()
		req.Explain = true
		got, err := r.Answer(t.Context(), ann, req)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	all := ask(retrieve.Request{Query: "the old kettle"})
	if len(all.Matches) != 1 || all.Confidence <= 0 || all.Confidence >= 1 {
		t.Fatalf("found %v with confidence %v", ids(all.Matches), all.Confidence)
	}
	told := cmpopts.IgnoreUnexported(retrieve.Answer{})
	if d := cmp.Diff(all, ask(retrieve.Request{Query: "the old kettle", MinConfidence: all.Confidence}), told); d != "" {
		t.Errorf("with as much confidence as asked for (-want +got):\n%s", d)
	}
	less := ask(retrieve.Request{Query: "the old kettle", MinConfidence: all.Confidence + 0.001})
	if d := cmp.Diff(retrieve.Answer{Matches: []memory.Match{}, Confidence: all.Confidence, Signs: all.Signs}, less, told); d != "" {
		t.Errorf("with less (-want +got):\n%s", d)
	}
	none := ask(retrieve.Request{Query: "the old kettle", Filter: memory.Filter{SessionID: "none"}})
	if d := cmp.Diff(retrieve.Answer{Matches: []memory.Match{}}, none, told); d != "" {
		t.Errorf("nothing (-want +got):\n%s", d)
	}
}
