package sessiontest

import (
	"fmt"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// appOperations reads the ids of an app's operations, page by page.
func (f *fixture) appOperations(app string, list sessionstore.OperationList) (ids []string) {
	f.t.Helper()
	for range 1000 {
		ops, next, err := f.AppOperations(f.t.Context(), app, list)
		if err != nil {
			f.t.Fatalf("AppOperations: %v", err)
		}
		if list.PageSize > 0 && len(ops) > list.PageSize {
			f.t.Errorf("a page of %d has %d operations", list.PageSize, len(ops))
		}
		for _, op := range ops {
			ids = append(ids, op.ID)
		}
		if list.PageToken = next; next == "" {
			return ids
		}
	}
	f.t.Fatal("the pages do not end")
	return nil
}

// opOf has a user of an app ask for the memories of one event, a second after all before.
func (f *fixture) opOf(app, user, id string) sessionstore.Operation {
	f.t.Helper()
	f.clock.advance(time.Second)
	return f.ask(sessionstore.Key{Scope: memory.Scope{App: app, User: user}, ID: id}, f.said("e"+f.now().String()))
}

// An app's operations are those of all its users and of no other app, newest first, as Status
// reads them, those of sessions that are gone too. A user narrows them. One that ended long
// ago is gone, and one that has not ended stays.
func operationsOfApp(f *fixture) {
	first := f.opOf("shop", "ann", "s1")
	second := f.opOf("shop", "bob", "s1")
	f.opOf("shop2", "ann", "s1")
	third := f.opOf("shop", "ann", "s2")
	fourth := f.opOf("shop", "ann", "s1")
	want := []string{fourth.ID, third.ID, second.ID, first.ID}
	f.equal("all", f.appOperations("shop", sessionstore.OperationList{}), want)
	f.equal("of a user", f.appOperations("shop", sessionstore.OperationList{User: "ann"}), []string{fourth.ID, third.ID,
		first.ID})
	f.equal("of a user who has none", f.appOperations("shop", sessionstore.OperationList{User: "an"}), []string(nil))
	f.equal("of an app that has none", f.appOperations("sho", sessionstore.OperationList{}), []string(nil))
	ops, _, err := f.AppOperations(f.t.Context(), "shop", sessionstore.OperationList{})
	if err != nil {
		f.t.Fatal(err)
	}
	for _, op := range ops {
		f.equal("as Status reads it", f.operation(op.Key.Scope, op.ID), &op)
	}
	for _, w := range f.claim("worker", 10) {
		if w.Key == session(bob, "s1") {
			f.finish(w, 1)
		}
	}
	f.delete(session(bob, "s1"))
	f.equal("of a deleted session too", f.appOperations("shop", sessionstore.OperationList{}), want)
	f.clock.advance(sessionstore.OperationTTL + time.Second)
	f.equal("a week later", f.appOperations("shop", sessionstore.OperationList{}),
		[]string{fourth.ID, third.ID, first.ID})
}

// A state narrows the list, and follows what becomes of an operation. One that is none is refused.
func operationsByState(f *fixture) {
	failed := f.opOf("shop", "ann", "failed")
	f.fail(f.claimOne(session(ann, "failed")), "no", time.Time{})
	running := f.opOf("shop", "ann", "running")
	f.fail(f.claimOne(session(ann, "running")), "later", f.now().Add(time.Hour))
	done := f.opOf("shop", "bob", "done")
	f.finish(f.claimOne(session(bob, "done")), 1)
	pending := f.opOf("shop", "bob", "pending")
	for state, want := range map[sessionstore.OperationState]string{sessionstore.Pending: pending.ID,
		sessionstore.Running: running.ID, sessionstore.Succeeded: done.ID, sessionstore.Failed: failed.ID} {
		for _, size := range []int{0, 1} {
			list := sessionstore.OperationList{State: state, List: sessionstore.List{PageSize: size}}
			f.equal(string(state), f.appOperations("shop", list), []string{want})
		}
	}
	f.equal("failed ones of another", f.appOperations("shop",
		sessionstore.OperationList{State: sessionstore.Failed, User: "bob"}), []string(nil))
	if _, err := f.Retry(f.t.Context(), ann, failed.ID); err != nil {
		f.t.Fatal(err)
	}
	f.equal("failed, after a retry", f.appOperations("shop", sessionstore.OperationList{State: sessionstore.Failed}),
		[]string(nil))
	for _, list := range []sessionstore.OperationList{{State: "DONE"}, {State: "failed"}, {User: "a/b"},
		{List: sessionstore.List{PageSize: -1}}, {List: sessionstore.List{PageToken: "none"}}} {
		_, _, err := f.AppOperations(f.t.Context(), "shop", list)
		f.isA(fmt.Sprintf("%+v", list), err, memory.ErrInvalid)
	}
}

// Pages of any size have each operation once, also those of one moment; one that comes
// meanwhile moves no other. A token is good for its own list alone.
func operationsOfAppPages(f *fixture) {
	var newest []string
	for i := range 12 {
		op := f.opOf("shop", fmt.Sprint("user", i%5), fmt.Sprint("s", i))
		newest = append([]string{op.ID}, newest...)
	}
	for _, size := range []int{1, 5, 12, 100} {
		list := sessionstore.OperationList{List: sessionstore.List{PageSize: size}}
		f.equal(fmt.Sprintf("pages of %d", size), f.appOperations("shop", list), newest)
	}
	list := sessionstore.OperationList{List: sessionstore.List{PageSize: 5}}
	ops, next, err := f.AppOperations(f.t.Context(), "shop", list)
	if err != nil || len(ops) != 5 || next == "" {
		f.t.Fatalf("%d operations, next %q, %v", len(ops), next, err)
	}
	for i := range 9 { // in one moment
		f.ask(sessionstore.Key{Scope: memory.Scope{App: "shop", User: fmt.Sprint("user", i)}, ID: "more"}, f.said("e"))
	}
	for _, other := range []sessionstore.OperationList{{User: "user1"}, {State: sessionstore.Pending}} {
		other.PageToken = next
		_, _, err := f.AppOperations(f.t.Context(), "shop", other)
		f.isA("the token of another list", err, memory.ErrInvalid)
	}
	_, _, err = f.AppOperations(f.t.Context(), "shop2",
		sessionstore.OperationList{List: sessionstore.List{PageToken: next}})
	f.isA("the token of another app", err, memory.ErrInvalid)
	list.PageToken = next
	f.equal("the rest", f.appOperations("shop", list), newest[5:])
	for _, size := range []int{1, 4, 21} {
		seen := map[string]bool{}
		ids := f.appOperations("shop", sessionstore.OperationList{List: sessionstore.List{PageSize: size}})
		for _, id := range ids {
			seen[id] = true
		}
		f.equal("each once", []int{len(ids), len(seen)}, []int{21, 21})
	}
}

// Operations go with their session, their user and their app when those are erased.
func operationsOfAppErased(f *fixture) {
	f.opOf("shop", "ann", "s1")
	other := f.opOf("shop", "ann", "s2")
	bobs := f.opOf("shop", "bob", "s1")
	if _, err := f.EraseSession(f.t.Context(), session(ann, "s1"), false); err != nil {
		f.t.Fatal(err)
	}
	f.equal("without a session's", f.appOperations("shop", sessionstore.OperationList{}), []string{bobs.ID, other.ID})
	if _, err := f.EraseUser(f.t.Context(), bob, false); err != nil {
		f.t.Fatal(err)
	}
	f.equal("without a user's", f.appOperations("shop", sessionstore.OperationList{}), []string{other.ID})
	if f.harness.Keeps(f.t, bobs.ID) {
		f.t.Error("the operation of an erased user is somewhere")
	}
}

// A restart changes nothing.
func operationsOfAppRestart(f *fixture) {
	op := f.opOf("shop", "ann", "s1")
	f.reopen()
	again := f.opOf("shop", "bob", "s1")
	f.equal("all", f.appOperations("shop", sessionstore.OperationList{}), []string{again.ID, op.ID})
}
