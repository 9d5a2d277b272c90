package passage

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

const manual = "# Returns\n\nÜber 30 Tage.\r\n\r\n## Shoes ##\n\nShoes come back within sixty days, if they were worn indoors " +
	"only and the box is whole.\n\n```sh\n# no heading\n\nrun it\n```\n\nCosts\n-----\n\nEvery return is free of charge. " +
	"The label is in the box, or in your account on our page.\n\n### Abroad\n\nAbroad it costs five euros, which we take from what we pay " +
	"back to you afterwards.\n"

func TestCut(t *testing.T) {
	var got []string
	for _, p := range Cut(manual, true) {
		got = append(got, fmt.Sprintf("%s: %.30q", strings.Join(p.Headings, " > "), p.Text))
	}
	want := []string{
		`Returns: "# Returns\n\nÜber 30 Tage.\r\n\r\n##"`,
		`Returns > Costs: "Every return is free of charge"`,
		`Returns > Costs > Abroad: "Abroad it costs five euros, wh"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if first := Cut(manual, true)[0].Text; !strings.Contains(first, "# no heading\n\nrun it") || !strings.Contains(first, "## Shoes") {
		t.Errorf("the first passage is %q", first)
	}
	if plain := Cut(manual, false); len(plain[0].Headings) != 0 || !strings.HasPrefix(plain[0].Text, "# Returns") {
		t.Errorf("as plain text: %q", plain[0].Text)
	}
}

// Whatever the text, passages are in order, have what they say of their place, are no
// larger than they may be, and together have all of the text but headings and space.
func check(t *testing.T, text string, markdown bool) []Passage {
	t.Helper()
	characters := []rune(text)
	out := Cut(text, markdown)
	at, letters := 0, 0
	for _, p := range out {
		if p.Start < at || p.End > len(characters) || string(characters[p.Start:p.End]) != p.Text {
			t.Fatalf("%q is not at %d to %d, behind %d", p.Text, p.Start, p.End, at)
		}
		if len(p.Text) > most || strings.TrimSpace(p.Text) != p.Text || p.Text == "" || !utf8.ValidString(p.Text) {
			t.Fatalf("a passage is %q", p.Text)
		}
		if len(p.Headings) > 6 || slices.ContainsFunc(p.Headings, func(h string) bool { return h == "" || len(h) > maxHeading }) {
			t.Fatalf("headings %q", p.Headings)
		}
		at = p.End
		letters += len(strings.Join(strings.Fields(p.Text), ""))
	}
	if whole := len(strings.Join(strings.Fields(text), "")); !markdown && letters != whole {
		t.Fatalf("of %d letters %d are in passages", whole, letters)
	}
	return out
}

func TestCutSizes(t *testing.T) {
	for name, text := range map[string]string{
		"nothing": "", "space": " \n\t\n", "one word": strings.Repeat("x", 5000), "one word of wide letters": strings.Repeat("日", 5000),
		"no space":   strings.Repeat("日本語。", 3000),
		"sentences":  strings.Repeat("This is a sentence of some words. ", 1000),
		"paragraphs": strings.Repeat("A paragraph that is short.\n\n", 1000),
		"lines":      strings.Repeat("a line of a list\n", 2000),
		"headings":   strings.Repeat("# A\n\n## B\n\nx\n\n", 5000),
		"titles":     strings.Repeat("# "+strings.Repeat("é", 3000)+"\n\ntext\n\n", 10),
		"open fence": "```\n" + strings.Repeat("code\n\n", 2000),
	} {
		for _, markdown := range []bool{false, true} {
			if out := check(t, text, markdown); len(out) > len(text)/least+1 {
				t.Errorf("%s: %d passages of %d bytes", name, len(out), len(text))
			}
		}
	}
}

func FuzzCut(f *testing.F) {
	f.Add(manual, true)
	f.Add("a\n===\n\n~~~\nb\n~~~~\n# c", true)
	f.Fuzz(func(t *testing.T, text string, markdown bool) {
		if utf8.ValidString(text) {
			check(t, text, markdown)
		}
	})
}
