package canonical

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// A change often names what it leaves: "I switched from Sublime Text to Helix", "oat milk instead of cow's milk",
// "Brooks are out, Hokas are in". The older statement says in any words what the speaker had chosen: "My editor is
// Sublime Text", "I put cow's milk in my coffee", "Our electricity comes from Enpower". A choice is the attribute that
// both share: a loose claim of what somebody has chosen, which only a change that names it ends.
//
// Both must name the same thing in full, and the change must be of no other circumstance: who has "oat milk in my tea
// instead of cow's milk" says nothing of the coffee. What is not chosen, such as a mother tongue, a home or what
// somebody is allergic to, is no choice.

// choiceAttribute begins the attribute of what somebody has chosen.
const choiceAttribute = "choice of "

var (
	suppliedBy  = frameTables.Phrases("supplied-by")
	swapping    = frameTables.Phrases("swapping")
	choiceLinks = frameTables.Words("choice-links")
	unchosen    = frameTables.Words("unchosen")
	givenNouns  = frameTables.Words("given-nouns")
	partsOfDay  = frameTables.Words("parts-of-day")
	groups      = frameTables.Words("groups")
	movingOver  = frameTables.Words("moving-over")
	swapLinks   = frameTables.Words("swap-links")
	swapBounds  = frameTables.Words("swap-bounds")
	othersOwn   = frameTables.Words("others-own")
	occasions   = frameTables.Words("occasions")
	causes      = frameTables.Words("causes")
	mealNames   = frameTables.Words("meal-names")
)

// How an older statement names a choice:
//
//   - the object of a verb of the speaker's, without a determiner: "I put cow's milk in my coffee";
//   - the name behind such an object: "I wash my hair with Pantene";
//   - the name that a thing of the speaker's is or comes from: "Our electricity comes from Enpower".
//
// A town, a language, a person with a name and a day are none of these.

// choices are what a clause tells that the speaker has chosen, each with its circumstances.
func (c *claim) choices(ws english.Words) []Claim {
	ws = ws[openingTime(ws):] // "since May I keep my notes in Obsidian"
	if ws.Any(negations) || ws.Any(uncertain) || ws.Any(othersOwn) || len(ws) < 3 {
		return nil
	}
	switch ws[0].Text {
	case "i", "we":
		if ws[1:].StartWith("go", "to") && len(ws) > 3 {
			if out := c.choiceBefore(ws[3:], "on"); out != nil {
				return out
			}
			return c.chosenBehind(ws[4:], true)
		}
		if ws[1].Text == "have" && ws.Has("for") && !ws.Has("instead") {
			return c.choiceBefore(ws[2:], "for")
		}
		return c.chosenBy(ws)
	case "my", "our":
		return c.chosenThing(ws)
	}
	return nil
}

// openingTime is the number of words of a time before the subject: "these days", "since January".
func openingTime(ws english.Words) int {
	if w := ws.At(0); w == "since" || w == "from" {
		if n := timeBefore(ws[1:]); n > 0 {
			return n + 1
		}
	}
	return timeBefore(ws)
}

// chosenBy reads "I put cow's milk in my coffee" and "I plan my week in Todoist": the object, or the name behind it.
func (c *claim) chosenBy(ws english.Words) []Claim {
	verb := 1
	for verb+1 < len(ws) && (english.Adverbs.Has(ws[verb].Text) || frontAdverbs.Has(ws[verb].Text)) {
		verb++
	}
	w, next := ws[verb].Text, ws.At(verb+1)
	if isBe(w) && (next == "with" || next == "on") || w == "have" && !english.Past(next) {
		return c.chosenBehind(ws[min(verb+1, len(ws)):], true) // "we're with Vodafone", "an account with ING"
	}
	light := w == "get" || w == "take" || w == "do"
	known := inAny(w, unchosen, english.Auxiliaries, english.StopWords) || w == "have"
	if english.Past(w) && !bothTenses(w) || verb+1 >= len(ws) || known && !light || endsInIng(w) {
		return nil
	}
	rest := ws[verb+1:]
	if isNumber(rest[0].Text) && rest.At(2) == "of" && servings.Has(singular(rest.At(1))) && len(rest) > 3 {
		rest = rest[3:] // "3 spoons of sugar"
	}
	for n := min(len(rest), maxSlotWords); n > 0; n-- {
		doing := n == 1 && endsInIng(rest[0].Text) // "quit smoking"
		if !doing && rest[0].Text != "the" && !possessives.Has(rest[0].Text) &&
			c.namesChoice(rest[:n], withoutRate(rest[n:])) {
			// "I take notes in Evernote" has two of them.
			return append(c.choice(rest[:n], withoutRate(ws[verb+1+n:])), c.chosenBehind(rest[n:], true)...)
		}
	}
	return c.chosenBehind(rest, false)
}

// Behind "with" or right behind the verb a thing needs no capital, as there it is what is used: "heat with oil". Behind
// another thing it does: "take notes in class" tells where, and "in Evernote" with what.

// chosenBehind reads the name behind a link: "on Duolingo", "the books in QuickBooks". Right behind the verb any thing
// may be one, unless named: "heat with oil", "photograph on film".
func (c *claim) chosenBehind(ws english.Words, named bool) []Claim {
	for i := range ws {
		if !choiceLinks.Has(ws[i].Text) || i+1 == len(ws) {
			continue
		}
		for n := min(len(ws)-i-1, maxSlotWords); n > 0; n-- {
			v, rest := ws[i+1:i+1+n], ws[i+1+n:]
			plain := !named && (ws[i].Text == "with" || i == 0 && !timeWord(v[0].Text))
			if (c.capital(v[0]) || plain) && !inAny(v[0].Text, possessives, english.Articles) &&
				c.namesChoice(v, withoutRate(rest)) {
				return c.choice(v, append(ws[:i:i], withoutRate(rest)...))
			}
		}
	}
	return nil
}

// withoutRate is ws, or nothing if it begins with how often something is done or an adverb that ends the clause: "three
// times a week", "only".
func withoutRate(ws english.Words) english.Words {
	often := recurring.Has(ws.At(0)) || ws.At(0) == "every" || isNumber(ws.At(0)) && singular(ws.At(1)) == "time"
	closes := len(ws) > 0 && english.Adverbs.Has(ws[0].Text) && (len(ws) == 1 || stopsClause(ws[0].Stop))
	if often || closes {
		return nil
	}
	return ws
}

// choiceBefore reads "pilates on Wednesday evenings" behind "go to", and "porridge for breakfast" behind "have": what
// stands before the word link and a time or a meal.
func (c *claim) choiceBefore(ws english.Words, link string) []Claim {
	for n := min(len(ws)-1, maxSlotWords); n > 0; n-- {
		rest := ws[n:]
		timed := link == "on" && (rest[0].Text == "on" || activityTimes.Has(rest[0].Text))
		meal := link == "for" && rest[0].Text == "for" && mealNames.Has(rest.At(1))
		if (timed || meal) && c.namesChoice(ws[:n], rest) {
			return c.choice(withoutArticle(ws[:n]), rest)
		}
	}
	return nil
}

// chosenThing reads "My editor is Sublime Text" and "Our electricity comes from Enpower".
func (c *claim) chosenThing(ws english.Words) []Claim {
	for k := 2; k < min(len(ws)-1, maxNounWords); k++ {
		if stopsClause(ws[k-1].Stop) || strings.HasSuffix(ws[k-1].Text, "'s") {
			return nil
		}
		n := suppliedBy.Match(ws, k)
		runs := runsOn.Match(ws, k)
		if n == 0 && isBe(ws[k].Text) {
			n = 1
		}
		n = max(n, runs)
		if n == 0 || k+n >= len(ws) {
			continue
		}
		person := func(w string) bool { return relation(singular(w)) != "" || persons.Has(singular(w)) }
		program := softwareManagers.Has(ws.At(k - 2))
		if ws[1:k].Any(givenNouns) || person(ws[1].Text) || person(ws[k-1].Text) && !program { // "my sisters editor"
			return nil
		}
		rest := ws[k+n:]
		if bare := withoutArticle(rest); runs > 0 || len(bare) > 0 && c.capital(bare[0]) {
			rest = bare // "our house runs on an oil boiler", "my laptop is a ThinkPad"
		}
		for m := min(len(rest), maxSlotWords); m > 0; m-- {
			first := rest[0].Text
			named := m > 1 || c.capital(rest[0]) || runs > 0 // "my flat is small"
			plain := named && !english.Articles.Has(first) && !endsInIng(first) && !strings.ContainsAny(first, "@/")
			if plain && c.namesChoice(rest[:m], rest[m:]) {
				return c.choice(rest[:m], append(ws[1:k:k], rest[m:]...))
			}
		}
		return nil
	}
	return nil
}

// namesChoice reports whether ws, which rest follows, names a thing that somebody may choose: no town, no person, no
// day.
func (c *claim) namesChoice(ws, rest english.Words) bool {
	last := ws[len(ws)-1].Text
	return len(c.thingNames(ws, rest)) > 0 && !ws.Any(changeWords) && !givenNames.Has(ws[0].Text) &&
		!c.namesPlace(ws) &&
		!inAny(last, english.DateWords, english.Periods, english.Evaluative, english.Moods, english.Adverbs) &&
		!english.StartsWithDigit(ws[0].Text) && last != "dr"
}

// bothTenses reports whether a verb has one form for the present and the past: "put".
func bothTenses(w string) bool { return inflections[w][w] == presentForm|pastForm }

// namesPlace reports whether ws is a town, a country or a language that the tables have.
func (c *claim) namesPlace(ws english.Words) bool {
	text := ws.String()
	return isTown(text) || inAny(text, countries, longCountries, languages)
}

// choice is the claim that the speaker has chosen ws, in the circumstances that the words around it name.
func (c *claim) choice(ws, around english.Words) []Claim {
	name := c.thingNames(ws, nil)
	if len(name) == 0 {
		return nil
	}
	out := []Claim{{
		Attribute: choiceAttribute + name[0], Value: held, Several: true, Loose: true, scope: circumstances(around),
	}}
	// "The Samsung" is the Samsung phone that was spoken of.
	if head := headOf(ws); len(head) > 1 && c.capital(head[0]) && !c.capital(head[len(head)-1]) {
		maker := out[0]
		maker.Attribute = choiceAttribute + head[0].Text
		out = append(out, maker)
	}
	// "The IUD" is the copper IUD that was spoken of.
	if last := lastWord(name[0]); last != name[0] && !c.capital(ws[0]) || ws[0].Text == "the" {
		definite := out[0]
		definite.Attribute = choiceAttribute + "the " + last
		out = append(out, definite)
	}
	return out
}

// Times are no circumstances, as a choice lasts: "now" and "in April" tell when it changed. A day of every week is one.
// A reason is none, since who changed "mainly to save money" changed altogether. A word that is no noun, such as a
// verb, does no harm: it makes the change narrower, so that it ends less.

// circumstances are the nouns of the words around a choice, with a blank before each: " coffee morning". A reason is
// none.
func circumstances(ws english.Words) string {
	var b strings.Builder
	for i, w := range ws {
		if causes.Has(w.Text) || i > 0 && stopsClause(ws[i-1].Stop) && !english.Prepositions.Has(w.Text) {
			break
		}
		if determined := i > 0 && inAny(ws[i-1].Text, english.Articles, possessives); english.StopWords.Has(w.Text) &&
			!determined {
			continue
		}
		if day := singular(w.Text); english.DateWords.Has(day) && monthNumbers.Of(day) == "" &&
			(day != w.Text || partsOfDay.Has(singular(ws.At(i+1)))) {
			b.WriteString(" " + day) // "on Sundays"
			continue
		}
		if inAny(w.Text, english.Prepositions, english.Articles, english.Adverbs, possessives, timeFillers) ||
			inAny(w.Text, changeWords, reasons, seasons, english.Fillers) || isDate(w.Text) ||
			inAny(singular(w.Text), english.DateWords, english.Periods) {
			continue
		}
		b.WriteString(" " + baseForm(w.Text))
	}
	return b.String()
}

// inCircumstances reports whether each circumstance of a change is one of the choice that it may end. A change without
// any means every one.
func (c *Claim) inCircumstances(o *Claim) bool {
	return within(strings.Fields(c.scope), strings.Fields(o.scope))
}

// How a later statement names what it leaves:
//
//   - behind a verb of going over: "I moved my blog from Blogger to Ghost";
//   - behind a verb of giving up, with what takes its place: "I gave up Wise for Revolut";
//   - behind "instead of", in the present: "I had tea instead of coffee" may have been so once.
//
// Words such as "today", "for a week" and "back" tell of a change that passes or is over, so they leave no end.

// left gives the ends of choices that a clause of the speaker's names.
func (c *claim) left(ws english.Words) []Claim {
	opening := openingTime(ws)
	if slices.ContainsFunc(ws[:opening], func(w english.Word) bool { return english.StartsWithDigit(w.Text) }) {
		return nil // "in 2015 I switched"
	}
	if ws = ws[opening:]; len(ws) < 4 || ws.Any(othersOwn) || c.leavesForAWhile(ws) {
		return nil
	}
	if ws[0].Text == "our" && len(ws) > 4 && groups.Has(ws[1].Text) {
		ws = ws[1:] // "our team switched from Java to Kotlin"
	} else if w := ws[0].Text; w != "i" && w != "we" {
		return nil
	}
	verb := 1
	for verb+1 < len(ws) && (ladder.Has(ws[verb].Text) || frontAdverbs.Has(ws[verb].Text)) && !isBe(ws[verb].Text) {
		if (ws[verb].Text == "have") && !english.Past(ws[verb+1].Text) && !ladder.Has(ws[verb+1].Text) {
			break // "I have oat milk"
		}
		if ws[verb].Text == "do" && !negations.Has(ws[verb+1].Text) {
			break // "I do pottery"
		}
		verb++
	}
	if n := swapping.Match(ws, verb); n > 0 {
		return c.leftFor(ws[verb+n:], nil)
	}
	if movingOver.Has(ws[verb].Text) {
		for k := verb + 1; k < min(len(ws), verb+maxSlotWords); k++ {
			if ws[k].Text == "from" {
				return c.leftFrom(ws[k+1:], ws[verb+1:k])
			}
		}
		return nil
	}
	return c.insteadOf(ws, verb)
}

// leavesForAWhile reports whether a change passes, is bound to some times, or is none at all.
func (c *claim) leavesForAWhile(ws english.Words) bool {
	for i := range ws { // "for a week", "this month"
		if ws[i].Text == "for" && i+1 < len(ws) && namesSpan(ws[i+1:]) || ws[i].Text == "this" {
			return true
		}
	}
	return ws.Any(uncertain) || ws.Any(negations) || withoutPastHoliday(ws).Any(swapBounds) || forMonth(ws) ||
		c.fact.Any(occasions) // "when I'm in Berlin"
}

// withoutPastHoliday is ws up to "over the holidays", which tells when something changed.
func withoutPastHoliday(ws english.Words) english.Words {
	for i := range ws {
		if w := ws[i].Text; (w == "over" || w == "during") && ws.At(i+1) == "the" {
			return ws[:i]
		}
	}
	return ws
}

// Whoever says "from X to Y" leaves no doubt that X was theirs. So what takes its place may be told in any words: "from
// film to a Fuji", "from Duolingo to an evening class", "from gas to whatever is cheap".

// leftFrom reads "film to a Fuji X-T5" behind "switched from", with the words before it. Whatever takes the place of
// what was left, it is some thing.
func (c *claim) leftFrom(ws, before english.Words) []Claim {
	for k := 1; k < min(len(ws)-1, maxSlotWords); k++ {
		if ws[k].Text != "to" && ws[k].Text != "into" {
			continue
		}
		gone, to := ws[:k], ws[k+1:]
		for len(gone) > 1 && inAny(gone[0].Text, english.Articles, possessives) {
			gone = gone[1:]
		}
		if english.StartsWithDigit(to[0].Text) || english.Pronouns.Has(to[0].Text) || !c.namesChoice(gone, nil) {
			return nil
		}
		rest := english.Words(nil)
		for n := range to {
			if n > 0 && english.Prepositions.Has(to[n].Text) {
				rest = withoutPastHoliday(to[n:])
				break
			}
		}
		return c.choiceGone(gone, append(before[:len(before):len(before)], rest...), rest)
	}
	return nil
}

// leftFor reads "Wise for Revolut" behind a verb of changing, with the words before it: "my blog".
func (c *claim) leftFor(ws, before english.Words) []Claim {
	for k := 1; k < min(len(ws)-1, maxSlotWords); k++ {
		if !swapLinks.Has(ws[k].Text) {
			continue
		}
		gone := ws[:k]
		for n := min(len(ws)-k-1, maxSlotWords); n > 0; n-- {
			to, rest := ws[k+1:k+1+n], ws[k+1+n:]
			// "I left Monzo for lunch" names nothing that takes its place.
			other := hasCapitals(c.text) && c.capital(gone[0]) != c.capital(to[0]) && !english.Articles.Has(to[0].Text)
			if english.StartsWithDigit(to[0].Text) || !c.namesChoice(gone, nil) || !c.namesChoice(to, rest) || other {
				continue
			}
			return c.choiceGone(gone, append(before[:len(before):len(before)], rest...), rest)
		}
	}
	return nil
}

// insteadOf reads "have oat milk in my coffee instead of cow's milk", in the present.
func (c *claim) insteadOf(ws english.Words, verb int) []Claim {
	w := ws[verb].Text
	now := ws.Has("now") || ws.Has("nowadays") || changeMarks.Found(ws)
	// "Since May I have kept my notes in Obsidian instead of Notion" still holds.
	lasting := verb > 1 && ws[verb-1].Text == "have" && (c.changed || c.fact.Has("since"))
	if english.Past(w) && !(now && bothTenses(w)) && !lasting || endsInIng(w) {
		return nil
	}
	for i := verb + 2; i+2 < len(ws); i++ {
		if of := ws[i+1].Text; !(ws[i].Text == "instead" && of == "of" || ws[i].Text == "rather" && of == "than") {
			continue
		}
		gone := ws[i+2:]
		for len(gone) > 1 && changeWords.Has(gone[len(gone)-1].Text) {
			gone = gone[:len(gone)-1]
		}
		for n := min(len(gone), maxSlotWords); n > 0; n-- {
			rest := gone[n:]
			if c.namesChoice(gone[:n], rest) {
				return c.choiceGone(gone[:n], append(c.besideChoice(ws[verb+1:i]), rest...), rest)
			}
		}
	}
	return nil
}

// besideChoice are the words around what takes the place of another thing: "in my coffee" of "oat milk in my coffee",
// "my hair" of "my hair with Lush".
func (c *claim) besideChoice(ws english.Words) english.Words {
	determined := len(ws) > 0 && inAny(ws[0].Text, english.Articles, possessives)
	for i := len(ws) - 1; i > 0 && determined; i-- {
		if choiceLinks.Has(ws[i].Text) {
			return ws[:i:i]
		}
	}
	for i := range ws {
		if i > 0 && english.Prepositions.Has(ws[i].Text) && ws[i].Text != "of" {
			last := ws[len(ws)-1]
			if hasCapitals(c.text) && c.capital(last) && !english.DateWords.Has(singular(last.Text)) &&
				!c.namesPlace(english.Words{last}) {
				return nil // "the chapel on Quarry Lane"
			}
			return ws[i:len(ws):len(ws)]
		}
	}
	return nil
}

// choiceGone is the end of a choice in the circumstances that the words around it name; rest may have its time.
func (c *claim) choiceGone(gone, around, rest english.Words) []Claim {
	out := c.choice(gone, around)
	for i := range out {
		out[i].Ended, out[i].Loose, out[i].Several = true, false, false
	}
	return (&variant{time: timeWords(rest)}).dates(out)
}

// outAndIn reads "Brooks are out, Hokas are in".
func (c *claim) outAndIn(all english.Words) []Claim {
	for k := 1; k+3 < len(all) && k <= maxObjectWords; k++ {
		if !isBe(all[k].Text) || all[k+1].Text != "out" || !(stopsClause(all[k+1].Stop) || all[k+2].Text == "and") {
			continue
		}
		rest := all[k+2:]
		if rest[0].Text == "and" {
			rest = rest[1:]
		}
		for n := 1; n+1 < len(rest) && n <= maxObjectWords; n++ {
			if isBe(rest[n].Text) && rest[n+1].Text == "in" && n+2 == len(rest) && c.namesChoice(all[:k], nil) &&
				c.capital(all[0]) {
				return c.choiceGone(all[:k], nil, nil)
			}
		}
	}
	return nil
}
