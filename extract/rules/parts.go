package rules

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/canonical"
	"github.com/memoryd/memoryd/extract/dates"
	"github.com/memoryd/memoryd/extract/english"
)

// A sentence may make several statements: "I'm allergic to nuts and I drink coffee". Where one of them is a claim,
// which something said later may end, each is a fact of its own, so that the others outlive it. A sentence without a
// claim stays whole.

// takeApart finds the statements of ws, the words of s without what leads into them, if they are to be facts of their
// own. A statement that no rule knows is kept if it is a claim.
func (s *sentence) takeApart(ws english.Words, question bool, r *request) {
	if len(ws) == 0 || s.topics == none && supposes(ws) {
		return
	}
	list := ownClauses(ws)
	if len(list) > 1 && s.topics == none && cutsGerund(ws, list[0].To) {
		return
	}
	var parts []sentence
	corrects := canonical.Corrects(s.leadWords(ws))
	claims, after := false, false // after says that the clause before is a claim
	var subject english.Words
	for _, cl := range list {
		said := ws[cl.From:cl.To]
		said = withoutLead(said, cl.Shared).WithoutFillers()
		p := sentence{text: s.text, words: s.words, start: said[0].Start, end: said[len(said)-1].End}
		if cl.To == len(ws) && !question && said[len(said)-1].End == s.words[len(s.words)-1].End {
			p.end = trimEnd(s.text, p.end)
		} else {
			p.end = withBracket(s.text, p.start, p.end)
		}
		p.start = withQuote(p.text, startWith(ws, &cl, p.start))
		p.subject, subject = subjectsOf(said, subject, cl.Shared)
		p.subject = withBe(p.subject, ws.At(list[0].From+len(subject)), said[0].Text, cl.Shared)
		full := join(p.subject, said)
		form := canonical.OfWords(p.statement())
		core := full[:len(full)-(cl.To-cl.Core)]
		if p.topics = partTopics(core, full, &form); p.topics == none && r.takes(full) {
			p.topics = instruction
		}
		claim := form.Telling()
		switch {
		case joins(ws, &cl, parts, said), cl.Shared && len(parts) > 0 && !claim && revives(said):
			parts[len(parts)-1].end = p.end
			continue
		case p.topics == none, secrets.Found(said), tellsOfOthers(ws, said),
			s.passes(ws, &cl, &p, full, &form):
			parts = lengthened(parts, &p, said, ws[cl.Core-1].End)
			corrects = corrects || canonical.Corrects(ws[:cl.To])
			if after && ws[cl.From-1].Text == "but" {
				return // "I love coffee, but I can't drink it"
			}
			after = false
			continue
		}
		if r.asked {
			p.topics |= instruction
		}
		if claim {
			p.corrects = corrects
		}
		claims, after = claims || claim, claim
		parts = append(parts, p)
	}
	parts, claims = settled(ws, parts, claims, corrects)
	switch {
	case claims && (len(list) > 1 || s.topics == none || s.leans || corrects):
		s.several = parts
	case s.topics != none:
		s.subject = s.missingSubject(ws)
	}
}

// revives reports whether a clause takes back what the one before it ended: "quit when Ada was born and started again".
// Alone, the first one would end what holds.
func revives(ws english.Words) bool {
	for i := 1; i < min(len(ws), maxRevival); i++ {
		if w := ws[i].Text; w == "again" || w == "back" && returning.Has(ws[i-1].Text) && ws.At(i+1) != "to" {
			return true
		}
	}
	return false
}

// maxRevival bounds the words up to "again": "only took them up again".
const maxRevival = 6

// settled are the parts of ws that are facts, and whether one of them makes a claim. Corrects says that ws tells that
// something was wrong.
func settled(ws english.Words, parts []sentence, claims, corrects bool) ([]sentence, bool) {
	if corrects && len(parts) == 1 && claims {
		parts[0].corrects = true // "My shoe size is 43, I was wrong"
	}
	if whole := asWhole(ws, parts); whole != nil {
		return []sentence{*whole}, true
	}
	return parts, claims
}

// asWhole is one statement of all parts of ws, if only together they make some claim of a change: "the landlord put the
// rent up, we pay 1,240 a month from now on". Each by itself would not say what the other one speaks of.
func asWhole(ws english.Words, parts []sentence) *sentence {
	if len(parts) == 0 {
		return nil
	}
	// "The dentist has moved, the new number is…" may be of theirs.
	if last := english.Lex(parts[len(parts)-1].statement()); last.At(0) == "the" {
		return nil
	}
	whole := parts[0]
	whole.start, whole.end, whole.subject = ws[0].Start, parts[len(parts)-1].end, newClause(ws).missingSubject()
	for _, p := range parts[1:] {
		whole.topics |= p.topics
	}
	form := canonical.OfWords(whole.statement())
	tells := slices.ContainsFunc(form.Claims, func(c canonical.Claim) bool {
		return c.Changed && !c.Loose && !slices.ContainsFunc(parts, func(p sentence) bool {
			one := canonical.OfWords(p.statement())
			return slices.ContainsFunc(one.Claims, func(d canonical.Claim) bool { return d.Attribute == c.Attribute })
		})
	})
	if !tells {
		return nil
	}
	return &whole
}

// tellsOfOthers reports whether said, behind a clause of somebody else, may be about what is theirs: "my sister kept
// hers, so it's eleven goats now", "my brother found a flat, the rent is 845 now". What the landlord says of the rent
// is about the speaker's.
func tellsOfOthers(ws, said english.Words) bool {
	counts := said.StartWith("it", "is") && isCount(said.At(2))
	if !counts && said[0].Text != "the" {
		return false
	}
	others := false
	for i := 0; i < len(ws) && ws[i].Start < said[0].Start; i++ {
		w, who := ws[i].Text, strings.TrimSuffix(ws.At(i+1), "'s")
		if w == "i" || w == "we" {
			return false
		}
		others = others || (w == "my" || w == "our") && english.OwnNouns.Has(who) && !inCharge.Has(who)
	}
	return others
}

// leadWords are the words of s before ws, its statements. "I told you" leads into a statement as well as into "wrong".
func (s *sentence) leadWords(ws english.Words) english.Words {
	lead := len(s.words) - len(ws)
	if ws[0].Text == "wrong" {
		lead++
	}
	return s.words[:lead]
}

// passes reports whether a clause of s that rules know is no fact of its own all the same: full are its words, with
// their subject.
func (s *sentence) passes(ws english.Words, cl *english.Clause, p *sentence, full english.Words,
	form *canonical.Form) bool {
	claim := form.Telling()
	switch {
	case cl.Shared && (len(p.subject) == 0 || sharesModal(ws, cl)), ofOthers(ws, p, cl), asksFor(ws, cl),
		everyDay(full), ofTheMoment(full):
		return true
	case !claim:
		return hollow(full, p.topics) || leansOn(full)
	}
	return leansOn(full) && ofNothing(full, form) || p.topics == personal && hollow(full, personal)
}

// cutsGerund reports whether the words of ws before to are only a part of a subject in -ing, so that they say nothing
// that the speaker does: "Finding a school for quick, shy kids is hard".
func cutsGerund(ws english.Words, to int) bool {
	return strings.HasSuffix(ws[0].Text, "ing") && newClause(ws).gerundRules(0) && !newClause(ws[:to]).gerundRules(0)
}

// supposes reports whether ws asks for something, or says what holds only if something else does.
func supposes(ws english.Words) bool {
	return imperative(ws[0].Text) || hypothetical.Found(ws) || conditions.Match(ws, 0) > 0
}

// partTopics are the topics of a statement full, of which core is what stands before its first mark. A statement that
// no rule knows counts if it is a claim.
func partTopics(core, full english.Words, form *canonical.Form) topics {
	t := directive(core, 0)
	if t == none {
		t = statement(full)
	}
	if t == none {
		t = claimed(full, form)
	}
	return t
}

// ofOthers reports whether a clause without its subject goes on with another one than the speaker: "I love how you sing
// and play the violin".
func ofOthers(ws english.Words, p *sentence, cl *english.Clause) bool {
	for k := cl.From - 1; k >= 0 && cl.Shared && len(p.subject) > 0; k-- {
		switch ws[k].Text {
		case "i", "we", "my", "our":
			return false
		case "you", "he", "she", "they":
			return true
		}
	}
	return false
}

// describes reports whether a clause without its subject is none, but goes on with what the speaker likes: "I like
// vanilla and mixed berries".
func describes(ws english.Words, cl *english.Clause, parts []sentence) bool {
	next := cl.From + 1
	if !cl.Shared || len(parts) == 0 || next >= len(ws) || ws[cl.From].Stop != 0 ||
		!english.Past(ws[cl.From].Text) || ws[next].Upper ||
		english.StopWords.Has(ws[next].Text) || english.Prepositions.Has(ws[next].Text) {
		return false
	}
	for k := cl.From - 1; k > 0; k-- {
		if before := ws[k-1].Text; before == "i" || before == "we" || english.Adverbs.Has(before) {
			return english.Likings.Has(ws[k].Text)
		}
	}
	return false
}

// asksFor reports whether a clause without its subject is a request behind "so": "I was born in May, so plan a party".
func asksFor(ws english.Words, cl *english.Clause) bool {
	return cl.Shared && ws[cl.From-1].Text == "so" && !english.Past(ws[cl.From].Text)
}

// startWith is the byte where the fact of a clause starts: where the clause does, or with the sentence for a thing
// without an owner behind what somebody else did, which is hardly the speaker's: "the dentist has moved, the new number
// is…".
func startWith(ws english.Words, cl *english.Clause, start int) int {
	first, before := ws[cl.From].Text, ws[:cl.From]
	if (first == "the" || first == "new") && len(before) > 1 && finite(before) && !before.Any(firstPerson) {
		return ws[0].Start
	}
	return start
}

// joins reports whether a clause belongs to the one before it: it describes a thing of that, tells which one of several
// it is about, or who is counted: "My son turned five, I mean the older one".
func joins(ws english.Words, cl *english.Clause, parts []sentence, said english.Words) bool {
	return describes(ws, cl, parts) ||
		len(parts) > 0 && (tellsWhich(said) || said.Has("included") || said.Has("counting") ||
			sharesModal(ws, cl))
}

// sharesModal reports whether a clause without its subject goes on with the verb behind "will" or "to" of the one
// before it: "I am going to clean up and take a shower" tells of no habit.
func sharesModal(ws english.Words, cl *english.Clause) bool {
	if !cl.Shared || finite(ws[cl.From:cl.From+1]) || strings.HasSuffix(ws[cl.From].Text, "s") {
		return false
	}
	for k := cl.From - 2; k > 0; k-- {
		w, next := ws[k].Text, ws[k+1].Text
		switch {
		case english.Modals.Has(w), w == "will", w == "did",
			w == "to" && (english.PresentVerbs.Has(next) || english.AgentVerbs.Has(next) ||
				english.Likings.Has(next) || intents.Has(ws[k-1].Text)):
			return true
		case speakerWords.Has(w) || ws[k].Stop != 0:
			return false
		}
	}
	return false
}

// tellsWhich reports whether a clause tells of which one of several the one before it is: "I mean the older one".
func tellsWhich(ws english.Words) bool {
	for i := 2; i < min(len(ws), maxSubject); i++ {
		if w := ws[i].Text; w == "one" && (ws[i-2].Text == "the" || ws[i-2].Text == "my") {
			return true
		}
	}
	return false
}

// lengthened are parts, of which the last one goes on with p, a clause that leans on it: "We renamed the kitten, she's
// Pepper now". The claims of the last one must stay as they are, or a statement against them would not be seen. All of
// p is added, or only what stands before the byte core, where a remark begins.
func lengthened(parts []sentence, p *sentence, said english.Words, core int) []sentence {
	if len(parts) == 0 || len(said) == 0 || secrets.Found(said) || said.Any(addressee) {
		return parts
	}
	last := &parts[len(parts)-1]
	if p.start < last.end {
		return parts
	}
	between := strings.Fields(p.text[last.end:p.start])
	// "Sold the Volvo, so I'm down to one"
	follows := len(between) == 2 && between[1] == "so" && resultSubjects.Has(said[0].Text) &&
		!said.Any(english.Modals) && !said.Has("will") && !said.Any(intents)
	if !follows && (!leaning.Has(said[0].Text) || len(between) > 1) {
		return parts // a clause between them is left out
	}
	before := canonical.OfWords(last.statement())
	for _, end := range []int{p.end, core} {
		long := *last
		long.end = end
		if after := canonical.OfWords(long.statement()); leavesClaims(&before, &after) {
			*last = long
			break
		}
	}
	return parts
}

// leavesClaims reports whether a longer fact makes the claims of the one before it, perhaps with bounds.
func leavesClaims(before, after *canonical.Form) bool {
	for i := range before.Claims {
		if c := &before.Claims[i]; !c.Loose && !c.Pairs() && !slices.ContainsFunc(after.Claims, c.SameOrNarrower) {
			return false
		}
	}
	return before.Ends == after.Ends && before.Changing() == after.Changing()
}

// ownClauses are the clauses of ws; none where one of them leads into a text or words of somebody else: "My text: I
// live in Rome".
func ownClauses(ws english.Words) []english.Clause {
	list := english.Clauses(ws)
	if len(list) > 1 {
		before := ws[:list[1].From]
		// "Ugh, at the office, the number is…", "Next month, I'm flying to Oslo"
		if start := markedStart(before); canonical.Bounds(before[start:]) || frontTime(before[start:]) {
			list[1].From = start
			list = list[1:]
		}
	}
	for _, cl := range list[1:] {
		before := ws[:cl.From]
		label := before[len(before)-1].Stop == ':'
		if label && (before.Any(textLabels) || before.Any(reporting) || before.Any(denials)) || said(before) {
			return nil
		}
	}
	return list
}

// frontTime reports whether ws, before a clause, is when it comes true and no clause itself: "next month,".
func frontTime(ws english.Words) bool {
	w := ws[0].Text
	leads := w == "next" || w == "last" || w == "this" || english.Prepositions.Has(w) || len(ws) == 1
	last := ws[len(ws)-1].Text
	return leads && len(ws) < 5 && !finite(ws) && !ws.Any(speakerWords) && (dates.Named(ws) || spans.Has(last))
}

// said reports whether ws ends in that somebody else says something: "My teacher said,".
func said(ws english.Words) bool {
	last := len(ws) - 1
	verb := ws[last].Text == "said" || ws[last].Text == "says" || ws[last].Text == "wrote"
	return verb && ws[last].Stop == ',' && ws.At(last-1) != "i"
}

// claimed are the topics of a statement that no rule knows, by the claims that it makes of the speaker or theirs.
func claimed(ws english.Words, form *canonical.Form) topics {
	c := newClause(ws)
	if len(ws) < 3 && !ws.Any(firstPerson) { // "Split again" may be of a bill
		return none
	}
	if c.task || c.addressed(0) || hypothetical.Found(ws) || imperative(ws[0].Text) {
		return none
	}
	if strings.HasSuffix(ws[0].Text, "ing") && !ws.Any(firstPerson) && ws.Any(english.Modals) {
		return none // "Being outdoors can be fun" is of everybody
	}
	if form.Changing() {
		return details
	}
	returned := slices.IndexFunc(ws, func(w english.Word) bool { return w.Text == "back" }) // "am back to loving jazz"
	for i := range form.Claims {
		if cl := &form.Claims[i]; !cl.Loose && (cl.Ended || !cl.Listed() || returned > 0 && ws.At(returned+1) == "to") {
			return personal
		}
	}
	return none
}

// withoutLead is a clause without the words that lead into it. A "now" before a predicate that has its subject from the
// clause before stays: "I left the firm and now teach law" leaves "I now teach law".
func withoutLead(ws english.Words, shared bool) english.Words {
	lead := min(english.SkipLeads(ws), len(ws)-1)
	if shared && lead > 0 && ws[lead-1].Text == "now" {
		lead--
	}
	return ws[lead:]
}

// withBe is a subject that a clause shares with the one before, and the verb "be" behind it if the clause shares that
// too: "Tom is four and obsessed with trains". be is the word behind the subject, and first that which the clause
// begins with.
func withBe(subject english.Words, be, first string, shared bool) english.Words {
	ing := strings.HasSuffix(first, "ing") && !english.PresentVerbs.Has(first)
	if !shared || be != "is" && be != "are" && be != "am" || !tastes.Has(first) && !ing {
		return subject
	}
	return join(subject, spoken(be))
}

// subjectsOf are the subject that a clause lacks, and the one that the next clause may share. Before is that of the
// clause before it, which it may share itself.
func subjectsOf(ws, before english.Words, shared bool) (lacks, shares english.Words) {
	if shared {
		return before, before
	}
	if own := subjectOf(ws); len(own) > 0 {
		return nil, own
	}
	lacks = newClause(ws).missingSubject()
	return lacks, lacks
}

// subjectOf are the words of the subject of a clause that another one may share: "I", "my sister".
func subjectOf(ws english.Words) english.Words {
	switch ws.At(0) {
	case "i", "we":
		return spoken(ws[0].Text)
	case "my", "our":
		for k := 2; k < min(len(ws), 4); k++ {
			if finiteVerb(ws[k].Text) {
				return slices.Clone(ws[:k])
			}
		}
	}
	return nil
}

// missingSubject are the words that a statement without its subject lacks: "I" of "adopted a cat". There are none if
// it has one.
func (c *clause) missingSubject() english.Words {
	if _, ok := c.subject(); ok || c.otherSubject() != none {
		return nil
	}
	i := 0
	for elidedAdverbs.Has(c.at(i)) {
		i++
	}
	if c.task || c.addressed(0) || c.wordAt(i).Stop != 0 && len(c.words) > i+1 {
		return nil
	}
	ws, _ := c.missing(i)
	return ws
}

// missingSubject are the words that the statement of s lacks, which begins somewhere in ws: "I" in "End of an era, sold
// the car", none in "Had a wild week, my car broke down".
func (s *sentence) missingSubject(ws english.Words) english.Words {
	for k := range ws {
		if ws[k].Start == s.start {
			return newClause(ws[k:]).missingSubject()
		}
	}
	return nil
}

// statement is the part of the text that makes the fact, with its subject.
func (s *sentence) statement() string { return s.withSubject(s.text[s.start:s.end]) }

// withSubject puts the subject that a statement lacks before it.
func (s *sentence) withSubject(text string) string {
	if len(s.subject) > 0 {
		var subject strings.Builder
		for _, w := range s.subject {
			name := s.text[w.Start:w.End]
			if !w.Upper || strings.ContainsAny(name, "'’-") {
				name = w.Text
			}
			subject.WriteString(name + " ")
		}
		text = subject.String() + uncapitalized(text)
	}
	if s.corrects {
		if ws := english.Split(text); len(ws) > 0 && ws[0].Text != "i" && english.StopWords.Has(ws[0].Text) {
			text = uncapitalized(text)
		}
		text = "Actually, " + text
	}
	return capitalized(text)
}
