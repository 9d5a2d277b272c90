package memoryd_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/client"
	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/memory"
)

// A memory is there after its directory is closed and opened again. A closed Bank
// answers 410, in the form of every error.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	b, err := memoryd.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := memoryd.Open(t.Context(), dir, nil); err == nil {
		t.Error("a directory is opened twice at a time")
	}
	ann := client.InProcess(b).User("app", "ann")
	op, err := ann.Ingest(t.Context(), "s1", []client.Event{client.Text("user", "I am allergic to peanuts.")}, false)
	if err != nil {
		t.Fatal(err)
	}
	again, over := context.WithCancel(t.Context())
	over()
	b.Run(again) // beside the one that Open has called
	if _, err := ann.CallTool(t.Context(), "preload_memory", []byte(`{"query":"What about peanuts?"}`)); err != nil {
		t.Error(err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if err := b.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
	_, err = ann.Search(t.Context(), client.Search{Query: "peanuts"})
	if closed := (*client.Error)(nil); !errors.As(err, &closed) || closed.Code != http.StatusGone || closed.Status != "GONE" {
		t.Errorf("search after Close: %#v", err)
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

// other is another embedder than the one that made the memories.
type other struct{ embed.Builtin }

func (other) Model() embed.Model { return embed.Model{Name: "other", Dimension: 3} }

// An Open that fails leaves no file and no directory, and nothing locked.
func TestOpenRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "data")
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := memoryd.Open(over, dir, nil); err == nil {
		t.Fatal("it opens although its context is over")
	}
	if _, err := os.Stat(filepath.Dir(dir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a directory is left: %v", err)
	}
	b, err := memoryd.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	b.Close()
}

// Memories of another embedder are refused, and stay as they are.
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
	b, err = memoryd.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	b.Close()
}

// The two stores of a directory are written in one step, so that every turn of a
// request can be found when it is answered, however many there are.
func TestTurnsOfADirectoryAreFindable(t *testing.T) {
	b, err := memoryd.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	ann := client.InProcess(b).User("app", "ann")
	said := make([]client.Event, 1500) // more than a request to two stores waits for
	for i := range said {
		said[i] = client.Text("user", "Thanks!")
	}
	op, err := ann.Ingest(t.Context(), "s1", said, false)
	if err != nil || !op.Findable {
		t.Errorf("operation %+v, %v", op, err)
	}
}
