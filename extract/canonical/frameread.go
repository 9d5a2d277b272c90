package canonical

import (
	"slices"
	"strings"
	"time"

	"github.com/memoryd/memoryd/extract/english"
)

// framed gives the claims that frames read in a fact, clause by clause. Whose they are is
// told by the subject; a clause without one goes on with that of the clause before it.
func (c *claim) framed(all english.Words) (out []Claim) {
	all = slices.DeleteFunc(slices.Clone(all), func(w english.Word) bool {
		return english.Fillers.Has(w.Text) && w.Stop == 0 // "in Denver now btw, got here on Friday"
	})
	all = withoutTax(c.withoutQuotes(c.withoutNoteMarks(all)))
	if len(all) > maxFramedWords {
		return nil
	}
	c.dwelling, c.fact = all.Any(dwellings), all
	changed := c.changed || all.Has("new")
	out = append(append(out, c.reached(all, changed)...), c.corrected(all)...)
	out = append(append(out, c.presupposed(all)...), c.outAndIn(all)...)
	out = append(append(out, c.newly(all)...), c.celebrated(all)...)
	out = slices.Concat(out, c.fellOut(all), bestLift(all), raised(all), paysRent(all))
	speaker, known, another := owner(""), false, false
	list := segments(all)
	for i, s := range list {
		o, ws, ok := c.frameSubject(s.words, i == 0)
		out = append(out, c.inAnyClause(all, s.words)...)
		if w := s.words.At(0); !ok && known && speaker != "" && (w == "he" || w == "she") {
			o, ws, ok = speaker, s.words[1:], len(s.words) > 1
		}
		if ok && len(ws) == 0 {
			continue
		}
		v := c.verbPhraseOf(all, list, i)
		v.owner, v.subject = o, ok
		others := another && s.linked && all[s.from].Text == "and"
		if another = !ok && inAny(s.words.At(0), possessives, english.Articles) || others; others && !ok {
			continue // "my neighbor gave up her flat and moved to Lyon"
		}
		switch {
		case ok:
			// A clause behind it may leave this subject out.
			speaker, known = o, true
		case len(ws) > 0 && known && s.linked && !c.elidedByOther(ws):
			v.owner, v.subject = speaker, true
		case len(ws) > 0 && c.elidedPredicate(ws):
			known = false
		default:
			// Of another subject only what it does to the speaker or theirs is read.
			known = false
			out = append(append(out, c.byOther(s.words)...), c.appointed(s.words)...)
			out = append(out, c.ofThings(s)...)
			out = append(out, c.nouns(all, s.from, s.to, false)...)
			continue
		}
		out = slices.Concat(out, c.framePredicate(v, ws), c.replaced(&v, ws), c.charming(s.words))
		if w := s.words.At(0); v.owner == "" || w == "my" || w == "our" {
			out = append(out, c.nouns(all, s.from, s.to, v.owner == "")...)
		}
	}
	if all.Has("vet") || all.Any(pets) {
		return out // "the vet moved the surgery"
	}
	return ahead(out)
}

// verbPhraseOf is what the words of the clause list[i] say of its verb.
func (c *claim) verbPhraseOf(all english.Words, list []segment, i int) verbPhrase {
	s := list[i]
	v := verbPhrase{bounded: s.bounded, plural: s.words.At(0) == "we", last: i+1 == len(list)}
	from, paired := pairIn(all)
	v.atTimes = nowAndThen(all)
	v.changed = !v.atTimes && (c.begun && i == 0 || changeMarks.Found(s.words) || s.words.Any(changeWords))
	v.apart = s.from < paired && paired <= s.to && !mayPair(all[from:max(0, paired-2)])
	v.listed = s.lists && i+1 < len(list) && !c.goesOn(list[i+1].words)
	return v
}

// ofThings reads what happens to things of the speaker's. A clause that depends on another one bounds the liking of
// them ("jazz annoys me when I work") and what happened ("my divorce became final before I met Tom").
func (c *claim) ofThings(s segment) []Claim {
	befallen := c.befallen(s.words)
	if s.bounded {
		return slices.DeleteFunc(befallen, func(c Claim) bool { return !c.Ended })
	}
	return slices.Concat(c.happening(s.words), befallen, c.runsBy(s.words))
}

// framePredicate reads a predicate of o: past the words of the ladder, by the frames of its
// verb, or as a habit.
func (c *claim) framePredicate(v verbPhrase, ws english.Words) []Claim {
	for i := 0; i < len(ws); {
		if out := c.framesAt(&v, ws, i); out != nil {
			// A frame of an attribute leaves the thing itself unread: "I drive a Ford Focus".
			if !slices.ContainsFunc(out, func(c Claim) bool {
				return c.Ended || strings.Contains(c.Attribute, "habit of ")
			}) {
				out = append(out, c.habitual(&v, ws[i:])...)
			}
			return out
		}
		w := ws[i].Text
		switch n := enders.Match(ws, i); {
		case n > 0:
			v.ended = true
			v.past = false
			i += n
			continue
		case ladderPhrases.Match(ws, i) > 0:
			v.done = v.done || english.Past(ws[i].Text)
			i += ladderPhrases.Match(ws, i)
			continue
		case w == "not" || w == "never":
			v.negated = true
		case !ladder.Has(w):
			return c.habitual(&v, ws[i:])
		}
		v.perfect = v.perfect || w == "have" || w == "has" || w == "been" || w == "ve"
		v.past = v.past || w == "was" || w == "were" || w == "did"
		if w == "is" && ws[i].Start < ws[i].End && c.shortened(ws[i]) { // "my brother's moved"
			v.perfect = true
			i++
			continue
		}
		v.be = v.be || isBe(w) || w == "been"
		i++
	}
	return nil
}

// shortened reports whether a form of "be" is written as "'s", which may be "has" as well.
func (c *claim) shortened(w english.Word) bool {
	text := strings.ToLower(c.text[w.Start:w.End])
	return strings.HasSuffix(text, "'s") || strings.HasSuffix(text, "’s")
}

// maxFramedWords bounds the facts that are read by frames. A longer one tells a story, and
// reading it would take long.
const maxFramedWords = 60

// verbPhrase is what the words before a verb say of it.
type verbPhrase struct {
	owner   owner
	subject bool // the clause names its subject
	// perfect, past and be are the tense that the words before the verb tell, which decides
	// whether a state holds and whether an event has come true.
	perfect bool
	past    bool
	be      bool // the last word is a form of "be"
	negated bool
	ended   bool // "stopped", "no longer"
	bounded bool // see segment
	noun    bool // the words begin with a subject that is the speaker's
	done    bool // "ended up", "decided to"
	other   bool // the subject is somebody else, who does it to the speaker or theirs
	listed  bool // the last of its things is one of a list
	plural  bool // "we"
	changed bool // a word of the clause tells of a change: "these days"
	apart   bool // the subject is the speaker and somebody who is hardly a partner: "my band and I"
	last    bool // no clause follows
	atTimes bool // "now and then"
}

// framesAt are the claims of the frames that match at ws[i]: a thing in general gives way to what is more special.
func (c *claim) framesAt(v *verbPhrase, ws english.Words, i int) (out []Claim) {
	hasSpecial := false
	for lemma, form := range inflections[ws[i].Text] {
		for _, f := range frames[lemma] {
			if !v.allows(f, lemma, form) || v.atTimes && f.tellsNow() || f.hasBought(lemma, ws.At(i+1)) {
				continue
			}
			s, n, ok := c.match(f.tokens, ws[i:])
			if !ok || f.endsPart(ws[i:i+n]) || c.isBounded(v, f, ws[i+n:]) || ws[:i].Any(uncertain) {
				continue
			}
			if f.ofOther(s, ws[i:i+n]) || c.holdsElsewhere(f, ws, i, i+n) || len(s["other"]) > 0 && f.ended &&
				(forOneThing(ws[i+n:]) || c.happenedOnce(lemma, ws[i:i+n])) {
				continue
			}
			claims := (&variant{time: timeWords(ws[i+n:])}).dates(c.claimsOfFrame(v, f, s))
			if v.negated || v.ended {
				claims = asEnded(claims)
			}
			v.unchange(f, claims, ws[i+n:])
			if special := !strings.HasPrefix(f.attribute, "of "); special && f.event && !hasSpecial {
				out = slices.DeleteFunc(out, func(c Claim) bool {
					return !c.Ended && !c.Changed && strings.Contains(c.Attribute, "habit of ")
				})
				hasSpecial = true
			} else if !special && hasSpecial && !f.ended && f.event {
				continue // "moved to Porto" tells no habit
			}
			out = append(out, claims...)
		}
	}
	return out
}

// unchange takes back that the claims of a state tell of a change, if more than a time follows: "these days I carry a
// Nokia on hikes". "Driving buses for the city" is still one's work.
func (v *verbPhrase) unchange(f *frame, claims []Claim, rest english.Words) {
	if strings.HasPrefix(f.attribute, "commute") && routes.Has(rest.At(0)) {
		return // "these days I cycle to work along the canal"
	}
	purpose := rest.At(0) == "of" && goesOnFor(rest[1:]) // "Chrome instead of Firefox for banking"
	if !purpose && (f.event || !v.changed || onlyTime(rest) || f.attribute == "occupation" && rest.At(1) == "the") {
		return
	}
	for i := range claims {
		claims[i].Changed = false
	}
}

// endsPart reports whether a frame that ends a thing is said of a part of it or of one of several: "sold a few
// stamps".
func (f *frame) endsPart(ws english.Words) bool {
	one := ws.Has("a") || ws.Has("an")
	return f.ended && (ws.Any(partial) || strings.HasPrefix(f.attribute, "of ") && one)
}

// allows reports whether a frame may be said in the form of a verb, and behind these words.
func (v *verbPhrase) allows(f *frame, lemma string, form inflection) bool {
	// A frame that begins with its subject is read where no verb is sought, and no other is.
	if v.noun != f.noun || v.apart && f.ofCouple() {
		return false
	}
	if v.noun {
		return true
	}
	if v.ofOthersAlone(f, lemma) {
		return false
	}
	// "We work at Acme" may be said of the company by one of those who work there.
	if v.plural && !f.shared() {
		return false
	}
	if f.event && form&presentForm != 0 && f.tellsNow() {
		return v.subject && !v.negated && !v.ended && !v.past
	}
	if f.event {
		done := form&pastForm != 0 && !v.be || v.perfect && !v.be || lemma == "be" || v.done
		return done && !v.negated && !v.ended && !v.past
	}
	switch {
	case v.ended:
		return !f.ended
	case form&presentForm != 0:
		return v.subject && !v.past
	case form&ingForm != 0:
		return !v.past
	}
	return v.perfect && !v.past && form&pastForm != 0
}

// tellsNow reports whether a frame ends with a word that tells of a change: "go by Ann now".
func (f *frame) tellsNow() bool {
	return slices.Contains(f.tokens[len(f.tokens)-1].words, "now")
}

// ofMine reports whether a frame names the speaker or theirs as the object.
func (f *frame) ofMine() bool {
	return f.event && slices.ContainsFunc(f.tokens, func(t token) bool {
		return slices.Contains(t.words, "me") || slices.Contains(t.words, "us") ||
			slices.Contains(t.words, "my") && len(f.tokens) > 2
	})
}

// shared reports whether a frame said with "we" tells of the speaker.
func (f *frame) shared() bool {
	return sharedAttributes.Has(f.attribute) || f.attribute == partnerAttribute || strings.Contains(f.attribute, "<")
}

// isBounded reports whether what follows a statement bounds it: "this week", "tomorrow",
// or belongs to it, so that it says something else: "married to my job".
func (c *claim) isBounded(v *verbPhrase, f *frame, rest english.Words) bool {
	return c.endsOtherwise(v, f, rest) || c.goesOnBounded(v, f, withoutFromNow(rest))
}

// endsOtherwise reports whether what follows an end names another thing that ends, or makes the statement one of the
// past.
func (c *claim) endsOtherwise(v *verbPhrase, f *frame, rest english.Words) bool {
	// "Have lived in Porto" tells of the past unless a span follows that reaches the present.
	if v.perfect && !f.event && !v.be && !slices.Contains(f.tokens[0].words, "be") && !rest.Any(spanning) {
		return true
	}
	if f.ended && f.attribute == "employer" && c.firmLeft(rest) != "" {
		return true
	}
	if f.event && slices.Contains(f.tokens[0].words, "be") && !v.perfect && !v.past && daysAhead(rest) {
		return true // "I'm back at work on Monday" is a plan
	}
	if f.ended && f.attribute == "one weight" && !plainLoss(english.Lex(c.text), rest) {
		return true
	}
	if f.ended && (rest.Has("until") || rest.Has("till")) {
		return true // "I'm off coffee until Sunday"
	}
	if f.takesName() && len(rest) > 0 && !namesSpan(rest) && !english.DateWords.Has(rest[0].Text) {
		return true // "took my husband's name off the list", "took my husband's name badge"
	}
	return strings.HasPrefix(f.attribute, "marital") && rest.At(0) == "of" // "a couple of idiots"
}

// withoutFromNow is rest, nil for a time from which on a statement holds already: "as of last night".
func withoutFromNow(rest english.Words) english.Words {
	if rest.StartWith("as", "of") && fromNow.Has(rest.At(2)) {
		return nil
	}
	return rest
}

// goesOnBounded reports whether a list, a clause that depends or a word of time or place bounds a statement.
func (c *claim) goesOnBounded(v *verbPhrase, f *frame, rest english.Words) bool {
	// A list has more than one value, and so no single one that another takes the place of.
	status := strings.HasPrefix(f.attribute, "marital")
	if f.attribute == "birth year" {
		return false // people are born once
	}
	if v.bounded || len(rest) == 0 && v.listed && !f.event && !status {
		return true
	}
	if len(rest) > 0 && f.closed() && !(status && called.Has(rest[0].Text)) && !ends(rest[0]) && !c.capital(rest[0]) &&
		!(namesSpan(rest) || len(rest) > 1 && namesSpan(rest[1:]) || beginsDate(rest)) {
		return true
	}
	return status && c.bindsTo(rest) || v.meets(f, rest) || f.partsForAWhile(rest) || v.boundedBy(f, rest)
}

// boundedBy reports whether a word behind a statement bounds it in time or place.
func (v *verbPhrase) boundedBy(f *frame, rest english.Words) bool {
	for i, w := range rest {
		next := rest.At(i + 1)
		switch {
		case i > 0 && stopsClause(rest[i-1].Stop):
			return false
		case later.Has(w.Text), w.Text == "as" && next == "well":
			return true // it comes true later, or beside what held before
		case f.buys() && (w.Text == "to" || w.Text == "as" || w.Text == "for" && !english.StartsWithDigit(next)):
			return true // "bought a flat in Rome to rent out", which is no home
		case f.event && (outings.Has(w.Text) || w.Text == "for" && forOthers(rest[i+1:])):
			return true // "found a flat in Rome for my daughter"
		case w.Text == "for" && (f.event || v.negated || v.ended) &&
			namesSpan(append(slices.Clone(rest[i+1:]), english.Word{})):
			return true // "moved to Porto for a month"
		case f.event, strings.Contains(f.attribute, "<"), strings.HasPrefix(f.attribute, "one "):
		case f.usual(rest[i:]):
			return false
		case f.forNow(rest, i):
			return true
		case rest[:i].Has("since"):
		case boundingModifiers.Has(w.Text), english.DateWords.Has(singular(w.Text)):
			return true
		case (v.negated || v.ended) && !denials.Has(w.Text):
			return true // "I don't drink coffee at work"
		}
	}
	return false
}

// closed reports whether a frame ends with its last word, so that no noun may follow: "lost
// my job", but not "hung up my boots".
func (f *frame) closed() bool {
	t := f.tokens[len(f.tokens)-1]
	name := f.attribute
	couple := name == "marital status" || name == partnerAttribute
	work := f.ended && (name == "employer" || name == "occupation")
	work = work || name == "employment" || name == "pregnancy"
	return (couple || work) && t.slot == "" && !t.wild && !slices.ContainsFunc(t.words, openEnds.Has)
}

// timeWords are the words behind a statement that tell when it came true, unless that was
// in the last weeks.
func timeWords(rest english.Words) english.Words {
	end := 0
	for end < len(rest) && (end == 0 || !stopsClause(rest[end-1].Stop)) {
		end++
	}
	said := append(english.Words{{}}, rest[:end]...)
	if len(withoutRecentTime(said)) < len(said) {
		return nil
	}
	for i, w := range rest {
		if i > 0 && stopsClause(rest[i-1].Stop) {
			return nil
		}
		if english.DateWords.Has(w.Text) || isYear(w.Text) || endOfTime(rest[i:i+1]) != (time.Time{}) {
			return rest[i:]
		}
	}
	return nil
}

// claimsOfFrame are the claims of a frame with the values of its slots.
func (c *claim) claimsOfFrame(v *verbPhrase, f *frame, s slots) (out []Claim) {
	name := f.attribute
	if len(s["product"]) > 0 {
		kind, product, _ := strings.Cut(s["product"][0], ": ")
		return []Claim{{
			Attribute: v.owner.attribute("kind of " + kind), Value: product, Several: f.several,
			Changed: f.event || v.changed,
		}}
	}
	for _, slot := range []string{"thing", "other"} {
		before, after, ok := strings.Cut(name, "<"+slot+">")
		if !ok {
			continue
		}
		names := s.things(slot)
		for _, thing := range names {
			for _, attribute := range attributesOfThing(before, thing, f.ended) {
				claim := Claim{Attribute: f.ownerOf(v).attribute(attribute + after), Ended: f.ended}
				claim.Value, claim.Changed = f.valueOf(attribute), f.tellsOne(before)
				claim.Loose = !f.event && (before == "goal of " || before == "relocation of ")
				if f.ended && after != "" {
					claim.Value = "" // "we renamed the dog"
				}
				if name := c.singleName(before, thing); name != "" {
					claim.Attribute = v.owner.attribute(name)
				}
				if value := slices.Concat(s["number"], s["date"], s["name"]); len(value) > 0 {
					claim.Value, claim.Several, claim.Changed = value[0], f.several, f.event
				} else if f.ended && before == "date of " {
					claim.Value = ""
				}
				out = append(out, claim)
			}
		}
		return out
	}
	value := f.value
	for _, list := range s {
		if value == "" && len(list) > 0 {
			value = list[0]
		}
	}
	if value == "" && !f.ended {
		return nil
	}
	if name == "home" && inAny(value, countries, longCountries) {
		name = "home country"
	}
	if f.ended && name == "employer" {
		return jobLost(v.owner, value)
	}
	out = append(out, c.employerKind(v, f, value)...)
	siblings := f.bornAgain(v.owner)
	return append(out, Claim{
		Attribute: f.ownerOf(v).attribute(name), Value: value, Ended: f.ended,
		Several: f.several && !f.ended || siblings,
		Changed: (f.event || v.changed && f.takesPlace()) && !f.ended && !siblings,
	})
}

// things are the names of the thing in a slot.
func (s slots) things(slot string) []string {
	if slot != "thing" {
		return s[slot]
	}
	return slices.Concat(s[slot], s["bare"], s["place"], s["company"], s["noun"])
}

// bornAgain reports whether a frame tells of the birth of one of several relations: another son was born on another
// day.
func (f *frame) bornAgain(o owner) bool {
	if !f.event && manyRelations.Has(string(o)) {
		return true // and another niece lives elsewhere
	}
	birth := f.attribute == "birthday" || f.attribute == "birth year"
	return birth && f.event && o != "" && !o.isOne()
}

// attributesOfThing are the attributes that a frame of a thing stands for.
func attributesOfThing(begin, thing string, ended bool) []string {
	switch {
	case begin == "of " && ended:
		return []string{"habit of " + thing, "goal of " + thing, "has " + thing, thing + " thing", "kind of " + thing}
	case begin == "of ":
		return []string{"habit of " + thing}
	case begin == "goal of " && !ended:
		return []string{begin + thing, "habit of " + thing}
	}
	return []string{begin + thing}
}

// valueOf is the value of an attribute of a thing.
func (f *frame) valueOf(attribute string) string {
	switch {
	case f.value != "":
		return f.value
	case strings.HasSuffix(attribute, " thing"), strings.HasPrefix(attribute, "kind of "):
		return "" // whatever it is
	}
	return held
}
