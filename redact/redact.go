// Package redact finds secrets in text, and replaces each by a mark that names its kind:
// keys and tokens by the forms of their issuers, card numbers, IBANs, national ids, and
// passwords that are stated as such. E-mail addresses and phone numbers are found too
// where they are asked for.
//
// A form that can occur by chance wants more than its look: a check digit, a valid range,
// enough entropy, or words near it that say what it is. Each text is read a fixed number
// of times, without backtracking, so the time grows with its length alone.
//
// A [Redactor] replaces the kinds it was made for. What it returns has nothing left that
// it would replace: a text may pass through it again.
package redact

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is a kind of secret, by its name in the configuration of an app.
type Kind string

// The kinds.
const (
	Keys        Kind = "keys"        // keys, tokens and private keys
	Cards       Kind = "cards"       // card numbers and their verification codes
	IBANs       Kind = "ibans"       // numbers of bank accounts
	NationalIDs Kind = "nationalIds" // numbers that a state gives its people
	Passwords   Kind = "passwords"   // also passphrases and PINs
	Emails      Kind = "emails"
	Phones      Kind = "phones"
)

// kinds has the kinds in the order in which they win where two findings overlap, and
// the word in the mark of each.
var kinds = [...]struct {
	kind Kind
	word string
}{{Keys, "key"}, {Cards, "card"}, {IBANs, "iban"}, {NationalIDs, "nationalId"}, {Passwords, "password"},
	{Emails, "email"}, {Phones, "phone"}}

// Kinds are all kinds.
func Kinds() []Kind {
	out := make([]Kind, len(kinds))
	for i := range kinds {
		out[i] = kinds[i].kind
	}
	return out
}

// rank is the place of a kind in kinds; -1 if there is no such kind.
func (k Kind) rank() int {
	for i := range kinds {
		if kinds[i].kind == k {
			return i
		}
	}
	return -1
}

const (
	markOpen  = "[REDACTED:"
	markClose = "]"
	// MaxMark is the length of the longest mark.
	MaxMark = len(markOpen) + len("nationalId") + len(markClose)
)

// Mark is what stands in place of a secret of kind k.
func (k Kind) Mark() string { return markOpen + kinds[k.rank()].word + markClose }

// Marked reports whether text has a mark.
func Marked(text string) bool { return strings.Contains(text, markOpen) }

// Counts are how many secrets of each kind were replaced.
type Counts map[Kind]int

// Finding is a secret in a text: text[Start:End].
type Finding struct {
	Kind       Kind
	Form       string // which form it has, such as "github" or "luhn"
	Start, End int
}

// Redactor finds and replaces secrets of some kinds. It is safe for concurrent use.
type Redactor struct{ on [len(kinds)]bool }

// New makes a Redactor for some kinds. It fails if there is no such kind.
func New(some ...Kind) (*Redactor, error) {
	r := &Redactor{}
	for _, k := range some {
		if k.rank() < 0 {
			return nil, fmt.Errorf("there is no kind %.40q of secrets", string(k))
		}
		r.on[k.rank()] = true
	}
	return r, nil
}

// has reports whether r is for a kind.
func (r *Redactor) has(k Kind) bool { return r.on[k.rank()] }

// Find returns the secrets in a text, in order. They do not overlap, and none is in a
// mark.
func (r *Redactor) Find(text string) []Finding { return r.find(text, 0) }

// find is Find for the secrets that begin at from or later: what comes before them is
// read for what it says about them.
func (r *Redactor) find(text string, from int) []Finding {
	s := scan{text: text, r: r}
	s.features()
	if r.has(Keys) {
		s.issuers()
	}
	if r.has(Keys) || r.has(Passwords) {
		s.assignments()
		s.urls()
		s.stated()
	}
	if s.digits >= 4 && (r.has(Cards) || r.has(NationalIDs) || r.has(IBANs) || r.has(Phones)) {
		s.numbers()
	}
	if r.has(Emails) {
		s.emails()
	}
	return s.settle(from)
}

// maxRounds bounds how often Text looks again after it has replaced something. One
// more round is nearly always enough to find nothing.
const maxRounds = 4

// Text returns text with a mark in place of each secret, and how many of each kind it
// has replaced; nil if none.
func (r *Redactor) Text(text string) (string, Counts) { return r.rounds(text, 0) }

func (r *Redactor) rounds(text string, from int) (string, Counts) {
	var counts Counts
	for range maxRounds {
		found := r.find(text, from)
		if len(found) == 0 {
			break
		}
		if counts == nil {
			counts = Counts{}
		}
		var b strings.Builder
		at := 0
		for _, f := range found {
			counts[f.Kind]++
			b.WriteString(text[at:f.Start])
			b.WriteString(f.Kind.Mark())
			at = f.End
		}
		b.WriteString(text[at:])
		text = b.String()
	}
	return text, counts
}

// Field is Text for the value of a field: its name may say what the value is, as in
// {"password": "hunter2"}.
func (r *Redactor) Field(name, value string) (string, Counts) {
	parts := nameWords(name)
	if len(name) > maxName || len(parts) == 0 || value == "" {
		return r.Text(value)
	}
	prefix := strings.Join(parts, " ") + ": "
	out, counts := r.rounds(prefix+value, len(prefix))
	if counts == nil && classOf(parts) == aPassword && r.has(Passwords) && len(value) <= maxPassword &&
		spaced(value) {
		return Passwords.Mark(), Counts{Passwords: 1} // a passphrase
	}
	return out[len(prefix):], counts
}

// Add adds other counts.
func (c *Counts) Add(other Counts) {
	if len(other) > 0 && *c == nil {
		*c = Counts{}
	}
	for k, n := range other {
		(*c)[k] += n
	}
}

// scan is the reading of one text.
type scan struct {
	text string
	r    *Redactor
	out  []Finding

	// features has counted these.
	digits     int
	assigns    bool // it has '=' or ':'
	wide       bool // it has characters beyond ASCII
	at, scheme bool // it has '@', or "://"
}

// features counts what the detectors ask for first, so that most texts pass most of them.
func (s *scan) features() {
	for i := 0; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c >= '0' && c <= '9':
			s.digits++
		case c == '=':
			s.assigns = true
		case c == ':':
			s.assigns = true
			if strings.HasPrefix(s.text[i:], "://") {
				s.scheme = true
			}
		case c == '@':
			s.at = true
		case c >= 0x80:
			s.wide = true
		}
	}
	if s.wide {
		s.digits += strings.Count(s.text, "\xef\xbc") // full-width digits are among these
		s.assigns = s.assigns || strings.Contains(s.text, "：")
	}
}

// add notes a secret.
func (s *scan) add(kind Kind, form string, start, end int) {
	if start < end && s.r.has(kind) {
		s.out = append(s.out, Finding{kind, form, start, end})
	}
}

// settle returns the findings in order, united where they overlap, without what is in a
// mark or begins before from.
func (s *scan) settle(from int) []Finding {
	if len(s.out) == 0 {
		return nil
	}
	slices.SortStableFunc(s.out, func(a, b Finding) int {
		if a.Start != b.Start {
			return a.Start - b.Start
		}
		return a.Kind.rank() - b.Kind.rank()
	})
	marks := marksIn(s.text)
	out := s.out[:0]
	for _, f := range s.out {
		f.Start = max(f.Start, from)
		if f = outside(f, marks); f.Start >= f.End {
			continue
		}
		if n := len(out); n > 0 && f.Start < out[n-1].End {
			last := &out[n-1]
			last.End = max(last.End, f.End)
			if f.Kind.rank() < last.Kind.rank() {
				last.Kind, last.Form = f.Kind, f.Form
			}
			continue
		}
		out = append(out, f)
	}
	return out
}

// marksIn returns where the marks in a text begin and end.
func marksIn(text string) (out [][2]int) {
	for at := 0; ; {
		i := strings.Index(text[at:], markOpen)
		if i < 0 {
			return out
		}
		start := at + i
		at = start + len(markOpen)
		for at < len(text) && isLetter(text[at]) {
			at++
		}
		if at < len(text) && text[at] == markClose[0] {
			at++
			out = append(out, [2]int{start, at})
		}
	}
}

// outside returns f without the marks that it meets. If a mark is in its middle, f ends
// there: the rest is found in the next round.
func outside(f Finding, marks [][2]int) Finding {
	for _, m := range marks {
		switch {
		case m[1] <= f.Start || m[0] >= f.End:
		case m[0] <= f.Start:
			f.Start = min(m[1], f.End)
		default:
			f.End = m[0]
		}
	}
	return f
}
