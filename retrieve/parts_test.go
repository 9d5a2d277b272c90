package retrieve_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
)

// told writes memories, each "session/author/day: text", the turns of a session
// in order; a session "fact:e1,e2" of a fact names the turns of session s that
// it cites, and "preference:e1,e2" is such a fact that is a preference. Days are those of 2025 as MM-DD. Ids are m0, m1 and so on; the
// event of turn mN is eN.
func told(t *testing.T, lines ...string) memory.Store {
	t.Helper()
	s := emptyStore(t)
	var writes []memory.Write
	for i, line := range lines {
		head, text, _ := strings.Cut(line, ": ")
		parts := strings.Split(head, "/")
		day, err := time.Parse(time.DateOnly, "2025-"+parts[2])
		if err != nil {
			t.Fatal(err)
		}
		m := memory.Memory{
			ID:     fmt.Sprint("m", i),
			Scope:  ann,
			Kind:   memory.KindTurn,
			Fact:   text,
			Author: parts[1],
			Topics: []string{},
			Timestamp: day.Add(
				12*time.Hour + time.Duration(i)*time.Minute,
			),
			Source: memory.Source{SessionID: parts[0], EventIDs: []string{fmt.Sprint("e", i)}},
		}
		if author, agent := strings.CutSuffix(m.Author, " (agent)"); agent {
			m.Author, m.Trust = author, memory.TrustAgent
		}
		kind, preference := strings.CutPrefix(parts[0], "preference")
		if preference {
			m.Topics, parts[0] = []string{memory.TopicPreferences}, "fact"+kind
		}
		if cites, ok := strings.CutPrefix(parts[0], "fact"); ok {
			m.Kind, m.Source = memory.KindFact, memory.Source{}
			if cites != "" {
				m.Source = memory.Source{SessionID: "s", EventIDs: strings.Split(cites[1:], ",")}
			}
		}
		writes = append(writes, indexed(t, m))
	}
	if _, err := s.Put(t.Context(), ann, writes); err != nil {
		t.Fatal(err)
	}
	return s
}

// partCases are memories, of which up has what a part looks at, and down has
// everything else in common with the question.
var partCases = []struct {
	part, query string
	lines       []string
	up, down    string
	beside      string // the part that is on as well
}{
	{
		"lexical",
		"the old kettle",
		[]string{"s/Ann/01-03: The old kettle is on the table by the window.", "t/Ann/01-03: My uncle."},
		"m0",
		"m1",
		"statement",
	},
	{
		"context",
		"the cello concert",
		[]string{"t/Ann/01-03: The cello!", "t/Bob/01-03: Hm.", "s/Ann/01-03: The cello!", "s/Bob/01-03: A concert."},
		"m2",
		"m0",
		"lexical",
	},
	{
		"reply",
		"Where is the spare key?",
		[]string{
			"t/Bob/01-03: Under the key pot.",
			"s/Ann/01-03: Where is the spare key?",
			"s/Bob/01-03: Under the key pot.",
		},
		"m2",
		"m0",
		"lexical",
	},
	{
		"dense",
		"physician",
		[]string{"s/Ann/01-03: We cooked soup.", "t/Ann/01-03: I saw a doctor at the hospital."},
		"m1",
		"m0",
		"context",
	},
	{
		"near",
		"physician",
		[]string{
			"t/Ann/01-03: It will heal.",
			"s/Ann/01-03: It will heal.",
			"s/Ann/01-03: I saw a doctor at the hospital.",
		},
		"m1",
		"m0",
		"dense",
	},
	{
		"session",
		"the paint for the kitchen",
		[]string{
			"t/Ann/01-03: Such nice paint.",
			"s/Ann/01-04: Such nice paint.",
			"s/Bob/01-04: Hm.",
			"s/Ann/01-04: Well.",
			"s/Bob/01-04: Hm.",
			"s/Ann/01-04: In the kitchen then.",
		},
		"m1",
		"m0",
		"lexical",
	},
	{
		"facts",
		"What is Ann allergic to?",
		[]string{
			"t/Bob/01-03: I am allergic to cats, Ann.",
			"s/Ann/01-03: No nuts for me, I swell up.",
			"fact:e1/Ann/01-03: Ann is allergic to nuts.",
		},
		"m1",
		"m0",
		"lexical",
	},
	{
		"speaker",
		"What does Bob like to eat?",
		[]string{"s/Ann/01-03: I like to eat rice.", "t/Bob/01-03: I like to eat rice."},
		"m1",
		"m0",
		"dense",
	},
	{
		"speaker",
		"Where did I park?",
		[]string{"s/guide/01-03: Parked there.", "t/user/01-03: Parked there."},
		"m1",
		"m0",
		"lexical",
	},
	{
		"speaker",
		"Wo habe ich geparkt?",
		[]string{"s/guide/01-03: Dort geparkt.", "t/ann/01-03: Dort geparkt."},
		"m1",
		"m0",
		"lexical",
	},
	{
		"statement",
		"the tall ladder",
		[]string{"s/Ann/01-03: The tall ladder?", "t/Ann/01-03: The tall ladder."},
		"m1",
		"m0",
		"lexical",
	},
	{
		"answer",
		"When did the roof leak?",
		[]string{"s/Ann/01-03: The roof did leak badly.", "t/Ann/01-03: The roof did leak yesterday."},
		"m1",
		"m0",
		"lexical",
	},
	{
		"answer",
		"Who fixed the roof?",
		[]string{"s/Ann/01-03: The roof, somebody fixed it.", "t/Ann/01-03: The roof, Marco fixed it."},
		"m1",
		"m0",
		"lexical",
	},
	{
		"standing",
		"Can you plan my writing?",
		[]string{
			"t/user/01-03: I do my writing early.",
			"s/user/01-03: I do my writing early.",
			"preference:e1/user/01-03: The user prefers writing early.",
		},
		"m1",
		"m0",
		"lexical",
	},
	{
		"time",
		"What did we bake in March?",
		[]string{"s/Ann/01-03: We did bake bread.", "t/Ann/03-12: We did bake bread."},
		"m1",
		"m0",
		"dense",
	},
	{
		"time",
		"What did we bake last week?",
		[]string{"s/Ann/01-03: We did bake bread.", "t/Ann/06-25: We did bake bread."},
		"m1",
		"m0",
		"lexical",
	},
	{
		"theme",
		"Who is my employer?",
		[]string{"s/Ann/01-03: I started at Brightwater Clinic.", "t/Ann/01-03: My uncle."},
		"m0",
		"m1",
		"statement",
	},
	{
		"recency",
		"Which book do I read now?",
		[]string{"s/Ann/01-03: I read a book.", "t/Ann/05-03: I read a book."},
		"m1",
		"m0",
		"lexical",
	},
}

// Each part lifts a memory that has what the part looks at above one that has
// everything else in common with the question.
func TestParts(t *testing.T) {
	asOf := time.Date(2025, 6, 30, 0, 0, 0, 0, time.UTC)
	seen := map[string]bool{"diversity": true} // which has a test of its own
	for _, c := range partCases {
		seen[c.part] = true
		t.Run(c.part+" "+c.query, func(t *testing.T) {
			store := told(
				t,
				append(
					slices.Clone(c.lines),
					"f/Bob/01-01: Nothing much.",
					"f/Ann/01-01: The bus was late again.",
					"g/Bob/01-02: It rained all day long.",
				)...)
			above := func(on ...string) bool {
				t.Helper()
				without := slices.DeleteFunc(retrieve.Parts(), func(p string) bool { return slices.Contains(on, p) })
				found := ids(search(t, retrieve.New(store, embed.Builtin{}, &retrieve.Options{Without: without}),
					retrieve.Request{Query: c.query, Filter: memory.Filter{AsOf: asOf}}))
				up, down := slices.Index(found, c.up), slices.Index(found, c.down)
				return up >= 0 && (down < 0 || up < down)
			}
			if !above(c.beside, c.part) {
				t.Errorf("%s is not above %s with %s", c.up, c.down, c.part)
			}
			if above(c.beside) {
				t.Errorf("%s is above %s with %s alone", c.up, c.down, c.beside)
			}
		})
	}
	for _, p := range retrieve.Parts() {
		if !seen[p] {
			t.Errorf("no case of %s", p)
		}
	}
}

// Of a turn and a fact that cites it, the one further down gets nothing for
// diversity; a match that cites other turns does.
func TestDiversity(t *testing.T) {
	store := told(
		t,
		"s/Ann/01-03: My brother keeps bees on the roof.",
		"fact:e0/Ann/01-03: Ann's brother keeps bees.",
		"t/Bob/01-04: Bees on the roof, my brother had some.",
	)
	got := map[string]bool{} // by id, whether it is new
	var order []string
	for _, m := range search(t, retrieve.New(store, embed.Builtin{}, nil), retrieve.Request{Query: "brother keeps bees roof", Explain: true}) {
		order = append(order, m.Memory.ID)
		for _, p := range m.Explain.Parts {
			if p.Name == "diversity" {
				got[m.Memory.ID] = p.Value > 0
			}
		}
	}
	first := order[slices.IndexFunc(order, func(id string) bool { return id != "m2" })]
	if diff := cmp.Diff(map[string]bool{"m0": first == "m0", "m1": first == "m1", "m2": true}, got); diff != "" {
		t.Errorf("what is new in %v (-want +got):\n%s", order, diff)
	}
}

// A fact that a client gave ranks beside turns as an equal: its own words stand for
// its surroundings.
func TestGivenFact(t *testing.T) {
	r := retrieve.New(
		told(
			t,
			"fact/Ann/01-03: The gate code is 4411.",
			"s/Ann/01-03: The gate is green.",
			"s/Bob/01-03: The code is long.",
			"s/Ann/01-03: Yes.",
		),
		embed.Builtin{},
		nil,
	)
	if got := ids(search(t, r, retrieve.Request{Query: "What is the gate code?"})); len(got) == 0 || got[0] != "m0" {
		t.Errorf("found %v", got)
	}
}

// Without any parts, scores stay within 0 and 1 and are the sum of the others.
// Without all of them, no two memories differ.
func TestWithout(t *testing.T) {
	store := told(
		t,
		"s/Ann/01-03: Where is the cello?",
		"s/Bob/01-03: Marco has it since May.",
		"fact:e1/Ann/01-03: Marco has the cello.",
		"t/Ann/01-04: The cello was sold yesterday.",
	)
	settings := [][]string{nil, retrieve.Parts()}
	for _, p := range retrieve.Parts() {
		settings = append(
			settings,
			[]string{p},
			slices.DeleteFunc(retrieve.Parts(), func(q string) bool { return q == p }),
		)
	}
	for _, without := range settings {
		r := retrieve.New(store, embed.Builtin{}, &retrieve.Options{Without: without})
		for _, query := range []string{"Who has the cello now?", "When was the cello sold?", "What did Ann say in January 2025?"} {
			for _, m := range search(t, r, retrieve.Request{Query: query, Explain: true}) {
				sum := 0.0
				for _, p := range m.Explain.Parts {
					if slices.Contains(without, p.Name) || p.Value < 0 || p.Value > 1 {
						t.Errorf("without %v: part %+v", without, p)
					}
					sum += p.Value * p.Weight
				}
				if m.Score < 0 || m.Score > 1 || math.Abs(sum-m.Score) > 1e-9 {
					t.Errorf("without %v: score %v, sum %v", without, m.Score, sum)
				}
			}
		}
	}
	names := retrieve.Parts()
	slices.Sort(names)
	if diff := cmp.Diff(slices.Compact(slices.Clone(names)), names); diff != "" {
		t.Errorf("names are used twice: %s", diff)
	}
}

// Any text can be a question, and gets an answer, if only an empty one.
func TestOddQuestions(t *testing.T) {
	r := retrieve.New(
		told(
			t,
			"s/Ann/01-03: Wir fahren nach Köln 🎉",
			"s/Bob/01-03: 我们去北京吃烤鸭。",
			"t/Ann/01-04: สวัสดี ชาวโลก",
			"t/Bob/01-05: Привет, мир",
		),
		embed.Builtin{},
		nil,
	)
	for _, query := range []string{"🎉", "?!…", "\x00", "\u200b\u200d", "北京", "ชาวโลก", "Köln 北京 мир", "\xff\xfe", strings.Repeat("a", retrieve.MaxQuery), strings.Repeat("? ", 5000),
		strings.Repeat("北", 5000), "in the year 99999999999999999999", "0000-00-00", "31 February 2025 last next week", strings.Repeat("May ", 4000), "e\u0301" + strings.Repeat("\u0301", 4000)} {
		for _, m := range search(t, r, retrieve.Request{Query: query, Explain: true}) {
			if math.IsNaN(m.Score) || m.Score <= 0 || m.Score > 1 {
				t.Errorf("%.20q: score %v", query, m.Score)
			}
		}
	}
	for query, want := range map[string]string{"🎉": "m0", "北京": "m1", "ชาวโลก": "m2", "мир": "m3"} {
		if got := ids(search(t, r, retrieve.Request{Query: query})); len(got) == 0 || got[0] != want {
			t.Errorf("%s: %v, want %s first", query, got, want)
		}
	}
}

// partsOf are the parts of the scores of all matches, by memory.
func partsOf(t *testing.T, s memory.Store, query string) map[string]map[string]float64 {
	t.Helper()
	out := map[string]map[string]float64{}
	for _, m := range search(t, retrieve.New(s, embed.Builtin{}, nil), retrieve.Request{Query: query, Explain: true}) {
		out[m.Memory.ID] = map[string]float64{}
		for _, p := range m.Explain.Parts {
			out[m.Memory.ID][p.Name] = p.Value
		}
	}
	return out
}

// A turn after a question is a reply to it if somebody else asked.
func TestReplyIsOfAnother(t *testing.T) {
	of := partsOf(t, told(t, "s/Ann/01-03: Where is the spare key?", "s/Bob/01-03: Under the key pot.",
		"t/Ann/01-03: Where is the spare key?", "t/Ann/01-03: Under the key pot."), "Where is the spare key?")
	if of["m1"]["reply"] <= 0 || of["m3"]["reply"] != 0 {
		t.Errorf("a reply of another: %v; of the same author: %v", of["m1"], of["m3"])
	}
}

// Of a long text the vector counts less and the words more, and a question at its end
// does not make it one that only asks.
func TestLongText(t *testing.T) {
	talk := strings.Repeat("We walked along the river and looked at boats, bridges and birds. ", 20)
	of := partsOf(t, told(t, "s/Ann/01-03: "+talk+"I saw a physician. Was that right?", "t/Ann/01-03: Was that right?",
		"u/Ann/01-03: "+talk, "v/Ann/01-03: We looked at boats on the river."), "the physician, and was that right")
	long, asks := of["m0"], of["m1"]
	if long["dense"] > 0.3 || long["lexical"] <= 0 {
		t.Errorf("a long text: %v", long)
	}
	if long["statement"] == 0 || asks["statement"] != 0 {
		t.Errorf("statement: %v of a long text, %v of a question", long["statement"], asks["statement"])
	}
	of = partsOf(t, told(t, "s/Ann/01-03: "+talk, "t/Ann/01-03: We looked at boats on the river."), "boats on a river")
	if of["m0"]["dense"] >= of["m1"]["dense"] {
		t.Errorf("the vector of a long text counts %v, of a short one %v", of["m0"]["dense"], of["m1"]["dense"])
	}
}

// weightOf is the weight of a part in a search for the old kettle.
func weightOf(t *testing.T, s memory.Store, name string) float64 {
	t.Helper()
	first := search(t, retrieve.New(s, embed.Builtin{}, nil), retrieve.Request{Query: "the old kettle", Explain: true})[0]
	for _, p := range first.Explain.Parts {
		if p.Name == name {
			return p.Weight
		}
	}
	return 0
}

// The fewer sessions there are, the less it tells which one a turn is in.
func TestFewSessions(t *testing.T) {
	lines := []string{"s/Ann/01-03: The kettle is old.", "t/Ann/01-03: The river is wide."}
	few := weightOf(t, told(t, lines...), "session")
	for i := range 18 {
		lines = append(lines, fmt.Sprintf("u%d/Ann/01-03: The day is long.", i))
	}
	if many := weightOf(t, told(t, lines...), "session"); few >= many/5 || few <= 0 {
		t.Errorf("the session's weight is %v of two sessions, and %v of twenty", few, many)
	}
}
