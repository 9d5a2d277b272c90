package fair

import (
	"sync"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// Places bounds how many requests are in progress, and shares the places between apps
// and their users; see Shares.
type Places struct {
	total int

	mu      sync.Mutex
	shares  *Shares
	refused int64
}

// NewPlaces makes Places.
func NewPlaces(total int) *Places { return &Places{total: total, shares: NewShares(int64(total))} }

// PlacesStats are figures of Places.
type PlacesStats struct {
	Used, Total int
	Refused     int64 // since the start
}

// Stats returns the figures.
func (p *Places) Stats() PlacesStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return PlacesStats{p.total - int(p.shares.Free()), p.total, p.refused}
}

// Take takes a place for a request of a scope, until free is called. The error is a
// memory.Refusal.
func (p *Places) Take(scope memory.Scope) (free func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.shares.Fits(scope, 1, 0) {
		p.refused++
		app, user := p.shares.Has(scope)
		return nil, memory.Refuse(time.Second, "this user has %d requests in progress and this app %d,"+
			" and %d of %d places are free: -requests sets how many there are", user, app, p.shares.Free(), p.total)
	}
	p.shares.Add(scope, 1)
	return func() { p.give(scope) }, nil
}

// give gives a place back.
func (p *Places) give(scope memory.Scope) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shares.Add(scope, -1)
}
