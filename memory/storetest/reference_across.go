package storetest

import (
	"context"
	"slices"
	"strings"

	"github.com/memoryd/memoryd/memory"
)

// ListApp implements memory.AppReader.
func (r *reference) ListApp(ctx context.Context, app string, list memory.List) (memory.Page, error) {
	paging, err := list.AppPaging()
	if err != nil {
		return memory.Page{}, err
	}
	now, err := r.begin(ctx)
	if err != nil {
		return memory.Page{}, err
	}
	defer r.mu.Unlock()
	var ahead []memory.Memory
	for scope, records := range r.scopes {
		for _, rec := range records {
			m, ok := rec.live(now)
			if !ok || scope.App != app || scope.OfApp() || !list.Match(m, now) {
				continue
			}
			if paging.After == nil || list.Order.Compare(*paging.After, list.Order.AppCursor(m)) < 0 {
				ahead = append(ahead, m.Clone())
			}
		}
	}
	slices.SortFunc(ahead, func(a, b memory.Memory) int {
		return list.Order.Compare(list.Order.AppCursor(&a), list.Order.AppCursor(&b))
	})
	var page memory.Page
	page.Memories, page.NextPageToken = paging.Fit(list.Order, ahead, "")
	return page, nil
}

// FindApp implements memory.AppReader.
func (r *reference) FindApp(ctx context.Context, app, id string) (out []memory.Memory, err error) {
	now, err := r.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer r.mu.Unlock()
	for scope, records := range r.scopes {
		if rec := records[id]; rec != nil && scope.App == app && !scope.OfApp() {
			if m, ok := rec.live(now); ok {
				out = append(out, m.Clone())
			}
		}
	}
	slices.SortFunc(out, func(a, b memory.Memory) int { return strings.Compare(a.User, b.User) })
	return out[:min(len(out), memory.MaxPageSize)], nil
}

// OwnersApp implements memory.AppReader.
func (r *reference) OwnersApp(ctx context.Context, app, id string) (users []string, err error) {
	if _, err := r.begin(ctx); err != nil {
		return nil, err
	}
	defer r.mu.Unlock()
	for scope, records := range r.scopes {
		if records[id] != nil && scope.App == app && !scope.OfApp() {
			users = append(users, scope.User)
		}
	}
	slices.Sort(users)
	return users[:min(len(users), memory.MaxPageSize)], nil
}
