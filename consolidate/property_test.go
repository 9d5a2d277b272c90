package consolidate_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	diff "github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/consolidate"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/memory"
)

var (
	stories = flag.Uint64("stories", 500, "random stories of each property")
	seed    = flag.Uint64("storyseed", 1, "seed of the first story")
)

// meaning is the meaning of a sentence, written by hand rather than read by
// package extract: the two must agree.
type meaning struct {
	text             string // canonical, in a word or two
	attribute, value string
	ended            bool   // the attribute no longer has the value
	ends, forgets    string // the canonical text that it ends, or asks to forget
}

// endedBy reports whether a later sentence of the same author ends m.
func (m meaning) endedBy(o meaning) bool {
	if m.ends == o.text || o.ends == m.text {
		return true
	}
	if m.attribute == "" || m.attribute != o.attribute || m.ended && o.ended {
		return false
	}
	return (m.value == o.value) == (m.ended || o.ended)
}

var vocabulary = map[string]meaning{
	"My favourite colour is blue.":                     {text: "blue", attribute: "colour", value: "blue"},
	"My favourite colour is green now.":                {text: "green", attribute: "colour", value: "green"},
	"Please forget that my favourite colour is green.": {forgets: "green"},
	"I live in Porto.":                                 {text: "in porto", attribute: "home", value: "porto"},
	"I moved to Porto.":                                {text: "to porto", attribute: "home", value: "porto"},
	"I live in Berlin now.":                            {text: "in berlin", attribute: "home", value: "berlin"},
	"I don't live in Porto anymore.": {
		text: "not porto", ends: "in porto", attribute: "home", value: "porto", ended: true,
	},
	"I eat meat.":                                  {text: "meat", attribute: "meat", value: "yes"},
	"I don't eat meat anymore.":                    {text: "no meat", ends: "meat", attribute: "meat", value: "yes", ended: true},
	"Please forget that I don't eat meat anymore.": {forgets: "no meat"},
	"I love sailing.":                              {text: "sailing"},
	"I really love sailing!":                       {text: "sailing"},
	"Please forget that I love sailing.":           {forgets: "sailing"},
}

// said is one event of a story, of one sentence.
type said struct {
	session, event, author, sentence string
	at                               int  // when it was received, and said unless its clock was ahead
	ahead                            int  // seconds by which its clock was ahead
	takenBack                        bool // at some time after it was said
}

// from is when it begins to hold: when it was said, or at the date in the future
// that it has.
func (s said) from() int {
	if s.ahead > int(memory.MaxSkew/time.Second) {
		return s.at + s.ahead
	}
	return s.at
}

func (s said) id() string { return s.session + "/" + s.event }

func earlier(a, b said) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.at+a.ahead, b.at+b.ahead),
		cmp.Compare(a.event, b.event), cmp.Compare(a.session, b.session))
}

// randomStory is of few sentences, so that they meet. A request to forget is not
// taken back, as what it deleted stays deleted.
func randomStory(random *rand.Rand) (story []said) {
	var sentences []string
	for text := range vocabulary {
		sentences = append(sentences, text)
	}
	slices.Sort(sentences)
	random.Shuffle(len(sentences), func(i, j int) { sentences[i], sentences[j] = sentences[j], sentences[i] })
	sentences = sentences[:2+random.IntN(len(sentences)-2)]
	authors, n := 1+random.IntN(2), 3+random.IntN(15)
	for i := range n {
		s := said{
			session: fmt.Sprint("s", random.IntN(3)), event: fmt.Sprint("e", i), at: random.IntN(n),
			author: fmt.Sprint("author", random.IntN(authors)), sentence: sentences[random.IntN(len(sentences))],
		}
		if random.IntN(4) == 0 { // a few seconds, half a day, or a date in the future
			s.ahead = []int{1 + random.IntN(5), 12 * 3600, 90_000 + random.IntN(5)*40_000}[random.IntN(3)]
		}
		s.takenBack = random.IntN(5) == 0 && vocabulary[s.sentence].forgets == ""
		story = append(story, s)
	}
	return story
}

// reference works out by brute force what the rules promise of a story.
func reference(story []said) (out []string) {
	type fact struct {
		said
		meaning
		until int
		by    *fact
	}
	var facts []*fact
	for _, s := range story {
		m := vocabulary[s.sentence]
		forgotten := slices.ContainsFunc(story, func(o said) bool {
			return vocabulary[o.sentence].forgets == m.text && o.author == s.author && earlier(s, o) < 0
		})
		if m.forgets == "" && !s.takenBack && !forgotten {
			facts = append(facts, &fact{said: s, meaning: m})
		}
	}
	slices.SortFunc(facts, func(a, b *fact) int { return earlier(a.said, b.said) })
	for i, f := range facts {
		for _, o := range facts[i+1:] {
			until := max(o.from(), f.from())
			if o.author == f.author && f.endedBy(o.meaning) && (f.by == nil || until < f.until) {
				f.until, f.by = until, o
			}
		}
	}
	for i, f := range facts {
		for _, o := range facts[:i] {
			repetition := o.by != nil && o.by.text == o.text
			begun := o.from() == o.at || o.from() <= f.from()
			holds := o.by == nil || cmp.Or(cmp.Compare(f.from(), o.by.from()), earlier(f.said, o.by.said)) < 0
			if o.author == f.author && o.text == f.text && !repetition && begun && holds {
				f.until, f.by = f.from(), o
				break
			}
		}
	}
	for _, f := range facts {
		line := fmt.Sprintf("%d %s %s: %s", f.at+f.ahead, f.id(), f.author, f.sentence)
		if f.by != nil {
			line += fmt.Sprintf(" until %d by %s", f.until, f.by.id())
		}
		times, last := 0, 0
		for _, o := range facts {
			if o.by == f && o.text == f.text && o.until == o.from() {
				times, last = times+1, max(last, o.at)
			}
		}
		if times > 0 {
			line += fmt.Sprintf(" said %d times", times+1)
		}
		if last > f.at {
			line += fmt.Sprintf(" last at %d", last)
		}
		out = append(out, line)
	}
	return out
}

// store keeps memories as package memory promises, in a map.
type store struct {
	facts   map[string]memory.Memory
	deleted map[string]bool
	turns   []memory.Memory
	forms   consolidate.Forms
}

func newStore(forms consolidate.Forms) *store {
	return &store{facts: map[string]memory.Memory{}, deleted: map[string]bool{}, forms: forms}
}

var epoch = time.Unix(1_700_000_000, 0).UTC()

func (s said) memory() memory.Memory {
	m := memory.Memory{
		ID: s.id(), Kind: memory.KindFact, Fact: s.sentence, Author: s.author, Topics: []string{},
		Timestamp: epoch.Add(time.Duration(s.at+s.ahead) * time.Second),
		Source:    memory.Source{SessionID: s.session, EventIDs: []string{s.event}, Quote: s.sentence},
	}
	if s.ahead > 0 {
		m.ReceiveTime = epoch.Add(time.Duration(s.at) * time.Second)
	}
	return m
}

// input is a batch that brings some events and withdraws others.
func (s *store) input(news, withdrawn []said) consolidate.Input {
	in := consolidate.Input{Forms: s.forms, Last: 100}
	for _, n := range news {
		m := n.memory()
		s.turns = append(s.turns, m)
		in.New = append(in.New, consolidate.Fact{Seq: 1, Memory: m, Forget: vocabulary[n.sentence].forgets != ""})
	}
	for _, w := range withdrawn {
		if m, ok := s.facts[w.id()]; ok {
			in.Withdrawn = append(in.Withdrawn, consolidate.Withdrawal{Memory: m, Reason: "taken back"})
		}
	}
	for _, m := range s.facts {
		in.Known = append(in.Known, m)
	}
	in.Asked = s.turns
	return in
}

// apply carries changes out. A memory that was deleted stays so.
func (s *store) apply(t *testing.T, changes []consolidate.Change) {
	t.Helper()
	for _, c := range changes {
		was, ok := s.facts[c.Memory.ID]
		switch {
		case s.deleted[c.Memory.ID] || s.deleted[c.For]:
		case was.Revision != c.Expect || ok == (c.Action == memory.Created):
			t.Fatalf("%s of revision %d, and the store has %d", c.Action, c.Expect, was.Revision)
		case c.Action == memory.Deleted:
			delete(s.facts, c.Memory.ID)
			s.deleted[c.Memory.ID] = true
		default:
			c.Memory.Revision = c.Expect + 1
			s.facts[c.Memory.ID] = c.Memory
		}
	}
}

// lines are the facts as reference gives them.
func (s *store) lines() (out []string) {
	var all []memory.Memory
	for _, m := range s.facts {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b memory.Memory) int { return consolidate.Chronological(&a, &b) })
	second := func(at time.Time) int { return int(at.Sub(epoch) / time.Second) }
	for _, m := range all {
		line := fmt.Sprintf("%d %s %s: %s", second(m.Timestamp), m.ID, m.Author, m.Fact)
		if m.SupersededBy != "" {
			line += fmt.Sprintf(" until %d by %s", second(m.ValidTo), m.SupersededBy)
		}
		if m.Evidence > 0 {
			line += fmt.Sprintf(" said %d times", m.Evidence)
		}
		if !m.ConfirmedTime.IsZero() {
			line += fmt.Sprintf(" last at %d", second(m.ConfirmedTime))
		}
		out = append(out, line)
	}
	return out
}

// tell has a story arrive in a random order, in batches of random sizes. An event
// that is taken back is withdrawn with some later batch, or never stated.
func (s *store) tell(t *testing.T, story []said, random *rand.Rand) {
	t.Helper()
	story = slices.Clone(story)
	random.Shuffle(len(story), func(i, j int) { story[i], story[j] = story[j], story[i] })
	var stated []said // and to be taken back
	for len(story) > 0 {
		n := 1 + random.IntN(min(4, len(story)))
		var news, withdrawn []said
		for _, e := range story[:n] {
			if e.takenBack && random.IntN(2) == 0 {
				continue // the rewind came first
			}
			news = append(news, e)
		}
		if story = story[n:]; len(story) == 0 || random.IntN(2) == 0 {
			withdrawn, stated = stated, nil
		}
		s.apply(t, consolidate.Plan(s.input(news, withdrawn)).Changes)
		for _, e := range news {
			if e.takenBack {
				stated = append(stated, e)
			}
		}
	}
	s.apply(t, consolidate.Plan(s.input(nil, stated)).Changes)
}

// each runs a property on random stories.
func each(t *testing.T, property func(t *testing.T, story []said, forms consolidate.Forms, random *rand.Rand)) {
	forms := consolidate.Forms{}
	for n := *seed; n < *seed+*stories && !t.Failed(); n++ {
		random := rand.New(rand.NewPCG(n, 0))
		story := randomStory(random)
		property(t, story, forms, random)
		if t.Failed() {
			slices.SortFunc(story, earlier)
			t.Logf("story of seed %d:", n)
			for _, s := range story {
				t.Logf("%d + %d %s %s %q, taken back %v", s.at, s.ahead, s.id(), s.author, s.sentence, s.takenBack)
			}
		}
	}
}

// Which facts hold, until when and by what they are superseded follows from what
// was said and when, whatever the order and the batches in which it arrives.
func TestOrderAndBatches(t *testing.T) {
	each(t, func(t *testing.T, story []said, forms consolidate.Forms, random *rand.Rand) {
		want := reference(story)
		for range 3 {
			s := newStore(forms)
			s.tell(t, story, random)
			if d := diff.Diff(want, s.lines()); d != "" {
				t.Errorf("(-reference +got):\n%s", d)
			}
		}
	})
}

// A fact that is hidden is so because its author has said something since that
// excludes it, or has said the same before: never for anything else.
func TestNothingTrueIsHidden(t *testing.T) {
	each(t, func(t *testing.T, story []said, forms consolidate.Forms, random *rand.Rand) {
		s := newStore(forms)
		s.tell(t, story, random)
		for _, m := range s.facts {
			by, there := s.facts[m.SupersededBy]
			a, b := vocabulary[m.Fact], vocabulary[by.Fact]
			switch {
			case m.SupersededBy == "" && m.ValidTo.IsZero():
			case !there || by.Author != m.Author:
				t.Errorf("%s is hidden by %q", m.ID, m.SupersededBy)
			case consolidate.Repetition(&m):
				if a.text != b.text || consolidate.Chronological(&by, &m) >= 0 || consolidate.Repetition(&by) {
					t.Errorf("%s (%s) repeats %s (%s)", m.ID, m.Fact, by.ID, by.Fact)
				}
			case consolidate.Chronological(&m, &by) >= 0 || !a.endedBy(b):
				t.Errorf("%s (%s) is ended by %s (%s)", m.ID, m.Fact, by.ID, by.Fact)
			}
		}
	})
}

// Facts that are withdrawn leave all others as they were before.
func TestTakingBackRestores(t *testing.T) {
	each(t, func(t *testing.T, story []said, forms consolidate.Forms, random *rand.Rand) {
		kept := slices.DeleteFunc(slices.Clone(story), func(s said) bool { return s.takenBack })
		taken := slices.DeleteFunc(slices.Clone(story), func(s said) bool { return !s.takenBack })
		s := newStore(forms)
		s.tell(t, kept, random)
		want := s.lines()
		s.apply(t, consolidate.Plan(s.input(taken, nil)).Changes)
		s.apply(t, consolidate.Plan(s.input(nil, taken)).Changes)
		if d := diff.Diff(want, s.lines()); d != "" {
			t.Errorf("(-before +after):\n%s", d)
		}
	})
}

// A plan that was applied has nothing left to change, whether the batch comes
// again or not; and Plan leaves its input alone.
func TestAppliedTwice(t *testing.T) {
	each(t, func(t *testing.T, story []said, forms consolidate.Forms, random *rand.Rand) {
		s := newStore(forms)
		at := random.IntN(len(story))
		s.tell(t, story[:at], random)
		batch := story[at:]
		in := s.input(batch, nil)
		in.Forms = nil
		before, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		in.Forms = forms
		first := consolidate.Plan(in)
		in.Forms = nil
		if after, err := json.Marshal(in); err != nil || string(after) != string(before) {
			t.Errorf("Plan has changed its input")
		}
		in.Forms = forms
		if d := diff.Diff(first, consolidate.Plan(in)); d != "" {
			t.Errorf("the same input gives another plan:\n%s", d)
		}
		s.apply(t, first.Changes)
		for _, again := range [][]said{nil, batch} {
			in := s.input(again, nil)
			in.New = slices.DeleteFunc(in.New, func(f consolidate.Fact) bool { // those that the store would refuse
				return s.deleted[f.Memory.ID] || !f.Forget && s.facts[f.Memory.ID].ID == ""
			})
			if changes := consolidate.Plan(in).Changes; len(changes) > 0 {
				t.Errorf("%d events again: %+v", len(again), changes)
			}
		}
	})
}

// Whatever a model says of new facts, none is lost: it is stored, or a fact that
// holds stands for it. Only requests to forget delete, and only what was said
// before them.
func TestAnyVerdicts(t *testing.T) {
	each(t, func(t *testing.T, story []said, forms consolidate.Forms, random *rand.Rand) {
		s := newStore(forms)
		at := random.IntN(len(story))
		s.tell(t, story[:at], random)
		in := s.input(story[at:], nil)
		c := &consolidate.Comparison{New: consolidate.Plan(in).Uncompared}
		for _, m := range in.Known {
			if random.IntN(2) == 0 {
				c.Known = append(c.Known, m)
			}
		}
		place := func() int { return random.IntN(len(c.Known)+len(c.New)+2) - 1 }
		asked, forgotten := false, map[int]bool{} // by place
		for _, f := range c.New {
			action := []extract.Action{extract.Create, extract.Update, extract.Nothing, extract.Delete}[random.IntN(4)]
			against := []int{place(), place()}
			v := extract.Verdict{Action: action, Same: place(), Text: "both", Against: against, Reason: "so"}
			c.Verdicts = append(c.Verdicts, v)
			if asked = asked || f.Forget; f.Forget && action == extract.Delete {
				forgotten[v.Against[0]], forgotten[v.Against[1]] = true, true
			}
		}
		in.Compared = c
		changes := consolidate.Plan(in).Changes
		for _, change := range changes {
			if change.Action == memory.Deleted && !asked && change.Reason == "so" {
				t.Errorf("%s is deleted, and no request asks for it", change.Memory.ID)
			}
		}
		s.apply(t, changes)
		for i, f := range c.New {
			if _, stored := s.facts[f.Memory.ID]; stored || f.Forget || s.deleted[f.Memory.ID] {
				continue
			}
			v := c.Verdicts[i]
			if forgotten[len(c.Known)+i] {
				continue
			}
			stands := false // a fact that says the same, or was to be forgotten since
			switch n := v.Same - len(c.Known); {
			case v.Same >= 0 && n < 0:
				id := c.Known[v.Same].ID
				stands = s.facts[id].ID != "" || s.deleted[id]
			case v.Same >= 0 && n < len(c.New):
				stands = v.Action == extract.Nothing
			}
			if !stands || v.Action != extract.Nothing && v.Action != extract.Update {
				t.Errorf("%s is lost by %+v", f.Memory.ID, v)
			}
		}
	})
}
