package rules

import (
	"context"
	"slices"
	"testing"

	"github.com/memoryd/memoryd/extract"
)

// textsOf are the texts of the facts of a turn of the user's behind turns of somebody else.
func textsOf(t *testing.T, said ...string) []string {
	t.Helper()
	var turns []extract.Turn
	for i, text := range said {
		own := i == len(said)-1
		author := "Tom"
		if own {
			author = "Ann"
		}
		turns = append(turns, extract.Turn{SessionID: "s", EventID: text, Author: author, User: own, Text: text})
	}
	found, err := New().Extract(context.Background(), extract.Batch{Turns: turns})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for i := range found.Facts {
		out = append(out, found.Facts[i].Text)
	}
	return out
}

// keepsNone checks that texts give no fact, and keepsAll that each is a fact as it is.
func keepsNone(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if got := textsOf(t, text); len(got) > 0 {
			t.Errorf("%q gives %q", text, got)
		}
	}
}

func keepsAll(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if got := textsOf(t, text); !slices.Equal(got, []string{text}) {
			t.Errorf("%q gives %q", text, got)
		}
	}
}

// A condition before a plan is kept with it, or neither is, and words that deny a statement keep it from being one.
func TestConditionsAndDenials(t *testing.T) {
	keepsNone(t,
		"Unless I lose my job, we're moving in May", "Unless I get the visa, I'm staying in Rome",
		"If I get the job, I'm moving to Berlin", "Provided that the bank agrees, we're buying a house in May",
		"As long as my visa is renewed, I'm staying in Rome", "Assuming I pass the exam, I'll start at Siemens in May",
		"So long as my knee holds, I'll run the marathon in May", "Not true: I live in Rome", "False: I am vegan",
		"A myth: I quit my job",
	)
	keepsAll(t,
		"On days when my back hurts, I'll go to the pool and swim", "Once I finish my degree, I'm moving to Berlin",
		"After my exam I'm moving to Berlin", "I'm moving to Berlin after the exam",
		"I'm staying in Rome unless I lose my job", "I take the bus to work if it rains", "I'm not a vegetarian",
	)
}

// A step of a recipe, and words that are only judged behind a mark, are nothing that the speaker does.
func TestStepsAndJudgedActivities(t *testing.T) {
	keepsNone(t,
		"Spread half of the cream over the biscuits, creating an even layer", "Put the tray with the potatoes in the oven",
		"Let the dough rest in a warm corner", "Beat the egg whites with half of the sugar", "Cut the onions into thin rings",
		"Seeing the smiles on everyone's faces - it's a total win!", "Watching the sun rise over the lake - it was calming",
		"Running errands and studying for exams – impressive multitasking", "Cooking for forty guests, that's impressive",
		"Grilled in butter with mushrooms and thyme – that's a great meal",
	)
	for said, want := range map[string]string{
		"Quit my job at the bakery":                                          "I quit my job at the bakery",
		"Adopted a cat from the shelter - it's so cute":                      "I adopted a cat from the shelter",
		"Researching adoption agencies — it's been a dream to have a family": "I am researching adoption agencies — it's been a dream to have a family",
		"Working on a novel about my grandmother":                            "I am working on a novel about my grandmother",
		"Learning Portuguese for my move to Porto":                           "I am learning Portuguese for my move to Porto",
		"Joined a gym in the old harbor, it's in a cellar":                   "I joined a gym in the old harbor, it's in a cellar",
		"Sold my car yesterday - that's a relief":                            "I sold my car yesterday - that's a relief",
	} {
		if got := textsOf(t, said); len(got) != 1 || got[0] != want {
			t.Errorf("%q gives %q, want %q", said, got, want)
		}
	}
}

// An answer joins its question if it answers it: a sentence of its own about something else does not, nor does a "no"
// to a question that says too little.
func TestAnswersThatMissTheQuestion(t *testing.T) {
	for _, pair := range [][2]string{
		{"What's your name?", "The connection between law and economics fascinates me"},
		{"Any particular destination in mind?", "I have heard about fast moves"},
		{"How has your experience with calculus been so far?", "I just made a to do list for my day"},
		{"What other shows do you enjoy?", "Taylor's dress is designed for a short person"},
		{"Have you tried making any at home?", "Vanilla and salted caramel are fantastic choices"},
		{"Are you planning any trip for spring?", "Juventus has a rich history"},
		{"Have you been before?", "Nope, never have"}, {"Have you been before?", "Nope, but it's my first time going"},
		{"How did the food taste?", "They sell it at the market"}, {"Where have you been?", "The food got me hooked"},
	} {
		for _, fact := range textsOf(t, pair[0], pair[1]) {
			if len(fact) > len(pair[0]) && fact[:len(pair[0])] == pair[0] {
				t.Errorf("%q gives %q", pair, fact)
			}
		}
	}
	for _, pair := range [][2]string{
		{"What do you do for a living?", "Mostly carpentry"}, {"Do you have any pets?", "Just a cat named Luna"},
		{"When are you opening the studio?", "The official opening is on the first of May"},
		{"Do you have siblings?", "Two brothers"}, {"Where do you live?", "Near the station in Porto"},
		{"Have you been to Rome before?", "Nope, never"}, {"How is your knee?", "It hurts when I run"},
		{"Do you play any instruments?", "The piano, but badly"}, {"Do you eat meat?", "No, never"},
		{"What's your favorite band?", "Radiohead is what I listen to most"},
	} {
		if got := textsOf(t, pair[0], pair[1]); !slices.ContainsFunc(got, func(f string) bool { return f == pair[0]+" "+pair[1] }) {
			t.Errorf("%q gives %q", pair, got)
		}
	}
}

// A quotation mark that opens a title stays with it, and initials end no sentence.
func TestTitlesAndInitials(t *testing.T) {
	keepsAll(t,
		`I read that J.K. Rowling wrote my favorite book`, `I met J.R.R. Tolkien's son in Oxford`,
		`My teacher was C.S. Lewis and I loved him`,
	)
	for _, text := range []string{`"Friends" is my favorite show`, `“Sway” is my favorite song`} {
		if got := textsOf(t, "I'm at home. "+text); !slices.Equal(got, []string{text}) {
			t.Errorf("%q gives %q", text, got)
		}
	}
	if got := textsOf(t, `I moved to the U.S. My aunt lives in Boston.`); len(got) != 2 {
		t.Errorf("two sentences behind initials give %q", got)
	}
}
