package ingest

import (
	"github.com/memoryd/memoryd/memory"
)

// draft is a list of changes in the making. One memory may be decided on
// several times; what counts is how it ends.
type draft struct {
	entries map[string]*entry
	order   []string
}

// entry is one memory of a draft.
type entry struct {
	seq     int64          // of the event that the change comes from
	was     *memory.Memory // as it is stored; nil if it is not
	now     memory.Memory
	gone    bool
	added   *memory.Memory // what a model has put into it
	because string         // id of the memory that this makes room for: without it nothing happens
	reason  string
}

func newDraft() *draft { return &draft{entries: map[string]*entry{}} }

// create adds a memory that is not stored yet.
func (d *draft) create(seq int64, m memory.Memory, reason string) {
	d.put(&entry{seq: seq, now: m, reason: reason})
}

// change gives the entry of a stored memory, to be changed.
func (d *draft) change(seq int64, m *memory.Memory) *entry {
	if d.entries[m.ID] == nil {
		d.put(&entry{seq: seq, was: m, now: m.Clone()})
	}
	return d.entries[m.ID]
}

func (d *draft) put(e *entry) {
	d.entries[e.now.ID] = e
	d.order = append(d.order, e.now.ID)
}

// gone reports whether a memory is to be deleted.
func (d *draft) gone(id string) bool {
	e := d.entries[id]
	return e != nil && e.gone
}

// supersede ends one of two memories that cannot both hold: the one said
// earlier, when the later one was said. Of several that end it the first counts.
func (d *draft) supersede(earlier, later *entry, reason string) {
	at := ended(&earlier.now, &later.now)
	if !earlier.now.ValidTo.IsZero() && !at.Before(earlier.now.ValidTo) {
		return
	}
	earlier.now.ValidTo, earlier.now.SupersededBy = at, later.now.ID
	earlier.because, earlier.reason = later.now.ID, reason
}

// changes is the draft as a list: creations, which others may depend on, come
// first.
func (d *draft) changes() (out []change) {
	for _, created := range []bool{true, false} {
		for _, id := range d.order {
			e := d.entries[id]
			if (e.was == nil) != created {
				continue
			}
			c := change{Seq: e.seq, Memory: e.now, Reason: e.reason}
			switch {
			case e.was == nil && e.gone:
				continue
			case e.was == nil:
				c.Action = memory.Created
			case e.gone:
				c.Action, c.Memory, c.Expect = memory.Deleted, *e.was, e.was.Revision
			case e.now.SameContent(e.was):
				continue
			default:
				c.Action, c.Expect, c.Else = memory.Updated, e.was.Revision, e.added
			}
			if because := d.entries[e.because]; !created && because != nil && because.was == nil {
				c.For = e.because
			}
			out = append(out, c)
		}
	}
	return out
}
