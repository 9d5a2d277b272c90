// Package quotatest is the suite that every [quota.Counter] passes.
package quotatest

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/memoryd/memoryd/quota"
)

// Harness opens what the suite tests.
type Harness struct {
	// Open returns an empty counter with a clock.
	Open func(t *testing.T, now func() time.Time) quota.Counter
	// Settle waits until places are back that were given back.
	Settle func(quota.Counter)
}

// clock is set by hand.
type clock struct{ micros atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.micros.Store(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro())
	return c
}

func (c *clock) now() time.Time          { return time.UnixMicro(c.micros.Load()) }
func (c *clock) advance(d time.Duration) { c.micros.Add(d.Microseconds()) }

// A store may forget a bucket once it is full by the clock of the machine, so the
// buckets of the suite take hours to fill.
var (
	bucket = quota.Gate{Name: "app/rate/", Every: time.Hour, Size: 5}
	room   = quota.Gate{Name: "app/places/", Size: 3}
)

// fixture is a counter in one case.
type fixture struct {
	t *testing.T
	quota.Counter
	ids int
}

// pass passes gates, and returns the id.
func (f *fixture) pass(app string, gates ...quota.Gate) string {
	f.t.Helper()
	f.ids++
	id := fmt.Sprint(f.ids)
	if full, _, err := f.Pass(f.t.Context(), app, id, gates); err != nil || full != -1 {
		f.t.Errorf("app %q: gate %d is full, %v", app, full, err)
	}
	return id
}

// refused is refused at a gate, and must wait so long.
func (f *fixture) refused(app string, at int, wait time.Duration, gates ...quota.Gate) {
	f.t.Helper()
	if full, after, err := f.Pass(f.t.Context(), app, "refused", gates); err != nil || full != at || after != wait {
		f.t.Errorf("app %q: gate %d is full for %v, want %d for %v, %v", app, full, after, at, wait, err)
	}
}

// Run runs the suite.
func Run(t *testing.T, open func(t *testing.T) Harness) {
	for _, c := range []struct {
		name string
		run  func(*fixture, Harness, *clock)
	}{
		{"bucket", testBucket}, {"clock goes back", testClockBack}, {"room", testRoom}, {"all or none", testAllOrNone},
		{"look-alikes", testLookAlikes}, {"concurrent", testConcurrent},
		{"day", testDay}, {"concurrent spending", testConcurrentDay}, {"used", testUsed},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, now := open(t), newClock()
			c.run(&fixture{t: t, Counter: h.Open(t, now.now)}, h, now)
		})
	}
}

// A bucket gives as many tokens at once as it holds, and then one each time.
func testBucket(f *fixture, _ Harness, now *clock) {
	for range bucket.Size {
		f.pass("shop", bucket)
	}
	f.refused("shop", 0, time.Hour, bucket)
	now.advance(time.Hour - time.Microsecond)
	f.refused("shop", 0, time.Microsecond, bucket)
	now.advance(time.Microsecond)
	f.pass("shop", bucket)
	f.refused("shop", 0, time.Hour, bucket)
	now.advance(24 * time.Hour)
	for range bucket.Size {
		f.pass("shop", bucket)
	}
	f.refused("shop", 0, time.Hour, bucket)
}

// A clock that goes back empties a bucket, and its wait is that of an empty one.
func testClockBack(f *fixture, _ Harness, now *clock) {
	f.pass("shop", bucket)
	now.advance(-30 * 24 * time.Hour)
	f.refused("shop", 0, time.Hour, bucket)
	now.advance(time.Hour)
	f.pass("shop", bucket)
}

// A place counts until it is given back, once.
func testRoom(f *fixture, h Harness, _ *clock) {
	gates := []quota.Gate{room}
	first := f.pass("shop", room)
	f.pass("shop", room)
	f.pass("shop", room)
	f.refused("shop", 0, 0, room)
	f.Leave("shop", first, gates)
	h.Settle(f.Counter)
	f.pass("shop", room)
	f.refused("shop", 0, 0, room)
}

// What is refused takes nothing.
func testAllOrNone(f *fixture, _ Harness, _ *clock) {
	small := quota.Gate{Name: "user/rate/ann", Every: time.Hour, Size: 1}
	f.pass("shop", bucket, room, small)
	for range 10 {
		f.refused("shop", 2, time.Hour, bucket, room, small)
	}
	for range room.Size - 1 {
		f.pass("shop", bucket, room)
	}
	f.refused("shop", 1, 0, bucket, room)
	for range bucket.Size - room.Size {
		f.pass("shop", bucket)
	}
	f.refused("shop", 0, time.Hour, bucket)
}

// Apps and users whose names look like parts of keys count each by itself.
func testLookAlikes(f *fixture, _ Harness, _ *clock) {
	for _, app := range []string{"", "*", "a", "a}", "{a", "a}:user", "a:b", "A", "a ", "}", "{}"} {
		for _, user := range []string{"a", "b", "a}", "{a", "a:b", "A", "a ", "rate", "*"} {
			one := quota.Gate{Name: "user/rate/" + user, Every: time.Hour, Size: 1}
			f.pass(app, one)
			f.refused(app, 0, time.Hour, one)
		}
	}
}

// Of many that come at once, exactly as many pass as there are tokens and places.
func testConcurrent(f *fixture, _ Harness, _ *clock) {
	var passed [2]atomic.Int64
	var all sync.WaitGroup
	for i := range 60 {
		for kind, gate := range []quota.Gate{bucket, room} {
			all.Go(func() {
				full, _, err := f.Pass(f.t.Context(), "shop", fmt.Sprint("c", i), []quota.Gate{gate})
				if err != nil {
					f.t.Error(err)
				}
				if full == -1 {
					passed[kind].Add(1)
				}
			})
		}
	}
	all.Wait()
	if a, b := passed[0].Load(), passed[1].Load(); a != bucket.Size || b != room.Size {
		f.t.Errorf("%d tokens and %d places were given, want %d and %d", a, b, bucket.Size, room.Size)
	}
}

// spend adds to a count of which there may be 5, and reports whether it was added and how
// long it is to the next day if not.
func (f *fixture) spend(app, name string, add int64) (ok bool, after time.Duration) {
	f.t.Helper()
	amounts := []quota.Amount{{Name: "other", Add: 1}, {Name: name, Add: add, Most: 5}}
	full, after, err := f.Spend(f.t.Context(), app, amounts)
	if err != nil || full != -1 && full != 1 {
		f.t.Errorf("full %d, %v", full, err)
	}
	return full == -1, after
}

// A count goes on until it has reached its limit, for that app and that day. Another day
// begins at midnight UTC, and no other one when a clock goes back to yesterday.
func testDay(f *fixture, _ Harness, now *clock) {
	want := func(when string, app, name string, add int64, ok bool, after time.Duration) {
		f.t.Helper()
		if got, wait := f.spend(app, name, add); got != ok || wait != after {
			f.t.Errorf("%s: %v, %v to the next day, want %v, %v", when, got, wait, ok, after)
		}
	}
	want("first", "shop", "calls", 3, true, 0)
	want("up to the limit and over", "shop", "calls", 4, true, 0)
	want("beyond", "shop", "calls", 1, false, 24*time.Hour)
	want("beyond, of nothing", "shop", "calls", 0, false, 24*time.Hour)
	want("another count", "shop", "tokens", 9, true, 0)
	want("another app", "shop}", "calls", 5, true, 0)
	now.advance(24*time.Hour - time.Second)
	want("a second before midnight", "shop", "calls", 1, false, time.Second)
	now.advance(time.Second)
	want("the next day", "shop", "calls", 5, true, 0)
	now.advance(-time.Hour)
	want("a clock that goes back", "shop", "calls", 1, false, 25*time.Hour)
	now.advance(365 * 24 * time.Hour)
	want("a clock that is ahead", "shop", "calls", 5, true, 0)
	now.advance(-364 * 24 * time.Hour)
	want("a clock that is right again", "shop", "calls", 5, true, 0)
	want("that day", "shop", "calls", 1, false, time.Hour)
	amounts := []quota.Amount{{Name: "other", Add: 1, Most: 2}, {Name: "calls", Most: 5}}
	full, _, err := f.Spend(f.t.Context(), "shop", amounts)
	if full != 1 || err != nil {
		f.t.Errorf("what was refused counts: full %d, %v", full, err)
	}
}

// Of many that come at once, exactly as many are added as may be.
func testConcurrentDay(f *fixture, _ Harness, _ *clock) {
	var added atomic.Int64
	var all sync.WaitGroup
	for range 60 {
		all.Go(func() {
			if ok, _ := f.spend("shop", "calls", 1); ok {
				added.Add(1)
			}
		})
	}
	all.Wait()
	if added.Load() != 5 {
		f.t.Errorf("%d were added, want 5", added.Load())
	}
}

// A look at what is used takes nothing, and tells of one app alone; what time gives back is
// gone from it, also where a clock goes back.
func testUsed(f *fixture, h Harness, now *clock) {
	gates, names := []quota.Gate{room, bucket}, []string{"calls", "none", "other"}
	want := func(when, app string, want ...quota.Used) {
		f.t.Helper()
		for range 2 {
			got, err := f.Used(f.t.Context(), app, gates, names)
			if err != nil || !slices.Equal(got, want) {
				f.t.Errorf("%s: %v, %v, want %v", when, got, err, want)
			}
		}
	}
	none, day := quota.Used{}, func(n int64, left time.Duration) quota.Used { return quota.Used{N: n, Until: left} }
	want("nothing yet", "shop", none, none, day(0, 24*time.Hour), day(0, 24*time.Hour), day(0, 24*time.Hour))
	first := f.pass("shop", gates...)
	f.pass("shop", gates...)
	f.spend("shop", "calls", 3)
	f.pass("shop}", bucket)
	two := quota.Used{N: 2, Until: 2 * time.Hour}
	want("two", "shop", quota.Used{N: 2}, two, day(3, 24*time.Hour), day(0, 24*time.Hour), day(1, 24*time.Hour))
	f.Leave("shop", first, gates)
	h.Settle(f.Counter)
	now.advance(90 * time.Minute)
	part := 22*time.Hour + 30*time.Minute
	used, err := f.Used(f.t.Context(), "shop", []quota.Gate{bucket}, names[:1])
	if err != nil || !slices.Equal(used, []quota.Used{{N: 1, Until: 30 * time.Minute}, day(3, part)}) {
		f.t.Errorf("a part of a token: %v, %v", used, err)
	}
	now.advance(24 * time.Hour)
	used, err = f.Used(f.t.Context(), "shop", []quota.Gate{bucket}, names[:1])
	if err != nil || !slices.Equal(used, []quota.Used{none, day(0, part)}) {
		f.t.Errorf("another day: %v, %v", used, err)
	}
	f.pass("shop", bucket)
	now.advance(-30 * 24 * time.Hour)
	used, err = f.Used(f.t.Context(), "shop", []quota.Gate{bucket}, nil)
	if err != nil || !slices.Equal(used, []quota.Used{{N: bucket.Size, Until: 5 * time.Hour}}) {
		f.t.Errorf("a clock that goes back: %v, %v", used, err)
	}
}
