package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/memoryd/memoryd/consolidate"
	"github.com/memoryd/memoryd/internal/tracing"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// The rollback of an operation is an operation of its own. The request finds the
// memories that the operation has changed and stores their ids as the events of a
// one-shot session; a worker brings back what they were, see undoing.go. The id of the
// rollback follows from that of the operation, so there is one at most. The batches of
// an operation that was rolled back make no memories: see passOver.

// MaxRollback is how many memories a rollback is about at most: their ids are stored in
// one step.
const MaxRollback = 100_000

// undoneTogether is how many memories an event of a rollback names: as many as a worker
// holds at a time.
const undoneTogether = 250

// Skipped is the action of a Changed that tells of a memory which a rollback leaves as it
// is. No revision has it.
const Skipped memory.Action = "SKIPPED"

// rollbackID is the id of the operation that undoes an operation.
func rollbackID(scope memory.Scope, operation string) string {
	return sessionstore.OperationID(scope, rollbackPrefix+derive("rollback", operation))
}

// rollbackPrefix begins the name of every rollback, and that of no other operation.
const rollbackPrefix = "rollback-"

// byRollback reports whether a rollback has made a revision.
func byRollback(r *memory.Revision) bool {
	name := sessionstore.OperationName(r.Operation)
	return len(name) > len(rollbackPrefix) && name[:len(rollbackPrefix)] == rollbackPrefix
}

// RollBack has everything undone that an operation has changed, and returns the operation
// that does it. The error is ErrNotFound if there is no such operation, or if it ended
// longer than sessionstore.OperationTTL ago; ErrInvalid if it is not done, has changed
// more than MaxRollback memories, or is a rollback that has failed; ErrExists if it is
// rolled back already.
func (s *Service) RollBack(ctx context.Context, scope memory.Scope, id string) (*sessionstore.Operation, error) {
	u, err := s.planUndoing(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	events, err := u.events(sessionstore.Micros(s.opts.Now()))
	if err != nil {
		return nil, err
	}
	key := sessionstore.Key{Scope: scope, ID: "rollback-" + uuid.NewString()}
	done, err := s.sessions.Append(ctx, key, events, sessionstore.Append{OneShot: true, Request: &sessionstore.Request{
		ID: u.own, Rollback: id, Traceparent: tracing.Parent(ctx)}})
	if errors.Is(err, memory.ErrExists) { // another call was faster
		return nil, rolledBack(id, u.own)
	}
	if err != nil {
		return nil, err
	}
	s.wake()
	return done.Operation, nil
}

// PreviewRollBack calls see with pages of the changes that RollBack would make now. It
// changes nothing. The error is that of RollBack, or of see.
func (s *Service) PreviewRollBack(ctx context.Context, scope memory.Scope, id string, see func([]Changed) error) error {
	u, err := s.planUndoing(ctx, scope, id)
	if err != nil {
		return err
	}
	for part := range u.parts() {
		undone, err := s.planUndone(ctx, u.undoer, part)
		if err != nil {
			return err
		}
		var page []Changed
		for i := range undone {
			if c := undone[i].changed(); c != nil {
				page = append(page, *c)
			}
		}
		if err := see(page); err != nil {
			return err
		}
	}
	return nil
}

// RolledBack returns the id of the operation that undoes an operation; "" if none does. A
// session store that has lost data cannot tell of an operation which it does not find. It
// counts as one that is not there, since a store with a loss goes on with new work.
func (s *Service) RolledBack(ctx context.Context, scope memory.Scope, id string) (string, error) {
	own := rollbackID(scope, id)
	_, err := s.sessions.Status(ctx, scope, own)
	if errors.Is(err, memory.ErrNotFound) || errors.As(err, new(*memory.Damage)) {
		return "", nil
	}
	return own, err
}

func rolledBack(id, by string) error {
	return fmt.Errorf("%w: operation %q is rolled back by operation %q", memory.ErrExists, id, by)
}

// mayRollBack reports why an operation cannot be rolled back.
func (s *Service) mayRollBack(ctx context.Context, scope memory.Scope, id string) error {
	by, err := s.RolledBack(ctx, scope, id)
	if err == nil && by != "" {
		err = rolledBack(id, by)
	}
	if err != nil {
		return err
	}
	op, err := s.sessions.Status(ctx, scope, id)
	switch {
	case errors.Is(err, memory.ErrNotFound):
		return fmt.Errorf("%w: an operation can be rolled back for %d days after its end", err,
			sessionstore.OperationTTL/(24*60*60*1e9))
	case err != nil:
		return err
	case !op.Done():
		return fmt.Errorf("%w: operation %q is %s: it can be rolled back when it is done",
			memory.ErrInvalid, id, op.State)
	case op.Rollback != "" && op.State == sessionstore.Failed:
		return fmt.Errorf("%w: operation %q is a rollback that has failed: retry it", memory.ErrInvalid, id)
	}
	return nil
}

// undoing is all that a rollback is about.
type undoing struct {
	undoer
	changed    []string // ids of the memories that the operation has changed
	dependents []string // ids of facts that gave way to one of them
	// gaveWay has what of these memories gave way to which of them, and heirs the fact
	// that says the same as one of them and was said next.
	gaveWay map[string]string
	heirs   map[string]*memory.Memory
	turns   map[string][]string // ids of the turns that a changed fact cites, by its id
}

// planUndoing finds what a rollback of an operation is about.
func (s *Service) planUndoing(ctx context.Context, scope memory.Scope, id string) (*undoing, error) {
	if err := s.mayRollBack(ctx, scope, id); err != nil {
		return nil, err
	}
	u := &undoing{undoer: undoer{scope: scope, operation: id, own: rollbackID(scope, id)},
		gaveWay: map[string]string{}, heirs: map[string]*memory.Memory{}}
	changed := map[string]bool{}
	for from, more := "", true; more; more = from != "" {
		ids, next, err := s.memories.ChangedBy(ctx, scope, id, from)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			if !changed[id] {
				changed[id] = true
				u.changed = append(u.changed, id)
			}
		}
		if len(u.changed) > MaxRollback {
			return nil, fmt.Errorf("%w: operation %q has changed more than %d memories, and can't be rolled back",
				memory.ErrInvalid, id, MaxRollback)
		}
		from = next
	}
	if err := s.addExpired(ctx, u, changed); err != nil {
		return nil, err
	}
	if len(changed) == 0 {
		return u, nil
	}
	facts := memory.Filter{History: true, Kinds: []memory.Kind{memory.KindFact, memory.KindProfile}}
	cites := cites{}
	err := each(ctx, s.memories, scope, facts, func(m *memory.Memory) error {
		if changed[m.ID] {
			cites.add(m)
		}
		switch {
		case !changed[m.SupersededBy]:
		case changed[m.ID]:
			u.gaveWay[m.ID] = m.SupersededBy
		default:
			u.dependents = append(u.dependents, m.ID)
			heir := u.heirs[m.SupersededBy]
			if m.Repeats() && (heir == nil || consolidate.Chronological(m, heir) < 0) {
				one := *m
				u.heirs[m.SupersededBy] = &one
			}
		}
		return nil
	})
	if err == nil && !u.ofRollback() {
		u.turns, err = s.turnsOf(ctx, scope, cites)
	}
	return u, err
}

// addExpired adds the memories that the operation reports to have changed, and whose history
// no longer has that: they are left as they are, and the rollback says so.
func (s *Service) addExpired(ctx context.Context, u *undoing, changed map[string]bool) error {
	var after sessionstore.ChangePosition
	for more := true; more; more = after != (sessionstore.ChangePosition{}) {
		page, next, err := s.sessions.Changes(ctx, u.scope, u.operation, after)
		if err != nil {
			return err
		}
		for _, doc := range page {
			var c struct {
				Action memory.Action
				Memory struct{ ID string }
			}
			if json.Unmarshal(doc, &c) == nil && c.Memory.ID != "" && c.Action != Skipped && !changed[c.Memory.ID] &&
				len(u.changed) < MaxRollback {
				changed[c.Memory.ID] = true
				u.changed = append(u.changed, c.Memory.ID)
			}
		}
		after = next
	}
	return nil
}

// heirsOf returns the heirs of the memories that some gave way to in the end.
func (u *undoing) heirsOf(ids []string) map[string]string {
	out := map[string]string{}
	for _, id := range ids {
		for range memory.MaxSuccession {
			next := u.gaveWay[id]
			if next == "" {
				break
			}
			id = next
		}
		if heir := u.heirs[id]; heir != nil {
			out[id] = heir.ID
		}
	}
	return out
}

// undoingPart is what one event of a rollback names.
type undoingPart struct {
	Changed    []string `json:"changed,omitempty"`
	Dependents []string `json:"dependents,omitempty"`
	// Heirs are the facts that say the same as a memory and were said next.
	Heirs map[string]string `json:"heirs,omitempty"`
	// Turns are the turns that facts in Changed cite, by the ids of the facts.
	Turns map[string][]string `json:"turns,omitempty"`
}

// parts yields all of a rollback, some memories at a time. Dependents come last: what
// becomes of them depends on what became of the others.
func (u *undoing) parts() func(yield func(undoingPart) bool) {
	return func(yield func(undoingPart) bool) {
		for ids := range slices.Chunk(u.changed, undoneTogether) {
			if !yield(undoingPart{Changed: ids, Heirs: u.heirsOf(ids), Turns: u.turnsOf(ids)}) {
				return
			}
		}
		for ids := range slices.Chunk(u.dependents, undoneTogether) {
			if !yield(undoingPart{Dependents: ids, Heirs: u.heirsOf(ids)}) {
				return
			}
		}
	}
}

// undoingRole is the role of an event of a rollback. No turn has it.
const undoingRole = "rollback"

// events makes the events of a rollback, one at least: an operation has work.
func (u *undoing) events(at time.Time) (out []sessionstore.Event, err error) {
	add := func(part undoingPart) bool {
		var doc []byte
		var e sessionstore.Event
		doc, err = json.Marshal(map[string]any{
			"id": fmt.Sprintf("rollback-%d", len(out)+1), "author": client, "timestamp": sessionstore.FormatTime(at),
			"content":        map[string]any{"role": undoingRole},
			"customMetadata": map[string]any{"rollback": part},
		})
		if err == nil {
			e, err = sessionstore.ParseEvent(doc)
		}
		out = append(out, e)
		return err == nil
	}
	u.parts()(add)
	if err == nil && len(out) == 0 {
		add(undoingPart{})
	}
	return out, err
}

// readUndoing reads an event of a rollback.
func readUndoing(e *sessionstore.Event) (undoingPart, error) {
	var doc struct {
		CustomMetadata struct{ Rollback *undoingPart }
	}
	if err := json.Unmarshal(e.Doc, &doc); err != nil {
		return undoingPart{}, err
	}
	if doc.CustomMetadata.Rollback == nil || e.Content.Role != undoingRole {
		return undoingPart{}, fmt.Errorf("%w: the event is none of a rollback", memory.ErrInvalid)
	}
	return *doc.CustomMetadata.Rollback, nil
}
