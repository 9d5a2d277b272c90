package storetest

import (
	"errors"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// putCases check when a write goes through, when it is a repetition and when it
// is aborted. A store that decides by [memory.DecidePut] and stores its effect
// in one step with reading passes most of them. The rest are whole calls:
// writes that stand alone, and calls that are refused as a whole.
func putCases() []testCase {
	return []testCase{
		{"Create", create},
		{"Update", updates},
		{"StoreSetsItsFields", storeSetsItsFields},
		{"StaleUpdate", staleUpdate},
		{"CreateOfTakenName", createOfTakenName},
		{"UpdateOfNothing", updateOfNothing},
		{"RepeatedCreate", repeatedCreate},
		{"RepeatedUpdate", repeatedUpdate},
		{"NothingNew", nothingNew},
		{"RepetitionFillsVector", repetitionFillsVector},
		{"RepetitionKeepsVector", repetitionKeepsVector},
		{"RepetitionKeepsWords", repetitionKeepsWords},
		{"OldRepetition", oldRepetition},
		{"CreateAfterDelete", createAfterDelete},
		{"RepetitionAfterDelete", repetitionAfterDelete},
		{"PutOnDeletion", putOnDeletion},
		{"CreateAfterExpiry", createAfterExpiry},
		{"PutOnExpired", putOnExpired},
		{"WritesStandAlone", writesStandAlone},
		{"NoWrites", noWrites},
		{"SameNameTwice", sameNameTwice},
		{"OtherScope", otherScope},
		{"InvalidMemory", invalidMemory},
	}
}

// A write with Expect 0 creates a memory: revision 1, both times the clock's.
// Get returns the memory of the outcome.
func create(b *bank) {
	want := fact("m", "likes tea")
	want.CreateTime, want.UpdateTime, want.Revision = start, start, 1
	out := b.try(write(fact("m", "likes tea")))
	b.same("outcome", out, []memory.Outcome{{Memory: want, Changed: true}})
	b.same("Get", b.get(ann, "m"), []memory.Memory{want})
}

// A write that expects the current revision replaces the whole memory: the
// revision counts up, UpdateTime moves, CreateTime stays.
func updates(b *bank) {
	m := fact("m", "likes tea")
	m.Topics, m.Metadata = []string{"food"}, memory.Metadata{"a": []byte(`1`)}
	b.put(write(m))
	for revision := int64(2); revision < 5; revision++ {
		b.clock.advance(time.Hour)
		m = fact("m", m.Fact+" much")
		b.put(update(m, revision-1))
		want := m
		want.CreateTime, want.UpdateTime, want.Revision = start, b.clock.now(), revision
		b.same("Get", b.get(ann, "m"), []memory.Memory{want})
	}
}

// Revision, CreateTime and UpdateTime of a write have no effect, not even on
// whether it is a repetition.
func storeSetsItsFields(b *bank) {
	m := fact("m", "likes tea")
	m.Revision, m.CreateTime, m.UpdateTime = 7, start.Add(-time.Hour), start.Add(time.Hour)
	stored := b.put(write(m))[0]
	if stored.Revision != 1 || !stored.CreateTime.Equal(start) || !stored.UpdateTime.Equal(start) {
		b.Errorf("stored as revision %d, created %v, updated %v", stored.Revision, stored.CreateTime, stored.UpdateTime)
	}
	m.Revision, m.UpdateTime = 9, start.Add(2*time.Hour)
	b.same("the same again", b.try(write(m)), []memory.Outcome{{Memory: stored}})
}

// A write that expects another revision than the current one is ErrAborted,
// shows the current memory, and leaves the store as it was. The writer reads
// again and decides again.
func staleUpdate(b *bank) {
	b.put(write(fact("m", "likes tea")))
	current := b.put(update(fact("m", "likes coffee"), 1))[0]
	before := b.contents(ann)
	for _, expect := range []int64{-1, 1, 3, 4, 1 << 40} {
		b.clock.advance(time.Minute)
		out := b.try(update(fact("m", "likes milk"), expect))
		b.same("outcome", out, []memory.Outcome{{Memory: current, Err: memory.ErrAborted}})
	}
	b.same("the store after stale writes", b.contents(ann), before)
	b.same("what words find", foundIDs(b.search(memory.Query{Terms: []string{"milk"}, Limit: 5})), []string(nil))
}

// A create of an id that another memory has is ErrAborted, with that memory.
// Ids derive from the event a memory was made of, so the caller can compare and
// see that its work is done.
func createOfTakenName(b *bank) {
	current := b.put(write(fact("m", "likes tea")))[0]
	before := b.contents(ann)
	out := b.try(write(fact("m", "likes coffee")))
	b.same("outcome", out, []memory.Outcome{{Memory: current, Err: memory.ErrAborted}})
	b.same("the store after it", b.contents(ann), before)
}

// An update of a memory that never was is ErrAborted, and creates none. A
// writer cannot have read what it expects.
func updateOfNothing(b *bank) {
	out := b.try(update(fact("m", "likes tea"), 1))
	b.same("outcome", out, []memory.Outcome{{Err: memory.ErrAborted}})
	b.same("the store after it", b.contents(ann, "m"), contents{})
}

// A create that arrives twice is one create: no change, no revision, no new
// time. A writer that lost the answer, or crashed before it noted the answer,
// sends the write again.
func repeatedCreate(b *bank) {
	stored := b.put(write(fact("m", "likes tea")))[0]
	before := b.contents(ann)
	b.clock.advance(time.Hour)
	b.same("second outcome", b.try(write(fact("m", "likes tea"))), []memory.Outcome{{Memory: stored}})
	b.same("the store after it", b.contents(ann), before)
}

// An update that arrives twice is one update.
func repeatedUpdate(b *bank) {
	b.put(write(fact("m", "likes tea")))
	stored := b.put(update(fact("m", "likes coffee"), 1))[0]
	before := b.contents(ann)
	b.clock.advance(time.Hour)
	b.same("second outcome", b.try(update(fact("m", "likes coffee"), 1)), []memory.Outcome{{Memory: stored}})
	b.same("the store after it", b.contents(ann), before)
}

// A write on the current revision with the content that the store has makes no
// revision either.
func nothingNew(b *bank) {
	stored := b.put(write(fact("m", "likes tea")))[0]
	before := b.contents(ann)
	b.clock.advance(time.Hour)
	b.same("outcome", b.try(update(fact("m", "likes tea"), 1)), []memory.Outcome{{Memory: stored}})
	b.same("the store after it", b.contents(ann), before)
}

// A repetition with the vector that the first write lacked is no change and
// makes no revision, but from then on the memory is found by it.
func repetitionFillsVector(b *bank) {
	b.put(write(fact("a", "likes tea")), write(fact("b", "likes milk")))
	b.put(update(fact("b", "likes coffee"), 1))
	before := b.contents(ann)
	byVector := memory.Query{Vector: axis(0), Limit: 5}
	b.same("found by vector at first", foundIDs(b.search(byVector)), []string(nil))

	again := update(fact("b", "likes coffee"), 1)
	again.Vector = toward(0.5)
	for _, o := range b.try(embedded(fact("a", "likes tea"), axis(0)), again) {
		if o.Changed || o.Err != nil {
			b.Errorf("repetition with a vector: changed %v, error %v", o.Changed, o.Err)
		}
	}
	b.same("the store after it", b.contents(ann), before)
	found := b.search(byVector)
	b.same("found by vector then", foundIDs(found), []string{"a", "b"})
	b.same("cosine of a", candidate(b, found, "a").Cosine, 1.0)
	b.same("cosine of b", candidate(b, found, "b").Cosine, 0.5)
	b.same("found by words still", foundIDs(b.search(memory.Query{Terms: []string{"tea"}, Limit: 5})), []string{"a"})
}

// A repetition without a vector does not remove the vector that is there.
func repetitionKeepsVector(b *bank) {
	b.put(embedded(fact("m", "likes tea"), axis(0)))
	b.try(write(fact("m", "likes tea")))
	b.same("found by vector", foundIDs(b.search(memory.Query{Vector: axis(0), Limit: 5})), []string{"m"})
}

// A repetition fills in a vector and nothing else: the memory is found by the
// words of the first write, now and after reopening.
func repetitionKeepsWords(b *bank) {
	b.put(write(fact("a", "likes tea")), write(fact("b", "likes tea")))
	q := memory.Query{Terms: []string{"tea", "milk"}, Limit: 5}
	want := sorted(b.search(q))
	wordless, other := embedded(fact("a", "likes tea"), axis(0)), embedded(fact("b", "likes tea"), axis(0))
	wordless.Terms, other.Terms = nil, memory.Terms{"milk": 3}
	b.try(wordless, other)
	b.same("Search", sorted(b.search(q)), want)
	b.reopen()
	b.same("Search after reopening", sorted(b.search(q)), want)
}

// A repetition that comes after a later change is ErrAborted: it neither undoes
// the change nor passes for done.
func oldRepetition(b *bank) {
	b.put(write(fact("m", "likes tea")))
	b.put(update(fact("m", "likes coffee"), 1))
	current := b.put(update(fact("m", "likes tea"), 2))[0]
	out := b.try(write(fact("m", "likes tea")))
	b.same("outcome of the first write again", out, []memory.Outcome{{Memory: current, Err: memory.ErrAborted}})
}

// A deleted memory keeps its last revision. A late create, with the same
// content or another, is therefore ErrAborted and does not bring it back.
func createAfterDelete(b *bank) {
	b.put(write(fact("m", "likes tea")))
	b.remove("m")
	before := b.contents(ann, "m")
	for _, text := range []string{"likes tea", "likes coffee"} {
		if out := b.try(write(fact("m", text))); !errors.Is(out[0].Err, memory.ErrAborted) || out[0].Changed {
			b.Errorf("create of %q after a deletion: changed %v, error %v", text, out[0].Changed, out[0].Err)
		}
	}
	b.same("Get", b.get(ann, "m"), []memory.Memory(nil))
	b.same("the store after it", b.contents(ann, "m"), before)
}

// A deletion is no repetition of the write before it: an update decided on the
// deleted revision is ErrAborted, not taken as done.
func repetitionAfterDelete(b *bank) {
	b.put(write(fact("m", "likes tea")))
	b.remove("m")
	out := b.try(update(fact("m", "likes tea"), 1))
	if !errors.Is(out[0].Err, memory.ErrAborted) || out[0].Changed {
		b.Errorf("the deleted content again: changed %v, error %v", out[0].Changed, out[0].Err)
	}
	b.same("Get", b.get(ann, "m"), []memory.Memory(nil))
}

// A write that expects the revision of the deletion brings the memory back,
// even with the content it had, and its revisions count on.
func putOnDeletion(b *bank) {
	b.put(write(fact("m", "likes tea")))
	b.remove("m")
	b.clock.advance(time.Hour)
	back := b.put(update(fact("m", "likes tea"), 2))[0]
	if back.Revision != 3 || !back.UpdateTime.Equal(b.clock.now()) {
		b.Errorf("back as revision %d of %v", back.Revision, back.UpdateTime)
	}
	b.same("Get", b.get(ann, "m"), []memory.Memory{back})
	b.same("found", foundIDs(b.search(memory.Query{Terms: []string{"tea"}, Limit: 5})), []string{"m"})
	if r := b.revisions(ann, "m"); len(r) != 3 {
		b.Errorf("%d revisions, want 3", len(r))
	}
}

// An expired memory keeps its revision as a deleted one does: a create of its
// id is ErrAborted.
func createAfterExpiry(b *bank) {
	m := fact("m", "likes tea")
	m.ExpireTime = start.Add(time.Hour)
	b.put(write(m))
	b.clock.advance(2 * time.Hour)
	if out := b.try(write(fact("m", "likes coffee"))); !errors.Is(out[0].Err, memory.ErrAborted) || out[0].Changed {
		b.Errorf("create after expiry: changed %v, error %v", out[0].Changed, out[0].Err)
	}
	b.same("Get", b.get(ann, "m"), []memory.Memory(nil))
}

// A write that expects an expired memory's revision goes through, and sets a
// new expiry or none.
func putOnExpired(b *bank) {
	m := fact("m", "likes tea")
	m.ExpireTime = start.Add(time.Hour)
	b.put(write(m))
	b.clock.advance(2 * time.Hour)
	back := b.put(update(fact("m", "likes tea"), 1))[0]
	b.same("Get", b.get(ann, "m"), []memory.Memory{back})
	b.same("found", foundIDs(b.search(memory.Query{Terms: []string{"tea"}, Limit: 5})), []string{"m"})
}

// Writes stand alone: an aborted one stops none of the others, and the outcomes
// come in the order of the writes. A batch of facts is not lost because one of
// them changed meanwhile.
func writesStandAlone(b *bank) {
	b.put(write(fact("taken", "likes tea")), write(fact("old", "likes milk")))
	out := b.try(
		write(fact("new", "likes water")),
		write(fact("taken", "likes coffee")),
		update(fact("missing", "likes wine"), 4),
		update(fact("old", "likes oat milk"), 1),
		write(fact("taken too", "likes beer")),
	)
	var got []string
	for _, o := range out {
		switch {
		case errors.Is(o.Err, memory.ErrAborted):
			got = append(got, "aborted "+o.Memory.Fact)
		case o.Err == nil && o.Changed:
			got = append(got, o.Memory.Fact)
		default:
			b.Errorf("changed %v, error %v", o.Changed, o.Err)
		}
	}
	b.same("outcomes", got, []string{"likes water", "aborted likes tea", "aborted ", "likes oat milk", "likes beer"})
	var facts []string
	for _, m := range b.get(ann, "new", "taken", "missing", "old", "taken too") {
		facts = append(facts, m.Fact)
	}
	b.same("stored", facts, []string{"likes water", "likes tea", "likes oat milk", "likes beer"})
}

// A call without writes, removals or ids does nothing and does not fail.
func noWrites(b *bank) {
	b.same("outcomes of Put", b.try(), []memory.Outcome(nil))
	b.same("outcomes of Delete", b.tryRemove(), []memory.Outcome(nil))
	b.same("Get of nothing", b.get(ann), []memory.Memory(nil))
}

// Two writes of one memory in one call are ErrInvalid, and nothing of the call
// is written. The order of the two would decide what is stored.
func sameNameTwice(b *bank) {
	b.put(write(fact("old", "likes milk")))
	before := b.contents(ann)
	for _, second := range []memory.Write{write(fact("m", "likes tea")), update(fact("m", "likes coffee"), 1)} {
		_, err := b.store.Put(b.Context(), ann, []memory.Write{
			write(fact("m", "likes tea")), update(fact("old", "likes oat milk"), 1), second,
		})
		if !errors.Is(err, memory.ErrInvalid) {
			b.Errorf("Put of one name twice: error %v, want ErrInvalid", err)
		}
	}
	b.same("the store after it", b.contents(ann, "m"), before)
}

// A memory of another scope than the call's is ErrInvalid, and nothing of the
// call is written, in either scope. It would be a way around the isolation of
// scopes.
func otherScope(b *bank) {
	for _, other := range []memory.Scope{{App: "app", User: "bob"}, {App: "other", User: "ann"}, {}} {
		stray := fact("stray", "likes tea")
		stray.Scope = other
		_, err := b.store.Put(b.Context(), ann, []memory.Write{write(fact("m", "likes tea")), write(stray)})
		if !errors.Is(err, memory.ErrInvalid) {
			b.Errorf("Put of a memory of %v into %v: error %v, want ErrInvalid", other, ann, err)
		}
		b.same("ann's memory after it", b.contents(ann, "m", "stray"), contents{})
		if other != (memory.Scope{}) {
			b.same("the other's memory after it", b.contents(other, "m", "stray"), contents{})
		}
	}
}

// A memory that Validate refuses, or a vector of another length, is ErrInvalid,
// and nothing of the call is written.
func invalidMemory(b *bank) {
	empty, late, unnamed := fact("bad", ""), fact("bad", "likes tea"), fact("", "likes tea")
	late.Timestamp = memory.MaxTime
	for _, bad := range []memory.Write{write(empty), write(late), write(unnamed),
		embedded(fact("bad", "likes tea"), axis(0)[:3])} {
		_, err := b.store.Put(b.Context(), ann, []memory.Write{write(fact("m", "likes tea")), bad})
		if !errors.Is(err, memory.ErrInvalid) {
			b.Errorf("Put of %+v: error %v, want ErrInvalid", bad, err)
		}
	}
	b.same("the store after it", b.contents(ann, "m", "bad"), contents{})
}
