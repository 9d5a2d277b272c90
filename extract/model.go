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

	"github.com/memoryd/memoryd/memory"
)

// Limits of what a model is asked and may answer.
const (
	// DefaultBudget keeps a prompt well within the windows of small local
	// models (8,192 tokens) with instructions, context and answer beside it.
	DefaultBudget = 4000
	maxAnswer     = 8192 // tokens
	contextTokens = 1000 // of turns before the batch
	maxFactBytes  = 2000 // what is longer is a copy of the conversation, no fact
	maxEvents     = 20   // that a fact rests on
	minQuote      = 3    // letters: less is in any text
	minConfidence = 0.5  // below which a model itself does not believe a fact
)

// ModelOptions are what NewModel lets one choose.
type ModelOptions struct {
	Budget int // see Extractor; defaults to DefaultBudget
}

// Model has a language model find facts and compare them: one call each.
type Model struct {
	generator Generator
	budget    int
}

var _ Extractor = (*Model)(nil)

// NewModel makes an extractor of a generator.
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

// Extract implements Extractor. A fact that cites no event of the batch, or
// whose quote is in none that it cites, is dropped and counted. The errors are
// the generator's, and ErrUnreadable.
func (m *Model) Extract(ctx context.Context, b Batch) (Found, error) {
	if len(b.Turns) == 0 {
		return Found{}, nil
	}
	type reply struct {
		Facts []modelFact `json:"facts"`
	}
	answer, cost, err := ask(ctx, m.generator, Prompt{System: extractSystem, Data: transcript(b), Schema: extractSchema, MaxTokens: maxAnswer}, false, func(r *reply) error {
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
		if f, ok := answer.Facts[i].fact(b.Turns); ok {
			out.Facts = append(out.Facts, f)
		} else {
			out.Dropped++
		}
	}
	return out, nil
}

// modelFact is a fact as a model gives it.
type modelFact struct {
	Fact       string   `json:"fact"`
	Topic      string   `json:"topic"`
	Events     []place  `json:"events"` // numbers in the transcript
	Quote      string   `json:"quote"`
	When       string   `json:"when"`
	Confidence *float64 `json:"confidence"` // nil where a service takes no schema, and the model no notice
	Forget     bool     `json:"forget"`
}

// fact checks that a fact rests on turns, and gives it what they have.
func (m *modelFact) fact(turns []Turn) (Fact, bool) {
	f := Fact{Text: plain(m.Fact), Forget: m.Forget}
	if f.Text == "" || len(f.Text) > maxFactBytes || !utf8.ValidString(f.Text) || m.Confidence != nil && *m.Confidence < minConfidence {
		return f, false
	}
	if slices.Contains(managed, m.Topic) {
		f.Topics = []string{m.Topic}
	}
	if day, err := time.Parse(time.DateOnly, strings.TrimSpace(m.When)); err == nil && memory.ValidateTime("when", day) == nil {
		f.ValidFrom = day
	}
	cited := slices.DeleteFunc(slices.Clone(m.Events), func(n place) bool { return n < 1 || int(n) > len(turns) }) // an earlier event, or none at all
	for _, n := range cited {
		t := &turns[n-1]
		if f.Forget && !t.User {
			continue // what the assistant says, or reads out, makes nobody forget
		}
		if quote, ok := locate(t.Text, m.Quote); ok {
			f.SessionID, f.EventIDs, f.Quote, f.Author, f.Timestamp = t.SessionID, []string{t.EventID}, quote, t.Author, t.Timestamp
			break
		}
	}
	for _, n := range cited {
		t := &turns[n-1]
		if f.Quote != "" && t.SessionID == f.SessionID && !slices.Contains(f.EventIDs, t.EventID) && len(f.EventIDs) < maxEvents {
			f.EventIDs = append(f.EventIDs, t.EventID)
		}
	}
	return f, f.Quote != ""
}

// place is a number by which a model names something. Small models write it as
// a string, or with a point.
type place int

// UnmarshalJSON reads any of these; what is no number is 0, which names nothing.
func (p *place) UnmarshalJSON(raw []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if *p = 0; err == nil && math.Abs(f) < 1e9 {
		*p = place(f)
	}
	return nil
}

// plain is a text without control and formatting characters, which could make a
// terminal or a reader see something else.
func plain(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, ""), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
	}), " ")
}

// locate finds a quote in a text and gives it as the text has it. Models change
// white space, quotation marks and case where they quote; they may not change
// words.
func locate(text, quote string) (string, bool) {
	letters := func(s string) (folded []rune, places []int) {
		space := true // none at the beginning
		for i, r := range s {
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
	in, places := letters(text)
	want, _ := letters(strings.TrimSpace(quote))
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
