package ingest

import (
	"maps"
	"time"
)

// The outcomes of batches, as BatchStats has them.
const (
	batchDone    = "done"
	batchFailed  = "failed"   // to be tried again
	batchGivenUp = "given_up" // until a client asks again
	batchLost    = "lease_lost"
	batchStopped = "stopped" // by the end of the process, which comes in the middle
)

// BatchStats are figures of the batches of events that this process has worked on.
type BatchStats struct {
	Running int              // now
	Ended   map[string]int64 // by outcome: done, failed, given_up, lease_lost or stopped
	Events  int64            // that have become memories
	Busy    time.Duration    // of all batches together
}

// BatchStats returns the figures since the start.
func (s *Service) BatchStats() BatchStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.batches
	out.Ended = map[string]int64{batchDone: 0, batchFailed: 0, batchGivenUp: 0, batchLost: 0, batchStopped: 0}
	maps.Copy(out.Ended, s.batches.Ended)
	out.Running = len(s.leased)
	return out
}

// count counts a batch that has ended. Only one that is done has events to count.
func (s *Service) count(outcome string, events int64, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.batches.Ended[outcome]++
	s.batches.Busy += took
	if outcome == batchDone {
		s.batches.Events += events
	}
}
