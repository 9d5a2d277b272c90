package redact

import (
	"bufio"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func all(t testing.TB) *Redactor {
	t.Helper()
	r, err := New(Kinds()...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// testdata/cases.txt has texts, and what becomes of them: "[x]" stands for the mark of x.
// A "~" is left out, so that no scanner of repositories takes a made-up key for a real one.
func TestText(t *testing.T) {
	file, err := os.Open("testdata/cases.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r := all(t)
	short := strings.NewReplacer("[key]", Keys.Mark(), "[card]", Cards.Mark(), "[iban]", IBANs.Mark(), "[id]",
		NationalIDs.Mark(),
		"[pw]", Passwords.Mark(), "[mail]", Emails.Mark(), "[tel]", Phones.Mark())
	lines := bufio.NewScanner(file)
	n := 0
	for lines.Scan() {
		line := strings.ReplaceAll(lines.Text(), "~", "")
		if line == "" || line[0] == '#' {
			continue
		}
		n++
		text, want, changes := strings.Cut(line, " ⇒ ")
		if !changes {
			want = text
		}
		text = strings.ReplaceAll(text, `\n`, "\n")
		want = short.Replace(strings.ReplaceAll(want, `\n`, "\n"))
		if got, _ := r.Text(text); got != want {
			t.Errorf("%s\n\tbecomes %s\n\twant    %s", text, got, want)
		}
		if got, counts := r.Text(want); got != want {
			t.Errorf("%s\n\tbecomes %s with %v when it passes through again", want, got, counts)
		}
	}
	if n < 100 {
		t.Errorf("%d cases only", n)
	}
}

// Only the kinds that a Redactor was made for are replaced.
func TestKinds(t *testing.T) {
	text := "ask ann@example.org or +351 912 345 678, the card is 4111 1111 1111 1111, the password is hunter2"
	for kind, want := range map[Kind]string{
		Emails:    "ask [REDACTED:email] or +351 912 345 678, the card is 4111 1111 1111 1111, the password is hunter2",
		Phones:    "ask ann@example.org or [REDACTED:phone], the card is 4111 1111 1111 1111, the password is hunter2",
		Cards:     "ask ann@example.org or +351 912 345 678, the card is [REDACTED:card], the password is hunter2",
		Passwords: "ask ann@example.org or +351 912 345 678, the card is 4111 1111 1111 1111, the password is [REDACTED:password]",
		IBANs:     text,
	} {
		r, err := New(kind)
		if err != nil {
			t.Fatal(err)
		}
		got, counts := r.Text(text)
		if got != want {
			t.Errorf("%s: %s", kind, got)
		}
		if got != text && !cmp.Equal(counts, Counts{kind: 1}) {
			t.Errorf("%s: %v", kind, counts)
		}
	}
	if _, err := New("cards", "stamps"); err == nil {
		t.Error("there is a Redactor of stamps")
	}
}

// The name of a field says what its value is.
func TestField(t *testing.T) {
	r := all(t)
	for _, c := range [][3]string{
		{"password", "hunter2", "[REDACTED:password]"},
		{"dbPassword", "correct horse battery", "[REDACTED:password]"},
		{"api_key", "9f8e7d6c5b4a39281706", "[REDACTED:key]"},
		{"pin", "4821", "[REDACTED:password]"},
		{"bsn", "111222333", "[REDACTED:nationalId]"},
		{"number", "111222333", "111222333"},
		{"orderId", "4111111111111111", "4111111111111111"},
		{"card", "4111111111111111", "[REDACTED:card]"},
		{"count", "128000", "128000"},
		{"next_page_token", "9f8e7d6c5b4a39281706", "9f8e7d6c5b4a39281706"},
		{"city", "Porto", "Porto"},
	} {
		if got, _ := r.Field(c[0], c[1]); got != c[2] {
			t.Errorf("%s: %s becomes %s, want %s", c[0], c[1], got, c[2])
		}
	}
}

// A text is valid as before, whatever it is, and nothing in what is returned is replaced
// when it passes through again.
func FuzzText(f *testing.F) {
	f.Add("my password is hünter2€, and 4111 1111 1111 1111")
	f.Add("パスワードは「ひみつ123」です ４１１１ １１１１ １１１１ １１１１")
	f.Add("https://bob:p@ss@host/?sig=aaaaBBBB1111ccccDDDD token=[REDACTED:key]x9 -----BEGIN RSA PRIVATE KEY-----")
	f.Add("pw: \\\"a1\\u00e9\\\" DE89 3704 0044 0532 0130 00 12345678Z")
	r := all(f)
	f.Fuzz(func(t *testing.T, text string) {
		at := 0
		for _, found := range r.Find(text) {
			if found.Start < at || found.End <= found.Start || found.End > len(text) {
				t.Fatalf("%q: finding %+v after %d", text, found, at)
			}
			at = found.End
		}
		got, _ := r.Text(text)
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("%q becomes %q", text, got)
		}
		if again, _ := r.Text(got); again != got {
			t.Errorf("%q becomes %q and then %q", text, got, again)
		}
	})
}
