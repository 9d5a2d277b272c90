package ingest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/memoryd/memoryd/consolidate"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/extract/injection"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// quarantine has a memory be hidden until a review if its text tries to instruct the
// agent. The same text of the same source always gives the same result.
func quarantine(m *memory.Memory) {
	if m.Reason = injection.Check(m.Fact, m.Trust); m.Reason != "" {
		m.State = memory.Quarantined
	}
}

// trusted gives facts found in the turns of a batch the least trust of the turns that
// they cite. Only the user can ask to forget something.
func (b *batch) trusted(facts []extract.Fact) []extract.Fact {
	trust := b.trustOf()
	for i := range facts {
		for _, event := range facts[i].EventIDs {
			facts[i].Trust = facts[i].Trust.Least(trust[event])
		}
		facts[i].Trust = facts[i].Trust.Source()
	}
	return slices.DeleteFunc(facts, func(f extract.Fact) bool { return f.Forget && f.Trust != memory.TrustUser })
}

// trustOf returns the trust of the turns of a batch, by event.
func (b *batch) trustOf() map[string]memory.Trust {
	out := map[string]memory.Trust{}
	for i := range b.turns {
		out[b.turns[i].EventID] = b.turns[i].Trust
	}
	return out
}

// splitQuarantined parts new facts from those that try to instruct the agent. The latter
// are stored, hidden, and change nothing else.
func splitQuarantined(facts []consolidate.Fact) (out []consolidate.Fact, held []consolidate.Change) {
	for _, f := range facts {
		if !f.Forget {
			quarantine(&f.Memory)
		}
		if f.Memory.State == memory.Quarantined {
			held = append(held, consolidate.Change{
				Seq: f.Seq, Action: memory.Created, Memory: f.Memory, Reason: f.Memory.Reason,
			})
			continue
		}
		out = append(out, f)
	}
	return out, held
}

// withoutHidden leaves out the turns of a session that are quarantined or rejected. It
// reads from the store only those that look like it.
func (s *Service) withoutHidden(
	ctx context.Context, key sessionstore.Key, turns []extract.Turn,
) ([]extract.Turn, error) {
	var held []extract.Turn
	for _, t := range turns {
		if m := turnMemory(key, t); m.State.Hidden() {
			held = append(held, t)
		}
	}
	if len(held) == 0 {
		return turns, nil
	}
	known, err := s.received(ctx, key, held)
	if err != nil {
		return nil, err
	}
	hidden := map[string]bool{}
	for _, t := range held {
		r, stored := known[t.EventID]
		hidden[t.EventID] = !stored || r.hidden
	}
	return slices.DeleteFunc(slices.Clone(turns), func(t extract.Turn) bool { return hidden[t.EventID] }), nil
}

// quarantined reports whether one of some events has a turn that is hidden now. It reads
// from the store only those that look like it. A turn that is not written yet counts.
func (s *Service) quarantined(ctx context.Context, key sessionstore.Key, events []sessionstore.Event) bool {
	var turns []extract.Turn
	for _, e := range events {
		if t, ok := extract.ReadTurn(key.ID, e); ok && !e.Partial {
			turns = append(turns, t)
		}
	}
	standing, err := s.withoutHidden(ctx, key, turns)
	if err != nil {
		s.log(ctx, key).Warn("it is not known whether turns were approved that look like orders", "err", err)
		return true
	}
	return len(standing) < len(turns)
}

// Decision is what a review decides.
type Decision string

// The decisions.
const (
	Approve Decision = "approve"
	Reject  Decision = "reject"
)

var errDecided = fmt.Errorf("%w: a decision", memory.ErrExists)

// Reviewed is the answer to a review.
type Reviewed struct {
	Memory memory.Memory
	// Operation makes the facts of a turn that was approved; nil of any other memory.
	Operation *sessionstore.Operation
}

// Review decides on a quarantined memory. An approved one is found from then on, and
// facts are extracted from a turn. A rejected one stays hidden, and may be approved later.
// The same decision twice changes nothing more: of a turn it only asks for the facts
// again, in case the first call was cut off before it did. The error is ErrExists if the
// memory was never held back, or was approved and shall be rejected: others may have read
// it, so it is for Delete.
func (s *Service) Review(ctx context.Context, scope memory.Scope, id string, d Decision) (out Reviewed, err error) {
	to, ok := map[Decision]memory.State{Approve: memory.Approved, Reject: memory.Rejected}[d]
	if !ok {
		return out, fmt.Errorf("%w: decision %.40q is neither %q nor %q", memory.ErrInvalid, d, Approve, Reject)
	}
	var held *memory.Memory // a value of a profile
	m, err := s.rewrite(ctx, func() (w memory.Write, err error) {
		m, err := s.Get(ctx, scope, id)
		switch {
		case err != nil:
			return w, err
		case m.State == "":
			return w, named(scope, id, fmt.Errorf("%w: it was never quarantined", errDecided))
		case m.State == memory.Approved && to == memory.Rejected:
			return w, named(scope, id, fmt.Errorf("%w: it was approved: delete it instead", errDecided))
		}
		if m.State = to; to == memory.Approved && m.Kind == memory.KindProfile && isHeld(&m) {
			held = &m
			return s.approvedValue(ctx, &m)
		}
		return memory.Write{Memory: m, Expect: m.Revision}, nil
	})
	if err != nil {
		return out, err
	}
	out.Memory = m
	if held != nil {
		_, err = s.memories.Delete(ctx, scope, []memory.Removal{{ID: id, Actor: client}})
		return out, err
	}
	if to == memory.Approved && m.Kind == memory.KindTurn && m.Source.EventID() != "" {
		out.Operation, err = s.extractApproved(ctx, &m)
	}
	return out, err
}

// extractApproved requests the facts of a turn that was approved. The event is made of
// the memory again, as its session may be gone. It has the id and the text of the first
// one, so that its turn and its facts have the ids that they would have had.
func (s *Service) extractApproved(ctx context.Context, m *memory.Memory) (*sessionstore.Operation, error) {
	role := "user"
	if m.Trust == memory.TrustAgent {
		role = "model"
	}
	doc, err := json.Marshal(map[string]any{
		"id": m.Source.EventID(), "author": m.Author, "timestamp": sessionstore.FormatTime(m.Timestamp),
		"content":        map[string]any{"role": role, "parts": []any{map[string]any{"text": m.Fact}}},
		"customMetadata": map[string]any{"trust": m.Trust.Source()},
	})
	if err != nil {
		return nil, err
	}
	e, err := sessionstore.ParseEvent(doc)
	if err != nil {
		return nil, err
	}
	if m.UTCOffset != "" {
		e = e.In(m.UTCOffset.In(m.Timestamp).Location())
	}
	key := sessionstore.Key{Scope: m.Scope, ID: m.Source.SessionID}
	if id, ok := TurnID(key, e); !ok || id != m.ID {
		return nil, nil // a client has changed the text: it is the client's, and no event has it
	}
	how := sessionstore.Append{OneShot: true, Request: RequestOptions{}.request(ctx, m.Scope)}
	return s.request(ctx, key, []sessionstore.Event{e}, how)
}
