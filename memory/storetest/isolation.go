package storetest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/memoryd/memoryd/memory"
)

// isolationCases check that scopes never mix. A leak between users is the worst
// error a store can have, so the scopes are chosen to be confused.
func isolationCases() []testCase {
	return []testCase{
		{"Reads", isolatedReads},
		{"Writes", isolatedWrites},
		{"Statistics", isolatedStatistics},
	}
}

// oddScopes are scopes that a store might confuse: by joining app and user, by
// folding case or accents, by trimming or cutting, or by reading an id as a
// pattern or as code.
func oddScopes() []memory.Scope {
	long := strings.Repeat("x", memory.MaxID-1)
	return []memory.Scope{
		// The same letters, parted otherwise or exchanged.
		{App: "a", User: "b:c"}, {App: "a:b", User: "c"}, {App: "a", User: "bc"}, {App: "ab", User: "c"},
		{App: "b:c", User: "a"}, {App: "c", User: "a:b"}, {App: "a", User: "b"}, {App: "b", User: "a"},
		{App: "a", User: "a"},
		// Characters that stores join by, or quote with.
		{App: "a|b", User: "c"}, {App: "a", User: "b|c"}, {App: "a b", User: "c"}, {App: "a", User: "b c"},
		{App: `a","b`, User: "c"}, {App: "a", User: `b","c`}, {App: `a\`, User: "b"}, {App: `a\\`, User: "b"},
		// Case, and space at the end.
		{App: "app", User: "ann"}, {App: "app", User: "Ann"}, {App: "APP", User: "ann"}, {App: "app", User: "ann "},
		{App: "app ", User: "ann"},
		// A prefix, and patterns of SQL and of globs.
		{App: "app", User: "an"}, {App: "app", User: "an_"}, {App: "app", User: "an%"}, {App: "app", User: "%"},
		{App: "app", User: "*"}, {App: "app", User: "a*"},
		// Code, and texts that read as other values or are escaped.
		{App: "app", User: "' OR '1'='1"}, {App: "app", User: `" OR "1"="1`}, {App: "app", User: "ann'--"},
		{App: "app", User: "null"}, {App: "app", User: "0"}, {App: "app", User: "00"}, {App: "app", User: "0.0"},
		{App: "app", User: "ann%20"},
		// Unicode: two forms of a letter, a wide one, and characters that do not show.
		{App: "app", User: "\u00e4nn"}, {App: "app", User: "a\u0308nn"}, {App: "app", User: "\uff41nn"},
		{App: "app", User: "日本"}, {App: "app", User: "\ufeffann"}, {App: "app", User: "ann\u200b"},
		// The scopes of the app itself, and users that are called like them.
		memory.Shared("app"), memory.Documents("app"), memory.Shared("a"), {App: "app", User: "shared"},
		{App: "app", User: "documents"},
		// As long as may be, and different only at the end.
		{App: long + "1", User: long + "1"}, {App: long + "1", User: long + "2"}, {App: long + "2", User: long + "1"},
	}
}

// fill gives every odd scope a fact, a turn in a session and a deleted memory,
// all with the same ids, words, vectors and times. Only the author tells the
// scopes apart.
func fill(b *bank) []memory.Scope {
	b.Helper()
	scopes := oddScopes()
	for i, s := range scopes {
		f, gone := fact("m", "tea"), fact("gone", "tea")
		writes := []memory.Write{
			embedded(f, axis(0)), embedded(turn("t1", "s", 0, "tea"), axis(0)), write(turn("t2", "s", 1, "chat")),
			write(gone),
		}
		for j := range writes {
			writes[j].Memory.Scope, writes[j].Memory.Author, writes[j].Actor = s, fmt.Sprint("author", i),
				fmt.Sprint("actor", i)
		}
		b.putIn(s, writes...)
		if _, err := b.store.Delete(b.Context(), s,
			[]memory.Removal{{ID: "gone", Actor: fmt.Sprint("actor", i)}}); err != nil {
			b.Fatal(err)
		}
	}
	return scopes
}

// checkOwn checks that a scope shows all of its own memories and nothing else.
func checkOwn(b *bank, s memory.Scope, i int) {
	b.Helper()
	var shown []memory.Memory
	shown = append(shown, b.get(s, "m", "t1", "t2", "gone")...)
	b.same(fmt.Sprintf("Get of %q", s), ids(shown), []string{"m", "t1", "t2"})
	listed := b.list(s, memory.List{Order: memory.Order{Ascending: true}, PageSize: 2})
	b.same(fmt.Sprintf("List of %q", s), ids(listed), []string{"m", "t1", "t2"})
	shown = append(shown, listed...)
	found := b.searchIn(s, memory.Query{Terms: []string{"tea"}, Vector: axis(0), Limit: 50, Context: 2, Sessions: true})
	b.same(fmt.Sprintf("Search of %q", s), runs(found), [][]string{{"m"}, {"t1", "t2"}})
	b.same(fmt.Sprintf("statistics of %q", s), found.Stats,
		memory.Stats{Docs: 3, DF: []int{2}, SessionCount: 1,
			Sessions: []memory.SessionStats{{ID: "s", Turns: 2, DF: []int{1}}}})
	for _, run := range found.Runs {
		for _, c := range run {
			shown = append(shown, *c.Memory)
		}
	}
	for id, n := range map[string]int{"m": 1, "gone": 2} {
		history := b.revisions(s, id)
		if len(history) != n {
			b.Errorf("%q has %d revisions of %q, want %d", s, len(history), id, n)
		}
		for _, r := range history {
			shown = append(shown, r.Memory)
			if r.Actor != fmt.Sprint("actor", i) {
				b.Errorf("Revisions of %q tell of %q", s, r.Actor)
			}
		}
	}
	for _, m := range shown {
		if m.Scope != s || m.Author != fmt.Sprint("author", i) {
			b.Errorf("%q shows %q of %q", s, m.Author, m.Scope)
		}
	}
}

// No method reads across scopes, however similar their names and equal their
// memories.
func isolatedReads(b *bank) {
	scopes := fill(b)
	for i, s := range scopes {
		checkOwn(b, s, i)
	}
	b.reopen()
	for i, s := range scopes {
		checkOwn(b, s, i)
	}
	for _, s := range []memory.Scope{{App: "app", User: "a"}, {App: "ap", User: "ann"}, {App: "ann", User: "app"},
		{App: "app", User: "ANN"}} {
		b.same(fmt.Sprintf("Get of %q", s), b.get(s, "m", "t1"), []memory.Memory(nil))
		b.same(fmt.Sprintf("List of %q", s), b.list(s, memory.List{}), []memory.Memory(nil))
		found := b.searchIn(s, memory.Query{Terms: []string{"tea"}, Vector: axis(0), Limit: 50, Context: 2})
		b.same(fmt.Sprintf("Search of %q", s), found, memory.Found{Stats: memory.Stats{DF: []int{0}}})
		if _, err := b.store.Revisions(b.Context(), s, "m", 0); !errors.Is(err, memory.ErrNotFound) {
			b.Errorf("Revisions of %q: error %v, want ErrNotFound", s, err)
		}
	}
}

// No method writes across scopes: updates and deletions in one leave every
// other as it was.
func isolatedWrites(b *bank) {
	scopes := fill(b)
	victim := scopes[len(scopes)/2]
	for i, s := range scopes {
		if s == victim {
			continue
		}
		m := fact("m", "coffee")
		m.Scope = s
		b.putIn(s, update(m, 1))
		out, err := b.store.Delete(b.Context(), s, []memory.Removal{{ID: "m"}, {ID: "t1"}, {ID: "t2"}})
		if err != nil {
			b.Fatal(err)
		}
		for _, o := range out {
			if o.Err != nil || o.Memory.Scope != s {
				b.Errorf("Delete of %q in %q: of %q, error %v", o.Memory.ID, s, o.Memory.Scope, o.Err)
			}
		}
		if next := i + 1; next < len(scopes) {
			checkOwn(b, scopes[next], next)
		}
	}
	checkOwn(b, victim, len(scopes)/2)
}

// The statistics of a scope do not depend on other scopes.
func isolatedStatistics(b *bank) {
	bob := memory.Scope{App: "app", User: "bob"}
	b.put(write(fact("m", "tea")))
	q := memory.Query{Terms: []string{"tea", "secret"}, Limit: 5}
	before := b.search(q)
	for i := range 20 {
		m := fact(fmt.Sprint("m", i), "secret tea")
		m.Scope = bob
		b.putIn(bob, write(m))
	}
	b.same("ann's search", b.search(q), before)
}
