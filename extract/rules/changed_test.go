package rules

import "testing"

// A thing that the listener knows of is told to be at another time or place, or to be off. Without such a word it may
// be anybody's.
func TestChangedThings(t *testing.T) {
	for said, want := range map[string]string{
		"The office has moved from 5 Hill Road to 31 Mill Square.": "The office has moved from 5 Hill Road to 31 Mill Square.",
		"The choir meets on Mondays now.":                          "The choir meets on Mondays now.",
		"The trip to Sicily fell through.":                         "The trip to Sicily fell through.",
		"Dinner with Paul is off.":                                 "Dinner with Paul is off.",
		"The trip to Sicily fell through last year.":               "",
		"The function has been changed to async.":                  "",
		"The file is at /tmp now.":                                 "",
		"The code is on GitHub now.":                               "",
		"The president is in Paris now.":                           "",
		"The house into Felix":                                     "", // a name where the words end
	} {
		if got := texts(factsOf(t, say(said))); got != want {
			t.Errorf("%q gives %q, want %q", said, got, want)
		}
	}
}

// A time before a statement belongs to it.
func TestFrontTimes(t *testing.T) {
	for said, want := range map[string]string{
		"This summer, we're going to Crete.":      "This summer, we're going to Crete.",
		"Saw the vet, and I sold my car.":         "I sold my car.",
		"Nice to see you again, I moved to Rome.": "I moved to Rome.",
		"I left Google without a plan.":           "I left Google without a plan.",
		"I'm back into jazz.":                     "I'm back into jazz.",
		"I got a kitten.":                         "I got a kitten.",
		"My daughter lives with us.":              "My daughter lives with us.",
		"Home is a little village outside Tartu.": "Home is a little village outside Tartu.",
		"I need a hug.":                           "",
		"I'm waiting for my bus.":                 "",
	} {
		if got := texts(factsOf(t, say(said))); got != want {
			t.Errorf("%q gives %q, want %q", said, got, want)
		}
	}
}
