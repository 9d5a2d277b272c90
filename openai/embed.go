package openai

import (
	"context"
	"fmt"
	"strings"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/internal/remote"
	"github.com/memoryd/memoryd/memory"
)

// DefaultEmbeddingModel is the cheapest of OpenAI's.
const DefaultEmbeddingModel = "text-embedding-3-small"

// known is what OpenAI's own models have. The noise is an estimate, on the low
// side: vectors of text-embedding-ada-002 lie close together, and texts that
// have nothing in common are at about 0.7; those of text-embedding-3 are at
// about 0.1 to 0.2.
var known = map[string]struct {
	dimension int
	noise     float64
}{
	DefaultEmbeddingModel:    {1536, 0.1},
	"text-embedding-3-large": {3072, 0.1},
	"text-embedding-ada-002": {1536, 0.65},
}

// otherNoise is that of models nothing is known of: only what points away from
// a text has surely nothing in common with it.
const otherNoise = 0

var (
	// limits of OpenAI's models: a text has up to 8,191 tokens, and a call
	// 300,000 in up to 2,048 texts. A token is at least a byte, so that what is
	// within these always fits; and a call that fails has little to do again.
	limits = remote.Batches{Texts: 100, Bytes: 250_000, Longest: 8000}
	// others often read no more than 512 tokens, some 2,000 bytes of English.
	// Many cut off by themselves what is too long.
	others = remote.Batches{Texts: 100, Bytes: 250_000, Longest: 2000}
)

// Embedder implements embed.Embedder.
type Embedder struct {
	client  *Client
	model   embed.Model
	name    string
	shorten bool // the service is told the dimension
	limits  remote.Batches
	caller  remote.Caller
}

var _ embed.Embedder = (*Embedder)(nil)

// Embedder is a model that makes vectors of a dimension. The empty name is
// DefaultEmbeddingModel. 0 is the dimension that a model has by itself, which
// is known of OpenAI's own.
func (c *Client) Embedder(model string, dimension int) (*Embedder, error) {
	if model == "" {
		model = DefaultEmbeddingModel
	}
	e := &Embedder{client: c, name: model, limits: others, caller: c.of(model, remote.EmbedTimeout)}
	e.shorten = strings.HasPrefix(model, "text-embedding-3-") // no other can
	full, ok := known[model]
	switch {
	case ok && dimension == 0:
		dimension = full.dimension
	case dimension < 0 || ok && dimension > full.dimension || ok && !e.shorten && dimension != full.dimension:
		return nil, fmt.Errorf("%s: -embedding-dimension %d: it has %d: %w", e.caller.Name, dimension, full.dimension, memory.ErrInvalid)
	case dimension == 0:
		return nil, fmt.Errorf("%s: how many numbers its vectors have is not known: set -embedding-dimension: %w", e.caller.Name, memory.ErrInvalid)
	}
	e.model = embed.Model{Name: e.caller.Name, Dimension: dimension, Noise: otherNoise, Remote: true}
	if ok {
		e.model.Noise, e.limits = full.noise, limits
	}
	return e, nil
}

// Model implements embed.Embedder.
func (e *Embedder) Model() embed.Model { return e.model }

// Embed implements embed.Embedder. The API knows no tasks: a question is
// embedded as any text is.
func (e *Embedder) Embed(ctx context.Context, _ embed.Task, texts []string) ([][]float32, error) {
	return e.caller.Embed(ctx, e.limits, e.model.Dimension, texts, func(ctx context.Context, batch []string) ([][]float32, error) {
		request := embeddingRequest{Model: e.name, Input: batch, EncodingFormat: "float"}
		if e.shorten {
			request.Dimensions = e.model.Dimension
		}
		var answer embeddingAnswer
		if err := e.client.post(ctx, "/embeddings", request, &answer); err != nil {
			return nil, err
		}
		vectors := make([][]float32, len(batch))
		if len(answer.Data) != len(batch) {
			return nil, e.caller.Faulty("it has %d vectors for %d texts", len(answer.Data), len(batch))
		}
		for _, d := range answer.Data {
			if d.Index < 0 || d.Index >= len(batch) || vectors[d.Index] != nil {
				return nil, e.caller.Faulty("it has a vector for text %d of %d, or two", d.Index, len(batch))
			}
			v := make([]float32, len(d.Embedding))
			for i, x := range d.Embedding {
				v[i] = float32(x)
			}
			vectors[d.Index] = v
		}
		return vectors, nil
	})
}
