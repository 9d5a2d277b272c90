package retrieve_test

import (
	"strings"
	"testing"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
)

// Of two facts about one thing that a client gave, the newer is first, whatever their
// words, unless the question asks for the past. Facts of others, of other things and
// without a client's hand keep their order.
func TestNewerFirst(t *testing.T) {
	given := func(id string, n int, author, text string) memory.Memory {
		m := fact(id, "", "", n, "", text)
		m.Author = author
		return m
	}
	r := remembering(t,
		given("old", 1, "", "I live in Berlin."), given("new", 20, "", "I moved to Rome."),
		given("middle", 9, "", "I live in Oslo."),
		given("bob", 25, "Bob", "I moved to Porto."), given("sister", 26, "", "My sister lives in Lyon."),
		fact("a", "s", "x", 1, "", "My favourite colour is deep blue."), fact("b", "s", "y", 9, "", "I like green, my favourite colour."),
	)
	for query, want := range map[string]string{
		"Do I live in Berlin?":                  "new",
		"Where do I live?":                      "new",
		"Where did I live before Rome? Berlin?": "old",
		"Is deep blue my favourite colour?":     "a",
	} {
		found := search(t, r, retrieve.Request{Query: query, Explain: true})
		if got := strings.Join(ids(found), " "); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s first", query, got, want)
		}
	}
}
