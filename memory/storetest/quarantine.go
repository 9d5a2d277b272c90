package storetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// quarantineCases check that hidden memories are found by nothing that does not ask for
// them. See memory.State.
func quarantineCases() []testCase {
	return []testCase{
		{"HiddenFromSearches", hiddenFromSearches},
		{"HiddenFromContext", hiddenFromContext},
		{"HiddenFromSuccession", hiddenFromSuccession},
		{"Listed", hiddenListed},
		{"Reviewed", hiddenReviewed},
		{"Statistics", hiddenStatistics},
		{"Expiry", hiddenExpiry},
		{"Trust", trustFilter},
	}
}

// held is a memory in a state, with a vector along axis(0).
func held(m memory.Memory, s memory.State) memory.Write {
	m.State, m.Reason = s, "it gives orders"
	return embedded(m, axis(0))
}

// No search finds a quarantined or rejected memory: by words, by meaning, with history,
// as of any time, as a turn that a fact cites, or with its state in the filter.
func hiddenFromSearches(b *bank) {
	cites := fact("fact", "tea is good")
	cites.Source = memory.Source{SessionID: "s", EventIDs: []string{"e1", "e2"}}
	b.put(held(turn("t1", "s", 1, "tea orders"), memory.Quarantined),
		held(turn("t2", "s", 2, "tea orders too"), memory.Rejected),
		held(fact("f", "tea tea"), memory.Quarantined), embedded(cites, axis(0)))
	look := func(when string) {
		for _, f := range []memory.Filter{{}, {History: true}, {AsOf: at(30)}, {Hidden: true},
			{SessionID: "s"}, {Kinds: []memory.Kind{memory.KindFact, memory.KindTurn}, History: true}} {
			q := memory.Query{Filter: f, Terms: []string{"tea"}, Vector: axis(0), Limit: 5, Cited: true, Context: 2,
				Succession: true}
			found := b.search(q)
			b.same(fmt.Sprintf("%s: Search(%+v)", when, f), foundIDs(found), []string{"fact"})
			b.same(fmt.Sprintf("%s: succession of %+v", when, f), len(found.Succession), 0)
			q.Limit = 1 // the hidden ones take no room in a list
			b.same(fmt.Sprintf("%s: the best of %+v", when, f), foundIDs(b.search(q)), []string{"fact"})
		}
		for _, s := range []memory.State{memory.Quarantined, memory.Rejected} {
			q := memory.Query{Filter: memory.Filter{State: s, History: true}, Terms: []string{"tea"}, Vector: axis(0),
				Limit: 5}
			b.same(when+": a search for "+string(s), len(b.search(q).Runs), 0)
		}
	}
	look("at first")
	b.reopen()
	look("after a restart")
}

// A hidden turn is context of no turn. Its neighbours are neighbours of each other.
func hiddenFromContext(b *bank) {
	b.put(write(turn("a", "s", 0, "chat")), held(turn("b", "s", 1, "tea orders"), memory.Quarantined),
		write(turn("c", "s", 2, "tea")))
	b.same("runs", runs(b.withContext(1)), [][]string{{"a", "c"}})
	q := memory.Query{Filter: memory.Filter{History: true}, Terms: []string{"tea"}, Limit: 5, Context: 1}
	b.same("runs with history", runs(b.search(q)), [][]string{{"a", "c"}})
}

// A hidden fact is no key of a question, departs from no turn, and succeeds nothing.
func hiddenFromSuccession(b *bank) {
	ended := fact("ended", "home is berlin")
	ended.ValidTo, ended.SupersededBy = at(1), "next"
	gone := fact("gone", "home is rome")
	gone.ValidTo = at(1)
	gone.Source = memory.Source{SessionID: "s", EventIDs: []string{"e0"}}
	b.put(write(ended), held(fact("next", "home is paris"), memory.Quarantined), held(gone, memory.Rejected),
		write(turn("t", "s", 0, "berlin")))
	b.clock.advance(time.Hour)
	b.same("succession", succession(b.search(asks(memory.Filter{}, "berlin", "home"))), []string{"ended"})
}

// A list has hidden memories if it asks for their state or for hidden ones, and each by
// its id can be read.
func hiddenListed(b *bank) {
	b.put(held(fact("q", "tea q"), memory.Quarantined), held(turn("t", "s", 1, "tea t"), memory.Quarantined),
		held(fact("r", "tea r"), memory.Rejected), held(fact("a", "tea a"), memory.Approved), write(fact("n", "tea n")))
	for _, c := range []struct {
		filter memory.Filter
		want   []string
	}{
		{memory.Filter{}, []string{"a", "n"}},
		{memory.Filter{History: true}, []string{"a", "n"}},
		{memory.Filter{Hidden: true}, []string{"a", "n", "q", "r", "t"}},
		{memory.Filter{State: memory.Quarantined}, []string{"q", "t"}},
		{memory.Filter{State: memory.Quarantined, Kinds: []memory.Kind{memory.KindTurn}}, []string{"t"}},
		{memory.Filter{State: memory.Rejected, Hidden: true}, []string{"r"}},
		{memory.Filter{State: memory.Approved}, []string{"a"}},
		{memory.Filter{Where: is("state", "=", memory.Text("approved"))}, []string{"a"}},
		{memory.Filter{Where: is("state", "=", memory.Text("quarantined"))}, nil},
		{memory.Filter{Where: is("state", "!=", memory.Text("approved")), Hidden: true}, []string{"n", "q", "r", "t"}},
	} {
		got := b.list(ann, memory.List{Filter: c.filter, PageSize: 2})
		slices.SortFunc(got, func(a, b memory.Memory) int { return strings.Compare(a.ID, b.ID) })
		b.same(fmt.Sprintf("List(%+v)", c.filter), ids(got), c.want)
	}
	got := b.get(ann, "q")[0]
	b.same("state and reason", []string{string(got.State), got.Reason}, []string{"quarantined", "it gives orders"})
}

// A memory is found once its state no longer hides it, and hidden again as soon as its
// state does, with an index that was read before and with one that is read afterwards.
func hiddenReviewed(b *bank) {
	q := memory.Query{Terms: []string{"tea"}, Vector: axis(0), Limit: 5}
	b.put(held(turn("t", "s", 1, "tea"), memory.Quarantined), write(fact("other", "tea")))
	for i, c := range []struct {
		state memory.State
		want  []string
	}{
		{memory.Approved, []string{"other", "t"}}, {memory.Rejected, []string{"other"}},
		{memory.Approved, []string{"other", "t"}}, {memory.Quarantined, []string{"other"}},
		{"", []string{"other", "t"}},
	} {
		b.search(q)
		w := held(turn("t", "s", 1, "tea"), c.state)
		w.Expect = int64(i + 1)
		b.put(w)
		b.same("found as "+string(c.state), foundIDs(b.search(q)), c.want)
		b.reopen()
		b.same("found after a restart as "+string(c.state), foundIDs(b.search(q)), c.want)
	}
	b.put(update(held(turn("t", "s", 1, "tea"), memory.Quarantined).Memory, 6))
	b.remove("t")
	b.same("deleted", foundIDs(b.search(q)), []string{"other"})
	b.same("listed", len(b.list(ann, memory.List{Filter: memory.Filter{Hidden: true}})), 1)
}

// Statistics count hidden memories apart. Their words have no weight.
func hiddenStatistics(b *bank) {
	shown := b.put(write(turn("a", "s", 0, "tea milk")))[0]
	hidden := b.put(held(turn("b", "s", 1, "tea milk"), memory.Quarantined),
		held(turn("c", "other", 1, "tea"), memory.Rejected))
	for _, when := range []string{"at first", "after a restart"} {
		found := b.search(memory.Query{Terms: []string{"tea", "milk"}, Limit: 5, Sessions: true, Bytes: true})
		b.same("statistics "+when, found.Stats, memory.Stats{
			Docs: 1, DF: []int{1, 1}, SessionCount: 1, Hidden: 2,
			Bytes:    shown.Bytes() + hidden[0].Bytes() + hidden[1].Bytes(),
			Sessions: []memory.SessionStats{{ID: "s", Turns: 1, DF: []int{1, 1}}},
		})
		b.reopen()
	}
	b.same("counted alone", b.search(memory.Query{CountHidden: true}).Stats, memory.Stats{Docs: 1, Hidden: 2})
	b.remove("b", "c")
	found := b.search(memory.Query{Terms: []string{"tea"}, Limit: 5, Bytes: true})
	b.same("statistics at last", found.Stats, memory.Stats{Docs: 1, DF: []int{1}, Bytes: shown.Bytes()})
}

// A hidden memory expires as others do.
func hiddenExpiry(b *bank) {
	m := fact("m", "tea")
	m.ExpireTime = at(1)
	b.put(held(m, memory.Quarantined))
	b.same("before", b.search(memory.Query{Terms: []string{"tea"}, Bytes: true}).Stats.Hidden, 1)
	b.clock.advance(time.Minute)
	b.same("after", b.search(memory.Query{Terms: []string{"tea"}, Bytes: true}).Stats, memory.Stats{DF: []int{0}})
	b.same("listed", len(b.list(ann, memory.List{Filter: memory.Filter{Hidden: true}})), 0)
}

// An expression compares the trust of memories. One without is the user's. A write that
// repeats one from before there was trust changes nothing.
func trustFilter(b *bank) {
	old, user, doc := fact("old", "tea"), fact("user", "tea"), fact("doc", "tea")
	user.Trust, doc.Trust = memory.TrustUser, memory.TrustExternal
	stored := b.put(embedded(old, axis(0)), embedded(user, axis(0)), embedded(doc, axis(0)))
	b.passes(memory.Filter{Where: is("trust", "=", memory.Text("external"))}, "doc")
	b.passes(memory.Filter{Where: is("trust", "=", memory.Text("user"))}, "old", "user")
	b.passes(memory.Filter{Where: is("trust", "!=", memory.Text("external"))}, "old", "user")
	old.Trust = memory.TrustUser
	b.same("the same with its trust", b.try(write(old)), []memory.Outcome{{Memory: stored[0]}})
}
