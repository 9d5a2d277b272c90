package ingest_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

var (
	stories   = flag.Int("stories", 8, "random stories of TestRandomStories")
	storySeed = flag.Uint64("storyseed", 1, "seed of the first of them")
)

// meaning is the meaning of a sentence, written by hand rather than read by package
// extract: the two must agree.
type meaning struct {
	says, slot, value, endsWhat, forgets string
}

var vocabulary = map[string]meaning{
	"My favourite colour is blue.":                     {says: "blue", slot: "colour", value: "blue"},
	"My favourite colour is green now.":                {says: "green", slot: "colour", value: "green"},
	"Please forget that my favourite colour is green.": {forgets: "green"},
	"I live in Porto.":                                 {says: "in porto", slot: "home", value: "porto"},
	"I moved to Porto.":                                {says: "to porto", slot: "home", value: "porto"},
	"I moved to Lisbon.":                               {says: "to lisbon", slot: "home", value: "lisbon"},
	"I live in Berlin now.":                            {says: "in berlin", slot: "home", value: "berlin"},
	"I don't live in Porto anymore.":                   {says: "not porto", endsWhat: "in porto"},
	"I eat meat.":                                      {says: "meat"},
	"I don't eat meat anymore.":                        {says: "no meat", endsWhat: "meat"},
	"Please forget that I don't eat meat anymore.":     {forgets: "no meat"},
	"I love sailing.":                                  {says: "sailing"},
	"I really love sailing!":                           {says: "sailing"},
	"Please forget that I love sailing.":               {forgets: "sailing"},
	"My sister is a nurse.":                            {says: "nurse"},
	"Thanks, that helps!":                              {},
}

// ends reports whether a sentence may end another. Of two such sentences in one
// event either could be the one that a third is ended by.
func (m meaning) ends() bool { return m.slot != "" || m.endsWhat != "" }

// saidEvent is one event of a random story.
type saidEvent struct {
	session, id, author, invocation, rewinds string
	at                                       int
	sentences                                []string
}

func (e saidEvent) event(t testing.TB) sessionstore.Event {
	t.Helper()
	text, _ := json.Marshal(strings.Join(e.sentences, " "))
	doc := fmt.Sprintf(`{"id": %q, "author": %q, "timestamp": %d, "invocationId": %q,
		"content": {"role": "user", "parts": [{"text": %s}]}`,
		e.id, e.author, 1_700_000_000+e.at, e.invocation, text)
	if e.rewinds != "" {
		doc += fmt.Sprintf(`, "actions": {"rewindBeforeInvocationId": %q}`, e.rewinds)
	}
	out, err := sessionstore.ParseEvent([]byte(doc + "}"))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// randomStory is in order of time. All that is said at one time in a session is of
// one invocation, and a session has one rewind at most. So the times alone tell
// what a rewind takes back.
func randomStory(random *rand.Rand) (story []saidEvent) {
	var texts []string
	for text := range vocabulary {
		texts = append(texts, text)
	}
	slices.Sort(texts)
	random.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
	texts = texts[:2+random.IntN(len(texts)-2)] // few, so that they meet
	sessions, authors, n := 1+random.IntN(3), 1+random.IntN(2), 5+random.IntN(21)
	ids := random.Perm(n)
	for i := range n {
		e := saidEvent{
			session: fmt.Sprint("s", random.IntN(sessions)), id: fmt.Sprint("e", ids[i]/2, "-", ids[i]%2),
			author: fmt.Sprint("author", random.IntN(authors)), at: 2 * random.IntN(n),
		}
		e.invocation = fmt.Sprint("i", e.at/2)
		for range 1 + random.IntN(2) {
			text := texts[random.IntN(len(texts))]
			if !slices.ContainsFunc(e.sentences, func(s string) bool {
				return vocabulary[s].says == vocabulary[text].says || vocabulary[s].ends() && vocabulary[text].ends()
			}) {
				e.sentences = append(e.sentences, text)
			}
		}
		story = append(story, e)
	}
	for s := range sessions {
		if at := 2 * random.IntN(n); random.IntN(2) == 0 {
			story = append(story, saidEvent{
				session: fmt.Sprint("s", s), id: "r", author: "author0", invocation: "r",
				rewinds: fmt.Sprint("i", random.IntN(at/2+1)), at: at + 1,
			})
		}
	}
	slices.SortFunc(story, inTime)
	// No rewind takes back a request to forget, as what that deleted stays deleted.
	forgets := func(s string) bool { return vocabulary[s].forgets != "" }
	return slices.DeleteFunc(story, func(r saidEvent) bool {
		return r.rewinds != "" && slices.ContainsFunc(story, func(e saidEvent) bool {
			return rewound(story, e) && slices.ContainsFunc(e.sentences, forgets)
		})
	})
}

func inTime(a, b saidEvent) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.id, b.id), cmp.Compare(a.session, b.session))
}

// statement is a sentence of a story, with its end.
type statement struct {
	saidEvent
	meaning
	text  string
	until int // 0 is no end
	by    *statement
}

func rewound(story []saidEvent, e saidEvent) bool {
	return slices.ContainsFunc(story, func(r saidEvent) bool {
		first := slices.IndexFunc(story, func(x saidEvent) bool {
			return x.session == r.session && x.invocation == r.rewinds && x.at < r.at
		})
		return r.rewinds != "" && r.session == e.session && first >= 0 && story[first].at <= e.at && e.at < r.at
	})
}

// holding works out by brute force what the rules promise of a story.
func holding(story []saidEvent) []string {
	var all []*statement
	for _, e := range story {
		for _, text := range e.sentences {
			if !rewound(story, e) {
				all = append(all, &statement{saidEvent: e, meaning: vocabulary[text], text: text})
			}
		}
	}
	all = slices.DeleteFunc(all, func(s *statement) bool {
		return s.says == "" && s.forgets == "" || slices.ContainsFunc(all, func(o *statement) bool {
			return o.author == s.author && s.says != "" && o.forgets == s.says && inTime(s.saidEvent, o.saidEvent) < 0
		})
	})
	all = slices.DeleteFunc(all, func(s *statement) bool { return s.says == "" })
	for i, s := range all {
		for _, o := range all[i+1:] {
			otherValue := s.slot != "" && s.slot == o.slot && s.value != o.value
			excludes := otherValue || s.endsWhat == o.says || o.endsWhat == s.says
			if s.by == nil && o.author == s.author && excludes && inTime(s.saidEvent, o.saidEvent) < 0 {
				s.until, s.by = o.at, o
			}
		}
	}
	var out []string
	for i, s := range all {
		for _, o := range all[:i] {
			again := o.by != nil && o.by.says == o.says
			holds := o.by == nil || inTime(s.saidEvent, o.by.saidEvent) < 0
			if o.author == s.author && o.says == s.says && !again && holds {
				s.until, s.by = s.at, o
				break
			}
		}
		line := fmt.Sprintf("%d %s: %s", s.at, s.author, s.text)
		if s.by != nil {
			line += fmt.Sprintf(" to %d by %d %s", s.until, s.by.at, s.by.text)
		}
		out = append(out, line)
	}
	slices.Sort(out)
	return out
}

// told are all facts, without their IDs, as holding gives them.
func (b *bench) told() []string {
	b.Helper()
	facts := memory.Filter{Kinds: []memory.Kind{memory.KindFact}, History: true}
	page, err := b.memories.List(b.Context(), scope, memory.List{PageSize: memory.MaxPageSize, Filter: facts})
	if err != nil {
		b.Fatal(err)
	}
	byID := map[string]memory.Memory{}
	for _, m := range page.Memories {
		byID[m.ID] = m
	}
	var out []string
	for _, m := range page.Memories {
		line := fmt.Sprintf("%d %s: %s", m.Timestamp.Unix()-1_700_000_000, m.Author, m.Fact)
		if m.SupersededBy != "" {
			by, ok := byID[m.SupersededBy]
			to, at := m.ValidTo.Unix()-1_700_000_000, by.Timestamp.Unix()-1_700_000_000
			line += fmt.Sprintf(" to %d by %d %s", to, at, by.Fact)
			if !ok {
				line += "MISSING"
			}
		}
		out = append(out, line)
	}
	slices.Sort(out)
	return out
}

// tell ingests a story in a random order, in requests and batches of random sizes,
// with calls of the stores that fail.
func tell(t *testing.T, story []saidEvent, random *rand.Rand) (got []string, how string) {
	t.Helper()
	t.Run("", func(t *testing.T) {
		f := &fuse{after: random.IntN(2) == 0}
		opts := ingest.Options{BatchEvents: []int{1, 3, 100}[random.IntN(3)], MaxAttempts: 1000}
		b := newBench(t, parts{opts: opts,
			sessions: func(s ingest.Sessions) ingest.Sessions { return fusedSessions{s, f} },
			memories: func(s memory.Store) memory.Store { return fusedMemories{s, f} },
		})
		b.run()
		story = slices.Clone(story)
		random.Shuffle(len(story), func(i, j int) { story[i], story[j] = story[j], story[i] })
		most := []int{1, 3, 100}[random.IntN(3)]
		wait := random.IntN(2) == 0
		how = fmt.Sprintf("batches of %d, wait %v:", opts.BatchEvents, wait)
		var ops []*sessionstore.Operation
		for i := 0; i < len(story); {
			n := min(1+random.IntN(most), len(story)-i)
			requests := map[string][]sessionstore.Event{}
			for _, e := range story[i : i+n] {
				requests[e.session] = append(requests[e.session], e.event(t))
				how += fmt.Sprintf(" %s/%s", e.session, e.id)
			}
			how += ";"
			f.mu.Lock()
			f.left = random.IntN(20)
			f.mu.Unlock()
			for _, s := range []string{"s0", "s1", "s2"} {
				if len(requests[s]) > 0 {
					ops = append(ops, b.ingest(s, requests[s]...))
					if wait {
						b.succeeds(ops[len(ops)-1])
					}
				}
			}
			i += n
		}
		for _, op := range ops {
			b.succeeds(op)
		}
		got = b.told()
	})
	return got, how
}

// wrong returns the difference between a story as it was remembered and as the rules
// promise; "" if there is none.
func wrong(t *testing.T, story []saidEvent, seed uint64, tries int) string {
	want := holding(story)
	for i := range tries {
		got, how := tell(t, story, rand.New(rand.NewPCG(seed, uint64(i))))
		if d := diff.Diff(want, got); d != "" {
			return fmt.Sprintf("try %d, %s\n(-want +got):\n%s", i, how, d)
		}
	}
	return ""
}

// Which facts hold, until when and by what they are superseded follows from what
// was said and when, whatever the order, the sessions, the requests and the
// batches in which it arrives, and whatever call fails in between.
func TestRandomStories(t *testing.T) {
	for seed := *storySeed; seed < *storySeed+uint64(*stories); seed += sparse {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			story := randomStory(rand.New(rand.NewPCG(seed, 0)))
			fault := wrong(t, story, seed, 6)
			if fault == "" {
				return
			}
			for _, e := range story {
				t.Logf("%d %s/%s %s %s %q rewinds %q",
					e.at, e.session, e.id, e.author, e.invocation, e.sentences, e.rewinds)
			}
			t.Error(fault)
		})
	}
}
