package memory

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// MaxLife is how many bytes a Write.Life has at most.
const MaxLife = 256

// RevokedFor is how long a store keeps what it was told to revoke, at least. No worker
// writes that late.
const RevokedFor = 24 * time.Hour

// Erased counts what an erasing has removed, or would remove.
type Erased struct {
	Memories  int // deleted ones of which a store had something left count too
	Revisions int // of these memories
}

// Add adds what another erasing has removed.
func (e *Erased) Add(more Erased) {
	e.Memories += more.Memories
	e.Revisions += more.Revisions
}

// Erasure says which memories of a scope an erasing takes, whether they are live, expired
// or deleted: by their ids, those of sessions, or both, each once; or all.
type Erasure struct {
	IDs []string
	// Revisions, with IDs alone, takes each only if it is at this revision when the erasing finds
	// it: what has changed since it was chosen stays. Nil is any revision.
	Revisions []int64
	// Sessions takes the facts and turns that came from sessions: at any of their
	// revisions, as the words of that one are in the memory or in its history. The events
	// of a session take only what came from one of them, and none take all of it.
	Sessions map[string][]string
	All      bool
	// DryRun counts what the erasing would remove, and changes nothing.
	DryRun bool
}

// Validate returns ErrInvalid unless e takes either all, or something that it names.
func (e Erasure) Validate() error {
	_, unnamed := e.Sessions[""]
	switch some := len(e.IDs) > 0 || len(e.Sessions) > 0; {
	case some == e.All || unnamed:
		return fmt.Errorf("%w: an erasing is of ids and sessions, or of all", ErrInvalid)
	case e.Revisions != nil && (len(e.Revisions) != len(e.IDs) || len(e.Sessions) > 0):
		return fmt.Errorf("%w: %d revisions to erase %d memories at, and %d sessions", ErrInvalid,
			len(e.Revisions), len(e.IDs), len(e.Sessions))
	}
	return nil
}

// Named returns the memories that IDs names, and the revision that each is erased at: 0
// for any.
func (e Erasure) Named() map[string]int64 {
	out := make(map[string]int64, len(e.IDs))
	for i, id := range e.IDs {
		out[id] = 0
		if e.Revisions != nil {
			out[id] = e.Revisions[i]
		}
	}
	return out
}

// Takes reports whether an erasing of sessions or of all takes a memory that has been so
// at one of its revisions.
func (e Erasure) Takes(m *Memory) bool {
	if e.All {
		return true
	}
	events, ok := e.Sessions[m.Source.SessionID]
	return ok && (len(events) == 0 ||
		slices.ContainsFunc(m.Source.EventIDs, func(id string) bool { return slices.Contains(events, id) }))
}

// Unlink removes the ids of erased memories from m, and reports whether it had any. What
// one of them has superseded stays history: nothing comes back by an erasing.
func (m *Memory) Unlink(erased map[string]bool) (changed bool) {
	if erased[m.SupersededBy] {
		m.SupersededBy, changed = "", true
	}
	if slices.ContainsFunc(m.Forgotten, func(id string) bool { return erased[id] }) {
		m.Forgotten = slices.DeleteFunc(slices.Clone(m.Forgotten), func(id string) bool { return erased[id] })
		changed = true
	}
	return changed
}

// ValidateLives returns ErrInvalid for the first of some lives that no Write can have.
func ValidateLives(lives []string) error {
	for _, life := range lives {
		if life == "" || len(life) > MaxLife {
			return fmt.Errorf("%w: a life has 1 to %d bytes, not %d", ErrInvalid, MaxLife, len(life))
		}
	}
	return nil
}

type moreToErase struct{}

// WithMoreToErase returns the context of an erasing that others follow, until one without
// it. A store may leave to that one what takes as long for one as for many.
func WithMoreToErase(ctx context.Context) context.Context {
	return context.WithValue(ctx, moreToErase{}, true)
}

// MoreToErase reports whether ctx is of WithMoreToErase.
func MoreToErase(ctx context.Context) bool { return ctx.Value(moreToErase{}) == true }

// ErrRevoked is the error of a Write that comes from what was erased.
var ErrRevoked = fmt.Errorf("%w: what it was made of was erased meanwhile", ErrAborted)
