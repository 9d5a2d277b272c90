package ingest

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// plan is what a batch is known to come to. First it is what was found in it,
// so that no model is asked that twice; once it is decided, a list of changes in
// full, so that a retry applies the same.
type plan struct {
	Decided bool           `json:"decided,omitempty"`
	Found   *extract.Found `json:"found,omitempty"`
	Changes []change       `json:"changes,omitempty"`
	Cost    Cost           `json:"cost,omitzero"`
}

type change struct {
	Seq    int64         `json:"seq"` // of the event it comes from
	Action memory.Action `json:"action"`
	Expect int64         `json:"expect,omitempty"`
	Memory memory.Memory `json:"memory"`        // for a deletion only its id counts
	For    string        `json:"for,omitempty"` // the memory that takes its place, which comes before it
	Reason string        `json:"reason,omitempty"`
	// Else is what is created if the change of a memory is overtaken: what it
	// was to add is not to be lost.
	Else *memory.Memory `json:"else,omitempty"`
}

// Changed is one entry of an operation's changes: a memory that changed, or
// what finding out has cost.
type Changed struct {
	Action memory.Action  `json:"action,omitempty"`
	Memory *memory.Memory `json:"memory,omitempty"`
	Reason string         `json:"reason,omitempty"`
	Cost   *Cost          `json:"cost,omitempty"`
}

// Cost is what a batch has cost.
type Cost struct {
	extract.Usage
	// FactsDropped counts those that a model gave and did not found on what was
	// said.
	FactsDropped int `json:"factsDropped"`
}

// apply carries a plan out, or what an earlier try left of it. A change that a
// client was faster than is left out: the client's word stands.
func (s *Service) apply(ctx context.Context, w sessionstore.Work, p plan) ([]sessionstore.Change, error) {
	outcomes := make([]*memory.Outcome, len(p.Changes))
	refused := map[string]bool{} // not created, as a client has deleted or changed it: it takes nobody's place
	stage := func(action memory.Action, do func(places []int) ([]memory.Outcome, error)) error {
		var places []int
		for i, c := range p.Changes {
			if c.Action == action && !refused[c.For] {
				places = append(places, i)
			}
		}
		for some := range slices.Chunk(places, turnsTogether) {
			done, err := do(some)
			if err != nil {
				return err
			}
			for i, place := range some {
				outcomes[place] = &done[i]
			}
		}
		return nil
	}
	write := func(places []int) ([]memory.Outcome, error) {
		var writes []memory.Write
		for _, i := range places {
			c := &p.Changes[i]
			writes = append(writes, memory.Write{Memory: c.Memory, Expect: c.Expect, Actor: s.extractor.Name(), Operation: w.Request.ID})
		}
		if err := s.index(ctx, writes, true); err != nil {
			return nil, err
		}
		out, err := s.memories.Put(ctx, w.Key.Scope, writes)
		for i := range out {
			refused[writes[i].Memory.ID] = out[i].Err != nil
		}
		return out, err
	}
	remove := func(places []int) ([]memory.Outcome, error) {
		var removals []memory.Removal
		for _, i := range places {
			c := &p.Changes[i]
			removals = append(removals, memory.Removal{ID: c.Memory.ID, Expect: c.Expect, Actor: s.extractor.Name(), Operation: w.Request.ID})
		}
		return s.memories.Delete(ctx, w.Key.Scope, removals)
	}
	for _, step := range []struct {
		action memory.Action
		do     func([]int) ([]memory.Outcome, error)
	}{{memory.Created, write}, {memory.Updated, write}, {memory.Deleted, remove}} {
		if err := stage(step.action, step.do); err != nil {
			return nil, err
		}
	}
	for i := range p.Changes {
		c := &p.Changes[i]
		if c.Else == nil || outcomes[i] == nil || outcomes[i].Err == nil {
			continue
		}
		writes := []memory.Write{{Memory: *c.Else, Actor: s.extractor.Name(), Operation: w.Request.ID}}
		if err := s.index(ctx, writes, true); err != nil {
			return nil, err
		}
		out, err := s.memories.Put(ctx, w.Key.Scope, writes)
		if err != nil {
			return nil, err
		}
		c.Action, outcomes[i] = memory.Created, &out[0]
	}
	var done []sessionstore.Change
	record := func(seq int64, c Changed) error {
		doc, err := json.Marshal(c)
		done = append(done, sessionstore.Change{Seq: seq, Doc: doc})
		return err
	}
	for i, c := range p.Changes {
		switch o := outcomes[i]; {
		case o == nil:
		case c.Action != memory.Deleted && saidAgain(&c.Memory):
		case o.Err != nil:
			s.opts.Log.Info("a change was overtaken", "memory", c.Memory.ID, "action", c.Action, "err", o.Err)
		default:
			if err := record(c.Seq, Changed{Action: c.Action, Memory: &o.Memory, Reason: c.Reason}); err != nil {
				return nil, err
			}
		}
	}
	if p.Cost != (Cost{}) {
		if err := record(w.Done+1, Changed{Cost: &p.Cost}); err != nil {
			return nil, err
		}
	}
	return done, nil
}
