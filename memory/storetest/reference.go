package storetest

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/memoryd/memoryd/memory"
)

// reference is a Store in the plainest way: maps, and every answer computed
// over all memories of the scope. The model case compares stores with it, and
// it passes the suite itself.
type reference struct {
	id  string
	now func() time.Time

	mu     sync.Mutex
	model  memory.Model
	moved  bool // to another model, and not opened for that yet
	next   *referenceMove
	scopes map[memory.Scope]map[string]*record
}

// A record is one memory with its history, oldest first, and what it is found by.
type record struct {
	history []memory.Revision
	terms   memory.Terms
	vector  []float32
	next    *memory.Record // as it was when it was indexed for a move; nil if it was not
}

var _ memory.Store = (*reference)(nil)

func newReference(now func() time.Time) *reference {
	return &reference{id: uuid.NewString(), now: now, model: first, scopes: map[memory.Scope]map[string]*record{}}
}

func (r *reference) ID() string { return r.id }

func (r *reference) Export(_ context.Context, yield func(memory.Record) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, scope := range r.scopes {
		for _, rec := range scope {
			last := rec.last()
			out := memory.Record{Memory: clone(last.Memory), Deleted: last.Action == memory.Deleted, Terms: maps.Clone(rec.terms), Vector: slices.Clone(rec.vector)}
			for _, h := range rec.history {
				out.History = append(out.History, memory.Step{Revision: h.Revision, Action: h.Action, Time: h.CreateTime, Actor: h.Actor, Operation: h.Operation, Memory: clone(h.Memory)})
			}
			if err := yield(out); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *reference) Import(_ context.Context, records []memory.Record) (stored int, err error) {
	for i := range records {
		if err := records[i].Validate(r.model.Dimension); err != nil {
			return 0, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.moved {
		return 0, memory.ErrUnavailable
	}
	for _, in := range records {
		scope := in.Memory.Scope
		if r.scopes[scope] == nil {
			r.scopes[scope] = map[string]*record{}
		}
		if was := r.scopes[scope][in.Memory.ID]; was != nil && int64(len(was.history)) >= in.Memory.Revision {
			continue
		}
		rec := &record{terms: in.Terms, vector: in.Vector}
		for _, st := range in.History {
			rec.history = append(rec.history, memory.Revision{Revision: st.Revision, Action: st.Action, Fact: st.Memory.Fact, CreateTime: st.Time,
				Actor: st.Actor, Operation: st.Operation, Memory: st.Memory})
		}
		r.scopes[scope][in.Memory.ID] = rec
		stored++
	}
	return stored, nil
}

func (r *record) last() *memory.Revision { return &r.history[len(r.history)-1] }

// live is the memory if it is neither deleted nor expired.
func (r *record) live(now time.Time) (*memory.Memory, bool) {
	m := &r.last().Memory
	return m, r.last().Action != memory.Deleted && m.Live(now)
}

func (r *record) add(m memory.Memory, action memory.Action, now time.Time, actor, operation string) {
	m.Revision, m.UpdateTime, m.CreateTime = int64(len(r.history))+1, now, now
	if len(r.history) > 0 {
		m.CreateTime = r.history[0].CreateTime
	}
	r.history = append(r.history, memory.Revision{
		Revision: m.Revision, Action: action, Fact: m.Fact, CreateTime: now, Actor: actor, Operation: operation, Memory: m,
	})
}

// clone is a copy of m that shares nothing with it, its times as a store keeps
// them.
func clone(m memory.Memory) memory.Memory {
	m = m.Clone()
	for _, t := range []*time.Time{&m.Timestamp, &m.ValidFrom, &m.ValidTo, &m.ExpireTime} {
		*t = t.UTC().Truncate(time.Microsecond)
	}
	return m
}

// begin locks the store for one call and reads its clock.
func (r *reference) begin(ctx context.Context) (now time.Time, err error) {
	if err := ctx.Err(); err != nil {
		return now, err
	}
	r.mu.Lock()
	return r.now().UTC().Truncate(time.Microsecond), nil
}

func (r *reference) Put(ctx context.Context, scope memory.Scope, writes []memory.Write) ([]memory.Outcome, error) {
	names := map[string]bool{}
	for i := range writes {
		m := &writes[i].Memory
		if err := m.Validate(); err != nil {
			return nil, err
		}
		if m.Scope != scope || names[m.ID] || writes[i].Vector != nil && len(writes[i].Vector) != r.model.Dimension {
			return nil, fmt.Errorf("%w: memory %q", memory.ErrInvalid, m.ID)
		}
		names[m.ID] = true
	}
	now, err := r.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer r.mu.Unlock()
	if r.moved {
		return nil, memory.ErrUnavailable
	}
	if r.scopes[scope] == nil {
		r.scopes[scope] = map[string]*record{}
	}
	var out []memory.Outcome
	for _, w := range writes {
		out = append(out, r.put(r.scopes[scope], w, now))
	}
	return out, nil
}

func (r *reference) put(scope map[string]*record, w memory.Write, now time.Time) memory.Outcome {
	m := clone(w.Memory)
	rec := scope[m.ID]
	if rec == nil {
		rec = &record{}
		if w.Expect == 0 {
			scope[m.ID] = rec
		}
	}
	at := int64(len(rec.history))
	there := at > 0 && rec.last().Action != memory.Deleted
	if there && (at == w.Expect || at == w.Expect+1) && rec.last().Memory.SameContent(&m) {
		if rec.vector == nil {
			rec.vector = slices.Clone(w.Vector)
		}
		return memory.Outcome{Memory: clone(rec.last().Memory)}
	}
	if at != w.Expect {
		out := memory.Outcome{Err: memory.ErrAborted}
		if there {
			out.Memory = clone(rec.last().Memory)
		}
		return out
	}
	action := memory.Updated
	if at == 0 {
		action = memory.Created
	}
	rec.add(m, action, now, w.Actor, w.Operation)
	rec.terms, rec.vector = maps.Clone(w.Terms), slices.Clone(w.Vector)
	return memory.Outcome{Memory: clone(rec.last().Memory), Changed: true}
}

func (r *reference) Get(ctx context.Context, scope memory.Scope, ids []string) ([]memory.Memory, error) {
	now, err := r.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer r.mu.Unlock()
	var out []memory.Memory
	for _, id := range ids {
		if rec := r.scopes[scope][id]; rec != nil {
			if m, ok := rec.live(now); ok {
				out = append(out, clone(*m))
			}
		}
	}
	return out, nil
}

func (r *reference) Delete(ctx context.Context, scope memory.Scope, removals []memory.Removal) ([]memory.Outcome, error) {
	now, err := r.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer r.mu.Unlock()
	if r.moved {
		return nil, memory.ErrUnavailable
	}
	var out []memory.Outcome
	for _, rm := range removals {
		rec := r.scopes[scope][rm.ID]
		if rec == nil {
			out = append(out, memory.Outcome{Err: memory.ErrNotFound})
			continue
		}
		m, ok := rec.live(now)
		o := memory.Outcome{Memory: clone(*m)}
		switch {
		case !ok:
		case rm.Expect != 0 && rm.Expect != m.Revision:
			o.Err = memory.ErrAborted
		default:
			rec.add(*m, memory.Deleted, now, rm.Actor, rm.Operation)
			o.Changed = true
		}
		out = append(out, o)
	}
	return out, nil
}

// place is where in an order a page ended; a page token holds one.
type place struct {
	At time.Time
	ID string
}

func (r *reference) List(ctx context.Context, scope memory.Scope, list memory.List) (memory.Page, error) {
	now, err := r.begin(ctx)
	if err != nil {
		return memory.Page{}, err
	}
	defer r.mu.Unlock()
	placeOf := func(m memory.Memory) place {
		switch list.Order.Field {
		case "createTime":
			return place{m.CreateTime, m.ID}
		case "updateTime":
			return place{m.UpdateTime, m.ID}
		}
		return place{m.Timestamp, m.ID}
	}
	compare := func(a, b place) int {
		if !list.Order.Ascending {
			a, b = b, a
		}
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID))
	}
	var after place
	if list.PageToken != "" {
		raw, err := base64.StdEncoding.DecodeString(list.PageToken)
		if err != nil || json.Unmarshal(raw, &after) != nil {
			return memory.Page{}, fmt.Errorf("%w: page token", memory.ErrInvalid)
		}
	}
	var page memory.Page
	for _, rec := range r.scopes[scope] {
		if m, ok := rec.live(now); ok && list.Match(m, now) && (list.PageToken == "" || compare(after, placeOf(*m)) < 0) {
			page.Memories = append(page.Memories, clone(*m))
		}
	}
	slices.SortFunc(page.Memories, func(a, b memory.Memory) int { return compare(placeOf(a), placeOf(b)) })
	if size := cmp.Or(list.PageSize, memory.DefaultPageSize); len(page.Memories) > size {
		page.Memories = page.Memories[:size]
		raw, err := json.Marshal(placeOf(page.Memories[size-1]))
		if err != nil {
			return memory.Page{}, err
		}
		page.NextPageToken = base64.StdEncoding.EncodeToString(raw)
	}
	return page, nil
}

func (r *reference) Revisions(ctx context.Context, scope memory.Scope, id string) ([]memory.Revision, error) {
	_, err := r.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer r.mu.Unlock()
	rec := r.scopes[scope][id]
	if rec == nil {
		return nil, memory.ErrNotFound
	}
	out := slices.Clone(rec.history)
	slices.Reverse(out)
	for i := range out {
		out[i].Memory = clone(out[i].Memory)
	}
	return out, nil
}
