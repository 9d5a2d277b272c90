package evals

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
)

// found makes results of one memory each, which cites events.
func found(cites ...[]string) (out []memory.Match) {
	for _, ids := range cites {
		out = append(out, memory.Match{Memory: memory.Memory{Fact: strings.Repeat("word", len(ids)), Source: memory.Source{EventIDs: ids}}})
	}
	return out
}

// A result that cites five turns fills five ranks; a turn that was cited before
// fills none.
func TestPlaces(t *testing.T) {
	results := found([]string{"a"}, []string{"b", "a", "c"}, nil, []string{"c"}, []string{"d", "e"})
	got := places(results, []string{"c", "e", "a", "z"})
	want := []Place{{"c", 3, 2}, {"e", 5, 5}, {"a", 1, 1}, {"z", 0, 0}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// One token a word: the results have 1, 3, 0, 1 and 2 tokens.
	if diff := cmp.Diff([]int{1, 4, 4, 7, 7, 7, 7, 7, 7, 7, 7}, tokens(results)); diff != "" {
		t.Errorf("tokens (-want +got):\n%s", diff)
	}
}

// Two results that are in the block of an answer have half of the evidence.
func TestShown(t *testing.T) {
	got := shown(&retrieve.Answer{Matches: found([]string{"a"}, []string{"b"})}, []string{"b", "x"})
	if want := [...]float64{.5, .5}; got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// The wanted figures are calculated by hand.
func TestMetrics(t *testing.T) {
	log2 := math.Log2
	for _, c := range []struct {
		name  string
		ranks []int // of the evidence; 0 is not found
		want  map[string]float64
	}{
		{"on top", []int{1}, map[string]float64{"recall@1": 1, "recall@5": 1, "recall@10": 1, "recall@25": 1, "recall@50": 1, "hit@10": 1, "MRR": 1, "nDCG@10": 1}},
		{"not found", []int{0, 0}, map[string]float64{"recall@1": 0, "recall@5": 0, "recall@10": 0, "recall@25": 0, "recall@50": 0, "hit@10": 0, "MRR": 0, "nDCG@10": 0}},
		{"third", []int{3}, map[string]float64{"recall@1": 0, "recall@5": 1, "recall@10": 1, "recall@25": 1, "recall@50": 1, "hit@10": 1, "MRR": 1. / 3, "nDCG@10": 1. / 2}},
		{"eleventh", []int{11}, map[string]float64{"recall@1": 0, "recall@5": 0, "recall@10": 0, "recall@25": 1, "recall@50": 1, "hit@10": 0, "MRR": 1. / 11, "nDCG@10": 0}},
		{"beyond all ranks told", []int{60}, map[string]float64{"recall@1": 0, "recall@5": 0, "recall@10": 0, "recall@25": 0, "recall@50": 0, "hit@10": 0, "MRR": 1. / 60, "nDCG@10": 0}},
		{"first and seventh of three", []int{7, 0, 1}, map[string]float64{"recall@1": 1. / 3, "recall@5": 1. / 3, "recall@10": 2. / 3, "recall@25": 2. / 3, "recall@50": 2. / 3, "hit@10": 1, "MRR": 1,
			"nDCG@10": (1 + 1./3) / (1 + 1/log2(3) + 1./2)}},
		{"two of twelve, of which ten are ideal", []int{2, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 30}, map[string]float64{"recall@1": 0, "recall@5": 1. / 12, "recall@10": 2. / 12, "recall@25": 2. / 12,
			"recall@50": 3. / 12, "hit@10": 1, "MRR": 1. / 2,
			"nDCG@10": (1/log2(3) + 1/log2(11)) / (1 + 1/log2(3) + 1./2 + 1/log2(5) + 1/log2(6) + 1/log2(7) + 1./3 + 1/log2(9) + 1/log2(10) + 1/log2(11))}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.want["1000 tokens"], c.want["2000 tokens"] = .25, .75
			a := Answer{Shown: [...]float64{.25, .75}}
			for _, rank := range c.ranks {
				a.Evidence = append(a.Evidence, Place{Rank: rank})
			}
			got := row("", []Answer{a}).Figures
			if len(got) != len(c.want) {
				t.Errorf("figures %v", got)
			}
			for name, want := range c.want {
				if math.Abs(got[name]-want) > 1e-12 {
					t.Errorf("%s %v, want %v", name, got[name], want)
				}
			}
		})
	}
}

func TestQuantile(t *testing.T) {
	values := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for share, want := range map[float64]float64{0: 1, .5: 6, .95: 10, .99: 10, 1: 10} {
		if got := quantile(values, share); got != want {
			t.Errorf("%v: %v, want %v", share, got, want)
		}
	}
	if got := quantile(nil, .5); got != 0 {
		t.Errorf("of none: %v", got)
	}
}

// Questions that stand apart count in their own group alone, and a group
// without questions has zeros.
func TestSummary(t *testing.T) {
	d := &Dataset{Categories: []string{"easy", "hard", "odd"}, Pooled: "pool", Apart: "odd"}
	answer := func(category string, rank, result int) Answer {
		return Answer{Category: category, Apart: category == d.Apart, Evidence: []Place{{"a", rank, result}}, Tokens: []int{10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110}, Millis: float64(rank)}
	}
	r := Result{Answers: []Answer{answer("easy", 1, 1), answer("easy", 4, 2), answer("odd", 0, 0)}}
	r.summarize(d)
	type brief struct {
		Group  string
		N      int
		Recall float64
	}
	var got []brief
	for _, g := range r.Groups {
		got = append(got, brief{g.Group, g.N, g.Figures["recall@1"]})
	}
	if diff := cmp.Diff([]brief{{"pool", 2, .5}, {"of several turns", 0, 0}, {"easy", 2, .5}, {"hard", 0, 0}, {"odd", 1, 0}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Point{{1, 10, .5}, {2, 20, 1}, {3, 30, 1}}, r.Curve[:3]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if r.Search.P50 != 1 || r.Search.P99 != 4 {
		t.Errorf("search %+v", r.Search)
	}
}
