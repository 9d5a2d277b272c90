package ingest

import (
	"context"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Record replaces the secrets in all that a memory says, and has said, that comes from
// elsewhere. Its ID stays, so that it is the same memory when it comes again.
func (r *Redactor) Record(ctx context.Context, of *memory.Record) error {
	if err := r.memory(ctx, &of.Memory); err != nil {
		return err
	}
	for i := range of.History {
		if err := r.memory(ctx, &of.History[i].Memory); err != nil {
			return err
		}
	}
	return nil
}

func (r *Redactor) memory(ctx context.Context, m *memory.Memory) error {
	n, err := r.added(ctx, m.Scope, NewMemory{Fact: m.Fact, DisplayName: m.DisplayName, Description: m.Description,
		Metadata: m.Metadata})
	if err == nil {
		m.Fact, m.DisplayName, m.Description, m.Metadata = n.Fact, n.DisplayName, n.Description, n.Metadata
	}
	return err
}

// Session replaces the secrets in the name, the labels and, if the app asks for that, the
// state of a session that comes from elsewhere. Its events are for Events.
func (r *Redactor) Session(ctx context.Context, s *sessionstore.SessionRecord) error {
	d, err := r.of(ctx, s.App)
	if err != nil || d == nil {
		return err
	}
	d.labels(&s.Details)
	if d.state {
		s.State = sessionstore.MapState(s.State, d.field)
	}
	r.count(d.found)
	return nil
}

// Shared is Session for the state that all sessions of a user, or of an app, share.
func (r *Redactor) Shared(ctx context.Context, s *sessionstore.SharedState) error {
	d, err := r.of(ctx, s.App)
	if err != nil || d == nil || !d.state {
		return err
	}
	s.State = sessionstore.MapState(s.State, d.field)
	r.count(d.found)
	return nil
}
