package gemini

import (
	"context"
	"fmt"

	"google.golang.org/genai"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/internal/remote"
	"github.com/memoryd/memoryd/memory"
)

const (
	// DefaultEmbeddingModel makes vectors for texts in over 100 languages.
	DefaultEmbeddingModel = "gemini-embedding-001"
	// DefaultDimension is a quarter of the dimension of gemini-embedding-001.
	// Google's own measurements find it nearly as good as all 3,072.
	DefaultDimension = 768
	maxDimension     = 3072
)

// noise is an estimate, on the low side: vectors of gemini-embedding-001 lie close
// together, so that two texts with nothing in common have a cosine of about 0.5.
// The ranking has to deal with those above the estimate.
const noise = 0.4

const (
	maxTexts = 100 // in a call of batchEmbedContents
	// maxBytes of a text always fit into the 2,048 tokens that gemini-embedding-001
	// reads: a token is at least one byte, and the task takes a few tokens. In most
	// languages more would fit, but a memory's first words tell what it is about.
	maxBytes = 2000
)

// Embedder implements embed.Embedder.
type Embedder struct {
	client    *Client
	model     string
	dimension int
	caller    remote.Caller
}

var _ embed.Embedder = (*Embedder)(nil)

// Embedder returns the embedder of a model, with vectors of the given dimension. The
// empty name is DefaultEmbeddingModel, and 0 is DefaultDimension.
func (c *Client) Embedder(model string, dimension int) (*Embedder, error) {
	if model == "" {
		model = DefaultEmbeddingModel
	}
	if dimension == 0 {
		dimension = DefaultDimension
	}
	if dimension < 1 || dimension > maxDimension {
		return nil, fmt.Errorf("gemini:%s: -embedding-dimension %d is not from 1 to %d: %w",
			model, dimension, maxDimension, memory.ErrInvalid)
	}
	e := &Embedder{client: c, model: model, dimension: dimension}
	e.caller = c.callerOf(model, remote.EmbedTimeout)
	return e, nil
}

// Model implements embed.Embedder.
func (e *Embedder) Model() embed.Model {
	return embed.Model{Name: e.caller.Name, Dimension: e.dimension, Noise: noise, Remote: true}
}

// Embed implements embed.Embedder. The service scales only vectors of its full
// dimension to unit length; shorter ones are scaled here.
func (e *Embedder) Embed(ctx context.Context, task embed.Task, texts []string) ([][]float32, error) {
	limits := remote.Batches{Texts: maxTexts, Longest: maxBytes}
	if e.client.config.Backend == genai.BackendVertexAI {
		limits.Texts = 1 // all that gemini-embedding-001 takes there in a call
	}
	config := &genai.EmbedContentConfig{
		TaskType: "RETRIEVAL_DOCUMENT", OutputDimensionality: new(int32(e.dimension)),
	}
	if task == embed.Query {
		config.TaskType = "RETRIEVAL_QUERY"
	}
	call := func(ctx context.Context, batch []string) ([][]float32, error) {
		return e.embedBatch(ctx, batch, config)
	}
	return e.caller.Embed(ctx, limits, e.dimension, texts, call)
}

func (e *Embedder) embedBatch(
	ctx context.Context, batch []string, config *genai.EmbedContentConfig,
) ([][]float32, error) {
	sdk, err := e.client.connect()
	if err != nil {
		return nil, err
	}
	contents := make([]*genai.Content, len(batch))
	for i, text := range batch {
		contents[i] = genai.NewContentFromText(text, genai.RoleUser)
	}
	resp, err := sdk.Models.EmbedContent(ctx, e.model, contents, config)
	if err != nil {
		return nil, tokenError(&e.caller, err)
	}
	vectors := make([][]float32, len(resp.Embeddings))
	for i, v := range resp.Embeddings {
		if v != nil {
			vectors[i] = v.Values
		}
	}
	return vectors, nil
}
