package canonical

import (
	_ "embed" // for rewordings.txt
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// One thing is told from several sides: "they let me go" is "I was let go", "Mustard has replaced teal as my favorite
// color" is "my favorite color is mustard now". The readers of statements know one side. So a clause that tells
// the other one is put in the words that they know before they read it.
//
// The table "rewordings" has the words that are known, and the patterns of those that are put so. A pattern begins
// where a clause does. The words behind it stay as they are. They must not change the meaning of the clause, so that
// only those of the table "following" may come: "they let me go" in "they let me go home" is no dismissal.

//go:embed rewordings.txt
var rewordingsText string

var (
	rewordingTables = english.Parse(rewordingsText)
	rewordings      = compileRewordings()
	rewordingsBy    = rewordingsByFirst()
	following       = rewordingTables.Words("following")
	apartWords      = rewordingTables.Words("apart")
	longSpans       = rewordingTables.Words("long-spans")
	meetingMeals    = rewordingTables.Words("meeting-meals")
	ownPlaces       = rewordingTables.Words("own-places")
	streetEnds      = rewordingTables.Words("street-ends")
	oneWord         = rewordingTables.Words("one-word")
	apartPhrases    = rewordingTables.Phrases("apart-phrases")
)

// rewording is one pattern of the table.
type rewording struct {
	to     []string // words and slots
	tokens []token
	open   bool // anything may follow
	exact  bool // nothing may
	// first are the words that the pattern begins with, and key is one place of words that it has; nil for any. Most
	// facts have none of them, so that they cost little.
	first, key []string
}

func compileRewordings() (out []rewording) {
	for left, patterns := range rewordingTables.Lists("rewordings") {
		for _, p := range patterns {
			p, open := strings.CutSuffix(p, " ...")
			p, exact := strings.CutSuffix(p, " .")
			r := rewording{to: strings.Fields(left), tokens: compileTokens(p), open: open, exact: exact}
			if t := r.tokens[0]; !t.optional {
				r.first = t.words
			}
			for _, t := range r.tokens[1:] {
				if !t.optional && len(t.words) > 0 && (r.key == nil || len(t.words[0]) > len(r.key[0])) {
					r.key = t.words
				}
			}
			out = append(out, r)
		}
	}
	return out
}

// A clause begins with few of the words that patterns do, so that most patterns are never looked at.

// rewordingsByFirst are the rewordings that a clause may have by its first word, in the order of the table; those of ""
// begin with any word.
func rewordingsByFirst() map[string][]*rewording {
	out := map[string][]*rewording{"": nil}
	for i := range rewordings {
		for _, w := range rewordings[i].first {
			out[w] = nil
		}
	}
	for i := range rewordings {
		r := &rewordings[i]
		for w := range out {
			if r.first == nil || slices.Contains(r.first, w) {
				out[w] = append(out[w], r)
			}
		}
	}
	return out
}

// maxRewording bounds the words of a slot.
const maxRewording = 5

// reworded is a fact with its clauses in the words that the readers of statements know.
func reworded(fact string) string {
	ws := english.Lex(fact)
	if len(ws) < 3 || len(ws) > maxFramedWords || strings.Contains(fact, "?") || isApart(ws) {
		return fact
	}
	lower := strings.ToLower(fact) == fact
	var out strings.Builder
	end := 0
	start := 0 // where the clause begins
	for i := 0; i < len(ws); i++ {
		switch {
		case i == 0 || stopsClause(ws[i-1].Stop) || coordinates(ws[i-1].Text):
			start = i
		case !behindFront(ws, start, i):
			continue
		}
		if ws[i].Start < end {
			continue // the parts of "welder-and-they" have the bytes of the whole
		}
		// "I got a flat of my own and moved out of my parents' house"
		mine := i > 0 && ws[i-1].Text == "and" && ws[0].Text == "i"
		text, n := rewordingAt(fact, ws[i:], mine)
		// "Recently they let me go"
		for n == 0 && (english.Adverbs.Has(ws.At(i)) && !negations.Has(ws[i].Text) || ws.At(i) == "please") {
			i++
			text, n = rewordingAt(fact, ws[i:], mine)
		}
		if n == 0 || ws[i].Start < end {
			continue
		}
		if !lower {
			text = strings.ToUpper(text[:1]) + text[1:]
		}
		out.WriteString(fact[end:ws[i].Start] + text)
		i += n - 1
		end = ws[i].End
	}
	return out.String() + fact[end:]
}

// Plainly is a statement in the words that the readers of this package know, if it is told in others: "I was let go" of
// "they let me go". It reports whether it is.
func Plainly(text string) (string, bool) {
	bare := pared(text)
	// Paring alone is no other wording: what no rule keeps is mostly not kept for good reason.
	plain := reworded(bare)
	return plain, plain != bare
}

// isApart reports whether a fact is surely not of the speaker's life now: "in 2008 they let me go", "my new boss in the
// game".
func isApart(ws english.Words) bool {
	for i := range ws {
		if ws[i].Text == "in" && isYear(ws.At(i+1)) {
			return true
		}
	}
	return ws.Any(apartWords) || apartPhrases.Found(ws)
}

// behindFront reports whether the speaker comes at i, behind a time or a place: "after the divorce I went back to
// Moss". A verb before the speaker would be one of another clause.
func behindFront(ws english.Words, start, i int) bool {
	if w := ws[i].Text; w != "i" && w != "we" || !english.Prepositions.Has(ws[start].Text) || i-start > maxFrontWords {
		return false
	}
	return !slices.ContainsFunc(ws[start:i], func(w english.Word) bool {
		return english.Past(w.Text) || inAny(w.Text, english.Auxiliaries, english.Pronouns, relating)
	})
}

// coordinates reports whether w joins two clauses of which each holds alone.
func coordinates(w string) bool { return w == "and" || w == "but" || w == "so" }

// rewordingAt is what ws begins with in other words, and the number of the words of ws that it stands for: the most
// that a pattern has. In mine the subject may lack, as it is the speaker's.
func rewordingAt(fact string, ws english.Words, mine bool) (text string, most int) {
	found := map[string]string{}
	begin, ok := rewordingsBy[ws.At(0)]
	if !ok {
		begin = rewordingsBy[""]
	}
	if mine {
		begin = slices.Concat(begin, rewordingsBy["i"])
	}
	for _, r := range begin {
		tokens := r.tokens
		switch {
		case !r.hasKey(ws):
			continue
		case r.first == nil || slices.Contains(r.first, ws.At(0)):
		case mine && r.first[0] == "i":
			tokens = tokens[1:]
		default:
			continue
		}
		n := r.match(tokens, fact, ws, found)
		if n <= most || n < len(ws) && !r.mayFollow(ws[:n], ws[n:]) {
			continue // "they let me go home early"
		}
		said := make([]string, len(r.to))
		for i, w := range r.to {
			if said[i] = w; w[0] == '<' {
				slot, end, _ := strings.Cut(w[1:], ">")
				said[i] = found[slot] + end // "<near>'s"
			}
		}
		text, most = strings.Join(said, " "), n
	}
	return text, most
}

// hasKey reports whether ws has a word of the key.
func (r *rewording) hasKey(ws english.Words) bool {
	return r.key == nil || slices.ContainsFunc(ws, func(w english.Word) bool { return slices.Contains(r.key, w.Text) })
}

// mayFollow reports whether rest, behind words that are told from another side, leaves them what they are.
func (r *rewording) mayFollow(ws, rest english.Words) bool {
	next := rest[0].Text
	from := (next == "from" || next == "as") && (rest.At(1) == "now" || rest.At(1) == "of" || rest.At(1) == "today")
	day := from || next == "on" && inAny(rest.At(1), english.DateWords, english.WeakDateWords)
	if r.exact || rest.StartWith("and", "then") {
		return false // "you can use emojis again and then"
	}
	if recentTime(rest) {
		return true
	}
	leads := english.Prepositions.Has(ws[len(ws)-1].Text)
	open := r.open && (leads || !goesOn(ws, rest))
	return isDate(next) || open || ws[len(ws)-1].Stop != 0 || following.Has(next) || day
}

// recentTime reports whether the clause that ws goes on with is a time of the last months alone: "at the start of the
// month", "in May".
func recentTime(ws english.Words) bool {
	end := 1
	for end < len(ws) && !stopsClause(ws[end-1].Stop) && !links.Has(ws[end].Text) && !isDate(ws[end].Text) {
		end++
	}
	month := ws[0].Text == "in" && end == 2 && monthNumbers.Of(ws[1].Text) != ""
	return month || recentStart.Has(ws[0].Text) && recently.MatchString(ws[:end].String())
}

// match is the number of words of ws that tokens stand for, -1 for none. It notes in found what the slots stand for.
func (r *rewording) match(tokens []token, fact string, ws english.Words, found map[string]string) int {
	if len(tokens) == 0 {
		return 0
	}
	t, rest := tokens[0], tokens[1:]
	if t.slot == "" && !t.wild && len(ws) > 0 && isDate(ws[0].Text) { // "today (2026-05-12), my new record"
		if n := r.match(tokens, fact, ws[1:], found); n >= 0 {
			return n + 1
		}
	}
	from, until := 1, 1
	switch {
	case t.slot == "mark":
		return r.match(rest, fact, ws, found)
	case t.wild:
		from, until = 0, maxWild
	case oneWord.Has(t.slot):
	case t.slot != "":
		until = maxRewording
	case len(ws) == 0 || !slices.Contains(t.words, ws[0].Text):
		until = 0
	}
	until = upToMark(ws, from, min(until, len(ws)))
	last := t.slot != "" && len(rest) == 0
	for k := range max(0, until-from+1) {
		n := from + k
		if last {
			n = until - k // "New Year" before "New"
		}
		if t.slot != "" && !fills(t.slot, fact, ws[:n], ws[n:], last) {
			continue
		}
		marked := n > 0 && stopsClause(ws[n-1].Stop) && ws[n-1].Stop != ':'
		if n < len(ws) && len(rest) > 0 && marked && rest[0].slot != "mark" {
			break
		}
		if k := r.match(rest, fact, ws[n:], found); k >= 0 {
			if t.slot != "" {
				found[t.slot] = slotText(t.slot, fact, ws[:n])
			}
			return n + k
		}
	}
	if t.optional {
		return r.match(rest, fact, ws, found)
	}
	return -1
}

// upToMark is until, or fewer words, if a mark stands before. It looks for marks behind the first from words.
func upToMark(ws english.Words, from, until int) int {
	for n := max(from, 2); n <= until; n++ {
		title := titles.Has(strings.TrimSuffix(ws[n-2].Text, ".")) // "Dr."
		if stopsClause(ws[n-2].Stop) && !title {
			return n - 1
		}
	}
	return until
}

// slotText is what a slot stands for: the figure of an ordinal, or else the words themselves.
func slotText(slot, fact string, ws english.Words) string {
	switch slot {
	case "nth":
		return nth(ws[0].Text)
	case "aged":
		return strings.TrimSuffix(ws[0].Text, "-year-old")
	case "poss":
		if ownsAll(fact, ws) {
			return fact[ws[0].Start:ws[len(ws)-1].End] + "'"
		}
	case "whose":
		return fact[ws[0].Start : ws[len(ws)-1].End-len("'s")]
	}
	return fact[ws[0].Start:ws[len(ws)-1].End]
}

// ownsAll reports whether ws, words of a fact, ends with a plural that owns what follows: "my parents'".
func ownsAll(fact string, ws english.Words) bool {
	last := ws[len(ws)-1]
	return strings.HasSuffix(last.Text, "s") && (strings.HasPrefix(fact[last.End:], "'") ||
		strings.HasPrefix(fact[last.End:], "’"))
}

// slotWords are the slots whose value has a form of its own, by name. Each tells whether ws, which rest follows, is
// one.
var slotWords = map[string]func(fact string, ws, rest english.Words) bool{
	"number": func(_ string, ws, _ english.Words) bool {
		return isNumber(ws[0].Text) || ws[0].Text == "one"
	},
	"pay": func(_ string, ws, _ english.Words) bool { return numberOf(ws[:1]) != "" },
	"nth": func(_ string, ws, _ english.Words) bool { return nth(ws[0].Text) != "" },
	// A time of a race or of a train, and a number that may be dialled.
	"clock": func(_ string, ws, _ english.Words) bool {
		return english.StartsWithDigit(ws[0].Text) && strings.Contains(ws[0].Text, ":")
	},
	"phone": func(fact string, ws, _ english.Words) bool { return (&claim{text: fact}).phoneNumber(ws) != "" },
	// Where a journey goes needs no table: any name but a person's or a day's may be one.
	"dest": func(fact string, ws, rest english.Words) bool {
		name := ws[0].Upper && ws[len(ws)-1].Upper && !givenNames.Has(ws[0].Text) && ws[0].Text != "i" &&
			!english.DateWords.Has(ws[0].Text) && !goesOn(ws, rest)
		return name || (&claim{text: fact}).placeName(ws, false) != ""
	},
	// People who are called by their title, and by both names.
	"dr": func(_ string, ws, rest english.Words) bool {
		names := !slices.ContainsFunc(ws[1:], func(w english.Word) bool { return !w.Upper })
		return strings.TrimSuffix(ws[0].Text, ".") == "dr" && len(ws) > 1 && names && !goesOn(ws, rest)
	},
	// Addresses: a street has its number in front, and a word with a capital.
	"email": func(fact string, ws, _ english.Words) bool { return (&claim{text: fact}).emailAddress(ws) != "" },
	"street": func(fact string, ws, rest english.Words) bool {
		named := slices.ContainsFunc(ws, func(w english.Word) bool { return w.Upper })
		street := named && english.StartsWithDigit(ws[0].Text) && !goesOn(ws, rest)
		last := ws[len(ws)-1].Text
		return street && (placeSuffix.Has(last) || streetEnds.Has(last)) && (&claim{text: fact}).streetAddress(ws) != ""
	},
	// A first name that is known keeps "it is Berlin now" from being a name.
	"full": func(_ string, ws, rest english.Words) bool {
		return len(ws) == 2 && ws[0].Upper && ws[1].Upper && givenNames.Has(ws[0].Text) && !goesOn(ws, rest)
	},
	"meal": func(_ string, ws, _ english.Words) bool { return meetingMeals.Has(ws[0].Text) },
	// All words of a name of a firm or an app have capitals.
	"brand": func(fact string, ws, _ english.Words) bool {
		return isCapital(fact, ws[0]) && isCapital(fact, ws[len(ws)-1]) && !english.StopWords.Has(ws[0].Text)
	},
	"aged": func(_ string, ws, _ english.Words) bool { return strings.HasSuffix(ws[0].Text, "-year-old") },
	// One plain word: "peanut" of "my peanut allergy".
	"plain": func(_ string, ws, _ english.Words) bool {
		return !ws[0].Upper && !strings.HasSuffix(ws[0].Text, "'s") && !english.StopWords.Has(ws[0].Text)
	},
	// Kinds of animals that people keep, trades of one word, and names.
	"pet": func(_ string, ws, _ english.Words) bool { return pets.Has(ws[0].Text) },
	"occ": func(_ string, ws, _ english.Words) bool { return occupations.Of(ws[0].Text) != "" },
	// Somebody by a name, which need not be known: no title, relation, role, place or day.
	"someone": func(fact string, ws, rest english.Words) bool {
		first := ws[0]
		return len(ws) < 3 && (&claim{text: fact}).properName(ws) != "" && isCapital(fact, ws[len(ws)-1]) &&
			relation(first.Text) == "" && !kin.Has(first.Text) && !titles.Has(strings.TrimSuffix(first.Text, ".")) &&
			!persons.Has(first.Text) && !cities.Has(ws.String()) && !goesOn(ws, rest)
	},
	// A trade may have words before it that say which: "QA tester".
	"trade": func(_ string, ws, _ english.Words) bool {
		return occupations.Of(ws[len(ws)-1].Text) != ""
	},
	"field": func(_ string, ws, _ english.Words) bool { return len(ws) == 1 && fields.Has(ws[0].Text) },
	"lang":  func(_ string, ws, _ english.Words) bool { return len(ws) == 1 && IsLanguage(ws[0].Text) },
	"cap": func(fact string, ws, rest english.Words) bool {
		return isCapital(fact, ws[0]) && isCapital(fact, ws[len(ws)-1]) && !goesOn(ws, rest)
	},
	"given": func(_ string, ws, _ english.Words) bool {
		return ws[0].Upper && givenNames.Has(ws[0].Text) && len(ws) < 3
	},
	"place": func(fact string, ws, _ english.Words) bool {
		return (&claim{text: fact}).placeName(ws, false) != ""
	},
	"firm": func(_ string, ws, rest english.Words) bool {
		return !goesOn(ws, rest) && companies.Has(ws.String()) && !served.Has(ws.String())
	},
	"span": func(_ string, ws, _ english.Words) bool { // since when somebody has given something up for good
		w := ws[len(ws)-1].Text
		return monthNumbers.Of(w) != "" || isYear(w) || seasons.Has(w) || longSpans.Has(w)
	},
	// A relation or a first name names somebody near the speaker.
	"near": func(_ string, ws, _ english.Words) bool {
		own := ws[len(ws)-1].Text
		person := relation(own) != "" || persons.Has(singular(own)) || persons.Has(own)
		return possessives.Has(ws[0].Text) && len(ws) < 4 && person || len(ws) == 1 && givenNames.Has(ws[0].Text)
	},
	"kin": func(_ string, ws, _ english.Words) bool {
		named := !slices.ContainsFunc(ws[min(2, len(ws)):], func(w english.Word) bool { return !w.Upper })
		return len(ws) > 1 && possessives.Has(ws[0].Text) && relation(ws[1].Text) != "" && named
	},
	// An owner: behind "my parents'" a dwelling must follow, as "my parents' bed" is no home.
	"poss": func(fact string, ws, rest english.Words) bool {
		owns := strings.HasSuffix(ws[len(ws)-1].Text, "'s")
		if ownsAll(fact, ws) { // "my parents' bed"
			owns = len(rest) == 0 || ends(rest[0]) || ownPlaces.Has(rest[0].Text)
		}
		return len(ws) > 1 && possessives.Has(ws[0].Text) && owns && !goesOn(ws, rest)
	},
	"whose": func(_ string, ws, _ english.Words) bool {
		own, ok := strings.CutSuffix(ws[len(ws)-1].Text, "'s")
		return ok && len(ws) > 1 && possessives.Has(ws[0].Text) && (relation(own) != "" || english.OwnNouns.Has(own))
	},
	"who":   func(_ string, ws, _ english.Words) bool { return saysSpeaker(ws) || isSomebodyElse(ws) },
	"other": func(_ string, ws, _ english.Words) bool { return isSomebodyElse(ws) },
}

// isCapital reports whether a word of a fact begins with a capital or is written in capitals, where the fact is not:
// "Barclays", "ING".
func isCapital(fact string, w english.Word) bool {
	return w.Upper || w.Text != "i" && strings.ToUpper(fact) != fact && (&claim{text: fact}).capital(w)
}

// saysSpeaker reports whether ws is a subject that is the speaker.
func saysSpeaker(ws english.Words) bool {
	return len(ws) == 1 && (ws[0].Text == "i" || ws[0].Text == "we")
}

// isSomebodyElse reports whether ws is a subject that is somebody else: "she", "Ann", "my sister".
func isSomebodyElse(ws english.Words) bool {
	w := ws[0].Text
	return len(ws) == 1 && (w == "he" || w == "she" || w == "they") || ws[0].Upper && w != "i" ||
		possessives.Has(w) && len(ws) > 1
}

// fills reports whether ws, which rest follows, can stand for a slot; the last one of a pattern goes to the end of
// its noun phrase.
func fills(slot, fact string, ws, rest english.Words, last bool) bool {
	if is := slotWords[slot]; is != nil {
		return is(fact, ws, rest)
	}
	if slot == "thing" && givenNames.Has(ws[0].Text) {
		return false // "I'm head over heels for Ana"
	}
	for _, w := range ws {
		// A noun phrase alone: another clause or a phrase of place would be of something else.
		if inAny(w.Text, english.Pronouns, negations, links, english.Auxiliaries, english.Deictic) ||
			english.Prepositions.Has(w.Text) && w.Text != "of" {
			return false
		}
	}
	return !last || !goesOn(ws, rest)
}

// nth is the figure of an ordinal: "65" of "65th" and "3" of "third"; "" if w is none.
func nth(w string) string {
	if n := numberWords.Of(w); n != "" {
		return n
	}
	if n := strings.TrimRight(w, "stndrh"); n != w && isNumber(n) {
		return n
	}
	return ""
}
