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
			Open: func(_ *testing.T, now func() time.Time, model memory.Model) (memory.Store, error) {
				r.now = now
				return r.open(model)
			},
			StoredModel: func(*testing.T, string) memory.Model { return r.model },
			Close:       func(*testing.T, memory.Store) {},
		}
	})
}
