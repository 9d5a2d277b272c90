package ingest

import (
	"cmp"
	"slices"
	"time"

	"github.com/memoryd/memoryd/extract/canonical"
	"github.com/memoryd/memoryd/memory"
)

// statement is a fact among others, as the draft has it.
type statement struct {
	now  memory.Memory
	form *canonical.Form
	to   time.Time // when it ceased to hold
	by   string    // what ended it
}

// statements are all facts known, stored and new, in the order in which they
// were said.
func (d *decision) statements() []*statement {
	var out []*statement
	for _, id := range d.draft.order {
		if e := d.entries[id]; !e.gone {
			out = append(out, &statement{now: e.now})
		}
	}
	for id, m := range d.known {
		if d.entries[id] == nil {
			out = append(out, &statement{now: *m})
		}
	}
	slices.SortFunc(out, func(a, b *statement) int { return cmp.Or(said(&a.now, &b.now), cmp.Compare(a.now.ID, b.now.ID)) })
	return out
}

// arrange finds out when each fact holds: until something is said that excludes
// it. Of those that say the same while they hold only the first stands; the
// others are kept as said again, and never hold themselves, unless what stood
// is taken back. What a client gave stands before all.
func (d *decision) arrange() {
	t := d.timeline()
	for _, s := range t.all {
		d.keepEnd(t, s)
	}
	if !d.plain {
		for _, s := range t.all {
			t.endByLater(s)
		}
	}
	for _, same := range t.byText {
		t.repeat(same)
	}
	for _, s := range t.all {
		if s.now.ValidTo.Equal(s.to) && s.now.SupersededBy == s.by {
			continue
		}
		e := d.entry(d.batch.to, &s.now)
		e.now.ValidTo, e.now.SupersededBy, e.because = s.to, s.by, s.by
		switch {
		case s.by == "":
			e.reason = "it holds again"
		case saidAgain(&e.now):
			e.reason = "it was said before"
		default:
			e.reason = "both cannot hold"
		}
	}
}

// timeline is statements in the order in which they were said, and ways to look
// them up.
type timeline struct {
	all                 []*statement
	byID                map[string]*statement
	byText, byAttribute map[string][]*statement
	ending              map[string][]*statement // by the text that they end
	against             map[string][]string     // texts that a model has seen to exclude each other
}

func (d *decision) timeline() *timeline {
	t := &timeline{all: d.statements(), byID: map[string]*statement{}, byText: map[string][]*statement{}, byAttribute: map[string][]*statement{},
		ending: map[string][]*statement{}, against: map[string][]string{}}
	for _, s := range t.all {
		s.form = d.form(s.now.Fact)
		t.byID[s.now.ID] = s
		t.byText[s.form.Text] = append(t.byText[s.form.Text], s)
		if s.form.Attribute != "" {
			t.byAttribute[s.form.Attribute] = append(t.byAttribute[s.form.Attribute], s)
		}
		if s.form.Ends != "" {
			t.ending[s.form.Ends] = append(t.ending[s.form.Ends], s)
		}
	}
	return t
}

// keepEnd keeps an end that forms do not tell of: a model has seen it, or it is
// of what is not looked at now, or of what a client has decided on.
func (d *decision) keepEnd(t *timeline, s *statement) {
	to, id := d.end(&s.now)
	by := t.byID[id]
	if by == nil || s.now.Edited || by.form.Text != s.form.Text && (d.plain || !by.form.Excludes(s.form)) {
		s.to, s.by = to, id
	}
	if by := t.byID[s.by]; by != nil && !by.now.Edited { // whoever says either again ends the other
		t.against[s.form.Text] = append(t.against[s.form.Text], by.form.Text)
		t.against[by.form.Text] = append(t.against[by.form.Text], s.form.Text)
	}
}

// endByLater ends a statement by the first one after it that excludes it, if
// nothing ended it before.
func (t *timeline) endByLater(s *statement) {
	opposed := [][]*statement{t.byAttribute[s.form.Attribute], t.ending[s.form.Text], t.byText[s.form.Ends]}
	for _, text := range t.against[s.form.Text] {
		opposed = append(opposed, t.byText[text])
	}
	for _, near := range opposed {
		for _, o := range near {
			if !t.ends(o, s) {
				continue
			}
			to, by := ended(&s.now, &o.now), t.byID[s.by]
			if s.to.IsZero() || to.Before(s.to) || to.Equal(s.to) && by != nil && said(&o.now, &by.now) < 0 {
				s.to, s.by = to, o.now.ID
			}
			break // they are in order
		}
	}
}

// ends reports whether a statement ends an earlier one.
func (t *timeline) ends(o, s *statement) bool {
	switch {
	case !s.form.Excludes(o.form) && !slices.Contains(t.against[s.form.Text], o.form.Text):
		return false
	case s.now.Edited && !o.now.Timestamp.After(s.now.UpdateTime): // a client has decided since
		return false
	}
	// What is to expire ends nothing that lasts.
	return said(&s.now, &o.now) < 0 && oneAuthor(&s.now, &o.now) && o.now.ExpireTime.IsZero()
}

// repeat tells which of the statements of one text only say again what another
// one says while it holds.
func (t *timeline) repeat(same []*statement) {
	for i, s := range same {
		if clients(&s.now) {
			continue
		}
		for j, o := range same {
			first := clients(&o.now) || j < i && !(o.by != "" && o.to.Equal(o.now.Timestamp))
			if o != s && first && oneAuthor(&s.now, &o.now) && o.now.ExpireTime.IsZero() && t.holds(o, s) {
				s.to, s.by = s.now.Timestamp, o.now.ID
				break
			}
		}
	}
}

// holds reports whether a statement holds when another is made.
func (t *timeline) holds(o, s *statement) bool {
	if by := t.byID[o.by]; by != nil {
		return said(&s.now, &by.now) < 0
	}
	return o.to.IsZero() || s.now.Timestamp.Before(o.to)
}

// end is when a memory ceased to hold, and by what. What is taken back has ended
// nothing: what has ended that has, where a model has seen it, and forms do not
// tell better.
func (d *decision) end(m *memory.Memory) (to time.Time, by string) {
	to, by = m.ValidTo, m.SupersededBy
	for by != "" && d.entries[by] != nil && d.entries[by].was != nil && (d.gone(by) || to.Equal(d.reverted[by])) {
		was := d.entries[by].was
		if f, o := d.form(m.Fact), d.form(was.Fact); f.Text == o.Text || f.Excludes(o) {
			return time.Time{}, ""
		}
		to, by = was.ValidTo, was.SupersededBy
	}
	return to, by
}

// ended is when one memory ends another: when it was said, or just after both
// were, as a memory that ends when it was said is only said again.
func ended(earlier, later *memory.Memory) time.Time {
	if !later.Timestamp.After(earlier.Timestamp) {
		return earlier.Timestamp.Add(time.Microsecond)
	}
	return later.Timestamp
}

// saidAgain reports whether a memory only says again what another one says.
func saidAgain(m *memory.Memory) bool {
	return m.SupersededBy != "" && m.ValidTo.Equal(m.Timestamp)
}

// said compares when two memories were said; of two at the same time,
// whichever session brought its one first, the same counts as first. What one
// event says compares as equal.
func said(a, b *memory.Memory) int {
	event := func(m *memory.Memory) string {
		if len(m.Source.EventIDs) == 0 {
			return ""
		}
		return m.Source.EventIDs[0]
	}
	return cmp.Or(a.Timestamp.Compare(b.Timestamp), cmp.Compare(event(a), event(b)), cmp.Compare(a.Source.SessionID, b.Source.SessionID))
}
