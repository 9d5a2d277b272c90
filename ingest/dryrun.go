package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Preview is what an ingestion would come to.
type Preview struct {
	Facts   []extract.Fact // found in the events
	Changes []Changed      // what they would change of the memories
	Cost    Cost
	Asked   []extract.Exchange // each call of a model
	Err     error              // why the model's answer is of no use; nil if it is
}

// DryRun finds out what Ingest would extract and change, and stores nothing. The
// events are as many as make one batch.
func (s *Service) DryRun(ctx context.Context, key sessionstore.Key, events []sessionstore.Event, how How) (*Preview, error) {
	if err := key.Validate(); err != nil {
		return nil, err
	}
	w := sessionstore.Work{Key: key, Requested: int64(len(events))}
	var all []sessionstore.NumberedEvent
	ids := map[string]bool{}
	for i, e := range events {
		if e.ID == "" {
			e.ID = fmt.Sprintf("event-%d", i+1)
		}
		if e.Timestamp.IsZero() {
			e.Timestamp = sessionstore.Micros(s.opts.Now())
		}
		if ids[e.ID] || e.Partial {
			continue
		}
		ids[e.ID] = true
		all = append(all, sessionstore.NumberedEvent{Seq: int64(len(all) + 1), Event: e})
	}
	if len(all) == 0 {
		return &Preview{}, nil
	}
	if len(all) > s.opts.BatchEvents || len(s.affordable(w, all)) < len(all) {
		return nil, fmt.Errorf("%w: a dry run takes one batch, up to %d events, and these are more than one", memory.ErrInvalid, s.opts.BatchEvents)
	}
	b := batchOf(w, all)
	back, err := s.wouldTakeBack(ctx, b)
	if err != nil {
		return nil, err
	}
	d := s.decision(b, how.DisableConsolidation)
	for _, t := range b.turns { // an ingestion finds them stored
		d.wants = append(d.wants, memory.Memory{ID: turnID(key, t.EventID, t.Text), Kind: memory.KindTurn, Fact: t.Text, Author: t.Author, Timestamp: t.Timestamp,
			Source: memory.Source{SessionID: key.ID, EventIDs: []string{t.EventID}}})
	}
	if err := d.takeBack(ctx, back); err != nil {
		return nil, err
	}
	var earlier []extract.Turn
	if s.extractor.Budget() > 0 {
		if earlier, err = s.said(ctx, key, ids, all[0].Timestamp); err != nil {
			return nil, err
		}
	}
	p := &Preview{}
	found, err := d.find(ctx, earlier, back)
	if err == nil {
		p.Facts = found.Facts
		var made []change
		if made, err = d.settle(ctx, found); err == nil {
			for _, c := range made {
				if c.Action != memory.Deleted && saidAgain(&c.Memory) {
					continue
				}
				if c.Action != memory.Deleted { // as they would be stored now
					c.Memory.Revision, c.Memory.UpdateTime = c.Expect+1, sessionstore.Micros(s.opts.Now())
				}
				if c.Action == memory.Created {
					c.Memory.CreateTime = c.Memory.UpdateTime
				}
				p.Changes = append(p.Changes, Changed{Action: c.Action, Memory: &c.Memory, Reason: c.Reason})
			}
		}
	}
	if errors.Is(err, extract.ErrUnreadable) || errors.Is(err, extract.ErrRefused) {
		p.Err, err = err, nil
	}
	err = ours(err)
	p.Asked = append(found.Exchanges, d.cost.Exchanges...)
	p.Cost = Cost{Usage: found.Usage.Add(d.cost.Usage), FactsDropped: found.Dropped}
	return p, err
}

// wouldTakeBack is what the session's rewinds take back once it has the batch.
func (s *Service) wouldTakeBack(ctx context.Context, b *batch) (map[string]time.Time, error) {
	all := slices.Clone(b.events)
	if slices.ContainsFunc(all, func(e sessionstore.NumberedEvent) bool { return e.RewindBefore != "" }) {
		session, err := s.sessions.Get(ctx, b.key, sessionstore.Get{NumRecent: maxFindable})
		if err != nil && !errors.Is(err, memory.ErrNotFound) {
			return nil, err
		}
		if err == nil {
			for _, e := range session.Events {
				if _, here := b.seq[e.ID]; !here {
					all = append(all, sessionstore.NumberedEvent{Event: e})
				}
			}
		}
	}
	return takenBack(all), nil
}

// said is the last turns of a session before a time, but for some events.
func (s *Service) said(ctx context.Context, key sessionstore.Key, but map[string]bool, until time.Time) (out []extract.Turn, err error) {
	session, err := s.sessions.Get(ctx, key, sessionstore.Get{NumRecent: before})
	if errors.Is(err, memory.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, e := range session.Events {
		if t, ok := extract.ReadTurn(key.ID, e); ok && !but[e.ID] && t.Timestamp.Before(until) {
			out = append(out, t)
		}
	}
	return out, nil
}
