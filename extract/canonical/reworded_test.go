package canonical

import "testing"

// A clause is put in other words only where a clause begins and the words of the pattern are all it says.
func TestReworded(t *testing.T) {
	for fact, want := range map[string]string{
		"They let me go":                                      "I was let go",
		"They let me go home early":                           "They let me go home early",
		"they let me go":                                      "i was let go",
		"If they let me go, I'll sue":                         "If they let me go, I'll sue",
		"Helen left, so Omar is my new boss":                  "Helen left, so My boss is Omar now",
		"Recently they let me go":                             "Recently I was let go",
		"I have 14 people reporting to me":                    "My team has 14 people",
		"I sold the car, really":                              "I sold the car, really",
		"Did they let me go?":                                 "Did they let me go?",
		"It's Delft he studies in, not Utrecht":               "He studies in Delft, not Utrecht",
		"I celebrated my sixty-fifth birthday in May":         "I turned 65 in May",
		"I moved out of my parents' house":                    "I moved out of my parents' place",
		"I moved out of my parents' way":                      "I moved out of my parents' way",
		"I moved all my accounts from Lloyds to ING":          "I no longer bank with Lloyds",
		"I moved all my files from Lloyds to ING":             "I moved all my files from Lloyds to ING",
		"I got my own flat and moved out":                     "I got my own flat and I moved out of my parents' place",
		"After the divorce they let me go":                    "After the divorce they let me go",
		"I went back to Berlin after the divorce":             "I went back to Berlin after the divorce",
		"I got married, so it's Anna Bauer now":               "I got married and my name is Anna Bauer now",
		"I got married, so it's Berlin now":                   "I got married, so it's Berlin now",
		"Our third was born on Monday":                        "We now have 3 kids on Monday",
		"Our third was born in Leeds":                         "Our third was born in Leeds",
		"The trip to Oslo fell through":                       "The Oslo trip is cancelled",
		"The trip to Oslo fell through last year in the sims": "The trip to Oslo fell through last year in the sims",
		"Priya and I are meeting for lunch":                   "Priya and I are meeting for lunch",
	} {
		if got := reworded(fact); got != want {
			t.Errorf("%q is reworded to %q, want %q", fact, got, want)
		}
	}
}

// Two clauses that hyphens join have the same bytes, so that only one of them is put in other words.
func TestRewordedInOneWord(t *testing.T) {
	for _, fact := range []string{
		"They let me go-so-they let me go.", "Ford employs me as a welder-and-they let me go.",
		"My employer is Google-and-my employer is Monzo.",
	} {
		OfWords(fact) // does not panic
	}
}

// What a remark between commas, an adverb or an adjective adds is left out for a second reading, but not what it takes
// away.
func TestPared(t *testing.T) {
	for fact, want := range map[string]string{
		"My dentist, a gentle man, is Dr. Keller":     "My dentist is Dr. Keller",
		"I'm, after months of running, down to 90 kg": "I'm down to 90 kg",
		"I absolutely love pretty much all olives":    "I love all olives",
		"I drive a beat-up silver Honda Civic":        "I drive a Honda Civic",
		"My budget is a modest $400":                  "My budget is $400",
		"I am, in the game, a pirate":                 "I am, in the game, a pirate",
		"I am, if all goes well, pregnant":            "I am, if all goes well, pregnant",
		"My dentist, Dr. Lee, is great":               "My dentist, Dr. Lee, is great",
		"I hardly smoke":                              "I hardly smoke",
		"I drive a fake Honda":                        "I drive a fake Honda",
		"My boss Karen left":                          "My boss Karen left",
	} {
		if got := pared(fact); got != want {
			t.Errorf("%q is pared to %q, want %q", fact, got, want)
		}
	}
}

// A result beats a record that is worse than it, if it is not more than twice as good.
func TestBeats(t *testing.T) {
	for _, c := range []struct {
		record, result, best string
		want                 bool
	}{
		{"5k", "23:30", "24:10", true},
		{"5k", "24:30", "24:10", false},
		{"5k", "10:30", "24:10", false},
		{"marathon", "3:35:00", "3:42:10", true},
		{"bench press", "90", "80", true},
		{"bench press", "70", "80", false},
		{"bench press", "200", "80", false},
		{"5k", "", "24:10", false},
	} {
		if got := beats(c.record, c.result, c.best); got != c.want {
			t.Errorf("%s: %q beats %q is %v", c.record, c.result, c.best, got)
		}
	}
}
