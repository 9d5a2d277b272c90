package english

import "testing"

// Lex gives texts that differ in spelling alone the same words.
func TestLex(t *testing.T) {
	for text, want := range map[string]string{
		"My favourite colour is grey":   "my favorite color is gray",
		"I've organised thirty-four":    "i have organized 34",
		"twenty-one e-mails":            "21 e mails",
		"it was -5 °C, 3,5 & 1-2":       "it was -5 ° c 3,5 and 1-2",
		"“Half-baked”, she said (once)": "half baked she said once",
		"a year-old-2 thing?":           "a year old-2 thing ?",
		"":                              "",
	} {
		if got := Lex(text).String(); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// The forms of a verb lead to each other, and words that only look like forms do not.
func TestVerbs(t *testing.T) {
	for ing, want := range map[string]string{
		"running": "run", "living": "live", "playing": "play", "being": "", "ring": "", "king": "", "zorbing": "",
	} {
		if got := Infinitive(ing); got != want {
			t.Errorf("the infinitive of %q is %q, want %q", ing, got, want)
		}
	}
	for verb, want := range map[string]string{
		"have": "has", "study": "studies", "play": "plays", "watch": "watches", "go": "goes", "live": "lives",
		"be": "", "zorb": "",
	} {
		if got := ThirdPerson(verb); got != want {
			t.Errorf("%q after \"she\" is %q, want %q", verb, got, want)
		}
	}
	for w, want := range map[string]bool{
		"moved": true, "went": true, "red": false, "hundred": false, "need": false, "ed": false, "go": false,
	} {
		if got := Past(w); got != want {
			t.Errorf("Past(%q) is %t", w, got)
		}
	}
}

// Probable tells English from its neighbours.
func TestProbable(t *testing.T) {
	for text, want := range map[string]bool{
		"I live in Porto with my wife": true,
		"We have a dog":                true,
		"Ich wohne in Berlin":          false,
		"J'habite à Paris":             false,
		"Vivo en Madrid":               false,
		"我住在北京":                        false,
		"":                             false,
	} {
		if got := Probable(Lex(text)); got != want {
			t.Errorf("%q looks English: %t, want %t", text, got, want)
		}
	}
}

// The words before a statement are skipped, and no others.
func TestSkipLeads(t *testing.T) {
	for text, want := range map[string]string{
		"By the way, I moved":             "i moved",
		"Hey Tom, well, actually I moved": "i moved",
		"Well water is good":              "well water is good",
		"Well, water is good":             "water is good",
		"Thanks, Ann Lee, we moved":       "we moved",
		"ha ha ha":                        "ha",
		"I moved":                         "i moved",
	} {
		ws := Split(text)
		if got := ws[SkipLeads(ws):].String(); got != want {
			t.Errorf("%q leaves %q, want %q", text, got, want)
		}
	}
}

// A request to remember is told from a reminder and from a memory shared.
func TestRememberRequest(t *testing.T) {
	for _, c := range []struct {
		text, rest string
		firm, ok   bool
	}{
		{"Remember that the code is green", "the code is green", true, true},
		{"Could you please keep in mind that I am vegan", "i am vegan", false, true},
		{"Remember I am vegan", "i am vegan", false, true},
		{"Remember the code is green", "the code is green", false, true},
		{"Remember: the code", "the code", false, true},
		{"Keep in mind that the code is green", "the code is green", false, true},
		{"Remember the code", "remember the code", false, false},
		{"Remember the guy who is late", "remember the guy who is late", false, false},
		{"Remember to buy milk", "remember to buy milk", false, false},
		{"Remember when we went to Rome", "remember when we went to rome", false, false},
		{"Remember that time in Rome", "remember that time in rome", false, false},
		{"I am vegan", "i am vegan", false, false},
	} {
		ws := Split(c.text)
		next, firm, ok := RememberRequest(ws, 0)
		if rest := ws[next:].String(); rest != c.rest || firm != c.firm || ok != c.ok {
			t.Errorf("%q: %q, firm %t, %t; want %q, %t, %t", c.text, rest, firm, ok, c.rest, c.firm, c.ok)
		}
	}
}
