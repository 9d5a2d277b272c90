package ingest

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/memoryd/memoryd/memory"
)

// derivedVersion is the version of the UUIDs that derive makes.
const derivedVersion = 5

// validateNewID refuses an ID for a new memory that memoryd may derive for another one
// later: that memory could not be stored then. "" is none.
func validateNewID(id string) error {
	if id == "" {
		return nil
	}
	if u, err := uuid.Parse(id); err == nil && u.Version() == derivedVersion {
		return fmt.Errorf("%w: id: memoryd makes UUIDs of version 5 for facts and turns: use another version,"+
			" or a prefix", memory.ErrInvalid)
	}
	return memory.ValidateID("id", id)
}

// addedBefore returns the memory that an earlier call of Add has made under the ID of n;
// false if the ID is free. The error is ErrExists if that call said something else, or
// the memory is no longer there.
func (s *Service) addedBefore(ctx context.Context, scope memory.Scope, n *NewMemory) (
	m memory.Memory, known bool, err error) {
	latest, first, err := s.revision(ctx, scope, n.ID, 1)
	if errors.Is(err, memory.ErrNotFound) {
		return m, false, nil
	}
	if err != nil {
		return m, false, err
	}
	taken := func(why string) error {
		return named(scope, n.ID, fmt.Errorf("%w: %s", memory.ErrExists, why))
	}
	switch {
	case latest.Action == memory.Deleted:
		return m, false, taken("it was deleted: roll it back, or choose another id")
	case !latest.Memory.Live(s.opts.Now()):
		return m, false, taken("it has expired: roll it back, or choose another id")
	case first == nil: // the revision is no longer kept
		first = latest
	}
	if first.Actor != client || !n.made(&first.Memory) {
		return m, false, taken("it says something else: PATCH changes it")
	}
	return latest.Memory, true, nil
}

// made reports whether a call of Add with n has made m, as it was first.
func (n *NewMemory) made(m *memory.Memory) bool {
	like := m.Clone()
	like.Fact, like.Author, like.DisplayName, like.Description = n.Fact, n.Author, n.DisplayName, n.Description
	like.Trust = n.Trust.Source()
	like.Topics, like.Metadata, like.ValidFrom = n.Topics, n.Metadata, memory.Micros(n.ValidFrom)
	if n.Zone != nil || n.UTCOffset != "" {
		like.UTCOffset = n.offset(m.Timestamp, n.Zone)
	}
	switch {
	case n.TTL != 0:
		like.ExpireTime, like.DefaultExpiry = m.Timestamp.Add(n.TTL), false
	case !n.ExpireTime.IsZero():
		like.ExpireTime, like.DefaultExpiry = memory.Micros(n.ExpireTime), false
	case !m.DefaultExpiry: // the app had no lifetime then
		like.ExpireTime = n.ExpireTime
	}
	return like.SameContent(m)
}
