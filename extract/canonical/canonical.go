// Package canonical reduces a fact to what the rules compare: its canonical
// text, its claims, and the statement that it ends. Two facts with one canonical
// text are duplicates. A claim gives an attribute a value or ends it: "I moved to
// Rome" supersedes "I live in Berlin", and "I lost my job" ends "I work at Acme".
//
// A fact is read in steps, each in a file of its own: a statement about "the user"
// becomes the first person (user.go), spelling is folded (normalize.go), words that
// change nothing are dropped (reduce.go), the clauses and their modifiers are told
// apart (clause.go), and tables of patterns, tried in order, read the rest
// (claims.go names them). The rules know English. Of any other language they fold
// only case, spacing and punctuation.
//
// To change a rule, find its row by the example beside it, or its words in
// tables.txt, and add facts to the files in testdata. A test says whether the keys
// of facts have changed, so that Version must change too.
package canonical

import (
	"hash/maphash"
	"strings"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/memoryd/memoryd/extract/english"
)

// Version names the rules that the stored keys of facts come from (see
// [Form.Keys]). A store remembers it. Any change to the keys of any fact needs
// another Version: keys of two versions do not match, so older facts would miss
// duplicates and contradictions in silence.
const Version = "canonical-21"

// Form is what the rules compare of a fact.
type Form struct {
	// Text is the canonical text; see [Text].
	Text string
	// Claims are what the fact says of attributes: "home" is "porto" in "I live in
	// Porto".
	Claims []Claim
	// More says that the fact makes several statements. It ends others, and no
	// single one of them ends it, since the rest of it would be lost.
	More bool
	// Ends is the canonical text of the statement that the fact ends; empty if it
	// ends none.
	Ends string

	themes []theme
	quotes bool // it has words of somebody else
}

// Of reads a fact. A statement about "the user", or without a subject, has the form of the same statement by the user:
// "User lives in Porto" and "Lives in Porto" read as "I live in Porto".
//
// Claims. Values are equal if their texts are: case, plurals and words such as
// "now" are folded, but Of does not know that one value is part of another. The
// attribute begins with its owner unless that is the speaker: "sister home", "tom
// employer". "We" counts as the speaker for the home and the marital status.
// Countries are an attribute of their own ("home country"), since people live in
// Porto and in Portugal at once; regions and continents are none. Names of people
// count by the first name, since "Ann" and "Ann Lee" are one person.
//
// Of reads a fact clause by clause, and leaves out modifiers that bound nothing:
// "I live in Porto above a bakery". A modifier that bounds the statement leaves no
// claim ("I live in Porto in summer"), nor do questions, wishes, plans, the past,
// negations, lists and temporary states. Of a thing that a person may have several
// of, only a fact that tells of a change replaces another ("My new gym is…"). An
// event with a time ("I moved to Porto in March") replaces what was said before the
// end of that time.
//
// Ends. Of forms the ended statement only where its positive form is certain,
// and reads none if more is said ("I stopped smoking for a month", "I don't eat
// much meat any more").
//
// Of remembers the last facts that it has read, as ingestion asks for the same ones
// several times. What it returns is shared and must not be changed.
func Of(fact string) Form { return remembered(fact, "") }

// OfWords reads words of the user's, of which a sentence without a subject may be about anybody: "Lives in Porto" is no
// statement by the user, as it is in a fact. Otherwise it is Of.
func OfWords(text string) Form { return remembered(text, spoken) }

// spoken marks the forms of words in the cache; no fact begins with it.
const spoken = "\x00"

func remembered(text, kind string) Form {
	if len(text) > english.MaxSentenceBytes {
		return formOf(text, kind == spoken)
	}
	f, known := forms.Get(kind + text)
	if !known {
		f = formOf(text, kind == spoken)
		forms.Add(kind+strings.Clone(text), f)
	}
	return f
}

// forms are those of the last facts read, by text: a few MB at most.
var forms, _ = lru.New[string, Form](4096)

// SubjectOf is the [Form.Subject] of a fact. It remembers that of the last 32,768 facts, some 4 MB, as each search asks
// for those of its best matches, whosever they are: with the forms alone, 10,000 facts of ten users in turns were read
// again each time, for half the time of a search.
func SubjectOf(fact string) string { return rememberedSubject(fact, "") }

// SubjectOfWords is SubjectOf for words of the user's; see [OfWords].
func SubjectOfWords(text string) string { return rememberedSubject(text, spoken) }

func rememberedSubject(text, kind string) string {
	var h maphash.Hash
	h.SetSeed(seed)
	_, _ = h.WriteString(kind)
	_, _ = h.WriteString(text)
	at := h.Sum64()
	subject, known := knownSubjects.Get(at)
	if !known {
		form := remembered(text, kind)
		subject = form.Subject()
		knownSubjects.Add(at, subject)
	}
	return subject
}

// knownSubjects has the hash of a fact as its key. Its seed is another one in each process, so that no text can be made
// to have the hash of another.
var (
	knownSubjects, _ = lru.New[uint64, string](1 << 15)
	seed             = maphash.MakeSeed()
)

func formOf(fact string, spoken bool) Form {
	if fact = firstPerson(fact); !spoken {
		fact = withUser(fact)
	}
	text, ends := read(fact)
	f := Form{Text: text}
	if !strings.Contains(fact, "?") {
		f.Ends = ends
	}
	f.Claims, f.themes, f.More = claimsOf(fact)
	f.quotes = quotesSpeech(fact)
	return f
}

// Text is the canonical text of a fact: facts that say the same in nearly the
// same words have one. Beyond [Normalize] it folds, in English, contractions,
// lead-ins ("Note that"), politeness, intensifiers, articles where they say
// nothing, number words, British and American spelling, and the ways to say that
// something ended ("I stopped smoking", "I don't smoke any more").
//
// Text promises that facts of different meaning keep different texts, as far as
// Normalize keeps them apart, and that facts equal under Normalize have one
// text. It does not find every paraphrase: order, negation, tense, number, names
// and words of time all count, and a word that might mean something stays. Words
// that depend on when they are said ("today") are compared as words. A text that
// does not look English is only normalized.
func Text(fact string) string {
	text, _ := read(fact)
	return text
}

// read gives the canonical text of a fact, and that of the statement it ends.
func read(fact string) (text, ends string) {
	normalized := Normalize(fact)
	ws := english.Lex(normalized)
	if len(ws) > english.MaxSentenceWords || !english.Probable(ws) {
		return normalized, ""
	}
	ws = reduce(ws)
	if !ws.Any(endWords) {
		return ws.String(), ""
	}
	undated := withoutRecentTime(ws)
	ended, ok := endedStatement(undated)
	if !ok {
		return ws.String(), ""
	}
	ends = Text(ended.String())
	if len(undated) < len(ws) {
		return ws.String(), ends // "I stopped smoking yesterday" also tells the day
	}
	return "no longer " + ends, ends
}
