package evals

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/internal/analyzer"
)

// Score is how near the facts at the end of a case come to the wanted ones, or the
// sum of several scores.
type Score struct {
	Case   string
	Wanted int
	Found  int
	Right  int // found, wanted, and both current or both superseded
	// Standing counts contradictions left standing: facts that are superseded
	// by the end, and found as current.
	Standing int
	Missing  []Fact // wanted and not right
	Wrong    []Fact // found and not right
	extract.Usage
	Err error // why the extractor has not finished the case
}

// Precision is the share of the found facts that are right; 1 if none was found.
func (s *Score) Precision() float64 { return share(s.Right, s.Found) }

// Recall is the share of the wanted facts that were found; 1 if none was wanted.
func (s *Score) Recall() float64 { return share(s.Right, s.Wanted) }

// F1 is the harmonic mean of precision and recall.
func (s *Score) F1() float64 { return share(2*s.Right, s.Found+s.Wanted) }

// share is part of whole; all of nothing is 1.
func share(part, whole int) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}

func (s *Score) add(o *Score) {
	s.Wanted += o.Wanted
	s.Found += o.Found
	s.Right += o.Right
	s.Standing += o.Standing
	s.Usage = s.Usage.Add(o.Usage)
}

// Run plays cases with an extractor and an embedder, in stores of their own, and
// returns the score of all of them. It calls each with the score of every case as
// it becomes known, and ends at an error of each. A case that the extractor
// refuses, or answers illegibly, counts with the facts so far,
// and its error is returned at the end. Any other failure of the extractor ends
// the run at once.
func Run(ctx context.Context, x extract.Extractor, e embed.Embedder, cases []Case,
	each func(Score) error) (Score, error) {
	var all Score
	var failed []error
	for _, c := range cases {
		got, used, err := play(ctx, x, e, c)
		if err != nil {
			err = fmt.Errorf("case %s: %w", c.Name, err)
			if !errors.Is(err, extract.ErrRefused) && !errors.Is(err, extract.ErrUnreadable) {
				return all, err
			}
			failed = append(failed, err)
		}
		s := score(c.Want, got)
		s.Case, s.Usage, s.Err = c.Name, used, err
		all.add(&s)
		if err := each(s); err != nil {
			return all, err
		}
	}
	return all, errors.Join(failed...)
}

// alike is the F1 of their words from which on two texts can say the same thing.
const alike = 0.5

// pair is a wanted and a found fact that are alike, by their places in the lists.
type pair struct {
	want, got int
	f1        float64
	both      int // words that they share
	agree     bool
}

// score matches facts one to one, most alike first. A fact found as current and
// wanted as superseded, or the other way round, is matched and not right, so that
// neither is taken for another fact of its kind.
func score(want, got []Fact) Score {
	s := Score{Wanted: len(want), Found: len(got)}
	matchedWant, matchedGot := make([]bool, len(want)), make([]bool, len(got))
	rightWant, rightGot := make([]bool, len(want)), make([]bool, len(got))
	for _, p := range pairs(want, got) {
		if matchedWant[p.want] || matchedGot[p.got] {
			continue
		}
		matchedWant[p.want], matchedGot[p.got] = true, true
		if p.agree {
			s.Right++
			rightWant[p.want], rightGot[p.got] = true, true
		} else if got[p.got].Until.IsZero() {
			s.Standing++
		}
	}
	s.Missing, s.Wrong = others(want, rightWant), others(got, rightGot)
	return s
}

// pairs are all wanted and found facts that are alike, the most alike first. Of
// two pairs that are as much alike, the one that agrees on whether the fact holds
// comes first.
func pairs(want, got []Fact) (out []pair) {
	found := make([]map[string]int, len(got))
	for i := range got {
		found[i] = counts(got[i].Text)
	}
	for i := range want {
		wanted := counts(want[i].Text)
		for j := range got {
			if f1, both := overlap(wanted, found[j]); f1 >= alike {
				out = append(out, pair{i, j, f1, both, want[i].Until.IsZero() == got[j].Until.IsZero()})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b pair) int {
		return cmp.Or(cmp.Compare(b.f1, a.f1), cmp.Compare(b.both, a.both), cmp.Compare(rank(a.agree), rank(b.agree)))
	})
	return out
}

// rank sorts pairs that agree before those that do not.
func rank(agree bool) int {
	if agree {
		return 0
	}
	return 1
}

// others are the facts that are not marked.
func others(facts []Fact, marked []bool) (out []Fact) {
	for i, f := range facts {
		if !marked[i] {
			out = append(out, f)
		}
	}
	return out
}

// counts is how often each word is in a text. Words without weight in a search,
// "not" among them, are left out.
func counts(text string) map[string]int {
	out := map[string]int{}
	for _, w := range analyzer.Words(text) {
		out[w]++
	}
	return out
}

// overlap is the F1 of the words of two texts, and the number that they share.
func overlap(a, b map[string]int) (f1 float64, both int) {
	all := 0
	for w, n := range a {
		both += min(n, b[w])
		all += n
	}
	for _, n := range b {
		all += n
	}
	if all == 0 {
		return 0, 0
	}
	return 2 * float64(both) / float64(all), both
}
