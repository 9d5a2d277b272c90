package retrieve_test

import (
	"strings"
	"testing"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
)

// Behind a statement of what is so since, one that only ends something answers a question about how things are. A
// question about the end, or about the past, finds the end first.
func TestEndsLast(t *testing.T) {
	diary := []string{
		"I bank with Barclays.", "The hedge needs a trim.", "I closed my Barclays account.", "I opened an account with Monzo.",
		"I play the oboe in an orchestra.", "I gave up the oboe.", "I took up the harp.",
		"I work at Lidl in the warehouse.", "I quit my job at Lidl.", "It rained all day.", "I started working at Aldi yesterday.",
	}
	for _, oneSession := range []bool{true, false} {
		var told []memory.Memory
		for i, text := range diary {
			id := string(rune('a' + i))
			session := "s"
			if !oneSession {
				session += id
			}
			told = append(told, turn(id, session, 1+i, "user", text))
		}
		r := remembering(t, told...)
		for _, c := range []struct{ query, before, after string }{
			{"Where do I work?", "Aldi", "quit"},
			{"Where do I work now?", "Aldi", "quit"},
			{"Which instrument do I play?", "harp", "gave up"},
			{"Did I quit my job?", "quit", "Aldi"},
			{"Why did I leave Lidl?", "quit", "Aldi"},
		} {
			found := search(t, r, retrieve.Request{Query: c.query, TopK: 11})
			place := func(words string) int {
				for i, m := range found {
					if strings.Contains(m.Memory.Fact, words) {
						return i
					}
				}
				return len(found)
			}
			if place(c.before) >= place(c.after) {
				t.Errorf("%s (one session: %v): %v, want %q before %q", c.query, oneSession, ids(found), c.before, c.after)
			}
		}
	}
}

// A turn may end one thing and tell another one that is so since. The end comes second.
func TestEndsLastOfTurn(t *testing.T) {
	friend, nurse := "My best friend is Kwame from football.", "I work as a night nurse at St. Vincent's in Dublin."
	r := remembering(t,
		turn("a", "s", 1, "user", friend), ended(userFact("a1", "a", 1, friend), 20, "c"),
		turn("b", "t", 20, "user", "Kwame and I fell out for good, my best friend these days is Yaw."),
		userFact("c", "b", 20, "Kwame and I fell out for good"), userFact("d", "b", 20, "My best friend these days is Yaw."),
		turn("e", "s", 1, "user", nurse), ended(userFact("e1", "e", 1, nurse), 20, "g"),
		turn("f", "t", 20, "user", "I left St. Vincent's and I'm a school nurse in Bray now."),
		userFact("g", "f", 20, "I left St. Vincent's"), userFact("h", "f", 20, "I'm a school nurse in Bray now."),
	)
	for query, first := range map[string]string{
		"Who is my best friend?": "d", "Did I fall out with Kwame?": "c", "What is my job?": "h",
	} {
		found := search(t, r, retrieve.Request{Query: query, TopK: 8})
		if len(found) == 0 || found[0].Memory.ID != first {
			t.Errorf("%s: %s, want %s first", query, order(found), first)
		}
	}
}

// userFact is a fact that the user stated in the turn from.
func userFact(id, from string, day int, text string) memory.Memory {
	m := fact(id, "t", from, day, "", text)
	m.Author = "user"
	return m
}
