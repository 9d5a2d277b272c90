package retrieve_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
)

// A search with several wordings finds what each of them finds, with the best score of
// its wordings, and explains which one that is.
func TestQueries(t *testing.T) {
	r := retrieve.New(newStore(t, talk...), embed.Builtin{}, nil)
	wordings := []string{"cello", "peanuts and an allergy", "holiday in Porto", "neighbours"}
	best := map[string]memory.Match{}
	for _, w := range wordings {
		for _, m := range search(t, r, retrieve.Request{Query: w, TopK: 100, Explain: true}) {
			if m.Score > best[m.Memory.ID].Score {
				m.Explain.Query = w
				best[m.Memory.ID] = m
			}
		}
	}
	want := []memory.Match{}
	for _, m := range best {
		want = append(want, m)
	}
	slices.SortFunc(want, func(a, b memory.Match) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Memory.ID, b.Memory.ID))
	})
	req := retrieve.Request{Query: wordings[0], Queries: wordings[1:], TopK: 100, Explain: true}
	got := search(t, r, req)
	if diff := gocmp.Diff(want, got); diff != "" || len(got) < 5 {
		t.Errorf("found (-want +got):\n%s", diff)
	}
	req.Queries = []string{wordings[3], wordings[1], wordings[2]}
	if diff := gocmp.Diff(got, search(t, r, req)); diff != "" {
		t.Errorf("with the others in another order (-want +got):\n%s", diff)
	}
	req.Query, req.Queries = "", wordings
	if diff := gocmp.Diff(got, search(t, r, req)); diff != "" {
		t.Errorf("without query (-want +got):\n%s", diff)
	}
	req.TopK = 2
	if diff := gocmp.Diff(got[:2], search(t, r, req)); diff != "" {
		t.Errorf("topK 2 (-want +got):\n%s", diff)
	}
	req.TopK, req.MinScore = 100, got[2].Score
	if diff := gocmp.Diff(got[:3], search(t, r, req)); diff != "" {
		t.Errorf("minScore %v (-want +got):\n%s", req.MinScore, diff)
	}
	for _, m := range got {
		sum := 0.0
		for _, p := range m.Explain.Parts {
			sum += p.Value * p.Weight
		}
		if math.Abs(sum-m.Score) > 1e-9 {
			t.Errorf("%s: score %v, parts sum to %v", m.Memory.ID, m.Score, sum)
		}
	}
}

// One wording, however often it is given and in whichever field, is the same search.
func TestOneQuery(t *testing.T) {
	r := retrieve.New(newStore(t, talk...), embed.Builtin{}, nil)
	const q = "Does Ann's sister play the cello?"
	for _, lines := range []bool{false, true} {
		want := search(t, r, retrieve.Request{Query: q, Explain: true, Lines: lines})
		for _, req := range []retrieve.Request{
			{Queries: []string{q}}, {Query: q, Queries: []string{q}}, {Query: q, Queries: []string{}}, {Queries: []string{q, q, q}},
		} {
			req.Explain, req.Lines = true, lines
			if diff := gocmp.Diff(want, search(t, r, req)); diff != "" || len(want) == 0 || want[0].Explain.Query != "" {
				t.Errorf("%q and %q (-want +got):\n%s", req.Query, req.Queries, diff)
			}
		}
	}
}

// The first wording is the question: whom it names, and whether it asks for the past,
// holds for the others, which may be guesses at an answer.
func TestQueriesAreOneQuestion(t *testing.T) {
	r := remembering(t, moved()...)
	for _, c := range []struct {
		req  retrieve.Request
		want string // begins so
	}{
		{retrieve.Request{Query: "Where do I live?", Queries: []string{"I used to live in Berlin.", "Berlin"}}, "f2 t1(20 f2) "},
		{retrieve.Request{Query: "Berlin", Queries: []string{"Where did I live before?"}}, "f2 t1(20 f2) "},
		{retrieve.Request{Query: "the library", Queries: []string{"Berlin"}, Filter: memory.Filter{SessionID: "s2"}}, "f2"},
		{retrieve.Request{Query: "Where did I live before?", Queries: []string{"Rome", "I live there now."}}, "t1(20 f2) "},
		{retrieve.Request{Queries: []string{"my old home", "I live in Berlin."}}, "t1(20 f2) "},
		{retrieve.Request{Query: "Do I live in Berlin?", Queries: []string{"the library of Berlin"}, TopK: 1}, "f2"},
	} {
		if got := order(search(t, r, c.req)); !strings.HasPrefix(got, c.want) {
			t.Errorf("%q, %q: %s, want %s", c.req.Query, c.req.Queries, got, c.want)
		}
		for _, m := range search(t, r, c.req) {
			if m.Memory.ID == "t1" && m.Outdated == nil {
				t.Errorf("%q, %q: the old home is not marked", c.req.Query, c.req.Queries)
			}
		}
	}
	talk := retrieve.New(newStore(t, "s1/Bob: I sing.", "s2/Ann: I sing."), embed.Builtin{}, nil)
	for query, want := range map[string]string{"What does Ann do?": "m1", "What does Bob do?": "m0"} {
		if got := ids(search(t, talk, retrieve.Request{Query: query, Queries: []string{"I sing."}})); got[0] != want {
			t.Errorf("%s: %v, want %s first", query, got, want)
		}
	}
}

// A turn that is outdated for one wording is so in the answer, wherever another wording
// finds it, and what holds is before it.
func TestQueriesKnowWhatHolds(t *testing.T) {
	r := remembering(t, turn("t1", "s1", 1, "Ann", "I live in Berlin and sing in a choir."),
		ended(fact("f1", "s1", "t1", 1, "", "I live in Berlin."), 20, "f2"),
		fact("f3", "s1", "t1", 1, "", "I sing in a choir."),
		turn("t2", "s2", 20, "Ann", "We have settled down near Rome."),
		fact("f2", "s2", "t2", 20, "", "We have settled down near Rome."))
	// Of the turn, the first wording finds what ended; the second finds best what holds,
	// and the third the turn.
	wordings := []string{"a flat in Berlin, a house", "Have we settled somewhere?", "I sing in a choir."}
	if got := order(search(t, r, retrieve.Request{Query: wordings[2]})); strings.Contains(got, "t1(") {
		t.Fatalf("by the choir alone: %s", got)
	}
	for range 2 {
		got := strings.Fields(order(search(t, r, retrieve.Request{Queries: wordings})))
		old := slices.IndexFunc(got, func(s string) bool { return strings.HasPrefix(s, "t1(20") })
		if now := slices.Index(got, "f2"); old < 0 || now < 0 || now > old || !slices.Contains(got, "f3") {
			t.Errorf("%q: %q", wordings, got)
		}
		slices.Reverse(wordings)
	}
}

// A block has what each wording finds, and of a long memory the passage that any of
// them is about.
func TestQueriesInBlock(t *testing.T) {
	long := strings.Repeat("We talked about the weather. ", 300) + "The cello is in the attic."
	r := retrieve.New(newStore(t, "s1/Ann: I am allergic to peanuts.", "s2/Ann: "+long), embed.Builtin{}, nil)
	req := retrieve.Request{Query: "What about the weather?", Queries: []string{"allergic to peanuts", "a cello in the attic"}}
	context, err := r.Context(t.Context(), ann, req, 400)
	if err != nil {
		t.Fatal(err)
	}
	preload, err := r.Preload(t.Context(), ann, req, 400)
	if err != nil {
		t.Fatal(err)
	}
	req.Lines = true
	lines := ""
	for _, m := range search(t, r, req) {
		lines += m.Line + "\n"
	}
	for _, text := range []string{context.Text, preload.Text, lines} {
		for _, want := range []string{"allergic to peanuts", "cello is in the attic"} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in %.2000s", want, text)
			}
		}
	}
}

// A reranker judges what all wordings find, by the question.
func TestQueriesReranked(t *testing.T) {
	j := &asker{judge: *likes("peanuts.")}
	r := retrieve.New(newStore(t, talk...), embed.Builtin{}, &retrieve.Options{Reranker: j})
	req := retrieve.Request{Query: "cello", Queries: []string{"holiday", "peanuts"}, TopK: 1}
	if got := ids(search(t, r, req)); !slices.Equal(got, []string{"m7"}) {
		t.Errorf("found %v", got)
	}
	if len(j.asked) != 1 || !slices.Equal(j.queries, []string{"cello"}) {
		t.Errorf("asked %q of %q", j.queries, j.asked)
	}
}

// asker keeps the questions as well.
type asker struct {
	judge
	queries []string
}

func (a *asker) Rerank(ctx context.Context, query string, texts []string) ([]float64, error) {
	a.queries = append(a.queries, query)
	return a.judge.Rerank(ctx, query, texts)
}

// Wordings without an embedder are searched by words, and the log says so once.
func TestQueriesByWords(t *testing.T) {
	var log bytes.Buffer
	opts := &retrieve.Options{Log: slog.New(slog.NewTextHandler(&log, nil))}
	r := retrieve.New(newStore(t, talk...), unavailable{}, opts)
	got := ids(search(t, r, retrieve.Request{Query: "peanuts", Queries: []string{"cello"}}))
	if !slices.Contains(got, "m7") || !slices.Contains(got, "m4") || strings.Count(log.String(), "by words alone") != 1 {
		t.Errorf("found %v, log %s", got, &log)
	}
}

// A request has a wording at least, eight beside query at most, and none is blank.
func TestQueriesRefused(t *testing.T) {
	r := retrieve.New(newStore(t, talk...), embed.Builtin{}, nil)
	many := strings.Fields(strings.Repeat("cello ", retrieve.MaxQueries+1))
	for says, req := range map[string]retrieve.Request{
		"query is empty":                      {},
		"query is empty ":                     {Query: " ", Queries: []string{"cello"}},
		"queries[1] is empty":                 {Query: "cello", Queries: []string{"cello", " \n"}},
		"queries has 9 texts, more than 8":    {Query: "cello", Queries: many},
		"queries[0] has 16385 bytes, more th": {Queries: []string{strings.Repeat("x", retrieve.MaxQuery+1)}},
	} {
		_, err := r.Search(t.Context(), ann, req)
		if !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), strings.TrimSpace(says)) {
			t.Errorf("%s: %v", says, err)
		}
	}
	req := retrieve.Request{Query: "cello", Queries: many[1:]}
	for i := range req.Queries {
		req.Queries[i] += strings.Repeat(" cello", i)
	}
	if got := ids(search(t, r, req)); got[0] != "m4" {
		t.Errorf("found %v", got)
	}
}
