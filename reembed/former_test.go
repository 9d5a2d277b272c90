package reembed

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/memory"
)

// unavailable is an embedder that never answers.
type unavailable struct{ asked *int }

func (u unavailable) Model() embed.Model { return embed.Model{Remote: true} }

func (u unavailable) Embed(context.Context, embed.Task, []string) ([][]float32, error) {
	*u.asked++
	return nil, memory.ErrUnavailable
}

// A write does not wait for a former embedder that fails: it is asked once, and
// then left alone for a while. A query still fails.
func TestFormerUnavailable(t *testing.T) {
	asked := 0
	f := NewFormer(unavailable{&asked}, memory.Model{}, slog.New(slog.DiscardHandler))
	for range 3 {
		v, err := f.Embed(t.Context(), embed.Document, []string{"a", "b"})
		if diff := cmp.Diff([][]float32{nil, nil}, v); err != nil || diff != "" {
			t.Errorf("%v, vectors (-want +got):\n%s", err, diff)
		}
	}
	if asked != 1 {
		t.Errorf("it was asked %d times", asked)
	}
	if _, err := f.Embed(t.Context(), embed.Query, []string{"a"}); !errors.Is(err, memory.ErrUnavailable) {
		t.Errorf("a query gives %v", err)
	}
}
