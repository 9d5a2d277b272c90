package qdrantstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/qdrant/go-client/qdrant"

	"github.com/memoryd/memoryd/memory"
)

// narrow adds to the conditions of a filter those of an expression that Qdrant can check.
// Complete says that they are all of it; if not, memories that pass them are yet to be
// checked.
func narrow(out *qdrant.Filter, w memory.Where, named func(string) *qdrant.Condition) (complete bool) {
	must, complete := memory.Conjuncts(w)
	for _, c := range must {
		equal := c
		if c.Op == memory.OpNot {
			equal.Op = memory.OpEqual
		}
		switch condition := condition(equal, named); {
		case condition == nil:
			complete = false
		case c.Op == memory.OpNot:
			out.MustNot = append(out.MustNot, condition)
		default:
			out.Must = append(out.Must, condition)
		}
	}
	return complete
}

// comparedTexts are the payload fields of texts that an expression compares. A memory
// whose text is empty need not have the field.
var comparedTexts = map[string]string{
	memory.FieldKind: "kind", memory.FieldSession: "session", memory.FieldSupersededBy: "by",
	memory.FieldState: "state",
}

// comparedTimes are the payload fields of times that an expression compares.
var comparedTimes = map[string]string{
	memory.FieldTimestamp: "at", memory.FieldCreateTime: "created", memory.FieldUpdateTime: "updated",
	memory.FieldValidTo: "until", memory.FieldExpireTime: "expires",
}

// condition is a comparison in Qdrant's terms, true of exactly the same memories; nil if
// there is none.
func condition(c memory.Cmp, named func(string) *qdrant.Condition) *qdrant.Condition {
	text, isText := c.Value.AsText()
	if !isText || text == "" {
		text, isText = "", false
	}
	switch field := comparedTexts[c.Field]; {
	case field != "" && c.Op == memory.OpEqual && isText:
		return qdrant.NewMatch(field, text)
	case c.Field == memory.FieldID && c.Op == memory.OpEqual && isText:
		return named(text)
	case c.Field == memory.FieldTopics && isText: // OpHas is its only operator
		return qdrant.NewMatch("topics", text)
	case c.Field == memory.FieldMetadata && c.Op == memory.OpEqual:
		if raw, ok := c.Value.AsJSON(); ok {
			return qdrant.NewMatch("metadata", pairDigests(memory.Metadata{c.Key: raw})[0])
		}
	}
	if field := comparedTimes[c.Field]; field != "" {
		if t, ok := c.Value.AsTime(); ok {
			return compareTime(field, c.Op, t)
		}
	}
	return nil
}

// compareTime compares a payload field, in whole microseconds, with a time; nil if
// there is no condition for that.
func compareTime(field string, op memory.Op, t time.Time) *qdrant.Condition {
	micro := qdrant.PtrOf(float64(t.UnixMicro())) // rounded down
	between := !memory.Micros(t).Equal(t)
	switch {
	case op == memory.OpMore || op == memory.OpAtLeast && between:
		return qdrant.NewRange(field, &qdrant.Range{Gt: micro})
	case op == memory.OpAtLeast:
		return qdrant.NewRange(field, &qdrant.Range{Gte: micro})
	case op == memory.OpAtMost || op == memory.OpLess && between:
		return qdrant.NewRange(field, &qdrant.Range{Lte: micro})
	case op == memory.OpLess:
		return qdrant.NewRange(field, &qdrant.Range{Lt: micro})
	case op == memory.OpEqual && !between:
		return qdrant.NewRange(field, &qdrant.Range{Gte: micro, Lte: micro})
	}
	return nil
}

// sift reads the best points of a query whose filter lacks a part of the expression:
// Qdrant gives their ids in order, more of them each time, and the memories are checked
// until a list is full. Points of the same score are all among the answer.
func (sr *search) sift(ctx context.Context, query *qdrant.QueryPoints) (out []*qdrant.ScoredPoint, err error) {
	query.WithPayload, query.WithVectors = qdrant.NewWithPayload(false), nil
	checked := map[string]bool{}
	for limit := 4 * (sr.q.Limit + spare); ; limit *= 4 {
		query.Limit = qdrant.PtrOf(uint64(limit))
		points, err := sr.s.client.Query(ctx, query)
		if err != nil {
			return nil, sr.s.kind(ctx, err)
		}
		all := len(points) < limit
		points = slices.DeleteFunc(points, func(p *qdrant.ScoredPoint) bool {
			return p.GetScore() <= 0 || checked[p.GetId().GetUuid()]
		})
		for some := range slices.Chunk(points, contextTogether) {
			if len(out) >= sr.q.Limit && some[0].GetScore() < out[sr.q.Limit-1].GetScore() {
				return out, nil
			}
			passing, err := sr.passing(ctx, some)
			if err != nil {
				return nil, err
			}
			out = append(out, passing...)
			slices.SortStableFunc(out, byScore)
			for _, p := range some {
				checked[p.GetId().GetUuid()] = true
			}
		}
		if all {
			return out, nil
		}
	}
}

// byScore puts the best point first.
func byScore(a, b *qdrant.ScoredPoint) int { return cmp.Compare(b.GetScore(), a.GetScore()) }

// passing reads some points, and returns those whose memories pass the query's filter.
func (sr *search) passing(ctx context.Context, some []*qdrant.ScoredPoint) (out []*qdrant.ScoredPoint, err error) {
	score := map[string]float32{}
	ids := make([]*qdrant.PointId, len(some))
	for i, p := range some {
		ids[i], score[p.GetId().GetUuid()] = p.GetId(), p.GetScore()
	}
	points, err := sr.s.client.Get(ctx, &qdrant.GetPoints{
		CollectionName: sr.s.collection, Ids: ids, WithPayload: candidateFields, WithVectors: sr.vectors(),
	})
	if err != nil {
		return nil, sr.s.kind(ctx, err)
	}
	for _, p := range points {
		var m memory.Memory
		if err := decode(p.GetPayload()[docField].GetStringValue(), &m); err != nil {
			return nil, err
		}
		if sr.q.Match(&m, sr.now) {
			out = append(out, &qdrant.ScoredPoint{
				Id: p.GetId(), Payload: p.GetPayload(), Vectors: p.GetVectors(), Score: score[p.GetId().GetUuid()],
			})
		}
	}
	return out, nil
}
