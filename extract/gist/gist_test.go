package gist

import "testing"

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
