package extract

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Gist is the key under which two facts say the same in nearly the same words.
// Beyond [Normalize] it folds, in English sentences, contractions, lead-ins
// ("Note that"), politeness, intensifiers, articles where they say nothing,
// number words, the spellings of Britain and America, and the forms that say
// that something ended ("I stopped smoking", "I don't smoke any more").
//
// It promises that facts of different meaning keep different gists, so far as
// Normalize keeps them apart, and that facts equal under Normalize have one
// gist. It does not promise to find every paraphrase: order, negation, tense,
// number, names and time words all count, and where a word might mean
// something, it stays. Words that depend on when they are said ("today") are
// compared as words. A text that does not look English is only normalized.
func Gist(fact string) string {
	n := Normalize(fact)
	ws := lex(n)
	if len(ws) > maxSentenceWords || !english(ws) {
		return n
	}
	ws = thin(ws)
	if positive, ok := ceased(ws); ok && len(cutRecent(ws)) == len(ws) {
		return "no longer " + Gist(joined(positive))
	}
	return joined(ws)
}

// Ends reads a fact that says that something holds no more, and gives the gist
// of the statement that it ends: "I no longer eat meat" ends what Gist gives
// for "I eat meat". It promises that the positive statement is formed surely;
// where more is said ("I stopped smoking for a month", "I don't eat much meat
// any more") it refuses. What somebody "used to" do is not read: it may be a
// story of old times.
func Ends(fact string) (what string, ok bool) {
	if strings.Contains(fact, "?") {
		return "", false
	}
	ws := lex(Normalize(fact))
	if len(ws) > maxSentenceWords || !english(ws) {
		return "", false
	}
	positive, ok := ceased(cutRecent(thin(ws)))
	if !ok {
		return "", false
	}
	return Gist(joined(positive)), true
}

// Forgets reads one sentence of a user ([Rules] splits turns into them) as a
// request to forget a statement, and gives the statement's gist: "Please
// forget that I like tea". It reads only the forms that repeat the statement
// after "that"; "Forget what I said about tea" names a subject and no
// statement, and is refused, as is everything that does not speak of the
// speaker or theirs.
func Forgets(text string) (what string, ok bool) {
	if !mayForget(text) {
		return "", false
	}
	ws := lex(Normalize(text))
	if len(ws) > maxSentenceWords {
		return "", false
	}
	i := skipLeads(ws)
	for n := polite.at(ws, i); n > 0; n = polite.at(ws, i) {
		i += n
	}
	n := forgetting.at(ws, i)
	if n == 0 {
		return "", false
	}
	ws = ws[i+n:]
	ws = ws[saidBefore.at(ws, 0):]
	for len(ws) > 0 && ws[len(ws)-1].text == "please" {
		ws = ws[:len(ws)-1]
	}
	if len(ws) < 3 || ws[0].text != "i" && ws[0].text != "we" && ws[0].text != "my" && ws[0].text != "our" || !forgettable(ws) {
		return "", false
	}
	return Gist(joined(ws)), true
}

// mayForget is false of most texts that ask for nothing to be forgotten: those
// without a word of a phrase that does. Reading them closely would take longer.
// What is not all ASCII may have such a word in another form.
func mayForget(text string) bool {
	if !ascii(text) {
		return true
	}
	text = strings.ToLower(text)
	for w := range forgettingWords {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// telling is the longest word of each phrase.
func (p phrases) telling() set {
	out := set{}
	for _, list := range p {
		for _, ph := range list {
			out[slices.MaxFunc(ph, func(a, b string) int { return cmp.Compare(len(a), len(b)) })] = true
		}
	}
	return out
}

// forgettable reports whether ws is one statement, not an idiom ("Forget that
// I asked") and not the first of several.
func forgettable(ws []word) bool {
	verb := false
	for i, w := range ws {
		switch {
		case w.stop != 0 && i+1 < len(ws) && strings.ContainsRune(",;:?!–—", w.stop), spoken[w.text], w.text == "?":
			return false
		case (w.text == "and" || w.text == "or" || w.text == "but") && i+1 < len(ws) && (clauseStarts[ws[i+1].text] || w.text == "but"):
			return false
		}
		v := strings.TrimSuffix(w.text, "s")
		verb = verb || i > 0 && i < 5 && (auxiliaries[w.text] || present[v] || likings[w.text] || pastVerb(w.text) || w.text == "do")
	}
	return verb
}

var (
	forgetting = phraseTable("forget that", "forget the fact that", "do not remember that", "stop remembering that", "delete the fact that", "remove the fact that", "erase the fact that",
		"delete from memory that", "delete from your memory that", "remove from memory that", "remove from your memory that", "erase from memory that", "erase from your memory that")
	forgettingWords = forgetting.telling()
	saidBefore      = phraseTable("i said that", "i said", "i told you that", "i told you", "i mentioned that", "i ever said that", "i ever told you that")
	spoken          = words("said say told tell asked ask mentioned mention wrote brought ever will would remember forget existed exist exists existing happened")
	clauseStarts    = words("that i we my our you he she they it remember forget")
)

// lex reads the words of text in one spelling, and the marks between them that
// may mean something: all but the ordinary punctuation and quotation marks.
func lex(text string) []word {
	split := splitWords(text)
	out := make([]word, 0, len(split)+2)
	end, sign := 0, ""
	for _, w := range split {
		if w.start >= end {
			gap := text[end:w.start]
			if last := len(out) - 1; last >= 0 && gap != "" && !strings.Contains(gap, " ") && digit(out[last].text, true) && digit(w.text, false) {
				out[last].text += gap + w.text // "3,5" is one number
				out[last].end, out[last].stop, end = w.end, w.stop, w.end
				continue
			}
			out, sign = appendMarks(out, gap, digit(w.text, false), end)
		}
		end = w.end
		w.text = sign + w.text
		sign = ""
		out = appendParts(out, w)
	}
	out, _ = appendMarks(out, text[end:], false, end)
	return out
}

// longestSpelled bounds the words that spelling looks at, in bytes: longer ones
// are no words, and looking into them would take the square of their length.
const longestSpelled = 32

// appendParts adds a word, taken apart at the hyphens between letters, in
// American spelling and with small numbers as figures.
func appendParts(out []word, w word) []word {
	whole := w
	for w.text != "" {
		part, rest, ok := strings.Cut(w.text, "-")
		if !ok || part == "" || rest == "" || digit(rest, false) || digit(part, true) {
			part, rest = w.text, ""
		}
		whole.text = spelling(part)
		if unit := spelling(rest); rest != "" && len(whole.text) == 2 && whole.text[1] == '0' && digit(whole.text, false) && (len(unit) == 1 && digit(unit, false) || unit == "one") {
			whole.text, rest = whole.text[:1]+strings.Replace(unit, "one", "1", 1), "" // "thirty-four"
		}
		whole.stop = 0
		out = append(out, whole)
		w.text = rest
	}
	out[len(out)-1].stop = w.stop
	return out
}

// appendMarks adds the marks of a gap as words; a minus before a number is
// given back as its sign.
func appendMarks(out []word, gap string, number bool, at int) ([]word, string) {
	for i, r := range gap {
		switch {
		case r == '-' || r == '−':
			if number && i+utf8.RuneLen(r) == len(gap) && (i > 0 && gap[i-1] == ' ' || i == 0 && len(out) == 0) {
				return out, "-"
			}
		case r == '&':
			out = append(out, word{text: "and", start: at + i, end: at + i + 1})
		case unicode.IsSpace(r), strings.ContainsRune(`.,;:!"'()[]{}*_“”‘’«»„–—…`, r), r == utf8.RuneError:
		default:
			out = append(out, word{text: string(r), start: at + i, end: at + i + utf8.RuneLen(r)})
		}
	}
	return out, ""
}

// digit reports whether s ends or begins with a digit.
func digit(s string, end bool) bool {
	if s == "" {
		return false
	}
	c := s[0]
	if end {
		c = s[len(s)-1]
	}
	return '0' <= c && c <= '9'
}

// spelling is w as Americans write it, and as a figure if it is a small number.
func spelling(w string) string {
	if len(w) > longestSpelled {
		return w
	}
	if s := spellings[w]; s != "" {
		return s
	}
	for i := 1; i+2 < len(w); i++ {
		if w[i:i+3] == "our" && ourStems[w[:i]] {
			return w[:i] + "or" + w[i+3:]
		}
		if w[i:i+2] == "is" && iseStems[w[:i]] && iseEnds[w[i+2:]] {
			return w[:i] + "iz" + w[i+2:]
		}
	}
	return w
}

// english reports whether ws looks English: function words of English, more of
// them than of its neighbours, and enough words that the rules know.
func english(ws []word) bool {
	strong, foreign, known := 0, 0, 0
	for _, w := range ws {
		for _, r := range w.text {
			if r > unicode.MaxLatin1 && unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) {
				return false
			}
		}
		t := w.text
		if strongWords[t] {
			strong++
		}
		if foreignWords[t] {
			foreign++
		}
		if strongWords[t] || empty[t] || present[t] || irregular[t] || likings[t] || ownNouns[t] || prepositions[t] || deeds[t] {
			known++
		}
	}
	return strong > foreign && known*3 >= len(ws)
}

// joined is ws as text.
func joined(ws []word) string {
	var b strings.Builder
	for i, w := range ws {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.text)
	}
	return b.String()
}

// withoutLead is ws without what leads into the statement. A lead that weighs
// on it ("Hopefully") stays, with all before it.
func withoutLead(ws []word) []word {
	i := skipLeads(ws)
	next, _, _ := asked(ws, i)
	next += skipLeads(ws[next:])
	for _, w := range ws[:next] {
		if weighty[w.text] {
			return ws
		}
	}
	if len(ws)-next < 3 || questionWords[ws[next].text] {
		return ws // "You know how to cook"
	}
	return ws[next:]
}

// thin is ws without its lead and without the words that change nothing, the
// rest in one of the forms that mean the same. One filler may hide another
// ("I just really like it"), so it looks twice.
func thin(ws []word) []word { return thinOnce(thinOnce(withoutLead(ws))) }

// thinOnce is one look of thin.
func thinOnce(ws []word) []word {
	out := make([]word, 0, len(ws))
	negated, liked := false, false
	prev := ""
	for i := 0; i < len(ws); {
		n := 0
		if !negated {
			n = filler(ws, i, prev, liked)
		}
		if n == 0 {
			n = hollow(ws, i, prev)
		}
		if n > 0 {
			i += n
			if len(out) > 0 && i <= len(ws) && ws[i-1].stop != 0 && out[len(out)-1].stop == 0 {
				out[len(out)-1].stop = ws[i-1].stop
			}
			continue
		}
		w := ws[i]
		negated = negated || negations[w.text]
		if base := infinitive(w.text); base != "" && likings[prev] && (len(out) < 2 || out[len(out)-2].text != "would") {
			out = append(out, word{text: "to", start: w.start, end: w.start}) // "I like swimming" is "I like to swim"
			w.text = base
		}
		liked = liked || likings[w.text]
		if w.text == "any" && i+2 == len(ws) && ws[i+1].text == "more" {
			w.text, i = "anymore", i+1
		}
		out = append(out, w)
		prev = w.text
		i++
	}
	return out
}

// filler is how many words at ws[i] only stress what is said. Behind a
// negation they are what is denied ("I don't really like it"); there they are
// not asked for.
func filler(ws []word, i int, prev string, liked bool) int {
	next, last := "", i+1 == len(ws)
	if !last {
		next = ws[i+1].text
	}
	switch w := ws[i].text; w {
	case "really", "actually", "honestly", "literally", "definitely", "certainly", "also", "currently":
		if !last {
			return 1
		}
	case "absolutely", "truly", "totally":
		if likings[next] {
			return 1
		}
	case "still":
		if !last && !stillNouns[next] && !stillVerbs[prev] {
			return 1
		}
	case "very":
		if next == "much" && (i+2 == len(ws) && liked || i+2 < len(ws) && likings[ws[i+2].text]) {
			return 2
		}
		if moods[next] || evaluative[next] && next != "best" && next != "first" {
			return 1
		}
	case "so":
		switch {
		case next == "much" && i+2 == len(ws) && liked:
			return 2
		case likings[next], beForms[prev] && (moods[next] || evaluative[next]) && !result(ws[i:]):
			return 1
		}
	case "a":
		if next == "lot" && i+2 == len(ws) && liked {
			return 2
		}
	case "just":
		if pastVerb(next) || participles[next] || likings[next] {
			return 1
		}
	case "too":
		if last && i > 1 {
			return 1
		}
	case "as":
		if next == "well" && i+2 == len(ws) {
			return 2
		}
	case "now":
		if last && !timeLeads[prev] && !contrasted(ws[:i]) || !last && (beForms[prev] || prev == "i" || prev == "we") {
			return 1
		}
	}
	return 0
}

// result reports whether a clause of result may follow: "so tired that…".
func result(ws []word) bool {
	for _, w := range ws[:min(len(ws), 6)] {
		if w.text == "that" || w.text == "as" || w.text == "i" {
			return true
		}
	}
	return false
}

// contrasted reports whether "now" stands against another time.
func contrasted(ws []word) bool {
	for i, w := range ws {
		if w.text == "but" || w.text == "used" || w.text == "was" || w.text == "were" || i > 0 && w.text == "not" {
			return true
		}
	}
	return false
}

// hollow is how many words at ws[i] are grammar without meaning, negated or not.
func hollow(ws []word, i int, prev string) int {
	next := ""
	if i+1 < len(ws) {
		next = ws[i+1].text
	}
	switch w := ws[i].text; {
	case w == "please" && (i == 0 || next == "") && prev != "to":
		return 1
	case (w == "a" || w == "an") && (beForms[prev] || prev == "as" || prev == "became") && !amounts[next] && next != "" && wordRune(rune(next[0])):
		return 1
	case w == "the" && (prev == "in" || prev == "at") && !singled[next] && next != "":
		return 1
	case (w == "have" || w == "has") && !modals[prev] && completed[next]:
		return 1 // "I have moved" is "I moved"
	case (w == "have" || w == "has") && next == "just" && i+2 < len(ws) && completed[ws[i+2].text]:
		return 2
	case w == "got" && (prev == "have" || prev == "has") && (articles[next] || digit(next, false)):
		return 1
	}
	return 0
}

// infinitive is the verb of a form in -ing; "" if it is not surely known.
func infinitive(ing string) string {
	stem, ok := strings.CutSuffix(ing, "ing")
	if !ok || len(stem) < 2 {
		return ""
	}
	if stem[len(stem)-1] == stem[len(stem)-2] && plainVerb(stem[:len(stem)-1]) {
		return stem[:len(stem)-1]
	}
	for _, v := range []string{stem, stem + "e"} {
		if plainVerb(v) {
			return v
		}
	}
	return ""
}

// plainVerb reports whether v is a verb that is known, in its plain form.
func plainVerb(v string) bool { return present[v] || moreVerbs[v] }

// ceased reads ws, thinned, as saying that something holds no more: the words
// of the statement that it ends.
func ceased(ws []word) ([]word, bool) {
	n := subjectEnd(ws)
	if n == 0 {
		return nil, false
	}
	subject, rest, denied := ws[:n:n], ws[n:], false
	switch last := len(rest) - 1; {
	case textAt(rest, last) == "anymore":
		rest, denied = rest[:last], true
	case textAt(rest, last) == "longer" && textAt(rest, last-1) == "any":
		rest, denied = rest[:last-1], true
	}
	switch v := textAt(rest, 2); {
	case !whole(rest):
		return nil, false
	case denied:
		return negative(subject, rest)
	case textAt(rest, 0) == "no" && textAt(rest, 1) == "longer":
		if v == "" || v == "to" || auxiliaries[v] && v != "have" && v != "has" || strings.HasSuffix(v, "ing") {
			return nil, false
		}
		return append(subject, rest[2:]...), true
	case lastingForms[textAt(rest, 0)] && textAt(rest, 1) == "no" && v == "longer" && len(rest) > 3:
		return append(append(subject, rest[0]), rest[3:]...), true
	}
	return stoppedDoing(subject, rest, n > 1)
}

// negative turns "do not eat meat" into "eat meat".
func negative(subject, rest []word) ([]word, bool) {
	if len(rest) < 3 || rest[1].text != "not" || adverbs[rest[2].text] {
		return nil, false
	}
	verb := rest[2]
	switch aux := rest[0].text; {
	case (aux == "do" || aux == "does") && (blocked[verb.text] && !likings[verb.text]):
		return nil, false
	case aux == "do":
		return append(subject, rest[2:]...), true
	case aux == "does":
		if verb.text = thirdPerson(verb.text); verb.text == "" {
			return nil, false
		}
		return append(append(subject, verb), rest[3:]...), true
	case lastingForms[aux] && (aux != "can" || len(rest) > 3):
		return append(append(subject, rest[0]), rest[2:]...), true
	}
	return nil, false
}

// stoppedDoing turns "stopped eating meat" into "eat meat", and "quit my job
// at Acme" into "work at Acme".
func stoppedDoing(subject, rest []word, third bool) ([]word, bool) {
	n := 1
	if w := textAt(rest, 0); w == "have" || w == "has" {
		rest = rest[1:]
	}
	switch {
	case textAt(rest, 0) == "stopped", textAt(rest, 0) == "quit":
	case (textAt(rest, 0) == "gave" || textAt(rest, 0) == "given") && textAt(rest, 1) == "up":
		n = 2
	case textAt(rest, 0) == "left" && textAt(rest, 1) == "my":
	default:
		return nil, false
	}
	verb := word{text: infinitive(textAt(rest, n))}
	rest = rest[n:]
	if hasPhrase(rest, []string{"my", "job", "at"}) && len(rest) > 3 && n == 1 {
		verb.text = "work"
		if rest = rest[1:]; anyOf(rest[2:], prepositions) {
			return nil, false // "to travel"
		}
	} else if verb.text == "be" {
		return nil, false
	}
	if third && verb.text != "" {
		verb.text = thirdPerson(verb.text)
	}
	if verb.text == "" {
		return nil, false
	}
	return append(append(subject, verb), rest[1:]...), true
}

// thirdPerson is v after "my sister"; "" if it is not known.
func thirdPerson(v string) string {
	switch {
	case v == "have":
		return "has"
	case v == "be" || !plainVerb(v) && !likings[v]:
		return ""
	case strings.HasSuffix(v, "y") && len(v) > 1 && !strings.ContainsRune("aeiou", rune(v[len(v)-2])):
		return v[:len(v)-1] + "ies"
	case strings.HasSuffix(v, "s"), strings.HasSuffix(v, "x"), strings.HasSuffix(v, "sh"), strings.HasSuffix(v, "ch"), strings.HasSuffix(v, "o"):
		return v + "es"
	}
	return v + "s"
}

// subjectEnd is where the subject ends that the speaker is, or that is theirs
// and one; 0 if there is no such subject.
func subjectEnd(ws []word) int {
	switch textAt(ws, 0) {
	case "i", "we":
		return 1
	case "my", "our":
		for k := 2; k < min(len(ws), 4); k++ {
			if w := ws[k].text; auxiliaries[w] || w == "no" || w == "stopped" || w == "quit" {
				if strings.HasSuffix(ws[k-1].text, "s") {
					return 0
				}
				return k
			}
		}
	}
	return 0
}

// whole reports whether nothing in ws bounds, repeats or joins the statement,
// or points outside it.
func whole(ws []word) bool {
	for i, w := range ws {
		year := len(w.text) == 4 && (w.text[:2] == "19" || w.text[:2] == "20")
		if year || bounding[w.text] || pronouns[w.text] || dayNames[w.text] || w.text == "for" && (i+1 == len(ws) || amountStarts[ws[i+1].text] || digit(ws[i+1].text, false)) ||
			i+1 < len(ws) && w.stop != 0 && w.stop != '\'' && w.stop != '"' {
			return false
		}
	}
	return true
}

// anyOf reports whether a word of s is in ws.
func anyOf(ws []word, s set) bool {
	for _, w := range ws {
		if s[w.text] {
			return true
		}
	}
	return false
}

// textAt is the word at i, "" outside of ws.
func textAt(ws []word, i int) string {
	if i < 0 || i >= len(ws) {
		return ""
	}
	return ws[i].text
}

var (
	spellings = map[string]string{
		"two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12",
		"thirteen": "13", "fourteen": "14", "fifteen": "15", "sixteen": "16", "seventeen": "17", "eighteen": "18", "nineteen": "19", "twenty": "20", "thirty": "30", "forty": "40", "fifty": "50", "sixty": "60",
		"seventy": "70", "eighty": "80", "ninety": "90",
		"centre": "center", "centres": "centers", "theatre": "theater", "theatres": "theaters", "metre": "meter", "metres": "meters", "litre": "liter", "litres": "liters",
		"kilometre": "kilometer", "kilometres": "kilometers", "grey": "gray", "traveller": "traveler", "travelled": "traveled", "travelling": "traveling",
		"cancelled": "canceled", "cancelling": "canceling", "jewellery": "jewelry", "pyjamas": "pajamas", "aeroplane": "airplane", "moustache": "mustache", "defence": "defense",
		"licence": "license", "practise": "practice", "maths": "math", "learnt": "learned", "dreamt": "dreamed", "analyse": "analyze", "analysed": "analyzed", "mummy": "mommy",
		"mum's": "mom's", "yoghurt": "yogurt", "catalogue": "catalog",
	}
	ourStems = words("col fav flav neighb hon behavi hum lab rum harb vap od sav")
	iseStems = words("organ real recogn apolog special memor critic emphas prior summar visual custom final minim maxim optim")
	iseEnds  = words("e es ed er ers ing")

	strongWords  = words("i my me our we the am is are was were has have had you your he she they his her their do does did not and of with that this it at for from to call answer reply")
	foreignWords = words(`ich du er wir der die das und nicht ist ein eine einen zu mit auf für mein meine bin habe je het een van ik mijn niet en el los las que del les est un une et il lo di che per con mon ma
		mi mia mio miei della y não e com uma um og att jag jeg det som har på är min w z nie się jest ja mam moja moj já on si po za med till hvor ve bir ben`)
	weighty      = words("hopefully otherwise however wish if maybe")
	negations    = words("not never no none nobody nothing neither nor hardly barely rarely seldom without")
	lastingForms = words("am are is can")
	beForms      = words("am is are was were be been")
	amounts      = words("few little lot bit couple number hundred thousand million dozen while day week month year time night")
	singled      = words("most few little only one other same last first next best past future")
	completed    = words("moved bought adopted joined quit stopped started graduated retired relocated switched sold enrolled")
	timeLeads    = words("right just until till by for from even since than before to")
	stillNouns   = words("life lifes water wine images photos photography")
	stillVerbs   = words("stand sit stay keep hold lie standing sitting staying keeping holding lying")
	moreVerbs    = words("do see have buy call date love like hate enjoy visit talk help feel think support care knit sketch message look wait")
	bounding     = words(`because but and so since when while if or unless until till though although as much many often lot enough any ever even always usually sometimes almost nearly again maybe
		probably perhaps after before during once that which who used today tonight there here anymore ? i we you now`)
	amountStarts = words("a an the now good lent some few several ever")
)

// Forgotten gives the gists of what a text asks to be forgotten; see Forgets.
func Forgotten(text string) (out []string) {
	if !mayForget(text) {
		return nil
	}
	for _, s := range sentencesOf(text) {
		if what, ok := Forgets(s); ok {
			out = append(out, what)
		}
	}
	return out
}

// ToForget is the gist of what the text of a Fact with Forget asks to be
// forgotten: the rules give the request itself, a model the statement.
func ToForget(text string) string {
	if what, ok := Forgets(text); ok {
		return what
	}
	return Gist(text)
}
