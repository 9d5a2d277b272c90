package gist

import (
	"strings"
	"testing"
)

// A sentence of a theme is near a question about it, and tells of a change or not.
func TestOf(t *testing.T) {
	for _, c := range []struct {
		asked, said   string
		near, changes bool
	}{
		{"Where do I live?", "I live in Ghent above a bakery", true, false},
		{"Where do I live?", "The boxes are unpacked and Ghent is home now", true, true},
		{"Where do I live?", "My thyroid dose is 75 micrograms", false, false},
		{"What car do I drive?", "I traded my Golf for an electric Renault", true, true},
		{"What car do I drive?", "I started a pottery course on Mondays", false, true},
		{"How do you want to be called?", "Please call me Kay from now on", true, true},
	} {
		q, s := Of(c.asked), Of(c.said)
		if near := q.Near(&s); near > .4 != c.near || s.Changes() > .6 != c.changes {
			t.Errorf("%q of %q: near %.2f, changes %.2f", c.said, c.asked, near, s.Changes())
		}
	}
	if r := Of("Can you recommend a book about gardens?"); r.Asserts() > .3 {
		t.Errorf("a request asserts: %.2f", r.Asserts())
	}
}

// A later statement takes the place of an earlier one about the same thing of the same person, in any words, and of no
// other one.
func TestReplaces(t *testing.T) {
	for _, c := range []struct {
		before, after string
		replaces      bool
	}{
		{"My account is at the Sparkasse", "I switched from the Sparkasse to ING", true},
		{"I live in Ghent above a bakery", "The boxes are unpacked and Nantes is home now", true},
		{"I take 50 micrograms of thyroxine every morning", "The doctor put my thyroxine up to 75 micrograms", true},
		{"My piano lesson is on Friday", "Actually my piano lesson is on Thursday, not Friday", true},
		{"I live in Ghent above a bakery", "My sister moved to Nantes", false},
		{"I live in Ghent above a bakery", "We also have a little house in Nantes now", false},
		{"I live in Ghent above a bakery", "Should I move to Nantes?", false},
		{"I live in Ghent above a bakery", "\"I moved to Nantes\", says the first line", false},
		{"I live in Ghent above a bakery", "I moved to Nantes when I was a child", false},
		{"My cousin lives in Ghent", "I moved to Nantes", false},
		{"My kettle is red, a present of my aunt", "My lamp is red, a present of my aunt", false},
		{"My rent is 710 euros", "Nadia's rent went up to 765", false},
		{"Bob has two cats", "We have three cats now", false},
		{"Anna is allergic to nuts", "I am not allergic to nuts anymore", false},
		{"Tom works at Siemens", "Lisa works at Bosch now", false},
		{"My sister Eva lives in Bonn", "Ann moved to Rome", false},
		{"Tom works at Siemens", "Tom works at Bosch now", true},
		{"I smoke", "Finally quit smoking", true},
		{"I eat meat", "Finally became vegan", true},
		{"I have a cat", "My thyroid dose went up to 75 micrograms", false},
	} {
		before, after := Of(c.before), Of(c.after)
		if p := after.Replaces(&before); p >= .5 != c.replaces {
			t.Errorf("%q after %q: %.2f", c.after, c.before, p)
		}
	}
}

func TestParsePairs(t *testing.T) {
	spaced := strings.Replace(pairsFile, "\t", " ", 1)
	for _, file := range []string{"", "bias\t1\n", "near\t1\n", spaced, pairsFile + "more\t1\n"} {
		if _, err := parsePairs(file, load().names); err == nil {
			t.Errorf("%.20q of %d bytes is read", file, len(file))
		}
	}
	if w, err := parsePairs(pairsFile, load().names); err != nil || len(w) != len(PairNames)+len(load().names) {
		t.Error(len(w), err)
	}
}
