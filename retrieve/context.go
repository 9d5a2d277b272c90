package retrieve

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/extract/canonical"
	"github.com/memoryd/memoryd/internal/analyzer"
	"github.com/memoryd/memoryd/memory"
)

// Limits of a Context, in tokens as extract.Tokens estimates them.
const (
	DefaultMaxTokens = 1024
	MaxMaxTokens     = 100_000
)

// The constants of the selection.
const (
	// relevance is the weight of a memory's score in the choice of the next entry;
	// the rest is the weight of how little of it the block already says.
	relevance = 0.7
	// minShare is the share of the best score below which a match is left out.
	minShare = 0.2
	// coverage is the share of a turn's words that its facts must have to stand for
	// the turn. The words they lack are greetings and fillers.
	coverage = 0.7
	// shareTokens is what a memory may take of a small budget. Of a larger one it may
	// take a part, so that one long text leaves room for others.
	shareTokens = 64
	// wide is how many parts a budget has, and narrow how many where the question asks for
	// several things: more memories then count more than more of each.
	wide, narrow = 4, 32
	// minTokens is the least room for a passage: a shorter one says nothing.
	minTokens = 8
)

// Block holds the memories worth knowing for a query, as text for a prompt.
type Block struct {
	// Text is for a model to read. It is "" or a block of lines. The first and the
	// last are tags by which extract.ReadTurn recognizes a block, so that it is not
	// made into memories again. Between them are groups of entries, facts by topic
	// and then turns by conversation, each under a heading and from oldest to
	// newest:
	//
	//	[1] (8 May 2023, Ann) I adopted a cat called Miso.
	//
	// An entry is one line. White space in a memory becomes single spaces,
	// characters that cannot be seen are removed (see package legible), "<" becomes
	// "&lt;" and what has a number in square brackets gets round ones, so that no
	// memory can look like a second entry, cite, or end the block. A long memory is shown as a passage, with "…" where
	// it is cut.
	Text string `json:"text"`
	// Memories are the entries in their order, uncut. The first is cited as [1].
	Memories []memory.Match `json:"memories"`
	// Tokens is extract.Tokens of Text.
	Tokens int `json:"tokens"`
	// Confidence and Signs are those of the search; see Answer.
	Confidence float64       `json:"confidence"`
	Signs      []memory.Part `json:"signs,omitempty"`
}

// Context answers a query with a block of at most maxTokens, 1 to MaxMaxTokens.
// From the matches of Search, up to TopK or else MaxTopK, it takes one after the
// other the match that scores high and is unlike those taken (maximal marginal
// relevance: Carbonell and Goldstein, SIGIR 1998). It skips matches that do not
// fit, and ends where scores become low. Nothing is said twice: a fact stands for
// the turn it cites if that turn says hardly more, and the turn for the fact if it
// says all of it; otherwise the fact has the turn as a quote in its line. What is
// outdated is left out where its successor is shown and facts tell all of it; else its
// line says until when it held, and which line tells what holds now. If nothing is
// found, or nothing fits, the block is empty.
func (r *Retriever) Context(ctx context.Context, scope memory.Scope, req Request, maxTokens int) (Block, error) {
	return r.block(ctx, scope, req, maxTokens, contextForm)
}

// Preload is Context in the form of ADK's preload_memory: from oldest to newest,
// without headings and numbers, each entry on two lines:
//
//	Time: 2023-05-08T13:56:00Z
//	Ann: I adopted a cat called Miso.
//
// A memory without an author is shown as the user's, so that its own words cannot
// be taken for a time or for a name.
func (r *Retriever) Preload(ctx context.Context, scope memory.Scope, req Request, maxTokens int) (Block, error) {
	return r.block(ctx, scope, req, maxTokens, preloadForm)
}

func (r *Retriever) block(ctx context.Context, scope memory.Scope, req Request, maxTokens int, f *form) (Block, error) {
	if maxTokens < 1 || maxTokens > MaxMaxTokens {
		return Block{}, fmt.Errorf("%w: maxTokens %d is not within 1 to %d", memory.ErrInvalid, maxTokens, MaxMaxTokens)
	}
	if req.TopK == 0 {
		req.TopK = MaxTopK
	}
	req.Lines = false // a block has its own
	found, err := r.Answer(ctx, scope, req)
	if err != nil {
		return Block{}, err
	}
	return found.block(maxTokens, f), nil
}

// Block is what Context makes of an answer of MaxTopK matches that are not lines:
// evaluations read several blocks out of one search. Of an answer that no search gave,
// it is the block of a question for one thing. maxTokens is 1 to MaxMaxTokens.
func (a *Answer) Block(maxTokens int) Block { return a.block(maxTokens, contextForm) }

func (a *Answer) block(maxTokens int, f *form) Block {
	part := wide
	if a.asked != nil && a.asked.several {
		part = narrow
	}
	if a.asked != nil && a.asked.ordered && f == contextForm {
		f = orderedForm
	}
	out := f.block(a.Matches, analyzer.Question(a.text), maxTokens, part)
	out.Confidence, out.Signs = a.Confidence, a.Signs
	return out
}

// block chooses among matches, which are best first. Each takes one of so many parts of the tokens at most.
func (f *form) block(matches []memory.Match, query []string, maxTokens, part int) Block {
	left := f.entries(matches, query, maxTokens, max(shareTokens, maxTokens/part))
	var chosen []*entry
	for len(left) > 0 {
		i := best(left)
		e := left[i]
		left = slices.Delete(left, i, i+1)
		if e.repeats(chosen) {
			continue
		}
		all := append(slices.Clone(chosen), e)
		with := slices.DeleteFunc(slices.Clone(all), func(o *entry) bool { return o != e && o.repeats(all) })
		if f.cost(f.joined(with, len(matches))) > maxTokens {
			continue
		}
		chosen = with
		for _, o := range left {
			o.redundancy = max(o.redundancy, overlap(o.words, e.words))
		}
	}
	out := Block{Memories: []memory.Match{}}
	if len(chosen) == 0 {
		return out
	}
	chosen = f.joined(chosen, len(matches))
	sortEntries(chosen)
	out.Text = f.render(chosen)
	out.Tokens = extract.Tokens(out.Text)
	for _, e := range chosen {
		out.Memories = append(out.Memories, e.Match)
	}
	return out
}

// cost returns the tokens of a block of entries, or a few more: each line rounds
// parts of a token up.
func (f *form) cost(entries []*entry) int {
	sum, seen := extract.Tokens(f.opening)+extract.Tokens(closing), map[group]bool{}
	for _, e := range entries {
		sum += e.tokens
		if !seen[e.group] {
			seen[e.group] = true
			sum += extract.Tokens(e.group.line())
		}
	}
	return sum
}

// best returns the index of the entry to take next, the first of equals.
func best(left []*entry) int {
	at := 0
	for i, e := range left {
		if e.worth() > left[at].worth() {
			at = i
		}
	}
	return at
}

// entry is one memory as the block shows it.
type entry struct {
	memory.Match
	share      float64  // of the best score
	source     string   // when it was said, and by whom
	text       string   // the memory's words, or a passage of them, in one line
	words      []string // of text: analyzed, distinct, sorted
	canonical  string   // of text
	redundancy float64  // the largest overlap with an entry of the block
	group      group
	tokens     int // of its line with the highest number it can have

	instead   []string // ids of the entries that tell what holds, of an outdated one
	redundant bool     // it is left out where one of these is shown
}

// worth is what maximal marginal relevance maximizes.
func (e *entry) worth() float64 { return relevance*e.share - (1-relevance)*e.redundancy }

// entries prepares the matches that score high enough and have a text to show, of share
// tokens at most.
func (f *form) entries(matches []memory.Match, query []string, maxTokens, share int) []*entry {
	var out []*entry
	for _, m := range matches {
		if m.Score < minShare*matches[0].Score {
			break
		}
		e := &entry{Match: m, share: m.Score / matches[0].Score}
		e.source, e.group = f.source(&m.Memory), f.groupOf(&m.Memory)
		e.instead, e.redundant = insteadOf(&m, matches)
		e.tokens = extract.Tokens(f.line(e, len(matches), len(matches)))
		e.text = passage(clean(m.Memory.Fact), query, min(maxTokens-f.cost([]*entry{e}), share))
		if e.text == "" {
			continue
		}
		e.tokens = extract.Tokens(f.line(e, len(matches), len(matches)))
		e.canonical = canonical.Text(e.text)
		e.words = distinctWords(e.text)
		out = append(out, e)
	}
	return out
}

// repeats reports whether others say all that an entry says.
func (e *entry) repeats(others []*entry) bool {
	var facts []string // the words of the facts that cite this turn
	for _, o := range others {
		switch {
		case o == e:
		case e.same(o), e.within(o), e.redundant && slices.Contains(e.instead, o.Memory.ID):
			return true
		case o.cites(e):
			facts = append(facts, o.words...)
		}
	}
	slices.Sort(facts)
	return len(facts) > 0 && covered(e.words, slices.Compact(facts)) >= coverage
}

// same reports whether another entry says the same and can stand for this one. A
// turn does not stand for a fact. Turns with the same words on two days may tell of
// two events.
func (e *entry) same(o *entry) bool {
	a, b := &e.Memory, &o.Memory
	return e.canonical == o.canonical && (a.Author == b.Author || a.Author == "" || b.Author == "") &&
		(b.Kind.Statement() ||
			a.Kind == memory.KindTurn && day(a, a.Timestamp) == day(b, b.Timestamp))
}

// within reports whether a fact says only a part of the turn it cites. What holds is
// not said by a line that says of other things that they no longer do.
func (e *entry) within(turn *entry) bool {
	return turn.Outdated == nil && e.cites(turn) &&
		covered(e.words, turn.words) == 1 && covered(turn.words, e.words) < coverage
}

// cites reports whether e is a statement that cites a turn.
func (e *entry) cites(turn *entry) bool { return cites(&e.Memory, &turn.Memory) }

func cites(fact, cited *memory.Memory) bool {
	return fact.Kind.Statement() && cited.Kind == memory.KindTurn &&
		fact.Source.SessionID == cited.Source.SessionID &&
		slices.ContainsFunc(cited.Source.EventIDs, func(id string) bool {
			return slices.Contains(fact.Source.EventIDs, id)
		})
}

// covered returns the share of words that are among others; 1 for no words.
func covered(words, others []string) float64 {
	if len(words) == 0 {
		return 1
	}
	return float64(common(words, others)) / float64(len(words))
}

// overlap returns the Jaccard coefficient of two sets of words: the size of their
// intersection by that of their union.
func overlap(a, b []string) float64 {
	n := common(a, b)
	if n == 0 {
		return 0
	}
	return float64(n) / float64(len(a)+len(b)-n)
}

// common counts the words that two sorted lists share.
func common(a, b []string) (n int) {
	for len(a) > 0 && len(b) > 0 {
		switch strings.Compare(a[0], b[0]) {
		case -1:
			a = a[1:]
		case 1:
			b = b[1:]
		default:
			a, b, n = a[1:], b[1:], n+1
		}
	}
	return n
}
