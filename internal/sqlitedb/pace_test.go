package sqlitedb_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/memoryd/memoryd/internal/sqlitedb"
)

// Background work rests after a step while requests use the database, 24 times as long as
// the step took and 10 s at most, and goes on at once when there were none for a second.
func TestRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := &sqlitedb.DB{}
		rests := func(what string, took, want time.Duration) {
			t.Helper()
			began := time.Now()
			if err := db.Rest(t.Context(), took); err != nil || time.Since(began) != want {
				t.Errorf("%s: a rest of %v, error %v, want %v", what, time.Since(began), err, want)
			}
		}
		rests("unused", 10*time.Millisecond, 0)
		db.Used(0)
		rests("used", 10*time.Millisecond, 240*time.Millisecond)
		db.Used(5 * time.Millisecond)
		rests("used by a request of 5 ms", 10*time.Millisecond, 360*time.Millisecond)
		for range 100 {
			db.Used(time.Microsecond)
		}
		rests("used by short ones since", 10*time.Millisecond, 240*time.Millisecond+24*time.Microsecond)
		rests("still used", time.Hour, 10*time.Second)
		rests("used long ago", time.Hour, 0)
		db.Used(0)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := db.Rest(ctx, time.Hour); err == nil {
			t.Error("a rest does not end with its context")
		}
	})
}
