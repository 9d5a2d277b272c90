package ingest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
)

// A sweep removes what has expired for as long as the options say, in as many calls as it
// takes, and until then a rollback brings an expired memory back.
func TestSweep(t *testing.T) {
	now := time.Now()
	b := newBench(t, parts{opts: ingest.Options{Now: func() time.Time { return now }, SweepAfter: time.Hour}})
	var ids []string
	for i := range 3 {
		m, err := b.service.Add(t.Context(), scope, ingest.NewMemory{
			Fact: fmt.Sprintf("I have %d jars.", i), TTL: time.Duration(i+1) * time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, m.ID)
	}
	sweep := func(after time.Duration, want int) {
		t.Helper()
		now = now.Add(after)
		if out, err := b.service.Sweep(t.Context()); err != nil || out.Memories != want {
			t.Errorf("swept %+v, want %d memories, error %v", out, want, err)
		}
	}
	sweep(30*time.Minute, 0)
	sweep(31*time.Minute+30*time.Second, 1)
	sweep(30*time.Minute, 2)
	for _, id := range ids {
		if _, err := b.memories.Revisions(t.Context(), scope, id, 0); err == nil {
			t.Errorf("%s has a history still", id)
		}
	}
	never := newBench(t, parts{opts: ingest.Options{Now: func() time.Time { return now }, SweepAfter: -1}})
	m := memory.Memory{ID: "m", Scope: scope, Kind: memory.KindFact, Fact: "Old.", Timestamp: now,
		ExpireTime: now.Add(-48 * time.Hour)}
	if _, err := never.memories.Put(t.Context(), scope, []memory.Write{{Memory: m}}); err != nil {
		t.Fatal(err)
	}
	if out, err := never.service.Sweep(t.Context()); err != nil || out.Memories != 0 {
		t.Errorf("swept %+v, error %v", out, err)
	}
}
