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
		"We adopted a dog. Her name is Luna and she hates cats.":                                                "We adopted a dog. Her name is Luna and she hates cats.",
		"Guitar is mostly my thing. Playing it helps me sleep.":                                                 "Guitar is mostly my thing. Playing it helps me sleep.",
		"I live in Rome. It has cats and fountains.":                                                            "I live in Rome.\nI live in Rome. It has cats and fountains.",
		"Are you well? It rains in Rome.":                                                                       "",
		"That's amazing! Your boldness inspired me. It reminded me of this gorgeous sunset I saw while hiking.": "",
	} {
		if got := texts(factsOf(t, say(said))); got != want {
			t.Errorf("%q gives %q, want %q", said, got, want)
		}
	}
}

// Words of other people, in a talk that was pasted or behind a name, are not the user's.
func TestTranscript(t *testing.T) {
	for said, want := range map[string]string{
		"Anna: I moved to Oslo\nBen: I have a dog now\nAnna: my wife is pregnant": "",
		"Customer: I am allergic to nuts\nAgent: what can I do for you?":          "",
		"Anna: I'm pregnant!":              "",
		"Update: I moved to Oslo":          "I moved to Oslo",
		"My job: nurse\nMy city: Oslo":     "My job is nurse\nMy city is Oslo",
		"Kidding aside, I have diabetes.":  "I have diabetes.",
		"I convert Celsius to Fahrenheit.": "",
	} {
		if got := texts(factsOf(t, say(said))); got != want {
			t.Errorf("%q gives %q, want %q", said, got, want)
		}
	}
}

// Statements about people in general are none about the speaker, though they say "us".
func TestPlatitudes(t *testing.T) {
	for said, want := range map[string]string{
		"Pets make us so much happier and never let us down.":            "",
		"Pushing boundaries is how we grow and find out what we can do.": "",
		"Having a support system is key to reaching our goals.":          "",
		"Our kids are our whole life.":                                   "Our kids are our whole life.",
		"The Alps drew us back every summer, so we bought a hut in Grindelwald.": "The Alps drew us back every summer\n" +
			"We bought a hut in Grindelwald.",
		"My parents make us soup on Sundays.": "My parents make us soup on Sundays.",
		"The dog woke us at five.":            "The dog woke us at five.",
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
		"Note: the gate is green":                        "The gate is green",
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

// A jest takes itself back, and nothing else of its message.
func TestJest(t *testing.T) {
	for said, want := range map[string]string{
		"I live in Rome. I'm the king of France, just kidding.":            "I live in Rome.",
		"I live in Rome. I have a yacht. Just kidding!":                    "I live in Rome.",
		"I live in Rome. My cat runs the bank. Haha. Just joking.":         "I live in Rome.",
		"I live in Rome. Just kidding, I have a dragon. I'm a nurse.":      "I'm a nurse.",
		"My sister lives in Oslo. I quit my job. I'm off to Mars. Kidding": "My sister lives in Oslo.",
		"I quit my job. I'm moving to Mars on Friday. Just kidding!":       "",
		"I'm not kidding, I live in Rome.":                                 "I live in Rome.",
		"I was just kidding":                                               "",
	} {
		if got := texts(factsOf(t, say(said))); got != want {
			t.Errorf("%q gives %q, want %q", said, got, want)
		}
	}
}

// A statement or an instruction may stand behind a label, a request or a question.
func TestLater(t *testing.T) {
	for said, want := range map[string]string{
		"Gift idea: mum works nights as a nurse":                        "My mum works nights as a nurse",
		"Allergy info: my daughter reacts to walnuts.":                  "My daughter reacts to walnuts.",
		"can u help with an excel formula, im a junior analyst":         "Im a junior analyst",
		"What can I cook, I'm vegan":                                    "I'm vegan",
		"Suggest a cake because I'm allergic to eggs":                   "I'm allergic to eggs",
		"How do I get there, I live in Porto?":                          "I live in Porto",
		"Put my mobile on it, you can reach me on 07700 900123":         "You can reach me on 07700 900123",
		"dont want to go into it but dave and i broke up":               "Dave and i broke up",
		"small thing, please call me ben from here on":                  "Call me ben from here on",
		"no offence but keep your answers short":                        "Keep your answers short",
		"for breakfast i always have porridge, got a better idea?":      "For breakfast i always have porridge",
		"end of an era, sold the caravan to a couple":                   "I sold the caravan to a couple",
		"Last box unpacked, finally settled into a flat in Braga":       "I finally settled into a flat in Braga",
		"Recipe for two please, Ruben from the club and I are together": "Ruben from the club and I are together",
		"weird one, since i had covid i hate coriander":                 "Since i had covid i hate coriander",
		"No olives on the pizza, I can't stand them.":                   "No olives on the pizza, I can't stand them.",
		"Put some jazz on, I enjoy it again.":                           "Put some jazz on, I enjoy it again.",
		"I'd rather you called me Ann":                                  "I'd rather you called me Ann",
		"called me Bob":                                                 "",
		"Nice photo, I love it!":                                        "",
		"Put the kettle on, I need it":                                  "",
		"Split again.":                                                  "",
		// What is somebody's text, a case or a passing request is none.
		"Sample sentence: my daughter reacts to walnuts":     "",
		"She said: I live in Rome":                           "",
		"My text: I live in Rome":                            "",
		"Write an email, I am sick and can't come":           "",
		"Can you tell my boss, I'm allergic to cats":         "",
		"What would you do if you were me, I am 34":          "",
		"If I say hello, always answer in French":            "",
		"Translate this, I am hungry and I live in Rome":     "",
		"why do I feel sick, I ate too much":                 "",
		"Can you check the log, my server is down":           "",
		"The teacher said, I live in Rome is a good example": "",
	} {
		if got := texts(factsOf(t, say(said))); got != want {
			t.Errorf("%q gives %q, want %q", said, got, want)
		}
	}
}

// Things of a life are told without "I": by a label, a name or a number.
func TestThings(t *testing.T) {
	for said, want := range map[string]string{
		"My job: tester at Acme.":                           "My job is tester at Acme",
		"For parcels, my address: Lindenstrasse 14, Koeln.": "My address is Lindenstrasse 14, Koeln",
		"Number plate of my car: 1-KLM-482":                 "The number plate of my car is 1-KLM-482",
		"My password: hunter2":                              "",
		"My question: how old is Rome":                      "",
		"my address: why is it needed":                      "",
		"The title of my book: Rain":                        "The title of my book is Rain",
		"Rent is 820 a month":                               "My rent is 820 a month",
		"10k personal best stands at 48:20.":                "My 10k personal best stands at 48:20.",
		"The kitchen has a budget of 12,000 euros":          "The kitchen has a budget of 12,000 euros",
		"The budget of the film is 200 million dollars":     "",
		"I pay 850 a month in rent.":                        "I pay 850 a month in rent.",
		"I pay attention to 3 things":                       "",
		"We can spend 8000 euros on the kitchen":            "We can spend 8000 euros on the kitchen",
		"There are two cars in our household":               "There are two cars in our household",
		"There are three cats here now":                     "There are three cats here now",
		"There are three cafes here":                        "",
		"we are down to one car":                            "We are down to one car",
		"I'm down to earth":                                 "",
		"We've got one child, a daughter.":                  "We've got one child, a daughter.",
		"Lotte's birthday is the 4th of May.":               "Lotte's birthday is the 4th of May.",
		"Marek, my boyfriend, snores.":                      "Marek, my boyfriend, snores.",
		"my dog barks at night":                             "My dog barks at night",
		"I report to Helen":                                 "I report to Helen",
		"I point to that":                                   "",
		"They put our team on the ground floor now.":        "They put our team on the ground floor now.",
		"They put me to sleep":                              "",
		"Dentist appointment on 21 May":                     "Dentist appointment on 21 May",
		"dentist appointment is on the 4th":                 "Dentist appointment is on the 4th",
		"Book a dentist appointment on Friday":              "",
		"Vegetarian here, so no meat":                       "I am vegetarian here, so no meat",
		"German again please":                               "",
		"I see a therapist every week":                      "I see a therapist every week",
		"I see a doctor on the picture":                     "",
		"my phones a pixel 6":                               "My phones a pixel 6",
		"Send it to 14 Mill Lane, that's our new address":   "Our new address is 14 Mill Lane",
		"Put 555-0142 on the flyer, that's my mobile":       "",
		"sign it marta kowalska, thats my full name":        "My full name is marta kowalska",
		"Give it to the man, that's my point":               "",
		"I went to Rome, that's my favorite city":           "I went to Rome, that's my favorite city",
		"Write down my phone number: 0660 413 22 90":        "My phone number is 0660 413 22 90",
		"Translate this: my address: 12 Mill Lane":          "",
		"Improve my title: Rain over Rome":                  "",
		"Email is ann@example.org":                          "My email is ann@example.org",
		"Email is down":                                     "",
		"Parcels should go to 12 Mill Lane":                 "Parcels should go to 12 Mill Lane",
		"Send letters to 3 people":                          "",
		"The scale says 84 kg!":                             "The scale says 84 kg!",
		"The scale of the map is large":                     "",
		"The driving test is passed":                        "The driving test is passed",
		"The trip could be cancelled":                       "",
		"The exam was passed by Tom":                        "",
		"Doc bumped the dose up to 100":                     "Doc bumped the dose up to 100",
		"The nurse moved the bed to the wall":               "",
		"Leo's three and obsessed with diggers":             "Leo's three",
		"Bond is three":                                     "",
		"The plumber comes on the mornings":                 "",
		"Today is my first day at Acme":                     "Today (2023-05-08) is my first day at Acme",
		"His first day at Acme was great":                   "",
		"Four coffees before noon is my routine.":           "Four coffees before noon is my routine.",
		"Coffee is my thing":                                "",
		"I drink way too much coffee":                       "I drink way too much coffee",
		"I get the paper every day":                         "I get the paper every day",
		"I get the point":                                   "",
		"Haven't smoked a cigarette since March":            "I haven't smoked a cigarette since March 2023",
		"haven't seen it":                                   "",
		"I need glasses for everything":                     "I need glasses for everything",
		"I need glasses for the party":                      "",
		"The release of our app is planned for 3 July":      "The release of our app is planned for 3 July 2023",
		"my parents a gift":                                 "",
		"Gift ideas for my wife: perfume, a book":           "",
		"Recipe for my kids: pasta with butter":             "",
		"ValueError: my phone: invalid":                     "",
		"My wife: hates it":                                 "",
		"My wife: Anna":                                     "My wife is Anna",
		"My budget: I don't know yet":                       "",
		"It isn't 5 Elm Road, that's my address":            "",
		"I handed it to the vet, that's my dog":             "",
		"Speed limit is 30 in town":                         "",
		"World record is 2:01:09 in the marathon":           "",
		"The scale reads 3 volts":                           "",
		"There are two dogs left in the shelter":            "",
		"Which is correct, I have a dog or I've a dog?":     "",
		"Tell me a joke, I'm a pirate":                      "",
		"What's a good Italian place, I'm vegan?":           "I'm vegan",
		"What can I cook, I'm vegan?":                       "I'm vegan",
		"Class from the 3rd package":                        "",
		"Baby on the 3rd floor":                             "",
		"Move on, it's Friday":                              "",
		"No one moved my class to Friday":                   "No one moved my class to Friday (2023-05-12)",
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

// A quotation that is open at a place holds there, in a text of any length, since marks are counted once.
func TestQuotations(t *testing.T) {
	for text, want := range map[string]string{
		`a "b c" d`: "...xxxx..", "a “b” c «d» e": "...xx....xx..", `5" wide`: ".......", "“a": "..", "a” b": "....",
	} {
		q, got := quotationsOf(text), ""
		for at := range text {
			got += map[bool]string{true: "x", false: "."}[q.inside(at)]
		}
		if got != want {
			t.Errorf("%q is quoted at %s, want %s", text, got, want)
		}
	}
}
