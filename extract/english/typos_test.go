package english

import (
	"strings"
	"testing"
)

func TestCorrected(t *testing.T) {
	for w, want := range map[string]string{
		"alergic": "allergic", "allergoc": "allergic", "alllergic": "allergic", "allregic": "allergic", "allergid": "",
		"dauhter": "daughter", "daugther": "daughter", "tommorow": "", "tomorow": "tomorrow",
		"tommorrow": "tomorrow", "vegitarian": "vegetarian", "graduted": "graduated",
		"sisters": "", "bother": "", "promotes": "", "rother": "", "brother": "", "adapted": "",
		"alergi": "", "hospitalized": "", "": "", "é": "", strings.Repeat("a", 100): "",
	} {
		if got := corrected(w); got != want {
			t.Errorf("corrected(%q) = %q, want %q", w, got, want)
		}
	}
	if got := Split("IM ALERGIC TO PENICILIN").String(); got != "i am allergic to penicilin" {
		t.Error(got)
	}
}

// No word that a table of this package has is taken for another one.
func TestCorrectedKeepsWords(t *testing.T) {
	for _, s := range []Set{StopWords, PresentVerbs, irregularPast, OwnNouns, TalkVerbs, States, Moods, AgentVerbs, moreVerbs} {
		for w := range s.words {
			if got := corrected(w); got != "" {
				t.Errorf("%q is read as %q", w, got)
			}
		}
	}
}

func BenchmarkSplit(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Split("Yesterday my wife and I went to the new Italian place on Main Street, and it was amazing.")
	}
}
