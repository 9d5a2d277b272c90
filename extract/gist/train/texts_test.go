package main

import (
	"testing"

	"github.com/memoryd/memoryd/extract/gist"
)

// Every theme has sentences of every kind.
func TestTexts(t *testing.T) {
	names, examples, err := readTexts("texts.tsv")
	if err != nil {
		t.Fatal(err)
	}
	counts := make([][gist.Kinds]int, len(names))
	for _, e := range examples {
		counts[e.theme][e.kind]++
	}
	for i, byKind := range counts {
		for k, n := range byKind {
			if n < 5 {
				t.Errorf("%s has %d sentences of kind %q, want 5", names[i], n, gist.KindNames[k])
			}
		}
	}
}

// A few sentences are learned, and other words of their themes are read by the vector.
func TestLearn(t *testing.T) {
	_, all, err := readTexts("texts.tsv")
	if err != nil {
		t.Fatal(err)
	}
	few := all[:300] // of the first two themes
	w := learn([]string{"a", "b", "c"}, few)
	scores := make([]float64, 3+gist.Kinds)
	right := 0
	for i := range few {
		w.score(few[i].list, few[i].vector, gist.Size(few[i].list), scores)
		if scores[few[i].theme] > scores[1-min(1, few[i].theme)] {
			right++
		}
	}
	if right < 250 {
		t.Errorf("%d of 300 sentences are read as learned", right)
	}
	if got := len(w.pack()); got != 4+5+8+(3+gist.Kinds)*(1+gist.Buckets+gist.Dimension) {
		t.Errorf("the file has %d bytes", got)
	}
}

// The weights of pairs tell pairs that none of them was learned from apart.
func TestLearnPairs(t *testing.T) {
	all, err := readPairs("pairs.tsv")
	if err != nil {
		t.Fatal(err)
	}
	learned, apart := split(all, 6)
	w := learnPairs(learned)
	var n, judged [2]int
	for _, p := range apart {
		k := 0
		if p.replaces {
			k = 1
		}
		n[k]++
		if p.seen != nil && probability(w, p.seen) >= .5 {
			judged[k]++
		}
	}
	if judged[1] < n[1]*2/3 || judged[0] > n[0]/5 {
		t.Errorf("%d of %d that replace, and %d of %d others, are judged to replace", judged[1], n[1], judged[0], n[0])
	}
	if got := len(w); got != len(gist.PairNames)+80 {
		t.Errorf("%d weights", got)
	}
}
