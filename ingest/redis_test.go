package ingest_test

import (
	"testing"
	"time"

	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/internal/redistest"
	"github.com/memoryd/memoryd/sessionstore"
	"github.com/memoryd/memoryd/sessionstore/redissession"
)

// A wait ends at its limit while Redis does not answer, with the state that was seen
// before, and others see how the operation goes on once Redis answers again.
func TestWaitWhileRedisStalls(t *testing.T) {
	redis := redistest.Start(t)
	sessions, err := redissession.Open(t.Context(), redis.URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sessions.Close() })
	b := newBench(t, parts{sessions: func(ingest.Sessions) ingest.Sessions { return sessions }})
	op := b.ingest("s", event(t, "e1", 1, "one"))
	w := b.watch(op)
	if u := b.next(w); u.State != sessionstore.Pending {
		t.Fatalf("at first: %+v", u.Operation)
	}
	admin := redis.Client(t)
	pause := func(args ...any) {
		t.Helper()
		if err := admin.Do(t.Context(), append([]any{"CLIENT"}, args...)...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	// It pauses scripts, whether they write or not, and leaves the way to end that.
	pause("PAUSE", time.Hour.Milliseconds(), "WRITE")
	last, err := b.service.Wait(t.Context(), scope, op.ID, 50*time.Millisecond)
	if err != nil || last == nil || last.State != sessionstore.Pending {
		t.Errorf("while Redis stalls: %+v, %v", last, err)
	}
	w.Close()
	last, err = b.service.Wait(t.Context(), scope, op.ID, 50*time.Millisecond)
	if err == nil || last != nil {
		t.Errorf("a first wait while Redis stalls: %+v, %v", last, err)
	}
	pause("UNPAUSE")
	b.run()
	b.succeeds(op)
	b.nothingWatched()
}
