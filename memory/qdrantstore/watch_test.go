package qdrantstore

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/qdrant/go-client/qdrant"

	"github.com/memoryd/memoryd/internal/qdranttest"
	"github.com/memoryd/memoryd/memory"
)

// A collection that is older than before, gone, or another one is noticed by a look,
// logged once, and told until it is back.
func TestWatch(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	server := qdranttest.Start(t)
	s, err := Open(ctx, server.URL(t), Model{Embedder: "e", Dimension: 4, Analyzer: "a"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	look := func(want string) {
		t.Helper()
		out.Reset()
		for range 2 {
			if s.Look(ctx, log) {
				t.Fatal("the memories have moved")
			}
		}
		err := s.Check(ctx)
		if want == "" {
			if err != nil || out.Len() > 0 {
				t.Errorf("a healthy collection: %v, %s", err, out.String())
			}
			return
		}
		if damage := (*memory.Damage)(nil); !errors.As(err, &damage) || !strings.Contains(damage.Error(), want) ||
			!strings.Contains(damage.Error(), "memoryd rebuild") {
			t.Errorf("check: %v, want %q and the remedy", err, want)
		}
		if n := strings.Count(out.String(), want); n != 1 {
			t.Errorf("the log says it %d times: %s", n, out.String())
		}
	}
	look("")
	beat := s.watch.beat
	set := func(at int64) {
		t.Helper()
		err := s.update(ctx, s.collection,
			qdrant.NewPointsUpdateUpsert(&qdrant.PointsUpdateOperation_PointStructList{
				Points: []*qdrant.PointStruct{{Id: s.watch.point,
					Vectors: qdrant.NewVectorsMap(map[string]*qdrant.Vector{}),
					Payload: map[string]*qdrant.Value{beatField: qdrant.NewValueInt(at)}}},
			}))
		if err != nil {
			t.Fatal(err)
		}
	}
	set(beat - 1_000_000)
	look("is older")
	set(beat)
	look("")
	if err := s.client.DeleteCollection(ctx, s.collection); err != nil {
		t.Fatal(err)
	}
	look("is gone")
	other, err := Open(ctx, "qdrant://"+server.Addr+"?collection="+s.set.collection, s.model, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	look("another collection")
	if other.Look(ctx, log); other.Check(ctx) != nil {
		t.Errorf("the other one: %v", other.Check(ctx))
	}
	other.leave()
}
