package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// contextCases check which turns come with those found: the turns around them,
// and the turns that facts cite.
func contextCases() []testCase {
	return []testCase{
		{"Around", contextAround},
		{"Merges", contextMerges},
		{"Sessions", contextSessions},
		{"FactsAlone", factsAlone},
		{"CitedTurns", citedTurns},
		{"Match", contextMatch},
		{"Measures", contextMeasures},
		{"ClosesUp", contextClosesUp},
		{"OutOfOrder", contextOutOfOrder},
		{"MovedTurn", movedTurn},
		{"TiesByEvent", tiesByEvent},
	}
}

// talk writes a session of ten turns, two minutes apart, named prefix0 to
// prefix9. Only the special ones have the word "tea".
func (b *bank) talk(s memory.Scope, session, prefix string, special ...int) {
	b.Helper()
	for i := range 10 {
		text := "chat"
		if slices.Contains(special, i) {
			text = "tea"
		}
		m := turn(fmt.Sprint(prefix, i), session, 2*i, text)
		m.Scope = s
		b.putIn(s, write(m))
	}
}

// withContext searches ann's memory for "tea" with n turns of context.
func (b *bank) withContext(n int) memory.Found {
	b.Helper()
	return b.search(memory.Query{Terms: []string{"tea"}, Limit: 20, Context: n})
}

// A turn found comes with as many turns of its session around it as asked for,
// in order, and fewer where the session begins or ends.
func contextAround(b *bank) {
	b.talk(ann, "s", "a", 0)
	b.talk(ann, "t", "b", 4)
	b.talk(ann, "u", "c", 9)
	for n, want := range map[int][][]string{
		0: {{"a0"}, {"b4"}, {"c9"}},
		1: {{"a0", "a1"}, {"b3", "b4", "b5"}, {"c8", "c9"}},
		2: {{"a0", "a1", "a2"}, {"b2", "b3", "b4", "b5", "b6"}, {"c7", "c8", "c9"}},
	} {
		b.same(fmt.Sprint("runs with context ", n), runs(b.withContext(n)), want)
	}
}

// Turns found near each other are one run if one is context of the other or
// both have the same context. Farther apart they are two runs, and no turn is
// in both. Whether two runs that only touch are one is the store's choice. A
// turn that is in two runs would be shown twice.
func contextMerges(b *bank) {
	b.talk(ann, "s", "a", 1, 3)
	b.talk(ann, "t", "b", 4, 5)
	b.talk(ann, "u", "c", 1, 7)
	for n, want := range map[int][][]string{
		1: {{"a0", "a1", "a2", "a3", "a4"}, {"b3", "b4", "b5", "b6"}, {"c0", "c1", "c2"}, {"c6", "c7", "c8"}},
		2: {{"a0", "a1", "a2", "a3", "a4", "a5"}, {"b2", "b3", "b4", "b5", "b6", "b7"}, {"c0", "c1", "c2", "c3"},
			{"c5", "c6", "c7", "c8", "c9"}},
		3: {{"a0", "a1", "a2", "a3", "a4", "a5", "a6"}, {"b1", "b2", "b3", "b4", "b5", "b6", "b7", "b8"},
			{"c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9"}},
	} {
		b.same(fmt.Sprint("runs with context ", n), runs(b.withContext(n)), want)
	}
}

// Context never crosses from one session into another, nor into another scope
// with a session of the same name at the same time. Sessions at the same time
// are different conversations.
func contextSessions(b *bank) {
	bob := memory.Scope{App: "app", User: "bob"}
	b.talk(ann, "s", "a", 5)
	b.talk(ann, "S", "b")
	b.talk(bob, "s", "c", 4, 6)
	b.same("ann's runs", runs(b.withContext(1)), [][]string{{"a4", "a5", "a6"}})
	got := b.searchIn(bob, memory.Query{Terms: []string{"tea"}, Limit: 20, Context: 2})
	b.same("bob's runs", runs(got), [][]string{{"c2", "c3", "c4", "c5", "c6", "c7", "c8"}})
}

// A fact is a run of its own even if it comes from a session, and is never
// context of a turn.
func factsAlone(b *bank) {
	b.talk(ann, "s", "a", 4)
	for i, text := range []string{"tea", "coffee"} {
		m := turn(fmt.Sprint("fact", i), "s", 8, text)
		m.Kind = memory.KindFact
		b.put(write(m))
	}
	b.same("runs", runs(b.withContext(1)), [][]string{{"a3", "a4", "a5"}, {"fact0"}})
}

// With Cited, the turns that a fact of the lists cites are hits too, whatever
// they have in common with the question. A turn with the id of a cited one in
// another session or scope is not. The turn has the words of the user, of which
// the fact is a summary.
func citedTurns(b *bank) {
	bob := memory.Scope{App: "app", User: "bob"}
	b.talk(ann, "s", "a")
	b.talk(ann, "t", "b")
	b.talk(bob, "s", "c")
	for _, c := range []struct {
		id, session, text string
		events            []string
	}{
		{"one", "s", "tea", []string{"a2"}}, {"two", "t", "tea", []string{"b1", "b7", "nowhere"}},
		{"elsewhere", "t", "tea", []string{"a8"}}, {"given", "", "tea", nil}, {"other", "s", "coffee", []string{"a9"}},
	} {
		m := fact(c.id, c.text)
		m.Source = memory.Source{SessionID: c.session, EventIDs: c.events}
		b.put(write(m))
	}
	// Each fact is a run, whether its turns come along or not.
	facts := [][]string{{"elsewhere"}, {"given"}, {"one"}, {"two"}}
	tea := func(context int) memory.Query {
		return memory.Query{Terms: []string{"tea"}, Limit: 20, Context: context, Cited: true}
	}
	b.same("runs that were not asked for", runs(b.withContext(1)), facts)
	b.same("runs without context", runs(b.search(tea(0))), append([][]string{{"a2"}, {"b1"}, {"b7"}}, facts...))
	b.same("runs with context", runs(b.search(tea(1))),
		append([][]string{{"a1", "a2", "a3"}, {"b0", "b1", "b2"}, {"b6", "b7", "b8"}}, facts...))
	b.same("runs of the best fact",
		runs(b.search(memory.Query{Filter: memory.Filter{Kinds: []memory.Kind{memory.KindFact}, SessionID: "s"},
			Terms: []string{"tea"}, Limit: 1, Cited: true})), [][]string{{"a2"}, {"one"}})
}

// Context need not pass the filter: it then has Match false. It is always live.
// It is there to make sense of the hit, not as an answer.
func contextMatch(b *bank) {
	writes := []memory.Write{
		write(turn("a", "s", 0, "chat")), write(turn("b", "s", 1, "tea")), write(turn("c", "s", 2, "tea")),
		write(turn("d", "s", 3, "chat")), write(turn("e", "s", 4, "tea")), write(turn("f", "s", 5, "chat")),
		write(turn("g", "s", 6, "chat")),
	}
	for _, i := range []int{0, 2, 6} {
		writes[i].Memory.Topics = []string{"food"}
	}
	writes[3].Memory.ExpireTime = at(60)
	writes[5].Memory.ValidTo = at(1)
	b.put(writes...)
	b.clock.advance(time.Minute)
	matches := func(f memory.Filter, n int) [][]string {
		b.Helper()
		found := b.search(memory.Query{Filter: f, Terms: []string{"tea"}, Limit: 20, Context: n})
		var out [][]string
		for _, run := range found.Runs {
			var one []string
			for _, c := range run {
				one = append(one, fmt.Sprint(c.Memory.ID, " ", c.Match))
			}
			out = append(out, one)
		}
		return out
	}
	food := memory.Filter{Topics: []string{"food"}}
	b.same("a filter", matches(food, 2), [][]string{{"a true", "b false", "c true", "d false", "e false"}})
	early := memory.Filter{AsOf: at(1), SessionID: "s"}
	b.same("as of before", matches(early, 2), [][]string{{"a true", "b true", "c false", "d false"}})
	b.same("superseded context", matches(memory.Filter{Since: at(4)}, 2),
		[][]string{{"c false", "d false", "e true", "f false", "g true"}})
	b.clock.advance(time.Hour)
	b.same("expired context", matches(food, 2), [][]string{{"a true", "b false", "c true", "e false", "f false"}})
}

// Context is measured against the question as hits are.
func contextMeasures(b *bank) {
	b.put(
		embedded(turn("a", "s", 0, "milk and milk"), toward(-0.5)),
		embedded(turn("b", "s", 1, "tea milk"), toward(0.8)),
		write(turn("c", "s", 2, "yes")),
	)
	found := b.search(memory.Query{Filter: memory.Filter{Since: at(1), Until: at(1)}, Terms: []string{"milk", "tea"},
		Vector: axis(0), Limit: 1, Context: 1})
	got := b.get(ann, "a", "b", "c")
	b.same("Search", found, memory.Found{
		Stats: memory.Stats{Docs: 3, DF: []int{2, 1}},
		Runs: [][]memory.Candidate{{
			{Memory: &got[0], Freqs: []int{2, 0}, Length: 3, Cosine: -0.5},
			{Memory: &got[1], Freqs: []int{1, 1}, Length: 2, Cosine: 0.8, Match: true},
			{Memory: &got[2], Freqs: []int{0, 0}, Length: 1},
		}},
	})
}

// If a turn is deleted or expires, the turns around it become neighbours.
func contextClosesUp(b *bank) {
	brief := turn("brief", "s", 3, "chat")
	brief.ExpireTime = at(60)
	b.put(
		write(turn("a", "s", 0, "chat")), write(turn("b", "s", 1, "chat")), write(turn("gone", "s", 2, "chat")),
		write(brief), write(turn("c", "s", 4, "tea")), write(turn("d", "s", 5, "chat")),
	)
	b.same("runs at first", runs(b.withContext(1)), [][]string{{"brief", "c", "d"}})
	b.clock.advance(time.Hour)
	b.same("runs after expiry", runs(b.withContext(1)), [][]string{{"gone", "c", "d"}})
	b.remove("gone")
	b.same("runs after a deletion", runs(b.withContext(1)), [][]string{{"b", "c", "d"}})
	b.same("wider runs", runs(b.withContext(2)), [][]string{{"a", "b", "c", "d"}})
	b.remove("c")
	b.same("runs without what was found", runs(b.withContext(1)), [][]string(nil))
}

// Turns are in the order they were said in, whatever order they are written in.
// Events may be ingested late or in another order.
func contextOutOfOrder(b *bank) {
	b.put(write(turn("d", "s", 6, "chat")), write(turn("c", "s", 4, "tea")), write(turn("a", "s", 0, "chat")))
	b.same("runs at first", runs(b.withContext(1)), [][]string{{"a", "c", "d"}})
	b.put(write(turn("b", "s", 2, "chat")))
	b.same("runs with the late turn", runs(b.withContext(1)), [][]string{{"b", "c", "d"}})
}

// A turn whose time or session an update changes is only at its new position.
func movedTurn(b *bank) {
	b.put(write(turn("a", "s", 0, "chat")), write(turn("b", "s", 2, "tea")), write(turn("c", "s", 4, "chat")),
		write(turn("x", "t", 3, "tea")))
	b.put(update(turn("a", "s", 6, "chat"), 1))
	b.same("runs after a move", runs(b.withContext(1)), [][]string{{"b", "c"}, {"x"}})
	b.put(update(turn("c", "t", 4, "chat"), 1))
	b.same("runs after a move to another session", runs(b.withContext(1)), [][]string{{"b", "a"}, {"x", "c"}})
	b.put(update(turn("b", "t", 5, "tea"), 1))
	b.same("runs after all", runs(b.withContext(1)), [][]string{{"x", "c", "b"}})
}

// Turns said at the same time are in order of their event ids, not of the ids
// of the memories. A difference of a microsecond comes first. Events of one
// batch may share a time, and event ids are given by the client.
func tiesByEvent(b *bank) {
	for _, c := range []struct{ id, event string }{{"z", "e1"}, {"a", "e3"}, {"m", "e2"}, {"q", "E9"}} {
		m := turn(c.id, "s", 0, "tea")
		m.Source.EventIDs = []string{c.event}
		b.put(write(m))
	}
	last := turn("last", "s", 0, "tea")
	last.Timestamp, last.Source.EventIDs = start.Add(time.Microsecond), []string{"A"}
	b.put(write(last))
	b.same("runs", runs(b.withContext(1)), [][]string{{"q", "z", "m", "a", "last"}})
}
