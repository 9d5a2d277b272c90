package qdrantstore

import (
	"context"
	"fmt"
	"time"

	"github.com/qdrant/go-client/qdrant"

	"github.com/memoryd/memoryd/memory"
)

var _ memory.Archive = (*Store)(nil)

// exportPage is how many memories are read in one call.
const exportPage = 50

// Export implements memory.Archive.
func (s *Store) Export(ctx context.Context, yield func(memory.Record) error) error {
	var from *qdrant.PointId
	for {
		page, next, err := s.exportFrom(ctx, from)
		if err != nil {
			return fmt.Errorf("export memories: %w", err)
		}
		for _, r := range page {
			if err := yield(r); err != nil {
				return err
			}
		}
		if from = next; from == nil {
			return nil
		}
	}
}

// exportFrom reads a page of records from a point on, and the point that the
// next page begins with.
func (s *Store) exportFrom(
	ctx context.Context, from *qdrant.PointId,
) (page []memory.Record, next *qdrant.PointId, err error) {
	ctx, cancel := s.unhurried(ctx)
	defer cancel()
	points, next, err := s.client.ScrollAndOffset(ctx, &qdrant.ScrollPoints{
		CollectionName: s.collection, Offset: from, Limit: qdrant.PtrOf(uint32(exportPage)),
		WithPayload: qdrant.NewWithPayloadInclude(recordFields...), WithVectors: qdrant.NewWithVectorsInclude(dense),
	})
	if err != nil {
		return nil, nil, s.kind(ctx, err)
	}
	for _, p := range points {
		if p.GetPayload()[docField] == nil {
			continue // a past revision, or the manifest
		}
		r, err := s.exported(ctx, p)
		if err != nil {
			return nil, nil, err
		}
		if r.Keep(s.opts.Now()) { // else nothing of it is left
			page = append(page, *r)
		}
	}
	return page, next, nil
}

// exported is a memory's point with all of its history.
func (s *Store) exported(ctx context.Context, p *qdrant.RetrievedPoint) (*memory.Record, error) {
	r, err := readRecord(p.GetPayload())
	if err != nil {
		return nil, err
	}
	out := &memory.Record{Memory: r.Memory, Deleted: r.Deleted, Terms: r.terms}
	out.Vector = p.GetVectors().GetVectors().GetVectors()[dense].GetDense().GetData()
	out.History, err = s.history(ctx, r)
	out.Removed = r.Memory.Revision - int64(len(out.History))
	return out, err
}

// Import implements memory.Archive.
func (s *Store) Import(ctx context.Context, records []memory.Record) (stored int, err error) {
	stored, err = s.importAll(ctx, records)
	if err != nil {
		return 0, fmt.Errorf("import memories: %w", err)
	}
	return stored, nil
}

func (s *Store) importAll(ctx context.Context, records []memory.Record) (stored int, err error) {
	ctx, cancel := s.unhurried(ctx)
	defer cancel()
	byScope := map[memory.Scope][]*memory.Record{}
	for i := range records {
		r := &records[i]
		if err := r.Validate(s.model.Dimension); err != nil {
			return 0, err
		}
		byScope[r.Memory.Scope] = append(byScope[r.Memory.Scope], r)
	}
	for scope, of := range byScope {
		ids := make([]string, len(of))
		for i, r := range of {
			ids[i] = r.Memory.ID
		}
		if err := s.remove(ctx, gaps(scope, of)); err != nil {
			return stored, err
		}
		take := func(i int, was *record, _ time.Time) (*change, memory.Outcome, error) { return importOf(of[i], was) }
		out, err := s.change(ctx, scope, ids, nil, take)
		if err != nil {
			return stored, err
		}
		for _, o := range out {
			if o.Changed {
				stored++
			}
		}
	}
	return stored, s.noteRemoval(ctx)
}

// gaps names the past revisions that some records do not have. A memory that they replace
// may have them.
func gaps(scope memory.Scope, of []*memory.Record) (out []*qdrant.PointId) {
	for _, r := range of {
		at := int64(1)
		for i := range r.History {
			for ; at < r.History[i].Revision; at++ {
				out = append(out, pastID(scope, r.Memory.ID, at))
			}
			at++
		}
	}
	return out
}

// importOf is the change that an imported record makes of what is there.
func importOf(r *memory.Record, was *record) (*change, memory.Outcome, error) {
	if !memory.DecideImport(r, was.state()) {
		return nil, memory.Outcome{Memory: was.Memory}, nil
	}
	c := &change{
		record: &record{Current: memory.Current{Memory: r.Memory, Deleted: r.Deleted}, terms: r.Terms,
			removed: r.Removed},
		vector: r.Vector, outcome: memory.Outcome{Memory: r.Memory, Changed: true},
	}
	if was != nil {
		c.expect, c.was, c.removed = was.Memory.Revision, was.n, was.removed
	}
	write := newWrite()
	last := len(r.History) - 1
	c.record.step = newStep(&r.History[last], write)
	for i := range r.History[:last] {
		from := &r.History[i]
		past := &record{Current: memory.Current{Memory: from.Memory}, step: newStep(from, write)}
		st, err := past.past()
		if err != nil {
			return nil, memory.Outcome{}, err
		}
		c.past = append(c.past, st)
		c.record.expect(from.ExpireTime)
	}
	if r.Deleted {
		c.record.expect(r.History[last].ExpireTime)
	}
	return c, memory.Outcome{}, nil
}
