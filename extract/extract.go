// Package extract turns events into facts, and facts beside what is known
// already into changes. It is also where models are told what to do: the prompt
// of a reranker is here too.
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

// Turn is what somebody said in one event of a session, in words that may be
// remembered.
type Turn struct {
	SessionID string
	EventID   string
	Author    string
	Timestamp time.Time
	User      bool   // the user's side of the conversation, whoever the author
	Text      string // never empty
}

// Fact is a statement found in turns.
type Fact struct {
	SessionID string
	Text      string // stands alone: who and when are in it
	Topics    []string
	Author    string    // who said it
	Timestamp time.Time // when it was said
	ValidFrom time.Time // the day it speaks of, if it names one; zero otherwise
	EventIDs  []string  // of the turns it rests on, at least one
	Quote     string    // words of the first of them, literally
	// Forget is set where they ask that what Text says be forgotten. It is no
	// fact then, but the end of others.
	Forget bool
}

// Batch is what facts are to be found in.
type Batch struct {
	Turns []Turn // in order
	// Before are turns said before those. They help to understand them; no fact
	// rests on them.
	Before []Turn
}

// Found is what was found in a batch.
type Found struct {
	Facts   []Fact
	Dropped int // facts that the model gave but did not found on the batch
	Cost
}

// Cost is what an answer took, and how it came about.
type Cost struct {
	Usage
	Repaired bool // a model was asked again, as its answer could not be read
	Asked    []Exchange
}

// Exchange is one call of a model, for people who tune prompts.
type Exchange struct {
	System string `json:"system"`
	Data   string `json:"data"`
	Answer string `json:"answer"`
}

// Extractor finds facts, and tells what they change of what is known. Given the
// same it may answer otherwise (a model does), so what it said is stored before
// it is used. It is safe for concurrent use.
type Extractor interface {
	// Name names the extractor in revisions: "rules", or a model.
	Name() string
	// Budget is how many tokens of turns it reads in one batch, as counted by
	// Tokens, unless one turn alone has more; 0 is any number.
	Budget() int
	// Extract finds facts. Every one cites turns of the batch and quotes the
	// first of those it cites.
	Extract(ctx context.Context, b Batch) (Found, error)
	// Consolidate compares new facts with what is known. With repaired no model
	// is asked again for an answer that can be read.
	Consolidate(ctx context.Context, c Comparison, repaired bool) (Consolidated, error)
}

// Tokens estimates how many tokens a model counts in a text: one for four ASCII
// letters or spaces, as OpenAI says of English, three for four digits or marks,
// one for every other character, and three for those beyond Unicode's basic
// plane, as emoji are. The estimate of a text is at most the sum of those of
// its parts. Beside GPT's o200k it is too high: by a fifth in English prose, a
// third in Chinese, Japanese and Korean, and two to three times in Greek,
// Cyrillic, Hebrew, Arabic, Indic and Thai. It is too low, by a third to a
// half, for hashes and base64, and for what models seldom see: Ethiopic, rare
// ideographs, piles of accents.
func Tokens(text string) int {
	quarters := 0
	for _, r := range text {
		switch {
		case 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == ' ' || '\t' <= r && r <= '\r':
			quarters++
		case r < utf8.RuneSelf:
			quarters += 3
		case r < 0x10000:
			quarters += 4
		default:
			quarters += 12
		}
	}
	return (quarters + 3) / 4
}

// recalled is what preload_memory puts in front of a model. It is memory
// already; taking it in again is how memories fill with echoes.
var recalled = regexp.MustCompile(`(?s)<PAST_CONVERSATIONS>.*?(</PAST_CONVERSATIONS>|$)`)

// ReadTurn reads an event as a turn, of whose text the first [memory.MaxFact]
// bytes are what is remembered. It reports false for what memory leaves
// out: tool traffic, system text, compaction summaries, and events without
// words once recalled blocks are taken away.
func ReadTurn(session string, e sessionstore.Event) (Turn, bool) {
	t := Turn{SessionID: session, EventID: e.ID, Author: e.Author, Timestamp: e.Timestamp}
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
