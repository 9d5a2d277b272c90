package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/memoryd/memoryd/memory"
)

func moveCases() []testCase {
	return []testCase{
		{"MovesAll", moveMovesAll},
		{"NothingChangesBefore", moveNothingBefore},
		{"FollowsWrites", moveFollows},
		{"GoesOn", moveGoesOn},
		{"GivenUp", moveGivenUp},
		{"Stays", moveStays},
		{"Away", moveAway},
		{"Closes", moveCloses},
		{"KeepsVectors", moveKeepsVectors},
		{"ThereAndBack", moveThereAndBack},
		{"DuringWrites", moveDuringWrites},
		{"Empty", moveEmpty},
	}
}

// The models that stores move to: one of another dimension, and one that only
// has other words.
var (
	second = memory.Model{Embedder: "second", Dimension: 4, Analyzer: "words"}
	third  = memory.Model{Embedder: "first", Dimension: Dimension, Analyzer: "other words"}
)

// seer is an indexer that remembers what it was shown. What it makes can be
// told from what memories were written with: the words are longer, and the
// vector follows from the fact.
type seer struct {
	model memory.Model
	fails error
	saw   []memory.Record
}

func (x *seer) index(_ context.Context, records []memory.Record) error {
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

func (x *seer) of(m *memory.Memory) (memory.Terms, []float32) {
	terms := memory.Terms{}
	for w, n := range words(m.Fact) {
		terms[x.word(w)] = n
	}
	return terms, x.vector(m.Fact)
}

func (x *seer) word(w string) string { return w + "." + x.model.Embedder + "." + x.model.Analyzer }

func (x *seer) vector(text string) []float32 {
	v := make([]float32, x.model.Dimension)
	v[len(text)%len(v)] = 1
	return v
}

// move begins a move, or goes on with one.
func (b *bank) move(to memory.Model) memory.Move {
	b.Helper()
	m, err := b.store.(memory.Movable).Move(b.Context(), to)
	if err != nil {
		b.Fatalf("Move to %v: %v", to, err)
	}
	return m
}

// steps takes steps until there is nothing left.
func (b *bank) steps(m memory.Move, x *seer) {
	b.Helper()
	for n := 1; n > 0; {
		var err error
		if n, err = m.Step(b.Context(), x.index); err != nil {
			b.Fatalf("Step: %v", err)
		}
	}
}

// moveTo takes a store to another model, and opens it for that.
func (b *bank) moveTo(to memory.Model) {
	b.Helper()
	m, x := b.move(to), &seer{model: to}
	b.steps(m, x)
	b.finish(m, x)
	b.model = to
	b.reopen()
}

func (b *bank) finish(m memory.Move, x *seer) {
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

// moved compares all that a store has with what it had before a move: only what
// memories are found by is another's.
func (b *bank) moved(was map[memory.Scope]contents) {
	b.Helper()
	x := &seer{model: b.model}
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

// everything is what furnish leaves to be read.
func (b *bank) everything() map[memory.Scope]contents {
	b.Helper()
	return map[memory.Scope]contents{ann: b.contents(ann, "a7", "f", "missing"), bob: b.contents(bob, "a7")}
}

// A move takes all memories along, with their history, deletions and what is
// current no more, and the store stays the one it was. They are found by what
// the other model makes of them. From Finish on the store that is open for the
// old model reads and does not write, and it can be opened for the new one
// alone.
func moveMovesAll(b *bank) {
	b.furnish()
	past := fact("past", "tea long ago")
	past.ValidTo, past.SupersededBy = start, "m"
	b.put(write(past))
	was, id := b.everything(), b.store.ID()
	m, x := b.move(second), &seer{model: second}
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

// refused expects that the place cannot be opened for a model other than its
// own.
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

// Until Finish nothing has changed for those who read and write with the old
// model, today or after a restart.
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
	b.steps(b.move(second), &seer{model: second})
	for range 2 {
		b.same("contents", b.everything(), was)
		b.same("found", found(), answers)
		b.refused(second)
	}
	b.put(embedded(fact("n", "milk tea"), axis(0)))
	b.same("a write is found", candidate(b, b.search(questions[0]), "n").Cosine, 1.0)
}

// What is written while a move goes on is there in the end, whatever it was.
func moveFollows(b *bank) {
	b.furnish()
	m, x := b.move(second), &seer{model: second}
	change := func(round int) {
		b.clock.advance(time.Minute)
		b.put(write(fact(fmt.Sprint("new", round), "new tea")), update(fact("often", fmt.Sprint("round ", round)), int64(120+round)))
		if round == 0 {
			b.remove("m")
			old := fact("imported", "tea from elsewhere")
			old.Revision, old.CreateTime, old.UpdateTime = 1, start, start
			rec := memory.Record{Memory: old, Terms: words(old.Fact), History: []memory.Step{{Revision: 1, Action: memory.Created, Time: start, Memory: old}}}
			b.same("imported", b.imports([]memory.Record{rec}), 1)
		} else {
			b.remove(fmt.Sprint("new", round-1))
			b.put(update(fact(fmt.Sprint("new", round-1), "again"), 2))
		}
	}
	change(0)
	if _, err := m.Step(b.Context(), x.index); err != nil {
		b.Fatal(err)
	}
	change(1)
	b.steps(m, x)
	change(2)
	b.steps(m, x)
	change(3)
	was := b.everything()
	for _, id := range []string{"m", "new0", "new3"} {
		was[ann].Revisions[id] = b.revisions(ann, id)
	}
	b.finish(m, x)
	b.model = second
	b.reopen()
	b.moved(was)
}

// A move that was cut off goes on where it was: nothing is indexed twice.
func moveGoesOn(b *bank) {
	const n = 130
	var writes []memory.Write
	for i := range n {
		writes = append(writes, write(fact(fmt.Sprintf("m%03d", i), fmt.Sprint("tea ", i))))
	}
	b.put(writes...)
	x := &seer{model: second}
	total := 0
	for {
		m := b.move(second)
		done, all, err := m.Progress(b.Context())
		b.same("progress", []any{done, all, err}, []any{total, n, error(nil)})
		took, err := m.Step(b.Context(), x.index)
		if err != nil {
			b.Fatal(err)
		}
		b.reopen() // without a word to the move
		if took == 0 {
			break
		}
		total += took
	}
	b.same("taken", []int{total, len(x.saw)}, []int{n, n})
	was := map[memory.Scope]contents{ann: b.contents(ann)}
	b.finish(b.move(second), x)
	b.same("taken in all", len(x.saw), n)
	b.model = second
	b.reopen()
	b.moved(was)
}

// A move to a third model takes the place of one that has begun, of which
// nothing is left.
func moveGivenUp(b *bank) {
	b.furnish()
	was := b.everything()
	half, x := b.move(second), &seer{model: second}
	if _, err := half.Step(b.Context(), x.index); err != nil {
		b.Fatal(err)
	}
	m, y := b.move(third), &seer{model: third}
	_, err := half.Step(b.Context(), x.index)
	b.same("a step of the move given up", errors.Is(err, memory.ErrAborted), true)
	b.same("its end", errors.Is(half.Finish(b.Context(), x.index), memory.ErrAborted), true)
	b.put(write(fact("n", "tea"))) // goes on after that
	b.remove("n")
	b.steps(m, y)
	b.finish(m, y)
	b.model = third
	b.reopen()
	b.moved(was)
	b.refused(second)
}

// A store may stay where it is: it is as if no move had begun, and the next one
// begins anew.
func moveStays(b *bank) {
	b.furnish()
	was := b.everything()
	m, x := b.move(second), &seer{model: second}
	if _, err := m.Step(b.Context(), x.index); err != nil {
		b.Fatal(err)
	}
	for range 2 {
		if err := b.store.(memory.Movable).CancelMove(b.Context()); err != nil {
			b.Fatalf("Stay: %v", err)
		}
	}
	_, err := m.Step(b.Context(), x.index)
	b.same("a step of the move given up", errors.Is(err, memory.ErrAborted), true)
	b.same("contents", b.everything(), was)
	b.refused(second)
	x.saw = nil
	m = b.move(second)
	b.steps(m, x)
	b.same("shown anew", len(x.saw), len(was[ann].Memories)+len(was[bob].Memories))
	b.finish(m, x)
	b.model = second
	b.reopen()
	b.moved(was)
}

// What fails to index comes back as the error of the step, or of Finish, and
// changes nothing: writing goes on, and so does the move once that is mended.
func moveAway(b *bank) {
	b.furnish()
	m, x := b.move(second), &seer{model: second, fails: memory.ErrUnavailable}
	_, err := m.Step(b.Context(), x.index)
	b.same("Step", errors.Is(err, memory.ErrUnavailable), true)
	b.same("Finish", errors.Is(m.Finish(b.Context(), x.index), memory.ErrUnavailable), true)
	b.put(write(fact("n", "tea")))
	x.fails = nil
	b.steps(m, x)
	x.fails = memory.ErrUnavailable
	b.put(write(fact("o", "tea")))
	b.same("Finish", errors.Is(m.Finish(b.Context(), x.index), memory.ErrUnavailable), true)
	b.put(write(fact("p", "tea")))
	b.reopen()
	was := b.everything()
	x.fails = nil
	b.finish(b.move(second), x)
	b.model = second
	b.reopen()
	b.moved(was)
}

// While Finish is at the last memories, reads go on and no write does.
func moveCloses(b *bank) {
	b.furnish()
	m, x := b.move(second), &seer{model: second}
	b.steps(m, x)
	b.put(write(fact("last", "tea")))
	was, last := b.everything(), b.get(ann, "last")
	shown := 0
	closed := func(ctx context.Context, records []memory.Record) error {
		shown += len(records)
		_, err := b.store.Put(ctx, ann, []memory.Write{write(fact("after", "tea")), update(fact("last", "milk"), 1)})
		b.same("Put meanwhile", errors.Is(err, memory.ErrUnavailable), true)
		_, err = b.store.Delete(ctx, ann, []memory.Removal{{ID: "last"}})
		b.same("Delete meanwhile", errors.Is(err, memory.ErrUnavailable), true)
		b.same("Get meanwhile", b.get(ann, "last", "after"), last)
		return x.index(ctx, records)
	}
	if err := m.Finish(b.Context(), closed); err != nil {
		b.Fatalf("Finish: %v", err)
	}
	b.same("shown by Finish", shown, 1)
	b.model = second
	b.reopen()
	b.moved(was)
}

// Where the embedder stays the same vectors are shown to the indexer, which may
// leave them; else they are not.
func moveKeepsVectors(b *bank) {
	v := toward(0.6)
	b.put(embedded(fact("m", "tea"), v), write(fact("bare", "milk")))
	b.remove("bare")
	b.put(update(fact("bare", "milk again"), 2))
	saw := func(to memory.Model) map[string][]float32 {
		x := &seer{model: to}
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

// A store may move on, and back to a model that it had before; what was written
// in between counts.
func moveThereAndBack(b *bank) {
	b.furnish()
	for i, to := range []memory.Model{second, first, third, second} {
		b.clock.advance(time.Minute)
		b.moveTo(to)
		x := &seer{model: to}
		for _, m := range []memory.Memory{fact(fmt.Sprint("n", i), "tea with milk"), fact("often", fmt.Sprint("move ", i))} {
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

// Whatever is acknowledged is there after the move, whenever it came: a write
// that comes too late fails.
func moveDuringWrites(b *bank) {
	b.furnish()
	const writers = 8
	var acknowledged [writers]int64
	begun := make(chan struct{}, writers)
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			id := fmt.Sprint("w", i)
			for n := int64(0); ; n++ {
				out, err := b.store.Put(b.Context(), ann, []memory.Write{update(fact(id, fmt.Sprint("tea ", n)), n)})
				if errors.Is(err, memory.ErrUnavailable) {
					return
				}
				if err != nil || out[0].Err != nil {
					b.Errorf("Put: %+v, %v", out, err)
					return
				}
				if acknowledged[i] = n + 1; n == 5 {
					begun <- struct{}{}
				}
			}
		})
	}
	for range writers {
		<-begun
	}
	m, x := b.move(second), &seer{model: second}
	for range 3 {
		if _, err := m.Step(b.Context(), x.index); err != nil {
			b.Fatal(err)
		}
	}
	b.finish(m, x)
	all.Wait()
	b.model = second
	b.reopen()
	for i := range writers {
		past := b.revisions(ann, fmt.Sprint("w", i))
		// The one that failed may have taken effect or not.
		if n := int64(len(past)); n != acknowledged[i] && n != acknowledged[i]+1 || past[0].Fact != fmt.Sprint("tea ", n-1) {
			b.Errorf("of %d acknowledged writes %d are there, the last %q", acknowledged[i], n, past[0].Fact)
		}
	}
	b.moved(b.everything())
}

// A store with nothing in it moves as well.
func moveEmpty(b *bank) {
	id := b.store.ID()
	b.moveTo(second)
	b.same("ID", b.store.ID(), id)
	b.put(memory.Write{Memory: fact("m", "tea"), Vector: make([]float32, second.Dimension)})
}
