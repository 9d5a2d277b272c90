package retrieve

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/memoryd/memoryd/extract"
)

// rest is for how long a model that has failed is left alone.
const rest = 10 * time.Second

// errResting: the model has failed a short while ago, and is not asked.
var errResting = errors.New("the model is left alone for a while")

// patience is how long searches wait for a model that they can do without.
// Once one has waited in vain, those after it do not ask for a while.
type patience struct {
	limit time.Duration // of one call; 0 is any time, as a model at hand needs no patience

	mu      sync.Mutex
	restsTo time.Time // until when the model is left alone
}

// ask calls a model, which may be resting. As soon as ctx is over the error is
// that of ctx.
func (p *patience) ask(ctx context.Context, call func(context.Context) error) error {
	if p.limit == 0 {
		return call(ctx)
	}
	p.mu.Lock()
	rests := time.Now().Before(p.restsTo)
	p.mu.Unlock()
	if rests {
		return errResting
	}
	within, cancel := context.WithTimeout(ctx, p.limit)
	defer cancel()
	err := call(within)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, extract.ErrRefused): // this question; others may fare better
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.restsTo = time.Now().Add(rest)
	return err
}
