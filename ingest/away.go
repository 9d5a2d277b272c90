package ingest

import (
	"context"
	"errors"
	"fmt"

	"github.com/memoryd/memoryd/memory"
)

// errStoreAway marks failures of the memory store that pass by themselves,
// apart from those of an embedder or extractor that is away.
var errStoreAway = errors.New("the memory store is away")

// awaited is a memory store whose absence can be told from other failures.
type awaited struct{ memory.Store }

func away(err error) error {
	if errors.Is(err, memory.ErrUnavailable) {
		return fmt.Errorf("%w: %w", errStoreAway, err)
	}
	return err
}

func (a awaited) Put(ctx context.Context, scope memory.Scope, writes []memory.Write) ([]memory.Outcome, error) {
	out, err := a.Store.Put(ctx, scope, writes)
	return out, away(err)
}

func (a awaited) Get(ctx context.Context, scope memory.Scope, ids []string) ([]memory.Memory, error) {
	out, err := a.Store.Get(ctx, scope, ids)
	return out, away(err)
}

func (a awaited) Delete(ctx context.Context, scope memory.Scope, removals []memory.Removal) ([]memory.Outcome, error) {
	out, err := a.Store.Delete(ctx, scope, removals)
	return out, away(err)
}

func (a awaited) List(ctx context.Context, scope memory.Scope, list memory.List) (memory.Page, error) {
	out, err := a.Store.List(ctx, scope, list)
	return out, away(err)
}

func (a awaited) Search(ctx context.Context, scope memory.Scope, q memory.Query) (memory.Found, error) {
	out, err := a.Store.Search(ctx, scope, q)
	return out, away(err)
}

func (a awaited) Revisions(ctx context.Context, scope memory.Scope, id string) ([]memory.Revision, error) {
	out, err := a.Store.Revisions(ctx, scope, id)
	return out, away(err)
}
