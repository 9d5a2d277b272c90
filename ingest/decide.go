package ingest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/extract/canonical"
	"github.com/memoryd/memoryd/memory"
)

// Bounds on what is looked up.
const (
	marksLimit     = 10_000 // memories with some marks: more say the same than anybody says in a life
	soughtTogether = 40     // marks looked for in one search
)

// candidate is a fact on its way to being a memory.
type candidate struct {
	seq    int64 // of the event it comes from
	memory memory.Memory
	form   canonical.Form
	forget bool // it only takes back what says the same
}

// decision is a batch being decided on. Every statement becomes a memory, also
// one that says what is known; which of them hold, and when, follows from what
// they say and when they were said alone. So neither the order in which
// sessions arrive nor where one batch ends makes a difference.
type decision struct {
	*Service
	*draft
	batch *batch
	plain bool // facts are merged only where they say the same
	cost  extract.Cost
	known map[string]*memory.Memory  // stored facts that bear on what is decided
	wants []memory.Memory            // stored turns that want something forgotten
	forms map[string]*canonical.Form // of texts
	asked map[string]bool            // marks that were looked for
	// reverted are memories that are as they were before, and the times at which
	// their last words, which are taken back, were said.
	reverted map[string]time.Time
}

func (s *Service) decision(b *batch, plain bool) *decision {
	return &decision{Service: s, draft: newDraft(), batch: b, plain: plain, known: map[string]*memory.Memory{}, forms: map[string]*canonical.Form{}, asked: map[string]bool{}, reverted: map[string]time.Time{}}
}

// form reads a fact, once.
func (d *decision) form(fact string) *canonical.Form {
	if d.forms[fact] == nil {
		f := canonical.Of(fact)
		d.forms[fact] = &f
	}
	return d.forms[fact]
}

// candidatesOf makes a candidate of each fact.
func (d *decision) candidatesOf(facts []extract.Fact) []candidate {
	key := d.batch.key
	var out []candidate
	ordinals := map[[2]string]int{}
	seen := map[[2]string]bool{}
	for i := range facts {
		f := &facts[i]
		says := [2]string{f.EventIDs[0], fmt.Sprint(f.Forget, d.form(f.Text).Text)}
		if seen[says] { // nobody says a thing twice in one breath
			continue
		}
		seen[says] = true
		rests := [2]string{f.EventIDs[0], f.Quote}
		out = append(out, candidate{seq: d.batch.seq[f.EventIDs[0]], forget: f.Forget, form: *d.form(f.Text), memory: memory.Memory{
			ID: factID(key, f.EventIDs[0], f.Quote, ordinals[rests]), Scope: key.Scope, Kind: memory.KindFact, Fact: memory.Cut(f.Text, memory.MaxFact),
			Author: f.Author, Topics: f.Topics, Timestamp: f.Timestamp, ValidFrom: f.ValidFrom,
			Source: memory.Source{SessionID: key.ID, EventIDs: f.EventIDs, Quote: f.Quote},
		}})
		ordinals[rests]++
	}
	return out
}

// decide has facts become memories, and what they change of others part of the
// draft.
func (d *decision) decide(ctx context.Context, candidates []candidate) error {
	slices.SortStableFunc(candidates, func(a, b candidate) int { return said(&a.memory, &b.memory) })
	var marks []string
	for i := range candidates {
		marks = append(marks, candidates[i].lookupKeys()...)
	}
	if err := d.learn(ctx, marks); err != nil {
		return err
	}
	var asked []candidate // to forget
	for _, c := range candidates {
		switch {
		case c.forget:
			asked = append(asked, c)
		case d.known[c.memory.ID] == nil && d.entries[c.memory.ID] == nil:
			d.create(c.seq, c.memory, "")
		}
	}
	d.forget(asked)
	d.arrange()
	if !d.plain {
		if err := d.consolidate(ctx, candidates); err != nil {
			return err
		}
		d.arrange()
	}
	return nil
}

// learn reads the memories with any of some marks, and what bears on those, and
// so on: what one of them excludes may hold without it.
func (d *decision) learn(ctx context.Context, marks []string) error {
	for {
		slices.Sort(marks)
		marks = slices.DeleteFunc(slices.Compact(marks), func(m string) bool { return d.asked[m] })
		if len(marks) == 0 {
			return nil
		}
		var next []string
		for some := range slices.Chunk(marks, soughtTogether) {
			found, err := d.memories.Search(ctx, d.batch.key.Scope, memory.Query{Terms: some, Limit: marksLimit, Filter: memory.Filter{History: true}})
			if err != nil {
				return err
			}
			for _, m := range some {
				d.asked[m] = true
			}
			for _, run := range found.Runs { // turns one after another are one
				for i := range run {
					next = append(next, d.learned(&run[i].Memory)...)
				}
			}
		}
		marks = next
	}
}

// learned takes a memory in, and gives the marks of what bears on it.
func (d *decision) learned(m *memory.Memory) []string {
	switch {
	case m.Kind == memory.KindTurn:
		if !slices.ContainsFunc(d.wants, func(w memory.Memory) bool { return w.ID == m.ID }) {
			d.wants = append(d.wants, *m)
		}
	case d.known[m.ID] == nil:
		d.known[m.ID] = m
		return d.form(m.Fact).RelatedKeys()
	}
	return nil
}

// forget drafts the end of what says what is to be forgotten, and was said
// before: what is asked for now, and what was, by a fact's own author.
func (d *decision) forget(asked []candidate) {
	now, turns := map[string][]*memory.Memory{}, map[string][]*memory.Memory{} // by text
	for i := range asked {
		text := canonical.ForgetTarget(asked[i].memory.Fact)
		now[text] = append(now[text], &asked[i].memory)
	}
	for i := range d.wants {
		for _, text := range canonical.ForgetRequests(d.wants[i].Fact) {
			turns[text] = append(turns[text], &d.wants[i])
		}
	}
	for _, s := range d.statements() {
		text := d.form(s.now.Fact).Text
		// A turn may be the assistant's, which has no say in what has no author.
		if slices.ContainsFunc(now[text], func(by *memory.Memory) bool { return oneAuthor(&s.now, by) && said(&s.now, by) < 0 }) ||
			slices.ContainsFunc(turns[text], func(t *memory.Memory) bool { return s.now.Author == t.Author && said(&s.now, t) < 0 }) {
			e := d.entry(d.batch.to, &s.now)
			e.gone, e.because, e.reason = true, "", "to be forgotten"
		}
	}
}

// entry is the draft's entry of a memory, stored or new.
func (d *decision) entry(seq int64, m *memory.Memory) *entry {
	if e := d.entries[m.ID]; e != nil {
		return e
	}
	return d.change(seq, d.known[m.ID])
}

// oneAuthor reports whether two memories are of one author. What a client gave
// has none, and is anybody's.
func oneAuthor(a, b *memory.Memory) bool {
	return a.Author == b.Author || a.Author == "" || b.Author == ""
}

// clients reports whether a client gave a fact, or changed it.
func clients(m *memory.Memory) bool { return len(m.Source.EventIDs) == 0 || m.Edited }
