package extract

import "github.com/memoryd/memoryd/extract/english"

// duty judges "have to …": kept where it is a date in somebody's life.
func (c *clause) duty(i int) topics {
	if c.task || english.TalkVerbs.Has(c.at(i)) || c.content(i) < 2 || !c.anchored(i) {
		return 0 // "We gotta push ourselves"
	}
	return details
}

// future judges plans; i is at the verb after "will" or "going to".
func (c *clause) future(i int) topics {
	i, _ = c.skipAdverbs(i)
	v, rest := c.at(i), c.content(i+1)
	switch {
	case c.task || english.TalkVerbs.Has(v) || v == "do" || rest == 0 || english.Deictic.Has(c.at(i+1)):
		return 0
	case v == "have" && c.at(i+1) == "to":
		return c.duty(i + 2)
	case v == "be":
		if !c.timed || rest < 2 && !english.Prepositions.Has(c.at(i+1)) {
			return 0
		}
	case !goals.Has(v) && (rest < 2 || !c.anchored(i+1)):
		return 0
	}
	return details
}

// would judges "would like to", "would rather", "would prefer".
func (c *clause) would(i int) topics {
	i, _ = c.skipAdverbs(i)
	switch v := c.at(i); {
	case v == "rather" || v == "prefer":
		if c.content(i+1) > 0 && !english.Deictic.Has(c.at(i+1)) && !c.task {
			return preference
		}
	case (v == "love" || v == "like" || v == "hate") && c.at(i+1) == "to":
		return c.wish(i + 2)
	}
	return 0
}

// wish judges what somebody wants to do: lasting aims, not the task at hand.
func (c *clause) wish(i int) topics {
	v, rest := c.at(i), c.content(i+1)
	if c.task || english.TalkVerbs.Has(v) || !goals.Has(v) && !english.PresentVerbs.Has(v) || rest == 0 || english.Deictic.Has(c.at(i+1)) || weakGoals.Has(v) && rest < 2 && !c.timed {
		return 0
	}
	return details
}

// ability judges "can speak Polish", "can't eat gluten".
func (c *clause) ability(i int) topics {
	i, negated := c.skipAdverbs(i)
	v := c.at(i)
	switch {
	case negated && (v == "stand" || v == "bear" || v == "tolerate"):
		return c.liking(i + 1)
	case negated && (v == "eat" || v == "drink" || v == "have") && c.content(i+1) > 0 && !english.Deictic.Has(c.at(i+1)) && !notOwned.Has(c.at(i+1)) && !notOwned.Has(c.at(i+2)):
		return personal | preference
	case !c.task && (skills.Has(v) && c.content(i+1) > 0 || negated && skills.Has(v)) && !english.Deictic.Has(c.at(i+1)):
		return personal
	}
	return 0
}
