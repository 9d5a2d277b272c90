// Package extract defines how events become facts, and how new facts change
// what is already known. It holds the contract ([Extractor]) and the path of a
// language model: prompts, answers and their checks. A reranker and an
// expander ask a model in the same way, so their prompts are here too.
package extract

import (
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Turn is the text of one event of a session, reduced to what may be remembered.
type Turn struct {
	SessionID string
	EventID   string
	Author    string
	Timestamp time.Time // its location is the speaker's, see memory.UTCOffset: "today" is the day there
	User      bool      // the user's side of the conversation, whatever Author says
	Text      string    // never empty
	// Trust is the source of the words: the user or the agent, by the role of the event,
	// or less if the client says so. User is false of a turn with another trust than the
	// user's.
	Trust memory.Trust
}

// Fact is a statement found in turns.
type Fact struct {
	SessionID string
	Text      string // stands alone: it names the people and the dates it speaks of
	Topics    []string
	Author    string    // the author of the turn that Quote is from
	Timestamp time.Time // of that turn, in its location
	ValidFrom time.Time // the speaker's midnight of the day the fact speaks of; zero if it names none
	EventIDs  []string  // the turns that the fact cites, at least one
	Quote     string    // literal words of the first cited turn
	// Trust is the least of the turns that the fact cites; of a given fact what the client
	// says. "" is memory.TrustUser.
	Trust memory.Trust `json:",omitempty"`
	// Forget marks a request to forget: Text is then the statement to forget, or
	// the request itself, and not a fact.
	Forget bool
}

// Batch is the input of one extraction.
type Batch struct {
	Turns []Turn // in order
	// Before holds the turns that precede Turns. They give context to a reader;
	// no fact may cite them.
	Before []Turn
	// Policy says which facts the app wants; nil is the zero Policy. An extractor
	// heeds what it can of it. The caller drops facts by Policy.Keep.
	Policy *Policy
	// Known are the values that fields of the profiles in Policy have.
	Known []KnownValue
}

// Found is the result of one extraction.
type Found struct {
	Facts   []Fact
	Dropped int // facts of a model's answer that cite or quote nothing in the batch
	// Values are for fields of the profiles in the policy. ValuesDropped counts those of a
	// model's answer that cite or quote nothing in the batch, or that the schema of the
	// field does not allow.
	Values        []Value `json:",omitempty"`
	ValuesDropped int     `json:",omitempty"`
	// Unheeded are the fields of the policy that the extractor could not heed, as the
	// configuration of an app names them.
	Unheeded []string `json:",omitempty"`
	Cost
}

// Cost says what an answer took.
type Cost struct {
	Usage
	Repaired  bool // the model was asked a second time, because its first answer was unreadable
	Exchanges []Exchange
}

// Exchange is one call of a model, shown to people who tune prompts.
type Exchange struct {
	System string `json:"system"`
	Data   string `json:"data"`
	Answer string `json:"answer"`
}

// Extractor finds facts and decides what they change. The same input may give
// another result, since models vary; callers store a result before they apply
// it. Implementations are safe for concurrent use.
type Extractor interface {
	// Name names the extractor in revisions: "rules", or a model.
	Name() string
	// Budget is the number of tokens of turns in one batch, as Tokens counts
	// them. One turn alone may exceed it. 0 means no limit.
	Budget() int
	// Extract finds facts. Every fact cites turns of the batch and quotes the
	// first turn that it cites.
	Extract(ctx context.Context, b Batch) (Found, error)
	// Consolidate compares new facts with what is known. If repaired is true, the
	// batch has used its one repair: an unreadable answer is then an error at once.
	Consolidate(ctx context.Context, c Comparison, repaired bool) (Consolidated, error)
}

// Tokens estimates how many tokens a model counts in a text: one for four ASCII
// letters or spaces (OpenAI's figure for English), three for four digits or
// punctuation marks, one for every other character, and three for a character
// outside Unicode's basic plane, such as an emoji. The estimate of a text is at
// most the sum of the estimates of its parts.
//
// Compared with GPT's o200k the estimate is too high by a fifth in English
// prose, by a third in Chinese, Japanese and Korean, and by a factor of two to
// three in Greek, Cyrillic, Hebrew, Arabic, Indic and Thai. It is too low, by a
// third to a half, for hashes, base64 and text that models seldom see: Ethiopic,
// rare ideographs, stacked accents.
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

// The ends of a recalled block, which preload_memory puts in front of a model. Its text
// comes from memory; ingesting it again would fill the memory with echoes. A block
// without its end goes up to the end of the text.
const (
	blockBegins = "<PAST_CONVERSATIONS>"
	blockEnds   = "</PAST_CONVERSATIONS>"
)

// withoutBlocks returns the first [memory.MaxFact] bytes of a text without recalled
// blocks, and without space around it. It copies no more than that: a text may have
// many megabytes.
func withoutBlocks(text string) string {
	const most = memory.MaxFact + utf8.UTFMax // more than Cut keeps
	var out strings.Builder
	for more := true; more; {
		var said string
		if said, text, more = strings.Cut(text, blockBegins); more {
			_, text, more = strings.Cut(text, blockEnds)
		}
		if out.Len() == 0 {
			said = strings.TrimLeftFunc(said, unicode.IsSpace)
		} else {
			out.WriteByte('\n') // so that a quote does not run across the gap
		}
		n := min(len(said), max(0, most-out.Len()))
		out.WriteString(said[:n])
		if strings.TrimSpace(said[n:]) != "" {
			return memory.Cut(out.String(), memory.MaxFact)
		}
	}
	return memory.Cut(strings.TrimRightFunc(out.String(), unicode.IsSpace), memory.MaxFact)
}

// ReadTurn reads an event as a turn, and keeps the first [memory.MaxFact] bytes
// of its text. It reports false for events that memory ignores: tool traffic,
// system text, compaction summaries, rewinds, and events without words once
// recalled blocks are removed.
func ReadTurn(session string, e sessionstore.Event) (Turn, bool) {
	t := Turn{SessionID: session, EventID: e.ID, Author: e.Author, Timestamp: e.UTCOffset.In(e.Timestamp)}
	switch e.Content.Role {
	case "user":
		t.Trust = memory.TrustUser.Least(e.Trust)
	case "model":
		t.Trust = memory.TrustAgent.Least(e.Trust)
	default:
		return t, false
	}
	t.User = t.Trust == memory.TrustUser
	if e.Compaction || strings.EqualFold(e.Author, "system") || e.RewindBefore != "" {
		return t, false
	}
	for _, p := range e.Content.Parts {
		if p.Response {
			return t, false
		}
	}
	t.Text = withoutBlocks(e.Text())
	return t, t.Text != ""
}
