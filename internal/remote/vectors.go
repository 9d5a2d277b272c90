package remote

import (
	"context"
	"math"
	"strings"

	"github.com/memoryd/memoryd/internal/tracing"
	"github.com/memoryd/memoryd/memory"
)

// Batches has the limits of an embedding service.
type Batches struct {
	Texts   int // in a call
	Bytes   int // in a call, in all; 0 for no limit
	Longest int // bytes of a text; the rest is cut off
}

// Embed returns a vector of unit length for each text, in order. It makes as many
// calls as it takes, one after the other, and checks their answers. A text of only
// white space gets the zero vector, since services refuse to embed it.
func (c *Caller) Embed(
	ctx context.Context, b Batches, dimension int, texts []string,
	call func(context.Context, []string) ([][]float32, error),
) (out [][]float32, err error) {
	ctx, span := c.Span(ctx, tracing.Embeddings)
	defer func() { span.End(err) }()
	span.Int("gen_ai.embeddings.dimension.count", dimension)
	out = make([][]float32, len(texts))
	var batch []string
	var places []int // of the texts of the batch, in texts
	size := 0
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		vectors, err := Do(ctx, c, func(ctx context.Context) ([][]float32, error) {
			vectors, err := call(ctx, batch)
			if err != nil {
				return nil, err
			}
			return c.checked(vectors, len(batch), dimension)
		})
		if err != nil {
			return err
		}
		for i, v := range vectors {
			out[places[i]] = v
		}
		places, batch, size = nil, nil, 0
		return nil
	}
	for i, text := range texts {
		if strings.TrimSpace(text) == "" {
			out[i] = make([]float32, dimension)
			continue
		}
		text = memory.Cut(strings.ToValidUTF8(text, "\uFFFD"), b.Longest)
		if len(batch) == b.Texts || b.Bytes > 0 && size+len(text) > b.Bytes {
			if err := flush(); err != nil {
				return nil, err
			}
		}
		places, batch, size = append(places, i), append(batch, text), size+len(text)
	}
	if err := flush(); err != nil {
		return nil, err
	}
	return out, nil
}

// checked returns the vectors at unit length if there are n of the dimension.
func (c *Caller) checked(vectors [][]float32, n, dimension int) ([][]float32, error) {
	if len(vectors) != n {
		return nil, c.Faulty("it has %d vectors for %d texts", len(vectors), n)
	}
	out := make([][]float32, n)
	for i, v := range vectors {
		if len(v) != dimension {
			return nil, c.Invalid(
				"its vectors have %d numbers, not %d: set -embedding-dimension to what the model has",
				len(v),
				dimension,
			)
		}
		if out[i] = unit(v); out[i] == nil {
			return nil, c.Faulty("a vector has a number that is not finite")
		}
	}
	return out, nil
}

// unit returns v at length 1, or nil if it has a number that is not finite.
func unit(v []float32) []float32 {
	length := 0.0
	for _, x := range v {
		length += float64(x) * float64(x)
	}
	if math.IsNaN(length) || math.IsInf(length, 0) {
		return nil
	}
	out := make([]float32, len(v))
	if length == 0 {
		return out
	}
	length = math.Sqrt(length)
	for i, x := range v {
		out[i] = float32(float64(x) / length)
	}
	return out
}
