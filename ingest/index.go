package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/internal/analyzer"
	"github.com/memoryd/memoryd/memory"
)

// index gives writes what they are found by.
func (s *Service) index(ctx context.Context, writes []memory.Write, vectors bool) error {
	texts := make([]string, len(writes))
	for i := range writes {
		writes[i].Terms = analyzer.Of(&writes[i].Memory)
		if writes[i].Memory.Kind == memory.KindFact {
			writes[i].Terms[wording(writes[i].Memory.Fact)] = 1
		}
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

// wording is one more term of a fact, which facts of the same wording have and
// no question does, as no word has an equals sign in it. It finds exact
// duplicates by one look into the words of any store, however many facts there
// are and whatever their language.
func wording(fact string) string {
	sum := sha256.Sum256([]byte(extract.Normalize(fact)))
	return "=" + hex.EncodeToString(sum[:16])
}
