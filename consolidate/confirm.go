package consolidate

import (
	"maps"
	"slices"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// SaidAgain is the reason of a change that only tells that a fact was said again.
const SaidAgain = "said again"

// takenBack is the reason of a change that only tells that a statement which
// repeated a fact no longer counts.
const takenBack = "said less often"

// repeated is how often the repetitions of a fact say it.
type repeated struct {
	times int
	last  time.Time // when it was last said
	seq   int64     // of the first event of the batch that says it; 0 if none does
	fresh bool      // a new fact says it
}

// confirm has each fact whose repetitions have changed tell on how many statements it
// rests, and when it was last said again. Both follow from the repetitions that there
// are, so that a statement counts once however often it is processed, and not any longer
// once it is taken back.
func (p *planner) confirm() {
	counts := p.confirmed()
	for _, m := range p.known {
		if p.changes.entries[m.ID] == nil {
			counts.add(m, 0, false)
		}
	}
	for _, e := range p.changes.entries {
		if !e.gone {
			counts.add(&e.now, e.seq, e.was == nil)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(counts)) {
		count := counts[id]
		m := p.known[id]
		if e := p.changes.entries[id]; e != nil {
			m = &e.now
		}
		if m == nil || p.changes.entries[id] != nil && p.changes.entries[id].gone {
			continue
		}
		evidence, last := 0, time.Time{}
		if count.times > 0 {
			evidence = count.times + 1
		}
		if count.last.After(m.SaidAt()) {
			last = count.last
		}
		if m.Evidence == evidence && m.ConfirmedTime.Equal(last) {
			continue
		}
		e := p.entry(max(count.seq, 0), m)
		if count.seq == 0 && e.seq == 0 {
			e.seq = p.in.Last
		}
		if e.was != nil && e.now.SameContent(e.was) {
			e.reason = SaidAgain
			if evidence < m.Evidence {
				e.reason = takenBack
			}
		}
		e.now.Evidence, e.now.ConfirmedTime = evidence, last
		e.told = e.told || count.fresh
	}
}

// repetitionsOf counts the repetitions of facts, by the ID of the fact.
type repetitionsOf map[string]*repeated

// confirmed returns the facts whose repetitions have changed, without counts.
func (p *planner) confirmed() repetitionsOf {
	out := repetitionsOf{}
	add := func(m *memory.Memory) {
		if Repetition(m) {
			out[m.SupersededBy] = &repeated{}
		}
	}
	for id, e := range p.changes.entries {
		if add(&e.now); e.was == nil {
			continue
		}
		if add(e.was); e.now.Evidence != e.was.Evidence || !e.now.ConfirmedTime.Equal(e.was.ConfirmedTime) {
			out[id] = &repeated{} // it was reverted to an earlier state
		}
	}
	for i := range p.in.Planned { // by an attempt that may not have come to the fact
		m := &p.in.Planned[i].Memory
		if add(m); Repetition(m) && p.in.Planned[i].Action == memory.Created {
			out[m.SupersededBy].fresh = true
		}
	}
	return out
}

// add counts a memory if it repeats one of the facts. Seq is its event, if it is of the
// batch, and fresh says that it is new.
func (r repetitionsOf) add(m *memory.Memory, seq int64, fresh bool) {
	count := r[m.SupersededBy]
	if count == nil || !Repetition(m) {
		return
	}
	count.times++
	count.fresh = count.fresh || fresh
	if at := m.SaidAt(); at.After(count.last) {
		count.last = at
	}
	if seq > 0 && (count.seq == 0 || seq < count.seq) {
		count.seq = seq
	}
}

// forgetRepetitions deletes those of the repetitions of a fact that were said before a
// request to forget the fact. They may say it in other words.
func (p *planner) forgetRepetitions(all map[string][]*statement, fact string, request *memory.Memory, why string) {
	for _, s := range all[fact] {
		if Chronological(&s.now, request) < 0 {
			p.forgotten = append(p.forgotten, s.now)
			p.entry(p.in.Last, &s.now).delete(why)
		}
	}
}

// repetitions returns the repetitions of each fact, by its ID.
func (p *planner) repetitions() map[string][]*statement {
	out := map[string][]*statement{}
	for _, s := range p.statements() {
		if Repetition(&s.now) {
			out[s.now.SupersededBy] = append(out[s.now.SupersededBy], s)
		}
	}
	return out
}
