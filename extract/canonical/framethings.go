package canonical

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// presupposed gives what a mention tells of the speaker: who speaks of "my girlfriend" has
// one. Where somebody has another status, such a claim ends nothing.
func (c *claim) presupposed(all english.Words) []Claim {
	for i := 0; i+1 < len(all); i++ {
		w := all[i].Text
		status := couple.Of(relation(strings.TrimSuffix(all[i+1].Text, "'s")))
		compared := all.At(i-1) == "than" // "better than my partner" may be at a game
		if (w == "my" || w == "our") && status != "" && !compared && !all.Any(negations) && !all.Any(bereft) {
			out := []Claim{{Attribute: "marital status", Value: status, Several: true, Loose: true}}
			if i+2 < len(all) && all[i+2].Upper && all[i+1].Stop == 0 && c.properName(all[i+2:i+3]) != "" {
				out = append(out, Claim{
					Attribute: "partner name", Value: all[i+2].Text, Several: true, Loose: true,
				})
			}
			return out
		}
		if w == "my" && ownDwellings.Has(all[i+1].Text) && i+4 < len(all) {
			if out := c.ownDwelling(all, i+1); out != nil {
				return out
			}
		}
		// "My job at Acme" tells where somebody works, and "my account is at Acme" with whom they are.
		if w == "my" && jobNouns.Has(all[i+1].Text) && !all.Any(pastBe) && !all.Any(negations) && i+3 < len(all) &&
			(all[i+2].Text == "at" || all[i+2].Text == "with") {
			return jobAt(c, all[i+3:])
		}
		// "My two cats": how many, which only a fact that tells of a change replaces.
		if n := numberOf(all[i+1:]); (w == "my" || w == "our") && n != "" && i+2 < len(all) &&
			english.StartsWithDigit(all[i+1].Text) {
			for _, name := range c.thingNames(all[i+2:i+3], all[i+3:]) {
				return []Claim{{Attribute: "count " + name, Value: n, Several: true, Loose: true}}
			}
		}
	}
	return nil
}

// jobAt reads "Acme, which bores me" and "a travel agency" behind "my job at".
func jobAt(c *claim, ws english.Words) []Claim {
	for i := range ws { // "my job at the choir is to hold the candles" names a task
		if isBe(ws[i].Text) && ws.At(i+1) == "to" {
			return nil
		}
	}
	for n := min(len(ws), maxNameWords); n > 0; n-- {
		value := c.company(ws[:n])
		if value == "" && !goesOn(ws[:n], ws[n:]) && english.Articles.Has(ws[0].Text) {
			value = wholeObject(ws[:n])
		}
		if value != "" {
			return []Claim{{Attribute: "employer", Value: value, Several: true, Loose: true}}
		}
	}
	return nil
}

// byOther reads what somebody else does to the speaker or theirs: "they let me go", "the
// doctor raised my dose to 50 mg".
func (c *claim) byOther(ws english.Words) []Claim {
	for i := 1; i < min(len(ws)-1, maxOtherSubject); i++ {
		if english.Prepositions.Has(ws[i].Text) || negations.Has(ws[i].Text) || ws[i].Text == "i" {
			return nil
		}
		v := verbPhrase{other: true}
		if out := c.framesAt(&v, ws[min(i, len(ws)):], 0); out != nil {
			return out
		}
	}
	return nil
}

// appointed reads a thing of the speaker's and its day, number or name: "my exam is on
// 12 June", "the wedding has been moved to 9 June", "my locker is 14".
func (c *claim) appointed(ws english.Words) []Claim {
	changed := tellsChange(ws)
	if w := ws.At(0); w != "my" && w != "our" && w != "the" || doubted(ws) || ws.Any(negations) {
		return nil
	}
	// "The locker is 14" may be anybody's; a day of "the wedding" hardly is.
	mine := ws[0].Text != "the"
	if ws.At(1) == "new" {
		ws, changed = ws[1:], true
	}
	for k := 2; k < min(len(ws)-1, maxNounWords); k++ {
		n := becoming.Match(ws, k)
		if n == 0 && !isBe(ws[k].Text) {
			continue
		}
		changed = changed || n > 0
		names := c.thingNames(ws[1:k], nil)
		if len(names) == 0 {
			return nil
		}
		name := strings.TrimPrefix(names[0], "old ")
		rest := ws[k+max(1, n):]
		timed := rest
		for len(timed) > 1 && (toValue.Has(timed[0].Text) || timed[0].Text == "for" || fixed.Has(timed[0].Text)) {
			timed = timed[1:]
		}
		for m := min(len(timed), maxSlotWords); m > 0; m-- {
			if date := dateOf(timed[:m], timed[m:]); date != "" {
				if unborn.Has(lastWord(name)) && rest.Has("due") {
					return []Claim{{Attribute: dueDate, Value: date, Several: true, Changed: changed}}
				}
				return []Claim{{Attribute: "date of " + name, Value: date, Several: true, Changed: changed}}
			}
		}
		if _, n := singleAt(ws, k-1); n > 0 || !mine || relation(ws[1].Text) != "" || manyOf.Has(ws[k-1].Text) ||
			ws[1].Text == "favorite" {
			return nil
		}
		if number := numberOf(withoutCurrency(timed)); number != "" {
			kind := unitKinds.Of(singular(withoutCurrency(timed).At(1))) // "17 degrees" is no area
			name = strings.TrimRight(name+" "+strings.TrimPrefix(kind, "money"), " ")
			return []Claim{{Attribute: "number of " + name, Value: number, Several: true, Changed: changed}}
		}
		if value := c.valueOf("proper", skipToValue("proper", rest)); value != "" {
			return []Claim{{Attribute: "name of " + name, Value: value, Several: true, Changed: changed}}
		}
		return nil
	}
	return nil
}

// dueDate is the attribute of the day on which a child is due.
const dueDate = "one due date"

// doubted reports whether a word of ws makes it uncertain. Beside a number "may" is the month.
func doubted(ws english.Words) bool {
	for i, w := range ws {
		month := w.Text == "may" && (english.StartsWithDigit(ws.At(i-1)) || english.StartsWithDigit(ws.At(i+1)))
		if uncertain.Has(w.Text) && !month {
			return true
		}
	}
	return false
}

// ahead adds the day of "surgery" to that of "knee surgery", as people say "my surgery" once it is known which.
func ahead(claims []Claim) []Claim {
	for _, cl := range claims {
		name, found := strings.CutPrefix(cl.Attribute, "date of ")
		head := lastWord(name)
		if !found || cl.Ended || !oneAhead.Has(head) {
			continue
		}
		any := cl
		any.Attribute = "date of any " + head
		if name != head {
			any.Several, any.Loose, any.Changed = true, true, false
		}
		claims = append(claims, any)
	}
	return claims
}

// People name the programs and firms that they depend on with a thing of theirs as the subject, and later what they
// changed to with themselves as the subject: "I switched from Selenium to Playwright". The claim is loose: nothing but
// the end of that thing ends it.

// runsBy reads "our tests run on Selenium" and "my account is with ING": what the speaker has to do with until they
// change to something else.
func (c *claim) runsBy(ws english.Words) (out []Claim) {
	if w := ws.At(0); w != "my" && w != "our" || ws.Any(negations) || ws.Any(uncertain) {
		return nil
	}
	for k := 1; k < min(len(ws)-1, maxNounWords); k++ {
		n := accountAt.Match(ws, k)
		bank := n > 0
		if k > 1 && n == 0 {
			n = runsOn.Match(ws, k)
		}
		noun := singular(ws[k-1].Text)
		if n == 0 || k+n >= len(ws) || !bank && (relation(noun) != "" || persons.Has(noun) && noun != "team" ||
			ws[k-1].Stop != 0 || ws[1:k].Any(english.Prepositions)) {
			continue
		}
		rest := ws[k+n:]
		for m := min(len(rest), maxObjectWords); m > 0; m-- {
			names := c.thingNames(rest[:m], rest[m:])
			if len(names) == 0 || !c.capital(rest[m-1]) {
				continue
			}
			for _, name := range names {
				out = append(out, Claim{Attribute: "habit of " + name, Value: held, Loose: true})
			}
			if strings.HasPrefix(ws[k].Text, "account") {
				// A savings account is beside the one of every day, and an insurance is with no bank.
				plain := k == 1 || k == 2 && ws[1].Text == "bank"
				changed := plain && c.changed
				out = append(out, Claim{Attribute: "bank thing", Value: names[0], Several: true, Changed: changed})
			}
			return out
		}
		return nil
	}
	return nil
}

// happening reads what happens to something of the speaker's: "my job got cut".
func (c *claim) happening(ws english.Words) []Claim {
	switch w := ws.At(0); {
	case len(ws) < 3:
	case w == "my", w == "our", w == "the":
		return slices.DeleteFunc(c.framesAt(&verbPhrase{noun: true}, ws[1:], 0), func(c Claim) bool {
			return c.Attribute == "hair color" && ws.Any(pastBe)
		})
	case w == "divorce": // "Divorce from Ann became final"
		return c.framesAt(&verbPhrase{noun: true}, ws, 0)
	}
	return nil
}

// befallen reads what ends a thing of the speaker's, or turns the liking of it: "The Volvo
// finally died", "Olives have grown on me".
func (c *claim) befallen(ws english.Words) (out []Claim) {
	if ws.Any(uncertain) {
		return nil
	}
	// It may pass.
	lately := forNow(ws) || ws.Has("lately") || ws.Has("year") || ws.Has("yesterday") || ws.Any(english.DateWords)
	for k := 1; k < min(len(ws), maxSlotWords); k++ {
		at := k
		// A form of "be" belongs to what befalls it: "the trip is off".
		for at+1 < len(ws) && ladder.Has(ws[at].Text) && !isBe(ws[at].Text) && !pastBe.Has(ws[at].Text) {
			at++
		}
		rest := ws[at:]
		whole := func(tokens []token) bool {
			_, n, ok := c.match(tokens, rest)
			return ok && (n == len(rest) || ends(rest[n]))
		}
		names := c.thingNames(withoutPerception(ws[:k]), nil)
		switch {
		case len(names) == 0:
		case leavesIt(ws[k-1], rest): // "my kids drive me nuts", "my phone is dead"
		case slices.ContainsFunc(charms, whole):
			return []Claim{{Attribute: "taste of " + names[0], Value: liked, Narrow: lately}}
		case slices.ContainsFunc(repels, whole):
			return []Claim{{Attribute: "taste of " + names[0], Value: disliked, Narrow: lately}}
		case slices.ContainsFunc(demises, whole) && !byPerson(ws[:k], rest):
			// Without a determiner it must be short, or it may be about any thing: "Trains are sold".
			first := ws[0].Text
			if first != "my" && first != "our" && first != "the" && (len(rest) > 2 || !ws[0].Upper && k > 2) {
				continue
			}
			for _, name := range names {
				// A plan ends as well: its day, and the journey, which may be told as "the Oslo trip".
				all := append(attributesOfThing("of ", name, true), "date of "+name,
					"journey to "+strings.TrimSuffix(name, " trip"))
				for _, attribute := range all {
					value := held
					if strings.HasSuffix(attribute, " thing") || strings.HasPrefix(attribute, "date of ") {
						value = ""
					}
					out = append(out, Claim{Attribute: attribute, Value: value, Ended: true})
				}
			}
			return out
		}
	}
	return nil
}

// leavesIt reports whether a subject is people, who annoy those who love them, or a time of the year, which leaves
// people cold without their liking it less. A thing with a battery is dead for a while.
func leavesIt(last english.Word, predicate english.Words) bool {
	noun := singular(last.Text)
	if predicate.Has("dead") && chargeable.Has(noun) {
		return true
	}
	return relation(noun) != "" || persons.Has(noun) || seasons.Has(last.Text) && predicate.Has("cold")
}

// replaced reads "instead of the bus" and "rather than taking the bus": the end of what
// somebody did before.
func (c *claim) replaced(v *verbPhrase, ws english.Words) (out []Claim) {
	for i := 1; i+2 < len(ws); i++ {
		if of := ws[i+1].Text; !(ws[i].Text == "instead" && of == "of" || ws[i].Text == "rather" && of == "than") {
			continue
		}
		// "I take the van instead of the Volvo" may be so once. "Honey in my tea instead of sugar" is of the tea alone.
		lasts := ws.Has("now") || ws.Has("nowadays") || changeMarks.Found(ws[:i]) || changeMarks.Found(ws[i+2:])
		rest := ws[i+2:]
		does := len(rest) > 1 && endsInIng(rest[0].Text)
		around := c.besideChoice(ws[1:i])
		within := !does && around.At(0) != "for" && circumstances(around) != ""
		if ws.Any(uncertain) || v.negated || !lasts || within {
			return nil
		}
		if does { // "instead of taking the bus" names the verb too, which the habit of a thing leaves out
			rest = rest[1:]
		}
		if len(rest) > 1 && english.Prepositions.Has(rest[0].Text) {
			rest = rest[1:]
		}
		for n := min(len(rest), maxSlotWords); n > 0; n-- {
			names := c.thingNames(rest[:n], rest[n:])
			if len(names) > 0 && forOneThing(rest[n:]) {
				return nil
			}
			for _, name := range names {
				for _, attribute := range attributesOfThing("of ", name, true) {
					value := (&frame{}).valueOf(attribute)
					out = append(out, Claim{Attribute: v.owner.attribute(attribute), Value: value, Ended: true})
				}
			}
			if len(names) > 0 {
				return out
			}
		}
	}
	return nil
}

// maxOtherSubject bounds a subject other than the speaker, with adverbs behind it.
const maxOtherSubject = 5

// former reads "Sam is my ex now": the partner of before is one no longer.
func (c *claim) former(ws english.Words) []Claim {
	for i := 1; i+2 < len(ws) && i < 4; i++ {
		if isBe(ws[i].Text) && ws[i+1].Text == "my" && exes.Has(ws[i+2].Text) {
			return []Claim{
				{Attribute: "partner name", Ended: true},
				{Attribute: "marital status", Value: "single", Changed: true},
			}
		}
	}
	return nil
}

// counted reads "our third child was born", "adopted a second dog", "one of my cats died": how many there are since.
func (c *claim) counted(ws english.Words) []Claim {
	for i := 0; i+1 < len(ws); i++ {
		noun := singular(ws[i+1].Text)
		switch n := ordinals.Of(ws[i].Text); {
		case n != "" && n != "1" && countable.Has(noun) && ws.Any(arrivals) && !ws.Any(uncertain) &&
			!ws.Any(negations) &&
			(i == 1 && possessedOr(ws[0].Text) || ws[0].Text == "i" || ws[0].Text == "we"):
			return []Claim{{Attribute: "count " + countName(noun), Value: n, Changed: true}}
		case ws[i].Text == "one" && ws[i+1].Text == "of" && i+3 < len(ws) && possessedOr(ws[i+2].Text) &&
			countable.Has(singular(ws[i+3].Text)) && !english.Prepositions.Has(ws.At(i+4)) &&
			ws.Any(departures) && !ws.Any(uncertain) && !ws.Any(negations):
			return []Claim{{Attribute: "count " + countName(singular(ws[i+3].Text)), Ended: true}}
		}
	}
	return nil
}

// countNow reads "so we have just one car", "that leaves three cats" and "the number of my grandchildren has gone up to
// 5". "There are two cars in our family" tells of no change.
//
// People seldom say whose children they count, so the words around the number must leave no other owner: "three kids in
// my class" are the speaker's in another sense, and "three cats on the roof" may be anybody's.
func countNow(all, ws english.Words) []Claim {
	if ws.Any(negations) || ws.Any(uncertain) {
		return nil
	}
	for i := 0; i+2 < len(ws); i++ {
		n := ws[i+1].Text
		if n == "one" {
			n = "1"
		}
		noun := singular(ws[i+2].Text)
		if isNumber(n) && countable.Has(noun) {
			told := Claim{Attribute: "count " + countName(noun), Value: n}
			rest := ws[i+3:]
			atHome := rest.StartWith("in", "this", "house") || rest.StartWith("in", "our", "house")
			if i == 1 && ws.StartWith("it", "is") && (atHome || rest.At(0) == "now" && !ofSomebody(all)) {
				told.Changed = true // "so it's eleven goats now"
				return []Claim{told}
			}
			if out := countStands(told, all, ws, i); out != nil {
				return out
			}
		}
		if ws[i:].StartWith("number", "of", "my") || ws[i:].StartWith("number", "of", "our") {
			return countTold(ws[i+3:])
		}
	}
	return nil
}

// countStands gives the claim told of a number and a noun at ws[i+1], by the words around them. It has none if they may
// be of somebody else's.
func countStands(told Claim, all, ws english.Words, i int) []Claim {
	before, rest := ws[i].Text, ws[i+3:]
	few := before == "just" || before == "only"
	changed, several := told, told
	changed.Changed = true
	several.Several, several.Loose = true, true
	speaks := ws[0].Text == "i" || ws[0].Text == "we"
	if few && (ws[:i].Has("have") || ws[:i].Has("own")) && speaks && onlyOf(rest, countsNow) {
		return []Claim{changed} // "we have just one kid in school" counts those in school
	}
	if told.makesNow(all, ws[:i+1], rest) {
		return []Claim{changed}
	}
	if !countsOurs(ws, rest) {
		return nil
	}
	// "That makes three", "which leaves only two", "that is three cats now".
	adds := func(w string) bool { return w == "makes" || w == "leaves" }
	comes := i < 4 && (adds(before) || few && (ws[:i].Has("makes") || ws[:i].Has("leaves")) ||
		ws[:i+1].StartWith("that", "is"))
	isNew := few || rest.Has("now") || rest.Has("left")
	there := ws[0].Text == "there" && isBe(ws.At(1)) && i <= 2
	remains := few && remainsOf(ws[:i], rest)
	switch {
	case remains, comes && (isNew || ws[0].Text == "that"), there && isNew:
		return []Claim{changed}
	case there && (rest.Has("our") || rest.Has("my") || rest.Has("this")):
		return []Claim{several}
	}
	return nil
}

// ofSomebody reports whether a fact speaks of somebody who may have what it counts: "my sister", "Tom's".
func ofSomebody(all english.Words) bool {
	return slices.ContainsFunc(all, func(w english.Word) bool {
		one := singular(strings.TrimSuffix(w.Text, "'s"))
		return strings.HasSuffix(w.Text, "'s") || relation(one) != "" || kin.Has(one) || persons.Has(one) ||
			thirdPersons.Has(w.Text)
	})
}

// remainsOf reports whether the words around "just" and a number say that no more are left: "it is just one car at
// home".
func remainsOf(before, rest english.Words) bool {
	return isBe(rest.At(0)) && rest.At(1) == "left" || len(before) == 2 && before.StartWith("it", "is")
}

// makesNow reports whether a count is told with "that makes" and "now" alone. Who tells so of children speaks of their
// own, unless more words of the fact say whose they are: "my sister's included".
func (c *Claim) makesNow(all, before, rest english.Words) bool {
	owned := slices.ContainsFunc(all, func(w english.Word) bool { return strings.HasSuffix(w.Text, "'s") })
	return c.Attribute == "count kid" && !owned && !all.Has("included") && !all.Has("counting") && len(before) == 2 &&
		before.StartWith("that", "makes") && rest.At(0) == "now" && onlyOf(rest, countsNow)
}

// countsOurs reports whether the words around a number leave what is counted the speaker's: "there are only three cats
// left" may be said of a shelter, "that leaves us three cats" is not.
func countsOurs(ws, rest english.Words) bool {
	return onlyOf(rest, keptBy) && (ws.Any(speakersOwn) || ws.Any(atHome) || inHouse(ws, rest))
}

// inHouse reports whether things or pets, of the number before rest, are those in the house. Children may be out.
func inHouse(ws, rest english.Words) bool {
	noun := singular(ws.At(len(ws) - len(rest) - 1))
	return rest.StartWith("in", "the") && dwellings.Has(rest.At(2)) && !persons.Has(noun) && !children.Has(noun)
}

// onlyOf reports whether all words of ws up to its first mark are in s.
func onlyOf(ws english.Words, s english.Set) bool {
	for i, w := range ws {
		if i > 0 && stopsClause(ws[i-1].Stop) {
			break
		}
		if !s.Has(w.Text) {
			return false
		}
	}
	return true
}

// countTold reads "grandchildren has gone up to 5" behind "the number of my".
func countTold(ws english.Words) []Claim {
	last := ws.At(len(ws) - 1)
	for k := 1; k+1 < len(ws); k++ {
		if ws[k].Text == "to" && isNumber(ws[k+1].Text) {
			last = ws[k+1].Text
		}
	}
	if noun := countName(singular(ws.At(0))); isNumber(last) && (countable.Has(noun) || noun == "kid") {
		return []Claim{{Attribute: "count " + noun, Value: last, Changed: true}}
	}
	return nil
}

func possessedOr(w string) bool { return w == "my" || w == "our" || w == "the" }

// countName is the noun by which things are counted.
func countName(noun string) string {
	if noun == "child" || noun == "baby" || noun == "children" {
		return "kid"
	}
	if noun == "grandchildren" || noun == "grandkid" {
		return "grandchild"
	}
	return noun
}
