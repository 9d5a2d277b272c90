package ingest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// past is what the history of a memory says of an operation that is to be undone.
type past struct {
	latest memory.Revision
	before *memory.Memory // as it was before the operation; nil if it was not there
	after  memory.Revision
	// made is set if the operation made the memory, or brought it back.
	made bool
	// lost is set if the history no longer has what was before the operation, or between
	// two of its revisions.
	lost bool
	// between is the latest revision by another writer between two of the operation.
	between *memory.Revision
	// since is the latest revision by another writer after those of the operation, and
	// sinceClient whether one of these writers was a client.
	since       *memory.Revision
	sinceClient bool
	undone      *memory.Revision // that of the rollback
	undoneFrom  *memory.Memory   // as it was before that
	touched     bool             // the operation has a revision
	expired     bool             // some revisions have
}

// readPast reads the revisions of a memory, newest first.
type readPast struct {
	past
	operation, own string
	oldest         memory.Revision
	first          *memory.Revision // of the operation
	other          *memory.Revision // the last one seen that is neither's, after the operation's
	seen           int64
	known          bool // the revision before first is there
	gap            bool // there is none between two of the operation
}

func (p *readPast) see(r *memory.Revision) bool {
	if p.latest.Revision == 0 {
		p.latest = *r
	}
	follows := p.oldest.Revision == r.Revision+1 // others may have expired
	p.oldest = *r
	p.seen++
	if p.undone != nil && r.Revision == p.undone.Revision-1 {
		p.undoneFrom = &r.Memory
	}
	switch {
	case r.Operation == p.own:
		if p.undone == nil {
			p.undone = r
		}
	case r.Operation == p.operation:
		if !p.touched {
			p.after, p.touched = *r, true
		} else if p.other != nil && p.between == nil {
			p.between = p.other
		}
		p.gap = p.gap || p.first != nil && !follows && p.other == nil
		p.first, p.other = r, nil
	case !p.touched:
		if p.since == nil {
			p.since = r
		}
		p.sinceClient = p.sinceClient || r.Actor == client && !byRollback(r)
	default:
		if p.other == nil {
			p.other = r
		}
		if p.first != nil && p.first.Revision == r.Revision+1 {
			p.before, p.known = &r.Memory, true
			if r.Action == memory.Deleted {
				p.before = nil
			}
		}
	}
	return true
}

// end completes what was read.
func (p *readPast) end() *past {
	p.expired = p.seen < p.latest.Revision
	if p.first != nil {
		p.lost = p.first.Revision > 1 && !p.known || p.gap
		p.made = p.before == nil && !p.lost
	}
	deleted := p.latest.Action == memory.Deleted
	if p.since != nil && deleted == (p.after.Action == memory.Deleted) && p.latest.Memory.SameContent(&p.after.Memory) {
		p.since, p.sinceClient = nil, false // it was changed and changed back
	}
	return &p.past
}

// undone is what becomes of one memory when an operation is undone.
type undone struct {
	action memory.Action // Updated, Deleted, Skipped; "" if nothing is to be done
	memory memory.Memory // as it will be; of a deletion and of one left alone: as it is
	expect int64
	reason string
	done   bool // the rollback has done it before
	// retracts is what the memory says, as the operation left it, and will say no longer;
	// "" if that is nothing. The turns that tell it are outdated then.
	retracts string
}

// changed is what the operation of the rollback reports; nil for nothing.
func (u *undone) changed() *Changed {
	if u.action == "" {
		return nil
	}
	m := u.memory
	return &Changed{Action: u.action, Memory: &m, Reason: u.reason}
}

// skip leaves a memory alone.
func (p *past) skip(format string, args ...any) undone {
	return undone{action: Skipped, memory: p.latest.Memory, reason: fmt.Sprintf(format, args...)}
}

// by names the writer of a revision.
func by(r *memory.Revision) string {
	if r.Operation == "" {
		return fmt.Sprintf("by %s, in revision %d", r.Actor, r.Revision)
	}
	return fmt.Sprintf("by %s, in revision %d of operation %s", r.Actor, r.Revision, r.Operation)
}

// undo decides what becomes of a memory. A newer change is never undone: a memory that
// another writer has changed since goes back only in what that writer left alone, and
// stays as it is if that cannot be told apart.
func (p *past) undo(now time.Time) undone {
	gone := p.latest.Action == memory.Deleted
	switch {
	case p.undone != nil:
		out := undone{action: p.undone.Action, memory: p.undone.Memory, done: true}
		if out.action == memory.Deleted && p.undoneFrom != nil {
			out.memory = *p.undoneFrom
		}
		return out
	case !p.touched && p.expired:
		return p.skip("the revision that the operation has made has expired from the history")
	case !p.touched:
		return undone{}
	case p.lost:
		return p.skip("what was before it has expired from the history")
	case p.between != nil:
		return p.skip("it was changed meanwhile %s", by(p.between))
	case p.made && p.after.Action == memory.Deleted:
		if p.since != nil {
			return p.skip("it was brought back since %s", by(p.since))
		}
		return undone{}
	case p.made && gone:
		return p.skip("it was deleted since %s", by(p.since))
	case p.made && !p.latest.Memory.Live(now):
		return p.skip("it has expired")
	case p.made && !p.onlyEnded():
		return p.skip("it was changed since %s", by(p.since))
	case p.made:
		return undone{action: memory.Deleted, memory: p.latest.Memory, expect: p.latest.Revision}
	case p.since == nil:
		return p.back(*p.before)
	case gone:
		return p.skip("it was deleted since %s", by(p.since))
	case p.after.Action == memory.Deleted:
		return p.skip("it was brought back since %s", by(p.since))
	}
	m, field := merge(p.before, &p.after.Memory, &p.latest.Memory)
	if field != "" {
		return p.skip("its %s was changed since %s", field, by(p.since))
	}
	return p.back(m)
}

// back brings a memory back to a state.
func (p *past) back(m memory.Memory) undone {
	if p.latest.Action != memory.Deleted && m.SameContent(&p.latest.Memory) {
		return undone{}
	}
	m.Revision, m.CreateTime, m.UpdateTime = p.latest.Memory.Revision, p.latest.Memory.CreateTime,
		p.latest.Memory.UpdateTime
	return undone{action: memory.Updated, memory: m, expect: p.latest.Revision}
}

// onlyEnded reports whether nothing but the end of a memory has changed since the
// operation, and not by a client. Its end follows from other facts.
func (p *past) onlyEnded() bool {
	if p.since == nil {
		return true
	}
	m := p.latest.Memory
	m.ValidTo, m.SupersededBy = p.after.Memory.ValidTo, p.after.Memory.SupersededBy
	return !p.sinceClient && m.SameContent(&p.after.Memory)
}

// together are the fields of a memory that mean something only together, by the name
// that stands for all.
var together = map[string]string{
	"schemaId": "fact", "field": "fact", "value": "fact", "author": "fact", "timestamp": "fact",
	"utcOffset": "fact", "receiveTime": "fact", "source": "fact",
	"validTo": "end", "supersededBy": "end", "validToEditTime": "end",
	"validFrom": "start", "validFromEditTime": "start",
	"expireTime": "expiry", "defaultExpiry": "expiry",
	"edited": "text's origin", "editTime": "text's origin",
}

// merge takes the change from before to after out of now. Each field, or group of
// fields, may have changed on one side only: if both have changed one, field names it.
func merge(before, after, now *memory.Memory) (out memory.Memory, field string) {
	b, a, n := fieldsOf(before), fieldsOf(after), fieldsOf(now)
	changed := func(x, y map[string]json.RawMessage) map[string]bool {
		out := map[string]bool{}
		for _, of := range []map[string]json.RawMessage{x, y} {
			for name := range of {
				if string(x[name]) != string(y[name]) {
					out[groupOf(name)] = true
				}
			}
		}
		return out
	}
	operation, since := changed(b, a), changed(a, n)
	delete(operation, "forgotten") // a set: see below
	delete(operation, "retracted") // too
	names := maps.Clone(b)
	maps.Copy(names, a)
	maps.Copy(names, n)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		group := groupOf(name)
		switch {
		case !operation[group]:
		case since[group]:
			if field == "" || group == "fact" {
				field = group
			}
		default:
			delete(n, name)
			if v, ok := b[name]; ok {
				n[name] = v
			}
		}
	}
	if field != "" {
		return *now, field
	}
	raw, err := json.Marshal(n)
	if err == nil {
		err = memory.DecodeJSON(raw, &out)
	}
	if err != nil { // what was just encoded can be read
		return *now, "content"
	}
	out.Forgotten = slices.Clone(now.Forgotten)
	out.Forgotten = slices.DeleteFunc(out.Forgotten, func(id string) bool {
		return slices.Contains(after.Forgotten, id) && !slices.Contains(before.Forgotten, id)
	})
	for _, id := range before.Forgotten {
		if !slices.Contains(after.Forgotten, id) && !slices.Contains(out.Forgotten, id) {
			out.Forgotten = append(out.Forgotten, id)
		}
	}
	slices.Sort(out.Forgotten)
	if len(out.Forgotten) == 0 {
		out.Forgotten = nil
	}
	out.Retracted = slices.Clone(now.Retracted)
	for _, r := range after.Retracted {
		if !slices.Contains(before.Retracted, r) {
			out.Restore(r.Fact)
		}
	}
	for _, r := range before.Retracted {
		if !slices.Contains(after.Retracted, r) {
			out.Retract(r.Fact, r.Time)
		}
	}
	return out, ""
}

func groupOf(name string) string {
	if group := together[name]; group != "" {
		return group
	}
	return name
}

// fieldsOf is a memory as JSON has it, without what a store sets.
func fieldsOf(m *memory.Memory) (out map[string]json.RawMessage) {
	clone := m.Clone() // an empty list of topics is a list
	raw, err := memory.EncodeJSON(&clone)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil { // it was read from JSON
		return map[string]json.RawMessage{}
	}
	for _, name := range []string{"revision", "createTime", "updateTime"} {
		delete(out, name)
	}
	return out
}
