package legible_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/memoryd/memoryd/internal/legible"
)

// unseen reports whether Unicode gives a character no glyph: what it has readers
// ignore, format and control characters, and noncharacters.
func unseen(r rune) bool {
	ignorable := unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Cf)
	return ignorable || unicode.In(r, unicode.Cc, unicode.Noncharacter_Code_Point) && r != '\n' && r != '\t'
}

// No character that cannot be seen stays in a word, at its ends, between emoji or
// digits, alone, or in a run.
func TestAllOfUnicode(t *testing.T) {
	n := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		between := "a" + string(r) + "b"
		got := legible.Text(between)
		if again := legible.Text(got); again != got {
			t.Fatalf("%U: %q, and then %q", r, got, again)
		}
		switch {
		case unicode.IsSpace(r) || r == 0x2800 || r == 0x13441 || r == 0x13442:
			if got != "a b" && got != "a\nb" && got != "a\tb" {
				t.Errorf("%U, white space: %q", r, got)
			}
		case unseen(r) || r == 0x16fe4 || r == 0x1d159:
			n++
			if got != "ab" {
				t.Errorf("%U: %q", r, got)
			}
			for text, want := range map[string]string{
				string(r): "", string(r) + "a": "a", "a" + string(r): "a", "1" + string(r) + "2": "12",
				"a" + strings.Repeat(string(r), 300) + "b": "ab", "世" + string(r) + "界": "世界",
			} {
				if got := legible.Text(text); got != want && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) {
					t.Errorf("%q: %q, want %q", text, got, want)
				}
			}
			if got := legible.Text("🐱" + strings.Repeat(string(r), 9) + "b"); len(got) > len("🐱\ufe0fb") {
				t.Errorf("a run of %U after an emoji: %q", r, got)
			}
			if got := legible.Text("ب" + strings.Repeat(string(r), 9) + "ب"); len(got) > len("ب\u200cب") {
				t.Errorf("a run of %U after an Arabic letter: %q", r, got)
			}
			if got := legible.Text("क्" + strings.Repeat(string(r), 9) + "क"); len(got) > len("क्\u200dक") {
				t.Errorf("a run of %U after a virama: %q", r, got)
			}
		case unicode.Is(unicode.Co, r):
			if got != "a\uFFFDb" {
				t.Errorf("%U, of private use: %q", r, got)
			}
		case got != between:
			t.Errorf("%U can be seen: %q", r, got)
		}
	}
	if n < 4000 {
		t.Errorf("%d characters that cannot be seen", n)
	}
}

// Words and emoji that need hidden characters keep them.
func TestNeeded(t *testing.T) {
	for _, text := range []string{
		"می‌خواهم", "کتاب‌ها", "خانه‌ای", "نمی‌دانم", // Persian
		"١٤٤٥ه‍",                           // the sign of the Hijri calendar
		"په‌نجه‌ره‌",                       // Kurdish
		"क्‍ष", "क्‌ष", "शर्‍मा", "गर्‍यो", // Hindi, Marathi, Nepali
		"অ‌্যাপ", "র‍্যাব", // Bengali
		"അവന്‍", "നന്‍മ", "എണ്‍പത്", // Malayalam
		"ශ්‍රී ලංකාව", "ක්‍යු", // Sinhala
		"హైదరాబాద్‌", "బస్‌లు", "ರ‍್ಯಾಲಿ", // Telugu, Kannada
		"ᠮᠣᠩᠭᠣᠯ ᠬᠡᠯᠡ᠌", "ᠰᠠᠶᠢᠨ ᠤᠤ ᠵᠠᠷᠯᠢᠭ᠎ᠠ", // Mongolian
		"۝١٢", "؀١٢٣", // the end of a verse, a number
		"👨‍👩‍👧‍👦", "👩🏽‍🔬", "🏳️‍🌈", "🏴‍☠️", "❤️‍🔥", "👁️‍🗨️", "🧑‍⚕️", "🙂‍↔️", "🐦‍⬛", "👩‍❤️‍💋‍👨", // sequences
		"👍🏿", "☺️", "☺︎", "✈️", "⚠️", "™️", "‼️", "〰️", "㊗️", "▶️", "◻️",
		"🇩🇪", "🇺🇳", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "🏴󠁧󠁢󠁷󠁬󠁳󠁿", // flags
		"1️⃣", "#️⃣", "*️⃣", "7⃣", // keycaps
		"e\u0301", "Zürich", "ครับ", "ខ្មែរ", "မြန်မာ", "שָׁלוֹם", "한국어", "a[i] <b>\n\tif x {", "\uFFFD",
	} {
		if got := legible.Text(text); got != text {
			t.Errorf("%+q became %+q", text, got)
		}
	}
}

// Hidden characters that stay somewhere do not stay elsewhere, and what stays is
// too little to write with.
func TestNotNeeded(t *testing.T) {
	for text, want := range map[string]string{
		"می‌‌‌خواهم":                            "می‌خواهم",
		"کت‍اب":                                 "کتاب", // within a word
		"پ‍‌‍‌‍ن":                               "پ‌ن",
		"क‍‌क":                                  "कक",
		"क्‍‌‍‌क":                               "क्‍क",
		"Auf\u200clage":                         "Auflage",
		"👩\u200d\u200d👧":                        "👩\u200d👧",
		"👩\u200d":                               "👩",
		"👩\u200d\u200b\ufe0f👧":                  "👩\u200d👧",
		"👩\u200da":                              "👩a",
		"\u200d👩":                               "👩",
		"☺\ufe0f\ufe0f\ufe0e\ufe0f":             "☺\ufe0f",
		"1\ufe0f2\ufe0e3":                       "123",
		"a\ufe0f\u20e3":                         "a\u20e3",
		"葛\U000e0100城":                          "葛城",
		"0\ufe00 \u2229\ufe00":                  "0 \u2229",
		"🏴\U000e0061\U000e0062":                 "🏴",
		"🏴" + tags("gbeng"):                     "🏴",
		"🏴" + tags("usca\x7f"):                  "🏴",
		"🏴" + tags("gbeng\x7fgbeng"):            "🏴" + tags("gbeng\x7f"),
		tags("ignore all"):                      "",
		"x" + tags("\x01") + "y":                "xy",
		"אב\u200e\u202eגד\u2069":                "אבגד",
		"a\u00ad\u200b\u2060\ufeffb":            "ab",
		"한\u115f\u1160\u3164\uffa0글":            "한글",
		"⠓⠊\u2800⠽⠕":                            "⠓⠊ ⠽⠕",
		"a\u00a0\u3000\u202f\u1680b":            "a    b",
		"a\r\nb\rc\vd\fe\u0085f\u2028g\u2029h":  "a\nb\nc\nd\ne\nf\ng\nh",
		"a\x1b[31mb\x00\x7f\u009bc":             "a[31mbc",
		"\ue000\U000f0000\U0010fffd":            "\uFFFD\uFFFD\uFFFD",
		"\u0600a \u06dd":                        "a ",
		"\u1820\u180b\u180b\u180e\u180fx\u180b": "\u1820\u180bx",
		"\xff\xe2\x80":                          "\uFFFD\uFFFD\uFFFD",
	} {
		if got := legible.Text(text); got != want {
			t.Errorf("%+q became %+q, want %+q", text, got, want)
		}
	}
	if got := legible.Line(" \u2800a\u2028\t\u200b b\u00a0\n"); got != "a b" {
		t.Errorf("a line: %q", got)
	}
}

func tags(text string) string {
	return strings.Map(func(r rune) rune { return 0xe0000 + r }, text)
}

// Runes tells where each character was.
func TestRunes(t *testing.T) {
	var got []string
	for i, r := range legible.Runes("é\u200b\r\nx\u00a0") {
		got = append(got, fmt.Sprintf("%d%q", i, r))
	}
	if want := `[0'é' 6'\n' 7'x' 8' ']`; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}

func FuzzText(f *testing.F) {
	f.Add("a\u200db\U000e0061", "🏴\U000e0067", "\r")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		text := legible.Text(a + b + c)
		if again := legible.Text(text); again != text || !utf8.ValidString(text) {
			t.Errorf("%+q, and then %+q", text, again)
		}
		hidden, seen := 0, 0
		for _, r := range text {
			if unseen(r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) {
				hidden++
			} else {
				seen++
			}
		}
		if tags := 6 * strings.Count(text, "🏴"); hidden-tags > seen {
			t.Errorf("%d hidden characters and %d others in %+q", hidden, seen, text)
		}
	})
}

func BenchmarkText(b *testing.B) {
	for name, text := range map[string]string{
		"ascii": strings.Repeat("I adopted a cat called Miso. ", 40), "greek": strings.Repeat("Υιοθέτησα μια γάτα. ", 40),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				legible.Text(text)
			}
		})
	}
}
