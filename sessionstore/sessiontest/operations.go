package sessiontest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// operationCases are the promises of Operations: the states of an operation,
// its changes, and how long it can be read.
func operationCases() []testCase {
	return []testCase{
		{"life", operationLife},
		{"changes", operationChanges},
		{"changes in pages", operationChangePages},
		{"two over one session", operationsOverlap},
		{"the oldest is claimed", operationOldest},
		{"another scope's", operationAnothers},
		{"list", operationsList},
		{"pages", operationsPages},
		{"kept for a while", operationTTL},
		{"unfinished ones stay", operationUnfinished},
		{"of an app", operationsOfApp},
		{"of an app by state", operationsByState},
		{"of an app in pages", operationsOfAppPages},
		{"of an app, erased", operationsOfAppErased},
		{"of an app, after a restart", operationsOfAppRestart},
	}
}

// An operation is PENDING until work on it begins, RUNNING until all its events
// are done, then SUCCEEDED, with the time at which it was. Clients poll these states.
func operationLife(f *fixture) {
	key := session(ann, "s1")
	created := f.now()
	op := f.ask(key, f.said("e1"), f.said("e2"))
	want := sessionstore.Operation{Request: sessionstore.Request{ID: op.ID}, Key: key, State: sessionstore.Pending,
		CreateTime: created, EventsTotal: 2}
	f.equal("answer", op, want)
	check := func(what string) {
		f.t.Helper()
		got := f.operation(ann, op.ID)
		f.equal(what, got, &want)
		f.equal(what+": Done", got.Done(), want.State == sessionstore.Succeeded)
	}
	check("requested")
	f.clock.advance(time.Second)
	work := f.claimOne(key)
	want.State, want.Attempts = sessionstore.Running, 1
	check("claimed")
	f.finish(work, 1)
	want.EventsDone = 1
	check("done in part")
	work = f.claimOne(key)
	check("claimed again, for the next part")
	f.clock.advance(time.Second)
	f.finish(work, 2)
	want.State, want.EventsDone, want.EndTime = sessionstore.Succeeded, 2, f.now()
	check("done")
	f.clock.advance(time.Second)
	f.append(key, f.said("e3"))
	check("after another event")
	f.ask(key)
	f.fail(f.claimOne(key), "no", time.Time{})
	check("after another operation failed")
}

// An operation has the changes of its own events, in their order and byte for
// byte. One event may have many changes, or none. The changes are the response
// of the operation, which clients show to users.
func operationChanges(f *fixture) {
	key := session(ann, "s1")
	first := f.ask(key, f.said("e1"), f.said("e2"))
	odd := sessionstore.Change{Seq: 2, Doc: []byte(`{"z":1, "a":[12345678901234567890,1e400,"<é>"]}`)}
	f.finish(f.claimOne(key), 2, change(1), change(1), odd)
	second := f.ask(key, f.said("e3"), f.said("e4"), f.said("e5"))
	f.finish(f.claimOne(key), 4, change(3))
	f.finish(f.claimOne(key), 5, change(5))

	other := session(ann, "s2")
	third := f.ask(other, f.said("e1"))
	f.finish(f.claimOne(other), 1)
	for _, c := range []struct {
		op   sessionstore.Operation
		want []sessionstore.Change
	}{
		{first, []sessionstore.Change{change(1), change(1), odd}},
		{second, []sessionstore.Change{change(3), change(5)}},
		{third, nil},
	} {
		f.hasChanges(c.op, c.want...)
	}
}

// hasChanges compares the changes of an operation, in order and byte for byte.
func (f *fixture) hasChanges(op sessionstore.Operation, want ...sessionstore.Change) {
	f.t.Helper()
	var docs []json.RawMessage
	for _, c := range want {
		docs = append(docs, c.Doc)
	}
	f.equal("changes of "+op.ID, asStrings(f.changes(op.Key.Scope, op.ID)), asStrings(docs))
}

// asStrings makes documents quick to compare: cmp takes the bytes of a slice one by one.
func asStrings(docs []json.RawMessage) []string {
	var out []string
	for _, doc := range docs {
		out = append(out, string(doc))
	}
	return out
}

// Changes come in pages of a bounded size, whether one event has many of them or
// each has a few, and however large one is: the answer with an operation is made of
// one page at a time. A page that is read again is the same.
func operationChangePages(f *fixture) {
	key := session(ann, "s1")
	f.ask(key, f.said("e0"))
	f.finish(f.claimOne(key), 1, change(1))
	op := f.ask(key, f.said("e1"), f.said("e2"), f.said("e3"))
	var given []sessionstore.Change
	add := func(seq int64, n, size int) {
		for range n {
			doc := fmt.Appendf(nil, `{"n":%d,"text":"%s"}`, len(given), strings.Repeat("x", size))
			given = append(given, sessionstore.Change{Seq: seq, Doc: doc})
		}
	}
	add(2, 7, 200<<10)
	add(2, 2*sessionstore.MaxPageChanges+1, 10)
	add(3, 1, 2*sessionstore.PageBytes)
	first := len(given)
	add(4, 3, 500<<10)
	f.finish(f.claimOne(key), 3, given[:first]...)
	f.hasChanges(op, given[:first]...)
	f.finish(f.claimOne(key), 4, given[first:]...)
	f.hasChanges(op, given...)
	f.ask(key, f.said("e4"))
	f.finish(f.claimOne(key), 5, change(5))
	f.hasChanges(op, given...)

	some := 0
	for after := (sessionstore.ChangePosition{}); ; {
		page, next, err := f.Changes(f.t.Context(), ann, op.ID, after)
		again, _, err2 := f.Changes(f.t.Context(), ann, op.ID, after)
		if err != nil || err2 != nil {
			f.t.Fatalf("Changes: %v, %v", err, err2)
		}
		f.equal("a page that is read again", asStrings(again), asStrings(page))
		bytes := 0
		for _, doc := range page {
			bytes += len(doc)
		}
		n := len(page)
		if n == 0 || n > sessionstore.MaxPageChanges || n > 1 && bytes > sessionstore.PageBytes {
			f.t.Errorf("a page of %d changes with %d bytes", n, bytes)
		}
		some += len(page)
		if after = next; next == (sessionstore.ChangePosition{}) {
			break
		}
	}
	f.equal("changes of all pages", some, len(given))
}

// An operation's events are those that were not done when it was requested. Two
// operations may share some: each ends with the last of its own events and has
// the changes of its own events. Each client waits for its own events only.
func operationsOverlap(f *fixture) {
	key := session(ann, "s1")
	f.ask(key, f.said("e0"))
	f.finish(f.claimOne(key), 1, change(1))

	first := f.ask(key, f.said("e1"), f.said("e2"))
	same := f.ask(key)
	work := f.claimOne(key)
	second := f.ask(key, f.said("e3"))
	f.equal("events of the first", first.EventsTotal, 2)
	f.equal("events of one that adds none", same.EventsTotal, 2)
	f.equal("events of the second", second.EventsTotal, 3)
	f.equal("state of the second", second.State, sessionstore.Pending)
	f.finish(work, 3, change(2), change(3))
	for _, op := range []sessionstore.Operation{first, same} {
		f.equal("state", f.operation(ann, op.ID).State, sessionstore.Succeeded)
		f.hasChanges(op, change(2), change(3))
	}
	got := f.operation(ann, second.ID)
	f.equal("events done of the second", got.EventsDone, 2)
	f.equal("state of the second", got.State, sessionstore.Running)
	f.finish(f.claimOne(key), 4, change(4))
	f.equal("state of the second", f.operation(ann, second.ID).State, sessionstore.Succeeded)
	f.hasChanges(first, change(2), change(3))
	f.hasChanges(second, change(2), change(3), change(4))
}

// Work names the oldest operation that waits for it: not one that is done, nor
// one of another session. Its options decide for the work, and memories name it
// as their origin.
func operationOldest(f *fixture) {
	key := session(ann, "s1")
	done := f.ask(key)
	f.equal("state of one with nothing to do", done.State, sessionstore.Succeeded)
	f.ask(session(bob, "s1"), f.said("e1"))
	f.finish(f.claimOne(session(bob, "s1")), 1)
	first := f.ask(key, f.said("e1"))
	second := f.ask(key, f.said("e2"))
	f.ask(key, f.said("e3"))
	work := f.claimOne(key)
	f.equal("at first", work.Request.ID, first.ID)
	f.finish(work, 1)
	work = f.claimOne(key)
	f.equal("after the first", work.Request.ID, second.ID)
	f.fail(work, "no", time.Time{})
	if _, err := f.Retry(f.t.Context(), ann, second.ID); err != nil {
		f.t.Fatal(err)
	}
	f.equal("after a failure", f.claimOne(key).Request.ID, second.ID)
}

// An operation is found by its scope and id; anything else is ErrNotFound. Ids
// carry their scope, but a client can make one up.
func operationAnothers(f *fixture) {
	op := f.ask(session(ann, "s1"), f.said("e1"))
	f.operation(ann, op.ID)
	for _, scope := range []memory.Scope{bob, {App: "bank", User: "ann"}, {App: "ann", User: "shop"}} {
		_, err := f.Status(f.t.Context(), scope, op.ID)
		f.isA("Status", err, memory.ErrNotFound)
		ops, _, err := f.Operations(f.t.Context(), scope, sessionstore.List{})
		if err != nil || len(ops) != 0 {
			f.t.Errorf("Operations of %v gives %v, %v", scope, ops, err)
		}
	}
	for _, id := range []string{"", "x", "%", "s1", sessionstore.OperationID(ann, "unknown"), op.ID + "x", op.ID[1:]} {
		_, err := f.Status(f.t.Context(), ann, id)
		f.isA(fmt.Sprintf("Status %q", id), err, memory.ErrNotFound)
	}
}

// A scope's operations are listed newest first, over all its sessions.
func operationsList(f *fixture) {
	first := f.ask(session(ann, "s1"), f.said("e1"))
	f.clock.advance(time.Second)
	second := f.ask(session(ann, "s2"), f.said("e1"))
	f.clock.advance(time.Second)
	f.ask(session(bob, "s1"), f.said("e1"))
	third := f.ask(session(ann, "s1"))
	works := f.claim("worker", 1)
	f.finish(works[0], 1, change(1))
	f.fail(f.claim("worker", 1)[0], "no", time.Time{})
	got, next, err := f.Operations(f.t.Context(), ann, sessionstore.List{})
	if err != nil || next != "" {
		f.t.Fatalf("Operations: next page %q, %v", next, err)
	}
	var want []sessionstore.Operation
	for _, op := range []sessionstore.Operation{third, second, first} {
		want = append(want, *f.operation(ann, op.ID))
	}
	f.equal("Operations", got, want)
	f.equal("states", []sessionstore.OperationState{got[0].State, got[1].State, got[2].State},
		[]sessionstore.OperationState{sessionstore.Succeeded, sessionstore.Failed, sessionstore.Succeeded})
}

// Walking the pages returns each operation exactly once, newest first, also
// while others are requested. A client may request memories at any moment.
func operationsPages(f *fixture) {
	var want []string
	for i := range 23 {
		f.clock.advance(time.Second)
		want = append(want, f.ask(session(ann, fmt.Sprintf("s%d", i%3)), f.said(fmt.Sprintf("e%d", i))).ID)
	}
	slices.Reverse(want)
	for _, size := range []int{1, 5, 22, 23, 24, 0} {
		f.equal(fmt.Sprintf("Operations by %d", size), f.operationIDs(size, func() {}), want)
	}
	got := f.operationIDs(5, func() {
		f.clock.advance(time.Second)
		f.ask(session(ann, "new"), f.said(fmt.Sprintf("e%d", f.asked)))
	})
	f.equal("Operations with new ones", slices.DeleteFunc(got, func(id string) bool {
		return !slices.Contains(want,
			id)
	}), want)
}

// operationIDs walks all pages of ann's operations.
func (f *fixture) operationIDs(pageSize int, between func()) (ids []string) {
	f.t.Helper()
	for token := ""; ; {
		ops, next, err := f.Operations(f.t.Context(), ann, sessionstore.List{PageSize: pageSize, PageToken: token})
		if err != nil {
			f.t.Fatalf("Operations, page token %q: %v", token, err)
		}
		for _, op := range ops {
			ids = append(ids, op.ID)
		}
		if next == "" {
			return ids
		}
		if next == token || len(ops) == 0 || len(ops) > pageSize {
			f.t.Fatalf("a page of %d operations for %d, next page %q", len(ops), pageSize, next)
		}
		token = next
		between()
	}
}

// A finished operation with all its changes can be read for OperationTTL from
// its end, and not longer. The HTTP contract promises 7 days; without an end
// the table would grow forever.
func operationTTL(f *fixture) {
	key := session(ann, "s1")
	op := f.ask(key, f.said("e1"), f.said("e2"))
	f.finish(f.claimOne(key), 1, change(1))
	f.clock.advance(sessionstore.OperationTTL / 2)
	f.finish(f.claimOne(key), 2, change(2))
	empty := f.ask(key)
	f.clock.advance(sessionstore.OperationTTL - time.Second)
	for i := range 3 {
		f.ask(session(bob, "s1"), f.said(fmt.Sprintf("e%d", i)))
	}
	f.equal("state", f.operation(ann, op.ID).State, sessionstore.Succeeded)
	f.hasChanges(op, change(1), change(2))
	f.equal("state", f.operation(ann, empty.ID).State, sessionstore.Succeeded)
	f.equal("listed", len(f.operationIDs(1, func() {})), 2)
	f.clock.advance(2 * time.Second)
	for _, id := range []string{op.ID, empty.ID} {
		_, err := f.Status(f.t.Context(), ann, id)
		f.isA("Status", err, memory.ErrNotFound)
		_, err = f.Retry(f.t.Context(), ann, id)
		f.isA("Retry", err, memory.ErrNotFound)
	}
	f.equal("listed", f.operationIDs(1, func() {}), []string(nil))
	f.hasEvents("the session", f.get(key).Events, "e1", "e2")
}

// An operation that waits or runs stays until it is finished, however long that
// takes, with the changes of its finished events. An outage of a week must not
// lose the answer to a request.
func operationUnfinished(f *fixture) {
	pending, running := session(ann, "s1"), session(bob, "s1")
	first, second := f.ask(pending, f.said("e1")), f.ask(running, f.said("e1"), f.said("e2"))
	for _, w := range f.claim("worker", 2) {
		if w.Key == running {
			f.finish(w, 1, change(1))
		}
	}
	f.clock.advance(3 * sessionstore.OperationTTL)
	for i := range 3 {
		f.ask(session(memory.Scope{App: "bank", User: "ann"}, "s1"), f.said(fmt.Sprintf("e%d", i)))
	}
	f.equal("events done of the first", f.operation(ann, first.ID).EventsDone, 0)
	f.equal("events done of the second", f.operation(bob, second.ID).EventsDone, 1)
	for _, w := range f.claim("worker", 10) {
		if w.Key == running {
			f.finish(w, 2, change(2))
		}
	}
	f.equal("state", f.operation(bob, second.ID).State, sessionstore.Succeeded)
	f.hasChanges(second, change(1), change(2))
}
