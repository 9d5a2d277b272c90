package qdrantstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/qdrant/go-client/qdrant"

	"github.com/memoryd/memoryd/internal/filetest"
	"github.com/memoryd/memoryd/internal/qdranttest"
	"github.com/memoryd/memoryd/memory"
)

// allPoints reads all points of a collection, with what they have, as text by id.
func allPoints(t *testing.T, s *Store, collection string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for from := (*qdrant.PointId)(nil); ; {
		some, next, err := s.client.ScrollAndOffset(t.Context(), &qdrant.ScrollPoints{CollectionName: collection,
			Offset: from, Limit: qdrant.PtrOf(uint32(100)), WithPayload: qdrant.NewWithPayload(true)})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range some {
			out[p.GetId().GetUuid()] = p.String()
		}
		if from = next; from == nil {
			return out
		}
	}
}

// keepsNoWord checks that no point of a collection has a word.
func keepsNoWord(t *testing.T, s *Store, collection, word string) {
	t.Helper()
	for id, text := range allPoints(t, s, collection) {
		if strings.Contains(text, word) {
			t.Errorf("collection %s has %q in point %s: %.300s", collection, word, id, text)
		}
	}
}

// changeWord changes a memory of putWord.
func changeWord(t *testing.T, s *Store, id, session, text string, expect int64) {
	t.Helper()
	w := wordWrite(id)
	w.Expect, w.Memory.Fact, w.Memory.Source.SessionID = expect, text, session
	out, err := s.Put(t.Context(), followScope, []memory.Write{w})
	if err != nil || out[0].Err != nil {
		t.Fatal(out, err)
	}
}

// A change that is stored between the reading and the removing of a memory leaves no past
// revision behind.
func TestEraseAmidWrites(t *testing.T) {
	t.Parallel()
	q := qdranttest.Start(t)
	url := q.URL(t)
	s, other := followed(t, url), followed(t, url)
	changeWord(t, s, "f", "s", "axolotl 1", 0)
	changeWord(t, s, "f", "s", "axolotl 2", 1)
	c := &calls{}
	c.record(t, s, url)
	changes := int64(2)
	c.mu.Lock()
	c.after = func(method string, _ any) {
		if method == "Scroll" && changes == 2 || method == "UpdateBatch" && changes == 3 {
			changes++
			changeWord(t, other, "f", "s", "axolotl 3", changes-1)
		}
	}
	c.mu.Unlock()
	if _, err := s.Erase(t.Context(), followScope, memory.Erasure{IDs: []string{"f"}}); err != nil {
		t.Fatal(err)
	}
	if changes != 4 {
		t.Errorf("%d changes", changes)
	}
	keepsNoWord(t, s, s.collection, "axolotl")
}

// An erasing that was cut off after the past revisions were removed is finished by the
// next one, which cannot tell by these any more what the memory came from.
func TestEraseCutOff(t *testing.T) {
	t.Parallel()
	q := qdranttest.Start(t)
	url := q.URL(t)
	s, other := followed(t, url), followed(t, url)
	changeWord(t, s, "f", "s1", "axolotl", 0)
	changeWord(t, s, "f", "s2", "axolotl too", 1)
	putWord(t, s, "stays")
	has(t, other, "f")
	cut, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := &calls{}
	c.record(t, s, url)
	c.mu.Lock()
	c.after = func(_ string, req any) {
		batch, _ := req.(*qdrant.UpdateBatchPoints)
		for _, op := range batch.GetOperations() {
			if len(op.GetDeletePoints().GetPoints().GetPoints().GetIds()) > 0 { // the past revisions
				cancel()
			}
		}
	}
	c.mu.Unlock()
	of := memory.Erasure{Sessions: map[string][]string{"s1": nil}}
	if _, err := s.Erase(cut, followScope, of); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if len(allPoints(t, s, s.collection)) == 0 || cut.Err() == nil {
		t.Fatal("it was not cut off")
	}
	again, err := other.Erase(t.Context(), followScope, of)
	if err != nil || again != (memory.Erased{Memories: 1, Revisions: 2}) {
		t.Errorf("%+v, %v", again, err)
	}
	keepsNoWord(t, other, other.collection, "axolotl")
	if got := has(t, other, "f", "stays"); !slices.Equal(got, []string{"stays"}) {
		t.Error(got)
	}
}

// Other processes notice an erasing in a scope that has no head, as its memories are of an
// earlier version.
func TestEraseWithoutHead(t *testing.T) {
	t.Parallel()
	q := qdranttest.Start(t)
	url := q.URL(t)
	maker := followed(t, url)
	putWord(t, maker, "axolotl")
	putWord(t, maker, "stays")
	if err := maker.remove(t.Context(), []*qdrant.PointId{headID(followScope)}); err != nil {
		t.Fatal(err)
	}
	if err := maker.update(t.Context(), maker.collection, qdrant.NewPointsUpdateDeletePayload(
		&qdrant.PointsUpdateOperation_DeletePayload{Keys: []string{changeField},
			PointsSelector: qdrant.NewPointsSelectorFilter(&qdrant.Filter{Must: []*qdrant.Condition{
				qdrant.NewMatch("scope", tenant(followScope))}})})); err != nil {
		t.Fatal(err)
	}
	s, other := followed(t, url), followed(t, url)
	if got := has(t, other, "axolotl", "stays"); len(got) != 2 {
		t.Fatal(got)
	}
	if users, err := s.Users(t.Context(), followScope.App, "", 5); err != nil || len(users) != 1 {
		t.Errorf("users: %q, %v", users, err)
	}
	if _, err := s.Erase(t.Context(), followScope, memory.Erasure{IDs: []string{"axolotl"}}); err != nil {
		t.Fatal(err)
	}
	if got := has(t, other, "axolotl", "stays"); !slices.Equal(got, []string{"stays"}) {
		t.Error(got)
	}
}

// The collection that the memories were moved away from has nothing of what is erased
// either, and what was revoked before a move is revoked after it. Nothing is erased while
// the memories move.
func TestEraseAfterMove(t *testing.T) {
	t.Parallel()
	q := qdranttest.Start(t)
	url := q.URL(t)
	old := open(t, url, oldModel)
	fill(t, old, 3)
	if out, err := old.Put(t.Context(), moveUser, []memory.Write{noted("m1", 1)}); err != nil || out[0].Err != nil {
		t.Fatal(out, err)
	}
	if err := old.Revoke(t.Context(), moveUser, []string{"life"}); err != nil {
		t.Fatal(err)
	}
	m, err := old.Move(t.Context(), newModel)
	if err != nil {
		t.Fatal(err)
	}
	all := memory.Erasure{All: true}
	if _, err := old.Erase(t.Context(), moveUser, all); !errors.Is(err, memory.ErrUnavailable) {
		t.Errorf("while the memories move: %v", err)
	}
	for n := 1; n > 0; {
		if n, err = m.Step(t.Context(), reindex); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Finish(t.Context(), reindex); err != nil {
		t.Fatal(err)
	}
	if _, err := old.Erase(t.Context(), moveUser, all); !errors.Is(err, memory.ErrUnavailable) {
		t.Errorf("by a process that still has the old collection: %v", err)
	}
	if err := old.Revoke(t.Context(), moveUser, []string{"late"}); !errors.Is(err, memory.ErrUnavailable) {
		t.Errorf("by a process that still has the old collection: %v", err)
	}
	s := open(t, url, newModel)
	late := noted("late", 0)
	late.Life, late.Vector = "life", nil
	if out, err := s.Put(t.Context(), moveUser, []memory.Write{late}); err != nil ||
		!errors.Is(out[0].Err, memory.ErrRevoked) {
		t.Errorf("a revoked write after the move: %+v, %v", out, err)
	}
	if out, err := s.Erase(t.Context(), moveUser, all); err != nil || out != (memory.Erased{Memories: 3, Revisions: 4}) {
		t.Errorf("%+v, %v", out, err)
	}
	for _, name := range []string{old.collection, s.collection} {
		keepsNoWord(t, s, name, moveUser.User)
		keepsNoWord(t, s, name, "m1")
	}
}

// A memory that cannot be read is erased like any other.
func TestEraseUnreadable(t *testing.T) {
	t.Parallel()
	s := followed(t, qdranttest.Start(t).URL(t))
	changeWord(t, s, "f", "s", "axolotl", 0)
	changeWord(t, s, "f", "s", "axolotl too", 1)
	if err := s.update(t.Context(), s.collection, qdrant.NewPointsUpdateSetPayload(
		&qdrant.PointsUpdateOperation_SetPayload{
			Payload: map[string]*qdrant.Value{docField: qdrant.NewValueString("axolotl {")},
			PointsSelector: qdrant.NewPointsSelectorFilter(&qdrant.Filter{Must: []*qdrant.Condition{
				qdrant.NewHasID(pointID(followScope, "f"))}})})); err != nil {
		t.Fatal(err)
	}
	out, err := s.Erase(t.Context(), followScope, memory.Erasure{Sessions: map[string][]string{"s": nil}})
	if err != nil || out != (memory.Erased{Memories: 1, Revisions: 2}) {
		t.Errorf("%+v, %v", out, err)
	}
	keepsNoWord(t, s, s.collection, "axolotl")
}

// The words of erased memories leave the files of Qdrant by the calls that docs/erasing.md
// has: its segments are written again without them, and writes that change nothing take
// their place in its log.
func TestEraseInFiles(t *testing.T) {
	q := qdranttest.StartReal(t)
	s := followed(t, q.URL(t))
	for i := range 30 {
		changeWord(t, s, fmt.Sprint("f", i), "s", "axolotl", 0)
	}
	putWord(t, s, "tapir")
	if _, err := s.Erase(t.Context(), followScope, memory.Erasure{Sessions: map[string][]string{"s": nil}}); err != nil {
		t.Fatal(err)
	}
	if len(filetest.With(t, q.Dir(), "axolotl")) == 0 {
		t.Error("no file has the word, without the calls")
	}
	q.Rewrite(t, "axolotl")
	if got := has(t, s, "f1", "tapir"); !slices.Equal(got, []string{"tapir"}) {
		t.Error(got)
	}
}
