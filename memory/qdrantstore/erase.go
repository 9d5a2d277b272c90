package qdrantstore

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/qdrant/go-client/qdrant"

	"github.com/memoryd/memoryd/memory"
)

// erasedTogether is how many points one call removes.
const erasedTogether = 500

// Erase implements memory.Store. Qdrant removes points from its files when its
// optimizer rewrites the segment that had them, and from its log when that is cut.
func (s *Store) Erase(ctx context.Context, scope memory.Scope, which memory.Erasure) (out memory.Erased, err error) {
	if err = which.Validate(); err == nil {
		err = s.notMoving(ctx)
	}
	var found, left []*record
	if err == nil {
		found, left, err = s.findErasable(ctx, scope, which)
	}
	if err == nil && len(found) > 0 {
		out, err = s.eraseFound(ctx, scope, found, left)
	}
	if err != nil {
		return out, scope.Wrap("erase memories", err)
	}
	return out, nil
}

// notMoving is ErrUnavailable while the memories are copied to another collection: the
// copy would have what was erased here.
func (s *Store) notMoving(ctx context.Context) error {
	all, err := s.collections(ctx)
	if err != nil {
		return err
	}
	for _, c := range all {
		if c.Store == s.id && c.collection != s.collection && c.State != retired {
			return fmt.Errorf("%w: the memories are moving to collection %s: erase when that is over, or after memoryd"+
				" reembed -discard", memory.ErrUnavailable, c.collection)
		}
	}
	return nil
}

// findErasable reads all memories of a scope, deleted ones too, and parts those that
// are to be erased from the others.
func (s *Store) findErasable(ctx context.Context, scope memory.Scope, which memory.Erasure) (
	found, left []*record, err error) {
	var from *qdrant.PointId
	for {
		page, next, err := s.scopePage(ctx, scope, from)
		if err != nil {
			return nil, nil, err
		}
		for _, r := range page {
			takes := which.Takes(&r.Memory)
			if !takes && which.Session != "" && r.Memory.Revision > 1 {
				if takes, err = s.took(ctx, r, which); err != nil {
					return nil, nil, err
				}
			}
			if takes {
				found = append(found, r)
			} else {
				left = append(left, r)
			}
		}
		if from = next; from == nil {
			return found, left, nil
		}
	}
}

// scopePage reads a page of the memories of a scope, and the point that the next page
// begins with.
func (s *Store) scopePage(ctx context.Context, scope memory.Scope, from *qdrant.PointId) (
	page []*record, next *qdrant.PointId, err error) {
	ctx, cancel := s.unhurried(ctx)
	defer cancel()
	points, next, err := s.client.ScrollAndOffset(ctx, &qdrant.ScrollPoints{
		CollectionName: s.collection, Offset: from, Limit: qdrant.PtrOf(uint32(exportPage)),
		Filter:      &qdrant.Filter{Must: []*qdrant.Condition{qdrant.NewMatch("scope", tenant(scope))}},
		WithPayload: qdrant.NewWithPayloadInclude(append([]string{changeField}, recordFields...)...),
	})
	if err != nil {
		return nil, nil, s.kind(ctx, err)
	}
	for _, p := range points {
		r, err := readRecord(p.GetPayload())
		if err != nil {
			return nil, nil, err
		}
		page = append(page, r)
	}
	return page, next, nil
}

// took reports whether an erasing takes a memory for what it was once.
func (s *Store) took(ctx context.Context, r *record, which memory.Erasure) (bool, error) {
	ctx, cancel := s.unhurried(ctx)
	defer cancel()
	past, err := s.history(ctx, r)
	return slices.ContainsFunc(past, func(st memory.Step) bool { return which.Takes(&st.Memory) }), err
}

// eraseFound removes memories, has others no longer name them, and has every index of
// the scope read again. Past revisions go before their memory, which tells how many
// there are.
func (s *Store) eraseFound(ctx context.Context, scope memory.Scope, found, left []*record) (
	out memory.Erased, err error) {
	erased := map[string]bool{}
	var past, points []*qdrant.PointId
	for _, r := range found {
		erased[r.Memory.ID] = true
		out.Add(memory.Erased{Memories: 1, Revisions: int(r.Memory.Revision)})
		for n := int64(1); n < r.Memory.Revision; n++ {
			past = append(past, pastID(scope, r.Memory.ID, n))
		}
		points = append(points, pointID(scope, r.Memory.ID))
	}
	if err := s.remove(ctx, append(past, points...)); err != nil {
		return memory.Erased{}, err
	}
	if err := s.unlink(ctx, scope, left, erased); err != nil {
		return out, err
	}
	s.cache.Drop(scope)
	return out, s.leap(ctx, scope)
}

// remove removes points, in their order.
func (s *Store) remove(ctx context.Context, points []*qdrant.PointId) error {
	for some := range slices.Chunk(points, erasedTogether) {
		within, cancel := s.unhurried(ctx)
		err := s.update(within, s.collection, qdrant.NewPointsUpdateDeletePoints(
			&qdrant.PointsUpdateOperation_DeletePoints{Points: qdrant.NewPointsSelectorIDs(some)}))
		cancel()
		if err != nil {
			return err
		}
	}
	return nil
}

// unlink has memories and their past revisions no longer name what was erased.
func (s *Store) unlink(ctx context.Context, scope memory.Scope, left []*record, erased map[string]bool) error {
	for _, r := range left {
		within, cancel := s.unhurried(ctx)
		err := s.unlinkOne(within, scope, r, erased)
		cancel()
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) unlinkOne(ctx context.Context, scope memory.Scope, r *record, erased map[string]bool) error {
	var ops []*qdrant.PointsUpdateOperation
	if r.Memory.Unlink(erased) {
		payload, err := r.payload(r.terms, r.Embedded)
		if err != nil {
			return err
		}
		set := map[string]*qdrant.Value{docField: payload[docField]}
		ops = append(ops, setAt(scope, r, set))
		if r.Memory.SupersededBy == "" {
			ops = append(ops, clearAt(scope, r, "by"))
		}
		if len(r.Memory.Forgotten) == 0 {
			ops = append(ops, clearAt(scope, r, "forgotten"))
		}
	}
	if r.Memory.Revision > 1 {
		past, err := s.steps(ctx, scope, r.Memory.ID, 1, r.Memory.Revision)
		if err != nil {
			return err
		}
		for i := range past {
			st, err := past[i].read()
			if err != nil {
				return err
			}
			if !st.Memory.Unlink(erased) {
				continue
			}
			if past[i].Doc, err = memory.EncodeJSON(st.Memory); err != nil {
				return err
			}
			p, err := past[i].point(scope, r.Memory.ID)
			if err != nil {
				return err
			}
			ops = append(ops, qdrant.NewPointsUpdateUpsert(&qdrant.PointsUpdateOperation_PointStructList{
				Points: []*qdrant.PointStruct{p}}))
		}
	}
	if len(ops) == 0 {
		return nil
	}
	return s.update(ctx, s.collection, ops...)
}

// unchanged selects the point of a memory while that is at the revision that was read: a
// later one names what is there.
func unchanged(scope memory.Scope, r *record) *qdrant.PointsSelector {
	return qdrant.NewPointsSelectorFilter(&qdrant.Filter{Must: []*qdrant.Condition{
		qdrant.NewHasID(pointID(scope, r.Memory.ID)), qdrant.NewMatchInt("revision", r.Memory.Revision)}})
}

func setAt(scope memory.Scope, r *record, fields map[string]*qdrant.Value) *qdrant.PointsUpdateOperation {
	return qdrant.NewPointsUpdateSetPayload(&qdrant.PointsUpdateOperation_SetPayload{
		Payload: fields, PointsSelector: unchanged(scope, r)})
}

func clearAt(scope memory.Scope, r *record, field string) *qdrant.PointsUpdateOperation {
	return qdrant.NewPointsUpdateDeletePayload(&qdrant.PointsUpdateOperation_DeletePayload{
		Keys: []string{field}, PointsSelector: unchanged(scope, r)})
}

// leap moves the head of a scope so far that no index can follow it: an index learns of
// points that are written, and not of those that are removed. All processes then read
// the scope again. A head that others move meanwhile is tried again.
func (s *Store) leap(ctx context.Context, scope memory.Scope) error {
	if s.copying {
		return nil
	}
	for range tries {
		within, cancel := s.bounded(ctx)
		was, err := s.headOf(within, scope)
		var is *head
		if err == nil {
			to := &head{n: was.n + keptTokens + 1, tokens: []string{uuid.NewString()}}
			s.heads.forget(scope)
			if err = s.update(within, s.collection, to.swap(scope, was)); err == nil {
				is, err = s.headOf(within, scope)
			}
			if err == nil && is.follows(to.last()) {
				cancel()
				return nil
			}
		}
		cancel()
		if err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: others write the same scope all the time", memory.ErrUnavailable)
}

// revokedField is the payload of a point that revokes a life: when it was revoked, in
// microseconds since 1970.
const revokedField = "revoked"

// revokedID names the point that revokes a life, by a keyed hash.
func (s *Store) revokedID(life string) *qdrant.PointId {
	h := hmac.New(sha256.New, []byte(s.id))
	h.Write([]byte(life))
	return qdrant.NewIDUUID(derive("revoked", string(h.Sum(nil))))
}

// revokedIDs names the points that revoke the lives of some writes, by life.
func (s *Store) revokedIDs(lives []string) map[string]*qdrant.PointId {
	out := map[string]*qdrant.PointId{}
	for _, life := range lives {
		if life != "" && out[life] == nil {
			out[life] = s.revokedID(life)
		}
	}
	return out
}

// Revoke implements memory.Store.
func (s *Store) Revoke(ctx context.Context, scope memory.Scope, lives []string) error {
	err := memory.ValidateLives(lives)
	now := s.opts.Now()
	for some := range slices.Chunk(lives, erasedTogether) {
		if err == nil {
			err = s.revokeSome(ctx, some, now)
		}
	}
	if err != nil {
		return scope.Wrap("revoke writes", err)
	}
	return nil
}

func (s *Store) revokeSome(ctx context.Context, lives []string, now time.Time) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	var points []*qdrant.PointStruct
	for _, life := range lives {
		points = append(points, &qdrant.PointStruct{
			Id: s.revokedID(life), Vectors: qdrant.NewVectorsMap(map[string]*qdrant.Vector{}),
			Payload: map[string]*qdrant.Value{revokedField: qdrant.NewValueInt(now.UnixMicro())},
		})
	}
	old := qdrant.NewRange(revokedField, &qdrant.Range{
		Lt: qdrant.PtrOf(float64(now.Add(-memory.RevokedFor).UnixMicro()))})
	return s.update(ctx, s.collection,
		qdrant.NewPointsUpdateUpsert(&qdrant.PointsUpdateOperation_PointStructList{Points: points}),
		qdrant.NewPointsUpdateDeletePoints(&qdrant.PointsUpdateOperation_DeletePoints{
			Points: qdrant.NewPointsSelectorFilter(&qdrant.Filter{Must: []*qdrant.Condition{old}})}))
}

// eraseLate erases what was written although its life was revoked meanwhile: the erasing
// may have looked before it came.
func (s *Store) eraseLate(ctx context.Context, scope memory.Scope, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	records, err := s.read(ctx, scope, ids, recordFields)
	if err != nil || len(records) == 0 {
		return err
	}
	_, err = s.eraseFound(ctx, scope, slices.Collect(maps.Values(records)), nil)
	return err
}

// Users implements memory.Store. It counts the scopes of all apps, so that it takes some
// seconds where there are millions.
func (s *Store) Users(ctx context.Context, app, after string, limit int) ([]string, error) {
	out, err := s.names(ctx, after, limit, func(s memory.Scope) (string, bool) { return s.User, s.App == app })
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
