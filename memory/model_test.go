package memory

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// The indexer is shown the live records alone, and what it makes lands at each
// of them.
func TestIndexerApply(t *testing.T) {
	records := []Record{
		{Memory: Memory{ID: "a"}, Vector: []float32{1}},
		{Memory: Memory{ID: "gone"}, Deleted: true, Terms: Terms{"old": 1}, Vector: []float32{1}},
		{Memory: Memory{ID: "b"}, Terms: Terms{"old": 1}, History: []Step{{}}},
	}
	index := Indexer(func(_ context.Context, live []Record) error {
		for i := range live {
			if live[i].Terms != nil || live[i].History != nil || live[i].Deleted {
				t.Errorf("it is shown %+v", live[i])
			}
			live[i].Terms = Terms{live[i].Memory.ID: 1}
		}
		return nil
	})
	if err := index.Apply(t.Context(), records); err != nil {
		t.Fatal(err)
	}
	a, gone, b := &records[0], &records[1], &records[2]
	if a.Terms["a"] != 1 || len(a.Vector) != 1 || b.Terms["b"] != 1 || b.Vector != nil || len(b.History) != 1 {
		t.Errorf("the live ones are %+v and %+v", a, b)
	}
	if gone.Terms != nil || gone.Vector != nil {
		t.Errorf("the deleted one is %+v", gone)
	}
	failing := Indexer(func(context.Context, []Record) error { return ErrUnavailable })
	if err := failing.Apply(t.Context(), records[:1]); !errors.Is(err, ErrUnavailable) {
		t.Errorf("of one that fails: %v", err)
	}
	if err := failing.Apply(t.Context(), records[1:2]); err != nil {
		t.Errorf("of deleted records it asks nothing: %v", err)
	}
}

// A start that has another analyzer or other keys is told of reembed alone: no
// flag brings those back.
func TestModelRemedy(t *testing.T) {
	was := Model{Embedder: "e", Dimension: 4, Analyzer: "a", Keys: "k"}
	for _, c := range []struct {
		edit func(m *Model)
		flag bool
	}{
		{func(m *Model) { m.Embedder = "other" }, true},
		{func(m *Model) { m.Dimension = 5 }, true},
		{func(m *Model) { m.Analyzer = "other" }, false},
		{func(m *Model) { m.Keys = "other" }, false},
	} {
		now := was
		c.edit(&now)
		got := was.Remedy(now)
		if strings.Contains(got, "-embedder") != c.flag || !strings.Contains(got, "memoryd reembed") {
			t.Errorf("%v: %s", now, got)
		}
		if was.SameEmbedder(now) == c.flag {
			t.Errorf("%v has the same embedder: %v", now, !c.flag)
		}
	}
}
