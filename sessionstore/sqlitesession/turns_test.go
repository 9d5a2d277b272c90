package sqlitesession_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
	"github.com/memoryd/memoryd/sessionstore/sqlitesession"
)

// turnBench is a store, and the events that its calls were to write the turns of.
type turnBench struct {
	*testing.T
	*sqlitesession.Store
	key  sessionstore.Key
	seen []string // the ids of events given to put, call by call
	most int      // that put is done with in one call
	err  error
	n    int
}

func newTurnBench(t *testing.T) *turnBench {
	t.Helper()
	db, err := sqlitedb.Open(filepath.Join(t.TempDir(), "memoryd.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	s, err := sqlitesession.New(db, nil)
	if err != nil {
		t.Fatal(err)
	}
	key := sessionstore.Key{Scope: memory.Scope{App: "app", User: "ann"}, ID: "s"}
	return &turnBench{T: t, Store: s, key: key, most: 1000}
}

// put is a sqlitesession.PutTurns.
func (b *turnBench) put(_ *sqlitedb.Tx, events []sessionstore.NumberedEvent) (int, error) {
	n := min(len(events), b.most)
	for _, e := range events[:n] {
		b.seen = append(b.seen, e.ID)
	}
	return n, b.err
}

// said are events.
func (b *turnBench) said(ids ...string) (out []sessionstore.Event) {
	b.Helper()
	for _, id := range ids {
		e, err := sessionstore.ParseEvent(fmt.Appendf(nil, `{"id": %q, "content": %q}`, id, id))
		if err != nil {
			b.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

// ask appends events with a request, and checks which turns were to be written and
// how many events are left.
func (b *turnBench) ask(opts sessionstore.Append, left int64, want []string, ids ...string) sessionstore.Work {
	b.Helper()
	b.n++
	opts.Create = !opts.OneShot
	opts.Request = &sessionstore.Request{ID: sessionstore.OperationID(b.key.Scope, fmt.Sprint(b.n))}
	_, w, err := b.AppendTurns(b.Context(), b.key, b.said(ids...), opts, b.put)
	if err != nil {
		b.Fatal(err)
	}
	b.check(w, left, want)
	return w
}

func (b *turnBench) check(w sessionstore.Work, left int64, want []string) {
	b.Helper()
	if diff := cmp.Diff(want, b.seen, cmpopts.EquateEmpty()); diff != "" || w.Requested-w.Done != left {
		b.Errorf("%d events are left, want %d; turns of (-want +got):\n%s", w.Requested-w.Done, left, diff)
	}
	b.seen = nil
}

// Each event has its turn written once, in the transaction that requests memories
// of it, whether it came then or before.
func TestTurnsAreWrittenOnce(t *testing.T) {
	b := newTurnBench(t)
	b.ask(sessionstore.Append{}, 0, []string{"a", "b"}, "a", "b")
	b.ask(sessionstore.Append{}, 0, []string{"c"}, "a", "c")
	b.ask(sessionstore.Append{}, 0, nil, "a", "b", "c")
	if _, err := b.Append(t.Context(), b.key, b.said("d", "e"), sessionstore.Append{}); err != nil {
		t.Fatal(err)
	}
	if w, err := b.Unwritten(t.Context(), b.key); err != nil || w.Requested-w.Done != 2 {
		t.Errorf("unwritten: %+v, %v", w, err)
	}
	b.ask(sessionstore.Append{}, 0, []string{"d", "e", "f"}, "f", "d")
	b.ask(sessionstore.Append{OneShot: true}, 0, []string{"a", "x"}, "a", "x")
	// Other memories have none of them.
	if _, err := b.Rebind(t.Context(), "another"); err != nil {
		t.Fatal(err)
	}
	b.ask(sessionstore.Append{}, 0, []string{"a", "b", "c", "d", "e", "f"})
	// A new life of the session begins anew.
	if err := b.Delete(t.Context(), b.key); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Unwritten(t.Context(), b.key); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("unwritten of a session that is missing: %v", err)
	}
	b.ask(sessionstore.Append{}, 0, []string{"a"}, "a")
}

// What put leaves is left for WriteTurns, which goes on from there, also once the
// session is deleted.
func TestTurnsAreLeft(t *testing.T) {
	b := newTurnBench(t)
	b.most = 2
	left := b.ask(sessionstore.Append{}, 3, []string{"a", "b"}, "a", "b", "c", "d", "e")
	b.most = 0
	same, err := b.WriteTurns(t.Context(), left, b.put)
	if err != nil {
		t.Fatal(err)
	}
	b.check(same, 3, nil)
	if err := b.Delete(t.Context(), b.key); err != nil {
		t.Fatal(err)
	}
	b.most = 2
	for i, want := range [][]string{{"c", "d"}, {"e"}} {
		if left, err = b.WriteTurns(t.Context(), left, b.put); err != nil {
			t.Fatal(err)
		}
		b.check(left, int64(1-i), want)
	}
	work, err := b.Claim(t.Context(), "me", 1e12, 1)
	if err != nil || len(work) != 1 {
		t.Fatal(work, err)
	}
	if err := b.Finish(t.Context(), work[0], 5, nil); err != nil { // which removes the session
		t.Fatal(err)
	}
	gone := sessionstore.Work{Key: b.key, Ref: left.Ref, Done: 2, Requested: 5}
	if left, err = b.WriteTurns(t.Context(), gone, b.put); err != nil {
		t.Fatal(err)
	}
	b.check(left, 0, nil)
}

// If the turns cannot be written, neither are the events.
func TestTurnsAndEventsAreOne(t *testing.T) {
	b := newTurnBench(t)
	b.err = errors.New("broken on purpose")
	how := sessionstore.Append{Create: true, Request: &sessionstore.Request{ID: sessionstore.OperationID(b.key.Scope, "x")}}
	if _, _, err := b.AppendTurns(t.Context(), b.key, b.said("a"), how, b.put); !errors.Is(err, b.err) {
		t.Errorf("error %v", err)
	}
	if s, err := b.Get(t.Context(), b.key, sessionstore.Get{NumRecent: -1}); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("the session is there: %+v, %v", s, err)
	}
	if work, err := b.Claim(t.Context(), "me", 1e12, 1); err != nil || len(work) != 0 {
		t.Errorf("there is work: %+v, %v", work, err)
	}
}

// A transaction that stores many events writes few turns or none, so that it does not
// hold up other writers longer.
func TestManyEventsLeaveTheirTurns(t *testing.T) {
	for n, turns := range map[int]int{200: 200, 1200: 100, 3000: 0} {
		b := newTurnBench(t)
		var ids []string
		for i := range n {
			ids = append(ids, fmt.Sprint("e", i))
		}
		left := b.ask(sessionstore.Append{}, int64(n-turns), ids[:turns], ids...)
		for left.Done < left.Requested {
			was := left.Done
			var err error
			if left, err = b.WriteTurns(t.Context(), left, b.put); err != nil || left.Done == was {
				t.Fatal(left, err)
			}
		}
		if diff := cmp.Diff(ids[turns:], b.seen, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%d events: turns written later (-want +got):\n%s", n, diff)
		}
	}
}
