package ingest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/extract/canonical"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// processBatch makes memories of the next batch of a session's events, and moves
// the done mark behind them. Repeating it from any step gives the same memories.
func (s *Service) processBatch(ctx context.Context, w sessionstore.Work) (to int64, err error) {
	p := plan{}
	if w.Plan != nil {
		to = w.PlanTo
		if err := json.Unmarshal(w.Plan, &p); err != nil {
			return 0, err
		}
	}
	if !p.Decided {
		spent := p.Cost
		if p, to, err = s.prepare(ctx, w, p); err != nil {
			if p.Cost != spent && ctx.Err() == nil { // what it took is told, whatever comes of it
				if err := s.save(ctx, w, to, p); err != nil {
					s.opts.Log.Warn("what a model has cost is not counted", "session", w.Key.ID, "app", w.Key.App, "user", w.Key.User, "err", err)
				}
			}
			if s.opts.Fallback != nil && ctx.Err() == nil && !errors.Is(err, errStoreAway) && !errors.Is(err, memory.ErrAborted) {
				if err := s.fillIn(ctx, w); err != nil {
					s.opts.Log.Warn("nothing stands in for what the extractor has not found", "session", w.Key.ID, "app", w.Key.App, "user", w.Key.User, "err", err)
				}
			}
			return 0, err
		}
	}
	changes, err := s.apply(ctx, w, p)
	if err == nil && w.Plan != nil {
		var more []sessionstore.Change
		more, err = s.reconcile(ctx, w, to, p)
		changes = append(changes, more...)
	}
	if err != nil {
		return 0, err
	}
	return to, s.sessions.Finish(ctx, w, to, changes)
}

// reconcile works out anew which facts hold that a plan has touched: between its
// making and its carrying out other work of the scope may have had its turn.
func (s *Service) reconcile(ctx context.Context, w sessionstore.Work, to int64, p plan) ([]sessionstore.Change, error) {
	b, err := s.read(ctx, w, to)
	if err != nil {
		return nil, err
	}
	d := s.decision(b, w.Request.DisableConsolidation)
	var marks []string
	for _, t := range b.turns {
		for _, text := range canonical.ForgetRequests(t.Text) {
			marks = append(marks, canonical.TextKey(text), canonical.ForgetKey(text))
		}
	}
	for i := range p.Changes {
		marks = append(marks, d.form(p.Changes[i].Memory.Fact).LookupKeys()...)
	}
	if err := d.learn(ctx, marks); err != nil {
		return nil, err
	}
	for i := range p.Changes {
		// What a model has seen to end a memory was left out if that changed.
		c := &p.Changes[i].Memory
		now, by := d.known[c.ID], d.known[c.SupersededBy]
		if now != nil && by != nil && !saidAgain(c) && !saidAgain(now) && (now.ValidTo.IsZero() || c.ValidTo.Before(now.ValidTo)) {
			d.supersede(d.entry(b.to, now), &entry{now: *by}, p.Changes[i].Reason)
		}
	}
	d.forget(nil)
	d.arrange()
	return s.apply(ctx, w, plan{Changes: d.changes()})
}

// batch is some events of a session, in the order in which they were said.
type batch struct {
	work   sessionstore.Work
	key    sessionstore.Key // of the session that its events are of
	events []sessionstore.NumberedEvent
	turns  []extract.Turn
	given  []extract.Fact
	to     int64            // the highest number among them
	seq    map[string]int64 // of each event id
}

// read gives the next events that wait, up to a number if that is given.
func (s *Service) read(ctx context.Context, w sessionstore.Work, to int64) (*batch, error) {
	limit := min(int64(s.opts.BatchEvents), w.Requested-w.Done)
	if to > 0 {
		limit = to - w.Done
	}
	events, err := s.sessions.Events(ctx, w, w.Done, int(limit))
	if err != nil {
		return nil, err
	}
	if to == 0 {
		events = s.affordable(w, events)
	}
	if len(events) == 0 {
		// The marks say there are some: the work has changed hands.
		return nil, memory.ErrAborted
	}
	return batchOf(w, events), nil
}

func batchOf(w sessionstore.Work, events []sessionstore.NumberedEvent) *batch {
	b := &batch{work: w, key: w.Key, events: events, to: events[len(events)-1].Seq, seq: map[string]int64{}}
	slices.SortFunc(b.events, inOrder)
	for _, e := range events {
		b.seq[e.ID] = e.Seq
		if t, ok := extract.ReadTurn(b.key.ID, e.Event); ok {
			b.turns = append(b.turns, t)
		} else if f, ok := given(b.key.ID, e.Event); ok && w.Request.Facts {
			b.given = append(b.given, f)
		}
	}
	return b
}

// affordable is as many events as the extractor takes in one batch, at least
// one; half as many after each attempt that failed, as an answer may have been
// too long.
func (s *Service) affordable(w sessionstore.Work, events []sessionstore.NumberedEvent) []sessionstore.NumberedEvent {
	budget := s.extractor.Budget() >> min(max(0, w.Attempts-1), 3)
	if budget == 0 {
		return events
	}
	for i, e := range events {
		if budget -= extract.Tokens(e.Text()); budget < 0 && i > 0 {
			return events[:i]
		}
	}
	return events
}

// inOrder is the order in which events were said, whatever order they arrived in.
func inOrder(a, b sessionstore.NumberedEvent) int {
	if c := a.Timestamp.Compare(b.Timestamp); c != 0 {
		return c
	}
	return cmp.Compare(a.Seq, b.Seq)
}

// before is how many events before a batch a model is shown some of.
const before = 20

// prepare puts a batch's turns into memory, decides what else changes, and
// stores that decision.
//
// It begins with what an earlier try has found out; also where it fails it gives
// what is known by then, and what that has cost.
func (s *Service) prepare(ctx context.Context, w sessionstore.Work, p plan) (_ plan, to int64, err error) {
	if p.Found != nil {
		to = w.PlanTo
	}
	b, err := s.read(ctx, w, to)
	if err != nil {
		return p, 0, err
	}
	if err := s.putMissing(ctx, b.key, b.turns); err != nil {
		return p, 0, err
	}
	back, err := s.rewound(ctx, b)
	if err != nil {
		return p, 0, err
	}
	d := s.decision(b, w.Request.DisableConsolidation)
	if err := d.takeBack(ctx, back); err != nil {
		return p, 0, err
	}
	if p.Found == nil {
		earlier, err := s.earlier(ctx, w, back)
		if err != nil {
			return p, 0, err
		}
		found, err := d.find(ctx, earlier, back)
		p.Cost.Usage = p.Cost.Usage.Add(found.Usage)
		if err != nil {
			return p, b.to, err
		}
		found.Exchanges = nil
		p.Found, p.Cost.FactsDropped = found, found.Dropped
		if found.Calls > 0 { // a model is not asked twice, should the rest fail
			if err := s.save(ctx, w, b.to, p); err != nil {
				return p, b.to, err
			}
		}
	}
	changes, err := d.settle(ctx, p.Found)
	p.Cost.Usage = p.Cost.Usage.Add(d.cost.Usage)
	if err != nil {
		return p, b.to, err
	}
	p = plan{Decided: true, Changes: changes, Cost: p.Cost}
	if len(changes) == 0 {
		return p, b.to, nil
	}
	return p, b.to, s.save(ctx, w, b.to, p)
}

func (s *Service) save(ctx context.Context, w sessionstore.Work, to int64, p plan) error {
	raw, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return s.sessions.Save(ctx, w, to, raw)
}

// earlier is the turns before a batch, for an extractor that makes use of them.
func (s *Service) earlier(ctx context.Context, w sessionstore.Work, back map[string]time.Time) ([]extract.Turn, error) {
	from := max(0, w.Done-before)
	if s.extractor.Budget() == 0 || from == w.Done {
		return nil, nil
	}
	events, err := s.sessions.Events(ctx, w, from, int(w.Done-from))
	if err != nil {
		return nil, err
	}
	var out []extract.Turn
	slices.SortFunc(events, inOrder)
	for _, e := range events {
		if t, ok := extract.ReadTurn(w.Key.ID, e.Event); ok && back[e.ID].IsZero() {
			out = append(out, t)
		}
	}
	return out, nil
}

// find has the extractor read the batch, but for what is taken back.
func (d *decision) find(ctx context.Context, earlier []extract.Turn, back map[string]time.Time) (*extract.Found, error) {
	eb := extract.Batch{Before: earlier}
	for _, t := range d.batch.turns {
		if back[t.EventID].IsZero() {
			eb.Turns = append(eb.Turns, t)
		}
	}
	found, err := d.extractor.Extract(ctx, eb)
	if d.opts.Fallback != nil && d.batch.work.Attempts >= d.opts.MaxAttempts && (errors.Is(err, extract.ErrRefused) || errors.Is(err, extract.ErrUnreadable)) {
		// It is there, and will not read this: what follows is not to wait for ever.
		d.opts.Log.Error("the fallback reads what the model will not", "session", d.batch.key.ID, "app", d.batch.key.App, "user", d.batch.key.User, "err", err)
		found, err = d.opts.Fallback.Extract(ctx, eb)
	}
	found.Facts = append(found.Facts, d.batch.given...)
	return &found, err
}

// settle makes changes of what was found.
func (d *decision) settle(ctx context.Context, found *extract.Found) ([]change, error) {
	d.cost.Repaired = found.Repaired
	settled, err := d.retire(ctx)
	if err != nil {
		return nil, err
	}
	candidates := slices.DeleteFunc(d.candidatesOf(found.Facts), func(c candidate) bool {
		quote := c.memory.Source.Quote
		return slices.ContainsFunc(settled, func(s memory.Source) bool {
			return s.EventIDs[0] == c.memory.Source.EventIDs[0] && (strings.Contains(s.Quote, quote) || strings.Contains(quote, s.Quote))
		})
	})
	if err := d.decide(ctx, candidates); err != nil {
		return nil, err
	}
	return d.changes(), nil
}
