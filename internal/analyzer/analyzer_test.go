package analyzer_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/internal/analyzer"
	"github.com/memoryd/memoryd/memory"
)

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "",
		"What is it that you do?":   "",
		"She was running, he runs":  "run run",
		"Café CAFÉ cafe\u0301":      "cafe cafe cafe",
		"Melanie's sister’s dogs":   "melani sister dog",
		"don't can’t":               "",
		"in May 2023":               "may 2023",
		"3.5 km on 2023-05-08":      "3.5 km 2023 05 08",
		"ﬁne Ⅳ ﬀ":                   "fine iv ff",
		"ann@example.com":           "ann example.com",
		"🎉 !!! — …":                 "🎉",
		"Straße ÜBER naïve":         "strass uber naiv",
		"Привет мир":                "привет мир",
		"user_id snake_case":        "user_id snake_case",
		strings.Repeat("x", 100):    "",
		"one\ttwo\nthree\u00a0four": "one two three four",
	} {
		if got := strings.Join(analyzer.Words(text), " "); got != want {
			t.Errorf("Words(%q) = %q, want %q", text, got, want)
		}
	}
}

// A memory is found by what was said, who said it, and when.
func TestOf(t *testing.T) {
	m := memory.Memory{Author: "Ann", Fact: "I like tea. Green tea!", Timestamp: time.Date(2023, 5, 8, 23, 30, 0, 0, time.FixedZone("", -3600))}
	want := memory.Terms{"ann": 1, "like": 1, "tea": 2, "green": 1, "9": 1, "may": 1, "2023": 1}
	if diff := cmp.Diff(want, analyzer.Of(&m)); diff != "" {
		t.Errorf("terms (-want +got):\n%s", diff)
	}
}

// A question's words are asked for once each.
func TestQuestion(t *testing.T) {
	want := []string{"tea", "coffe"}
	if diff := cmp.Diff(want, analyzer.Question("Tea, or coffee? Tea!")); diff != "" {
		t.Errorf("words (-want +got):\n%s", diff)
	}
}

func FuzzWords(f *testing.F) {
	for _, s := range []string{"", "Hello, world", "don't", "日本語のテキスト", "a\xffb", "\u0301", "👩‍👩‍👧", strings.Repeat("é", 200), "'s", "’"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, w := range analyzer.Words(text) {
			if w == "" {
				t.Errorf("Words(%q) has an empty word", text)
			}
			if utf8.ValidString(text) && !utf8.ValidString(w) {
				t.Errorf("Words(%q) has %q, which is not UTF-8", text, w)
			}
		}
	})
}

func BenchmarkWords(b *testing.B) {
	const text = "I went to the farmers' market yesterday and bought apples, pears and a melon for my sister's birthday."
	b.ReportAllocs()
	for b.Loop() {
		analyzer.Words(text)
	}
}
