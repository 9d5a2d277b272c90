package ingest_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/memoryd/memoryd/appconfig"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// agingBench is a bench whose app has revisions live for an hour, with its clock.
func agingBench(t *testing.T) (b *bench, start time.Time, advance func(time.Duration)) {
	var clock atomic.Int64
	start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	clock.Store(start.UnixNano())
	now := func() time.Time { return time.Unix(0, clock.Load()).UTC() }
	b = newBench(t, parts{now: now, clock: now, opts: ingest.Options{Now: now}})
	config := &appconfig.Config{}
	config.TTL.Revisions.Duration.Duration = time.Hour
	if _, err := b.service.Configs().Put(t.Context(), scope.App, config, sessionstore.AnyRevision); err != nil {
		t.Fatal(err)
	}
	return b, start, func(d time.Duration) { clock.Add(int64(d)) }
}

// Every revision that ingestion and clients make expires as the configuration of the app
// says, or as the request does. The shared knowledge of the app has none that does so.
func TestRevisionsExpire(t *testing.T) {
	b, start, advance := agingBench(t)
	b.run()
	b.succeeds(b.ingest("s", in(t, "i1", "a", 1, "I live in Porto.")))
	fact, turn := b.all(memory.KindFact)[0], b.all(memory.KindTurn)[0]
	end := func(scope memory.Scope, id string, want time.Time) {
		t.Helper()
		all, err := b.memories.Revisions(t.Context(), scope, id, 0)
		if err != nil || !all[0].ExpireTime.Equal(want) {
			t.Errorf("revision of %s: %+v, error %v, want one that expires at %v", id, all, err, want)
		}
	}
	end(scope, fact.ID, start.Add(time.Hour))
	end(scope, turn.ID, start.Add(time.Hour))
	added, err := b.service.Add(t.Context(), scope, ingest.NewMemory{Fact: "I have a cat.",
		Revision: ingest.Lifetime{TTL: time.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	end(scope, added.ID, start.Add(time.Minute))
	advance(10 * time.Minute)
	name := "cat"
	if _, err := b.service.Update(t.Context(), scope, added.ID, ingest.Patch{DisplayName: &name,
		Revision: ingest.Lifetime{At: start.Add(15 * time.Minute)}}); err != nil {
		t.Fatal(err)
	}
	end(scope, added.ID, start.Add(15*time.Minute))
	if _, err := b.service.Rollback(t.Context(), scope, added.ID, 1, ingest.Patch{}); !errors.Is(err, memory.ErrNotFound) ||
		!strings.Contains(err.Error(), "revision 1 has expired") {
		t.Errorf("a rollback to an expired revision: %v", err)
	}
	for _, bad := range []ingest.Lifetime{{TTL: time.Hour, At: start.Add(time.Hour)}, {At: start}} {
		_, err := b.service.Add(t.Context(), scope, ingest.NewMemory{Fact: "I have a dog.", Revision: bad})
		if !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), "revisionExpireTime") {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if err := b.service.Delete(t.Context(), scope, added.ID); err != nil {
		t.Fatal(err)
	}
	end(scope, added.ID, start.Add(70*time.Minute))
	shared := memory.Shared(scope.App)
	known, err := b.service.Add(t.Context(), shared, ingest.NewMemory{Fact: "The shop opens at nine."})
	if err != nil {
		t.Fatal(err)
	}
	end(shared, known.ID, time.Time{})
	advance(time.Hour)
	if _, err := b.memories.Revisions(t.Context(), scope, added.ID, 0); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("the history of what was deleted an hour ago: %v", err)
	}
	named := ingest.NewMemory{ID: "mine", Fact: "I have a boat."}
	for range 2 { // the id of a memory is free once its deletion has expired
		m, err := b.service.Add(t.Context(), scope, named)
		if err != nil || m.Revision != 1 {
			t.Errorf("%+v, %v", m, err)
		}
		if err := b.service.Delete(t.Context(), scope, "mine"); err != nil {
			t.Fatal(err)
		}
		advance(3 * time.Hour)
	}
	if out, err := b.service.Sweep(t.Context()); err != nil || out != (memory.Erased{Memories: 2, Revisions: 5}) {
		t.Errorf("swept %+v, error %v", out, err)
	}
}

// A rollback of an operation whose revisions, or those before them, have expired leaves the
// memories as they are, and says why.
func TestRollbackOfExpiredRevisions(t *testing.T) {
	b, _, advance := agingBench(t)
	b.run()
	b.succeeds(b.ingest("s", in(t, "i1", "a", 1, "I live in Porto.")))
	advance(50 * time.Minute)
	op := b.ingest("s", in(t, "i2", "b", 2, "I live in Lisbon."))
	b.succeeds(op)
	var porto memory.Memory
	page, err := b.memories.List(t.Context(), scope, memory.List{Filter: memory.Filter{History: true}})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range page.Memories {
		if m.SupersededBy != "" {
			porto = m
		}
	}
	preview := func() map[string]string {
		t.Helper()
		reasons := map[string]string{}
		err := b.service.PreviewRollBack(t.Context(), scope, op.ID, func(page []ingest.Changed) error {
			for _, c := range page {
				if c.Action == ingest.Skipped {
					reasons[c.Memory.ID] = c.Reason
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return reasons
	}
	if got := preview(); len(got) > 0 {
		t.Errorf("before anything expires: %v", got)
	}
	advance(20 * time.Minute)
	if got := preview()[porto.ID]; !strings.Contains(got, "what was before it has expired") {
		t.Errorf("after the first revision has expired: %q", got)
	}
	name := "home"
	if _, err := b.service.Update(t.Context(), scope, porto.ID, ingest.Patch{DisplayName: &name}); err != nil {
		t.Fatal(err)
	}
	advance(50 * time.Minute)
	for range 2 {
		if got := preview()[porto.ID]; !strings.Contains(got, "the revision that the operation has made has expired") {
			t.Errorf("after the operation's revision has expired: %q", got)
		}
		advance(time.Hour)
		if out, err := b.service.Sweep(t.Context()); err != nil || out.Revisions == 0 && out.Memories == 0 {
			t.Logf("swept %+v, error %v", out, err)
		}
	}
}
