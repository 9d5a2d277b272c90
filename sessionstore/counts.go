package sessionstore

import "sync/atomic"

// OperationCounts counts the operations that a store has brought into a state since
// it was opened, for metrics. The zero value has none.
type OperationCounts struct{ requested, succeeded, failed atomic.Int64 }

// Requested counts a new operation. One without work has succeeded at once.
func (c *OperationCounts) Requested(state OperationState) {
	c.requested.Add(1)
	if state == Succeeded {
		c.succeeded.Add(1)
	}
}

// Succeeded counts n operations that have succeeded.
func (c *OperationCounts) Succeeded(n int64) { c.succeeded.Add(n) }

// Failed counts n operations that have failed. One that is retried may fail again.
func (c *OperationCounts) Failed(n int64) { c.failed.Add(n) }

// ByState returns the counts by the state that operations came into. All new ones
// were Pending.
func (c *OperationCounts) ByState() map[OperationState]int64 {
	return map[OperationState]int64{
		Pending: c.requested.Load(), Succeeded: c.succeeded.Load(), Failed: c.failed.Load(),
	}
}
