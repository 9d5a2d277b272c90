package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/memoryd/memoryd/appconfig"
	"github.com/memoryd/memoryd/consolidate"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/profile"
	"github.com/memoryd/memoryd/sessionstore"
)

// A structured profile is held as one memory for each field that has a value. The id of
// the memory follows from the schema and the field, so that a newer value is a revision of
// the same memory. The schemas are in the configuration of the app, and may change: a value
// that is no longer valid stays a memory, and is no part of the profile.

// profileID is the ID of the value of a field.
func profileID(scope memory.Scope, schema, field string) string {
	return derive("profile", scope.App, scope.User, schema, field)
}

// heldID is the ID of a value that is held back until a review. It is another memory than
// the value of the field, which it must not hide.
func heldID(scope memory.Scope, p *memory.Profile) string {
	return derive("held", scope.App, scope.User, p.SchemaID, p.Field, memory.CanonicalJSON(p.Value))
}

// Profiles are the values of a user's profiles, by schema and field.
type Profiles map[string]map[string]memory.Memory

// Profiles reads the profiles of a user: of each field of a schema of the app the value,
// if it has one that the schema allows. A profile without values is left out.
func (s *Service) Profiles(ctx context.Context, scope memory.Scope) (Profiles, error) {
	config, err := s.configs.Of(ctx, scope.App)
	if err != nil {
		return nil, err
	}
	found, err := s.values(ctx, scope, config)
	out := Profiles{}
	for i := range found {
		m := &found[i]
		f := config.Field(m.Profile.SchemaID, m.Profile.Field)
		if f == nil {
			continue
		}
		if _, err := f.Check("value", m.Profile.Value); err != nil {
			continue
		}
		if out[m.SchemaID] == nil {
			out[m.SchemaID] = map[string]memory.Memory{}
		}
		out[m.SchemaID][m.Profile.Field] = *m
	}
	return out, err
}

// values reads the stored values of the fields that a configuration has.
func (s *Service) values(ctx context.Context, scope memory.Scope, config *appconfig.Config) ([]memory.Memory, error) {
	var ids []string
	for i := range config.Profiles {
		p := &config.Profiles[i]
		if p.Parsed() == nil {
			continue
		}
		for _, f := range p.Parsed().Fields() {
			ids = append(ids, profileID(scope, p.ID, f.Name))
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return s.memories.Get(ctx, scope, ids)
}

// fieldOf returns the field of a profile that a client names.
func fieldOf(config *appconfig.Config, schema, name string) (*profile.Field, error) {
	p := config.Profile(schema)
	if p == nil || p.Parsed() == nil {
		return nil, fmt.Errorf("%w: schemaId: the app has no profile %.60q", memory.ErrInvalid, schema)
	}
	f := p.Parsed().Field(name)
	if f == nil {
		return nil, fmt.Errorf("%w: field: profile %q has no field %.60q: want one of %s", memory.ErrInvalid, schema,
			name, p.Parsed().Names())
	}
	return f, nil
}

// setValue gives a memory a value of a field that a client has written, and the words for
// it. The error is ErrInvalid, and names the field of the request, if it cannot have that.
func (s *Service) setValue(ctx context.Context, m *memory.Memory, schema, name string, raw json.RawMessage) error {
	config, err := s.configs.Of(ctx, m.App)
	if err != nil {
		return err
	}
	f, err := fieldOf(config, schema, name)
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return fmt.Errorf("%w: value is missing", memory.ErrInvalid)
	}
	if raw, err = f.Check("value", raw); err != nil {
		return err
	}
	if raw, err = s.redact.value(ctx, m.App, name, raw); err != nil {
		return err
	}
	if raw, err = f.Check("value", raw); err != nil {
		return err
	}
	m.Profile = &memory.Profile{SchemaID: schema, Field: name, Value: raw}
	m.Fact = f.Words(raw)
	return nil
}

// value replaces the secrets in the value of a field. A number that is one is refused, as
// no mark can stand for it.
func (r *Redactor) value(ctx context.Context, app, field string, raw json.RawMessage) (json.RawMessage, error) {
	d, err := r.of(ctx, app)
	if err != nil || d == nil {
		return raw, err
	}
	out := sessionstore.MapState(sessionstore.State{field: raw}, d.field)[field]
	r.count(d.found)
	return out, nil
}

// addValue stores a value that a client gives to a field of a profile which has none. A
// call that is repeated returns the memory of the first one. The error is ErrExists if the
// field has another value.
func (s *Service) addValue(ctx context.Context, scope memory.Scope, n NewMemory) (memory.Memory, error) {
	now := sessionstore.Micros(s.opts.Now())
	m, err := s.newMemory(ctx, scope, &n, now)
	if err != nil {
		return m, err
	}
	revisionEnd, err := n.Revision.end(now)
	if err != nil {
		return m, err
	}
	if err := s.setValue(ctx, &m, n.Profile.SchemaID, n.Profile.Field, n.Profile.Value); err != nil {
		return m, err
	}
	m.Kind, m.ID = memory.KindProfile, profileID(scope, m.SchemaID, m.Profile.Field)
	if m.Trust != memory.TrustUser {
		if quarantine(&m); m.State != "" {
			m.ID = heldID(scope, m.Profile)
		}
	}
	if err := m.Validate(); err != nil {
		return m, err
	}
	leave, err := s.enter(ctx, scope)
	if err != nil {
		return m, err
	}
	defer leave()
	return s.rewrite(ctx, func() (w memory.Write, err error) {
		latest, err := s.latest(ctx, scope, m.ID)
		if err != nil {
			return w, err
		}
		if latest != nil && latest.Action != memory.Deleted && latest.Memory.Live(now) {
			if known := &latest.Memory; !memory.SameJSON(known.Profile.Value, m.Profile.Value) {
				return w, named(scope, m.ID, fmt.Errorf("%w: field %q of profile %q has a value: PATCH changes it",
					memory.ErrExists, m.Profile.Field, m.SchemaID))
			}
			return memory.Write{Memory: latest.Memory, Expect: latest.Revision}, nil
		}
		if err := s.roomFor(ctx, scope, 1, m.Bytes()); err != nil {
			return w, err
		}
		w.Memory, w.RevisionExpireTime, w.Labels = m, revisionEnd, n.Labels
		if latest != nil {
			w.Expect = latest.Revision
		}
		return w, nil
	})
}

// isHeld reports whether a value is held back beside the value of its field.
func isHeld(m *memory.Memory) bool {
	return m.ID != profileID(m.Scope, m.Profile.SchemaID, m.Profile.Field)
}

// approvedValue is the write that gives a field a value which was held back, unless the
// field has one that was stated later: that one stays.
func (s *Service) approvedValue(ctx context.Context, held *memory.Memory) (w memory.Write, err error) {
	m := held.Clone()
	m.ID = profileID(m.Scope, m.SchemaID, m.Profile.Field)
	latest, err := s.latest(ctx, m.Scope, m.ID)
	if err != nil || latest == nil {
		return memory.Write{Memory: m}, err
	}
	w.Memory, w.Expect = latest.Memory, latest.Revision
	switch {
	case latest.Action == memory.Deleted || !latest.Memory.Live(s.opts.Now()):
		w.Memory = m
	case m.SaidAt().After(lastSaid(&latest.Memory)):
		w.Memory = withLabels(m, &latest.Memory)
	}
	return w, nil
}

// latest returns the latest revision of a memory; nil if there never was one.
func (s *Service) latest(ctx context.Context, scope memory.Scope, id string) (*memory.Revision, error) {
	some, err := s.memories.Revisions(ctx, scope, id, 0)
	if errors.Is(err, memory.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &some[0], nil
}

// patchValue changes the value of a field as a client asks.
func (s *Service) patchValue(ctx context.Context, m *memory.Memory, raw json.RawMessage) error {
	if m.Kind != memory.KindProfile {
		return fmt.Errorf("%w: value: a memory of kind %q has one, and this is a %s", memory.ErrInvalid,
			memory.KindProfile, m.Kind)
	}
	was := m.Profile
	if err := s.setValue(ctx, m, was.SchemaID, was.Field, raw); err != nil {
		return err
	}
	if memory.SameJSON(was.Value, m.Profile.Value) {
		m.Profile = was
		return nil
	}
	m.EditTime = sessionstore.Micros(s.opts.Now())
	m.Edited = extracted(m)
	m.Evidence, m.ConfirmedTime = 0, time.Time{}
	return nil
}

// lastSaid is the last time at which a value was stated. An earlier statement does not
// replace it.
func lastSaid(m *memory.Memory) time.Time {
	last := m.SaidAt()
	for _, t := range []time.Time{m.ConfirmedTime, m.DecidedAt()} {
		if t.After(last) {
			last = t
		}
	}
	return last
}

// decideValue says what the value of a field becomes by one that was found: now is the
// stored one, or nil. It reports false if that stands. A value replaces one that was said
// before it, unless its source is trusted less. The same value again confirms the stored one.
func decideValue(now, found *memory.Memory) (out memory.Memory, told, ok bool) {
	if now == nil {
		return *found, false, true
	}
	last := lastSaid(now)
	switch {
	case found.Trust.Below(now.Trust), found.SaidAt().Before(last):
		return out, false, false
	case !found.SaidAt().After(last):
		if consolidate.FromClient(now) || consolidate.Chronological(found, now) < 0 {
			return out, false, false
		}
	}
	same := memory.SameJSON(now.Profile.Value, found.Profile.Value)
	if same && consolidate.Chronological(found, now) == 0 { // it is this statement
		return out, false, false
	}
	if same && consolidate.FromClient(now) {
		out = now.Clone()
	} else {
		out = withLabels(*found, now)
	}
	if out.Evidence = 0; same {
		out.Evidence, out.ConfirmedTime = max(1, now.Evidence)+1, found.SaidAt()
	}
	out.Revision, out.CreateTime, out.UpdateTime = now.Revision, now.CreateTime, now.UpdateTime
	return out, true, true
}
