package storetest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// searchCases check the two lists of a search, the measures of each candidate,
// and the statistics. They never check an order within the answer: ranking is
// package retrieve's.
func searchCases() []testCase {
	return []testCase{
		{"Measures", searchMeasures},
		{"LexicalList", lexicalList},
		{"DenseList", denseList},
		{"Union", searchUnion},
		{"TiesAtTheLimit", tiesAtTheLimit},
		{"FilterBeforeLimit", filterBeforeLimit},
		{"NothingAsked", nothingAsked},
		{"Vectorless", vectorless},
		{"OddTerms", oddTerms},
		{"Statistics", statistics},
		{"SessionStatistics", sessionStatistics},
		{"UpdateChangesWhatFinds", updateChangesWhatFinds},
		{"LeavesOut", searchLeavesOut},
		{"Superseded", superseded},
	}
}

// Every candidate has the frequency of each term, its length with repetitions,
// and its cosine, whichever list it is in. Each fact is a run of its own.
// Package retrieve ranks by these numbers, so they must be complete and the
// same on every backend.
func searchMeasures(b *bank) {
	a, c := full("a"), fact("c", "coffee")
	a.Fact = "tea tea tea milk"
	b.put(embedded(a, toward(0.6)), embedded(fact("b", "milk with tea"), toward(-0.5)), embedded(c, axis(0)),
		embedded(fact("d", "water"), toward(-0.9)))
	found := sorted(b.search(memory.Query{Terms: []string{"milk", "tea", "wine"}, Vector: axis(0), Limit: 10}))
	got := b.get(ann, "a", "b", "c")
	b.same("Search", found, memory.Found{
		Stats: memory.Stats{Docs: 4, DF: []int{2, 2, 0}},
		Runs: [][]memory.Candidate{
			{{Memory: &got[0], Freqs: []int{1, 3, 0}, Length: 4, Cosine: 0.6, Match: true}},
			{{Memory: &got[1], Freqs: []int{1, 1, 0}, Length: 3, Cosine: -0.5, Match: true}},
			{{Memory: &got[2], Freqs: []int{0, 0, 0}, Length: 1, Cosine: 1, Match: true}},
		},
	})
}

// The lexical list holds the best by BM25: a rare term outweighs a common one,
// more of a term outweighs less, and a shorter memory a longer one.
func lexicalList(b *bank) {
	texts := map[string]string{
		"rare": "saffron", "twice": "tea tea", "short": "tea", "middle": "tea with cold milk in it",
		"long": "tea after a long walk in the rain with the dog and then home again to bed", "none": "coffee",
	}
	for id, text := range texts {
		b.put(write(fact(id, text)))
	}
	terms := []string{"tea", "saffron"}
	// Four memories have the first term and one has the second. The six memories
	// count as memory.MinDocs.
	idf := []float64{math.Log(1 + (100-4+0.5)/(4+0.5)), math.Log(1 + (100-1+0.5)/(1+0.5))}
	score := map[string]float64{}
	var order []string
	for id, text := range texts {
		length := float64(len(strings.Fields(text)))
		for i, term := range terms {
			f := float64(words(text)[term])
			score[id] += idf[i] * f * 2.2 / (f + 1.2*(0.25+0.75*length/20))
		}
		if score[id] > 0 {
			order = append(order, id)
		}
	}
	slices.SortFunc(order, func(x, y string) int { return int(math.Copysign(1, score[y]-score[x])) })
	b.same("ranking of the case", order, []string{"rare", "twice", "short", "middle", "long"})
	// A limit beyond the length of the list adds nothing.
	for limit := 1; limit <= 7; limit++ {
		found := b.search(memory.Query{Terms: terms, Limit: limit})
		b.same(fmt.Sprint("Search, limit ", limit), foundIDs(found),
			slices.Sorted(slices.Values(order[:min(limit, 5)])))
		for _, id := range foundIDs(found) {
			c := candidate(b, found, id)
			b.same("score of "+id, memory.LexicalScore(found.Stats, c.Freqs, c.Length), score[id])
		}
	}
}

// The dense list holds the best by cosine, and only cosines above 0.
func denseList(b *bank) {
	cosines := map[string]float64{"a": 1, "b": 0.9, "c": 0.5, "d": 0.1, "e": 0.001, "zero": 0, "minus": -0.1,
		"opposite": -1}
	for id, cosine := range cosines {
		b.put(embedded(fact(id, "tea"), toward(cosine)))
	}
	best := []string{"a", "b", "c", "d", "e"}
	for limit := 1; limit <= 9; limit++ {
		found := b.search(memory.Query{Vector: axis(0), Limit: limit})
		b.same(fmt.Sprint("Search, limit ", limit), foundIDs(found), best[:min(limit, 5)])
		for _, id := range foundIDs(found) {
			b.same("cosine of "+id, candidate(b, found, id).Cosine, cosines[id])
		}
	}
}

// The limit applies to each list. The answer is their union, with each memory
// once.
func searchUnion(b *bank) {
	b.put(
		embedded(fact("words1", "tea tea tea"), toward(0.1)), embedded(fact("words2", "tea tea and"), toward(0.2)),
		embedded(fact("both", "tea tea tea tea"), toward(0.95)),
		embedded(fact("vector1", "tea in the afternoon after a walk"), toward(0.9)),
		embedded(fact("vector2", "coffee"), toward(0.8)),
	)
	for limit, want := range map[int][]string{
		1: {"both"}, 2: {"both", "vector1", "words1"}, 3: {"both", "vector1", "vector2", "words1", "words2"},
	} {
		found := b.search(memory.Query{Terms: []string{"tea"}, Vector: axis(0), Limit: limit})
		b.same(fmt.Sprint("Search, limit ", limit), foundIDs(found), want)
	}
}

// A list is full even if memories tie at the limit. A store that drops ties
// would find nothing among equal memories.
func tiesAtTheLimit(b *bank) {
	for i := range 9 {
		b.put(embedded(fact(fmt.Sprint("m", i), "tea"), axis(0)))
	}
	for limit := 1; limit <= 9; limit++ {
		for _, q := range []memory.Query{{Terms: []string{"tea"}, Limit: limit}, {Vector: axis(0), Limit: limit}} {
			if got := foundIDs(b.search(q)); len(got) != limit {
				b.Errorf("Search(%+v) found %q", q, got)
			}
		}
	}
}

// The filter applies before the limit: a memory that passes is found however
// low it ranks among all. A store that filters what the engine has found would
// lose it.
func filterBeforeLimit(b *bank) {
	var writes []memory.Write
	for i := range 400 {
		writes = append(writes, embedded(turn(fmt.Sprint("common", i), "common", -1, "tea tea"), toward(0.99)))
	}
	deep := fact("deep", "tea once in a long and winding sentence about other things")
	deep.Timestamp, deep.Source.SessionID, deep.Topics = at(-9), "rare", []string{"rare"}
	deep.Metadata = memory.Metadata{"rare": []byte(`true`)}
	old := fact("old", "tea once in a long and winding sentence of older things")
	old.Timestamp, old.ValidTo = at(-20), at(-10)
	b.put(append(writes, embedded(deep, toward(0.05)), embedded(old, toward(0.04)))...)
	for _, c := range []struct {
		filter memory.Filter
		want   string
	}{
		{memory.Filter{Kinds: []memory.Kind{memory.KindFact}}, "deep"},
		{memory.Filter{Topics: []string{"rare", "other"}}, "deep"},
		{memory.Filter{Since: at(-30), Until: at(-2)}, "deep"},
		{memory.Filter{SessionID: "rare"}, "deep"},
		{memory.Filter{Metadata: deep.Metadata}, "deep"},
		{memory.Filter{AsOf: at(-15)}, "old"},
	} {
		// By words, by vector, and by both.
		for _, q := range []memory.Query{
			{Filter: c.filter, Terms: []string{"tea"}, Limit: 1},
			{Filter: c.filter, Vector: axis(0), Limit: 1},
			{Filter: c.filter, Terms: []string{"tea"}, Vector: axis(0), Limit: 1},
		} {
			found := b.search(q)
			b.same(fmt.Sprintf("Search(%+v)", q), foundIDs(found), []string{c.want})
			if found.Stats.Docs != 402 {
				b.Errorf("Search(%+v): statistics of %d memories, want all 402", q, found.Stats.Docs)
			}
		}
	}
}

// A question without words and vector, or with words that no memory has, finds
// nothing but has statistics.
func nothingAsked(b *bank) {
	b.put(embedded(fact("m", "likes tea"), axis(0)))
	b.same("no question", b.search(memory.Query{Limit: 5, Context: 1}), memory.Found{Stats: memory.Stats{Docs: 1}})
	unknown := b.search(memory.Query{Terms: []string{"wine", "te", "teas", "Tea", "likes tea"}, Limit: 5})
	b.same("unknown words", unknown, memory.Found{Stats: memory.Stats{Docs: 1, DF: []int{0, 0, 0, 0, 0}}})
	b.same("a vector of no direction", foundIDs(b.search(memory.Query{Vector: make([]float32, Dimension), Limit: 5})),
		[]string(nil))
}

// A memory without a vector is found by its words, with a cosine of 0, and one
// without words by its vector. One with neither is only listed. Vectors of a
// slow embedder follow later, and until then words must do.
func vectorless(b *bank) {
	bare := write(fact("bare", "tea"))
	bare.Terms = nil
	wordless := bare
	wordless.Memory.ID, wordless.Vector = "wordless", axis(0)
	b.put(write(fact("words", "tea")), wordless, bare, embedded(fact("both", "tea"), toward(0.5)))
	found := b.search(memory.Query{Terms: []string{"tea"}, Vector: axis(0), Limit: 5})
	b.same("Search", foundIDs(found), []string{"both", "wordless", "words"})
	b.same("statistics", found.Stats, memory.Stats{Docs: 4, DF: []int{2}})
	b.same("cosine without vector", candidate(b, found, "words").Cosine, 0.0)
	b.same("length without words", candidate(b, found, "wordless").Length, 0)
	b.same("by vector alone", foundIDs(b.search(memory.Query{Vector: axis(0), Limit: 5})), []string{"both", "wordless"})
	byWords := b.search(memory.Query{Terms: []string{"tea"}, Limit: 5})
	b.same("by words alone", foundIDs(byWords), []string{"both", "words"})
	b.same("cosine of no vector asked", candidate(b, byWords, "both").Cosine, 0.0)
	b.same("List", len(b.list(ann, memory.List{})), 4)
}

// A term matches only itself: no prefix, no other case or accent, no operator
// of a search language. Stores that keep terms in a full-text index of their
// own easily analyze them again.
func oddTerms(b *bank) {
	terms := []string{
		// Prefixes, case and accents, in both forms of Unicode.
		"tea", "Tea", "teapot", "te", "t\u00e9e", "te\u0301e",
		// Operators and wildcards of full-text engines.
		"tea*", `"tea"`, "tea OR milk", "NOT", "NEAR", "o'clock", "100%", "_", "%", "a:b", "-", "(",
		// Scripts without spaces, pictograms, and letters that some systems fold.
		"日本", "日", "🍵", "straße", "strasse",
		// Terms that are more than a word, other values, or long.
		"new york", " ", "\x00", "42", "4.2", "null", strings.Repeat("x", 300),
	}
	for i, term := range terms {
		w := write(fact(fmt.Sprint("m", i), "whatever"))
		w.Terms = memory.Terms{term: i + 1}
		b.put(w)
	}
	for i, term := range terms {
		found := b.search(memory.Query{Terms: []string{term}, Limit: 50})
		// The frequency tells which memory it is.
		if got := foundIDs(found); !slices.Equal(got, []string{fmt.Sprint("m", i)}) ||
			found.Runs[0][0].Freqs[0] != i+1 {
			b.Errorf("term %q found %q in %+v", term, got, found)
		}
		b.same(fmt.Sprintf("statistics of %q", term), found.Stats, memory.Stats{Docs: len(terms), DF: []int{1}})
	}
	if got := foundIDs(b.search(memory.Query{Terms: terms, Limit: 50})); len(got) != len(terms) {
		b.Errorf("all %d terms at once found %d memories", len(terms), len(got))
	}
}

// The statistics count all live memories, whatever the filter, superseded ones
// and turns included, and follow every put, update, delete and expiry. The
// weight of a word must not depend on what is asked.
func statistics(b *bank) {
	check := func(when string, docs, tea, milk int) {
		b.Helper()
		for _, f := range []memory.Filter{{}, {Kinds: []memory.Kind{memory.KindTurn}}, {SessionID: "missing"},
			{Topics: []string{"none"}}, {AsOf: at(-100)}} {
			got := b.search(memory.Query{Filter: f, Terms: []string{"tea", "milk", "wine"}, Limit: 1}).Stats
			b.same(when, got, memory.Stats{Docs: docs, DF: []int{tea, milk, 0}})
			bytes := int64(0)
			for _, m := range b.list(ann, memory.List{Filter: memory.Filter{History: true}}) {
				bytes += m.Bytes()
			}
			b.same(when+", of bytes alone", b.search(memory.Query{Filter: f, Bytes: true}).Stats,
				memory.Stats{Docs: docs, Bytes: bytes})
		}
	}
	// A scope that was never written to has statistics too.
	check("at first", 0, 0, 0)
	past, brief := fact("past", "tea"), fact("brief", "tea milk")
	past.ValidTo, brief.ExpireTime = at(-1), at(60)
	b.put(write(fact("a", "tea tea tea")), write(turn("t", "s", 0, "tea milk")), write(past), write(brief))
	check("after puts", 4, 4, 2)
	b.put(update(fact("a", "milk"), 1))
	check("after an update", 4, 3, 3)
	b.try(update(fact("a", "milk"), 1))
	check("after a repetition", 4, 3, 3)
	b.try(update(fact("a", "tea"), 1))
	check("after an aborted write", 4, 3, 3)
	b.remove("t")
	check("after a deletion", 3, 2, 2)
	b.clock.advance(time.Hour)
	check("after expiry", 2, 1, 1)
	longer := brief
	longer.ExpireTime = at(120)
	b.put(update(longer, 1))
	check("after a longer life", 3, 2, 2)
}

// The statistics of sessions count their live turns, whatever the filter, and
// follow every put, update, move, delete and expiry. A session without any of
// the words is only counted. They say which sessions a question is about.
func sessionStatistics(b *bank) {
	check := func(when string, count int, want []memory.SessionStats) {
		b.Helper()
		for _, f := range []memory.Filter{{}, {Kinds: []memory.Kind{memory.KindFact}}, {SessionID: "s"},
			{AsOf: at(-100)}} {
			got := b.search(memory.Query{Filter: f, Terms: []string{"tea", "milk"}, Vector: axis(0), Limit: 1,
				Sessions: true}).Stats
			b.same(when, memory.Stats{Sessions: got.Sessions, SessionCount: got.SessionCount},
				memory.Stats{Sessions: want, SessionCount: count})
		}
	}
	check("at first", 0, nil)
	brief, elsewhere := turn("brief", "t", 5, "milk"), turn("a", "s", 0, "tea")
	brief.ExpireTime = at(60)
	elsewhere.User = "bob"
	b.putIn(elsewhere.Scope, write(elsewhere))
	said := fact("fact", "tea milk")
	said.Source = memory.Source{SessionID: "u", EventIDs: []string{"e"}}
	b.put(write(turn("a", "s", 0, "tea tea milk")), write(turn("b", "s", 1, "chat")), write(turn("c", "s", 2, "tea")),
		write(brief), write(turn("d", "t", 6, "chat")), write(turn("e", "u", 7, "chat")), write(said))
	check("after puts", 3, []memory.SessionStats{{ID: "s", Turns: 3, DF: []int{2, 1}},
		{ID: "t", Turns: 2, DF: []int{0, 1}}})
	b.put(update(turn("a", "s", 0, "milk"), 1))
	check("after an update", 3, []memory.SessionStats{{ID: "s", Turns: 3, DF: []int{1, 1}},
		{ID: "t", Turns: 2, DF: []int{0, 1}}})
	b.put(update(turn("c", "u", 8, "tea"), 1))
	check("after a move", 3, []memory.SessionStats{{ID: "s", Turns: 2, DF: []int{0, 1}},
		{ID: "t", Turns: 2, DF: []int{0, 1}}, {ID: "u", Turns: 2, DF: []int{1, 0}}})
	b.clock.advance(time.Hour)
	check("after expiry", 3, []memory.SessionStats{{ID: "s", Turns: 2, DF: []int{0, 1}},
		{ID: "u", Turns: 2, DF: []int{1, 0}}})
	b.remove("d")
	b.remove("a")
	check("after deletions", 2, []memory.SessionStats{{ID: "u", Turns: 2, DF: []int{1, 0}}})
}

// An update changes the words and the vector that a memory is found by. Without
// a vector, the old one no longer finds it. An index that only adds would still
// find it.
func updateChangesWhatFinds(b *bank) {
	b.put(embedded(fact("m", "likes tea"), axis(0)))
	w := update(fact("m", "likes coffee"), 1)
	w.Vector = axis(1)
	b.put(w)
	find := func(q memory.Query) []string {
		b.Helper()
		q.Limit = 5
		return foundIDs(b.search(q))
	}
	b.same("by the old word", find(memory.Query{Terms: []string{"tea"}}), []string(nil))
	b.same("by the old vector", find(memory.Query{Vector: axis(0)}), []string(nil))
	b.same("by the new word", find(memory.Query{Terms: []string{"coffee"}}), []string{"m"})
	b.same("by the new vector", find(memory.Query{Vector: axis(1)}), []string{"m"})
	b.put(update(fact("m", "likes milk"), 2))
	b.same("by the vector before", find(memory.Query{Vector: axis(1)}), []string(nil))
	b.same("by the last word", find(memory.Query{Terms: []string{"milk"}}), []string{"m"})
}

// Deleted and expired memories are never found, neither by words nor by vector.
// A deletion reaches every index.
func searchLeavesOut(b *bank) {
	brief := fact("brief", "tea")
	brief.ExpireTime = at(60)
	b.put(embedded(brief, axis(0)), embedded(fact("gone", "tea"), axis(0)), embedded(fact("kept", "tea"), axis(0)))
	b.clock.advance(time.Hour - time.Microsecond)
	q := memory.Query{Terms: []string{"tea"}, Vector: axis(0), Limit: 5}
	b.same("before", foundIDs(b.search(q)), []string{"brief", "gone", "kept"})
	b.remove("gone")
	b.same("after the deletion", foundIDs(b.search(q)), []string{"brief", "kept"})
	b.clock.advance(time.Microsecond)
	b.same("at expiry", foundIDs(b.search(q)), []string{"kept"})
	q.AsOf = at(30)
	b.same("as of a time before", foundIDs(b.search(q)), []string{"kept"})
}

// A superseded memory is found as of a time before, and no longer now. The
// memory that supersedes it is not found as of a time before it was said.
func superseded(b *bank) {
	b.put(write(fact("old", "lives in Rome")))
	b.clock.advance(time.Hour)
	ended, fresh := fact("old", "lives in Rome"), fact("new", "lives in Oslo")
	ended.ValidTo, fresh.ValidFrom, fresh.Timestamp = at(60), at(60), at(60)
	b.put(update(ended, 1), write(fresh))
	for _, c := range []struct {
		asOf time.Time
		want []string
	}{
		{time.Time{}, []string{"new"}}, {at(60), []string{"new"}}, {at(59), []string{"old"}}, {at(0), []string{"old"}},
		{at(-1), nil},
	} {
		found := b.search(memory.Query{Filter: memory.Filter{AsOf: c.asOf}, Terms: []string{"lives"}, Limit: 5})
		b.same(fmt.Sprintf("as of %v", c.asOf), foundIDs(found), c.want)
	}
}
