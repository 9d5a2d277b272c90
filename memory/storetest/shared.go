package storetest

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// sharedCases check several stores that are open at one place at the same time, as
// several processes have them.
func sharedCases() []testCase {
	cases := []testCase{
		{"EveryWriteIsSeen", everyWriteIsSeen},
		{"Repetition", repetitionIsSeen},
		{"Clocks", clocksDiffer},
		{"ManyChanges", manyChanges},
		{"OneScopeAtOnce", oneScopeAtOnce},
	}
	for seed := range uint64(6) {
		cases = append(cases, testCase{fmt.Sprint("Model", seed), func(b *bank) {
			m := newModel(b, 100+seed)
			stores := []memory.Store{b.store, b.beside(0), b.beside(0)}
			m.beforeStep = func() { b.store = stores[m.IntN(len(stores))] }
			m.run(400)
		}})
	}
	return cases
}

// beside opens the place once more, by a clock that differs. When the case is over that
// store is closed, and the bank has the store of this moment again.
func (b *bank) beside(ahead time.Duration) memory.Store {
	b.Helper()
	s, err := b.harness.Open(b.T, func() time.Time { return b.clock.now().Add(ahead) }, b.model)
	if err != nil {
		b.Fatalf("Open once more: %v", err)
	}
	was := b.store
	b.Cleanup(func() {
		b.harness.Close(b.T, s)
		b.store = was
	})
	return s
}

// finds searches for a word by a store, and reports the memories that have it, by id.
func (b *bank) finds(s memory.Store, word string) map[string]memory.Memory {
	b.Helper()
	found, err := s.Search(b.Context(), ann, memory.Query{Terms: []string{word}, Limit: 100})
	if err != nil {
		b.Errorf("Search: %v", err)
	}
	out := map[string]memory.Memory{}
	for _, run := range found.Runs {
		for _, c := range run {
			if c.Freqs[0] > 0 {
				out[c.Memory.ID] = c.Memory.Clone()
			}
		}
	}
	return out
}

// A search sees what any of the stores has written, changed or deleted before it began,
// whether it has searched the scope before or not.
func everyWriteIsSeen(b *bank) {
	one, two := b.store, b.beside(0)
	for round := range 5 {
		id := fmt.Sprint("m", round)
		for _, writer := range []memory.Store{one, two} {
			b.store = writer
			name := id + map[bool]string{true: "a", false: "b"}[writer == one]
			b.put(write(fact(name, "tea "+name)))
			for _, s := range []memory.Store{one, two} {
				if got := b.finds(s, name); len(got) != 1 {
					b.Fatalf("a search finds %d memories of the one written", len(got))
				}
			}
			b.put(update(fact(name, "coffee "+name+"x"), 1))
			for _, s := range []memory.Store{one, two} {
				if old, now := b.finds(s, name), b.finds(s, name+"x"); len(old) != 0 || len(now) != 1 {
					b.Fatalf("a search finds %d memories as they were and %d as they are", len(old), len(now))
				}
			}
			if _, err := writer.Delete(b.Context(), ann, []memory.Removal{{ID: name}}); err != nil {
				b.Fatal(err)
			}
			for _, s := range []memory.Store{one, two} {
				if got := b.finds(s, name+"x"); len(got) != 0 {
					b.Fatal("a search finds a memory that was deleted")
				}
			}
		}
	}
}

// A search sees a memory whose write was repeated, and the vector that a repetition
// adds. The first call may have ended without an answer.
func repetitionIsSeen(b *bank) {
	one, two := b.store, b.beside(0)
	b.put(write(fact("first", "tea")))
	b.finds(two, "tea")
	w := write(fact("m", "coffee"))
	b.put(w)
	b.store = two
	b.try(w)
	if got := b.finds(one, "coffee"); len(got) != 1 {
		b.Error("the memory is not found after a repetition")
	}
	w.Vector = axis(0)
	b.try(w)
	found, err := one.Search(b.Context(), ann, memory.Query{Vector: axis(0), Limit: 10})
	if err != nil || len(found.Runs) != 1 {
		b.Errorf("by its vector: %d memories, %v", len(found.Runs), err)
	}
}

// Stores whose clocks differ by an hour miss no write of each other.
func clocksDiffer(b *bank) {
	b.put(write(fact("first", "tea")))
	stores := []memory.Store{b.store, b.beside(time.Hour), b.beside(-time.Hour)}
	for round := range 4 {
		for i, writer := range stores {
			word := fmt.Sprint("w", round, "x", i)
			b.store = writer
			b.put(write(fact(word, word)))
			for _, s := range stores {
				if got := b.finds(s, word); len(got) != 1 {
					b.Fatalf("round %d: the write of store %d is missed", round, i)
				}
			}
		}
		b.clock.advance(time.Minute)
	}
}

// A store that has not searched a scope for long finds all that was written and deleted
// meanwhile.
func manyChanges(b *bank) {
	one, two := b.store, b.beside(0)
	b.put(write(fact("first", "tea")))
	b.finds(two, "tea")
	const n = 150
	for i := range n {
		b.put(write(fact(fmt.Sprint("m", i), "coffee")))
	}
	if _, err := one.Delete(b.Context(), ann, []memory.Removal{{ID: "first"}, {ID: "m7"}}); err != nil {
		b.Fatal(err)
	}
	found, err := two.Search(b.Context(), ann, memory.Query{Terms: []string{"coffee", "tea"}, Limit: 2 * n})
	if err != nil || len(found.Runs) != n-1 || found.Stats.Docs != n-1 {
		b.Errorf("%d memories are found of %d, %v", len(found.Runs), n-1, err)
	}
}

// While several stores write into one scope at the same time, each write is seen by
// every search that begins after it was acknowledged.
func oneScopeAtOnce(b *bank) {
	stores := []memory.Store{b.store, b.beside(0), b.beside(0)}
	var all sync.WaitGroup
	for w := range 6 {
		all.Go(func() {
			random := rand.New(rand.NewPCG(uint64(w), 1))
			for i := range 15 {
				word := fmt.Sprint("w", w, "x", i)
				out, err := stores[w%3].Put(b.Context(), ann, []memory.Write{write(fact(word, word))})
				if err != nil || out[0].Err != nil {
					b.Errorf("Put: %+v, %v", out, err)
					return
				}
				if got := b.finds(stores[random.IntN(3)], word); len(got) != 1 {
					b.Errorf("%s is not found after it was acknowledged", word)
				}
				if i%4 == 3 {
					if _, err := stores[w%3].Delete(b.Context(), ann, []memory.Removal{{ID: word}}); err != nil {
						b.Error(err)
					}
					if got := b.finds(stores[random.IntN(3)], word); len(got) != 0 {
						b.Errorf("%s is found after it was deleted", word)
					}
				}
			}
		})
	}
	all.Wait()
}
