package evals

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBootstrap(t *testing.T) {
	same := func(n int, v float64) (out []float64) {
		for range n {
			out = append(out, v)
		}
		return out
	}
	for _, c := range []struct {
		name        string
		differences []float64
		mean        float64
		low, high   [2]float64 // within which the ends of the interval lie
		p           [2]float64
	}{
		{"of nothing", nil, 0, [2]float64{0, 0}, [2]float64{0, 0}, [2]float64{1, 1}},
		{"none", same(50, 0), 0, [2]float64{0, 0}, [2]float64{0, 0}, [2]float64{1, 1}},
		{"always the same", same(50, .5), .5, [2]float64{.5, .5}, [2]float64{.5, .5}, [2]float64{0, .001}},
		{"as often better as worse", append(same(50, .5), same(50, -.5)...), 0, [2]float64{-.11, -.08}, [2]float64{.08, .11}, [2]float64{1, 1}},
		// The standard error is .5·√(100/99)/10, so that t is 1.99.
		{"better in 60 of 100, worse in 40", append(same(60, .5), same(40, -.5)...), .1, [2]float64{-.01, .01}, [2]float64{.19, .21}, [2]float64{.03, .07}},
		{"better in 80 of 100, worse in 20", append(same(80, .5), same(20, -.5)...), .3, [2]float64{.21, .24}, [2]float64{.36, .39}, [2]float64{0, .001}},
		{"one of 100", append(same(99, 0), 1), .01, [2]float64{0, 0}, [2]float64{.03, .04}, [2]float64{.2, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := bootstrap(c.differences)
			within := func(what string, v float64, in [2]float64) {
				if v < in[0]-1e-9 || v > in[1]+1e-9 {
					t.Errorf("%s %v, want %v to %v", what, v, in[0], in[1])
				}
			}
			within("mean", got.Mean, [2]float64{c.mean, c.mean})
			within("low", got.Low, c.low)
			within("high", got.High, c.high)
			within("p", got.P, c.p)
			if again := bootstrap(c.differences); again != got {
				t.Errorf("%+v, then %+v", got, again)
			}
		})
	}
}

// Without a difference, p is below a value with the probability of that value.
func TestBootstrapOfChance(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	below := map[float64]int{.05: 0, .2: 0, .5: 0}
	const runs = 200
	for range runs {
		d := make([]float64, 25)
		for i := range d {
			d[i] = random.NormFloat64()
		}
		p := bootstrap(d).P
		for at := range below {
			if p < at {
				below[at]++
			}
		}
	}
	for at, n := range below {
		if off := 3.5 * math.Sqrt(at*(1-at)/runs); math.Abs(float64(n)/runs-at) > off {
			t.Errorf("p is below %v in %d of %d", at, n, runs)
		}
	}
}

// scored is a result of questions with one evidence each, at the given ranks,
// two questions a conversation.
func scored(setting string, ranks ...int) Result {
	r := Result{Setting: setting}
	for i, rank := range ranks {
		r.Answers = append(r.Answers, Answer{Conversation: string(rune('A' + i/2)), Question: string(rune('a' + i)), Category: "plain", Evidence: []Place{{"e", rank, rank}}, Tokens: make([]int, len(curve))})
	}
	r.summarize(&Dataset{Categories: []string{"plain"}, Pooled: "all"})
	return r
}

func TestCompare(t *testing.T) {
	a, b := scored("new", 1, 1, 2, 1), scored("old", 1, 2, 20, 0)
	got, err := Compare(&a, &b)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	for line := range strings.Lines(got) {
		if f := strings.Fields(line); len(f) > 0 {
			rows[f[0]] = f[1:]
		}
	}
	for name, want := range map[string]string{
		"recall@10": "1.000 0.500 +0.500 better 2 worse 0 A +0.000 B +1.000",
		"MRR":       "0.875 0.388 +0.487 better 3 worse 0 A +0.250 B +0.725",
	} {
		f := rows[name] // its last are better, worse, A and B
		if len(f) < 7 {
			t.Fatalf("no row %s:\n%s", name, got)
		}
		end := f[len(f)-4:]
		have := strings.Join(f[:3], " ") + " better " + end[0] + " worse " + end[1] + " A " + end[2] + " B " + end[3]
		if diff := cmp.Diff(want, have); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for name, other := range map[string]Result{"other questions": scored("old", 1, 2, 3, 4, 5), "another order": {Setting: "old", Answers: []Answer{b.Answers[1], b.Answers[0], b.Answers[2], b.Answers[3]}}} {
		if _, err := Compare(&a, &other); err == nil || !strings.Contains(err.Error(), "new against old: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Only differences beyond chance are marked.
func TestAblation(t *testing.T) {
	all, worse, alike := scored("all"), scored("no-a"), scored("no-b")
	var ranks, bad []int
	for i := range 60 {
		ranks, bad = append(ranks, 1+i%3), append(bad, 11+i%4)
	}
	all, worse = scored("all", ranks...), scored("no-a", bad...)
	ranks[0] = 2
	alike = scored("no-b", ranks...)
	got, err := Ablation([]Result{all, worse, alike})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(got), "\n")
	if n := len(lines); n != 6 || strings.Contains(lines[3], "*") || strings.Count(lines[4], "*") != 3 || strings.Contains(lines[5], "*") ||
		!strings.HasPrefix(strings.Join(strings.Fields(lines[4]), " "), "no-a 0.000 -1.000 ") {
		t.Errorf("%s", got)
	}
}
