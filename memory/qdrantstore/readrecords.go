package qdrantstore

import (
	"context"
	"slices"

	"github.com/qdrant/go-client/qdrant"

	"github.com/memoryd/memoryd/memory"
)

// maxReads is how often readToWrite reads.
const maxReads = 5

// toWrite is what a write is decided on.
type toWrite struct {
	records map[string]*record // by the id of the memory
	head    *head
	revoked map[string]bool // lives
}

// readToWrite reads whole memories and the head of their scope, and which of some lives
// are revoked. The error is ErrUnavailable once the memories have moved to another
// collection, or are about to.
func (s *Store) readToWrite(ctx context.Context, scope memory.Scope, ids []string, lives ...string) (
	is toWrite, err error) {
	points := append(pointIDs(scope, ids), headID(scope))
	revocations := s.revokedIDs(lives)
	for _, id := range revocations {
		points = append(points, id)
	}
	for try := 1; ; try++ {
		got, err := s.reads.do(ctx, points)
		if err != nil {
			return is, err
		}
		if manifest := cutPoint(&got, manifestID); manifest != nil {
			if err := checkWritable(manifest, s.collection); err != nil {
				return is, err
			}
		}
		is.revoked = map[string]bool{}
		for life, id := range revocations {
			if cutPoint(&got, id) != nil {
				is.revoked[life] = true
			}
		}
		is.head = readHead(cutPoint(&got, headID(scope)).GetPayload())
		if is.records, err = readRecords(got); err != nil {
			return is, err
		}
		// Shards are read one after another. A head that was read too early would give a
		// write a smaller number than the memories have, and hide them. Writes that were
		// cut off before their heads leave larger numbers too, so this ends.
		early := false
		for _, r := range is.records {
			early = early || r.n > is.head.n+1 && !s.copying
		}
		if !early || try == maxReads {
			return is, nil
		}
	}
}

// cutPoint takes a point out of some; nil if it is not among them.
func cutPoint(from *[]*qdrant.RetrievedPoint, id *qdrant.PointId) *qdrant.RetrievedPoint {
	at := slices.IndexFunc(*from, func(p *qdrant.RetrievedPoint) bool { return p.GetId().GetUuid() == id.GetUuid() })
	if at < 0 {
		return nil
	}
	p := (*from)[at]
	*from = slices.Delete(*from, at, at+1)
	return p
}

// readAll makes calls of readToWrite together: it reads the points of each, and the
// manifest for each.
func (s *Store) readAll(ctx context.Context, calls [][]*qdrant.PointId) ([][]*qdrant.RetrievedPoint, error) {
	points := []*qdrant.PointId{manifestID}
	asked := map[string]bool{} // Qdrant gives a point once, however often it is named
	for _, ids := range calls {
		for _, id := range ids {
			if !asked[id.GetUuid()] {
				asked[id.GetUuid()] = true
				points = append(points, id)
			}
		}
	}
	got, err := s.get(ctx, points, append([]string{manifestField, changeField, tokensField, revokedField},
		recordFields...))
	if err != nil {
		return nil, err
	}
	byID := make(map[string]*qdrant.RetrievedPoint, len(got))
	for _, p := range got {
		byID[p.GetId().GetUuid()] = p
	}
	out := make([][]*qdrant.RetrievedPoint, len(calls))
	for i, ids := range calls {
		for _, id := range append([]*qdrant.PointId{manifestID}, ids...) {
			if p := byID[id.GetUuid()]; p != nil {
				out[i] = append(out[i], p)
			}
		}
	}
	return out, nil
}

// read reads what there is of the memories named, deleted ones too.
func (s *Store) read(
	ctx context.Context, scope memory.Scope, ids []string, fields []string,
) (map[string]*record, error) {
	got, err := s.get(ctx, pointIDs(scope, ids), fields)
	if err != nil {
		return nil, err
	}
	return readRecords(got)
}

// readRecords reads records, by the id of the memory.
func readRecords(points []*qdrant.RetrievedPoint) (map[string]*record, error) {
	out := map[string]*record{}
	for _, p := range points {
		r, err := readRecord(p.GetPayload())
		if err != nil {
			return nil, err
		}
		out[r.Memory.ID] = r
	}
	return out, nil
}

func pointIDs(scope memory.Scope, ids []string) []*qdrant.PointId {
	out := make([]*qdrant.PointId, len(ids))
	for i, id := range ids {
		out[i] = pointID(scope, id)
	}
	return out
}

func (s *Store) get(ctx context.Context, points []*qdrant.PointId, fields []string) ([]*qdrant.RetrievedPoint, error) {
	got, err := s.client.Get(ctx, &qdrant.GetPoints{
		CollectionName: s.collection, Ids: points, WithPayload: qdrant.NewWithPayloadInclude(fields...),
	})
	return got, s.kind(ctx, err)
}
