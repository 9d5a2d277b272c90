package rules

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/extract/canonical"
	"github.com/memoryd/memoryd/extract/english"
)

// talk is a conversation as far as it has been read.
type talk struct {
	last  *extract.Turn   // the turn before; nil at the beginning
	heard []*extract.Turn // the last turns of the user, which a correction may be about
	agent bool            // an agent has spoken
	human string          // the last user who has spoken
	pair  bool            // two users have spoken
}

// hear takes a turn as the one before the next.
func (k *talk) hear(t *extract.Turn) {
	k.last = t
	k.agent = k.agent || !t.User
	if t.User {
		k.pair = k.pair || k.human != "" && k.human != t.Author
		k.human = t.Author
		k.heard = append(k.heard[max(0, len(k.heard)-maxHeard+1):], t)
	}
}

// amongPeople reports whether a turn is of a talk of people in which no agent takes part. What they tell each other to
// do is no instruction: "Don't forget your umbrella".
func (k *talk) amongPeople(t *extract.Turn) bool {
	return !k.agent && (k.pair || k.human != "" && k.human != t.Author)
}

// question is what the turn before asks the author of t.
func (k *talk) question(t *extract.Turn) *question {
	if k.last == nil || k.last.Author == t.Author || k.last.SessionID != t.SessionID {
		return nil
	}
	return asked(k.last)
}

// turn is a turn that is being read.
type turn struct {
	*extract.Turn
	facts []extract.Fact
	pos   int // the byte of the text behind the last sentence
	// quoted tells which sentences are part of a quotation that began before them.
	quoted quotations
	// before is the sentence before the one that is being read, and open whether the last fact ends with it, so that a
	// sentence that leans on it may join that fact.
	before sentence
	from   int // where before begins in the text
	open   bool
	told   int // how many facts there were before the last sentence that gave one
	teller int // where that sentence begins in the text
}

// read gives the facts of a turn of the user's.
func (k *talk) read(t *extract.Turn) []extract.Fact {
	said := english.Sentences(t.Text)
	if transcript(t.Text) {
		return nil
	}
	r := turn{Turn: t, quoted: quotationsOf(t.Text)}
	profile := strings.Contains(t.Text, ": ") && profileOf(said)
	for n, quote := range said {
		at := strings.Index(t.Text[r.pos:], quote)
		if at < 0 || !utf8.ValidString(quote) {
			continue
		}
		from := r.pos + at
		if strings.HasSuffix(quote, "]") && strings.HasSuffix(strings.TrimRight(t.Text[:from], " "), "[") {
			r.pos = from + len(quote) // a note, as of a picture: "[shares a photo]"
			continue
		}
		s := readPlain(quote)
		s.ofCorrected(&r.before)
		if s.topics == instruction && k.amongPeople(t) {
			s = sentence{text: s.text, words: s.words}
		}
		if len(s.words) > 0 && (playing(s.words) || ironic(quote, s.words)) {
			return nil // the rest of the turn is meant so too, and the sentences before it often are
		}
		if said, alone := jest(s.words); said {
			if alone {
				r.takeBack()
			}
			r.before, r.from, r.pos, r.open = sentence{}, from, from+len(quote), false
			continue
		}
		if s.pastes && !r.addLabelled(&s) {
			break // the rest of the turn is material for a task, not the user's own words
		}
		given := len(r.facts)
		switch {
		case r.forget(&s, from):
		case s.pastes, profile && r.addFields(&s), r.addLabelled(&s):
		case k.correct(&r, &s):
		case r.quoted.inside(from), quotesSpeaker(quote), s.namesAnother(r.before.words):
			s, r.open = sentence{}, false // "That's what Jim said" leans on nothing of the user's
		case n == 0 && r.joinAsSaid(&s, quote, k.question(t)):
		default:
			r.add(&s, from)
		}
		r.before, r.from, r.pos = s, from, from+len(quote)
		if len(r.facts) > given || r.open {
			r.told, r.teller = min(given, len(r.facts)-1), from
		}
		if len(r.facts) >= maxFacts {
			return r.facts[:maxFacts]
		}
	}
	return r.facts
}

// joinAsSaid joins a sentence with the question before it, in its own words: "What's your favorite band?" tells more of
// "Radiohead is what I listen to" than the plain statement does. It reports whether it did.
func (r *turn) joinAsSaid(s *sentence, quote string, q *question) bool {
	if q == nil || s.said == "" {
		return r.join(s, q)
	}
	said := read(quote) // as it was said
	// Without a question that fits, the plain statement is kept by itself.
	if !r.join(&said, q) {
		return r.join(s, q)
	}
	*s = said
	return true
}

// takeBack drops the facts of the last sentence that gave any, as it was a jest. How far back the jest began is not
// said, so facts before them that end something are dropped too: "I quit my job. I'm off to Mars. Just kidding!".
func (r *turn) takeBack() {
	before := r.told
	if heavy, _ := weight(r.before.words); heavy > 1 && r.teller != r.from {
		before = len(r.facts) // the jest is a sentence that gave none
	}
	kept := r.facts[:0]
	for i := range r.facts[:before] {
		if f := &r.facts[i]; f.Forget || !ends(f.Text) {
			kept = append(kept, *f)
		}
	}
	r.facts, r.told, r.teller = kept, len(kept), -1
}

// ends reports whether a fact says that something is no longer so.
func ends(fact string) bool {
	form := canonical.OfWords(fact)
	return form.Ends != "" || form.Changing() ||
		slices.ContainsFunc(form.Claims, func(c canonical.Claim) bool { return c.Ended })
}

// profileOf reports whether the sentences of a turn have fields of a profile before anything that they may belong to.
func profileOf(said []string) bool {
	for _, text := range said {
		if !strings.Contains(text, ":") {
			if ws := english.Split(text); len(ws) == 0 || !introduces(ws) {
				return false
			}
			continue
		}
		ws := english.Split(text)
		if len(fields(text, ws)) > 0 {
			return true
		}
		if len(ws) == 0 || !introduces(ws) {
			return false
		}
	}
	return false
}

// addFields adds the fields of a profile, one fact each. It reports whether s has any.
func (r *turn) addFields(s *sentence) bool {
	list := fields(s.text, s.words)
	for _, f := range list {
		if !secrets.Found(english.Split(s.text[f.start:f.end])) {
			r.addFact(f.statement, s.text[f.start:f.end], f.topics.names(), time.Time{})
		}
	}
	r.open = false
	return len(list) > 0
}

// addLabelled adds what a sentence gives under a label of the speaker's own. It reports whether s has one.
func (r *turn) addLabelled(s *sentence) bool {
	if s.topics != none || s.question || len(s.words) == 0 || r.quoted.inside(r.pos) {
		return false
	}
	f, ok := restated(s.text, s.words)
	if !ok && strings.Contains(s.text, ":") {
		f, ok = ownLabel(s.text, s.words)
	}
	if !ok || secrets.Found(s.words) {
		return false
	}
	r.addFact(f.statement, s.text[f.start:f.end], f.topics.names(), time.Time{})
	r.open = false
	return true
}

// addFact adds a fact of this turn.
func (r *turn) addFact(text, quote string, topics []string, from time.Time) *extract.Fact {
	r.facts = append(r.facts, extract.Fact{
		SessionID: r.SessionID, Text: text, Topics: topics, Author: r.Author, Timestamp: r.Timestamp, ValidFrom: from,
		EventIDs: []string{r.EventID}, Quote: quote,
	})
	return &r.facts[len(r.facts)-1]
}

// join adds the first sentence of a turn as the answer to a question. It reports whether it did.
func (r *turn) join(s *sentence, q *question) bool {
	if q == nil || s.topics != none && !s.leans || len(s.words) == 0 || s.judges() || q.words.Any(asksForSelf) {
		return false
	}
	end := len(s.words)
	if s.question { // "An old Volvo, why?"
		if end = cutTail(s.words, 0, true).start; end == len(s.words) {
			return false
		}
	}
	if at := english.SkipLeads(s.words); !noOrYes.Has(s.words[0].Text) && at < end && q.missed(s.words[at:end]) {
		return false
	}
	t := q.answered(s.words[:end])
	if s.topics != none && t == none {
		t = s.topics
	}
	if about, _ := weight(q.words); s.leans && s.topics == none && about > 0 {
		t |= s.told
	}
	if t == none || !q.explains(s, end) {
		return false
	}
	s.start, s.end = s.words[english.SkipLeads(s.words)].Start, trimEnd(s.text, s.words[end-1].End)
	if s.question {
		s.end = s.words[end-1].End
	}
	if len(s.words) == 1 || noOrYes.Has(s.words[0].Text) {
		s.start = s.words[0].Start
	}
	text, from := s.resolved(r.Timestamp)
	r.addFact(q.text+" "+text, cmp.Or(s.said, s.text), t.names(), from)
	r.open = true
	return true
}

// add adds the fact that a sentence gives, if it is kept; from is where it begins in the text.
func (r *turn) add(s *sentence, from int) {
	switch {
	case len(s.several) > 0:
		for i := range s.several {
			p := &s.several[i]
			text, at := p.resolved(r.Timestamp)
			r.addFact(text, cmp.Or(s.said, p.text[p.start:p.end]), p.topics.names(), at)
		}
		r.open = false
	case s.topics == none && !s.leans:
		r.open = false
	case s.leans:
		r.lean(s, from)
	default:
		text, at := s.resolved(r.Timestamp)
		r.addFact(text, cmp.Or(s.said, s.text), s.topics.names(), at)
		r.open = true
	}
}

// maxJoined bounds a fact of several sentences, in bytes.
const maxJoined = 320

// lean adds a sentence that leans on the one before it: to the fact of that one, or as a fact that has both. The one
// before must say what it leans on. Otherwise the part that stands by itself is the fact, if there is one.
func (r *turn) lean(s *sentence, from int) {
	apart := strings.TrimSpace(r.Text[r.pos:from]) != ""
	kept := s.kept()
	text, at := s.resolved(r.Timestamp)
	if last := len(r.facts) - 1; r.open && !apart && dangling(english.Split(r.facts[last].Text), kept) < 0 {
		f := &r.facts[last]
		start := strings.LastIndex(r.Text[:r.pos], f.Quote)
		if start < 0 || len(f.Text)+len(text) > maxJoined {
			return
		}
		quote := r.Text[start : from+len(s.text)]
		form := canonical.OfWords(f.Text)
		if !form.Telling() {
			f.Text, f.Quote = ended(f.Text)+" "+text, quote
			return
		}
		// A fact that makes a claim stays as it is, or what contradicts it would not be seen. "They turn six in May"
		// has no topic of its own, and goes on with that of the fact.
		names := (s.topics | s.told).names()
		if len(names) == 0 {
			names = f.Topics
		}
		r.addFact(ended(f.Text)+" "+text, quote, names, at)
		return
	}
	if !apart && r.leanOnBefore(s, kept, from) {
		return
	}
	form := canonical.OfWords(s.statement())
	_, befallen := newClause(kept).befell() // "They" are those in charge
	befallen = befallen && (s.weight > 2 || newClause(kept).timed)
	named := !kept.Has("latter") && !kept.Has("former") // "I'm the latter"
	sure := form.Telling() && named && !ofNothing(kept, &form) || befallen || kept.Any(contacts)
	if s.topics == none || !sure && !s.standAlone(kept) {
		r.open = false
		return
	}
	text, at = s.resolved(r.Timestamp)
	r.addFact(text, s.text, s.topics.names(), at)
	r.open = true
}

// ofNothing reports whether a statement that points at something unknown claims nothing besides: "I love escaping to
// that world". It may still end a claim: "I sold it".
func ofNothing(kept english.Words, form *canonical.Form) bool {
	heavy, _ := weight(kept)
	return heavy < 2 && !form.Changing() && form.Ends == "" &&
		!slices.ContainsFunc(form.Claims, func(c canonical.Claim) bool { return c.Ended })
}

// leanOnBefore adds a fact of the sentence before and of s, whose words are kept, if s says something of the speaker
// and the one before what s leans on. It reports whether it did.
func (r *turn) leanOnBefore(s *sentence, kept english.Words, from int) bool {
	b := &r.before
	mine := kept.Any(firstPerson) || b.words.Any(firstPerson)
	if !mine || s.topics|s.told == none || s.judges() || !b.tells() || dangling(nil, b.words) >= 0 ||
		dangling(b.words, kept) >= 0 {
		return false
	}
	text, at := s.resolved(r.Timestamp)
	if len(b.text)+len(text) > maxJoined {
		return false
	}
	b.start, b.end = b.words[english.SkipLeads(b.words)].Start, trimEnd(b.text, b.words[len(b.words)-1].End)
	context, _ := b.resolved(r.Timestamp)
	r.addFact(ended(context)+" "+text, r.Text[r.from:from+len(s.text)], (s.topics | s.told).names(), at)
	r.open = true
	return true
}

// ended is a text with a full stop, if it ends in no mark.
func ended(s string) string {
	if strings.HasSuffix(s, ".") || strings.HasSuffix(s, "!") || strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
}
