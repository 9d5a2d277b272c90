package canonical

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// single is a thing of which a person has one at a time: a boss, a rent.
type single struct {
	attribute, kind string
	several         bool // a person may have several
}

// singles are the things of which a person has one, by each of their names, and how many
// words the longest name has.
var singles, maxSingle = func() (map[string]single, int) {
	out, longest := map[string]single{}, 0
	for left, names := range frameTables.Lists("nouns") {
		name, kind, _ := strings.Cut(left, ": ")
		for _, n := range names {
			name, several := strings.CutPrefix(name, "~")
			out[n] = single{"one " + name, kind, several}
			longest = max(longest, strings.Count(n, " ")+1)
		}
	}
	return out, longest
}()

var (
	uncertainNouns = frameTables.Words("uncertain-nouns")
	bloodGroups    = frameTables.Words("blood-groups")
	bloodSigns     = frameTables.Words("blood-signs")
	othersWords    = frameTables.Words("others-words")
	timeLinks      = frameTables.Words("time-links")
	toValue        = frameTables.Words("to-value")
	ownWords       = frameTables.Words("own-words")
	replacing      = frameTables.Words("replacing")
	miswriting     = frameTables.Words("miswriting")
)

// nouns gives the claims of a clause of a fact that names a thing of which the speaker has
// one, and its value: "my new boss is Ann", "I switched dentists, and go to Dr Lee". The
// clause is all[from:to]. With own, its subject is the speaker.
func (c *claim) nouns(all english.Words, from, to int, own bool) (out []Claim) {
	if all.Has("?") {
		return nil
	}
	unsure := all.Any(uncertainNouns)
	out = c.noLonger(all, from, to)
	changed := c.changed || all.Has("new") || all.Has("again")
	for i := from; i < to; i++ {
		s, n := singleAt(all, i)
		if n == 0 || forSomebody(all[i+n:]) || unsure && !(s.kind == "name" && asideBehind(all, i+n)) {
			continue
		}
		if claim, ok := c.single(all, i, n, s, changed, own); ok {
			out = append(out, claim)
			// "My bank is Monzo" and "I switched to Barclays" are about one kind of thing.
			if kind := productKind(claim.Value, all); kind != "" {
				out = append(out, Claim{
					Attribute: "kind of " + kind, Value: claim.Value, Several: !claim.Changed, Changed: claim.Changed,
				})
			}
		}
		i += n - 1
	}
	return out
}

// asideBehind reports whether a name between commas stands at all[i], which nothing else in the fact makes uncertain:
// "my new dentist, Dr. Lee, wants to see me".
func asideBehind(all english.Words, i int) bool {
	if i < 1 || i >= len(all) || all[i-1].Stop != ',' || !all[i].Upper {
		return false
	}
	for k := i; k < min(len(all), i+maxNameWords); k++ {
		if all[k].Stop == ',' {
			return true
		}
	}
	return false
}

// singleAt is the thing that is named at all[i], and the number of its words.
func singleAt(all english.Words, i int) (single, int) {
	head := all.At(i + 1)
	if i < len(all) && all[i].Text == "favorite" && head != "" && !inAny(head, favoriteQualifiers, english.StopWords) {
		return single{"one favorite " + head, "favorite " + head, false}, 2
	}
	for n := min(maxSingle, len(all)-i); n > 0; n-- {
		name := all[i : i+n].String()
		if s, ok := singles[name]; ok {
			return s, n
		}
		if s, ok := singles[singular(name)]; ok && i > 0 && replacing.Has(all[i-1].Text) {
			return s, n
		}
	}
	return single{}, 0
}

// single reads what the fact says of the thing s that n words at all[i] name.
func (c *claim) single(all english.Words, i, n int, s single, changed, subject bool) (Claim, bool) {
	m := mentionOf(all, i)
	k, mine, begins, isNew, switched := m.from, m.mine, m.begins, m.isNew, m.switched
	before := all.At(k - 1)
	claim := Claim{Attribute: s.attribute, Changed: changed || isNew || switched, Several: s.several}
	after := all[i+n:]
	if isOthers(before) || strings.HasSuffix(all[i+n-1].Text, "'s") || !mine && !subject && s.ofAnybody(c, all) ||
		s.beside(all[i+n-1], after) {
		return claim, false // "her new boss", "my other phone", "my boss's name"
	}
	// The value stands behind a verb, beside the noun, or somewhere behind a new one.
	switch {
	case begins && (mine || m.own && claim.Changed) && isVerbOfValue(after.At(0)):
		claim.Value = c.valueOf(s.kind, skipToValue(s.kind, after[1:]))
	case mine && c.apposed(all[i+n-1], after, s.kind, begins, isNew):
		claim.Value = c.valueOf(s.kind, after)
		claim.Several = s.several || !isNew
	case (isNew || switched) && (subject || begins):
		claim.Value = c.valueBehind(s.kind, after)
	case mine && setVerbs(all[:k]):
		claim.Value, claim.Changed = c.valueSet(s.kind, after), true
	}
	if claim.Value == "" && mine && !goesOn(all[i:i+n], after) && s.bested(all, k, subject) {
		claim.Value, claim.Changed = recordBehind(after), true
	}
	if claim.Value == "" && mine {
		claim.Value = c.valueBefore(all[:k], s.kind)
	}
	return claim, claim.Value != ""
}

// bested reports whether the words before a record at all[k] say that it was beaten. "Beat my 10k record" lacks its
// subject.
func (s *single) bested(all english.Words, k int, subject bool) bool {
	alone := k > 0 && (k == 1 || stopsClause(all[k-2].Stop))
	return (subject || alone) && strings.HasPrefix(s.attribute, "one record") && besting.Has(all.At(k-1)) &&
		!all[:k].Any(uncertain) && !all[:k].Has("to")
}

// ofAnybody reports whether a number or an address may be anybody's: "the new number is…" is a dentist's as well.
func (s *single) ofAnybody(c *claim, all english.Words) bool {
	return (s.kind == "phone" || s.kind == "email") && !c.reachesSpeaker(all)
}

// beside reports whether words behind the noun of a person make it another one: "my new boss at the choir", "my new
// dentist friend".
func (s *single) beside(last english.Word, after english.Words) bool {
	if s.kind != "name" || last.Stop != 0 || len(after) < 2 || after[0].Upper {
		return false
	}
	if w := after[0].Text; w == "at" || w == "in" || w == "of" || w == "for" {
		return english.Articles.Has(after[1].Text) && !workplaces.Has(after.At(2))
	}
	return persons.Has(after[0].Text) || after[0].Text == "friend"
}

// A number without a unit behind a record may be of anything ("my 10k record at 42"), so that it needs a colon or a
// unit of time or weight.

// recordBehind is the time behind a record that was beaten: "my 10k record today: 46:31".
func recordBehind(ws english.Words) string {
	for i := range min(len(ws), maxBehind) {
		if strings.Contains(ws[i].Text, ":") && english.StartsWithDigit(ws[i].Text) {
			return numberOf(ws[i:])
		}
	}
	for i := range min(len(ws), maxBehind) {
		if isDate(ws[i].Text) || !english.StartsWithDigit(ws[i].Text) || ws.At(i-1) == "by" || ws.At(i-2) == "by" {
			continue // "by almost 2 minutes"
		}
		next := ws.At(i + 1)
		if next == "minutes" || next == "min" || next == "kg" || next == "kilos" {
			return numberOf(ws[i:])
		}
		return ""
	}
	return ""
}

// mention is how a fact names a thing.
type mention struct {
	from     int  // where "my new" before it begins
	mine     bool // it has "my" or "our"
	own      bool // it may be the speaker's without
	isNew    bool // it has "new"
	begins   bool // a clause begins with it
	switched bool // a verb of changing stands before it: "switched dentists"
}

// mentionOf reads the words before the thing at all[i].
func mentionOf(all english.Words, i int) mention {
	m := mention{from: i, own: i == 0}
	for m.from > 0 && ownWords.Has(all[m.from-1].Text) && !stopsClause(all[m.from-1].Stop) {
		m.from--
		w := all[m.from].Text
		m.isNew = m.isNew || w == "new"
		m.own = m.own || w == "my" || w == "our" || w == "the"
	}
	k, before := m.from, all.At(m.from-1)
	front := k > 0 && stopsClause(all[k-1].Stop) || links.Has(before)
	m.own = m.own || front
	m.mine = k < i && (all[k].Text == "my" || all[k].Text == "our")
	m.begins = k == 0 || front || english.SkipLeads(all[:k]) == k
	m.switched = replacing.Has(before) || miswriting.Has(before) || (before == "a" || before == "an") &&
		replacing.Has(all.At(k-2))
	return m
}

// valueSet is the value of a kind behind a thing that was set: "to 900 euros".
func (c *claim) valueSet(kind string, after english.Words) string {
	for j := 0; j < min(len(after), 4); j++ {
		if after[j].Text == "to" || after[j].Text == "at" {
			return c.valueOf(kind, skipToValue(kind, after[j+1:]))
		}
	}
	return ""
}

// isOthers reports whether the word before a thing says that it is somebody else's, or not
// the one that the speaker has.
func isOthers(w string) bool {
	one := singular(w) // "mums" lacks its apostrophe
	return strings.HasSuffix(w, "'s") || possessives.Has(w) || othersWords.Has(w) ||
		w != one && (relation(one) != "" || kin.Has(one))
}

// apposed reports whether the name of a thing follows it: "my boss Ann", "my new car, a Kia".
func (c *claim) apposed(last english.Word, after english.Words, kind string, begins, isNew bool) bool {
	if len(after) == 0 {
		return false
	}
	return kind == "name" && after[0].Upper && last.Stop == 0 || last.Stop == ',' && begins && (kind == "name" || isNew)
}

// valueBefore is the value of a thing of a kind that stands before it: "Ann is my boss now",
// "it's May 13, my birthday". The words are those before "my".
func (c *claim) valueBefore(ws english.Words, kind string) string {
	last := len(ws) - 1
	if last < 1 {
		return ""
	}
	if isBe(ws[last].Text) {
		for m := min(3, last); m > 0; m-- {
			at := last - m
			if at > 0 && !stopsClause(ws[at-1].Stop) && !links.Has(ws[at-1].Text) {
				continue // the value does not begin the clause
			}
			if value := c.valueOf(kind, ws[at:last]); value != "" {
				return value
			}
		}
	}
	for j := 0; j+2 < len(ws) && stopsClause(ws[last].Stop); j++ {
		if ws[j].Text == "it" && isBe(ws[j+1].Text) {
			return c.valueOf(kind, skipToValue(kind, ws[j+2:]))
		}
	}
	return ""
}

// isVerbOfValue reports whether w is a verb between a thing and its value.
func isVerbOfValue(w string) bool {
	forms := inflections[w]
	return isBe(w) || w == "stands" || forms["go"]|forms["change"]|forms["move"]|forms["drop"] != 0
}

// skipToValue is ws without the words before a value.
func skipToValue(kind string, ws english.Words) english.Words {
	named := kind == "name" || kind == "proper" || kind == "any" || strings.HasPrefix(kind, "favorite")
	for len(ws) > 1 && toValue.Has(ws[0].Text) && !(named && english.Prepositions.Has(ws[0].Text)) {
		ws = ws[1:]
	}
	return ws
}

// setVerbs reports whether the words before a thing say that it was set: "we raised".
func setVerbs(ws english.Words) bool {
	for n := 1; n <= min(2, len(ws)); n++ {
		if setting.Match(ws, len(ws)-n) == n {
			return true
		}
	}
	return false
}

// maxBehind bounds the words between a new thing and its value.
const maxBehind = 8

// valueBehind finds the value of a new thing behind it: "a new boss, her name is Ann".
func (c *claim) valueBehind(kind string, ws english.Words) string {
	for i := 0; i < min(len(ws), maxBehind); i++ {
		w := ws[i].Text
		switch {
		case w == "?", negations.Has(w), w == "old", w == "from":
			return ""
		case kind == "number" && !english.StartsWithDigit(w), kind == "any" && i > 0 && !isVerbOfValue(ws.At(i-1)),
			toValue.Has(w):
			continue // the value comes later
		}
		if value := c.valueOf(kind, ws[i:]); value != "" {
			return value
		}
	}
	return ""
}

// valueOf is the value of a kind that ws begins with.
func (c *claim) valueOf(kind string, ws english.Words) string {
	if len(ws) == 0 || negations.Has(ws[0].Text) || uncertain.Has(ws[0].Text) && kind != "day" {
		return ""
	}
	// A number may have a unit or a span behind it, which people change at will: "980 a month".
	if kind == "number" {
		for n := min(len(ws), maxAddressWords); n > 1; n-- { // "020 7946 0011"
			if phone := c.phoneNumber(ws[:n]); len(phone) >= minReachDigits {
				return phone
			}
		}
		return numberOf(withoutCurrency(ws))
	}
	head, favorite := strings.CutPrefix(kind, "favorite ")
	for n := min(len(ws), maxAddressWords); n > 0; n-- {
		v, rest := ws[:n], ws[n:]
		if favorite {
			if n <= maxValueWords && !goesOn(v, rest) && !isList(v, rest) && c.isFavorite(head, v) {
				return c.plainValue(v, maxValueWords)
			}
			continue
		}
		if value := c.valueIn(kind, v, rest); value != "" {
			return value
		}
	}
	return ""
}

// valueIn is v as a value of a kind, which rest follows.
func (c *claim) valueIn(kind string, v, rest english.Words) string {
	n := len(v)
	whole := !goesOn(v, rest) && !isList(v, rest)
	switch kind {
	case "name":
		goes := len(rest) > 0 && rest[0].Upper && v[n-1].Stop == 0
		if value := c.firstName(v); n <= 3 && !goes && value != "i" {
			return value
		}
	case "address":
		if english.StartsWithDigit(v[0].Text) && n > 1 && n <= maxSlotWords && !goesOn(v, rest) {
			return c.streetAddress(v)
		}
	case "phone", "email", "day", "time":
		return c.formed(kind, v)
	case "proper":
		if n <= maxNounValueWords && whole && c.properThing(v) {
			return withoutArticle(v).String()
		}
	case "blood":
		if n == 2 && bloodGroups.Has(v[0].Text) && bloodSigns.Has(v[1].Text) {
			return v.String()
		}
	case "any":
		if n <= maxNounValueWords && whole && !v.Any(relating) && !v.Any(english.Pronouns) && !v.Any(links) &&
			!inAny(withoutArticle(v).At(0), remarks, english.Evaluative, english.Moods, english.States) {
			return withoutArticle(v).String()
		}
	}
	return ""
}

// formed is v as a value of a kind that has a form of its own, so that no word around it
// counts.
func (c *claim) formed(kind string, v english.Words) string {
	switch kind {
	case "phone":
		return c.phoneNumber(v)
	case "email":
		return c.emailAddress(v)
	case "day":
		return monthAndDay(c, v)
	}
	return timeOf(v)
}

// isFavorite reports whether ws may be the favorite of a kind.
func (c *claim) isFavorite(head string, ws english.Words) bool {
	for _, rule := range tasteRules {
		if rule.heads(head) {
			return rule.accepts(c, head, ws)
		}
	}
	return false
}

// isList reports whether the words behind a value add another one.
func isList(v, rest english.Words) bool {
	next := rest.At(0)
	return v[len(v)-1].Stop == 0 && (next == "and" || next == "or")
}

// properThing reports whether ws is the name of a thing: each word has a capital or begins
// with a digit.
func (c *claim) properThing(ws english.Words) bool {
	ws = withoutArticle(ws)
	if len(ws) == 0 || inAny(ws[0].Text, english.DateWords, english.StopWords) {
		return false
	}
	for i, w := range ws {
		if i > 0 && stopsClause(ws[i-1].Stop) || !c.capital(w) && !english.StartsWithDigit(w.Text) {
			return false
		}
	}
	return c.capital(ws[0])
}

// withoutCurrency is ws without a sign of money at its front.
func withoutCurrency(ws english.Words) english.Words {
	for len(ws) > 1 && currencies.Has(ws[0].Text) {
		ws = ws[1:]
	}
	return ws
}

// numberOf is the number that ws begins with, without its unit: "11000" of "11k".
func numberOf(ws english.Words) string {
	if len(ws) == 0 {
		return ""
	}
	if len(ws) > 1 && (ws[0].Text == "a" || ws[0].Text == "just" || ws[0].Text == "only") {
		ws = ws[1:]
	}
	w := ws[0].Text
	if w == "single" {
		return "1"
	}
	end := 0
	for end < len(w) && (w[end] >= '0' && w[end] <= '9' || strings.IndexByte(".,:", w[end]) >= 0) {
		end++
	}
	n := strings.ReplaceAll(strings.TrimRight(w[:end], ".,:"), ",", "")
	switch unit := w[end:]; {
	case n == "":
		return ""
	case unit == "k" || unit == "" && ws.At(1) == "k":
		return n + "000"
	case unit == "st" || unit == "nd" || unit == "rd" || unit == "th":
		return ""
	}
	return n
}

// dateOf is ws as a day: the month and the day, or the day of the week.
func dateOf(ws, rest english.Words) string {
	if goesOn(ws, rest) {
		return ""
	}
	var weekday string
	left := slices.DeleteFunc(slices.Clone(ws), func(w english.Word) bool {
		day := english.DateWords.Has(w.Text) && monthNumbers.Of(w.Text) == ""
		if day {
			weekday = w.Text
		}
		return day || w.Text == "on" || w.Text == "the" || strings.Contains(w.Text, "-") || isYearNumber(w.Text)
	})
	if len(left) == 0 {
		return weekday
	}
	return monthAndDay(nil, left)
}

// timeOf is ws as days or hours, if it has nothing else: "9 to 5", "Tuesdays and Fridays".
func timeOf(ws english.Words) string {
	known := false
	for _, w := range ws {
		switch {
		// "Saturday", "9", "mornings", "weekend".
		case english.DateWords.Has(singular(w.Text)), english.StartsWithDigit(w.Text),
			english.Periods.Has(singular(w.Text)), bounds.Has(w.Text):
			known = true
		case timeLinks.Has(w.Text):
		default:
			return ""
		}
	}
	if last := ws.At(len(ws) - 1); !known || last == "and" || english.Prepositions.Has(last) {
		return ""
	}
	return ws.String()
}
