package redissession_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/memoryd/memoryd/internal/redistest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
	"github.com/memoryd/memoryd/sessionstore/redissession"
)

// An operation that is gone leaves the list of its app although its user asks for nothing
// again: when somebody reads the list, and by chance when others of its partition ask.
func TestOldOperationsLeaveTheList(t *testing.T) {
	r := redistest.Start(t)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) // of a whole number of tens of microseconds
	s := open(t, r.URL(), &redissession.Options{Now: func() time.Time { return now }})
	defer s.Close()
	c := r.Client(t)
	ask := func(user, session string) {
		t.Helper()
		k := key(user, session)
		_, err := s.Append(t.Context(), k, []sessionstore.Event{event(t, "e1")}, sessionstore.Append{Create: true,
			Request: &sessionstore.Request{ID: sessionstore.OperationID(k.Scope, session)}})
		must(t, err)
	}
	listed := func() (n int) {
		t.Helper()
		for _, k := range keysOf(t, r, "memoryd:*:ran:app") {
			n += int(c.ZCard(t.Context(), k).Val())
		}
		return n
	}
	expire := func() { // as Redis does by its own clock
		t.Helper()
		for _, k := range keysOf(t, r, "memoryd:*:operation:*") {
			must(t, c.Del(t.Context(), k).Err())
		}
		now = now.Add(sessionstore.OperationTTL + time.Hour)
	}
	for i := range 5 {
		ask("ann", fmt.Sprint("s", i))
		ask("bob", fmt.Sprint("s", i))
	}
	expire()
	ops, next, err := s.AppOperations(t.Context(), "app", sessionstore.OperationList{})
	if err != nil || len(ops) != 0 || next != "" || listed() != 0 {
		t.Errorf("%d operations, next %q, %v, %d in the lists", len(ops), next, err, listed())
	}
	ask("ann", "more")
	expire()
	ask("ann", "another")
	if n := listed(); n != 1 {
		t.Errorf("%d operations in the lists, want the last one alone", n)
	}

	// A Redis of an earlier version has no list: it is made when it is opened.
	for _, k := range append(keysOf(t, r, "memoryd:*:ran:*"), keysOf(t, r, "memoryd:*:ran")...) {
		must(t, c.Del(t.Context(), k).Err())
	}
	later := open(t, r.URL(), &redissession.Options{Now: func() time.Time { return now }})
	defer later.Close()
	ops, _, err = later.AppOperations(t.Context(), "app", sessionstore.OperationList{User: "ann"})
	if err != nil || len(ops) != 1 || ops[0].Key.Scope != (memory.Scope{App: "app", User: "ann"}) {
		t.Errorf("operations of an earlier version: %+v, %v", ops, err)
	}
}
