package ingest

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"time"

	"github.com/memoryd/memoryd/appconfig"
	"github.com/memoryd/memoryd/consolidate"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/memory"
)

// A model fills fields of profiles in the call in which it finds facts. The change that a
// batch makes to a value follows from the stored value, from the statements that the batch
// takes back or asks to forget, and from the values that were found, in the order in which
// they were said. The changes are planned with those of facts.

// profilesOf are the profiles that a model fills for an app.
func profilesOf(config *appconfig.Config) (out []extract.Profile) {
	for i := range config.Profiles {
		if p := &config.Profiles[i]; p.Parsed() != nil {
			out = append(out, extract.Profile{ID: p.ID, Description: p.Description, Schema: p.Parsed()})
		}
	}
	return out
}

// knownValues are the values that a model is shown, so that it gives lists whole.
func (s *Service) knownValues(ctx context.Context, b *batch) ([]extract.KnownValue, error) {
	if len(b.policy.Profiles) == 0 || s.extractor.Budget() == 0 { // the rules fill none
		return nil, nil
	}
	stored, err := s.values(ctx, b.key.Scope, b.config)
	if err != nil {
		return nil, err
	}
	var out []extract.KnownValue
	for i := range stored {
		p := stored[i].Profile
		if stored[i].State.Hidden() {
			continue
		}
		// The value may have been stored before the app asked for redaction.
		raw, err := s.redact.value(ctx, b.key.App, p.Field, p.Value)
		if err != nil {
			return nil, err
		}
		out = append(out, extract.KnownValue{Schema: p.SchemaID, Field: p.Field, Value: raw})
	}
	return out, nil
}

// onlyMark matches a value that says nothing but that there was a secret.
var onlyMark = regexp.MustCompile(`^\W*\[REDACTED:\w+\]\W*$`)

// foundValues returns the values that were found with the least trust of the turns that
// they cite, and how many others there are, that only say that there is a secret.
func (b *batch) foundValues(values []extract.Value) (kept []extract.Value, dropped int) {
	trust := b.trustOf()
	for _, v := range values {
		if onlyMark.Match(v.Value) {
			dropped++
			continue
		}
		for _, event := range v.EventIDs {
			v.Trust = v.Trust.Least(trust[event])
		}
		v.Trust = v.Trust.Source()
		kept = append(kept, v)
	}
	return kept, dropped
}

// foundValue is a value of a batch on its way to being a memory.
type foundValue struct {
	seq    int64 // of the event that it comes from
	memory memory.Memory
}

// newValues makes memories of values that were found, in the order in which they were
// said, and changes that store those which try to instruct the agent: hidden, and beside
// the values of the fields. A value of a field that the app no longer has is left out.
func (b *batch) newValues(values []extract.Value) (found []foundValue, held []consolidate.Change) {
	for i := range values {
		v := &values[i]
		f := b.config.Field(v.Schema, v.Field)
		if f == nil {
			continue
		}
		if _, err := f.Check("value", v.Value); err != nil {
			continue
		}
		event := v.EventIDs[0]
		received := b.received[event].at
		if !v.Timestamp.After(received) {
			received = time.Time{} // the clock may be right
		}
		m := memory.Memory{
			ID: profileID(b.key.Scope, v.Schema, v.Field), Scope: b.key.Scope, Kind: memory.KindProfile,
			Profile: &memory.Profile{SchemaID: v.Schema, Field: v.Field, Value: v.Value},
			Fact:    f.Words(v.Value), Author: v.Author, Timestamp: v.Timestamp.UTC(),
			UTCOffset: memory.OffsetOf(v.Timestamp), ReceiveTime: received, Trust: v.Trust.Source(),
			Source:   memory.Source{SessionID: b.key.ID, EventIDs: v.EventIDs, Quote: v.Quote},
			Metadata: maps.Clone(b.work.Request.Metadata),
		}
		if quarantine(&m); m.State == memory.Quarantined {
			m.ID = heldID(b.key.Scope, m.Profile)
			held = append(held, consolidate.Change{
				Seq: b.seq[event], Action: memory.Created, Memory: m, Reason: m.Reason,
			})
			continue
		}
		found = append(found, foundValue{b.seq[event], m})
	}
	slices.SortStableFunc(found, func(a, b foundValue) int { return consolidate.Chronological(&a.memory, &b.memory) })
	return found, onePerID(held)
}

// onePerID leaves out changes of memories that an earlier one creates.
func onePerID(changes []consolidate.Change) (out []consolidate.Change) {
	seen := map[string]bool{}
	for _, c := range changes {
		if !seen[c.Memory.ID] {
			seen[c.Memory.ID] = true
			out = append(out, c)
		}
	}
	return out
}

// fieldChange is what becomes of the value of a field.
type fieldChange struct {
	latest *memory.Revision // nil if there never was a value
	live   bool             // the latest revision is a value that has not expired
	now    *memory.Memory   // nil for no value
	seq    int64
	told   bool
	reason string
}

// fieldChanges are those of a batch, by the ID of the memory.
type fieldChanges struct {
	byID  map[string]*fieldChange
	order []string
}

// fieldChange returns the change of a memory, which it begins with what is stored.
func (s *Service) fieldChange(ctx context.Context, scope memory.Scope, all *fieldChanges, id string) (
	*fieldChange, error) {
	if c := all.byID[id]; c != nil {
		return c, nil
	}
	latest, err := s.latest(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	c := &fieldChange{latest: latest, live: s.live(latest)}
	if c.live {
		now := latest.Memory.Clone()
		c.now = &now
	}
	all.byID[id] = c
	all.order = append(all.order, id)
	return c, nil
}

// live reports whether a memory is there at its latest revision, which may be nil.
func (s *Service) live(latest *memory.Revision) bool {
	return latest != nil && latest.Action != memory.Deleted && latest.Memory.Live(s.opts.Now())
}

// planValues returns the changes that a batch makes: those of values of profiles, and those
// among changes that are of none.
func (s *Service) planValues(ctx context.Context, b *batch, in *consolidate.Input, changes []consolidate.Change,
	values []extract.Value) (
	[]consolidate.Change, error) {
	all := &fieldChanges{byID: map[string]*fieldChange{}}
	if err := s.withdrawValues(ctx, b, all); err != nil {
		return nil, err
	}
	var rest []consolidate.Change
	for _, change := range changes {
		if change.Memory.Kind != memory.KindProfile { // else a request to forget deletes it
			rest = append(rest, change)
			continue
		}
		c, err := s.fieldChange(ctx, b.key.Scope, all, change.Memory.ID)
		if err != nil {
			return nil, err
		}
		c.now, c.seq, c.reason = nil, change.Seq, change.Reason
	}
	found, held := b.newValues(values)
	for i := range found {
		m := &found[i].memory
		if in.Forgets(m) {
			continue
		}
		c, err := s.fieldChange(ctx, b.key.Scope, all, m.ID)
		if err != nil {
			return nil, err
		}
		c.take(m, found[i].seq)
	}
	for _, id := range all.order {
		if change, ok := all.byID[id].change(); ok {
			rest = append(rest, change)
		}
	}
	return append(rest, held...), nil
}

// take takes in a value that was found. A field whose value a client has deleted, or that
// was forgotten, takes only what was said after that.
func (c *fieldChange) take(found *memory.Memory, seq int64) {
	if c.now == nil && c.latest != nil && c.latest.Action == memory.Deleted {
		after := lastSaid(&c.latest.Memory)
		if c.latest.Actor == client && c.latest.CreateTime.After(after) {
			after = c.latest.CreateTime
		}
		if !found.SaidAt().After(after) {
			return
		}
	}
	out, told, ok := decideValue(c.now, found)
	if !ok {
		return
	}
	c.reason = ""
	if told && memory.SameJSON(c.now.Profile.Value, out.Profile.Value) {
		c.reason = consolidate.SaidAgain
	}
	c.now, c.seq, c.told = &out, seq, told
}

// change returns what becomes of the value as a change; false if it stays.
func (c *fieldChange) change() (out consolidate.Change, ok bool) {
	out = consolidate.Change{Seq: c.seq, Told: c.told, Reason: c.reason, Action: memory.Updated}
	if c.latest != nil {
		out.Expect = c.latest.Revision
	}
	switch {
	case c.now == nil && !c.live:
		return out, false
	case c.now == nil:
		out.Action, out.Memory = memory.Deleted, c.latest.Memory
		return out, true
	case !c.live: // also one that was deleted or has expired: it lives as long as a new one
		out.Action = memory.Created
	}
	out.Memory = *c.now
	return out, !c.live || !c.now.SameContent(&c.latest.Memory)
}

// withdrawValues has the values of the session that rest on events taken back alone be
// what they were before. A value that a client has written since stays.
func (s *Service) withdrawValues(ctx context.Context, b *batch, all *fieldChanges) error {
	if len(b.takenBack) == 0 {
		return nil
	}
	ofSession := memory.Filter{SessionID: b.key.ID, Kinds: []memory.Kind{memory.KindProfile}, History: true}
	return each(ctx, s.memories, b.key.Scope, ofSession, func(m *memory.Memory) error {
		if !restsOn(m, b.takenBack) || consolidate.FromClient(m) {
			return nil
		}
		var before *memory.Memory
		var back broughtBack
		err := memory.EachRevision(ctx, s.memories, m.Scope, m.ID, func(r *memory.Revision) bool {
			if back.see(r) || r.Action == memory.Deleted {
				return false
			}
			if !restsOn(&r.Memory, b.takenBack) {
				one := withLabels(r.Memory, m)
				before = &one
			}
			return before == nil
		})
		if err != nil || back.is {
			return err
		}
		c, err := s.fieldChange(ctx, b.key.Scope, all, m.ID)
		if err == nil {
			c.now, c.seq, c.reason = before, b.last, "taken back"
		}
		return err
	})
}

// valueBeside changes the change of a value so that it fits the memory as it is stored
// now, and reports whether that can be done: what another writer has stored meanwhile was
// said before it.
func (s *Service) valueBeside(ctx context.Context, a *application, change *consolidate.Change) (bool, error) {
	latest, err := s.latest(ctx, a.work.Key.Scope, change.Memory.ID)
	if err != nil || change.Action == memory.Deleted || change.Memory.State.Hidden() {
		return false, err
	}
	if latest == nil && change.Expect == 0 {
		return false, nil // a deletion that has expired itself holds the ID until the sweep removes it
	}
	c := fieldChange{latest: latest, live: s.live(latest)}
	if c.live {
		c.now = &latest.Memory
	}
	found := change.Memory.Clone()
	found.Evidence, found.ConfirmedTime = 0, time.Time{}
	c.take(&found, change.Seq)
	again, ok := c.change()
	if !ok || again.Action == memory.Deleted {
		return false, nil
	}
	change.Action, change.Expect, change.Memory = again.Action, again.Expect, again.Memory
	return true, nil
}
