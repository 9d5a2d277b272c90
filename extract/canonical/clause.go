package canonical

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// statement is what one clause of a fact says, without what explains it.
type statement struct {
	words english.Words
	core  int // how many of the words stand before the first mark
	// several says that a list follows: "I love sushi, ramen and pho".
	several bool
}

// statements are the statements of ws: "I live in Ghent" and "I work in Bruges". One
// that is bounded is left out, as is all that depends on it: "if it works out, …",
// "…, but only in summer".
func statements(ws english.Words) (out []statement) {
	var subject english.Words
	ws = withoutPair(withoutOpener(ws))
	for _, cl := range english.Clauses(ws) {
		all, core := ws[cl.From:cl.To], ws[cl.From:cl.Core]
		if cl.Shared {
			all, core = slices.Concat(subject, all), slices.Concat(subject, core)
		} else if subject = subjectWords(core); len(subject) == 0 && elides(core) {
			subject = english.Words{{Text: "i", Start: core[0].Start, End: core[0].Start}}
			all, core = slices.Concat(subject, all), slices.Concat(subject, core)
		}
		conditional := isConditional(all)
		if s, ok := withoutRemarks(all, len(core)); ok && !conditional {
			out = append(out, s)
		}
		if conditional && conditions.Has(all[0].Text) {
			break // what follows depends on it
		}
	}
	return out
}

// isConditional reports whether a statement depends on something. "Put off until May"
// does not.
func isConditional(ws english.Words) bool {
	for i, w := range ws {
		if conditions.Has(w.Text) && !(w.Text == "until" && movedBefore.Has(ws.At(i-1))) {
			return true
		}
	}
	return false
}

// withoutOpener is ws without an adverbial before the subject that bounds nothing:
// "Since my illness I dislike coffee".
func withoutOpener(ws english.Words) english.Words {
	if !frontOpeners.Has(ws.At(0)) {
		return ws
	}
	for i := 2; i < min(len(ws), maxTimeWords); i++ {
		if w := ws[i].Text; w == "i" || w == "we" || (w == "my" || w == "our") && stopsClause(ws[i-1].Stop) {
			return ws[i:]
		}
	}
	return ws
}

// withoutPair puts "we" in the place of "Tom and I".
func withoutPair(ws english.Words) english.Words {
	if n := pairAt(ws); n > 0 {
		we := english.Word{Text: "we", Start: ws[0].Start, End: ws[n-1].End}
		return append(english.Words{we}, ws[n:]...)
	}
	return ws
}

// maxPairWords bounds a subject such as "Tom from the climbing gym and I".
const maxPairWords = 8

// In a text without capitals the name must be a common one; see withNames. "Me" joins a name in the subject alone, so a
// verb must follow: "between Tom and me" is none.

// pairAt is the number of words of a subject that is somebody and the speaker: "Tom and I", "me and Tom", "Tom from
// work and I"; 0 if ws begins with none.
func pairAt(ws english.Words) int {
	if ws.StartWith("me", "and") {
		switch {
		case len(ws) > 3 && ws[2].Upper:
			return 3
		case len(ws) > 4 && (ws[2].Text == "my" || ws[2].Text == "our"):
			return 4
		}
		return 0
	}
	for i := 1; i+2 < min(len(ws), maxPairWords) && ws[0].Stop == 0; i++ {
		switch {
		case ws[i].Text == "and" && ws[i+1].Text == "i":
			return i + 2
		case ws[i].Text == "and" && ws[i+1].Text == "me":
			if verb := ws[i+2].Text; ws[0].Upper && (english.Auxiliaries.Has(verb) || english.Past(verb)) {
				return i + 2
			}
			return 0
		case mayBeVerb(ws[i].Text) && !(english.Prepositions.Has(ws.At(1)) && i > 1), ws[i].Stop != 0:
			return 0
		}
	}
	return 0
}

// pairIn is where the first subject that is somebody and the speaker stands in ws; 0 and 0 if there is none.
func pairIn(ws english.Words) (from, to int) {
	for i := range ws {
		if i > 0 && !stopsClause(ws[i-1].Stop) {
			continue
		}
		if n := pairAt(ws[i:]); n > 0 {
			return i, i + n
		}
	}
	return 0, 0
}

// subjectWords are the words of the subject of ws, if it is one that the rules know.
func subjectWords(ws english.Words) english.Words {
	switch ws.At(0) {
	case "i", "we":
		return ws[:1]
	case "my", "our":
		if o, n := relationAt(ws[1:]); o != "" {
			return ws[:1+n]
		}
	}
	if len(ws) > 1 && ws[0].Upper && personVerbs.Has(ws[1].Text) {
		return ws[:1]
	}
	return nil
}

// elides reports whether ws is a statement of the speaker's without "I": "moved to
// Ghent", "just got laid off".
func elides(ws english.Words) bool {
	i := 0
	for i+1 < len(ws) && (frontAdverbs.Has(ws[i].Text) || english.Adverbs.Has(ws[i].Text)) {
		i++
	}
	w := ws.At(i)
	return english.Past(w) && !inAny(w, english.Evaluative, english.Moods, english.States, english.OwnNouns)
}

// withoutRemarks is the statement ws without the remarks and explanations behind its
// first n words. It is not ok if one of them bounds the statement. A name, a place or
// a time behind a mark belongs to the statement.
func withoutRemarks(ws english.Words, n int) (s statement, ok bool) {
	for i := range ws[:n] {
		if ws[i].Text == "but" {
			return statement{words: ws[:i]}, ws[:i].Has("used") && ws[i:].Any(anymoreWords)
		}
	}
	end, cut := n, false
	s.core = n
	for i := n; i < len(ws); {
		next := i + 1
		for next < len(ws) && !stopsClause(ws[next-1].Stop) {
			next++
		}
		remark := ws[i:next]
		remark = remark[english.SkipLeads(remark):]
		switch {
		case boundingTails.Match(remark, 0) > 0 || len(remark) < 3 && amountTails.Has(remark[0].Text) ||
			remark.At(0) == "but":
			return statement{words: ws[:n]}, remark.At(0) == "but" && ws[:n].Has("used") && remark.Any(anymoreWords)
		case !cut && (continues(remark) || english.StartsWithDigit(remark[0].Text) && len(remark) < 4):
			end = next
		default:
			cut = true
			s.several = s.several || lists(remark)
		}
		i = next
	}
	s.words = ws[:end]
	return s, true
}

// continues reports whether the words behind a mark belong to the statement before it:
// "Porto, Portugal", "at 9, on Friday".
func continues(ws english.Words) bool {
	return ws[0].Upper || inAny(ws[0].Text, goingOn, english.DateWords) ||
		recently.MatchString(ws.String())
}

// lists reports whether words behind a mark may be more of what stands before it:
// "sushi, ramen and pho".
func lists(ws english.Words) bool {
	joined := ws.Has("and") || ws.Has("or")
	// "Pile it on", "check the snacks" and "balcony only" go on about the statement.
	if !joined && (len(ws) > maxObjectWords || ws.Any(leaning) || ws.At(len(ws)-1) == "only" ||
		len(ws) > 1 && english.PresentVerbs.Has(ws[0].Text) && english.Articles.Has(ws[1].Text)) {
		return false
	}
	first := ws.At(0)
	if w := ws.At(1); !joined && strings.HasSuffix(first, "s") && inAny(w, goesOnAbout) {
		return false // "tastes like soap"
	}
	if english.Articles.Has(first) && len(ws) > 1 {
		first = ws[1].Text
		if first == "more" || strings.HasSuffix(first, "er") && !ws.Has("and") {
			return false // "the scarier the better"
		}
	}
	return !english.StartsWithDigit(first) && !inAny(first, english.StopWords, english.Adverbs, english.Moods,
		english.States, negations)
}

// withoutNow is ws without "now", which says no more than the present does: but
// "for now" bounds.
func withoutNow(ws english.Words) english.Words {
	out := make(english.Words, 0, len(ws))
	for _, w := range ws {
		if w.Text != "now" || timeLeads.Has(before(ws, w)) {
			out = append(out, w)
		} else if last := len(out) - 1; last >= 0 && out[last].Stop == 0 {
			out[last].Stop = w.Stop // "a boyfriend now, Tomas"
		}
	}
	return out
}

// before is the word before w in ws.
func before(ws english.Words, w english.Word) string {
	i := slices.IndexFunc(ws, func(o english.Word) bool { return o.Start >= w.Start && o.Text == w.Text })
	return ws.At(i - 1)
}

// stopsClause reports whether a second clause may begin after a mark.
func stopsClause(mark rune) bool { return mark != 0 && strings.ContainsRune(",;:.!()–—-", mark) }

// variant is a statement without some of the modifiers at its end.
type variant struct {
	words english.Words
	// time is a time behind it that is no recent one: "in March"
	time english.Words
}

// withoutModifiers are ws and what is left of it without the modifiers at its end,
// longest first: "I live in Ghent above a bakery" and "I live in Ghent". It ends
// before a modifier that bounds the statement, such as "in summer". The time of an
// event bounds nothing: "I moved to Ghent in summer".
func withoutModifiers(ws english.Words, event bool) []variant {
	ws = withoutBeginning(ws)
	if event {
		ws = withoutRecentTime(ws)
	}
	out := []variant{{words: ws}}
	dated := 0
	for i, end := len(ws)-1, len(ws); i >= 2; i-- {
		w := ws[i].Text
		company := ws[i-1].Text == "with" || ws[i-2].Text == "with" // "with 2 flatmates", "with my 2 boys"
		time := !company && inAny(w, seasons, english.DateWords, english.Periods) ||
			english.DateWords.Has(singular(w)) ||
			english.StartsWithDigit(w) && !company
		ofStatus := maritalStatuses.Has(ws[i-1].Text) && bindsStatus.Has(w) && !(event && dated == i+1)
		if boundingModifiers.Has(w) && !(event && eventTimes.Has(w)) || time && !event || ofStatus {
			break // also of "married to my job"
		}
		if time {
			dated = i
		}
		opens := countsBack(ws[i:]) || modifierStarts.Has(w) || english.Prepositions.Has(w) && w != "of" ||
			stopsClause(ws[i-1].Stop)
		if !opens ||
			w == "for" && (i+1 == end || namesSpan(ws[i+1:end])) {
			continue
		}
		v := variant{words: ws[:i]}
		if dated > 0 {
			v.time = ws[dated:]
		}
		if event {
			v.words = withoutRecentTime(v.words)
		}
		out = append(out, v)
		end = i
	}
	return out
}

// namesSpan reports whether ws begins with a span of time: "a while", "3 months".
func namesSpan(ws english.Words) bool {
	if !amountStarts.Has(ws[0].Text) && !english.StartsWithDigit(ws[0].Text) {
		return false
	}
	for _, w := range ws[:min(len(ws), 4)] {
		if english.Periods.Has(singular(w.Text)) || inAny(w.Text, spans) {
			return true
		}
	}
	return len(ws) == 1
}

// countsBack reports whether ws begins like "11 weeks ago".
func countsBack(ws english.Words) bool {
	return english.StartsWithDigit(ws.At(0)) && ws.At(2) == "ago"
}

// tellsEvent reports whether a predicate tells of something that happened: "moved
// to Ghent", "was laid off".
func tellsEvent(ws english.Words) bool {
	ws = withoutAdverbs(ws)
	return english.Past(ws.At(0)) || endVerbs.Has(ws.At(0)) || ws.At(0) == "was" || ws.At(0) == "were"
}

// subjectOf is whose statement ws is, and its predicate. The predicate is nil if
// the subject is none that the rules know: the speaker, a relation of the
// speaker's, or a person with a name.
func (c *claim) subjectOf(ws english.Words) (o owner, predicate english.Words) {
	ws = afterFrontTime(ws)
	switch ws.At(0) {
	case "i", "we":
		return "", ws[1:]
	case "my", "our":
		o, n := relationAt(ws[1:])
		if o == "" {
			return "", nil
		}
		if rest := ws[1+n:]; len(rest) > 2 && rest[0].Upper && (isBe(rest[1].Text) || personVerbs.Has(rest[1].Text)) {
			return o, rest[1:] // "my daughter Freya is 6"
		}
		return o, ws[1+n:]
	}
	if name := c.named(ws); name != "" {
		return owner(name), ws[1:]
	}
	return "", nil
}

// relationAt reads "sister" and "older sister", and gives the number of its words;
// "" if ws begins with no relation.
func relationAt(ws english.Words) (owner, int) {
	adjective, n := "", 0
	if len(ws) > 2 && relationAdjectives.Has(ws[0].Text) {
		adjective, n = ws[0].Text+" ", 1
	}
	rel := relation(ws.At(n))
	if rel == "" && twins.Has(ws.At(n)) {
		rel = ws[n].Text
	}
	if rel == "" {
		return "", 0
	}
	return owner(adjective + rel), n + 1
}

// named is the person whose name begins ws, if a verb of a person follows: "Tom
// works at Acme".
func (c *claim) named(ws english.Words) string {
	if len(ws) < 3 || ws[0].Stop != 0 || !ws[0].Upper || !personVerbs.Has(ws[1].Text) &&
		ws[0].Text != c.friend ||
		inAny(ws[0].Text, english.StopWords, english.States, english.Deictic, cities, countries) {
		return ""
	}
	return c.properName(ws[:1])
}

// withoutAdverbs is ws without the auxiliaries of the perfect and adverbs at its
// front: "have just finally sold my car".
func withoutAdverbs(ws english.Words) english.Words {
	for len(ws) > 1 && (frontAdverbs.Has(ws[0].Text) || ws[0].Text == "have" && endVerbs.Has(ws.At(1)) ||
		ws[0].Text == "has" && endVerbs.Has(ws.At(1))) {
		ws = ws[1:]
	}
	return ws
}

// object is the thing that ws begins with, without determiners and amounts and in
// the singular: "two cups of strong coffee" is "strong coffee". It is "" if ws
// begins with more than maxObjectWords of it, or something else.
func object(ws english.Words) string { what, _ := objectOf(ws); return what }

// wholeObject is the object that ws is, without more behind it.
func wholeObject(ws english.Words) string {
	what, rest := objectOf(ws)
	if len(rest) > 0 {
		return ""
	}
	return what
}

func objectOf(ws english.Words) (what string, rest english.Words) {
	for len(ws) > 1 && (quantities.Has(ws[0].Text) || english.Articles.Has(ws[0].Text) ||
		english.StartsWithDigit(ws[0].Text) || ws[0].Text == "our") {
		ws = ws[1:]
	}
	if len(ws) > 2 && ws[1].Text == "of" && servings.Has(ws[0].Text) {
		ws = ws[2:]
	}
	var out []string
	for i, w := range ws {
		if i > 0 && (english.Prepositions.Has(w.Text) && w.Text != "of" || modifierStarts.Has(w.Text) ||
			boundingModifiers.Has(w.Text) || countsBack(ws[i:]) ||
			w.Text == "this" || w.Text == "these" || w.Text == "so" ||
			inAny(w.Text, called) || stopsClause(ws[i-1].Stop)) {
			rest = ws[i:]
			break
		}
		if inAny(w.Text, english.Pronouns, negations, possessives) || w.Text == "and" || w.Text == "or" {
			return "", nil
		}
		out = append(out, singular(w.Text))
	}
	if len(out) == 0 || len(out) > maxObjectWords ||
		inAny(out[0], english.Prepositions, english.Deictic, frontAdverbs, particles) {
		return "", nil
	}
	return strings.Join(out, " "), rest
}

// maxObjectWords bounds an object. A longer one says more than a thing.
const maxObjectWords = 3

// Corrects reports whether words say that something said before was wrong: "sorry, I
// meant".
func Corrects(ws english.Words) bool { return correcting.Found(ws) }

// nowAndThen reports whether ws tells of what happens at times, which changes nothing.
func nowAndThen(ws english.Words) bool {
	for i := range ws {
		if n := ws.At(i + 2); ws[i].Text == "now" && ws.At(i+1) == "and" && (n == "then" || n == "again") {
			return true
		}
	}
	return false
}

// tellsChange reports whether one of the marks of change is among the words of the fact
// as it is written, before reduce drops them.
func tellsChange(ws english.Words) bool {
	if nowAndThen(ws) {
		return false
	}
	return changeMarks.Found(ws) || correcting.Found(ws) ||
		slices.ContainsFunc(ws, func(w english.Word) bool { return changeWords.Has(w.Text) })
}
