package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/memoryd/memoryd/consolidate"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/internal/tracing"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// processBatch makes memories of the next batch of a session's events, and then
// counts them as done. Repeating it from any step gives the same memories.
func (s *Service) processBatch(ctx context.Context, w sessionstore.Work) (to int64, err error) {
	if w.Request.Forget {
		return s.forgetEverything(ctx, w)
	}
	if w.Request.Rollback != "" {
		return s.undoSome(ctx, w)
	}
	if out, err := s.isRolledBack(ctx, w); err != nil || out {
		return s.passOver(ctx, w, err)
	}
	var p plan
	if to, err = p.restore(w); err != nil {
		return 0, err
	}
	b, err := s.nextBatch(ctx, w, to)
	if err != nil {
		return 0, err
	}
	if !p.Decided {
		p.Cost.EventsDamaged = b.damaged()
		if err := s.configure(ctx, b); err != nil {
			return 0, err
		}
		if p, err = s.planBatch(ctx, b, p); err != nil {
			return 0, err
		}
	}
	if err := s.account(ctx, b, p); err != nil {
		return 0, err
	}
	changes, err := s.apply(ctx, b, p)
	if err != nil {
		return 0, err
	}
	return b.last, s.finish(ctx, w, b.last, changes)
}

// finish counts events as done.
func (s *Service) finish(ctx context.Context, w sessionstore.Work, to int64, changes []sessionstore.Change) error {
	ctx, span := tracing.Start(ctx, "finish")
	err := s.sessions.Finish(ctx, w, to, changes)
	span.End(err)
	return err
}

// account tells of the facts that a plan changes, before they change.
func (s *Service) account(ctx context.Context, b *batch, p plan) error {
	if s.opts.Account == nil || len(p.Changes)+len(p.Asked)+len(p.Forgotten) == 0 {
		return nil
	}
	told := Accounted{ID: fmt.Sprintf("%s/%d", b.work.Request.ID, b.last), Key: b.key, Operation: b.work.Request.ID}
	for i := range p.Changes {
		told.Facts = append(told.Facts, p.Changes[i].Memory.ID)
	}
	for i := range p.Asked {
		told.Facts = append(told.Facts, p.Asked[i].Memory.ID)
	}
	for i := range p.Forgotten {
		told.Facts = append(told.Facts, p.Forgotten[i].ID)
	}
	return s.opts.Account(ctx, told)
}

// planBatch plans a batch; see makePlan. While no plan can be made, provisional
// facts take its place.
func (s *Service) planBatch(ctx context.Context, b *batch, p plan) (plan, error) {
	spent := p.Cost
	p, err := s.makePlan(ctx, b, p)
	if err == nil || ctx.Err() != nil {
		return p, err
	}
	if p.Cost != spent { // an operation tells what it cost, also if it fails
		if err := s.savePlan(ctx, b, p); err != nil {
			s.log(ctx, b.key).Warn("the cost of a model's calls is not counted", "err", err)
		}
	}
	if s.opts.Fallback != nil && !errors.Is(err, errStoreUnavailable) && !errors.Is(err, memory.ErrAborted) {
		if err := s.addProvisional(ctx, b.work); err != nil {
			s.log(ctx, b.key).Warn("provisional facts were not added", "err", err)
		}
	}
	return p, err
}

// makePlan puts the turns of a batch into memory, plans all other changes, and
// stores that plan. It continues p, which an earlier attempt may have stored. If
// it fails it returns the plan so far, with its cost.
func (s *Service) makePlan(ctx context.Context, b *batch, p plan) (plan, error) {
	var err error
	if b.received, err = s.putMissing(ctx, b.work, b.turns); err != nil {
		return p, err
	}
	if err := s.takeBack(ctx, b); err != nil {
		return p, err
	}
	if p.Found == nil {
		earlier, err := s.earlierTurns(ctx, b)
		if err != nil {
			return p, err
		}
		found, err := s.findFacts(ctx, b, earlier)
		p.Cost.Usage = p.Cost.Usage.Add(found.Usage)
		if err != nil {
			return p, err
		}
		found.Exchanges = nil
		p.Found, p.Cost.FactsDropped, p.Cost.ValuesDropped = &found, found.Dropped, found.ValuesDropped
		if found.Calls > 0 { // a model is not asked twice if the rest fails
			if err := s.savePlan(ctx, b, p); err != nil {
				return p, err
			}
		}
	}
	result, cost, err := s.consolidate(ctx, b, s.relatedTo(b), p.Found)
	p.Cost.Usage = p.Cost.Usage.Add(cost.Usage)
	if err != nil {
		return p, err
	}
	p = plan{Decided: true, Changes: result.Changes, Forgotten: result.Forgotten, Asked: result.Asked,
		NotFound: result.NotFound, Everything: result.Everything, Cost: p.Cost}
	b.annotate(p.Changes)
	s.expire(b, p.Changes)
	if len(p.Changes) == 0 && len(result.Asked) == 0 {
		return p, nil
	}
	return p, s.savePlan(ctx, b, p)
}

// How many events before a batch the extractor may be shown, unless a trigger has an
// overlap. Rules look for the question that the first turn answers.
const (
	maxEarlier         = 20
	maxEarlierForRules = 4
)

// findFacts has the extractor read the turns of a batch that no rewind takes
// back, and adds the facts that the batch gives. Facts whose topics are not kept are
// left out.
func (s *Service) findFacts(
	ctx context.Context, b *batch, earlier []extract.Turn,
) (found extract.Found, err error) {
	ctx, span := tracing.Start(ctx, "extract")
	defer func() { endExtract(span, b, &found, err) }()
	read := extract.Batch{Policy: b.policy}
	if read.Turns, err = s.redact.turns(ctx, b.key.App, b.standingTurns()); err != nil {
		return found, err
	}
	if read.Before, err = s.redact.turns(ctx, b.key.App, earlier); err != nil {
		return found, err
	}
	if read.Known, err = s.knownValues(ctx, b); err != nil {
		return found, err
	}
	found, err = s.extractor.Extract(ctx, read)
	unreadable := errors.Is(err, extract.ErrRefused) || errors.Is(err, extract.ErrUnreadable)
	if s.opts.Fallback != nil && b.work.Attempts >= s.opts.MaxAttempts && unreadable {
		// The model answers, and will not read this: later events must not wait
		// for it for ever.
		s.log(ctx, b.key).Error("the fallback reads the events that the model will not read", "err", err)
		found, err = s.opts.Fallback.Extract(ctx, read)
	}
	s.warnUnheeded(b.key.App, found.Unheeded)
	var dropped int
	found.Facts, dropped = meaningful(found.Facts)
	found.Dropped += dropped
	found.Values, dropped = b.foundValues(found.Values)
	found.ValuesDropped += dropped
	found.Facts = append(b.keep(b.trusted(found.Facts), false), b.keep(b.givenFacts, true)...)
	return found, err
}

// earlierTurns are the turns before a batch.
func (s *Service) earlierTurns(ctx context.Context, b *batch) (out []extract.Turn, err error) {
	most := maxEarlier
	if s.extractor.Budget() == 0 {
		most = maxEarlierForRules
	}
	most = cmp.Or(b.work.Overlap, b.overlap, most)
	from := max(0, b.work.Done-int64(most))
	if from == b.work.Done {
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
	return s.withoutHidden(ctx, b.key, out)
}

// consolidate works out which changes the facts and values found in a batch make. It
// calls the extractor at most once, to compare new facts with known ones.
func (s *Service) consolidate(
	ctx context.Context, b *batch, r *related, found *extract.Found,
) (result consolidate.Result, cost extract.Cost, err error) {
	ctx, span := tracing.Start(ctx, "consolidate")
	defer func() { span.End(err) }()
	var in consolidate.Input
	result, cost, err = s.consolidateFacts(ctx, b, r, found, &in)
	if err == nil {
		r.input(&in)
		result.Changes, err = s.planValues(ctx, b, &in, result.Changes, found.Values)
	}
	return result, cost, err
}

// consolidateFacts works out which changes the facts found in a batch make, and which
// values are to be forgotten.
func (s *Service) consolidateFacts(
	ctx context.Context, b *batch, r *related, found *extract.Found, in *consolidate.Input,
) (result consolidate.Result, cost extract.Cost, err error) {
	*in = consolidate.Input{Disabled: b.work.Request.DisableConsolidation, Exact: b.exact(), Last: b.last}
	if in.Withdrawn, err = s.withdrawn(ctx, b, r); err != nil {
		return result, cost, err
	}
	replaced, settled, err := s.replaced(ctx, b, r)
	if err != nil {
		return result, cost, err
	}
	in.Withdrawn, in.Settled = append(in.Withdrawn, replaced...), settled
	facts, held := splitQuarantined(b.newFacts(found.Facts, r.forms))
	in.New = facts
	if err := r.loadFacts(ctx, in.New); err != nil {
		return result, cost, err
	}
	defer func() { result.Changes = append(result.Changes, held...) }()
	result = r.plan(*in)
	if in.Disabled || len(result.Uncompared) == 0 {
		return result, cost, nil
	}
	in.Compared, cost, err = s.compare(ctx, b, result, found.Repaired)
	if err != nil {
		return result, cost, err
	}
	if in.Compared != nil {
		result = r.plan(*in)
	}
	return result, cost, nil
}
