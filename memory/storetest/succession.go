package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// successionCases check what a search tells of facts that no longer hold and of
// what took their place, and that it hides the turns of which a fact was forgotten.
func successionCases() []testCase {
	return []testCase{
		{"OfTurns", successionOfTurns},
		{"Keys", successionKeys},
		{"KeysIgnoreTheFilter", successionFilter},
		{"Chains", successionChains},
		{"Edited", successionEdited},
		{"TurnsOfSuccessors", successionTurns},
		{"Measures", successionMeasures},
		{"Isolation", successionIsolation},
		{"Forgotten", forgottenTurns},
		{"ForgottenContext", forgottenContext},
	}
}

// said is a turn and the fact that cites it, with the same words. The fact was
// superseded at minute to by another one, unless by is "".
func said(id, session string, minute int, text string, to int, by string) []memory.Write {
	t := turn(id, session, minute, text)
	f := fact("of "+id, text)
	f.Timestamp, f.Source = t.Timestamp, memory.Source{SessionID: session, EventIDs: t.Source.EventIDs}
	if by != "" {
		f.ValidTo, f.SupersededBy = at(to), by
	}
	return []memory.Write{write(t), write(f)}
}

// succession is the ids of Found.Succession, sorted.
func succession(f memory.Found) []string {
	var out []string
	for _, c := range f.Succession {
		out = append(out, c.Memory.ID)
	}
	slices.Sort(out)
	return out
}

// asks is a search for words with its succession.
func asks(f memory.Filter, terms ...string) memory.Query {
	return memory.Query{Filter: f, Terms: terms, Limit: 5, Succession: true}
}

// A turn that is found, or is context of one that is, brings the facts that cite it
// and have ended, and what superseded them, whatever words these have. Facts that
// hold come only as successors, and nothing comes that was not asked for.
func successionOfTurns(b *bank) {
	b.put(slices.Concat(
		said("berlin", "s", 0, "home is berlin", 10, "of rome"), said("rome", "t", 10, "moved rome", 0, ""),
		said("cat", "s", 1, "a cat", 0, ""), said("dog", "u", 2, "a dog", 12, "of fish"),
		said("fish", "u", 12, "a fish", 0, ""),
	)...)
	q := asks(memory.Filter{}, "cat")
	b.clock.advance(time.Hour)
	b.same("without context", succession(b.search(q)), []string(nil))
	q.Context = 1
	b.same("with context", succession(b.search(q)), []string{"of berlin", "of rome"})
	q.Succession = false
	b.same("that was not asked for", succession(b.search(q)), []string(nil))
	b.same("as of a time before", succession(b.search(asks(memory.Filter{AsOf: at(9)}, "berlin"))), []string(nil))
	b.same("as of the end", succession(b.search(asks(memory.Filter{AsOf: at(10)}, "berlin"))),
		[]string{"of berlin", "of rome"})
	b.same("a successor in a run", succession(b.search(asks(memory.Filter{}, "berlin", "rome"))), []string{"of berlin"})
	b.same("by the successor alone", succession(b.search(asks(memory.Filter{}, "rome"))), []string(nil))
	b.remove("of rome")
	b.same("a successor that was deleted", succession(b.search(asks(memory.Filter{}, "berlin"))), []string{"of berlin"})
}

// The facts that have ended and match the question best are keys to their
// successors. Each of the two lists has Limit of them.
func successionKeys(b *bank) {
	for i := range 6 {
		old := fact(fmt.Sprint("old", i), "home "+fmt.Sprint("is ", []string{"a", "b", "c", "d", "e", "f"}[:i]))
		old.ValidTo, old.SupersededBy = at(1), fmt.Sprint("new", i)
		b.put(embedded(old, toward(float64(6-i)/10)), write(fact(fmt.Sprint("new", i), "elsewhere")))
	}
	b.clock.advance(time.Hour)
	q := memory.Query{Terms: []string{"home"}, Limit: 2, Succession: true}
	b.same("by words", succession(b.search(q)), []string{"new0", "new1", "old0", "old1"})
	q.Terms, q.Vector = []string{"f"}, axis(0)
	b.same("by meaning", succession(b.search(q)), []string{"new0", "new1", "old0", "old1"})
	q.Terms = []string{"e]", "[a"}
	b.same("by both", len(succession(b.search(q))), 8)
	q.Limit = 0
	b.same("without a limit", succession(b.search(q)), []string(nil))
}

// Keys need not pass the filter: the question may be put to a session or a topic
// that only the successor is in. Match says whether a memory passes. A key that was
// said after the time of the question is none.
func successionFilter(b *bank) {
	old, fresh := fact("old", "home is berlin"), fact("new", "moved to rome")
	old.ValidTo, old.SupersededBy, old.Source.SessionID = at(20), "new", "s"
	fresh.Topics, fresh.Timestamp, fresh.Source.SessionID = []string{"travel"}, at(20), "t"
	fresh.Metadata = memory.Metadata{"k": []byte(`1`)}
	late := fact("late", "home is berlin")
	late.Timestamp, late.ValidTo = at(40), at(50)
	b.put(write(old), write(fresh), write(late))
	b.clock.advance(time.Hour)
	for _, f := range []memory.Filter{{SessionID: "t"}, {Topics: []string{"travel"}}, {Metadata: fresh.Metadata},
		{Since: at(10)}, {Kinds: []memory.Kind{memory.KindFact}}, {Kinds: []memory.Kind{memory.KindTurn}}} {
		found := b.search(asks(f, "berlin"))
		b.same(fmt.Sprintf("%+v", f), succession(found), []string{"late", "new", "old"})
		for _, c := range found.Succession {
			b.same(fmt.Sprintf("%+v: match of %s", f, c.Memory.ID), c.Match,
				c.Memory.ID == "new" && f.Kinds == nil || c.Memory.ID == "new" && f.Kinds[0] == memory.KindFact)
		}
	}
	b.same("as of a time between", succession(b.search(asks(memory.Filter{AsOf: at(30)}, "berlin"))),
		[]string{"new", "old"})
}

// Successors are followed to those that hold, through any number of steps up to the
// bound, and a cycle ends. As of a time, they are followed to what held then.
func successionChains(b *bank) {
	var writes []memory.Write
	for i := range 9 {
		m := fact(fmt.Sprint("m", i), fmt.Sprint("word", i))
		m.Timestamp, m.ValidTo, m.SupersededBy = at(i), at(i+1), fmt.Sprint("m", i+1)
		writes = append(writes, write(m))
	}
	writes[8].Memory.ValidTo, writes[8].Memory.SupersededBy = time.Time{}, ""
	for i := range 3 {
		m := fact(fmt.Sprint("round", i), fmt.Sprint("turn", i))
		m.ValidTo, m.SupersededBy = at(i+1), fmt.Sprint("round", (i+1)%3)
		writes = append(writes, write(m))
	}
	self := fact("self", "itself")
	self.ValidTo, self.SupersededBy = at(1), "self"
	b.put(append(writes, write(self))...)
	b.clock.advance(time.Hour)
	all := []string{"m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8"}
	b.same("the chain", succession(b.search(asks(memory.Filter{}, "word0"))), all)
	b.same("from its middle", succession(b.search(asks(memory.Filter{}, "word5"))), all[5:])
	b.same("as of a time", succession(b.search(asks(memory.Filter{AsOf: at(3)}, "word0"))), all[:4])
	b.same("a cycle", succession(b.search(asks(memory.Filter{}, "turn1"))), []string{"round0", "round1", "round2"})
	b.same("a memory that superseded itself", succession(b.search(asks(memory.Filter{}, "itself"))), []string{"self"})
}

// A fact that a client has edited comes along with a turn that it cites, while it
// holds too: the turn may contradict it.
func successionEdited(b *bank) {
	b.put(said("a", "s", 0, "home is berlin", 0, "")...)
	b.same("before", succession(b.search(asks(memory.Filter{}, "berlin"))), []string(nil))
	edited := said("a", "s", 0, "residence bern", 0, "")[1].Memory
	edited.Edited, edited.EditTime = true, at(5)
	b.put(update(edited, 1))
	b.same("after", succession(b.search(asks(memory.Filter{}, "berlin"))), []string{"of a"})
	b.same("found itself", succession(b.search(asks(memory.Filter{}, "berlin", "bern"))), []string(nil))
}

// Where the filter leaves facts out, the turns of successors that hold come along
// instead.
func successionTurns(b *bank) {
	b.put(slices.Concat(said("a", "s", 0, "home is berlin", 10, "of b"), said("b", "t", 10, "moved rome", 20, "of c"),
		said("c", "u", 20, "now oslo", 0, ""))...)
	b.clock.advance(time.Hour)
	turns, facts := []memory.Kind{memory.KindTurn}, []memory.Kind{memory.KindFact}
	b.same("turns", succession(b.search(asks(memory.Filter{Kinds: turns}, "berlin"))),
		[]string{"c", "of a", "of b", "of c"})
	b.same("as of a time", succession(b.search(asks(memory.Filter{Kinds: turns, AsOf: at(15)}, "berlin"))),
		[]string{"b", "of a", "of b"})
	b.same("facts", succession(b.search(asks(memory.Filter{Kinds: facts}, "berlin"))), []string{"of a", "of b", "of c"})
}

// What comes along is measured against the question as hits are.
func successionMeasures(b *bank) {
	old, fresh := fact("old", "milk milk tea"), fact("new", "a cup of tea")
	old.ValidTo, old.SupersededBy = at(1), "new"
	b.put(embedded(old, toward(0.8)), embedded(fresh, toward(-0.6)))
	b.clock.advance(time.Hour)
	q := asks(memory.Filter{Kinds: []memory.Kind{memory.KindTurn}}, "milk", "tea")
	q.Vector = axis(0)
	got := b.list(ann, memory.List{Filter: memory.Filter{History: true}})
	slices.SortFunc(got, func(x, y memory.Memory) int { return len(x.ID) - len(y.ID) })
	found := sorted(b.search(q)).Succession
	slices.SortFunc(got, func(x, y memory.Memory) int { return slices.Compare([]byte(x.ID), []byte(y.ID)) })
	b.same("succession", found, []memory.Candidate{
		{Memory: &got[0], Freqs: []int{0, 1}, Length: 4, Cosine: -0.6},
		{Memory: &got[1], Freqs: []int{2, 1}, Length: 3, Cosine: 0.8},
	})
}

// Nothing comes along from another scope, even under the same ids.
func successionIsolation(b *bank) {
	bob := memory.Scope{App: "app", User: "bob"}
	b.put(said("a", "s", 0, "home is berlin", 10, "of b")...)
	his := slices.Concat(said("a", "s", 0, "home is berlin", 10, "of b"), said("b", "s", 10, "rome", 0, ""))
	for _, w := range his {
		w.Memory.Scope = bob
		b.putIn(bob, w)
	}
	b.clock.advance(time.Hour)
	b.same("ann's", succession(b.search(asks(memory.Filter{}, "berlin"))), []string{"of a"})
	b.same("bob's", succession(b.searchIn(bob, asks(memory.Filter{}, "berlin"))), []string{"of a", "of b"})
}

// A turn of which a fact was forgotten is found and listed only with History: as of
// no time, by no list, not as the turn that a fact cites. It is still read by its
// id, and is found again when nothing of it is forgotten.
func forgottenTurns(b *bank) {
	ws := said("a", "s", 0, "salary is high", 0, "")
	other := turn("other", "s", 1, "the salary of others")
	b.put(embedded(ws[0].Memory, axis(0)), ws[1], write(other))
	hide := ws[0].Memory
	hide.Forgotten = []string{"of x"}
	w := update(hide, 1)
	w.Vector = axis(0)
	b.put(w)
	q := asks(memory.Filter{}, "salary")
	q.Vector, q.Cited = axis(0), true
	for _, f := range []memory.Filter{{}, {AsOf: at(30)}, {SessionID: "s"}} {
		q.Filter = f
		b.same(fmt.Sprintf("Search(%+v)", f), foundIDs(b.search(q)), []string{"of a", "other"})
		b.same(fmt.Sprintf("List(%+v)", f), len(b.list(ann, memory.List{Filter: f})), 2)
	}
	q.Filter = memory.Filter{History: true}
	b.same("with history", foundIDs(b.search(q)), []string{"a", "of a", "other"})
	b.same("listed with history", len(b.list(ann, memory.List{Filter: q.Filter})), 3)
	b.same("read", b.get(ann, "a")[0].Forgotten, []string{"of x"})
	b.reopen()
	q.Filter = memory.Filter{}
	b.same("after a restart", foundIDs(b.search(q)), []string{"of a", "other"})
	hide.Forgotten = nil
	b.put(update(hide, 2))
	b.same("after all", foundIDs(b.search(q)), []string{"a", "of a", "other"})
}

// A turn of which a fact was forgotten is context of no turn. Its neighbours are
// neighbours of each other.
func forgottenContext(b *bank) {
	b.put(write(turn("a", "s", 0, "chat")), write(turn("b", "s", 1, "tea")), write(turn("c", "s", 2, "tea")))
	hide := turn("b", "s", 1, "tea")
	hide.Forgotten = []string{"x"}
	b.put(update(hide, 1))
	b.same("runs", runs(b.withContext(1)), [][]string{{"a", "c"}})
	q := memory.Query{Filter: memory.Filter{History: true}, Terms: []string{"tea"}, Limit: 5, Context: 1}
	b.same("runs with history", runs(b.search(q)), [][]string{{"a", "b", "c"}})
}
