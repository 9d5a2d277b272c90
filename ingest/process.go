package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/memoryd/memoryd/consolidate"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/extract/canonical"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// processBatch makes memories of the next batch of a session's events, and then
// counts them as done. Repeating it from any step gives the same memories.
func (s *Service) processBatch(ctx context.Context, w sessionstore.Work) (to int64, err error) {
	p, to, err := s.planBatch(ctx, w)
	if err != nil {
		return 0, err
	}
	changes, err := s.apply(ctx, w, p)
	if err != nil {
		return 0, err
	}
	if w.Plan != nil {
		more, err := s.reconcile(ctx, w, to, p)
		if err != nil {
			return 0, err
		}
		changes = append(changes, more...)
	}
	return to, s.sessions.Finish(ctx, w, to, changes)
}

// planBatch returns the plan of the next batch and the number of its last event.
// The plan is the one that an earlier attempt has stored, or a new one. While none
// can be made, provisional facts take its place.
func (s *Service) planBatch(ctx context.Context, w sessionstore.Work) (p plan, to int64, err error) {
	if w.Plan != nil {
		if err := json.Unmarshal(w.Plan, &p); err != nil {
			return plan{}, 0, err
		}
	}
	if p.Decided {
		return p, w.PlanTo, nil
	}
	spent := p.Cost
	if p, to, err = s.makePlan(ctx, w, p); err == nil || ctx.Err() != nil {
		return p, to, err
	}
	if p.Cost != spent { // an operation tells what it cost, also if it fails
		if err := s.savePlan(ctx, w, to, p); err != nil {
			s.log(w.Key).Warn("the cost of a model's calls is not counted", "err", err)
		}
	}
	if s.opts.Fallback != nil && !errors.Is(err, errStoreUnavailable) && !errors.Is(err, memory.ErrAborted) {
		if err := s.addProvisional(ctx, w); err != nil {
			s.log(w.Key).Warn("provisional facts were not added", "err", err)
		}
	}
	return p, to, err
}

// makePlan puts the turns of the next batch into memory, plans all other changes,
// and stores that plan. It continues p, which an earlier attempt may have stored.
// If it fails it returns the plan so far, with its cost.
func (s *Service) makePlan(ctx context.Context, w sessionstore.Work, p plan) (_ plan, to int64, err error) {
	if p.Found != nil {
		to = w.PlanTo
	}
	b, err := s.nextBatch(ctx, w, to)
	if err != nil {
		return p, 0, err
	}
	if err := s.putMissing(ctx, b.key, b.turns); err != nil {
		return p, 0, err
	}
	if err := s.takeBack(ctx, b); err != nil {
		return p, 0, err
	}
	if p.Found == nil {
		earlier, err := s.earlierTurns(ctx, b)
		if err != nil {
			return p, b.last, err
		}
		found, err := s.findFacts(ctx, b, earlier)
		p.Cost.Usage = p.Cost.Usage.Add(found.Usage)
		if err != nil {
			return p, b.last, err
		}
		found.Exchanges = nil
		p.Found, p.Cost.FactsDropped = &found, found.Dropped
		if found.Calls > 0 { // a model is not asked twice if the rest fails
			if err := s.savePlan(ctx, w, b.last, p); err != nil {
				return p, b.last, err
			}
		}
	}
	changes, cost, err := s.consolidate(ctx, b, s.relatedTo(b), p.Found)
	p.Cost.Usage = p.Cost.Usage.Add(cost.Usage)
	if err != nil {
		return p, b.last, err
	}
	p = plan{Decided: true, Changes: changes, Cost: p.Cost}
	if len(changes) == 0 {
		return p, b.last, nil
	}
	return p, b.last, s.savePlan(ctx, w, b.last, p)
}

// savePlan stores a plan for the events up to a number with the session.
func (s *Service) savePlan(ctx context.Context, w sessionstore.Work, to int64, p plan) error {
	raw, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return s.sessions.Save(ctx, w, to, raw)
}

// maxEarlier is how many events before a batch the extractor may be shown.
const maxEarlier = 20

// findFacts has the extractor read the turns of a batch that no rewind takes
// back, and adds the facts that the batch gives.
func (s *Service) findFacts(ctx context.Context, b *batch, earlier []extract.Turn) (extract.Found, error) {
	read := extract.Batch{Turns: b.standingTurns(), Before: earlier}
	found, err := s.extractor.Extract(ctx, read)
	unreadable := errors.Is(err, extract.ErrRefused) || errors.Is(err, extract.ErrUnreadable)
	if s.opts.Fallback != nil && b.work.Attempts >= s.opts.MaxAttempts && unreadable {
		// The model answers, and will not read this: later events must not wait
		// for it for ever.
		s.log(b.key).Error("the fallback reads the events that the model will not read", "err", err)
		found, err = s.opts.Fallback.Extract(ctx, read)
	}
	found.Facts = append(found.Facts, b.givenFacts...)
	return found, err
}

// earlierTurns are the turns before a batch, for an extractor that uses them.
func (s *Service) earlierTurns(ctx context.Context, b *batch) (out []extract.Turn, err error) {
	from := max(0, b.work.Done-maxEarlier)
	if s.extractor.Budget() == 0 || from == b.work.Done {
		return nil, nil
	}
	events, err := s.sessions.Events(ctx, b.work, from, int(b.work.Done-from))
	if err != nil {
		return nil, err
	}
	slices.SortFunc(events, chronological)
	for _, e := range events {
		if t, ok := extract.ReadTurn(b.key.ID, e.Event); ok && b.takenBack[e.ID].IsZero() {
			out = append(out, t)
		}
	}
	return out, nil
}

// consolidate works out which changes the facts found in a batch make. It calls
// the extractor at most once, to compare new facts with known ones.
func (s *Service) consolidate(
	ctx context.Context, b *batch, r *related, found *extract.Found,
) (_ []consolidate.Change, cost extract.Cost, err error) {
	in := consolidate.Input{Disabled: b.work.Request.DisableConsolidation, Last: b.last}
	if in.Withdrawn, err = s.withdrawn(ctx, b, r); err != nil {
		return nil, cost, err
	}
	replaced, settled, err := s.replaced(ctx, b, r)
	if err != nil {
		return nil, cost, err
	}
	in.Withdrawn, in.Settled = append(in.Withdrawn, replaced...), settled
	in.New = b.newFacts(found.Facts, r.forms)
	if err := r.loadFacts(ctx, in.New); err != nil {
		return nil, cost, err
	}
	result := r.plan(in)
	if in.Disabled || len(result.Uncompared) == 0 {
		return result.Changes, cost, nil
	}
	in.Compared, cost, err = s.compare(ctx, b, result, found.Repaired)
	if err != nil {
		return nil, cost, err
	}
	if in.Compared != nil {
		result = r.plan(in)
	}
	return result.Changes, cost, nil
}

// reconcile works out again until when the facts hold that a stored plan changes,
// and applies that. Other work of the scope may have changed them after the plan
// was made.
func (s *Service) reconcile(ctx context.Context, w sessionstore.Work, to int64, p plan) ([]sessionstore.Change, error) {
	b, err := s.nextBatch(ctx, w, to)
	if err != nil {
		return nil, err
	}
	r := s.relatedTo(b)
	var keys []string
	for _, t := range b.turns {
		for _, text := range canonical.ForgetRequests(t.Text) {
			keys = append(keys, canonical.TextKey(text), canonical.ForgetKey(text))
		}
	}
	for i := range p.Changes {
		keys = append(keys, r.forms.Of(p.Changes[i].Memory.Fact).LookupKeys()...)
	}
	if err := r.load(ctx, keys); err != nil {
		return nil, err
	}
	result := r.plan(consolidate.Input{Planned: p.Changes, Disabled: w.Request.DisableConsolidation, Last: b.last})
	return s.apply(ctx, w, plan{Changes: result.Changes})
}
