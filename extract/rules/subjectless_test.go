package rules

import (
	"strings"
	"testing"
	"time"

	"github.com/memoryd/memoryd/extract"
)

// A sentence that begins with its subject lacks none, and an answer that says nothing of the question is none.
func TestNothingMissing(t *testing.T) {
	for _, text := range []string{
		"Knowing another language opens up many doors in Lisbon.", "Mixed emotions are rough for our family.",
		"Seeing my students succeed fills me with joy.", "Stunning photo of the lake!",
		"Been quite a ride with the new flat.", "Love and acceptance should be everyone's right.",
		"Working with children in a project that is fun sounds wonderful.",
	} {
		for _, f := range facts(t, text) {
			if strings.HasPrefix(f.Text, "I ") {
				t.Errorf("%q: %q", text, f.Text)
			}
		}
	}
	for text, want := range map[string]string{
		"Still working on my novel about two whales.":    "I am still working on my novel about two whales.",
		"Been practicing the cello lately, it calms me.": "I have been practicing the cello lately, it calms me.",
	} {
		if got := facts(t, text); len(got) != 1 || got[0].Text != want {
			t.Errorf("%q: %+v", text, got)
		}
	}
	for _, pair := range [][2]string{
		{"How are you today?", "Hey Ann!"}, {"Do you have any favourite places in Japan?", "Kyoto sounds incredible!"},
		{"Any plans for your holidays?", "Those look amazing, Ann."}, {"What is your favourite food?", "Yep!"},
	} {
		if got := replies(t, pair[0], pair[1]); len(got) > 0 {
			t.Errorf("%q: %+v", pair, got)
		}
	}
	for _, pair := range [][2]string{
		{"Do you have any pets?", "Have a dog called Rex and two cats."}, {"Any allergies?", "Nuts are a problem."},
		{"What are your hobbies?", "Enjoy the mountains and skiing."},
	} {
		if got := replies(t, pair[0], pair[1]); len(got) != 1 {
			t.Errorf("%q: %+v", pair, got)
		}
	}
	if got := replies(t, "Do you have any allergies?", "No."); len(got) != 1 {
		t.Errorf("%+v", got)
	}
}

// facts are those of one turn of the user.
func facts(t *testing.T, text string) []extract.Fact { return replies(t, "", text) }

// replies are the facts of a turn of the user that follows one of the agent.
func replies(t *testing.T, question, answer string) []extract.Fact {
	t.Helper()
	at := time.Date(2024, 5, 8, 12, 0, 0, 0, time.UTC)
	var turns []extract.Turn
	if question != "" {
		turns = append(turns, extract.Turn{SessionID: "s", EventID: "1", Author: "agent", Timestamp: at, Text: question})
	}
	turns = append(turns, extract.Turn{
		SessionID: "s", EventID: "2", Author: "user", Timestamp: at, User: true, Text: answer,
	})
	found, err := New().Extract(t.Context(), extract.Batch{Turns: turns})
	if err != nil {
		t.Fatal(err)
	}
	return found.Facts
}
