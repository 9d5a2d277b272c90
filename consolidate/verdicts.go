package consolidate

import (
	"cmp"
	"slices"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/memory"
)

// Comparison is what a model said of new facts beside known ones.
type Comparison struct {
	Known []memory.Memory // stored facts, as they were shown
	New   []Fact          // the Uncompared of an earlier Result
	// Verdicts are on each of New, in order. They refer to facts by place: Known
	// first, then New.
	Verdicts []extract.Verdict
}

// applyVerdicts carries out what a model said of each new fact.
func (p *planner) applyVerdicts(c *Comparison) {
	for i, v := range c.Verdicts[:min(len(c.Verdicts), len(c.New))] {
		p.applyVerdict(c, i, v)
	}
}

// applyVerdict carries out the verdict on one new fact. A request to forget can
// only delete, and a fact only do something else.
func (p *planner) applyVerdict(c *Comparison, i int, v extract.Verdict) {
	f := &c.New[i]
	e := p.changes.entries[f.Memory.ID]
	switch {
	case f.Forget && v.Action == extract.Delete:
		for _, place := range v.Against {
			if other := p.at(c, place, f.Seq); other != nil && Chronological(&other.now, &f.Memory) < 0 {
				other.delete(v.Reason)
			}
		}
		return
	case e == nil || f.Forget || v.Action == extract.Delete:
		return
	case v.Action == extract.Nothing:
		if same := p.at(c, v.Same, f.Seq); same != nil && same.standsFor(&f.Memory) {
			e.gone = true
			return
		}
	case v.Action == extract.Update:
		if target := p.at(c, v.Same, f.Seq); target != nil && target.extensible() && target.standsFor(&f.Memory) {
			target.extend(e, v)
			e = target
		}
	}
	for _, place := range v.Against {
		p.oppose(c, e, len(c.Known)+i, place, v)
	}
}

// oppose ends the earlier one of two facts that cannot both hold. Of two facts
// of one event the one with the lower place is the earlier.
func (p *planner) oppose(c *Comparison, e *entry, own, place int, v extract.Verdict) {
	other := p.at(c, place, c.New[own-len(c.Known)].Seq)
	if other == nil || other == e || other.gone {
		return
	}
	if cmp.Or(Chronological(&other.now, &e.now), cmp.Compare(place, own)) > 0 {
		other, e = e, other
	}
	other.endBy(e, v.Reason)
}

// at returns the entry of the fact at a place, changed by the event seq; nil if
// there is no such fact, as of a request to forget.
func (p *planner) at(c *Comparison, place int, seq int64) *entry {
	switch n := len(c.Known); {
	case place < 0 || place >= n+len(c.New):
		return nil
	case place < n:
		return p.entry(seq, &c.Known[place])
	default:
		return p.changes.entries[c.New[place-n].Memory.ID]
	}
}

// standsFor reports whether a memory can stand for a fact that says the same:
// it holds when that was said, and for good.
func (e *entry) standsFor(m *memory.Memory) bool {
	return !e.gone && e.now.ExpireTime.IsZero() && (e.now.ValidTo.IsZero() || m.Timestamp.Before(e.now.ValidTo))
}

// extensible reports whether a model may put a new fact into a memory: it is
// stored, a client has no say in it, and no other new fact was put into it, of
// which the model's text would not know.
func (e *entry) extensible() bool {
	return e.was != nil && !FromClient(&e.now) && e.added == nil
}

// extend has a stored memory say what a new fact adds to it.
func (e *entry) extend(added *entry, v extract.Verdict) {
	m, from := &e.now, &added.now
	m.Fact = v.Text
	for _, t := range from.Topics {
		if !slices.Contains(m.Topics, t) && len(m.Topics) < memory.MaxTopics {
			m.Topics = append(m.Topics, t)
		}
	}
	if Chronological(m, from) < 0 { // it rests on its newest words; its revisions have the older ones
		m.Source, m.Author, m.Timestamp = from.Source, from.Author, from.Timestamp
		if !from.ValidFrom.IsZero() {
			m.ValidFrom = from.ValidFrom
		}
	}
	alone := added.now.Clone()
	e.seq, e.reason, e.added = added.seq, v.Reason, &alone
	added.gone = true
}
