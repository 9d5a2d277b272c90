package extract

import (
	"log/slog"
	"strings"
	"testing"
	"unicode"

	"github.com/memoryd/memoryd/memory"
)

// What cannot be seen does not reach a model with the turns, the facts, the
// question, or the texts to rank. A quote without it is found in the words of the
// turn, and what a model adds of it is not stored.
func TestPromptsAreLegible(t *testing.T) {
	const sly = "\u200b\ufe0f\U000e0049\u3164\u034f\u202e"
	turn := Turn{SessionID: "s", EventID: "e1", Author: "Ann" + sly, User: true, Timestamp: monday8May,
		Text: "I like\u2028the s" + sly + "ea, می‌دانم."}
	g := says(`{"facts":[{"fact":"Ann likes`+sly+` the sea","topic":"USER_PREFERENCES","events":[1],"quote":"like the sea","when":"","confidence":1,"forget":false}]}`,
		`{"verdicts":[]}`, `{"scores":[]}`, `{"statements":["the s`+sly+`ea"]}`)
	found, err := NewModel(g, nil).Extract(t.Context(), Batch{Before: []Turn{turn}, Turns: []Turn{turn}})
	if err != nil || len(found.Facts) != 1 {
		t.Fatalf("%+v, %v", found, err)
	}
	if f := found.Facts[0]; f.Text != "Ann likes the sea" || f.Quote != "like\u2028the s"+sly+"ea" {
		t.Errorf("fact %+q of %+q", f.Text, f.Quote)
	}
	fact := memory.Memory{Fact: "sea" + sly, Author: "Ann" + sly, Timestamp: monday8May}
	c := Comparison{Known: []memory.Memory{fact}, New: []NewFact{{Text: "sea" + sly, Author: sly, Timestamp: monday8May}}}
	if _, err := NewModel(g, nil).Consolidate(t.Context(), c, false); err != nil {
		t.Fatal(err)
	}
	if _, err := NewReranker(g, slog.New(slog.DiscardHandler)).Rerank(t.Context(), "the"+sly, []string{"sea" + sly}); err != nil {
		t.Fatal(err)
	}
	guesses, err := NewExpander(g, slog.New(slog.DiscardHandler)).Expand(t.Context(), "the sea"+sly)
	if err != nil || len(guesses) != 1 || guesses[0] != "the sea" {
		t.Fatalf("guesses %+q, %v", guesses, err)
	}
	for i, p := range g.prompts {
		for _, r := range strings.Replace(p.Data, "می‌دانم", "", 2) {
			if unicode.In(r, unicode.Cf, unicode.Co, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) {
				t.Errorf("prompt %d has %U: %s", i, r, p.Data)
			}
		}
		if !strings.Contains(p.Data, "sea") {
			t.Errorf("prompt %d: %s", i, p.Data)
		}
	}
	if len(g.prompts) != 4 || !strings.Contains(g.prompts[0].Data, "می‌دانم") {
		t.Errorf("%d prompts, the first %q", len(g.prompts), g.prompts[0].Data)
	}
}
