package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/internal/analyzer"
	"github.com/memoryd/memoryd/memory"
)

// index gives writes what they are found by.
func (s *Service) index(ctx context.Context, writes []memory.Write, vectors bool) error {
	texts := make([]string, len(writes))
	for i := range writes {
		writes[i].Terms = indexed(&writes[i].Memory)
		texts[i] = writes[i].Memory.Fact
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

// indexed are the terms of a memory.
func indexed(m *memory.Memory) memory.Terms {
	out := analyzer.Of(m)
	for _, t := range marks(m) {
		out[t] = 1
	}
	return out
}

// Index gives records of any scope what they are found by: terms, and a vector
// to those that have none. What has expired by now, as what was deleted, is found
// by nothing, and no embedder is shown it.
func Index(ctx context.Context, embedder embed.Embedder, records []memory.Record, now time.Time) error {
	var texts []string
	var bare []*memory.Record
	for i := range records {
		r := &records[i]
		if r.Terms = nil; r.Deleted || !r.Memory.Live(now) {
			r.Vector = nil
			continue
		}
		if r.Terms = indexed(&r.Memory); r.Vector == nil {
			texts, bare = append(texts, r.Memory.Fact), append(bare, r)
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

// ours makes what a model refuses as invalid (a key, a name, a dimension) no
// fault of whoever has asked us: it is the configuration's.
func ours(err error) error {
	if errors.Is(err, memory.ErrInvalid) {
		return fmt.Errorf("%w: %s", memory.ErrUnavailable, err.Error())
	}
	return err
}

// terms are the words of a fact that others are found by.
func terms(text string) []string { return analyzer.Question(text) }

func (s *Service) embed(ctx context.Context, texts []string) ([][]float32, error) {
	vs, err := embed.Vectors(ctx, s.embedder, embed.Document, texts)
	return vs, ours(err)
}

// Marks are more terms of a memory, which no question has, as no word has such
// a sign in it. Facts that say the same, or give the same attribute a value,
// and turns that want something forgotten, are found by them with one look into
// the words of any store, however many memories there are and whatever their
// language.
const (
	saysMark    = "=" // of a fact: its gist
	slotMark    = "@" // of a fact: the attribute it gives a value to
	endsMark    = "~" // of a fact: the gist of what holds no more
	forgetsMark = "!" // of a turn: the gist of what is to be forgotten
)

func marked(sign, what string) string {
	sum := sha256.Sum256([]byte(what))
	return sign + hex.EncodeToString(sum[:16])
}

// marks are those of a memory.
func marks(m *memory.Memory) (out []string) {
	if m.Kind == memory.KindTurn {
		for _, what := range extract.Forgotten(m.Fact) {
			out = append(out, marked(forgetsMark, what))
		}
		return out
	}
	f := extract.FormOf(m.Fact)
	return formMarks(&f)
}

func formMarks(f *extract.Form) []string {
	out := []string{marked(saysMark, f.Gist)}
	if f.Slot != "" {
		out = append(out, marked(slotMark, f.Slot))
	}
	if f.Ends != "" {
		out = append(out, marked(endsMark, f.Ends))
	}
	return out
}

// sought are the marks of what bears on a new fact: what says the same, what
// gives another value, what it ends and what wants it forgotten.
func (c *candidate) sought() []string {
	if c.forget {
		return []string{marked(saysMark, extract.ToForget(c.memory.Fact))}
	}
	return sought(&c.form)
}

func sought(f *extract.Form) []string {
	return append(bearing(f), marked(forgetsMark, f.Gist))
}

// bearing are the marks of what says the same as a fact, or may exclude it.
func bearing(f *extract.Form) []string {
	out := append(formMarks(f), marked(endsMark, f.Gist))
	if f.Ends != "" {
		out = append(out, marked(saysMark, f.Ends))
	}
	return out
}
