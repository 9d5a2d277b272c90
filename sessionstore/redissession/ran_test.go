package redissession_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

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

	// Twenty that have not ended, as they failed, keep none of the later ones.
	for i := range 20 {
		ask("ann", fmt.Sprint("failed", i))
	}
	failed := keysOf(t, r, "memoryd:*:operation:*")
	for i := range 30 {
		ask("ann", fmt.Sprint("gone", i))
	}
	for _, k := range keysOf(t, r, "memoryd:*:operation:*") {
		if !slices.Contains(failed, k) {
			must(t, c.Del(t.Context(), k).Err())
		}
	}
	now = now.Add(sessionstore.OperationTTL + time.Hour)
	for i := range 50 {
		now = now.Add(70 * time.Microsecond)
		ask("ann", fmt.Sprint("later", i))
	}
	if n := listed(); n != len(failed)+50 {
		t.Errorf("%d operations in the lists, want %d that failed and 50", n, len(failed))
	}
	expire()
	ask("ann", "last")

	// A Redis of an earlier version has no list: it is made when it is opened, by some
	// operations at a time.
	pipe := c.Pipeline()
	scope := keysOf(t, r, "memoryd:*:operations:app/ann")[0]
	for i := range 1500 {
		id := fmt.Sprint("many", i)
		pipe.ZAdd(t.Context(), scope, redis.Z{Score: float64(1000 + i), Member: id})
		pipe.HSet(t.Context(), strings.Replace(scope, "operations:app/ann", "operation:"+id, 1), "created", now.UnixMicro())
	}
	_, err = pipe.Exec(t.Context())
	must(t, err)
	for _, k := range append(keysOf(t, r, "memoryd:*:ran:*"), keysOf(t, r, "memoryd:*:ran")...) {
		must(t, c.Del(t.Context(), k).Err())
	}
	later := open(t, r.URL(), &redissession.Options{Now: func() time.Time { return now }})
	defer later.Close()
	ops, _, err = later.AppOperations(t.Context(), "app", sessionstore.OperationList{User: "ann"})
	if err != nil || len(ops) != 1 || listed() != 1501 || ops[0].Key.Scope != (memory.Scope{App: "app", User: "ann"}) {
		t.Errorf("operations of an earlier version: %d of %d, %v", len(ops), listed(), err)
	}
}

// The operations of an app come in one order, page by page, however unevenly its users have made them.
func TestOperationsOfUnevenUsers(t *testing.T) {
	r := redistest.Start(t)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := open(t, r.URL(), &redissession.Options{Now: func() time.Time { return now }})
	defer s.Close()
	var want []string // newest first
	for i := range 160 {
		user := "busy"
		if i%8 == 3 {
			user = fmt.Sprint("user", i)
		}
		now = now.Add(time.Second)
		k := key(user, fmt.Sprint("s", i))
		id := sessionstore.OperationID(k.Scope, k.ID)
		_, err := s.Append(t.Context(), k, []sessionstore.Event{event(t, "e1")}, sessionstore.Append{Create: true,
			Request: &sessionstore.Request{ID: id}})
		must(t, err)
		want = slices.Insert(want, 0, id)
	}
	for _, size := range []int{1, 7, 50, 1000} {
		for _, state := range []sessionstore.OperationState{"", sessionstore.Pending} {
			var got []string
			list := sessionstore.OperationList{List: sessionstore.List{PageSize: size}, State: state}
			for pages := 0; pages <= len(want)+1; pages++ {
				ops, next, err := s.AppOperations(t.Context(), "app", list)
				must(t, err)
				for _, op := range ops {
					got = append(got, op.ID)
				}
				if list.PageToken = next; next == "" {
					break
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("pages of %d, state %q: %d operations, want %d in their order", size, state, len(got), len(want))
			}
		}
	}
}
