package storetest

import (
	"context"
	"fmt"
	"time"

	"github.com/memoryd/memoryd/memory"
)

var _ memory.Movable = (*reference)(nil)

// open opens the place for a model: the first one, or the one that it was moved
// to since.
func (r *reference) open(model memory.Model) (memory.Store, error) {
	if r.model == (memory.Model{}) {
		r.model = model
	}
	if r.model != model {
		return nil, fmt.Errorf("it is of %v", r.model)
	}
	r.moved = false
	return r, nil
}

// Model implements memory.Movable.
func (r *reference) Model() memory.Model {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.model
}

// referenceMove keeps the words and vectors of the other model in the records.
type referenceMove struct {
	r  *reference
	to memory.Model
}

// Move implements memory.Movable. A move to the model of the last one continues
// that.
func (r *reference) Move(_ context.Context, to memory.Model) (memory.Move, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next == nil || r.next.to != to {
		r.cancel()
		r.next = &referenceMove{r, to}
	}
	return r.next, nil
}

// CancelMove implements memory.Movable.
func (r *reference) CancelMove(context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cancel()
	return nil
}

// cancel forgets the move and the words and vectors it has made. The caller
// holds the lock.
func (r *reference) cancel() {
	r.next = nil
	for _, scope := range r.scopes {
		for _, rec := range scope {
			rec.next = nil
		}
	}
}

// behind gives the memories that were not indexed yet or have changed since,
// and all of them.
func (m *referenceMove) behind() (some, all []*record) {
	for _, scope := range m.r.scopes {
		for _, rec := range scope {
			if rec.last().Action == memory.Deleted {
				continue
			}
			all = append(all, rec)
			if rec.next == nil || rec.next.Memory.Revision != rec.last().Revision {
				some = append(some, rec)
			}
		}
	}
	return some, all
}

// Step implements memory.Move. The indexer runs without the lock, so that
// writes go on. A memory that changes meanwhile is behind again, as its
// revision shows.
func (m *referenceMove) Step(ctx context.Context, index memory.Indexer) (int, error) {
	m.r.mu.Lock()
	if m.r.next != m {
		m.r.mu.Unlock()
		return 0, memory.ErrAborted
	}
	some, _ := m.behind()
	some = some[:min(len(some), 100)]
	records := make([]memory.Record, len(some))
	for i, rec := range some {
		records[i].Memory = rec.last().Memory.Clone()
		if m.r.model.SameEmbedder(m.to) {
			records[i].Vector = rec.vector
		}
	}
	m.r.mu.Unlock()
	if len(some) == 0 {
		return 0, nil
	}
	if err := index(ctx, records); err != nil {
		return 0, err
	}
	m.r.mu.Lock()
	defer m.r.mu.Unlock()
	for i, rec := range some {
		rec.next = &records[i] // of an earlier revision perhaps, and behind again
	}
	return len(some), nil
}

// Finish implements memory.Move. Writes fail while it takes the last steps, so
// it comes to an end.
func (m *referenceMove) Finish(ctx context.Context, index memory.Indexer) error {
	m.r.drain(true)
	for n := 1; n > 0; {
		var err error
		if n, err = m.Step(ctx, index); err != nil {
			m.r.drain(false)
			return err
		}
	}
	m.r.mu.Lock()
	defer m.r.mu.Unlock()
	for _, scope := range m.r.scopes {
		for _, rec := range scope {
			if rec.terms, rec.vector = nil, nil; rec.next != nil {
				rec.terms, rec.vector = rec.next.Terms, rec.next.Vector
			}
		}
	}
	m.r.cancel()
	m.r.model = m.to
	return nil
}

// drain begins or ends a time in which nothing can be written.
func (r *reference) drain(draining bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.moved = draining
}

// Progress implements memory.Move.
func (m *referenceMove) Progress(context.Context) (done, total int, err error) {
	m.r.mu.Lock()
	defer m.r.mu.Unlock()
	behind, all := m.behind()
	return len(all) - len(behind), len(all), nil
}

// Reclaim implements memory.Move. The old words and vectors are gone with
// Finish.
func (m *referenceMove) Reclaim(context.Context) (bool, error) { return false, nil }

// Audit implements memory.Audited: what is kept in memory is not damaged.
func (r *reference) Audit(ctx context.Context, yield func(memory.Record) error, _ func(memory.Finding)) error {
	return r.Export(ctx, yield)
}

// Removed implements memory.Audited.
func (r *reference) Removed(context.Context) (time.Time, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.removed, nil
}
