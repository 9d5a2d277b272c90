package ingest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Rollback writes a new revision of a memory that is equal to an earlier one. A
// memory that is deleted or has expired comes back, and so do the turns that only its
// deletion hides, unless p changes the text. The change p is made in the same write, so
// that no reader and no failure between sees the earlier revision; the zero Patch is none.
// It fails with ErrNotFound if there is no such revision, and with ErrInvalid if that was
// a deletion.
func (s *Service) Rollback(ctx context.Context, scope memory.Scope, id string, revision int64, p Patch) (
	memory.Memory, error) {
	now := sessionstore.Micros(s.opts.Now())
	end, err := p.expiry(now)
	if err != nil {
		return memory.Memory{}, err
	}
	revisionEnd, err := p.Revision.end(now)
	if err != nil {
		return memory.Memory{}, err
	}
	if p, err = s.redact.patch(ctx, scope, p); err != nil {
		return memory.Memory{}, err
	}
	told := "" // the text of the revision
	leave, err := s.enter(ctx, scope)
	if err != nil {
		return memory.Memory{}, err
	}
	defer leave()
	m, err := s.rewrite(ctx, func() (w memory.Write, err error) {
		latest, past, err := s.revision(ctx, scope, id, revision)
		switch {
		case err != nil:
			return w, err
		case past == nil && revision >= 1 && revision < latest.Revision:
			return w, fmt.Errorf("revision %d has expired: %w", revision, named(scope, id, memory.ErrNotFound))
		case past == nil:
			return w, fmt.Errorf("revision %d of %w", revision, named(scope, id, memory.ErrNotFound))
		case past.Action == memory.Deleted:
			return w, fmt.Errorf("%w: revision %d is the deletion of the memory: name one before it",
				memory.ErrInvalid, revision)
		}
		m := past.Memory
		told = m.Fact
		comes, grows := 1, m.Bytes()+p.grows(m)
		if latest.Action != memory.Deleted && latest.Memory.Live(s.opts.Now()) {
			comes, grows = 0, grows-latest.Memory.Bytes()
		}
		if err := s.roomFor(ctx, scope, comes, grows); err != nil {
			return w, err
		}
		m.EditTime, m.Edited = latest.Memory.EditTime, extracted(&m)
		m.Evidence, m.ConfirmedTime = 0, time.Time{}
		if latest.Action != memory.Deleted && m.Fact == latest.Memory.Fact { // else its repetitions are deleted
			m.Evidence, m.ConfirmedTime = latest.Memory.Evidence, latest.Memory.ConfirmedTime
		}
		if latest.Action == memory.Deleted || !m.SameContent(&latest.Memory) {
			m.EditTime = sessionstore.Micros(s.opts.Now())
		}
		if !m.Live(s.opts.Now()) {
			m.ExpireTime, m.DefaultExpiry = time.Time{}, false
		}
		if err := s.change(ctx, &m, p, end); err != nil {
			return w, err
		}
		return memory.Write{Memory: m, Expect: latest.Revision, RevisionExpireTime: revisionEnd, Labels: p.Labels}, nil
	})
	if err != nil || m.Fact != told { // the turns say what the memory no longer does
		return m, err
	}
	return m, s.recallTurns(ctx, &m)
}

// revision reads the latest revision of a memory and the one of a number; nil if the
// memory has none of that number.
func (s *Service) revision(ctx context.Context, scope memory.Scope, id string, number int64) (
	latest, one *memory.Revision, err error) {
	some, err := s.memories.Revisions(ctx, scope, id, 0)
	if err != nil {
		return nil, nil, err
	}
	latest = &some[0]
	if number < 1 || number > latest.Revision {
		return latest, nil, nil
	}
	if some[len(some)-1].Revision > number { // of those before it, some may have expired
		if some, err = s.memories.Revisions(ctx, scope, id, number+1); err != nil {
			return nil, nil, err
		}
	}
	i := slices.IndexFunc(some, func(r memory.Revision) bool { return r.Revision == number })
	if i < 0 {
		return latest, nil, nil
	}
	return latest, &some[i], nil
}
