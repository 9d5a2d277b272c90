package retrieve

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAsksForSeveral(t *testing.T) {
	type read struct{ several, ordered bool }
	for text, want := range map[string]read{
		"Which books has Ann read?":                          {several: true},
		"What kinds of food does Bob cook?":                  {several: true},
		"What are my hobbies?":                               {several: true},
		"Which people has she met?":                          {several: true},
		"How many cats do I have?":                           {several: true},
		"Can you list all trips that I took?":                {several: true},
		"Summarize what we said about the garden.":           {several: true},
		"In what order did I visit the cities?":              {several: true, ordered: true},
		"List the order in which I brought up the repairs.":  {several: true, ordered: true},
		"Tell me, in order, where Ann has lived.":            {several: true, ordered: true},
		"How has my garden changed over time?":               {several: true, ordered: true},
		"Welche Reisen habe ich gemacht, in der Reihenfolge": {several: true, ordered: true},
		"Quels livres a-t-elle lus ?":                        {several: true},
		"¿Cuántos gatos tengo?":                              {several: true},
		"我去过哪些城市？":                                           {several: true},
		"What book has Ann read?":                            {},
		"What is on my shopping list?":                       {},
		"What did I order for dinner?":                       {},
		"What do I do in order to sleep well?":               {},
		"What are you doing?":                                {},
		"What does Ann like about trips?":                    {},
		"What helps Ann to stay calm?":                       {},
		"What is her address?":                               {},
		"When did she move?":                                 {},
		"":                                                   {},
		"a text \xff with bytes that are no letters \x00":    {},
	} {
		words := plainWords(text)
		if got := (read{asksForSeveral(words, text), asksForOrder(words, text)}); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

// Of a question for several things the words count that say what they are about.
func TestMatterOf(t *testing.T) {
	for text, want := range map[string][]string{
		"Can you list the order in which I mentioned different aspects of the garden throughout our conversations?": {"garden"},
		"Summarize our discussions.":      {"summar", "discuss"}, // there are no others
		"Did we mention the garden list?": {"mention", "garden", "list"},
		"How many books did Ann mention?": {"mani", "book", "ann"},
		"":                                nil,
	} {
		got := matterOf(text)
		got = slices.DeleteFunc(got, func(w string) bool { return w == "can" || w == "you" })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}
