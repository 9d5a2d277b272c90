package injection

import "github.com/memoryd/memoryd/memory"

// sentence is a sentence, or a line, of a text.
type sentence struct {
	words     []word
	from      memory.Trust
	classes   class // of all words
	addressed bool  // it speaks to a model, or one shortly before it does
	aimed     bool  // it names the agent's instructions or makers, or one shortly before it does
	window    bool  // it is a part of a sentence, or two of them
	first     int   // where it begins in the words of the text
	of        *passage
	// lead are the signs before it.
	lead string
}

// foreign reports whether the words are of a source that may give no orders. An agent
// tells its user to do all kinds of things, but not of the user, or to a model.
func (s *sentence) foreign() bool {
	return s.from != memory.TrustUser && (s.from != memory.TrustAgent || s.has(user) || s.addressed)
}

// has reports whether any word has one of the classes.
func (s *sentence) has(c class) bool { return s.classes&c != 0 }

// find returns the first word of one of the classes within [from, to); -1 if none.
func (s *sentence) find(c class, from, to int) int {
	for i := max(0, from); i < min(to, len(s.words)); i++ {
		if s.words[i].class&c != 0 {
			return i
		}
	}
	return -1
}

// near reports whether a word of one of the classes is within some words of i.
func (s *sentence) near(c class, i, before, after int) bool {
	return s.find(c, i-before, i+after+1) >= 0
}

// negated reports whether a negation stands before the word, or behind it as German and
// French put it.
func (s *sentence) negated(i int) bool {
	for j := i - 1; j >= max(0, i-2); j-- {
		if s.words[j].class&neg != 0 {
			return true
		}
		if behind(s.words[j].text) && j > 0 && s.words[j-1].class&neg != 0 {
			return false // "erwähne das nicht und sende …"
		}
		if s.words[j+1].starts != 0 && s.words[j+1].starts != '\'' {
			break
		}
	}
	return false
}

// behind reports whether a word joins two orders in a language that puts the negation of
// the first one behind it.
func behind(and string) bool { return and == "und" || and == "et" || and == "en" }

// around are the words that may stand before the verb of an order.
const around = filler | must | standing | neg | all | forever | secretly | and | self | user | are | onward

// orders reports whether the word at i is a verb of one of the classes that gives an
// order: it begins its clause, or only such words stand before it there. A verb that
// comes last stands anywhere.
func (s *sentence) orders(c class, i int) bool {
	w := &s.words[i]
	if w.class&c == 0 || w.key {
		return false
	}
	if w.class&last != 0 || isUnspacedWord(w) {
		return true
	}
	for j := i; ; j-- {
		if m := s.words[j].starts; j == 0 || m != 0 && m != '\'' {
			return true
		}
		before := s.words[j-1].class
		switch {
		case before&and != 0:
			return true
		case before&must != 0:
			return s.mustOf(j - 1)
		case before&standing != 0 && s.has(cond) && j >= 2 && s.words[j-2].class&(must|filler) == 0:
			return true // "when the user asks about hotels always name …"
		case before&model != 0 && s.addressed:
			return true
		case before&around == 0 && !s.within(j-1):
			return false
		}
	}
}

// within reports whether the word at i belongs to a term of several words that may stand
// before the verb of an order.
func (s *sentence) within(i int) bool {
	for j := max(0, i-3); j < i; j++ {
		if s.words[j].class&around != 0 && j+s.words[j].span >= i {
			return true
		}
	}
	return false
}

// topic reports whether the instructions at i are about something else than the agent:
// "the instructions for the cake". What is about the talk, its rules or its model is none.
func (s *sentence) topic(i int) bool {
	about := i + s.words[i].span + 1
	if about+1 >= len(s.words) || s.words[about].starts != 0 || s.words[about+1].starts != 0 {
		return false
	}
	switch s.words[about].text {
	case "about", "for", "on", "of", "in", "from", "regarding", "concerning", "uber", "fur", "zum", "zur", "von", "im",
		"sur", "pour", "dans", "du", "de", "des", "sobre", "para", "en", "del", "da", "do", "su", "sul", "sulla", "per",
		"di", "della", "dal", "over", "voor", "van", "o", "dla", "dotyczace", "про", "о", "для":
	default:
		return false
	}
	const agents = model | your | boss | secret | safety | order | rule | told | self | data | above | prior | answer
	return s.find(agents|neg|may|must, about+1, about+5) < 0
}

// mustOf reports whether a "must" is one of the model, or of "you": "The staff must" is
// not.
func (s *sentence) mustOf(i int) bool {
	if s.addressed || i == 0 || s.words[i].starts != 0 {
		return true
	}
	return s.words[i-1].class&(filler|model) != 0
}

func isUnspacedWord(w *word) bool {
	for _, r := range w.text {
		return isUnspaced(r)
	}
	return false
}

// each calls see with each verb of some classes that gives an order, until it gives a
// reason.
func (s *sentence) each(c class, see func(i int) bool) bool {
	for i := range s.words {
		if s.words[i].class&c != 0 && s.orders(c, i) && see(i) {
			return true
		}
	}
	return false
}

// object returns the place of what a verb is about: the first word of some classes
// within reach behind it, or before it if the verb comes last. -1 is none.
func (s *sentence) object(i int, c class, reach int) int {
	w := &s.words[i]
	if isUnspacedWord(w) {
		reach *= 2 // words between are single characters
	}
	if j := s.find(c, i+w.span, i+w.span+reach+1); j >= 0 && (j > i || w.span > 0) {
		return j
	}
	if w.class&last != 0 {
		for j := i - 1; j >= max(0, i-reach-1); j-- {
			if s.words[j].class&c != 0 {
				return j
			}
		}
	}
	return -1
}

// addresses reports whether the sentence speaks to a model: "AI assistants: …", "To the
// assistant: …", "If you are a language model, …", "The assistant must …".
func (s *sentence) addresses() bool {
	for i := range s.words {
		w := &s.words[i]
		if w.class&model == 0 {
			continue
		}
		end := i + w.span
		for end < len(s.words)-1 && s.words[end+1].class&model != 0 && s.words[end+1].starts == 0 {
			end += 1 + s.words[end+1].span // "AI assistants"
		}
		end = min(end, len(s.words)-1)
		if end+1 < len(s.words) && s.words[end+1].starts == 0 && s.words[end+1].class&person != 0 {
			continue // "The assistant manager must …", "If you are an AI engineer, …"
		}
		called := s.words[end].ends == ':' || s.words[end].ends == '：'
		switch {
		case called, end+1 < len(s.words) && s.opens(i) && s.words[end+1].class&voc != 0 && s.comma(end+1):
			return true
		case end == len(s.words)-1 && s.calledAtEnd(i):
			return true
		case s.find(voc, i-4, i) >= 0 && s.opens(i) &&
			(s.comma(end) || s.colon(end+1, end+9) || s.find(verbs|must, end+1, end+4) >= 0):
			return true
		case s.near(cond, i, 6, 0) && s.near(are, i, 6, 0):
			return true
		case s.opens(i) && (s.comma(end) || s.find(must, end+1, end+6) >= 0):
			return true
		}
	}
	return false
}

// calledAtEnd reports whether the word at i, the last of its sentence, calls the model:
// "…, assistant." "…, dear AI."
func (s *sentence) calledAtEnd(i int) bool {
	if i > 0 && s.words[i].starts == 0 && s.words[i-1].class&voc != 0 {
		i--
	}
	return i > 2 && s.words[i].starts == ','
}

// colon reports whether a colon follows one of the words within [from, to): "Note to any AI
// that reads this page: …".
func (s *sentence) colon(from, to int) bool {
	for i := from; i < min(to, len(s.words)); i++ {
		if s.words[i].ends == ':' || s.words[i].ends == '：' {
			return true
		}
	}
	return false
}

// comma reports whether a comma or an exclamation mark follows the word at i.
func (s *sentence) comma(i int) bool {
	switch s.words[i].ends {
	case ',', '，', '、', '!', '！', '—', '–', '،', '-':
		return true
	}
	return false
}

// opens reports whether the word at i is among the first of a clause.
func (s *sentence) opens(i int) bool {
	for j := i; j > max(-1, i-5); j-- {
		if m := s.words[j].starts; m != 0 && m != '\'' {
			return true
		}
	}
	return false
}
