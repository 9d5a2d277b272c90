package memoryd_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/client"
	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/memory"
)

// What is remembered in a directory is there again, and nothing else is served
// by then, whatever has begun before.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	b, err := memoryd.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := memoryd.Open(t.Context(), dir, nil); err == nil {
		t.Error("two have one directory")
	}
	ann := client.InProcess(b).User("app", "ann")
	op, err := ann.Ingest(t.Context(), "s1", []client.Event{client.Text("user", "I am allergic to peanuts.")}, false)
	if err != nil {
		t.Fatal(err)
	}
	again, over := context.WithCancel(t.Context())
	over()
	b.Run(again) // which Open has called already, and which does no harm
	if _, err := ann.CallTool(t.Context(), "preload_memory", []byte(`{"query":"What about peanuts?"}`)); err != nil {
		t.Error(err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if err := b.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
	if _, err := ann.Search(t.Context(), client.Search{Query: "peanuts"}); err == nil || err.(*client.Error).Code != http.StatusGone {
		t.Errorf("search after the end: %v", err)
	}

	b, err = memoryd.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	c := client.InProcess(b)
	for op, err := range c.Follow(t.Context(), op.ID) {
		if err != nil {
			t.Fatal(err)
		}
		if op.Done && op.Error != nil {
			t.Error(op.Error)
		}
	}
	page, err := c.User("app", "ann").Memories(t.Context(), memory.List{Filter: memory.Filter{Kinds: []memory.Kind{memory.KindFact}}})
	if err != nil || len(page.Memories) != 1 {
		t.Errorf("memories %+v, %v", page, err)
	}
}

// other is an embedder that memories were not made with.
type other struct{ embed.Builtin }

func (other) Model() embed.Model { return embed.Model{Name: "other", Dimension: 3} }

func TestOpenOther(t *testing.T) {
	dir := t.TempDir()
	b, err := memoryd.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := memoryd.Open(t.Context(), dir, &memoryd.Options{Embedder: other{}}); err == nil {
		t.Error("memories of another embedder are served")
	}
	b, err = memoryd.Open(t.Context(), dir, nil) // it is not left locked
	if err != nil {
		t.Fatal(err)
	}
	b.Close()
}
