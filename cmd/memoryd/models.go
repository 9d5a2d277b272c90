package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/extract/rules"
	"github.com/memoryd/memoryd/gemini"
	"github.com/memoryd/memoryd/openai"
	"github.com/memoryd/memoryd/retrieve"
)

// provider splits PROVIDER:MODEL. Without a model the provider's default is used.
func provider(flag string) (name, model string) {
	name, model, _ = strings.Cut(flag, ":")
	return name, model
}

// namesProvider reports whether a flag names a model of a provider.
func namesProvider(flag string) bool {
	name, _ := provider(flag)
	return name == "gemini" || name == "openai"
}

// models are those that -embedder, -extractor, -reranker and -expander name. A start asks
// none of them anything, so a model that is unavailable does not stop it.
type models struct {
	embedder  embed.Embedder
	extractor extract.Extractor
	fallback  extract.Extractor        // nil if there is none
	reranker  retrieve.Reranker        // nil if there is none
	expander  retrieve.Expander        // nil if there is none
	meter     *modelMeter              // of the calls of all but the embedder
	notes     map[string]func() string // for /readyz: whether the last call of each went well
}

// newModels fails if a model has no key or an impossible name. It wraps remote
// models, so that /readyz shows how their last call went.
func newModels(cfg *config, log *slog.Logger) (*models, error) {
	m := &models{notes: map[string]func() string{}, meter: &modelMeter{log: log}}
	byRules := rules.New()
	var err error
	if m.embedder, err = newEmbedder(cfg.embedder, cfg.dimension); err != nil {
		return nil, fmt.Errorf("-embedder %s: %w", cfg.embedder, err)
	}
	if m.embedder.Model().Remote {
		e := &watchedEmbedder{Embedder: m.embedder}
		m.embedder, m.notes["embedder"] = e, e.note
	}
	g, err := newGenerator(cfg.extractor)
	switch {
	case err != nil:
		return nil, fmt.Errorf("-extractor %s: %w", cfg.extractor, err)
	case g == nil:
		m.extractor = byRules
	default:
		w := &watchedGenerator{Generator: g}
		m.extractor = extract.NewModel(m.metered(w), &extract.ModelOptions{Budget: cfg.batchTokens})
		m.notes["extractor"] = w.note
		if cfg.fallback == "rules" {
			m.fallback = byRules
		}
	}
	if g, err = newGenerator(cfg.reranker); err != nil {
		return nil, fmt.Errorf("-reranker %s: %w", cfg.reranker, err)
	}
	if g != nil {
		w := &watchedGenerator{Generator: g}
		m.reranker, m.notes["reranker"] = extract.NewReranker(m.metered(w), log), w.note
	}
	if g, err = newGenerator(cfg.expander); err != nil {
		return nil, fmt.Errorf("-expander %s: %w", cfg.expander, err)
	}
	if g != nil {
		w := &watchedGenerator{Generator: g}
		m.expander, m.notes["expander"] = extract.NewExpander(m.metered(w), log), w.note
	}
	return m, nil
}

// metered is a model whose calls count for the app that they are made for. A call that a
// limit refuses is none of the model.
func (m *models) metered(g extract.Generator) extract.Generator { return &meteredGenerator{g, m.meter} }

// nameOf returns the name of a model that there may be, for people to read.
func nameOf(model interface{ Name() string }) string {
	if model == nil {
		return "none"
	}
	return model.Name()
}

// newEmbedder gives the embedder that a flag names, with so many numbers in a
// vector; 0 is the model's default.
func newEmbedder(flag string, dimension int) (embed.Embedder, error) {
	switch name, model := provider(flag); name {
	case "gemini":
		c, err := gemini.New(nil)
		if err != nil {
			return nil, err
		}
		return c.Embedder(model, dimension)
	case "openai":
		c, err := openai.New(nil)
		if err != nil {
			return nil, err
		}
		return c.Embedder(model, dimension)
	}
	if err := (embed.Builtin{}).Check(); err != nil {
		return nil, fmt.Errorf("the model in this binary: %w (build or fetch memoryd again, or name another embedder)",
			err)
	}
	return embed.Builtin{}, nil
}

// newGenerator gives the model that a flag names; nil if the flag names no model of
// a provider, as "rules" and "none" do not.
func newGenerator(flag string) (extract.Generator, error) {
	switch name, model := provider(flag); name {
	case "gemini":
		c, err := gemini.New(nil)
		if err != nil {
			return nil, err
		}
		return c.Generator(model), nil
	case "openai":
		c, err := openai.New(nil)
		if err != nil {
			return nil, err
		}
		return c.Generator(model), nil
	}
	return nil, nil
}

// outcome is how the last call of a model went. It is shown in /readyz, and does
// not make memoryd unready: without its models memoryd still stores and searches.
type outcome struct {
	mu  sync.Mutex
	err error
}

// set records the error of a call. A call that ran out of time counts as
// failed; one that its caller gave up does not.
func (o *outcome) set(ctx context.Context, err error) {
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return // the caller has left; the model has not failed
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.err = err
}

// note is "ok" or "failing"; the log has the reason.
func (o *outcome) note() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return "failing"
	}
	return "ok"
}

// watchedGenerator notes how its calls go.
type watchedGenerator struct {
	extract.Generator
	outcome
}

// Generate implements extract.Generator.
func (w *watchedGenerator) Generate(ctx context.Context, p extract.Prompt) (extract.Answer, error) {
	a, err := w.Generator.Generate(ctx, p)
	w.set(ctx, err)
	return a, err
}

// watchedEmbedder notes how its calls go.
type watchedEmbedder struct {
	embed.Embedder
	outcome
}

// Embed implements embed.Embedder.
func (w *watchedEmbedder) Embed(ctx context.Context, task embed.Task, texts []string) ([][]float32, error) {
	v, err := w.Embedder.Embed(ctx, task, texts)
	w.set(ctx, err)
	return v, err
}

// probeText is the text of a vector that is only made to see whether the embedder
// works.
const probeText = "memoryd"

// probe asks a remote embedder for one vector, so that a wrong key or dimension
// shows at start.
func (m *models) probe(ctx context.Context, log *slog.Logger) {
	if !m.embedder.Model().Remote {
		return
	}
	if _, err := embed.Vectors(ctx, m.embedder, embed.Document, []string{probeText}); err != nil && ctx.Err() == nil {
		log.Error("the embedder fails: memories are found by words alone, and new ones are made once it works",
			"embedder", m.embedder.Model().Name, "err", err)
	}
}
