package injection

import "github.com/memoryd/memoryd/memory"

// The rules here find text that claims to stand above the instructions of a model: by its
// rank, by the name of those who run the model, by pretence, or by a later time.

// precedes: words that are to count more than the instructions of the model, which are its
// own or were given to it. Contracts and regulations replace each other too, and letters
// speak of "your policy".
func (s *sentence) precedes() bool {
	if !s.foreign() || s.from == memory.TrustAgent {
		return false
	}
	for i := range s.words {
		if s.words[i].class&above == 0 || s.negated(i) {
			continue
		}
		if w := s.words[i].text; (w == "replace" || w == "override") && !s.has(self) {
			continue // an order of its own, or a noun
		}
		given := s.find(given, i+1, i+14) >= 0
		if given && s.has(order|rule|told|self|all) {
			return true
		}
		if b := s.find(boss, i+1, i+7); b >= 0 && s.near(your, b, 2, 0) {
			return true
		}
		j := s.object(i, order|rule|told|secret, 9)
		if j < 0 && s.has(must|are) { // "vor deinen Regeln Vorrang haben"
			j = s.find(order|rule|told|secret, i-5, i)
		}
		if j < 0 || s.words[j].text == "policy" || s.words[j].text == "policies" {
			continue
		}
		if s.near(your, j, 4, 2) || s.addressed || s.words[j].class&secret != 0 {
			return true
		}
	}
	return false
}

// lifts: instructions of a model that those who run it are said to have lifted.
func (s *sentence) lifts() bool {
	if !s.foreign() || s.from == memory.TrustAgent {
		return false
	}
	i := s.find(lifted, 0, len(s.words))
	if i < 0 || s.negated(i) || s.find(rule|order|safety, i-9, i+10) < 0 {
		return false
	}
	return s.addressed || s.has(boss) && (s.has(model) || s.has(obey|iam) && s.has(your))
}

// suspends: instructions of the model, or its safety, that are said to hold no longer.
func (s *sentence) suspends() bool {
	if !s.foreign() || s.from == memory.TrustAgent {
		return false
	}
	i := s.find(lifted|void, 0, len(s.words))
	if i < 0 || s.negated(i) {
		return false
	}
	if j := s.find(order, i-14, i+10); j >= 0 && (s.near(your, j, 3, 2) || s.find(given, j+1, j+7) >= 0) {
		return true
	}
	j := s.find(safety, i-9, i+8)
	return j >= 0 && s.near(rule|order, j, 3, 3) && s.near(your, j, 4, 3)
}

// commands: the orders of another than the user, which the model shall follow.
func (s *sentence) commands() bool {
	return s.foreign() && s.from != memory.TrustAgent && s.each(obey|act, func(i int) bool {
		j := s.object(i, commands, 7)
		return j >= 0 && !s.negated(i) && s.near(my, j, 3, 1)
	})
}

// mustAsk: what a model must do with its user.
func (s *sentence) mustAsk() bool {
	if !s.foreign() || s.from == memory.TrustAgent {
		return false
	}
	i := s.find(model, 0, len(s.words))
	j := s.find(must, i+1, i+5)
	return i >= 0 && j >= 0 && s.opens(i) && s.find(user, j+1, j+6) >= 0
}

// hides: something that the user must not learn.
func (s *sentence) hides() bool {
	if !s.foreign() || s.from == memory.TrustAgent {
		return false
	}
	i := s.find(user, 0, len(s.words))
	return i >= 0 && s.find(must|may, i+1, i+5) >= 0 && s.find(neg, i+1, i+7) >= 0 && s.find(learn, i+1, i+9) >= 0
}

// nullifies: all that was said before, which is to count for nothing.
func (s *sentence) nullifies() bool {
	return s.foreign() && s.from != memory.TrustAgent && s.each(act|override, func(i int) bool {
		return s.has(void) && (s.object(i, told, 6) >= 0 || s.addressed) && !s.negated(i)
	})
}

// pretends: instructions of the model that it shall act as if it had none of.
func (s *sentence) pretends() bool {
	if s.from == memory.TrustAgent {
		return false
	}
	return s.each(pretend, func(i int) bool {
		if s.foreign() && s.has(act|obey) && s.has(order) {
			return true
		}
		j := s.object(i, rule|order|safety, 10)
		if j < 0 || s.negated(i) || !s.near(neg, j, 6, 5) || s.near(my, j, 3, 0) {
			return false
		}
		return s.foreign() || s.near(your, j, 4, 3) || s.has(reveal) || s.has(your)
	})
}

// decodes: a text to decode, and to do what it says.
func (s *sentence) decodes() bool {
	return s.foreign() && s.each(decipher, func(i int) bool {
		return !s.negated(i) && (s.find(obey, i+1, len(s.words)) >= 0 || s.addressed)
	})
}

// triggered: what is to be done, or said, once the user speaks of something.
func (s *sentence) triggered() bool {
	if !s.foreign() || s.from == memory.TrustAgent {
		return false
	}
	for i := range s.words {
		if s.words[i].class&cond == 0 {
			continue
		}
		j := s.find(user, i+1, i+4+s.words[i].span)
		if j < 0 || s.find(ask|utter, j+1, j+6) < 0 {
			continue
		}
		return s.each(tell|answer|deletes|send|reveal|recommend, func(k int) bool { return k > j+1 || k < i })
	}
	return false
}

// everyReply: what all later answers of a model have to have.
func (s *sentence) everyReply() bool {
	if !s.foreign() || s.from == memory.TrustAgent {
		return false
	}
	for i := range s.words {
		if s.words[i].class&replies == 0 {
			continue
		}
		if your := s.near(your, i, 3, 2); s.has(onward) && (your || s.has(must) && s.has(address|promo)) ||
			your && s.has(must) && s.addressed {
			return true
		}
	}
	return false
}
