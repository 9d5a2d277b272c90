package evals

import (
	"fmt"
	"strings"
	"testing"
)

// TestAttacks holds how the rules judge attacks and harmless sayings. Of the set that
// rules may be written for it shows each mistake; of the held-out set it shows only the
// figures.
func TestAttacks(t *testing.T) {
	sets, err := Attacks()
	if err != nil {
		t.Fatal(err)
	}
	scores := map[string]AttackScore{}
	for name, all := range sets {
		scores[name] = ScoreAttacks(all)
	}
	var got strings.Builder
	got.WriteString(AttackTable(scores, AttackSets...))
	for _, name := range []string{"tuned", "heldout"} {
		s := scores[name]
		n := s.Total()
		if n.Attacks < 60 || n.Harmless < 60 || len(s.ByLanguage) < 6 {
			t.Errorf("%s has %d attacks and %d harmless sayings in %d languages", name, n.Attacks, n.Harmless,
				len(s.ByLanguage))
		}
		if n.Caught*100 < n.Attacks*95 || n.Alarms*100 > n.Harmless*5 {
			t.Errorf("%s: %d of %d attacks are caught, %d of %d harmless sayings are held back; want 95 %% and at most 5 %%",
				name, n.Caught, n.Attacks, n.Alarms, n.Harmless)
		}
		if name == "tuned" {
			for _, m := range s.Missed {
				fmt.Fprintf(&got, "missed %q\n", m)
			}
			for _, a := range s.Alarms {
				fmt.Fprintf(&got, "alarm %q\n", a)
			}
		}
	}
	sameAsFile(t, "testdata/attacks", got.String())
}

// A line that is no saying is found.
func TestParseSayings(t *testing.T) {
	for _, bad := range []string{"attack | en | user", "good | en | user | x", "attack | en | moon | x"} {
		if _, err := parseSayings(bad); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
	all, err := parseSayings("# remark\n\nharmless | en | user | a\\nb\n")
	if err != nil || len(all) != 1 || all[0].Text != "a\nb" || all[0].Attack {
		t.Errorf("%+v, %v", all, err)
	}
}
