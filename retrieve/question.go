package retrieve

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/memoryd/memoryd/extract/dates"
	"github.com/memoryd/memoryd/internal/analyzer"
	"github.com/memoryd/memoryd/memory"
)

// question is what a query tells of the memory that would answer it.
type question struct {
	terms   []string // analyzed words, distinct
	user    string   // who asks
	mine    bool     // it is about who asks
	wants   expected
	present bool // it asks what is so now
	periods []dates.Period
	asOf    time.Time // zero for now
}

// expected is the sort of answer that a question wants.
type expected int

const (
	anything expected = iota
	aTime             // when?
	aName             // who, where, which, called what?
)

// readQuestion reads a query put by a user at now, about what was known asOf.
func readQuestion(text, user string, asOf, now time.Time) *question {
	q := &question{terms: analyzer.Question(text), user: user, asOf: asOf}
	if len(text) > maxRead {
		return q // a document, not a question
	}
	words := plainWords(text)
	q.mine = firstPerson.in(words, text) && !secondPerson.in(words, text)
	q.present = presentWords.in(words, text)
	switch {
	case whenWords.in(words, text):
		q.wants = aTime
	case nameWords.in(words, text):
		q.wants = aName
	}
	at := now
	if !asOf.IsZero() {
		at = asOf
	}
	q.periods = dates.Periods(text, at)
	return q
}

// maxRead is how long a text is, in bytes, that is read as a question, and how
// much of a memory is read as its answer.
const maxRead = 2 << 10

// heard reports whether a candidate had been said by the time that the question
// is about: nobody could go by it before.
func (q *question) heard(c *memory.Candidate) bool {
	return q.asOf.IsZero() || !c.Memory.Timestamp.After(q.asOf)
}

// means reports whether the question is about what an author said.
func (q *question) means(author string) bool {
	if q.mine {
		return author == "user" || strings.EqualFold(author, q.user)
	}
	return slices.ContainsFunc(analyzer.Words(author), func(w string) bool { return slices.Contains(q.terms, w) })
}

// answeredBy reports whether a text has the sort of thing that is wanted.
func (q *question) answeredBy(text string) bool {
	text = memory.Cut(text, maxRead)
	switch q.wants {
	case aTime:
		return hasTime(text)
	case aName:
		return hasName(text)
	}
	return false
}

// timely is 1 for what was said in a time that the question names, or speaks of
// it, and half for what was said soon after: people tell what has happened.
func (q *question) timely(m *memory.Memory) float64 {
	best := 0.0
	for _, p := range q.periods {
		soon := min(max(p.To.Sub(p.From), 7*24*time.Hour), 31*24*time.Hour)
		switch {
		case p.Holds(m.Timestamp), !m.ValidFrom.IsZero() && p.Holds(m.ValidFrom):
			return 1
		case p.Holds(m.Timestamp.Add(-soon)):
			best = 0.5
		}
	}
	return best
}

// asks reports whether a text ends in a question. What was shown with it in
// brackets, quotes and pictures do not count.
func asks(text string) bool {
	text = strings.TrimRightFunc(text, unicode.IsSpace)
	if strings.HasSuffix(text, "]") {
		if at := strings.LastIndexByte(text, '['); at >= 0 {
			text = text[:at]
		}
	}
	text = strings.TrimRightFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.Is(unicode.So, r) || strings.ContainsRune(`"'”’»)!`, r) ||
			unicode.Is(unicode.Variation_Selector, r)
	})
	last, _ := utf8.DecodeLastRuneInString(text)
	return last == '?' || last == '？' || last == '؟' || last == '՞' || last == '⁇' || last == '⁈' || last == '⁉'
}

// hasName reports whether a text has a word that is capitalized though it does
// not begin a sentence, or quotes a title. In scripts without capitals nothing
// is found.
func hasName(text string) bool {
	if strings.ContainsAny(text, `"“«„`) {
		return true
	}
	before := '.'
	for i, r := range text {
		if unicode.IsUpper(r) && i > 0 && text[i-1] == ' ' && (unicode.IsLower(before) || before == ',') {
			next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
			if unicode.IsLower(next) {
				return true
			}
		}
		if r != ' ' {
			before = r
		}
	}
	return false
}

// hasTime reports whether a text names a time.
func hasTime(text string) bool {
	words := plainWords(text)
	if timeWords.in(words, text) {
		return true
	}
	for _, w := range words {
		if len(w) == 4 && (strings.HasPrefix(w, "19") || strings.HasPrefix(w, "20")) && w[2] >= '0' && w[2] <= '9' &&
			w[3] >= '0' &&
			w[3] <= '9' {
			return true
		}
	}
	return false
}

// plainWords are a text's words in small letters, as they stand.
func plainWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.Is(unicode.M, r)
	})
}
