package ingest

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// walk makes memories of the next batch of a session's events, and moves the
// done mark behind them. Doing it again, from whichever step, gives the same.
func (s *Service) walk(ctx context.Context, w sessionstore.Work) (to int64, err error) {
	p := plan{}
	if w.Plan != nil {
		to = w.PlanTo
		if err := json.Unmarshal(w.Plan, &p); err != nil {
			return 0, err
		}
	} else if p, to, err = s.prepare(ctx, w); err != nil {
		return 0, err
	}
	changes, err := s.apply(ctx, w, p)
	if err != nil {
		return 0, err
	}
	return to, s.sessions.Finish(ctx, w, to, changes)
}

// batch is some events of a session, in the order in which they were said.
type batch struct {
	work   sessionstore.Work
	events []sessionstore.Numbered
	to     int64            // the highest number among them
	seq    map[string]int64 // of each event id
}

// read gives the next events that wait.
func (s *Service) read(ctx context.Context, w sessionstore.Work) (*batch, error) {
	limit := min(int64(s.opts.BatchEvents), w.Requested-w.Done)
	events, err := s.sessions.Events(ctx, w, w.Done, int(limit))
	if err != nil {
		return nil, err
	}
	if len(events) == 0 {
		// The marks say there are some: the work has changed hands.
		return nil, memory.ErrAborted
	}
	b := &batch{work: w, events: events, to: events[len(events)-1].Seq, seq: map[string]int64{}}
	for _, e := range events {
		b.seq[e.ID] = e.Seq
	}
	slices.SortFunc(b.events, inOrder)
	return b, nil
}

// inOrder is the order in which events were said, whatever order they arrived in.
func inOrder(a, b sessionstore.Numbered) int {
	if c := a.Timestamp.Compare(b.Timestamp); c != 0 {
		return c
	}
	return cmp.Compare(a.Seq, b.Seq)
}

// prepare puts a batch's turns into memory, decides what else changes, and
// stores that decision.
func (s *Service) prepare(ctx context.Context, w sessionstore.Work) (p plan, to int64, err error) {
	b, err := s.read(ctx, w)
	if err != nil {
		return p, 0, err
	}
	var turns []extract.Turn
	for _, e := range b.events {
		if t, ok := extract.ReadTurn(e.Event); ok {
			turns = append(turns, t)
		}
	}
	if err := s.putTurns(ctx, w.Key, turns, true); err != nil {
		return p, 0, err
	}
	back, err := s.rewound(ctx, b)
	if err != nil {
		return p, 0, err
	}
	turns = slices.DeleteFunc(turns, func(t extract.Turn) bool { _, gone := back[t.EventID]; return gone })
	facts, err := s.extractor.Extract(ctx, turns)
	if err != nil {
		return p, 0, err
	}
	if p, err = s.decide(ctx, b, facts, back); err != nil || len(p.Changes) == 0 {
		return p, b.to, err
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return p, 0, err
	}
	return p, b.to, s.sessions.Save(ctx, w, b.to, raw)
}
