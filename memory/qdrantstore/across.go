package qdrantstore

import (
	"context"
	"slices"
	"strings"

	"github.com/qdrant/go-client/qdrant"

	"github.com/memoryd/memoryd/memory"
)

// appField is the app of a memory. Points of earlier versions lack it: see nameApps.
const appField = "app"

// personField says whose a memory is: see personName. Points of earlier versions lack it too.
const (
	personField  = "person"
	personPrefix = "~"
)

// personName is memory.PersonPart of a user behind a ~, or else the user itself. No user has a name of
// another kind: those that begin with ~ and name a person have the part.
func personName(user string) string {
	if part := memory.PersonPart(user); part != "" {
		return personPrefix + part
	}
	return user
}

// ListApp implements memory.AppReader.
func (s *Store) ListApp(ctx context.Context, app string, list memory.List) (memory.Page, error) {
	page, err := s.listApp(ctx, app, &list)
	if err != nil {
		return memory.Page{}, memory.Scope{App: app}.Wrap("list memories of all users", err)
	}
	return page, nil
}

func (s *Store) listApp(ctx context.Context, app string, list *memory.List) (memory.Page, error) {
	paging, err := list.AppPaging()
	if err != nil {
		return memory.Page{}, err
	}
	if err := s.nameApps(ctx); err != nil {
		return memory.Page{}, err
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	now := s.opts.Now()
	passes, complete := filterOfApp(app, &list.Filter, now)
	l := listing{s, list.Order, passes, memory.Scope{App: app}, false}
	return l.page(ctx, list, paging, now, complete)
}

// FindApp implements memory.AppReader.
func (s *Store) FindApp(ctx context.Context, app, id string) ([]memory.Memory, error) {
	out, err := s.findApp(ctx, app, id)
	if err != nil {
		return nil, memory.Scope{App: app}.Wrap("find a memory of any user", err)
	}
	return out, nil
}

func (s *Store) findApp(ctx context.Context, app, id string) (out []memory.Memory, err error) {
	if err := s.nameApps(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	passes := liveOfApp(app, s.opts.Now())
	passes.Must = append(passes.Must, qdrant.NewMatch("id", id))
	points, err := s.client.Scroll(ctx, &qdrant.ScrollPoints{CollectionName: s.collection, Filter: passes,
		Limit:       qdrant.PtrOf(uint32(memory.MaxPageSize)),
		WithPayload: qdrant.NewWithPayloadInclude(shownFields...)})
	if err != nil {
		return nil, s.kind(ctx, err)
	}
	for _, p := range points {
		r, err := readRecord(p.GetPayload())
		if err != nil {
			return nil, err
		}
		out = append(out, r.Memory)
	}
	slices.SortFunc(out, func(a, b memory.Memory) int { return strings.Compare(a.User, b.User) })
	return out, nil
}

// OwnersApp implements memory.AppReader.
func (s *Store) OwnersApp(ctx context.Context, app, id string) (users []string, err error) {
	if err = s.nameApps(ctx); err == nil {
		passes := ofUsers(app)
		passes.Must = append(passes.Must, qdrant.NewMatch("id", id))
		err = s.tenants(ctx, passes, 0, func(tenant string) {
			_, user, _ := strings.Cut(tenant, "/")
			users = append(users, user)
		})
	}
	if err != nil {
		return nil, memory.Scope{App: app}.Wrap("find the users of a memory", err)
	}
	slices.Sort(users)
	return users[:min(len(users), memory.MaxPageSize)], nil
}

// anyOf reports whether there is a point that passes.
func (s *Store) anyOf(ctx context.Context, passes *qdrant.Filter) (bool, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	points, err := s.client.Scroll(ctx, &qdrant.ScrollPoints{CollectionName: s.collection, Filter: passes,
		Limit: qdrant.PtrOf(uint32(1)), WithPayload: qdrant.NewWithPayload(false)})
	return len(points) > 0, s.kind(ctx, err)
}

// namedTogether is how many scopes nameApps looks for in one call.
const namedTogether = 1000

// nameApps gives the points that earlier versions have written their app and their person. Such a version
// may still write beside this one, so that each read across users looks for them. It is
// one call where there are none.
func (s *Store) nameApps(ctx context.Context) error {
	lacks := []*qdrant.Condition{qdrant.NewIsEmpty(appField), qdrant.NewIsEmpty(personField)}
	nameless := &qdrant.Filter{Should: lacks, MustNot: []*qdrant.Condition{qdrant.NewIsEmpty("scope")}}
	for {
		if some, err := s.anyOf(ctx, nameless); err != nil || !some {
			return err
		}
		var tenants []string
		err := s.tenants(ctx, nameless, 0, func(tenant string) { tenants = append(tenants, tenant) })
		if err != nil || len(tenants) == 0 {
			return err
		}
		for some := range slices.Chunk(tenants, namedTogether) {
			var ops []*qdrant.PointsUpdateOperation
			for _, tenant := range some {
				app, user, _ := strings.Cut(tenant, "/")
				ops = append(ops, qdrant.NewPointsUpdateSetPayload(&qdrant.PointsUpdateOperation_SetPayload{
					Payload: map[string]*qdrant.Value{appField: qdrant.NewValueString(app),
						personField: qdrant.NewValueString(personName(user))},
					PointsSelector: qdrant.NewPointsSelectorFilter(&qdrant.Filter{Should: lacks,
						Must: []*qdrant.Condition{qdrant.NewMatch("scope", tenant)}})}))
			}
			if err := s.updateUnhurried(ctx, ops...); err != nil {
				return err
			}
		}
	}
}
