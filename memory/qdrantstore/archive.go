package qdrantstore

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/qdrant/go-client/qdrant"

	"github.com/memoryd/memoryd/memory"
)

var _ memory.Archive = (*Store)(nil)

// exportPage is how many memories are read in one call.
const exportPage = 500

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

func (s *Store) exportFrom(ctx context.Context, from *qdrant.PointId) (page []memory.Record, next *qdrant.PointId, err error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	points, next, err := s.client.ScrollAndOffset(ctx, &qdrant.ScrollPoints{CollectionName: s.collection, Offset: from, Limit: qdrant.PtrOf(uint32(exportPage)),
		WithPayload: qdrant.NewWithPayload(true), WithVectors: qdrant.NewWithVectorsInclude(dense)})
	if err != nil {
		return nil, nil, s.kind(ctx, err)
	}
	for _, p := range points {
		if p.GetPayload()[docField] == nil {
			continue // the collection's own id
		}
		r, err := readRecord(p.GetPayload())
		if err != nil {
			return nil, nil, err
		}
		out := memory.Record{Memory: r.memory, Deleted: r.gone, Terms: r.terms}
		out.Vector = p.GetVectors().GetVectors().GetVectors()[dense].GetDense().GetData()
		for _, st := range r.history {
			m := r.memory
			if st.Doc != nil {
				m = memory.Memory{}
				if err := decode(string(st.Doc), &m); err != nil {
					return nil, nil, err
				}
			}
			out.History = append(out.History, memory.Step{Revision: st.Revision, Action: st.Action, Time: st.Time, Actor: st.Actor, Operation: st.Operation, Memory: m})
		}
		page = append(page, out)
	}
	return page, next, nil
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
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	ids := map[memory.Scope][]string{}
	for i := range records {
		r := &records[i]
		if err := r.Validate(s.model.Dimension); err != nil {
			return 0, err
		}
		ids[r.Memory.Scope] = append(ids[r.Memory.Scope], r.Memory.ID)
	}
	there := map[memory.Scope]map[string]*record{}
	for scope, of := range ids {
		if there[scope], err = s.read(ctx, scope, of); err != nil {
			return 0, err
		}
	}
	changes := map[int]*change{}
	for i := range records {
		r := &records[i]
		was := there[r.Memory.Scope][r.Memory.ID]
		if was != nil && was.memory.Revision >= r.Memory.Revision {
			continue
		}
		rec := &record{memory: r.Memory, gone: r.Deleted, terms: r.Terms}
		for j, st := range r.History {
			st := step{Revision: st.Revision, Action: st.Action, Time: st.Time, Actor: st.Actor, Operation: st.Operation, Write: uuid.NewString()}
			if j < len(r.History)-1 {
				if st.Doc, err = encode(r.History[j].Memory); err != nil {
					return 0, err
				}
			}
			rec.history = append(rec.history, st)
		}
		changes[i] = &change{record: rec, vector: r.Vector}
		if was != nil {
			changes[i].expect = was.memory.Revision
		}
	}
	if len(changes) == 0 {
		return 0, nil
	}
	return len(changes), s.write(ctx, changes)
}
