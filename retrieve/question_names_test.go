package retrieve

import (
	"testing"
	"time"
)

// An id is a name if it reads as one, up to its first joint.
func TestNameInID(t *testing.T) {
	for id, want := range map[string]string{
		"ann": "ann", "Ann": "ann", "ANN": "ann", "ann.smith": "ann", "Ann_Smith": "ann", "ann-lee": "ann", "Ann Lee": "ann",
		"ann.smith@example.com": "ann", "łucja": "łucja", "наташа": "наташа", "李明": "李明",
		"u1": "", "conv-26": "", "xKqZw": "", "user": "", "user_ann": "", "a": "", "": "", "auth0|ann": "", "_ann": "",
		"info@example.com": "", "@example.com": "", "6f1c9a": "", "ann2": "", "pneumonoultramicroscopic": "", "\xff\xfe": "",
	} {
		if got := nameInID(id); got != want {
			t.Errorf("%q: %q, want %q", id, got, want)
		}
	}
}

// A name becomes "I" or "my" where it stands as a word.
func TestWithI(t *testing.T) {
	for _, c := range []struct{ text, name, want string }{
		{"Where does Ann live?", "ann", "Where does I live?"},
		{"What is Ann's job, and who is Ann’s boss?", "ann", "What is my job, and who is my boss?"},
		{"Does the user like tea?", "user", "Does I like tea?"},
		{"Is the user's cat ill?", "user", "Is my cat ill?"},
		{"The user eats what?", "user", "I eats what?"},
		{"Has Annabel met Joann?", "ann", "Has Annabel met Joann?"},
		{"", "ann", ""},
		{"\xffAnn\xff", "ann", "\xffI\xff"},
	} {
		if got := withI(c.text, c.name); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// An author is the user of an id if the first names are equal, and the last ones where both have one.
func TestIsUser(t *testing.T) {
	for _, c := range []struct {
		id, author string
		want       bool
	}{
		{"ann.smith", "Ann Smith", true}, {"ann.smith", "Ann", true}, {"ann", "Ann Smith", true}, {"ann.smith", "Ann B. Smith", true},
		{"ann.smith@example.com", "Ann Smith", true}, {"ann.smith", "Ann Jones", false}, {"conv-26", " Bob", false}, {"ann", "Bob", false},
	} {
		if got := readQuestion("Who am I?", c.id, time.Time{}, time.Time{}).isUser(c.author); got != c.want {
			t.Errorf("%s of %s: %v", c.author, c.id, got)
		}
	}
}
