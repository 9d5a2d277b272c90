package rules

import "github.com/memoryd/memoryd/extract/english"

// Pronouns point at the sentence before: "I love it!" says nothing alone. Such a sentence is judged twice, as it
// stands and with something in the place of its pronouns, and is kept together with what it leans on.

// known stands for what a pronoun means.
const known = "it-is-known"

// standIn is ws with known things in the place of pronouns, nil if it has none, and whether one of them stands alone.
// "This necklace is from my grandmother" is told of something that the listener sees, and yet says what it is.
func standIn(ws english.Words) (out english.Words, alone bool) {
	for i := range ws {
		w, next := ws[i], ws.At(i+1)
		noun := next != "" && ws[i].Stop == 0 && !english.StopWords.Has(next) && !finiteVerb(next)
		switch {
		case !leaning.Has(w.Text),
			w.Text == "that" && i > 0 && ws[i-1].Stop == 0 && !english.Prepositions.Has(ws.At(i-1)): // "a man that"
			out = append(out, w)
			continue
		case i == 0 && ownersBefore.Has(w.Text) && noun: // "Her name is Luna"
			w.Text, alone = "my", true
		case demonstrative.Has(w.Text) && noun: // "This necklace"
			if i > 0 {
				out = append(out, w)
				continue
			}
			w.Text = "my"
		case ownersBefore.Has(w.Text) && noun:
			alone = true
		case i == 0:
			mine := w
			mine.Text = "my"
			out = append(out, mine)
			w.Text, w.Upper, alone = known, false, true
		default:
			w.Text, alone = known, true
		}
		out = append(out, w)
	}
	if len(out) == len(ws) && len(ws) > 0 && !alone && out[0].Text == ws[0].Text {
		return nil, false
	}
	return out, alone
}

// leansOn reports whether a statement has a pronoun before anything that it may stand for.
func leansOn(ws english.Words) bool {
	for i := range ws {
		w, next := ws[i].Text, ws.At(i+1)
		switch {
		case i == 0 && (next == "is" || next == "are" || next == "was" || next == "were"):
			continue // "This is my wife"
		case leaning.Has(w) && (ws.At(i-1) == "before" || ws.At(i-1) == "after"):
			continue // "before that"
		case w == "that" && i > 0 && !english.Prepositions.Has(ws.At(i-1)) && next != "":
			continue // "the man that", "that day"
		case w == "it" && i > 0 && (next == "is" || next == "was"):
			continue // "it was fun"
		case demonstrative.Has(w) && (next != "" && !english.StopWords.Has(next) || english.Evaluative.Has(next)):
			continue // "this bowl", "that great day"
		case leaning.Has(w):
			return true
		case i > 1 && !english.StopWords.Has(w) && !english.Past(w) && !english.PresentVerbs.Has(w) &&
			!english.Likings.Has(w) && !english.Participles.Has(w):
			return false // a noun, which later pronouns may stand for
		}
	}
	return false
}
