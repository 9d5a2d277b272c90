package qdrantstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/qdrant/go-client/qdrant"

	"github.com/memoryd/memoryd/memory"
)

// shownFields is the payload that a memory is read from, without its words.
var shownFields = []string{docField, "gone"}

// Get implements memory.Store.
func (s *Store) Get(ctx context.Context, scope memory.Scope, ids []string) ([]memory.Memory, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	if len(ids) == 0 {
		return nil, ctx.Err()
	}
	records, err := s.read(ctx, scope, ids, shownFields)
	if err != nil {
		return nil, wrap("get memories", scope, err)
	}
	var out []memory.Memory
	now := s.opts.Now()
	for _, id := range ids {
		if r := records[id]; r != nil && !r.gone && r.memory.Live(now) {
			out = append(out, r.memory.Clone())
		}
	}
	return out, nil
}

// Revisions implements memory.Store.
func (s *Store) Revisions(ctx context.Context, scope memory.Scope, id string) ([]memory.Revision, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	records, err := s.read(ctx, scope, []string{id}, whole)
	if err == nil && records[id] == nil {
		err = memory.ErrNotFound
	}
	var history []memory.Step
	if err == nil {
		history, err = s.history(ctx, records[id])
	}
	if err != nil {
		return nil, wrap(fmt.Sprintf("revisions of memory %.80q", id), scope, err)
	}
	out := make([]memory.Revision, 0, len(history))
	for _, st := range slices.Backward(history) {
		out = append(out, memory.Revision{Revision: st.Revision, Action: st.Action, Fact: st.Memory.Fact, CreateTime: st.Time, Actor: st.Actor, Operation: st.Operation, Memory: st.Memory})
	}
	return out, nil
}

// history is all revisions of a memory, oldest first.
func (s *Store) history(ctx context.Context, r *record) ([]memory.Step, error) {
	past, err := s.steps(ctx, r.memory.Scope, r.memory.ID, 1, r.memory.Revision)
	if err != nil {
		return nil, err
	}
	var out []memory.Step
	for i := range past {
		st, err := past[i].read()
		if err != nil {
			return nil, err
		}
		out = append(out, st)
	}
	return append(out, r.step.of(r.memory)), nil
}

// fields are the payload fields behind those a list can be ordered by.
var fields = map[string]string{"": "at", "timestamp": "at", "createTime": "created", "updateTime": "updated"}

// List implements memory.Store.
func (s *Store) List(ctx context.Context, scope memory.Scope, list memory.List) (memory.Page, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	page, err := s.list(ctx, scope, list)
	if err != nil {
		return memory.Page{}, wrap("list memories", scope, err)
	}
	return page, nil
}

// listed is a memory's id and its place in the order of a list.
type listed struct {
	id string
	at int64
}

func (s *Store) list(ctx context.Context, scope memory.Scope, list memory.List) (page memory.Page, err error) {
	size, err := list.Size()
	if err != nil {
		return page, err
	}
	field, ok := fields[list.Order.Field]
	if !ok {
		return page, fmt.Errorf("%w: no order by %q", memory.ErrInvalid, list.Order.Field)
	}
	passes := filter(scope, &list.Filter, s.opts.Now())
	compare := func(a, b listed) int {
		c := cmp.Or(cmp.Compare(a.at, b.at), strings.Compare(a.id, b.id))
		if !list.Order.Ascending {
			c = -c
		}
		return c
	}
	var got []listed
	from := (*int64)(nil) // beyond which the next are read
	if list.PageToken != "" {
		p, err := memory.ReadPlace(list.PageToken, list.Order)
		if err != nil {
			return page, err
		}
		ties, err := s.at(ctx, passes, field, p.At)
		if err != nil {
			return page, err
		}
		last := listed{p.ID, p.At}
		got = slices.DeleteFunc(ties, func(l listed) bool { return compare(l, last) <= 0 })
		slices.SortFunc(got, compare)
		from = &p.At
	}
	for len(got) <= size {
		some, err := s.ordered(ctx, passes, field, list.Order.Ascending, from, size+1-len(got))
		if err != nil {
			return page, err
		}
		if len(some) == 0 {
			break
		}
		// Of the last value there may be more than came, and Qdrant does not
		// order those: they are read whole.
		last := some[len(some)-1].at
		ties, err := s.at(ctx, passes, field, last)
		if err != nil {
			return page, err
		}
		some = append(slices.DeleteFunc(some, func(l listed) bool { return l.at == last }), ties...)
		slices.SortFunc(some, compare)
		got = append(got, some...)
		from = &last
	}
	if len(got) > size {
		got = got[:size]
		page.NextPageToken = memory.Place{Order: list.Order, At: got[size-1].at, ID: got[size-1].id}.Token()
	}
	if len(got) == 0 {
		return page, nil
	}
	ids := make([]string, len(got))
	for i, l := range got {
		ids[i] = l.id
	}
	records, err := s.read(ctx, scope, ids, shownFields)
	if err != nil {
		return page, err
	}
	for _, id := range ids {
		if r := records[id]; r != nil && !r.gone { // it was there a moment ago
			page.Memories = append(page.Memories, r.memory)
		}
	}
	return page, nil
}

// ordered reads up to limit memories in the order of a field, those beyond a
// value if one is given.
func (s *Store) ordered(ctx context.Context, passes *qdrant.Filter, field string, ascending bool, beyond *int64, limit int) ([]listed, error) {
	order := &qdrant.OrderBy{Key: field, Direction: qdrant.Direction_Desc.Enum()}
	if ascending {
		order.Direction = qdrant.Direction_Asc.Enum()
	}
	f := &qdrant.Filter{Must: passes.Must, MustNot: passes.MustNot}
	if beyond != nil {
		r := &qdrant.Range{Lt: qdrant.PtrOf(float64(*beyond))}
		if ascending {
			r = &qdrant.Range{Gt: qdrant.PtrOf(float64(*beyond))}
		}
		f.Must = append(slices.Clone(f.Must), qdrant.NewRange(field, r))
	}
	points, err := s.client.Query(ctx, &qdrant.QueryPoints{CollectionName: s.collection, Query: qdrant.NewQueryOrderBy(order), Filter: f,
		Limit: qdrant.PtrOf(uint64(limit)), WithPayload: qdrant.NewWithPayloadInclude("id", field)})
	if err != nil {
		return nil, s.kind(ctx, err)
	}
	return readListed(points, field), nil
}

// at reads all memories of which a field has just this value.
func (s *Store) at(ctx context.Context, passes *qdrant.Filter, field string, value int64) ([]listed, error) {
	f := &qdrant.Filter{Must: append(slices.Clone(passes.Must), qdrant.NewMatchInt(field, value)), MustNot: passes.MustNot}
	points, err := s.client.Query(ctx, &qdrant.QueryPoints{CollectionName: s.collection, Filter: f,
		Limit: qdrant.PtrOf(uint64(unlimited)), WithPayload: qdrant.NewWithPayloadInclude("id", field)})
	if err != nil {
		return nil, s.kind(ctx, err)
	}
	return readListed(points, field), nil
}

// unlimited is more points than a scope has.
const unlimited = 10_000_000

func readListed(points []*qdrant.ScoredPoint, field string) []listed {
	out := make([]listed, len(points))
	for i, p := range points {
		out[i] = listed{p.GetPayload()["id"].GetStringValue(), p.GetPayload()[field].GetIntegerValue()}
	}
	return out
}
