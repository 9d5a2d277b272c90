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

// known has the properties of OpenAI's own models. The noise is an estimate, on
// the low side: vectors of text-embedding-ada-002 lie close together, so that two
// texts with nothing in common have a cosine of about 0.7; with text-embedding-3
// it is about 0.1 to 0.2.
var known = map[string]struct {
	dimension int
	noise     float64
}{
	DefaultEmbeddingModel:    {1536, 0.1},
	"text-embedding-3-large": {3072, 0.1},
	"text-embedding-ada-002": {1536, 0.65},
}

// otherNoise is the noise of all other models, of which nothing is known: only a
// vector that points away from another surely has nothing in common with it.
const otherNoise = 0

var (
	// limits are within those of OpenAI's models, which take 8,191 tokens a text, and
	// 300,000 tokens in up to 2,048 texts a call. A token is at least one byte, so
	// these always fit, and a call that fails repeats little work.
	limits = remote.Batches{Texts: 100, Bytes: 250_000, Longest: 8000}
	// otherLimits suit models that read at most 512 tokens, some 2,000 bytes of
	// English. Many models ignore the rest of a text.
	otherLimits = remote.Batches{Texts: 100, Bytes: 250_000, Longest: 2000}
)

// Embedder implements embed.Embedder.
type Embedder struct {
	client  *Client
	model   embed.Model
	name    string
	shorten bool // the model makes vectors of the dimension it is asked for
	limits  remote.Batches
	caller  remote.Caller
}

var _ embed.Embedder = (*Embedder)(nil)

// Embedder returns the embedder of a model, with vectors of the given dimension.
// The empty name is DefaultEmbeddingModel. 0 is the model's own dimension, which is
// known of OpenAI's models only.
func (c *Client) Embedder(model string, dimension int) (*Embedder, error) {
	if model == "" {
		model = DefaultEmbeddingModel
	}
	e := &Embedder{client: c, name: model, limits: otherLimits, caller: c.callerOf(model, remote.EmbedTimeout)}
	e.shorten = strings.HasPrefix(model, "text-embedding-3-") // the only family that can
	own, ok := known[model]
	switch {
	case ok && dimension == 0:
		dimension = own.dimension
	case dimension < 0, ok && dimension > own.dimension, ok && !e.shorten && dimension != own.dimension:
		return nil, fmt.Errorf("%s: -embedding-dimension %d: the model has %d: %w",
			e.caller.Name, dimension, own.dimension, memory.ErrInvalid)
	case dimension == 0:
		return nil, fmt.Errorf("%s: the dimension of its vectors is not known: set -embedding-dimension: %w",
			e.caller.Name, memory.ErrInvalid)
	}
	e.model = embed.Model{Name: e.caller.Name, Dimension: dimension, Noise: otherNoise, Remote: true}
	if ok {
		e.model.Noise, e.limits = own.noise, limits
	}
	return e, nil
}

// Model implements embed.Embedder.
func (e *Embedder) Model() embed.Model { return e.model }

// Embed implements embed.Embedder. The API has no tasks: a question is embedded as
// any other text.
func (e *Embedder) Embed(ctx context.Context, _ embed.Task, texts []string) ([][]float32, error) {
	return e.caller.Embed(ctx, e.limits, e.model.Dimension, texts, e.embedBatch)
}

func (e *Embedder) embedBatch(ctx context.Context, batch []string) ([][]float32, error) {
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
		i := int(d.Index)
		if i < 0 || i >= len(batch) || vectors[i] != nil {
			return nil, e.caller.Faulty("it has a vector for text %d of %d, or two", i, len(batch))
		}
		v := make([]float32, len(d.Embedding))
		for j, x := range d.Embedding {
			v[j] = float32(x)
		}
		vectors[i] = v
	}
	return vectors, nil
}
