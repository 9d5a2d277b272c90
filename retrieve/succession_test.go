package retrieve_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
)

func day(n int) time.Time { return time.Date(2023, 5, n, 12, 0, 0, 0, time.UTC) }

// ended has a fact be superseded by another one at noon of a day.
func ended(f memory.Memory, n int, by string) memory.Memory {
	f.ValidTo, f.SupersededBy = day(n), by
	return f
}

// moved is the story of a move: what was said of the old home, and later of the new
// one, which shares no word with a question about either, with other talk around.
func moved() []memory.Memory {
	return []memory.Memory{
		turn("t1", "s1", 1, "Ann", "I live in Berlin."),
		ended(fact("f1", "s1", "t1", 1, "", "I live in Berlin."), 20, "f2"),
		turn("t2", "s2", 20, "Ann", "We have settled down near Rome."),
		fact("f2", "s2", "t2", 20, "home", "We have settled down near Rome."),
		turn("t3", "s1", 2, "Ann", "The library of Berlin has a garden."),
		turn("t4", "s2", 21, "Ann", "My piano is out of tune."),
	}
}

// order returns the ids of the matches, those that are outdated in brackets with what
// holds instead.
func order(found []memory.Match) string {
	var out []string
	for _, m := range found {
		s := m.Memory.ID
		if m.Outdated != nil {
			s += "(" + m.Outdated.Since.Format("2") + " " + strings.Join(m.Outdated.By, "+") + ")"
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

// What took the place of an outdated turn comes directly before it, whatever its
// words, within topK and under the filter.
func TestSuccession(t *testing.T) {
	r := remembering(t, moved()...)
	for _, c := range []struct {
		name string
		req  retrieve.Request
		want string // begins so
	}{
		{"a question about the present", retrieve.Request{Query: "Where do I live?"}, "f2 t1(20 f2) "},
		{"the words of the old turn", retrieve.Request{Query: "I live in Berlin"}, "f2 t1(20 f2) t3"},
		{"one match", retrieve.Request{Query: "Berlin", TopK: 1}, "f2"},
		{"two matches", retrieve.Request{Query: "Berlin", TopK: 2}, "f2 t1(20 f2)"},
		{"facts alone", retrieve.Request{Query: "Berlin", Filter: memory.Filter{Kinds: []memory.Kind{memory.KindFact}}}, "f2"},
		{"turns alone", retrieve.Request{Query: "Berlin", Filter: memory.Filter{Kinds: []memory.Kind{memory.KindTurn}}},
			"t2 t1(20 f2+t2) t3"},
		{"the session of the old", retrieve.Request{Query: "Berlin", Filter: memory.Filter{SessionID: "s1"}}, "t1(20 f2) t3"},
		{"the session of the new", retrieve.Request{Query: "Berlin", Filter: memory.Filter{SessionID: "s2"}}, "f2"},
		{"a topic of the new", retrieve.Request{Query: "Berlin", Filter: memory.Filter{Topics: []string{"home"}}}, "f2"},
		{"a topic of neither", retrieve.Request{Query: "Berlin", Filter: memory.Filter{Topics: []string{"food"}}}, ""},
		{"since after the old", retrieve.Request{Query: "Berlin", Filter: memory.Filter{Since: day(10)}}, "f2"},
		{"until before the new", retrieve.Request{Query: "Berlin", Filter: memory.Filter{Until: day(10)}}, "t1(20 f2) t3"},
		{"as of a time before", retrieve.Request{Query: "Berlin", Filter: memory.Filter{AsOf: day(10)}}, "f1 t1 t3"},
		{"as of a time after", retrieve.Request{Query: "Berlin", Filter: memory.Filter{AsOf: day(25)}}, "f2 t1(20 f2) t3"},
		{"the past", retrieve.Request{Query: "Where did I live before?"}, "t1(20 f2)"},
		{"the past, in other words", retrieve.Request{Query: "Where did I use to live?"}, "t1(20 f2)"},
		{"a time that it held in", retrieve.Request{Query: "Where was my home on 3 May 2023?"}, "t1(20 f2)"},
		{"a time that it did not hold in", retrieve.Request{Query: "Do I live in Berlin in June 2023?"}, "f2 t1(20 f2)"},
		{"the present, by name", retrieve.Request{Query: "Where do I live now?"}, "f2 t1(20 f2)"},
		{"something else of the same words", retrieve.Request{Query: "library garden"}, "t3"},
	} {
		if got := order(search(t, r, c.req)); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// A turn of which a fact was taken back is outdated for what that fact said, and not for
// its other words. What holds instead comes before it. If another fact says the same, the
// turn tells what holds.
func TestRetracted(t *testing.T) {
	back := func(m memory.Memory, facts ...string) memory.Memory {
		for _, f := range facts {
			m.Retract(f, day(25))
		}
		return m
	}
	all := []memory.Memory{
		turn("rome", "s1", 1, "Ann", "I live in Rome."), fact("home", "s1", "rome", 1, "", "I live in Rome."),
		back(turn("oslo", "s2", 10, "Ann", "I moved to Oslo. The crew of the ferry sang all night, every one of them, it was grand."),
			"I moved to Oslo."),
		back(turn("tea", "s3", 11, "Ann", "I like green tea."), "I like green tea."),
		turn("ferry", "s4", 12, "Ann", "The ferry was late."),
	}
	r := remembering(t, all...)
	for query, want := range map[string]string{
		"Where do I live?":                 "home ",
		"I moved to Oslo":                  "home oslo(25 home)",
		"Oslo":                             "home oslo(25 home)",
		"Did the crew of the ferry sing?":  "oslo ",
		"Do I like green tea?":             "tea(25 )",
		"Where did I use to live in Oslo?": "oslo(25 ",
	} {
		if got := order(search(t, r, retrieve.Request{Query: query})) + " "; !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	block, err := r.Context(t.Context(), ann, retrieve.Request{Query: "Do I like green tea?"}, 500)
	if err != nil || !strings.Contains(block.Text, "(until 25 May 2023") {
		t.Errorf("block %s, %v", block.Text, err)
	}
	r = remembering(t, append(all, turn("again", "s5", 26, "Ann", "Yes, green tea is what I like."),
		fact("tea2", "s5", "again", 26, "", "I like green tea."))...)
	if got := order(search(t, r, retrieve.Request{Query: "Do I like green tea?"})); !strings.Contains(got+" ", "tea ") || strings.Contains(got, "tea(") {
		t.Errorf("said again: %s", got)
	}
}

// A turn that tells two things is outdated for the one that has ended and not for the
// one that holds, be that a fact or words of which no fact was made.
func TestTurnOfTwoFacts(t *testing.T) {
	r := remembering(t,
		turn("both", "s1", 1, "Ann", "I live in Berlin. I am allergic to peanuts."),
		ended(fact("home", "s1", "both", 1, "", "I live in Berlin."), 20, "new"),
		fact("nuts", "s1", "both", 1, "", "I am allergic to peanuts."),
		turn("long", "s2", 2, "Ann", "I drive a blue Fiat. Yesterday a whale was seen in the harbour, the whole town stood there!"),
		ended(fact("car", "s2", "long", 2, "", "I drive a blue Fiat."), 21, "car2"),
		turn("t20", "s3", 20, "Ann", "I moved to Rome."), fact("new", "s3", "t20", 20, "", "I moved to Rome."),
		turn("t21", "s3", 21, "Ann", "I drive a red Volvo."), fact("car2", "s3", "t21", 21, "", "I drive a red Volvo."),
	)
	for query, want := range map[string]string{
		"Where do I live?":                "new both(20 new)",
		"What am I allergic to?":          "nuts both ",
		"Did I see a whale in a harbour?": "long",
		"Which Fiat do I drive?":          "car2 ",
	} {
		got := order(search(t, r, retrieve.Request{Query: query}))
		if !strings.HasPrefix(got+" ", want) {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
		if query == "Which Fiat do I drive?" && !strings.Contains(got, "long(21 car2)") {
			t.Errorf("%s: %s does not mark long", query, got)
		}
	}
}

// Through a chain of any length, what holds comes, and each turn ends when its own
// fact did. What was said again holds, and so does a repetition of what holds.
func TestChains(t *testing.T) {
	repeated := fact("again", "s", "t2", 2, "", "I weigh eighty kilos.")
	repeated.ValidTo, repeated.SupersededBy = repeated.Timestamp, "f1"
	r := remembering(t,
		turn("t1", "s", 1, "Ann", "I weigh eighty kilos."),
		ended(fact("f1", "s", "t1", 1, "", "I weigh eighty kilos."), 5, "f3"),
		turn("t2", "s", 2, "Ann", "As I said, I weigh eighty kilos."), repeated,
		turn("t3", "s", 5, "Ann", "I weigh seventy-five kilos."),
		ended(fact("f3", "s", "t3", 5, "", "I weigh seventy-five kilos."), 9, "f4"),
		turn("t4", "s", 9, "Ann", "I weigh seventy kilos."), fact("f4", "s", "t4", 9, "", "I weigh seventy kilos."),
		turn("u1", "u", 1, "Ann", "My favourite colour is blue."),
		ended(fact("g1", "u", "u1", 1, "", "My favourite colour is blue."), 5, "g2"),
		turn("u2", "u", 5, "Ann", "My favourite colour is green."),
		ended(fact("g2", "u", "u2", 5, "", "My favourite colour is green."), 9, "g3"),
		turn("u3", "u", 9, "Ann", "My favourite colour is blue."), fact("g3", "u", "u3", 9, "", "My favourite colour is blue."),
		turn("v1", "v", 1, "Ann", "I own a parrot."), fact("h1", "v", "v1", 1, "", "I own a parrot."),
		turn("v2", "v", 3, "Ann", "I own a parrot, you know."),
		ended(fact("h2", "v", "v2", 3, "", "I own a parrot."), 3, "h1"),
	)
	for query, want := range map[string]string{
		"What do I weigh?": "f4 t1(5 f4) t2(5 f4) t3(9 f4) t4",
		"Which colour is my favourite, green or blue?": "g3 u1 u2(9 g3) u3",
		"Do I own a parrot?":                           "h1 v1 v2",
	} {
		got := search(t, r, retrieve.Request{Query: query, TopK: 8})
		first := got[0].Memory.ID
		got = slices.DeleteFunc(got, func(m memory.Match) bool { return !strings.Contains(want, m.Memory.ID) })
		slices.SortFunc(got, func(a, b memory.Match) int { return cmp.Compare(a.Memory.ID, b.Memory.ID) })
		if order(got) != want || !strings.HasPrefix(want, first) {
			t.Errorf("%s: %s, want %s", query, order(got), want)
		}
	}
}

// A turn that a client's text contradicts is outdated from when the client decided. It
// is not if the text says the same, or a part of it.
func TestEditedFact(t *testing.T) {
	edited := fact("f1", "s1", "t1", 1, "", "I live in Bern.")
	edited.Source.Quote, edited.Edited, edited.EditTime = "I live in Berlin.", true, day(7)
	same := fact("f2", "s1", "t2", 2, "", "I play the cello")
	same.Source.Quote, same.Edited, same.EditTime = "I play the cello every day.", true, day(7)
	r := remembering(t, turn("t1", "s1", 1, "Ann", "I live in Berlin."), edited,
		turn("t2", "s1", 2, "Ann", "I play the cello every day."), same)
	for query, want := range map[string]string{
		"Berlin": "f1 t1(7 f1)", "Where do I live?": "f1 t1(7 f1)", "Do I play the cello?": "f2 t2",
		"Where did I live before?": "t1(7 f1) f1",
	} {
		if got := order(search(t, r, retrieve.Request{Query: query})); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// A fact that ended without a successor, or whose successor is gone, leaves its turn
// where it is, marked.
func TestNoSuccessor(t *testing.T) {
	r := remembering(t, turn("t1", "s1", 1, "Ann", "I live in Berlin."),
		ended(fact("f1", "s1", "t1", 1, "", "I live in Berlin."), 20, ""),
		turn("t2", "s1", 2, "Ann", "I sing in a choir."),
		ended(fact("f2", "s1", "t2", 2, "", "I sing in a choir."), 20, "gone"))
	for query, want := range map[string]string{"Where do I live?": "t1(20 )", "Do I sing in a choir?": "t2(20 )"} {
		if got := order(search(t, r, retrieve.Request{Query: query})); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// With a reranker that prefers what was, what holds is before it all the same, and the
// parts of each score add up to it.
func TestSuccessionExplained(t *testing.T) {
	s := emptyStore(t)
	var writes []memory.Write
	for _, m := range moved() {
		writes = append(writes, indexed(t, m))
	}
	if _, err := s.Put(t.Context(), ann, writes); err != nil {
		t.Fatal(err)
	}
	for _, opts := range []*retrieve.Options{nil, {Reranker: likes("live in Berlin.")}} {
		r := retrieve.New(s, embed.Builtin{}, opts)
		for _, query := range []string{"Where do I live?", "Where did I live before?", "Berlin"} {
			found := search(t, r, retrieve.Request{Query: query, Explain: true})
			first := map[bool]string{true: "t1(20 f2)", false: "f2 t1(20 f2)"}[strings.Contains(query, "before")]
			if got := order(found); !strings.HasPrefix(got, first) {
				t.Errorf("%s: %s, want %s", query, got, first)
			}
			for _, m := range found {
				sum, weights := 0.0, 0.0
				for _, p := range m.Explain.Parts {
					sum, weights = sum+p.Value*p.Weight, weights+p.Weight
				}
				if math.Abs(sum-m.Score) > 1e-9 || math.Abs(weights-1) > 1e-9 {
					t.Errorf("%s: %s has the score %v, but parts of %v, weights of %v", query, m.Memory.ID, m.Score, sum, weights)
				}
			}
		}
	}
}

// A memory that is in no way outdated keeps its score and its place whatever else has
// ended, except behind what took the place of something better.
func TestSuccessionMovesNothingElse(t *testing.T) {
	var plain, story []memory.Memory
	for i := range 12 {
		text := fmt.Sprintf("The %s of Berlin is a place to live.", []string{"north", "south", "east", "west", "old harbour",
			"new harbour", "castle", "market", "zoo", "island", "river", "forest"}[i])
		plain = append(plain, turn(fmt.Sprintf("p%02d", i), "p", 1+i, "Ann", text))
	}
	story = append(slices.Clone(plain), moved()...)
	without := slices.DeleteFunc(slices.Clone(story), func(m memory.Memory) bool { return m.Kind == memory.KindFact })
	rest := func(r *retrieve.Retriever) (out []string) {
		for _, m := range search(t, r, retrieve.Request{Query: "Where in Berlin do I live?", TopK: 50}) {
			if m.Memory.Kind == memory.KindTurn && m.Memory.ID != "t1" {
				out = append(out, m.Memory.ID)
			}
		}
		return out
	}
	if d := gocmp.Diff(rest(remembering(t, without...)), rest(remembering(t, story...))); d != "" {
		t.Errorf("the others, without facts and with:\n%s", d)
	}
}

// A turn of the agent that repeats a value is outdated as soon as the value is. One that has the new value too, or
// other words, is not, nor is one of another session, of another person, or from after the change.
func TestEcho(t *testing.T) {
	old := fact("old", "s1", "said", 1, "", "My name is Daniel.")
	old.ValidTo, old.SupersededBy = time.Date(2023, 5, 20, 12, 0, 0, 0, time.UTC), "new"
	agent := func(id, session string, day int, text string) memory.Memory {
		m := turn(id, session, day, "assistant", text)
		m.Trust = memory.TrustAgent
		return m
	}
	r := remembering(t, turn("said", "s1", 1, "Ann", "My name is Daniel."), old,
		agent("echo", "s1", 2, "Nice to meet you, Daniel."), agent("plain", "s1", 3, "Your name is noted."),
		agent("both", "s1", 4, "Not Dana but Daniel, your name is noted."), turn("bob", "s1", 5, "Bob", "My name is Daniel, too!"),
		agent("elsewhere", "s3", 4, "Daniel is a name of a lion's den."),
		turn("told", "s2", 20, "Ann", "My name is Dana."), fact("new", "s2", "told", 20, "", "My name is Dana."),
		agent("after", "s1", 21, "So Daniel is your name no longer."))
	outdated := map[string]bool{}
	for _, m := range search(t, r, retrieve.Request{Query: "What is my name?"}) {
		outdated[m.Memory.ID] = m.Outdated != nil
	}
	for id, want := range map[string]bool{"said": true, "echo": true, "plain": false, "elsewhere": false, "new": false, "both": false,
		"bob": false, "after": false} {
		if got, found := outdated[id]; !found || got != want {
			t.Errorf("%s: outdated %v (found %v), want %v", id, got, found, want)
		}
	}
}

// A turn of the agent after a value has ended is no echo, even if nothing took the place of the value.
func TestNoEchoOfWhatHasEnded(t *testing.T) {
	old := fact("old", "s1", "said", 1, "", "I work at Acme.")
	old.ValidTo = time.Date(2023, 5, 3, 12, 0, 0, 0, time.UTC)
	after := turn("after", "s1", 4, "assistant", "So you left Acme, good luck.")
	after.Trust = memory.TrustAgent
	r := remembering(t, turn("said", "s1", 1, "Ann", "I work at Acme."), old, after)
	for _, m := range search(t, r, retrieve.Request{Query: "Do I work at Acme?"}) {
		if m.Memory.ID == "after" && m.Outdated != nil {
			t.Error("it is outdated")
		}
	}
}
