package english

import "strings"

// Clause is a part of a sentence that says something by itself, with all that only bounds or explains it.
type Clause struct {
	From, To int // the words: "I live in Ghent, near the zoo, because it is quiet"
	// Core is where the first remark or explanation begins, or To: at "near".
	Core int
	// Shared says that the clause has no subject of its own, but that of the one before: "and work in Bruges".
	Shared bool
}

// Clauses are the statements that a sentence is made of, in order. They are told apart by the marks and conjunctions
// between them: one begins where a subject and its verb follow, or a verb behind "and". An explanation ("because…",
// "which…") and a remark without a verb ("no contest") are part of the clause before them.
func Clauses(ws Words) []Clause {
	if len(ws) == 0 {
		return nil
	}
	out := []Clause{{To: len(ws), Core: len(ws)}}
	for i := 1; i < len(ws); i++ {
		last := &out[len(out)-1]
		marked := clauseMark(ws[i-1].Stop)
		w := ws[i].Text
		first := i
		if coordinating.Has(w) {
			first++
		}
		if nowAndThen(ws, i) {
			i++
			continue
		}
		if !marked && first == i && !explaining.Has(w) || i == last.From {
			continue
		}
		for first > i && first < len(ws)-1 && (Adverbs.Has(ws[first].Text) || ws[first].Text == "then") {
			first++
		}
		subject := beginsClause(ws, first, marked) && !(w == "and" && hasNoVerb(ws[last.From:i])) // "Ann and I"
		switch {
		case explaining.Has(w):
			explains := marked || beginsClause(ws, i+1, true) || relative.Has(w) || ws.At(i+1) == "of"
			if explains && last.Core == last.To {
				last.Core = i
			}
		case subject && first+1 < len(ws):
			last.To, last.Core = i, min(last.Core, i)
			out = append(out, Clause{From: first, To: len(ws), Core: len(ws)})
			i = first
		case first > i && w != "or" && i-last.From > 2 && first+1 < len(ws) && sharesSubject(ws, first):
			last.To, last.Core = i, min(last.Core, i)
			out = append(out, Clause{From: withNow(ws, i, first), To: len(ws), Core: len(ws), Shared: true})
			i = first
		case marked && last.Core == last.To:
			last.Core = i
		}
	}
	return out
}

// withNow is where a predicate begins that has its verb at first, behind "and" at i, with a "now" before the verb:
// "left the firm and now teach law". It tells that the predicate is new.
func withNow(ws Words, i, first int) int {
	if ws[first-1].Text == "now" && first-1 > i {
		return first - 1
	}
	return first
}

// commands reports whether a request begins at ws[i], behind "so": "so write me a poem". It has no subject, and what
// follows it shares none with the clause before.
func commands(ws Words, i int) bool {
	next := ws.At(i + 1)
	return ws.At(i-1) == "so" && (next == "me" || next == "us") && PresentVerbs.Has(ws[i].Text)
}

// clauseMark reports whether a clause or a remark may begin behind a mark.
func clauseMark(stop rune) bool { return stop != 0 && strings.ContainsRune(",;:.!?()–—-…", stop) }

// maxSubjectWords bounds a subject: "my old friend from school".
const maxSubjectWords = 5

// nowAndThen reports whether ws[i] is the "and" of "now and then".
func nowAndThen(ws Words, i int) bool {
	next := ws.At(i + 1)
	return ws[i].Text == "and" && ws[i-1].Text == "now" && (next == "then" || next == "again")
}

// endsAtLink reports whether ws[i] is a time behind which a link stands, so that no subject begins with it: "noon" of
// "since noon because it was late" and "since noon and I am glad".
func endsAtLink(ws Words, i int) bool {
	w, next := ws[i].Text, ws.At(i+1)
	return next == "because" || next == "and" && (DateWords.Has(w) || w == "noon" || w == "midnight")
}

// beginsClause reports whether a subject and its verb begin at ws[i].
func beginsClause(ws Words, i int, marked bool) bool {
	w := ws.At(i)
	switch {
	case w == "" || i+1 >= len(ws) || clauseMark(ws[i].Stop):
		return false
	case subjects.Has(w), commands(ws, i):
		return true
	case w == "who", w == "that", Adverbs.Has(w), Prepositions.Has(w), explaining.Has(w):
		return false
	}
	if endsAtLink(ws, i) {
		return false
	}
	for k := i + 1; k < min(len(ws), i+1+maxSubjectWords); k++ {
		v := ws[k].Text
		switch {
		case ws[k-1].Text == "and" && v == "i": // "Priya and I"
			return true
		case Auxiliaries.Has(v):
			return true
		case Past(v) && !Articles.Has(ws[k-1].Text) && !Evaluative.Has(v) && !Moods.Has(v):
			return marked || Articles.Has(w) || ws[i].Upper
		case (Likings.Has(v) || PresentVerbs.Has(v)) && Articles.Has(w) && strings.HasSuffix(ws[k-1].Text, "s"):
			return true // "the kids love"
		case isThird(v) && (Articles.Has(w) && k > i+1 || ws[i].Upper):
			return true
		case clauseMark(ws[k-1].Stop), Prepositions.Has(v) && v != "of", coordinating.Has(v) && v != "and":
			return false
		}
	}
	return false
}

// hasNoVerb reports whether ws has no finite verb, so that it is hardly a statement.
func hasNoVerb(ws Words) bool {
	for k := range ws {
		w := ws[k].Text
		if Auxiliaries.Has(w) || Past(w) || PresentVerbs.Has(w) || Likings.Has(w) || TalkVerbs.Has(w) || isThird(w) {
			return false
		}
	}
	return true
}

// isThird reports whether w may be a verb in the third person: "lives".
func isThird(w string) bool {
	stem, ok := strings.CutSuffix(w, "s")
	return ok && (PresentVerbs.Has(stem) || Likings.Has(stem) || TalkVerbs.Has(stem) ||
		PresentVerbs.Has(strings.TrimSuffix(stem, "e")))
}

// sharesSubject reports whether a predicate begins at ws[i], behind "and".
func sharesSubject(ws Words, i int) bool {
	w := ws.At(i)
	next := ws.At(i + 1)
	if w == "like" && next == "i" {
		return false // "and, like I said,"
	}
	needs := w == "need" || w == "want" // "and need to varnish it"
	return needs && next == "to" || Auxiliaries.Has(w) || Likings.Has(w) || PresentVerbs.Has(w) || isThird(w) ||
		Past(w) && !Evaluative.Has(w) && !Moods.Has(w) && !strings.Contains(w, "-") // "and well-timed serves"
}
