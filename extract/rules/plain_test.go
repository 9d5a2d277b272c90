package rules

import (
	"slices"
	"testing"
)

// A sentence in another order of words is kept as the plain statement, and its quote is as it was said.
func TestPlainStatements(t *testing.T) {
	for said, want := range map[string]string{
		"I gave you the wrong birthday, mine is on the 19th of July":       "My birthday is on the 19th of July",
		"Her birthday is in May, mine is in July.":                         "My birthday is in July.",
		"Actually, it's hazelnuts my partner is allergic to, not walnuts.": "Actually, my partner is allergic to hazelnuts, not walnuts.",
		"What I'm allergic to is lupin, not sesame.":                       "I'm allergic to lupin, not sesame.",
		"The desk I raved about in winter I have come to loathe.":          "I have come to loathe the desk I raved about in winter.",
		"Mushrooms I can't stand.":                                         "I can't stand mushrooms.",
		"I told you the wrong date for mum, her birthday is 19 November.":  "Actually, my mum's birthday is 19 November.",
		"Breakfast for me is a croissant and black tea, every day":         "I have a croissant and black tea for breakfast, every day",
		"Breakfast is a bowl of congee these days.":                        "I have a bowl of congee for breakfast these days.",
	} {
		if got := textsOf(t, said); !slices.Equal(got, []string{want}) {
			t.Errorf("%q gives %q, not %q", said, got, want)
		}
		for _, f := range factsOf(t, say(said)) {
			if f.Quote != said {
				t.Errorf("%q is quoted as %q", said, f.Quote)
			}
		}
	}
	keepsNone(t,
		"It's a game my kids are into.", "The people I love and the places I hate.", "Things I can't stand:",
		"Your coffee is good but mine is better.", "Breakfast is a mess.", "Lunch is at noon.",
		"What he's allergic to is lupin", "Is it nuts my partner is allergic to?",
	)
}

// A statement is found behind other words of its sentence, and a pronoun behind a correction is who was named there.
func TestBehindOtherWords(t *testing.T) {
	for said, want := range map[string]string{
		"Funny thing, since the baby arrived I hate horror films.":            "Since the baby arrived I hate horror films.",
		"Rohit hurt his ankle, so on Tuesday nights we go to a chess club.":   "On Tuesday nights we go to a chess club.",
		"Sign the letter with my full name please, my surname is Okonjo.":     "My surname is Okonjo.",
		"I bank with Nordea and their app logs me out all the time. Any fix?": "I bank with Nordea and their app logs me out all the time.",
		"Sorry, I was wrong: my daughter studies at Uppsala, not Lund.":       "I was wrong: my daughter studies at Uppsala, not Lund.",
		"Sorry, I got that wrong about Tadeo. He's allergic to sesame.":       "Actually, Tadeo is allergic to sesame.",
		"I keep all my notes in Evernote.":                                    "I keep all my notes in Evernote.",
		"So it's just one car at home now.":                                   "It's just one car at home now.",
		"Emeka rang yesterday, he's moved to Stavanger.":                      "Emeka has moved to Stavanger.",
		"My sister called, she's pregnant.":                                   "My sister is pregnant.",
		"sorry, I told you wrong, my flight is on the 28th, not the 21st":     "Actually, my flight is on the 28th, not the 21st",
		"I live in Rome now, so write me a poem and leave out the rhymes":     "I live in Rome now",
	} {
		if got := textsOf(t, said); !slices.Equal(got, []string{want}) {
			t.Errorf("%q gives %q, not %q", said, got, want)
		}
	}
	keepsNone(t,
		"It was funny, like I said.", "Write a letter please, I have a dog.", "I keep my cool in traffic.",
		"Somebody is allergic to work.", "Well, my", "Well, our breakfast", "Well, breakfast is",
		"Tom said that Ann called, she's pregnant.",
	)
	// The pronoun may be somebody else.
	for said, wrong := range map[string]string{
		"My mom called about the doctor, he's retiring.":                  "My mom is retiring.",
		"My wife said, he's moved to Oslo.":                               "My wife has moved to Oslo.",
		"My dad met the new coach, she's from Kenya.":                     "My dad is from Kenya.",
		"My sister called, he's expecting a visit.":                       "My sister is expecting a visit.",
		"Emeka told me about the landlord, he's selling the house.":       "My landlord is selling the house.",
		"I told you the wrong date for dad's party, her birthday is soon": "My dad's birthday is soon",
	} {
		if slices.Contains(textsOf(t, said), wrong) {
			t.Errorf("%q gives %q", said, wrong)
		}
	}
}

// What is told of somebody's own things and people at a time, by whatever verb, is kept.
func TestOwnThingsAtATime(t *testing.T) {
	keepsAll(t,
		"My choir rehearses on Mondays at six o'clock, in the town hall.", "My train leaves at six every morning.",
		"My birthday falls on the 9th May", "My best over 1500 free stands at 22:58", "My sister tests software.",
		"My brother sells insurance.", "My new bike, a second-hand Koga, replaced the green one on Sunday.",
		"My friend paints boats.", "My friend lives in Oslo.", "My oldest friend Ada lives in Oslo, over a bakery.",
		"The choir rehearses on Mondays at six.", "The choir has switched from waltzes to tangos.",
	)
	keepsNone(t,
		"My train photos from Monday.", "My weekend plans for Monday.", "My friend, I must say you are right.",
		"My friend dared me to run.", "My friend was able to eat them all.", "The team has changed.",
	)
}

// Duties, habits by verbs that no table has, seats and terms are of a life.
func TestDutiesAndHabits(t *testing.T) {
	keepsAll(t,
		"I must submit my thesis on peat bogs by the end of May.", "I must see my dentist on Friday.",
		"I must renew my passport by May.", "I must not eat gluten.",
		"I buy a scratch card every Saturday at the kiosk.", "I fix boilers for a living.",
		"I deliver mail for the post office.", "I sit on the parish council, drains mostly.",
		"I serve on the school board.", "I'm on good terms with my ex.",
		"I'm on 50 mg of sertraline a day.", "I hold Chilean citizenship.", "I am single and happy with it.",
		"I vape, mango mostly.", "These days I bring lunch from home.",
	)
	keepsNone(t,
		"I'm on 50 of them.", "I hold the line.", "I was happy with it.", "These days I think so.", "Nowadays I run.",
		"I must be tired today.", "I must have left my keys at home on Friday.", "I must admit it was my fault.",
		"I pick lemon for fruit.", "I add salt.",
	)
}

// The number or the name of a part of something of the speaker's, what is in a place of the speaker's, and what became
// of somebody whom the speaker hears from are kept.
func TestThingsOfTheSpeaker(t *testing.T) {
	keepsAll(t,
		"The code to my gym locker is 2940, the one by the sauna", "The name on my doorbell is Okafor.",
		"There are six alpacas in my field.", "There are six hens in our garden.",
		"A card arrived from Ada, who moved to Oslo in spring.",
	)
	keepsNone(t,
		"The code for my script is 200 lines.", "The password for my gate is 2940.", "There are three ideas in my head.",
		"There are 3 meetings in my calendar.", "A card arrived from Ada.", "dinner is seven now", "chapter is 7 now",
	)
}

// Words behind an instruction say where it holds, or that it always does.
func TestTrailingInstructions(t *testing.T) {
	keepsAll(t,
		"Answer me in a single sentence, whatever I ask.", "Write at length from today, with examples.",
		"Address me as Miss Okafor in the letters you draft.",
		"Just Ragna will do from here on, the long one is only for my passport.",
	)
	keepsNone(t, "call me when you have found the file I lost", "Ragna will do.", "That will do from now on.")
}
