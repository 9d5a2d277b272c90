package retrieve_test

import (
	"testing"

	"github.com/memoryd/memoryd/retrieve"
)

// Questions that share no word with their answers find them.
func TestToldAs(t *testing.T) {
	r := remembering(t,
		turn("boss", "s", 1, "user", "My boss is Amrita."), turn("home", "s", 1, "user", "Home is Kobe."),
		turn("mate", "s", 1, "user", "Felix is my roommate."), turn("hedge", "s", 1, "user", "The hedge needs a trim."),
	)
	for query, want := range map[string]string{
		"Who do I report to?": "boss", "Where do I live?": "home", "Who do I share the flat with?": "mate",
	} {
		found := search(t, r, retrieve.Request{Query: query, TopK: 3})
		if len(found) == 0 || found[0].Memory.ID != want {
			t.Errorf("%s: %v, want %s first", query, ids(found), want)
		}
	}
}
