package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/memoryd/memoryd/consolidate"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Preview is what an ingestion would do.
type Preview struct {
	Facts     []extract.Fact  // found in the events
	Values    []extract.Value // for fields of profiles
	Changes   []Changed       // that they would make of the memories
	Cost      Cost
	Exchanges []extract.Exchange // the calls of a model
	Err       error              // why the model's answer is of no use; nil if it is
}

// DryRun works out what Ingest would extract and change, and stores nothing. The
// events must fit into one batch.
func (s *Service) DryRun(
	ctx context.Context, key sessionstore.Key, events []sessionstore.Event, opts RequestOptions,
) (*Preview, error) {
	if err := key.Validate(); err != nil {
		return nil, err
	}
	events, err := s.redact.Events(ctx, key.App, events)
	if err != nil {
		return nil, err
	}
	p := &Preview{}
	numbered := s.completed(s.InZone(ctx, key.App, events, opts.Zone))
	if len(numbered) == 0 {
		return p, nil
	}
	w := sessionstore.Work{Key: key, Requested: int64(len(numbered)), Request: *opts.request(ctx, key.Scope)}
	if len(numbered) > s.opts.BatchEvents || len(s.withinBudget(w, numbered)) < len(numbered) {
		return nil, fmt.Errorf("%w: a dry run takes one batch, up to %d events, and these are more than one",
			memory.ErrInvalid, s.opts.BatchEvents)
	}
	b := newBatch(w, numbered)
	if err := s.configure(ctx, b); err != nil {
		return nil, err
	}
	b.received = map[string]receipt{}
	for _, t := range b.turns {
		m := turnMemory(b.key, t)
		b.received[t.EventID] = receipt{sessionstore.Micros(s.opts.Now()), m.State.Hidden()}
	}
	if err := s.previewTakenBack(ctx, b); err != nil {
		return nil, err
	}
	earlier, err := s.storedTurnsBefore(ctx, b)
	if err != nil {
		return nil, err
	}
	found, err := s.findFacts(ctx, b, earlier)
	var cost extract.Cost
	if err == nil {
		p.Facts = found.Facts
		var result consolidate.Result
		result, cost, err = s.consolidate(ctx, b, s.relatedTo(b), &found)
		b.annotate(result.Changes)
		s.expire(b, result.Changes)
		p.Changes = s.preview(result.Changes)
	}
	p.Exchanges = slices.Concat(found.Exchanges, cost.Exchanges)
	p.Cost = Cost{Usage: found.Usage.Add(cost.Usage), FactsDropped: found.Dropped, ValuesDropped: found.ValuesDropped}
	p.Values = found.Values
	if errors.Is(err, extract.ErrUnreadable) || errors.Is(err, extract.ErrRefused) {
		p.Err, err = err, nil
	}
	return p, misconfigured(err)
}

// completed numbers events, and gives those without an ID or a time one. It
// leaves out repeated and partial ones.
func (s *Service) completed(events []sessionstore.Event) (out []sessionstore.NumberedEvent) {
	seen := map[string]bool{}
	for i, e := range events {
		e = e.Stored(func() string { return fmt.Sprintf("event-%d", i+1) }, s.opts.Now())
		if !seen[e.ID] && !e.Partial {
			seen[e.ID] = true
			out = append(out, sessionstore.NumberedEvent{Seq: int64(len(out) + 1), Event: e})
		}
	}
	return out
}

// previewTakenBack notes in a batch what the session's rewinds take back once it
// has the batch.
func (s *Service) previewTakenBack(ctx context.Context, b *batch) error {
	all := slices.Clone(b.events)
	if slices.ContainsFunc(all, func(e sessionstore.NumberedEvent) bool { return e.RewindBefore != "" }) {
		stored, err := s.storedEvents(ctx, b, maxFindable, func(e sessionstore.Event) sessionstore.Event {
			return sessionstore.Event{ID: e.ID, InvocationID: e.InvocationID, Timestamp: e.Timestamp,
				RewindBefore: e.RewindBefore}
		})
		if err != nil {
			return err
		}
		for i, e := range stored { // numbered before those of the batch
			all = append(all, sessionstore.NumberedEvent{Seq: int64(i - len(stored)), Event: e})
		}
	}
	b.takenBack = takenBack(all)
	return nil
}

// storedTurnsBefore are the last turns of the session before those of a batch,
// for an extractor that uses them.
func (s *Service) storedTurnsBefore(ctx context.Context, b *batch) (out []extract.Turn, err error) {
	if s.extractor.Budget() == 0 {
		return nil, nil
	}
	stored, err := s.storedEvents(ctx, b, maxEarlier, func(e sessionstore.Event) sessionstore.Event {
		e.Doc = nil // the rest is its text
		return e
	})
	if err != nil {
		return nil, err
	}
	for _, e := range stored {
		if t, ok := extract.ReadTurn(b.key.ID, e); ok && t.Timestamp.Before(b.events[0].Timestamp) {
			out = append(out, t)
		}
	}
	return s.withoutHidden(ctx, b.key, out)
}

// storedEvents are the last events of the session, up to limit, without those of
// a batch. Of each it holds what keep leaves.
func (s *Service) storedEvents(
	ctx context.Context, b *batch, limit int, keep func(sessionstore.Event) sessionstore.Event,
) ([]sessionstore.Event, error) {
	var out []sessionstore.Event
	get := sessionstore.Get{NumRecent: limit, NoState: true}
	err := sessionstore.EachPage(ctx, s.sessions, b.key, get, func(page *sessionstore.Session) error {
		for _, e := range page.Events {
			if b.seq[e.ID] == 0 {
				out = append(out, keep(e))
			}
		}
		return nil
	})
	if errors.Is(err, memory.ErrNotFound) {
		return nil, nil
	}
	return out, err
}

// preview returns changes with the memories as they would be stored now.
func (s *Service) preview(changes []consolidate.Change) (out []Changed) {
	now := sessionstore.Micros(s.opts.Now())
	for _, c := range changes {
		m := &c.Memory
		if c.Action != memory.Deleted {
			if consolidate.Repetition(m) {
				continue
			}
			m.Revision, m.UpdateTime = c.Expect+1, now
		}
		if c.Action == memory.Created {
			m.CreateTime = now
		}
		out = append(out, Changed{Action: c.Action, Memory: m, Reason: c.Reason})
	}
	return out
}
