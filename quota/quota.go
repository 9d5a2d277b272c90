// Package quota bounds what one key, one app and one user take of a memoryd: requests a
// second, requests in flight, and the models' work of a day. [Limits] and [DayLimits]
// are the bounds, all of them off by default. A [Limiter] holds requests to them and a
// [Meter] calls of models. A [Counter] counts: [Local] for one process, or a store that
// several processes share.
package quota

import (
	"cmp"
	"context"
	"crypto/rand"
	"math"
	"strconv"
	"time"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/memory"
)

// Limits are the quotas. A zero is none.
type Limits struct {
	// KeyRate, AppRate and UserRate are how many requests there may be in a second, of
	// one key, of one app, and of one user of an app. As many as a second brings, and
	// one at least, may come at once.
	KeyRate, AppRate, UserRate float64
	// KeyRequests, AppRequests and UserRequests are how many requests may be in flight.
	KeyRequests, AppRequests, UserRequests int
}

// The bounds of a rate.
const (
	MinRate = 0.001
	MaxRate = 10_000
)

// Any reports whether there is a limit.
func (l Limits) Any() bool { return l != Limits{} }

// Flags are the flags that set limits of keys, apps and users, without their dash. The
// last three are about what stores keep: those count it themselves.
func Flags() []string {
	return []string{"key-rate", "app-rate", "user-rate", "key-requests", "app-requests", "user-requests",
		"app-model-calls", "app-model-tokens", "user-model-calls", "user-model-tokens", "user-memories", "user-bytes",
		"user-sessions"}
}

// Gate is what a request passes: a bucket of tokens, or a room of places.
type Gate struct {
	// Name is unique within an app. It begins with "key/", "app/" or "user/". No app has
	// a slash in its id, so that an app and a name have one way to be put together.
	Name string
	// Every is the time between two tokens of a bucket, in whole microseconds; 0 for a
	// room.
	Every time.Duration
	// Size is how many tokens a bucket can hold, or how many places a room has.
	Size int64
}

// Counter counts what passes gates. All methods may be called concurrently.
type Counter interface {
	// Pass takes a token from each bucket and a place in each room, all of them or
	// none. If one is empty, full is its index, and after is how long a bucket takes to
	// its next token; otherwise full is -1. The gates are those of one app, and id names
	// the places: Leave gives them back. A place of a process that died counts for
	// PlaceTime.
	Pass(ctx context.Context, app, id string, gates []Gate) (full int, after time.Duration, err error)
	// Leave gives the places back that Pass has taken for an id. It does not wait.
	Leave(app, id string, gates []Gate)
	// Spend adds amounts to those of an app on the present day of UTC, all of them or
	// none. If one has reached its Most before, full is its index, and after is the time
	// until the next day; otherwise full is -1. A day that a clock which goes back
	// repeats is one day.
	Spend(ctx context.Context, app string, amounts []Amount) (full int, after time.Duration, err error)
	// Used returns how much is taken of each gate of an app, and then of each amount of
	// the present day by its name. It takes nothing.
	Used(ctx context.Context, app string, gates []Gate, names []string) ([]Used, error)
}

// Used is how much is taken of a gate or of an amount.
type Used struct {
	// N is how many tokens a bucket lacks, a part of one as a whole; how many places of a
	// room are taken; or the amount of the day.
	N int64
	// Until is when N is 0 again if nothing else comes; it is 0 of a room, whose end is not known.
	Until time.Duration
}

// BucketUsed is how much is taken of a bucket that will be full after a time.
func BucketUsed(g Gate, full time.Duration) Used {
	full = min(max(0, full), time.Duration(g.Size)*g.Every) // a clock may have been ahead
	return Used{int64((full + g.Every - 1) / g.Every), full}
}

// PlaceTime is how long a place counts at most. It is longer than a request takes whose
// client reads the answer.
const PlaceTime = 5 * time.Minute

// Limiter holds requests to limits.
type Limiter struct {
	limits Limits
	*together
}

// New makes a Limiter; nil if there is no limit.
func New(limits Limits, opts *Options) *Limiter {
	if !limits.Any() {
		return nil
	}
	return &Limiter{limits, newTogether(opts)}
}

// bound is a gate with the words of its refusal.
type bound struct {
	flag, of, what string
	limit          float64
}

// gates returns the gates of a request.
func (l *Limiter) gates(r Request) (gates []Gate, bounds []bound) {
	add := func(of, name string, rate float64, places int) {
		if rate > 0 {
			every := time.Duration(math.Ceil(1e6/rate)) * time.Microsecond
			gates = append(gates, Gate{Name: of + "/rate/" + name, Every: every, Size: int64(max(1, rate))})
			bounds = append(bounds, bound{"-" + of + "-rate", of, "requests a second", rate})
		}
		if places > 0 && !r.Stream {
			gates = append(gates, Gate{Name: of + "/places/" + name, Size: int64(places)})
			bounds = append(bounds, bound{"-" + of + "-requests", of, "requests in flight", float64(places)})
		}
	}
	if r.By != nil && r.By != access.Owner {
		add("key", r.By.ID, l.limits.KeyRate, l.limits.KeyRequests)
	}
	if r.Scope.App != "" {
		add("app", "", l.limits.AppRate, l.limits.AppRequests)
	}
	if r.Scope.User != "" {
		add("user", r.Scope.User, l.limits.UserRate, l.limits.UserRequests)
	}
	return gates, bounds
}

// Request is what a Limiter counts.
type Request struct {
	By *access.Principal // who makes it. The owner has no key
	// Scope is what it is about: without a user an app as a whole, without an app none.
	Scope memory.Scope
	// Stream says that it lasts as long as its client listens: then it takes no place
	// among the requests in flight.
	Stream bool
}

// Begin counts a request, and returns what to call at its end. The error is a
// memory.Refusal that names the limit. A refused request takes nothing of any limit.
func (l *Limiter) Begin(ctx context.Context, r Request) (end func(), err error) {
	gates, bounds := l.gates(r)
	if len(gates) == 0 {
		return func() {}, nil
	}
	app := r.Scope.App
	if app == "" && r.By != nil {
		app = r.By.App
	}
	id := rand.Text() // a client chooses the id of its request, and may choose one twice
	var full int
	var after time.Duration
	counter, err := l.do(ctx, func(ctx context.Context, c Counter) (err error) {
		full, after, err = c.Pass(ctx, app, id, gates)
		return err
	})
	if err != nil {
		return nil, err
	}
	if full < 0 {
		return func() { counter.Leave(app, id, gates) }, nil
	}
	b := bounds[full]
	return nil, memory.Refuse(cmp.Or(after, time.Second), "this %s has had its %s %s: %s sets how many",
		b.of, strconv.FormatFloat(b.limit, 'f', -1, 64), b.what, memory.Flag(b.flag))
}
