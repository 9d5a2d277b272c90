package retrieve_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
)

var ann = memory.Scope{App: "app", User: "ann"}

// newStore is a store of ann's turns, given as "session/author: text", a
// minute apart, with ids m0, m1, …
func newStore(t *testing.T, turns ...string) memory.Store {
	t.Helper()
	s := emptyStore(t)
	var writes []memory.Write
	for i, turn := range turns {
		session, rest, _ := strings.Cut(turn, "/")
		author, text, _ := strings.Cut(rest, ": ")
		m := memory.Memory{ID: fmt.Sprintf("m%d", i), Scope: ann, Kind: memory.KindTurn, Fact: text, Author: author,
			Timestamp: time.Date(2026, 3, 2, 10, i, 0, 0, time.UTC), Source: memory.Source{SessionID: session, EventIDs: []string{fmt.Sprintf("e%d", i)}}}
		if session == "fact" {
			m.Kind, m.Source = memory.KindFact, memory.Source{}
		}
		writes = append(writes, indexed(t, m))
	}
	if _, err := s.Put(t.Context(), ann, writes); err != nil {
		t.Fatal(err)
	}
	return s
}

var talk = []string{
	"s1/Ann: Good morning!",
	"s1/Bob: Where did you go on holiday?",
	"s1/Ann: To Porto, with my sister.",
	"s1/Bob: How nice.",
	"s2/Ann: My sister plays the cello.",
	"s2/Bob: Does she practise a lot?",
	"s2/Ann: Every evening, and the neighbours complain.",
	"fact/Ann: I am allergic to peanuts.",
}

func ids(matches []memory.Match) []string {
	out := []string{}
	for _, m := range matches {
		out = append(out, m.Memory.ID)
	}
	return out
}

func search(t *testing.T, r *retrieve.Retriever, req retrieve.Request) []memory.Match {
	t.Helper()
	found, err := r.Search(t.Context(), ann, req)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// The best match is the memory that answers; an answer that shares no word
// with the question is found by the turn before it.
func TestRanking(t *testing.T) {
	r := retrieve.New(newStore(t, talk...), embed.Builtin{}, nil)
	for query, want := range map[string]string{
		"Who is allergic to peanuts?":   "m7",
		"What instrument, cello?":       "m4",
		"celo playing":                  "m4", // misspelt: only the vector knows
		"Do the neighbours complain?":   "m6",
		"holidays":                      "m1",
		"What did Ann's sister play?":   "m4",
		"Is there an allergy to peanut": "m7",
	} {
		if got := search(t, r, retrieve.Request{Query: query}); len(got) == 0 || got[0].Memory.ID != want {
			t.Errorf("%q: %v, want %s first", query, ids(got), want)
		}
	}
	if got := ids(search(t, r, retrieve.Request{Query: "Where did they go on holiday?", TopK: 3})); !slices.Contains(
		got,
		"m2",
	) {
		t.Errorf("the answer beside the question is not among %v", got)
	}
}

// A memory that has nothing in common with the question is not found, or with
// almost no score.
func TestNothingInCommon(t *testing.T) {
	r := retrieve.New(newStore(t, talk...), embed.Builtin{}, nil)
	for _, query := range []string{"quantum chromodynamics", "Wie spät ist es?", "tax return", "zzz"} {
		for _, m := range search(t, r, retrieve.Request{Query: query}) {
			if m.Score > 0.03 {
				t.Errorf("%q finds %s with %.3f", query, m.Memory.ID, m.Score)
			}
		}
	}
}

// Scores lie in 0 to 1, fall, and are the sum of their parts; the weights sum to 1.
func TestExplain(t *testing.T) {
	r := retrieve.New(newStore(t, talk...), embed.Builtin{}, nil)
	found := search(t, r, retrieve.Request{Query: "Does Ann's sister play the cello?", Explain: true})
	last := 1.0
	for _, m := range found {
		sum, weights := 0.0, 0.0
		for _, p := range m.Explain.Parts {
			if p.Value < 0 || p.Value > 1 {
				t.Errorf("%s: %s is %v", m.Memory.ID, p.Name, p.Value)
			}
			sum += p.Value * p.Weight
			weights += p.Weight
		}
		if math.Abs(sum-m.Score) > 1e-9 || math.Abs(weights-1) > 1e-9 || m.Score <= 0 || m.Score > last {
			t.Errorf("%s: score %v after %v, parts sum to %v, weights to %v", m.Memory.ID, m.Score, last, sum, weights)
		}
		last = m.Score
	}
	if want := []string{"ann", "sister", "play", "cello"}; !cmp.Equal(want, found[0].Explain.Terms) {
		t.Errorf("terms %v, want %v", found[0].Explain.Terms, want)
	}
	if plain := search(t, r, retrieve.Request{Query: "cello"}); plain[0].Explain != nil {
		t.Error("explained without being asked")
	}
}

// The limits and filters of a request hold.
func TestRequest(t *testing.T) {
	r := retrieve.New(newStore(t, talk...), embed.Builtin{}, nil)
	all := search(t, r, retrieve.Request{Query: "sister cello", TopK: 100})
	if got := search(t, r, retrieve.Request{Query: "sister cello", TopK: 2}); !cmp.Equal(ids(got), ids(all)[:2]) {
		t.Errorf("topK 2: %v of %v", ids(got), ids(all))
	}
	floor := all[1].Score
	for _, m := range search(t, r, retrieve.Request{Query: "sister cello", MinScore: floor}) {
		if m.Score < floor {
			t.Errorf("minScore %v: %s has %v", floor, m.Memory.ID, m.Score)
		}
	}
	for _, m := range search(t, r, retrieve.Request{Query: "sister", Filter: memory.Filter{SessionID: "s1"}}) {
		if m.Memory.Source.SessionID != "s1" {
			t.Errorf("sessionId s1: %s of %s", m.Memory.ID, m.Memory.Source.SessionID)
		}
	}
	for _, m := range search(t, r, retrieve.Request{Query: "Ann", Filter: memory.Filter{Kinds: []memory.Kind{memory.KindFact}}}) {
		if m.Memory.Kind != memory.KindFact {
			t.Errorf("kinds fact: %s", m.Memory.ID)
		}
	}
	if got, err := r.Search(t.Context(), memory.Scope{App: "app", User: "bob"}, retrieve.Request{Query: "sister"}); err != nil ||
		got == nil ||
		len(got) != 0 {
		t.Errorf("an empty scope: %v, %v", got, err)
	}
	for _, bad := range []retrieve.Request{
		{Query: ""}, {Query: " \n\t"}, {Query: strings.Repeat("x", retrieve.MaxQuery+1)}, {Query: "x", TopK: -1}, {Query: "x", TopK: 101},
		{Query: "x", MinScore: -0.1}, {Query: "x", MinScore: 1.1}, {Query: "x", MinScore: math.NaN()},
	} {
		if _, err := r.Search(t.Context(), ann, bad); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%.40v: error %v", bad, err)
		}
	}
	for _, odd := range []string{"🎉", "?!", "what is it", "日本語", strings.Repeat("word ", 3000)} {
		search(t, r, retrieve.Request{Query: odd})
	}
}

// Memories that match equally come in the order of their ids.
func TestTies(t *testing.T) {
	r := retrieve.New(newStore(t, "fact/Ann: tea", "fact/Ann: tea", "fact/Ann: tea"), embed.Builtin{}, nil)
	if got := ids(search(t, r, retrieve.Request{Query: "tea"})); !cmp.Equal(got, []string{"m0", "m1", "m2"}) {
		t.Errorf("ties as %v", got)
	}
}

// unavailable is an embedder that cannot be reached.
type unavailable struct{ embed.Builtin }

func (unavailable) Embed(context.Context, embed.Task, []string) ([][]float32, error) {
	return nil, fmt.Errorf("%w: the embedder cannot be reached", memory.ErrUnavailable)
}

// hanging is a remote embedder that never answers.
type hanging struct {
	embed.Builtin
	asked *int
}

func (hanging) Model() embed.Model {
	m := embed.Builtin{}.Model()
	m.Remote = true
	return m
}

func (h hanging) Embed(ctx context.Context, _ embed.Task, _ []string) ([][]float32, error) {
	*h.asked++
	<-ctx.Done()
	return nil, ctx.Err()
}

// A search waits for a remote embedder for a limited time, and the searches after it
// not at all, for a while.
func TestEmbedderHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, asked := emptyStore(t), 0
		scope := memory.Scope{App: "a", User: "u"}
		m := memory.Memory{ID: "m", Scope: scope, Kind: memory.KindFact, Fact: "Ann keeps bees.", Timestamp: time.Now()}
		if _, err := s.Put(t.Context(), scope, []memory.Write{indexed(t, m)}); err != nil {
			t.Fatal(err)
		}
		r := retrieve.New(s, hanging{asked: &asked}, nil)
		for i, want := range []struct {
			asked int
			took  time.Duration
		}{{1, 2 * time.Second}, {1, 0}, {1, 0}} {
			begin := time.Now()
			found, err := r.Search(t.Context(), scope, retrieve.Request{Query: "bees"})
			if took := time.Since(begin); err != nil || len(found) != 1 || asked != want.asked || took != want.took {
				t.Errorf("search %d: %v, %v, asked %d times, took %v", i, found, err, asked, took)
			}
		}
		time.Sleep(time.Minute)
		if _, err := r.Search(t.Context(), scope, retrieve.Request{Query: "bees"}); err != nil || asked != 2 {
			t.Errorf("after a while: %v, asked %d times", err, asked)
		}
	})
}

// A search of little patience waits for all models together no longer than that. Models that are
// late by its measure alone are asked again by the next search.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, asked := emptyStore(t), 0
		scope := memory.Scope{App: "a", User: "u"}
		m := memory.Memory{ID: "m", Scope: scope, Kind: memory.KindFact, Fact: "Ann keeps bees.", Timestamp: time.Now()}
		if _, err := s.Put(t.Context(), scope, []memory.Write{indexed(t, m)}); err != nil {
			t.Fatal(err)
		}
		g := &guesser{guess: func(ctx context.Context) ([]string, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		r := retrieve.New(s, hanging{asked: &asked}, &retrieve.Options{Expander: g})
		for i := range 2 {
			begin := time.Now()
			found, err := r.Search(t.Context(), scope, retrieve.Request{Query: "bees", Expand: true,
				Patience: 300 * time.Millisecond})
			if took := time.Since(begin); err != nil || len(found) != 1 || took != 300*time.Millisecond {
				t.Errorf("search %d: %v, %v, took %v", i, found, err, took)
			}
		}
		if asked != 2 || len(g.asked) != 2 {
			t.Errorf("asked the embedder %d times and the expander %d times", asked, len(g.asked))
		}
	})
}

// Without the embedder a search answers by words.
func TestEmbedderUnavailable(t *testing.T) {
	r := retrieve.New(newStore(t, talk...), unavailable{}, nil)
	if got := ids(search(t, r, retrieve.Request{Query: "peanuts"})); len(got) == 0 || got[0] != "m7" {
		t.Errorf("found %v", got)
	}
}

// answering is an embedder that answers with other vectors than it was asked for.
type answering struct {
	embed.Builtin
	vectors [][]float32
}

func (a answering) Embed(context.Context, embed.Task, []string) ([][]float32, error) {
	return a.vectors, nil
}

// A search whose embedder returns no vector, too many, or one of another
// dimension goes by words, as one whose embedder cannot be reached.
func TestEmbedderMiscounts(t *testing.T) {
	store := newStore(t, talk...)
	right := make([]float32, embed.Builtin{}.Model().Dimension)
	for name, vectors := range map[string][][]float32{"none": nil, "two": {right, right}, "short": {right[1:]}, "empty": {{}}, "nil": {nil}} {
		t.Run(name, func(t *testing.T) {
			r := retrieve.New(store, answering{vectors: vectors}, nil)
			if got := ids(search(t, r, retrieve.Request{Query: "peanuts"})); len(got) == 0 || got[0] != "m7" {
				t.Errorf("found %v", got)
			}
		})
	}
}
