package ingest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/memoryd/memoryd/appconfig"
	"github.com/memoryd/memoryd/consolidate"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/extract/canonical"
	"github.com/memoryd/memoryd/internal/tracing"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// batch is some events of a session, in the order in which they were said.
type batch struct {
	work       sessionstore.Work
	key        sessionstore.Key // of the session that its events are of
	events     []sessionstore.NumberedEvent
	turns      []extract.Turn
	givenFacts []extract.Fact
	last       int64            // the highest number among the events
	seq        map[string]int64 // of each event ID
	// takenBack has the events of the session that rewinds take back, and when
	// they were said.
	takenBack map[string]time.Time
	received  map[string]receipt // what is known of turns, by event
	// policy, config, ttl and overlap are what the app and the request say of its facts; see configure.
	policy  *extract.Policy
	config  *appconfig.Config
	ttl     appconfig.TTL
	overlap int // of the app's triggers
}

// nextBatch reads the next events that wait, up to the number to if that is not
// 0. It returns ErrAborted if there are none: another worker has done the work.
func (s *Service) nextBatch(ctx context.Context, w sessionstore.Work, to int64) (b *batch, err error) {
	ctx, span := tracing.Start(ctx, "read events")
	defer func() { span.End(err) }()
	limit := min(int64(s.opts.BatchEvents), alike(w)-w.Done)
	if to > 0 {
		limit = to - w.Done
	}
	// The store ends a batch early that has many bytes. A batch whose plan is stored
	// is read to its end.
	var events []sessionstore.NumberedEvent
	for after := w.Done; len(events) == 0 || after < to; {
		some, err := s.sessions.Events(ctx, w, after, int(w.Done+limit-after))
		if err != nil {
			return nil, err
		}
		if len(some) == 0 {
			break
		}
		events = append(events, some...)
		after = some[len(some)-1].Seq
	}
	if to == 0 {
		events = s.withinBudget(w, events)
	}
	if len(events) == 0 {
		return nil, memory.ErrAborted
	}
	return newBatch(w, events), nil
}

func newBatch(w sessionstore.Work, events []sessionstore.NumberedEvent) *batch {
	b := &batch{work: w, key: w.Key, events: events, last: events[len(events)-1].Seq, seq: map[string]int64{}}
	slices.SortFunc(b.events, chronological)
	for _, e := range events {
		b.seq[e.ID] = e.Seq
		if t, ok := extract.ReadTurn(b.key.ID, e.Event); ok {
			b.turns = append(b.turns, t)
		} else if f, ok := readGivenFact(b.key.ID, e.Event); ok && w.Request.Facts {
			b.givenFacts = append(b.givenFacts, f)
		}
	}
	return b
}

// chronological is the order in which events were said, whatever order they
// arrived in.
func chronological(a, b sessionstore.NumberedEvent) int {
	return cmp.Or(a.Timestamp.Compare(b.Timestamp), cmp.Compare(a.Seq, b.Seq))
}

// withinBudget returns as many of the first events as the extractor takes in one
// batch, at least one. After each failed attempt it halves the batch, down to an
// eighth, as the model's answer may have been too long.
func (s *Service) withinBudget(w sessionstore.Work, events []sessionstore.NumberedEvent) []sessionstore.NumberedEvent {
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

// exact reports whether facts of other metadata stay beside those of the batch.
func (b *batch) exact() bool { return b.work.Request.MetadataMerge == sessionstore.MergeExact }

// damaged counts the events that the store can no longer read.
func (b *batch) damaged() (n int) {
	for _, e := range b.events {
		if e.Damaged() {
			n++
		}
	}
	return n
}

// standingTurns are the turns that no rewind takes back and that are not hidden.
func (b *batch) standingTurns() (out []extract.Turn) {
	for _, t := range b.turns {
		if b.takenBack[t.EventID].IsZero() && !b.hides(t) {
			out = append(out, t)
		}
	}
	return out
}

// hides reports whether a turn is quarantined, or was rejected.
func (b *batch) hides(t extract.Turn) bool {
	if r, known := b.received[t.EventID]; known {
		return r.hidden
	}
	m := turnMemory(b.key, t)
	return m.State.Hidden()
}

// newFacts makes memories of facts that were found in the batch. An event says
// each thing once.
func (b *batch) newFacts(facts []extract.Fact, forms consolidate.Forms) (out []consolidate.Fact) {
	type wording struct{ event, quote string }
	ordinals := map[wording]int{}
	seen := map[string]bool{}
	for i := range facts {
		f := &facts[i]
		event := f.EventIDs[0]
		statement := fmt.Sprintf("%s\x00%t\x00%s", event, f.Forget, forms.Of(f.Text).Text)
		if seen[statement] {
			continue
		}
		seen[statement] = true
		words := wording{event, f.Quote}
		received := b.received[event].at
		if !f.Timestamp.After(received) {
			received = time.Time{} // the clock may be right
		}
		id := factID(b.key, event, f.Quote, ordinals[words])
		if f.Forget {
			wish := canonical.WishOf(f.Text)
			id = requestID(b.key, event, wish.Everything)
		}
		out = append(out, consolidate.Fact{Seq: b.seq[event], Forget: f.Forget, Memory: memory.Memory{
			ID: id, Scope: b.key.Scope, Kind: memory.KindFact,
			Fact: memory.Cut(f.Text, memory.MaxFact), Author: f.Author, Topics: f.Topics,
			Timestamp: f.Timestamp.UTC(), UTCOffset: memory.OffsetOf(f.Timestamp),
			ReceiveTime: received, ValidFrom: f.ValidFrom.UTC(), Trust: f.Trust.Source(),
			Source:   memory.Source{SessionID: b.key.ID, EventIDs: f.EventIDs, Quote: f.Quote},
			Metadata: maps.Clone(b.work.Request.Metadata),
		}})
		ordinals[words]++
	}
	return out
}
