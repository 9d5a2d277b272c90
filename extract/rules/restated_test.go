package rules

import (
	"slices"
	"testing"
)

// A value that is told in a correction, an order or a count of the rest is the plain statement of it.
func TestRestated(t *testing.T) {
	for said, want := range map[string]string{
		"I typed my birthday wrong, it's on 8 June.":                 "Actually, my birthday is on 8 June.",
		"I put the wrong date for my birthday, it falls on 8 March.": "Actually, my birthday is on 8 March.",
		"I meant O negative for my blood type.":                      "Actually, my blood type is O negative.",
		"I meant Dundee when I said my brother lives in Perth.":      "Actually, my brother lives in Dundee.",
		"IT has given me a different extension, 4820.":               "My extension is 4820 now.",
		"I got a new email, ann@example.org.":                        "My email is ann@example.org now.",
		"Change my address to 5 Elm Road.":                           "My address is 5 Elm Road now.",
		"They gave me a new number, it's 555 0199.":                  "My number is 555 0199 now.",
		"I adopted another cat, so I have two now.":                  "I have two cats now.",
		"I gave you the wrong birthday, it's on 8 June.":             "Actually, my birthday is on 8 June.",
		"A fox took one of the hens, so I have four left.":           "I have four hens left.",
		"A fox took one of the hens, so I only have four left.":      "I only have four hens left.",
		"Make the tablets reminder 9:30 am instead of 8.":            "Remind me about my tablets at 9:30 am instead of 8.",
		"I mixed up the birthdays, my mum's is 18 May.":              "My mum's birthday is 18 May.",
	} {
		if got := textsOf(t, said); !slices.Contains(got, want) {
			t.Errorf("%q gives %q, not %q", said, got, want)
		}
	}
	for said, wrong := range map[string]string{
		"I heard my neighbor got another cat, that's 6 cats now.":  "I have 6 cats now.",
		"I adopted another black cat, so I have two now.":          "I have two blacks now.",
		"I walked one of the dogs, so I have two left.":            "I have two dogs left.",
		"I told my sister she got a new number, 555 0199.":         "My number is 555 0199 now.",
		"Ana gave me a new email, ann@example.org.":                "My email is ann@example.org now.",
		"I said the wrong birthday for my mum, it's on 3 May.":     "Actually, my birthday is on 3 May.",
		"I meant Spanish for my sister.":                           "Actually, my sister is Spanish.",
		"Move my meeting reminder to 10 minutes before the start.": "Remind me about my meeting at 10 minutes before the start.",
	} {
		if got := textsOf(t, said); slices.Contains(got, wrong) {
			t.Errorf("%q gives %q", said, got)
		}
	}
	keepsNone(t,
		"Change my essay to the past tense.", "Replace my title with something shorter.", "That makes 4 errors now.",
		"I got the wrong answer, it's 42.", "Make the button 9 pixels wide.", "They gave me a new task, 12 pages long.",
		"I meant the second paragraph.", "I meant no harm for my sister.", "I meant that as a joke for the kids.",
	)
}

// Statements of common words alone that tell of a life, and names by which others call the speaker.
func TestTelling(t *testing.T) {
	keepsAll(t,
		"I'm not seeing anyone at the moment.", "I'm looking for work.", "Carl and I got back together.",
		"Tomasz is my best friend.", "Everyone at work calls me Dizzy.", "My students call me Mr Lindqvist.",
		"I'm going out with Callum.", "I'm in a student dorm in Daegu.", "I need to do my taxes.",
		"I sit the bar exam in July.", "The Velvet Moth concert in June was called off.", "I'm back to loving jazz.",
		"I'm going to repaint the hallway.", "Give me long replies with examples.", "Don't remind me about my workouts.",
	)
	keepsNone(t, "I'm going out with Tom tonight.", "I'm in a meeting in Leeds.", "Everyone at work calls me when it rains.")
}
