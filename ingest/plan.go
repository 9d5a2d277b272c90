package ingest

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// plan is a stored list of changes: what a batch decided, in full, so that a
// retry applies the same.
type plan struct {
	Changes []change `json:"changes"`
}

type change struct {
	Seq    int64         `json:"seq"` // of the event it comes from
	Action memory.Action `json:"action"`
	Expect int64         `json:"expect"`
	Memory memory.Memory `json:"memory"`        // for a deletion only its id counts
	For    string        `json:"for,omitempty"` // of a deletion: the memory that takes its place, which comes before it
}

// Changed is one entry of an operation's changes.
type Changed struct {
	Action memory.Action `json:"action"`
	Memory memory.Memory `json:"memory"`
}

// known is how many facts of one wording are looked through for one of the same
// author: a thousand others may have said the same.
const known = 1000

// candidate is a fact on its way to being a memory.
type candidate struct {
	seq    int64 // of the event it comes from
	memory memory.Memory
}

// decide makes a plan: facts become memories, but of exact duplicates only the
// one said first stands, so that neither the order in which sessions arrive
// nor where one batch ends makes a difference. A fact that a client gave or
// changed always stands. When the one that stood is taken back, the next one
// said takes its place.
func (s *Service) decide(ctx context.Context, b *batch, facts []extract.Fact, back map[string]time.Time) (plan, error) {
	var p plan
	if err := s.takeBack(ctx, b, back, &p); err != nil {
		return p, err
	}
	gone := map[string]bool{} // what the plan deletes is no duplicate of what is said again
	for _, c := range p.Changes {
		gone[c.Memory.ID] = true
	}
	candidates, err := s.restated(ctx, b, p.Changes)
	if err != nil {
		return p, err
	}
	for i, m := range memoriesOf(b.work.Key, facts) {
		candidates = append(candidates, candidate{b.seq[facts[i].EventIDs[0]], m})
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return said(&a.memory, &b.memory) })
	seen := map[string]bool{}
	for i := range candidates {
		c := &candidates[i]
		if norm := statement(&c.memory); seen[norm] {
			continue
		} else {
			seen[norm] = true
		}
		same, err := s.duplicate(ctx, &c.memory, gone)
		if err != nil {
			return p, err
		}
		other := same != nil && same.ID != c.memory.ID
		if other && !saidBefore(&c.memory, same) {
			continue
		}
		p.Changes = append(p.Changes, change{Seq: c.seq, Action: memory.Created, Memory: c.memory})
		if other {
			p.Changes = append(p.Changes, change{Seq: c.seq, Action: memory.Deleted, Expect: same.Revision, Memory: *same, For: c.memory.ID})
		}
	}
	return p, nil
}

// statement is what a fact says and who says it: duplicates have it in common.
func statement(m *memory.Memory) string { return m.Author + "\x00" + extract.Normalize(m.Fact) }

// memoriesOf makes a memory of each fact, in order.
func memoriesOf(key sessionstore.Key, facts []extract.Fact) []memory.Memory {
	out := make([]memory.Memory, len(facts))
	ordinals := map[[2]string]int{}
	for i := range facts {
		f := &facts[i]
		rests := [2]string{f.EventIDs[0], f.Quote}
		out[i] = memory.Memory{
			ID: factID(key, f, ordinals[rests]), Scope: key.Scope, Kind: memory.KindFact, Fact: extract.Cut(f.Text, memory.MaxFact),
			Author: f.Author, Topics: f.Topics, Timestamp: f.Timestamp, ValidFrom: f.ValidFrom,
			Source: memory.Source{SessionID: key.ID, EventIDs: f.EventIDs, Quote: f.Quote},
		}
		ordinals[rests]++
	}
	return out
}

// duplicate finds a fact of the same author and wording, if there is one. What
// is to expire stands for nobody else's word.
func (s *Service) duplicate(ctx context.Context, m *memory.Memory, gone map[string]bool) (*memory.Memory, error) {
	found, err := s.memories.Search(ctx, m.Scope, memory.Query{Terms: []string{wording(m.Fact)}, Limit: known})
	if err != nil {
		return nil, err
	}
	var best *memory.Memory
	want := extract.Normalize(m.Fact)
	for _, run := range found.Runs {
		c := &run[0].Memory
		if !gone[c.ID] && c.ExpireTime.IsZero() && extract.Normalize(c.Fact) == want && (c.Author == m.Author || clients(c)) &&
			(best == nil || saidBefore(c, best)) {
			best = c
		}
	}
	return best, nil
}

// clients reports whether a client gave a fact, or changed it: ingestion only
// creates and deletes.
func clients(m *memory.Memory) bool { return len(m.Source.EventIDs) == 0 || m.Revision > 1 }

// saidBefore orders memories by when they were said. A client's come before
// all others.
func saidBefore(a, b *memory.Memory) bool {
	if given := clients(b); given || clients(a) {
		return !given
	}
	return said(a, b) < 0
}

// said compares when two extracted facts were said; of two at the same time,
// whichever session brought its one first, the same counts as first.
func said(a, b *memory.Memory) int {
	return cmp.Or(a.Timestamp.Compare(b.Timestamp), cmp.Compare(a.Source.EventIDs[0], b.Source.EventIDs[0]),
		cmp.Compare(a.Source.SessionID, b.Source.SessionID))
}

// apply carries a plan out, or what an earlier try left of it. A change that a
// client was faster than is left out: the client's word stands.
func (s *Service) apply(ctx context.Context, w sessionstore.Work, p plan) ([]sessionstore.Change, error) {
	var done []sessionstore.Change
	record := func(c change, o memory.Outcome) error {
		if o.Err != nil {
			s.opts.Log.Info("a change was overtaken", "memory", c.Memory.ID, "action", c.Action, "err", o.Err)
			return nil
		}
		doc, err := json.Marshal(Changed{Action: c.Action, Memory: o.Memory})
		done = append(done, sessionstore.Change{Seq: c.Seq, Doc: doc})
		return err
	}
	actor := s.extractor.Name()
	refused := map[string]bool{} // deleted by a client before: nothing takes its place
	for changes := p.Changes; len(changes) > 0; {
		n := min(len(changes), turnsTogether)
		var writes []memory.Write
		for _, c := range changes[:n] {
			if c.Action != memory.Deleted {
				writes = append(writes, memory.Write{Memory: c.Memory, Expect: c.Expect, Actor: actor, Operation: w.Operation})
			}
		}
		if err := s.index(ctx, writes, true); err != nil {
			return nil, err
		}
		put, err := s.memories.Put(ctx, w.Key.Scope, writes)
		if err != nil {
			return nil, err
		}
		for i, o := range put {
			refused[writes[i].Memory.ID] = o.Err != nil && o.Memory.ID == ""
		}
		var removals []memory.Removal
		for _, c := range changes[:n] {
			if c.Action == memory.Deleted && !refused[c.For] {
				removals = append(removals, memory.Removal{ID: c.Memory.ID, Expect: c.Expect, Actor: actor, Operation: w.Operation})
			}
		}
		gone, err := s.memories.Delete(ctx, w.Key.Scope, removals)
		if err != nil {
			return nil, err
		}
		for _, c := range changes[:n] {
			from := &put
			if c.Action == memory.Deleted {
				if refused[c.For] {
					continue
				}
				from = &gone
			}
			if err := record(c, (*from)[0]); err != nil {
				return nil, err
			}
			*from = (*from)[1:]
		}
		changes = changes[n:]
	}
	return done, nil
}
