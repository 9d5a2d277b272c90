package retrieve_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

// A question that names a number asks for the statement that has it.
func TestNumberAsked(t *testing.T) {
	var memories []memory.Memory
	for i := range 20 {
		memories = append(memories, fact(fmt.Sprint("k", i), "", "", 1+i, "", fmt.Sprintf("I have %d cats.", 10+i)))
	}
	for _, topK := range []int{1, 10} {
		found := search(t, remembering(t, memories...), retrieve.Request{Query: "Do I have 17 cats?", TopK: topK})
		if got := found[0].Memory.ID; got != "k7" {
			t.Errorf("of %d, %s is first", topK, got)
		}
	}
}

// A number that both have tells nothing: the later one is first.
func TestNumberOfBoth(t *testing.T) {
	for query, memories := range map[string][]memory.Memory{
		"What is my favourite 911 model?": {fact("old", "", "", 1, "", "My favourite 911 model is the Carrera."),
			fact("new", "", "", 20, "", "The Turbo is now my favourite 911 model of them all.")},
		"What is my 10k time?": {turn("old", "s1", 1, "user", "My 10k time is 52 minutes."),
			turn("new", "s2", 20, "user", "My 10k time is down to 47 minutes now.")},
	} {
		if found := search(t, remembering(t, memories...), retrieve.Request{Query: query}); found[0].Memory.ID != "new" {
			t.Errorf("%s: found %q", query, ids(found))
		}
	}
}

// What a later statement may have ended comes behind it and says so: in an answer, in a
// block and in lines. That is so only for statements of the one who asks, of another
// session, which tell of a change and have to do with each other.
func TestMayHaveChanged(t *testing.T) {
	for name, test := range map[string]struct {
		question, later, author, session string
		first, marked                    bool
	}{
		"a change":            {"Where do I keep my bike?", "My bike lives in the cellar now.", "user", "s2", true, true},
		"of the same session": {"Where do I keep my bike?", "My bike lives in the cellar now.", "user", "s1", false, false},
		"of somebody else":    {"Where do I keep my bike?", "My bike lives in the cellar now.", "Bob", "s2", false, false},
		"no change":           {"Where do I keep my bike?", "My bike has a bell and a basket.", "user", "s2", false, false},
		"something beside":    {"Where do I keep my bike?", "My other bike is now in the cellar, too.", "user", "s2", false, false},
		"of the past":         {"Where did I keep my bike before?", "My bike lives in the cellar now.", "user", "s2", false, false},
		"about another":       {"Where does Bob keep his bike?", "My bike lives in the cellar now.", "user", "s2", false, false},
		"in other words":      {"Where do I keep my bike?", "Moved the bike down to the basement last week.", "user", "s2", true, true},
		"to the agent":        {"Where should you say that my bike is?", "My bike lives in the cellar now.", "user", "s2", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := remembering(t, turn("old", "s1", 1, "user", "I keep my bike in the hallway, where do I keep a kite?"),
				turn("new", test.session, 20, test.author, test.later))
			found := search(t, r, retrieve.Request{Query: test.question})
			if len(found) != 2 {
				t.Fatalf("found %q", ids(found))
			}
			at := slices.IndexFunc(found, func(m memory.Match) bool { return m.Memory.ID == "old" })
			if marked := cmp.Equal(found[at].Newer, []string{"new"}); marked != test.marked || len(found[1-at].Newer) > 0 {
				t.Errorf("newer than the old %q, than the new %q", found[at].Newer, found[1-at].Newer)
			}
			if test.first && at == 0 {
				t.Error("the old statement is first")
			}
			block := blockOf(t, r, test.question, 1000)
			if got := strings.Contains(block.Text, "(may have changed: [2]) I keep my bike"); got != test.marked {
				t.Errorf("a mark in the block: %v\n%s", got, block.Text)
			}
			said := ""
			for _, m := range search(t, r, retrieve.Request{Query: test.question, Lines: true}) {
				said += m.Line + "\n"
			}
			if got := strings.Contains(said, "(may have changed) I keep my bike"); got != test.marked {
				t.Errorf("a mark in the lines: %v\n%s", got, said)
			}
		})
	}
}

// Saying a thing again does not change it, and of many changes the three latest are told.
func TestNewerIsBounded(t *testing.T) {
	said := []memory.Memory{turn("t0", "s0", 1, "user", "I live in Porto.")}
	again := remembering(t, append(said, turn("t1", "s1", 2, "user", "I live in Porto now."))...)
	for _, m := range search(t, again, retrieve.Request{Query: "Where do I live?"}) {
		if len(m.Newer) > 0 {
			t.Errorf("%s may have changed by %q", m.Memory.ID, m.Newer)
		}
	}
	for i, where := range []string{"cellar", "garage", "shed", "yard", "attic"} {
		said = append(said, turn(fmt.Sprint("b", i), fmt.Sprint("s", i+2), i+3, "user", "My bike lives in the "+where+" now."))
	}
	found := search(t, remembering(t, said...), retrieve.Request{Query: "Where does my bike live?"})
	at := slices.IndexFunc(found, func(m memory.Match) bool { return m.Memory.ID == "b0" })
	if got := found[at].Newer; !slices.Equal(got, []string{"b4", "b3", "b2"}) {
		t.Errorf("newer than the first place: %q", got)
	}
}

// A message of signs alone has no words to read.
func TestNoWords(t *testing.T) {
	r := remembering(t, turn("was", "s1", 1, "user", "I live in Porto."),
		turn("asked", "s2", 19, "user", "Do I still live in Porto?"), turn("signs", "s2", 20, "user", "???"))
	if found := search(t, r, retrieve.Request{Query: "Where do I live?"}); len(found) == 0 || found[0].Memory.ID != "was" {
		t.Errorf("found %q", ids(found))
	}
}

// A question in lower case about somebody else is answered by that one: a change of the user's own does not take the
// place of it.
func TestChangeOfAnother(t *testing.T) {
	r := remembering(t, turn("bob", "s1", 1, "Bob", "I live in a small flat in Turin."),
		turn("user", "s2", 20, "user", "I just moved to Oslo last week."))
	for _, query := range []string{"Where does bob live?", "Who lives in a small flat in Turin?"} {
		found := search(t, r, retrieve.Request{Query: query})
		if got := ids(found); len(got) == 0 || got[0] != "bob" || len(found[0].Newer) > 0 {
			t.Errorf("%s: found %q", query, got)
		}
	}
}

// What is said in the theme of a question, in words that no table has, comes before what was said earlier. What is
// said of somebody else, in another language or of what passes does not.
func TestThemeFirst(t *testing.T) {
	for _, c := range []struct {
		asked, was, is string
		newer          bool
	}{
		{"Where do I live?", "I live in Gdansk.", "The boxes are unpacked and Porto is home now.", true},
		{"What car do I drive?", "I drive an old Volvo.", "I picked up a little electric Renault.", true},
		{"What is my son allergic to?", "My son Tom is allergic to nuts.", "My daughter has become allergic to milk.", false},
		{"What is my dog called?", "My dog is called Rex.", "We adopted a kitten called Mia.", false},
		{"Do I have children?", "I have one child, Nora.", "My daughter got twin brothers, the twins arrived in May.", true},
		{"Where do I live?", "I live in Gdansk.", "We moved into a house in Rome for the holidays.", false},
		{"Wo wohne ich?", "Ich wohne in Berlin.", "Mein Bruder ist umgezogen und wohnt jetzt in Oslo.", false},
	} {
		r := remembering(t, turn("was", "s1", 1, "user", c.was), turn("is", "s2", 20, "user", c.is))
		found := search(t, r, retrieve.Request{Query: c.asked})
		if got := ids(found); len(got) == 0 || (got[0] == "is") != c.newer {
			t.Errorf("%q finds %q", c.asked, got)
		}
	}
}

// Items of several fields, which a client gave, take no other item's place.
func TestRecords(t *testing.T) {
	r := remembering(t,
		fact("a", "", "", 1, "", "text: Ann is allergic to peanuts.\nage: 3\ntags: [\"x\"]"),
		fact("b", "", "", 2, "", "text: Ann loves pasta.\nage: 7"),
		fact("c", "", "", 3, "", "text: Ann has a car.\nage: 3"),
	)
	for _, query := range []string{"What is Ann allergic to?", "What am I allergic to?"} {
		if got := search(t, r, retrieve.Request{Query: query})[0]; got.Memory.ID != "a" || got.Newer != nil {
			t.Errorf("%s: %s is first, newer %v", query, got.Memory.ID, got.Newer)
		}
	}
}
