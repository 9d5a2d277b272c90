package vertex

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/internal/aip160"
	"github.com/memoryd/memoryd/memory"
)

// A revision of memoryd has its number for an id. Clients see those that say something new of a
// memory, that which deletes it, and none that they have asked not to keep.

// revisionBody is a revision of a memory in JSON. That of a deletion has no fact.
type revisionBody struct {
	Name       string        `json:"name"`
	Fact       string        `json:"fact,omitempty"`
	CreateTime Time          `json:"createTime,omitzero"`
	ExpireTime Time          `json:"expireTime,omitzero"`
	Labels     memory.Labels `json:"labels,omitempty"`
	// Structured is the value of a profile, by the name of its field.
	Structured map[string]json.RawMessage `json:"structuredData,omitempty"`
	Extracted  []map[string]string        `json:"extractedMemories,omitempty"`
}

// revisionOf is the JSON of a revision. Memories were extracted by an operation. A revision that a
// client has made itself has none.
func (r Resource) revisionOf(rev *memory.Revision) *revisionBody {
	out := &revisionBody{Name: r.revision(r.ID, rev.Revision), CreateTime: Time{rev.CreateTime},
		ExpireTime: Time{rev.ExpireTime}, Labels: shownLabels(rev.Labels)}
	if rev.Action == memory.Deleted {
		return out
	}
	out.Fact = rev.Fact
	if p := rev.Memory.Profile; p != nil {
		out.Structured = map[string]json.RawMessage{p.Field: p.Value}
	}
	if rev.Operation != "" { // it was extracted
		out.Extracted = []map[string]string{{"fact": rev.Fact}}
	}
	return out
}

// revisionFields are the fields that a filter of revisions may name: those that clients see. The
// HTTP API tells who made a revision.
func revisionFields() aip160.Fields {
	all := memory.RevisionFields()
	out := aip160.Fields{}
	for _, name := range []string{
		memory.FieldLabels, memory.FieldFact, memory.FieldCreateTime, memory.FieldExpireTime,
	} {
		out[name] = all[name]
	}
	return out
}

// findRevisions returns the scope of a memory that was perhaps deleted, and the context for
// calls there. The guard checks these calls. A quarantined memory is not there for clients, as
// its words are what the quarantine keeps from the agent.
func (s *Service) findRevisions(ctx context.Context, r Resource) (context.Context, memory.Scope, error) {
	missing := fmt.Errorf("memory %.200q: %w", r.memory(r.ID), memory.ErrNotFound)
	if r.Kind != "memories" || memory.ValidateID("memory", r.ID) != nil {
		return ctx, memory.Scope{}, missing
	}
	owners, err := s.memories.OwnersApp(access.With(ctx, access.System), r.Engine, r.ID)
	if err != nil {
		return ctx, memory.Scope{}, err
	}
	owners = slices.DeleteFunc(owners, func(user string) bool { return !mine(ctx, user) })
	switch len(owners) {
	case 0:
		return ctx, memory.Scope{}, missing
	case 1:
	default:
		return ctx, memory.Scope{}, ambiguousMemory(r, len(owners))
	}
	scope := memory.Scope{App: r.Engine, User: owners[0]}
	ctx = asOwner(ctx, scope.User)
	latest, err := s.memories.Revisions(ctx, scope, r.ID, 0)
	if err != nil {
		return ctx, scope, err
	}
	if !slices.Contains(memoryKinds(), latest[0].Memory.Kind) || latest[0].Memory.State.Hidden() {
		return ctx, scope, missing
	}
	return ctx, scope, nil
}

// listRevisions lists the revisions of a memory, newest first. The token of a page is the number
// of the last revision that the page before has looked at, as in the HTTP API.
func (s *Service) listRevisions(ctx context.Context, call *Call) (any, error) {
	r := call.Resource
	in, err := call.list()
	if err != nil {
		return nil, err
	}
	before := int64(0)
	if in.PageToken != "" {
		if before, err = strconv.ParseInt(in.PageToken, 10, 64); err != nil || before < 2 {
			return nil, invalid("pageToken %.40q is not one of an earlier answer to this list", in.PageToken)
		}
	}
	where, err := aip160.Parse(in.Filter, revisionFields())
	if err != nil {
		return nil, err
	}
	ctx, scope, err := s.findRevisions(ctx, r)
	if err != nil {
		return nil, err
	}
	if keeps, err := s.listsRevisions(ctx, r); err != nil || !keeps {
		return struct{}{}, err
	}
	size := in.PageSize
	if size == 0 {
		size = memory.DefaultPageSize
	}
	found, last, err := memory.PassingRevisions(ctx, s.memories, scope, r.ID, before, size,
		func(rev *memory.Revision) bool { return listed(rev) && memory.Holds(where, rev.Compare) })
	if err != nil {
		return nil, err
	}
	var out struct {
		Revisions     []*revisionBody `json:"memoryRevisions,omitempty"`
		NextPageToken string          `json:"nextPageToken,omitempty"`
	}
	for i := range found {
		out.Revisions = append(out.Revisions, r.revisionOf(&found[i]))
	}
	if last > 1 {
		out.NextPageToken = strconv.FormatInt(last, 10)
	}
	return out, nil
}

// listsRevisions reports whether the revisions of an engine are listed: its description may say
// that none are made.
func (s *Service) listsRevisions(ctx context.Context, r Resource) (bool, error) {
	config, err := s.ingest.Configs().Of(ctx, r.Engine)
	if err != nil || !config.Declared() {
		return true, err
	}
	var doc engineDoc
	if err := json.Unmarshal(config.Engine, &doc); err != nil {
		return true, err
	}
	fields, err := doc.fields()
	return fields.Context.MemoryBank == nil || !fields.Context.MemoryBank.DisableRevisions, err
}

// listed reports whether clients see a revision.
func listed(r *memory.Revision) bool { return r.Labels[unlistedLabel] == "" }

// getRevision reads one revision. Its id is its number. A number that no revision has, or none at
// all, is that of a revision which is not there.
func (s *Service) getRevision(ctx context.Context, call *Call) (any, error) {
	r := call.Resource
	ctx, scope, err := s.findRevisions(ctx, r)
	if err != nil {
		return nil, err
	}
	number, err := strconv.ParseInt(r.SubID, 10, 64)
	if err == nil && number > 0 && number < 1<<53 {
		found, err := s.memories.Revisions(ctx, scope, r.ID, number+1)
		if err != nil {
			return nil, err
		}
		if len(found) > 0 && found[0].Revision == number && listed(&found[0]) {
			return r.revisionOf(&found[0]), nil
		}
	}
	return nil, missingRevision(r, r.SubID)
}

func missingRevision(r Resource, id string) error {
	return fmt.Errorf("revision %.80q of memory %.200q: %w", id, r.memory(r.ID), memory.ErrNotFound)
}

// rollbackMemory makes a revision that says what an earlier one said. A deleted memory comes
// back. Clients send the id of the revision as a text, as a number, or its whole name.
func (s *Service) rollbackMemory(ctx context.Context, call *Call) (any, error) {
	r := call.Resource
	var in struct {
		Target json.RawMessage `json:"targetRevisionId"`
	}
	if err := Decode(call.Body, &in); err != nil {
		return nil, err
	}
	target := strings.Trim(string(in.Target), `"`)
	target = target[strings.LastIndexByte(target, '/')+1:] // of a name
	if target == "" || target == "null" {
		return nil, invalid("targetRevisionId: want the id of a revision of the memory")
	}
	ctx, scope, err := s.findRevisions(ctx, r)
	if err != nil {
		return nil, err
	}
	number, err := strconv.ParseInt(target, 10, 64)
	if err != nil || number < 1 {
		return nil, missingRevision(r, target)
	}
	if _, err := s.ingest.Rollback(ctx, scope, r.ID, number, ingest.Patch{}); err != nil {
		return nil, err
	}
	return s.memoryDone(r, rolledBack, "RollbackMemory"), nil
}
