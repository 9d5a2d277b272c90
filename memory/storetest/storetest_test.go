package storetest

import (
	"testing"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// TestReference runs the suite over the reference, so that each of the two
// checks the other.
func TestReference(t *testing.T) {
	Run(t, func(t *testing.T) Harness {
		r := newReference(nil)
		return Harness{
			Open: func(_ *testing.T, now func() time.Time) memory.Store {
				r.now = now
				return r
			},
			Close: func(*testing.T, memory.Store) {},
		}
	})
}
