package qdrantstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

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
		return nil, scope.Wrap("get memories", err)
	}
	var out []memory.Memory
	now := s.opts.Now()
	for _, id := range ids {
		if r := records[id]; r != nil && !r.Deleted && r.Memory.Live(now) {
			out = append(out, r.Memory.Clone())
		}
	}
	return out, nil
}

// Revisions implements memory.Store.
func (s *Store) Revisions(ctx context.Context, scope memory.Scope, id string, before int64) ([]memory.Revision, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	records, err := s.read(ctx, scope, []string{id}, recordFields)
	if err == nil && (records[id] == nil || records[id].vanished(s.opts.Now())) {
		err = memory.ErrNotFound
	}
	var out []memory.Revision
	if err == nil {
		out, err = s.revisions(ctx, records[id], before)
	}
	if err != nil {
		return nil, scope.Wrap(fmt.Sprintf("revisions of memory %.80q", id), err)
	}
	return memory.CutRevisions(out), nil
}

// revisions reads revisions of a memory below a number, newest first, one more than
// Revisions returns if there are so many.
func (s *Store) revisions(ctx context.Context, r *record, before int64) (out []memory.Revision, err error) {
	to := r.Memory.Revision
	if before == 0 || before > to {
		out = memory.RevisionsOf([]memory.Step{r.step.of(r.Memory)})
	} else {
		to = before
	}
	bytes, now, missing := int64(0), s.opts.Now(), int64(0)
	for to > 1 && len(out) <= memory.MaxPageSize && bytes <= memory.MaxListBytes {
		from := max(1, to-pastTogether)
		past, err := s.someSteps(ctx, r.Memory.Scope, r.Memory.ID, from, to)
		if err != nil {
			return nil, err
		}
		if missing += to - from - int64(len(past)); missing > r.removed {
			return nil, lost(r)
		}
		var some []memory.Step
		for i := range past {
			st, err := past[i].read()
			if err != nil {
				return nil, err
			}
			if st.Expired(now) {
				continue
			}
			some, bytes = append(some, st), bytes+st.Memory.Bytes()
		}
		out, to = append(out, memory.RevisionsOf(some)...), from
	}
	return out, nil
}

// lost is the error of a memory that lacks revisions which no sweep has removed.
func lost(r *record) error { return fmt.Errorf("memory %.80q has lost revisions", r.Memory.ID) }

// history gives all revisions of a memory that are there, oldest first.
func (s *Store) history(ctx context.Context, r *record) ([]memory.Step, error) {
	past, err := s.steps(ctx, r.Memory.Scope, r.Memory.ID, 1, r.Memory.Revision)
	if err != nil {
		return nil, err
	}
	if r.Memory.Revision-1-int64(len(past)) > r.removed {
		return nil, lost(r)
	}
	var out []memory.Step
	for i := range past {
		st, err := past[i].read()
		if err != nil {
			return nil, err
		}
		out = append(out, st)
	}
	return append(out, r.step.of(r.Memory)), nil
}

// List implements memory.Store.
func (s *Store) List(ctx context.Context, scope memory.Scope, list memory.List) (memory.Page, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	page, err := s.list(ctx, scope, &list)
	if err != nil {
		return memory.Page{}, scope.Wrap("list memories", err)
	}
	return page, nil
}

func (s *Store) list(ctx context.Context, scope memory.Scope, list *memory.List) (page memory.Page, err error) {
	paging, err := list.Paging()
	if err != nil {
		return page, err
	}
	now := s.opts.Now()
	passes, complete := filter(scope, &list.Filter, now)
	if list.Deleted {
		passes, complete = filterDeleted(scope, &list.Filter, now)
	}
	l := listing{s, list.Order, passes, scope, list.Deleted}
	return l.page(ctx, list, paging, now, complete)
}

// page reads a page of a list, and at least one memory more than it has. Complete says
// that the memories are those that pass the list's filter; if not, they are checked.
func (l *listing) page(ctx context.Context, list *memory.List, paging memory.Paging, now time.Time, complete bool) (
	page memory.Page, err error) {
	var found []memory.Memory
	bytes := int64(0)
	// A page that is checked here needs more memories than it has.
	for more := true; more && len(found) <= paging.Size && bytes <= memory.MaxListBytes; {
		part := paging
		if !complete {
			part.Size = max(part.Size, readTogether)
		}
		cursors, err := l.read(ctx, part)
		if err != nil {
			return page, err
		}
		cursors, page.NextPageToken = part.Cut(cursors)
		if len(cursors) == 0 {
			break
		}
		for some := range slices.Chunk(cursors, readTogether) {
			if bytes > memory.MaxListBytes {
				break // the rest is for other pages
			}
			records, err := l.listed(ctx, some)
			if err != nil {
				return page, err
			}
			for _, r := range records {
				if m := r.Memory; !r.vanished(now) && (complete || list.Match(&m, now)) {
					found, bytes = append(found, m), bytes+m.Bytes()
					if l.gone {
						page.Deletions = append(page.Deletions,
							memory.Deletion{Time: r.step.Time, Actor: r.step.Actor, Operation: r.step.Operation})
					}
				}
			}
		}
		paging.After = &cursors[len(cursors)-1]
		more = !complete && page.NextPageToken != ""
	}
	page.Memories, page.NextPageToken = paging.Fit(list.Order, found, page.NextPageToken)
	if l.gone {
		page.Deletions = page.Deletions[:len(page.Memories)]
	}
	return page, nil
}

// listed reads the memories at some positions. One that was deleted a moment ago is left
// out, and so is one that was written again in a list of deleted ones.
func (l *listing) listed(ctx context.Context, at []memory.Cursor) (out []*record, err error) {
	ids := make([]*qdrant.PointId, len(at))
	for i, c := range at {
		ids[i] = pointID(l.scopeOf(c), c.ID)
	}
	fields := shownFields
	if l.gone {
		fields = append(slices.Clip(fields), stepField)
	}
	points, err := l.s.get(ctx, ids, fields)
	if err != nil {
		return nil, err
	}
	records := map[string]*record{}
	for _, p := range points {
		if records[p.GetId().GetUuid()], err = readRecord(p.GetPayload()); err != nil {
			return nil, err
		}
	}
	for _, id := range ids {
		if r := records[id.GetUuid()]; r != nil && r.Deleted == l.gone {
			out = append(out, r)
		}
	}
	return out, nil
}

// readTogether is how many memories are read in one call: of the largest, a few
// megabytes.
const readTogether = 50

// listing reads the positions of memories in the order of a list.
type listing struct {
	s      *Store
	order  memory.Order
	passes *qdrant.Filter
	scope  memory.Scope // of the memories; without a user in a list of all users of an app
	gone   bool         // the memories are deleted ones
}

// scopeOf is the scope of the memory at a position.
func (l *listing) scopeOf(at memory.Cursor) memory.Scope {
	if l.scope.User == "" {
		return memory.Scope{App: l.scope.App, User: at.User}
	}
	return l.scope
}

// field is the payload field that orders.
func (l *listing) field() string {
	switch l.order.Field {
	case "createTime":
		return "created"
	case "updateTime":
		return "updated"
	}
	return "at"
}

// read reads the positions of a page, and at least one more if there is one.
// Qdrant orders by a field and does not order ties, so all memories of a tie
// are read together.
func (l *listing) read(ctx context.Context, paging memory.Paging) (out []memory.Cursor, err error) {
	var from *int64 // the last value of the field that was read
	if after := paging.After; after != nil {
		if out, err = l.at(ctx, after.At); err != nil {
			return nil, err
		}
		out = slices.DeleteFunc(out, func(c memory.Cursor) bool { return l.order.Compare(c, *after) <= 0 })
		from = &after.At
	}
	for len(out) <= paging.Size {
		some, err := l.beyond(ctx, from, paging.Size+1-len(out))
		if err != nil {
			return nil, err
		}
		if len(some) == 0 {
			break
		}
		last := some[len(some)-1].At // of this value there may be more
		ties, err := l.at(ctx, last)
		if err != nil {
			return nil, err
		}
		some = slices.DeleteFunc(some, func(c memory.Cursor) bool { return c.At == last })
		out = append(append(out, some...), ties...)
		from = &last
	}
	slices.SortFunc(out, l.order.Compare)
	return out, nil
}

// beyond reads up to limit positions in the order of the field, beyond a value
// of it if one is given.
func (l *listing) beyond(ctx context.Context, value *int64, limit int) ([]memory.Cursor, error) {
	must := slices.Clone(l.passes.Must)
	if value != nil {
		r := &qdrant.Range{Lt: qdrant.PtrOf(float64(*value))}
		if l.order.Ascending {
			r = &qdrant.Range{Gt: qdrant.PtrOf(float64(*value))}
		}
		must = append(must, qdrant.NewRange(l.field(), r))
	}
	return l.query(ctx, must, orderBy(l.field(), l.order.Ascending), limit)
}

// at reads the positions of all memories whose field has exactly this value.
func (l *listing) at(ctx context.Context, value int64) ([]memory.Cursor, error) {
	must := append(slices.Clone(l.passes.Must), qdrant.NewMatchInt(l.field(), value))
	return l.query(ctx, must, nil, unlimited)
}

// unlimited is more points than a scope has.
const unlimited = 10_000_000

func (l *listing) query(
	ctx context.Context, must []*qdrant.Condition, by *qdrant.Query, limit int,
) ([]memory.Cursor, error) {
	field := l.field()
	points, err := l.s.client.Query(ctx, &qdrant.QueryPoints{
		CollectionName: l.s.collection, Query: by,
		Filter: &qdrant.Filter{Must: must, Should: l.passes.Should, MustNot: l.passes.MustNot},
		Limit:  qdrant.PtrOf(uint64(limit)), WithPayload: qdrant.NewWithPayloadInclude("id", "scope", field),
	})
	if err != nil {
		return nil, l.s.kind(ctx, err)
	}
	out := make([]memory.Cursor, len(points))
	for i, p := range points {
		fields := p.GetPayload()
		out[i] = memory.Cursor{Order: l.order, At: fields[field].GetIntegerValue(), ID: fields["id"].GetStringValue()}
		if l.scope.User == "" {
			_, out[i].User, _ = strings.Cut(fields["scope"].GetStringValue(), "/")
		}
	}
	return out, nil
}

// orderBy orders points by a payload field.
func orderBy(field string, ascending bool) *qdrant.Query {
	direction := qdrant.Direction_Desc
	if ascending {
		direction = qdrant.Direction_Asc
	}
	return qdrant.NewQueryOrderBy(&qdrant.OrderBy{Key: field, Direction: direction.Enum()})
}
