package ingest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// errStoreUnavailable tells failures of a memory store that is unavailable, and
// comes back, from those of an unavailable embedder or extractor.
var errStoreUnavailable = errors.New("the memory store is unavailable")

// classifyErrors is a memory store whose ErrUnavailable is errStoreUnavailable
// too.
type classifyErrors struct{ memory.Store }

func classify(err error) error {
	if errors.Is(err, memory.ErrUnavailable) {
		return fmt.Errorf("%w: %w", errStoreUnavailable, err)
	}
	return err
}

func (c classifyErrors) Put(ctx context.Context, scope memory.Scope, writes []memory.Write) ([]memory.Outcome, error) {
	out, err := c.Store.Put(ctx, scope, writes)
	return out, classify(err)
}

func (c classifyErrors) Get(ctx context.Context, scope memory.Scope, ids []string) ([]memory.Memory, error) {
	out, err := c.Store.Get(ctx, scope, ids)
	return out, classify(err)
}

func (c classifyErrors) Delete(
	ctx context.Context, scope memory.Scope, removals []memory.Removal,
) ([]memory.Outcome, error) {
	out, err := c.Store.Delete(ctx, scope, removals)
	return out, classify(err)
}

func (c classifyErrors) List(ctx context.Context, scope memory.Scope, list memory.List) (memory.Page, error) {
	out, err := c.Store.List(ctx, scope, list)
	return out, classify(err)
}

func (c classifyErrors) Search(ctx context.Context, scope memory.Scope, q memory.Query) (memory.Found, error) {
	out, err := c.Store.Search(ctx, scope, q)
	return out, classify(err)
}

func (c classifyErrors) PrepareSearch(ctx context.Context, scope memory.Scope) memory.PreparedSearch {
	search := c.Store.PrepareSearch(ctx, scope)
	return func(ctx context.Context, q memory.Query) (memory.Found, error) {
		out, err := search(ctx, q)
		return out, classify(err)
	}
}

func (c classifyErrors) Revisions(ctx context.Context, scope memory.Scope, id string, before int64) (
	[]memory.Revision, error) {
	out, err := c.Store.Revisions(ctx, scope, id, before)
	return out, classify(err)
}

func (c classifyErrors) ChangedBy(ctx context.Context, scope memory.Scope, operation, from string) (
	[]string, string, error) {
	out, next, err := c.Store.ChangedBy(ctx, scope, operation, from)
	return out, next, classify(err)
}

func (c classifyErrors) ListApp(ctx context.Context, app string, list memory.List) (memory.Page, error) {
	out, err := c.Store.ListApp(ctx, app, list)
	return out, classify(err)
}

func (c classifyErrors) FindApp(ctx context.Context, app, id string) ([]memory.Memory, error) {
	out, err := c.Store.FindApp(ctx, app, id)
	return out, classify(err)
}

func (c classifyErrors) OwnersApp(ctx context.Context, app, id string) ([]string, error) {
	out, err := c.Store.OwnersApp(ctx, app, id)
	return out, classify(err)
}

func (c classifyErrors) Count(ctx context.Context, scope memory.Scope) (memory.Counts, error) {
	out, err := c.Store.Count(ctx, scope)
	return out, classify(err)
}

func (c classifyErrors) Sweep(ctx context.Context, before time.Time, limit int) (memory.Erased, bool, error) {
	out, more, err := c.Store.Sweep(ctx, before, limit)
	return out, more, classify(err)
}

func (c classifyErrors) Erase(ctx context.Context, scope memory.Scope, which memory.Erasure) (memory.Erased, error) {
	out, err := c.Store.Erase(ctx, scope, which)
	return out, classify(err)
}
