package sessiontest

import (
	"fmt"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// leaseCases are the promises of leases: at any time one worker at most works
// in a scope, and a worker that lost its lease changes nothing.
func leaseCases() []testCase {
	return []testCase{
		{"bars all claims", leaseBars},
		{"ends by the clock", leaseEnds},
		{"is renewed", leaseRenewed},
		{"is renewed by its owner only", leaseOwner},
		{"ends with the work", leaseEndsWithWork},
		{"a late worker does no harm", leaseLate},
		{"a late failure is refused", leaseLateFail},
		{"a late plan and a late end are refused", leaseLateSave},
		{"across a restart", leaseRestart},
		{"apps take turns", leaseTurns},
		{"an app with much work hides no other", leaseManyScopes},
	}
}

// An app that has requested much before others does not delay them, whether its
// work is claimed together or one piece after another. One tenant's import must
// not be another tenant's wait.
func leaseTurns(f *fixture) {
	for i := range 20 {
		f.ask(session(memory.Scope{App: "busy", User: fmt.Sprint("u", i)}, "s"), f.said("e"))
		f.clock.advance(time.Second)
	}
	for _, app := range []string{"calm", "rare"} {
		for i := range 2 {
			f.ask(session(memory.Scope{App: app, User: fmt.Sprint("u", i)}, "s"), f.said("e"))
			f.clock.advance(time.Second)
		}
	}
	apps := func(works []sessionstore.Work) (out []string) {
		for _, w := range works {
			out = append(out, w.Key.App+" "+w.Key.User)
		}
		return out
	}
	// Each app gets one scope before the busy one gets its second. Scopes that are
	// leased already count as turns, no matter which claim leased them.
	first := f.claim("worker", 4)
	f.equal("together", apps(first), []string{"busy u0", "calm u0", "rare u0", "busy u1"})
	f.equal("one more", apps(f.claim("worker", 1)), []string{"calm u1"})
	f.equal("another", apps(f.claim("another", 1)), []string{"rare u1"})
	f.equal("the rest", apps(f.claim("worker", 2)), []string{"busy u2", "busy u3"})
	f.finish(first[0], 1)
	f.ask(session(memory.Scope{App: "calm", User: "u2"}, "s"), f.said("e"))
	f.equal("of fewer leased", apps(f.claim("worker", 1)), []string{"calm u2"})
}

// An app that has requested much, in more scopes than a store looks at in one claim,
// does not hide another app that requested later. One tenant's import must not keep
// another tenant's work from being claimed at all.
func leaseManyScopes(f *fixture) {
	for i := range manyScopes {
		f.ask(session(memory.Scope{App: "busy", User: fmt.Sprint("u", i)}, "s"), f.said("e"))
	}
	f.clock.advance(time.Second)
	// Several, so that each part into which a store divides its work has some of them.
	want := []string{"busy"}
	for i := range 8 {
		want = append(want, fmt.Sprint("calm", i))
		f.ask(session(memory.Scope{App: want[i+1], User: "u"}, "s"), f.said("e"))
		f.clock.advance(time.Second)
	}
	var got []string
	for range want {
		for _, w := range f.claim("worker", 1) {
			got = append(got, w.Key.App)
		}
	}
	f.equal("apps", got, want)
}

// manyScopes is more than a store would look at in one claim that took no turns.
const manyScopes = 1500

// A worker whose lease has ended cannot fail the work of the worker that has it
// now. It would end the lease of the other worker.
func leaseLateFail(f *fixture) {
	key := session(ann, "s1")
	op := f.ask(key, f.said("e1"))
	slow := f.claimOne(key)
	f.clock.advance(leaseTTL + time.Second)
	now := f.claimOne(key)
	f.isA("Fail by the slow one", f.Fail(f.t.Context(), slow, "too slow", time.Time{}), memory.ErrAborted)
	f.equal("state", f.operation(ann, op.ID).State, sessionstore.Running)
	f.idle("still leased")
	f.finish(now, 1)
	f.equal("state", f.operation(ann, op.ID).State, sessionstore.Succeeded)
}

// A worker whose lease has ended can neither replace the plan that the next
// worker follows, nor finish the work. The saved plan is what makes a retry do
// the same again.
func leaseLateSave(f *fixture) {
	key := session(ann, "s1")
	f.ask(key, f.said("e1"))
	slow := f.claimOne(key)
	f.clock.advance(leaseTTL + time.Second)
	now := f.claimOne(key)
	f.save(now, 1, `"now"`)
	f.isA("Save by the slow one", f.Save(f.t.Context(), slow, 1, []byte(`"slow"`)), memory.ErrAborted)
	f.isA("Finish by the slow one", f.Finish(f.t.Context(), slow, 1, nil), memory.ErrAborted)
	f.idle("still leased")
	f.clock.advance(leaseTTL + time.Second)
	f.equal("plan", string(f.claimOne(key).Plan), `"now"`)
}

// While a scope is leased none of its work is claimed, neither by others nor by
// the lease's owner, nor is work that is requested meanwhile. Other scopes can
// be claimed. This is how several processes keep to one writer per scope.
func leaseBars(f *fixture) {
	f.ask(session(ann, "s1"), f.said("e1"))
	f.claimOne(session(ann, "s1"))
	f.ask(session(ann, "s1"), f.said("e2"))
	f.ask(session(ann, "s2"), f.said("e1"))
	f.clock.advance(leaseTTL - time.Second)
	f.equal("work for the owner", len(f.claim("worker", 10)), 0)
	f.equal("work for another", len(f.claim("another", 10)), 0)
	f.ask(session(bob, "s1"), f.said("e1"))
	f.claimOne(session(bob, "s1"))
}

// A lease that has ended bars no claim. The next claim gets the work, as one
// more attempt. A worker that died must not block its scope.
func leaseEnds(f *fixture) {
	key := session(ann, "s1")
	op := f.ask(key, f.said("e1"))
	first := f.claimOne(key)
	f.clock.advance(leaseTTL)
	works := f.claim("another", 10)
	if len(works) != 1 {
		f.t.Fatalf("Claim after the lease gives %+v", works)
	}
	want := first
	want.Attempts = 2
	f.equal("work", works[0], want)
	f.equal("attempts of the operation", f.operation(ann, op.ID).Attempts, 2)
	f.isA("Renew by the first", f.Renew(f.t.Context(), ann, "worker", leaseTTL), memory.ErrAborted)
	f.finish(works[0], 1)
	f.equal("state", string(f.operation(ann, op.ID).State), "SUCCEEDED")
}

// Renew counts from the present time, each time. Work with a slow model takes
// longer than one lease.
func leaseRenewed(f *fixture) {
	key := session(ann, "s1")
	f.ask(key, f.said("e1"))
	work := f.claimOne(key)
	for range 3 {
		f.clock.advance(leaseTTL - time.Second)
		f.idle("leased")
		if err := f.Renew(f.t.Context(), ann, "worker", leaseTTL); err != nil {
			f.t.Fatal(err)
		}
	}
	f.clock.advance(leaseTTL - time.Second)
	f.idle("renewed")
	f.clock.advance(time.Second)
	f.equal("work", f.claimOne(key).Ref, work.Ref)
}

// Only its owner renews a lease, on its own scope. Anything else is ErrAborted
// and changes nothing. A worker learns from ErrAborted that it has to stop.
func leaseOwner(f *fixture) {
	f.isA("Renew of no lease", f.Renew(f.t.Context(), ann, "worker", leaseTTL), memory.ErrAborted)
	f.ask(session(ann, "s1"), f.said("e1"))
	f.claimOne(session(ann, "s1"))
	f.isA("Renew by another", f.Renew(f.t.Context(), ann, "another", 2*leaseTTL), memory.ErrAborted)
	f.isA("Renew of another scope", f.Renew(f.t.Context(), bob, "worker", 2*leaseTTL), memory.ErrAborted)
	f.clock.advance(leaseTTL)
	f.claimOne(session(ann, "s1"))
}

// Finish and Fail end the lease: the next work of the scope can be claimed at
// once, and there is nothing to renew. A scope with much work does not wait for
// leases to run out.
func leaseEndsWithWork(f *fixture) {
	for _, id := range []string{"s1", "s2", "s3"} {
		f.clock.advance(time.Second)
		f.ask(session(ann, id), f.said("e1"))
	}
	f.finish(f.claimOne(session(ann, "s1")), 1)
	f.isA("Renew after Finish", f.Renew(f.t.Context(), ann, "worker", leaseTTL), memory.ErrAborted)
	f.fail(f.claimOne(session(ann, "s2")), "no", f.now().Add(time.Hour))
	f.isA("Renew after Fail", f.Renew(f.t.Context(), ann, "worker", leaseTTL), memory.ErrAborted)
	f.finish(f.claimOne(session(ann, "s3")), 1)
}

// A worker whose lease has ended cannot undo the work that another has done:
// Finish is ErrAborted, and neither its plan nor its failure counts. Its
// results were computed without those of the other worker.
func leaseLate(f *fixture) {
	key := session(ann, "s1")
	op := f.ask(key, f.said("e1"), f.said("e2"), f.said("e3"))
	late := f.claimOne(key)
	f.clock.advance(leaseTTL)
	f.finish(f.claimOne(key), 2, change(1), change(2))

	f.isA("Finish to less", f.Finish(f.t.Context(), late, 1, nil), memory.ErrAborted)
	f.isA("Finish to more", f.Finish(f.t.Context(), late, 3, nil), memory.ErrAborted)
	for _, call := range []func() error{
		func() error { return f.Save(f.t.Context(), late, 3, []byte(`"a plan that begins at 1"`)) },
		func() error { return f.Fail(f.t.Context(), late, "late", time.Time{}) },
		func() error { return f.Fail(f.t.Context(), late, "late", f.now().Add(time.Hour)) },
	} {
		if err := call(); err != nil {
			f.isA("a late call", err, memory.ErrAborted)
		}
	}
	got := f.operation(ann, op.ID)
	f.equal("events done", got.EventsDone, 2)
	f.equal("changes", len(f.changes(ann, op.ID)), 2)

	work := f.claimOne(key)
	f.equal("done", work.Done, int64(2))
	f.equal("plan", string(work.Plan), "")
	f.isA("Finish, once more", f.Finish(f.t.Context(), late, 3, nil), memory.ErrAborted)
	if err := f.Fail(f.t.Context(), late, "late", time.Time{}); err != nil {
		f.isA("Fail, once more", err, memory.ErrAborted)
	}
	f.idle("the lease of the other stands")
	f.finish(work, 3, change(3))
	if err := f.Fail(f.t.Context(), late, "late", time.Time{}); err != nil {
		f.isA("Fail", err, memory.ErrAborted)
	}
	f.equal("state", string(f.operation(ann, op.ID).State), "SUCCEEDED")
}

// Leases of an embedded store are void when it starts, as their owners are
// gone. In other stores they outlive a restart. A restarted embedded memoryd
// resumes its work at once.
func leaseRestart(f *fixture) {
	key := session(ann, "s1")
	f.ask(key, f.said("e1"))
	f.claimOne(key)
	f.reopen()
	if !f.harness.Embedded {
		f.idle("leased")
		f.clock.advance(leaseTTL)
	}
	f.equal("attempts", f.claimOne(key).Attempts, 2)
}
