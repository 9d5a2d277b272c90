package quota

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// Options configure New and NewMeter. The zero value is the default.
type Options struct {
	// Shared counts together with other processes. Defaults to counting in this process.
	Shared Counter
	Now    func() time.Time // of this process. Defaults to time.Now.
	Log    *slog.Logger     // Defaults to discarding.
}

// together counts with other processes, or in this one.
type together struct {
	shared Counter // nil for none
	own    *Local
	log    *slog.Logger

	mu   sync.Mutex
	away time.Time // until when shared is not asked: it did not answer
}

// How long the shared counter may take, and how long it is not asked again after it has
// failed.
const (
	sharedTime = time.Second
	awayTime   = time.Second
)

func newTogether(opts *Options) *together {
	o := Options{}
	if opts != nil {
		o = *opts
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &together{shared: o.Shared, own: NewLocal(o.Now), log: o.Log}
}

// do counts, and returns the counter that has. While the shared one does not answer,
// this process counts for itself: requests that need no other part of it go on, and none
// goes on without a bound.
func (t *together) do(ctx context.Context, count func(context.Context, Counter) error) (Counter, error) {
	if t.shared != nil && !t.isAway() {
		within, cancel := context.WithTimeout(ctx, sharedTime)
		defer cancel()
		err := count(within, t.shared)
		switch {
		case err == nil:
			return t.shared, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !errors.Is(err, memory.ErrUnavailable) && within.Err() == nil:
			return nil, fmt.Errorf("count for a quota: %w", err)
		}
		t.setAway(err)
	}
	return t.own, count(ctx, t.own)
}

func (t *together) isAway() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return time.Now().Before(t.away)
}

// setAway has the shared counter not asked for a while.
func (t *together) setAway(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now := time.Now(); t.away.Before(now.Add(-2 * awayTime)) { // not for each of those that fail in a row
		t.log.Warn("this process counts for quotas by itself, as the store that counts for all does not answer",
			"err", err)
	}
	t.away = time.Now().Add(awayTime)
}
