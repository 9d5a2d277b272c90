package canonical

import "testing"

// A clause is put in other words only where a clause begins and the words of the pattern are all it says.
func TestReworded(t *testing.T) {
	for fact, want := range map[string]string{
		"They let me go":                              "I was let go",
		"They let me go home early":                   "They let me go home early",
		"they let me go":                              "i was let go",
		"If they let me go, I'll sue":                 "If they let me go, I'll sue",
		"Helen left, so Omar is my new boss":          "Helen left, so My boss is Omar now",
		"Recently they let me go":                     "Recently I was let go",
		"I have 14 people reporting to me":            "My team has 14 people",
		"I sold the car, really":                      "I sold the car, really",
		"Did they let me go?":                         "Did they let me go?",
		"It's Delft he studies in, not Utrecht":       "He studies in Delft, not Utrecht",
		"I celebrated my sixty-fifth birthday in May": "I turned 65 in May",
	} {
		if got := reworded(fact); got != want {
			t.Errorf("%q is reworded to %q, want %q", fact, got, want)
		}
	}
}
