package extract

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/memoryd/memoryd/internal/legible"
	"github.com/memoryd/memoryd/memory"
)

// Limits of what a model is asked and may answer.
const (
	// DefaultBudget leaves room for instructions, context and answer within the
	// windows of small local models (8,192 tokens).
	DefaultBudget = 4000
	maxAnswer     = 8192 // tokens
	contextTokens = 1000 // of turns before the batch
	maxFactBytes  = 2000 // a longer text is a copy of the conversation, and no fact
	maxEvents     = 20   // cited by one fact
	minQuote      = 3    // letters; fewer occur in any text
	minConfidence = 0.5  // below this a model itself doubts the fact
)

// ModelOptions are the options of NewModel.
type ModelOptions struct {
	Budget int // see Extractor; defaults to DefaultBudget
}

// Model is an Extractor that asks a language model: one call to find facts, and
// one to compare them.
type Model struct {
	generator Generator
	budget    int
}

var _ Extractor = (*Model)(nil)

// NewModel returns an extractor that asks g.
func NewModel(g Generator, opts *ModelOptions) *Model {
	m := &Model{generator: g, budget: DefaultBudget}
	if opts != nil && opts.Budget > 0 {
		m.budget = opts.Budget
	}
	return m
}

// Name implements Extractor: it is the generator's model.
func (m *Model) Name() string { return m.generator.Model() }

// Budget implements Extractor.
func (m *Model) Budget() int { return m.budget }

// Extract implements Extractor. It drops and counts a fact, or a value of a profile, that
// cites no event of the batch, or whose quote occurs in none of the events that it cites,
// and a value that its field cannot have. The errors are the generator's, and ErrUnreadable.
func (m *Model) Extract(ctx context.Context, b Batch) (Found, error) {
	if len(b.Turns) == 0 {
		return Found{}, nil
	}
	type reply struct {
		Facts  []modelFact  `json:"facts"`
		Values []modelValue `json:"values"`
	}
	p := Prompt{
		System: b.Policy.instructProfiles(b.Policy.instruct(systemText(extractInstructions))),
		Data:   knownValues(b.Known) + transcript(b),
		Schema: b.Policy.addValues(extractSchema(b.Policy.Topics())), MaxTokens: maxAnswer,
	}
	answer, cost, err := ask(ctx, m.generator, p, false, func(r *reply) error {
		if r.Facts == nil {
			return errors.New("it has no list named facts")
		}
		return nil
	})
	out := Found{Cost: cost}
	if err != nil {
		return out, err
	}
	for i := range answer.Facts {
		if f, ok := answer.Facts[i].fact(b); ok {
			out.Facts = append(out.Facts, f)
		} else {
			out.Dropped++
		}
	}
	for i := range answer.Values {
		if v, ok := answer.Values[i].value(b); ok {
			out.Values = append(out.Values, v)
		} else {
			out.ValuesDropped++
		}
	}
	return out, nil
}

// modelFact is a fact as a model writes it.
type modelFact struct {
	Fact   string       `json:"fact"`
	Topic  string       `json:"topic"`
	Events []lineNumber `json:"events"` // numbers in the transcript
	Quote  string       `json:"quote"`
	When   string       `json:"when"`
	// Confidence is nil where a service takes no schema and the model leaves it out.
	Confidence *float64 `json:"confidence"`
	Forget     bool     `json:"forget"`
}

// fact checks a fact against the turns of the batch that it cites, and fills in what those
// turns say: session, author and time.
func (m *modelFact) fact(b Batch) (Fact, bool) {
	f := Fact{Text: legible.Line(m.Fact), Forget: m.Forget}
	if !validText(f.Text) || m.Confidence != nil && *m.Confidence < minConfidence {
		return f, false
	}
	// A managed topic counts also where it is off, so that its facts are known and dropped.
	if slices.Contains(managedTopics, m.Topic) || slices.Contains(b.Policy.Topics(), m.Topic) {
		f.Topics = []string{m.Topic}
	}
	if !m.cite(&f, b.Turns) {
		return f, false
	}
	day, err := time.ParseInLocation(time.DateOnly, strings.TrimSpace(m.When), f.Timestamp.Location())
	if err == nil && memory.ValidateTime("when", day) == nil {
		f.ValidFrom = day
	}
	return f, true
}

// cite fills in the quote of f and the events that f cites. The first event
// whose text has the quote gives f its session, author and time; events of
// other sessions are left out. It reports whether there is such an event.
func (m *modelFact) cite(f *Fact, turns []Turn) bool {
	cited := slices.DeleteFunc(slices.Clone(m.Events), func(n lineNumber) bool {
		return n < 1 || int(n) > len(turns) // an earlier event, or a number that was not given
	})
	for _, n := range cited {
		t := &turns[n-1]
		if f.Forget && !t.User {
			continue // only a user can ask to forget; the assistant may quote such a request
		}
		if quote, ok := findQuote(t.Text, m.Quote); ok {
			f.SessionID, f.EventIDs, f.Quote = t.SessionID, []string{t.EventID}, quote
			f.Author, f.Timestamp = t.Author, t.Timestamp
			break
		}
	}
	if f.Quote == "" {
		return false
	}
	for _, n := range cited {
		t := &turns[n-1]
		if t.SessionID == f.SessionID && !slices.Contains(f.EventIDs, t.EventID) && len(f.EventIDs) < maxEvents {
			f.EventIDs = append(f.EventIDs, t.EventID)
		}
	}
	return true
}

// validText reports whether a text can be a fact.
func validText(text string) bool {
	return strings.TrimSpace(text) != "" && len(text) <= maxFactBytes && utf8.ValidString(text)
}

// lineNumber is the number of a line in the data of a prompt. Small models write it as
// a string, or with a decimal point.
type lineNumber int

// UnmarshalJSON reads all of these forms. Anything else is 0, which no line has.
func (p *lineNumber) UnmarshalJSON(raw []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if *p = 0; err == nil && math.Abs(f) < 1e9 {
		*p = lineNumber(f)
	}
	return nil
}

// findQuote finds a quote in a text, and returns it as the text spells it.
// Models change white space, quotation marks and case when they quote, and are not
// shown characters that cannot be seen; a quote with other words is not found.
func findQuote(text, quote string) (string, bool) {
	in, places := foldLetters(text)
	want, _ := foldLetters(strings.TrimSpace(quote))
	if len(want) < min(minQuote, len(in)) || len(want) == 0 {
		return "", false
	}
	for i := 0; i+len(want) <= len(in); i++ {
		if slices.Equal(in[i:i+len(want)], want) {
			return strings.TrimSpace(text[places[i]:places[i+len(want)]]), true
		}
	}
	return "", false
}

// foldLetters gives the letters of s in lower case with straight quotation marks
// and single blanks, and the byte offset of each, followed by the length of s.
func foldLetters(s string) (folded []rune, places []int) {
	space := true // drops leading space
	for i, r := range legible.Runes(s) {
		switch {
		case unicode.IsSpace(r):
			if space {
				continue
			}
			r = ' '
		case strings.ContainsRune("’‘", r):
			r = '\''
		case strings.ContainsRune("“”", r):
			r = '"'
		default:
			r = unicode.ToLower(r)
		}
		space = r == ' '
		folded, places = append(folded, r), append(places, i)
	}
	return folded, append(places, len(s))
}
