package vertex

import (
	"context"
	"fmt"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// ingestIn is the body of a request that adds events to a stream. Without events it sets the rule of
// the stream, or flushes it.
type ingestIn struct {
	Scope    map[string]string `json:"scope"`
	StreamID string            `json:"streamId"` // "" is the stream "default"
	Contents *contents         `json:"directContentsSource"`
	// Trigger is kept with the stream until a request brings another.
	Trigger *struct {
		Rule *triggerRule `json:"generationRule"`
	} `json:"generationTriggerConfig"`
	// ForceFlush makes the memories at once of all that waits.
	ForceFlush bool `json:"forceFlush"`
	generateOptions
}

// triggerRule says when the memories of a stream are made: when the first of its conditions holds.
type triggerRule struct {
	EventCount int       `json:"eventCount"`    // so many events wait
	Idle       *Duration `json:"idleDuration"`  // no event has come for so long
	Interval   *Duration `json:"fixedInterval"` // the first event that waits came so long ago
	// Overlap is how many of the events before are shown to the extractor again.
	Overlap int `json:"overlapEventCount"`
}

// native is the trigger of a rule.
func (t *triggerRule) native() (*sessionstore.Trigger, error) {
	out := &sessionstore.Trigger{Count: t.EventCount, Overlap: t.Overlap}
	const at = "generationTriggerConfig.generationRule"
	if t.Idle != nil {
		out.Idle = t.Idle.Duration
	}
	if t.Interval != nil {
		if out.Every = t.Interval.Duration; out.Every <= 0 || out.Every%time.Minute != 0 {
			return nil, invalid("%s.fixedInterval: want whole minutes, such as \"60s\", not %v", at, out.Every)
		}
	}
	if t.Idle != nil && t.Interval != nil {
		return nil, invalid("%s: idleDuration and fixedInterval exclude each other", at)
	}
	if err := out.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	return out, nil
}

// streamOf is the id of the session that holds a stream.
func streamOf(stream string) (string, error) {
	if stream == "" {
		stream = "default"
	}
	id := sessionstore.StreamPrefix + escapeRunes(escape(stream, func(_ int, c byte) bool {
		return c == '/' || c < ' ' || c == 0x7f
	}))
	if err := memory.ValidateID("stream", id); err != nil {
		return "", err
	}
	return id, nil
}

// ingestEvents carries out IngestEvents. The events are stored when it returns, and their memories are
// made when the rule of the stream says so.
func (s *Service) ingestEvents(ctx context.Context, call *Call) (any, error) {
	if r := call.Resource; r.Kind != "" && r.Kind != "memories" || r.ID != "" {
		return nil, notHere(call)
	}
	var in ingestIn
	if err := Decode(call.Body, &in); err != nil {
		return nil, err
	}
	opts, err := in.native(s.opts.Now())
	if err != nil {
		return nil, err
	}
	ctx, scope, err := s.within(ctx, call.Resource.Engine, in.Scope)
	if err != nil {
		return nil, err
	}
	if in.Trigger != nil && in.Trigger.Rule != nil {
		if opts.Trigger, err = in.Trigger.Rule.native(); err != nil {
			return nil, err
		}
	}
	if err := s.ingest.CheckRequest(ctx, scope, opts); err != nil {
		return nil, err
	}
	var events []sessionstore.Event
	if in.Contents != nil {
		if events, err = in.Contents.native(scope.User, s.opts.Now()); err != nil {
			return nil, err
		}
	}
	key := sessionstore.Key{Scope: scope}
	if key.ID, err = streamOf(in.StreamID); err != nil {
		return nil, err
	}
	opts.Flush = in.ForceFlush
	op, err := s.ingest.Ingest(ctx, key, events, opts)
	if err != nil {
		return nil, err
	}
	return s.awaited(ctx, call.Resource, op, in.Scope)
}
