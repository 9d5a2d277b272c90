package english

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/internal/regextest"
)

// Sentences that people wrote to be read are found, and code, data and quotations are not.
func TestSentences(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"One two. Three four! Five?", "One two.|Three four!|Five?"},
		{"no capitals. none at all. ok", "no capitals.|none at all.|ok"},
		{"Dr. Smith and Mr. J. Jones pay $3.50. They left.", "Dr. Smith and Mr. J. Jones pay $3.50.|They left."},
		{"I like fruit, e.g. Apples, i.e. red ones.", "I like fruit, e.g. Apples, i.e. red ones."},
		{"It was me and I. Then we left.", "It was me and I.|Then we left."},
		{"See https://example.org/a.b?c=d. Then go.", "See https://example.org/a.b?c=d.|Then go."},
		{"Wait... what. Yes", "Wait... what.|Yes"},
		{"I moved 😊 Thanks for asking 👍🏽 Bye", "I moved 😊|Thanks for asking 👍🏽|Bye"},
		{"- one\n* two\r\n• three\n1. four\n- [x] five", "one|two|three|four|five"},
		{"before\n```go\nx := 1\n```\nafter", "before|after"},
		{"before\n~~~\n```\ninside\n~~~\nafter", "before|after"},
		{"before\n```\nnever closed", "before"},
		{"Use `x` here. Then go.", "Then go."},
		{`She said "one. Two. Three." Then left. Again.`, `She said "one.|Then left.|Again.`},
		{"He is 5'10\" tall. Then go.", "He is 5'10\" tall.|Then go."},
		{"“Quoted words. More of them.” Mine.", ""},
		{"> quoted mail\nmine", "mine"},
		{"a | b | c | d\nmine", "mine"},
		{"{\"a\": 1}\nreturn x;\nif (a) {\n</div>\nfoo()\nmine", "mine"},
		{"2024-01-02T10:00:00Z INFO x\nERROR: y\nTraceback (most recent call last)\nat a.b.C(D.java:1)\nmine", "mine"},
		{"1,2,3,4,5,6,7\nmine", "mine"},
		{"\tindented\nmine", "mine"},
		{"From: ann\nSubject: hi\nmine", "mine"},
		{strings.Repeat("long ", 100) + ". Short.", "Short."},
		{"", ""},
	} {
		var want []string
		if tc.want != "" {
			want = strings.Split(tc.want, "|")
		}
		if diff := cmp.Diff(want, Sentences(tc.text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tc.text, diff)
		}
	}
}

// Contractions are taken apart, and each word knows its place.
func TestSplit(t *testing.T) {
	s := "I'm at J. O’Neil's T-shirt shop, don’t! 1,100 or 71,5, or 3, 4,a"
	var got []string
	for _, w := range Split(s) {
		got = append(got, w.Text+"="+s[w.Start:w.End])
	}
	want := []string{
		"i=I'm", "am=I'm", "at=at", "j=J", "o'neil's=O’Neil's", "t-shirt=T-shirt", "shop=shop", "do=don’t", "not=don’t",
		"1,100=1,100", "or=or", "71,5=71,5", "or=or", "3=3", "4=4", "a=a",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("words (-want +got):\n%s", diff)
	}
}

// Every line that codeEnd matches has one of the signs that are looked for first.
func TestCodeSigns(t *testing.T) {
	regextest.Passes(t, codeEnd, func(s string) bool { return strings.ContainsAny(s, codeSigns) })
}
