package storetest

import (
	"context"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// countCases check [memory.Counter]. Every case of the suite also ends with a count, which
// must be that of the lists; see bank.healthy.
func countCases() []testCase {
	return []testCase{
		{"Figures", countFigures},
		{"ByTheClock", countByTheClock},
		{"Followed", countFollowed},
	}
}

// count counts the memories of a scope.
func (b *bank) count(s memory.Scope) memory.Counts {
	b.Helper()
	out, err := b.store.Count(b.Context(), s)
	if err != nil {
		b.Fatalf("Count(%v): %v", s, err)
	}
	return out
}

// checkCounts checks that the count of ann's memories is that of the lists. It runs when the
// context of its test has ended.
func (b *bank) checkCounts() {
	b.Helper()
	ctx := context.Background()
	got, err := b.store.Count(ctx, ann)
	var want memory.Counts
	for list := (memory.List{Filter: memory.Filter{History: true, Hidden: true}}); err == nil; {
		var page memory.Page
		page, err = b.store.List(ctx, ann, list)
		for i := range page.Memories {
			want.Count(&page.Memories[i], b.clock.now())
		}
		if list.PageToken = page.NextPageToken; list.PageToken == "" {
			break
		}
	}
	if err != nil || got != want {
		b.Errorf("ann's memories are counted as %+v, but lists have %+v: %v", got, want, err)
	}
}

// Each memory is in one figure, or in none if it was rejected, deleted or has expired. A
// turn stays a turn when a fact of it was forgotten. A scope that has nothing counts none,
// and other scopes count apart.
func countFigures(b *bank) {
	b.same("of nothing", b.count(ann), memory.Counts{})
	ended, endedValue := fact("ended", "tea"), value("v2", "name", `"Ann"`, "ann")
	ended.ValidTo, endedValue.ValidTo = at(-1), at(-1)
	quoted := turn("t2", "s", 2, "tea")
	quoted.Forgotten = []string{"f"}
	b.put(write(fact("f", "tea")), write(fact("g", "tea")), write(ended), write(value("v", "name", `"Anna"`, "anna")),
		write(endedValue), write(turn("t", "s", 1, "tea")), write(quoted), held(fact("q", "tea"), memory.Quarantined),
		held(turn("r", "s", 3, "tea"), memory.Rejected), held(fact("a", "tea"), memory.Approved))
	want := memory.Counts{Facts: 3, Superseded: 2, Turns: 2, Values: 1, Quarantined: 1}
	b.same("counts", b.count(ann), want)
	b.same("counts of another user", b.count(memory.Scope{App: ann.App, User: "other"}), memory.Counts{})
	b.reopen()
	b.same("counts after a restart", b.count(ann), want)
}

// A memory moves to another figure at the time that it ends, expires, or is dated for, to
// the microsecond, without a write.
func countByTheClock(b *bank) {
	ends, expires, starts := fact("ends", "tea"), fact("expires", "tea"), fact("starts", "tea")
	ends.ValidTo, expires.ExpireTime = at(60).Add(time.Microsecond), at(120)
	starts.ReceiveTime, starts.Timestamp = at(0), at(0).Add(memory.MaxSkew+time.Hour)
	b.put(write(ends), write(expires), write(starts))
	for _, c := range []struct {
		after time.Duration
		want  memory.Counts
	}{
		{0, memory.Counts{Facts: 2, Superseded: 1}},
		{time.Hour, memory.Counts{Facts: 2, Superseded: 1}},
		{time.Microsecond, memory.Counts{Facts: 1, Superseded: 2}},
		{time.Hour, memory.Counts{Superseded: 2}},
		{memory.MaxSkew, memory.Counts{Facts: 1, Superseded: 1}},
	} {
		b.clock.advance(c.after)
		b.same("counts at "+b.clock.now().String(), b.count(ann), c.want)
		b.checkCounts()
	}
}

// A count follows each write, deletion and erasing.
func countFollowed(b *bank) {
	follows := func(what string, want memory.Counts) {
		b.Helper()
		b.same(what, b.count(ann), want)
	}
	f := fact("f", "tea")
	f.SupersededBy, f.ValidTo = "g", at(-1)
	b.put(write(f), write(fact("g", "coffee")), held(turn("t", "s", 1, "tea"), memory.Quarantined))
	follows("after writes", memory.Counts{Facts: 1, Superseded: 1, Quarantined: 1})
	f.SupersededBy, f.ValidTo = "", time.Time{}
	b.put(memory.Write{Memory: f, Expect: 1, Terms: memory.Terms{"tea": 1}})
	follows("after a fact holds again", memory.Counts{Facts: 2, Quarantined: 1})
	shown := held(turn("t", "s", 1, "tea"), memory.Approved)
	shown.Expect = 1
	b.put(shown)
	follows("after a review", memory.Counts{Facts: 2, Turns: 1})
	b.remove("g")
	follows("after a deletion", memory.Counts{Facts: 1, Turns: 1})
	b.erase(ann, memory.Erasure{IDs: []string{"t"}})
	follows("after an erasing", memory.Counts{Facts: 1})
}
