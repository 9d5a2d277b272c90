package server

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/internal/aip160"
	"github.com/memoryd/memoryd/internal/strict"
	"github.com/memoryd/memoryd/memory"
)

// addMemory answers POST {scope}/memories: it stores a fact, or the value of a field of a
// profile, as the client states it, without extraction or comparison.
func (s *Server) addMemory(c echo.Context, scope memory.Scope) error {
	var req struct {
		App       string          `json:"appName"`
		User      string          `json:"userId"`
		ID        string          `json:"id"`
		Kind      memory.Kind     `json:"kind"`
		Fact      string          `json:"fact"`
		Author    string          `json:"author"`
		Schema    string          `json:"schemaId"`
		Field     string          `json:"field"`
		Value     json.RawMessage `json:"value"`
		Name      string          `json:"displayName"`
		About     string          `json:"description"`
		Topics    []string        `json:"topics"`
		Metadata  memory.Metadata `json:"metadata"`
		TTL       lifetime        `json:"ttl"`
		Expire    moment          `json:"expireTime"`
		RevTTL    lifetime        `json:"revisionTtl"`
		RevExpire moment          `json:"revisionExpireTime"`
		Labels    memory.Labels   `json:"labels"`
		ValidFrom localMoment     `json:"validFrom"`
		TimeZone  timeZone        `json:"timeZone"`
		Trust     memory.Trust    `json:"trust"`
	}
	if err := decodeBody(c, &req); err != nil {
		return err
	}
	if err := checkScope(scope, req.App, req.User); err != nil {
		return err
	}
	if string(req.Value) == "null" {
		req.Value = nil
	}
	value := &memory.Profile{SchemaID: req.Schema, Field: req.Field, Value: req.Value}
	switch {
	case req.Kind == memory.KindProfile && scope.OfApp():
		return invalid("kind: shared knowledge has no profiles, which are a user's")
	case req.Kind == memory.KindProfile:
		if req.Fact != "" || req.ID != "" || req.Author != "" || !req.ValidFrom.IsZero() {
			return invalid("fact, id, author, validFrom: the value of a profile has none of its own:" +
				" want schemaId, field and value")
		}
	case req.Kind != "" && req.Kind != memory.KindFact:
		return invalid("kind: want %q or %q, not %.40q", memory.KindFact, memory.KindProfile, req.Kind)
	case req.Schema != "" || req.Field != "" || len(req.Value) > 0:
		return invalid("schemaId, field, value: are of kind %q alone", memory.KindProfile)
	default:
		value = nil
	}
	m, err := s.ingest.Add(c.Request().Context(), scope, ingest.NewMemory{
		Profile: value, ID: req.ID, Fact: req.Fact, Author: req.Author, DisplayName: req.Name, Description: req.About,
		Topics: req.Topics, Metadata: req.Metadata, TTL: req.TTL.Duration, ExpireTime: req.Expire.Time,
		Revision:  ingest.Lifetime{TTL: req.RevTTL.Duration, At: req.RevExpire.Time},
		ValidFrom: req.ValidFrom.Time, UTCOffset: req.ValidFrom.offset, Zone: req.TimeZone.Location,
		Trust: req.Trust, Labels: req.Labels,
	})
	if err != nil {
		return err
	}
	note(c, func(e *access.Entry) { e.Memories = []string{m.ID} })
	m.Show()
	return sendJSON(c, http.StatusCreated, addedBody{m, m.State == memory.Quarantined})
}

// addedBody is the answer to a fact that was added.
type addedBody struct {
	memory.Memory
	// Quarantined says that the fact tries to instruct the agent: it is hidden until a
	// review.
	Quarantined bool `json:"quarantined,omitzero"`
}

// reviewBody is the answer to a review.
type reviewBody struct {
	memory.Memory
	// Operation makes the facts of a turn that was approved.
	Operation string `json:"operation,omitzero"`
}

// reviewMemory answers POST {scope}/memories/{id}/review: it lets a quarantined memory
// pass, or keeps it hidden.
func (s *Server) reviewMemory(c echo.Context, scope memory.Scope, id string) error {
	var req struct {
		Decision ingest.Decision `json:"decision"`
	}
	if err := decodeBody(c, &req); err != nil {
		return err
	}
	done, err := s.ingest.Review(c.Request().Context(), scope, id, req.Decision)
	if err != nil {
		return err
	}
	out := reviewBody{Memory: done.Memory}
	out.Show()
	if done.Operation != nil {
		out.Operation = done.Operation.ID
	}
	note(c, func(e *access.Entry) { e.Memories, e.Operation = []string{id}, out.Operation })
	return sendJSON(c, http.StatusOK, out)
}

// sendMemory answers with a memory.
func sendMemory(c echo.Context, status int, m memory.Memory) error {
	m.Show()
	return sendJSON(c, status, m)
}

// listMemories answers GET {scope}/memories.
func (s *Server) listMemories(c echo.Context, scope memory.Scope) error {
	return s.sendMemories(c, scope, func(list memory.List) (memory.Page, error) {
		return s.memories.List(c.Request().Context(), scope, list)
	})
}

// listQuery are the parameters of a list of memories, and appListQuery those of one of all
// users of an app, which has no deleted ones.
var (
	appListQuery = []string{"kind", "topic", "sessionId", "state", "filter", "history", "orderBy", "pageSize",
		"pageToken"}
	listQuery = append(slices.Clip(appListQuery), "deleted")
)

// sendMemories answers with a page of a list of memories, whose room is that of a scope.
func (s *Server) sendMemories(c echo.Context, scope memory.Scope, read func(memory.List) (memory.Page, error)) error {
	list := memory.List{PageToken: c.QueryParam("pageToken")}
	q := c.QueryParams()
	for _, k := range q["kind"] {
		list.Kinds = append(list.Kinds, memory.Kind(k))
	}
	list.Topics = q["topic"]
	list.SessionID = c.QueryParam("sessionId")
	list.State = memory.State(c.QueryParam("state"))
	if err := list.Filter.Validate(); err != nil {
		return err
	}
	var err error
	if list.Where, err = aip160.Parse(c.QueryParam("filter"), aip160.Memories); err != nil {
		return err
	}
	if list.History, err = boolParam(c, "history"); err != nil {
		return err
	}
	if list.Deleted, err = boolParam(c, "deleted"); err != nil {
		return err
	}
	if list.Order, err = memory.ParseOrder(c.QueryParam("orderBy")); err != nil {
		return err
	}
	if list.PageSize, err = pageSizeParam(c); err != nil {
		return err
	}
	ctx := c.Request().Context()
	share, err := s.answers.Take(ctx, scope, memory.MaxListBytes, roomTime)
	if err != nil {
		return err
	}
	defer share.Release()
	page, err := read(list)
	if err != nil {
		return err
	}
	out := newAnswer(c, http.StatusOK)
	bytes := int64(0)
	for i := range page.Memories {
		bytes += page.Memories[i].Bytes()
		page.Memories[i].Show()
	}
	share.Shrink(bytes)
	out.within(bytes)
	out.text(`{"memories":`)
	writeList(out, page.Memories)
	out.token(page.NextPageToken)
	if list.Deleted {
		out.text(`,"deletions":`)
		writeList(out, page.Deletions)
	}
	if page.Unreadable > 0 { // those that the store has left out as damaged
		out.text(`,"unreadable":`)
		out.value(page.Unreadable)
	}
	out.text("}")
	return out.finish()
}

// getMemory answers GET {scope}/memories/{id}.
func (s *Server) getMemory(c echo.Context, scope memory.Scope, id string) error {
	m, err := s.ingest.Get(c.Request().Context(), scope, id)
	if err != nil {
		return err
	}
	return sendMemory(c, http.StatusOK, m)
}

// patchMemory answers PATCH {scope}/memories/{id}. An absent field stays as it
// is; null clears every other one but fact.
func (s *Server) patchMemory(c echo.Context, scope memory.Scope, id string) error {
	var req change
	if err := decodeBody(c, &req); err != nil {
		return err
	}
	patch, err := req.patch()
	if err != nil {
		return err
	}
	m, err := s.ingest.Update(c.Request().Context(), scope, id, patch)
	if err != nil {
		return err
	}
	return sendMemory(c, http.StatusOK, m)
}

// change is a change of a memory. Raw values tell an absent field from null.
type change struct {
	Fact      *string         `json:"fact"`
	Value     json.RawMessage `json:"value"`
	Name      json.RawMessage `json:"displayName"`
	About     json.RawMessage `json:"description"`
	Topics    json.RawMessage `json:"topics"`
	Metadata  json.RawMessage `json:"metadata"`
	TTL       json.RawMessage `json:"ttl"`
	Expire    json.RawMessage `json:"expireTime"`
	RevTTL    lifetime        `json:"revisionTtl"`
	RevExpire moment          `json:"revisionExpireTime"`
	Labels    memory.Labels   `json:"labels"`
	ValidFrom json.RawMessage `json:"validFrom"`
	ValidTo   json.RawMessage `json:"validTo"`
}

// patch returns the change as ingest makes it. A change of nothing is an error.
func (req *change) patch() (ingest.Patch, error) {
	patch := ingest.Patch{Fact: req.Fact}
	if len(req.Value) > 0 {
		patch.Value = &req.Value
	}
	var err error
	if patch.DisplayName, err = optional[string]("displayName", req.Name); err != nil {
		return patch, err
	}
	if patch.Description, err = optional[string]("description", req.About); err != nil {
		return patch, err
	}
	if patch.Topics, err = optional[[]string]("topics", req.Topics); err != nil {
		return patch, err
	}
	if patch.Metadata, err = optional[memory.Metadata]("metadata", req.Metadata); err != nil {
		return patch, err
	}
	ttl, err := optional[lifetime]("ttl", req.TTL)
	if err != nil {
		return patch, err
	}
	if ttl != nil {
		patch.TTL = &ttl.Duration
	}
	expire, err := optional[moment]("expireTime", req.Expire)
	if err != nil {
		return patch, err
	}
	if expire != nil {
		patch.ExpireTime = &expire.Time
	}
	for _, f := range []struct {
		name string
		raw  json.RawMessage
		into **time.Time
	}{{"validFrom", req.ValidFrom, &patch.ValidFrom}, {"validTo", req.ValidTo, &patch.ValidTo}} {
		m, err := optional[localMoment](f.name, f.raw)
		if err != nil {
			return patch, err
		}
		if m != nil {
			*f.into, patch.UTCOffset = &m.Time, cmp.Or(patch.UTCOffset, m.offset)
		}
	}
	if patch.Empty() {
		return patch, invalid("nothing to change: want fact, value, displayName, description, topics, metadata, ttl," +
			" expireTime, validFrom or validTo")
	}
	patch.Revision, patch.Labels = ingest.Lifetime{TTL: req.RevTTL.Duration, At: req.RevExpire.Time}, req.Labels
	return patch, nil
}

// optional reads a field of a patch: nil if it is absent, a pointer to the zero
// value if it is null.
func optional[T any](name string, raw json.RawMessage) (*T, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	v := new(T)
	return v, strict.Decode(name, raw, v)
}

// deleteMemory answers DELETE {scope}/memories/{id}. The revisions stay.
func (s *Server) deleteMemory(c echo.Context, scope memory.Scope, id string) error {
	if err := s.ingest.Delete(c.Request().Context(), scope, id); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// listRevisions answers GET {scope}/memories/{id}/revisions, newest first. It
// has those of a deleted memory too, so it asks the store and not Get. The token of
// the next page is the number of the last revision that this one has looked at.
func (s *Server) listRevisions(c echo.Context, scope memory.Scope, id string) error {
	size, err := pageSizeParam(c)
	if err != nil {
		return err
	}
	size = cmp.Or(size, memory.DefaultPageSize)
	before := int64(0)
	if token := c.QueryParam("pageToken"); token != "" {
		if before, err = strconv.ParseInt(token, 10, 64); err != nil || before < 2 {
			return invalid("pageToken %.40q is not one of an earlier answer to this list", token)
		}
	}
	where, err := aip160.Parse(c.QueryParam("filter"), aip160.Revisions)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	share, err := s.answers.Take(ctx, scope, memory.MaxListBytes, roomTime)
	if err != nil {
		return err
	}
	defer share.Release()
	revisions, last, err := memory.PassingRevisions(ctx, s.memories, scope, id, before, size,
		func(r *memory.Revision) bool { return memory.Holds(where, r.Compare) })
	if err != nil {
		return err
	}
	out := newAnswer(c, http.StatusOK)
	out.within(memory.MaxListBytes)
	out.text(`{"revisions":`)
	writeList(out, revisions)
	if last > 1 {
		out.token(strconv.FormatInt(last, 10))
	}
	out.text("}")
	return out.finish()
}

// rollbackMemory answers POST {scope}/memories/{id}/rollback: it writes what an
// earlier revision said as a new revision, with a change of it if there is one. It
// restores a deleted memory too.
func (s *Server) rollbackMemory(c echo.Context, scope memory.Scope, id string) error {
	var req struct {
		Revision int64   `json:"revision"`
		Change   *change `json:"change"`
	}
	if err := decodeBody(c, &req); err != nil {
		return err
	}
	if req.Revision < 1 {
		return invalid("revision: want the number of one of the memory's revisions, from 1 on")
	}
	patch := ingest.Patch{}
	if req.Change != nil {
		var err error
		if patch, err = req.Change.patch(); err != nil {
			return err
		}
	}
	m, err := s.ingest.Rollback(c.Request().Context(), scope, id, req.Revision, patch)
	if err != nil {
		return err
	}
	return sendMemory(c, http.StatusOK, m)
}
