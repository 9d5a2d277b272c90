package qdranttest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/qdrant/go-client/qdrant"
)

// passes reports whether a point meets all Must conditions, one of the Should
// conditions if there are any, and no MustNot condition. Filters of memoryd have no
// others.
func passes(p *point, f *qdrant.Filter) bool {
	for _, c := range f.GetMust() {
		if !holds(p, c) {
			return false
		}
	}
	if should := f.GetShould(); len(should) > 0 &&
		!slices.ContainsFunc(should, func(c *qdrant.Condition) bool { return holds(p, c) }) {
		return false
	}
	for _, c := range f.GetMustNot() {
		if holds(p, c) {
			return false
		}
	}
	return true
}

// holds reports whether any value of a field meets a condition.
func holds(p *point, c *qdrant.Condition) bool {
	if ids := c.GetHasId(); ids != nil {
		return slices.ContainsFunc(ids.GetHasId(),
			func(id *qdrant.PointId) bool { return id.GetUuid() == p.id.GetUuid() })
	}
	if empty := c.GetIsEmpty(); empty != nil {
		return p.payload[empty.GetKey()] == nil
	}
	if f := c.GetFilter(); f != nil {
		return passes(p, f)
	}
	field := c.GetField()
	v, ok := p.payload[field.GetKey()]
	if !ok {
		return false
	}
	// A list meets a condition if one of its values does.
	values := []*qdrant.Value{v}
	if l := v.GetListValue(); l != nil {
		values = l.GetValues()
	}
	return slices.ContainsFunc(values, func(v *qdrant.Value) bool { return meets(v, field) })
}

// meets reports whether a value meets the condition on its field.
func meets(v *qdrant.Value, field *qdrant.FieldCondition) bool {
	if r := field.GetRange(); r != nil {
		return inRange(v, r)
	}
	switch m := field.GetMatch().GetMatchValue().(type) {
	case *qdrant.Match_Keyword:
		return isText(v, m.Keyword)
	case *qdrant.Match_Keywords:
		return isText(v, m.Keywords.GetStrings()...)
	case *qdrant.Match_Integer:
		n, ok := v.GetKind().(*qdrant.Value_IntegerValue)
		return ok && n.IntegerValue == m.Integer
	case *qdrant.Match_Boolean:
		b, ok := v.GetKind().(*qdrant.Value_BoolValue)
		return ok && b.BoolValue == m.Boolean
	}
	// A test that comes here needs a stand-in that knows more.
	panic("the stand-in does not know this condition")
}

// isText reports whether a value is one of some texts.
func isText(v *qdrant.Value, texts ...string) bool {
	s, ok := v.GetKind().(*qdrant.Value_StringValue)
	return ok && slices.Contains(texts, s.StringValue)
}

// inRange reports whether a value is a whole number within the bounds that are
// set.
func inRange(v *qdrant.Value, r *qdrant.Range) bool {
	n, ok := v.GetKind().(*qdrant.Value_IntegerValue)
	if !ok {
		return false
	}
	x := float64(n.IntegerValue)
	above := (r.Gt == nil || x > *r.Gt) && (r.Gte == nil || x >= *r.Gte)
	below := (r.Lt == nil || x < *r.Lt) && (r.Lte == nil || x <= *r.Lte)
	return above && below
}

// in gives the points that pass a filter, in any order.
func (c *collection) in(f *qdrant.Filter) []*point {
	var out []*point
	for _, condition := range f.GetMust() {
		if ids := condition.GetHasId(); ids != nil { // all others fail it
			for _, id := range ids.GetHasId() {
				if p := c.points[id.GetUuid()]; p != nil && passes(p, f) {
					out = append(out, p)
				}
			}
			return out
		}
	}
	for _, p := range c.points { // in the order of a map
		if passes(p, f) {
			out = append(out, p)
		}
	}
	return out
}

// query ranks points by a vector, or orders them by a field, or gives them as
// they come.
func (c *collection) query(r *qdrant.QueryPoints) []*qdrant.ScoredPoint {
	var out []*qdrant.ScoredPoint
	for _, p := range c.in(r.GetFilter()) {
		s := &qdrant.ScoredPoint{
			Id: p.id, Score: 1, Payload: p.shown(r.GetWithPayload()), Vectors: p.vectors(r.GetWithVectors()),
		}
		switch q := r.GetQuery().GetVariant().(type) {
		case *qdrant.Query_OrderBy:
			v, ok := p.payload[q.OrderBy.GetKey()]
			if !ok {
				continue
			}
			s.OrderValue = qdrant.NewOrderValueInt(v.GetIntegerValue())
		case *qdrant.Query_Nearest:
			score, ok := p.score(r.GetUsing(), q.Nearest)
			if !ok {
				continue
			}
			s.Score = score
		}
		out = append(out, s)
	}
	slices.SortStableFunc(out, order(r.GetQuery()))
	limit := 10 // Qdrant's default
	if r.Limit != nil {
		limit = int(r.GetLimit())
	}
	return out[:min(limit, len(out))]
}

// order compares the answers to a query: by the field, by the score, or else by
// id.
func order(q *qdrant.Query) func(a, b *qdrant.ScoredPoint) int {
	switch q := q.GetVariant().(type) {
	case *qdrant.Query_OrderBy:
		sign := 1
		if q.OrderBy.GetDirection() == qdrant.Direction_Desc {
			sign = -1
		}
		return func(a, b *qdrant.ScoredPoint) int {
			return sign * cmp.Compare(a.GetOrderValue().GetInt(), b.GetOrderValue().GetInt())
		}
	case *qdrant.Query_Nearest:
		return func(a, b *qdrant.ScoredPoint) int { return cmp.Compare(b.GetScore(), a.GetScore()) }
	}
	return func(a, b *qdrant.ScoredPoint) int { return strings.Compare(a.GetId().GetUuid(), b.GetId().GetUuid()) }
}

// score is the cosine, or the dot product of sparse vectors. A point without
// the vector, or with none of the query's words, has no score.
func (p *point) score(name string, q *qdrant.VectorInput) (float32, bool) {
	if s := q.GetSparse(); s != nil {
		sum, any := float32(0), false
		for i, n := range s.GetIndices() {
			if v, ok := p.sparse[name][n]; ok {
				sum += v * s.GetValues()[i]
				any = true
			}
		}
		return sum, any
	}
	v, ok := p.dense[name]
	sum := float32(0)
	for i, x := range unit(q.GetDense().GetData()) {
		if ok {
			sum += x * v[i]
		}
	}
	return sum, ok
}
