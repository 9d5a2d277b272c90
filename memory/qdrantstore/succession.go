package qdrantstore

import (
	"context"
	"maps"
	"slices"

	"github.com/qdrant/go-client/qdrant"
	"github.com/sourcegraph/conc/pool"

	"github.com/memoryd/memoryd/memory"
)

// maxDeparting is how many facts of one kind are read that depart from turns in the
// sessions of the hits.
const maxDeparting = 1000

// neighbours reads the order of the turns in the sessions of the hits and, at the
// same time, the facts that depart from turns of these sessions.
func (sr *search) neighbours(ctx context.Context) (sessions map[string][]turn, err error) {
	queries := sr.departing()
	p := pool.New().WithErrors().WithFirstError().WithContext(ctx)
	p.Go(func(ctx context.Context) (err error) {
		sessions, err = sr.sessions(ctx)
		return err
	})
	if len(queries) > 0 {
		p.Go(func(ctx context.Context) error {
			answers, err := sr.s.client.QueryBatch(ctx, sr.batch(queries))
			if err != nil {
				return sr.s.kind(ctx, err)
			}
			for _, a := range answers {
				if err := sr.takeAll(a.GetResult(), sr.beside); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err = p.Wait()
	return sessions, err
}

// departing asks for the facts that depart from turns in the sessions of the hits:
// those that have ended, and those that a client has edited.
func (sr *search) departing() (queries []*qdrant.QueryPoints) {
	if !sr.q.Succession {
		return nil
	}
	sessions := map[string]bool{}
	for _, f := range sr.points {
		if f.memory.Kind == memory.KindTurn {
			sessions[f.memory.Source.SessionID] = true
		}
	}
	if len(sessions) == 0 {
		return nil
	}
	edited := visible(sr.scope, sr.now)
	edited.Must = append(edited.Must, qdrant.NewMatchBool("edited", true))
	for _, passes := range []*qdrant.Filter{ended(sr.scope, &sr.q.Filter, sr.now), edited} {
		passes.Must = append(passes.Must, qdrant.NewMatchKeywords("session", slices.Sorted(maps.Keys(sessions))...))
		queries = append(queries, &qdrant.QueryPoints{
			CollectionName: sr.s.collection, Filter: passes, Limit: qdrant.PtrOf(uint64(maxDeparting)),
			WithPayload: candidateFields, WithVectors: sr.vectors(),
		})
	}
	return queries
}

// succession finds Found.Succession for the runs found. It makes no call unless a
// fact departs from a turn in them or is a key.
func (sr *search) succession(ctx context.Context, runs [][]memory.Candidate) (out []memory.Candidate, err error) {
	if !sr.q.Succession {
		return nil, nil
	}
	at := sr.q.CurrentAt(sr.now)
	told, inRuns := memory.Told{}, map[string]bool{}
	for _, run := range runs {
		for i := range run {
			told.Add(run[i].Memory)
			inRuns[pointID(sr.scope, run[i].Memory.ID).GetUuid()] = true
		}
	}
	for id, f := range sr.beside {
		key := sr.keys[id]
		if m := &f.memory; !key && !(m.Departs(at) && told.CitedBy(m)) {
			delete(sr.beside, id)
		}
	}
	if err := sr.successors(ctx); err != nil {
		return nil, err
	}
	if sr.q.LeavesOutFacts() {
		citations := memory.Citations{}
		for _, f := range sr.beside {
			if !f.memory.Ended(at) {
				citations.Cite(&f.memory)
			}
		}
		if err := sr.readCited(ctx, citations, sr.beside); err != nil {
			return nil, err
		}
	}
	for id, f := range sr.beside {
		if !inRuns[id] {
			out = append(out, sr.candidate(f))
		}
	}
	return out, nil
}

// successors adds to the memories beside the runs what superseded them, and so on, a
// step in one call.
func (sr *search) successors(ctx context.Context) error {
	at := sr.q.CurrentAt(sr.now)
	last := slices.Collect(maps.Values(sr.beside))
	for range memory.MaxSuccession {
		next := map[string]*qdrant.PointId{}
		for _, f := range last {
			if by := f.memory.SuccessorAt(at); by != "" {
				id := pointID(sr.scope, by)
				next[id.GetUuid()] = id
			}
		}
		last = nil
		maps.DeleteFunc(next, func(id string, _ *qdrant.PointId) bool { return sr.beside[id] != nil })
		for id := range next {
			if f := sr.points[id]; f != nil && f.read {
				sr.beside[id], last = f, append(last, f)
				delete(next, id)
			}
		}
		if len(next) > 0 {
			points, err := sr.s.client.Get(ctx, &qdrant.GetPoints{
				CollectionName: sr.s.collection, Ids: slices.Collect(maps.Values(next)),
				WithPayload: candidateFields, WithVectors: sr.vectors(),
			})
			if err != nil {
				return sr.s.kind(ctx, err)
			}
			for _, p := range points {
				f, err := sr.read(p.GetPayload(), p.GetVectors())
				if err != nil {
					return err
				}
				if f.read {
					sr.beside[p.GetId().GetUuid()], last = f, append(last, f)
				}
			}
		}
		if len(last) == 0 {
			return nil
		}
	}
	return nil
}
