package sessiontest

import (
	"fmt"
	"time"

	"github.com/memoryd/memoryd/sessionstore"
)

// A dry run counts what the erasing would, however much that is, and changes nothing: no
// session, no state, no operation, no lease, no plan and no work. A person who looks first
// relies on it.
func eraseDryRuns(f *fixture) {
	key := session(zoe, "s0")
	for i := range 20 {
		f.ask(session(zoe, fmt.Sprintf("s%d", i)), f.said(fmt.Sprintf("e%d", i)))
	}
	for i := range 200 { // so that all have more operations, and more work, than a page has
		key := session(zoe, fmt.Sprintf("gone%d", i))
		f.ask(key, f.said("a"), f.said("b"))
		f.delete(key)
	}
	f.askOneShot(session(zoe, "once"), f.said("c"))
	f.create(session(zoe, "state"), `{"mood":"calm","user:kept":1}`)
	work := f.claimOne(key)
	f.save(work, 1, `"plan"`)
	looked := func() []any { return []any{f.list(zoe, 0), f.get(key), f.backlog(), f.operation(zoe, work.Request.ID)} }
	before := looked()
	const all = 20 + 2*200 + 1 // events
	dry := func(what string, want sessionstore.Erased, erase func() (sessionstore.Erased, error)) {
		f.t.Helper()
		got, err := erase()
		if err != nil {
			f.t.Fatal(err)
		}
		f.equal(what, got, want)
	}
	for range 2 {
		dry("a session", sessionstore.Erased{Sessions: 1, Events: 1},
			func() (sessionstore.Erased, error) { return f.EraseSession(f.t.Context(), key, true) })
		dry("a deleted session", sessionstore.Erased{Events: 2},
			func() (sessionstore.Erased, error) { return f.EraseSession(f.t.Context(), session(zoe, "gone7"), true) })
		dry("a user", sessionstore.Erased{Sessions: 21, Events: all},
			func() (sessionstore.Erased, error) { return f.EraseUser(f.t.Context(), zoe, true) })
		if n, err := f.EraseEvents(f.t.Context(), key, []string{"e0"}, true); err != nil || n != 1 {
			f.t.Errorf("events: %d, %v", n, err)
		}
	}
	f.equal("what there is", looked(), before)
	f.finish(work, 1, sessionstore.Change{Seq: 1, Doc: []byte(`"done"`)})
	f.ask(session(zoe, "s1"), f.said("more")) // which two operations wait for
	f.fail(f.claimOne(session(zoe, "s1")), "given up", time.Time{})
	f.delete(session(zoe, "s1"))
	f.equal("erased", f.eraseAll(zoe).Events, all+1)
}
