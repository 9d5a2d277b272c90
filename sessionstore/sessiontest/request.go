package sessiontest

import (
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// requestCases are the promises about Append.Request: a request is kept whole,
// and the worker gets it.
func requestCases() []testCase {
	return []testCase{
		{"is kept", requestKept},
		{"the oldest is claimed", requestOldest},
		{"without an id", requestWithoutID},
	}
}

// The operation, in every way to read it, and the work have the whole request,
// also after a restart. The worker decides by it, possibly in another process
// and after an upgrade.
func requestKept(f *fixture) {
	for _, r := range []sessionstore.Request{{}, {DisableConsolidation: true}, {Facts: true},
		{DisableConsolidation: true, Facts: true}} {
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
