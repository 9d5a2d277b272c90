package main

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/internal/fair"
	"github.com/memoryd/memoryd/quota"
)

// modelMeter counts what models do for apps. It has a quota.Meter once the stores are
// open, which may count for several memoryd; nothing calls a model before.
type modelMeter struct {
	meter atomic.Pointer[quota.Meter] // nil without limits
	log   *slog.Logger
}

// meteredGenerator holds a model to the limits of the app and the user that it is called
// for.
type meteredGenerator struct {
	extract.Generator
	by *modelMeter
}

// Generate implements extract.Generator. An app or a user that has had its share of the
// day gets a memory.Refusal, and the model is not called. A call that is for no app counts for
// none.
func (m *meteredGenerator) Generate(ctx context.Context, p extract.Prompt) (extract.Answer, error) {
	meter := m.by.meter.Load()
	scope, known := fair.ScopeOf(ctx)
	if meter == nil || !known {
		return m.Generator.Generate(ctx, p)
	}
	if err := meter.Begin(ctx, scope); err != nil {
		m.by.log.Debug("a model is not called", "model", m.Model(), "app", scope.App, "err", err)
		return extract.Answer{}, err
	}
	a, err := m.Generator.Generate(ctx, p)
	tokens := a.InputTokens + a.OutputTokens
	if tokens == 0 && err == nil { // the provider does not tell
		tokens = extract.Tokens(p.System) + extract.Tokens(p.Data) + extract.Tokens(a.Text)
	}
	if tokens > 0 {
		// The tokens are spent, whether or not the caller still waits.
		if lost := meter.Add(context.WithoutCancel(ctx), scope, tokens); lost != nil {
			m.by.log.Error("the tokens of a model's call are not counted", "app", scope.App, "err", lost)
		}
	}
	return a, err
}
