package ingest

import (
	"context"
	"errors"
	"time"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/memory"
)

const (
	// DefaultSweepAfter is how long an expired memory can still be brought back.
	DefaultSweepAfter = time.Hour
	// sweptTogether is how many memories one call of the store removes.
	sweptTogether = 1000
)

// sweeping sweeps now and then until ctx is done.
func (s *Service) sweeping(ctx context.Context) {
	if s.opts.SweepAfter < 0 {
		return
	}
	tick := time.NewTicker(s.opts.Sweep)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		swept, err := s.Sweep(ctx)
		switch {
		case swept != memory.Erased{}:
			s.opts.Log.Info("expired memories and revisions were removed", "memories", swept.Memories,
				"revisions", swept.Revisions)
		case err != nil && ctx.Err() == nil && !errors.Is(err, memory.ErrUnavailable):
			s.opts.Log.Error("expired memories were not removed: the next sweep tries again", "err", err)
		}
	}
}

// Sweep removes the memories that have expired for Options.SweepAfter, with their
// revisions, and past revisions that have, and returns how many. It acts as memoryd
// itself. Several processes may sweep one store at a time.
func (s *Service) Sweep(ctx context.Context) (out memory.Erased, err error) {
	if s.opts.SweepAfter < 0 {
		return out, nil
	}
	ctx = access.With(ctx, access.System)
	for more := true; more; {
		var some memory.Erased
		some, more, err = s.memories.Sweep(ctx, s.opts.Now().Add(-s.opts.SweepAfter), sweptTogether)
		if out.Add(some); err != nil || !more {
			return out, err
		}
	}
	return out, nil
}
