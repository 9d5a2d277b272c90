package canonical

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
)

// Keys are terms under which a store finds a memory, beside its words. They
// begin with a sign that no word has in it, so no question contains them. One
// look-up finds the facts that bear on another fact, however many memories
// there are and whatever their language.
//
// A key is the sign and the first 16 bytes of the SHA-256 of a text, in hex.
const (
	textSign      = "=" // of a fact: its canonical text
	attributeSign = "@" // of a fact: the attribute of each claim
	topicSign     = "^" // of a fact: the things that it speaks of, with their owner
	changeSign    = "%" // of a fact that may end others: the things that these speak of, with their owner
	endsSign      = "~" // of a fact: the canonical text that it ends
	forgetSign    = "!" // of a turn: the canonical text that it asks to forget; none of one that names no statement
)

func key(sign, text string) string {
	sum := sha256.Sum256([]byte(text))
	return sign + hex.EncodeToString(sum[:16])
}

// Keys are the keys that a fact is stored with.
func (f *Form) Keys() []string { return append(f.exactKeys(), f.topicKeys(topicSign, changeSign)...) }

// exactKeys are the keys of what a fact says: its text, its attributes and the text that it ends.
func (f *Form) exactKeys() []string {
	out := []string{TextKey(f.Text)}
	for _, c := range f.Claims {
		if k := key(attributeSign, c.Attribute); !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	if f.Ends != "" {
		out = append(out, key(endsSign, f.Ends))
	}
	return out
}

// topicKeys are keys of the things that a fact speaks of: those that a later fact may end with one sign, those by which
// it may end others with another. A fact is stored under both and looked up with the signs the other way round, so
// that facts which only speak of one thing do not find each other: they would be half of what somebody has said.
func (f *Form) topicKeys(spoken, changing string) (out []string) {
	add := func(k string) {
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	for i := range f.themes {
		t := &f.themes[i]
		for _, name := range t.topics() {
			if !t.past {
				add(key(spoken, name))
			}
			if t.changes() {
				add(key(changing, name))
			}
		}
	}
	return out
}

// TurnKeys are the keys that a turn is stored with: one for each statement that
// its text asks to forget, and one for all its requests that name something else.
func TurnKeys(text string) []string {
	var out []string
	for _, w := range Wishes(text) {
		if k := ForgetKey(w.Statement); !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

// RelatedKeys find the facts that say the same as f, and those that may exclude
// f or that f may exclude.
func (f *Form) RelatedKeys() []string {
	out := append(f.exactKeys(), key(endsSign, f.Text))
	if f.Ends != "" {
		out = append(out, TextKey(f.Ends))
	}
	return append(out, f.topicKeys(changeSign, topicSign)...)
}

// LookupKeys are what a new fact is looked up by: RelatedKeys, and the key of
// turns that ask to forget it.
func (f *Form) LookupKeys() []string { return append(f.RelatedKeys(), ForgetKey(f.Text)) }

// TextKey finds the facts with a canonical text.
func TextKey(text string) string { return key(textSign, text) }

// ForgetKey finds the turns that ask to forget a canonical text. That of the empty
// text finds those that ask to forget a subject, or everything.
func ForgetKey(text string) string { return key(forgetSign, text) }
