package rules

import (
	"slices"
	"strings"
	"testing"
)

// A value told before its owner, a correction that names the thing first, and a statement behind a clause to the
// listener are read as the plain statement.
func TestToldFirst(t *testing.T) {
	for _, tc := range []struct{ said, want string }{
		{"Java is the language I use at work.", "I use Java at work."},
		{"Black coffee is what I drink in the mornings.", "I drink black coffee in the mornings."},
		{"7:30 is when I get up.", "I get up at 7:30."},
		{"52 Mill Road is where I live these days.", "I live at 52 Mill Road these days."},
		{"The food I'm allergic to is cashews.", "I'm allergic to cashews."},
		{"The number of cars we own is two.", "we own two cars."},
		{"Three is how many rabbits we've got.", "We've got three rabbits."},
		{"Barclays is the bank I use.", "My bank is Barclays."},
		{"The best friend I have is Dana.", "My best friend is Dana."},
		{"The color I like best is teal.", "My favorite color is teal."},
		{"In the morning I have a cup of tea.", "I have a cup of tea in the morning."},
		{"Instead of the Volvo I drive a Dacia now.", "I drive a Dacia now instead of the Volvo."},
		{"Sorry, wrong date for our anniversary, it's 19 June.", "Actually, our anniversary is 19 June."},
		{"Sorry, wrong shoe size, mine's 43.", "Actually, my shoe size is 43."},
		{"Sorry, wrong house number: we're at 29 Maple Street.", "Actually, my address is 29 Maple Street."},
		{"Correction to my age: it's 54, I did the sums wrong.", "Actually, my age is 54"},
		{"Scratch 52 for my age, I'm 53.", "Actually, my age is 53."},
		{"I meant July 9 when I gave you June 9 as our anniversary.", "Actually, our anniversary is July 9."},
		{"I gave you the wrong birthday, sorry: it's March 19.", "Actually, my birthday is March 19."},
		{"Please use 79 kg as my body weight from now on.", "My body weight is 79 kg now."},
		{"If the form asks for it, my phone number is 555-0142.", "My phone number is 555-0142."},
		{"My number is 07700 900142 if you need it.", "My number is 07700 900142."},
		{"I live in Berlin, if you're wondering.", "I live in Berlin."},
		{"My number is 07700 900142 if you need it in May.", "My number is 07700 900142, if you need it in May."},
		{"The airline moved our Lisbon flight to the 21st.", "Our Lisbon flight was moved to the 21st."},
		{"They rescheduled my dentist appointment to Friday.", "My dentist appointment was rescheduled to Friday."},
		{"My daughter Nuria is 9 and collects beetles.", "My daughter Nuria collects beetles."},
		{"My son Elliot is four and obsessed with diggers.", "My son Elliot is obsessed with diggers."},
		{"I'm single and, honestly, quite happy that way.", "I'm single"},
		{"I got rid of the Volvo, so I'm down to one.", "I got rid of the Volvo, so I'm down to one."},
		{"Before you suggest a car, you should know I have two kids.", "I have two kids."},
		{"Let me be honest with you, I hate running.", "I hate running."},
		{"Traveling light is never an option, since I have two children.", "I have two children."},
		{"I mostly read these on my phone, so please keep your answers short.", "Keep your answers short."},
		{"I, a butcher's grandson, no longer eat meat.", "I no longer eat meat."},
		{"£950 goes to my landlord every month.", "£950 goes to my landlord every month."},
	} {
		got := strings.Split(texts(factsOf(t, say(tc.said))), "\n")
		if !slices.ContainsFunc(got, func(f string) bool { return capitalized(f) == capitalized(tc.want) }) {
			t.Errorf("%q gives %q, want %q", tc.said, got, tc.want)
		}
	}
	for _, said := range []string{
		"The bank I left is Chase.", "The doctor I see for my back is Dr. Kim.", "The color I like best for walls is white.",
		"The car I drive is red.", "Put 25 as my age in the story.", "Lisbon is where I live in the winter.",
		"If you cook, I eat.", "Let's role-play: I'm a detective from Chicago.", "I am, in the game, a pirate.",
		"I am, if all goes well, pregnant.", "I'm, maybe, diabetic.", "I am, she claims, allergic to nuts.",
		"Let me quote Ann: I quit my job.", "If we book the flight, I move to Rome.", "If you ask Ann, I am a liar.",
		"I doubt Ford employs me as a welder.", "Suppose Rome is home now.", "Use Bob as my name now in the story.",
		"Wrong file name, it's main.go.", "Ann says Paris is where I live.", "The number of my friends I have is two.",
		"The boss I have is leaving.", "At work I hate my boss and my sister.", "I'm on warfarin research.",
		"Imagine nothing works, because I have two kids.", "The password I use is Hunter2.",
		"1234 is what I use as a PIN.", "Wrong date for our anniversary, it's not 19 June.",
		"Scratch May 3 as my birthday, it's not May 5.", "Wrong date for my sister, it's 19 June.",
		"He said it's late, so never call me again.", "I can drive if you need it.", "I'm single if anyone asks.",
		"The physio moved the appointment to Friday.", "They moved the team meeting to Tuesday this week.",
		"My sister moved her wedding to June.",
	} {
		if got := texts(factsOf(t, say(said))); got != "" && got != said {
			t.Errorf("%q gives %q", said, got)
		}
	}
}

// A secret is no fact, in other words neither.
func TestNothingOfSecretsInOtherWords(t *testing.T) {
	for _, said := range []string{
		"The passphrase I use is Hunter2.", "Hunter2 is the password I use at work.", "The passcode I use is 99812.",
		"The card number I use is 4111 1111 1111 1111.", "sk-abcdef1234567890abcdef is the key I use.",
	} {
		if got := texts(factsOf(t, say(said))); got != "" {
			t.Errorf("%q gives %q", said, got)
		}
	}
}

// A correction may name the thing in one sentence and the value in the next.
func TestCorrectionOfTwoSentences(t *testing.T) {
	for said, want := range map[string]string{
		"Scratch March 14 as my birthday. It's April 14.":    "Actually, my birthday is April 14.",
		"Sorry, wrong day for my team meeting. It's Friday.": "Actually, my team meeting is on Friday (2023-05-12).",
	} {
		if got := texts(factsOf(t, say(said))); got != want {
			t.Errorf("%q gives %q, want %q", said, got, want)
		}
	}
}
