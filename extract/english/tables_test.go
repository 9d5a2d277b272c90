package english

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The text and the program have the same tables, and no table has a word twice.
func TestTables(t *testing.T) {
	for _, p := range tables.Problems() {
		t.Error(p)
	}
}

// Problems names every fault that a text of tables can have.
func TestProblems(t *testing.T) {
	tables := Parse("# a comment\nno table\nwords: one two one\nwords: three\nphrases: by the way,\n\tby the  way\n" +
		"variants:\n\ta = b, c\n\td = c\nunused: x\nincluded: one\nincluding: one\n")
	tables.Words("words")
	tables.Phrases("phrases")
	tables.Variants("variants")
	tables.Words("missing")
	tables.Words("including", tables.Words("included"))
	tables.Words("words")
	want := []string{
		`line "no table" begins no table, or one that was there before`,
		`line "words: three" begins no table, or one that was there before`,
		"nothing takes table no table",
		"nothing takes table unused",
		`table including has "one", and so has a table that it includes`,
		`table phrases has "by the way" twice`,
		`table variants has "c" twice`,
		"table words is taken twice",
		`table words has "one" twice`,
		`table words has "one" twice`,
		"there is no table missing",
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, tables.Problems()); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// A table is read as its text has it.
func TestParse(t *testing.T) {
	tables := Parse("words: one\n\ttwo\nphrases: by the way, by,\n\tfor now\n" +
		"variants:\n\tan aunt = auntie,\n\t\tmy aunt\n\tdad = daddy\n")
	words, phrases, variants := tables.Words("words"), tables.Phrases("phrases"), tables.Variants("variants")
	if !words.Has("one") || !words.Has("two") || words.Has("three") || words.Has("") {
		t.Errorf("words are %v", words)
	}
	ws := Split("And by the way, for now it is fine by me")
	for i, want := range []int{0, 3, 0, 0, 2, 0, 0, 0, 0, 1, 0, 0} {
		if got := phrases.Match(ws, i); got != want {
			t.Errorf("at word %d a phrase of %d words, want %d", i, got, want)
		}
	}
	if phrases.Match(ws, -1) != 0 || !phrases.Found(ws) || phrases.Found(ws[2:4]) {
		t.Error("phrases are found where none stand, or the reverse")
	}
	if diff := cmp.Diff([]string{"by", "for", "the"}, phrases.Longest()); diff != "" {
		t.Errorf("longest words (-want +got):\n%s", diff)
	}
	for w, want := range map[string]string{"auntie": "an aunt", "my aunt": "an aunt", "daddy": "dad", "mom": ""} {
		if got := variants.Of(w); got != want {
			t.Errorf("%s is %q, want %q", w, got, want)
		}
	}
	if p := tables.Problems(); len(p) > 0 {
		t.Error(p)
	}
}
