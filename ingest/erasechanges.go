package ingest

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/memoryd/memoryd/memory"
)

// The work of one session changes memories that were made of others. What operations
// report of these, and plans that are stored, have their words and ids too, and are erased
// with them.

// traces finds what is erased in stored JSON: a memory of it, or its id.
type traces struct {
	ids      map[string]bool     // of memories
	sessions map[string][]string // the events of a session that are erased; nil for all
}

// tracesOf is what an erasing takes of a scope. It is asked before: the store then still
// has the ids.
func (s *Service) tracesOf(ctx context.Context, scope memory.Scope, which memory.Erasure) (*traces, error) {
	t := &traces{ids: map[string]bool{}, sessions: which.Sessions}
	for _, id := range which.IDs {
		t.ids[id] = true
	}
	for session := range which.Sessions {
		filter := memory.Filter{SessionID: session, History: true}
		err := each(ctx, s.memories, scope, filter, func(m *memory.Memory) error {
			if which.Takes(m) {
				t.ids[m.ID] = true
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return t, s.traceValues(ctx, scope, which, t)
}

// traceValues adds the values of profiles that were of a session once: another one may
// have given them their last value.
func (s *Service) traceValues(ctx context.Context, scope memory.Scope, which memory.Erasure, t *traces) error {
	values := memory.Filter{Kinds: []memory.Kind{memory.KindProfile}, History: true, Hidden: true}
	return each(ctx, s.memories, scope, values, func(m *memory.Memory) error {
		if m.Revision == 1 || t.ids[m.ID] {
			return nil
		}
		return memory.EachRevision(ctx, s.memories, scope, m.ID, func(r *memory.Revision) bool {
			t.ids[m.ID] = which.Takes(&r.Memory)
			return !t.ids[m.ID]
		})
	})
}

// eraseChanges erases what operations of a scope report of what is erased, and stored
// plans with it. A batch of this process that has read it may still report it, so it
// waits for that.
func (s *Service) eraseChanges(ctx context.Context, scope memory.Scope, t *traces) error {
	for again := true; again; {
		again = s.holds(scope)
		// Changes have ids of memories that the store no longer has, as they were deleted.
		for range 2 {
			if _, err := s.sessions.EraseChanges(ctx, scope, t.in); err != nil {
				return err
			}
		}
		if again {
			if err := s.batchOver(ctx, scope); err != nil {
				return err
			}
		}
	}
	return nil
}

// in reports whether a stored document has a memory that is erased, or names one.
func (t *traces) in(doc json.RawMessage) bool {
	var v any
	return json.Unmarshal(doc, &v) == nil && t.within(v)
}

func (t *traces) within(v any) (found bool) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			found = t.within(one) || found
		}
	case map[string]any:
		if source, ok := v["source"].(map[string]any); ok && t.takes(source) {
			if id, ok := v["id"].(string); ok {
				t.ids[id] = true
			}
			found = true
		}
		for name, one := range v {
			if id, ok := one.(string); ok && (name == "id" || name == "supersededBy") && t.ids[id] {
				found = true
			}
			if name == "forgotten" {
				all, _ := one.([]any)
				found = found || slices.ContainsFunc(all, func(id any) bool {
					text, _ := id.(string)
					return t.ids[text]
				})
			}
			found = t.within(one) || found
		}
	}
	return found
}

// takes reports whether a memory of a source is erased.
func (t *traces) takes(source map[string]any) bool {
	session, _ := source["sessionId"].(string)
	events, ok := t.sessions[session]
	if !ok || session == "" {
		return false
	}
	of, _ := source["eventIds"].([]any)
	return events == nil || slices.ContainsFunc(of, func(id any) bool {
		text, _ := id.(string)
		return slices.Contains(events, text)
	})
}
