package retrieve

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/memory"
)

// openFor is how long a breaker stays open. It is long enough that a model which
// cannot be reached costs one slow search in many, and short enough that one
// which is back is used again within the same conversation.
const openFor = 10 * time.Second

// errOpen: the model failed a short while ago and is not called.
var errOpen = errors.New("the circuit breaker is open: the model failed a short while ago")

// errHurried: the model did not answer while the search waited.
var errHurried = errors.New("the model did not answer within the patience of the search")

// breaker is a circuit breaker around a model that searches can do without: after
// a call that fails or is late, it stays open for a while, and calls fail at
// once rather than make every search wait. The first call after that tries the
// model again.
type breaker struct {
	limit time.Duration // of one call; 0 for a model in this process, which is always called

	mu        sync.Mutex
	openUntil time.Time
}

// call calls a model, unless the breaker is open. Once ctx is over, the error is
// that of ctx, and does not count against the model. Nor does a model count as late that a
// search waits for up to a time, by Request.Patience; until is zero for none.
func (b *breaker) call(ctx context.Context, until time.Time, model func(context.Context) error) error {
	if b.limit == 0 {
		return model(ctx)
	}
	b.mu.Lock()
	open := time.Now().Before(b.openUntil)
	b.mu.Unlock()
	if open {
		return errOpen
	}
	limit := b.limit
	if left := time.Until(until); !until.IsZero() && left < limit {
		limit = left
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := model(limited)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, extract.ErrRefused), // the model refused this question and may answer others
		errors.As(err, new(*memory.Refusal)): // the model was not called: this app has had its calls
		return err
	case limit < b.limit && limited.Err() != nil:
		return errHurried
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.openUntil = time.Now().Add(openFor)
	return err
}
