package retrieve

import (
	"maps"
	"slices"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// A turn keeps its words when the facts that it told are superseded or corrected. So
// a turn that is found for such a fact is outdated: what holds instead takes its
// score, if that is better, and the turn ranks behind it. Nothing else moves, so that
// a mistake about what a question is about costs one place. A question about the past
// has the order turned round. A fact that has ended is also a key: what took its place
// takes the score that the fact would have.

// validity is the time in which the words of a match held.
type validity struct{ from, to time.Time }

// succession is what of a question's matter no longer holds.
type succession struct {
	*ranking
	found     *memory.Found
	all       []*ranked                      // the candidates in the runs
	byID      map[string]*memory.Candidate   // facts that depart, and what superseded them
	told      map[cite]*ranked               // turns found, and those of successors; see turnAt
	departing map[cite][]*memory.Candidate   // facts by the turns that they cite
	endedIn   map[string][]*memory.Candidate // facts that have ended, by their sessions
	holding   map[cite][]*ranked             // facts found that hold, by the turns that they cite
	scored    map[string]*ranked             // facts found, and successors, by id
	texts     map[string]string              // canonical, by text
	words     map[string]map[string]bool     // analyzed, by text
	freqs     []float64                      // scratch space
}

// succession reads what a store found; nil if all of it holds. all are the
// candidates in the runs.
func (k *ranking) succession(found memory.Found, all []*ranked) *succession {
	if len(found.Succession) == 0 && !slices.ContainsFunc(all, changed) {
		return nil
	}
	s := &succession{
		ranking: k, found: &found, all: all,
		byID: map[string]*memory.Candidate{}, departing: map[cite][]*memory.Candidate{},
		endedIn: map[string][]*memory.Candidate{},
		holding: map[cite][]*ranked{}, scored: map[string]*ranked{},
		texts: map[string]string{}, words: map[string]map[string]bool{}, freqs: make([]float64, len(k.idf)),
	}
	for _, c := range all {
		if c.Memory.Kind == memory.KindTurn || c.Memory.IsShared() {
			continue
		}
		s.add(c.Candidate)
		s.scored[c.Memory.ID] = c
		if !c.Memory.Departs(k.question.at) {
			for at := range citesOf(c.Memory) {
				s.holding[at] = append(s.holding[at], c)
			}
		}
	}
	for i := range found.Succession {
		if c := &found.Succession[i]; c.Memory.Kind != memory.KindTurn {
			s.add(c)
		}
	}
	return s
}

// add adds a fact.
func (s *succession) add(c *memory.Candidate) {
	s.byID[c.Memory.ID] = c
	if in := c.Memory.Source.SessionID; c.Memory.Ended(s.question.at) && in != "" {
		s.endedIn[in] = append(s.endedIn[in], c)
	}
	if c.Memory.Departs(s.question.at) {
		for at := range citesOf(c.Memory) {
			s.departing[at] = append(s.departing[at], c)
		}
	}
}

// turnAt returns a turn by what cites it; nil if it is none of those known. There are
// many, and few questions need one.
func (s *succession) turnAt(at cite) *ranked {
	if s.told == nil {
		s.told = make(map[cite]*ranked, len(s.all))
		for _, c := range s.all {
			if c.Memory.Kind == memory.KindTurn {
				for at := range citesOf(c.Memory) {
					s.told[at] = c
				}
			}
		}
		for i := range s.found.Succession {
			if c := &s.found.Succession[i]; c.Memory.Kind == memory.KindTurn {
				alone := s.scoreAlone(c, s.freqs)
				for at := range citesOf(c.Memory) {
					s.told[at] = &alone
				}
			}
		}
	}
	return s.told[at]
}

// end is the end of what a fact says, or of what a turn said before a client edited
// the fact.
type end struct {
	validity
	by *memory.Candidate // what holds instead; nil if nothing does
}

// endOf returns when a fact ceased to hold and what holds instead; false if what it
// says holds, be it that another fact says it.
func (s *succession) endOf(c *memory.Candidate) (e end, ended bool) {
	e.from = c.Memory.HoldsFrom()
	m := c.Memory
	for range memory.MaxSuccession {
		if !m.Ended(s.question.at) {
			e.by = s.byID[m.ID]
			break
		}
		if e.to.IsZero() && !m.Repeats() {
			e.to = m.ValidTo
		}
		next := s.byID[m.SupersededBy]
		if next == nil {
			break
		}
		m = next.Memory
	}
	switch {
	case e.by != nil && (e.to.IsZero() || s.text(e.by.Memory.Fact) == s.text(c.Memory.Fact)):
		return e, false
	case e.to.IsZero(): // it repeats a fact that is gone
		e.to = c.Memory.ValidTo
	}
	return e, true
}

// contradicts reports whether a fact, whose text is a client's, says something else
// than the words it was made of. A part of them is nothing else.
func (s *succession) contradicts(fact, turn *memory.Memory) bool {
	text := s.text(fact.Fact)
	if text == s.text(fact.Source.Quote) || text == s.text(turn.Fact) {
		return false
	}
	said := plainWords(turn.Fact)
	return slices.ContainsFunc(plainWords(fact.Fact), func(w string) bool { return !slices.Contains(said, w) })
}

// ends returns what no longer holds of a turn, with the facts that told it.
func (s *succession) ends(turn *memory.Memory) (ends []end, facts []*memory.Candidate) {
	for at := range citesOf(turn) {
		for _, c := range s.departing[at] {
			m := c.Memory
			if m.Edited && s.contradicts(m, turn) {
				e := end{validity: validity{m.HoldsFrom(), m.DecidedAt()}, by: c}
				if later, ended := s.endOf(c); ended {
					e.by = later.by
				}
				ends, facts = append(ends, e), append(facts, c)
			} else if e, ended := s.endOf(c); m.Ended(s.question.at) && ended {
				ends, facts = append(ends, e), append(facts, c)
			}
		}
	}
	for _, c := range s.echoed(turn) {
		if e, ended := s.endOf(c); ended {
			ends, facts = append(ends, e), append(facts, c)
		}
	}
	return s.retractions(turn, ends, facts)
}

// The constants of the decision whether a turn was found for what no longer holds.
const (
	// wholeTurn is the share of a turn's words from which on a fact is all of it. The
	// others are greetings and fillers.
	wholeTurn = 0.7
	// sameMatter is the share of what a turn has in common with the question that the
	// facts which no longer hold must have.
	sameMatter = 0.5
)

// foundFor reports whether a turn was found for what some of its facts said, rather
// than for its other facts or for words of which no fact was made. redundant is
// whether facts tell all of the turn.
func (s *succession) foundFor(turn *ranked, facts []*memory.Candidate) (found, redundant bool) {
	best, hold := 0.0, 0.0 // what the facts have in common with the question
	matched := make([]bool, len(s.idf))
	words := map[string]bool{}
	for _, c := range facts {
		r := s.scoreAlone(c, s.freqs)
		best = max(best, s.own(&r))
		for i, n := range c.Freqs {
			matched[i] = matched[i] || n > 0
		}
		for _, text := range []string{c.Memory.Fact, c.Memory.Source.Quote} {
			for w := range s.wordsOf(text) {
				words[w] = true
			}
		}
	}
	others, all := false, maps.Clone(words)
	for at := range citesOf(turn.Memory) {
		for _, f := range s.holding[at] {
			others = true
			r := s.scoreAlone(f.Candidate, s.freqs)
			hold = max(hold, s.own(&r))
			for w := range s.wordsOf(f.Memory.Fact) {
				all[w] = true
			}
		}
	}
	if hold > best {
		return false, false
	}
	if !others {
		if s.coveredBy(turn.Memory.Fact, words) >= wholeTurn {
			return true, true
		}
		for i, t := range s.terms {
			matched[i] = matched[i] || words[t]
		}
	}
	common, told := 0.0, 0.0
	for i, n := range turn.Freqs {
		if n > 0 {
			common += s.idf[i]
			if matched[i] {
				told += s.idf[i]
			}
		}
	}
	return told >= sameMatter*common, s.coveredBy(turn.Memory.Fact, all) >= wholeTurn
}

// meant returns those of the ends of a turn's facts that the question is about: not
// those of facts that have much less in common with it than the best.
func (s *succession) meant(ends []end, facts []*memory.Candidate) (out []end) {
	best, own := 0.0, make([]float64, len(facts))
	for i, c := range facts {
		r := s.scoreAlone(c, s.freqs)
		own[i] = s.own(&r)
		best = max(best, own[i])
	}
	for i := range ends {
		if own[i] >= sameMatter*best {
			out = append(out, ends[i])
		}
	}
	return out
}

// own is what a memory has in common with the question without its surroundings.
func (k *ranking) own(c *ranked) float64 {
	return k.weights[lexical]*c.parts[lexical] + k.weights[dense]*c.parts[dense]
}

// coveredBy returns the share of a text's words that are among others.
func (s *succession) coveredBy(text string, words map[string]bool) float64 {
	own := s.wordsOf(text)
	n := 0
	for w := range own {
		if words[w] {
			n++
		}
	}
	if len(own) == 0 {
		return 1
	}
	return float64(n) / float64(len(own))
}

// place marks the matches that are outdated, adds what took their place, and puts
// both in order. It returns the n best.
func (s *succession) place(best []*ranked, n int) []*ranked {
	worst := 0.0
	if len(best) == n {
		worst = best[n-1].score
	}
	in := map[*ranked]bool{}
	for _, c := range best {
		in[c] = true
	}
	add := func(c *ranked) {
		if !in[c] {
			in[c] = true
			best = append(best, c)
		}
	}
	for _, c := range slices.Clone(best) {
		if c.Memory.Kind == memory.KindTurn {
			s.mark(c, add)
		}
	}
	for _, c := range s.byID {
		if c.Memory.Ended(s.question.at) && !c.Memory.Repeats() {
			s.unlock(c, worst, add)
		}
	}
	for _, c := range best {
		c.score = max(c.score, c.inherited)
	}
	best = succeed(best, s.question)
	return best[:min(len(best), n)]
}

// mark marks a turn if it is outdated, and adds what took its place.
func (s *succession) mark(c *ranked, add func(*ranked)) {
	ends, facts := s.ends(c.Memory)
	if len(ends) == 0 {
		return
	}
	found, redundant := s.foundFor(c, facts)
	if !found {
		return
	}
	c.outdated = &memory.Outdated{By: []string{}, Redundant: redundant}
	for _, e := range s.meant(ends, facts) {
		if c.until.to.IsZero() || e.to.After(c.until.to) {
			c.until = e.validity
		}
		if e.by == nil || slices.Contains(c.outdated.By, e.by.Memory.ID) {
			continue
		}
		c.outdated.By = append(c.outdated.By, e.by.Memory.ID)
		for _, by := range s.shownFor(e.by) {
			if by == c {
				continue
			}
			c.successors = append(c.successors, by)
			if !slices.Contains(c.outdated.By, by.Memory.ID) {
				c.outdated.By = append(c.outdated.By, by.Memory.ID)
			}
			if !s.question.asksFor(e.validity) {
				add(by)
			}
		}
	}
	c.outdated.Since = c.until.to
}

// unlock has a fact that has ended be the key to what took its place, if it would be
// among the best itself.
func (s *succession) unlock(c *memory.Candidate, worst float64, add func(*ranked)) {
	r := s.scoreAlone(c, s.freqs)
	s.inheritFromTurns(&r)
	if !s.related(&r) || s.most(&r) <= worst {
		return
	}
	e, ended := s.endOf(c)
	if !ended || e.by == nil || s.question.asksFor(e.validity) {
		return
	}
	s.weighKind(&r)
	s.sum(&r)
	if r.score <= worst {
		return
	}
	for _, by := range s.shownFor(e.by) {
		by.inherited = max(by.inherited, r.score)
		add(by)
	}
}

// shownFor returns what passes the filter of a fact and the turns that it cites: the
// fact, or else the turns.
func (s *succession) shownFor(fact *memory.Candidate) (out []*ranked) {
	if fact.Match {
		return []*ranked{s.score(fact)}
	}
	for at := range citesOf(fact.Memory) {
		if t := s.turnAt(at); t != nil && t.Match {
			out = append(out, s.final(t))
		}
	}
	return out
}

// score returns a fact with its own score.
func (s *succession) score(c *memory.Candidate) *ranked {
	r := s.scored[c.Memory.ID]
	if r == nil {
		alone := s.scoreAlone(c, s.freqs)
		r = &alone
		s.inheritFromTurns(r)
		s.scored[c.Memory.ID] = r
	}
	return s.final(r)
}

// final gives a candidate its own score, unless it has it.
func (s *succession) final(r *ranked) *ranked {
	if !r.final {
		s.most(r)
		s.weighKind(r)
		s.sum(r)
	}
	return r
}

// behind is what the score of a match is multiplied with that ranks directly behind
// another one.
const behind = 1 - 1e-9

// succeed orders matches so that what is outdated is directly behind what took its
// place or, if the question asks for it, not behind.
func succeed(best []*ranked, q *question) []*ranked {
	for _, c := range best {
		for _, by := range c.successors {
			if !q.asksFor(c.until) {
				by.score = max(by.score, c.score)
			}
		}
	}
	for _, c := range best {
		if len(c.successors) == 0 {
			continue
		}
		if q.asksFor(c.until) {
			c.score = max(c.score, min(c.rival(best)/behind, 1))
			continue
		}
		highest := 0.0
		for _, by := range c.successors {
			highest = max(highest, by.score)
		}
		c.score = min(c.score, highest*behind)
	}
	slices.SortStableFunc(best, better)
	return best
}

// rival returns the best score of what took the place of a match and of the turns
// that tell it.
func (c *ranked) rival(best []*ranked) (score float64) {
	cites := map[cite]bool{}
	for _, by := range c.successors {
		score = max(score, by.score)
		for at := range citesOf(by.Memory) {
			cites[at] = true
		}
	}
	for at := range citesOf(c.Memory) {
		delete(cites, at)
	}
	for _, o := range best {
		for at := range citesOf(o.Memory) {
			if cites[at] && o != c {
				score = max(score, o.score)
			}
		}
	}
	return score
}

// explainPlace adds to an explanation the part by which a score differs from the sum
// of the others: the match took the place of another one, or another one took its
// place.
func explainPlace(c *ranked, e *memory.Explain) *memory.Explain {
	sum := 0.0
	for _, p := range e.Parts {
		sum += p.Value * p.Weight
	}
	p := memory.Part{Name: "holds"}
	switch {
	case c.score > sum && sum < 1:
		p.Value, p.Weight = 1, (c.score-sum)/(1-sum)
	case c.score < sum:
		p.Weight = 1 - c.score/sum
	}
	if p.Weight < 1e-12 { // a difference of rounding
		return e
	}
	for i := range e.Parts {
		e.Parts[i].Weight *= 1 - p.Weight
	}
	e.Parts = append(e.Parts, p)
	return e
}
