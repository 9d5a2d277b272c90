package sessiontest

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// A Create with UniqueInApp takes no id that any user of the app has, and changes nothing
// then. An id that was deleted is free, as is one that only another app has. Clients that
// name sessions without a user rely on it.
func createUnique(f *fixture) {
	unique := sessionstore.Create{UniqueInApp: true, State: sessionstore.State{"app:k": []byte("1")}}
	f.create(session(bob, "s1"), `{}`)
	for _, scope := range []memory.Scope{ann, bob} {
		_, err := f.Create(f.t.Context(), session(scope, "s1"), unique)
		f.isA("Create of an id in use", err, memory.ErrExists)
	}
	f.equal("sessions of ann", len(f.list(ann, 0)), 0)
	f.hasState("state", f.get(session(bob, "s1")).State, `{}`)

	elsewhere := session(memory.Scope{App: "shop2", User: "ann"}, "s1")
	if _, err := f.Create(f.t.Context(), elsewhere, unique); err != nil {
		f.t.Error("Create in another app:", err)
	}
	if err := f.Delete(f.t.Context(), session(bob, "s1")); err != nil {
		f.t.Fatal(err)
	}
	for range 2 { // a claim of the id is given back each time
		if _, err := f.Create(f.t.Context(), session(ann, "s1"), unique); err != nil {
			f.t.Fatal("Create of a free id:", err)
		}
		if err := f.Delete(f.t.Context(), session(ann, "s1")); err != nil {
			f.t.Fatal(err)
		}
	}
}

// Of Creates of one id by several users at the same time exactly one succeeds, if each has
// UniqueInApp.
func createUniqueTogether(f *fixture) {
	var wins atomic.Int64
	f.together(12, func(i int) error {
		key := session(memory.Scope{App: "shop", User: fmt.Sprint("user", i%4)}, "s1")
		_, err := f.Create(f.t.Context(), key, sessionstore.Create{UniqueInApp: true})
		if err == nil {
			wins.Add(1)
		}
		if errors.Is(err, memory.ErrExists) {
			return nil
		}
		return err
	})
	f.equal("winners", wins.Load(), int64(1))
	found, err := f.Find(f.t.Context(), "shop", "s1")
	f.equal("found", len(slices.Compact(found)), 1)
	if err != nil {
		f.t.Error(err)
	}
}
