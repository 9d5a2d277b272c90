package rules

import (
	"testing"

	"github.com/memoryd/memoryd/extract/english"
)

// A pronoun or a demonstrative leans on what was said before, unless the sentence says what it means.
func TestLeansOn(t *testing.T) {
	for _, said := range []string{
		// places that the sentence does not name
		"I'm planning a trip there in May", "I have cousins who live over there", "I went there with my sister",
		"We moved there when I was five", "I love the food there", "I studied there for two years",
		"We got married there", "My parents still live there", "I always feel at home there", "I lost my phone there",
		// things
		"I made it with coconut milk and sugar", "I saved some but don't know what to do with it",
		"I'm using it to stay organized", "I watched it with my brother", "It taught me a lot about patience",
		"I was eight when I got it", "My brother wrote it", "I have reminders of it", "It's a way to relax for me",
		"I'll definitely add it to my list",
		// demonstratives
		"I love escaping to that world", "Going to those places makes me happy", "I'm obsessed with those",
		"Seeing these figures makes me feel strong", "I've read that other series too", "I'm a fan of such films",
		"Those supportive people mean a lot to me", "I haven't tried that specific mix",
		"Moments like these remind me of home", "I learned that in school",
		// people
		"She hates cats", "I'm always taking notes on her style", "I had the chance to see him play live",
		"They love learning about animals", "Their help got me through the winter", "My boyfriend does not like him",
		"I went to visit him at work", "His story made me cry", "I chose them because they help people",
		"Seeing her take the first steps made me cry",
		"He never calls", "They put me to sleep", "I'm keen to see them", "I sent her a card",
		"I've been one since I lost my job", "I'm the latter", "I'd like another one", "I bought that one", "I prefer the former",
	} {
		if !leansOn(english.Split(said)) {
			t.Errorf("%q leans on nothing", said)
		}
	}
	for _, said := range []string{
		"I moved to Rome and I love the food there", "There are five of us", "I'm always there for my sister",
		"I went to a gym and met my wife there", "My aunt lives in Athens, so I go there in summer",
		"We have a house by the lake and spend our summers there", "I found a cafe, and I work there on Fridays",
		"I know there is a school near my home", "I'm out there running every day", "Since my divorce there are only two of us",
		"I have a car and I wash it on Sundays", "It rains a lot where I live", "It takes me an hour to get to work",
		"It's hard for me to climb stairs", "I find it hard to sleep", "I hate it when my neighbors shout",
		"It's been 10 years since I moved to Rome", "I made it to the final", "When it comes to food, I love sushi",
		"It was great to meet my cousins", "My job is hard but I love it", "It's my birthday on 3 May",
		"I lost my job, and it gave me time to travel", "I started painting and it calms me",
		"I know that people like my cooking", "I have a dog that barks at night", "The book that I wrote is out",
		"I'm so glad that summer is here", "I got the idea from that trip to England with my dad",
		"I took that picture last year", "These days I work from home", "I love those who help others",
		"I use things such as masks and creams", "This is my wife Ann", "I bought this blue bike in May",
		"I've known these friends for 4 years, since I moved", "I met those friends I told you of in Rome",
		"In those days I lived in Oslo", "I made these cups in class",
		"My mother lives in Oslo and she has a cat", "Ann and her husband moved to Rome", "My kids love their school",
		"I asked the shelter if they needed help", "My friends threw me a party, and they gave me a watch",
		"My one-year-old is called Kyle, and his birthday is in May", "A buddy of mine lost his job",
		"Someone stole my bike and they left the lock", "I teach students and help them with maths",
		"They moved my class to Friday", "We took him to the clinic on Friday", "They gave us a medal for the rescue",
		"We're adopting a greyhound, he's coming home in May", "It's payroll I'm taking this term",
		"As a child I was shy, believe it or not", "After those lessons I loved skiing", "I had that wrong",
		"My son wants one of those drums", "It feels good to be home", "I get up when it gets dark",
		"I have two sisters, one in Rome and one in Oslo", "One of my brothers is a nurse", "I run one hour a day",
	} {
		if leansOn(english.Split(said)) {
			t.Errorf("%q leans on something", said)
		}
	}
}

// A sentence that leans on nothing that was said is cut to the clauses that stand by themselves, or left out.
func TestStandsAlone(t *testing.T) {
	for said, want := range map[string]string{
		"It was hard, but I passed my driving test in May.":                  "I passed my driving test in May.",
		"I adopted a puppy in May, and she loved it.":                        "I adopted a puppy in May",
		"I'm planning a trip there next month.":                              "",
		"I have the flu and a fever, though I do not know if I can see her.": "I have the flu and a fever",
		"I want to study medicine, but they did not take me.":                "",
		"I went to a workshop in Rome on Friday. It was great.":              "I went to a workshop in Rome on Friday (2023-05-05).",
		"I painted a sunset last week. I gave it to my mother.":              "I painted a sunset last week (week of 2023-05-01). I gave it to my mother.",
		"We visited Oslo in May. I met my wife there.":                       "We visited Oslo in May. I met my wife there.",
		"Thanks, Maria! It helps me keep track of my plans.":                 "",
		"I'm doing kickboxing and it's giving me so much energy.":            "I'm doing kickboxing and it's giving me so much energy.",
		"Their love and encouragement has really helped me.":                 "",
		"They moved my class to Friday.":                                     "They moved my class to Friday (2023-05-12).",
		"Tom is my brother. I had the opportunity to see him play live.":     "Tom is my brother. I had the opportunity to see him play live.",
	} {
		if got := texts(factsOf(t, say(said))); got != want {
			t.Errorf("%q gives %q, want %q", said, got, want)
		}
	}
}

// Moments, praise of what is shown, kindness and reactions are no facts; lasting things in the same words are.
func TestMoments(t *testing.T) {
	for _, said := range []string{
		"I'm cooking rice right now", "I'm eating some pistachios", "I'm at Lidl buying bread", "We're just chilling at home",
		"I'm heading home later, no plans for dinner", "I'm drinking some coffee rn", "I'm resting in a local cafe",
		"I'm so excited to chase my dreams", "I'm more pumped to work on my goals", "I'm thrilled to see my work pay off",
		"I'm looking forward to trying out new flavors", "I'm looking forward to the cozy atmosphere",
		"Love the tattoo!", "Loved the colors in your picture", "Love the mix of ingredients", "Love this blue vase in the pic!",
		"Seeing the players was so motivating for me", "Knowing that people care means the world to me",
		"Don't forget to stay positive and motivate others", "Don't forget to spend time with friends", "Remember to keep smiling and dream big",
		"I think the process would take forever", "I think sunflowers could be a stunning addition",
		"Being outdoors can be really enjoyable", "Teaching dogs maths would be quite a feat",
		"Finding the right shoes for wide, flat feet can be tricky", "My go-to dish when I am out is his",
	} {
		if got := factsOf(t, say(said)); len(got) > 0 {
			t.Errorf("%q gives %s", said, printFacts(got))
		}
	}
	for said, want := range map[string]string{
		"I'm cooking for my sister's wedding on Friday":       "I'm cooking for my sister's wedding on Friday (2023-05-12)",
		"I'm learning Polish right now":                       "I'm learning Polish right now",
		"I'm looking forward to my trip to Oslo on Friday":    "I'm looking forward to my trip to Oslo on Friday (2023-05-12)",
		"Love jazz and blues":                                 "I love jazz and blues",
		"I love the hydro gel creams of the pharmacy":         "I love the hydro gel creams of the pharmacy",
		"Remember to buy milk":                                "Remember to buy milk",
		"Don't forget to keep my answers short":               "Don't forget to keep my answers short",
		"Remind me to be at school at 3 on Friday":            "Remind me to be at school at 3 on Friday",
		"I think schools deserve more money":                  "I think schools deserve more money",
		"Preparing for a match, I always eat a banana":        "Preparing for a match, I always eat a banana",
		"Watching birds calms me":                             "Watching birds calms me",
		"Losing my job gave me time to travel":                "Losing my job gave me time to travel",
		"I love how you sing and play the violin":             "",
		"I love hard blocks and well-timed serves":            "I love hard blocks and well-timed serves",
		"I like vanilla and mixed berries":                    "I like vanilla and mixed berries",
		"I have two kids and moved to Rome in May":            "I have two kids and moved to Rome in May",
		"I moved to Rome in May [shares a photo of my house]": "I moved to Rome in May",
		"I love my job! [shares a photo of a white board]":    "I love my job!",
		"My boss who lives in Rome snores at work":            "My boss who lives in Rome snores at work",
	} {
		if got := texts(factsOf(t, say(said))); got != want {
			t.Errorf("%q gives %q, want %q", said, got, want)
		}
	}
}
