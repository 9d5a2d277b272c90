package qdrantstore

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/qdrant/go-client/qdrant"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/memoryd/memoryd/internal/qdranttest"
)

// A new collection has graphs of vectors from graphsFrom kB, where Qdrant compares them in
// memory as they are. Elsewhere its own default stays.
func TestGraphsFrom(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]uint64{
		"": graphsFrom, "&shards=2": graphsFrom, "&on-disk=true": 0, "&quantization=scalar": 0,
	} {
		var made bytes.Buffer
		q := qdranttest.Record(t, &made)
		followed(t, q.URL(t)+options)
		line, err := made.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		var call struct{ Request json.RawMessage }
		var create qdrant.CreateCollection
		if err := json.Unmarshal(line, &call); err != nil {
			t.Fatal(err)
		}
		if err := protojson.Unmarshal(call.Request, &create); err != nil {
			t.Fatal(err)
		}
		if got := create.GetOptimizersConfig().GetIndexingThreshold(); create.CollectionName == "" || got != want {
			t.Errorf("%q: collection %q has graphs from %d kB, not %d", options, create.CollectionName, got, want)
		}
	}
}
