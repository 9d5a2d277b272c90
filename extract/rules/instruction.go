package rules

import (
	"strings"

	"github.com/memoryd/memoryd/extract/canonical"
	"github.com/memoryd/memoryd/extract/dates"
	"github.com/memoryd/memoryd/extract/english"
)

// Users tell the agent how to behave. An instruction that holds beyond the next answer is kept; a request for one
// answer ("Answer this in French") is not.

// order is a sentence in the imperative, without the phrases that wrap it.
type order struct {
	words    english.Words // from its verb
	standing bool          // it says that it holds for good: "From now on…", "Always…"
	asked    bool          // it is put as a question: "Can you…"
	wrapped  bool          // words of politeness or for how long it holds stand before it
	allowed  bool          // it says what the agent may do: "You can…"
}

// directive reads ws[i:] as an instruction that holds beyond the next answer.
func directive(ws english.Words, i int) topics {
	t := told(ws, i)
	if t == none && standingOrder(ws[i:]) {
		return instruction
	}
	return t
}

// told is directive for what one of the words of an order says: "call me Bob", "always", "in French".
func told(ws english.Words, i int) topics {
	o := unwrap(ws, i)
	if len(o.words) == 0 {
		return none
	}
	if n := english.Reminders.Match(o.words, 0); n > 0 {
		return reminder(o.words[n:])
	}
	rest := o.words[1:]
	o.standing = o.standing || english.Lasting.Found(rest) || rest.Has("always")
	switch o.words[0].Text {
	case "always", "never":
		return o.always()
	case "do":
		if len(rest) > 0 && rest[0].Text != "not" {
			o.words = rest // "Do call me Bob"
			break
		}
		return o.doNot()
	case "no": // "No emojis in your replies"
		if name, _ := canonical.Manner(o.words); name != "" {
			return instruction
		}
		return none
	case "stop", "avoid": // "Stop apologising"
		if name, _ := canonical.Manner(o.words); name != "" {
			return instruction
		}
		if len(rest) > 1 && (stoppable.Has(rest[0].Text) || o.standing) {
			return instruction
		}
		return none
	}
	return o.plain()
}

// namesAnother reports whether s names somebody of whom the sentence before it said that a name is wanted: "The hero
// needs a name. Use Jack from now on."
func (s *sentence) namesAnother(before english.Words) bool {
	return s.topics&instruction != none && s.words.At(0) == "use" && (before.Has("name") || before.Any(makeBelieve)) &&
		!before.Any(firstPerson)
}

// unwrap takes off politeness and the phrases that say how long an order holds.
func unwrap(ws english.Words, i int) order {
	o := order{allowed: ws[i:].StartWith("you", "can") || ws[i:].StartWith("you", "may")}
	first := i
	for {
		if n := english.Lasting.Match(ws, i); n > 0 {
			o.standing = true
			i += n
			if last := ws[i-1].Text; last == "whenever" || last == "time" {
				i = afterClause(ws, i)
			}
			continue
		}
		n := max(english.Polite.Match(ws, i), wantedOfYou.Match(ws, i))
		if n == 0 {
			o.words, o.wrapped = ws[min(i, len(ws)):], i > first
			return o
		}
		o.asked = o.asked || requestWords.Has(ws[i].Text)
		i += n
	}
}

// afterClause skips "I ask for code," after "whenever".
func afterClause(ws english.Words, i int) int {
	for ; i < len(ws); i++ {
		if ws[i-1].Stop == ',' {
			return i
		}
	}
	return len(ws)
}

// reminder reads what a request for a reminder is about: "to call Ann".
func reminder(about english.Words) topics {
	// "Remember to take care of yourself" is kindness, not a task.
	if about.Content() == 0 || len(about) < 2 || about.Any(cheerful) {
		return none
	}
	if kindness.Has(about[0].Text) && !dates.Named(about) && !about.Any(firstPerson) {
		return none // "Don't forget to stay positive"
	}
	return instruction
}

// always reads "Always answer in French" and "Never call me Bob".
func (o *order) always() topics {
	what := o.words[1:]
	if len(what) < 2 || !orderable(what[0].Text) || sayings.Has(what[1].Text) {
		return none
	}
	return naming(what) | instruction
}

// orderable reports whether w is a verb that an order may have. "Be" is more often kindness: "Never be sad".
func orderable(w string) bool { return english.AgentVerbs.Has(w) && w != "be" }

// doNot reads "Do not use emoji", "Do not ever call me again".
func (o *order) doNot() topics {
	what := o.words[1:]
	if len(what) < 3 || what[0].Text != "not" {
		return none
	}
	standing := o.standing
	if what = what[1:]; what[0].Text == "ever" {
		standing, what = true, what[1:]
	}
	if len(what) < 2 || !orderable(what[0].Text) && !proposals.Has(what[0].Text) && what[0].Text != "bring" {
		return none
	}
	last := what[len(what)-1].Text
	if standing || bans(what) || forGood.Has(last) || setsManner(what) ||
		contactVerbs.Has(what[0].Text) && what[1].Text == "me" {
		return instruction
	}
	return none
}

// bans reports whether ws, behind "do not", is about things of a kind and not about the one at hand: "suggest seafood
// restaurants", "send me job ads", "book flights before nine", "put nuts in my recipes", "mention my divorce".
func bans(ws english.Words) bool {
	verb, what := ws[0].Text, ws[1:]
	if what.Any(momentary) || what.Any(english.TaskWords) {
		return false
	}
	if me := what[0].Text; me == "me" || me == "us" {
		what = what[1:]
	}
	what = withoutMe(what)
	end, kind := kindOfThing(what)
	switch {
	case proposals.Has(verb):
		return kind
	case verb == "send", verb == "show":
		return kind && isPlural(what[end-1].Text)
	case verb == "book", verb == "schedule", verb == "arrange": // a bound of time says that it is about all of them
		next := what.At(end)
		bound := next == "on" || next == "before" || next == "after" || next == "at"
		return kind && isPlural(what[end-1].Text) && bound
	case verb == "put", verb == "include", verb == "add", verb == "use":
		in := what[min(end, len(what)):]
		return kind && in.At(0) == "in" && len(in) > 1 && isPlural(in[len(in)-1].Text) && in.At(1) != "the"
	case verb == "mention":
		next := what.At(end)
		return owned(what) || (next == "when" || next == "in") && kind && isPlural(what[end-1].Text)
	case verb == "ask", verb == "talk", verb == "remind": // "don't remind me about my workouts"
		return what.At(0) == "about" && owned(what[1:])
	case verb == "bring":
		return what.At(0) == "up" && owned(what[1:])
	}
	return false
}

// withoutMe is ws without "to me" at its end.
func withoutMe(ws english.Words) english.Words {
	if n := len(ws) - 2; n > 2 && ws[n:].StartWith("to", "me") {
		return ws[:n]
	}
	return ws
}

// owned reports whether ws is something of the speaker's and nothing more: "my divorce", but not "my name in the
// letter".
func owned(ws english.Words) bool { return ws.At(0) == "my" && !ws[1:].Any(english.Prepositions) }

// kindOfThing reads a noun phrase without a determiner, which names all things of a kind, and gives where it ends.
func kindOfThing(ws english.Words) (end int, ok bool) {
	for end < len(ws) && !english.Prepositions.Has(ws[end].Text) &&
		ws[end].Text != "when" && (end == 0 || ws[end-1].Stop == 0) {
		end++
	}
	if end == 0 {
		return 0, false
	}
	first := ws[0].Text
	bare := !english.Articles.Has(first) && !quantifiers.Has(first) && !english.Deictic.Has(first) &&
		!english.Pronouns.Has(first) && !determiners.Has(first) && !english.StartsWithDigit(first)
	return end, bare && !textParts.Has(ws[end-1].Text)
}

// isPlural reports whether w may be a plural.
func isPlural(w string) bool { return strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") }

// plain reads "Answer in French", "Call me Bob".
func (o *order) plain() topics {
	t := naming(o.words)
	if reaching(o.words) {
		return personal
	}
	if english.Past(o.words[0].Text) && !o.wrapped {
		return none // "Called me Bob", but "I'd rather you called me Bob"
	}
	// "I prefer short answers" is a preference, and "I want prose in your answers" is no wish for a thing.
	ofAnswers := o.words.At(1) == "want" && (o.words.Has("answers") || o.words.Has("replies"))
	if name, _ := canonical.Manner(o.words); name != "" && !o.asked &&
		(o.words[0].Text != "i" || o.standing || ofAnswers) {
		t |= instruction
	}
	if o.standing && nameWillDo(o.words) {
		return instruction | personal
	}
	if !english.AgentVerbs.Has(o.words[0].Text) {
		return t
	}
	again := o.allowed && len(o.words) > 2 && o.words[len(o.words)-1].Text == "again" // "You can suggest pork again"
	if (o.standing || again) && len(o.words) > 1 || !o.asked && setsManner(o.words) {
		t |= instruction
	}
	return t
}

// reaching reads "write to me at ann@example.com" and "call me on 07700 900456".
func reaching(ws english.Words) bool {
	n := reachMe.Match(ws, 0)
	return n > 0 && n < len(ws) && (english.StartsWithDigit(ws[n].Text) || strings.Contains(ws[n].Text, "@"))
}

// naming reads "call me Bob".
func naming(ws english.Words) topics {
	n := callMe.Match(ws, 0)
	if n == 0 || len(ws) == n || english.NotNames.Has(ws[n].Text) {
		return none
	}
	end := n // where the name ends: "in the letters you draft" says only where
	// A name in small letters may have a preposition within it, and so the whole of it must be short.
	for end < len(ws) {
		if end > n && ws[n].Upper && (english.Prepositions.Has(ws[end].Text) || ws[end-1].Stop == ',') {
			break
		}
		end++
	}
	if end > n+6 {
		return none
	}
	return instruction | personal
}

// nameWillDo reads "Ragna will do" and "Max is fine", from the name. Only an order that says how long it holds is about
// a name to call the speaker by.
func nameWillDo(ws english.Words) bool {
	for i := 1; i < min(len(ws), maxLabel) && ws[0].Upper && !english.StopWords.Has(ws[0].Text); i++ {
		verb, next := ws[i].Text, ws.At(i+1)
		if verb == "will" && next == "do" || verb == "is" && (next == "fine" || next == "enough") {
			return true
		}
	}
	return false
}

// setsManner reports whether ws sets the manner of all answers: "Answer in French", "Keep your answers short", "Use
// metric units".
func setsManner(ws english.Words) bool {
	switch ws[0].Text {
	case "answer", "reply", "respond", "speak", "talk", "write":
		return answersIn(ws)
	case "use":
		return usesManner(ws)
	case "keep", "make":
		return len(ws) > 2 && (answerNouns.Has(ws[1].Text) || answerNouns.Has(ws[2].Text))
	}
	return false
}

// answersIn reads "answer me in French", "reply in very short sentences".
func answersIn(ws english.Words) bool {
	for j := 1; j+1 < len(ws) && j < 5; j++ {
		if ws[j].Text == "in" {
			next := ws[j+1].Text
			return answerManners.Has(next) || answerManners.Has(ws.At(j+2)) || canonical.IsLanguage(next)
		}
		if !beforeManner.Has(ws[j].Text) {
			return false
		}
	}
	return false
}

// usesManner reads "use metric units", but not "use this short text".
func usesManner(ws english.Words) bool {
	for _, w := range ws[1:min(len(ws), 5)] {
		if w.Text == "this" || w.Text == "that" {
			return false
		}
		if answerManners.Has(w.Text) {
			return true
		}
	}
	return false
}
