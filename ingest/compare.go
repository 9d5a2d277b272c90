package ingest

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
)

// Bounds on what is compared. What a model is shown does not grow with the
// memory: so many neighbours of a new fact, and of all of them together.
const (
	nearCurrent    = 5
	nearHistory    = 2
	nearTogether   = 40
	nearCandidates = 30
)

// uncompared is after how many attempts facts are added without comparing them,
// where a model answers, but with nothing of use: better twice than never.
const uncompared = 5

// consolidate has the extractor compare what is new with what is known nearby.
func (d *decision) consolidate(ctx context.Context, candidates []candidate) error {
	var fresh []candidate
	for _, c := range candidates {
		if e := d.entries[c.memory.ID]; c.forget || e != nil && e.was == nil && !e.gone && !saidAgain(&e.now) {
			fresh = append(fresh, c)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	var c extract.Comparison
	var err error
	if c.Known, err = d.neighbours(ctx, fresh); err != nil {
		return err
	}
	for i := range fresh {
		m := &fresh[i].memory
		c.New = append(c.New, extract.NewFact{Text: m.Fact, Author: m.Author, Timestamp: m.Timestamp, Forget: fresh[i].forget})
	}
	out, err := d.extractor.Consolidate(ctx, c, d.cost.Repaired)
	d.cost.Usage = d.cost.Usage.Add(out.Usage)
	d.cost.Repaired = out.Repaired
	d.cost.Exchanges = append(d.cost.Exchanges, out.Exchanges...)
	if err != nil && d.batch.work.Attempts >= uncompared && !errors.Is(err, memory.ErrUnavailable) && !errors.Is(err, memory.ErrExhausted) && ctx.Err() == nil {
		d.opts.Log.Error("facts stay uncompared with what is known: no answer is of use", "facts", len(fresh), "err", err)
		return nil
	}
	if err != nil {
		return err
	}
	at := func(seq int64, place int) *entry {
		if place < len(c.Known) {
			return d.entry(seq, &c.Known[place])
		}
		return d.entries[fresh[place-len(c.Known)].memory.ID] // nil for what only takes back
	}
	for i, v := range out.Verdicts {
		f := &fresh[i]
		e := d.entries[f.memory.ID]
		switch v.Action {
		case extract.Nothing:
			if same := at(f.seq, v.Same); same != nil && same.holds(&f.memory) {
				e.gone = true
				continue
			}
		case extract.Delete:
			for _, place := range v.Against {
				if other := at(f.seq, place); other != nil && said(&other.now, &f.memory) < 0 {
					other.gone, other.because, other.reason = true, "", v.Reason
				}
			}
			continue
		case extract.Update:
			// A second text for one memory does not know of the first.
			if target := at(f.seq, v.Same); !clients(&target.now) && target.added == nil && target.holds(&f.memory) {
				d.extend(target, e, v)
				e = target
			}
		}
		for _, place := range v.Against {
			other := at(f.seq, place)
			if other == nil || other == e || other.gone {
				continue
			}
			earlier, later := other, e
			if cmp.Or(said(&earlier.now, &later.now), cmp.Compare(place, len(c.Known)+i)) > 0 {
				earlier, later = later, earlier
			}
			d.supersede(earlier, later, v.Reason)
		}
	}
	return nil
}

// holds reports whether a memory stands for what says the same at a later time,
// or at an earlier one.
func (e *entry) holds(m *memory.Memory) bool {
	return !e.gone && e.now.ExpireTime.IsZero() && (e.now.ValidTo.IsZero() || m.Timestamp.Before(e.now.ValidTo))
}

// extend has a stored memory say what a new fact adds to it.
func (d *decision) extend(target, added *entry, v extract.Verdict) {
	m, from := &target.now, &added.now
	m.Fact = v.Text
	for _, t := range from.Topics {
		if !slices.Contains(m.Topics, t) && len(m.Topics) < memory.MaxTopics {
			m.Topics = append(m.Topics, t)
		}
	}
	if said(m, from) < 0 { // its newest words are what it rests on now; its revisions have the older ones
		m.Source, m.Author, m.Timestamp = from.Source, from.Author, from.Timestamp
		if !from.ValidFrom.IsZero() {
			m.ValidFrom = from.ValidFrom
		}
	}
	alone := added.now.Clone()
	target.seq, target.reason, target.added = added.seq, v.Reason, &alone
	added.gone = true
}

// neighbours are the stored facts that a model compares new ones with: those
// near them by words and meaning.
func (d *decision) neighbours(ctx context.Context, fresh []candidate) ([]memory.Memory, error) {
	if d.extractor.Budget() == 0 {
		return nil, nil
	}
	near, err := d.near(ctx, fresh)
	if err != nil {
		return nil, err
	}
	var out []memory.Memory
	taken := map[string]bool{}
	// The nearest of each first, so that no fact goes without for others' sake.
	room := d.extractor.Budget()
	for rank := range nearCurrent + nearHistory {
		for i := range near {
			if rank >= len(near[i]) || len(out) == nearTogether || room <= 0 {
				continue
			}
			m := near[i][rank]
			if d.known[m.ID] == nil {
				d.known[m.ID] = &m
			}
			if !taken[m.ID] && !d.gone(m.ID) {
				taken[m.ID] = true
				out = append(out, m)
				room -= extract.Tokens(m.Fact)
			}
		}
	}
	slices.SortFunc(out, func(a, b memory.Memory) int { return said(&a, &b) })
	return out, nil
}

// near finds, for each new fact, the stored facts nearest to it.
func (d *decision) near(ctx context.Context, fresh []candidate) ([][]memory.Memory, error) {
	texts := make([]string, len(fresh))
	for i := range fresh {
		texts[i] = fresh[i].memory.Fact
	}
	vectors, err := d.embed(ctx, texts)
	if err != nil {
		return nil, err
	}
	out := make([][]memory.Memory, len(fresh))
	for i := range fresh {
		m := &fresh[i].memory
		found, err := d.memories.Search(ctx, m.Scope, memory.Query{Terms: terms(m.Fact), Vector: vectors[i], Limit: nearCandidates,
			Filter: memory.Filter{Kinds: []memory.Kind{memory.KindFact}, History: true}})
		if err != nil {
			return nil, err
		}
		out[i] = neighboursOf(found, d.embedder.Model().Noise)
	}
	return out, nil
}

// neighboursOf picks the facts to compare a new one with from what was found for
// it: the nearest that are current, then the nearest of the past.
func neighboursOf(found memory.Found, noise float64) (out []memory.Memory) {
	ranked := retrieve.Nearest(found, noise)
	for _, current := range []bool{true, false} {
		left := nearCurrent
		if !current {
			left = nearHistory
		}
		for _, m := range ranked {
			if m.ValidTo.IsZero() == current && left > 0 && !saidAgain(&m) && !standsIn(&m) {
				out = append(out, m)
				left--
			}
		}
	}
	return out
}
