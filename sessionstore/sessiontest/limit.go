package sessiontest

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

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
