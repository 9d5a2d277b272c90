package ingest_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/extract"
)

// A plan that an earlier version stored is read and applied. The model is not asked
// again for the facts of a batch that a plan has, nor to compare them if it has
// the changes. The files in testdata were written before changes had a package of
// their own. The names of their fields must be read for ever.
func TestStoredPlan(t *testing.T) {
	for name, asked := range map[string]int{"plan-found.json": 1, "plan-decided.json": 0} {
		t.Run(name, func(t *testing.T) {
			raw, err := os.ReadFile(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			r := &reader{}
			r.verdict("The dog of Melanie is called Rex.", extract.Update,
				"Melanie has a dog.", "Melanie has a dog called Rex.")
			r.verdict("Ann lives in Porto.", extract.Create, "", "", "Ann lives in Lisbon.")
			r.verdict("Ann likes marzipan.", extract.Delete, "", "", "Ann is fond of marzipan.")
			b := newBench(t, parts{extractor: extract.NewModel(r, nil)})
			stop := b.run()
			b.succeeds(b.ingest("s", event(t, "a", 1, "Melanie has a dog."), event(t, "b", 2, "Ann lives in Lisbon."),
				event(t, "c", 3, "Ann is fond of marzipan."), event(t, "d", 4, "I live in Rome.")))
			stop()
			op := b.ingest("t",
				event(t, "e", 5, "The dog of Melanie is called Rex."), event(t, "f", 6, "Ann lives in Porto."),
				event(t, "g", 7, "Forget: Ann likes marzipan."), event(t, "h", 8, "I live in Oslo."))
			works, err := b.sessions.Claim(t.Context(), "an earlier version", time.Minute, 1)
			if err != nil || len(works) != 1 {
				t.Fatalf("claimed %+v, %v", works, err)
			}
			if err := b.sessions.Save(t.Context(), works[0], 4, raw); err != nil {
				t.Fatal(err)
			}
			if err := b.sessions.Fail(t.Context(), works[0], "stopped", time.Now()); err != nil {
				t.Fatal(err)
			}
			r.asked = 0
			b.run()
			op = b.succeeds(op)
			want := []string{
				"Ann lives in Lisbon. 2 to 6 by Ann lives in Porto.", "I live in Rome. 4 to 8 by I live in Oslo.",
				"Melanie has a dog called Rex. 5", "Ann lives in Porto. 6", "I live in Oslo. 8",
			}
			if diff := cmp.Diff(want, b.history()); diff != "" {
				t.Errorf("memories (-want +got):\n%s", diff)
			}
			want = []string{
				"CREATED Ann lives in Porto.", "CREATED I live in Oslo.", "DELETED Ann is fond of marzipan.",
				"UPDATED Ann lives in Lisbon.", "UPDATED I live in Rome.", "UPDATED Melanie has a dog called Rex.",
			}
			got := b.changes(op)
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" || r.asked != asked {
				t.Errorf("the model was asked %d times, want %d; changes (-want +got):\n%s", r.asked, asked, diff)
			}
			if cost := b.costOf(op); cost.Calls != 2 {
				t.Errorf("cost %+v, want 2 calls, those before the plan was stored included", cost)
			}
		})
	}
}
