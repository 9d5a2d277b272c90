package storetest

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/memoryd/memoryd/memory"
)

// reference is the plainest Store: maps, and every answer computed over all
// memories of the scope. It shows how the rules of package memory make a store.
// The model case compares other stores with it, and it passes the suite itself.
type reference struct {
	id  string
	now func() time.Time

	mu      sync.Mutex
	removed time.Time // when a memory was last removed for good
	model   memory.Model
	moved   bool // to another model, and not opened for that yet
	next    *referenceMove
	scopes  map[memory.Scope]map[string]*record
	// revoked has the lives whose writes are refused, and since when.
	revoked map[string]time.Time
}

// A record is one memory with its history, oldest first, its words and its
// vector.
type record struct {
	history []memory.Step
	removed int64 // revisions that are not in history, as they have expired
	terms   memory.Terms
	vector  []float32
	next    *memory.Record // as it was when it was indexed for a move; nil if it was not
}

var (
	_ memory.Store   = (*reference)(nil)
	_ memory.Archive = (*reference)(nil)
)

// newReference makes a reference for the model that it is opened for first.
func newReference(now func() time.Time) *reference {
	return &reference{id: uuid.NewString(), now: now, scopes: map[memory.Scope]map[string]*record{},
		revoked: map[string]time.Time{}}
}

// ID implements memory.Store. A store that is opened again must have the same,
// so a lasting one keeps it with its data.
func (r *reference) ID() string { return r.id }

// last is the newest revision.
func (r *record) last() *memory.Step { return &r.history[len(r.history)-1] }

// current is the state that the rules decide by; nil if there is no record.
func (r *record) current() *memory.Current {
	if r == nil {
		return nil
	}
	last := r.last()
	return &memory.Current{
		Memory: last.Memory.Clone(), Deleted: last.Action == memory.Deleted, Embedded: r.vector != nil,
	}
}

// live is the memory if it is neither deleted nor expired.
func (r *record) live(now time.Time) (*memory.Memory, bool) {
	m := &r.last().Memory
	return m, r.last().Action != memory.Deleted && m.Live(now)
}

// steps is a history that shares nothing with the store's.
func (r *record) steps() []memory.Step {
	out := slices.Clone(r.history)
	for i := range out {
		out[i].Memory = out[i].Memory.Clone()
	}
	return out
}

// begin locks the store for one call and reads its clock.
func (r *reference) begin(ctx context.Context) (now time.Time, err error) {
	if err := ctx.Err(); err != nil {
		return now, err
	}
	r.mu.Lock()
	return r.now(), nil
}

// beginWrite is begin for a call that writes. It fails once the memories have
// moved.
func (r *reference) beginWrite(ctx context.Context) (now time.Time, err error) {
	if now, err = r.begin(ctx); err == nil && r.moved {
		r.mu.Unlock()
		err = memory.ErrUnavailable
	}
	return now, err
}

// in is the memories of a scope, made if there are none.
func (r *reference) in(scope memory.Scope) map[string]*record {
	if r.scopes[scope] == nil {
		r.scopes[scope] = map[string]*record{}
	}
	return r.scopes[scope]
}

// Put implements memory.Store: for each write it reads, has the rules decide,
// and stores the effect, all under one lock. A store without a lock makes the
// last step conditional on what it has read.
func (r *reference) Put(
	ctx context.Context, scope memory.Scope, writes []memory.Write,
) ([]memory.Outcome, error) {
	if err := memory.ValidateWrites(scope, writes, r.Model().Dimension); err != nil {
		return nil, err
	}
	now, err := r.beginWrite(ctx)
	if err != nil {
		return nil, err
	}
	defer r.mu.Unlock()
	records := r.in(scope)
	var out []memory.Outcome
	for i := range writes {
		w := &writes[i]
		if _, gone := r.revoked[w.Life]; gone {
			out = append(out, memory.Outcome{Err: memory.ErrRevoked})
			continue
		}
		if w.UniqueInApp && r.known(scope.App, w.Memory.ID) {
			out = append(out, memory.Outcome{Err: memory.ErrExists})
			continue
		}
		rec := records[w.Memory.ID]
		d := memory.DecidePut(w, rec.current(), now)
		switch d.Effect {
		case memory.FillVector:
			rec.vector = slices.Clone(w.Vector)
		case memory.AddRevision:
			if rec == nil {
				rec = &record{}
				records[w.Memory.ID] = rec
			}
			rec.add(d.Step)
			rec.terms, rec.vector = maps.Clone(w.Terms), slices.Clone(w.Vector)
		}
		out = append(out, d.Outcome)
	}
	return out, nil
}

// known reports whether a user of an app has or had a memory of an id.
func (r *reference) known(app, id string) bool {
	for scope, records := range r.scopes {
		if scope.App == app && !scope.OfApp() && records[id] != nil {
			return true
		}
	}
	return false
}

// add stores a step. The outcome of the call has the step's memory too, so the
// store keeps a copy.
func (r *record) add(st memory.Step) {
	st.Memory = st.Memory.Clone()
	r.history = append(r.history, st)
}

// Delete implements memory.Store. The record of a deleted memory stays, with
// its history and without words and vector.
func (r *reference) Delete(
	ctx context.Context, scope memory.Scope, removals []memory.Removal,
) ([]memory.Outcome, error) {
	now, err := r.beginWrite(ctx)
	if err != nil {
		return nil, err
	}
	defer r.mu.Unlock()
	var out []memory.Outcome
	for _, rm := range removals {
		rec := r.scopes[scope][rm.ID]
		d := memory.DecideDelete(rm, rec.current(), now)
		if d.Effect == memory.AddRevision {
			rec.add(d.Step)
			rec.terms, rec.vector = nil, nil
		}
		out = append(out, d.Outcome)
	}
	return out, nil
}

// Get implements memory.Store.
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
				out = append(out, m.Clone())
			}
		}
	}
	return out, nil
}

// List implements memory.Store: the positions behind the token, sorted and cut.
func (r *reference) List(ctx context.Context, scope memory.Scope, list memory.List) (memory.Page, error) {
	paging, err := list.Paging()
	if err != nil {
		return memory.Page{}, err
	}
	now, err := r.begin(ctx)
	if err != nil {
		return memory.Page{}, err
	}
	defer r.mu.Unlock()
	var ahead []memory.Cursor
	for _, rec := range r.scopes[scope] {
		m, ok := rec.live(now)
		if list.Deleted {
			last := rec.last()
			m, ok = &last.Memory, last.Action == memory.Deleted && !last.Expired(now)
		}
		if !ok || !list.Match(m, now) {
			continue
		}
		if c := list.Order.Cursor(m); paging.After == nil || list.Order.Compare(*paging.After, c) < 0 {
			ahead = append(ahead, c)
		}
	}
	slices.SortFunc(ahead, list.Order.Compare)
	var page memory.Page
	ahead, page.NextPageToken = paging.Cut(ahead)
	for _, c := range ahead {
		page.Memories = append(page.Memories, r.scopes[scope][c.ID].last().Memory.Clone())
	}
	page.Memories, page.NextPageToken = paging.Fit(list.Order, page.Memories, page.NextPageToken)
	for i := range page.Memories {
		if list.Deleted {
			st := r.scopes[scope][page.Memories[i].ID].last()
			page.Deletions = append(page.Deletions,
				memory.Deletion{Time: st.Time, Actor: st.Actor, Operation: st.Operation})
		}
	}
	return page, nil
}

// Count implements memory.Counter.
func (r *reference) Count(ctx context.Context, scope memory.Scope) (out memory.Counts, err error) {
	now, err := r.begin(ctx)
	if err != nil {
		return out, err
	}
	defer r.mu.Unlock()
	for _, rec := range r.scopes[scope] {
		if m, ok := rec.live(now); ok {
			out.Count(m, now)
		}
	}
	return out, nil
}

// Revisions implements memory.Store.
func (r *reference) Revisions(ctx context.Context, scope memory.Scope, id string, before int64) (
	[]memory.Revision, error) {
	now, err := r.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer r.mu.Unlock()
	rec := r.scopes[scope][id]
	if rec == nil {
		return nil, memory.ErrNotFound
	}
	kept := memory.Kept(rec.steps(), now)
	if len(kept) == 0 {
		return nil, memory.ErrNotFound
	}
	out := memory.RevisionsOf(kept)
	out = slices.DeleteFunc(out, func(r memory.Revision) bool { return before > 0 && r.Revision >= before })
	return memory.CutRevisions(out), nil
}

// Export implements memory.Archive.
func (r *reference) Export(_ context.Context, yield func(memory.Record) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, records := range r.scopes {
		for _, rec := range records {
			is := rec.current()
			out := memory.Record{
				Memory: is.Memory, Deleted: is.Deleted, Terms: maps.Clone(rec.terms), Vector: slices.Clone(rec.vector),
				History: rec.steps(),
			}
			if !out.Keep(r.now()) {
				continue
			}
			if err := yield(out); err != nil {
				return err
			}
		}
	}
	return nil
}

// Import implements memory.Archive. It does not decide by the rules of Put: a
// record comes with its own revisions and times.
func (r *reference) Import(ctx context.Context, records []memory.Record) (stored int, err error) {
	for i := range records {
		if err := records[i].Validate(r.Model().Dimension); err != nil {
			return 0, err
		}
	}
	if _, err := r.beginWrite(ctx); err != nil {
		return 0, err
	}
	defer r.mu.Unlock()
	for i := range records {
		from := &records[i]
		in := r.in(from.Memory.Scope)
		if memory.DecideImport(from, in[from.Memory.ID].current()) {
			in[from.Memory.ID] = &record{history: from.History, removed: from.Removed, terms: from.Terms,
				vector: from.Vector}
			stored++
		}
	}
	r.noteRemoval()
	return stored, nil
}

// noteRemoval notes that memories are removed now; see memory.Audited.
func (r *reference) noteRemoval() {
	if now := r.now(); now.After(r.removed) {
		r.removed = now
	}
}

// ChangedBy implements memory.Store. Its pages are in the order of the ids.
func (r *reference) ChangedBy(ctx context.Context, scope memory.Scope, operation, from string) (
	page []string, next string, err error) {
	now, err := r.begin(ctx)
	if err != nil {
		return nil, "", err
	}
	defer r.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(r.scopes[scope])) {
		by := func(st memory.Step) bool { return st.Operation == operation }
		if id <= from || !slices.ContainsFunc(memory.Kept(r.scopes[scope][id].history, now), by) {
			continue
		}
		if len(page) == memory.MaxPageSize {
			return page, page[len(page)-1], nil
		}
		page = append(page, id)
	}
	return page, "", nil
}
