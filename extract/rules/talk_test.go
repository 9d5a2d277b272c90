package rules

import (
	"context"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/extract"
)

// exchange makes turns of lines "author: text", where "bot" is the agent.
func exchange(lines ...string) []extract.Turn {
	var out []extract.Turn
	for i, l := range lines {
		author, text, _ := strings.Cut(l, ": ")
		out = append(out, extract.Turn{EventID: string(rune('a' + i)), Author: author, User: author != "bot",
			Timestamp: monday8May, Text: text})
	}
	return out
}

// texts are the facts, one a line.
func texts(facts []extract.Fact) string {
	var out []string
	for _, f := range facts {
		out = append(out, f.Text)
	}
	return strings.Join(out, "\n")
}

// A short answer is kept with its question, if the question asks for something that lasts.
func TestAnswers(t *testing.T) {
	for _, tc := range []struct{ asks, says, want, topic string }{
		{"bot: Noted. Do you have any allergies?", "ann: Just sesame.", "Do you have any allergies? Just sesame.", "PERSONAL"},
		{"bot: Any allergies?", "ann: no, none", "Any allergies? No, none", "PERSONAL"},
		{"bot: Where do you live?", "ann: near Antwerp", "Where do you live? Near Antwerp", "PERSONAL"},
		{"bot: How old are you?", "ann: 67", "How old are you? 67", "PERSONAL"},
		{"bot: Are you vegetarian?", "ann: No, but my wife is.", "Are you vegetarian? No, but my wife is.", "PERSONAL"},
		{"bot: When is your birthday?", "ann: October 12th", "When is your birthday? October 12th", "PERSONAL"},
		{"tom: How long have you played chess?", "ann: Since 2019", "How long have you played chess? Since 2019", "KEY"},
		{"bot: What do you do for a living?", "ann: I'm a welder.", "I'm a welder.", "PERSONAL"},
		{"bot: Would you like me to shorten it?", "ann: Yes", "", ""},
		{"bot: Shall I book the table?", "ann: Sure, at 8", "", ""},
		{"bot: Does that make sense?", "ann: Yes it does", "", ""},
		{"bot: Where do you live?", "ann: Why?", "", ""},
		{"bot: Where do you live?", "ann: I don't know", "", ""},
		{"bot: Where do you live", "ann: near Antwerp", "", ""},
		{"ann: Where do I live?", "ann: near Antwerp", "", ""},
	} {
		turns := exchange(tc.asks, tc.says)
		got := factsOf(t, turns)
		if texts(got) != tc.want || tc.want != "" && !strings.Contains(got[0].Topics[0], tc.topic) {
			t.Errorf("%q %q gives %s", tc.asks, tc.says, printFacts(got))
		}
		found, err := New().Extract(context.Background(), extract.Batch{Before: turns[:1], Turns: turns[1:]})
		if err != nil || texts(found.Facts) != tc.want {
			t.Errorf("%q before the batch, %q gives %s, %v", tc.asks, tc.says, printFacts(found.Facts), err)
		}
		for _, f := range got {
			if !strings.Contains(turns[1].Text, f.Quote) || f.EventIDs[0] != "b" {
				t.Errorf("%q quotes %q of %v", f.Text, f.Quote, f.EventIDs)
			}
		}
	}
}

// A sentence that leans on another one is kept with it, or left out.
func TestLeaning(t *testing.T) {
	for said, want := range map[string]string{
		"I love it!":  "",
		"She did too": "",
		"We adopted a dog. Her name is Luna and she hates cats.": "We adopted a dog. Her name is Luna and she hates cats.",
		"Guitar is mostly my thing. Playing it helps me sleep.":  "Guitar is mostly my thing. Playing it helps me sleep.",
		"I live in Rome. It has cats and fountains.":             "I live in Rome.\nI live in Rome. It has cats and fountains.",
		"Are you well? It rains in Rome.":                        "",
	} {
		if got := texts(factsOf(t, say(said))); got != want {
			t.Errorf("%q gives %q, want %q", said, got, want)
		}
	}
}

// The fields of a profile are a fact each.
func TestProfile(t *testing.T) {
	for said, want := range map[string]string{
		"- Name: Dana\n- Age: 41\n- Allergies: penicillin, latex": "My name is Dana\nMy age is 41\n" +
			"My allergies are penicillin, latex",
		"Name: Joy, Age: 33, Occupation: midwife":        "My name is Joy\nMy age is 33\nMy occupation is midwife",
		"About me:\nHobbies: chess":                      "My hobbies are chess",
		"Please rewrite this:\nName: Bob Smith\nAge: 22": "",
		"The new customer:\nName: Bob Smith":             "",
		"Name:\nAge:":                                    "",
		"Note: the gate is green":                        "",
	} {
		if got := texts(factsOf(t, say(said))); got != want {
			t.Errorf("%q gives %q, want %q", said, got, want)
		}
	}
}

// Irony, games, stories and quotations are not so.
func TestNotSo(t *testing.T) {
	for _, said := range []string{
		"I love getting up at five /s", "Yeah right, I love Mondays", "Oh sure, because I have a yacht",
		"Imagine I'm a knight. I live in a castle.", "Let's role-play: I'm a detective from Chicago.",
		"Let's pretend I'm your teacher", "In the story, I have three brothers who are thieves.",
		"In my novel my wife works at a bank", "♪ I was born in a small town ♪",
		`They said "we moved to Canada" on the radio`, "If I were rich I'd buy a farm",
	} {
		if got := factsOf(t, say(said)); len(got) > 0 {
			t.Errorf("%q gives %s", said, printFacts(got))
		}
	}
	for _, said := range []string{"Yeah right now I live in Rome", "I met my wife in the game of darts"} {
		if len(factsOf(t, say(said))) != 1 {
			t.Errorf("%q gives nothing", said)
		}
	}
}

// Remarks behind a statement are no part of it, and other subjects tell of the speaker too.
func TestMore(t *testing.T) {
	for said, want := range map[string]string{
		"I'm starting physio on Friday, wish me luck": "I'm starting physio on Friday (2023-05-12)",
		"I finished my thesis, woohoo!":               "I finished my thesis",
		"I got promoted [shares a picture of a cake]": "I got promoted",
		"Tom proposed to me":                          "Tom proposed to me",
		"Lena and I broke up.":                        "Lena and I broke up.",
		"Ratatouille is one of my favorites":          "Ratatouille is one of my favorites",
		"Coffee gives me migraines":                   "Coffee gives me migraines",
		"cant take ibuprofen":                         "I cant take ibuprofen",
		"IM ALERGIC TO PENICILIN":                     "IM ALERGIC TO PENICILIN",
		"I no longer eat red meat":                    "I no longer eat red meat",
		"Been sober for six years":                    "I have been sober for six years",
		"I'm at 71 kg now":                            "I'm at 71 kg now",
		"Tuesday works for me":                        "",
		"Your help means a lot to me":                 "",
		"Agreed, that helped me":                      "",
	} {
		if got := texts(factsOf(t, say(said))); got != want {
			t.Errorf("%q gives %q, want %q", said, got, want)
		}
	}
}

// A correction that gives only the value is read as the statement that it corrects.
func TestCorrection(t *testing.T) {
	for _, tc := range []struct{ said, corrected, want string }{
		{"My eye appointment is on Tuesday at noon.", "Sorry, I meant Thursday.",
			"Actually, my eye appointment is on Thursday (2023-05-11) at noon."},
		{"I have 2 kids.", "Actually, it's 3.", "Actually, I have 3 kids."},
		{"I have 2 kids.", "Actually, it's Friday.", ""},
		{"I have 2 kids.", "Actually, my car is 3 years old.", "Actually, my car is 3 years old"},
	} {
		turns := say(tc.said, tc.corrected)
		got := ""
		for _, f := range factsOf(t, turns) {
			if f.EventIDs[0] == "e2" {
				got += f.Text
			}
		}
		if strings.TrimRight(got, ".") != strings.TrimRight(tc.want, ".") {
			t.Errorf("%q after %q gives %q, want %q", tc.corrected, tc.said, got, tc.want)
		}
	}
}
