package memory

import "testing"

// A text is cut at most at n bytes, and never within a character.
func TestCut(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"", 0, ""}, {"tea", 3, "tea"}, {"tea", 4, "tea"}, {"tea", 2, "te"}, {"tea", 0, ""},
		{"né", 2, "n"}, {"né", 3, "né"}, {"日本", 5, "日"}, {"日本", 2, ""}, {"🎉🎉", 7, "🎉"},
		{"\x80\x80", 1, ""}, // no character begins in it
	} {
		if got := Cut(c.text, c.n); got != c.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.text, c.n, got, c.want)
		}
	}
}
