package consolidate

import (
	"cmp"
	"slices"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// resolveValidity works out until when each fact holds, and which memory
// superseded it.
func (p *planner) resolveValidity() {
	t := p.timeline()
	t.resolve()
	for _, s := range t.all {
		if s.now.ValidTo.Equal(s.to) && s.now.SupersededBy == s.by {
			continue
		}
		e := p.entry(p.in.Last, &s.now)
		e.setEnd(s.to, s.by, "both cannot hold")
		switch {
		case s.by == "":
			e.reason = "it holds again"
		case Repetition(&e.now):
			e.reason = "it was said before"
		}
	}
}

// timeline is statements in the order in which they were said, with indexes.
type timeline struct {
	all         []*statement
	byID        map[string]*statement
	byText      map[string][]*statement // by canonical text
	byAttribute map[string][]*statement
	byTopic     map[string][]*statement
	byEnded     map[string][]*statement // by the canonical text that they end
	// excludes has pairs of canonical texts, both ways, of which a model saw one
	// to end the other. Whenever one of them is said, it ends the other.
	excludes map[string][]string
	disabled bool // see Input
	exact    bool // see Input
}

// timeline returns the facts with the ends that they have so far.
func (p *planner) timeline() *timeline {
	t := &timeline{
		all: p.statements(), disabled: p.in.Disabled, exact: p.in.Exact,
		byID: map[string]*statement{}, byText: map[string][]*statement{}, byAttribute: map[string][]*statement{},
		byTopic: map[string][]*statement{},
		byEnded: map[string][]*statement{}, excludes: map[string][]string{},
	}
	for _, s := range t.all {
		s.form = p.forms.Of(s.now.Fact)
		s.to, s.by = p.end(&s.now)
		t.byID[s.now.ID] = s
		t.byText[s.form.Text] = append(t.byText[s.form.Text], s)
		for _, c := range s.form.Claims {
			t.byAttribute[c.Attribute] = append(t.byAttribute[c.Attribute], s)
		}
		for _, topic := range s.form.Topics() {
			t.byTopic[topic] = append(t.byTopic[topic], s)
		}
		if s.form.Ends != "" {
			t.byEnded[s.form.Ends] = append(t.byEnded[s.form.Ends], s)
		}
	}
	return t
}

// end returns when m stopped being valid and which memory superseded it. If that
// memory is withdrawn, end follows the chain to the memory that superseded the
// withdrawn one, unless the forms can tell: then m has no end until they are
// compared.
func (p *planner) end(m *memory.Memory) (to time.Time, by string) {
	to, by = m.ValidTo, m.SupersededBy
	for by != "" {
		e := p.changes.entries[by]
		if e == nil || e.was == nil || !e.gone && !to.Equal(p.reverted[by]) {
			break
		}
		if !e.was.SaidAt().After(m.ToEditTime) { // the end is a client's, whatever took its place
			return m.ValidTo, ""
		}
		if f, o := p.forms.Of(m.Fact), p.forms.Of(e.was.Fact); f.Text == o.Text || f.Excludes(o) {
			return time.Time{}, ""
		}
		to, by = e.was.ValidTo, e.was.SupersededBy
	}
	return to, by
}

// resolve gives every statement its end. It decides from the forms alone, and
// keeps the ends that forms do not tell.
func (t *timeline) resolve() {
	for _, s := range t.all {
		t.keepEnd(s)
	}
	if !t.disabled {
		for _, s := range t.all {
			t.endByLater(s)
		}
	}
	for _, same := range t.byText {
		t.markRepetitions(same)
	}
}

// keepEnd keeps the end of a statement if forms do not tell of it: a model saw
// it, a client has decided on the statement, or what ended it is not on the
// timeline. Other ends are worked out again. Of what another author said, forms tell nothing,
// and a model may.
func (t *timeline) keepEnd(s *statement) {
	by := t.byID[s.by]
	told := by != nil && (by.form.Text == s.form.Text ||
		!t.disabled && sameAuthor(&s.now, &by.now) && by.form.Excludes(s.form))
	if told && !s.now.Edited && by.now.SaidAt().After(s.now.ToEditTime) {
		s.to, s.by = time.Time{}, ""
		return
	}
	if by != nil && !by.now.Edited && !s.isRepetition() {
		t.excludes[s.form.Text] = append(t.excludes[s.form.Text], by.form.Text)
		t.excludes[by.form.Text] = append(t.excludes[by.form.Text], s.form.Text)
	}
}

// endByLater ends a statement by the one after it that excludes it first, unless
// something ended it before. That is the next one that was said, except that one
// that holds only in the future leaves room for others before it.
func (t *timeline) endByLater(s *statement) {
	opposed := [][]*statement{t.byEnded[s.form.Text], t.byText[s.form.Ends]}
	for _, c := range s.form.Claims {
		opposed = append(opposed, t.byAttribute[c.Attribute])
	}
	for _, topic := range s.form.Topics() {
		opposed = append(opposed, t.byTopic[topic])
	}
	for _, text := range t.excludes[s.form.Text] {
		opposed = append(opposed, t.byText[text])
	}
	for _, some := range opposed {
		for _, o := range some { // in the order in which they were said
			if !t.ends(o, s) {
				continue
			}
			to, by := EndOf(&s.now, &o.now), t.byID[s.by]
			if s.to.IsZero() || to.Before(s.to) || to.Equal(s.to) && by != nil && Chronological(&o.now, &by.now) < 0 {
				s.to, s.by = to, o.now.ID
			}
			if !isFuture(&o.now) { // a later one ends it later
				break
			}
		}
	}
}

// ends reports whether the statement o ends s, which was made earlier.
func (t *timeline) ends(o, s *statement) bool {
	switch {
	case t.apart(s, o):
		return false
	case o.isRepetition(): // as a model saw: the fact that it repeats ends s, or does not
		return false
	case !o.form.Supersedes(s.form, s.now.SaidAt()) && !slices.Contains(t.excludes[s.form.Text], o.form.Text):
		return false
	case !o.now.SaidAt().After(s.now.DecidedAt()), // a client has decided since
		!o.now.SaidAt().After(s.now.ToEditTime):
		return false
	case o.now.Passing(): // what passes ends nothing that lasts
		return false
	case o.now.Trust.Below(s.now.Trust): // a document ends nothing that the user said
		return false
	}
	return Chronological(&s.now, &o.now) < 0 && sameAuthor(&s.now, &o.now)
}

// markRepetitions finds, among the statements of one canonical text, those that
// repeat another one while it holds.
func (t *timeline) markRepetitions(same []*statement) {
	for i, s := range same {
		if Chosen(&s.now) {
			continue
		}
		for j, o := range same {
			if (j < i && !o.isRepetition() || Chosen(&o.now)) && t.repeats(s, o) {
				s.to, s.by = s.now.HoldsFrom(), o.now.ID
				break
			}
		}
	}
}

// repeats reports whether a statement only repeats another one of the same
// canonical text, which holds then and does not expire, or of which a client has
// decided since when it holds.
func (t *timeline) repeats(s, o *statement) bool {
	said := s.now.SaidAt()
	decided := !said.After(o.now.FromEditTime) || !said.After(o.now.ToEditTime)
	return o != s && !t.apart(s, o) && sameAuthor(&s.now, &o.now) &&
		!o.now.Trust.Below(s.now.Trust) && !o.now.Passing() && (decided || t.holds(o, s))
}

// apart reports whether two statements stay beside each other as their metadata differs.
// One that superseded the other before goes on doing so.
func (t *timeline) apart(s, o *statement) bool {
	return t.exact && s.now.SupersededBy != o.now.ID && !s.now.Metadata.Equal(o.now.Metadata)
}

// holds reports whether the statement o holds when s begins to.
func (t *timeline) holds(o, s *statement) bool {
	from := s.now.HoldsFrom()
	if isFuture(&o.now) && from.Before(o.now.HoldsFrom()) {
		return false
	}
	if by := t.byID[o.by]; by != nil {
		return cmp.Or(from.Compare(by.now.HoldsFrom()), Chronological(&s.now, &by.now)) < 0
	}
	return o.to.IsZero() || from.Before(o.to)
}
