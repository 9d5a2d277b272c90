package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/memoryd/memoryd/consolidate"
	"github.com/memoryd/memoryd/internal/tracing"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// apply carries out the plan of a batch, and returns what has changed. Other work
// of the scope may have changed the same facts since the plan was stored, so apply
// reconciles a stored plan with them.
func (s *Service) apply(ctx context.Context, b *batch, p plan) ([]sessionstore.Change, error) {
	changes, err := s.applyPlan(ctx, b, p)
	if err != nil || b.work.Plan == nil {
		return changes, err
	}
	p, err = s.reconciled(ctx, b, p)
	if err != nil {
		return nil, err
	}
	more, err := s.applyPlan(ctx, b, p)
	return append(changes, more...), err
}

// reconciled returns a plan that gives the facts that p changes their ends, as
// they follow from what is stored now.
func (s *Service) reconciled(ctx context.Context, b *batch, p plan) (plan, error) {
	r := s.relatedTo(b)
	var keys []string
	for i := range p.Changes {
		keys = append(keys, r.forms.Of(p.Changes[i].Memory.Fact).LookupKeys()...)
	}
	if err := r.load(ctx, keys); err != nil {
		return plan{}, err
	}
	if err := r.loadFacts(ctx, p.Asked); err != nil {
		return plan{}, err
	}
	result := r.plan(consolidate.Input{
		New: p.Asked, Planned: p.Changes, Disabled: b.work.Request.DisableConsolidation, Exact: b.exact(),
		Last: b.last,
	})
	b.annotate(result.Changes)
	return plan{Changes: result.Changes, Forgotten: result.Forgotten}, nil
}

// applyPlan makes the changes of a plan, or the part of them that an earlier
// attempt has left. It leaves out a change of a memory whose text a client has
// changed since: the client's word stands.
func (s *Service) applyPlan(ctx context.Context, b *batch, p plan) (told []sessionstore.Change, err error) {
	ctx, span := tracing.Start(ctx, "apply")
	defer func() { span.End(err) }()
	span.Int("memoryd.changes", len(p.Changes))
	if err := s.hideTurns(ctx, b, p); err != nil {
		return nil, err
	}
	a := &application{
		work: b.work, actor: s.extractor.Name(), changes: slices.Clone(p.Changes),
		outcomes: make([]*memory.Outcome, len(p.Changes)), refused: map[string]bool{},
		end: s.revisionEnd(&b.work.Request),
	}
	for _, action := range []memory.Action{memory.Created, memory.Updated, memory.Deleted} {
		for some := range slices.Chunk(a.places(action), writesTogether) {
			outcomes, err := s.applySome(ctx, a, action, some)
			if err != nil {
				return nil, err
			}
			if err := s.applyBeside(ctx, a, some, outcomes); err != nil {
				return nil, err
			}
			for i, place := range some {
				outcome := &outcomes[i]
				a.outcomes[place] = outcome
				a.refused[a.changes[place].Memory.ID] = outcome.Err != nil
			}
		}
	}
	if err := s.createElse(ctx, a); err != nil {
		return nil, err
	}
	return s.report(ctx, a, p)
}

// application is a plan that is being carried out.
type application struct {
	work     sessionstore.Work
	actor    string
	changes  []consolidate.Change
	outcomes []*memory.Outcome // of each change; nil if it was left out
	// refused has the memories that were not created, as a client has deleted or
	// edited them before. Nothing makes room for them.
	refused map[string]bool
	end     time.Time // when the revisions expire; zero if the request does not say
}

// places are those of the changes of one kind that are not left out.
func (a *application) places(action memory.Action) (out []int) {
	for i, c := range a.changes {
		if c.Action == action && !a.refused[c.For] {
			out = append(out, i)
		}
	}
	return out
}

// write is the write of a memory of a change, of which the store must have a revision.
func (a *application) write(c *consolidate.Change, m memory.Memory, expect int64) memory.Write {
	return memory.Write{Memory: m, Expect: expect, Actor: a.actor, Operation: a.work.OperationOf(c.Seq),
		Labels: a.work.Request.Labels, RevisionExpireTime: a.end, Life: a.work.Life()}
}

// removal is the deletion of the memory of a change, of which the store must have a
// revision.
func (a *application) removal(c *consolidate.Change) memory.Removal {
	return memory.Removal{ID: c.Memory.ID, Expect: c.Expect, Actor: a.actor, Operation: a.work.OperationOf(c.Seq),
		Labels: a.work.Request.Labels, RevisionExpireTime: a.end}
}

// applySome applies the changes at some places, which are of one kind.
func (s *Service) applySome(
	ctx context.Context, a *application, action memory.Action, places []int,
) ([]memory.Outcome, error) {
	var writes []memory.Write
	var removals []memory.Removal
	for _, i := range places {
		c := &a.changes[i]
		writes = append(writes, a.write(c, c.Memory, c.Expect))
		removals = append(removals, a.removal(c))
	}
	if action == memory.Deleted {
		return s.memories.Delete(ctx, a.work.Key.Scope, removals)
	}
	return s.putIndexed(ctx, a.work.Key.Scope, writes)
}

// putIndexed stores memories with terms and vectors.
func (s *Service) putIndexed(ctx context.Context, scope memory.Scope, writes []memory.Write) ([]memory.Outcome, error) {
	if err := s.index(ctx, writes, true); err != nil {
		return nil, err
	}
	return s.put(ctx, scope, writes)
}

// put stores memories that are indexed. The error is memory.ErrRevoked if what they are
// made of was erased.
func (s *Service) put(ctx context.Context, scope memory.Scope, writes []memory.Write) ([]memory.Outcome, error) {
	ctx, span := tracing.Start(ctx, "put")
	span.Int("memoryd.memories", len(writes))
	out, err := s.memories.Put(ctx, scope, writes)
	for i := range out {
		if errors.Is(out[i].Err, memory.ErrRevoked) {
			err = out[i].Err
		}
	}
	span.End(err)
	return out, err
}

// createElse creates the facts that refused changes were to put into other ones.
func (s *Service) createElse(ctx context.Context, a *application) error {
	for i := range a.changes {
		c := &a.changes[i]
		if c.Else == nil || a.outcomes[i] == nil || a.outcomes[i].Err == nil {
			continue
		}
		out, err := s.putIndexed(ctx, a.work.Key.Scope, []memory.Write{a.write(c, *c.Else, 0)})
		if err != nil {
			return err
		}
		c.Action, a.outcomes[i] = memory.Created, &out[0]
	}
	return nil
}

// report returns what the operations are told: the memories that changed, without
// repetitions of what is known, and the cost.
func (s *Service) report(ctx context.Context, a *application, p plan) (out []sessionstore.Change, err error) {
	add := func(seq int64, c Changed) error {
		doc, err := json.Marshal(c)
		out = append(out, sessionstore.Change{Seq: seq, Doc: doc})
		return err
	}
	for i, c := range a.changes {
		switch o := a.outcomes[i]; {
		case o == nil:
		case c.Action != memory.Deleted && consolidate.Repetition(&c.Memory):
		case o.Err != nil:
			s.log(ctx, a.work.Key).Info("a change was left out: another writer was faster",
				"memory", c.Memory.ID, "action", c.Action, "err", o.Err)
		default:
			if err := add(c.Seq, Changed{Action: c.Action, Memory: &o.Memory, Reason: c.Reason}); err != nil {
				return nil, err
			}
		}
	}
	for i := range p.NotFound {
		f := &p.NotFound[i]
		if err := add(f.Seq, Changed{NotFound: f.Memory.Source.Quote}); err != nil {
			return nil, err
		}
	}
	for i := range p.Everything {
		f := &p.Everything[i]
		c := &Confirmation{Request: f.Memory, ExpireTime: sessionstore.Micros(s.opts.Now().Add(ConfirmTTL))}
		if err := add(f.Seq, Changed{Confirm: c}); err != nil {
			return nil, err
		}
	}
	if p.Cost != (Cost{}) {
		if err := add(a.work.Done+1, Changed{Cost: &p.Cost}); err != nil {
			return nil, err
		}
	}
	return out, nil
}
