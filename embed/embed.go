// Package embed turns text into vectors: the [Embedder] interface, the check
// that every answer of one passes, and the built-in one, which needs nothing
// but this binary.
package embed

import (
	"context"
	"fmt"

	"github.com/memoryd/memoryd/memory"
)

// Model describes the vectors of an Embedder. Vectors of different models
// cannot be compared.
type Model struct {
	Name      string
	Dimension int
	// Noise is the cosine up to which two texts have nothing in common: the
	// vectors of any two texts are that close.
	Noise float64
	// Remote is set when a call leaves the process, and so may be slow or fail.
	Remote bool
}

// Task is the purpose of a vector. Some models embed a question differently
// from the text that answers it.
type Task int

// The tasks: Document is a text that is searched, Query a question.
const (
	Document Task = iota
	Query
)

// Embedder makes vectors of unit length, or the zero vector for a text without
// any word it knows. Call it through [Vectors], which checks what it answers.
type Embedder interface {
	Model() Model
	// Embed returns one vector of Model().Dimension for each text, in order; a
	// nil one stands for a text that is stored without a vector.
	// Implementations batch as they need. An Embedder that cannot be reached
	// fails with memory.ErrUnavailable.
	Embed(ctx context.Context, task Task, texts []string) ([][]float32, error)
}

// Vectors has e embed texts. An answer with another number of vectors, or with
// vectors of another dimension, would be stored or searched with as if it were
// right: it is memory.ErrUnavailable instead.
func Vectors(ctx context.Context, e Embedder, task Task, texts []string) ([][]float32, error) {
	vectors, err := e.Embed(ctx, task, texts)
	if err != nil {
		return nil, err
	}
	model := e.Model()
	if len(vectors) != len(texts) {
		return nil, wrongAnswer(model, "%d vectors for %d texts", len(vectors), len(texts))
	}
	for _, v := range vectors {
		if v != nil && len(v) != model.Dimension {
			return nil, wrongAnswer(model, "a vector of dimension %d, not %d", len(v), model.Dimension)
		}
	}
	return vectors, nil
}

func wrongAnswer(m Model, format string, args ...any) error {
	return fmt.Errorf("embedder %q: %w: it returned %s", m.Name, memory.ErrUnavailable, fmt.Sprintf(format, args...))
}
