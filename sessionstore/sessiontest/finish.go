package sessiontest

import (
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// finishCases are the promises of Progress.Save and Progress.Finish: positions,
// plans and attempts.
func finishCases() []testCase {
	return []testCase{
		{"moves the position", finishMoves},
		{"in part", finishPart},
		{"stale", finishStale},
		{"events requested meanwhile", finishMeanwhile},
		{"plan", finishPlan},
		{"plan replaced", finishPlanReplaced},
		{"plan dropped", finishPlanDropped},
		{"attempts", finishAttempts},
	}
}

// Finish takes the work from the list. Done work is not claimed again.
func finishMoves(f *fixture) {
	key := session(ann, "s1")
	f.ask(key, f.said("e1"), f.said("e2"))
	f.finish(f.claimOne(key), 2)
	f.idle("all is done")
	f.clock.advance(2 * leaseTTL)
	f.idle("all stays done")
	f.hasEvents("the session", f.get(key).Events, "e1", "e2")
}

// The rest of the work can be claimed at once after a Finish of a part. Long
// sessions are done in batches, and other sessions of the app get their turn
// between them.
func finishPart(f *fixture) {
	key := session(ann, "s1")
	op := f.ask(key, f.said("e1"), f.said("e2"), f.said("e3"))
	for to := range int64(3) {
		work := f.claimOne(key)
		f.equal("work", work, sessionstore.Work{Key: key, Ref: work.Ref, Done: to, Requested: 3, Attempts: 1,
			Request: sessionstore.Request{ID: op.ID}})
		f.finish(work, to+1)
		f.equal("events done", f.operation(ann, op.ID).EventsDone, int(to)+1)
	}
	f.idle("all is done")
}

// Finish from a position that has moved is ErrAborted, and records nothing. The
// caller did work that another had done already.
func finishStale(f *fixture) {
	key := session(ann, "s1")
	op := f.ask(key, f.said("e1"), f.said("e2"))
	work := f.claimOne(key)
	f.finish(work, 1, change(1))
	f.isA("Finish again", f.Finish(f.t.Context(), work, 1, []sessionstore.Change{change(1)}), memory.ErrAborted)
	f.isA("Finish again, further", f.Finish(f.t.Context(), work, 2, []sessionstore.Change{change(1), change(2)}),
		memory.ErrAborted)
	ahead := work
	ahead.Done = 2
	f.isA("Finish from ahead", f.Finish(f.t.Context(), ahead, 2, nil), memory.ErrAborted)
	got := f.operation(ann, op.ID)
	f.equal("changes", len(f.changes(ann, op.ID)), 1)
	f.equal("events done", got.EventsDone, 1)
	f.equal("done", f.claimOne(key).Done, int64(1))
}

// Events that are requested while the work is in progress become the next work.
// A request is never lost because of its moment.
func finishMeanwhile(f *fixture) {
	key := session(ann, "s1")
	f.ask(key, f.said("e1"))
	work := f.claimOne(key)
	op := f.ask(key, f.said("e2"))
	f.append(key, f.said("e3"))
	f.finish(work, 1)
	next := f.claimOne(key)
	f.equal("next", next, sessionstore.Work{Key: key, Ref: work.Ref, Done: 1, Requested: 2, Attempts: 1,
		Request: sessionstore.Request{ID: op.ID}})
	f.finish(next, 2)
	f.idle("e3 was not asked for")
}

// A saved plan comes back byte for byte with each later Claim, however the
// attempt ended. Models do not repeat themselves, so a retry has to apply the
// first plan.
func finishPlan(f *fixture) {
	key := session(ann, "s1")
	f.ask(key, f.said("e1"), f.said("e2"), f.said("e3"))
	work := f.claimOne(key)
	f.equal("plan at first", string(work.Plan), "")
	plan := `{"z":1, "a":[12345678901234567890,"<é>"]}`
	f.save(work, 2, plan)
	f.fail(work, "after the plan", f.now().Add(time.Minute))
	f.clock.advance(time.Minute)
	for range 2 {
		got := f.claimOne(key)
		f.equal("plan", string(got.Plan), plan)
		f.equal("plan's end", got.PlanTo, int64(2))
		f.equal("done", got.Done, int64(0))
		f.clock.advance(leaseTTL)
	}
	f.ask(key, f.said("e4"))
	got := f.claimOne(key)
	f.equal("plan with more asked for", string(got.Plan), plan)
	f.equal("its end", got.PlanTo, int64(2))
	f.equal("requested", got.Requested, int64(4))
}

// The last saved plan counts. A plan is saved in steps: what a model found,
// then the changes.
func finishPlanReplaced(f *fixture) {
	key := session(ann, "s1")
	f.ask(key, f.said("e1"), f.said("e2"))
	work := f.claimOne(key)
	f.save(work, 1, `"first"`)
	f.save(work, 2, `"second"`)
	f.clock.advance(leaseTTL)
	got := f.claimOne(key)
	f.equal("plan", string(got.Plan), `"second"`)
	f.equal("its end", got.PlanTo, int64(2))
}

// Finish drops the plan, whether it finishes all of the work or a part. A plan
// of done events would be applied to the next ones.
func finishPlanDropped(f *fixture) {
	key := session(ann, "s1")
	op := f.ask(key, f.said("e1"), f.said("e2"), f.said("e3"))
	work := f.claimOne(key)
	f.save(work, 2, `"plan"`)
	f.finish(work, 2)
	work = f.claimOne(key)
	f.equal("work", work, sessionstore.Work{Key: key, Ref: work.Ref, Done: 2, Requested: 3, Attempts: 1,
		Request: sessionstore.Request{ID: op.ID}})
	f.save(work, 3, `"plan"`)
	f.finish(work, 3)
	op = f.ask(key, f.said("e4"))
	got := f.claimOne(key)
	f.equal("work", got, sessionstore.Work{Key: key, Ref: work.Ref, Done: 3, Requested: 4, Attempts: 1,
		Request: sessionstore.Request{ID: op.ID}})
}

// The attempts of work count since the last success. Those of an operation
// count its beginning once, and each time that some of it is tried again. The
// number decides when to give up, and users see that of the operation.
func finishAttempts(f *fixture) {
	key := session(ann, "s1")
	op := f.ask(key, f.said("e1"), f.said("e2"))
	for i := range 3 {
		work := f.claimOne(key)
		f.equal("attempts of the work", work.Attempts, i+1)
		f.equal("attempts of the operation", f.operation(ann, op.ID).Attempts, i+1)
		if i < 2 {
			f.fail(work, "no", f.now())
		} else {
			f.finish(work, 1)
		}
	}
	work := f.claimOne(key)
	f.equal("attempts after a success", work.Attempts, 1)
	f.finish(work, 2)
	f.equal("attempts of the operation", f.operation(ann, op.ID).Attempts, 3)
}
