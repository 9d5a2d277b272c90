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

// What the selection goes by.
const (
	// relevance is the share of a memory's score in the choice of the next one;
	// the rest is how little of it is said already.
	relevance = 0.7
	// noise is the share of the best score under which a match is left out.
	noise = 0.2
	// nearly is the share of a turn's words that its facts have to have to stand
	// for it: what they leave is greetings and fillers.
	nearly = 0.7
	// shareTokens is what a memory may take of any budget; from four times as
	// much on it is a quarter of the budget, so that one long text leaves room
	// for others.
	shareTokens = 64
	// leastTokens is what a passage must have room for: less says nothing.
	leastTokens = 8
)

// Block is what is worth knowing for a query, as text for a prompt.
type Block struct {
	// Text is for a model to read. It is "" or a block of lines, the first and
	// last of which are the tags that extract.ReadTurn knows and does not take
	// in again. Between them are groups of entries, facts by topic and then
	// turns by conversation, each under a heading and from oldest to newest:
	//
	//	[1] (8 May 2023, Ann) I adopted a cat called Miso.
	//
	// An entry is one line: white space in a memory becomes single spaces,
	// invisible characters go, "<" becomes "&lt;" and a number in square
	// brackets gets round ones, so that no memory can look like a second entry,
	// cite, or end the block. Of a long one a passage is shown, with "…" where
	// it is cut.
	Text string `json:"text"`
	// Memories are the entries in order, whole: the first is cited as [1].
	Memories []memory.Match `json:"memories"`
	// Tokens is extract.Tokens of Text.
	Tokens int `json:"tokens"`
}

// Context answers a query with the best use of a budget of maxTokens, 1 to
// MaxMaxTokens. Of what Search finds, up to TopK or else MaxTopK, it takes in
// turn what scores high and is unlike what it has (maximal marginal relevance:
// Carbonell and Goldstein, SIGIR 1998), passing over what does not fit, until
// only noise is left. Nothing is said twice: a fact stands for the turn it was
// found in if that says hardly more, the turn for the fact if it says all of
// it. Nothing found, or nothing that fits, is an empty block.
func (r *Retriever) Context(ctx context.Context, scope memory.Scope, req Request, maxTokens int) (Block, error) {
	return r.block(ctx, scope, req, maxTokens, cited)
}

// Preload is Context in the form that ADK's preload_memory has: from oldest to
// newest, without headings and numbers, each entry two lines:
//
//	Time: 2023-05-08T13:56:00Z
//	Ann: I adopted a cat called Miso.
//
// What nobody is named for is the user's, so that its own words cannot be taken
// for a time or for a name.
func (r *Retriever) Preload(ctx context.Context, scope memory.Scope, req Request, maxTokens int) (Block, error) {
	return r.block(ctx, scope, req, maxTokens, spoken)
}

func (r *Retriever) block(ctx context.Context, scope memory.Scope, req Request, maxTokens int, f *form) (Block, error) {
	if maxTokens < 1 || maxTokens > MaxMaxTokens {
		return Block{}, fmt.Errorf("%w: maxTokens %d is not within 1 to %d", memory.ErrInvalid, maxTokens, MaxMaxTokens)
	}
	if req.TopK == 0 {
		req.TopK = MaxTopK
	}
	matches, err := r.Search(ctx, scope, req)
	if err != nil {
		return Block{}, err
	}
	return f.block(matches, analyzer.Question(req.Query), maxTokens), nil
}

// block chooses among matches, which are best first.
func (f *form) block(matches []memory.Match, query []string, maxTokens int) Block {
	left := f.entries(matches, query, maxTokens)
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
		if f.cost(with) > maxTokens {
			continue
		}
		chosen = with
		for _, o := range left {
			o.said = max(o.said, overlap(o.words, e.words))
		}
	}
	out := Block{Memories: []memory.Match{}}
	if len(chosen) == 0 {
		return out
	}
	arrange(chosen)
	out.Text = f.render(chosen)
	out.Tokens = extract.Tokens(out.Text)
	for _, e := range chosen {
		out.Memories = append(out.Memories, e.Match)
	}
	return out
}

// cost is what a block of entries has in tokens, or a little more: parts of a
// token are rounded up with each line.
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

// best is the place of the entry to take next; of equals the first.
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
	share     float64  // of the best score
	by        string   // when it was said, and by whom
	text      string   // the memory's words, or a passage of them, in one line
	words     []string // of text: analyzed, distinct, in order of the alphabet
	canonical string   // of text
	said      float64  // how much of it another entry says, at most
	group     group
	// tokens are those of its line, were it the last of all.
	tokens int
}

func (e *entry) worth() float64 { return relevance*e.share - (1-relevance)*e.said }

// entries prepares the matches that are not noise and have something to show.
func (f *form) entries(matches []memory.Match, query []string, maxTokens int) []*entry {
	var out []*entry
	for _, m := range matches {
		if m.Score < noise*matches[0].Score {
			break
		}
		e := &entry{Match: m, share: m.Score / matches[0].Score, by: f.by(&m.Memory), group: f.groupOf(&m.Memory)}
		e.tokens = extract.Tokens(f.line(e, len(matches)))
		e.text = passage(clean(m.Memory.Fact), query, min(maxTokens-f.cost([]*entry{e}), max(shareTokens, maxTokens/4)))
		if e.text == "" {
			continue
		}
		e.tokens = extract.Tokens(f.line(e, len(matches)))
		e.canonical = canonical.Text(e.text)
		e.words = analyzer.Words(e.text)
		slices.Sort(e.words)
		e.words = slices.Compact(e.words)
		out = append(out, e)
	}
	return out
}

// repeats reports whether an entry says nothing that others do not say.
func (e *entry) repeats(others []*entry) bool {
	var facts []string // the words of the facts that were found in this turn
	for _, o := range others {
		switch {
		case o == e:
		case e.same(o), e.within(o):
			return true
		case o.from(e):
			facts = append(facts, o.words...)
		}
	}
	slices.Sort(facts)
	return len(facts) > 0 && covered(e.words, slices.Compact(facts)) >= nearly
}

// same reports whether another entry says the same. A turn does not stand for a
// fact. What is said in the same words on two days may be two events, unless it
// was found to be one fact.
func (e *entry) same(o *entry) bool {
	a, b := &e.Memory, &o.Memory
	return e.canonical == o.canonical && (a.Author == b.Author || a.Author == "" || b.Author == "") &&
		(b.Kind == memory.KindFact || a.Kind == memory.KindTurn && analyzer.Day(a.Timestamp) == analyzer.Day(b.Timestamp))
}

// within reports whether a fact is a mere part of the turn it was found in.
func (e *entry) within(turn *entry) bool {
	return e.from(turn) && covered(e.words, turn.words) == 1 && covered(turn.words, e.words) < nearly
}

// from reports whether a fact rests on a turn.
func (e *entry) from(turn *entry) bool {
	fact, said := &e.Memory, &turn.Memory
	return fact.Kind == memory.KindFact && said.Kind == memory.KindTurn &&
		fact.Source.SessionID == said.Source.SessionID &&
		slices.ContainsFunc(said.Source.EventIDs, func(id string) bool { return slices.Contains(fact.Source.EventIDs, id) })
}

// covered is the share of some words that are among others; 1 of none.
func covered(words, by []string) float64 {
	if len(words) == 0 {
		return 1
	}
	return float64(common(words, by)) / float64(len(words))
}

// overlap is the Jaccard coefficient of two sets of words: what they share of
// what both have.
func overlap(a, b []string) float64 {
	n := common(a, b)
	if n == 0 {
		return 0
	}
	return float64(n) / float64(len(a)+len(b)-n)
}

// common is how many words two sorted lists share.
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
