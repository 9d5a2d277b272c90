// Package embed turns text into vectors: the [Embedder] interface and the
// built-in one, which needs nothing but this binary.
package embed

import "context"

// Model says what an Embedder's vectors are. Vectors of different models
// cannot be compared.
type Model struct {
	Name      string
	Dimension int
	// Noise is the cosine below which two texts have nothing in common: the
	// vectors of any two are that close.
	Noise float64
	// Remote is set when a call may be slow or fail: it leaves the process.
	Remote bool
}

// Task is what a text is embedded for; some models embed a question otherwise
// than what answers it.
type Task int

const (
	Document Task = iota
	Query
)

// Embedder makes vectors of unit length, or zero for a text without any word
// it knows.
type Embedder interface {
	Model() Model
	// Embed returns one vector of Model().Dimension for each text, in order.
	// Implementations batch as they need. An Embedder that is away fails with
	// memory.ErrUnavailable.
	Embed(ctx context.Context, task Task, texts []string) ([][]float32, error)
}
