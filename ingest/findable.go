package ingest

import (
	"context"
	"errors"
	"time"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/internal/tracing"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Limits on the time that a request waits until its turns can be found, where the
// memories are in a store of their own. The events are stored by then, and
// processing writes the turns in any case. So a slow memory store delays an answer
// by this much at most. Measured over Redis and Qdrant with 100 clients on two
// cores, most turns are written after 150 ms, and nearly all after 500.
const (
	findableBase = 500 * time.Millisecond
	findablePer  = time.Millisecond // more for each turn
	maxFindable  = 1000             // events
)

// request stores events and requests memories as how says. The operation that it
// returns is Findable if the turns of the request can be found: of the events in
// the call, or, if it has none, of all events that the operation is about.
func (s *Service) request(
	ctx context.Context, key sessionstore.Key, events []sessionstore.Event, how sessionstore.Append,
) (*sessionstore.Operation, error) {
	done, err := s.appendAndRequest(ctx, key, events, how)
	return done.Operation, err
}

// appendAndRequest is request, and returns all that was stored.
func (s *Service) appendAndRequest(
	ctx context.Context, key sessionstore.Key, events []sessionstore.Event, how sessionstore.Append,
) (done sessionstore.Appended, err error) {
	if err := s.roomForMore(ctx, key.Scope); err != nil {
		return done, err
	}
	// Before turns are made of them, whose ids derive from the text.
	if events, err = s.redact.Events(ctx, key.App, events); err != nil {
		return done, err
	}
	ctx, span := tracing.Start(ctx, "append")
	span.Int("memoryd.events", len(events))
	store := s.appendThenPut
	if s.opts.Together != nil {
		store = s.appendTogether
	}
	done, err = store(ctx, key, events, how)
	span.End(err)
	s.wake()
	if err == nil {
		done.Operation.Quarantined = done.Operation.Quarantined || s.quarantined(ctx, key, events)
	}
	if err == nil && !done.Operation.Findable {
		s.findableLate.Add(1)
	}
	return done, err
}

// FindableLate counts the requests since the process started that were answered
// before their turns could be found.
func (s *Service) FindableLate() int64 { return s.findableLate.Load() }

// appendThenPut stores events, and then their turns within a short time.
func (s *Service) appendThenPut(
	ctx context.Context, key sessionstore.Key, events []sessionstore.Event, how sessionstore.Append,
) (sessionstore.Appended, error) {
	done, err := s.sessions.Append(ctx, key, events, how)
	if err != nil {
		return sessionstore.Appended{}, err
	}
	if done.Operation.EventsTotal == 0 { // all that the session has is in memory
		done.Operation.Findable = true
		return done, nil
	}
	done.Requested.Request = done.Operation.Request
	if err := s.findable(ctx, done); err != nil {
		s.log(ctx, key).Warn("turns can be found only after processing", "err", err)
		return done, nil
	}
	done.Operation.Findable = true
	return done, nil
}

// errTooManyTurns is the error of findable for more events than it waits for.
var errTooManyTurns = errors.New("too many events to wait for")

// findable puts the turns of a request into memory before they are processed,
// with vectors if that takes no remote call.
func (s *Service) findable(ctx context.Context, done sessionstore.Appended) error {
	if len(done.Events) > 0 {
		return s.putFindable(ctx, done.Requested, done.Events)
	}
	// Those that wait, some at a time: they may have any number of bytes.
	ctx, cancel := context.WithTimeout(ctx, findableBase+maxFindable*findablePer)
	defer cancel()
	for w, n := done.Requested, 0; w.Done < w.Requested; {
		waiting, err := s.sessions.Events(ctx, w, w.Done, maxFindable+1-n)
		if err != nil || len(waiting) == 0 {
			return err
		}
		var events []sessionstore.Event
		for _, e := range waiting {
			events = append(events, e.Event)
			w.Done = e.Seq
		}
		if err := s.putFindable(ctx, w, events); err != nil {
			return err
		}
		done.Operation.Quarantined = done.Operation.Quarantined || s.quarantined(ctx, w.Key, events)
		if n += len(events); n > maxFindable {
			return errTooManyTurns
		}
	}
	return nil
}

// putFindable puts the turns of events into memory within a short time.
func (s *Service) putFindable(ctx context.Context, w sessionstore.Work, events []sessionstore.Event) error {
	more := len(events) > maxFindable
	var turns []extract.Turn
	for _, e := range events[:min(len(events), maxFindable)] {
		if t, ok := extract.ReadTurn(w.Key.ID, e); ok && !e.Partial {
			turns = append(turns, t)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, findableBase+time.Duration(len(turns))*findablePer)
	defer cancel()
	if _, err := s.putTurns(ctx, w, turns, !s.embedder.Model().Remote); err != nil {
		return err
	}
	if more {
		return errTooManyTurns
	}
	return nil
}

// Together is a session store and a memory store in one place, where one step
// writes both, or neither.
type Together interface {
	// AppendTurns is sessionstore.Store.Append with a Request. In the same step it
	// writes the turns of the requested events that were not written so before, from
	// the oldest on: up to the first that turn does not know, and not so many that
	// others wait long. left has the events after that. It is none, its Done equal to
	// its Requested, if all are written.
	//
	// Turns are put by the rules of memory.DecidePut. Turns that the memory store
	// refuses do not stop the events: they are left.
	AppendTurns(ctx context.Context, key sessionstore.Key, events []sessionstore.Event, how sessionstore.Append,
		turn TurnWriter) (done sessionstore.Appended, left sessionstore.Work, err error)

	// PutTurns goes on where AppendTurns has left off, in a step of its own, and
	// returns what is left then.
	PutTurns(ctx context.Context, left sessionstore.Work, turn TurnWriter) (sessionstore.Work, error)

	// Unwritten returns the events of a session that AppendTurns would write the turns
	// of.
	Unwritten(ctx context.Context, key sessionstore.Key) (sessionstore.Work, error)
}

// TurnWriter returns the write of the turn of an event, ready to be stored; nil if
// the event is no turn. It reports false for an event that it has no write of.
type TurnWriter func(e sessionstore.Event) (w *memory.Write, known bool)

const (
	// eventsTogether is how many events have their turns written in one step.
	eventsTogether = 200
	// findableTime bounds the time of a request of more events than that. Its events
	// are stored by then. It is no longer than a request waits for its operation.
	findableTime = 30 * time.Second
)

// appendTogether stores events and their turns in one step, as far as they fit into
// one, and the rest of the turns in further steps.
func (s *Service) appendTogether(
	ctx context.Context, key sessionstore.Key, events []sessionstore.Event, how sessionstore.Append,
) (sessionstore.Appended, error) {
	// With their ids and times, so that the turns can be prepared before the step
	// that holds up other writers.
	events = sessionstore.Prepare(events, s.opts.Now())
	until := time.Now().Add(findableTime)
	first := events
	if len(events) == 0 && !how.OneShot {
		// A session that is missing is for AppendTurns to report.
		if waiting, err := s.opts.Together.Unwritten(ctx, key); err == nil {
			first = s.eventsOf(ctx, waiting)
		}
	}
	done, left, err := s.opts.Together.AppendTurns(ctx, key, events, how, s.turnWriter(ctx, key, how.Request, first))
	if err != nil {
		return sessionstore.Appended{}, err
	}
	if len(events) == 0 {
		done.Operation.Quarantined = s.quarantined(ctx, key, first)
	}
	if err := s.putLeft(ctx, left, how.Request, until); err != nil {
		s.log(ctx, key).Warn("turns can be found only after processing", "err", err)
		return done, nil
	}
	done.Operation.Findable = true
	return done, nil
}

// errNoProgress is the error of turns that are not written, for a reason that the
// next attempt may not have.
var errNoProgress = errors.New("no turn was written")

// putLeft writes the turns that are left of a request, until a time.
func (s *Service) putLeft(ctx context.Context, left sessionstore.Work, r *sessionstore.Request, until time.Time,
) error {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	for left.Done < left.Requested {
		events, err := s.sessions.Events(ctx, left, left.Done, eventsTogether)
		if err != nil || len(events) == 0 { // none: the session is gone, and its memories were made before
			return err
		}
		some := make([]sessionstore.Event, len(events))
		for i, e := range events {
			some[i] = e.Event
		}
		was := left.Done
		if left, err = s.opts.Together.PutTurns(ctx, left, s.turnWriter(ctx, left.Key, r, some)); err != nil {
			return err
		}
		if left.Done == was {
			return errNoProgress
		}
	}
	return nil
}

// eventsOf reads the first of the events that wait for their turns.
func (s *Service) eventsOf(ctx context.Context, w sessionstore.Work) (out []sessionstore.Event) {
	if w.Done == w.Requested {
		return nil
	}
	events, err := s.sessions.Events(ctx, w, w.Done, eventsTogether)
	if err != nil {
		return nil // putLeft reads them again
	}
	for _, e := range events {
		out = append(out, e.Event)
	}
	return out
}

// turnWriter prepares the turns of the first eventsTogether events, with vectors if
// that takes no remote call. Turns whose vectors cannot be made go in by words.
func (s *Service) turnWriter(
	ctx context.Context, key sessionstore.Key, r *sessionstore.Request, events []sessionstore.Event,
) TurnWriter {
	docs := map[string][]byte{} // of the events that are prepared, by id
	turns := map[string]*memory.Write{}
	var writes []memory.Write
	for _, e := range events[:min(len(events), eventsTogether)] {
		if _, twice := docs[e.ID]; twice || e.Partial {
			continue
		}
		docs[e.ID] = e.Doc
		if t, ok := extract.ReadTurn(key.ID, e); ok {
			writes = append(writes, memory.Write{Actor: "turns", Memory: turnMemory(key, t), Labels: r.Labels,
				RevisionExpireTime: s.revisionEnd(r)})
		}
	}
	if err := s.index(ctx, writes, !s.embedder.Model().Remote); err != nil {
		s.log(ctx, key).Warn("turns have no vectors until they are processed", "err", err)
	}
	writes = aged(writes, s.configs.Known(ctx, key.App), s.opts.Now())
	for i := range writes {
		turns[writes[i].Memory.Source.EventID()] = &writes[i]
	}
	return func(e sessionstore.Event) (*memory.Write, bool) {
		// An event of the same id may have been stored before, and say something else.
		doc, known := docs[e.ID]
		return turns[e.ID], known && string(doc) == string(e.Doc)
	}
}
