package rules

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/memoryd/memoryd/extract"
)

var update = flag.Bool("update", false, "write what the rules give into the golden files")

// TestGolden reads testdata/*.txtar: a transcript, and the facts it gives.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("golden files: %v, %v", files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(ar.Files) != 2 || ar.Files[0].Name != "transcript" || ar.Files[1].Name != "facts" {
				t.Fatal("want the sections transcript and facts")
			}
			got := printFacts(factsOf(t, readTranscript(t, string(ar.Files[0].Data))))
			if *update {
				ar.Files[1].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(ar.Files[1].Data), got); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
		})
	}
}

// factsOf gives the facts of turns.
func factsOf(t testing.TB, turns []extract.Turn) []extract.Fact {
	t.Helper()
	found, err := New().Extract(context.Background(), extract.Batch{Turns: turns})
	if err != nil {
		t.Fatal(err)
	}
	return found.Facts
}

// readTranscript reads turns, each under a header "@ author time". The author
// "model" is not the user's side.
func readTranscript(t testing.TB, s string) []extract.Turn {
	t.Helper()
	var turns []extract.Turn
	for _, part := range strings.Split("\n"+s, "\n@ ")[1:] {
		header, text, _ := strings.Cut(part, "\n")
		author, stamp, _ := strings.Cut(header, " ")
		at, err := time.Parse("2006-01-02 15:04", stamp)
		if err != nil {
			t.Fatal(err)
		}
		turns = append(turns, extract.Turn{EventID: fmt.Sprintf("e%d", len(turns)+1), Author: author, Timestamp: at,
			User: author != "model", Text: strings.TrimSpace(text)})
	}
	return turns
}

// printFacts writes facts as the golden files have them.
func printFacts(facts []extract.Fact) string {
	var b strings.Builder
	for _, f := range facts {
		from := "-"
		if !f.ValidFrom.IsZero() {
			from = f.ValidFrom.Format("2006-01-02")
		}
		events, topics := strings.Join(f.EventIDs, ","), strings.Join(f.Topics, "+")
		fmt.Fprintf(&b, "%s %s %s %s: %s\n", events, f.Author, topics, from, f.Text)
		if f.Quote != f.Text {
			fmt.Fprintf(&b, "\t%q\n", f.Quote)
		}
	}
	return b.String()
}

// monday8May is when the sentences of the tables are said.
var monday8May = time.Date(2023, 5, 8, 13, 56, 0, 0, time.UTC)

// say gives a turn of the user for each text.
func say(texts ...string) []extract.Turn {
	var turns []extract.Turn
	for i, s := range texts {
		turns = append(turns, extract.Turn{
			EventID: fmt.Sprint("e", i+1), Author: "ann", Timestamp: monday8May, User: true, Text: s,
		})
	}
	return turns
}

// Statements of the user's own, requests to remember and lasting instructions are kept, under their topics.
func TestKept(t *testing.T) {
	const p, l, k, e = "USER_PERSONAL_INFO", "USER_PREFERENCES", "KEY_CONVERSATION_DETAILS", "EXPLICIT_INSTRUCTIONS"
	for _, tc := range []struct{ said, text, topics string }{
		{"my name's Ann", "My name's Ann", p},
		{"im 34", "Im 34", p},
		{"I am 34 years old.", "I am 34 years old.", p},
		{"I’m from Ghana", "I’m from Ghana", p},
		{"we have two kids", "We have two kids", p},
		{"Our dog is called Rex", "Our dog is called Rex", p},
		{"Rex is our dog", "Rex is our dog", p},
		{"This is my wife Ann", "This is my wife Ann", p},
		{"I used to be a nurse", "I used to be a nurse", p},
		{"I work at Siemens as an engineer", "I work at Siemens as an engineer", p},
		{"i live in berlin", "I live in berlin", p},
		{"I've been vegan since I was ten", "I've been vegan since I was ten", p},
		{"it's my birthday on 3 May", "It's my birthday on 3 May", p},
		{"People call me Bob", "People call me Bob", p},
		{"I'm colour-blind.", "I'm colour-blind.", p},
		{"There are five of us in the family.", "There are five of us in the family.", p},
		{"I'm on a gluten-free diet", "I'm on a gluten-free diet", p},
		{"You can reach me at ann@example.org", "You can reach me at ann@example.org", p},
		{"I don't drive.", "I don't drive.", p},
		{"I can play the violin", "I can play the violin", p},
		{"I'm allergic to peanuts", "I'm allergic to peanuts", p},
		{"I can't eat gluten", "I can't eat gluten", p},
		{"my favourite colour is green now", "My favourite colour is green now", l},
		{"Green is my favorite color", "Green is my favorite color", l},
		{"I can't stand horror films", "I can't stand horror films", l},
		{"I'd rather take the train than fly", "I'd rather take the train than fly", l},
		{"I'm a huge fan of jazz", "I'm a huge fan of jazz", l},
		{"I don't eat meat", "I don't eat meat", p + "+" + l},
		{"I just adopted a cat", "I just adopted a cat", k},
		{"Just adopted a cat!", "I just adopted a cat!", k},
		{"I decided to leave my job", "I decided to leave my job", k},
		{"I found a new job.", "I found a new job.", k},
		{"I found a new job at HSBC.", "I found a new job at HSBC.", k},
		{"I've found a new job at Bosch", "I've found a new job at Bosch", k},
		{"I finally found a job.", "I finally found a job.", k},
		{"We found a house in Kent.", "We found a house in Kent.", k},
		{"I found work at the docks", "I found work at the docks", k},
		{"We finally found a nanny", "We finally found a nanny", k},
		{"I found a place to live", "I found a place to live", k},
		{"We found a lovely new two bedroom flat near the river", "We found a lovely new two bedroom flat near the river", k},
		{"I found a dentist in Cork", "I found a dentist in Cork", k},
		{"I found an internship for the summer", "I found an internship for the summer", k},
		{"I'd love to visit Japan one day", "I'd love to visit Japan one day", k},
		{"I want to become a doctor", "I want to become a doctor", k},
		{"I'm thinking of moving to Spain", "I'm thinking of moving to Spain", k},
		{"I quit smoking", "I quit smoking", k},
		{"Ann and I got engaged in Rome", "Ann and I got engaged in Rome", k},
		{"When I was five I broke my leg", "When I was five I broke my leg", k},
		{"My dad died when I was twelve.", "My dad died when I was twelve.", p + "+" + k},
		{"Please remember that I'm diabetic.", "I'm diabetic.", p + "+" + e},
		{"Remember that the spare key is under the mat", "The spare key is under the mat", e},
		{"Could you please remember that I am diabetic?", "I am diabetic", p + "+" + e},
		{"don't forget I hate cilantro", "I hate cilantro", l + "+" + e},
		{"I live in Rome, please remember that", "I live in Rome", p + "+" + e},
		{"Remember to buy milk", "Remember to buy milk", e},
		{"Remind me to call the bank", "Remind me to call the bank", e},
		{"always answer in French", "Always answer in French", e},
		{"Could you always answer in French?", "Always answer in French", e},
		{"From now on, please answer in French.", "From now on, please answer in French.", e},
		{"Use metric units from now on", "Use metric units from now on", e},
		{"never call me before 9", "Never call me before 9", e},
		{"keep answers short", "Keep answers short", e},
		{"Don't use emojis", "Don't use emojis", e},
		{"Stop calling me sir", "Stop calling me sir", e},
		{"No emojis in your replies please", "No emojis in your replies please", e},
		{"Bring the emojis back please.", "Bring the emojis back please.", e},
		{"Do call me Peggy, everyone does.", "Do call me Peggy", p + "+" + e},
		{"I keep bees on the roof", "I keep bees on the roof", p},
		{"Doctor Lee looked at my bloods and raised my dose to 75 mg",
			"Doctor Lee looked at my bloods and raised my dose to 75 mg", k},
		{"Don't suggest seafood restaurants.", "Don't suggest seafood restaurants.", e},
		{"Please don't suggest morning meetings.", "Don't suggest morning meetings.", e},
		{"Do not propose early flights.", "Do not propose early flights.", e},
		{"Don't offer me alcohol.", "Don't offer me alcohol.", e},
		{"Don't recommend books by Smith.", "Don't recommend books by Smith.", e},
		{"Don't send me job ads.", "Don't send me job ads.", e},
		{"Don't mention my ex.", "Don't mention my ex.", e},
		{"Don't bring up my divorce.", "Don't bring up my divorce.", e},
		{"Don't ask about my father.", "Don't ask about my father.", e},
		{"Don't put cilantro in my recipes.", "Don't put cilantro in my recipes.", e},
		{"Don't include nuts in recipes.", "Don't include nuts in recipes.", e},
		{"Don't schedule meetings on Fridays.", "Don't schedule meetings on Fridays.", e},
		{"Don't book flights before 9 am.", "Don't book flights before 9 am.", e},
		{"Never recommend horror films.", "Never recommend horror films.", e},
		{"Stop suggesting meat dishes.", "Stop suggesting meat dishes.", e},
		{"Avoid recommending chain restaurants.", "Avoid recommending chain restaurants.", e},
		{"I'd prefer you don't suggest meat.", "I'd prefer you don't suggest meat.", e},
		{"I work days now.", "I work days now.", p},
		{"I work days", "I work days", p},
		{"I work mornings now", "I work mornings now", p},
		{"I support Chelsea now.", "I support Chelsea now.", l},
		{"I follow Arsenal", "I follow Arsenal", l},
		{"I subscribe to The Economist now.", "I subscribe to The Economist now.", p},
		{"I bank with Monzo now", "I bank with Monzo now", p},
		{"You should always cite your sources.", "You should always cite your sources.", e},
		{"Whenever I ask for code, use Go.", "Whenever I ask for code, use Go.", e},
		{"please call me Bob", "Call me Bob", p + "+" + e},
		{"I'd like you to call me Dr. Smith.", "I'd like you to call me Dr. Smith.", p + "+" + e},
		{"By the way, I work nights.", "I work nights.", p},
		{"Hey Tom, well, actually I speak French", "I speak French", p},
		{"Well I work nights 😴", "I work nights", p},
		{"- I work nights", "I work nights", p},
		{"2) I work nights", "I work nights", p},
		{"I'm allergic to shellfish, what can I eat in Lisbon?", "I'm allergic to shellfish", p},
		{"I'm vegan so what can I cook tonight?", "I'm vegan", p},
		{"I have two kids and could you suggest a movie", "I have two kids", p},
		{"Please remember that my locker PIN is 1234.", "My locker PIN is 1234.", k + "+" + e},
		{
			"I work for Acme Inc. in Leeds with Dr. J. Smith, e.g. on pumps.",
			"I work for Acme Inc. in Leeds with Dr. J. Smith, e.g. on pumps.", p,
		},
	} {
		facts := factsOf(t, say(tc.said))
		if len(facts) != 1 || facts[0].Text != tc.text || strings.Join(facts[0].Topics, "+") != tc.topics {
			t.Errorf("%q gives\n%swant %s: %s", tc.said, printFacts(facts), tc.topics, tc.text)
		}
	}
}

// A statement that somebody asks to have remembered is kept as it is said, though no rule knows the statement.
func TestRemembered(t *testing.T) {
	for said, want := range map[string]string{
		"Remember: the wifi code is 1234.":                         "The wifi code is 1234.",
		"Please remember: my locker code is 77.":                   "My locker code is 77.",
		"Remember the wifi code is 1234.":                          "The wifi code is 1234.",
		"Please remember that my locker code is 77.":               "My locker code is 77.",
		"Remember, the gate code is 4711.":                         "The gate code is 4711.",
		"Remember the spare key is under the mat.":                 "The spare key is under the mat.",
		"Please remember Anna is vegan.":                           "Anna is vegan.",
		"Remember: locker code 77":                                 "Locker code 77",
		"Remember this: the alarm code is 9921.":                   "The alarm code is 9921.",
		"remember: the answer is 42":                               "The answer is 42",
		"Remember: my locker code is 77 and my bike lock is 1234.": "My locker code is 77\nMy bike lock is 1234.",
		"Memorize this: the safe is behind the mirror.":            "The safe is behind the mirror.",
		"Note: the gate code is 4711.":                             "The gate code is 4711.",
		"Note to self: the parking spot is B12.":                   "The parking spot is B12.",
		"Please note: the office closes at six.":                   "The office closes at six.",
		"Please make a note: the vet is called Dr. Hall.":          "The vet is called Dr. Hall.",
		"Don't forget that the gate code is 4711.":                 "The gate code is 4711.",
		"Don't forget: Leo's teacher is Mrs. Grant.":               "Leo's teacher is Mrs. Grant.",
		"Keep in mind: the lift is broken.":                        "The lift is broken.",
		"Bear in mind that the shop closes at 5.":                  "The shop closes at 5.",
		"For the record, the gate code is 4711.":                   "The gate code is 4711.",
		"FYI, the gate code is 4711.":                              "The gate code is 4711.",
		"For future reference, the router is in the attic.":        "The router is in the attic.",
		"The gate code is 4711, please remember that.":             "The gate code is 4711",
		"Remember: the wifi password is swordfish.":                "The wifi password is swordfish.",
		"Remember: the plumber comes on Monday.":                   "The plumber comes on Monday.",
	} {
		facts := factsOf(t, say(said))
		if texts(facts) != want {
			t.Errorf("%q gives %q, want %q", said, texts(facts), want)
		}
		for _, f := range facts {
			if !slices.Contains(f.Topics, "EXPLICIT_INSTRUCTIONS") {
				t.Errorf("%q has the topics %v", f.Text, f.Topics)
			}
		}
	}
	for _, said := range []string{
		// Memories shared, and questions.
		"Remember the summer in Rome?", "Do you remember the wifi code?", "I remember the wifi code is 1234.",
		"Remember the summer in Rome was great.", "Remember the night we met?", "Remember when the wifi broke?",
		"Remember the guy who is always late?", "Remember the concert was on my birthday.", "Remember what I said.",
		"Never forget where you came from.", "Remember the wifi code is 1234?",
		// Lists, and things to take along.
		"Remember: milk, eggs.", "Remember: milk, 12 eggs", "Remember the milk", "Don't forget your umbrella!",
		"Remember: sunscreen, hats, towels", "Note: bread, 2 pints of milk", "Don't forget the milk and the eggs.",
		// Sayings, cheer and opinions.
		"Remember, practice makes perfect", "Remember, the customer is always right.", "Remember, life is short.",
		"Remember, every cloud has a silver lining.", "Remember: you are the best!", "Remember the Titans is a film.",
		"For the record, that was a joke.", "For the record, Messi is better than Ronaldo.",
		// The task at hand.
		"Remember: translate this to French.", "Remember: buy 12 eggs", "Remember: call Tom at 5", "Note: chapter 3",
		"Keep in mind that the API is slow.", "Note: the function returns null.", "Note that this is a draft.",
		"Keep in mind that the audience is technical.", "Remember: keep it short", "Just so you know, it is raining.",
	} {
		if facts := factsOf(t, say(said)); len(facts) > 0 {
			t.Errorf("%q gives\n%s", said, printFacts(facts))
		}
	}
}

// Questions, talk, tasks, quotations, attempts to take the agent over, and other languages give no fact.
func TestNotKept(t *testing.T) {
	for _, said := range []string{
		// Questions.
		"Do I live in Berlin?", "can you help me with my taxes", "what is my name", "do you know my wife",
		"could you tell me where I live",
		"I wonder if my dog is sick", "I was wondering whether my dog is sick", "Do you remember my dog?",
		"Can you remember my name?", "I'd love to know more about my dog",
		// Small talk.
		"ok", "sounds good", "Thanks, I'll try that", "I see", "I agree", "I understand", "I'm fine", "I think so",
		"I don't know", "I guess", "me too",
		"I'm so happy for you", "I love it", "I love that painting!", "I love your dog", "That's my point",
		"My pleasure!", "I totally get that", "I'm glad you like it",
		"I appreciate your help", "I remember that day", "I couldn't agree more", "I'm back", "I'm at home now",
		"I'm 100% sure", "I'm 5 minutes away", "I had a great time",
		"I feel sad", "Never mind", "Never give up!", "Don't worry", "Always happy to help!",
		"Remember to take care of yourself!", "Remember, practice makes perfect", "I have to go",
		"you are wrong", "You're the best", "I hope you are well", "I'm tired", "I am so excited!",
		// Tasks.
		"I need you to summarise this", "I want to know how to cook rice", "help me with my essay",
		"I'm looking for a restaurant", "I would like a pizza recipe",
		"Answer this in French", "Make it shorter", "Give me three ideas", "Call me later", "I have a question",
		"I have an error in my code", "I get a null pointer exception",
		"I installed the package yesterday", "I'm trying to fix this bug", "I tried that already", "I want pizza",
		"Write a poem about my dog",
		// Finds of the day.
		"I found a house plant", "I found a bug", "I found a great recipe", "I found a place to eat", "I found it",
		"I found work boring", "I found the job boring", "I found a work around", "I found a room temperature",
		"Did I find a job?", "If I found a job I'd move.",
		// Orders about the moment, and what passes.
		"Don't suggest that.", "Don't suggest anything too expensive.", "Don't suggest it again tomorrow",
		"Don't recommend this one.", "Don't suggest changes to this draft.",
		"Don't suggest the same thing twice.", "Don't suggest restaurants for tonight.",
		"Don't recommend hotels in Rome for this trip.", "Don't suggest more recipes.",
		"Don't suggest otherwise.", "Don't send me the file.", "Don't book the flight.",
		"Don't mention the price in the letter.", "Don't mention my name in the letter.", "Don't add salt.",
		"Don't put it in the summary.", "Don't tell me you forgot.", "I work days on end",
		"I support you now.", "I support the idea.", "I work now.", "I see the point now.", "I follow you now",
		"I check Google now.",
		// Not the user's own, or not so.
		"If I were rich I would buy a boat", "Let's say I live in Rome", "Imagine I have a dog",
		`She said "I love cats"`, `Translate "I live in Rome. I have a dog." to French`,
		"Translate this to French: I live in Rome", "Summarize the following:\nI live in Rome.\nI have two dogs.",
		"> I live in Rome", "    I live in Rome", "Bob: hi\nassistant: I live in Rome",
		"```\nI live in Rome\n```", "~~~text\nI live in Rome", "| I live in Rome | I have a dog |",
		"2024-01-02 10:00:00 I live in Rome", `{"text": "I live in Rome"}`,
		"https://example.org/i/live/in/rome", "My password is hunter2", "My PIN is 1234",
		"system: I live in Rome",
		// Other languages.
		"Ich wohne in Berlin.", "J'habite à Paris et j'ai deux enfants.", "Vivo en Madrid.", "我住在北京。", "私は東京に住んでいます。",
		"My mieszkamy w Warszawie", "I miei amici vivono a Roma",
		"We wonen in Utrecht", "Я живу в Москве.", "", " ", "?", "😀😀😀", "\x00\xff",
	} {
		if facts := factsOf(t, say(said)); len(facts) > 0 {
			t.Errorf("%q gives\n%s", said, printFacts(facts))
		}
	}
}

// A fact cites its turn and quotes it literally; the agent's turns give none.
func TestSource(t *testing.T) {
	turns := []extract.Turn{
		{
			EventID: "a", Author: "ann", Timestamp: monday8May, User: true,
			Text: "Oh hi! By the way,  I moved to Rome yesterday. Bye",
		},
		{EventID: "b", Author: "bot", Timestamp: monday8May, Text: "I live in the cloud."},
	}
	want := []extract.Fact{{
		Text: "I moved to Rome yesterday (2023-05-07).", Topics: []string{"KEY_CONVERSATION_DETAILS"},
		Author: "ann", Timestamp: monday8May, ValidFrom: time.Date(2023, 5, 7, 0, 0, 0, 0, time.UTC),
		EventIDs: []string{"a"}, Quote: "By the way,  I moved to Rome yesterday.",
	}}
	if diff := cmp.Diff(want, factsOf(t, turns)); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}

// A turn gives a bounded number of facts, in a time that its length bounds.
func TestLimits(t *testing.T) {
	many := strings.Repeat("I have a dog. ", 100)
	if got := len(factsOf(t, say(many))); got != maxFacts {
		t.Errorf("100 statements in a turn give %d facts, want %d", got, maxFacts)
	}
	for name, unit := range map[string]string{
		"words": "I have a dog and ", "emoji": "😀", "stops": "a. ", "quotes": `"`, "spaces": " ", "letters": "x",
		"fences": "```\n", "leads": "well, ", "dates": "yesterday ", "newlines": "\n", "commas": ",", "digits": "1 ",
		"ignore": "ignore all the ", "bullets": "- [ ] ",
	} {
		if facts := factsOf(t, say("I have a dog "+strings.Repeat(unit, (64<<10)/len(unit)))); len(facts) > maxFacts {
			t.Errorf("64 kB of %s gives %d facts", name, len(facts))
		}
	}
}

// Extract stops when its context ends.
func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := New().Extract(ctx, extract.Batch{Turns: say("I have a dog")}); !errors.Is(err, context.Canceled) {
		t.Errorf("Extract after cancel: %v", err)
	}
}

// An extractor may be used from several goroutines at once.
func TestConcurrent(t *testing.T) {
	r := New()
	turns := say("I went to Rome last week and on Friday I met Ann", "I'm flying home on 12 May", "I have a dog")
	want, err := r.Extract(context.Background(), extract.Batch{Turns: turns})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			got, err := r.Extract(context.Background(), extract.Batch{Turns: turns})
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%v, facts (-want +got):\n%s", err, diff)
			}
		})
	}
	wg.Wait()
}

func TestName(t *testing.T) {
	var x extract.Extractor = New()
	if x.Name() != "rules" {
		t.Errorf("Name() = %q", x.Name())
	}
}

// BenchmarkRules reads ordinary chat turns; turns/s is the figure to watch.
func BenchmarkRules(b *testing.B) {
	r, turns := New(), say(
		"Hey! How are you doing today? I've been pretty busy with work lately.",
		"That's awesome, congrats! I'm really happy for you. What's next?",
		"Yesterday my wife and I went to the new Italian place on Main Street, and it was amazing. "+
			"I love their carbonara!",
		"Can you suggest a good book for a long flight? Something like The Martian would be great.",
		"Thanks, I'll have a look. By the way, I'm allergic to peanuts, so please keep that in mind for recipes.",
		"ok", "Could you rewrite the second paragraph so that it sounds less formal?",
		"We adopted a dog two weeks ago. Her name is Luna and she's already running the house. "+
			"My kids can't get enough of her.",
		"From now on, please answer in French.",
		"I have a dentist appointment next Tuesday at 3pm, and on Friday we're driving to Hamburg.")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Extract(context.Background(), extract.Batch{Turns: turns}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*len(turns))/b.Elapsed().Seconds(), "turns/s")
}
