package ingest_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
)

// saidAgain is how often a fact was said, and how many seconds into the conversation last.
func (b *bench) saidAgain(fact string) (evidence, last int) {
	b.Helper()
	for _, m := range b.all(memory.KindFact) {
		if m.Fact == fact {
			if !m.ConfirmedTime.IsZero() {
				last = int(m.ConfirmedTime.Sub(time.Unix(1_700_000_000, 0)) / time.Second)
			}
			return m.Evidence, last
		}
	}
	b.Fatalf("there is no fact %q", fact)
	return 0, 0
}

// A fact that is said again tells so by a revision of ingestion, once for each statement:
// sent again or taken back, a statement counts no more or no longer.
func TestSaidAgain(t *testing.T) {
	b := newBench(t, parts{})
	b.run()
	const home = "I live in Porto."
	said := func(what string, evidence, last int) {
		t.Helper()
		n, at := b.saidAgain(home)
		if diff := cmp.Diff([]int{evidence, last}, []int{n, at}); diff != "" {
			t.Errorf("%s: evidence and time (-want +got):\n%s", what, diff)
		}
	}
	b.succeeds(b.ingest("s", event(t, "a", 10, home)))
	said("said once", 0, 0)
	again := event(t, "b", 20, "I live in Porto", `, "invocationId": "i1"`)
	op := b.succeeds(b.ingest("t", again))
	said("said again", 2, 20)
	if diff := cmp.Diff([]string{"UPDATED " + home}, b.changes(op)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	b.succeeds(b.ingest("t", again))
	said("sent again", 2, 20)
	b.succeeds(b.ingest("u", event(t, "c", 15, "I live in Porto!"), event(t, "d", 30, home)))
	said("and twice more", 4, 30)

	var fact memory.Memory
	for _, m := range b.all(memory.KindFact) {
		fact = m
	}
	revisions, err := b.memories.Revisions(t.Context(), scope, fact.ID, 0)
	if err != nil || len(revisions) != 3 || revisions[1].Actor != "rules" || revisions[1].Operation != op.ID {
		t.Errorf("revisions %+v, %v", revisions, err)
	}

	b.succeeds(b.ingest("t", event(t, "e", 40, "x", `, "actions": {"rewindBeforeInvocationId": "i1"}`)))
	said("one is taken back", 3, 30)
	b.succeeds(b.ingest("v", event(t, "f", 5, home)))
	said("an earlier one is received late", 4, 30)

	// Another text of a client begins at one, and a rollback within the text keeps the number.
	m, err := b.service.Rollback(t.Context(), scope, b.all(memory.KindFact)[0].ID, 1, ingest.Patch{})
	if err != nil || m.Evidence != 4 {
		t.Errorf("rolled back: %+v, %v", m, err)
	}
	text := "I live in Lisbon."
	if m, err = b.service.Update(t.Context(), scope, m.ID, ingest.Patch{Fact: &text}); err != nil || m.Evidence != 0 ||
		!m.ConfirmedTime.IsZero() {
		t.Errorf("edited: %+v, %v", m, err)
	}
}

// A fact that a model finds known in other words counts as well, also for the rules that
// read on later, and goes with the fact that a client deletes.
func TestSaidAgainInOtherWords(t *testing.T) {
	const dog = "Melanie has a dog."
	r := &reader{}
	r.verdict("Melanie owns a dog.", extract.Nothing, dog, "")
	p := parts{extractor: extract.NewModel(r, nil), file: t.TempDir() + "/memoryd.db"}
	b := newBench(t, p)
	stop := b.run()
	b.succeeds(b.ingest("s", event(t, "a", 1, dog)))
	b.succeeds(b.ingest("t", event(t, "b", 2, "Melanie owns a dog.")))
	if n, at := b.saidAgain(dog); n != 2 || at != 2 {
		t.Errorf("evidence %d, last at %d", n, at)
	}
	stop()
	b.close()
	b = newBench(t, parts{file: p.file})
	b.run()
	given := []ingest.GivenFact{{Fact: dog}}
	op, err := b.service.IngestFacts(t.Context(), scope, given, ingest.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b.succeeds(op)
	if n, _ := b.saidAgain(dog); n != 3 {
		t.Errorf("evidence %d after the rules have read it once more", n)
	}
	for _, m := range b.all(memory.KindFact) {
		if err := b.service.Delete(t.Context(), scope, m.ID); err != nil {
			t.Fatal(err)
		}
	}
	if left := b.history(); len(left) > 0 {
		t.Errorf("left are %q", left)
	}
}
