package retrieve_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/internal/analyzer"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
)

// Nearest orders facts as Search does when the parts are left out that look
// beyond what a fact says.
func TestNearest(t *testing.T) {
	s := told(t, "fact/Ann/01-03: Ann lives in Porto.", "fact/Ann/01-04: Ann moved to a flat in Lisbon.",
		"fact/Bob/01-05: Bob plays the cello in an orchestra.", "fact/Ann/01-06: Ann's flat in Lisbon has a blue door.",
		"fact/Ann/01-07: Ann adopted a dog.", "s/Ann/01-08: I live in a flat in Lisbon!")
	for _, text := range []string{"Ann has a new flat in Lisbon.", "Bob sold his cello.", "Ann has a puppy."} {
		vectors, err := embed.Builtin{}.Embed(t.Context(), embed.Document, []string{text})
		if err != nil {
			t.Fatal(err)
		}
		facts := memory.Filter{Kinds: []memory.Kind{memory.KindFact}}
		found, err := s.Search(
			t.Context(),
			ann,
			memory.Query{Terms: analyzer.Question(text), Vector: vectors[0], Limit: 10, Filter: facts},
		)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range retrieve.Nearest(found, embed.Builtin{}.Model().Noise) {
			got = append(got, m.ID)
		}
		r := retrieve.New(
			s,
			embed.Builtin{},
			&retrieve.Options{Without: []string{"speaker", "statement", "answer", "time", "recency", "diversity"}},
		)
		want := ids(search(t, r, retrieve.Request{Query: text, Filter: facts}))
		if len(want) == 0 || len(got) < len(want) || !slices.Equal(want, got[:len(want)]) {
			t.Errorf("%s (-Search +Nearest):\n%s", text, cmp.Diff(want, got))
		}
	}
}
