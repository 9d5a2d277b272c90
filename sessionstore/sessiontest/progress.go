package sessiontest

import (
	"fmt"
	"slices"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// progressCases are the promises of the work list: how requests become work,
// and in which order it is claimed.
func progressCases() []testCase {
	return []testCase{
		{"rewinds", progressRewinds},
		{"an append alone is no request", progressAppend},
		{"a request raises the position", progressRequest},
		{"a request without events", progressRequestEmpty},
		{"the longest waiting first", progressOrder},
		{"another request keeps the place", progressKeepsPlace},
		{"one piece of work in a scope", progressOnePerScope},
		{"events by number", progressEvents},
		{"numbers are of what is stored", progressNumbers},
	}
}

// Neither Create nor Append makes work by itself. Sessions are stored by agents
// that want no memories, and extraction costs money.
func progressAppend(f *fixture) {
	f.create(session(ann, "s1"), `{}`, f.said("e1"))
	f.append(session(ann, "s1"), f.said("e2"))
	f.appendWith(session(ann, "s2"), sessionstore.Append{Create: true, KeepState: true}, f.said("e1"))
	f.idle("after appends")
	ops, next, err := f.Operations(f.t.Context(), ann, sessionstore.List{})
	if err != nil || len(ops) != 0 || next != "" {
		f.t.Errorf("Operations gives %v, %q, %v", ops, next, err)
	}
}

// A request covers all events up to the last, those of earlier calls too, and
// none after it. The request answers at once, so later events are not part of
// its operation.
func progressRequest(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{}`, f.said("e1"), f.said("e2"))
	op := f.ask(key, f.said("e3"))
	f.equal("operation", op, sessionstore.Operation{Request: sessionstore.Request{ID: op.ID}, Key: key,
		State: sessionstore.Pending, CreateTime: f.now(), EventsTotal: 3})
	f.append(key, f.said("e4"))
	work := f.claimOne(key)
	if work.Ref == "" {
		f.t.Error("work without a Ref")
	}
	f.equal("work", work, sessionstore.Work{Key: key, Ref: work.Ref, Requested: 3, Attempts: 1,
		Request: sessionstore.Request{ID: op.ID}})
	f.finish(work, 3)
	f.idle("an event without a request")

	op = f.ask(key)
	f.equal("events of the next request", op.EventsTotal, 1)
	next := f.claimOne(key)
	f.equal("next work", next, sessionstore.Work{Key: key, Ref: work.Ref, Done: 3, Requested: 4, Attempts: 1,
		Request: sessionstore.Request{ID: op.ID}})
}

// A request needs no events of its own, nor new ones: with partial or repeated
// events it covers the stored events that are not done. add_session_to_memory
// is such a call.
func progressRequestEmpty(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{}`, f.said("e1"), f.said("e2"))
	f.equal("events without any", f.ask(key).EventsTotal, 2)
	f.equal("events with a partial one", f.ask(key, f.event(`{"author":"user","partial":true}`)).EventsTotal, 2)
	f.equal("events with a repeated one", f.ask(key, f.said("e1")).EventsTotal, 2)
	work := f.claimOne(key)
	f.equal("requested", work.Requested, int64(2))
	f.finish(work, 2)
	f.idle("all is done")

	for _, none := range []sessionstore.Key{key, session(ann, "empty")} {
		op := f.ask(none)
		f.equal("state of an operation with nothing to do", op.State, sessionstore.Succeeded)
		f.equal("its events", op.EventsTotal-op.EventsDone, 0)
		f.equal("read", f.operation(ann, op.ID), &op)
	}
	f.idle("nothing to do")
}

// Claim returns the work that was requested first, whichever session is older,
// and at most limit pieces. Otherwise a busy user could delay another one
// forever.
func progressOrder(f *fixture) {
	users := []string{"m", "z", "a", "k", "b"}
	keyOf := func(user string) sessionstore.Key {
		return session(memory.Scope{App: "app of " + user, User: user}, "s-"+user)
	}
	for _, user := range slices.Backward(users) {
		f.clock.advance(time.Second)
		f.create(keyOf(user), `{}`, f.said("e0"))
	}
	for _, user := range users {
		f.clock.advance(time.Second)
		f.ask(keyOf(user), f.said("e1"))
	}
	f.equal("limit 0", len(f.claim("worker", 0)), 0)
	var got []string
	for _, limit := range []int{2, 1, 10} {
		for _, w := range f.claim("worker", limit) {
			got = append(got, w.Key.User)
		}
	}
	f.equal("order", got, users)
	f.idle("all is claimed")
}

// Another request for a session that waits does not send it to the back. A
// client that requests after each turn must not starve its own session.
func progressKeepsPlace(f *fixture) {
	f.ask(session(ann, "s1"), f.said("e1"))
	f.clock.advance(time.Second)
	f.ask(session(bob, "s1"), f.said("e1"))
	f.clock.advance(time.Second)
	f.ask(session(ann, "s1"), f.said("e2"))
	works := f.claim("worker", 1)
	if len(works) != 1 || works[0].Key != session(ann, "s1") || works[0].Requested != 2 {
		f.t.Errorf("Claim gives %+v, want ann's two events", works)
	}
}

// A scope has one piece of work in progress at a time, its oldest first. The
// next waits until that is done. Facts are compared with known ones, so the
// work of a scope has one order.
func progressOnePerScope(f *fixture) {
	for i := range 3 {
		f.clock.advance(time.Second)
		f.ask(session(ann, fmt.Sprintf("s%d", i)), f.said("e1"))
	}
	f.clock.advance(time.Second)
	f.ask(session(bob, "s9"), f.said("e1"))
	works := f.claim("worker", 10)
	if len(works) != 2 || works[0].Key != session(ann, "s0") || works[1].Key != session(bob, "s9") {
		f.t.Fatalf("Claim gives %+v, want ann's s0 and bob's s9", works)
	}
	f.finish(works[1], 1)
	f.finish(works[0], 1)
	for i := 1; i < 3; i++ {
		f.finish(f.claimOne(session(ann, fmt.Sprintf("s%d", i))), 1)
	}
	f.idle("all is done")
}

// Events are read by number: those above after, at most limit, in order of
// arrival, whatever their timestamps. A batch is a range of numbers: late
// events must not move into a batch that is done.
func progressEvents(f *fixture) {
	key := session(ann, "s1")
	f.create(session(ann, "s0"), `{}`, f.said("another's"))
	at := f.now()
	f.ask(key, f.saidAt("e1", at), f.saidAt("e2", at.Add(-time.Hour)), f.saidAt("e3", at.Add(time.Hour)), f.saidAt("e4",
		at), f.saidAt("e5", at.Add(-time.Minute)))
	work := f.claimOne(key)
	all := f.events(work, 0, 10)
	for i, n := range all {
		f.equal("number", n.Seq, int64(i+1))
		f.equal("id", n.ID, fmt.Sprintf("e%d", i+1))
	}
	f.equal("events", len(all), 5)
	for after := range 6 {
		for limit := range 7 {
			f.equal(fmt.Sprintf("after %d, limit %d", after, limit), f.events(work, int64(after), limit),
				all[after:min(after+limit, 5)])
		}
	}
	f.finish(work, 2)
	work = f.claimOne(key)
	f.equal("done ones too", f.events(work, 0, 10), all)
	f.equal("the next", f.events(work, work.Done, 10), all[2:])
}

// events reads events of work.
func (f *fixture) events(work sessionstore.Work, after int64, limit int) []sessionstore.NumberedEvent {
	f.t.Helper()
	out, err := f.Events(f.t.Context(), work, after, limit)
	if err != nil {
		f.t.Fatalf("Events(%v, %d, %d): %v", work.Key, after, limit, err)
	}
	return out
}

// Partial and repeated events take no number, so numbers have no gaps.
// Positions count events, and a range of numbers is a number of events.
func progressNumbers(f *fixture) {
	key := session(ann, "s1")
	part := f.event(`{"author":"user","partial":true}`)
	f.create(key, `{}`, part, f.said("e1"), part)
	f.append(key, f.said("e1"), part, f.said("e2"), f.said("e2"))
	op := f.ask(key, f.said("e2"), f.said("e3"), part)
	f.equal("events", op.EventsTotal, 3)
	work := f.claimOne(key)
	f.equal("requested", work.Requested, int64(3))
	for i, n := range f.events(work, 0, 10) {
		f.equal("number", n.Seq, int64(i+1))
		f.equal("id", n.ID, fmt.Sprintf("e%d", i+1))
	}
}

// Work says whether its session has ever had an event that takes others back.
// Ingestion reads the whole session only if there is something to take back.
func progressRewinds(f *fixture) {
	for want, doc := range map[bool]string{
		false: `{"id": "e2", "author": "user"}`,
		true:  `{"id": "e2", "author": "user", "actions": {"rewindBeforeInvocationId": "i"}}`,
	} {
		key := session(ann, fmt.Sprint(want))
		f.ask(key, f.said("e1"), f.event(doc))
		for done := range 2 {
			work := f.claimOne(key)
			f.equal("rewinds", work.Rewinds, want)
			f.finish(work, int64(done+1))
		}
	}
}
