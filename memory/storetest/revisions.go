package storetest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// revisionCases check histories, which outlive their memory.
func revisionCases() []testCase {
	return []testCase{
		{"History", history},
		{"Deletion", deletionRevision},
		{"ActorOfEach", actorOfEach},
		{"Labels", revisionLabels},
		{"NotFound", revisionsNotFound},
		{"Expired", expiredHistory},
		{"Scopes", revisionsOfScopes},
		{"Many", manyRevisions},
		{"Pages", revisionsInPages},
		{"ChangedBy", changedBy},
		{"ChangedByMany", changedByMany},
	}
}

// Every change leaves a revision with the whole memory as it was, who made it
// and when. The newest comes first, and later changes do not touch it. Rollback
// returns to any of them.
func history(b *bank) {
	var want []memory.Revision
	for i := range int64(4) {
		m := full("m")
		m.Fact, m.Topics = fmt.Sprint("fact ", i), []string{fmt.Sprint("topic", i)}
		m.Metadata = memory.Metadata{"i": []byte(fmt.Sprint(i))}
		w := update(m, i)
		w.Actor, w.Operation = fmt.Sprint("actor", i), fmt.Sprint("operation", i)
		stored := b.put(w)[0]
		r := memory.Revision{
			Revision: i + 1, Action: memory.Updated, Fact: m.Fact, CreateTime: b.clock.now(),
			Actor: w.Actor, Operation: w.Operation, Memory: stored,
		}
		if i == 0 {
			r.Action = memory.Created
		}
		want = append([]memory.Revision{r}, want...)
		b.same("Revisions", b.revisions(ann, "m"), want)
		b.clock.advance(time.Minute)
	}
}

// A deletion is a revision with its actor, its time and the fact.
func deletionRevision(b *bank) {
	m := full("m")
	b.put(write(m))
	b.clock.advance(time.Minute)
	out := b.tryRemove(memory.Removal{ID: "m", Actor: "client", Operation: "op"})
	if out[0].Err != nil {
		b.Fatal(out[0].Err)
	}
	all := b.revisions(ann, "m")
	if len(all) != 2 {
		b.Fatalf("%d revisions, want 2", len(all))
	}
	if !all[0].Memory.SameContent(&m) {
		b.Errorf("the memory of the deletion is %+v", all[0].Memory)
	}
	all[0].Memory = memory.Memory{}
	b.same("the deletion", all[0], memory.Revision{
		Revision: 2, Action: memory.Deleted, Fact: m.Fact, CreateTime: b.clock.now(), Actor: "client", Operation: "op",
	})
	b.same("the creation", all[1].Action, memory.Created)
}

// Actor and Operation are those of the write that made the revision, not of one
// that was aborted or repeated it. The history answers who changed a memory.
func actorOfEach(b *bank) {
	by := func(w memory.Write, actor string) memory.Write {
		w.Actor = actor
		return w
	}
	b.put(by(write(fact("m", "tea")), "first"))
	b.try(by(write(fact("m", "tea")), "repeats"))
	b.try(by(write(fact("m", "milk")), "loses"))
	b.put(by(update(fact("m", "milk"), 1), ""))
	var got []string
	for _, r := range b.revisions(ann, "m") {
		got = append(got, r.Actor)
	}
	b.same("actors", got, []string{"", "first"})
}

// Labels are of the revision that was made with them. Later revisions have none of them,
// and neither a repetition nor an aborted write changes any.
func revisionLabels(b *bank) {
	labelled := func(w memory.Write, labels memory.Labels) memory.Write {
		w.Labels = labels
		return w
	}
	first := memory.Labels{"release": "7", "é <&> \"x\"": ""}
	b.put(labelled(write(fact("m", "tea")), first))
	b.try(labelled(write(fact("m", "tea")), memory.Labels{"release": "8"}))
	b.try(labelled(write(fact("m", "milk")), memory.Labels{"release": "9"}))
	b.put(labelled(update(fact("m", "milk"), 1), memory.Labels{}))
	b.put(labelled(update(fact("m", "water"), 2), memory.Labels{"release": "10"}))
	b.tryRemove(memory.Removal{ID: "m", Labels: memory.Labels{"why": "wrong"}})
	first["release"] = "changed by the caller"
	want := []memory.Labels{{"why": "wrong"}, {"release": "10"}, nil, {"release": "7", "é <&> \"x\"": ""}}
	check := func() {
		b.Helper()
		var got []memory.Labels
		for _, r := range b.revisions(ann, "m") {
			got = append(got, r.Labels)
		}
		b.same("labels", got, want)
	}
	check()
	b.reopen()
	check()
	many := memory.Labels{}
	for i := range memory.MaxLabels + 1 {
		many[fmt.Sprint(i)] = ""
	}
	long := strings.Repeat("x", memory.MaxLabel)
	b.put(labelled(write(fact("n", "tea")), memory.Labels{long: long}))
	for _, bad := range []memory.Labels{
		many, {"": "x"}, {long + "x": ""}, {"x": long + "x"}, {"x": "\n"}, {"\xff": ""},
	} {
		_, err := b.store.Put(b.Context(), ann, []memory.Write{labelled(write(fact("bad", "tea")), bad)})
		if !errors.Is(err, memory.ErrInvalid) {
			b.Errorf("labels %.40q: error %v, want ErrInvalid", bad, err)
		}
	}
}

// A memory that never was has no history: ErrNotFound, in an empty scope and in
// others, also after failed writes and removals of it.
func revisionsNotFound(b *bank) {
	check := func(when string) {
		b.Helper()
		for _, id := range []string{"missing", "M", "m%"} {
			if r, err := b.store.Revisions(b.Context(), ann, id, 0); !errors.Is(err, memory.ErrNotFound) {
				b.Errorf("%s: Revisions(%q): %v, error %v, want ErrNotFound", when, id, r, err)
			}
		}
	}
	check("empty")
	b.put(write(fact("m", "tea")))
	check("beside others")
	b.tryRemove(memory.Removal{ID: "missing"})
	b.try(update(fact("missing", "tea"), 3))
	check("after failures")
}

// The history of an expired memory can be read. An operator may ask why it was
// forgotten.
func expiredHistory(b *bank) {
	m := fact("m", "tea")
	m.ExpireTime = at(60)
	stored := b.put(write(m))[0]
	b.clock.advance(2 * time.Hour)
	b.same("Revisions", b.revisions(ann, "m")[0].Memory, stored)
}

// A history belongs to one scope: the same id in another scope has its own, or
// none.
func revisionsOfScopes(b *bank) {
	bob := memory.Scope{App: "app", User: "bob"}
	b.put(write(fact("m", "tea")), write(fact("only", "tea")))
	b.put(update(fact("m", "milk"), 1))
	m := fact("m", "coffee")
	m.Scope = bob
	b.putIn(bob, write(m))
	b.same("ann's", len(b.revisions(ann, "m")), 2)
	b.same("bob's", b.revisions(bob, "m")[0].Fact, "coffee")
	b.same("bob's", len(b.revisions(bob, "m")), 1)
	if _, err := b.store.Revisions(b.Context(), bob, "only", 0); !errors.Is(err, memory.ErrNotFound) {
		b.Errorf("Revisions of another scope's memory: error %v, want ErrNotFound", err)
	}
}

// Revisions count from 1 without gaps, through deletions and repetitions.
func manyRevisions(b *bank) {
	const n = 150
	for i := range int64(n) {
		b.clock.advance(time.Second)
		b.put(update(fact("m", fmt.Sprint("tea ", i)), i))
		b.try(update(fact("m", fmt.Sprint("tea ", i)), i))
	}
	b.remove("m")
	all := b.revisions(ann, "m")
	if len(all) != n+1 {
		b.Fatalf("%d revisions, want %d", len(all), n+1)
	}
	for i, r := range all {
		if want := int64(n + 1 - i); r.Revision != want {
			b.Errorf("revision %d in place of %d", r.Revision, want)
		}
	}
}

// Revisions ends before a revision with which it would return more than MaxListBytes,
// and reads those below a number. A memory may be changed any number of times.
func revisionsInPages(b *bank) {
	const n = memory.MaxListBytes/memory.MaxFact + 10
	for i := range int64(n) {
		m := fact("m", fmt.Sprint(i, strings.Repeat(" tea", memory.MaxFact/4-10)))
		b.put(update(m, i))
	}
	next := int64(n)
	for before, pages := int64(0), 0; before != 1; pages++ {
		some, err := b.store.Revisions(b.Context(), ann, "m", before)
		if err != nil || len(some) == 0 || pages > 2 {
			b.Fatalf("page %d has %d revisions, error %v", pages, len(some), err)
		}
		bytes := int64(0)
		for _, r := range some {
			b.same("revision", r.Revision, next)
			next--
			bytes += r.Memory.Bytes()
		}
		if bytes > memory.MaxListBytes {
			b.Errorf("page %d has %d bytes", pages, bytes)
		}
		before = some[len(some)-1].Revision
	}
	b.same("revisions left", next, int64(0))
	r, err := b.store.Revisions(b.Context(), ann, "m", 2)
	if err != nil || len(r) != 1 || r[0].Action != memory.Created {
		b.Errorf("below 2: %d revisions, error %v", len(r), err)
	}
}
