package sessiontest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// The scopes most cases play in.
var (
	ann = memory.Scope{App: "shop", User: "ann"}
	bob = memory.Scope{App: "shop", User: "bob"}
)

// start is when the clock of each case begins. Its nanoseconds show that
// stores keep microseconds.
var start = time.Date(2024, 5, 8, 13, 56, 0, 123456789, time.UTC)

// leaseTTL is the length of the leases in the cases.
const leaseTTL = 10 * time.Second

// fixture is an open backend, its clock, and short calls that fail the test on
// an unexpected error.
type fixture struct {
	Backend
	t       *testing.T
	harness Harness
	clock   clock
	asked   int // operations so far
}

// newFixture opens the backend of a case, and closes it when the case ends.
func newFixture(t *testing.T, h Harness) *fixture {
	f := &fixture{t: t, harness: h, clock: clock{time: start}}
	f.Backend = h.Open(t, f.clock.now)
	t.Cleanup(func() {
		f.healthy()
		h.Close(t, f.Backend)
	})
	return f
}

// healthy checks that an audit finds nothing: whatever a case did, the store was
// not damaged by it.
func (f *fixture) healthy() {
	session := func(sessionstore.SessionRecord) error { return nil }
	found := func(found memory.Finding) { f.t.Errorf("the audit of a healthy store finds %+v", found) }
	err := f.Audit(context.Background(), session, found)
	if err != nil {
		f.t.Errorf("audit: %v", err)
	}
}

// reopen restarts the backend.
func (f *fixture) reopen() {
	f.t.Helper()
	f.harness.Close(f.t, f.Backend)
	f.Backend = f.harness.Open(f.t, f.clock.now)
}

// clock is a time that moves only when it is told to.
type clock struct {
	mu   sync.Mutex
	time time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.time
}

// advance moves the clock.
func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.time = c.time.Add(d)
}

// now is the present time as a store keeps it.
func (f *fixture) now() time.Time { return sessionstore.Micros(f.clock.now()) }

// session returns a key.
func session(scope memory.Scope, id string) sessionstore.Key {
	return sessionstore.Key{Scope: scope, ID: id}
}

// event parses a document.
func (f *fixture) event(doc string) sessionstore.Event {
	f.t.Helper()
	e, err := sessionstore.ParseEvent([]byte(doc))
	if err != nil {
		f.t.Fatalf("parse event %.200s: %v", doc, err)
	}
	return e
}

// said is an event of the present time with an id, which is its text too.
func (f *fixture) said(id string) sessionstore.Event {
	f.t.Helper()
	return f.saidAt(id, f.now())
}

// saidAt is said at another time.
func (f *fixture) saidAt(id string, at time.Time) sessionstore.Event {
	f.t.Helper()
	return f.event(fmt.Sprintf(`{"id":%q,"author":"user","timestamp":%q,"content":{"role":"user",`+
		`"parts":[{"text":%q}]}}`,
		id, sessionstore.FormatTime(at), id))
}

// sets is an event of the present time with an id that changes state.
func (f *fixture) sets(id, delta string) sessionstore.Event {
	f.t.Helper()
	return f.event(fmt.Sprintf(`{"id":%q,"author":"user","timestamp":%q,"actions":{"stateDelta":%s}}`,
		id, sessionstore.FormatTime(f.now()), delta))
}

// state parses a JSON object of state.
func (f *fixture) state(doc string) sessionstore.State {
	f.t.Helper()
	s, err := sessionstore.ParseState("state", []byte(doc))
	if err != nil {
		f.t.Fatalf("parse state %.200s: %v", doc, err)
	}
	return s
}

// create makes a session with a state, given as a JSON object, and events.
func (f *fixture) create(key sessionstore.Key, state string, events ...sessionstore.Event) *sessionstore.Session {
	f.t.Helper()
	s, err := f.Create(f.t.Context(), key, sessionstore.Create{State: f.state(state), Events: events})
	if err != nil {
		f.t.Fatalf("Create(%v): %v", key, err)
	}
	return s
}

// append stores events in an existing session.
func (f *fixture) append(key sessionstore.Key, events ...sessionstore.Event) sessionstore.Appended {
	f.t.Helper()
	return f.appendWith(key, sessionstore.Append{}, events...)
}

// appendWith stores events with options, and checks that there is an answer for
// each.
func (f *fixture) appendWith(key sessionstore.Key, opts sessionstore.Append,
	events ...sessionstore.Event) sessionstore.Appended {
	f.t.Helper()
	out, err := f.Append(f.t.Context(), key, events, opts)
	if err != nil {
		f.t.Fatalf("Append(%v): %v", key, err)
	}
	if len(out.Events) != len(events) {
		f.t.Fatalf("Append(%v) answers %d events for %d", key, len(out.Events), len(events))
	}
	return out
}

// get reads a session with all its events.
func (f *fixture) get(key sessionstore.Key) *sessionstore.Session {
	f.t.Helper()
	return f.getSome(key, sessionstore.Get{NumRecent: -1})
}

// getSome reads a session with some of its events, from as many pages as they take.
func (f *fixture) getSome(key sessionstore.Key, get sessionstore.Get) (out *sessionstore.Session) {
	f.t.Helper()
	err := sessionstore.EachPage(f.t.Context(), f, key, get, func(page *sessionstore.Session) error {
		if out == nil {
			out = page
		} else {
			out.Events = append(out.Events, page.Events...)
		}
		return nil
	})
	if err != nil {
		f.t.Fatalf("Get(%v): %v", key, err)
	}
	out.NextPageToken = ""
	return out
}

// delete deletes a session.
func (f *fixture) delete(key sessionstore.Key) {
	f.t.Helper()
	if err := f.Delete(f.t.Context(), key); err != nil {
		f.t.Fatalf("Delete(%v): %v", key, err)
	}
}

// list walks all pages of a user's sessions.
func (f *fixture) list(scope memory.Scope, pageSize int) []sessionstore.Session {
	f.t.Helper()
	return f.walk(pageSize, func(l sessionstore.List) (sessionstore.Page, error) {
		return f.List(f.t.Context(), scope,
			l)
	})
}

// listApp walks all pages of an app's sessions. This is the one read across
// users, for administrators.
func (f *fixture) listApp(app string, pageSize int) []sessionstore.Session {
	f.t.Helper()
	return f.walk(pageSize, func(l sessionstore.List) (sessionstore.Page, error) {
		return f.ListApp(f.t.Context(), app,
			l)
	})
}

// walk collects all pages of a list, and checks their sizes and that tokens
// lead on.
func (f *fixture) walk(pageSize int, page func(sessionstore.List) (sessionstore.Page,
	error)) (out []sessionstore.Session) {
	f.t.Helper()
	for token := ""; ; {
		p, err := page(sessionstore.List{PageSize: pageSize, PageToken: token})
		if err != nil {
			f.t.Fatalf("list, page token %q: %v", token, err)
		}
		if pageSize > 0 && len(p.Sessions) > pageSize {
			f.t.Fatalf("a page of %d has %d sessions", pageSize, len(p.Sessions))
		}
		if out = append(out, p.Sessions...); p.NextPageToken == "" {
			return out
		}
		if p.NextPageToken == token || len(p.Sessions) == 0 {
			f.t.Fatalf("page token %q leads nowhere", p.NextPageToken)
		}
		token = p.NextPageToken
	}
}

// ask appends events to a session, made if missing, and requests memories.
func (f *fixture) ask(key sessionstore.Key, events ...sessionstore.Event) sessionstore.Operation {
	f.t.Helper()
	return f.askWith(key, sessionstore.Append{Create: true, Request: &sessionstore.Request{}}, events...)
}

// askOneShot requests memories of events in a one-shot session.
func (f *fixture) askOneShot(key sessionstore.Key, events ...sessionstore.Event) sessionstore.Operation {
	f.t.Helper()
	return f.askWith(key, sessionstore.Append{OneShot: true, Request: &sessionstore.Request{}}, events...)
}

// askWith appends events and requests memories; it chooses the operation's id.
func (f *fixture) askWith(key sessionstore.Key, opts sessionstore.Append,
	events ...sessionstore.Event) sessionstore.Operation {
	f.t.Helper()
	f.asked++
	request := *opts.Request
	request.ID = sessionstore.OperationID(key.Scope, fmt.Sprintf("operation-%d", f.asked))
	opts.Request = &request
	out := f.appendWith(key, opts, events...)
	if out.Operation == nil {
		f.t.Fatalf("Append(%v) with a request answers no operation", key)
	}
	if !cmp.Equal(out.Operation.Request, request) || out.Operation.Key != key {
		f.t.Fatalf("Append(%v) requesting %+v answers operation %+v", key, request, out.Operation)
	}
	return *out.Operation
}

// operation reads an operation.
func (f *fixture) operation(scope memory.Scope, id string) *sessionstore.Operation {
	f.t.Helper()
	op, err := f.Status(f.t.Context(), scope, id)
	if err != nil {
		f.t.Fatalf("Status(%v, %q): %v", scope, id, err)
	}
	return op
}

// changes reads the changes of an operation, page by page.
func (f *fixture) changes(scope memory.Scope, id string) (out []json.RawMessage) {
	f.t.Helper()
	for after := (sessionstore.ChangePosition{}); ; {
		page, next, err := f.Changes(f.t.Context(), scope, id, after)
		if err != nil {
			f.t.Fatalf("Changes(%v, %q, %v): %v", scope, id, after, err)
		}
		out = append(out, page...)
		if next == (sessionstore.ChangePosition{}) {
			return out
		}
		if len(page) == 0 || next == after {
			f.t.Fatalf("Changes(%v, %q, %v) gives %d changes, and then %v", scope, id, after, len(page), next)
		}
		after = next
	}
}

// claim claims work with leases of leaseTTL.
func (f *fixture) claim(owner string, limit int) []sessionstore.Work {
	f.t.Helper()
	works, err := f.Claim(f.t.Context(), owner, leaseTTL, limit)
	if err != nil {
		f.t.Fatalf("Claim(%q, %d): %v", owner, limit, err)
	}
	if len(works) > limit {
		f.t.Fatalf("Claim(%q, %d) gives %d pieces of work", owner, limit, len(works))
	}
	return works
}

// claimOne claims the only work that is due, for "worker".
func (f *fixture) claimOne(key sessionstore.Key) sessionstore.Work {
	f.t.Helper()
	works := f.claim("worker", 10)
	if len(works) != 1 || works[0].Key != key {
		f.t.Fatalf("Claim gives %+v, want the work of %v alone", works, key)
	}
	return works[0]
}

// idle checks that no work can be claimed.
func (f *fixture) idle(why string) {
	f.t.Helper()
	if works := f.claim("idler", 10); len(works) != 0 {
		f.t.Fatalf("%s: Claim gives %+v, want nothing", why, works)
	}
}

// finish finishes work up to an event's number.
func (f *fixture) finish(work sessionstore.Work, to int64, changes ...sessionstore.Change) {
	f.t.Helper()
	if err := f.Finish(f.t.Context(), work, to, changes); err != nil {
		f.t.Fatalf("Finish(%v, %d): %v", work.Key, to, err)
	}
}

// fail records a failure; a zero time gives the work up.
func (f *fixture) fail(work sessionstore.Work, cause string, retry time.Time) {
	f.t.Helper()
	if err := f.Fail(f.t.Context(), work, cause, retry); err != nil {
		f.t.Fatalf("Fail(%v): %v", work.Key, err)
	}
}

// save saves the plan of a batch.
func (f *fixture) save(work sessionstore.Work, to int64, plan string) {
	f.t.Helper()
	if err := f.Save(f.t.Context(), work, to, []byte(plan)); err != nil {
		f.t.Fatalf("Save(%v, %d): %v", work.Key, to, err)
	}
}

// change is a change that comes from an event, and names the event's number.
func change(seq int64) sessionstore.Change {
	return sessionstore.Change{Seq: seq, Doc: fmt.Appendf(nil, `{"event":%d}`, seq)}
}

// equal compares values exactly, except that nil and empty lists are equal.
func (f *fixture) equal(what string, got, want any) {
	f.t.Helper()
	if reflect.DeepEqual(want, got) { // mostly, and in a tenth of the time
		return
	}
	// Without it cmp takes a document byte by byte, each through reflection.
	documents := cmp.FilterValues(func(x, y json.RawMessage) bool { return len(x)+len(y) > 0 },
		cmp.Comparer(func(x, y json.RawMessage) bool { return bytes.Equal(x, y) }))
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), documents); diff != "" {
		f.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// hasState compares a merged state to a JSON object.
func (f *fixture) hasState(what string, got sessionstore.State, want string) {
	f.t.Helper()
	f.equal(what, texts(got), texts(f.state(want)))
}

// texts makes values comparable as text.
func texts(s sessionstore.State) map[string]string {
	out := map[string]string{}
	for k, v := range s {
		out[k] = string(v)
	}
	return out
}

// hasEvents compares the ids of events, in order.
func (f *fixture) hasEvents(what string, got []sessionstore.Event, want ...string) {
	f.t.Helper()
	f.equal(what, eventIDs(got), want)
}

// eventIDs returns the ids of events, in order.
func eventIDs(events []sessionstore.Event) (out []string) {
	for _, e := range events {
		out = append(out, e.ID)
	}
	return out
}

// sessionIDs returns the ids of sessions, in order.
func sessionIDs(sessions []sessionstore.Session) (out []string) {
	for _, s := range sessions {
		out = append(out, s.ID)
	}
	return out
}

// isA checks the kind of an error, and that its text has more than the kind.
func (f *fixture) isA(what string, err, kind error) {
	f.t.Helper()
	if !errors.Is(err, kind) {
		f.t.Errorf("%s: error is %v, want %v", what, err, kind)
	} else if strings.TrimSpace(err.Error()) == kind.Error() {
		f.t.Errorf("%s: error %q does not say what of", what, err)
	}
}

// missing checks that a session cannot be read.
func (f *fixture) missing(key sessionstore.Key) {
	f.t.Helper()
	s, err := f.Get(f.t.Context(), key, sessionstore.Get{NumRecent: -1})
	f.isA(fmt.Sprintf("Get(%v)", key), err, memory.ErrNotFound)
	if s != nil {
		f.t.Errorf("Get(%v) gives %+v beside an error", key, s)
	}
}

// together runs do n times concurrently and reports the errors.
func (f *fixture) together(n int, do func(i int) error) {
	f.t.Helper()
	var wg sync.WaitGroup
	errs := make([]error, n)
	begin := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-begin
			errs[i] = do(i)
		})
	}
	close(begin)
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		f.t.Fatal(err)
	}
}
