package extract

import "github.com/memoryd/memoryd/extract/english"

import "strings"

// predicate judges what "I" or "we" is said to be, have, do, like or want;
// i is the first word after the subject.
func (c *clause) predicate(i int) topics {
	i, negated := c.skipAdverbs(i)
	if c.addressed(i) && !(english.Likings.Has(c.at(i)) && c.content(i) > 3) {
		return 0
	}
	switch v := c.at(i); v {
	case "am", "are", "was", "were":
		return c.being(i+1, v == "was" || v == "were")
	case "have", "had":
		return c.having(i+1, v == "had")
	case "got":
		return c.got(i + 1)
	case "do", "does":
		j, not := c.skipAdverbs(i + 1)
		if w := c.at(j); !not && v == "do" && !english.Likings.Has(w) && !english.PresentVerbs.Has(w) && !english.TalkVerbs.Has(w) && w != "have" {
			return c.habit(i)
		}
		return c.doing(j, not || negated)
	case "did":
		if j, not := c.skipAdverbs(i + 1); not && (c.timed || c.content(j) > 1) && !english.TalkVerbs.Has(c.at(j)) && !c.task {
			return details
		}
		return c.event(i)
	case "used":
		if c.at(i+1) == "to" && c.content(i+2) > 0 && !c.task {
			if c.at(i+2) == "be" || c.at(i+2) == "live" || c.at(i+2) == "work" {
				return personal
			}
			return details
		}
		return c.event(i)
	case "will", "shall":
		return c.future(i + 1)
	case "would":
		return c.would(i + 1)
	case "can":
		return c.ability(i + 1)
	default:
		return c.doing(i, negated)
	}
}

// skipAdverbs steps over adverbs and negation.
func (c *clause) skipAdverbs(i int) (int, bool) {
	negated := false
	for ; english.Adverbs.Has(c.at(i)); i++ {
		negated = negated || c.at(i) == "not" || c.at(i) == "never"
	}
	return i, negated
}

// being judges a complement: age, origin, job, state, taste, or what is going
// on. Moods are not kept unless they hang on a date or on something owned.
func (c *clause) being(i int, past bool) topics {
	i, _ = c.skipAdverbs(i)
	for degree.Has(c.at(i)) {
		i++
	}
	v, rest := c.at(i), c.content(i+1)
	switch {
	case v == "going" && c.at(i+1) == "to":
		if to := c.words[min(i+2, len(c.words)-1)]; to.Upper || english.Articles.Has(to.Text) && c.anchored(i) && c.content(i+2) > 0 {
			return details // a place, not a verb
		}
		return c.future(i + 2)
	case v == "going" && c.timed && rest > 0 && !english.Deictic.Has(c.at(i+1)):
		return details
	case talkComplements.Has(v), english.Pronouns.Has(v), c.task && !english.Articles.Has(v):
		return 0
	case english.States.Has(v) || v == "in" && (c.at(i+1) == "my" || c.at(i+1) == "charge") && rest > 0:
		return personal
	case isAge(v) && (i+1 == len(c.words) || c.words[i].Stop != 0 || ageUnits.Has(c.at(i+1))):
		return personal
	case (v == "from" || v == "born" || v == "allergic" || v == "called" || v == "named" || v == "diagnosed" || v == "based" || v == "fluent" || v == "intolerant" || fears.Has(v) && c.at(i+1) == "of") && rest > 0 && !english.Deictic.Has(c.object(i+1)):
		if v == "allergic" || v == "intolerant" {
			return personal | preference
		}
		return personal
	case english.Articles.Has(v) && v != "my":
		return c.noun(i)
	case c.words[min(i, len(c.words)-1)].Upper && !past && !english.StopWords.Has(v) && !strings.HasSuffix(v, "ing") && !english.Moods.Has(v):
		return personal // "I'm Tom", "I'm Estonian"
	case tastes.Has(v) && rest > 0 && !english.Deictic.Has(c.object(i+1)) && !english.Pronouns.Has(c.at(i+2)) && !english.Pronouns.Has(c.at(i+3)):
		return preference
	case (v == "good" || v == "bad" || v == "great" || v == "terrible" || v == "better") && c.at(i+1) == "at" && rest > 0 && !english.Deictic.Has(c.object(i+1)):
		return details
	case v == "on" && c.on(i+1):
		return personal
	case happenings.Has(v) && (rest > 0 || past && v != "used"), past && english.Past(v) && !english.Moods.Has(v) && rest > 1 && c.anchored(i):
		return details
	case strings.HasSuffix(v, "ing") && !english.Moods.Has(v):
		return c.progress(i)
	case english.Prepositions.Has(v) && !english.Deictic.Has(c.at(i+1)) && (rest > 1 || rest > 0 && (past || c.words[min(i+1, len(c.words)-1)].Upper)) && !transient.Has(c.at(i+1)) && (past || c.words[min(i+1, len(c.words)-1)].Upper || c.anchored(i)):
		return details
	case rest > 1 && c.anchored(i+1):
		return details
	}
	return 0
}

// object is the word at i, or the one after it if that is a preposition.
func (c *clause) object(i int) string {
	if english.Prepositions.Has(c.at(i)) {
		i++
	}
	return c.at(i)
}

// on judges "am on a keto diet", "am on insulin".
func (c *clause) on(i int) bool {
	for j := i; j < min(len(c.words), i+4); j++ {
		if regimens.Has(c.at(j)) {
			return true
		}
	}
	return false
}

// noun judges "am a nurse", "was the captain of the team"; i is at the article.
func (c *clause) noun(i int) topics {
	j := i + 1
	for degree.Has(c.at(j)) || english.Evaluative.Has(c.at(j)) {
		j++
	}
	head := c.at(j)
	for k := j; k < j+3; k++ {
		if w := c.at(k); w == "fan" || w == "lover" {
			if c.content(k+1) > 0 && !english.Deictic.Has(c.at(k+2)) {
				return preference
			}
			if k == j { // "a fan of that"; but "I'm a dog lover"
				return 0
			}
			return preference
		}
	}
	if emptyHeads.Has(head) || english.Deictic.Has(head) || english.StopWords.Has(head) || c.content(j) == 0 || c.at(i) == "the" && c.content(j) < 2 {
		return 0
	}
	return personal
}

// progress judges "am moving to Rome"; i is at the participle.
func (c *clause) progress(i int) topics {
	v, rest := c.at(i), c.content(i+1)
	switch {
	case v == "thinking" && (c.at(i+1) == "of" || c.at(i+1) == "about") && underway.Has(c.at(i+2)) && c.content(i+3) > 0 && !english.Deictic.Has(c.at(i+4)):
		return details
	case v == "looking" && c.at(i+1) == "for" && c.seeks(i+2):
		return details
	case talkParticiples.Has(v) || rest == 0 || english.Deictic.Has(c.at(i+1)) && (rest < 2 || english.Pronouns.Has(c.at(i+1))):
		return 0
	case appointedParticiples.Has(v) && c.timed:
		return details
	case weakParticiples.Has(v) && (rest < 2 || !c.timed && (v == "trying" || !c.mine(i+1))):
		return 0
	case v == "working" || v == "living" || v == "studying":
		return personal | details
	}
	return details
}

// seeks reports whether what is looked for changes a life, and is not the next
// answer.
func (c *clause) seeks(i int) bool {
	for j := i; j < min(len(c.words), i+4); j++ {
		if lifeGoals.Has(c.at(j)) {
			return true
		}
	}
	return false
}

// having judges what is had or has been done; i is after "have".
func (c *clause) having(i int, past bool) topics {
	i, _ = c.skipAdverbs(i)
	v := c.at(i)
	switch {
	case v == "been":
		if j, _ := c.skipAdverbs(i + 1); c.at(j) == "to" {
			if c.content(j+1) > 0 && !english.Deictic.Has(c.at(j+1)) {
				return details
			}
			return 0
		}
		return c.being(i+1, true)
	case v == "to":
		return c.duty(i + 1)
	case v == "got" && c.at(i+1) != "to" && !happenings.Has(c.at(i+1)) && !english.States.Has(c.at(i+1)):
		return c.owned(i+1, false)
	case v == "got":
		return c.got(i + 1)
	case english.Likings.Has(strings.TrimSuffix(v, "d")) || english.Likings.Has(strings.TrimSuffix(v, "ed")):
		return c.liking(i + 1)
	case english.Past(v) || english.Participles.Has(v):
		return c.event(i)
	case v == "had":
		return c.owned(i+1, true)
	}
	return c.owned(i, past)
}

// got judges what follows "got": "got to go", "got married", "got a new job".
func (c *clause) got(i int) topics {
	switch v := c.at(i); {
	case v == "to":
		return c.duty(i + 1)
	case (happenings.Has(v) || english.States.Has(v)) && !c.task:
		return details
	}
	return c.event(i - 1)
}

// owned judges the object of "have".
func (c *clause) owned(i int, past bool) topics {
	t := topics(0)
	for j := i; j < min(len(c.words), i+5); j++ {
		w := c.at(j)
		if notOwned.Has(w) || past && fleeting.Has(w) && !c.timed {
			return 0
		}
		if english.OwnNouns.Has(w) {
			t |= personal
		}
		if c.words[j].Stop == ',' {
			break
		}
	}
	if english.Deictic.Has(c.at(i)) || c.content(i) == 0 || c.task || i < len(c.words) && talkComplements.Has(c.at(i)) {
		return 0
	}
	if t == 0 || past {
		t |= details
	}
	return t
}

// event judges something done; i is at the past form.
func (c *clause) event(i int) topics {
	v, rest := c.at(i), c.content(i+1)
	switch {
	case talkPast.Has(v) || v == "made" && c.at(i+1) == "sure" || c.task && !(c.timed && c.mine(i)):
		return 0
	case decisivePast.Has(v):
		return details
	case v == "turned" && isAge(c.at(i+1)):
		return personal | details
	case likingsPast.Has(v):
		if english.Deictic.Has(c.at(i+1)) || rest == 0 {
			return 0
		}
		return details
	case rest == 0 || english.Deictic.Has(c.at(i+1)) && !c.timed:
		return 0
	case weakPast.Has(v) && rest < 3 && !(c.timed && !english.Deictic.Has(c.at(i+1))) && (rest < 2 || !c.anchored(i+1)):
		return 0
	case english.Past(v) || english.Participles.Has(v):
		if v == "lived" || v == "worked" || v == "studied" || v == "grew" {
			return personal | details
		}
		return details
	}
	return 0
}

// liking judges the object of a taste; i is its first word.
func (c *clause) liking(i int) topics {
	if c.at(i) == "to" {
		if english.TalkVerbs.Has(c.at(i+1)) || c.content(i+1) == 0 || english.Deictic.Has(c.at(i+2)) {
			return 0
		}
		return preference
	}
	if strings.HasSuffix(c.at(i), "ing") && english.Pronouns.Has(c.at(i+1)) {
		return 0 // "I like holding them"
	}
	if n := c.at(i); n == "the" && (english.Deictic.Has(c.at(i+1)) || vague.Has(c.at(i+1)) || c.content(i) < 2 && c.content(i) > 0 && vague.Has(c.at(i+2))) || english.Deictic.Has(n) {
		return 0
	}
	if c.content(i) == 0 {
		return 0
	}
	return preference
}

// doing judges a verb in the present or past without auxiliary.
func (c *clause) doing(i int, negated bool) topics {
	v, rest := c.at(i), c.content(i+1)
	switch {
	case english.Likings.Has(v):
		return c.liking(i + 1)
	case v == "have":
		return c.having(i+1, false)
	case english.TalkVerbs.Has(v):
		return 0
	case v == "want" || v == "hope" || v == "need":
		if c.at(i+1) != "to" {
			return 0
		}
		if t := c.wish(i + 2); t != 0 || v != "need" {
			return t
		}
		return c.duty(i + 2)
	case v == "plan" || v == "intend" || v == "aim" || v == "dream":
		if rest > 0 && !c.task {
			return details
		}
		return 0
	case soloHabits.Has(v) && negated && rest == 0, v == "smoke" && rest == 0 && i+1 == len(c.words):
		return personal // "I don't drive."
	case english.PresentVerbs.Has(v) && !pastToo.Has(v):
		return c.habit(i)
	}
	return c.event(i)
}

// habit judges the present: what somebody does for a living, or again and again.
func (c *clause) habit(i int) topics {
	v := c.at(i)
	if v == "turn" && isAge(c.at(i+1)) {
		return personal | details
	}
	if c.content(i+1) == 0 && !regular.Has(c.at(i+1)) || english.Deictic.Has(c.at(i+1)) && !regular.Has(c.at(i+1)) || english.Deictic.Has(c.at(i+2)) && english.Prepositions.Has(c.at(i+1)) {
		return 0
	}
	if c.task && taskHabits.Has(v) {
		return 0
	}
	switch v {
	case "live", "work", "study", "teach", "come", "speak", "suffer", "weigh", "take", "own", "wear":
		return personal
	case "eat", "drink", "avoid":
		return preference
	}
	return details
}

func isAge(w string) bool {
	if ageNumbers.Has(w) {
		return true
	}
	return len(w) > 0 && len(w) < 3 && strings.Trim(w, "0123456789") == ""
}
