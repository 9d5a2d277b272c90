package ingest_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/memoryd/memoryd/internal/filetest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// What is erased is in no operation of another session either that has changed a memory of
// it, or that has brought one back, and in no plan that is stored: neither words nor ids.
func TestEraseChanges(t *testing.T) {
	for name, erase := range map[string]func(*bench, memory.Memory) error{
		"a session": func(b *bench, m memory.Memory) error {
			_, err := b.service.EraseSession(t.Context(), key(m.Source.SessionID), false)
			return err
		},
		"a memory": func(b *bench, m memory.Memory) error {
			_, err := b.service.EraseMemory(t.Context(), scope, m.ID, false)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			b := newBench(t, parts{file: filepath.Join(dir, "memoryd.db")})
			stop := b.run()
			b.succeeds(b.ingest("numbat", event(t, "e1", 1, "I live in Axolotlville.")))
			fact := b.all(memory.KindFact)[0]
			moved := b.succeeds(b.ingest("other", event(t, "n1", 11, "I moved to Oslo."), event(t, "n2", 12, "I like tea.")))
			undone := b.rollBack(moved)
			again := b.rollBack(undone)
			b.succeeds(b.ingest("later", event(t, "l1", 21, "I moved to Bergen.")))
			stop()
			b.ingest("planned", event(t, "p1", 31, "I play chess."))
			work, err := b.sessions.Claim(t.Context(), "worker", 1e9, 1)
			if err != nil || len(work) != 1 {
				t.Fatal(work, err)
			}
			if err := b.sessions.Save(t.Context(), work[0], 1, []byte(`{"decided": true, "changes": [{"memory":
				{"id": "`+fact.ID+`", "fact": "Axolotlville", "source": {"sessionId": "numbat", "eventIds": ["e1"]}}}]}`)); err != nil {
				t.Fatal(err)
			}
			if err := erase(b, fact); err != nil {
				t.Fatal(err)
			}
			for _, word := range []string{"Axolotlville", fact.ID} {
				if files := filetest.With(t, dir, word); len(files) > 0 {
					t.Errorf("%v still have %q", files, word)
				}
			}
			for _, op := range []*sessionstore.Operation{moved, undone, again} {
				if got := b.changes(op); len(got) == 0 || !slices.ContainsFunc(got, func(s string) bool {
					return s == "CREATED I like tea." ||
						s == "DELETED I like tea." || s == "UPDATED I like tea."
				}) {
					t.Errorf("operation %s tells %q", op.ID, got)
				}
			}
			b.run()
			b.succeeds(b.ingest("planned", event(t, "p2", 32, "I like milk.")))
			if got := b.facts(); !slices.Contains(got, "I play chess.") || slices.Contains(got, fact.Fact) {
				t.Errorf("facts %q", got)
			}
		})
	}
}
