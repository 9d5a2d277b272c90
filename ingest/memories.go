package ingest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/memoryd/memoryd/consolidate"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// client is the actor of changes that somebody asked for in so many words.
const client = "client"

// Given is a fact that a client states itself.
type Given struct {
	Fact      string
	Topics    []string
	Metadata  memory.Metadata
	TTL       time.Duration // 0 is for ever
	ValidFrom time.Time
}

// Add stores a given fact as it is.
func (s *Service) Add(ctx context.Context, scope memory.Scope, g Given) (memory.Memory, error) {
	now := sessionstore.Micros(s.opts.Now())
	m := memory.Memory{ID: uuid.NewString(), Scope: scope, Kind: memory.KindFact, Fact: g.Fact, Topics: g.Topics, Metadata: g.Metadata,
		Timestamp: now, ValidFrom: g.ValidFrom, ExpireTime: expiry(now, g.TTL)}
	return s.write(ctx, memory.Write{Memory: m})
}

func expiry(now time.Time, ttl time.Duration) time.Time {
	if ttl == 0 {
		return time.Time{}
	}
	return now.Add(ttl)
}

// Patch is what a client changes of a memory; nil leaves a field as it is.
type Patch struct {
	Fact     *string
	Topics   *[]string
	Metadata *memory.Metadata
	TTL      *time.Duration // from now; 0 is for ever
}

// Update changes a memory. When another writer gets between reading and
// writing it reads again, so that a change to one field does not undo a change
// to another.
func (s *Service) Update(ctx context.Context, scope memory.Scope, id string, p Patch) (memory.Memory, error) {
	return s.rewrite(ctx, func() (w memory.Write, err error) {
		m, err := s.Get(ctx, scope, id)
		if err != nil {
			return w, err
		}
		if p.Fact != nil && *p.Fact != m.Fact {
			if err := s.deleteRepetitions(ctx, scope, id); err != nil {
				return w, err
			}
			m.Fact = *p.Fact
		}
		m.Edited = len(m.Source.EventIDs) > 0
		if p.Topics != nil {
			m.Topics = *p.Topics
		}
		if p.Metadata != nil {
			m.Metadata = *p.Metadata
		}
		if p.TTL != nil {
			m.ExpireTime = expiry(sessionstore.Micros(s.opts.Now()), *p.TTL)
		}
		return memory.Write{Memory: m, Expect: m.Revision}, nil
	})
}

// Rollback has a memory be again what it was at one of its revisions, as a new
// one; a memory that is deleted by now, or has expired, is back. ErrNotFound if
// it has no such revision, ErrInvalid if that was a deletion.
func (s *Service) Rollback(ctx context.Context, scope memory.Scope, id string, revision int64) (memory.Memory, error) {
	return s.rewrite(ctx, func() (w memory.Write, err error) {
		past, err := s.memories.Revisions(ctx, scope, id)
		if err != nil {
			return w, err
		}
		i := slices.IndexFunc(past, func(r memory.Revision) bool { return r.Revision == revision })
		switch {
		case i < 0:
			return w, fmt.Errorf("revision %d of %w", revision, named(scope, id, memory.ErrNotFound))
		case past[i].Action == memory.Deleted:
			return w, fmt.Errorf("%w: revision %d is the deletion of the memory: name one before it", memory.ErrInvalid, revision)
		}
		m := past[i].Memory
		m.Edited = len(m.Source.EventIDs) > 0
		if !m.Live(s.opts.Now()) {
			m.ExpireTime = time.Time{}
		}
		return memory.Write{Memory: m, Expect: past[0].Revision}, nil
	})
}

// rewrite has a client's write decided until no other writer gets in between.
func (s *Service) rewrite(ctx context.Context, decide func() (memory.Write, error)) (memory.Memory, error) {
	for try := 0; ; try++ {
		w, err := decide()
		if err != nil {
			return memory.Memory{}, err
		}
		out, err := s.write(ctx, w)
		if !errors.Is(err, memory.ErrAborted) || try == 20 {
			return out, err
		}
		select { // so that those who met do not meet again
		case <-time.After(rand.N(time.Duration(try+1) * time.Millisecond)):
		case <-ctx.Done():
			return memory.Memory{}, ctx.Err()
		}
	}
}

// writeTime is how long a client's write waits for an embedder.
const writeTime = 10 * time.Second

var errEmbedder = fmt.Errorf("%w: the embedder does not answer", memory.ErrUnavailable)

// write puts one memory of a client.
func (s *Service) write(ctx context.Context, w memory.Write) (memory.Memory, error) {
	if err := w.Memory.Validate(); err != nil { // before an embedder sees it
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

// Get reads one memory.
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

// Delete removes one memory; ErrNotFound if it is not there, or not any more.
func (s *Service) Delete(ctx context.Context, scope memory.Scope, id string) error {
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

// deleteRepetitions deletes what only says again what a memory says, lest it take
// the memory's place.
func (s *Service) deleteRepetitions(ctx context.Context, scope memory.Scope, id string) error {
	var gone []memory.Removal
	err := each(ctx, s.memories, scope, memory.Filter{SupersededBy: id, History: true}, func(m *memory.Memory) error {
		if consolidate.Repetition(m) && !consolidate.FromClient(m) {
			gone = append(gone, memory.Removal{ID: m.ID, Actor: client})
		}
		return nil
	})
	if err != nil || len(gone) == 0 {
		return err
	}
	_, err = s.memories.Delete(ctx, scope, gone)
	return err
}

func named(scope memory.Scope, id string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("memory %q of app %q, user %q: %w", id, scope.App, scope.User, err)
}
