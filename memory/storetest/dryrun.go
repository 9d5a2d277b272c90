package storetest

import (
	"fmt"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// A dry run counts live, quarantined, expired, archived and deleted memories with their
// revisions, as the erasing does, and changes nothing. Other cases compare the two counts.
func eraseDryRun(b *bank) {
	from := func(m memory.Memory) memory.Memory {
		m.Source = memory.Source{SessionID: "s1", EventIDs: []string{"t1"}, Quote: m.Fact}
		return m
	}
	hidden, expired, archived := from(fact("held", "tea")), from(fact("expired", "tea")), from(fact("archived", "tea"))
	expired.ExpireTime = start.Add(time.Hour)
	archived.SupersededBy, archived.ValidTo = "live", start.Add(time.Minute)
	b.put(write(turn("t1", "s1", 0, "tea")), write(from(fact("live", "tea"))), write(from(fact("gone", "tea"))),
		held(hidden, memory.Quarantined), write(expired), write(archived), write(fact("given", "tea")))
	b.put(update(from(fact("live", "milk")), 1))
	b.remove("gone")
	b.clock.advance(2 * time.Hour)
	state := func() (records []memory.Record, removed time.Time) {
		removed, err := b.store.(memory.Audited).Removed(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		return b.exported(memory.Scope{}), removed
	}
	records, removed := state()
	dry := func(which memory.Erasure, want memory.Erased) {
		b.Helper()
		which.DryRun = true
		for range 2 {
			got, err := b.store.Erase(b.Context(), ann, which)
			if err != nil {
				b.Fatal(err)
			}
			b.same(fmt.Sprintf("%+v", which), got, want)
		}
	}
	dry(memory.Erasure{All: true}, memory.Erased{Memories: 7, Revisions: 9})
	dry(memory.Erasure{Sessions: ofSession("s1")}, memory.Erased{Memories: 6, Revisions: 8})
	dry(memory.Erasure{Sessions: ofSession("s1", "t1"), IDs: []string{"given", "live"}},
		memory.Erased{Memories: 7, Revisions: 9})
	dry(memory.Erasure{IDs: []string{"gone", "expired", "none"}}, memory.Erased{Memories: 2, Revisions: 3})
	dry(memory.Erasure{IDs: []string{"live", "gone"}, Revisions: []int64{2, 1}},
		memory.Erased{Memories: 1, Revisions: 2})
	after, at := state()
	b.same("records", after, records)
	b.same("the last removal", at, removed)
	b.erase(ann, memory.Erasure{All: true})
}
