package qdrantstore

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/qdrant/go-client/qdrant"

	"github.com/memoryd/memoryd/memory"
)

// Users implements memory.Store. It counts the scopes of all apps, so that it takes some
// seconds where there are millions.
func (s *Store) Users(ctx context.Context, app, after string, limit int) ([]string, error) {
	out, err := s.names(ctx, after, limit, func(s memory.Scope) (string, bool) {
		return s.User, s.App == app && !s.OfApp()
	})
	if err != nil {
		return nil, memory.Scope{App: app}.Wrap("list users of memories", err)
	}
	return out, nil
}

// Apps implements memory.Store, at the cost of Users.
func (s *Store) Apps(ctx context.Context, after string, limit int) ([]string, error) {
	out, err := s.names(ctx, after, limit, func(s memory.Scope) (string, bool) { return s.App, true })
	if err != nil {
		return nil, memory.Scope{}.Wrap("list apps of memories", err)
	}
	return out, nil
}

func (s *Store) names(ctx context.Context, after string, limit int, of func(memory.Scope) (string, bool)) (
	[]string, error) {
	if limit <= 0 {
		return nil, ctx.Err()
	}
	all := map[string]bool{}
	// Points of earlier versions have no number.
	none := &qdrant.Filter{Must: []*qdrant.Condition{qdrant.NewIsEmpty(changeField)}}
	take := func(tenant string) {
		app, user, _ := strings.Cut(tenant, "/")
		if name, ok := of(memory.Scope{App: app, User: user}); ok && name > after {
			all[name] = true
		}
	}
	err := s.tenants(ctx, none, 0, take)
	if err == nil {
		err = s.tenantsBetween(ctx, 0, 1<<scopeBits, take)
	}
	out := slices.Sorted(maps.Keys(all))
	return out[:min(limit, len(out))], err
}

const (
	// scopeBits is how many bits of a change number are of the scope; see changeNumber.
	scopeBits = 20
	// tenantsTogether is how many scopes one call counts. Where there are more, the
	// numbers are parted.
	tenantsTogether = 20_000
)

// tenantsBetween yields the scopes whose part of a change number is within from and to.
func (s *Store) tenantsBetween(ctx context.Context, from, to int64, yield func(string)) error {
	within := qdrant.NewRange(changeField, &qdrant.Range{
		Gte: qdrant.PtrOf(float64(from << 32)), Lt: qdrant.PtrOf(float64(to << 32))})
	most := 0 // any number
	if to-from > 1 {
		most = tenantsTogether
	}
	err := s.tenants(ctx, &qdrant.Filter{Must: []*qdrant.Condition{within}}, most, yield)
	if !errors.Is(err, errManyTenants) {
		return err
	}
	middle := (from + to) / 2
	if err := s.tenantsBetween(ctx, from, middle, yield); err != nil {
		return err
	}
	return s.tenantsBetween(ctx, middle, to, yield)
}

// errManyTenants says that there are more scopes than asked for.
var errManyTenants = errors.New("there are more scopes")

// tenants yields the scopes of points that pass a filter.
func (s *Store) tenants(ctx context.Context, passes *qdrant.Filter, most int, yield func(string)) error {
	ctx, cancel := s.unhurried(ctx)
	defer cancel()
	limit := uint64(unlimited)
	if most > 0 {
		limit = uint64(most) + 1
	}
	hits, err := s.client.Facet(ctx, &qdrant.FacetCounts{CollectionName: s.collection, Key: "scope", Filter: passes,
		Limit: &limit, Exact: qdrant.PtrOf(true)})
	if err != nil {
		return s.kind(ctx, err)
	}
	if most > 0 && len(hits) > most {
		return errManyTenants
	}
	for _, h := range hits {
		yield(h.GetValue().GetStringValue())
	}
	return nil
}
