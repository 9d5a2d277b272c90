package evals

import (
	"fmt"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract/rules"
)

// TestStories holds what an agent is told at the end of stories. Of the set that rules
// may be written for it names each story that is not right; of the held-out set it shows
// only the figures, so that rules are not written for it.
func TestStories(t *testing.T) {
	var got strings.Builder
	for _, set := range StorySets {
		stories, err := Stories(set)
		if err != nil {
			t.Fatal(err)
		}
		if len(stories) < 120 {
			t.Errorf("%s: %d stories, want 120", set, len(stories))
		}
		scores, err := RunStories(t.Context(), rules.New(), embed.Builtin{}, stories)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "%s\n%s%s\n", set, StoryTable(scores), MissedLine(scores))
		for i := range scores {
			if wrong := scores[i].Wrong(); wrong != "" && set == "tuned" {
				fmt.Fprintf(&got, "%s: %s\n", scores[i].Story.Name, wrong)
			}
		}
		got.WriteString("\n")
	}
	sameAsFile(t, "testdata/stories", got.String())
}

const storyOfRome = `{"name": "a", "class": "moves", "sessions": [
{"time": "2024-01-08T08:00:00Z", "turns": ["user: I live in Berlin.", "assistant: Nice!"]},
{"time": "2024-02-08T08:00:00Z", "turns": ["user: I have a dog called Rex."]},
{"time": "2024-06-08T08:00:00Z", "turns": ["user: NEW"]}],
"question": "Where do I live?", "holds": ["Rome"], "ended": ["berlin"], "old": "live in Berlin", "new": "Rome"}`

// A change that is said plainly is noticed and told in both orders; one that is not said
// is neither, nor is a control right whose fact has ended.
func TestStoryScores(t *testing.T) {
	plain := strings.Replace(storyOfRome, "NEW", "I live in Rome.", 1)
	unsaid := strings.Replace(storyOfRome, "NEW", "Rome is a city with many cats.", 1)
	ended := strings.NewReplacer("moves", "control", `"ended": ["berlin"], "old": "live in Berlin", "new": "Rome"`,
		`"keep": ["live in Berlin"]`, `["Rome"]`, `["Berlin"]`).Replace(plain)
	var stories []Story
	for _, text := range []string{plain, unsaid, ended} {
		more, err := parseStories([]byte(strings.ReplaceAll(text, "\n", " ")))
		if err != nil {
			t.Fatal(err)
		}
		stories = append(stories, more...)
	}
	scores, err := RunStories(t.Context(), rules.New(), embed.Builtin{}, stories)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if got := scores[0].Orders[i]; !got.Noticed || got.WronglyEnded != 0 || !got.FirstHit || !got.Told {
			t.Errorf("plain: %+v", got)
		}
		if got := scores[1].Orders[i]; got.Noticed || got.WronglyEnded != 0 || got.Told {
			t.Errorf("unsaid: %+v", got)
		}
		if got := scores[2].Orders[i]; got.WronglyEnded != 1 || got.FirstHit || got.Told {
			t.Errorf("ended: %+v", got)
		}
	}
	if scores[0].Wrong() != "" || !strings.Contains(scores[2].Wrong(), "change first: 1 wrongly ended") {
		t.Errorf("%q, %q", scores[0].Wrong(), scores[2].Wrong())
	}
}

// A mistake in a story is found, and named by its line.
func TestParseStories(t *testing.T) {
	good := strings.ReplaceAll(storyOfRome, "NEW", "I live in Rome.")
	for _, change := range [][2]string{
		{`"new": "Rome"`, `"new": "Oslo"`}, {`"new": "Rome"`, `"new": "I "`}, {"assistant: ", "agent: "},
		{`"ended": ["berlin"],`, ""}, {`"name"`, `"title"`}, {"2024-01-08T", "8 Jan "},
	} {
		bad := strings.ReplaceAll(strings.Replace(good, change[0], change[1], 1), "\n", " ")
		if _, err := parseStories([]byte(bad)); err == nil || !strings.HasPrefix(err.Error(), "line 1: ") {
			t.Errorf("%q in place of %q: %v", change[1], change[0], err)
		}
	}
}
