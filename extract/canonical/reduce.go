package canonical

import (
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// dropRule says where words change nothing, so that they are dropped.
type dropRule struct {
	words   string                  // the first dropped word is one of these
	drops   int                     // how many words are dropped
	where   func(r *reduction) bool // whether the rule applies at the place that r is at
	example string                  // "fact = fact": both have one text, and without the rule they have two
}

// intensifiers only stress the statement. After a negation they stay, since they
// are part of the denial there: "I don't really like it". The rules of one word
// are tried in order.
var intensifiers = []dropRule{
	{"really actually honestly literally definitely certainly also currently", 1, (*reduction).moreFollows,
		"I really like tea = I like tea"},
	{"absolutely truly totally", 1, (*reduction).beforeLiking, "I truly love tea = I love tea"},
	{"still", 1, (*reduction).stillIsAdverb, "I still eat meat = I eat meat"},
	{"very", 2, (*reduction).muchOfLiking, "I like tea very much = I like tea"},
	{"very", 1, (*reduction).beforeFeeling, "I am very happy = I am happy"},
	{"so", 2, func(r *reduction) bool { return r.next() == "much" && r.closesLiking() },
		"I like tea so much = I like tea"},
	{"so", 1, (*reduction).beforeLiking, "I so like tea = I like tea"},
	{"so", 1, (*reduction).soOfFeeling, "I am so happy = I am happy"},
	{"a", 2, func(r *reduction) bool { return r.next() == "lot" && r.closesLiking() },
		"I like tea a lot = I like tea"},
	{"just", 1, (*reduction).justNow, "I just bought a car = I bought a car"},
	{"too", 1, func(r *reduction) bool { return !r.moreFollows() && r.i > 1 }, "I like tea too = I like tea"},
	{"as", 2, func(r *reduction) bool { return r.next() == "well" && r.endsAfter(2) },
		"I like tea as well = I like tea"},
	{"now", 1, (*reduction).nowOfPresent, "I like tea now = I like tea"},
}

// functionWords carry grammar and no meaning, also after a negation. The rules of
// one word are tried in order.
var functionWords = []dropRule{
	{"please", 1, (*reduction).pleaseIsPolite, "Call me Ann, please = Call me Ann"},
	{"a an", 1, (*reduction).articleOfComplement, "I am a nurse = I am nurse"},
	{"the", 1, (*reduction).articleOfPlace, "I live in the Netherlands = I live in Netherlands"},
	{"have has", 1, func(r *reduction) bool { return !english.Modals.Has(r.prev()) && completed.Has(r.next()) },
		"I have moved to Rome = I moved to Rome"},
	{"have has", 2, func(r *reduction) bool { return r.next() == "just" && completed.Has(r.ws.At(r.i+2)) },
		"It is not Ann who has just moved to Rome = It is not Ann who moved to Rome"},
	{"got", 1, (*reduction).gotOfPossession, "I have got 2 dogs = I have 2 dogs"},
}

var (
	intensifiersByWord  = byWord(intensifiers)
	functionWordsByWord = byWord(functionWords)
)

// byWord gives the rules of each word, in order.
func byWord(rules []dropRule) map[string][]dropRule {
	out := map[string][]dropRule{}
	for _, rule := range rules {
		for w := range strings.FieldsSeq(rule.words) {
			out[w] = append(out[w], rule)
		}
	}
	return out
}

// reduce drops the lead-in of ws and the words that change nothing, and puts the
// rest into one of the forms that mean the same. A dropped word may uncover
// another ("I just really like it"), so reduce goes over the words twice.
func reduce(ws english.Words) english.Words { return reduceOnce(reduceOnce(withoutLead(ws))) }

// withoutLead is ws without what leads into the statement. A lead-in that
// changes the statement ("Hopefully") stays, with all before it.
func withoutLead(ws english.Words) english.Words {
	i := english.SkipLeads(ws)
	next, _, _ := english.RememberRequest(ws, i)
	next += english.SkipLeads(ws[next:])
	if ws[:next].Any(meaningfulLeads) {
		return ws
	}
	if len(ws)-next < 3 || english.QuestionWords.Has(ws[next].Text) {
		return ws // "You know how to cook"
	}
	return ws[next:]
}

// reduction is one pass over the words of a fact.
type reduction struct {
	ws, out english.Words // all words, and those kept so far
	i       int           // the place in ws
	negated bool          // a negation was kept
	liked   bool          // a verb of taste was kept
}

func reduceOnce(ws english.Words) english.Words {
	r := &reduction{ws: ws, out: make(english.Words, 0, len(ws))}
	for r.i < len(ws) {
		if n := r.drops(); n > 0 {
			r.drop(n)
		} else {
			r.keep()
		}
	}
	return r.out
}

// drops is how many words are dropped at the place that r is at.
func (r *reduction) drops() int {
	w := r.ws[r.i].Text
	if !r.negated {
		for _, rule := range intensifiersByWord[w] {
			if rule.where(r) {
				return rule.drops
			}
		}
	}
	for _, rule := range functionWordsByWord[w] {
		if rule.where(r) {
			return rule.drops
		}
	}
	return 0
}

// drop leaves n words out. The mark after them goes to the word before them.
func (r *reduction) drop(n int) {
	r.i += n
	if last := len(r.out) - 1; last >= 0 && r.out[last].Stop == 0 {
		r.out[last].Stop = r.ws[r.i-1].Stop
	}
}

// keep takes a word over, in one of the forms that mean the same.
func (r *reduction) keep() {
	w := r.ws[r.i]
	r.negated = r.negated || negations.Has(w.Text)
	base := english.Infinitive(w.Text)
	if base != "" && english.Likings.Has(r.prev()) && r.out.At(len(r.out)-2) != "would" {
		// "I like swimming" is "I like to swim".
		r.out = append(r.out, english.Word{Text: "to", Start: w.Start, End: w.Start})
		w.Text = base
	}
	r.liked = r.liked || english.Likings.Has(w.Text)
	if w.Text == "any" && r.next() == "more" && r.endsAfter(2) {
		w.Text = "anymore"
		r.i++
	}
	r.out = append(r.out, w)
	r.i++
}

// prev is the last word kept; "" if there is none.
func (r *reduction) prev() string { return r.out.At(len(r.out) - 1) }

// next is the word after the place; "" if there is none.
func (r *reduction) next() string { return r.ws.At(r.i + 1) }

// endsAfter reports whether the fact has n words from the place on.
func (r *reduction) endsAfter(n int) bool { return r.i+n == len(r.ws) }

func (r *reduction) moreFollows() bool { return !r.endsAfter(1) }

// beforeLiking: "truly love".
func (r *reduction) beforeLiking() bool { return english.Likings.Has(r.next()) }

// closesLiking: "love it so much" ends the fact after two words.
func (r *reduction) closesLiking() bool { return r.endsAfter(2) && r.liked }

// stillIsAdverb: "still live", but not "still life" or "sit still".
func (r *reduction) stillIsAdverb() bool {
	return r.moreFollows() && !stillNouns.Has(r.next()) && !stillVerbs.Has(r.prev())
}

// muchOfLiking: "love it very much" and "very much love it".
func (r *reduction) muchOfLiking() bool {
	return r.next() == "much" && (r.closesLiking() || english.Likings.Has(r.ws.At(r.i+2)))
}

// beforeFeeling: "very happy", but not "the very best".
func (r *reduction) beforeFeeling() bool {
	return isFeeling(r.next()) && r.next() != "best" && r.next() != "first"
}

// soOfFeeling: "am so happy", but not "am so tired that I fell asleep".
func (r *reduction) soOfFeeling() bool {
	if !beForms.Has(r.prev()) || !isFeeling(r.next()) {
		return false
	}
	for _, w := range r.ws[r.i:min(len(r.ws), r.i+6)] { // a clause of result begins within a few words
		if w.Text == "that" || w.Text == "as" || w.Text == "i" {
			return false
		}
	}
	return true
}

// isFeeling reports whether w is a word of mood or judgement.
func isFeeling(w string) bool { return english.Moods.Has(w) || english.Evaluative.Has(w) }

// justNow: "just moved" and "just love", but not "just a nurse".
func (r *reduction) justNow() bool {
	next := r.next()
	return english.Past(next) || english.Participles.Has(next) || english.Likings.Has(next)
}

// nowOfPresent: "I like tea now" and "I am now vegan", but not "until now", "I
// was happy but I am sad now".
func (r *reduction) nowOfPresent() bool {
	if r.moreFollows() {
		return beForms.Has(r.prev()) || r.prev() == "i" || r.prev() == "we"
	}
	return !timeLeads.Has(r.prev()) && !contrasted(r.ws[:r.i])
}

// contrasted reports whether "now" after ws stands against another time.
func contrasted(ws english.Words) bool {
	for i, w := range ws {
		switch w.Text {
		case "but", "used", "was", "were":
			return true
		case "not":
			if i > 0 {
				return true
			}
		}
	}
	return false
}

// pleaseIsPolite: at either end of the fact, but not "I want to please".
func (r *reduction) pleaseIsPolite() bool { return (r.i == 0 || r.next() == "") && r.prev() != "to" }

// articleOfComplement: "am a nurse" and "work as a nurse", but not "are a few".
func (r *reduction) articleOfComplement() bool {
	prev, next := r.prev(), r.next()
	return (beForms.Has(prev) || prev == "as" || prev == "became") && !amounts.Has(next) && startsWithWord(next)
}

// articleOfPlace: "in the Netherlands", but not "in the first week".
func (r *reduction) articleOfPlace() bool {
	return (r.prev() == "in" || r.prev() == "at") && !singling.Has(r.next()) && r.next() != ""
}

// gotOfPossession: "have got a dog", but not "have got promoted".
func (r *reduction) gotOfPossession() bool {
	next := r.next()
	return (r.prev() == "have" || r.prev() == "has") &&
		(english.Articles.Has(next) || english.StartsWithDigit(next))
}

// startsWithWord reports whether s begins with a letter or digit, and not with a
// sign that stands as a word of its own.
func startsWithWord(s string) bool { return s != "" && english.WordRune(rune(s[0])) }
