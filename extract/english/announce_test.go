package english

import "testing"

// An announcement leads into the statement behind it, and words of the same form that hand over something else do not.
func TestAnnouncements(t *testing.T) {
	for text, want := range map[string]string{
		"I'm happy to report that I quit smoking":              "i quit smoking",
		"We are so sad to tell you that our dog died":          "our dog died",
		"I just wanted to let you know my dog died":            "my dog died",
		"I should probably mention that I'm vegan":             "i am vegan",
		"Not sure if I told you this already, but I'm vegan":   "i am vegan",
		"I may have mentioned it before, but I live in Oslo":   "i live in oslo",
		"Sad news: my dog died":                                "my dog died",
		"Small change of plan: I fly on Monday":                "i fly on monday",
		"It's official: we are married":                        "we are married",
		"Since you asked: I'm vegan":                           "i am vegan",
		"I have to tell my boss that I quit":                   "i have to tell my boss that i quit",
		"I'm happy to live in Oslo":                            "i am happy to live in oslo",
		"I wanted to report my neighbor":                       "i wanted to report my neighbor",
		"My summary: I quit":                                   "my summary i quit",
		"Work plan: I start at nine":                           "work plan i start at nine",
		"I'm not sure if I like it, but I'll take it":          "i am not sure if i like it but i will take it",
		"Not sure if I told my mother, but she will know soon": "not sure if i told my mother but she will know soon",
	} {
		ws := Split(text)
		if got := ws[SkipLeads(ws):].String(); got != want {
			t.Errorf("%q leads into %q, want %q", text, got, want)
		}
	}
}
