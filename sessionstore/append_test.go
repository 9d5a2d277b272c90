package sessionstore_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/memoryd/memoryd/sessionstore"
)

// Events of one call get ids and times that keep their order. Partial events, and
// the ids and times that events bring, stay.
func TestPrepare(t *testing.T) {
	now := time.Date(2024, 5, 8, 13, 56, 0, 999_999_999, time.UTC)
	var events []sessionstore.Event
	for range 3000 {
		e, err := sessionstore.NewStateEvent("i", nil)
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	partial, err := sessionstore.ParseEvent([]byte(`{"author":"user","partial":true}`))
	if err != nil {
		t.Fatal(err)
	}
	own, err := sessionstore.ParseEvent([]byte(`{"id":"e","timestamp":"2024-05-08T13:56:00.000000Z"}`))
	if err != nil {
		t.Fatal(err)
	}
	got := sessionstore.Prepare(append(slices.Clone(events), partial, own), now)
	if e := got[3000]; e.ID != "" || !e.Timestamp.IsZero() {
		t.Errorf("a partial event has become %s", e.Doc)
	}
	if e := got[3001]; string(e.Doc) != string(own.Doc) {
		t.Errorf("an event with id and time has become %s", e.Doc)
	}
	var ids []string
	for i, e := range got[:3000] {
		ids = append(ids, e.ID)
		id, err := uuid.Parse(e.ID)
		if err != nil || id.Version() != 7 || id.Variant() != uuid.RFC4122 {
			t.Fatalf("%q is no UUID of version 7: %v", e.ID, err)
		}
		if sec, nsec := id.Time().UnixTime(); time.Unix(sec, nsec).UnixMilli() != e.Timestamp.UnixMilli() {
			t.Errorf("the id %q is of %v, not of %v", e.ID, time.Unix(sec, nsec), e.Timestamp)
		}
		if want := now.Truncate(time.Microsecond).Add(time.Duration(i) * time.Microsecond); !e.Timestamp.Equal(want) {
			t.Errorf("event %d is of %v, want %v", i, e.Timestamp, want)
		}
	}
	if !slices.IsSorted(ids) || len(slices.Compact(ids)) != len(events) {
		t.Error("the ids are not in the order of the events")
	}
}

// A blank id of a session becomes a random UUID.
func TestNewKey(t *testing.T) {
	got, err := sessionstore.NewKey(sessionstore.Key{Scope: shopper, ID: " "})
	if id, parseErr := uuid.Parse(got.ID); err != nil || parseErr != nil || id.Version() != 4 ||
		id.Variant() != uuid.RFC4122 {
		t.Errorf("NewKey gives %q, %v; want a UUID of version 4", got.ID, err)
	}
	if got, err := sessionstore.NewKey(sessionstore.Key{Scope: shopper, ID: " s1 "}); err != nil || got.ID != "s1" {
		t.Errorf("NewKey gives %q, %v; want s1", got.ID, err)
	}
	if _, err := sessionstore.NewKey(sessionstore.Key{ID: "s1"}); err == nil {
		t.Error("a key without a scope is valid")
	}
}
