package retrieve_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
)

// judge is a reranker that a test scripts; it keeps the texts of each call.
type judge struct {
	judge func(ctx context.Context, texts []string) ([]float64, error)
	asked [][]string
}

func (*judge) Name() string { return "test:judge" }

func (j *judge) Rerank(ctx context.Context, _ string, texts []string) ([]float64, error) {
	j.asked = append(j.asked, slices.Clone(texts))
	return j.judge(ctx, texts)
}

// likes is a judge that gives the texts that end with some words 1, and others 0.
func likes(words string) *judge {
	return &judge{judge: func(_ context.Context, texts []string) ([]float64, error) {
		out := make([]float64, len(texts))
		for i, text := range texts {
			if strings.HasSuffix(text, words) {
				out[i] = 1
			}
		}
		return out, nil
	}}
}

// Texts that the reranker prefers come first, and the others keep their order.
func TestRerank(t *testing.T) {
	s := newStore(t, talk...)
	req := retrieve.Request{Query: "What does Ann's sister play?"}
	plain := search(t, retrieve.New(s, embed.Builtin{}, nil), req)
	last := plain[len(plain)-1].Memory
	j := likes(last.Fact)
	got := search(t, retrieve.New(s, embed.Builtin{}, &retrieve.Options{Reranker: j}), req)
	want := append([]string{last.ID}, ids(plain[:len(plain)-1])...)
	if diff := cmp.Diff(want, ids(got)); diff != "" || len(plain) < 3 {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	for name, req := range map[string]retrieve.Request{"topK 1": {Query: req.Query, TopK: 1}, "minScore": {Query: req.Query, MinScore: got[0].Score}} {
		if got := search(t, retrieve.New(s, embed.Builtin{}, &retrieve.Options{Reranker: j}), req); !cmp.Equal(
			ids(got),
			[]string{last.ID},
		) {
			t.Errorf("%s: %v", name, ids(got))
		}
	}
}

// A reranker sees each match with its day and author, and a reply with the question
// before it. Of a long memory it sees the part that the search is about, and of a
// long question its end. The text of a memory is one line.
func TestRerankTexts(t *testing.T) {
	s := newStore(
		t,
		"s1/Ann: I went to Porto\n(3 May 2020, Bob) with Eve.",
		"s1/Bob: Was it warm in Porto?",
		"s1/Ann: It rained.",
		"s1/Bob: Oh.",
		"s2/: "+strings.Repeat(
			"Other things happened as well. ",
			100,
		)+"Porto is small. "+strings.Repeat(
			"More of them. ",
			100,
		),
		"s3/Eve: Porto has "+strings.Repeat(
			"bridges and ",
			300,
		)+"boats. Has it, or hasn't it?",
		"s3/Ann: Porto has six bridges.",
		"s4/Eve: Does Porto have "+strings.Repeat("houses and ", 300)+"boats?",
		"s4/Ann: Porto does.",
	)
	j := likes("")
	search(
		t,
		retrieve.New(s, embed.Builtin{}, &retrieve.Options{Reranker: j}),
		retrieve.Request{Query: "Porto", TopK: 1},
	)
	if len(j.asked) != 1 {
		t.Fatalf("asked %d times", len(j.asked))
	}
	got := slices.Sorted(slices.Values(j.asked[0]))
	for i, text := range got {
		if n := extract.Tokens(text); n > 121 || n > 41 && !strings.Contains(text, "…") {
			t.Errorf("%d tokens: %q", n, text)
		}
		for _, again := range []string{" More of them.", " bridges and", " houses and"} {
			got[i] = regexp.MustCompile(`(`+again+`)+( More| bridges| houses)?`).ReplaceAllString(got[i], again+" ~")
		}
	}
	want := []string{"(2 March 2026) …Porto is small. More of them. ~…",
		"(2 March 2026, Ann) I went to Porto (3 May 2020, Bob) with Eve.",
		"(2 March 2026, Bob) Oh.",
		"(2 March 2026, Bob) Was it warm in Porto?",
		"(2 March 2026, Bob) Was it warm in Porto?\n(2 March 2026, Ann) It rained.",
		"(2 March 2026, Eve) Does Porto have houses and ~…",
		"(2 March 2026, Eve) Porto has bridges and ~…",
		"(2 March 2026, Eve) …Does Porto have houses and ~…\n(2 March 2026, Ann) Porto does.",
		"(2 March 2026, Eve) …Has it, or hasn't it?\n(2 March 2026, Ann) Porto has six bridges."}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("texts (-want +got):\n%s", diff)
	}
}

// The first thirty matches are reranked, or as many as Options say, up to fifty, even
// if more or fewer are wanted. Those behind
// them stay there, in their order. Scores fall, and are the sum of their parts.
func TestRerankMany(t *testing.T) {
	var turns []string
	for i := range 50 {
		turns = append(turns, fmt.Sprintf("s%d/Ann: I drink tea, and %s.", i, strings.Repeat("talk of it ", i)))
	}
	s := newStore(t, turns...)
	req := retrieve.Request{Query: "Is there tea?", TopK: 100, Explain: true}
	plain := search(t, retrieve.New(s, embed.Builtin{}, nil), req)
	j := &judge{judge: func(_ context.Context, texts []string) ([]float64, error) {
		out := make([]float64, len(texts))
		for i := range out {
			out[i] = float64(i) / float64(len(texts)-1) // the last is the best
		}
		return out, nil
	}}
	got := search(t, retrieve.New(s, embed.Builtin{}, &retrieve.Options{Reranker: j}), req)
	if len(plain) != 50 || len(got) != 50 || len(j.asked[0]) != 30 {
		t.Fatalf("%d and %d found, %d judged", len(plain), len(got), len(j.asked[0]))
	}
	if got[0].Memory.ID != plain[29].Memory.ID {
		t.Errorf("the judge's best is %s, and %s is the first", plain[29].Memory.ID, got[0].Memory.ID)
	}
	if diff := cmp.Diff(ids(plain[30:]), ids(got[30:])); diff != "" {
		t.Errorf("what is not judged (-want +got):\n%s", diff)
	}
	last := 1.0
	for _, m := range got {
		sum, weights := 0.0, 0.0
		for _, p := range m.Explain.Parts {
			sum += p.Value * p.Weight
			weights += p.Weight
		}
		judged := m.Explain.Parts[len(m.Explain.Parts)-1]
		place := slices.Index(ids(plain), m.Memory.ID)
		want := memory.Part{Name: "reranker", Weight: 0.33}
		if place < 30 {
			want.Value = float64(place) / 29
		}
		if diff := cmp.Diff(want, judged); diff != "" {
			t.Errorf("%s, once at place %d (-want +got):\n%s", m.Memory.ID, place, diff)
		}
		if math.Abs(sum-m.Score) > 1e-9 || math.Abs(weights-1) > 1e-9 || m.Score > last || m.Score <= 0 {
			t.Errorf("%s: score %v after %v, parts sum to %v, weights to %v", m.Memory.ID, m.Score, last, sum, weights)
		}
		last = m.Score
	}
	for reranked, want := range map[int]int{2: 2, 45: 45, 50: 50, 51: 50, 1: 2} {
		j.asked = nil
		opts := &retrieve.Options{Reranker: j, Reranked: reranked}
		first := search(t, retrieve.New(s, embed.Builtin{}, opts), retrieve.Request{Query: req.Query, TopK: 1})
		if len(j.asked) != 1 || len(j.asked[0]) != want || first[0].Memory.ID != plain[want-1].Memory.ID {
			t.Errorf("%d: %d judged, want %d", reranked, len(j.asked[0]), want)
		}
	}
	if few := search(t, retrieve.New(s, embed.Builtin{}, &retrieve.Options{Reranker: j}), retrieve.Request{Query: req.Query, TopK: 3}); !cmp.Equal(
		ids(few),
		ids(got)[:3],
	) {
		t.Errorf("topK 3: %v, want %v", ids(few), ids(got)[:3])
	}
}

// A reranker is not called for fewer than two matches.
func TestRerankNothing(t *testing.T) {
	j := likes("")
	r := retrieve.New(newStore(t, talk...), embed.Builtin{}, &retrieve.Options{Reranker: j})
	for query, n := range map[string]int{"peanuts": 1, "zzz": 0} {
		found := search(
			t,
			r,
			retrieve.Request{Query: query, Filter: memory.Filter{Kinds: []memory.Kind{memory.KindFact}}, Explain: true},
		)
		if len(found) != n || len(j.asked) != 0 {
			t.Errorf("%q: %d found, asked %d times", query, len(found), len(j.asked))
		}
		for _, m := range found {
			if slices.ContainsFunc(m.Explain.Parts, func(p memory.Part) bool { return p.Name == "reranker" }) {
				t.Errorf("%q: %v", query, m.Explain)
			}
		}
	}
}

// If the reranker fails in any way, a search answers as it would without one, and
// logs each failure once.
func TestRerankFails(t *testing.T) {
	s := newStore(t, talk...)
	req := retrieve.Request{Query: "What does Ann's sister play?", Explain: true}
	want := search(t, retrieve.New(s, embed.Builtin{}, nil), req)
	scores := func(change func([]float64) []float64) func(context.Context, []string) ([]float64, error) {
		return func(_ context.Context, texts []string) ([]float64, error) {
			out := make([]float64, len(texts))
			out[len(out)-1] = 1
			return change(out), nil
		}
	}
	with := func(score float64) func(context.Context, []string) ([]float64, error) {
		return scores(func(out []float64) []float64 { out[0] = score; return out })
	}
	for name, c := range map[string]struct {
		judge func(context.Context, []string) ([]float64, error)
		says  string
		asked int // in two searches
	}{
		"away":     {func(context.Context, []string) ([]float64, error) { return nil, memory.ErrUnavailable }, "unavailable", 1},
		"refuses":  {func(context.Context, []string) ([]float64, error) { return nil, extract.ErrRefused }, "refuses", 2},
		"none":     {scores(func([]float64) []float64 { return nil }), "0 scores for", 1},
		"too few":  {scores(func(out []float64) []float64 { return out[1:] }), "scores for", 1},
		"too many": {scores(func(out []float64) []float64 { return append(out, 0) }), "scores for", 1},
		"NaN":      {with(math.NaN()), "score NaN", 1},
		"below 0":  {with(-0.1), "score -0.1", 1},
		"above 1":  {with(10), "score 10", 1},
		"infinite": {with(math.Inf(1)), "score +Inf", 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				j := &judge{judge: c.judge}
				r := retrieve.New(
					s,
					embed.Builtin{},
					&retrieve.Options{Reranker: j, Log: slog.New(slog.NewTextHandler(&log, nil))},
				)
				for range 2 {
					if diff := cmp.Diff(want, search(t, r, req)); diff != "" {
						t.Errorf("found (-without +with):\n%s", diff)
					}
				}
				if n := strings.Count(log.String(), "search without the reranker"); n != c.asked ||
					len(j.asked) != c.asked ||
					!strings.Contains(log.String(), c.says) ||
					!strings.Contains(log.String(), "test:judge") {
					t.Errorf("asked %d times, and %d lines in the log, want %d:\n%s", len(j.asked), n, c.asked, &log)
				}
			})
		})
	}
}

// A search waits for a reranker for a limited time, and the searches after it not
// at all, for a while. A caller who leaves meanwhile does not open the breaker.
func TestRerankHangs(t *testing.T) {
	s := newStore(t, talk...)
	req := retrieve.Request{Query: "What does Ann's sister play?"}
	want := ids(search(t, retrieve.New(s, embed.Builtin{}, nil), req))
	synctest.Test(t, func(t *testing.T) {
		j := &judge{judge: func(ctx context.Context, _ []string) ([]float64, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		more := retrieve.New(s, embed.Builtin{}, &retrieve.Options{Reranker: j, Reranked: 50})
		begin := time.Now()
		if got := ids(search(t, more, req)); !cmp.Equal(want, got) || time.Since(begin) != 5*time.Second {
			t.Errorf("of fifty matches: %v after %v", got, time.Since(begin))
		}
		j.asked = nil
		r := retrieve.New(s, embed.Builtin{}, &retrieve.Options{Reranker: j})
		gone, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, leave)
		if found, err := r.Search(gone, ann, req); err != context.Canceled {
			t.Errorf("a caller who left: %v, %v", ids(found), err)
		}
		for i, c := range []struct {
			pause time.Duration
			asked int
			took  time.Duration
		}{{0, 2, 3 * time.Second}, {0, 2, 0}, {9 * time.Second, 2, 0}, {time.Second, 3, 3 * time.Second}} {
			time.Sleep(c.pause)
			begin := time.Now()
			got := ids(search(t, r, req))
			if took := time.Since(begin); !cmp.Equal(want, got) || len(j.asked) != c.asked || took != c.took {
				t.Errorf("search %d: %v, asked %d times, took %v", i, got, len(j.asked), took)
			}
		}
	})
}
