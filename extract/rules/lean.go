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

// kept are the words of the fact.
func (s *sentence) kept() english.Words {
	from, to := 0, len(s.words)
	for from < to && s.words[from].Start < s.start {
		from++
	}
	for to > from && s.words[to-1].Start >= s.end {
		to--
	}
	return s.words[from:to]
}

// standAlone makes the fact of the first clauses of kept that point at nothing outside of them: "I passed my driving
// test" in "It was hard, but I passed my driving test". It reports whether there are any that are a statement.
func (s *sentence) standAlone(kept english.Words) bool {
	list := english.Clauses(kept)
	for a := range list {
		from := list[a].From
		if list[a].Shared || a > 0 && !speakerWords.Has(kept[from].Text) && kept[from-1].Stop == 0 {
			continue // "love and encouragement has helped me" is one clause
		}
		to := 0
		for b := a; b < len(list); b++ {
			if leansOn(kept[from:list[b].To]) {
				if core := list[b].Core; core < list[b].To && !leansOn(kept[from:core]) {
					to = core
				}
				break
			}
			to = list[b].To
		}
		if to == 0 {
			continue
		}
		to -= openEnd(kept[from:to])
		said := kept[from:to]
		t := statement(said)
		n, _ := weight(said)
		if a > 0 && t&personal == none {
			n-- // "I hated the results" is of what the clause before told
		}
		if t == none || bounded(said, kept[to:]) || n < 2 || hollow(said, t) || platitude(said, t) {
			continue
		}
		s.start, s.end, s.topics, s.leans = said[0].Start, said[len(said)-1].End, t, false
		return true
	}
	return false
}

// openEnd is how many words at the end of ws begin a clause that is cut off: "and while it takes longer".
func openEnd(ws english.Words) int {
	for k := len(ws) - 1; k > 1; k-- {
		if w := ws[k].Text; (clauseOpeners.Has(w) || w == "if") && (ws[k-1].Text == "and" || ws[k-1].Text == "but") {
			return len(ws) - k + 1
		}
	}
	return 0
}

// bounded reports whether what follows a statement bounds it or turns it round, so that it is not true without:
// "unless they call", "I wanted to go, but it did not work". "I have the flu, but it is not bad" is true all the same.
func bounded(said, rest english.Words) bool {
	switch rest.At(0) {
	case "if", "unless", "until", "when", "while", "except", "without", "than", "not":
		return true
	case "but", "though", "although":
		return said.Any(intents) && (rest.Has("not") || rest.Has("never"))
	}
	return false
}
