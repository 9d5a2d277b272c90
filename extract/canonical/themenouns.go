package canonical

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// Nouns are found without a grammar: no word list of nouns is complete, and a word that is taken for a noun by mistake
// does no harm, since only the noun that an end, a value or a taste is about counts, and the other clause must have it
// too. Words of one meaning, such as "trip" and "journey", are one noun; see kinds in themes.txt.

// findNouns finds the nouns of a clause, and turns the target into the number of one. Without an end it is the first
// noun behind the verb, where the clause denies, likes or takes up something.
func (t *theme) findNouns(subject, ws english.Words, verb int) {
	from := t.target
	t.target = -1
	inSubject := len(subject) > 0 && from == subjectEnds
	t.addNouns(subject, -1, -1)
	if n := len(t.nouns); inSubject && n > 0 {
		t.target = 0
	}
	for i := range t.nouns {
		t.nouns[i].subject, t.nouns[i].isNew = true, subject.Has("new")
	}
	if way := subject.At(len(subject) - 1); len(t.nouns) > 0 && ways.Has(way) { // "my flight back" is not the one out
		last := &t.nouns[len(t.nouns)-1]
		last.apart = append(last.apart, way)
	}
	first := len(t.nouns)
	at := t.addNouns(ws, verb, from)
	switch {
	case from >= 0:
		t.target = at
	case from == -1 && (t.taste != 0 || t.anymore || t.again) && first < len(t.nouns):
		t.target = first
		if n := &t.nouns[first]; n.activity && t.taste == 0 && first+1 < len(t.nouns) && !t.nouns[first+1].marked {
			t.target++ // "won't be running the marathon after all"
		}
	}
}

// addNouns adds the nouns of a part of a clause: the last word of each run of words with a meaning. The verb is in no
// run with its object. It gives the number of the first noun that ends behind the word from, or -1.
func (t *theme) addNouns(ws english.Words, verb, from int) (target int) {
	target = -1
	start, run := 0, []string(nil)
	end := func(i int) {
		if at := len(t.nouns); len(run) > 0 && t.addNoun(nounOf(ws, start, i, run)) {
			if target < 0 && from >= 0 && i > from {
				target = at
			}
			t.narrowBefore(ws, start, at, run)
			t.addKinds(ws[start:i], &t.nouns[at])
		}
		run = nil
	}
	for i, w := range ws {
		s := themeStem(w.Text)
		one := singular(w.Text)
		if timed := english.DateWords.Has(one) || english.Periods.Has(one); timed && len(run) > 0 && w.Stop == 0 &&
			ws[i-1].Stop == 0 && i-1 != verb && themeStem(ws.At(i+1)) != "" {
			continue // "the Danish evening class"
		}
		if s == "" {
			end(i)
			continue
		}
		if len(run) > 0 && w.Stop == 0 && placed(ws[i:]) {
			end(i) // "a boat moored in Split"
			continue
		}
		if len(run) == 0 {
			start = i
		}
		run = append(run, s)
		if marked := w.Stop != 0 && w.Stop != '\'' && w.Stop != '-'; marked || i == verb || i+1 == from {
			end(i + 1)
		}
	}
	end(len(ws))
	return target
}

// nounOf is the noun of the run ws[start:end].
func nounOf(ws english.Words, start, end int, run []string) themeNoun {
	last := len(run) - 1
	n := themeNoun{stem: run[last], mods: slices.Clone(run[:last]), name: ws[end-1].Upper}
	n.plural = singular(ws[end-1].Text) != ws[end-1].Text
	for i := start - 1; i >= 0 && themeStem(ws[i].Text) == "" || i == start-1 && i >= 0; i-- {
		n.marked = n.marked || stopsClause(ws[i].Stop)
	}
	n.apart, n.activity = tellsApart(ws, start, end), endsInIng(ws[end-1].Text)
	if start > 0 {
		before := ws[start-1].Text
		n.these = n.plural && inAny(before, english.Articles, possessives)
		n.one = indefinite.Has(before) || before == "old" || english.StartsWithDigit(before)
		n.behind = english.Prepositions.Has(linkBefore(ws, start))
	}
	return n
}

// linkBefore is the word before a noun and what determines it: its article, its owner, its day or number.
func linkBefore(ws english.Words, start int) string {
	at := start - 1
	for ; at > 0; at-- {
		w := ws[at].Text
		if !inAny(w, english.Articles, possessives, english.DateWords) && !strings.HasSuffix(w, "'s") &&
			!english.StartsWithDigit(w) {
			break
		}
	}
	return ws.At(at)
}

// narrowBefore notes a noun as what tells the one before it apart: "trip to Oslo", "sushi with mayonnaise".
func (t *theme) narrowBefore(ws english.Words, start, at int, run []string) {
	if start == 0 || at == 0 {
		return
	}
	link := linkBefore(ws, start)
	one := link == "for" && indefinite.Has(ws.At(start-1)) // "swapped the car for a bike" tells of another thing
	if narrowing.Has(link) && !one || link == "to" && len(t.ends) > 0 && !slices.Contains(t.ends, "part") ||
		ws[start].Upper && (link == "to" || link == "for") {
		before := &t.nouns[at-1]
		for _, stem := range run {
			before.behindIt = append(before.behindIt, behind{link, stem})
		}
	}
}

// addNoun adds a noun. It reports false if the clause has enough of them.
func (t *theme) addNoun(n themeNoun) bool {
	if n.stem == "" || len(t.nouns) >= maxThemeNouns {
		return false
	}
	t.nouns = append(t.nouns, n)
	return true
}

// addKinds adds the names before a noun ("my Samsung phone"), and the kind of food or drink that it is of: who no
// longer drinks alcohol drinks no wine.
func (t *theme) addKinds(ws english.Words, n *themeNoun) {
	one, last := n.one, ws[len(ws)-1].Text
	if len(ws) > 1 && !n.name && genres.Has(singular(last)) { // "horror films" are "horror"
		t.addNoun(themeNoun{stem: themeStem(ws[len(ws)-2].Text), one: one})
	}
	for _, w := range ws[:len(ws)-1] {
		if w.Upper {
			t.addNoun(themeNoun{stem: themeStem(w.Text), name: true, part: true})
		}
	}
	for _, w := range []string{last, singular(last)} {
		if kind := foodKinds.Of(w); kind != "" {
			t.addNoun(themeNoun{stem: themeStem(kind), one: one})
			return
		}
	}
}

// themeStem is the one form of a word with a meaning; "" if it names nothing.
func themeStem(w string) string {
	w = strings.TrimSuffix(w, "'s")
	one := singular(w)
	if len(w) < 2 || ordinals.Of(w) != "" || english.StartsWithDigit(w) || strings.HasSuffix(w, "ly") ||
		english.DateWords.Has(one) || english.Periods.Has(one) || inAny(w, themePlain, themeLight, english.StopWords,
		english.WeakDateWords, english.Prepositions, english.Auxiliaries, english.Adverbs, ladder, relating,
		themeSetters, particles, negations, makeBelieve, called) {
		return "" // "a boat called Marisol" is a boat
	}
	for _, form := range []string{w, one} {
		if kind := themeKinds.Of(form); kind != "" {
			return root(kind)
		}
	}
	s := root(w)
	if stem, ok := strings.CutSuffix(s, "ie"); ok && len(stem) > 2 {
		s = stem + "y"
	}
	return s
}

// stemsOf are the stems of ws.
func stemsOf(ws english.Words) (out []string) {
	for _, w := range ws {
		if s := themeStem(w.Text); s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// themeValues are the values of a clause, at most one of a kind: of two it is not clear which one counts.
func themeValues(ws english.Words) (out []themeValue) {
	count := map[string]int{}
	for i := range ws {
		if v := themeValueAt(ws, i); v.kind != "" {
			out = append(out, v)
			count[v.kind]++
		}
	}
	return slices.DeleteFunc(out, func(v themeValue) bool { return count[v.kind] > 1 })
}

// themeValueAt is the value that the word at i is: a weekday, a place in an order, a day of a month, an hour, or else
// a number with its unit.
func themeValueAt(ws english.Words, i int) themeValue {
	w, before, next := ws[i].Text, ws.At(i-1), ws.At(i+1)
	day := strings.TrimRight(w, "stndrh")
	switch {
	case !english.StartsWithDigit(w):
		if n := ordinals.Of(w); n != "" {
			return themeValue{"place " + themeStem(next), n}
		}
		if one := singular(w); english.DateWords.Has(one) && strings.HasSuffix(one, "day") && one != "yesterday" {
			return themeValue{"weekday", one}
		}
		if n := monthNumbers.Of(w); n != "" && ofMonth.Has(before) {
			return themeValue{"month", n}
		}
		return themeValue{}
	case monthNumbers.Of(next) != "", monthNumbers.Of(before) != "", day != w && (before == "the" || next == "of"):
		return themeValue{"date", day}
	case next == "am", next == "pm", next == "o'clock", strings.Contains(w, ":"), strings.HasSuffix(w, "m"),
		before == "at":
		return themeValue{"clock", w}
	}
	unit := singular(next)
	if inAny(unit, english.StopWords, english.Prepositions, english.Adverbs) || unit == "now" {
		unit = ""
	}
	return themeValue{"number", strings.TrimRight(w+" "+unit, " ")}
}

// root is a noun in the singular, and the verb of a word in "-ing": "run" of "running".
func root(w string) string {
	w = singular(w)
	if stem, ok := strings.CutSuffix(w, "ing"); ok && len(stem) > 2 {
		if n := len(stem); stem[n-1] == stem[n-2] && !strings.ContainsRune("ls", rune(stem[n-1])) {
			return stem[:n-1]
		}
		return strings.TrimSuffix(stem, "e")
	}
	return strings.TrimSuffix(w, "e")
}
