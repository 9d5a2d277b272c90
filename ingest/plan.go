package ingest

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/memoryd/memoryd/consolidate"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// plan is what is known of a batch before it is applied. It is stored as JSON
// with the session: first the facts that were found, so that no model is asked
// for them twice; once it is decided the changes in full, so that a retry applies
// the same ones.
type plan struct {
	Decided bool                 `json:"decided,omitempty"`
	Found   *extract.Found       `json:"found,omitempty"`
	Changes []consolidate.Change `json:"changes,omitempty"`
	// Forgotten tells which turns to hide, before the changes are made.
	Forgotten []memory.Memory `json:"forgotten,omitempty"`
	// Asked are the requests to forget of the batch, and NotFound those that name
	// nothing known.
	Asked    []consolidate.Fact `json:"asked,omitempty"`
	NotFound []consolidate.Fact `json:"notFound,omitempty"`
	// Everything are the requests to forget everything, which wait to be confirmed.
	Everything []consolidate.Fact `json:"everything,omitempty"`
	// Swept counts what a confirmed request to forget everything is about.
	Swept *Swept `json:"swept,omitempty"`
	Cost  Cost   `json:"cost,omitzero"`
}

// Changed is one entry of an operation's changes: a memory that changed, the
// cost of a batch, or what became of a request to forget.
type Changed struct {
	Action memory.Action  `json:"action,omitempty"`
	Memory *memory.Memory `json:"memory,omitempty"`
	Reason string         `json:"reason,omitempty"`
	Cost   *Cost          `json:"cost,omitempty"`
	// NotFound has the words of a request to forget that names nothing known.
	NotFound string `json:"notFound,omitempty"`
	// Confirm is a request to forget everything, which changes nothing by itself.
	Confirm *Confirmation `json:"confirm,omitempty"`
	// Swept counts what was forgotten when such a request was confirmed.
	Swept *Swept `json:"swept,omitempty"`
}

// SaidAgain reports whether the change tells no more than that the memory was said again.
func (c *Changed) SaidAgain() bool { return c.Reason == consolidate.SaidAgain }

// Cost is the cost of a batch, and what was left out of it.
type Cost struct {
	extract.Usage
	// FactsDropped counts the facts that a model gave without founding them on
	// the events.
	FactsDropped int `json:"factsDropped"`
	// ValuesDropped counts the values of profiles that a model gave without founding them on
	// the events, or that their schema does not allow.
	ValuesDropped int `json:"valuesDropped,omitempty"`
	// EventsDamaged counts the events of the batch that the store can no longer read.
	// Memories were made without them.
	EventsDamaged int `json:"eventsDamaged,omitempty"`
}

// restore reads the plan that an earlier attempt has stored, if there is one. It
// returns the number of the last event that the plan is about, or 0 if the next
// batch is still to be chosen.
func (p *plan) restore(w sessionstore.Work) (to int64, err error) {
	if w.Plan == nil {
		return 0, nil
	}
	if err := json.Unmarshal(w.Plan, p); err != nil {
		return 0, err
	}
	if p.Decided || p.Found != nil {
		to = w.PlanTo
	}
	return to, nil
}

// ValidatePlan refuses a stored plan that would change memories of another scope,
// or that no store would take. No plan is fine.
func ValidatePlan(scope memory.Scope, raw json.RawMessage) error {
	if len(raw) == 0 {
		return nil
	}
	var p plan
	if err := json.Unmarshal(raw, &p); err != nil {
		return fmt.Errorf("%w: plan: %w", memory.ErrInvalid, err)
	}
	for i := range p.Changes {
		c := &p.Changes[i]
		all := []*memory.Memory{&c.Memory}
		if c.Else != nil {
			all = append(all, c.Else)
		}
		if err := validatePlanned(scope, fmt.Sprintf("changes[%d]", i), all...); err != nil {
			return err
		}
	}
	for i := range p.Asked {
		if err := validatePlanned(scope, fmt.Sprintf("asked[%d]", i), &p.Asked[i].Memory); err != nil {
			return err
		}
	}
	for i := range p.Everything {
		if err := validatePlanned(scope, fmt.Sprintf("everything[%d]", i), &p.Everything[i].Memory); err != nil {
			return err
		}
	}
	for i := range p.Forgotten {
		if err := validatePlanned(scope, fmt.Sprintf("forgotten[%d]", i), &p.Forgotten[i]); err != nil {
			return err
		}
	}
	return nil
}

func validatePlanned(scope memory.Scope, where string, all ...*memory.Memory) error {
	for _, m := range all {
		if err := m.Validate(); err != nil {
			return fmt.Errorf("plan: %s: %w", where, err)
		}
		if m.Scope != scope {
			return fmt.Errorf("%w: plan: %s is of another scope", memory.ErrInvalid, where)
		}
	}
	return nil
}

// savePlan stores the plan of a batch with the session.
func (s *Service) savePlan(ctx context.Context, b *batch, p plan) error {
	raw, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return s.sessions.Save(ctx, b.work, b.last, raw)
}
