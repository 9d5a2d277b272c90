package qdranttest

import (
	"strings"
	"testing"
	"time"

	"github.com/qdrant/go-client/qdrant"

	"github.com/memoryd/memoryd/internal/filetest"
)

// Rewrite makes the calls of docs/erasing.md for each collection of a server that StartReal has
// started: its segments are written once more, and writes that change nothing take the place of
// the old ones in its log. It fails the test if a file has one of the words long after that.
func (s *Server) Rewrite(t testing.TB, words ...string) {
	t.Helper()
	c := s.Client(t)
	names, err := c.ListCollections(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	onDisk := func(is bool) {
		t.Helper()
		for _, name := range names {
			if err := c.UpdateCollection(t.Context(), &qdrant.UpdateCollection{CollectionName: name,
				Params: &qdrant.CollectionParamsDiff{OnDiskPayload: &is}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	onDisk(false)
	nowhere := qdrant.NewPointsSelectorFilter(&qdrant.Filter{
		Must: []*qdrant.Condition{qdrant.NewHasID(qdrant.NewIDUUID("00000000-0000-0000-0000-000000000000"))}})
	filler := qdrant.NewValueMap(map[string]any{"filler": strings.Repeat("x", 20_000_000)})
	for _, name := range names {
		for range 3 {
			if _, err := c.SetPayload(t.Context(), &qdrant.SetPayloadPoints{CollectionName: name,
				Wait: qdrant.PtrOf(true), Payload: filler, PointsSelector: nowhere}); err != nil {
				t.Fatal(err)
			}
		}
	}
	end := time.Now().Add(3 * time.Minute) // it takes seconds on a machine that does little else
	for _, word := range words {
		for {
			files := filetest.With(t, s.Dir(), word)
			if len(files) == 0 {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("%v still have %q", files, word)
			}
			time.Sleep(100 * time.Millisecond) // Qdrant flushes every 5 s
		}
	}
	onDisk(true)
}
