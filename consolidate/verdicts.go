package consolidate

import (
	"cmp"
	"slices"
	"time"

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

// applyVerdicts carries out what a model said of each new fact. A request to
// forget can only delete, and a fact can do anything but that.
func (p *planner) applyVerdicts(c *Comparison) {
	for i, v := range c.Verdicts[:min(len(c.Verdicts), len(c.New))] {
		f := &c.New[i]
		switch e := p.changes.entries[f.Memory.ID]; {
		case f.Forget && v.Action == extract.Delete:
			p.forgetVerdict(c, f, v)
		case !f.Forget && v.Action != extract.Delete && e != nil:
			p.factVerdict(c, i, e, v)
		}
	}
}

// forgetVerdict deletes the facts that a model has seen to be meant by a request
// to forget, and that were said before it.
func (p *planner) forgetVerdict(c *Comparison, request *Fact, v extract.Verdict) {
	for _, place := range v.Against {
		if value := c.value(place); value != nil && Chronological(value, &request.Memory) < 0 {
			p.forgetValue(request.Seq, value, v.Reason)
			p.finds(request)
		}
		if e := p.at(c, place, request.Seq); e != nil && Chronological(&e.now, &request.Memory) < 0 {
			p.forgotten = append(p.forgotten, e.now)
			p.forgetRepetitions(p.repetitions(), e.now.ID, &request.Memory, v.Reason)
			e.delete(v.Reason)
			p.finds(request)
		}
	}
}

// finds notes that a request to forget names something.
func (p *planner) finds(request *Fact) {
	for _, r := range p.requests {
		r.found = r.found || r.fact != nil && r.fact.Memory.ID == request.Memory.ID &&
			r.fact.Memory.Fact == request.Memory.Fact
	}
}

// value returns the stored value of a profile at a place; nil if there is none.
func (c *Comparison) value(place int) *memory.Memory {
	if place < 0 || place >= len(c.Known) || c.Known[place].Kind != memory.KindProfile {
		return nil
	}
	return &c.Known[place]
}

// forgetValue deletes the value of a profile.
func (p *planner) forgetValue(seq int64, m *memory.Memory, reason string) {
	if !p.forgets(m.ID) {
		p.forgotten = append(p.forgotten, *m)
		p.changes.change(seq, m).delete(reason)
	}
}

// factVerdict carries out the verdict on the new fact i, whose entry is e: it is
// known, or extends a stored fact, or stays beside the others; and it ends those
// that it excludes, or is ended by them.
func (p *planner) factVerdict(c *Comparison, i int, e *entry, v extract.Verdict) {
	f := &c.New[i]
	same := p.at(c, v.Same, f.Seq)
	stands := same != nil && same.standsFor(&f.Memory)
	switch {
	case v.Action == extract.Nothing && stands && !same.now.Trust.Below(f.Memory.Trust):
		p.release(e)
		e.setEnd(e.now.HoldsFrom(), same.now.ID, v.Reason)
		return
	case v.Action == extract.Update && stands && same.extensible() && !f.Memory.Trust.Below(same.now.Trust):
		same.extend(e, v)
		p.release(e)
		e = same
	}
	own := len(c.Known) + i
	for _, place := range v.Against {
		other := p.at(c, place, f.Seq)
		switch {
		case other == nil || other == e || other.gone:
		case cmp.Or(Chronological(&other.now, &e.now), cmp.Compare(place, own)) > 0: // of one event, the later in it
			e.endBy(other, v.Reason)
		default:
			other.endBy(e, v.Reason)
		}
	}
}

// release takes the ends back that a fact has given to others, as it becomes no
// memory of its own. The fact that has its words now may end them again.
func (p *planner) release(gone *entry) {
	for _, e := range p.changes.entries {
		if e.now.SupersededBy != gone.now.ID {
			continue
		}
		e.setEnd(time.Time{}, "", "")
		if e.was != nil && e.was.SupersededBy != gone.now.ID {
			e.setEnd(e.was.ValidTo, e.was.SupersededBy, "")
		}
	}
}

// at returns the entry of the fact at a place, which the event seq changes. It
// returns nil if there is no fact at the place, or a request to forget or the value of a
// profile.
func (p *planner) at(c *Comparison, place int, seq int64) *entry {
	switch n := len(c.Known); {
	case place < 0 || place >= n+len(c.New) || c.value(place) != nil:
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
	from := m.HoldsFrom()
	return !e.gone && !e.now.Passing() && !(isFuture(&e.now) && from.Before(e.now.HoldsFrom())) &&
		(e.now.ValidTo.IsZero() || from.Before(e.now.ValidTo))
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
	m.Fact, m.Trust = v.Text, m.Trust.Least(from.Trust)
	for _, t := range from.Topics {
		if !slices.Contains(m.Topics, t) && len(m.Topics) < memory.MaxTopics {
			m.Topics = append(m.Topics, t)
		}
	}
	if Chronological(m, from) < 0 { // it rests on its newest words; its revisions have the older ones
		m.Source, m.Author = from.Source, from.Author
		m.Timestamp, m.UTCOffset, m.ReceiveTime = from.Timestamp, from.UTCOffset, from.ReceiveTime
		if !from.ValidFrom.IsZero() && m.FromEditTime.IsZero() {
			m.ValidFrom = from.ValidFrom
		}
	}
	alone := added.now.Clone()
	e.seq, e.reason, e.added, e.told = added.seq, v.Reason, &alone, true
	added.gone = true
}
