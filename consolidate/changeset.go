package consolidate

import (
	"time"

	"github.com/memoryd/memoryd/memory"
)

// changeset is a list of changes in the making. One memory may be decided on
// several times; its last state counts.
type changeset struct {
	entries map[string]*entry // by the memory's ID
	order   []string          // of the IDs, by when they were first decided on
}

// entry is what becomes of one memory.
type entry struct {
	seq    int64          // of the event that the change comes from
	was    *memory.Memory // as it is stored; nil if it is not
	now    memory.Memory
	gone   bool           // it is deleted, or not created
	told   bool           // a new fact extends it or says it again
	added  *memory.Memory // the fact that a model has put into it
	cause  string         // ID of the memory that this makes room for
	reason string
}

func newChangeset() *changeset { return &changeset{entries: map[string]*entry{}} }

// create adds a memory that is not stored yet.
func (c *changeset) create(seq int64, m memory.Memory) {
	c.put(&entry{seq: seq, now: m})
}

// change returns the entry of a stored memory, which it adds if it is missing.
func (c *changeset) change(seq int64, m *memory.Memory) *entry {
	if c.entries[m.ID] == nil {
		c.put(&entry{seq: seq, was: m, now: m.Clone()})
	}
	return c.entries[m.ID]
}

func (c *changeset) put(e *entry) {
	c.entries[e.now.ID] = e
	c.order = append(c.order, e.now.ID)
}

// delete has the memory be deleted, or not be created.
func (e *entry) delete(reason string) {
	e.gone, e.cause, e.reason = true, "", reason
}

// endBy ends a memory when a later one was said that excludes it. Of several the
// first ends it.
func (e *entry) endBy(later *entry, reason string) {
	if !later.now.SaidAt().After(e.now.ToEditTime) || later.now.Trust.Below(e.now.Trust) {
		return
	}
	at := EndOf(&e.now, &later.now)
	if e.now.ValidTo.IsZero() || at.Before(e.now.ValidTo) {
		e.setEnd(at, later.now.ID, reason)
	}
}

// setEnd has a memory hold until a time, when another one superseded it.
func (e *entry) setEnd(to time.Time, by, reason string) {
	e.now.ValidTo, e.now.SupersededBy = to, by
	e.cause, e.reason = by, reason
}

// list returns the changes. Creations come first, as others may depend on them.
func (c *changeset) list() (out []Change) {
	for _, created := range []bool{true, false} {
		for _, id := range c.order {
			e := c.entries[id]
			if change, ok := e.change(); ok && (e.was == nil) == created {
				if cause := c.entries[e.cause]; !created && cause != nil && cause.was == nil {
					change.For = e.cause
				}
				out = append(out, change)
			}
		}
	}
	return out
}

// change returns the entry as a change, and false if it changes nothing.
func (e *entry) change() (c Change, ok bool) {
	c = Change{Seq: e.seq, Memory: e.now, Reason: e.reason, Told: e.told}
	switch {
	case e.was == nil:
		c.Action = memory.Created
		return c, !e.gone
	case e.gone:
		c.Action, c.Memory, c.Expect = memory.Deleted, *e.was, e.was.Revision
		return c, true
	default:
		c.Action, c.Expect, c.Else = memory.Updated, e.was.Revision, e.added
		return c, !e.now.SameContent(e.was)
	}
}
