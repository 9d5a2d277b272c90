package dates

import (
	"slices"
	"testing"
	"time"

	"github.com/memoryd/memoryd/extract/english"
)

// monday8May is when the examples of the rules are said.
var monday8May = time.Date(2023, 5, 8, 13, 56, 0, 0, time.UTC)

// Every row reads its own example, and so none of them is hidden by a row above it.
func TestRules(t *testing.T) {
	for _, r := range rules {
		ws := english.Split(r.example)
		m, ok := firstMatch(lowerASCII(r.example), r.example, 0)
		if !ok || m.rule != r {
			t.Errorf("%q is not read by its own row", r.example)
			continue
		}
		got := Find(r.example, ws, 0, monday8May)
		if len(got) != 1 || got[0].Note != r.means {
			t.Errorf("%q gives %+v, want the note %q", r.example, got, r.means)
		}
	}
}

func TestTables(t *testing.T) {
	for _, p := range tables.Problems() {
		t.Error(p)
	}
}

func TestWholeWords(t *testing.T) {
	for text, want := range map[string]bool{
		"today": true, "(today)": true, "today.": true, "today's": true, "today – yes": true, "today—yes": true,
		"“today”": true, "yes—today": true,
		"today-ish": false, "/today": false, "@today": false, "#today": false, "today_x": false, "étoday": false,
		"todayé": false, "3today": false,
	} {
		left := len(text)
		for i := range text {
			if len(text) >= i+5 && text[i:i+5] == "today" {
				left = i
			}
		}
		if got := wholeWords(text, left, left+len("today")); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestTense(t *testing.T) {
	for text, want := range map[string]bool{
		"I went there X":                    true,
		"X I went there":                    true,
		"I have been there X":               true,
		"I want to go there X":              false,
		"I booked a flight X":               false,
		"I am excited X":                    false,
		"My exam is X":                      false,
		"I am going there X":                false,
		"I will be gone X":                  false,
		"I left and I am going back X":      false,
		"I am going there but I left X now": true,
		"X":                                 false,
	} {
		ws := english.Split(text)
		at := slices.IndexFunc(ws, func(w english.Word) bool { return w.Text == "x" })
		if got, _ := direction(ws, 0, ws[at].Start); got != want {
			t.Errorf("%q is told in the past: %v", text, got)
		}
	}
}
