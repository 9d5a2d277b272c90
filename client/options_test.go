package client_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/client"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// testOptions checks how a client names memories, and says how they are made.
func testOptions(t *testing.T, c *client.Client) {
	ctx := t.Context()
	u := c.User("app", "olga")
	one := must[memory.Memory](t)
	fact := client.Fact{ID: "form-1", Fact: "Olga plays chess.", DisplayName: "Hobby", Description: "From a form.",
		ExpireTime: time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)}
	added := one(u.AddMemory(ctx, fact))
	if diff := cmp.Diff(added, one(u.AddMemory(ctx, fact))); diff != "" || added.ID != "form-1" ||
		added.DisplayName != "Hobby" || added.Description != "From a form." || !added.ExpireTime.Equal(fact.ExpireTime) {
		t.Errorf("added %+v, and again (-first +second):\n%s", added, diff)
	}
	fact.Fact = "Olga plays go."
	if _, err := u.AddMemory(ctx, fact); !errors.Is(err, memory.ErrExists) {
		t.Errorf("another fact under the id: %v", err)
	}
	name, never := "Games", time.Time{}
	change := client.Change{DisplayName: &name, Description: new(string), ExpireTime: &never}
	changed := one(u.UpdateMemory(ctx, "form-1", change))
	if changed.DisplayName != name || changed.Description != "" || !changed.ExpireTime.IsZero() {
		t.Errorf("changed %+v", changed)
	}

	ops := must[*client.Operation](t)
	say := func(session, k string) memory.Memory {
		t.Helper()
		with := u.With(client.RequestOptions{Metadata: memory.Metadata{k: []byte(`1`)}, TTL: time.Hour,
			MetadataMerge: sessionstore.MergeUnite, Labels: memory.Labels{"run": k}})
		op := ops(with.Ingest(ctx, session, []client.Event{client.Text("user", "I am allergic to wasps.")}, true))
		if op.Response == nil || len(op.Response.Memories) != 1 {
			t.Fatalf("operation %+v", op)
		}
		return op.Response.Memories[0].Memory
	}
	say("s1", "a")
	m := say("s2", "b")
	if m.Evidence != 2 || m.ConfirmedTime.IsZero() || len(m.Metadata) != 2 || m.ExpireTime.IsZero() {
		t.Errorf("said again: %+v", m)
	}
	revisions := must[[]memory.Revision](t)(u.Revisions(ctx, m.ID))
	if len(revisions) != 2 || revisions[0].Labels["run"] != "b" || revisions[1].Labels["run"] != "a" {
		t.Errorf("revisions %+v", revisions)
	}
}
