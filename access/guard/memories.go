package guard

import (
	"context"
	"time"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/memory"
)

// Memories returns a memory store behind a guard.
func Memories(of memory.Store) memory.Store { return memories{of} }

// memories checks the scope that each method names, with the verb for what it does: Read for
// what a user's own key may see, Write for what changes memories, and Admin for erasing
// and for all reads across users, as a key of one user must never learn of another. What
// sweeps all apps at once takes a principal with every verb.
type memories struct{ of memory.Store }

// ID implements memory.Store.
func (g memories) ID() string { return g.of.ID() }

// Put implements memory.Store.
func (g memories) Put(ctx context.Context, scope memory.Scope, writes []memory.Write) ([]memory.Outcome, error) {
	if err := access.Check(ctx, scope, access.Write); err != nil {
		return nil, err
	}
	return g.of.Put(ctx, scope, writes)
}

// Get implements memory.Store.
func (g memories) Get(ctx context.Context, scope memory.Scope, ids []string) ([]memory.Memory, error) {
	if err := access.Check(ctx, scope, access.Read); err != nil {
		return nil, err
	}
	return g.of.Get(ctx, scope, ids)
}

// Delete implements memory.Store.
func (g memories) Delete(ctx context.Context, scope memory.Scope, removals []memory.Removal) (
	[]memory.Outcome, error) {
	if err := access.Check(ctx, scope, access.Write); err != nil {
		return nil, err
	}
	return g.of.Delete(ctx, scope, removals)
}

// List implements memory.Store.
func (g memories) List(ctx context.Context, scope memory.Scope, list memory.List) (memory.Page, error) {
	if err := access.Check(ctx, scope, access.Read); err != nil {
		return memory.Page{}, err
	}
	return g.of.List(ctx, scope, list)
}

// Search implements memory.Store. It is the one way to the shared knowledge of an app for
// a principal that does not administer the app.
func (g memories) Search(ctx context.Context, scope memory.Scope, q memory.Query) (memory.Found, error) {
	if err := access.CheckSearch(ctx, scope); err != nil {
		return memory.Found{}, err
	}
	return g.of.Search(ctx, scope, q)
}

// PrepareSearch implements memory.Store.
func (g memories) PrepareSearch(ctx context.Context, scope memory.Scope) memory.PreparedSearch {
	if err := access.CheckSearch(ctx, scope); err != nil {
		return func(context.Context, memory.Query) (memory.Found, error) { return memory.Found{}, err }
	}
	return g.of.PrepareSearch(ctx, scope)
}

// Revisions implements memory.Store.
func (g memories) Revisions(ctx context.Context, scope memory.Scope, id string, before int64) (
	[]memory.Revision, error) {
	if err := access.Check(ctx, scope, access.Read); err != nil {
		return nil, err
	}
	return g.of.Revisions(ctx, scope, id, before)
}

// ChangedBy implements memory.Store.
func (g memories) ChangedBy(ctx context.Context, scope memory.Scope, operation, from string) (
	[]string, string, error) {
	if err := access.Check(ctx, scope, access.Read); err != nil {
		return nil, "", err
	}
	return g.of.ChangedBy(ctx, scope, operation, from)
}

// Erase implements memory.Store.
func (g memories) Erase(ctx context.Context, scope memory.Scope, which memory.Erasure) (memory.Erased, error) {
	if err := access.Check(ctx, scope, access.Admin); err != nil {
		return memory.Erased{}, err
	}
	return g.of.Erase(ctx, scope, which)
}

// Revoke implements memory.Store.
func (g memories) Revoke(ctx context.Context, scope memory.Scope, lives []string) error {
	if err := access.Check(ctx, scope, access.Admin); err != nil {
		return err
	}
	return g.of.Revoke(ctx, scope, lives)
}

// Users implements memory.Store.
func (g memories) Users(ctx context.Context, app, after string, limit int) ([]string, error) {
	if err := access.Check(ctx, memory.Scope{App: app}, access.Admin); err != nil {
		return nil, err
	}
	return g.of.Users(ctx, app, after, limit)
}

// Apps implements memory.Store.
func (g memories) Apps(ctx context.Context, after string, limit int) ([]string, error) {
	if err := access.Check(ctx, memory.Scope{}, access.Admin); err != nil {
		return nil, err
	}
	return g.of.Apps(ctx, after, limit)
}

// Count implements memory.Counter.
func (g memories) Count(ctx context.Context, scope memory.Scope) (memory.Counts, error) {
	if err := access.Check(ctx, scope, access.Read); err != nil {
		return memory.Counts{}, err
	}
	return g.of.Count(ctx, scope)
}

// ListApp implements memory.AppReader.
func (g memories) ListApp(ctx context.Context, app string, list memory.List) (memory.Page, error) {
	if err := access.Check(ctx, memory.Scope{App: app}, access.Admin); err != nil {
		return memory.Page{}, err
	}
	return g.of.ListApp(ctx, app, list)
}

// FindApp implements memory.AppReader.
func (g memories) FindApp(ctx context.Context, app, id string) ([]memory.Memory, error) {
	if err := access.Check(ctx, memory.Scope{App: app}, access.Admin); err != nil {
		return nil, err
	}
	return g.of.FindApp(ctx, app, id)
}

// OwnersApp implements memory.AppReader.
func (g memories) OwnersApp(ctx context.Context, app, id string) ([]string, error) {
	if err := access.Check(ctx, memory.Scope{App: app}, access.Admin); err != nil {
		return nil, err
	}
	return g.of.OwnersApp(ctx, app, id)
}

// Sweep implements memory.Sweeper. Ingestion sweeps as memoryd itself.
func (g memories) Sweep(ctx context.Context, before time.Time, limit int) (memory.Erased, bool, error) {
	if err := access.Check(ctx, memory.Scope{}, everything); err != nil {
		return memory.Erased{}, false, err
	}
	return g.of.Sweep(ctx, before, limit)
}
