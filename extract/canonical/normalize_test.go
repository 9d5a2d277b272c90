package canonical

import "testing"

func TestNormalize(t *testing.T) {
	for _, same := range [][]string{
		{"I live in Berlin.", "i live in berlin", "  I  LIVE in\tBerlin !!", "I live in Ｂｅｒｌｉｎ…"},
		{"I don't drink", "I don’t drink."},
		{"Meine Straße", "MEINE STRASSE"},
		{"ꭷꭷ", "ᎧᎧ."},
		{"I like cafe\u0301s", "I like cafés"},
		{"", " ", "...", "?!"},
	} {
		for _, s := range same {
			if got := Normalize(s); got != Normalize(same[0]) || Normalize(got) != got {
				t.Errorf("Normalize(%q) = %q, not %q", s, got, Normalize(same[0]))
			}
		}
	}
	for _, other := range []string{"I live in Bern.", "I lived in Berlin.", "Berlin I live in", "I live, in Berlin"} {
		if Normalize(other) == Normalize("I live in Berlin.") {
			t.Errorf("%q is taken for a duplicate", other)
		}
	}
}
