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

var _ memory.Audited = (*Store)(nil)

// removalField is the payload of the point removedID: when memories were last removed for
// good, in microseconds since 1970. It only grows. Some earlier builds have called it
// earlierRemovalField, which no condition can name, as a path in Qdrant has no space.
const (
	removalField        = "removal"
	earlierRemovalField = "removed at"
)

var removedID = qdrant.NewIDUUID(derive("removed"))

// noteRemoval stores that memories are removed now.
func (s *Store) noteRemoval(ctx context.Context) error {
	return s.updateUnhurried(ctx, removalAt(s.opts.Now()))
}

// removalAt stores a removal, unless a later one is stored: processes have clocks of their own.
func removalAt(at time.Time) *qdrant.PointsUpdateOperation {
	return qdrant.NewPointsUpdateUpsert(&qdrant.PointsUpdateOperation_PointStructList{Points: []*qdrant.PointStruct{{
		Id: removedID, Vectors: qdrant.NewVectorsMap(map[string]*qdrant.Vector{}),
		Payload: map[string]*qdrant.Value{removalField: qdrant.NewValueInt(at.UnixMicro())}}},
		UpdateFilter: &qdrant.Filter{Should: []*qdrant.Condition{before(removalField, at),
			qdrant.NewIsEmpty(removalField)}}})
}

// noteUntold stores a removal in a collection of a build that did not tell of them: it may have removed
// memories at any time up to now.
func (s *Store) noteUntold(ctx context.Context, is *manifest) error {
	if is.Removals {
		return nil
	}
	if at, err := s.Removed(ctx); err != nil || !at.IsZero() {
		return err
	}
	if empty, err := s.empty(ctx); err != nil || empty {
		return err
	}
	return s.noteRemoval(ctx)
}

// Removed implements memory.Audited.
func (s *Store) Removed(ctx context.Context) (at time.Time, err error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	points, err := s.client.Get(ctx, &qdrant.GetPoints{CollectionName: s.collection,
		Ids: []*qdrant.PointId{removedID}, WithPayload: qdrant.NewWithPayload(true)})
	if err != nil {
		return at, fmt.Errorf("read when memories were last removed: %w", s.kind(ctx, err))
	}
	if len(points) > 0 {
		fields := points[0].GetPayload()
		at = time.UnixMicro(max(fields[removalField].GetIntegerValue(),
			fields[earlierRemovalField].GetIntegerValue())).UTC()
	}
	return at, nil
}

// auditPause is how long an audit waits before it looks again at a memory that
// seems wrong: others may write it meanwhile.
const auditPause = 200 * time.Millisecond

// Audit implements memory.Audited.
func (s *Store) Audit(ctx context.Context, yield func(memory.Record) error, found func(memory.Finding)) error {
	if err := s.auditManifest(ctx, found); err != nil {
		return fmt.Errorf("audit memories: %w", err)
	}
	var from *qdrant.PointId
	for {
		page, next, err := s.auditFrom(ctx, from, found)
		if err != nil {
			return fmt.Errorf("audit memories: %w", err)
		}
		for _, r := range page {
			if err := yield(r); err != nil {
				return err
			}
		}
		if from = next; from == nil {
			return nil
		}
	}
}

// auditManifest checks that the collection is the one that this store was opened
// with.
func (s *Store) auditManifest(ctx context.Context, found func(memory.Finding)) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	m, err := s.manifestOf(ctx, s.collection)
	switch {
	case err != nil:
		return err
	case m == nil:
		found(
			memory.Finding{
				Rule: memory.RuleManifest,
				Of:   s.collection,
				Text: "the point that describes the collection is gone",
			},
		)
	case m.Store != s.id:
		found(
			memory.Finding{
				Rule: memory.RuleManifest,
				Of:   s.collection,
				Text: "the collection is another one than before",
			},
		)
	}
	return nil
}

// auditFrom reads a page of records from a point on, and the point that the next
// page begins with.
func (s *Store) auditFrom(ctx context.Context, from *qdrant.PointId, found func(memory.Finding)) (
	page []memory.Record, next *qdrant.PointId, err error) {
	ctx, cancel := s.unhurried(ctx)
	defer cancel()
	points, next, err := s.client.ScrollAndOffset(ctx, &qdrant.ScrollPoints{
		CollectionName: s.collection, Offset: from, Limit: qdrant.PtrOf(uint32(exportPage)),
		WithPayload: qdrant.NewWithPayload(true), WithVectors: qdrant.NewWithVectorsInclude(dense),
	})
	if err != nil {
		return nil, nil, s.kind(ctx, err)
	}
	for _, p := range points {
		if p.GetPayload()["scope"] == nil && p.GetPayload()[docField] == nil {
			continue // a past revision, or the manifest
		}
		r, faults, err := s.auditPoint(ctx, p)
		if err == nil && len(faults) > 0 {
			r, faults, err = s.auditAgain(ctx, p.GetId())
		}
		if err != nil {
			return nil, nil, err
		}
		for _, f := range faults {
			found(f)
		}
		if r != nil && r.Keep(s.opts.Now()) {
			page = append(page, *r)
		}
	}
	return page, next, nil
}

// auditAgain is auditPoint of a point as it is a moment later.
func (s *Store) auditAgain(ctx context.Context, id *qdrant.PointId) (*memory.Record, []memory.Finding, error) {
	select {
	case <-time.After(auditPause):
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	got, err := s.client.Get(ctx, &qdrant.GetPoints{
		CollectionName: s.collection, Ids: []*qdrant.PointId{id}, WithPayload: qdrant.NewWithPayload(true),
		WithVectors: qdrant.NewWithVectorsInclude(dense),
	})
	if err != nil || len(got) == 0 {
		return nil, nil, s.kind(ctx, err)
	}
	return s.auditPoint(ctx, got[0])
}

// auditPoint reads a memory's point, and compares the fields that filters ask for
// with the memory. The record is nil if it cannot be read.
func (s *Store) auditPoint(ctx context.Context, p *qdrant.RetrievedPoint) (
	out *memory.Record, faults []memory.Finding, err error) {
	payload := p.GetPayload()
	app, user, _ := strings.Cut(payload["scope"].GetStringValue(), "/")
	scope, id := memory.Scope{App: app, User: user}, payload["id"].GetStringValue()
	add := func(rule, format string, args ...any) {
		faults = append(faults, memory.Finding{Rule: rule, Scope: scope, Of: id, Text: fmt.Sprintf(format, args...)})
	}
	r, err := readRecord(payload)
	if err != nil || r.Memory.ID == "" {
		add(memory.RuleUnreadable, "its document cannot be read: %v", err)
		return nil, faults, nil
	}
	want, err := r.payload(r.terms, payload[embeddedField].GetBoolValue())
	if err != nil {
		add(memory.RuleUnreadable, "its document is invalid: %v", err)
		return nil, faults, nil
	}
	var differ []string
	for field, v := range want {
		switch field {
		case docField, termsField, stepField, lengthField, embeddedField:
			continue // how they are written differs between versions
		}
		if (field == appField || field == personField) && payload[field] == nil {
			continue // an earlier version has written it; see nameApps
		}
		if canonical(v) != canonical(payload[field]) {
			differ = append(differ, field)
		}
	}
	if len(differ) > 0 {
		slices.Sort(differ)
		add(memory.RuleIndex, "the fields that searches go by differ from the memory: %s", strings.Join(differ, ", "))
	}
	record, err := s.exported(ctx, p)
	if err != nil {
		if ctx.Err() != nil {
			return nil, nil, err
		}
		add(memory.RuleUnreadable, "its history: %v", err)
		return nil, faults, nil
	}
	return record, faults, nil
}

// canonical writes a value of a payload so that two can be compared: the order of a
// list tells nothing.
func canonical(v *qdrant.Value) string {
	list := v.GetListValue()
	if list == nil {
		return fmt.Sprintf("%q %d %t", v.GetStringValue(), v.GetIntegerValue(), v.GetBoolValue())
	}
	var all []string
	for _, one := range list.GetValues() {
		all = append(all, canonical(one))
	}
	slices.Sort(all)
	return strings.Join(all, ",")
}
