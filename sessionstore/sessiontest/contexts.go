package sessiontest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/memoryd/memoryd/sessionstore"
)

// contextCases check calls whose context ends before or during the call.
func contextCases() []testCase {
	return []testCase{
		{"cancelled before the call", contextCancelled},
		{"cancelled during the call", contextCancelledDuring},
	}
}

// A call whose context has ended returns the context's error and changes
// nothing. A client that has gone away does not cause writes.
func contextCancelled(f *fixture) {
	key, other := session(ann, "s1"), session(bob, "s1")
	f.create(key, `{"k":1,"user:k":1}`, f.said("e1"))
	op := f.ask(key)
	failed := f.ask(other, f.said("e1"))
	works := f.claim("worker", 10)
	work := works[0]
	if work.Key != key {
		work = works[1]
		f.fail(works[0], "no", time.Time{})
	} else {
		f.fail(works[1], "no", time.Time{})
	}
	want, wantOp, wantFailed := f.get(key), f.operation(ann, op.ID), f.operation(bob, failed.ID)

	ctx, cancel := context.WithCancel(f.t.Context())
	cancel()
	events := []sessionstore.Event{f.sets("e2", `{"k":2,"user:k":2,"app:k":2}`)}
	for name, call := range map[string]func() error{
		"Create": func() error {
			_, err := f.Create(ctx, session(ann, "s2"), sessionstore.Create{State: f.state(`{"user:k":3}`)})
			return err
		},
		"Get":     func() error { _, err := f.Get(ctx, key, sessionstore.Get{NumRecent: -1}); return err },
		"List":    func() error { _, err := f.List(ctx, ann, sessionstore.List{}); return err },
		"ListApp": func() error { _, err := f.ListApp(ctx, "shop", sessionstore.List{}); return err },
		"State":   func() error { _, err := f.State(ctx, ann, 0); return err },
		"Append": func() error {
			_, err := f.Append(ctx, key, events,
				sessionstore.Append{Request: &sessionstore.Request{ID: sessionstore.OperationID(ann, "x")}})
			return err
		},
		"Append that creates": func() error {
			_, err := f.Append(ctx, session(ann, "s3"), events, sessionstore.Append{Create: true})
			return err
		},
		"Delete": func() error { return f.Delete(ctx, key) },
		"Claim":  func() error { _, err := f.Claim(ctx, "another", leaseTTL, 10); return err },
		"Renew":  func() error { return f.Renew(ctx, ann, "worker", 100*leaseTTL) },
		"Events": func() error { _, err := f.Events(ctx, work, 0, 10); return err },
		"Save":   func() error { return f.Save(ctx, work, 1, []byte(`"plan"`)) },
		"Finish": func() error { return f.Finish(ctx, work, 1, nil) },
		"Fail":   func() error { return f.Fail(ctx, work, "cancelled", time.Time{}) },
		"Status": func() error { _, err := f.Status(ctx, ann, op.ID); return err },
		"Changes": func() error {
			_, _, err := f.Changes(ctx, ann, op.ID, sessionstore.ChangePosition{})
			return err
		},
		"Backlog":    func() error { _, err := f.Backlog(ctx); return err },
		"Operations": func() error { _, _, err := f.Operations(ctx, ann, sessionstore.List{}); return err },
		"Retry":      func() error { _, err := f.Retry(ctx, bob, failed.ID); return err },
	} {
		if err := call(); !errors.Is(err, context.Canceled) {
			f.t.Errorf("%s: error is %v, want %v", name, err, context.Canceled)
		}
		f.equal(name+": session", f.get(key), want)
		f.equal(name+": sessions", len(f.listApp("shop", 0)), 2)
		f.equal(name+": operation", f.operation(ann, op.ID), wantOp)
		f.equal(name+": failed operation", f.operation(bob, failed.ID), wantFailed)
		ops, _, err := f.Operations(f.t.Context(), ann, sessionstore.List{})
		if err != nil || len(ops) != 1 {
			f.t.Errorf("%s: Operations gives %v, %v", name, ops, err)
		}
		f.idle(name)
	}
	f.clock.advance(leaseTTL)
	again := f.claimOne(key) // the lease was not renewed
	f.equal("work", again, sessionstore.Work{Key: key, Ref: work.Ref, Requested: 1, Attempts: 2,
		Request: sessionstore.Request{ID: op.ID}})
}

// A call whose context ends while it runs does all of its work or none, and all
// of it if it returns no error. The caller sends a failed call again, so half
// of it must not be stored.
func contextCancelledDuring(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{}`)
	const calls, batch = 40, 5
	answered := make([]bool, calls)
	f.together(calls, func(i int) error {
		ctx, cancel := context.WithCancel(f.t.Context())
		var wg sync.WaitGroup
		wg.Go(cancel)
		defer wg.Wait()
		var events []sessionstore.Event
		for n := range batch {
			e, err := sessionstore.ParseEvent(fmt.Appendf(nil,
				`{"id":"e%d-%d","author":"user","actions":{"stateDelta":{"%d-%d":1,"user:%d-%d":1}}}`, i, n, i, n, i,
				n))
			if err != nil {
				return err
			}
			events = append(events, e)
		}
		_, err := f.Append(ctx, key, events, sessionstore.Append{})
		answered[i] = err == nil
		return nil
	})
	got := f.get(key)
	stored := map[string]bool{}
	for _, e := range got.Events {
		stored[e.ID] = true
	}
	// A call that failed may have stored its events all the same, but then all of
	// them, with their state.
	for i := range calls {
		whole := stored[fmt.Sprintf("e%d-0", i)]
		if answered[i] && !whole {
			f.t.Errorf("call %d was answered, and its events are not there", i)
		}
		for n := range batch {
			_, own := got.State[fmt.Sprintf("%d-%d", i, n)]
			_, shared := got.State[fmt.Sprintf("user:%d-%d", i, n)]
			if stored[fmt.Sprintf("e%d-%d", i, n)] != whole || own != whole || shared != whole {
				f.t.Errorf("call %d is there in part: %v", i, eventIDs(got.Events))
			}
		}
	}
}
