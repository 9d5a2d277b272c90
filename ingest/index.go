package ingest

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/internal/analyzer"
	"github.com/memoryd/memoryd/memory"
)

// index gives writes what they are found by.
func (s *Service) index(ctx context.Context, writes []memory.Write, vectors bool) error {
	texts := make([]string, len(writes))
	for i := range writes {
		writes[i].Terms = analyzer.Of(&writes[i].Memory)
		texts[i] = writes[i].Memory.Fact
	}
	if !vectors || len(writes) == 0 {
		return nil
	}
	vs, err := s.embedder.Embed(ctx, embed.Document, texts)
	if err != nil {
		return err
	}
	if len(vs) != len(texts) {
		return fmt.Errorf("embedder %q gave %d vectors for %d texts", s.embedder.Model().Name, len(vs), len(texts))
	}
	for i := range writes {
		writes[i].Vector = vs[i]
	}
	return nil
}

// cut is text, or as much of its beginning as n bytes hold.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
