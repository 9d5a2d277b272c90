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
		db.Used()
		rests("used", 10*time.Millisecond, 240*time.Millisecond)
		rests("still used", time.Hour, 10*time.Second)
		rests("used long ago", time.Hour, 0)
		db.Used()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := db.Rest(ctx, time.Hour); err == nil {
			t.Error("a rest does not end with its context")
		}
	})
}
