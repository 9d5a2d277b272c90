package canonical

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// Subject is what somebody asks to forget: "my salary", "my sister's birthday",
// "Tom", "tea". A text is about it if it claims its attribute, or if it has its words
// in their place: "my sister's salary" is not about "my salary". In doubt a text is
// not about it.
type Subject struct {
	own   bool     // the speaker's: "my sister"
	owner string   // whose it is, if not the speaker's: "sister" of "my sister's birthday"
	words []string // the words that mean it, as [base] has them
	kind  *kind    // known by other words too; nil if not
}

// kind is a subject of a person that texts tell in other words as well.
type kind struct {
	names      string // nouns that mean it, separated by commas
	attributes string // that claims of it have, separated by commas
	// said are predicates that tell it, separated by commas. "#" is a number.
	said    string
	asked   string // what an indirect question asks for it: "where _ live", separated by commas
	example string // "request = fact"
}

// kinds are the kinds of subjects.
var kinds = []kind{
	{"salary, pay, income, wage, earnings, paycheck, compensation", "",
		"earn #, earn around #, earn about #, earn over #, make # a year, make # a month, make # an hour, " +
			"make # per, get paid #, am paid #, is paid #, get # a month, get # a year",
		"how much _ earn, how much _ make, what _ earn, what _ make, how much money _ make, how much _ get paid",
		"Forget my salary = I earn 5000 euros"},
	{"home, place of residence, residence", "home, home country", "", "where _ live",
		"Forget where I live = I live in Porto"},
	{"address, home address, street address", "address", "live at #", "",
		"Forget my address = I live at 12 High Street"},
	{"job, work, profession, occupation, employer, workplace, employment, career", "employer, occupation",
		"work for, work at, work as",
		"where _ work, who _ work for, what _ do, what _ do for a living, what _ do for work",
		"Forget my job = I work at Acme"},
	{"age", "age", "am # year, is # year", "how old _ am, how old _ is", "Forget my age = I am 35"},
	{"name", "name, first name, last name, full name, surname", "", "what _ am called, what _ is called",
		"Forget my name = My surname is Lee"},
	{"birthday, date of birth, birthdate, birth date", "birthday", "was born on, was born in #",
		"when _ was born", "Forget my birthday = I was born on 3 May"},
	{"weight", "weight kg, weight lb", "weigh", "how much _ weigh, what _ weigh", "Forget my weight = I weigh 80 kg"},
	{"height", "height cm, height m, height ft", "am # cm, am # m, is # cm", "how tall _ am, how tall _ is",
		"Forget my height = I am 180 cm tall"},
	{"phone number, telephone number, mobile number, cell number", "phone, mobile", "", "",
		"Forget my phone number = My cell is 555 123 45"},
	{"email, email address, e mail, e mail address", "email, work email, personal email", "", "",
		"Forget my email address = My work email is a@b.c"},
	{"allergy", "", "am allergic, is allergic", "what _ am allergic to, what _ is allergic to",
		"Forget my allergies = I am allergic to peanuts"},
	{"diet", "diet", "", "what _ eat", "Forget my diet = I am vegan"},
	{"marital status, relationship, relationship status", "marital status, partner name", "", "who _ am married to",
		"Forget my marital status = I am married"},
}

// listed reports whether a list with commas has an item.
func listed(list, item string) bool {
	return slices.Contains(strings.Split(list, ", "), item)
}

// Keys find the stored facts that claim what the subject is about.
func (s *Subject) Keys() (out []string) {
	if s.kind == nil {
		return nil
	}
	for a := range strings.SplitSeq(s.kind.attributes, ", ") {
		if a != "" {
			out = append(out, key(attributeSign, owner(s.owner).attribute(a)))
		}
	}
	return out
}

// Words are words of which a text about the subject has one, unless it claims what
// the subject is about.
func (s *Subject) Words() []string {
	if s.kind == nil {
		last := s.words[len(s.words)-1]
		return append(relationNames.For(last), last)
	}
	all := s.kind.names + ", " + s.kind.said
	out := strings.FieldsFunc(all, func(r rune) bool { return strings.ContainsRune(" ,#", r) })
	out = slices.DeleteFunc(out, func(w string) bool {
		return inAny(w, english.Articles, english.Auxiliaries, english.Prepositions)
	})
	slices.Sort(out)
	return slices.Compact(append(out, s.words...))
}

// subjectOf reads the name of a subject: "my sister's birthday". own says that it is
// in a list behind one of the speaker's.
func subjectOf(ws english.Words, own bool) (s Subject, ok bool) {
	for i := range ws { // "the birthday of my sister"
		if i > 0 && ws[i].Text == "of" && (ws.At(i+1) == "my" || ws.At(i+1) == "our") && i+3 == len(ws) {
			whose := slices.Clone(ws[i+1:])
			whose[len(whose)-1].Text += "'s"
			ws = append(whose, withoutDeterminer(ws[:i])...)
			break
		}
	}
	s.own = own
	if isOwn(ws) {
		s.own, ws = true, ws[1:]
	}
	ws = withoutDeterminer(ws)
	if len(ws) == 0 || len(ws) > maxSubjectWords {
		return s, false
	}
	for i, w := range ws {
		text := w.Text
		switch {
		case i > 0 && inAny(text, english.Prepositions, english.Articles):
			continue
		case s.own && i+1 < len(ws) && qualifiers.Has(text): // "my new job" is not every job
		case english.StopWords.Has(text), english.Pronouns.Has(text), english.Auxiliaries.Has(text), text == "?",
			possessives.Has(text) && text != "my":
			return s, false
		}
		if noun, ok := strings.CutSuffix(text, "'s"); ok && i+1 < len(ws) && s.owner == "" {
			s.owner, s.words = baseForm(noun), nil
			continue
		}
		s.words = append(s.words, baseForm(text))
	}
	if len(s.words) == 0 {
		return s, false
	}
	if s.own || s.owner != "" {
		s.kind = kindNamed(strings.Join(s.words, " "))
	}
	return s, true
}

// maxSubjectWords bounds the name of a subject.
const maxSubjectWords = 7

func withoutDeterminer(ws english.Words) english.Words {
	for len(ws) > 1 && (english.Articles.Has(ws[0].Text) || ws[0].Text == "any" || ws[0].Text == "all") {
		ws = ws[1:]
	}
	return ws
}

// kindNamed is the kind of subject that a noun means.
func kindNamed(noun string) *kind {
	for i := range kinds {
		if listed(kinds[i].names, noun) {
			return &kinds[i]
		}
	}
	return nil
}

// asked reads an indirect question: "where I live", "how old my sister is", "what my
// salary is".
func asked(ws english.Words) (s Subject, ok bool) {
	if last := ws.At(len(ws) - 1); len(ws) > 2 && ws[0].Text == "what" && (last == "is" || last == "are") {
		if s, ok := subjectOf(ws[1:len(ws)-1], false); ok {
			return s, true
		}
	}
	for i := range kinds {
		for question := range strings.SplitSeq(kinds[i].asked, ", ") {
			before, after, _ := strings.Cut(question, "_")
			if o, ok := askedOf(ws, strings.Fields(before), strings.Fields(after)); ok {
				return Subject{own: true, owner: o, words: strings.Split(strings.Split(kinds[i].names, ", ")[0], " "),
					kind: &kinds[i]}, true
			}
		}
	}
	return s, false
}

// askedOf reads whom a question is about that begins and ends with given words.
func askedOf(ws english.Words, before, after []string) (whom string, ok bool) {
	if len(before) == 0 || len(ws) <= len(before)+len(after) || !ws.StartWith(before...) {
		return "", false
	}
	end := len(ws) - len(after)
	for i, w := range after {
		if said := ws[end+i].Text; said != w && baseForm(said) != w {
			return "", false
		}
	}
	who := ws[len(before):end]
	switch {
	case len(who) == 1 && (who[0].Text == "i" || who[0].Text == "we"):
		return "", true
	case len(who) == 2 && (who[0].Text == "my" || who[0].Text == "our"):
		return baseForm(who[1].Text), true
	case len(who) == 1 && !english.StopWords.Has(who[0].Text):
		return who[0].Text, true // "where Tom lives"
	}
	return "", false
}

// baseForm is a word as subjects are compared: in the singular, without "'s", and
// the one word for a relation.
func baseForm(w string) string {
	w = strings.TrimSuffix(strings.TrimSuffix(w, "'s"), "'")
	if r := relation(w); r != "" {
		return r
	}
	if stem, ok := strings.CutSuffix(w, "ies"); ok && len(stem) > 2 {
		w = stem + "y"
	}
	w = singular(w)
	if r := relation(w); r != "" {
		return r
	}
	return w
}

// Voice tells who says a text.
type Voice struct {
	// Author is the name of the one who asks to forget; it may be empty.
	Author string
	// Other says that somebody else says the text, who addresses the author as "you".
	Other bool
}

// About reports whether a text, a fact or a turn, is about the subject.
func (s *Subject) About(text string, voice Voice) bool {
	for _, sentence := range sentencesOf(text) {
		ws := voice.words(sentence)
		if s.in(ws) || !voice.Other && s.claimedIn(sentence) {
			return true
		}
	}
	return false
}

// Means reports whether a label names the subject, and not that of another person: "Shoe
// size" names "my shoe size", and "Age" names "how old I am".
func (s *Subject) Means(label string) bool {
	if s.owner != "" {
		return false
	}
	var base []string
	for _, w := range strings.Fields(strings.ToLower(label)) {
		base = append(base, baseForm(w))
	}
	if s.kind != nil && kindNamed(strings.Join(base, " ")) == s.kind {
		return true
	}
	return len(base) > 0 && slices.Equal(s.words, base)
}

// sentencesOf are the sentences of a text that is read for a subject. A text that has
// none by the rules for prose is read whole, such as a title.
func sentencesOf(text string) []string {
	if all := english.Sentences(text); len(all) > 0 {
		return all
	}
	return []string{text[:min(len(text), english.MaxSentenceBytes)]}
}

// claimedIn reports whether a sentence claims what the subject is about.
func (s *Subject) claimedIn(sentence string) bool {
	if s.kind == nil || s.kind.attributes == "" {
		return false
	}
	form := Of(sentence)
	return slices.ContainsFunc(form.Claims, func(c Claim) bool {
		name := c.Attribute
		if s.owner != "" {
			var ok bool
			if name, ok = strings.CutPrefix(name, s.owner+" "); !ok {
				return false
			}
		}
		return listed(s.kind.attributes, name)
	})
}

// words are the words of a sentence as the author would say it: "the user's sister"
// and "your sister" are "my sister".
func (v Voice) words(sentence string) english.Words {
	ws := english.Lex(firstPerson(sentence))
	author := strings.ToLower(v.Author)
	out := make(english.Words, 0, len(ws))
	for i, w := range ws {
		noun, possessive := strings.CutSuffix(w.Text, "'s")
		switch {
		case noun == "user" && i > 0 && ws[i-1].Text == "the" || author != "" && author != "user" && noun == author:
			if noun == "user" && len(out) > 0 {
				out = out[:len(out)-1]
			}
			if w.Text = "i"; possessive {
				w.Text = "my"
			}
		case currencies.Has(w.Text):
			continue
		case v.Other:
			w.Text = flipped(w.Text)
		}
		out = append(out, w)
	}
	return out
}

// flipped is a word of one who speaks to the author as the author would say it.
func flipped(w string) string {
	switch w {
	case "you":
		return "i"
	case "your", "yours":
		return "my"
	case "i", "we", "me", "us":
		return "they"
	case "my", "our":
		return "their"
	}
	return w
}

// in reports whether ws has the words of the subject in their place.
func (s *Subject) in(ws english.Words) bool {
	base := make([]string, len(ws))
	for i := range ws {
		base[i] = baseForm(ws[i].Text)
	}
	var names [][]string
	if s.kind != nil {
		for name := range strings.SplitSeq(s.kind.names, ", ") {
			names = append(names, strings.Fields(name))
		}
		for said := range strings.SplitSeq(s.kind.said, ", ") {
			if phrase := strings.Fields(said); len(phrase) > 0 && s.toldBy(ws, base, phrase) {
				return true
			}
		}
	}
	for i := range ws {
		for _, words := range append(names, s.words) {
			if end := follow(ws, base, i, words); end > 0 && s.placed(ws, base, i, end, words) {
				return true
			}
		}
	}
	return false
}

// maxGap bounds the words between two words of a subject: "my trip last May to Rome".
const maxGap = 3

// follow is the index behind the words that stand in ws from i on; 0 if they do not.
func follow(ws english.Words, base []string, i int, words []string) int {
	if base[i] != words[0] {
		return 0
	}
	for _, w := range words[1:] {
		next := i + 1
		for next < len(ws) && next <= i+1+maxGap && base[next] != w && !stopsClause(ws[next-1].Stop) {
			next++
		}
		if next >= len(ws) || base[next] != w {
			return 0
		}
		i = next
	}
	return i + 1
}

// placed reports whether the words ws[i:end] mean the subject there.
func (s *Subject) placed(ws english.Words, base []string, i, end int, words []string) bool {
	related := relation(words[len(words)-1]) != ""
	next := ws.At(end)
	switch {
	case related && next == "in" && ws.At(end+1) == "law", related && i > 0 && relationPrefixes.Has(ws[i-1].Text):
		return false
	case !s.own && s.owner == "":
		return true
	case (!related || pets.Has(words[len(words)-1])) && ws[end-1].Stop == 0 && compoundHeads.Has(next):
		return false
	}
	whose, ok := possessor(ws, base, i)
	if !ok {
		whose, ok = subjectBefore(ws, base, i)
	}
	return ok && whose == s.owner
}

// toldBy reports whether a predicate of the owner's begins with a phrase: "earn #".
func (s *Subject) toldBy(ws english.Words, base, phrase []string) bool {
	for i := range ws {
		matches := i+len(phrase) <= len(ws)
		for k := 0; matches && k < len(phrase); k++ {
			w := ws[i+k].Text
			matches = phrase[k] == "#" && english.StartsWithDigit(w) || w == phrase[k] || base[i+k] == phrase[k]
		}
		if !matches {
			continue
		}
		if whose, ok := subjectBefore(ws, base, i); ok && whose == s.owner {
			return true
		}
	}
	return false
}

// maxBetween bounds the words between "my" and the noun.
const maxBetween = 3

// possessor is whose ws[i] is by the words before it: "" the speaker's, "sister" of
// "my sister's". It reports false if nothing says whose it is, and gives "?" for
// somebody else's.
func possessor(ws english.Words, base []string, i int) (whose string, ok bool) {
	for j := i - 1; j >= 0 && j >= i-maxBetween; j-- {
		w := ws[j].Text
		switch {
		case ws[j].Stop != 0 && ws[j].Stop != '\'':
			return "", false
		case w == "my" || w == "our":
			return "", true
		case strings.HasSuffix(w, "'s") || ws[j].Stop == '\'':
			name := base[j]
			if j > 0 && relation(base[j-1]) != "" && relation(name) == "" { // "my sister Ana's"
				name = base[j-1]
			}
			return name, true
		case w == "his" || w == "her" || w == "their" || w == "its":
			if whose, ok := subjectBefore(ws, base, j); ok && whose != "" {
				return whose, true
			}
			return "?", true
		case possessives.Has(w):
			return "?", true
		case inAny(w, english.Articles, english.Prepositions, english.Auxiliaries), w == "and", w == "or", mayBeVerb(w),
			relation(base[j]) != "":
			return "", false
		}
	}
	return "", false
}

// subjectBefore is the owner of the predicate that ws[i] is in: "" the speaker,
// "sister", or a name. It reports false if the words before do not tell.
func subjectBefore(ws english.Words, base []string, i int) (whose string, ok bool) {
	for j := i - 1; j >= 0; j-- {
		w := ws[j].Text
		first := j == 0 || stopsClause(ws[j-1].Stop) || clauseJoints.Has(ws[j-1].Text)
		switch {
		case w == "i" || w == "we":
			return "", true
		case w == "he" || w == "she" || w == "they" || w == "you" || w == "who":
			return "?", true
		case (w == "my" || w == "our") && first:
			for k := j + 1; k < i && k <= j+maxBetween; k++ {
				if strings.HasSuffix(ws[k].Text, "'s") {
					return "?", true // "my sister's friend has"
				}
				if r := relation(base[k]); r != "" {
					return r, true
				}
			}
			return "?", true
		case first && j+1 < i && !clauseJoints.Has(w) && !english.StopWords.Has(w) && !mayBeVerb(w):
			return base[j], true // "Tom has"
		case first && j > 0 && stopsClause(ws[j-1].Stop):
			return "", false
		}
	}
	return "", false
}
