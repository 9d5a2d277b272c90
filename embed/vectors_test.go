package embed_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/memory"
)

// fixed is an embedder that answers the same whatever it is asked.
type fixed struct {
	vectors [][]float32
	err     error
}

func (fixed) Model() embed.Model { return embed.Model{Name: "fixed", Dimension: 2} }

func (f fixed) Embed(context.Context, embed.Task, []string) ([][]float32, error) {
	return f.vectors, f.err
}

// Vectors passes on an answer that has a vector for each text, and no other.
func TestVectors(t *testing.T) {
	failed := errors.New("failed")
	for name, c := range map[string]struct {
		embedder fixed
		kind     error
		text     string
	}{
		"right":             {fixed{vectors: [][]float32{{1, 0}, {0, 0}}}, nil, ""},
		"without a vector":  {fixed{vectors: [][]float32{{1, 0}, nil}}, nil, ""},
		"none":              {fixed{}, memory.ErrUnavailable, "it returned 0 vectors for 2 texts"},
		"too few":           {fixed{vectors: [][]float32{{1, 0}}}, memory.ErrUnavailable, "it returned 1 vectors for 2 texts"},
		"too many":          {fixed{vectors: [][]float32{{1, 0}, {1, 0}, {1, 0}}}, memory.ErrUnavailable, "it returned 3 vectors for 2 texts"},
		"another dimension": {fixed{vectors: [][]float32{{1, 0}, {1, 0, 0}}}, memory.ErrUnavailable, "it returned a vector of dimension 3, not 2"},
		"empty":             {fixed{vectors: [][]float32{{}, {1, 0}}}, memory.ErrUnavailable, "it returned a vector of dimension 0, not 2"},
		"failed":            {fixed{vectors: [][]float32{{1, 0}, {1, 0}}, err: failed}, failed, "failed"},
	} {
		t.Run(name, func(t *testing.T) {
			vectors, err := embed.Vectors(t.Context(), c.embedder, embed.Document, []string{"tea", "coffee"})
			if !errors.Is(err, c.kind) || (err == nil) != (len(vectors) == 2) {
				t.Errorf("%v, error %v, want %v", vectors, err, c.kind)
			}
			if err != nil && !strings.Contains(err.Error(), c.text) {
				t.Errorf("error %q, want %q", err, c.text)
			}
		})
	}
}
