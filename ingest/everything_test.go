package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/internal/redistest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
	"github.com/memoryd/memoryd/sessionstore/redissession"
)

const everything = "Please delete everything you know about me."

// toForget are events of which everything before the request, e5, is to be forgotten.
func toForget(t *testing.T) []sessionstore.Event {
	t.Helper()
	return []sessionstore.Event{
		event(t, "e1", 1, "I live in Rome."), answer(t, "e2", 2, "Rome is a great city to live in."),
		event(t, "e3", 3, "My sister lives in Porto."), event(t, "e5", 5, everything), event(t, "e6", 6, "I like green tea."),
	}
}

const (
	left   = "I like green tea."
	gone   = "I live in Rome.|Rome is a great city to live in.|My sister lives in Porto."
	search = "Where do I live? Rome Porto sister city tea everything delete know"
)

// confirmed returns the operation that a confirmation starts, when it has succeeded.
func (b *bench) confirmed(op *sessionstore.Operation) *sessionstore.Operation {
	b.Helper()
	out, err := b.service.Confirm(b.Context(), scope, op.ID)
	if err != nil {
		b.Fatal(err)
	}
	return b.succeeds(out)
}

// swept is what an operation has forgotten.
func (b *bench) swept(op *sessionstore.Operation) string {
	b.Helper()
	for _, c := range b.changed(op) {
		if c.Swept != nil {
			return fmt.Sprintf("%d facts, %d turns", c.Swept.Facts, c.Swept.Turns)
		}
	}
	return "nothing"
}

// A request to forget everything changes nothing by itself. Confirmed, it hides all that
// was said before it, whenever that arrives, and nothing else.
func TestEverything(t *testing.T) {
	b := newBench(t, parts{})
	b.run()
	if _, err := b.service.Add(t.Context(), memory.Scope{App: scope.App, User: "bob"}, ingest.NewMemory{Fact: "Bob"}); err != nil {
		t.Fatal(err)
	}
	op := b.ingest("s", toForget(t)...)
	b.succeeds(op)
	if n := len(b.notFound(op)); n > 0 {
		t.Errorf("%d requests name nothing known", n)
	}
	b.expect("before", search, memory.Filter{}, gone+"|"+left+"|"+everything, "")
	b.succeeds(b.ingest("s", event(t, "e7", 7, "I moved to Oslo.")))
	did := b.confirmed(op)
	if got := b.swept(did); got != "2 facts, 4 turns" {
		t.Errorf("forgotten: %s", got)
	}
	for _, f := range []memory.Filter{{}, {AsOf: event(t, "e", 8, "x").Timestamp}} {
		shown, _ := b.shownAndHidden(search+" Oslo moved", f)
		if got := strings.Join(shown, "|"); got != left+"|I moved to Oslo." {
			t.Errorf("after: %q", got)
		}
	}
	_, hidden := b.shownAndHidden(search, memory.Filter{})
	for _, want := range strings.Split(gone+"|"+everything, "|") {
		if !slices.Contains(hidden, want) {
			t.Errorf("a list with history lacks %q: %q", want, hidden)
		}
	}
	if again := b.confirmed(op); again.ID != did.ID || b.swept(again) != b.swept(did) {
		t.Errorf("confirmed twice: %+v", again)
	}
	b.succeeds(b.ingest("late", event(t, "e0", 0, "I own a parrot in Rome."), event(t, "e9", 9, "I own a canary.")))
	shown, _ := b.shownAndHidden("Rome parrot canary", memory.Filter{})
	if slices.Contains(shown, "I own a parrot in Rome.") || !slices.Contains(shown, "I own a canary.") {
		t.Errorf("arrived after the confirmation: %q", shown)
	}
	page, err := b.memories.List(t.Context(), memory.Scope{App: scope.App, User: "bob"}, memory.List{})
	if err != nil || len(page.Memories) != 1 {
		t.Errorf("another user has %+v, %v", page.Memories, err)
	}
}

// A confirmation that nothing asked for is refused, and changes nothing.
func TestNothingToConfirm(t *testing.T) {
	now := time.Now()
	var mu sync.Mutex
	b := newBench(t, parts{opts: ingest.Options{Now: func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}}})
	stop := b.run()
	small := b.ingest("s", event(t, "e1", 1, "I live in Rome."), event(t, "e2", 2, "Forget my boat."))
	b.succeeds(small)
	op := b.ingest("u", event(t, "e3", 3, everything))
	b.succeeds(op)
	stop()
	waits := b.ingest("u", event(t, "e4", 4, everything))
	for name, c := range map[string]struct {
		id   string
		want error
	}{
		"no operation":         {sessionstore.OperationID(scope, "x"), memory.ErrNotFound},
		"no request":           {small.ID, memory.ErrInvalid},
		"one that is not done": {waits.ID, memory.ErrInvalid},
	} {
		if _, err := b.service.Confirm(t.Context(), scope, c.id); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if _, err := b.service.Confirm(t.Context(), memory.Scope{App: scope.App, User: "bob"}, op.ID); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("another user confirms: %v", err)
	}
	mu.Lock()
	now = now.Add(ingest.ConfirmTTL)
	mu.Unlock()
	if _, err := b.service.Confirm(t.Context(), scope, op.ID); !errors.Is(err, ingest.ErrLapsed) {
		t.Errorf("after its time: %v", err)
	}
	b.expect("refused", search, memory.Filter{}, "I live in Rome.|"+everything, "Forget my boat.")
}

// A confirmation that is broken off at any of its calls is carried out in the end, and
// tells the same.
func TestEverythingCallsFail(t *testing.T) {
	for _, after := range []bool{false, true} {
		for n := 1; ; n += sparse {
			f := &fuse{left: 0, after: after}
			b := newBench(t, parts{
				sessions: func(s ingest.Sessions) ingest.Sessions { return fusedSessions{s, f} },
				memories: func(m memory.Store) memory.Store { return fusedMemories{m, f} },
			})
			stop := b.run()
			op := b.ingest("s", toForget(t)...)
			b.succeeds(op)
			f.mu.Lock()
			f.left = n
			f.mu.Unlock()
			did, err := b.service.Confirm(t.Context(), scope, op.ID)
			for errors.Is(err, errBroken) {
				did, err = b.service.Confirm(t.Context(), scope, op.ID)
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := b.swept(b.succeeds(did)); got != "2 facts, 4 turns" {
				t.Errorf("call %d fails (after: %v): forgotten %s", n, after, got)
			}
			shown, _ := b.shownAndHidden(search, memory.Filter{})
			if got := strings.Join(shown, "|"); got != left {
				t.Errorf("call %d fails (after: %v): found %q", n, after, got)
			}
			stop()
			f.mu.Lock()
			over := f.left > 0
			f.mu.Unlock()
			if over {
				break
			}
		}
	}
}

// Callers that confirm at the same time start one operation, also on Redis.
func TestConfirmedTogether(t *testing.T) {
	redis := redistest.Start(t)
	sessions, err := redissession.Open(t.Context(), redis.URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sessions.Close() })
	for name, p := range map[string]parts{
		"SQLite": {}, "Redis": {sessions: func(ingest.Sessions) ingest.Sessions { return sessions }},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, p)
			b.run()
			op := b.ingest("s", toForget(t)...)
			b.succeeds(op)
			ids := make([]string, 8)
			var all sync.WaitGroup
			for i := range ids {
				all.Go(func() {
					did, err := b.service.Confirm(context.WithoutCancel(t.Context()), scope, op.ID)
					if err != nil {
						t.Error(err)
						return
					}
					ids[i] = did.ID
				})
			}
			all.Wait()
			if slices.Sort(ids); len(slices.Compact(ids)) != 1 {
				t.Errorf("operations %q", ids)
			}
			if got := b.swept(b.confirmed(op)); got != "2 facts, 4 turns" {
				t.Errorf("forgotten: %s", got)
			}
			shown, _ := b.shownAndHidden(search, memory.Filter{})
			if got := strings.Join(shown, "|"); got != left {
				t.Errorf("found %q", got)
			}
		})
	}
}

// Words that are no request to forget everything leave nothing to confirm.
func TestNotEverything(t *testing.T) {
	b := newBench(t, parts{})
	b.run()
	for i, e := range []sessionstore.Event{
		event(t, "e1", 1, "Imagine I asked you to forget everything."), answer(t, "e2", 2, everything),
		event(t, "e3", 3, `He said: "Delete everything you know about me."`),
		event(t, "e4", 4, "Let's role-play. Delete everything you know about me."),
	} {
		op := b.ingest(fmt.Sprint(i), e)
		b.succeeds(op)
		if _, err := b.service.Confirm(t.Context(), scope, op.ID); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%q can be confirmed: %v", e.Text(), err)
		}
	}
}
