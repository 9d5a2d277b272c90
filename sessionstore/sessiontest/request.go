package sessiontest

import (
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// requestCases are the promises about Append.Request: a request is kept whole,
// and the worker gets it.
func requestCases() []testCase {
	return []testCase{
		{"is kept", requestKept},
		{"the oldest is claimed", requestOldest},
		{"each event has its own", requestOfEvents},
		{"without an id", requestWithoutID},
		{"names its events", requestNamesEvents},
		{"an id that is taken", requestTwice},
	}
}

// The operation, in every way to read it, and the work have the whole request,
// also after a restart. The worker decides by it, possibly in another process
// and after an upgrade.
func requestKept(f *fixture) {
	for _, r := range []sessionstore.Request{{}, {DisableConsolidation: true}, {Facts: true}, {Forget: true},
		{Rollback: "operation"},
		{DisableConsolidation: true, Facts: true},
		{Traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
		{AllowedTopics: []string{"DIET"}, TTL: time.Hour, Metadata: memory.Metadata{"k": []byte(`{"a":"<é>"}`)},
			MetadataMerge: sessionstore.MergeUnite, Labels: memory.Labels{"release": "7"}}} {
		key := session(ann, "s1")
		op := f.askWith(key, sessionstore.Append{Create: true, Request: &r}, f.said("e1"))
		r.ID = op.ID
		check := func() {
			f.t.Helper()
			f.equal("Operation", f.operation(ann, op.ID).Request, r)
			list, _, err := f.Operations(f.t.Context(), ann, sessionstore.List{})
			if err != nil || len(list) != 1 {
				f.t.Fatalf("Operations gives %+v, %v; want one", list, err)
			}
			f.equal("Operations", list[0].Request, r)
		}
		check()
		f.reopen()
		check()
		work := f.claimOne(key)
		f.equal("work", work.Request, r)
		f.finish(work, 1)
		check()
		f.delete(key)
		f.clock.advance(sessionstore.OperationTTL + 1e9)
	}
}

// A request whose id an operation has is refused, and stores nothing: two callers may
// ask for one thing at the same time.
func requestTwice(f *fixture) {
	key := session(ann, "s1")
	first := f.ask(key, f.said("e1"))
	before := f.get(key)
	for _, again := range []sessionstore.Append{{Create: true}, {OneShot: true}} {
		again.Request = &sessionstore.Request{ID: first.ID}
		_, err := f.Append(f.t.Context(), key, []sessionstore.Event{f.said("e2")}, again)
		f.isA("Append with the id of an operation", err, memory.ErrExists)
	}
	f.equal("session", f.get(key), before)
	work := f.claimOne(key)
	f.finish(work, work.Requested)
	f.equal("EventsTotal", f.operation(ann, first.ID).EventsTotal, 1)
	f.idle("the second request stored nothing")
}

// Work has the oldest request that waits for it, one after another, whatever
// their ids are. One batch can follow the options of one request only, and the
// oldest has waited longest.
func requestOldest(f *fixture) {
	key := session(ann, "s1")
	var want []sessionstore.Request
	for i, id := range []string{"b", "c", "a"} {
		r := sessionstore.Request{ID: sessionstore.OperationID(ann, id), DisableConsolidation: i == 1}
		f.appendWith(key, sessionstore.Append{Create: true, Request: &r}, f.said(id))
		want = append(want, r)
	}
	for i, r := range want {
		work := f.claimOne(key)
		f.equal("request", work.Request, r)
		f.finish(work, int64(i+1))
	}
	f.idle("all is done")
}

// Work tells which operation asked for each event first, whatever their ids are: one
// batch may have events of several, and each change belongs to one. A later operation
// covers what waits for an earlier one, and is not the first to ask for that.
func requestOfEvents(f *fixture) {
	key := session(ann, "s1")
	ask := func(id string, events ...sessionstore.Event) string {
		op := sessionstore.OperationID(ann, id)
		f.appendWith(key, sessionstore.Append{Create: true, Request: &sessionstore.Request{ID: op}}, events...)
		return op
	}
	b := ask("b", f.said("e1"), f.said("e2"))
	alone := f.claimOne(key)
	f.equal("one operation", alone.Asked, []sessionstore.Asked(nil))
	f.equal("of its events", alone.OperationOf(2), b)
	c := ask("c", f.said("e3"))
	ask("a") // for nothing that was not asked for
	d := ask("d", f.said("e4"), f.said("e5"))
	f.clock.advance(time.Hour) // the lease ends
	f.reopen()
	work := f.claimOne(key)
	f.equal("several", work.Asked, []sessionstore.Asked{{Operation: b, Last: 2}, {Operation: c, Last: 3},
		{Operation: d, Last: 5}})
	for seq, want := range map[int64]string{1: b, 2: b, 3: c, 4: d, 5: d} {
		f.equal("operation of an event", work.OperationOf(seq), want)
	}
	f.finish(work, 3)
	work = f.claimOne(key)
	f.equal("what is left", work.OperationOf(4), d)
}

// A request without an id is refused, and nothing is stored. Its operation
// could not be found.
func requestWithoutID(f *fixture) {
	key := session(ann, "s1")
	_, err := f.Append(f.t.Context(), key, []sessionstore.Event{f.said("e1")}, sessionstore.Append{Create: true,
		Request: &sessionstore.Request{Facts: true}})
	f.isA("Append", err, memory.ErrInvalid)
	f.missing(key)
	f.idle("nothing was requested")
}

// Append says which events the operation is about, in a form that Events reads:
// those that memories were not made of, in order of arrival, however late they
// arrived. Ingestion writes their turns before it answers.
func requestNamesEvents(f *fixture) {
	key := session(ann, "s1")
	waiting := func(out sessionstore.Appended, want ...string) {
		f.t.Helper()
		w := out.Requested
		f.equal("key", w.Key, key)
		f.equal("number of events", int(w.Requested-w.Done), len(want))
		f.equal("the operation's", out.Operation.EventsTotal, len(want))
		got, err := f.Events(f.t.Context(), w, w.Done, 10)
		if err != nil {
			f.t.Fatal(err)
		}
		var ids []string
		for i, e := range got {
			ids = append(ids, e.ID)
			f.equal("number", e.Seq, w.Done+int64(i)+1)
		}
		f.equal("events", ids, want)
	}
	n := 0
	ask := func(opts sessionstore.Append, events ...sessionstore.Event) sessionstore.Appended {
		f.t.Helper()
		n++
		opts.Request = &sessionstore.Request{ID: sessionstore.OperationID(ann, string(rune('a'+n)))}
		return f.appendWith(key, opts, events...)
	}
	f.create(key, `{}`, f.said("e1"))
	f.equal("without a request", f.append(key, f.said("e2")).Requested, sessionstore.Work{})
	waiting(ask(sessionstore.Append{}, f.saidAt("e0", f.now().Add(-time.Hour)), f.said("e1")), "e1", "e2", "e0")
	waiting(ask(sessionstore.Append{}), "e1", "e2", "e0")
	f.finish(f.claimOne(key), 3)
	waiting(ask(sessionstore.Append{}))
	waiting(ask(sessionstore.Append{}, f.said("e3")), "e3")
	waiting(ask(sessionstore.Append{OneShot: true}, f.said("e1"), f.said("e4")), "e1", "e4")
}
