// Package extract turns events into facts, and facts beside what is known
// already into changes.
package extract

import (
	"context"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Turn is what somebody said in one event, in words that may be remembered.
type Turn struct {
	EventID   string
	Author    string
	Timestamp time.Time
	User      bool   // the user's side of the conversation, whoever the author
	Text      string // never empty
}

// Fact is a statement found in turns.
type Fact struct {
	Text      string
	Topics    []string
	Author    string    // who said it
	Timestamp time.Time // when it was said
	ValidFrom time.Time // the day it speaks of, if it names one; zero otherwise
	EventIDs  []string  // of the turns it rests on, at least one
	Quote     string    // words of the first of them, literally
}

// Extractor finds facts. Given the same turns it may find others (a model
// does), so what it found is stored before it is used. Every fact cites turns
// it was given and quotes the first of those it cites.
type Extractor interface {
	// Name names the extractor in revisions: "rules", or a model.
	Name() string
	// Extract reads turns of one session, in order.
	Extract(ctx context.Context, turns []Turn) ([]Fact, error)
}

// recalled is what preload_memory puts in front of a model. It is memory
// already; taking it in again is how memories fill with echoes.
var recalled = regexp.MustCompile(`(?s)<PAST_CONVERSATIONS>.*?(</PAST_CONVERSATIONS>|$)`)

// ReadTurn reads an event as a turn, of whose text the first [memory.MaxFact]
// bytes are what is remembered. It reports false for what memory leaves
// out: tool traffic, system text, compaction summaries, and events without
// words once recalled blocks are taken away.
func ReadTurn(e sessionstore.Event) (Turn, bool) {
	t := Turn{EventID: e.ID, Author: e.Author, Timestamp: e.Timestamp}
	switch e.Content.Role {
	case "user":
		t.User = true
	case "model", "assistant":
	default:
		return t, false
	}
	if e.Compaction || e.Author == "system" || e.RewindBefore != "" {
		return t, false
	}
	for _, p := range e.Content.Parts {
		if p.Response {
			return t, false
		}
	}
	t.Text = strings.TrimSpace(recalled.ReplaceAllString(e.Text(), "\n")) // no quote runs across the gap
	t.Text = Cut(t.Text, memory.MaxFact)
	return t, t.Text != ""
}

// Cut is text, or as much of its beginning as n bytes hold.
func Cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
