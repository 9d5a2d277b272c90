package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// moveCases check [memory.Movable]: that a move keeps everything, and that
// readers and writers notice nothing until it ends. The cases of a move that
// something happens to are in move_meanwhile.go.
func moveCases() []testCase {
	return []testCase{
		{"MovesAll", moveMovesAll},
		{"NothingChangesBefore", moveNothingBefore},
		{"FollowsWrites", moveFollows},
		{"Continues", moveContinues},
		{"Superseded", moveSuperseded},
		{"Cancelled", moveCancelled},
		{"IndexerFails", moveIndexerFails},
		{"NoWritesInFinish", moveNoWritesInFinish},
		{"KeysAlone", moveKeysAlone},
		{"BeforeKeys", moveBeforeKeys},
		{"KeepsVectors", moveKeepsVectors},
		{"ThereAndBack", moveThereAndBack},
		{"DuringWrites", moveDuringWrites},
		{"Empty", moveEmpty},
	}
}

// The models that stores move to: one of another dimension, one that only has
// other words, and one that only has other lookup keys. The model before keys
// is that of a store written before the lookup keys had a version.
var (
	second     = memory.Model{Embedder: "second", Dimension: 4, Analyzer: "words", Keys: "keys"}
	third      = memory.Model{Embedder: "first", Dimension: Dimension, Analyzer: "other words", Keys: "keys"}
	otherKeys  = memory.Model{Embedder: "first", Dimension: Dimension, Analyzer: "words", Keys: "other keys"}
	beforeKeys = memory.Model{Embedder: "first", Dimension: Dimension, Analyzer: "words"}
)

// recorder is an indexer that records what it is shown. Its words and vectors
// differ from those that the cases write: the words name the model, and the
// vector follows from the fact.
type recorder struct {
	model memory.Model
	fails error
	saw   []memory.Record
}

// index is the memory.Indexer of a recorder.
func (x *recorder) index(_ context.Context, records []memory.Record) error {
	if x.fails != nil {
		return x.fails
	}
	for i := range records {
		r := &records[i]
		x.saw = append(x.saw, *r)
		r.Terms, r.Vector = x.of(&r.Memory)
	}
	return nil
}

// of gives the words and the vector that a memory has after the move.
func (x *recorder) of(m *memory.Memory) (memory.Terms, []float32) {
	terms := memory.Terms{}
	for w, n := range words(m.Fact) {
		terms[x.word(w)] = n
	}
	return terms, x.vector(m.Fact)
}

// word is a word as the model has it. It differs from the one that cases write,
// so a search by that one finds what was not moved.
func (x *recorder) word(w string) string {
	return w + "." + x.model.Embedder + "." + x.model.Analyzer + "." + x.model.Keys
}

// vector is an axis chosen by the length of the text, so that few memories
// share one.
func (x *recorder) vector(text string) []float32 {
	v := make([]float32, x.model.Dimension)
	v[len(text)%len(v)] = 1
	return v
}

// move begins a move, or continues one.
func (b *bank) move(to memory.Model) memory.Move {
	b.Helper()
	m, err := b.store.(memory.Movable).Move(b.Context(), to)
	if err != nil {
		b.Fatalf("Move to %v: %v", to, err)
	}
	return m
}

// steps takes steps until nothing is left.
func (b *bank) steps(m memory.Move, x *recorder) {
	b.Helper()
	for n := 1; n > 0; {
		var err error
		if n, err = m.Step(b.Context(), x.index); err != nil {
			b.Fatalf("Step: %v", err)
		}
	}
}

// moveTo moves a store to another model, and opens it for that.
func (b *bank) moveTo(to memory.Model) {
	b.Helper()
	m, x := b.move(to), &recorder{model: to}
	b.steps(m, x)
	b.finish(m, x)
	b.model = to
	b.reopen()
}

// finish ends a move, and frees the space of the old model while there is some.
func (b *bank) finish(m memory.Move, x *recorder) {
	b.Helper()
	if err := m.Finish(b.Context(), x.index); err != nil {
		b.Fatalf("Finish: %v", err)
	}
	for more := true; more; {
		var err error
		if more, err = m.Reclaim(b.Context()); err != nil {
			b.Fatalf("Reclaim: %v", err)
		}
	}
}

// moved compares all that a store has with what it had before a move: only
// words and vectors may differ.
func (b *bank) moved(was map[memory.Scope]contents) {
	b.Helper()
	x := &recorder{model: b.model}
	for scope, c := range was {
		b.same("contents", b.contents(scope, slices.Collect(maps.Keys(c.Revisions))...), c)
	}
	for _, m := range b.list(ann, memory.List{Filter: memory.Filter{History: true}, PageSize: memory.MaxPageSize}) {
		terms, vector := x.of(&m)
		all := slices.Sorted(maps.Keys(terms))
		for _, q := range []memory.Query{{Terms: all, Limit: 1000}, {Vector: vector, Limit: 1000}} {
			q.History = true
			c := candidate(b, b.search(q), m.ID)
			for i, w := range q.Terms {
				b.same("frequency of "+w, c.Freqs[i], terms[w])
			}
			b.same("words", c.Length, terms.Length())
			if q.Vector != nil {
				b.same("cosine", c.Cosine, 1.0)
			}
		}
	}
	for _, q := range []memory.Query{{Terms: []string{"tea", "milk"}, Limit: 1000}} {
		q.History = true
		b.same("found by the old words", foundIDs(b.search(q)), []string(nil))
	}
}

var bob = memory.Scope{App: "app", User: "bob"}

// everything is all that can be read after furnish.
func (b *bank) everything() map[memory.Scope]contents {
	b.Helper()
	return map[memory.Scope]contents{ann: b.contents(ann, "a7", "f", "missing"), bob: b.contents(bob, "a7")}
}

// A move keeps all memories, with their history, deletions and superseded ones,
// and the ID of the store. Searches find them by the words and vectors of the
// other model. From Finish on, the store that is open for the old model can be
// read and not written, and it can only be opened for the new model.
func moveMovesAll(b *bank) {
	b.furnish()
	past := fact("past", "tea long ago")
	past.ValidTo, past.SupersededBy = start, "m"
	b.put(write(past))
	was, id := b.everything(), b.store.ID()
	m, x := b.move(second), &recorder{model: second}
	b.steps(m, x)
	b.same("shown, each once", len(x.saw), len(was[ann].Memories)+1+len(was[bob].Memories))
	b.finish(m, x)

	_, err := b.store.Put(b.Context(), ann, []memory.Write{write(fact("late", "milk")), write(fact("new", "tea"))})
	b.same("Put", errors.Is(err, memory.ErrUnavailable), true)
	_, err = b.store.Delete(b.Context(), ann, []memory.Removal{{ID: "often"}})
	b.same("Delete", errors.Is(err, memory.ErrUnavailable), true)
	_, err = b.store.(memory.Archive).Import(b.Context(), b.export()[:1])
	b.same("Import", errors.Is(err, memory.ErrUnavailable), true)
	b.same("read by the old store", b.everything(), was)

	b.model = second
	b.reopen()
	b.same("ID", b.store.ID(), id)
	b.same("model", b.store.(memory.Movable).Model(), second)
	b.moved(was)
	out := b.try(write(turn("a7", "s", 7, "back")))
	b.same("a create of what was deleted", errors.Is(out[0].Err, memory.ErrAborted), true)
	b.refused(first)
	b.refused(third)
}

// refused expects that the place is not opened for a model other than its own.
// A backend may then open another store.
func (b *bank) refused(model memory.Model) {
	b.Helper()
	b.harness.Close(b.T, b.store)
	b.same("stored model", b.harness.StoredModel(b.T, b.store.ID()), b.model)
	if s, err := b.harness.Open(b.T, b.clock.now, model); err == nil {
		if s.ID() == b.store.ID() {
			b.Errorf("it was opened for %v", model)
		}
		b.harness.Close(b.T, s)
	}
	b.open()
}

// Until Finish, nothing changes for readers and writers with the old model, nor
// after a restart. A move takes hours with a remote embedder, and may be given
// up.
func moveNothingBefore(b *bank) {
	b.furnish()
	questions := []memory.Query{
		{Terms: []string{"tea", "milk"}, Vector: axis(0), Limit: 20, Context: 1},
		{Vector: toward(0.3), Limit: 2, Context: 2},
	}
	found := func() (out []memory.Found) {
		for _, q := range questions {
			out = append(out, sorted(b.search(q)))
		}
		return out
	}
	was, answers := b.everything(), found()
	b.steps(b.move(second), &recorder{model: second})
	for range 2 {
		b.same("contents", b.everything(), was)
		b.same("found", found(), answers)
		b.refused(second)
	}
	b.put(embedded(fact("n", "milk tea"), axis(0)))
	b.same("a write is found", candidate(b, b.search(questions[0]), "n").Cosine, 1.0)
}

// If both models have the same embedder, the indexer is shown the vectors and
// may keep them. Otherwise it is shown none. A new analyzer must not cost a
// vector for each memory.
func moveKeepsVectors(b *bank) {
	v := toward(0.6)
	b.put(embedded(fact("m", "tea"), v), write(fact("bare", "milk")))
	b.remove("bare")
	b.put(update(fact("bare", "milk again"), 2))
	saw := func(to memory.Model) map[string][]float32 {
		x := &recorder{model: to}
		b.steps(b.move(to), x)
		out := map[string][]float32{}
		for _, r := range x.saw {
			out[r.Memory.ID] = r.Vector
		}
		return out
	}
	b.same("another embedder sees", saw(second), map[string][]float32{"m": nil, "bare": nil})
	b.same("the same embedder sees", saw(third), map[string][]float32{"m": v, "bare": nil})
	keep := func(_ context.Context, records []memory.Record) error {
		for i := range records {
			records[i].Terms = memory.Terms{"kept": 1}
		}
		return nil
	}
	if err := b.store.(memory.Movable).CancelMove(b.Context()); err != nil {
		b.Fatal(err)
	}
	if err := b.move(third).Finish(b.Context(), keep); err != nil {
		b.Fatal(err)
	}
	b.model = third
	b.reopen()
	found := b.search(memory.Query{Terms: []string{"kept"}, Vector: axis(0), Limit: 5})
	b.same("cosines", []float64{candidate(b, found, "m").Cosine, candidate(b, found, "bare").Cosine}, []float64{0.6, 0})
	b.try(memory.Write{Memory: fact("bare", "milk again"), Expect: 3, Vector: axis(0)})
	b.same("filled in", candidate(b, b.search(memory.Query{Vector: axis(0), Limit: 5}), "bare").Cosine, 1.0)
}

// A store may move again, and back to a model that it had before. It keeps what
// was written in between.
func moveThereAndBack(b *bank) {
	b.furnish()
	for i, to := range []memory.Model{second, first, third, second} {
		b.clock.advance(time.Minute)
		b.moveTo(to)
		x := &recorder{model: to}
		for _, m := range []memory.Memory{fact(fmt.Sprint("n", i), "tea with milk"),
			fact("often", fmt.Sprint("move ", i))} {
			w := memory.Write{Memory: m}
			w.Terms, w.Vector = x.of(&m)
			if m.ID == "often" {
				w.Expect = int64(120 + i)
			}
			b.put(w)
		}
		b.remove(fmt.Sprint("n", i))
		b.moved(b.everything())
	}
}

// An empty store moves too.
func moveEmpty(b *bank) {
	id := b.store.ID()
	b.moveTo(second)
	b.same("ID", b.store.ID(), id)
	b.put(memory.Write{Memory: fact("m", "tea"), Vector: make([]float32, second.Dimension)})
}

// A store of other lookup keys is refused, as the keys among its words are
// those of another version. It is moved with its vectors, so no embedder is
// needed.
func moveKeysAlone(b *bank) {
	b.furnish()
	was := b.everything()
	b.refused(otherKeys)
	b.same("contents after the refusal", b.everything(), was)
	m, x := b.move(otherKeys), &recorder{model: otherKeys}
	b.steps(m, x)
	with := 0
	for _, r := range x.saw {
		if r.Vector != nil {
			with++
		}
	}
	b.same("shown with their vector", with, 2) // one of ann's and one of bob's
	b.finish(m, x)
	b.model = otherKeys
	b.reopen()
	b.moved(was)
	b.refused(first)
}

// A store written before the lookup keys had a version is refused for a model
// that has one, and can be moved to it.
func moveBeforeKeys(b *bank) {
	b = b.another(beforeKeys)
	b.furnish()
	was, id := b.everything(), b.store.ID()
	b.refused(first)
	b.moveTo(first)
	b.same("ID", b.store.ID(), id)
	b.moved(was)
	b.refused(beforeKeys)
}
