package ingest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/memoryd/memoryd/ingest"
)

// expirer answers Expire by what its test says, and tells of each call.
type expirer struct {
	ingest.Sessions
	answers chan error // nil for as many sessions as the limit
	called  chan int   // the limit
}

// Expire implements sessionstore.Expirer.
func (e expirer) Expire(ctx context.Context, limit int) (int, error) {
	select {
	case err := <-e.answers:
		e.called <- limit
		return limit, err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// Run removes expired sessions now and then, as many as there are, and goes on after a
// failure. It ends when it is told to, also in the middle.
func TestExpiredSessionsAreRemoved(t *testing.T) {
	e := expirer{answers: make(chan error), called: make(chan int, 1)}
	b := newBench(t, parts{opts: ingest.Options{Sweep: time.Millisecond},
		sessions: func(s ingest.Sessions) ingest.Sessions {
			e.Sessions = s
			return e
		}})
	stop := b.run()
	for _, err := range []error{nil, nil, errors.New("away"), nil} {
		e.answers <- err
		if limit := <-e.called; limit < 1 {
			t.Errorf("Expire is called with a limit of %d", limit)
		}
	}
	stop()
}
