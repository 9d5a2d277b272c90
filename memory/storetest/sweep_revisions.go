package storetest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// lasting has the revision of a write expire some time after the start.
func lasting(w memory.Write, after time.Duration) memory.Write {
	w.RevisionExpireTime = start.Add(after)
	return w
}

// numbers are the numbers of the revisions of a memory, newest first.
func (b *bank) numbers(id string) (out []int64) {
	b.Helper()
	for _, r := range b.revisions(ann, id) {
		out = append(out, r.Revision)
	}
	return out
}

// aged writes a memory with 4 revisions: 1 and 3 expire after an hour, 2 never does, and
// 4, the current one, after two hours.
func (b *bank) aged(id string) {
	b.Helper()
	b.put(lasting(write(fact(id, "axolotl one")), time.Hour))
	b.put(update(fact(id, "two"), 1))
	w := lasting(update(fact(id, "axolotl three"), 2), time.Hour)
	w.Operation = "op-" + id
	b.put(w)
	b.put(lasting(update(fact(id, "tea four"), 3), 2*time.Hour))
}

// A revision tells when it expires. From that time on no read shows it, and it counts for
// no operation. The current revision stays while its memory is not deleted, and goes once
// another one follows. Numbers go on.
func revisionHidden(b *bank) {
	b.aged("m")
	check := func(want ...int64) {
		b.Helper()
		for range 2 {
			b.same("numbers", b.numbers("m"), want)
			b.reopen()
		}
	}
	b.same("time", b.revisions(ann, "m")[3].ExpireTime, start.Add(time.Hour))
	b.same("no time", b.revisions(ann, "m")[2].ExpireTime, time.Time{})
	b.clock.advance(time.Hour - time.Second)
	check(4, 3, 2, 1)
	b.same("changed", b.changedBy(ann, "op-m"), []string{"m"})
	b.clock.advance(time.Second)
	check(4, 2)
	b.same("no longer changed", b.changedBy(ann, "op-m"), []string{})
	some, err := b.store.Revisions(b.Context(), ann, "m", 2)
	if err != nil || len(some) > 0 {
		b.Errorf("below 2: %v, %v", some, err)
	}
	b.clock.advance(time.Hour)
	check(4, 2)
	b.same("still found", len(b.finds(b.store, "tea")), 1)
	b.put(update(fact("m", "tea five"), 4))
	check(5, 2)
}

// A sweep removes past revisions that expired before a time, with their words, and keeps
// the others and the memory as they are.
func revisionRemoved(b *bank) {
	other := fact("m", "tea")
	other.Scope = memory.Scope{App: "app", User: "bob"}
	b.putIn(other.Scope, write(other))
	b.aged("m")
	b.put(lasting(write(fact("n", "wombat water")), time.Hour))
	others := b.exported(ann)
	b.same("too early", b.sweep(start.Add(time.Hour), 10), memory.Erased{})
	b.clock.advance(3 * time.Hour)
	was := b.revisions(ann, "m")
	b.same("swept", b.sweep(start.Add(time.Hour+time.Second), 10), memory.Erased{Revisions: 2})
	b.same("left", b.revisions(ann, "m"), was)
	b.noWords("axolotl ")
	b.same("again", b.sweep(b.clock.now(), 10), memory.Erased{})
	b.reopen()
	b.same("left after a restart", b.revisions(ann, "m"), was)
	b.noWords("axolotl ")
	b.same("the current one of n", b.numbers("n"), []int64{1})
	b.put(update(fact("m", "milk five"), 4))
	b.put(update(fact("n", "tea"), 1))
	b.same("the due one is hidden", b.numbers("m"), []int64{5, 2})
	b.same("swept when superseded", b.sweep(b.clock.now(), 10), memory.Erased{Revisions: 2})
	b.noWords("tea four")
	b.noWords("wombat")
	b.same("numbers", b.numbers("m"), []int64{5, 2})
	b.same("numbers of n", b.numbers("n"), []int64{2})
	b.same("a stale write", errors.Is(b.try(update(fact("m", "no"), 3))[0].Err, memory.ErrAborted), true)
	b.remove("m", "n")
	b.put(update(fact("m", "back"), 6))
	b.same("numbers of m that came back", b.numbers("m"), []int64{7, 6, 5, 2})
	b.same("other scopes", b.exported(ann), others)
}

// noWords checks that neither an export nor the place has a text.
func (b *bank) noWords(text string) {
	b.Helper()
	for _, r := range b.export() {
		for _, st := range r.History {
			if strings.Contains(st.Memory.Fact, text) {
				b.Errorf("revision %d of %q says %q", st.Revision, r.Memory.ID, st.Memory.Fact)
			}
		}
	}
	b.keepsNone(text)
}

// A sweep removes no more revisions than its limit, and the next one goes on after them.
func revisionLimit(b *bank) {
	for i := range int64(25) {
		b.put(lasting(update(fact("m", fmt.Sprint("tea ", i)), i), time.Hour))
		b.put(lasting(update(fact(fmt.Sprint("m", i%5), fmt.Sprint("milk ", i)), i/5), time.Hour))
	}
	b.clock.advance(2 * time.Hour)
	some, more, err := b.store.Sweep(b.Context(), b.clock.now(), 10)
	if err != nil || !more || some.Revisions > 10 {
		b.Errorf("the first sweep: %+v, more %t, error %v", some, more, err)
	}
	some.Add(b.sweep(b.clock.now(), 10))
	b.same("in all", some, memory.Erased{Revisions: 24 + 20})
	b.same("numbers", b.numbers("m"), []int64{25})
	b.same("numbers of another", b.numbers("m3"), []int64{5})
}

// Once the revision that deleted a memory has expired, nothing is left of the memory, and
// a sweep removes it. It can be made again then. One that was brought back before stays.
func revisionsOfDeleted(b *bank) {
	b.put(write(fact("m", "axolotl")), write(fact("back", "tea")), write(fact("ended", "numbat")))
	ended := fact("ended", "numbat")
	ended.SupersededBy, ended.ValidTo = "m", start.Add(time.Minute)
	b.put(update(ended, 1))
	gone := func(id string) memory.Removal {
		return memory.Removal{ID: id, Operation: "op", RevisionExpireTime: start.Add(time.Hour)}
	}
	b.tryRemove(gone("m"), gone("back"))
	b.clock.advance(30 * time.Minute)
	b.same("while it lasts", b.numbers("m"), []int64{2, 1})
	b.put(update(fact("back", "tea again"), 2))
	b.clock.advance(40 * time.Minute)
	if _, err := b.history(ann, "m"); !errors.Is(err, memory.ErrNotFound) {
		b.Errorf("the history of what was deleted: %v", err)
	}
	b.same("changed", b.changedBy(ann, "op"), []string{})
	b.same("a create before the sweep", errors.Is(b.try(write(fact("m", "new")))[0].Err, memory.ErrAborted), true)
	b.same("swept", b.sweep(b.clock.now(), 10), memory.Erased{Memories: 1, Revisions: 3})
	b.noTrace("m", "axolotl")
	b.same("the other's", b.numbers("back"), []int64{3, 1})
	for _, r := range b.revisions(ann, "ended") {
		b.same("names what is gone", r.Memory.SupersededBy, "")
	}
	b.put(write(fact("m", "numbat")))
	b.same("made again", b.numbers("m"), []int64{1})
}

// Another store imports a history with gaps as it is, over an older one too.
func revisionsInArchive(b *bank) {
	b.aged("m")
	early := b.export()
	b.put(lasting(write(fact("gone", "tea")), time.Hour))
	b.tryRemove(memory.Removal{ID: "gone", RevisionExpireTime: start.Add(time.Hour)})
	b.clock.advance(90 * time.Minute)
	hidden := b.export()
	b.same("records", len(hidden), 1)
	b.same("left out", hidden[0].Removed, int64(2))
	b.sweep(b.clock.now(), 10)
	b.same("after a sweep", b.export(), hidden)
	b.put(update(fact("m", "tea five"), 4))
	records := b.export()
	for _, before := range [][]memory.Record{nil, early} {
		to := b.another(first)
		to.imports(before)
		b.same("imported", to.imports(records), 1)
		to.reopen()
		b.same("numbers", to.numbers("m"), []int64{5, 4, 2})
		b.same("records there", to.export(), records)
		b.same("again", to.imports(records), 0)
		b.clock.advance(time.Hour)
		b.same("hidden there", to.numbers("m"), []int64{5, 2})
		b.same("swept there", to.sweep(b.clock.now(), 10), memory.Erased{Revisions: 1})
		b.same("numbers after the sweep", to.numbers("m"), []int64{5, 2})
		b.clock.advance(-time.Hour)
	}
	for what, spoil := range map[string]func(r *memory.Record){
		"more removed than are missing": func(r *memory.Record) { r.Removed++ },
		"fewer removed":                 func(r *memory.Record) { r.Removed = 0 },
		"out of order": func(r *memory.Record) {
			r.History[0].Revision, r.History[1].Revision = r.History[1].Revision, r.History[0].Revision
		},
	} {
		bad := b.export()
		spoil(&bad[0])
		_, err := b.another(first).store.(memory.Archive).Import(b.Context(), bad)
		if !errors.Is(err, memory.ErrInvalid) {
			b.Errorf("%s: %v", what, err)
		}
	}
}

// An erasing counts the revisions that are there, and leaves nothing.
func revisionsErased(b *bank) {
	b.aged("m")
	b.aged("n")
	b.clock.advance(90 * time.Minute)
	b.sweep(b.clock.now(), 10)
	b.same("erased", b.erase(ann, memory.Erasure{IDs: []string{"m"}}), memory.Erased{Memories: 1, Revisions: 2})
	b.same("all", b.erase(ann, memory.Erasure{All: true}), memory.Erased{Memories: 1, Revisions: 2})
	b.put(write(fact("m", "tea")))
	b.same("made again", b.numbers("m"), []int64{1})
}
