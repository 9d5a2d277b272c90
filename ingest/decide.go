package ingest

import (
	"cmp"
	"context"
	"slices"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Bounds on what is compared. What a model is shown does not grow with the
// memory: so many neighbours of a new fact, and of all of them together.
const (
	marksLimit     = 1000 // memories with the marks of one fact
	nearCurrent    = 5
	nearHistory    = 2
	nearTogether   = 40
	nearCandidates = 30
)

// candidate is a fact on its way to being a memory.
type candidate struct {
	seq    int64 // of the event it comes from
	memory memory.Memory
	forget bool            // it only takes back what says the same
	known  []memory.Memory // what bears on it
}

// decision is a batch being decided on.
type decision struct {
	*Service
	*draft
	batch *batch
	plain bool // facts are merged only where they say the same
	cost  extract.Cost
}

// decide has facts become memories, and what they change of others part of the
// draft. Of what says the same only the one said first stands, and of what
// cannot both hold the one said later, so that neither the order in which
// sessions arrive nor where one batch ends makes a difference.
func (d *decision) decide(ctx context.Context, candidates []candidate) error {
	for len(candidates) > 0 {
		slices.SortStableFunc(candidates, func(a, b candidate) int { return said(&a.memory, &b.memory) })
		fresh, err := d.merge(ctx, candidates)
		if err != nil {
			return err
		}
		ended, err := d.consolidate(ctx, fresh)
		if err != nil {
			return err
		}
		// What was left out as said already is said again if it was said after
		// what has ended it now.
		if candidates, err = d.restated(ctx, ended); err != nil {
			return err
		}
	}
	return nil
}

// candidatesOf makes a candidate of each fact.
func candidatesOf(scope memory.Scope, b *batch, facts []extract.Fact) []candidate {
	out := make([]candidate, len(facts))
	ordinals := map[[3]string]int{}
	for i := range facts {
		f := &facts[i]
		rests := [3]string{f.SessionID, f.EventIDs[0], f.Quote}
		key := sessionstore.Key{Scope: scope, ID: f.SessionID}
		out[i] = candidate{seq: b.to, forget: f.Forget, memory: memory.Memory{
			ID: factID(key, f, ordinals[rests]), Scope: scope, Kind: memory.KindFact, Fact: extract.Cut(f.Text, memory.MaxFact),
			Author: f.Author, Topics: f.Topics, Timestamp: f.Timestamp, ValidFrom: f.ValidFrom,
			Source: memory.Source{SessionID: f.SessionID, EventIDs: f.EventIDs, Quote: f.Quote},
		}}
		if seq, ok := b.seq[f.EventIDs[0]]; ok && f.SessionID == b.work.Key.ID {
			out[i].seq = seq
		}
		ordinals[rests]++
	}
	return out
}

// statement is what a fact says and who says it: those that say the same have
// it in common.
func statement(m *memory.Memory) string { return m.Author + "\x00" + extract.Gist(m.Fact) }

// merge leaves out what is known, and what was to be forgotten later, and adds
// the rest to the draft.
func (d *decision) merge(ctx context.Context, candidates []candidate) (fresh []candidate, err error) {
	for i := range candidates {
		c := &candidates[i]
		if c.known, err = d.bearing(ctx, c); err != nil {
			return nil, err
		}
	}
	for i := range candidates {
		c := candidates[i]
		if c.forget {
			fresh = append(fresh, c)
			continue
		}
		if d.entries[c.memory.ID] != nil || slices.ContainsFunc(c.known, func(m memory.Memory) bool { return m.ID == c.memory.ID }) {
			continue // an earlier request has brought it
		}
		if d.forgotten(&c) {
			continue
		}
		same, err := d.same(ctx, &c, candidates)
		if err != nil {
			return nil, err
		}
		if same != nil {
			first, err := d.stands(ctx, same, &c.memory)
			if err != nil {
				return nil, err
			}
			if first {
				continue
			}
			c.memory.ValidTo, c.memory.SupersededBy = same.ValidTo, same.SupersededBy
		}
		d.create(c.seq, c.memory, "")
		if same != nil {
			e := d.entry(c.seq, same)
			e.gone, e.because, e.reason = true, c.memory.ID, "the same was said before"
		}
		fresh = append(fresh, c)
	}
	return fresh, nil
}

// entry is the draft's entry of a memory, stored or new.
func (d *decision) entry(seq int64, m *memory.Memory) *entry {
	if e := d.entries[m.ID]; e != nil {
		return e
	}
	return d.change(seq, m)
}

// bearing reads the memories that bear on a candidate by their marks.
func (d *decision) bearing(ctx context.Context, c *candidate) ([]memory.Memory, error) {
	found, err := d.memories.Search(ctx, c.memory.Scope, memory.Query{Terms: sought(&c.memory, c.forget), Limit: marksLimit, Filter: memory.Filter{History: true}})
	if err != nil {
		return nil, err
	}
	var out []memory.Memory
	for _, run := range found.Runs {
		out = append(out, run[0].Memory)
	}
	slices.SortFunc(out, func(a, b memory.Memory) int { return said(&a, &b) })
	return out, nil
}

// forgotten reports whether the same author has asked, since a fact was said, to
// forget it.
func (d *decision) forgotten(c *candidate) bool {
	gist := extract.Gist(c.memory.Fact)
	return slices.ContainsFunc(c.known, func(m memory.Memory) bool {
		return m.Kind == memory.KindTurn && m.Author == c.memory.Author && said(&m, &c.memory) > 0 && slices.Contains(extract.Forgotten(m.Fact), gist)
	})
}

// same finds what says the same as a candidate at its time, stored or new; nil
// if nothing does. What is to expire stands for nobody else's word.
func (d *decision) same(ctx context.Context, c *candidate, candidates []candidate) (best *memory.Memory, err error) {
	gist := extract.Gist(c.memory.Fact)
	slot, value, single := extract.Slot(c.memory.Fact)
	var others []*memory.Memory // of the same author, or a client's
	for i := range c.known {
		if m := &c.known[i]; m.Kind == memory.KindFact && !d.gone(m.ID) && oneAuthor(m, &c.memory) {
			others = append(others, m)
		}
	}
	for _, id := range d.order {
		if e := d.entries[id]; e.was == nil && !e.gone && oneAuthor(&e.now, &c.memory) {
			others = append(others, &e.now)
		}
	}
	var between []*memory.Memory // what gives the attribute another value
	if single && !d.plain {
		for _, m := range others {
			if s, v, ok := extract.Slot(m.Fact); ok && s == slot && v != value {
				between = append(between, m)
			}
		}
		for i := range candidates {
			m := &candidates[i].memory
			if s, v, ok := extract.Slot(m.Fact); ok && s == slot && v != value && oneAuthor(m, &c.memory) {
				between = append(between, m)
			}
		}
	}
	for _, m := range others {
		if !m.ExpireTime.IsZero() || extract.Gist(m.Fact) != gist || !m.ValidTo.IsZero() && !c.memory.Timestamp.Before(m.ValidTo) {
			continue
		}
		from, to := m, &c.memory
		if said(from, to) > 0 {
			from, to = to, from
		}
		if slices.ContainsFunc(between, func(x *memory.Memory) bool { return said(from, x) < 0 && said(x, to) < 0 }) {
			continue // it was otherwise in between
		}
		if best == nil {
			best = m
			continue
		}
		first, err := d.stands(ctx, m, best)
		if err != nil {
			return nil, err
		}
		if first {
			best = m
		}
	}
	return best, nil
}

// oneAuthor reports whether two facts are of one author. What a client gave
// has none, and is anybody's.
func oneAuthor(a, b *memory.Memory) bool {
	return a.Author == b.Author || a.Author == "" || b.Author == ""
}

// stands reports whether a stands rather than b, which says the same: a
// client's word before all others, else what was said first.
func (s *Service) stands(ctx context.Context, a, b *memory.Memory) (bool, error) {
	mine, err := s.clients(ctx, a)
	if mine || err != nil {
		return mine, err
	}
	theirs, err := s.clients(ctx, b)
	return !theirs && said(a, b) < 0, err
}

// clients reports whether a client gave a fact, or changed it.
func (s *Service) clients(ctx context.Context, m *memory.Memory) (bool, error) {
	if len(m.Source.EventIDs) == 0 {
		return true, nil
	}
	if m.Revision <= 1 {
		return false, nil
	}
	past, err := s.memories.Revisions(ctx, m.Scope, m.ID)
	return slices.ContainsFunc(past, func(r memory.Revision) bool { return r.Actor == client }), err
}

// consolidate compares new facts with what is known, and gives the stored ones
// that they have ended.
func (d *decision) consolidate(ctx context.Context, fresh []candidate) (ended []ending, err error) {
	if len(fresh) == 0 || d.plain {
		return nil, nil
	}
	var c extract.Comparison
	if c.Known, err = d.neighbours(ctx, fresh); err != nil {
		return nil, err
	}
	for i := range fresh {
		m := &fresh[i].memory
		c.New = append(c.New, extract.New{Text: m.Fact, Author: m.Author, Timestamp: m.Timestamp, Forget: fresh[i].forget})
	}
	out, err := d.extractor.Consolidate(ctx, c, d.cost.Repaired)
	d.cost.Usage = d.cost.Usage.Add(out.Usage)
	d.cost.Repaired = out.Repaired
	d.cost.Asked = append(d.cost.Asked, out.Asked...)
	if err != nil {
		return nil, err
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
			e.gone = true
			continue
		case extract.Delete:
			for _, place := range v.Against {
				if other := at(f.seq, place); other != nil && said(&other.now, &f.memory) < 0 {
					other.gone, other.because, other.reason = true, "", cmp.Or(v.Reason, "to be forgotten")
					if other.was != nil {
						ended = append(ended, ending{*other.was, f.memory})
					}
				}
			}
			continue
		case extract.Update:
			target := at(f.seq, v.Same)
			theirs, err := d.clients(ctx, &target.now)
			if err != nil {
				return nil, err
			}
			if !theirs && !target.gone {
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
			if before := earlier.now.ValidTo; d.supersede(earlier, later, v.Reason) && earlier.was != nil && before.IsZero() {
				ended = append(ended, ending{*earlier.was, later.now})
			}
		}
	}
	return ended, nil
}

// extend has a stored memory say what a new fact adds to it.
func (d *draft) extend(target, added *entry, v extract.Verdict) {
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
	target.seq, target.reason = added.seq, v.Reason
	added.gone = true
}

// neighbours are the stored facts that new ones are compared with: those that
// bear on them by their marks and, for a model, those near them by words and
// meaning.
func (d *decision) neighbours(ctx context.Context, fresh []candidate) ([]memory.Memory, error) {
	var out []memory.Memory
	taken := map[string]bool{}
	take := func(m *memory.Memory) bool {
		if m.Kind != memory.KindFact || taken[m.ID] || d.gone(m.ID) || d.entries[m.ID] != nil && d.entries[m.ID].was == nil {
			return false
		}
		taken[m.ID] = true
		out = append(out, *m)
		return true
	}
	for i := range fresh {
		for j := range fresh[i].known {
			take(&fresh[i].known[j])
		}
	}
	isFresh := func(id string) bool {
		return slices.ContainsFunc(fresh, func(c candidate) bool { return c.memory.ID == id })
	}
	for _, id := range d.order { // what an earlier round has added
		if e := d.entries[id]; e.was == nil && !e.gone && !isFresh(id) {
			out = append(out, e.now)
		}
	}
	if d.extractor.Budget() == 0 {
		return out, nil
	}
	near, err := d.near(ctx, fresh)
	if err != nil {
		return nil, err
	}
	// The nearest of each first, so that no fact goes without for others' sake.
	for rank := range nearCurrent + nearHistory {
		for i := range near {
			if rank < len(near[i]) && len(out) < nearTogether {
				take(&near[i][rank])
			}
		}
	}
	slices.SortFunc(out, func(a, b memory.Memory) int { return said(&a, &b) })
	if len(out) > nearTogether {
		out = out[len(out)-nearTogether:]
	}
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
		out[i] = nearest(found)
	}
	return out, nil
}

// nearest ranks what was found by words and meaning, half and half, and gives
// the best that are current, then the best that are history.
func nearest(found memory.Found) (out []memory.Memory) {
	best := 0.0
	for _, run := range found.Runs {
		best = max(best, memory.LexicalScore(found.Stats, run[0].Freqs, run[0].Length))
	}
	score := func(c *memory.Candidate) float64 {
		return c.Cosine + memory.LexicalScore(found.Stats, c.Freqs, c.Length)/max(best, 1e-9)
	}
	slices.SortFunc(found.Runs, func(a, b []memory.Candidate) int {
		return cmp.Or(cmp.Compare(score(&b[0]), score(&a[0])), cmp.Compare(a[0].Memory.ID, b[0].Memory.ID))
	})
	for _, current := range []bool{true, false} {
		left := nearCurrent
		if !current {
			left = nearHistory
		}
		for _, run := range found.Runs {
			if m := run[0].Memory; m.ValidTo.IsZero() == current && left > 0 {
				out = append(out, m)
				left--
			}
		}
	}
	return out
}
