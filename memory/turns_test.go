package memory

import (
	"slices"
	"testing"
	"time"
)

func TestSpans(t *testing.T) {
	for _, c := range []struct {
		name       string
		hits       []int
		context, n int
		want       []Span
	}{
		{"none", nil, 2, 10, nil},
		{"one", []int{4}, 1, 10, []Span{{3, 6}}},
		{"without context", []int{4}, 0, 10, []Span{{4, 5}}},
		{"negative context", []int{4}, -3, 10, []Span{{4, 5}}},
		{"at the ends", []int{0, 9}, 2, 10, []Span{{0, 3}, {7, 10}}},
		{"overlap", []int{2, 4}, 1, 10, []Span{{1, 6}}},
		{"touch", []int{2, 5}, 1, 10, []Span{{1, 7}}},
		{"apart", []int{2, 6}, 1, 10, []Span{{1, 4}, {5, 8}}},
		{"neighbours without context", []int{2, 3, 5}, 0, 10, []Span{{2, 4}, {5, 6}}},
		{"all", []int{0, 1, 2}, 5, 3, []Span{{0, 3}}},
		{"the same twice", []int{4, 4}, 1, 10, []Span{{3, 6}}},
	} {
		if got := Spans(c.hits, c.context, c.n); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestCompareTurns(t *testing.T) {
	turn := func(at time.Time, id string, events ...string) *Memory {
		return &Memory{ID: id, Timestamp: at, Source: Source{EventIDs: events}}
	}
	inOrder := []*Memory{
		turn(noon, "z"), turn(noon, "b", "e1"), turn(noon, "c", "e1"), turn(noon, "a", "e2"),
		turn(noon.Add(1), "a", "e0"),
	}
	for i, a := range inOrder {
		for j, b := range inOrder {
			if got := CompareTurns(a, b); got < 0 != (i < j) || got > 0 != (i > j) {
				t.Errorf("CompareTurns of %d and %d is %d", i, j, got)
			}
		}
	}
}

func TestCitations(t *testing.T) {
	c := Citations{}
	of := func(kind Kind, session string, events ...string) *Memory {
		return &Memory{Kind: kind, Source: Source{SessionID: session, EventIDs: events}}
	}
	c.Cite(of(KindFact, "s", "e1", "e2"))
	c.Cite(of(KindFact, "t", "e3"))
	c.Cite(of(KindTurn, "s", "e4"))
	c.Cite(of(KindFact, "", "e5"))
	for _, x := range []struct {
		turn *Memory
		want bool
	}{
		{of(KindTurn, "s", "e1"), true}, {of(KindTurn, "s", "e2"), true}, {of(KindTurn, "t", "e3"), true},
		{of(KindTurn, "t", "e1"), false}, {of(KindTurn, "s", "e4"), false}, {of(KindTurn, "", "e5"), false},
		{of(KindFact, "s", "e1"), false}, {of(KindTurn, "s"), false},
	} {
		if got := c.Cites(x.turn); got != x.want {
			t.Errorf("%+v is cited: %v", x.turn.Source, got)
		}
	}
}
