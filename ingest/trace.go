package ingest

import (
	"context"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/internal/tracing"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// beginWork begins the span of a batch, in the trace of the oldest request that waits
// for it. It has a link to each other request that waits for the session, as the batch
// may serve those too.
func (s *Service) beginWork(ctx context.Context, w sessionstore.Work) (context.Context, *tracing.Span) {
	ctx, span := s.tracer.Work(ctx, "make memories", w.Request.Traceparent)
	if span == nil {
		return ctx, nil
	}
	span.String("memoryd.app", w.Key.App)
	span.String("memoryd.operation", sessionstore.OperationName(w.Request.ID))
	span.Int("memoryd.attempt", w.Attempts)
	waiting, _, err := s.sessions.Operations(ctx, w.Key.Scope, sessionstore.List{PageSize: memory.DefaultPageSize})
	if err != nil {
		s.log(ctx, w.Key).Debug("the trace of a batch has no links", "err", err)
	}
	for _, o := range waiting {
		if !o.Done() && o.Key == w.Key && o.ID != w.Request.ID {
			span.Link(o.Traceparent)
		}
	}
	return ctx, span
}

// endExtract ends the span of an extraction.
func endExtract(span *tracing.Span, b *batch, found *extract.Found, err error) {
	span.Int("memoryd.turns", len(b.turns))
	span.Int("memoryd.facts.count", len(found.Facts))
	span.Content("memoryd.facts", func() (facts []string) {
		for i := range found.Facts {
			facts = append(facts, found.Facts[i].Text)
		}
		return facts
	})
	span.End(err)
}
