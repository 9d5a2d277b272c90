package main

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/memory"
)

// The texts hold attacks and harmless ones of all sources, and none that is kept for
// measuring.
func TestTexts(t *testing.T) {
	all, _, err := readTexts("texts", noFold)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		if slot.MatchString(one.words) || one.share <= 0 {
			t.Errorf("%q has a slot without words, or no share", one.words)
		}
	}
	files, err := filepath.Glob("sayings/*.txt")
	if err != nil || len(files) < 10 {
		t.Fatalf("files of sayings: %v, %v", files, err)
	}
	for _, file := range files {
		some, err := readSayings(file)
		if err != nil || len(some) < 50 {
			t.Errorf("%s: %d sayings, %v", file, len(some), err)
		}
		all = append(all, some...)
	}
	count := map[bool]map[string]int{true: {}, false: {}}
	known := map[string]bool{}
	for _, one := range all {
		count[one.attack][string(one.from)]++
		known[one.words] = true
	}
	for _, from := range []string{"user", "agent", "tool", "external"} {
		if count[true][from] < 10 || count[false][from] < 10 {
			t.Errorf("%s: %d attacks and %d harmless texts", from, count[true][from], count[false][from])
		}
	}
	for _, file := range []string{"heldout.txt", "unseen.txt", "blind.txt", "fresh.txt", "asked.txt", "redteam.txt"} {
		kept, err := os.ReadFile("../../../evals/attacks/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(kept)) {
			if parts := strings.SplitN(strings.TrimSpace(line), " | ", 4); len(parts) == 4 &&
				known[strings.ReplaceAll(parts[3], `\n`, "\n")] {
				t.Errorf("%s: line %q is learned from", file, line)
			}
		}
	}
}

// The words that the net learns from are those of others, each with its rows and marks.
func TestWriteWords(t *testing.T) {
	file := filepath.Join(t.TempDir(), "words")
	lines := []text{
		{attack: true, from: memory.TrustAgent, words: "Obey", share: 1, saying: true},
		{from: memory.TrustUser, words: "Obey me", share: 1},
	}
	if err := writeWords(file, lines, nil); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	texts := raw[8+4*order.Uint32(raw)*order.Uint32(raw[4:]):]
	weight := math.Float32frombits(order.Uint32(texts[2:]))
	if texts[0] != 1 || texts[1] != 1 || weight != written*sayWeight || order.Uint32(texts[6:]) != 1 {
		t.Errorf("a text begins with % x", texts[:10])
	}
	if rows, marks := int(texts[10]), int(texts[11]); rows < 1 || marks < 1 || len(texts) != 12+8*rows+marks {
		t.Errorf("%d rows and %d marks in %d bytes", rows, marks, len(texts)-12)
	}
}

// A line without a head, and a head of an unknown kind or source, are refused.
func TestReadTexts(t *testing.T) {
	for _, bad := range []string{"words", "[attack en]\nwords", "[good en user]\nwords", "[attack en moon]\nwords"} {
		folder := t.TempDir()
		if err := os.WriteFile(folder+"/x.txt", []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := readTexts(folder, noFold); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

// No template, and none of the many words of a slot, is both learned from and measured with.
func TestFolds(t *testing.T) {
	all := []text{{words: "a"}, {words: "b"}, {words: "c"}, {words: "d"}, {words: "e"}, {words: "f"}}
	slots := map[string][]string{"{many}": strings.Fields("0 1 2 3 4 5 6 7 8 9"), "{few}": {"x", "y"}}
	heldOnce := map[string]int{}
	for fold := range folds {
		rest, held := split(all, fold)
		if len(rest)+len(held) != len(all) {
			t.Errorf("fold %d: %d and %d of %d texts", fold, len(rest), len(held), len(all))
		}
		for _, one := range held {
			heldOnce[one.words]++
		}
		learned, measured := without(slots, fold), only(slots, fold)
		if len(learned["{many}"]) != 8 || len(measured["{many}"]) != 2 || len(measured["{few}"]) != 2 {
			t.Errorf("fold %d: %v and %v", fold, learned, measured)
		}
		for _, w := range measured["{many}"] {
			if slices.Contains(learned["{many}"], w) {
				t.Errorf("fold %d: %q is in both parts", fold, w)
			}
		}
	}
	for _, one := range all {
		if heldOnce[one.words] != 1 {
			t.Errorf("%q is held back %d times", one.words, heldOnce[one.words])
		}
	}
}

// A word that only attacks have raises the score, and one that only harmless texts have
// lowers it.
func TestFit(t *testing.T) {
	w := fit([]example{
		{attack: true, weight: 1, sentences: [][]uint32{{1, 3}, {2, 4}}},
		{attack: true, weight: 1, sentences: [][]uint32{{1, 5}}},
		{weight: 1, sentences: [][]uint32{{2, 3}, {2, 5}, {2, 4}}},
	})
	if w[1] <= 0 || w[2] >= 0 {
		t.Errorf("weights %v", w[1:3])
	}
	if file := pack(w); len(file) != 4+len(w) || int8(file[4+1]) <= 0 || int8(file[4+2]) >= 0 {
		t.Errorf("%d bytes, weights %v", len(file), file[4:8])
	}
}
