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

// Score is how near the facts at the end of a case come to those wanted; or of
// all cases, added up.
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
	Err error // why the extractor has not come to the end of it
}

// Precision is how much of what was found is right; nothing found is nothing
// wrong.
func (s *Score) Precision() float64 { return share(s.Right, s.Found) }

// Recall is how much of what was wanted is right.
func (s *Score) Recall() float64 { return share(s.Right, s.Wanted) }

// F1 is the harmonic mean of both.
func (s *Score) F1() float64 { return share(2*s.Right, s.Found+s.Wanted) }

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

// Run plays cases with an extractor and an embedder, in stores of their own,
// and gives the score of all; each is called with that of every case when it is
// known, and an error of it ends the run. A case that the extractor refuses, or
// does not answer legibly, counts with what it has come to, and is an error in
// the end; any other failure of the extractor ends the run at once.
func Run(ctx context.Context, x extract.Extractor, e embed.Embedder, cases []Case, each func(Score) error) (Score, error) {
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

// alike is from where on two texts say the same thing: half of their words.
const alike = 0.5

// score matches facts one to one, those first that are most alike. What is
// found as current and wanted as superseded, or the other way round, is matched
// and not right, so that neither is taken for another fact of its kind.
func score(want, got []Fact) Score {
	type pair struct {
		want, got int
		f1        float64
		both      int // words that they share
		agree     bool
	}
	var pairs []pair
	words := func(facts []Fact) (out []map[string]int) {
		for i := range facts {
			out = append(out, counts(facts[i].Text))
		}
		return out
	}
	wanted, found := words(want), words(got)
	for i := range want {
		for j := range got {
			if f1, both := overlap(wanted[i], found[j]); f1 >= alike {
				pairs = append(pairs, pair{i, j, f1, both, want[i].Until.IsZero() == got[j].Until.IsZero()})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int {
		first := cmp.Or(cmp.Compare(b.f1, a.f1), cmp.Compare(b.both, a.both))
		switch {
		case first == 0 && a.agree && !b.agree:
			return -1
		case first == 0 && b.agree && !a.agree:
			return 1
		}
		return first
	})
	s := Score{Wanted: len(want), Found: len(got)}
	byWant, byGot := map[int]bool{}, map[int]bool{}
	rightWant, rightGot := map[int]bool{}, map[int]bool{}
	for _, p := range pairs {
		if byWant[p.want] || byGot[p.got] {
			continue
		}
		byWant[p.want], byGot[p.got] = true, true
		switch {
		case p.agree:
			s.Right++
			rightWant[p.want], rightGot[p.got] = true, true
		case got[p.got].Until.IsZero():
			s.Standing++
		}
	}
	for i, f := range want {
		if !rightWant[i] {
			s.Missing = append(s.Missing, f)
		}
	}
	for i, f := range got {
		if !rightGot[i] {
			s.Wrong = append(s.Wrong, f)
		}
	}
	return s
}

// counts is how often each word is in a text. Those of no weight, "not" among
// them, are left out, as when memories are looked for.
func counts(text string) map[string]int {
	out := map[string]int{}
	for _, w := range analyzer.Words(text) {
		out[w]++
	}
	return out
}

// overlap is the F1 of the words of two texts, and how many they share.
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
