package reembed

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/memory"
)

const (
	// formerTime is how long a write waits for the former embedder.
	formerTime = 5 * time.Second
	// formerRest is how long writes do not ask it after it has failed.
	formerRest = time.Minute
)

// Former is the embedder that memories were made with, while they move to another
// one. A text that it makes no vector for is stored without one, since the move
// is about to make another, and is found by its words until then.
type Former struct {
	embedder embed.Embedder // nil if there is none
	model    embed.Model
	log      *slog.Logger

	mu      sync.Mutex
	restsTo time.Time // writes do not ask before
}

// NewFormer makes the former embedder of memories of a model; e is nil if this
// memoryd has no such embedder.
func NewFormer(e embed.Embedder, was memory.Model, log *slog.Logger) *Former {
	f := &Former{embedder: e, model: embed.Model{Name: was.Embedder, Dimension: was.Dimension}, log: log}
	if e != nil {
		f.model = e.Model()
	}
	return f
}

// Model implements embed.Embedder.
func (f *Former) Model() embed.Model { return f.model }

// Known reports whether there is such an embedder to ask.
func (f *Former) Known() bool { return f.embedder != nil }

// Embed implements embed.Embedder, except that vectors may be nil.
func (f *Former) Embed(ctx context.Context, task embed.Task, texts []string) ([][]float32, error) {
	none := make([][]float32, len(texts))
	if !f.Known() {
		return none, nil
	}
	if task == embed.Query {
		return f.embedder.Embed(ctx, task, texts)
	}
	if f.rests() {
		return none, nil
	}
	within, cancel := context.WithTimeout(ctx, formerTime)
	defer cancel()
	vectors, err := f.embedder.Embed(within, task, texts)
	if err == nil || ctx.Err() != nil {
		return vectors, err
	}
	f.log.Warn("memories are stored without vectors until they have moved: the embedder they were made with fails",
		"err", err)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.restsTo = time.Now().Add(formerRest)
	return none, nil
}

// rests reports whether the embedder has failed a short while ago.
func (f *Former) rests() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Now().Before(f.restsTo)
}
