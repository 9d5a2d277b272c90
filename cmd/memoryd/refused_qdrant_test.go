package main

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/internal/modeltest"
	"github.com/memoryd/memoryd/internal/qdranttest"
)

// A start that is refused because the sessions have their memories elsewhere
// leaves no collection in Qdrant.
func TestRefusedLeavesNoCollection(t *testing.T) {
	t.Parallel()
	q := qdranttest.Start(t)
	data, url := t.TempDir(), q.URL(t)
	collections := func() []string {
		names, err := q.Client(t).ListCollections(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	start(t, data, "-memories", url).terminate(t)
	before := collections()
	g, env := newGate(t, modeltest.NewOpenAI)
	g.left.Store(wide)
	refused(t, env, data, "-memories", url, "-embedder", "openai", "-embedding-dimension", "64")
	if diff := gocmp.Diff(before, collections()); diff != "" {
		t.Errorf("another embedder (-before +after):\n%s", diff)
	}
	runFails(t, "have their memories elsewhere", 1, "serve", "-data", data, "-memories", q.URL(t), "-listen", "127.0.0.1:0")
	if diff := gocmp.Diff(before, collections()); diff != "" {
		t.Errorf("another collection (-before +after):\n%s", diff)
	}
	start(t, data, "-memories", url).terminate(t)
}
