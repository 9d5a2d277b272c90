package sessionstore

import (
	"fmt"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// Trigger says when the memories are made that were asked for: when the first of its
// conditions holds. Without any of Count, Idle and Every that is at once.
type Trigger struct {
	Count   int           // so many events wait
	Idle    time.Duration // no event has come for so long
	Every   time.Duration // the first event that waits came so long ago
	Overlap int           // of the events before a batch, so many are shown with it; 0 leaves it to the worker
}

// Bounds of a Trigger.
const (
	// MaxTriggerWait is for how long no event has come when memories are made whatever
	// the trigger says. It is also the longest Idle.
	MaxTriggerWait  = 24 * time.Hour
	MaxTriggerEvery = 30 * 24 * time.Hour
	MaxTriggerCount = 10_000
	MaxOverlap      = 100
)

// AtOnce reports whether t has no condition.
func (t Trigger) AtOnce() bool { return t.Count == 0 && t.Idle == 0 && t.Every == 0 }

// Validate returns ErrInvalid for the first rule that t breaks.
func (t Trigger) Validate() error {
	switch {
	case t.Count < 0 || t.Count > MaxTriggerCount:
		return fmt.Errorf("%w: trigger: count %d is not 0 to %d", memory.ErrInvalid, t.Count, MaxTriggerCount)
	case t.Idle < 0 || t.Idle > MaxTriggerWait:
		return fmt.Errorf("%w: trigger: idle %v is not 0 to %v", memory.ErrInvalid, t.Idle, MaxTriggerWait)
	case t.Every < 0 || t.Every > MaxTriggerEvery:
		return fmt.Errorf("%w: trigger: every %v is not 0 to %v", memory.ErrInvalid, t.Every, MaxTriggerEvery)
	case t.Idle > 0 && t.Every > 0:
		return fmt.Errorf("%w: trigger: idle and every exclude each other", memory.ErrInvalid)
	case t.Overlap < 0 || t.Overlap > MaxOverlap || t.Count > 0 && t.Overlap >= t.Count:
		return fmt.Errorf("%w: trigger: overlap %d is not 0 to %d, and below count", memory.ErrInvalid, t.Overlap,
			MaxOverlap)
	}
	return nil
}

// Text is t as stores keep it: its four numbers, durations in microseconds.
func (t Trigger) Text() string {
	return fmt.Sprintf("%d %d %d %d", t.Count, t.Idle.Microseconds(), t.Every.Microseconds(), t.Overlap)
}

// ReadTrigger reads what Text made. Anything else is the zero Trigger.
func ReadTrigger(text string) (t Trigger) {
	var idle, every int64
	if _, err := fmt.Sscanf(text, "%d %d %d %d", &t.Count, &idle, &every, &t.Overlap); err != nil {
		return Trigger{}
	}
	t.Idle, t.Every = time.Duration(idle)*time.Microsecond, time.Duration(every)*time.Microsecond
	return t
}

// due is when the memories of n events are made, the first of which came at since and the
// last at last. It is zero if that is at once.
func (t Trigger) due(n int64, since, last time.Time) (due time.Time) {
	if t.AtOnce() || t.Count > 0 && n >= int64(t.Count) {
		return due
	}
	due = last.Add(MaxTriggerWait)
	if t.Idle > 0 {
		due = last.Add(t.Idle)
	}
	if by := since.Add(t.Every); t.Every > 0 && by.Before(due) {
		due = by
	}
	return due
}

// Waiting is how the events of a session wait for its trigger. Events that wait are asked
// for, and not requested yet.
type Waiting struct {
	Trigger Trigger
	Own     bool      // a request has set the trigger for this session
	To      int64     // the number of the last event that waits; 0 if none does
	Since   time.Time // when the first of them came
	Last    time.Time // when the last of them came
	Due     time.Time // when they are requested, if no other event comes; zero if none waits
}

// Ask returns how a session waits after an append that asks for memories, and whether all
// of its events are requested now. requested is its position, seq the number of its last
// event, and fresh tells whether the append has stored an event.
func (w Waiting) Ask(a Append, requested, seq int64, fresh bool, now time.Time) (next Waiting, request bool) {
	now = FromMicros(now.UnixMicro())
	if a.Trigger != nil && (a.OwnTrigger || !w.Own) {
		w.Trigger, w.Own = *a.Trigger, a.OwnTrigger
	}
	if a.Trigger == nil || a.Flush || seq == requested {
		return w.Over(), true
	}
	if w.Due.IsZero() {
		w.Since, fresh = now, true
	}
	if fresh {
		w.Last = now
	}
	if w.Due = w.Trigger.due(seq-requested, w.Since, w.Last); !w.Due.After(now) {
		return w.Over(), true
	}
	w.To = seq
	return w, false
}

// Over returns w without events that wait.
func (w Waiting) Over() Waiting { return Waiting{Trigger: w.Trigger, Own: w.Own} }

// Validate reports the first rule that w breaks in a session with these numbers.
func (w Waiting) Validate(requested, events int64) error {
	if err := w.Trigger.Validate(); err != nil {
		return err
	}
	if w.Due.IsZero() {
		if w != w.Over() {
			return fmt.Errorf("%w: nothing waits for the trigger, and yet up to event %d", memory.ErrInvalid, w.To)
		}
		return nil
	}
	if w.To <= requested || w.To > events {
		return fmt.Errorf("%w: event %d waits for the trigger: want one after requested %d and up to %d",
			memory.ErrInvalid, w.To, requested, events)
	}
	for _, at := range []time.Time{w.Since, w.Last, w.Due} {
		if err := memory.ValidateTime("time of a trigger", at); err != nil {
			return err
		}
	}
	return nil
}
