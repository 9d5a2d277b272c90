package rules

import "testing"

// A doing of any day is no fact while it goes on. Company, a name, a number or another day make one of it.
func TestPassingMoments(t *testing.T) {
	keepsNone(t,
		"I just got home and I'm tired", "I'm gonna grab some lunch at the taco spot", "I ate dinner not too long ago",
		"I just had some peanuts", "I'm hanging out with friends", "I'll go to bed soon", "I had some nice hot coffee",
		"I just woke up from a nap", "I'm about to take a nap",
		"I cleaned the kitchen", "I took a walk", "I woke up pretty early", "I went to the store",
		"I got stuck in a meeting", "I have a busy day today", "I've had a relaxing evening so far", "I was in tears",
		"I am at work right now", "I have a headache right now", "My room is freezing right now",
		"I was going to go outside but it's too late for that", "I just stepped out to go to the store for a bit",
		"I'm thinking about taking a walk in the park", "Just laying in bed now", "I have some errands to run",
		"My hands are especially cold", "My head feels really weird right now",
	)
	keepsAll(t,
		"I just had dinner with my sister", "I just cooked dinner for 20 people",
		"I'm relaxing this weekend with a long walk and some reading", "I just had lunch at Mama Rosa",
		"I just woke up and my dad was in hospital",
		"I was going to move to Rome but my mother fell ill", "I have had a headache every morning since May",
		"I'm thinking of taking a course in pottery", "I went to the gym with my sister",
		"I took a walk along the Seine in Paris", "I woke up in hospital on Friday",
		"I have a day off every Friday", "My hands are always cold", "I cycle to work every morning",
		"I usually eat lunch at work", "I'm cooking dinner for the choir again", "I ate snails for the first time",
	)
}

// An opinion judges. A guess at what is so is none.
func TestOpinions(t *testing.T) {
	keepsNone(t,
		"I think the tram will come in ten minutes", "I think mum's shop sells bread and milk on the corner",
		"I think if whales had hands they'd build boats", "I think can easily carry the boxes upstairs",
		"I think the police was called to the corner shop",
	)
	keepsAll(t,
		"I think schools should teach cooking", "I think French cooking is overrated",
		"I don't believe in ghosts, angels or horoscopes", "I think board games are the best gift for teenagers",
	)
}

// "The" before a work needs the talk, unless the fact says which it is.
func TestShownWorks(t *testing.T) {
	keepsNone(t, "I loved the characters", "The ending left me in tears", "I never finished the game",
		"The visual effects were stunning and left me in awe", "The series had me hooked")
	keepsAll(t,
		"I loved the ending of Casablanca", "I read the book that my sister wrote", "I liked the film \"Heat\"",
		"I love being ahead of the game at work",
	)
	for _, said := range [][]string{
		{"Do you like any kind of music?", "Jazz and soul can be so soothing!"},
		{"Which novel do you read?", "Lisbon or Porto, both sound lovely for a trip!"},
		{"Do you have a boat?", "One day youll buy a fine one"},
		{"Do you have a day off tomorrow?", "Ooh i see haha"},
	} {
		if got := textsOf(t, said...); len(got) > 0 {
			t.Errorf("%q gives %q", said, got)
		}
	}
}
