package qdrantstore

import (
	"sync"
	"time"

	"github.com/qdrant/go-client/qdrant"

	"github.com/memoryd/memoryd/memory"
)

// size is how much of a scope has room in an index.
type size int

const (
	fits  size = iota
	bare       // all but the vectors, which Qdrant compares; see near
	large      // nothing, and Qdrant's lists find the memories
)

// measuredFor is how long the size of a scope counts before it is measured again.
const measuredFor = time.Minute

// sizes are the scopes that are too large for a whole index, and when that was measured.
type sizes struct {
	mu     sync.Mutex
	scopes map[memory.Scope]measured
	least  size // of all scopes; fits, except in tests
}

type measured struct {
	size size
	at   time.Time
}

// of is the size of a scope, as far as it was measured lately.
func (s *sizes) of(scope memory.Scope) size {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.scopes[scope]
	if time.Since(m.at) > measuredFor {
		delete(s.scopes, scope)
		return s.least
	}
	return max(m.size, s.least)
}

// maxMeasured bounds the scopes of sizes.
const maxMeasured = 10_000

// set remembers the size of a scope.
func (s *sizes) set(scope memory.Scope, is size) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.scopes == nil || len(s.scopes) >= maxMeasured {
		s.scopes = map[memory.Scope]measured{}
	}
	s.scopes[scope] = measured{is, time.Now()}
}

// denseUnless asks for the dense vectors, or for none.
func denseUnless(bare bool) *qdrant.WithVectorsSelector {
	if bare {
		return nil
	}
	return qdrant.NewWithVectorsInclude(dense)
}
