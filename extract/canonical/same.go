package canonical

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// One noun may name two things: the trip to Oslo and the one to Lisbon, green tea and tea, apples and Apple Music. A
// later statement ends an older one only if each word that tells its thing apart is in the older one too. Such words
// stand before the noun ("my Friday class", "people's children") or behind it ("the class with Mia", "the camera I
// borrowed"). A later statement without such words means the thing that was spoken of.

// behind is a noun behind another one, and the word that links both: "to" and "oslo" of "trip to Oslo".
type behind struct{ link, stem string }

var (
	tasks      = themeTables.Words("tasks")
	telling    = themeTables.Words("telling")
	exchanging = themeTables.Words("exchanging")
	deaths     = themeTables.Words("deaths")
	backTo     = themeTables.Words("back-to")
	fleeting   = themeTables.Phrases("fleeting")
	trailing   = themeTables.Words("trailing")
)

// stemsBehind are the nouns behind n.
func stemsBehind(n *themeNoun) (out []string) {
	for _, b := range n.behindIt {
		out = append(out, b.stem)
	}
	return out
}

// same reports whether n of t may be the thing m of o. Of what is sold or given away, a place counts only against
// another one: who owns a flat, and sold "the flat in Porto", sold that one.
func (t *theme) same(o *theme, n, m *themeNoun) bool {
	if !within(n.mods, o.words) || !within(n.apart, o.raw) {
		return false
	}
	named := m.name && !n.name && (m.part || n.plural) // "apples" and "Apple Music", "oranges" and "Orange"
	if named || n.these && m.one && !m.plural {
		return false
	}
	if slices.Contains(t.ends, "part") && m.plural && !n.plural {
		return false // "the boat" is one of two
	}
	parted := slices.Contains(t.ends, "part") && !n.subject && len(m.behindIt) == 0 && len(m.mods) == 0
	back := slices.ContainsFunc(t.raw, backTo.Has)          // "gave the laptop back to Tom"
	exchanged := slices.ContainsFunc(t.raw, exchanging.Has) // "replaced the Golf with a Skoda"
	return !slices.ContainsFunc(n.behindIt, func(b behind) bool {
		if slices.Contains(o.words, b.stem) || exchanged && b.link != "of" {
			return false
		}
		return telling.Has(b.link) || b.link == "to" && back || !parted && !t.set
	})
}

// endsAnother reports whether c of f ends a thing that shares only its noun with those of o.
func (f *Form) endsAnother(o *Form, c *Claim) bool {
	if c.Value == "" && (strings.HasSuffix(c.Attribute, "last name") || strings.HasSuffix(c.Attribute, "surname")) {
		return false // "my husband's name" is the speaker's from then on
	}
	if c.ofActivity() {
		return false // its attribute has all words that tell it apart
	}
	if strings.HasPrefix(c.Attribute, choiceAttribute) || ofTask(c.Attribute) {
		return false // it names the thing in full, and its circumstances
	}
	met, attribute, taste := false, strings.Fields(c.Attribute), strings.Contains(c.Attribute, "taste of ")
	for i := range f.themes {
		t := &f.themes[i]
		for k := range t.nouns {
			n := &t.nouns[k]
			named := func(w string) bool { return themeStem(w) == n.stem || themeStem(w+"s") == n.stem }
			if n.behind && k != t.target || !slices.ContainsFunc(attribute, named) {
				continue
			}
			for j := range o.themes {
				for l := range o.themes[j].nouns {
					m := &o.themes[j].nouns[l]
					if m.stem != n.stem || t.owner != o.themes[j].owner {
						continue
					}
					// "I'm tired of cooking" leaves open whether that is mother's.
					if !t.loose && t.same(&o.themes[j], n, m) && !(taste && !within(m.mods, t.words)) {
						return false
					}
					met = true
				}
			}
		}
	}
	return met
}

// tellsApart gives the words around the noun ws[start:end] that tell it apart, though they name no thing themselves:
// "Friday" before "class", "people's" before "children", "E" behind "vitamin", and the words behind a noun that go on
// about it without a link ("the camera I borrowed", "the house next door").
func tellsApart(ws english.Words, start, end int) (out []string) {
	for i := start - 1; i >= 0 && ws[i].Stop == 0; i-- {
		w := ws[i].Text
		one := singular(w)
		if timed := english.DateWords.Has(one) || english.Periods.Has(one); !timed && !strings.HasSuffix(w, "'s") &&
			!english.StartsWithDigit(w) {
			break
		}
		out = append(out, w)
	}
	if ws[end-1].Stop != 0 || end >= len(ws) {
		return out
	}
	next := ws[end]
	if then := ws.At(end + 1); telling.Has(next.Text) &&
		(endsInIng(then) || endsInIng(ws[end-1].Text) && english.StartsWithDigit(then)) {
		out = append(out, then) // "my goal for reading", "cooking for 8 people"
	}
	switch letter := len(next.Text) == 1 && next.Text > "a" && next.Text != "i"; {
	case letter && !trailing.Has(next.Text): // "vitamin E"
		out = append(out, next.Text)
	case trailing.Has(next.Text):
		out = append(out, next.Text+" "+ws.At(end+1))
	}
	return out
}

// passes reports whether a fact tells of what holds at this moment alone: "my phone is dead right now".
func passes(all english.Words) bool { return fleeting.Found(all) }

// quotesSpeech reports whether a fact has words of somebody else between quotation marks: three or more, as a shorter
// quotation is a name or a title. Nothing that such a fact says ends another one.
func quotesSpeech(fact string) bool {
	if !strings.ContainsAny(fact, "\"“„«") {
		return false
	}
	at := strings.IndexByte(fact, '"')
	if at > 0 && strings.Count(fact, `"`) == 1 && !english.StartsWithDigit(fact[at-1:at]) {
		// A part of a quotation, and not inches: behind a space the mark opens one.
		return fact[at-1] != ' ' || len(english.Lex(fact[at:])) > 2
	}
	c, all := &claim{text: fact}, english.Lex(fact)
	return len(all)-len(c.withoutQuotes(all)) > 2
}

// withoutReceiver is ws up to the person who has got what the speaker parted with: "sold the boat to a couple". A place
// tells the thing apart: "sold my ticket to Rome".
func (t *theme) withoutReceiver(ws english.Words) english.Words {
	if !slices.Contains(t.ends, "part") || ws.Has("back") {
		return ws
	}
	for i := t.target + 2; i+1 < len(ws); i++ {
		next := ws[i+1].Text
		if ws[i].Text == "to" && (inAny(next, english.Articles, possessives, givenNames) || next == "someone" ||
			next == "somebody") {
			return ws[:i]
		}
	}
	return ws
}

// withoutCorrection is ws without what leads into it or says that it corrects something: "Actually, the appointment
// is…".
func withoutCorrection(ws english.Words) english.Words {
	n := max(english.SkipLeads(ws), themeWrongs.Match(ws, 0))
	if n > 0 && ws[n-1].Text == "my" {
		n-- // "wrong, my niece"
	}
	if n+2 < len(ws) {
		return ws[n:]
	}
	return ws
}

// byPerson reports whether the subject is somebody who does something, rather than a thing that it befalls: "the
// plumber canceled". Only a death ends a person.
func byPerson(subject, predicate english.Words) bool {
	noun := singular(subject.At(len(subject) - 1))
	return (occupations.Of(noun) != "" || officials.Has(noun) || persons.Has(noun)) && !predicate.Any(deaths)
}

// leavesPlace reports whether somebody walks out of a door or leaves a thing somewhere: "left the flat at eight", "left
// the bakery with two loaves", "left the flask at home".
func leavesPlace(ws english.Words) bool {
	for i := range ws {
		if w := ws[i].Text; w != "left" && w != "leaving" || !inAny(ws.At(i+1), english.Articles, possessives) {
			continue
		}
		for k := i + 3; k < len(ws) && !stopsClause(ws[k-1].Stop); k++ {
			w, next := ws[k].Text, ws.At(k+1)
			somewhere := next == "home" || next == "work" || english.Articles.Has(next)
			kept := (w == "at" || w == "in" || w == "on") && somewhere && !jobNouns.Has(ws[k-1].Text)
			if w == "with" || w == "early" || kept || w == "at" && (english.StartsWithDigit(next) || hours.Has(next)) {
				return true
			}
		}
	}
	return false
}

// handsOver reports whether at ws[i] somebody gives a thing of theirs to others for good: "gave the piano to the local
// school". Who gives their number or a cold has it still.
func handsOver(ws english.Words, i int) bool {
	w, next := ws[i].Text, ws.At(i+1)
	if w != "gave" && w != "given" && w != "donated" || !inAny(next, possessives, english.Articles) {
		return false
	}
	for k := i + 3; k+1 < min(len(ws), i+7) && !stopsClause(ws[k-1].Stop); k++ {
		if ws[k].Text == "to" {
			return !keptWhenGiven.Has(ws[k-1].Text) && !indefinite.Has(ws[i+1].Text) && !ws.Any(shortSpans) &&
				forGood(ws[k+1:])
		}
	}
	return false
}

// forGood reports whether ws names somebody who keeps what they are given: family, people that one knows, a charity.
// "To Tom to read" is for a while, and a conductor takes a ticket.
func forGood(ws english.Words) bool {
	end := 0
	for end < min(len(ws), maxObjectWords+1) && ws[end].Text != "to" && (end == 0 || !stopsClause(ws[end-1].Stop)) {
		end++
	}
	if ws.At(end) == "to" {
		return false
	}
	return slices.ContainsFunc(ws[:end], func(w english.Word) bool {
		one := singular(strings.TrimSuffix(w.Text, "'s"))
		person := relation(one) != "" || kin.Has(one) || persons.Has(one)
		return receivers.Has(one) || person && !officials.Has(one)
	})
}

// justNow reports whether at ws[i] a time begins at which something happened within the last day: "last night", "this
// morning".
func justNow(ws english.Words, i int) bool {
	w, next := ws[i].Text, ws.At(i+1)
	partOfDay := next == "morning" || next == "afternoon" || next == "evening"
	return w == "last" && next == "night" || w == "this" && partOfDay
}
