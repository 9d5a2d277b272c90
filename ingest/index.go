package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract/canonical"
	"github.com/memoryd/memoryd/internal/analyzer"
	"github.com/memoryd/memoryd/internal/tracing"
	"github.com/memoryd/memoryd/memory"
)

// index gives writes the terms that they are found by, and vectors if they are
// wanted.
func (s *Service) index(ctx context.Context, writes []memory.Write, vectors bool) error {
	texts, remote := make([]string, len(writes)), s.embedder.Model().Remote
	for i := range writes {
		writes[i].Terms = indexed(&writes[i].Memory)
		texts[i] = embedded(&writes[i].Memory, remote)
	}
	if !vectors || len(writes) == 0 {
		return nil
	}
	vs, err := s.embed(ctx, texts)
	if err != nil {
		return err
	}
	for i := range writes {
		writes[i].Vector = vs[i]
	}
	return nil
}

// indexed returns the terms of a memory: its words and its lookup keys.
func indexed(m *memory.Memory) memory.Terms {
	out := analyzer.Of(m)
	for _, key := range keysFor(m) {
		out[key] = 1
	}
	return out
}

// maxLead is in characters, some 60 words.
const maxLead = 360

// embedded returns the text that the vector of a memory is made of, by an embedder on another machine or the built-in
// one. That one adds words up: the first ones of a long turn say what it is about, and those behind, such as code or
// ten pieces of advice, would draw its one vector to all that they touch. The headings above a passage say what it is
// about, where its own words may not.
func embedded(m *memory.Memory, remote bool) string {
	if m.Kind == memory.KindTurn && !remote {
		return lead(m.Fact)
	}
	p := m.Source.Passage
	if p == nil {
		return m.Fact
	}
	var out strings.Builder
	for _, line := range append([]string{p.Title}, p.Headings...) {
		if line != "" {
			out.WriteString(line + "\n")
		}
	}
	return out.String() + m.Fact
}

// lead returns the first words of a text, at most maxLead characters. Where the last of these have no space, as in
// scripts without spaces, it returns so many characters.
func lead(text string) string {
	n, end := 0, 0
	for i, r := range text {
		if unicode.IsSpace(r) && n >= maxLead*3/4 {
			end = i
		}
		if n == maxLead {
			return text[:cmp.Or(end, i)]
		}
		n++
	}
	return text
}

// Index gives records of any scope their terms, and a vector to those that have
// none. Memories that are deleted or have expired by now get neither, and the
// embedder is not shown them.
func Index(ctx context.Context, embedder embed.Embedder, records []memory.Record, now time.Time) error {
	var texts []string
	var bare []*memory.Record
	remote := embedder.Model().Remote
	for i := range records {
		r := &records[i]
		if r.Terms = nil; r.Deleted || !r.Memory.Live(now) {
			r.Vector = nil
			continue
		}
		if r.Terms = indexed(&r.Memory); r.Vector == nil {
			texts, bare = append(texts, embedded(&r.Memory, remote)), append(bare, r)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	vectors, err := embed.Vectors(ctx, embedder, embed.Document, texts)
	if err != nil {
		return err
	}
	for i, r := range bare {
		r.Vector = vectors[i]
	}
	return nil
}

// misconfigured makes ErrInvalid of a model or embedder ErrUnavailable: a wrong
// key, name or dimension is a fault of the configuration, and none of the
// request.
func misconfigured(err error) error {
	if errors.Is(err, memory.ErrInvalid) {
		return fmt.Errorf("%w: %s", memory.ErrUnavailable, err.Error())
	}
	return err
}

// embed returns the vectors of texts that are stored.
func (s *Service) embed(ctx context.Context, texts []string) ([][]float32, error) {
	ctx, span := tracing.Start(ctx, "embed")
	span.Int("memoryd.texts", len(texts))
	vs, err := embed.Vectors(ctx, s.embedder, embed.Document, texts)
	span.End(err)
	return vs, misconfigured(err)
}

// keysFor returns the lookup keys that a memory is stored with.
func keysFor(m *memory.Memory) []string {
	if m.Kind == memory.KindTurn {
		return canonical.TurnKeys(m.Fact)
	}
	f := canonical.Of(m.Fact)
	return f.Keys()
}
