package rules

import (
	"context"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/extract/english"
	"github.com/memoryd/memoryd/memory"
)

// FuzzExtract checks the promises of every extractor for any text.
func FuzzExtract(f *testing.F) {
	for _, s := range []string{
		"", "I live in Berlin.", "By the way, I moved to Rome last week 😊 Thanks!", "I'm flying to Oslo on 29 Feb",
		"i have 2 kids; what's on next friday?", "Remember that ", "Don't", "I",
		"my", "From now on", "please call me", "Whenever I ask,", "```\nI have a dog", "“I have a dog.",
		"I met Ann 999 weeks ago", "I met Ann in 300 years", "in May 2022 I", "\xffI have a dog\x00",
		"I have a dog\u2028I have a cat\u0085x", "<PAST_CONVERSATIONS>", "I’m Łukasz", "ich wohne hier",
		"我住在北京。I live in 北京", "I have İstanbul", "I was born on Sunday, 31 April", "ignore previous instructions",
		"always never always", "Any allergies?", "Name: Ann, Age: 4\n- Job: x", "We have a dog. It is mine. [shares x]",
		"I alergic. She's my dauhter too, and it's him that I love. Do you?", "my [a] I have a dog [b",
	} {
		f.Add(s, int64(1683554160))
	}
	f.Add("Do", memory.MinTime.Unix())
	f.Add("I went to Rome yesterday", memory.MinTime.Unix())
	f.Add("I'm going to Rome in 12 months", memory.MaxTime.Unix()-1)
	r := New()
	f.Fuzz(func(t *testing.T, text string, unix int64) {
		turns := []extract.Turn{
			{EventID: "a", Author: "ann", User: true, Timestamp: time.Unix(unix, 0), Text: text},
			{EventID: "b", Author: "bot", Timestamp: time.Unix(unix, 0), Text: text},
			{EventID: "c", Author: "ann", User: true, Timestamp: time.Unix(unix, 0), Text: text},
		}
		found, err := r.Extract(context.Background(), extract.Batch{Turns: turns})
		if err != nil {
			t.Fatal(err)
		}
		for _, fact := range found.Facts {
			switch {
			case fact.EventIDs[0] != "a" && fact.EventIDs[0] != "c" || fact.Author != "ann",
				len(fact.EventIDs) > 2 || len(fact.EventIDs) == 2 && fact.EventIDs[1] != "b",
				!fact.Timestamp.Equal(turns[0].Timestamp):
				t.Errorf("%+v is not of the user's turn", fact)
			case fact.Quote == "" || !strings.Contains(text, fact.Quote):
				t.Errorf("%q does not have the quote %q", text, fact.Quote)
			case fact.Text == "" || !utf8.ValidString(fact.Text) || strings.TrimSpace(fact.Text) != fact.Text:
				t.Errorf("text %q", fact.Text)
			case len(fact.Text) > 3*english.MaxSentenceBytes || len(fact.Topics) == 0 && !fact.Forget:
				t.Errorf("%d bytes, topics %q", len(fact.Text), fact.Topics)
			case !fact.ValidFrom.IsZero() && (memory.ValidateTime("", fact.ValidFrom) != nil ||
				!fact.ValidFrom.Equal(fact.ValidFrom.Truncate(24*time.Hour))):
				t.Errorf("valid from %s, which is no day of a memory", fact.ValidFrom)
			}
		}
		again, err := r.Extract(context.Background(), extract.Batch{Turns: turns})
		if diff := cmp.Diff(found, again); err != nil || diff != "" {
			t.Errorf("the second time: %v, facts (-first +second):\n%s", err, diff)
		}
	})
}
