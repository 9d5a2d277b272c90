package ingest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"github.com/memoryd/memoryd/consolidate"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// client is the actor of changes that a client made itself.
const client = "client"

// NewMemory is a memory that a client adds.
type NewMemory struct {
	// ID is one of the client's, so that a call can be repeated; see Add. "" is a new UUID.
	ID string
	// UniqueInApp has Add refuse an ID that an earlier call has used for any user of the app, whatever
	// both say; see memory.Write.
	UniqueInApp bool
	Fact        string
	// Author is who said it; "" names no author. Of a value of a profile it is "".
	Author string
	// Profile is the value of a field of a profile, in place of Fact and ID; nil for a fact.
	Profile     *memory.Profile
	DisplayName string
	Description string
	Topics      []string
	Metadata    memory.Metadata
	TTL         time.Duration // 0 is that of the app's configuration, or no end
	ExpireTime  time.Time     // in place of TTL; the zero time is none
	Revision    Lifetime      // of the revision; open is that of the app's configuration
	Labels      memory.Labels // of the revision
	ValidFrom   time.Time
	// UTCOffset is the offset that ValidFrom came with. It is the memory's if no time
	// zone is named.
	UTCOffset memory.UTCOffset
	// Trust is the source of the fact; "" is memory.TrustUser, whom the client speaks for.
	// A fact of another source that tries to instruct the agent is quarantined.
	Trust memory.Trust
	Zone  *time.Location // of who states the fact; nil is that of the app, or Options.Zone
}

// offset returns the offset of the memory at now, in a zone if one is known.
func (n *NewMemory) offset(now time.Time, zone *time.Location) memory.UTCOffset {
	switch {
	case n.Zone == nil && n.UTCOffset != "":
		return n.UTCOffset
	case zone == nil:
		return ""
	default:
		return memory.OffsetAt(now.In(zone))
	}
}

// Add stores a memory of a client as it is. It is compared with nothing. A call with an
// ID that an earlier call has used returns the memory of that call, as it is now, if both
// say the same. If they do not, or the memory was deleted or has expired, the error is
// ErrExists.
func (s *Service) Add(ctx context.Context, scope memory.Scope, n NewMemory) (memory.Memory, error) {
	if err := validateNewID(n.ID); err != nil {
		return memory.Memory{}, err
	}
	n, err := s.redact.added(ctx, scope, n)
	if err != nil {
		return memory.Memory{}, err
	}
	if n.Profile != nil {
		return s.addValue(ctx, scope, n)
	}
	if scope.OfApp() && n.ID == "documents" {
		return memory.Memory{}, fmt.Errorf("%w: id: the path of memory \"documents\" is that of the list of documents",
			memory.ErrInvalid)
	}
	if n.ID != "" && !n.UniqueInApp {
		m, known, err := s.addedBefore(ctx, scope, &n)
		if known || err != nil {
			return m, err
		}
	}
	m, err := s.newMemory(ctx, scope, &n, sessionstore.Micros(s.opts.Now()))
	if err != nil {
		return memory.Memory{}, err
	}
	revisionEnd, err := n.Revision.end(sessionstore.Micros(s.opts.Now()))
	if err != nil {
		return memory.Memory{}, err
	}
	m.ID, m.Kind, m.Fact, m.Author = cmp.Or(n.ID, uuid.NewString()), memory.KindFact, n.Fact, n.Author
	if m.Trust != memory.TrustUser {
		quarantine(&m)
	}
	if err := m.Validate(); err != nil {
		return m, err
	}
	leave, err := s.enter(ctx, scope)
	if err != nil {
		return m, err
	}
	defer leave()
	if err := s.roomFor(ctx, scope, 1, m.Bytes()); err != nil {
		return m, err
	}
	out, err := s.write(ctx, memory.Write{Memory: m, RevisionExpireTime: revisionEnd, Labels: n.Labels,
		UniqueInApp: n.UniqueInApp})
	if n.ID != "" && !n.UniqueInApp && errors.Is(err, memory.ErrAborted) { // another call was faster
		if m, known, err := s.addedBefore(ctx, scope, &n); known || err != nil {
			return m, err
		}
	}
	return out, err
}

// newMemory makes a memory of what a client says beside the text: all but its ID, its kind
// and its text.
func (s *Service) newMemory(ctx context.Context, scope memory.Scope, n *NewMemory, now time.Time) (
	m memory.Memory, err error) {
	end, err := expiry(now, n.TTL, n.ExpireTime)
	if err != nil {
		return m, err
	}
	m = memory.Memory{
		Scope: scope, Topics: n.Topics, DisplayName: n.DisplayName, Description: n.Description, Metadata: n.Metadata,
		Timestamp: now, UTCOffset: n.offset(now, s.zone(ctx, scope.App, n.Zone)), ValidFrom: n.ValidFrom,
		ExpireTime: end, Trust: n.Trust.Source(),
	}
	if end.IsZero() && !scope.OfApp() { // the lifetimes of the configuration are those of what users said
		config, err := s.configs.Of(ctx, scope.App)
		if err != nil {
			return m, err
		}
		if ttl := config.TTL.OfAdded(); ttl > 0 {
			m.ExpireTime, m.DefaultExpiry = now.Add(ttl), true
		}
	}
	return m, nil
}

var errTwoExpiries = fmt.Errorf("%w: ttl and expireTime: want one of them", memory.ErrInvalid)

// expiry is when a memory expires that lives for ttl from now, or until a time that is
// given in its place; zero if it never expires.
func expiry(now time.Time, ttl time.Duration, at time.Time) (time.Time, error) {
	switch {
	case ttl != 0 && !at.IsZero():
		return at, errTwoExpiries
	case ttl != 0:
		return now.Add(ttl), nil
	case !at.IsZero() && !at.After(now):
		return at, fmt.Errorf("%w: expireTime: %s has passed", memory.ErrInvalid, sessionstore.FormatTime(at))
	}
	return at, nil
}

// Patch is a client's change of a memory. Nil leaves a field as it is.
type Patch struct {
	Fact        *string
	Value       *json.RawMessage // of a field of a profile, whose text follows from it
	DisplayName *string
	Description *string
	Topics      *[]string
	Metadata    *memory.Metadata
	// MetadataNames has Metadata be about these names alone: those that it lacks go, and all others stay.
	MetadataNames []string
	TTL           *time.Duration // from now; 0 is no end
	ExpireTime    *time.Time     // in place of TTL; the zero time is no end
	Revision      Lifetime       // of the new revision; open is that of the app's configuration
	Labels        memory.Labels  // of the new revision
	// ValidFrom and ValidTo are the own time of a fact; the zero time is none.
	ValidFrom, ValidTo *time.Time
	// UTCOffset is the offset that they came with. It is the memory's if that has none.
	UTCOffset memory.UTCOffset
}

// Empty reports whether the patch changes nothing.
func (p Patch) Empty() bool {
	return p.Fact == nil && p.Value == nil && p.DisplayName == nil && p.Description == nil && p.Topics == nil &&
		p.Metadata == nil && p.TTL == nil && p.ExpireTime == nil && p.ValidFrom == nil && p.ValidTo == nil
}

// grows is by how many bytes a memory gets larger.
func (p Patch) grows(m memory.Memory) int64 {
	before := m.Bytes()
	if p.Fact != nil {
		m.Fact = *p.Fact
	}
	if p.Value != nil && m.Profile != nil {
		m.Profile = &memory.Profile{SchemaID: m.SchemaID, Field: m.Profile.Field, Value: *p.Value}
	}
	p.label(&m)
	return m.Bytes() - before
}

// label sets the fields of a memory that say nothing about its text, and reports whether
// there are any.
func (p Patch) label(m *memory.Memory) (any bool) {
	if p.DisplayName != nil {
		m.DisplayName, any = *p.DisplayName, true
	}
	if p.Description != nil {
		m.Description, any = *p.Description, true
	}
	if p.Topics != nil {
		m.Topics, any = *p.Topics, true
	}
	if p.Metadata != nil {
		m.Metadata, any = p.metadata(m.Metadata), true
	}
	return any
}

// metadata is the metadata of a memory after the patch, which changes it.
func (p Patch) metadata(before memory.Metadata) memory.Metadata {
	if len(p.MetadataNames) == 0 {
		return *p.Metadata
	}
	out := memory.Metadata{}
	maps.Copy(out, before)
	for _, name := range p.MetadataNames {
		if value, ok := (*p.Metadata)[name]; ok {
			out[name] = value
		} else {
			delete(out, name)
		}
	}
	return out
}

// expiry is when the patch has a memory expire; zero if it never does.
func (p Patch) expiry(now time.Time) (time.Time, error) {
	switch {
	case p.TTL != nil && p.ExpireTime != nil:
		return time.Time{}, errTwoExpiries
	case p.TTL != nil:
		return expiry(now, *p.TTL, time.Time{})
	case p.ExpireTime != nil:
		return expiry(now, 0, *p.ExpireTime)
	}
	return time.Time{}, nil
}

// Update changes a memory. If another writer changes it between reading and
// writing, Update reads it again, so that a change of one field does not undo a
// change of another.
func (s *Service) Update(ctx context.Context, scope memory.Scope, id string, p Patch) (memory.Memory, error) {
	end, err := p.expiry(sessionstore.Micros(s.opts.Now()))
	if err != nil {
		return memory.Memory{}, err
	}
	revisionEnd, err := p.Revision.end(sessionstore.Micros(s.opts.Now()))
	if err != nil {
		return memory.Memory{}, err
	}
	if p, err = s.redact.patch(ctx, scope, p); err != nil {
		return memory.Memory{}, err
	}
	leave, err := s.enter(ctx, scope)
	if err != nil {
		return memory.Memory{}, err
	}
	defer leave()
	return s.rewrite(ctx, func() (w memory.Write, err error) {
		m, err := s.Get(ctx, scope, id)
		if err != nil {
			return w, err
		}
		if err := s.roomFor(ctx, scope, 0, p.grows(m)); err != nil {
			return w, err
		}
		if err := s.change(ctx, &m, p, end); err != nil {
			return w, err
		}
		return memory.Write{Memory: m, Expect: m.Revision, RevisionExpireTime: revisionEnd, Labels: p.Labels}, nil
	})
}

// change makes a client's change of a memory, which is not yet written. It expires at end
// if the change says so.
func (s *Service) change(ctx context.Context, m *memory.Memory, p Patch, end time.Time) error {
	if p.Fact != nil && m.Kind == memory.KindProfile {
		return fmt.Errorf("%w: fact: it says the value of a profile in words: change value", memory.ErrInvalid)
	}
	if p.Value != nil {
		if err := s.patchValue(ctx, m, *p.Value); err != nil {
			return err
		}
	}
	if p.Fact != nil && *p.Fact != m.Fact {
		if err := s.deleteRepetitions(ctx, m.Scope, m.ID); err != nil {
			return err
		}
		m.Fact, m.EditTime = *p.Fact, sessionstore.Micros(s.opts.Now())
		m.Edited = extracted(m)
		m.Evidence, m.ConfirmedTime = 0, time.Time{} // of the text before
	}
	if p.ValidFrom != nil || p.ValidTo != nil {
		if err := s.redate(ctx, m, p); err != nil {
			return err
		}
	}
	expires := p.TTL != nil || p.ExpireTime != nil
	if p.label(m) || expires || p.ValidFrom != nil || p.ValidTo != nil {
		m.Labelled = extracted(m)
	}
	if expires {
		m.ExpireTime, m.DefaultExpiry = end, false
	}
	return nil
}

// extracted reports whether a memory was made of events.
func extracted(m *memory.Memory) bool { return len(m.Source.EventIDs) > 0 }

// maxRewrites is how often a client's write is decided on again because another
// writer came between. Sixteen writers of one memory at a time all succeed.
const maxRewrites = 20

// rewrite decides on a client's write, and does so again if another writer
// changes the memory in between.
func (s *Service) rewrite(ctx context.Context, decide func() (memory.Write, error)) (memory.Memory, error) {
	for try := 0; ; try++ {
		w, err := decide()
		if err != nil {
			return memory.Memory{}, err
		}
		out, err := s.write(ctx, w)
		if !errors.Is(err, memory.ErrAborted) || try == maxRewrites {
			return out, err
		}
		select { // a random wait, so that two writers do not meet again
		case <-time.After(rand.N(time.Duration(try+1) * time.Millisecond)):
		case <-ctx.Done():
			return memory.Memory{}, ctx.Err()
		}
	}
}

// writeTime is how long a client's write waits for the embedder.
const writeTime = 10 * time.Second

var errEmbedder = fmt.Errorf("%w: the embedder does not answer", memory.ErrUnavailable)

// write stores one memory of a client.
func (s *Service) write(ctx context.Context, w memory.Write) (memory.Memory, error) {
	if err := w.Memory.Validate(); err != nil { // before the embedder sees it
		return memory.Memory{}, err
	}
	w.Actor = client
	writes := []memory.Write{w}
	within, cancel := context.WithTimeoutCause(ctx, writeTime, errEmbedder)
	defer cancel()
	if err := s.index(within, writes, true); err != nil {
		if ctx.Err() == nil && within.Err() != nil {
			err = errEmbedder
		}
		return memory.Memory{}, err
	}
	out, err := s.memories.Put(ctx, w.Memory.Scope, writes)
	if err != nil {
		return memory.Memory{}, err
	}
	return out[0].Memory, named(w.Memory.Scope, w.Memory.ID, out[0].Err)
}

// Get reads one memory. It fails with ErrNotFound if the memory is missing, was
// deleted or has expired.
func (s *Service) Get(ctx context.Context, scope memory.Scope, id string) (memory.Memory, error) {
	found, err := s.memories.Get(ctx, scope, []string{id})
	if err == nil && len(found) == 0 {
		err = named(scope, id, memory.ErrNotFound)
	}
	if err != nil {
		return memory.Memory{}, err
	}
	return found[0], nil
}

// Delete deletes one memory. If it is a fact, no search finds the turns any longer
// that it and its repetitions cite. Delete fails with ErrNotFound if the memory is
// missing, was deleted or has expired.
func (s *Service) Delete(ctx context.Context, scope memory.Scope, id string) error {
	m, err := s.Get(ctx, scope, id)
	// A damaged memory can be deleted, although its turns are not known.
	if err != nil && !errors.Is(err, memory.ErrNotFound) && !errors.As(err, new(*memory.Damage)) {
		return err
	}
	repetitions, err := s.repetitions(ctx, scope, id)
	if err != nil {
		return err
	}
	if err := s.forgetTurns(ctx, append(repetitions, m)...); err != nil {
		return err
	}
	if err := s.deleteRepetitions(ctx, scope, id); err != nil {
		return err
	}
	out, err := s.memories.Delete(ctx, scope, []memory.Removal{{ID: id, Actor: client}})
	if err != nil {
		return err
	}
	if out[0].Err == nil && !out[0].Changed {
		out[0].Err = memory.ErrNotFound
	}
	return named(scope, id, out[0].Err)
}

// deleteRepetitions deletes the repetitions of a memory, which would otherwise
// take its place when it is deleted or changed.
func (s *Service) deleteRepetitions(ctx context.Context, scope memory.Scope, id string) error {
	all, err := s.repetitions(ctx, scope, id)
	if err != nil || len(all) == 0 {
		return err
	}
	var gone []memory.Removal
	for i := range all {
		gone = append(gone, memory.Removal{ID: all[i].ID, Actor: client})
	}
	_, err = s.memories.Delete(ctx, scope, gone)
	return err
}

// repetitions returns the repetitions of a memory that no client has chosen.
func (s *Service) repetitions(ctx context.Context, scope memory.Scope, id string) (out []memory.Memory, err error) {
	err = each(ctx, s.memories, scope, memory.Filter{SupersededBy: id, History: true}, func(m *memory.Memory) error {
		if consolidate.Repetition(m) && !consolidate.Chosen(m) {
			out = append(out, *m)
		}
		return nil
	})
	return out, err
}

// named adds to an error which memory it is about.
func named(scope memory.Scope, id string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("memory %q of %s: %w", id, scope.Owner(), err)
}
