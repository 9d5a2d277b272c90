package storetest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// eraseCases check that what was erased is gone: from reads, searches, histories and
// exports, and that what a late writer sends of it is refused.
func eraseCases() []testCase {
	return []testCase{
		{"IDs", eraseIDs},
		{"Revisions", eraseAtRevisions},
		{"Session", eraseSession},
		{"Events", eraseEvents},
		{"Together", eraseTogether},
		{"DryRun", eraseDryRun},
		{"All", eraseAllOfScope},
		{"Deleted", eraseDeleted},
		{"LongHistory", eraseLongHistory},
		{"Again", eraseAgain},
		{"Links", eraseLinks},
		{"WhileWritten", eraseWhileWritten},
		{"Invalid", eraseInvalid},
		{"Revoked", revokedWrites},
		{"RevokedForADay", revokedForADay},
		{"Users", usersAndApps},
	}
}

// erase erases memories of a scope. A dry run before it counts the same.
func (b *bank) erase(s memory.Scope, which memory.Erasure) memory.Erased {
	b.Helper()
	dry := which
	dry.DryRun = true
	counted, err := b.store.Erase(b.Context(), s, dry)
	if err != nil {
		b.Fatalf("Erase(%+v): %v", dry, err)
	}
	out, err := b.store.Erase(b.Context(), s, which)
	if err != nil {
		b.Fatalf("Erase(%+v): %v", which, err)
	}
	b.same(fmt.Sprintf("a dry run of %+v", which), counted, out)
	return out
}

// ofSession is all of a session, or some events of it, for an erasing.
func ofSession(id string, events ...string) map[string][]string {
	return map[string][]string{id: events}
}

// keepsNone checks that the place has none of some texts, if the harness can tell.
func (b *bank) keepsNone(texts ...string) {
	b.Helper()
	for _, text := range texts {
		if b.harness.Keeps != nil && b.harness.Keeps(b.T, text) {
			b.Errorf("the place still has %q somewhere", text)
		}
	}
}

// exported gives all records of a store but those of a scope, in order.
func (b *bank) exported(but memory.Scope) []memory.Record {
	b.Helper()
	out := slices.DeleteFunc(b.export(), func(r memory.Record) bool { return r.Memory.Scope == but })
	slices.SortFunc(out, func(x, y memory.Record) int {
		return cmp.Or(strings.Compare(x.Memory.App, y.Memory.App), strings.Compare(x.Memory.User, y.Memory.User),
			strings.Compare(x.Memory.ID, y.Memory.ID))
	})
	return out
}

// noTrace checks that no read shows a memory of ann's, nor a word of it.
func (b *bank) noTrace(id, word string) {
	b.Helper()
	b.same("Get", ids(b.get(ann, id)), []string{})
	if _, err := b.history(ann, id); !errors.Is(err, memory.ErrNotFound) {
		b.Errorf("the history of %q after it was erased: %v", id, err)
	}
	found := b.search(memory.Query{Filter: memory.Filter{History: true}, Terms: []string{word}, Vector: axis(0),
		Limit: 50})
	for _, run := range found.Runs {
		for _, c := range run {
			if c.Memory.ID == id {
				b.Errorf("a search finds %q after it was erased", id)
			}
		}
	}
	for _, n := range found.Stats.DF {
		if n != 0 {
			b.Errorf("%d memories have %q after it was erased", n, word)
		}
	}
	for _, r := range b.export() {
		if r.Memory.Scope == ann && r.Memory.ID == id {
			b.Errorf("an export has %q after it was erased", id)
		}
	}
	b.keepsNone(word)
}

// Memories are erased with their revisions, and others stay as they are, those of other
// scopes with the same ids too.
func eraseIDs(b *bank) {
	fill(b)
	b.putIn(ann, embedded(fact("f", "axolotl tea"), axis(0)), write(fact("g", "milk")))
	b.clock.advance(time.Minute)
	b.put(update(fact("f", "axolotl numbat"), 1))
	before := b.exported(ann)
	b.same("erased", b.erase(ann, memory.Erasure{IDs: []string{"f", "none"}}), memory.Erased{Memories: 1, Revisions: 2})
	b.noTrace("f", "axolotl")
	b.noTrace("f", "numbat")
	left := ids(b.list(ann, memory.List{}))
	slices.Sort(left)
	b.same("the others of ann", left, []string{"g", "m", "t1", "t2"})
	b.same("other scopes", b.exported(ann), before)
	b.reopen()
	b.noTrace("f", "axolotl")
	b.same("other scopes after a restart", b.exported(ann), before)
}

// With revisions, only the memories go that are still at theirs. What has changed since, or
// was deleted, stays with its history.
func eraseAtRevisions(b *bank) {
	b.put(write(fact("same", "axolotl")), write(fact("newer", "tea")), write(fact("deleted", "tea")))
	b.put(update(fact("newer", "milk"), 1))
	b.remove("deleted")
	which := memory.Erasure{IDs: []string{"same", "newer", "deleted", "none"}, Revisions: []int64{1, 1, 1, 1}}
	b.same("erased", b.erase(ann, which), memory.Erased{Memories: 1, Revisions: 1})
	b.noTrace("same", "axolotl")
	b.same("newer", len(b.revisions(ann, "newer")), 2)
	b.same("deleted", len(b.revisions(ann, "deleted")), 2)
	which.Revisions = []int64{0, 2, 0, 7}
	b.same("erased", b.erase(ann, which), memory.Erased{Memories: 2, Revisions: 4})
	b.same("left", ids(b.list(ann, memory.List{Filter: memory.Filter{History: true}})), []string{})
}

// The memories of a session go: turns and facts, live ones, expired ones and deleted
// ones, and a memory that came from it at an earlier revision.
func eraseSession(b *bank) {
	from := func(m memory.Memory, session, event string) memory.Memory {
		m.Source = memory.Source{SessionID: session, EventIDs: []string{event}, Quote: m.Fact}
		return m
	}
	expired := from(fact("expired", "axolotl"), "s1", "e3")
	expired.ExpireTime = start.Add(time.Hour)
	b.put(write(turn("t1", "s1", 0, "axolotl")), write(turn("t2", "s2", 0, "stays")),
		write(from(fact("f1", "axolotl"), "s1", "t1")), write(from(fact("f2", "stays"), "s2", "t2")),
		write(from(fact("gone", "axolotl"), "s1", "t1")), write(from(fact("moved", "axolotl"), "s1", "t1")),
		write(fact("given", "stays")), write(expired), write(turn("t11", "s11", 0, "stays")))
	b.put(update(from(fact("moved", "newer"), "s2", "t2"), 1))
	b.remove("gone")
	b.clock.advance(2 * time.Hour)
	b.same("erased", b.erase(ann, memory.Erasure{Sessions: ofSession("s1")}), memory.Erased{Memories: 5, Revisions: 7})
	for _, id := range []string{"t1", "f1", "gone", "moved", "expired"} {
		b.noTrace(id, "axolotl")
	}
	left := ids(b.list(ann, memory.List{}))
	slices.Sort(left)
	b.same("left", left, []string{"f2", "given", "t11", "t2"})
}

// Of a session, only what came from some of its events.
func eraseEvents(b *bank) {
	two := fact("f2", "axolotl milk")
	two.Source = memory.Source{SessionID: "s1", EventIDs: []string{"t2", "t1"}}
	other := fact("f3", "stays")
	other.Source = memory.Source{SessionID: "s1", EventIDs: []string{"t2"}}
	b.put(write(turn("t1", "s1", 0, "axolotl")), write(turn("t2", "s1", 1, "stays")), write(two), write(other))
	same := turn("u1", "s2", 0, "stays") // of another session, with an event of the same id
	same.Source.EventIDs = []string{"t1"}
	b.put(write(same))
	b.same("erased", b.erase(ann, memory.Erasure{Sessions: ofSession("s1", "t1", "t9")}),
		memory.Erased{Memories: 2, Revisions: 2})
	b.noTrace("t1", "axolotl")
	b.noTrace("f2", "axolotl")
	left := ids(b.list(ann, memory.List{}))
	slices.Sort(left)
	b.same("left", left, []string{"f3", "t2", "u1"})
}

// IDs and events of several sessions are one erasing, which counts each memory once.
func eraseTogether(b *bank) {
	both := fact("both", "axolotl")
	both.Source = memory.Source{SessionID: "s1", EventIDs: []string{"t1"}}
	b.put(write(turn("t1", "s1", 0, "axolotl")), write(turn("t2", "s2", 0, "axolotl")),
		write(turn("t3", "s2", 1, "stays")), write(turn("t4", "s3", 0, "axolotl")), write(fact("given", "axolotl")),
		write(fact("other", "stays")), write(both))
	both.Source = memory.Source{SessionID: "s2", EventIDs: []string{"t2"}}
	b.put(update(both, 1))
	which := memory.Erasure{IDs: []string{"given", "both", "t1", "none"},
		Sessions: map[string][]string{"s1": {"t1"}, "s2": {"t2", "t9"}, "s3": nil, "s4": nil}}
	b.same("erased", b.erase(ann, which), memory.Erased{Memories: 5, Revisions: 6})
	for _, id := range []string{"t1", "t2", "t4", "given", "both"} {
		b.noTrace(id, "axolotl")
	}
	left := ids(b.list(ann, memory.List{}))
	slices.Sort(left)
	b.same("left", left, []string{"other", "t3"})
}

// All of a scope goes, however much that is, and no other scope changes by a byte.
func eraseAllOfScope(b *bank) {
	fill(b)
	var writes []memory.Write
	for i := range 700 {
		writes = append(writes, embedded(fact(fmt.Sprint("n", i), fmt.Sprint("axolotl ", i)), toward(float64(i)/700)))
	}
	b.put(writes...)
	b.search(memory.Query{Terms: []string{"axolotl"}, Limit: 1}) // which may have an index read
	before := b.exported(ann)
	// fill has given ann four memories, one of them with a deletion.
	b.same("erased", b.erase(ann, memory.Erasure{All: true}), memory.Erased{Memories: 704, Revisions: 705})
	b.same("list", ids(b.list(ann, memory.List{Filter: memory.Filter{History: true}})), []string{})
	b.noTrace("n1", "axolotl")
	b.noTrace("gone", "axolotl")
	b.same("other scopes", b.exported(ann), before)
	b.same("all", b.exported(memory.Scope{}), before)
	b.same("again", b.erase(ann, memory.Erasure{All: true}), memory.Erased{})
	b.put(write(fact("new", "axolotl")))
	b.same("found", runs(b.search(memory.Query{Terms: []string{"axolotl"}, Limit: 5})), [][]string{{"new"}})
}

// A memory that was deleted is still there with its history, until it is erased.
func eraseDeleted(b *bank) {
	b.put(write(fact("f", "axolotl")))
	b.remove("f")
	if b.harness.Keeps != nil && !b.harness.Keeps(b.T, "axolotl") {
		b.Error("the words of a deleted memory are nowhere before it is erased either")
	}
	b.same("erased", b.erase(ann, memory.Erasure{IDs: []string{"f"}}), memory.Erased{Memories: 1, Revisions: 2})
	b.noTrace("f", "axolotl")
}

// However often a memory has changed, all of its revisions go.
func eraseLongHistory(b *bank) {
	for i := range int64(120) {
		b.put(update(fact("often", fmt.Sprint("axolotl", i)), i))
	}
	b.same("erased", b.erase(ann, memory.Erasure{IDs: []string{"often"}}), memory.Erased{Memories: 1, Revisions: 120})
	b.noTrace("often", "axolotl3")
	b.keepsNone("axolotl")
}

// An erased memory may be made again, and begins at revision 1.
func eraseAgain(b *bank) {
	b.put(embedded(fact("f", "axolotl"), axis(0)))
	b.put(update(fact("f", "numbat"), 1))
	b.erase(ann, memory.Erasure{IDs: []string{"f"}})
	made := b.put(write(fact("f", "tea")))[0]
	b.same("revision", made.Revision, int64(1))
	b.same("revisions", len(b.revisions(ann, "f")), 1)
	b.same("found", runs(b.search(memory.Query{Terms: []string{"tea"}, Limit: 5})), [][]string{{"f"}})
	b.keepsNone("axolotl", "numbat")
	// A write that was decided on what was erased is refused.
	b.erase(ann, memory.Erasure{IDs: []string{"f"}})
	if o := b.try(update(fact("f", "numbat"), 1))[0]; !errors.Is(o.Err, memory.ErrAborted) {
		b.Errorf("an update of an erased memory: %+v", o)
	}
}

// The memories that are left do not name an erased one, and stay as they were otherwise:
// a fact that an erased one had superseded is still history.
func eraseLinks(b *bank) {
	old, told := fact("old", "tea"), turn("t1", "s1", 0, "milk")
	old.SupersededBy, old.ValidTo = "new-okapi", start.Add(time.Minute)
	told.Forgotten = []string{"new-okapi", "other"}
	b.put(write(fact("new-okapi", "axolotl")), write(old), write(told))
	older := old
	older.SupersededBy = "third"
	b.put(update(older, 1)) // which has the link in its history
	b.clock.advance(time.Hour)
	b.search(memory.Query{Terms: []string{"tea"}, Limit: 1})
	b.erase(ann, memory.Erasure{IDs: []string{"new-okapi"}})
	b.keepsNone("okapi", "axolotl")
	b.same("old", b.get(ann, "old")[0].SupersededBy, "third")
	b.same("forgotten", b.get(ann, "t1")[0].Forgotten, []string{"other"})
	b.erase(ann, memory.Erasure{IDs: []string{"third"}}) // of which there is only the name
	b.same("found", runs(b.search(memory.Query{Terms: []string{"tea"}, Limit: 5})), [][]string{})
	history := b.search(memory.Query{Filter: memory.Filter{History: true}, Terms: []string{"tea"}, Limit: 5})
	b.same("history", runs(history), [][]string{{"old"}})
}

// Erasing one part of a scope while others are written loses none of these.
func eraseWhileWritten(b *bank) {
	const writers, each = 4, 20
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				id := fmt.Sprintf("w%d-%d", w, i)
				out, err := b.store.Put(b.Context(), ann, []memory.Write{write(fact(id, "tea"))})
				if err != nil || out[0].Err != nil {
					b.Errorf("Put: %v %v", out, err)
				}
				if w == 0 {
					if _, err := b.store.Erase(b.Context(), ann, memory.Erasure{IDs: []string{id}}); err != nil {
						b.Errorf("Erase: %v", err)
					}
				}
			}
		})
	}
	all.Wait()
	b.same("left", len(b.list(ann, memory.List{})), (writers-1)*each)
	b.same("found", len(b.search(memory.Query{Terms: []string{"tea"}, Limit: 1000}).Runs), (writers-1)*each)
}

// An erasing that does not say what, or says it twice, erases nothing.
func eraseInvalid(b *bank) {
	b.put(write(fact("f", "tea")))
	s := map[string][]string{"s": nil}
	for _, which := range []memory.Erasure{{}, {IDs: []string{"f"}, All: true}, {Sessions: s, All: true},
		{Sessions: map[string][]string{"": {"e"}}}, {DryRun: true},
		{IDs: []string{"f"}, Revisions: []int64{1, 1}}, {IDs: []string{"f"}, Revisions: []int64{1}, Sessions: s}} {
		if _, err := b.store.Erase(b.Context(), ann, which); !errors.Is(err, memory.ErrInvalid) {
			b.Errorf("Erase(%+v): %v", which, err)
		}
	}
	for _, life := range []string{"", strings.Repeat("x", memory.MaxLife+1)} {
		if err := b.store.Revoke(b.Context(), ann, []string{life}); !errors.Is(err, memory.ErrInvalid) {
			b.Errorf("Revoke(%q): %v", life, err)
		}
	}
	b.same("left", ids(b.list(ann, memory.List{})), []string{"f"})
}

// of gives a write the life that it was made of.
func of(w memory.Write, life string) memory.Write {
	w.Life = life
	return w
}

// Once a life is revoked no write of it goes through, not as a create, an update or a
// repetition, and others do. Otherwise a slow worker would bring back what was erased.
func revokedWrites(b *bank) {
	b.put(of(embedded(fact("f", "tea"), axis(0)), "life-okapi"), of(write(fact("g", "tea")), "other"))
	if err := b.store.Revoke(b.Context(), ann, []string{"life-okapi", "life-2"}); err != nil {
		b.Fatal(err)
	}
	if err := b.store.Revoke(b.Context(), ann, nil); err != nil {
		b.Fatal(err)
	}
	check := func() {
		b.Helper()
		for what, w := range map[string]memory.Write{"create": write(fact("new", "axolotl")),
			"update": update(fact("f", "axolotl"), 1), "repetition": write(fact("f", "tea"))} {
			for _, life := range []string{"life-okapi", "life-2"} {
				o := b.try(of(w, life))[0]
				if !errors.Is(o.Err, memory.ErrRevoked) || o.Changed {
					b.Errorf("%s: %+v", what, o)
				}
			}
		}
		b.keepsNone("axolotl", "okapi")
	}
	check()
	b.put(of(update(fact("g", "milk"), 1), "other"), write(fact("h", "milk")), of(write(fact("i", "milk")), "life"))
	outcomes := b.try(of(write(fact("j", "milk")), "life-2"), of(write(fact("k", "milk")), "other"))
	b.same("one of two", []bool{outcomes[0].Err != nil, outcomes[1].Changed}, []bool{true, true})
	b.reopen()
	check()
	b.same("as it was", b.get(ann, "f")[0].Fact, "tea")
}

// A life stays revoked for a day, whatever is revoked after it.
func revokedForADay(b *bank) {
	revoke := func(life string) {
		b.Helper()
		if err := b.store.Revoke(b.Context(), ann, []string{life}); err != nil {
			b.Fatal(err)
		}
	}
	revoke("a")
	b.clock.advance(memory.RevokedFor - time.Second)
	revoke("b")
	if o := b.try(of(write(fact("f", "tea")), "a"))[0]; !errors.Is(o.Err, memory.ErrRevoked) {
		b.Errorf("a second before a day is over: %+v", o)
	}
}

// Users and apps are listed in the order of their ids, with one who has deleted memories
// alone, and without one who was erased.
func usersAndApps(b *bank) {
	for _, s := range []memory.Scope{{App: "b", User: "z"}, {App: "b", User: "ä"}, {App: "b", User: "a b"},
		{App: "b", User: "m"}, {App: "a-", User: "x"}, {App: "c", User: "y"}, {App: "ab", User: "x"}} {
		m := fact("m", "tea")
		m.Scope = s
		b.putIn(s, write(m))
	}
	m := memory.Scope{App: "b", User: "m"}
	if _, err := b.store.Delete(b.Context(), m, []memory.Removal{{ID: "m"}}); err != nil {
		b.Fatal(err)
	}
	names := func(page func(after string) ([]string, error)) (out []string) {
		b.Helper()
		for after := ""; ; {
			some, err := page(after)
			if err != nil || len(some) > 2 {
				b.Fatalf("a page of 2 has %q, %v", some, err)
			}
			if len(some) == 0 {
				return out
			}
			out, after = append(out, some...), some[len(some)-1]
		}
	}
	users := func(app string) []string {
		return names(func(after string) ([]string, error) { return b.store.Users(b.Context(), app, after, 2) })
	}
	apps := func() []string {
		return names(func(after string) ([]string, error) { return b.store.Apps(b.Context(), after, 2) })
	}
	for _, s := range []memory.Scope{memory.Shared("b"), memory.Documents("b"), memory.Shared("d")} {
		m := fact("m", "tea") // an app may have shared knowledge and no user
		m.Scope = s
		b.putIn(s, write(m))
	}
	b.same("users", users("b"), []string{"a b", "m", "z", "ä"})
	b.same("users of shared knowledge alone", users("d"), []string{})
	b.same("apps", apps(), []string{"a-", "ab", "b", "c", "d"})
	b.erase(memory.Shared("d"), memory.Erasure{All: true})
	b.erase(m, memory.Erasure{All: true})
	b.erase(memory.Scope{App: "c", User: "y"}, memory.Erasure{IDs: []string{"m"}})
	b.same("users", users("b"), []string{"a b", "z", "ä"})
	b.same("apps", apps(), []string{"a-", "ab", "b"})
	b.same("users of none", users("none"), []string{})
}
