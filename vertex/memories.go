package vertex

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// The name of a memory says of no scope, and natively each memory is in one. So a call looks
// for the id first, at all users of the app. The look-up is memoryd's own. The call goes on with
// the rights of its caller, who learns nothing of memories in the scopes of others: they are
// not there.

// memoryIn is the body of a create and of an update: REST has the memory itself, and the
// protos have it in a field.
type memoryIn struct {
	memoryBody
	Memory     *memoryBody `json:"memory"`
	MemoryID   string      `json:"memoryId"`
	UpdateMask string      `json:"updateMask"`
}

// body returns the memory of in. A body that has both forms means the field.
func (in *memoryIn) body() *memoryBody {
	if in.Memory != nil {
		return in.Memory
	}
	return &in.memoryBody
}

// create is what the body says of a new memory. Its id and its scope are the call's.
func (b *memoryBody) create() (n ingest.NewMemory, err error) {
	ttl, at, err := b.expiry()
	if err != nil {
		return n, err
	}
	if ttl != nil {
		n.TTL = *ttl
	}
	if at != nil {
		n.ExpireTime = *at
	}
	if n.Labels, n.Revision, err = b.revision(); err != nil {
		return n, err
	}
	if n.Topics, err = readTopics("topics", b.Topics); err != nil {
		return n, err
	}
	if n.Metadata, err = readValues("metadata", b.Metadata); err != nil {
		return n, err
	}
	n.DisplayName, n.Description = textOr(b.DisplayName), textOr(b.Description)
	if b.MemoryType == profileType || b.StructuredContent != nil {
		n.Profile, err = b.StructuredContent.profile()
		return n, err
	}
	n.Fact = textOr(b.Fact)
	return n, nil
}

// textOr is the text of a field; "" if it is missing.
func textOr(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// createMemory stores a memory as it is: nothing is extracted, and nothing compared. An id that
// is in use is an error also where the content is the same, as clients expect. A value of a
// profile has an id that follows from its field, so that a field has one value.
func (s *Service) createMemory(ctx context.Context, call *Call) (any, error) {
	r := call.Resource
	if r.Kind != "memories" || r.ID != "" {
		return nil, notHere(call)
	}
	var in memoryIn
	if err := Decode(call.Body, &in); err != nil {
		return nil, err
	}
	body, id := in.body(), in.MemoryID
	if asked := call.param("memoryId"); asked != "" {
		id = asked
	}
	if id != "" && !plainID.MatchString(id) {
		return nil, invalid("memoryId %.80q: want 1 to 63 letters, digits, - and _", id)
	}
	ctx, scope, err := s.within(ctx, r.Engine, body.Scope)
	if err != nil {
		return nil, err
	}
	n, err := body.create()
	if err != nil {
		return nil, err
	}
	if n.Profile != nil && id != "" {
		return nil, invalid("memoryId: a value of a profile has the id that follows from scope, schemaId and field")
	}
	if err := access.Check(ctx, scope, access.Write); err != nil {
		return nil, err // before the look-up, which tells of ids in any scope
	}
	if id != "" {
		// The look-up is memoryd's own: an id is that of one memory in the engine. The write makes sure of
		// it; this one spares the work for an id that is in use.
		owners, err := s.memories.OwnersApp(access.With(ctx, access.System), r.Engine, id)
		if err == nil && len(owners) > 0 {
			err = fmt.Errorf("memory %q: %w", r.memory(id), memory.ErrExists)
		}
		if err != nil {
			return nil, err
		}
	}
	n.ID, n.UniqueInApp = id, id != ""
	m, err := s.ingest.Add(ctx, scope, n)
	if err != nil {
		return nil, err
	}
	return s.doneMemory(r, createdMemory, &m, body.Scope), nil
}

// current reports whether clients see a memory: one that holds now, and is no raw turn. It is the
// condition of lists, so that a name which a list shows can be read, and no other.
func (s *Service) current(m *memory.Memory) bool {
	f := memory.Filter{Kinds: memoryKinds()}
	return f.Match(m, s.opts.Now())
}

// mine reports whether a memory in the scope of a native user can be meant by the caller: others
// are not there for a caller for one user, as if their ids were free.
func mine(ctx context.Context, user string) bool {
	p := access.From(ctx)
	return p == nil || p.User == "" || owns(p, user)
}

// findMemory returns the memory that a call names, and the context for calls in its scope.
func (s *Service) findMemory(ctx context.Context, r Resource) (context.Context, *memory.Memory, error) {
	missing := fmt.Errorf("memory %.200q: %w", r.memory(r.ID), memory.ErrNotFound)
	if r.Kind != "memories" || memory.ValidateID("memory", r.ID) != nil {
		return ctx, nil, missing
	}
	// The name says of no scope. The look-up is memoryd's own; the check follows.
	found, err := s.memories.FindApp(access.With(ctx, access.System), r.Engine, r.ID)
	if err != nil {
		return ctx, nil, err
	}
	found = slices.DeleteFunc(found, func(m memory.Memory) bool { return !s.current(&m) || !mine(ctx, m.User) })
	switch len(found) {
	case 0:
		return ctx, nil, missing
	case 1:
		ctx = asOwner(ctx, found[0].User)
		return ctx, &found[0], access.Check(ctx, found[0].Scope, access.Read)
	}
	return ctx, nil, ambiguousMemory(r, len(found))
}

func ambiguousMemory(r Resource, n int) error {
	return invalid("memory %q is ambiguous: %d scopes of %q have one of that id", r.ID, n, r.Engine)
}

// getMemory reads a memory that holds now. One that is deleted, has expired or was superseded is
// not there; its revisions are.
func (s *Service) getMemory(ctx context.Context, call *Call) (any, error) {
	_, m, err := s.findMemory(ctx, call.Resource)
	if err != nil {
		return nil, err
	}
	return call.Resource.memoryOf(m, nil), nil
}

// memoryOrder reads the order of a list of memories. Natively a list may also be in the order in
// which things were said, which clients do not know of.
func memoryOrder(text string) (memory.Order, error) {
	if strings.TrimSpace(text) == "" {
		return memory.Order{Field: "createTime"}, nil
	}
	field, direction, _ := strings.Cut(strings.TrimSpace(text), " ")
	if field = camel(field); field != "createTime" && field != "updateTime" {
		return memory.Order{}, invalid("orderBy %.60q: want create_time or update_time, then asc or desc", text)
	}
	return memory.ParseOrder(field + " " + direction)
}

// listMemories lists the memories of all scopes of an engine. By default that which was created
// last comes first.
func (s *Service) listMemories(ctx context.Context, call *Call) (any, error) {
	r := call.Resource
	if r.Kind != "memories" || r.ID != "" {
		return nil, notHere(call)
	}
	in, err := call.list()
	if err != nil {
		return nil, err
	}
	list := memory.List{PageSize: in.PageSize, PageToken: in.PageToken, Filter: memory.Filter{Kinds: memoryKinds()}}
	if list.Order, err = memoryOrder(in.OrderBy); err != nil {
		return nil, err
	}
	if list.Where, err = s.where(filtersIn{Filter: in.Filter}); err != nil {
		return nil, err
	}
	list.Person = personIn(in.Filter)
	page, err := s.listApp(ctx, r.Engine, list)
	if err != nil {
		return nil, err
	}
	out := struct {
		Memories      []*memoryBody `json:"memories,omitempty"`
		NextPageToken string        `json:"nextPageToken,omitempty"`
	}{NextPageToken: page.NextPageToken}
	for i := range page.Memories {
		out.Memories = append(out.Memories, r.memoryOf(&page.Memories[i], nil))
	}
	return out, nil
}

// listApp lists memories of all scopes of an engine: of those that are the caller's, if it is
// for one user. The scopes of a user are natively users of their own, which no store can list
// together without reading across users. So memoryd reads them itself, of that person
// alone, and leaves out any other.
func (s *Service) listApp(ctx context.Context, engine string, list memory.List) (page memory.Page, err error) {
	if user := oneUser(list.Where); user != "" {
		return s.memories.List(asOwner(ctx, user), memory.Scope{App: engine, User: user}, list)
	}
	p := access.From(ctx)
	if p == nil || p.User == "" {
		return s.memories.ListApp(ctx, engine, list)
	}
	if err := access.Check(ctx, memory.Scope{App: engine, User: p.User}, access.Read); err != nil {
		return page, err
	}
	list.Person = personOf(p)
	if page, err = s.memories.ListApp(access.With(ctx, access.System), engine, list); err != nil {
		return page, err
	}
	page.Memories = slices.DeleteFunc(page.Memories, func(m memory.Memory) bool { return !owns(p, m.User) })
	return page, nil
}

// patch is what an update changes of a memory. A field that the mask names and the body lacks
// is cleared. The expiry has two names, ttl and expireTime: each of them in the mask is about
// the same field.
func (b *memoryBody) patch(m *memory.Memory, masks ...string) (p ingest.Patch, err error) {
	mask, err := newMemoryMask(masks)
	if err != nil {
		return p, err
	}
	if p.Labels, p.Revision, err = b.revision(); err != nil {
		return p, err
	}
	text := func(field string, in *string, out **string) {
		if mask.has(field, in != nil) {
			value := textOr(in)
			*out = &value
		}
	}
	text("fact", b.Fact, &p.Fact)
	text("displayName", b.DisplayName, &p.DisplayName)
	text("description", b.Description, &p.Description)
	if m.Profile != nil && p.Fact != nil && (*p.Fact == m.Fact || b.StructuredContent != nil) {
		p.Fact = nil // it follows from the value
	}
	if mask.has("structuredContent", b.StructuredContent != nil) {
		value, err := b.StructuredContent.profile()
		if err != nil {
			return p, err
		}
		if m.Profile == nil || value.SchemaID != m.SchemaID || value.Field != m.Profile.Field {
			return p, invalid("structuredContent: a memory stays that of its schemaId and its field")
		}
		p.Value = &value.Value
	}
	if mask.has("topics", b.Topics != nil) {
		topics, err := readTopics("topics", b.Topics)
		if err != nil {
			return p, err
		}
		p.Topics = &topics
	}
	if mask.has("metadata", b.Metadata != nil) || len(mask.metadata) > 0 {
		values, err := readValues("metadata", b.Metadata)
		if err != nil {
			return p, err
		}
		// The names are merged where the memory is written, so that changes of others at once stay.
		p.Metadata, p.MetadataNames = &values, mask.metadata
	}
	ttl, at, err := b.expiry()
	if mask.has("ttl", ttl != nil) || mask.has("expireTime", at != nil) {
		if p.TTL, p.ExpireTime = ttl, at; ttl == nil && at == nil {
			p.ExpireTime = &time.Time{}
		}
	}
	return p, err
}

// updateMemory changes the fields of a memory that the mask names, or without one those that are
// there. It makes a revision if anything changes.
func (s *Service) updateMemory(ctx context.Context, call *Call) (any, error) {
	var in memoryIn
	if err := Decode(call.Body, &in); err != nil {
		return nil, err
	}
	body := in.body()
	ctx, m, err := s.findMemory(ctx, call.Resource)
	if err != nil {
		return nil, err
	}
	if body.Scope != nil {
		if user, err := s.userOf(body.Scope); err != nil || user != m.User {
			return nil, invalid("scope: a memory stays in its scope")
		}
	}
	patch, err := body.patch(m, call.param("updateMask"), in.UpdateMask)
	if err != nil {
		return nil, err
	}
	if !patch.Empty() {
		changed, err := s.ingest.Update(ctx, m.Scope, m.ID, patch)
		if err != nil {
			return nil, err
		}
		m = &changed
	}
	return s.doneMemory(call.Resource, updatedMemory, m, body.Scope), nil
}

// memoryDone is the operation of a change after which there is nothing to show. The response is
// an empty message: clients expect that a done operation has one.
func (s *Service) memoryDone(r Resource, kind, metadata string) *Operation {
	op := doneOperation(emptyType, struct{}{}, sessionstore.Micros(s.opts.Now()))
	op.Metadata.Type = typeURL + protos + metadata + "OperationMetadata"
	op.Name = r.memory(r.ID) + "/operations/" + operationID(kind, r.Engine, r.ID)
	return op
}

// deleteMemory deletes a memory. Its revisions stay, so that a rollback brings it back.
func (s *Service) deleteMemory(ctx context.Context, call *Call) (any, error) {
	ctx, m, err := s.findMemory(ctx, call.Resource)
	if err != nil {
		return nil, err
	}
	if err := s.ingest.Delete(ctx, m.Scope, m.ID); err != nil {
		return nil, err
	}
	return s.memoryDone(call.Resource, deleted, "DeleteMemory"), nil
}

// purgeMemories erases the memories that pass, with their revisions. Without force it counts
// them. A purge without a condition is refused: it would take everything.
func (s *Service) purgeMemories(ctx context.Context, call *Call) (any, error) {
	r := call.Resource
	if r.Kind != "memories" || r.ID != "" {
		return nil, notHere(call)
	}
	var in struct {
		filtersIn
		Force bool `json:"force"`
	}
	if err := Decode(call.Body, &in); err != nil {
		return nil, err
	}
	where, err := s.where(in.filtersIn)
	if err == nil && where == nil {
		err = invalid("filter: a purge wants filter or filterGroups")
	}
	if err != nil {
		return nil, err
	}
	f := memory.Filter{Kinds: memoryKinds(), Person: personIn(in.Filter), Where: where}
	var count int
	if user := oneUser(where); user != "" {
		count, err = s.ingest.Purge(asOwner(ctx, user), memory.Scope{App: r.Engine, User: user}, f, !in.Force)
	} else {
		count, err = s.ingest.PurgeApp(ctx, r.Engine, f, !in.Force)
	}
	if err != nil {
		return nil, err
	}
	return s.donePurge(r, count), nil
}

// donePurge is the operation of a purge. Its id tells how many memories it was about, so that
// nothing is stored of it and a later call can still be answered.
func (s *Service) donePurge(r Resource, count int) *Operation {
	op := doneOperation("PurgeMemoriesResponse", map[string]int{"purgeCount": count}, sessionstore.Micros(s.opts.Now()))
	op.Metadata.Type = typeURL + protos + "PurgeMemoriesOperationMetadata"
	op.Name = r.engine() + "/operations/" + operationID(purgedMemories, r.Engine, fmt.Sprint(count))
	return op
}
