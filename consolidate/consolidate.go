// Package consolidate works out what new facts change of the facts that are
// known. It computes, and does nothing else: values in, a list of changes out.
// It knows no store, no service, no context and no clock.
//
// Every statement becomes a memory, even one that repeats a known one. Which of
// them hold, and until when, follows from what they say and when they were
// said. So neither the order in which sessions arrive nor the place where a
// batch ends makes a difference. The rules:
//
//   - A fact holds until its author says something that excludes it: another
//     value of one attribute, or that it no longer holds. See [canonical.Form].
//   - Of facts that say the same while they hold, the first stands. The others
//     are repetitions, which never hold themselves, unless the first is
//     withdrawn; see [Repetition].
//   - A fact that a client gave, edited or labelled stands before all others that
//     say the same. Nothing that was said before a client decided on the text, or on
//     the end, ends it.
//   - A fact of a less trusted source ends none of a more trusted one, and none of these
//     is a repetition of it; see memory.Trust. Both stay. A fact that a model puts together has
//     the lower trust.
//   - Nothing is said later than it is received. So a statement whose clock was
//     ahead is followed by all that is said after it. A fact dated in the future
//     begins to hold then, and what it excludes holds until then.
//   - A fact that stands tells how often it was said; see memory.Memory.Evidence.
//   - A request to forget deletes the facts of its author that say the same and
//     were said before it.
//   - A fact that is withdrawn has never been said: facts that it ended hold
//     again.
//   - A model may see more than forms tell; see [Comparison]. A slip of it loses
//     nothing: a fact that it takes for known must be known, and hold.
package consolidate

import (
	"slices"
	"strings"
	"time"

	"github.com/memoryd/memoryd/extract/canonical"
	"github.com/memoryd/memoryd/memory"
)

// Input is what new facts meet.
type Input struct {
	// Known are the stored facts that bear on the others, as they are stored
	// now: those with the same canonical text, or that may exclude one of them,
	// or were ended by one, and so on for each of those. More do no harm.
	Known []memory.Memory
	// New are the facts and requests to forget found in a batch, in any order.
	New []Fact
	// Asked are the stored turns that asked to forget something, in the words that
	// an extractor has read as a request.
	Asked []memory.Memory
	// Confirmed are the stored turns that asked to forget everything, and whose request
	// was confirmed.
	Confirmed []memory.Memory
	// Turns are turns that may be about a subject that is to be forgotten. More do
	// no harm.
	Turns []memory.Memory
	// Withdrawn are the stored facts that count as never said.
	Withdrawn []Withdrawal
	// Settled are the words of facts that a client has deleted or edited. New
	// facts that rest on these words are left out.
	Settled []memory.Source
	// Values are stored values of profiles that may be about what is to be forgotten.
	Values []memory.Memory
	// Planned are changes that were planned before Known was read. The ends that
	// a model saw are planned again, as they may have been left out because the
	// fact had changed meanwhile.
	Planned []Change
	// Compared is what a model said of the facts that an earlier Plan of the
	// same input has returned as Uncompared; nil if none was asked.
	Compared *Comparison
	// Disabled adds new facts beside known ones: facts are merged if they say
	// the same, and exclude nothing.
	Disabled bool
	// Exact compares new facts only with those that have the same metadata: others stay
	// beside them.
	Exact bool
	// Last is the number of the last event of the batch. The changes that
	// follow from no new fact alone come from it.
	Last int64
	// Forms saves work if several calls share it: Plan adds the forms that it
	// reads. Nil is an empty one.
	Forms Forms
}

// Fact is a new fact on its way to being a memory, or a request to forget.
type Fact struct {
	Seq    int64 // of the event that it comes from
	Memory memory.Memory
	// Forget says that its text is a request to forget, or a statement to forget.
	// It becomes no memory then.
	Forget bool
}

// Withdrawal is a stored fact that counts as never said: its words were taken
// back, or better ones replace it.
type Withdrawal struct {
	Seq    int64         // of the event that it comes from
	Memory memory.Memory // as it is stored now
	// Before is its state before the words that are taken back. Nil deletes it,
	// as there was none.
	Before *memory.Memory
	Reason string
}

// Change is one change of a memory. Its JSON is stored in plans.
type Change struct {
	Seq    int64         `json:"seq"` // of the event that it comes from
	Action memory.Action `json:"action"`
	// Expect is the revision that the change was decided on; 0 of one created.
	Expect int64 `json:"expect,omitempty"`
	// Memory is the new state in full; of a deletion only the ID counts.
	Memory memory.Memory `json:"memory"`
	// For is the ID of the created memory that this change makes room for. If
	// that is refused, so is this. It comes before this one in the list.
	For    string `json:"for,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Told says that a new fact updates the memory, or says it again.
	Told bool `json:"-"`
	// Else is created instead if the store refuses the change because another
	// writer was faster: the fact that a model has put into the memory must not
	// be lost.
	Else *memory.Memory `json:"else,omitempty"`
}

// Result is what follows from an Input.
type Result struct {
	// Changes are in the order in which to apply them: creations come first.
	Changes []Change
	// Uncompared are the new facts that stand so far, and the requests to
	// forget, in the order in which they were said. A model may compare them
	// with what is known; see Input.Compared.
	Uncompared []Fact
	// Forgotten are the facts, as they were, that are deleted, or not created, on
	// request; and the requests among the new facts, which tell the same. Whether a
	// request finds something to forget depends on the order of arrival, so all count.
	// And the turns that are about a subject to be forgotten: each has in its Forgotten
	// the IDs of the requests.
	Forgotten []memory.Memory
	// Asked are the requests to forget among the new facts.
	Asked []Fact
	// NotFound are the requests among the new facts that name nothing known, and
	// those that were not understood.
	NotFound []Fact
	// Everything are the requests among the new facts to forget everything, which
	// change nothing.
	Everything []Fact
}

// Plan works out which changes follow from an input. The same input gives the
// same result, and an input whose changes were applied gives none.
func Plan(in Input) Result {
	p := newPlanner(&in)
	for _, w := range in.Withdrawn {
		p.withdraw(w)
	}
	facts := p.unsettled()
	for _, f := range facts {
		if !f.Forget && p.known[f.Memory.ID] == nil && p.changes.entries[f.Memory.ID] == nil {
			p.changes.create(f.Seq, f.Memory)
		}
	}
	p.repeatPlanned()
	p.forget(facts)
	p.resolveValidity()
	out := Result{Uncompared: p.uncompared(facts)}
	if in.Compared != nil {
		p.learn(in.Compared.Known)
		p.applyVerdicts(in.Compared)
		p.resolveValidity()
	}
	p.confirm()
	out.Changes, out.Forgotten, out.Everything = p.changes.list(), p.forgotten, p.everything
	for _, f := range p.requests {
		if f.fact == nil {
			continue
		}
		out.Asked = append(out.Asked, *f.fact)
		if !f.found {
			out.NotFound = append(out.NotFound, *f.fact)
		}
	}
	return out
}

// planner is a Plan in the making.
type planner struct {
	in      *Input
	known   map[string]*memory.Memory // stored facts by ID
	forms   Forms
	changes *changeset
	// reverted has from when the words held that are taken back, of memories
	// that are again as they were before.
	reverted   map[string]time.Time
	requests   []*request
	forgotten  []memory.Memory
	everything []Fact
}

func newPlanner(in *Input) *planner {
	p := &planner{
		in: in, known: map[string]*memory.Memory{}, forms: in.Forms,
		changes: newChangeset(), reverted: map[string]time.Time{},
	}
	if p.forms == nil {
		p.forms = Forms{}
	}
	p.learn(in.Known)
	return p
}

// learn adds stored facts to those that are known. Values of profiles, which a model may
// have been shown beside them, are no facts: nothing but a request to forget changes them.
func (p *planner) learn(facts []memory.Memory) {
	for i := range facts {
		if facts[i].Kind != memory.KindProfile && p.known[facts[i].ID] == nil {
			p.known[facts[i].ID] = &facts[i]
		}
	}
}

// unsettled returns the new facts that rest on no settled words, in the order in
// which they were said.
func (p *planner) unsettled() []Fact {
	facts := slices.DeleteFunc(slices.Clone(p.in.New), func(f Fact) bool {
		return slices.ContainsFunc(p.in.Settled, func(settled memory.Source) bool {
			return shareWords(settled, f.Memory.Source)
		})
	})
	slices.SortStableFunc(facts, func(a, b Fact) int { return Chronological(&a.Memory, &b.Memory) })
	return facts
}

// shareWords reports whether one of two quotes of an event has the other in it.
func shareWords(a, b memory.Source) bool {
	return a.EventIDs[0] == b.EventIDs[0] && (strings.Contains(a.Quote, b.Quote) || strings.Contains(b.Quote, a.Quote))
}

// withdraw reverts a memory to its earlier state, or deletes it. It keeps the end
// that it has now, which resolveValidity works out with the others, and the times that
// a client has set.
func (p *planner) withdraw(w Withdrawal) {
	e := p.changes.change(w.Seq, &w.Memory)
	e.reason = w.Reason
	if e.gone = w.Before == nil; e.gone {
		return
	}
	e.now = w.Before.Clone()
	e.now.ValidTo, e.now.SupersededBy = w.Memory.ValidTo, w.Memory.SupersededBy
	e.now.ToEditTime = w.Memory.ToEditTime
	e.now.DisplayName, e.now.Description = w.Memory.DisplayName, w.Memory.Description // a client's alone
	if !w.Memory.FromEditTime.IsZero() {
		e.now.ValidFrom, e.now.FromEditTime = w.Memory.ValidFrom, w.Memory.FromEditTime
	}
	p.reverted[w.Memory.ID] = w.Memory.HoldsFrom()
}

// repeatPlanned plans the ends again that a model saw. Those that forms tell are
// worked out in any case.
func (p *planner) repeatPlanned() {
	for i := range p.in.Planned {
		planned := &p.in.Planned[i].Memory
		now, by := p.known[planned.ID], p.known[planned.SupersededBy]
		if now == nil || by == nil || Repetition(planned) || Repetition(now) {
			continue
		}
		if now.ValidTo.IsZero() || planned.ValidTo.Before(now.ValidTo) {
			p.entry(p.in.Last, now).endBy(&entry{now: *by}, p.in.Planned[i].Reason)
		}
	}
}

// uncompared returns the requests to forget and the facts that are created and
// hold.
func (p *planner) uncompared(facts []Fact) (out []Fact) {
	for _, f := range facts {
		if f.Forget && canonical.WishOf(f.Memory.Fact).Everything {
			continue // no model decides on that
		}
		e := p.changes.entries[f.Memory.ID]
		if f.Forget || e != nil && e.was == nil && !e.gone && !Repetition(&e.now) {
			out = append(out, f)
		}
	}
	return out
}

// entry returns the entry of a memory, stored or new.
func (p *planner) entry(seq int64, m *memory.Memory) *entry {
	if e := p.changes.entries[m.ID]; e != nil {
		return e
	}
	return p.changes.change(seq, p.known[m.ID])
}

// statements returns all facts, stored and new, as they are after the changes so
// far, in the order in which they were said.
func (p *planner) statements() (out []*statement) {
	for _, id := range p.changes.order {
		if e := p.changes.entries[id]; !e.gone {
			out = append(out, &statement{now: e.now})
		}
	}
	for id, m := range p.known {
		if p.changes.entries[id] == nil {
			out = append(out, &statement{now: *m})
		}
	}
	slices.SortFunc(out, bySaying)
	return out
}
