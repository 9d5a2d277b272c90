package retrieve

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/memoryd/memoryd/extract/dates"
	"github.com/memoryd/memoryd/internal/analyzer"
	"github.com/memoryd/memoryd/memory"
)

// question is what a query says about the memory that would answer it.
type question struct {
	text    string   // no longer than maxRead
	terms   []string // analyzed words, distinct
	user    string   // the user who asks
	idName  string   // the name in the id of that user; "" for none
	self    bool     // it speaks of the one who asks
	spoken  bool     // it does so other than in "tell me"
	mine    bool     // it is about that user
	toAgent bool     // it says "I" or "you", as one who talks to the agent does
	wants   expected
	present bool // it asks about the present
	past    bool // it asks about what was so before
	several bool // it asks for several things
	all     bool // it asks for all that is known of the one who asks
	ordered bool // it asks in what order things were, or how one went on
	periods []dates.Period
	asOf    time.Time // zero for now
	at      time.Time // asOf, or when it is asked

	sole  string    // the author of all that people said in what was found; see meet
	name  string    // of the user, which it had in the place of "I"
	plain *question // as it was worded, if there was a name
}

// expected is the sort of answer that a question asks for.
type expected int

const (
	anything expected = iota
	aTime             // when?
	aName             // who, where, which, called what?
)

// readQuestion reads a query that a user asks at now about what was known at asOf;
// a zero asOf is now. The location of now is that of who asks: "yesterday" is the day
// there.
func readQuestion(text, user string, asOf, now time.Time) *question {
	q := &question{terms: analyzer.Question(text), user: user, idName: nameInID(user), asOf: asOf, at: now}
	if !asOf.IsZero() {
		q.at = asOf.In(now.Location())
	}
	if len(text) > maxRead {
		return q // a document, not a question
	}
	q.text = text
	words := plainWords(text)
	q.self = firstPerson.in(words, text)
	q.spoken = speaksOfAsker(words, text)
	you := secondPerson.in(words, text)
	q.mine, q.toAgent = q.self && !you, q.self || you
	q.present = presentWords.in(words, text)
	switch {
	case whenWords.in(words, text):
		q.wants = aTime
	case nameWords.in(words, text):
		q.wants = aName
	}
	q.all = asksForEverything(words, text)
	q.several, q.ordered = asksForSeveral(words, text), asksForOrder(words, text)
	q.past = !q.present && asksOfPast(words, text)
	q.periods = dates.Periods(text, q.at)
	return q
}

// asksOfPast reports whether a question asks about what was so before.
func asksOfPast(words []string, text string) bool {
	if pastWords.in(words, text) {
		return true
	}
	for i, w := range words {
		before, after := "", ""
		if i > 0 {
			before = words[i-1]
		}
		if i+1 < len(words) {
			after = words[i+1]
		}
		switch {
		case w == "used" && after == "to":
			return true
		case w == "old" && owners.Has(before): // "my old job"; not "how old", "ten years old"
			return true
		case w == "did" && slices.ContainsFunc(words[i:], lasting.Has): // "where did I live"
			return true
		}
	}
	return false
}

// asksFor reports whether the question asks for what held in a time rather than for
// what holds.
func (q *question) asksFor(v validity) bool {
	return q.past || slices.ContainsFunc(q.periods, func(p dates.Period) bool {
		return !p.To.After(q.at) && v.from.Before(p.To) && p.From.Before(v.to)
	})
}

// maxRead is in bytes. A longer query is not read as a question, and of a memory
// only so much is read as an answer.
const maxRead = 2 << 10

// knownThen reports whether a candidate had been said by the time that the
// question is about.
func (q *question) knownThen(c *memory.Candidate) bool {
	return q.asOf.IsZero() || !c.Memory.KnownFrom().After(q.asOf)
}

// isAbout reports whether the question is about what an author said.
func (q *question) isAbout(author string) bool {
	if q.mine {
		return q.isUser(author)
	}
	return slices.ContainsFunc(analyzer.Words(author), func(w string) bool { return slices.Contains(q.terms, w) })
}

// namedAuthors returns, for each author of a candidate, whether the question is about
// that author.
func (q *question) namedAuthors(wordings []*wording) map[string]bool {
	named := map[string]bool{}
	for _, w := range wordings {
		for _, run := range w.found.Runs {
			for i := range run {
				author := run[i].Memory.Author
				if i > 0 && author == run[i-1].Memory.Author { // as in most runs
					continue
				}
				if _, known := named[author]; !known {
					named[author] = q.isAbout(author)
				}
			}
		}
	}
	return named
}

// nameWords returns the words of the names of those whom the question names.
func (q *question) nameWords(named map[string]bool) (out []string) {
	for author, is := range named {
		if is && !q.mine {
			out = append(out, analyzer.Words(author)...)
		}
	}
	return out
}

// answeredBy reports whether a text has the sort of thing that the question asks
// for.
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

// timely returns 1 for a memory that was said in a period the question names or
// that is valid from then, and 0.5 for one said soon after the period, because
// people tell what has just happened.
func (q *question) timely(m *memory.Memory) float64 {
	best := 0.0
	said, from := q.onClock(m, m.Timestamp), q.onClock(m, m.ValidFrom)
	for _, p := range q.periods {
		soon := min(max(p.To.Sub(p.From), 7*24*time.Hour), 31*24*time.Hour)
		switch {
		case p.Holds(said), !m.ValidFrom.IsZero() && p.Holds(from):
			return 1
		case p.Holds(said.Add(-soon)):
			best = 0.5
		}
	}
	return best
}

// onClock returns a time of a memory as the clock of its speaker showed it, read where
// the question is asked. People name the day that it was for them, so what was said on
// the evening of 1 March is of that day wherever somebody asks for it.
func (q *question) onClock(m *memory.Memory, t time.Time) time.Time {
	if m.UTCOffset == "" {
		return t
	}
	t = m.Local(t)
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), q.at.Location())
}

// asks reports whether a text ends in a question mark. A caption in brackets,
// closing quotes and emoji after it do not count.
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

// hasName reports whether a text has a capitalized word inside a sentence, or
// quotes a title. It finds no names in scripts without capitals.
func hasName(text string) bool {
	before := '.'
	for i, r := range text {
		if r == '"' || r == '“' || r == '«' || r == '„' {
			return true
		}
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
	return slices.ContainsFunc(words, isYear)
}

func isYear(word string) bool {
	_, err := strconv.ParseUint(word, 10, 16)
	return err == nil && len(word) == 4 && (word[:2] == "19" || word[:2] == "20")
}

// plainWords splits a text into words in lower case, without stemming.
func plainWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.Is(unicode.M, r)
	})
}
