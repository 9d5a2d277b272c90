package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// concurrencyCases check calls at the same time. Run with -race they also find
// memory that a store shares with its callers.
func concurrencyCases() []testCase {
	return []testCase{
		{"OneWinner", oneWinner},
		{"UniqueInApp", uniqueInApp},
		{"SameWrite", sameWrite},
		{"DifferentMemories", differentMemories},
		{"DeleteAgainstUpdate", deleteAgainstUpdate},
		{"SearchesDuringWrites", searchesDuringWrites},
		{"ReusedSlices", reusedSlices},
		{"Cancelled", cancelled},
	}
}

// racers is how many goroutines write at once.
const racers = 64

// race runs f in racers goroutines at the same time and waits for all.
func race(f func(i int)) {
	var ready, all sync.WaitGroup
	ready.Add(racers)
	for i := range racers {
		all.Go(func() {
			ready.Done()
			ready.Wait()
			f(i)
		})
	}
	all.Wait()
}

// Of many writes at once of one id that is to be unique in the app, in the same scope and in others, one
// wins, and there is one memory of the id. Later ones are refused as long as there is something of it.
// Other apps, and writes that do not ask for it, have their own.
func uniqueInApp(b *bank) {
	unique := func(app, user, id string) memory.Write {
		w := write(fact(id, "tea"))
		w.Memory.Scope, w.UniqueInApp = memory.Scope{App: app, User: user}, true
		return w
	}
	try := func(w memory.Write) memory.Outcome {
		out, err := b.store.Put(b.Context(), w.Memory.Scope, []memory.Write{w})
		if err != nil || len(out) != 1 {
			b.Errorf("Put: %d outcomes, error %v", len(out), err)
			return memory.Outcome{Err: err}
		}
		return out[0]
	}
	for round := range 3 {
		id, users := fmt.Sprint("m", round), 1+4*round
		var won atomic.Int64
		race(func(i int) {
			out := try(unique("app", fmt.Sprint("u", i%users), id))
			switch {
			case out.Err == nil && out.Changed:
				won.Add(1)
			case !errors.Is(out.Err, memory.ErrExists) && !errors.Is(out.Err, memory.ErrAborted):
				b.Errorf("a loser: %+v", out)
			}
		})
		found, err := b.store.FindApp(b.Context(), "app", id)
		if err != nil || len(found) != 1 || won.Load() != 1 {
			b.Fatalf("%d writes of %d users have won: there are %d memories, error %v", won.Load(), users,
				len(found), err)
		}
		refused := func(when string) {
			b.Helper()
			for _, user := range []string{"new", found[0].User} {
				if out := try(unique("app", user, id)); !errors.Is(out.Err, memory.ErrExists) {
					b.Errorf("%s, user %s: %+v, want ErrExists", when, user, out)
				}
			}
		}
		refused("later")
		if out := try(unique("other", "new", id)); out.Err != nil {
			b.Errorf("in another app: %v", out.Err)
		}
		gone := []memory.Removal{{ID: id, Actor: "client"}}
		if _, err := b.store.Delete(b.Context(), found[0].Scope, gone); err != nil {
			b.Fatal(err)
		}
		refused("after a deletion")
		b.erase(found[0].Scope, memory.Erasure{IDs: []string{id}})
		if out := try(unique("app", "new", id)); out.Err != nil || !out.Changed {
			b.Errorf("after an erasing: %+v", out)
		}
		plain := unique("app", "plain", id)
		if plain.UniqueInApp = false; try(plain).Err != nil {
			b.Errorf("a write that does not ask is refused")
		}
	}
	b.put(write(fact("both", "tea")))
	two := []memory.Write{unique("app", "ann", "both"), unique("app", "ann", "one")}
	out, err := b.store.Put(b.Context(), ann, two)
	if err != nil || !errors.Is(out[0].Err, memory.ErrExists) || out[1].Err != nil || !out[1].Changed {
		b.Errorf("one of two: %+v, error %v", out, err)
	}
}

// Of many writes on the same revision at once, exactly one wins. All others are
// aborted and shown the memory of the winner. Two workers of one scope overlap
// when a lease runs out.
func oneWinner(b *bank) {
	for round := range int64(8) {
		var outcomes [racers]memory.Outcome
		race(func(i int) {
			out, err := b.store.Put(b.Context(), ann,
				[]memory.Write{update(fact("m", fmt.Sprint("tea ", round, " ", i)), round)})
			if err != nil || len(out) != 1 {
				b.Errorf("round %d: %d outcomes, error %v", round, len(out), err)
				return
			}
			outcomes[i] = out[0]
		})
		winner := slices.IndexFunc(outcomes[:], func(o memory.Outcome) bool { return o.Changed })
		if winner < 0 {
			b.Fatalf("round %d: no write won", round)
		}
		b.same("Get", b.get(ann, "m"), []memory.Memory{outcomes[winner].Memory})
		for i, o := range outcomes {
			if i != winner {
				b.same("outcome of a loser", o, memory.Outcome{Memory: outcomes[winner].Memory, Err: memory.ErrAborted})
			}
		}
	}
	b.same("revisions", len(b.revisions(ann, "m")), 8)
}

// The same write sent many times at once is one write: one changes the store,
// the others find it done. A retry may overlap the call that it repeats.
func sameWrite(b *bank) {
	var changed atomic.Int32
	race(func(int) {
		out, err := b.store.Put(b.Context(), ann, []memory.Write{embedded(fact("m", "tea"), axis(0))})
		if err != nil || len(out) != 1 || out[0].Err != nil {
			b.Errorf("Put: %+v, error %v", out, err)
			return
		}
		if out[0].Changed {
			changed.Add(1)
		}
	})
	b.same("changes", changed.Load(), int32(1))
	b.same("revisions", len(b.revisions(ann, "m")), 1)
}

// Writes of different memories, in one scope and in many, all go through, and
// every read after Put sees them.
func differentMemories(b *bank) {
	const each = 5
	shared := memory.Scope{App: "app", User: "shared"}
	race(func(i int) {
		for j := range each {
			for _, s := range []memory.Scope{shared, {App: "app", User: fmt.Sprint("user", i)}} {
				id := fmt.Sprintf("m%02d-%d", i, j)
				m := fact(id, "tea "+id)
				m.Scope = s
				out, err := b.store.Put(b.Context(), s, []memory.Write{write(m)})
				if err != nil || len(out) != 1 || out[0].Err != nil || !out[0].Changed {
					b.Errorf("Put of %q: %+v, error %v", id, out, err)
					return
				}
				if got, err := b.store.Get(b.Context(), s, []string{id}); err != nil || len(got) != 1 {
					b.Errorf("Get of %q once it is put: %d, error %v", id, len(got), err)
				}
				found, err := b.store.Search(b.Context(), s, memory.Query{Terms: []string{id}, Limit: 5})
				if err != nil || !slices.Equal(foundIDs(found), []string{id}) {
					b.Errorf("Search for %q once it is put: %q, error %v", id, foundIDs(found), err)
				}
				search := b.store.PrepareSearch(b.Context(), s)
				found, err = search(b.Context(), memory.Query{Terms: []string{id}, Limit: 5})
				if err != nil || !slices.Equal(foundIDs(found), []string{id}) {
					b.Errorf("prepared search for %q once it is put: %q, error %v", id, foundIDs(found), err)
				}
				page, err := b.store.List(b.Context(), s, memory.List{PageSize: memory.MaxPageSize})
				if err != nil || !slices.Contains(ids(page.Memories), id) {
					b.Errorf("List of %q once it is put: %q, error %v", id, ids(page.Memories), err)
				}
			}
		}
	})
	b.same("memories in the shared scope", len(b.list(shared, memory.List{})), racers*each)
	b.same("statistics of it", b.searchIn(shared, memory.Query{Terms: []string{"tea"}, Limit: 1}).Stats,
		memory.Stats{Docs: racers * each, DF: []int{racers * each}})
	b.same("memories in one of many", len(b.list(memory.Scope{App: "app", User: "user7"}, memory.List{})), each)
}

// Of updates and deletions decided on the same revision, exactly one wins.
func deleteAgainstUpdate(b *bank) {
	for round := range 8 {
		id := fmt.Sprint("m", round)
		b.put(write(fact(id, "tea")))
		var wins atomic.Int32
		race(func(i int) {
			var out []memory.Outcome
			var err error
			if i%2 == 0 {
				out, err = b.store.Put(b.Context(), ann, []memory.Write{update(fact(id, fmt.Sprint("milk ", i)), 1)})
			} else {
				out, err = b.store.Delete(b.Context(), ann, []memory.Removal{{ID: id, Expect: 1}})
			}
			if err != nil || len(out) != 1 || out[0].Err != nil && !errors.Is(out[0].Err, memory.ErrAborted) {
				b.Errorf("%q: %+v, error %v", id, out, err)
				return
			}
			if out[0].Changed {
				wins.Add(1)
			}
		})
		b.same("winners", wins.Load(), int32(1))
		b.same("revisions", len(b.revisions(ann, id)), 2)
	}
}

// versionOf is the write of a turn in one round: its word, its vector and its
// length follow from the round.
func versionOf(i, round int) memory.Write {
	word, vector := "tea", axis(0)
	if round%2 == 1 {
		word, vector = "milk", axis(1)
	}
	w := update(turn(fmt.Sprint("m", i), "s", i, fmt.Sprint(word, " ", round)), int64(round))
	w.Terms, w.Vector = memory.Terms{word: round + 1}, vector
	return w
}

// checkVersion checks that a candidate is of one round in all its parts.
func checkVersion(b *bank, c memory.Candidate) {
	round := int(c.Memory.Revision) - 1
	want := versionOf(0, round)
	freqs, cosine := []int{want.Terms["tea"], want.Terms["milk"]}, float64(want.Vector[0])
	if c.Memory.Fact != want.Memory.Fact || !slices.Equal(c.Freqs, freqs) || c.Length != round+1 ||
		c.Cosine < cosine-precision || c.Cosine > cosine+precision {
		b.Errorf("half a write: %+v", c)
	}
}

// searchVersions searches for the n turns until done is closed, and checks
// each.
func searchVersions(b *bank, n int, done <-chan struct{}) {
	q := memory.Query{Terms: []string{"tea", "milk"}, Vector: axis(0), Limit: 2 * n, Context: 1}
	for running, prepared := true, false; running; prepared = !prepared {
		select {
		case <-done:
			running = false // after one more search
		default:
		}
		search := func(ctx context.Context, q memory.Query) (memory.Found, error) { return b.store.Search(ctx, ann, q) }
		if prepared {
			search = b.store.PrepareSearch(b.Context(), ann)
		}
		found, err := search(b.Context(), q)
		if err != nil {
			b.Errorf("Search during writes: %v", err)
			return
		}
		if got := len(foundIDs(found)); got != n {
			b.Errorf("Search during writes found %d memories, want %d", got, n)
		}
		for _, c := range slices.Concat(found.Runs...) {
			checkVersion(b, c)
		}
	}
}

// Searches during writes do not fail, and show each memory as it was before a
// write or after it: words, vector and fact of one revision. A user asks while
// a session is ingested.
func searchesDuringWrites(b *bank) {
	const n, rounds, searchers = 8, 40, 4
	for i := range n {
		b.put(versionOf(i, 0))
	}
	done := make(chan struct{})
	var readers, writers sync.WaitGroup
	for range searchers {
		readers.Go(func() { searchVersions(b, n, done) })
	}
	for i := range n {
		writers.Go(func() {
			for round := 1; round <= rounds; round++ {
				out, err := b.store.Put(b.Context(), ann, []memory.Write{versionOf(i, round)})
				if err != nil || out[0].Err != nil {
					b.Errorf("Put during searches: %+v, error %v", out, err)
					return
				}
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
}

// A writer may use its maps and slices again as soon as Put returns, even while
// others search: each memory is found by the words and the vector it was
// written with.
func reusedSlices(b *bank) {
	const n = 10
	scope := func(i int) memory.Scope { return memory.Scope{App: "app", User: fmt.Sprint("user", i/8)} }
	name := func(i, j int) string { return fmt.Sprintf("m%d-%d", i, j) }
	race(func(i int) {
		s, terms, vector, topics := scope(i), memory.Terms{}, make([]float32, Dimension), []string{""}
		for j := range n {
			id := name(i, j)
			clear(terms)
			clear(vector)
			terms[id], vector[j%Dimension], topics[0] = 1, 1, id
			m := fact(id, id)
			m.Scope, m.Topics = s, topics
			if out, err := b.store.Put(b.Context(), s,
				[]memory.Write{{Memory: m, Terms: terms, Vector: vector}}); err != nil || out[0].Err != nil {
				b.Errorf("Put: %+v, error %v", out, err)
			}
			if _, err := b.store.Search(b.Context(), s,
				memory.Query{Terms: []string{id}, Vector: axis(0), Limit: 1}); err != nil {
				b.Errorf("Search: %v", err)
			}
		}
	})
	for i := range racers {
		for j := range n {
			id := name(i, j)
			found := b.searchIn(scope(i), memory.Query{Terms: []string{id}, Vector: axis(j % Dimension), Limit: 8 * n})
			c := candidate(b, found, id)
			b.same(id, []any{c.Freqs, c.Length, c.Cosine, c.Memory.Topics}, []any{[]int{1}, 1, 1.0, []string{id}})
			b.same("statistics", found.Stats, memory.Stats{Docs: 8 * n, DF: []int{1}})
		}
	}
}

// A call whose context is over fails with that error, and changes nothing. A
// client that has gone must not cost work.
func cancelled(b *bank) {
	b.put(write(fact("m", "tea")))
	before := b.contents(ann, "n")
	ctx, cancel := context.WithCancel(b.Context())
	cancel()
	late, stop := context.WithDeadline(b.Context(), time.Unix(0, 0))
	defer stop()
	for _, ctx := range []context.Context{ctx, late} {
		_, put := b.store.Put(ctx, ann, []memory.Write{write(fact("n", "tea")), update(fact("m", "milk"), 1)})
		_, get := b.store.Get(ctx, ann, []string{"m"})
		_, del := b.store.Delete(ctx, ann, []memory.Removal{{ID: "m"}})
		_, list := b.store.List(ctx, ann, memory.List{})
		_, search := b.store.Search(ctx, ann, memory.Query{Terms: []string{"tea"}, Limit: 1})
		_, revisions := b.store.Revisions(ctx, ann, "m", 0)
		_, count := b.store.Count(ctx, ann)
		for call, err := range map[string]error{"Put": put, "Get": get, "Delete": del, "List": list, "Search": search,
			"Revisions": revisions, "Count": count} {
			if !errors.Is(err, ctx.Err()) {
				b.Errorf("%s with a context that is over: error %v, want %v", call, err, ctx.Err())
			}
		}
	}
	b.same("the store after it", b.contents(ann, "n"), before)
}
