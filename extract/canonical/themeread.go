package canonical

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// maxThemeNouns bounds the nouns of a clause.
const maxThemeNouns = 8

// maxWindows bounds the clauses of a fact.
const maxWindows = 6

// How a clause becomes a theme:
//
//   - A fact is cut at its marks and links, as frames cut it. Quotations and facts of dreams and jokes are left out.
//   - The subject tells the owner: the speaker, a relation, a person with a name, or a thing of one of them. Clauses of
//     anybody else are left out. A clause without a subject goes on with that of the clause before it.
//   - The words around the verb tell the tense, whether it is denied, and whether something passes or is not certain.
//   - A phrase of themes.txt may tell of an end, and behind it, or as the subject, stands the thing that ends.
//   - The last word of each run of words with a meaning is a noun, and the words before it tell it apart.
//   - Days, hours and numbers are values, of which a clause with a word such as "moved" or "now" may give another one.
//
// A word that names no thing, such as "week" or "have", is in a table of themes.txt: with it, two facts about quite
// different things would share a noun.

// themes reads the clauses of a fact as themes.
func (c *claim) themes(all english.Words) (out []theme) {
	past := longAgo(all)
	all = withoutDates(c.withoutQuotes(c.withoutNoteMarks(slices.Clone(all))))
	if len(all) == 0 || len(all) > maxFramedWords {
		return nil
	}
	list := segments(withoutAfterAll(withoutCorrection(all)))
	if len(list) > maxWindows {
		return nil
	}
	unreal := all.Any(makeBelieve)
	doubt, passing := c.leavesAll(all), passes(all)
	wrong, forAWhile := themeWrongs.Found(all), hasPassingReason(all)
	beside := besides(all)
	var before owner
	known := false
	for i, s := range list {
		if w := s.words.At(0); w == "not" && len(out) > 0 && len(s.words) < 5 {
			out[len(out)-1].deny(s.words)
			continue
		}
		timed := timeBefore(s.words)
		s.words = s.words[timed:]
		o, subject, predicate, ok := c.themeSubject(s.words, i == 0)
		if !ok && known && s.linked && !inAny(s.words.At(0), english.Pronouns, english.Articles, others) {
			o, subject, predicate, ok = before, nil, s.words, true
		}
		known = ok
		if !ok {
			continue
		}
		before = o
		t := themeOf(o, subject, predicate)
		t.wrong, t.scope, t.cued = wrong, c.reach.scope, t.cued && !beside
		w := s.words.At(0)
		t.mine = o != "" || tellsOfSpeaker(w)
		t.unreal = unreal
		t.narrow = t.narrow || t.taste != 0 && forAWhile
		if past {
			t.did = ""
		}
		if timed > 0 {
			t.setTimed()
		}
		t.loose = t.loose || doubt || s.bounded || passing && (t.negated || len(t.ends) > 0)
		t.listed = t.listed || s.lists && i+1 < len(list) && !c.goesOn(list[i+1].words)
		if len(t.nouns) > 0 {
			out = append(out, t)
		}
	}
	return out
}

// leavesAll reports whether a fact ends nothing, as its words are uncertain, pass or take back what it says.
func (c *claim) leavesAll(all english.Words) bool {
	return all.Has("if") || all.Has("?") || c.reach.fleeting || endsNothing(all)
}

// deny notes what a clause that begins with "not" denies: "the desk is 160 cm wide, not 140".
func (t *theme) deny(ws english.Words) {
	t.not = append(t.not, stemsOf(ws)...)
	named := len(ws) > 1 && len(ws) < 4 && ws[len(ws)-1].Upper && t.named != "" // "studies in Szeged, not in Pécs"
	if dayOrNumber(ws[1:]) || named {
		t.addOld(ws[1:], nil)
	}
	if named {
		t.now, t.sameVerb = append(t.now, t.named), true
	}
}

// tellsOfSpeaker reports whether a clause that begins with w is about the speaker or theirs: "no more gluten".
func tellsOfSpeaker(w string) bool {
	return w == "i" || w == "we" || w == "my" || w == "our" || w == "no"
}

// setTimed notes that a time stands before the subject of a clause. "On Mondays I drink no coffee any more" leaves the
// other days, so it ends nothing, and "in May we fly to Iceland" is a plan.
func (t *theme) setTimed() {
	t.narrow = true
	t.pending = t.pending || goings.Has(t.verb)
	t.loose = t.loose || t.negated || t.again
}

// withoutDates is ws without the dates that notes add, whose marks go to the words before them.
func withoutDates(ws english.Words) (out english.Words) {
	for _, w := range ws {
		last := len(out) - 1
		switch {
		case !isDate(w.Text), len(w.Text) == 4 && !isYear(w.Text): // "port 8080"
			out = append(out, w)
		case last >= 0 && out[last].Stop == 0:
			out[last].Stop = w.Stop
		}
	}
	return out
}

// timeBefore is the number of words of a time before the subject of a clause: "in August I…", "Tuesdays we…". It is 0
// if the clause begins with anything else.
func timeBefore(ws english.Words) int {
	for k := 0; k+2 < min(len(ws), maxOpening); k++ {
		w := ws[k].Text
		switch {
		case w == "i" || w == "we" || w == "my" || w == "our":
			return k
		case !inAny(w, english.DateWords, english.WeakDateWords, english.Articles, seasons, timeStarts) &&
			!inAny(singular(w), english.DateWords, english.Periods) && !english.StartsWithDigit(w):
			return 0
		}
	}
	return 0
}

// withoutAfterAll is ws with "anymore" for "after all", as "after" would begin a clause.
func withoutAfterAll(ws english.Words) english.Words {
	for i := len(ws) - 2; i > 0; i-- {
		if ws[i].Text == "after" && ws[i+1].Text == "all" {
			ws[i].Text = "anymore"
			ws = slices.Delete(ws, i+1, i+2)
		}
	}
	return ws
}

// maxThemeSubject bounds the words of a subject.
const maxThemeSubject = 6

// themeSubject tells whose clause ws is. Subject are the words of a thing that is the subject: of "the wedding is on
// 12 May" and of "my sister's wedding was moved", which is the sister's. If a doctor or a landlord changes a thing of
// the speaker's ("they moved my appointment"), it is read as if the speaker had done it.
func (c *claim) themeSubject(ws english.Words, first bool) (o owner, subject, predicate english.Words, ok bool) {
	if len(ws) < 2 {
		return "", nil, nil, false
	}
	w := ws[0].Text
	if w == "no" && ws[1].Text == "more" {
		return "", nil, ws, true
	}
	if o, rest, ok := c.frameSubject(ws, first); ok && len(rest) > 0 {
		if !officials.Has(string(o)) {
			if themeSetters.Has(rest[0].Text) && (rest.At(1) == "my" || rest.At(1) == "our") {
				o = "" // "Anna moved our meeting"
			}
			return o, nil, rest, true
		}
		if beginsPredicate(rest, 0) { // otherwise it is a thing: "my dentist appointment"
			return "", nil, rest, !isBe(rest[0].Text) && (rest.Any(speakersOwn) || rest.Has("the"))
		}
	}
	if w == "my" || w == "our" || w == "the" || ws[0].Upper && !inAny(w, english.Pronouns, english.StopWords) {
		return thingSubject(ws)
	}
	_, n := matchEnd(themeEnders, ws, 0)
	switch {
	case officials.Has(w) && len(ws) > 2 && ws.Any(speakersOwn):
		return "", nil, ws[1:], true
	case n > 0, c.elidedPredicate(ws):
		return "", nil, ws, true
	}
	return "", nil, nil, false
}

// thingSubject reads a subject that is a thing, or a person that is no relation of the tables: "my kids".
func thingSubject(ws english.Words) (o owner, subject, predicate english.Words, ok bool) {
	from := 0
	if w := ws[0].Text; w == "my" || w == "our" || w == "the" {
		from = 1
		if noun, short := strings.CutSuffix(ws[1].Text, "'s"); short && relation(noun) != "" {
			o, from = owner(relation(noun)), 2
		}
	}
	for k := from; k < min(len(ws), maxThemeSubject); k++ {
		x := ws[k].Text
		if k > from && beginsPredicate(ws, k) {
			// "The landlord raised the rent" is told of the speaker's.
			_, n := matchEnd(themeEnders, ws, k)
			sets := officials.Has(ws[k-1].Text) && (themeSetters.Has(x) || n > 0 && ws[k:].Any(speakersOwn))
			if sets && n > 0 {
				return "", nil, ws[k:], true // "the surgeon canceled my operation"
			}
			if noun := singular(ws[k-1].Text); persons.Has(noun) && o == "" && !sets {
				return owner(noun), nil, ws[k:], true
			}
			return o, ws[from:k], ws[k:], true
		}
		if strings.HasSuffix(x, "'s") || english.Pronouns.Has(x) || possessives.Has(x) || x == "i" {
			break // somebody else's
		}
	}
	return "", nil, nil, false
}

// beginsPredicate reports whether a predicate begins at ws[k], behind a subject.
func beginsPredicate(ws english.Words, k int) bool {
	x := ws[k].Text
	_, n := matchEnd(themeBefalls, ws, k)
	fromAll := x == "over" && ws.At(k-1) == "all" // "come from all over"
	return n > 0 && !fromAll || isBe(x) || pastBe.Has(x) || themeSetters.Has(x) || english.Past(x) ||
		negations.Has(x) || inAny(x, english.Auxiliaries) || isVerbOfValue(x) ||
		// "The house plants are dead" has its verb behind.
		strings.HasSuffix(x, "s") && thirdPerson(x) && !isBe(ws.At(k+1)) && !pastBe.Has(ws.At(k+1))
}

// thirdPerson reports whether w is a form of a verb behind a noun: "leaves".
func thirdPerson(w string) bool {
	for lemma, form := range inflections[w] {
		if form&presentForm != 0 && lemma != w && lemma != "work" && lemma != "key" {
			return true
		}
	}
	return false
}

// themeOf reads a clause with a subject and a predicate.
func themeOf(o owner, subject, ws english.Words) (t theme) {
	t = theme{owner: o, target: -1}
	turned := false
	if o != "" && len(subject) == 0 {
		ws, turned = tasteAsSpeaker(ws)
	}
	t.cued = themeCues.Found(ws) || subject.Has("new") || turned
	for i := range ws {
		t.readWord(ws, i)
	}
	t.anymore = t.anymore || t.negated && ws.Has("now")
	verb := themeVerbAt(ws)
	t.readVerb(subject, ws, verb)
	t.readTime(ws)
	t.findOld(subject, ws, verb)
	if t.taste = tasteOf(ws); len(subject) > 0 && !subject.Any(bodies) {
		t.taste = 0 // "my kids love olives"
	}
	t.findEnds(subject, ws)
	// "I'm off coffee until Sunday" passes, but "the operation is put off until May" tells of another day.
	t.loose = t.loose || slices.Contains(t.ends, "quit") && !slices.Contains(t.ends, "cancel") &&
		(ws.Has("until") || ws.Has("till"))
	ws = t.withoutReceiver(ws)
	lasts := func(kind string) bool { return kind != "quit" && kind != "bored" }
	t.loose = t.loose || ws.Has("today") && !slices.ContainsFunc(t.ends, lasts) // "no more tea for me today"
	for i := range ws {
		// "I sold the bike last night", but "I wasn't hungry last night".
		t.loose = t.loose || justNow(ws, i) && (t.target == subjectEnds && slices.Contains(t.ends, "cancel") ||
			!slices.ContainsFunc(t.ends, lasts))
	}
	t.findNouns(subject, ws, verb)
	t.boundEnd(ws)
	t.addImplied(ws)
	t.values = themeValues(append(slices.Clone(subject), ws...))
	t.words = append(stemsOf(subject), stemsOf(ws)...)
	for i := range t.nouns {
		t.words = append(t.words, t.nouns[i].stem)
	}
	for _, w := range append(slices.Clone(subject), ws...) {
		t.raw = append(t.raw, w.Text)
	}
	return t
}

// readWord reads what the word at i says of its clause: that it is denied, or so again, or not certain.
func (t *theme) readWord(ws english.Words, i int) {
	w, next, before := ws[i].Text, ws.At(i+1), ws.At(i-1)
	longer := next == "more" || next == "longer"
	if then := ws.At(i + 2); w == "no" && longer && (then == "just" || then == "only") {
		return // it goes on beside something else
	}
	switch {
	case w == "anymore", w == "any" && longer, w == "no" && next == "longer":
		t.anymore = true
		t.negated = t.negated || w == "no"
	case w == "not" && next == "to": // "was told not to slack off"
	case w == "no" && !longer, negations.Has(w), w == "never":
		t.negated = true
		if w == "not" && i > 0 && stopsClause(ws[i-1].Stop) {
			t.not = append(t.not, stemsOf(ws[i+1:min(len(ws), i+4)])...)
		}
	case w == "again":
		t.again = true
	case monthNumbers.Of(next) != "" && w == "late": // "late March"
	case w == "may" && (english.StartsWithDigit(before) || english.StartsWithDigit(next) || ofMonth.Has(before) ||
		before == "of" && ordinals.Of(ws.At(i-2)) != ""):
		// the month
	case w == "weekend" && (ws.At(i-2) == "over" || before == "last"): // when it happened
	case passesAt(ws, i):
		t.loose = true
	}
}

// passesAt reports whether the word at i makes a clause one that is not certain or passes: "last night", "this week".
func passesAt(ws english.Words, i int) bool {
	w, next, before := ws[i].Text, ws.At(i+1), ws.At(i-1)
	return uncertain.Has(w) && !intents.Has(w) || passing.Has(w) || fleetingTimes.Has(w) ||
		w == "this" && english.Periods.Has(next) && before != "of" && before != "since" && // "as of this month" lasts
			!justNow(ws, i)
}

// themeVerbAt is the place of the verb: behind auxiliaries, denials and adverbs.
func themeVerbAt(ws english.Words) int {
	verb := 0
	for verb+1 < len(ws) {
		w := ws[verb].Text
		going := isBe(w) && endsInIng(ws.At(verb+1+skipped(ws[verb+1:])))
		helps := ladder.Has(w) && !isBe(w) && !holdsThing(ws[verb:])
		if !going && !helps && !negations.Has(w) && !frontAdverbs.Has(w) {
			break
		}
		verb++
	}
	return verb
}

// readVerb reads what the verb and the words before it say: when it is, and whether it is a plan or a possession.
func (t *theme) readVerb(subject, ws english.Words, verb int) {
	v, before := ws[verb].Text, ws[:verb]
	perfect := before.Has("have") || before.Has("has") || before.Has("been")
	was := english.Past(v) && !(v == "got" && verb > 0) || pastBe.Has(v) && len(subject) == 0 || v == "used" ||
		v == "had"
	t.past = before.Has("did") || before.Has("had") || !perfect && was
	t.pending = ws.Any(pending) || subject.Any(pending) || len(subject) > 0 && (ws.Has("on") || ws.Has("in"))
	t.readTask(subject, ws, verb)
	t.verb, t.owns, t.seeks = v, owning.Has(v), ws.Any(seeking) && !ws.Has("more") // one found leaves those
	for i := 0; i < min(len(ws), 4); i++ {
		w := ws[i].Text
		t.set = t.set || themeSetters.Has(w)
		t.moved = t.moved || themeMovers.Has(w)
		t.changed = t.changed || changers.Has(w) && possessives.Has(ws.At(i+1))
	}
}

// readTime reads whether a clause is bounded in time: "in summer" leaves a taste as it is else, "for a week" passes.
func (t *theme) readTime(ws english.Words) {
	t.narrow = forNow(ws)
	for i, w := range ws {
		if i > 0 && reasons.Has(w.Text) && w.Text != "either" { // "don't like tea either that strong"
			t.narrow = t.narrow || ws[i:].StartWith("now", "that")
			break // "since that jar"
		}
		// "Not" belongs to the verb: "I can not stand olives". One of several bounds: "I can not stand that cat".
		one := w.Text == "this" || w.Text == "that" || w.Text == "those"
		t.narrow = t.narrow || one || w.Text != "not" && inAny(w.Text, seasons, boundingModifiers) ||
			i > 2 && servedAs.Has(w.Text) || english.DateWords.Has(singular(w.Text))
	}
	t.loose = t.loose || forMonth(ws) || ws.Has("for") && ws.Any(shortSpans) ||
		t.negated && !t.anymore && (ws.Has("will") || ws.Has("would"))
}

// boundEnd bounds an end to one day ("is off this Sunday"), to a walk out of a door and to school days.
func (t *theme) boundEnd(ws english.Words) {
	// "Finished renovating the attic", "stopped listening to crime podcasts": the end is of all of it.
	if at := t.target; at >= 0 && at+1 < len(t.nouns) && t.nouns[at].activity && !t.nouns[at+1].marked {
		next := &t.nouns[at+1]
		for _, stem := range append(slices.Clone(next.mods), next.stem) {
			t.nouns[at].behindIt = append(t.nouns[at].behindIt, behind{"of", stem})
		}
	}
	for i := range ws {
		w, next := ws[i].Text, ws.At(i+1)
		if t.target >= 0 && (w == "this" || w == "next") && english.DateWords.Has(next) {
			t.nouns[t.target].apart = append(t.nouns[t.target].apart, next)
		}
		schooled := (w == "in" || w == "at") && schools.Has(next) && t.past
		t.loose = t.loose || len(t.ends) > 0 && schooled
	}
	t.loose = t.loose || len(t.ends) > 0 && leavesPlace(ws)
}

// addImplied adds the nouns that a clause has in other words: "flying to Tokyo" is a trip, and who is called
// something has a name. It also notes the one name that the clause gives.
func (t *theme) addImplied(ws english.Words) {
	names := 0
	for i := range t.nouns {
		if n := &t.nouns[i]; n.name && !n.subject {
			t.named = n.stem
			names++
		}
	}
	if names != 1 {
		t.named = ""
	}
	for i := 0; i+2 < len(ws); i++ {
		if goings.Has(ws[i].Text) && ws[i+1].Text == "to" && ws[i+2].Upper {
			n := themeNoun{stem: "trip"}
			for _, stem := range stemsOf(ws[i+2 : i+3]) {
				n.behindIt = append(n.behindIt, behind{"to", stem})
			}
			t.addNoun(n)
		}
	}
	if ws.Any(called) {
		t.addNoun(themeNoun{stem: nameStem})
	}
	for i := 1; i < len(ws); i++ {
		if ws[i].Text == "married" && (ws[i-1].Text == "getting" || ws[i-1].Text == "get") {
			t.addNoun(themeNoun{stem: themeStem("wedding")})
		}
	}
}

// subjectEnds says that the subject of a clause is the thing that ends.
const subjectEnds = -2

// findEnds finds the kinds of an end, and sets target to subjectEnds, or else to the word from which on the thing
// stands.
func (t *theme) findEnds(subject, ws english.Words) {
	switch {
	case ws.StartWith("no", "more"):
		t.ends, t.target = []string{"quit", "bored"}, 2
	case len(subject) > 0:
		t.findBefallen(subject, ws)
	case tookPlace(ws):
		t.ends, t.target = []string{"complete"}, 2
	default:
		if !t.negated {
			t.findParted(ws)
		}
		for i := 0; i < min(len(ws), 6) && len(t.ends) == 0; i++ {
			kinds, n := matchEnd(themeEnders, ws, i)
			if n > 0 && (!t.negated || slices.Contains(kinds, "bored")) && ws.At(i+n) != "to" && // "stopped to watch"
				ws.At(i+n) != "alone" && !stopsClause(ws[i+n-1].Stop) &&
				!ws[min(i+n, len(ws)):min(i+n+2, len(ws))].Any(piecemeal) { // "finished playing some of the game"
				t.ends, t.target = kinds, i+n
			}
		}
	}
}

// findBefallen reads what ends the subject: "the interview was canceled", but not "Spotify canceled the show".
func (t *theme) findBefallen(subject, ws english.Words) {
	for i := 0; i < min(len(ws), 5) && !t.negated && !byPerson(subject, ws); i++ {
		kinds, n := matchEnd(themeBefalls, ws, i)
		// "My friends come from all over" has another verb.
		before := ws.At(i - 1)
		follows := i == 0 || isBe(before) || pastBe.Has(before) || before == "all" && isBe(ws.At(i-2)) ||
			before == "got" || before == "been" || before == "put" ||
			inAny(before, english.Adverbs, english.Auxiliaries, frontAdverbs)
		if n == 0 || !follows {
			continue
		}
		if rest := ws[i+n:]; len(rest) == 0 || stopsClause(ws[i+n-1].Stop) || ends(rest[0]) {
			t.ends, t.target = kinds, subjectEnds
		}
		return
	}
}

// findParted reads verbs whose particle stands behind the thing: "gave the piano away".
func (t *theme) findParted(ws english.Words) {
	for i := 0; i < min(len(ws), 4); i++ {
		for _, v := range themeParts[ws[i].Text] {
			for k := i + 2; k < min(len(ws), i+6) && !stopsClause(ws[k-1].Stop); k++ {
				// "Passed my test on the first try" hands on nothing.
				next := ws.At(k + 1)
				if ws[k].Text == v.words[1] && !english.Articles.Has(next) && !possessives.Has(next) {
					t.ends, t.target = append(t.ends, v.kind), i+1
				}
			}
		}
		if handsOver(ws, i) {
			t.ends, t.target = append(t.ends, "part"), i+1
		}
	}
}
