package fair

import (
	"sync"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// Fits reports whether an app that has some of a thing may take n more of it where
// free are free: it may have as many as then stay free, so that one that comes new
// finds room, and alone it can have half. One that has none may take all that are free.
// (Dynamic thresholds, of Choudhury and Hahne, 1998.)
func Fits(has, n, free int64) bool { return n <= free && (has == 0 || has+n <= free-n) }

// Places bounds how many requests are in progress. An app may have as many as there
// are places free: alone it can have half of them, beside one other a third, and one
// that comes new always finds room; see Fits.
type Places struct {
	total int

	mu      sync.Mutex
	used    int
	apps    map[string]int
	refused int64
}

// NewPlaces makes Places.
func NewPlaces(total int) *Places { return &Places{total: total, apps: map[string]int{}} }

// PlacesStats are figures of Places.
type PlacesStats struct {
	Used, Total int
	Refused     int64 // since the start
}

// Stats returns the figures.
func (p *Places) Stats() PlacesStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return PlacesStats{p.used, p.total, p.refused}
}

// Take takes a place for a request of an app, until free is called. The error is a
// memory.Refusal.
func (p *Places) Take(app string) (free func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if has := p.apps[app]; !Fits(int64(has), 1, int64(p.total-p.used)) {
		p.refused++
		return nil, memory.Refuse(time.Second, "this app has %d requests in progress, and %d of %d places are free:"+
			" -requests sets how many there are", has, p.total-p.used, p.total)
	}
	p.used++
	p.apps[app]++
	return func() { p.give(app) }, nil
}

// give gives a place back.
func (p *Places) give(app string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used--
	if p.apps[app]--; p.apps[app] == 0 {
		delete(p.apps, app)
	}
}
