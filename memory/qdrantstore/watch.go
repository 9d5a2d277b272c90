package qdrantstore

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// Watch looks every lookEvery whether the collection is the one it was. A point of it
// has a time, which a process that writes memories renews: a collection that was
// restored from an older snapshot has an older time, or none. So a loss is noticed of
// writes that came renewEvery before, and costs no call beside each write.
const (
	lookEvery  = 2 * time.Second
	renewEvery = 10 * time.Second
)

// watch is what Watch has found, and how far the collection had got. No call to Qdrant
// is made while mu is held.
type watch struct {
	mu        sync.Mutex
	companion Companion // nil if Accompany was not called
	beat      int64     // the last of the collection that is known; 0 before the first
	seen      []byte    // the last that is stored of the companion
	written   int64     // Store.written at the last renewal
	missed    *missed   // what a search has missed last; nil for nothing
	trouble   string    // what is damaged; "" for nothing
	told      string    // the trouble that is logged
}

const remedy = "Bring back the newest data of Qdrant, or go on with what is left (memoryd accept), or stop memoryd " +
	"and have missing memories made again from the sessions: memoryd rebuild -again, or without -again if the " +
	"collection is gone"

const older = "the collection is older than what it has acknowledged: memories written lately are gone"

// Watch looks at the collection until ctx is over, or until its memories have moved
// to another. It logs once what it finds, and Check tells it.
func (s *Store) Watch(ctx context.Context, log *slog.Logger) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var renewed time.Time
	for ctx.Err() == nil {
		moved := s.Look(ctx, log)
		if moved {
			return
		}
		if s.damaged() == nil && time.Since(renewed) > renewEvery {
			within, cancel := s.bounded(ctx)
			if s.renew(within) == nil { // if it fails, so do writes, and Check tells it
				renewed = time.Now()
			}
			cancel()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	if s.damaged() == nil {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.opts.Timeout/4)
		defer cancel()
		_ = s.renew(last) // without it the next start knows a little less
	}
}

// Look is one look of Watch. It reports whether the memories have moved away.
func (s *Store) Look(ctx context.Context, log *slog.Logger) (moved bool) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	m, err := s.manifestOf(ctx, s.collection)
	if err != nil {
		return false // Check tells it
	}
	if m != nil && m.Store == s.id && m.State != active {
		return true
	}
	trouble, err := s.compare(ctx, m)
	if err != nil {
		return false
	}
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	if trouble != "" && trouble != s.watch.told {
		log.Error("Qdrant has lost memories", "what", trouble, "collection", s.collection, "remedy", remedy)
	}
	if trouble != "" {
		s.cache.Clear() // none mixes what was and what is
	}
	s.watch.trouble, s.watch.told = trouble, trouble
	return false
}

// missed is a write that a search has seen and another one has missed. The replica that
// answered may only have been behind, so the next look asks again.
type missed struct {
	scope memory.Scope
	write writeMark
}

// noteMissed tells Watch of a write that is gone.
func (s *Store) noteMissed(scope memory.Scope, w writeMark) {
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	s.watch.missed = &missed{scope, w}
}

// stillMissed reports whether a write that a search has missed is gone.
func (s *Store) stillMissed(ctx context.Context, m *missed) (bool, error) {
	if m == nil {
		return false, nil
	}
	h, err := s.headOf(ctx, m.scope)
	return err == nil && h.lacks(m.write), err
}

// compare says what is wrong with the collection.
func (s *Store) compare(ctx context.Context, described *manifest) (trouble string, err error) {
	switch {
	case described == nil:
		return "the collection of the memories is gone", nil
	case described.Store != s.id:
		return "another collection is in the place of the one that had the memories", nil
	}
	s.watch.mu.Lock()
	want, c, red, m := s.watch.beat, s.watch.companion, s.watch.trouble == older, s.watch.missed
	s.watch.mu.Unlock()
	is, _, err := s.readWitness(ctx)
	if err != nil {
		return "", err
	}
	lost, err := s.stillMissed(ctx, m)
	if err != nil {
		return "", err
	}
	accepted := false
	if (is < want || lost) && red && c != nil {
		if _, accepted, err = c.Remembered(ctx, s.collection); err != nil {
			return "", err
		}
	}
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	if s.watch.beat > want {
		return "", nil // renewed meanwhile
	}
	if (is < want || lost) && !accepted {
		return older, nil
	}
	if s.watch.beat = is; s.watch.missed == m {
		s.watch.missed = nil
	}
	return "", nil
}

// damaged is what Watch has found; nil for nothing.
func (s *Store) damaged() error {
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	if s.watch.trouble == "" {
		return nil
	}
	return memory.Damaged("%s. %s", s.watch.trouble, remedy)
}
