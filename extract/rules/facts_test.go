package rules

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/extract"
)

// A fact without what its verb or pronoun is about, or of a moment of any day, is left out.
func TestFactsThatSayNothing(t *testing.T) {
	keepsNone(t,
		// The object is left out, or known to the listener alone.
		"I got a few years ago in Oslo and it was cheap", "I've been working on for a while", "I don't have any so I'll wait",
		"I had some a few weeks ago", "I love escaping to that world", "I don't like it either",
		"I just started another one", "I read that book and loved it", "I made it in class",
		"The sea has that effect on me too", "The colors are great - it reminds me of home",
		"Reminds me that patience matters", "Turns out she had no brother - that hurt me", "I love the shading and how you drew it",
		// Doings of every day, and statements that say nothing definite.
		"I just ate dinner", "I'm going to go to bed now", "I woke up late today", "I'm on my way back from the shop",
		"I've been exploring options", "I'm making progress", "Pets have a way of brightening our days",
		// A list and a predicate behind marks are no statements.
		"My family, exercise, and long walks, for sure", "Checking labels, especially the small ones, can also be helpful",
		"Three times a week; it keeps us fit",
		"Finding the right shoes for wide, flat feet can be tricky",
	)
	keepsAll(t,
		"I got a bike a few years ago in Oslo", "I made it in time for my sister's wedding", "I skipped dinner on Monday",
		"I usually eat dinner at six", "I had some of my friends over on Monday", "Our dog sleeps all day in Oslo with me", "I eat everything again",
		"My family exercises on Sundays", "I love crime novels and how they end",
	)
}

// Statements that are read though no table has their verb, their subject is long, or they have a taste in another tense.
func TestFactsOfOtherForms(t *testing.T) {
	keepsAll(t,
		"I color-code my notes to keep track of deadlines", "I'm trying out yoga to get a little extra strength",
		"I'll always love crime novels", "I'm loving experimenting with spices", "I'm swamped with the kids and work",
		"Organizing a chess camp for kids in my hometown last summer was an adventure",
	)
	if got := textsOf(t, "Busy with exams but finding time to read"); len(got) != 1 ||
		got[0] != "I am busy with exams but finding time to read" {
		t.Errorf("a state without its subject gives %q", got)
	}
}

// A verb behind "and" shares the "will" or "to" before it, and a clause that is cut off ends no fact.
func TestPartsKeepTheirVerbs(t *testing.T) {
	for said, never := range map[string]string{
		"I'm going to tidy up and take a shower then I'm going to call my sister":      "I take a shower",
		"As I went and became a senior myself the shows just got worse":                "Became",
		"I've also done the drive, and while it takes a bit longer, it feels like art": "longer",
	} {
		for _, fact := range textsOf(t, said) {
			if strings.HasPrefix(fact, never) || strings.HasSuffix(fact, never) {
				t.Errorf("%q gives %q", said, fact)
			}
		}
	}
}

// "Reminds me of home" leans on the sentence before it, which says what does.
func TestVerbsWithoutSubject(t *testing.T) {
	want := "I ran a charity race for my school. Really made me think about my health and my sleep."
	if got := textsOf(t, want); !slices.Equal(got, []string{want}) {
		t.Errorf("%q gives %q", want, got)
	}
}

// An answer about something else stands alone, or is none. The name of what was asked after is one.
func TestAnswersOfOtherThings(t *testing.T) {
	for _, pair := range [][2]string{
		{"Do you work seven days a week?", "A good mood can make a world of difference"},
		{"Do you enjoy tea?", "It sounds like you had a busy day"}, {"Do you have a cat?", "One day you'll meet a cute one"},
		{"What gave you the idea?", "This design reminds me of the grit it takes"}, {"Do you have more of them?", "Umm"},
		{"Where did you have dinner?", "Yes the party was amazing"}, {"How do you find the books?", "It was an epic duel"},
		{"So what's your favorite game?", "Yep!"},
	} {
		for _, fact := range textsOf(t, pair[0], pair[1]) {
			if strings.HasPrefix(fact, pair[0]) {
				t.Errorf("%q gives %q", pair, fact)
			}
		}
	}
	for _, pair := range [][2]string{
		{"Which team did you sign with?", "The Oslo Wolves!"}, {"What kind of yoga do you do?", "It's a class for beginners"},
		{"What flavors do you sell?", "Trying out flavors like mint has been a blast"},
	} {
		if got := textsOf(t, pair[0], pair[1]); !slices.Equal(got, []string{pair[0] + " " + pair[1]}) {
			t.Errorf("%q gives %q", pair, got)
		}
	}
}

// An order is no instruction where people talk to each other, and no agent listens.
func TestInstructionsAmongPeople(t *testing.T) {
	for _, tc := range []struct {
		before, said string
		facts        int
	}{
		{"tom: I'm off to Athens in May.", "ann: Don't forget to pack the tickets.", 0},
		{"bot: Your trip is booked.", "ann: Don't forget to pack the tickets.", 1},
		{"ann: I'm off to Athens in May.", "ann: Don't forget to pack the tickets.", 1},
	} {
		turns := exchange(tc.before, tc.said)
		found, err := New().Extract(context.Background(), extract.Batch{Before: turns[:1], Turns: turns[1:]})
		if err != nil || len(found.Facts) != tc.facts {
			t.Errorf("%q behind %q gives %q, %v", tc.said, tc.before, texts(found.Facts), err)
		}
	}
}
