package sessiontest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// concurrencyCases run calls at the same time. Each checks for lost and doubled
// data in the end, as the order of calls is open.
func concurrencyCases() []testCase {
	return []testCase{
		{"writers of one session", concurrentWriters},
		{"sessions of one user", concurrentSessions},
		{"creates of one id", concurrentCreates},
		{"appends that create", concurrentAppendCreates},
		{"appends of one event", concurrentSameEvent},
		{"readers see whole calls", concurrentReaders},
		{"claims", concurrentClaims},
		{"requests during work", concurrentRequests},
	}
}

// parse is ParseEvent of a format. Goroutines beside the test's own use it.
func parse(format string, args ...any) ([]sessionstore.Event, error) {
	e, err := sessionstore.ParseEvent(fmt.Appendf(nil, format, args...))
	return []sessionstore.Event{e}, err
}

// Many writers of one session all succeed. No event or key is lost or doubled,
// each writer's events keep their order, and a key that all write has the value
// of the last event. Agents with parallel tools append at the same time.
func concurrentWriters(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{}`)
	const writers, each = 64, 6
	f.together(writers, func(w int) error {
		for n := range each {
			e, err := parse(`{"id":"%d-%d","author":"user","actions":{"stateDelta":{"w%d":%d,"user:w%d":%d,`+
				`"app:w%d":%d,"all":"%d-%d","user:all":"%d-%d","app:all":"%d-%d"}}}`,
				w, n, w, n, w, n, w, n, w, n, w, n, w, n)
			if err != nil {
				return err
			}
			out, err := f.Append(f.t.Context(), key, e, sessionstore.Append{})
			if err != nil {
				return fmt.Errorf("writer %d, event %d: %w", w, n, err)
			}
			if len(out.Events) != 1 || out.Events[0].ID != e[0].ID {
				return fmt.Errorf("writer %d, event %d is answered %v", w, n, eventIDs(out.Events))
			}
		}
		return nil
	})
	// Each writer's events have their order, with those of others in between.
	got := f.get(key)
	f.equal("events", len(got.Events), writers*each)
	next := make([]int, writers)
	for _, e := range got.Events {
		var w, n int
		if _, err := fmt.Sscanf(e.ID, "%d-%d", &w, &n); err != nil {
			f.t.Fatal(err)
		}
		if n != next[w] {
			f.t.Errorf("event %s comes after %d events of its writer", e.ID, next[w])
		}
		next[w]++
	}
	for w := range writers {
		for _, prefix := range []string{"", sessionstore.UserPrefix, sessionstore.AppPrefix} {
			k := fmt.Sprintf("%sw%d", prefix, w)
			f.equal(k, string(got.State[k]), fmt.Sprint(each-1))
		}
	}
	// The key of all has the value of the last event in the state of session and
	// user, which change with the event. The app's state may be on another server,
	// so it has the value of any event.
	if len(got.Events) > 0 {
		last := got.Events[len(got.Events)-1].ID
		f.equal("all", string(got.State["all"]), `"`+last+`"`)
		f.equal("user:all", string(got.State["user:all"]), `"`+last+`"`)
		if v := strings.Trim(string(got.State["app:all"]), `"`); !slices.Contains(eventIDs(got.Events), v) {
			f.t.Errorf("app:all is %q, which no writer wrote", v)
		}
	}
}

// Writers of many sessions of one user lose none of the shared state. A read
// and a later write of whole state would lose updates here.
func concurrentSessions(f *fixture) {
	const sessions, each = 16, 6
	f.together(sessions, func(s int) error {
		key := session(ann, fmt.Sprintf("s%d", s))
		if _, err := f.Create(f.t.Context(), key, sessionstore.Create{}); err != nil {
			return err
		}
		for n := range each {
			e, err := parse(`{"id":"e%d","author":"user","actions":{"stateDelta":{"user:%d-%d":1,"app:%d-%d":1,`+
				`"user:n%d":%d}}}`, n, s, n, s, n, s, n)
			if err != nil {
				return err
			}
			if _, err := f.Append(f.t.Context(), key, e, sessionstore.Append{}); err != nil {
				return err
			}
		}
		return nil
	})
	f.equal("sessions", len(f.list(ann, 0)), sessions)
	for s := range sessions {
		got := f.get(session(ann, fmt.Sprintf("s%d", s)))
		f.equal("events", len(got.Events), each)
		f.equal("keys of state", len(got.State), sessions*(2*each+1))
		f.equal("last value", string(got.State[fmt.Sprintf("user:n%d", s)]), fmt.Sprint(each-1))
	}
}

// Of concurrent Creates of one id exactly one succeeds, and the session has its
// state. The others get ErrExists. Otherwise two agents would believe that they
// own the session.
func concurrentCreates(f *fixture) {
	key := session(ann, "s1")
	var winner atomic.Int64
	var wins atomic.Int64
	f.together(32, func(i int) error {
		_, err := f.Create(f.t.Context(), key, sessionstore.Create{State: sessionstore.State{
			"who": fmt.Appendf(nil, "%d", i), fmt.Sprintf("user:%d", i): []byte("1"),
		}})
		switch {
		case err == nil:
			wins.Add(1)
			winner.Store(int64(i))
		case !errors.Is(err, memory.ErrExists):
			return err
		}
		return nil
	})
	f.equal("winners", wins.Load(), int64(1))
	f.hasState("state", f.get(key).State, fmt.Sprintf(`{"who":%d,"user:%d":1}`, winner.Load(), winner.Load()))
	f.equal("sessions", len(f.list(ann, 0)), 1)
}

// Concurrent appends that may make the session all succeed, in one session. The
// first events of a conversation may come on two connections.
func concurrentAppendCreates(f *fixture) {
	key := session(ann, "s1")
	const writers = 32
	f.together(writers, func(i int) error {
		e, err := parse(`{"id":"e%d","author":"user"}`, i)
		if err != nil {
			return err
		}
		_, err = f.Append(f.t.Context(), key, e, sessionstore.Append{Create: true})
		return err
	})
	f.equal("events", len(f.get(key).Events), writers)
	f.equal("sessions", len(f.list(ann, 0)), 1)
}

// Of concurrent appends with one event id exactly one is stored and applied,
// and all are answered with it. A client's retry may overtake its first
// attempt.
func concurrentSameEvent(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{}`)
	const writers = 32
	answers := make([]string, writers)
	f.together(writers, func(i int) error {
		e, err := parse(`{"id":"e1","author":"user","actions":{"stateDelta":{"by":%d,"by %d":1}}}`, i, i)
		if err != nil {
			return err
		}
		out, err := f.Append(f.t.Context(), key, e, sessionstore.Append{})
		if err != nil || len(out.Events) != 1 {
			return fmt.Errorf("writer %d: %v, %w", i, out, err)
		}
		answers[i] = string(out.Events[0].Doc)
		return nil
	})
	got := f.get(key)
	f.hasEvents("events", got.Events, "e1")
	f.equal("answers", slices.Compact(answers), []string{string(got.Events[0].Doc)})
	f.equal("state", texts(got.State), texts(got.Events[0].StateDelta))
}

// A reader beside writers sees all events of a call, with the session's and the
// user's state that belongs to them, or none. An agent must not act on state
// without the event that explains it.
func concurrentReaders(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{"n":0,"user:n":0}`)
	const calls, batch = 30, 3
	var done atomic.Bool
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for r := range errs {
		wg.Go(func() {
			for last := 0; !done.Load() && errs[r] == nil; {
				got, err := f.Get(f.t.Context(), key, sessionstore.Get{NumRecent: -1})
				if err != nil {
					errs[r] = err
					return
				}
				// Each call adds a batch and sets n to the number of calls.
				n := len(got.Events)
				if want := fmt.Sprint(n / batch); n%batch != 0 || n < last || string(got.State["n"]) != want ||
					string(got.State["user:n"]) != want {
					errs[r] = fmt.Errorf("after %d events there are %d, state %s, user state %s", last, n,
						got.State["n"], got.State["user:n"])
				}
				last = n
			}
		})
	}
	for c := range calls {
		set := func(i int) sessionstore.Event {
			return f.sets(fmt.Sprintf("e%d-%d", c, i), fmt.Sprintf(`{"n":%d,"user:n":%d}`, c+1, c+1))
		}
		f.append(key, set(0), set(1), set(2))
	}
	done.Store(true)
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		f.t.Error(err)
	}
}

// Concurrent claims give each scope to only one of them. Two workers in one
// scope would consolidate against each other.
func concurrentClaims(f *fixture) {
	const scopes = 8
	for i := range scopes {
		for _, id := range []string{"s1", "s2"} {
			f.ask(session(memory.Scope{App: "shop", User: fmt.Sprintf("user%d", i)}, id), f.said("e1"))
		}
	}
	var mu sync.Mutex
	claimed := map[memory.Scope]int{}
	f.together(32, func(i int) error {
		works, err := f.Claim(f.t.Context(), fmt.Sprintf("worker%d", i), leaseTTL, 2)
		mu.Lock()
		defer mu.Unlock()
		for _, w := range works {
			claimed[w.Key.Scope]++
		}
		return err
	})
	f.equal("scopes claimed", len(claimed), scopes)
	for scope, n := range claimed {
		f.equal(fmt.Sprintf("claims of %v", scope), n, 1)
	}
}

// Requests that come in while the work is done are neither lost nor done twice:
// in the end every event was worked on exactly once, in order. Requests are not
// serialized with work: positions have to be moved by compare and set.
func concurrentRequests(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{}`)
	const writers, each = 8, 8
	var worked []sessionstore.NumberedEvent
	work := func() (more bool, err error) {
		events, err := f.workOff()
		worked = append(worked, events...)
		return len(events) > 0, err
	}
	// One goroutine works while the writers request. It stops when they have ended,
	// and what is left then is done after it.
	var left atomic.Int64
	left.Store(writers)
	f.together(writers+1, func(i int) error {
		if i == writers {
			for left.Load() > 0 {
				if _, err := work(); err != nil {
					return err
				}
			}
			return nil
		}
		defer left.Add(-1)
		for n := range each {
			e, err := parse(`{"id":"%d-%d","author":"user"}`, i, n)
			if err != nil {
				return err
			}
			op := sessionstore.OperationID(ann, fmt.Sprintf("%d-%d", i, n))
			if _, err := f.Append(f.t.Context(), key, e,
				sessionstore.Append{Request: &sessionstore.Request{ID: op}}); err != nil {
				return err
			}
		}
		return nil
	})
	for more := true; more; {
		var err error
		if more, err = work(); err != nil {
			f.t.Fatal(err)
		}
	}
	var ids []string
	for i, e := range worked {
		if e.Seq != int64(i)+1 {
			f.t.Fatalf("event %d is worked on as the %dth", e.Seq, i+1)
		}
		ids = append(ids, e.ID)
	}
	f.equal("events worked on", ids, eventIDs(f.get(key).Events))
	for i := range writers {
		for n := range each {
			op := f.operation(ann, sessionstore.OperationID(ann, fmt.Sprintf("%d-%d", i, n)))
			f.equal("state of "+op.ID, op.State, sessionstore.Succeeded)
		}
	}
}

// workOff claims one piece of work, reads its events and finishes it. Without
// work it returns no events.
func (f *fixture) workOff() ([]sessionstore.NumberedEvent, error) {
	works, err := f.Claim(f.t.Context(), "worker", leaseTTL, 1)
	if err != nil || len(works) == 0 {
		return nil, err
	}
	w := works[0]
	events, err := f.Events(f.t.Context(), w, w.Done, int(w.Requested-w.Done))
	if err != nil {
		return nil, err
	}
	return events, f.Finish(f.t.Context(), w, w.Requested, nil)
}
