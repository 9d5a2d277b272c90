package sessiontest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// limitCases are the promises about the size of state.
func limitCases() []testCase {
	return []testCase{
		{"state of each owner", limitOwners},
		{"overwritten state", limitOverwrites},
		{"many keys", limitKeys},
		{"temporary state", limitTemporary},
		{"concurrent changes", limitConcurrent},
		{"state that is too large already", limitShrinks},
		{"a refused change", limitRefused},
		{"sessions of a user", limitSessions},
		{"concurrent sessions", limitConcurrentSessions},
		{"sessions aside", limitAside},
		{"sessions aside that are done", limitAsideDone},
	}
}

// text is a JSON string of so many bytes, quotes included.
func text(bytes int) string { return `"` + strings.Repeat("x", bytes-2) + `"` }

// set appends an event that changes state, and returns the error.
func (f *fixture) set(key sessionstore.Key, id, delta string) error {
	f.t.Helper()
	_, err := f.Append(f.t.Context(), key, []sessionstore.Event{f.sets(id, delta)}, sessionstore.Append{})
	return err
}

// The state of a session, of a user and of an app have a limit each, and a change
// beyond it is ErrInvalid. Answers repeat the state, so that a state without a limit
// would be an answer without one.
func limitOwners(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{}`)
	const most = MaxState - sessionstore.StateKeyBytes - 1 // of the value of a key of one byte
	for i, prefix := range []string{"", "user:", "app:"} {
		err := f.set(key, fmt.Sprint("a", i), fmt.Sprintf(`{"%sk":%s}`, prefix, text(most+1)))
		f.isA(prefix+"one byte too many", err, memory.ErrInvalid)
		if err := f.set(key, fmt.Sprint("b", i), fmt.Sprintf(`{"%sk":%s}`, prefix, text(most))); err != nil {
			f.t.Errorf("%sk of %d bytes: %v", prefix, most, err)
		}
		f.isA(prefix+"another key", f.set(key, fmt.Sprint("c", i), fmt.Sprintf(`{"%sl":1}`, prefix)), memory.ErrInvalid)
	}
	_, err := f.Create(f.t.Context(), session(ann, "s2"), sessionstore.Create{State: f.state(`{"app:l":1}`)})
	f.isA("Create", err, memory.ErrInvalid)
	f.missing(session(ann, "s2"))
	f.create(session(bob, "s1"), fmt.Sprintf(`{"k":%s,"user:k":%s}`, text(most), text(most)))
}

// A key that is set again counts its new value only.
func limitOverwrites(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{}`)
	for i, prefix := range []string{"", "user:", "app:"} {
		for n := range 4 {
			delta := fmt.Sprintf(`{"%sk":%s}`, prefix, text(MaxState-1000-n))
			if err := f.set(key, fmt.Sprintf("e%d-%d", i, n), delta); err != nil {
				f.t.Errorf("%sk for the %dth time: %v", prefix, n, err)
			}
		}
		if err := f.set(key, fmt.Sprint("s", i), fmt.Sprintf(`{"%sk":1}`, prefix)); err != nil {
			f.t.Error(err)
		}
		delta := fmt.Sprintf(`{"%sl":%s}`, prefix, text(MaxState-1000))
		if err := f.set(key, fmt.Sprint("l", i), delta); err != nil {
			f.t.Errorf("%sl in place of %sk: %v", prefix, prefix, err)
		}
	}
}

// Each key counts StateKeyBytes beside its name and value, as keys take memory too.
func limitKeys(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{}`)
	keys := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"user:%05d":1`, i)
		}
		return "{" + b.String()[1:] + "}"
	}
	const fit = MaxState / (sessionstore.StateKeyBytes + 6)
	f.isA("one key too many", f.set(key, "a", keys(fit+1)), memory.ErrInvalid)
	if err := f.set(key, "b", keys(fit)); err != nil {
		f.t.Error(err)
	}
}

// "temp:" state has the limit too, for one change: it is not stored, but held while
// the change is made.
func limitTemporary(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{}`)
	f.isA("temporary state", f.set(key, "a", fmt.Sprintf(`{"temp:k":%s}`, text(MaxState))), memory.ErrInvalid)
	for i := range 3 {
		if err := f.set(key, fmt.Sprint("e", i), fmt.Sprintf(`{"temp:k":%s}`, text(MaxState/2))); err != nil {
			f.t.Error(err)
		}
	}
}

// Concurrent changes do not pass the limit together that none passes alone.
func limitConcurrent(f *fixture) {
	for _, prefix := range []string{"user:", "app:"} {
		const writers = 8
		for i := range writers {
			f.create(session(ann, fmt.Sprint(prefix, i)), `{}`)
		}
		var stored atomic.Int64
		f.together(writers, func(i int) error {
			delta := fmt.Sprintf(`{"%s%d":%s}`, prefix, i, text(MaxState/4))
			err := f.set(session(ann, fmt.Sprint(prefix, i)), "e", delta)
			if err == nil {
				stored.Add(1)
			} else if errors.Is(err, memory.ErrInvalid) {
				err = nil
			}
			return err
		})
		f.equal(prefix+" changes stored", stored.Load(), int64(3)) // the fourth has no room for its name
		n := 0
		for k := range f.get(session(ann, prefix+"0")).State {
			if strings.HasPrefix(k, prefix) {
				n++
			}
		}
		f.equal(prefix+" keys", n, 3)
	}
}

// State that is beyond the limit, as an earlier version or a larger limit has left
// it, can be read and can shrink; it cannot grow.
func limitShrinks(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{}`)
	large := sessionstore.State{"k": []byte(text(2 * MaxState)), "l": []byte(`1`)}
	for _, scope := range []memory.Scope{ann, {App: ann.App}} {
		if err := f.RestoreShared(f.t.Context(), sessionstore.SharedState{Scope: scope, State: large}); err != nil {
			f.t.Fatal(err)
		}
	}
	f.equal("keys", len(f.get(key).State), 4)
	for i, prefix := range []string{"user:", "app:"} {
		f.isA(prefix+"grows", f.set(key, fmt.Sprint("a", i), fmt.Sprintf(`{"%sl":12}`, prefix)), memory.ErrInvalid)
		if err := f.set(key, fmt.Sprint("b", i), fmt.Sprintf(`{"%sl":2}`, prefix)); err != nil {
			f.t.Errorf("%s of the same size: %v", prefix, err)
		}
		if err := f.set(key, fmt.Sprint("c", i), fmt.Sprintf(`{"%sk":2}`, prefix)); err != nil {
			f.t.Errorf("%s shrinks: %v", prefix, err)
		}
	}
	f.hasState("state", f.get(key).State, `{"user:k":2,"user:l":2,"app:k":2,"app:l":2}`)
}

// A change that is refused stores nothing of its call: no event, no other state, no
// request for memories.
func limitRefused(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{"k":1}`)
	for i, prefix := range []string{"", "user:", "app:"} {
		_, err := f.Append(f.t.Context(), key, []sessionstore.Event{
			f.sets("e1", `{"k":2,"user:k":2,"app:k":2}`),
			f.sets("e2", fmt.Sprintf(`{"%sl":%s}`, prefix, text(MaxState))),
		}, sessionstore.Append{Request: &sessionstore.Request{ID: sessionstore.OperationID(ann, fmt.Sprint("op", i))}})
		f.isA("Append", err, memory.ErrInvalid)
	}
	got := f.get(key)
	f.hasEvents("events", got.Events)
	f.hasState("state", got.State, `{"k":1}`)
	f.idle("nothing was requested")
	if err := f.set(key, "e1", fmt.Sprintf(`{"app:l":%s}`, text(MaxState-1000))); err != nil {
		f.t.Errorf("a change within the limit, after those: %v", err)
	}
}

// A user may have so many sessions. One more is refused, by Create and by an Append that
// makes one, and stores nothing. Sessions that are there go on, other users have their
// own number, a one-shot session counts for none, and a deleted one makes room.
func limitSessions(f *fixture) {
	refused := func(what string, err error) {
		f.t.Helper()
		if refusal := (*memory.Refusal)(nil); !errors.As(err, &refusal) || refusal.Flag() != "user-sessions" {
			f.t.Errorf("%s: %v, want a refusal by -user-sessions", what, err)
		}
	}
	for i := range MaxSessions {
		f.create(session(ann, fmt.Sprint("s", i)), `{}`)
	}
	ctx, more := f.t.Context(), session(ann, "more")
	event := func(id string) []sessionstore.Event { return []sessionstore.Event{f.sets(id, `{"user:k":1}`)} }
	_, err := f.Create(ctx, more, sessionstore.Create{State: f.state(`{"user:k":1,"app:k":1}`), Events: event("a")})
	refused("Create", err)
	asked := &sessionstore.Request{ID: sessionstore.OperationID(ann, "x")}
	_, err = f.Append(ctx, more, event("b"), sessionstore.Append{Create: true, Request: asked})
	refused("Append", err)
	f.missing(more)
	_, err = f.Create(ctx, session(ann, "s0"), sessionstore.Create{})
	f.isA("an id in use", err, memory.ErrExists)
	if got := f.get(session(ann, "s0")); len(got.State) > 0 {
		f.t.Errorf("a refused session has changed the state to %s", got.State)
	}
	look := sessionstore.Append{Create: true}
	if _, err := f.Append(ctx, session(ann, "s0"), event("c"), look); err != nil {
		f.t.Errorf("a session that is there: %v", err)
	}
	f.create(session(bob, "s"), `{}`)
	f.create(session(memory.Scope{App: "other", User: ann.User}, "s"), `{}`)
	asked = &sessionstore.Request{ID: sessionstore.OperationID(ann, "once")}
	if _, err := f.Append(ctx, more, event("d"), sessionstore.Append{OneShot: true, Request: asked}); err != nil {
		f.t.Errorf("a one-shot session: %v", err)
	}
	if err := f.Delete(ctx, session(ann, "s7")); err != nil {
		f.t.Fatal(err)
	}
	f.create(more, `{}`)
	_, err = f.Create(ctx, session(ann, "s7"), sessionstore.Create{})
	refused("Create after a deletion and another", err)
}

// Of many that are made at once, exactly as many are there as may be.
func limitConcurrentSessions(f *fixture) {
	const more = 20
	for i := range MaxSessions - more/2 {
		f.create(session(ann, fmt.Sprint("s", i)), `{}`)
	}
	var made atomic.Int64
	var all sync.WaitGroup
	for i := range more {
		all.Go(func() {
			_, err := f.Create(f.t.Context(), session(ann, fmt.Sprint("m", i)), sessionstore.Create{})
			if err == nil {
				made.Add(1)
			} else if !errors.Is(err, memory.ErrExhausted) {
				f.t.Error(err)
			}
		})
	}
	all.Wait()
	if made.Load() != more/2 {
		f.t.Errorf("%d were made, want %d", made.Load(), more/2)
	}
}

// Sessions aside count for the limit among themselves. They take no place of a conversation, and
// conversations none of theirs, whichever come first, and also after some were deleted or erased.
func limitAside(f *fixture) {
	give := func(prefix string, i int) error {
		_, err := f.Append(f.t.Context(), session(ann, fmt.Sprint(prefix, i)), []sessionstore.Event{f.said("e1")},
			sessionstore.Append{Create: true})
		return err
	}
	full := func(prefix string) {
		f.t.Helper()
		f.isA("one more "+prefix, give(prefix, MaxSessions), memory.ErrExhausted)
		f.isA("one more by Create", func() error {
			_, err := f.Create(f.t.Context(), session(ann, prefix+"new"), sessionstore.Create{})
			return err
		}(), memory.ErrExhausted)
	}
	prefixes := []string{sessionstore.ContentsPrefix, "s"}
	for _, prefix := range prefixes {
		for i := range MaxSessions {
			f.must(give(prefix, i))
		}
		full(prefix)
	}
	for _, prefix := range prefixes {
		f.delete(session(ann, prefix+"3"))
		f.must(give(prefix, 3))
		full(prefix)
	}
	for _, prefix := range prefixes {
		_, err := f.EraseSession(f.t.Context(), session(ann, prefix+"4"), false)
		f.must(err)
		f.must(give(prefix, 4))
		full(prefix)
	}
}

// A session of events that requests have brought makes room for another one aside once its events are all
// done, the one first that was updated longest ago. Its operation stays. One that has events left stays
// too, and so do a stream, as it has a trigger, and a conversation.
func limitAsideDone(f *fixture) {
	contents := func(name string) sessionstore.Key { return session(ann, sessionstore.ContentsPrefix+name) }
	stream, talk := session(ann, sessionstore.StreamPrefix+"s"), session(ann, "talk")
	done := func(key sessionstore.Key) sessionstore.Operation {
		op := f.ask(key, f.said("e1"))
		f.finish(f.claimOne(key), 1)
		return op
	}
	more := func(name string) error {
		_, err := f.Append(f.t.Context(), contents(name), []sessionstore.Event{f.said("e1")},
			sessionstore.Append{Create: true})
		return err
	}
	done(stream)
	done(talk)
	first := done(contents("first"))
	f.clock.advance(time.Minute)
	done(contents("second"))
	f.waitFor(contents("waits"), sessionstore.Trigger{Count: 2}, f.said("e1"))
	f.ask(contents("asked"), f.said("e1"))
	for i := range MaxSessions - 5 {
		f.must(more(fmt.Sprint(i)))
	}
	f.must(more("new"))
	f.missing(contents("first"))
	f.equal("the operation of it", f.operation(ann, first.ID).State, sessionstore.Succeeded)
	f.equal("events of one that may stay", len(f.get(contents("second")).Events), 1)
	f.must(more("newer"))
	f.missing(contents("second"))
	f.isA("when none is done", more("newest"), memory.ErrExhausted)
	f.equal("events that are asked for", len(f.events(f.claimOne(contents("asked")), 0, 10)), 1)
	f.isA("while one is worked on", more("newest"), memory.ErrExhausted)
	for _, key := range []sessionstore.Key{stream, talk, contents("waits"), contents("new"), contents("0")} {
		f.equal("events of "+key.ID, len(f.get(key).Events), 1)
	}
}
