package quota

import (
	"context"
	"sync"
	"time"
)

// Local counts in this process.
type Local struct {
	now func() time.Time

	mu      sync.Mutex
	buckets map[place]time.Time // when the bucket will be full
	rooms   map[place]int64     // places taken
	day     int64               // since 1970, of spent
	spent   map[place]int64
	swept   int // buckets that were left after the last sweep
}

// place names a gate.
type place struct{ app, gate string }

var _ Counter = (*Local)(nil)

// NewLocal makes a Local with a clock; nil is time.Now.
func NewLocal(now func() time.Time) *Local {
	if now == nil {
		now = time.Now
	}
	return &Local{now: now, buckets: map[place]time.Time{}, rooms: map[place]int64{},
		spent: map[place]int64{}}
}

// Pass implements Counter. Its buckets are those of the generic cell rate algorithm: of
// each is kept when it will be full again. That lies no further ahead than an empty
// bucket takes.
func (l *Local) Pass(_ context.Context, app, _ string, gates []Gate) (full int, after time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	next := make([]time.Time, len(gates))
	for i, g := range gates {
		at := place{app, g.Name}
		if g.Every == 0 {
			if l.rooms[at] >= g.Size {
				return i, 0, nil
			}
			continue
		}
		full, whole := l.buckets[at], time.Duration(g.Size)*g.Every
		if empty := now.Add(whole); full.After(empty) {
			full = empty // a clock that was ahead has filled it
			l.buckets[at] = full
		} else if full.Before(now) {
			full = now
		}
		next[i] = full.Add(g.Every)
		if wait := next[i].Sub(now) - whole; wait > 0 {
			return i, wait, nil
		}
	}
	for i, g := range gates {
		at := place{app, g.Name}
		if g.Every == 0 {
			l.rooms[at]++
		} else {
			l.buckets[at] = next[i]
		}
	}
	l.sweep(now)
	return -1, 0, nil
}

// Leave implements Counter.
func (l *Local) Leave(app, _ string, gates []Gate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, g := range gates {
		if at := (place{app, g.Name}); g.Every == 0 {
			if l.rooms[at]--; l.rooms[at] <= 0 {
				delete(l.rooms, at)
			}
		}
	}
}

// Used implements Counter.
func (l *Local) Used(_ context.Context, app string, gates []Gate, names []string) ([]Used, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	var out []Used
	for _, g := range gates {
		if at := (place{app, g.Name}); g.Every == 0 {
			out = append(out, Used{N: l.rooms[at]})
		} else {
			out = append(out, BucketUsed(g, l.buckets[at].Sub(now)))
		}
	}
	l.begin(now) // a day that is over has nothing to tell
	for _, name := range names {
		out = append(out, Used{l.spent[place{app, name}], l.dayEnd().Sub(now)})
	}
	return out, nil
}

// minSweep is how many buckets there are at least before full ones are removed. Each
// takes some 150 bytes.
const minSweep = 10_000

// sweep removes buckets that are full, once there are twice as many as after the last
// sweep. The caller holds l.mu.
func (l *Local) sweep(now time.Time) {
	if len(l.buckets) < max(minSweep, 2*l.swept) {
		return
	}
	for at, full := range l.buckets {
		if !full.After(now) {
			delete(l.buckets, at)
		}
	}
	l.swept = len(l.buckets)
}

// Spend implements Counter.
func (l *Local) Spend(_ context.Context, app string, amounts []Amount) (full int, after time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	l.begin(now)
	for i, a := range amounts {
		if a.Most > 0 && l.spent[place{app, a.Name}] >= a.Most {
			return i, l.dayEnd().Sub(now), nil
		}
	}
	for _, a := range amounts {
		if a.Add != 0 {
			l.spent[place{app, a.Name}] += a.Add
		}
	}
	return -1, 0, nil
}

const daySeconds = int64(24 * time.Hour / time.Second)

// begin clears the amounts of a day that is over. The caller holds l.mu.
func (l *Local) begin(now time.Time) {
	today := now.Unix() / daySeconds
	if today > l.day || l.day > today+1 { // it is over, or a clock that was ahead has begun it
		l.day = today
		clear(l.spent)
	}
}

// dayEnd is when the day of the amounts ends. The caller holds l.mu.
func (l *Local) dayEnd() time.Time { return time.Unix((l.day+1)*daySeconds, 0) }
