package retrieve_test

import (
	"strings"
	"testing"

	"github.com/memoryd/memoryd/retrieve"
)

// A short question finds what is about the same though no word is, and nothing that is about something else or somebody
// else.
func TestTheme(t *testing.T) {
	r := remembering(t,
		fact("job", "s", "a", 1, "user", "I started last Monday at Brightwater Clinic."),
		fact("tea", "s", "b", 2, "user", "I like tea."),
		fact("sister", "s", "c", 3, "user", "My sister joined Ocado."),
	)
	for query, want := range map[string]string{
		"Who is my employer?":       "job",
		"Which company employs me?": "job",
		"What is my shoe size?":     "",
		"Who is the employer of the man who wrote the letter about the factory?": "",
	} {
		found := search(t, r, retrieve.Request{Query: query, Explain: true})
		if got := strings.Join(ids(found), " "); got != want {
			t.Errorf("%s: found %q, want %q", query, got, want)
		}
	}
}
