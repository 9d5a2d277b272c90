package redissession_test

import (
	"errors"
	"testing"
	"time"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/internal/redistest"
	"github.com/memoryd/memoryd/memory"
)

// A Redis that has forgotten its keys refuses all callers: neither a process that saw them,
// nor one that was told of them, nor, once the loss is accepted, any other.
func TestKeysLost(t *testing.T) {
	r := redistest.Start(t)
	first := open(t, r.URL(), nil)
	defer first.Close()
	key := access.Key{ID: "k", App: "shop", Can: access.Read, Hash: access.HashSecret("s"), CreateTime: time.Now()}
	if err := first.CreateKey(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if n, err := first.KeysRevision(t.Context()); err != nil || n == 0 {
		t.Fatal(n, err)
	}
	seen, err := first.Seen()
	if err != nil {
		t.Fatal(err)
	}
	r.Flush(t)
	damage := (*memory.Damage)(nil)
	if n, err := first.KeysRevision(t.Context()); !errors.As(err, &damage) {
		t.Errorf("the process that made the key: revision %d, %v", n, err)
	}
	if _, err := first.Key(t.Context(), "k"); !errors.As(err, &damage) {
		t.Errorf("the key: %v", err)
	}
	r.Flush(t) // the record of the loss too
	later := open(t, r.URL(), nil)
	defer later.Close()
	if err := later.Expect(t.Context(), seen); err != nil {
		t.Fatal(err)
	}
	if n, err := later.KeysRevision(t.Context()); !errors.As(err, &damage) {
		t.Errorf("a process that was told: revision %d, %v", n, err)
	}
	if _, err := later.Accept(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, s := range []access.Keys{later, open(t, r.URL(), nil)} {
		if n, err := s.KeysRevision(t.Context()); err != nil || n == 0 {
			t.Errorf("after it was accepted: revision %d, %v", n, err)
		}
		if _, err := s.Key(t.Context(), "k"); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("the key after it was accepted: %v", err)
		}
	}
}
