package ingest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/extract/rules"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// reader is a model that makes a fact of every event it is shown, in the words of
// the event, and compares facts as a test tells it: verdicts are by the text of
// the new fact, and name other facts by theirs.
type reader struct {
	mu       sync.Mutex
	verdicts map[string]extract.Verdict
	against  map[string][]string // of the verdicts
	same     map[string]string
	fails    error
	asked    int
}

func (*reader) Model() string { return "test:reader" }

func (r *reader) Generate(_ context.Context, p extract.Prompt) (extract.Answer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fails != nil {
		return extract.Answer{}, r.fails
	}
	r.asked++
	type line struct {
		N                  int
		Text, Memory, Fact string
		Role               string
	}
	var lines []line
	numbers := map[string]int{}
	for raw := range strings.Lines(p.Data) {
		var l line
		if json.Unmarshal([]byte(raw), &l) == nil && l.N > 0 {
			lines = append(lines, l)
			numbers[l.Memory+l.Fact] = l.N
		}
	}
	facts, verdicts := []any{}, []any{}
	for _, l := range lines {
		if l.Text != "" {
			what, forget := strings.CutPrefix(l.Text, "Forget: ")
			facts = append(facts, map[string]any{"fact": what, "topic": memory.TopicDetails, "events": []int{l.N},
				"quote": l.Text, "when": "", "confidence": 1, "forget": forget})
		}
		if v, ok := r.verdicts[l.Fact]; ok && l.Fact != "" {
			against := []int{}
			for _, text := range r.against[l.Fact] {
				if n := numbers[text]; n > 0 {
					against = append(against, n)
				}
			}
			same := numbers[r.same[l.Fact]]
			if v.Action != extract.Create && v.Action != extract.Delete && same == 0 {
				continue // the fact that it would name is not shown
			}
			verdicts = append(verdicts, map[string]any{"fact": l.N, "action": v.Action, "same": same, "text": v.Text,
				"against": against, "reason": "so"})
		}
	}
	answer, err := json.Marshal(map[string]any{"facts": facts, "verdicts": verdicts})
	return extract.Answer{Text: string(answer), Usage: extract.Usage{Calls: 1}}, err
}

func (r *reader) set(fails error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fails = fails
}

// verdict tells the reader what to answer on a fact.
func (r *reader) verdict(fact string, action extract.Action, same, text string, against ...string) {
	if r.verdicts == nil {
		r.verdicts, r.against, r.same = map[string]extract.Verdict{}, map[string][]string{}, map[string]string{}
	}
	r.verdicts[fact], r.against[fact], r.same[fact] = extract.Verdict{Action: action, Text: text}, against, same
}

// Verdicts are carried out so that nothing is lost by a slip of the model: a fact
// that it takes for known must be known, and hold.
func TestModelVerdicts(t *testing.T) {
	const dog = "Melanie has a dog."
	const rex, poodle = "The dog of Melanie is called Rex.", "The dog of Melanie is a poodle."
	const porto, lisbon = "Ann lives in Porto.", "Ann lives in Lisbon."
	for name, c := range map[string]struct {
		judge func(*reader)
		said  []string // one session and one second after another
		want  []string
	}{
		"another value": {func(r *reader) { r.verdict(porto, extract.Create, "", "", lisbon) },
			[]string{"Ann lives in Lisbon.", "Ann lives in Porto."},
			[]string{"Ann lives in Lisbon. 0 to 1 by Ann lives in Porto.", "Ann lives in Porto. 1"}},
		"back again": {func(r *reader) {
			r.verdict("Ann lives in Porto.", extract.Create, "", "", "Ann lives in Lisbon.")
			r.verdict("Ann lives in Lisbon.", extract.Create, "", "", "Ann lives in Porto.")
		}, []string{"Ann lives in Lisbon.", "Ann lives in Porto.", "Ann lives in Lisbon."},
			[]string{"Ann lives in Lisbon. 0 to 1 by Ann lives in Porto.",
				"Ann lives in Porto. 1 to 2 by Ann lives in Lisbon.", "Ann lives in Lisbon. 2"}},
		"a detail": {func(r *reader) { r.verdict(rex, extract.Update, dog, "Melanie has a dog called Rex.") },
			[]string{dog, rex}, []string{"Melanie has a dog called Rex. 1"}},
		"two details at once": {func(r *reader) {
			r.verdict(rex, extract.Update, dog, "Melanie has a dog called Rex.")
			r.verdict(poodle, extract.Update, dog, "Melanie has a poodle.")
		}, []string{dog, rex + "|" + poodle}, []string{"Melanie has a dog called Rex. 1", poodle + " 1"}},
		"known": {func(r *reader) { r.verdict("Melanie owns a dog.", extract.Nothing, dog, "") },
			[]string{dog, "Melanie owns a dog."}, []string{dog + " 0", "Melanie owns a dog. 1 again"}},
		"known, but over": {func(r *reader) {
			r.verdict("Ann lives in Porto.", extract.Create, "", "", "Ann lives in Lisbon.")
			r.verdict("Ann is back in Lisbon.", extract.Nothing, "Ann lives in Lisbon.", "")
		}, []string{"Ann lives in Lisbon.", "Ann lives in Porto.", "Ann is back in Lisbon."},
			[]string{"Ann lives in Lisbon. 0 to 1 by Ann lives in Porto.", "Ann lives in Porto. 1",
				"Ann is back in Lisbon. 2"}},
		"forgotten": {
			func(r *reader) { r.verdict("Ann likes marzipan.", extract.Delete, "", "", "Ann is fond of marzipan.") },
			[]string{"Ann is fond of marzipan.", "Forget: Ann likes marzipan."}, []string{}},
		"forgotten and known at once": {func(r *reader) {
			r.verdict("Ann likes marzipan.", extract.Delete, "", "", "Ann is fond of marzipan.")
			r.verdict("Ann enjoys marzipan.", extract.Nothing, "Ann is fond of marzipan.", "")
		}, []string{"Ann is fond of marzipan.", "Forget: Ann likes marzipan.|Ann enjoys marzipan."},
			[]string{"Ann enjoys marzipan. 1"}},
		"the same words": {func(r *reader) {}, []string{dog, dog}, []string{dog + " 0", dog + " 1 again"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &reader{}
			c.judge(r)
			b := newBench(t, parts{extractor: extract.NewModel(r, nil)})
			b.run()
			for i, text := range c.said {
				var events []sessionstore.Event
				for j, part := range strings.Split(text, "|") {
					events = append(events, event(t, fmt.Sprint("e", j), i, part))
				}
				before := r.asked
				b.succeeds(b.ingest(fmt.Sprint("s", i), events...))
				if r.asked-before > 2 {
					t.Errorf("%q took %d calls", text, r.asked-before)
				}
			}
			got := b.history()
			slices.Sort(got)
			slices.Sort(c.want)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A batch takes two calls of a model, however many facts it has: one to find them,
// and one to compare them.
func TestTwoCalls(t *testing.T) {
	r := &reader{}
	b := newBench(t, parts{extractor: extract.NewModel(r, nil)})
	b.run()
	b.succeeds(b.ingest("s", event(t, "e", 0, "Ann collects stamps.")))
	r.asked = 0
	var events []sessionstore.Event
	for i := range 60 {
		text := fmt.Sprintf("Ann has stamp number %d of her collection.", i)
		events = append(events, event(t, fmt.Sprint("e", i), i, text))
	}
	b.succeeds(b.ingest("t", events...))
	if n := len(b.all(memory.KindFact)); r.asked != 2 || n != 61 {
		t.Errorf("%d calls for %d facts", r.asked, n)
	}
}

// A long session is read in batches within the budget, each with the turns just
// before it.
func TestBudget(t *testing.T) {
	r := &reader{}
	b := newBench(t, parts{extractor: extract.NewModel(r, &extract.ModelOptions{Budget: 100})})
	b.run()
	var events []sessionstore.Event
	for i := range 40 {
		text := fmt.Sprintf("This is the long statement with the number %d, which says that nothing stays.", i)
		events = append(events, event(t, fmt.Sprint("e", i), i, text))
	}
	op := b.succeeds(b.ingest("s", events...))
	if n := len(b.all(memory.KindFact)); n != 40 || r.asked < 8 || op.EventsDone != 40 {
		t.Errorf("%d facts after %d calls, %d events done", n, r.asked, op.EventsDone)
	}
}

// A fact that a model has extended is as it was before when a rewind takes the
// extension back.
func TestRewindOfUpdate(t *testing.T) {
	r := &reader{}
	r.verdict("Ann lives in Porto.", extract.Update,
		"Ann lives in Portugal.", "Ann lives in Porto, Portugal.", "Ann lives in Lisbon.")
	b := newBench(t, parts{extractor: extract.NewModel(r, nil)})
	b.run()
	b.succeeds(b.ingest("a", event(t, "a", 1, "Ann lives in Lisbon.")))
	b.succeeds(b.ingest("b", event(t, "b", 2, "Ann lives in Portugal.")))
	b.succeeds(b.ingest("s", in(t, "i1", "c", 3, "Ann lives in Porto.")))
	want := []string{"Ann lives in Lisbon. 1 to 3 by Ann lives in Porto, Portugal.", "Ann lives in Porto, Portugal. 3"}
	if diff := cmp.Diff(want, b.history()); diff != "" {
		t.Errorf("before (-want +got):\n%s", diff)
	}
	b.succeeds(b.ingest("s", rewind(t, "i1", "r", 4)))
	if diff := cmp.Diff([]string{"Ann lives in Lisbon. 1", "Ann lives in Portugal. 2"}, b.history()); diff != "" {
		t.Errorf("after (-want +got):\n%s", diff)
	}
}

// If a client is faster than an update its text stands, and the fact that the
// update would have added is not lost. If the client changes labels only, both
// changes count.
func TestUpdateOvertaken(t *testing.T) {
	const dog, rex, both = "Melanie has a dog.", "The dog of Melanie is called Rex.", "Melanie has a dog called Rex."
	mine := "Melanie has two dogs."
	for name, c := range map[string]struct {
		patch ingest.Patch
		want  []string
	}{
		"the text":     {ingest.Patch{Fact: &mine}, []string{mine, rex}},
		"the topics":   {ingest.Patch{Topics: &[]string{"mine"}}, []string{both}},
		"the metadata": {ingest.Patch{Metadata: &memory.Metadata{"by": json.RawMessage(`"me"`)}}, []string{both}},
	} {
		t.Run(name, func(t *testing.T) {
			r := &reader{}
			r.verdict(rex, extract.Update, dog, both)
			var b *bench
			b = newBench(t, parts{extractor: extract.NewModel(r, nil), sessions: func(s ingest.Sessions) ingest.Sessions {
				return meddled{s, func() {
					for _, m := range b.all(memory.KindFact) {
						if _, err := b.service.Update(t.Context(), scope, m.ID, c.patch); err != nil {
							t.Error(err)
						}
					}
				}}
			}})
			b.run()
			b.succeeds(b.ingest("s", event(t, "a", 1, dog)))
			b.succeeds(b.ingest("t", event(t, "b", 2, rex)))
			if diff := cmp.Diff(c.want, b.facts()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			m := b.all(memory.KindFact)[0]
			if c.patch.Topics != nil && !slices.Equal(m.Topics, *c.patch.Topics) || c.patch.Metadata != nil && len(m.Metadata) != 1 {
				t.Errorf("the labels are lost: %+v", m)
			}
		})
	}
}

// meddled is a session store that calls act whenever a plan has been stored.
type meddled struct {
	ingest.Sessions
	act func()
}

func (m meddled) Save(ctx context.Context, w sessionstore.Work, to int64, plan json.RawMessage) error {
	err := m.Sessions.Save(ctx, w, to, plan)
	if strings.Contains(string(plan), `"changes"`) {
		m.act()
	}
	return err
}

// While a model fails the facts of the rules are provisional. Facts that others
// say meanwhile are not changed by them for good.
func TestFallback(t *testing.T) {
	for name, c := range map[string]struct{ other, model, want string }{
		"in other words": {"Ann lives in Lisbon.", "Ann has moved to Porto.", "Ann has moved to Porto."},
		"the very same":  {"I live in Porto.", "I live in Porto.", "I live in Porto."},
	} {
		t.Run(name, func(t *testing.T) {
			r := &reader{}
			r.set(fmt.Errorf("%w: out for lunch", memory.ErrUnavailable))
			opts := ingest.Options{MaxAttempts: 2, Fallback: rules.New()}
			b := newBench(t, parts{extractor: extract.NewModel(r, nil), opts: opts})
			b.run()
			op := b.done(b.ingest("s", event(t, "a", 1, "I live in Porto.")))
			if op.State != sessionstore.Failed || !strings.Contains(op.LastError, "out for lunch") {
				t.Fatalf("operation %+v", op)
			}
			if diff := cmp.Diff([]string{"I live in Porto."}, b.facts()); diff != "" {
				t.Errorf("meanwhile (-want +got):\n%s", diff)
			}
			r.set(nil)
			b.succeeds(b.ingest("other", event(t, "b", 2, c.other)))
			if _, err := b.service.Retry(t.Context(), scope, op.ID); err != nil {
				t.Fatal(err)
			}
			b.succeeds(op)
			want := []string{"I live in Porto."}
			if c.other != want[0] {
				want = []string{c.other, "I live in Porto."}
			}
			if diff := cmp.Diff(want, b.facts()); diff != "" {
				t.Errorf("at last (-want +got):\n%s", diff)
			}
			for _, m := range b.all(memory.KindFact) {
				past, err := b.memories.Revisions(t.Context(), scope, m.ID, 0)
				if err != nil || past[len(past)-1].Actor != r.Model() {
					t.Errorf("%q was made by %+v, %v", m.Fact, past, err)
				}
			}
		})
	}
}

// A provisional fact that a client has deleted or changed stays so.
func TestFallbackSettled(t *testing.T) {
	r := &reader{}
	r.set(memory.ErrUnavailable)
	opts := ingest.Options{MaxAttempts: 1, Fallback: rules.New()}
	b := newBench(t, parts{extractor: extract.NewModel(r, nil), opts: opts})
	b.run()
	op := b.done(b.ingest("s",
		event(t, "a", 1, "I live in Porto."), event(t, "b", 2, "I love sailing."), event(t, "c", 3, "I have a dog.")))
	text := "I live in Gaia."
	for _, m := range b.all(memory.KindFact) {
		var err error
		switch m.Fact {
		case "I live in Porto.":
			_, err = b.service.Update(t.Context(), scope, m.ID, ingest.Patch{Fact: &text})
		case "I love sailing.":
			err = b.service.Delete(t.Context(), scope, m.ID)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	r.set(nil)
	if _, err := b.service.Retry(t.Context(), scope, op.ID); err != nil {
		t.Fatal(err)
	}
	b.succeeds(op)
	if diff := cmp.Diff([]string{"I have a dog.", "I live in Gaia."}, b.facts()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Facts that a model gives no comparison for are added all the same after some
// attempts, and the model is not asked for facts twice meanwhile.
func TestUncompared(t *testing.T) {
	r := &halfBroken{}
	b := newBench(t, parts{extractor: extract.NewModel(r, nil), embedder: embed.Builtin{}})
	b.run()
	b.succeeds(b.ingest("s", event(t, "a", 1, "Ann has a dog.")))
	b.succeeds(b.ingest("t", event(t, "b", 2, "Ann has a dog called Rex.")))
	want := []string{"Ann has a dog called Rex.", "Ann has a dog."}
	if diff := cmp.Diff(want, b.facts()); diff != "" || r.reads != 2 {
		t.Errorf("%d extractions, facts (-want +got):\n%s", r.reads, diff)
	}
}

// halfBroken is a model that finds facts, and answers comparisons with nonsense.
type halfBroken struct {
	reader
	reads int
}

func (h *halfBroken) Generate(ctx context.Context, p extract.Prompt) (extract.Answer, error) {
	if !strings.Contains(p.Data, `"text":`) {
		return extract.Answer{Text: "?"}, nil
	}
	h.reads++
	return h.reader.Generate(ctx, p)
}

// forgetting is a reader that understands a request to forget.
type forgetting struct{ *reader }

func (f forgetting) Generate(ctx context.Context, p extract.Prompt) (extract.Answer, error) {
	p.Data = strings.ReplaceAll(p.Data, `"text":"Please forget that `, `"text":"Forget: `)
	a, err := f.reader.Generate(ctx, p)
	a.Text = strings.ReplaceAll(a.Text, `"Forget: I love`, `"Please forget that I love`)
	return a, err
}

// stutterer is a reader that answers with prose some times first.
type stutterer struct {
	reader
	prose int
}

func (s *stutterer) Generate(ctx context.Context, p extract.Prompt) (extract.Answer, error) {
	if s.prose--; s.prose >= 0 {
		return extract.Answer{Text: "Well…", Usage: extract.Usage{Calls: 1, InputTokens: 10}}, nil
	}
	return s.reader.Generate(ctx, p)
}

// The cost of an operation counts every attempt.
func TestCost(t *testing.T) {
	b := newBench(t, parts{extractor: extract.NewModel(&stutterer{prose: 5}, nil)})
	b.run()
	op := b.succeeds(b.ingest("s", event(t, "a", 1, "Ann has a dog.")))
	total := b.costOf(op)
	if want := (ingest.Cost{Usage: extract.Usage{Calls: 6, InputTokens: 50}}); total != want || op.Attempts != 3 {
		t.Errorf("%d attempts cost %+v, want %+v", op.Attempts, total, want)
	}
}
