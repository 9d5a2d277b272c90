package ingest

import (
	"context"
	"errors"
	"slices"

	"github.com/memoryd/memoryd/consolidate"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/internal/analyzer"
	"github.com/memoryd/memoryd/internal/tracing"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
)

// Bounds on the neighbours that a model compares new facts with, so that a
// prompt does not grow with the memory.
const (
	nearCurrent    = 5  // of one new fact, those that hold
	nearHistory    = 2  // of one new fact, those that have ended
	nearTogether   = 40 // of all new facts of a batch
	nearCandidates = 30 // of one new fact, before ranking
)

// attemptsCompared is after how many attempts facts are added without comparing
// them, if the model answers with nothing of use: a fact that is stored twice is
// better than one that is lost.
const attemptsCompared = 5

// compare has the extractor compare new facts with their neighbours. It returns
// nil if the model gives no answer of use, after some attempts.
func (s *Service) compare(
	ctx context.Context, b *batch, planned consolidate.Result, repaired bool,
) (c *consolidate.Comparison, cost extract.Cost, err error) {
	ctx, span := tracing.Start(ctx, "compare")
	defer func() { span.End(err) }()
	known, err := s.neighbours(ctx, b, planned)
	if err != nil {
		return nil, extract.Cost{}, err
	}
	question := extract.Comparison{Known: known, Policy: b.policy}
	for i := range planned.Uncompared {
		m := &planned.Uncompared[i].Memory
		question.New = append(question.New, extract.NewFact{
			Text: m.Fact, Author: m.Author, Timestamp: m.Local(m.Timestamp), Forget: planned.Uncompared[i].Forget,
		})
	}
	out, err := s.extractor.Consolidate(ctx, question, repaired)
	if err != nil {
		passes := errors.Is(err, memory.ErrUnavailable) || errors.Is(err, memory.ErrExhausted) || ctx.Err() != nil
		if b.work.Attempts < attemptsCompared || passes {
			return nil, out.Cost, err
		}
		s.log(ctx, b.key).Error("new facts were not compared with known ones: the model gives no answer of use",
			"facts", len(question.New), "err", err)
		return nil, out.Cost, nil
	}
	return &consolidate.Comparison{Known: known, New: planned.Uncompared, Verdicts: out.Verdicts}, out.Cost, nil
}

// neighbours are the stored facts to compare the new ones with, in the order in
// which they were said. The nearest of each new fact come first, so that no fact
// goes without for the sake of others. Facts that are deleted in any case are
// left out.
func (s *Service) neighbours(ctx context.Context, b *batch, planned consolidate.Result) ([]memory.Memory, error) {
	room := s.extractor.Budget() // tokens
	if room == 0 {
		return nil, nil
	}
	near, err := s.nearest(ctx, b, planned.Uncompared)
	if err != nil {
		return nil, err
	}
	var out []memory.Memory
	taken := map[string]bool{}
	for _, c := range planned.Changes {
		taken[c.Memory.ID] = c.Action == memory.Deleted
	}
	for rank := range nearCurrent + nearHistory {
		for i := range near {
			if rank >= len(near[i]) || len(out) == nearTogether || room <= 0 {
				continue
			}
			if m := near[i][rank]; !taken[m.ID] {
				taken[m.ID] = true
				out = append(out, m)
				room -= extract.Tokens(m.Fact)
			}
		}
	}
	slices.SortFunc(out, func(a, b memory.Memory) int { return consolidate.Chronological(&a, &b) })
	return out, nil
}

// nearest finds, for each new fact, the stored facts nearest to it.
func (s *Service) nearest(ctx context.Context, b *batch, facts []consolidate.Fact) ([][]memory.Memory, error) {
	texts := make([]string, len(facts))
	for i := range facts {
		texts[i] = facts[i].Memory.Fact
	}
	vectors, err := s.embed(ctx, texts)
	if err != nil {
		return nil, err
	}
	out := make([][]memory.Memory, len(facts))
	for i := range facts {
		filter := memory.Filter{Kinds: []memory.Kind{memory.KindFact}, History: true}
		if facts[i].Forget { // a request may be about the value of a profile
			filter.Kinds = append(filter.Kinds, memory.KindProfile)
		}
		only := b.exact() && !facts[i].Forget
		if only {
			filter.Metadata = b.work.Request.Metadata
		}
		found, err := s.memories.Search(ctx, b.key.Scope, memory.Query{
			Terms: analyzer.Question(texts[i]), Vector: vectors[i], Limit: nearCandidates, Filter: filter,
		})
		if err != nil {
			return nil, err
		}
		near := retrieve.Nearest(found, s.embedder.Model().Noise)
		out[i] = choose(slices.DeleteFunc(near, func(m memory.Memory) bool {
			return only && !m.Metadata.Equal(b.work.Request.Metadata)
		}))
	}
	return out, nil
}

// choose picks from ranked facts those to compare a new one with: the first
// that hold, then the first that have ended. Repetitions and provisional facts
// say nothing of their own.
func choose(ranked []memory.Memory) (out []memory.Memory) {
	for _, current := range []bool{true, false} {
		left := nearCurrent
		if !current {
			left = nearHistory
		}
		for _, m := range ranked {
			if m.ValidTo.IsZero() == current && left > 0 && !consolidate.Repetition(&m) && !isProvisional(&m) {
				out = append(out, m)
				left--
			}
		}
	}
	return out
}
