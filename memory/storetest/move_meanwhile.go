package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// Every change that is written during a move is there after it. An import
// counts as a write.
func moveFollows(b *bank) {
	b.furnish()
	m, x := b.move(second), &recorder{model: second}
	change := func(round int) {
		b.clock.advance(time.Minute)
		b.put(write(fact(fmt.Sprint("new", round), "new tea")),
			update(fact("often", fmt.Sprint("round ", round)), int64(120+round)))
		if round == 0 {
			b.remove("m")
			old := fact("imported", "tea from elsewhere")
			old.Revision, old.CreateTime, old.UpdateTime = 1, start, start
			rec := memory.Record{Memory: old, Terms: words(old.Fact),
				History: []memory.Step{{Revision: 1, Action: memory.Created, Time: start, Memory: old}}}
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

// A move that was cut off continues where it was: no memory is indexed twice.
// Embedding costs money.
func moveContinues(b *bank) {
	const n = 130
	var writes []memory.Write
	for i := range n {
		writes = append(writes, write(fact(fmt.Sprintf("m%03d", i), fmt.Sprint("tea ", i))))
	}
	b.put(writes...)
	x := &recorder{model: second}
	total := 0
	for {
		m := b.move(second)
		done, all, err := m.Progress(b.Context())
		b.same("progress", []any{done, all, err}, []any{total, n, error(nil)})
		took, err := m.Step(b.Context(), x.index)
		if err != nil {
			b.Fatal(err)
		}
		b.reopen() // as after a crash
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

// A move to a third model cancels one that has begun, and nothing of that is
// left.
func moveSuperseded(b *bank) {
	b.furnish()
	was := b.everything()
	half, x := b.move(second), &recorder{model: second}
	if _, err := half.Step(b.Context(), x.index); err != nil {
		b.Fatal(err)
	}
	m, y := b.move(third), &recorder{model: third}
	_, err := half.Step(b.Context(), x.index)
	b.same("a step of the cancelled move", errors.Is(err, memory.ErrAborted), true)
	b.same("the end of it", errors.Is(half.Finish(b.Context(), x.index), memory.ErrAborted), true)
	b.put(write(fact("n", "tea"))) // goes on after that
	b.remove("n")
	b.steps(m, y)
	b.finish(m, y)
	b.model = third
	b.reopen()
	b.moved(was)
	b.refused(second)
}

// After CancelMove it is as if no move had begun. The next one starts from the
// beginning.
func moveCancelled(b *bank) {
	b.furnish()
	was := b.everything()
	m, x := b.move(second), &recorder{model: second}
	if _, err := m.Step(b.Context(), x.index); err != nil {
		b.Fatal(err)
	}
	for range 2 {
		if err := b.store.(memory.Movable).CancelMove(b.Context()); err != nil {
			b.Fatalf("CancelMove: %v", err)
		}
	}
	_, err := m.Step(b.Context(), x.index)
	b.same("a step of the cancelled move", errors.Is(err, memory.ErrAborted), true)
	b.same("contents", b.everything(), was)
	b.refused(second)
	x.saw = nil
	m = b.move(second)
	b.steps(m, x)
	b.same("shown again", len(x.saw), len(was[ann].Memories)+len(was[bob].Memories))
	b.finish(m, x)
	b.model = second
	b.reopen()
	b.moved(was)
}

// An error of the indexer is the error of Step or Finish, and changes nothing:
// writes go on, and so does the move once the indexer works again. A remote
// embedder fails now and then.
func moveIndexerFails(b *bank) {
	b.furnish()
	m, x := b.move(second), &recorder{model: second, fails: memory.ErrUnavailable}
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

// While Finish handles the last memories, reads go on and writes fail. A write
// into the old model would be lost.
func moveNoWritesInFinish(b *bank) {
	b.furnish()
	m, x := b.move(second), &recorder{model: second}
	b.steps(m, x)
	b.put(write(fact("last", "tea")))
	was, last := b.everything(), b.get(ann, "last")
	shown := 0
	whileDraining := func(ctx context.Context, records []memory.Record) error {
		shown += len(records)
		_, err := b.store.Put(ctx, ann, []memory.Write{write(fact("after", "tea")), update(fact("last", "milk"), 1)})
		b.same("Put meanwhile", errors.Is(err, memory.ErrUnavailable), true)
		_, err = b.store.Delete(ctx, ann, []memory.Removal{{ID: "last"}})
		b.same("Delete meanwhile", errors.Is(err, memory.ErrUnavailable), true)
		b.same("Get meanwhile", b.get(ann, "last", "after"), last)
		return x.index(ctx, records)
	}
	if err := m.Finish(b.Context(), whileDraining); err != nil {
		b.Fatalf("Finish: %v", err)
	}
	b.same("shown by Finish", shown, 1)
	b.model = second
	b.reopen()
	b.moved(was)
}

// Every acknowledged write is there after the move, whenever it came. A write
// that comes too late fails. This is the promise that matters most: nothing
// acknowledged is lost.
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
				// The move has reached its end. Whether this write took effect
				// is open.
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
	// The move begins when every writer has written a few times.
	for range writers {
		<-begun
	}
	// A few steps while all writers are at it.
	m, x := b.move(second), &recorder{model: second}
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
		if n := int64(len(past)); n != acknowledged[i] && n != acknowledged[i]+1 ||
			past[0].Fact != fmt.Sprint("tea ", n-1) {
			b.Errorf("of %d acknowledged writes %d are there, the last %q", acknowledged[i], n, past[0].Fact)
		}
	}
	b.moved(b.everything())
}
