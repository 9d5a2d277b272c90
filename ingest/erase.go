package ingest

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Erasing is not deleting: nothing of it is kept. Sessions are erased first, so that
// there is nothing left to make memories of. The lives of the sessions are revoked next,
// so that the memory store refuses a worker, of this process or another, that still
// writes of the events that it has read. Memories are erased last, so that those which a
// worker has written before go too. A call that fails or is cut off has erased a
// part, and is repeated.
//
// A dry run counts what the same call would erase then, and changes nothing. It asks the
// stores alone, by the same conditions, and waits for no worker.

// Erased counts what an erasing has removed, or would remove.
type Erased struct {
	Users     int `json:"users,omitzero"` // of an app
	Sessions  int `json:"sessions"`
	Events    int `json:"events"`
	Memories  int `json:"memories"` // facts and turns, deleted ones too
	Revisions int `json:"revisions"`
}

func (e *Erased) add(s sessionstore.Erased, m memory.Erased) {
	e.Sessions += s.Sessions
	e.Events += s.Events
	e.Memories += m.Memories
	e.Revisions += m.Revisions
}

// EraseUser erases all that there is of a user: sessions, state, operations and memories.
func (s *Service) EraseUser(ctx context.Context, scope memory.Scope, dryRun bool) (out Erased, err error) {
	gone, err := s.sessions.EraseUser(ctx, scope, dryRun)
	if err != nil {
		return out, err
	}
	return out, s.eraseMemories(ctx, scope, gone, memory.Erasure{All: true, DryRun: dryRun}, &out)
}

// EraseSession erases a session, and the memories that were made of it.
func (s *Service) EraseSession(ctx context.Context, key sessionstore.Key, dryRun bool) (out Erased, err error) {
	which := memory.Erasure{Sessions: map[string][]string{key.ID: nil}, DryRun: dryRun}
	var t *traces
	if !dryRun {
		if t, err = s.tracesOf(ctx, key.Scope, which); err != nil {
			return out, err
		}
	}
	gone, err := s.sessions.EraseSession(ctx, key, dryRun)
	if err != nil {
		return out, err
	}
	if err := s.eraseMemories(ctx, key.Scope, gone, which, &out); err != nil || dryRun {
		return out, err
	}
	return out, s.eraseChanges(ctx, key.Scope, t)
}

// EraseMemory erases a memory, the turns that it rests on or that it is, and all other
// memories that rest on these turns: their words are those of the turns too. Of the
// events it leaves what sessionstore.Blank says. A memory that was deleted can be
// erased. The error is ErrNotFound if it never was.
func (s *Service) EraseMemory(ctx context.Context, scope memory.Scope, id string, dryRun bool) (
	out Erased, err error) {
	rests := map[string][]string{} // events by session
	err = memory.EachRevision(ctx, s.memories, scope, id, func(r *memory.Revision) bool {
		from := &r.Memory.Source
		for _, event := range from.EventIDs {
			if !slices.Contains(rests[from.SessionID], event) {
				rests[from.SessionID] = append(rests[from.SessionID], event)
			}
		}
		return true
	})
	if err != nil {
		return out, err
	}
	which := memory.Erasure{IDs: []string{id}, Sessions: rests, DryRun: dryRun}
	var t *traces
	if !dryRun {
		if t, err = s.tracesOf(ctx, scope, which); err != nil {
			return out, err
		}
	}
	for session, events := range rests {
		n, err := s.sessions.EraseEvents(ctx, sessionstore.Key{Scope: scope, ID: session}, events, dryRun)
		if err != nil {
			return out, err
		}
		out.Events += n
	}
	if err := s.eraseRested(ctx, scope, which, &out); err != nil || dryRun {
		return out, err
	}
	return out, s.eraseChanges(ctx, scope, t)
}

// eraseRested erases a memory, and all memories that rest on its events. A batch that has
// read the events may still write of them, so it erases once more after that.
func (s *Service) eraseRested(ctx context.Context, scope memory.Scope, which memory.Erasure, out *Erased) error {
	for again := true; again; {
		again = s.holds(scope) && !which.DryRun
		erased, err := s.memories.Erase(ctx, scope, which)
		out.add(sessionstore.Erased{}, erased)
		if err == nil && again {
			err = s.batchOver(ctx, scope)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// batchOver waits until this process has no batch of a scope.
func (s *Service) batchOver(ctx context.Context, scope memory.Scope) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for s.holds(scope) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// eraseMemories revokes the lives of sessions that are erased, and erases memories.
func (s *Service) eraseMemories(ctx context.Context, scope memory.Scope, gone sessionstore.Erased,
	which memory.Erasure, out *Erased) error {
	if !which.DryRun {
		if err := s.memories.Revoke(ctx, scope, gone.Lives); err != nil {
			return err
		}
	}
	erased, err := s.memories.Erase(ctx, scope, which)
	out.add(gone, erased)
	return err
}

// namesTogether is how many names of users or apps are read in one call of a store.
const namesTogether = 1000

// EraseApp erases all users of an app, and its state. All that was there when the call began is gone
// once it returns. Users that come meanwhile stay: with clients that go on writing, erasing until none
// is left would have no end. The configuration goes last, after beside, which erases what the caller
// keeps of the app: as long as any of it is left, the app is still there as it was declared, so that a
// client can repeat a call that has failed. A nil beside erases nothing. CountApp is its dry run.
func (s *Service) EraseApp(ctx context.Context, app string, beside func(context.Context) error) (
	out Erased, err error) {
	var users []string
	err = s.eachUser(ctx, app, func(user string) error {
		users = append(users, user)
		return nil
	})
	if err != nil {
		return out, err
	}
	more := memory.WithMoreToErase(ctx) // what is of the app itself comes last, in both stores
	for _, user := range users {
		if err := s.eraseOfUser(more, memory.Scope{App: app, User: user}, false, &out); err != nil {
			return out, err
		}
	}
	if err := s.eraseOfApp(ctx, app, false, &out); err != nil {
		return out, err
	}
	if beside != nil {
		if err := beside(ctx); err != nil {
			return out, err
		}
	}
	defer s.configs.Forget(app)
	return out, s.sessions.EraseApp(ctx, app)
}

// CountApp is the dry run of EraseApp.
func (s *Service) CountApp(ctx context.Context, app string) (out Erased, err error) {
	err = s.eachUser(ctx, app, func(user string) error {
		return s.eraseOfUser(ctx, memory.Scope{App: app, User: user}, true, &out)
	})
	if err != nil {
		return out, err
	}
	return out, s.eraseOfApp(ctx, app, true, &out)
}

// eraseOfUser erases a user of an app that is erased.
func (s *Service) eraseOfUser(ctx context.Context, scope memory.Scope, dryRun bool, out *Erased) error {
	one, err := s.EraseUser(ctx, scope, dryRun)
	if err != nil {
		return err
	}
	out.Users++
	out.Sessions += one.Sessions
	out.Events += one.Events
	out.Memories += one.Memories
	out.Revisions += one.Revisions
	return nil
}

// eachUser yields the names of all users of an app. Pages are read faster than clients can add users.
func (s *Service) eachUser(ctx context.Context, app string, yield func(string) error) error {
	for after := ""; ; {
		page, err := s.Users(ctx, app, after, namesTogether)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, user := range page {
			if err := yield(user); err != nil {
				return err
			}
			after = user
		}
	}
}

// eraseOfApp erases the shared knowledge of an app, and what lists its documents.
func (s *Service) eraseOfApp(ctx context.Context, app string, dryRun bool, out *Erased) error {
	if !dryRun {
		leave, err := s.turn(ctx, memory.Documents(app)) // after a document that is being stored
		if err != nil {
			return err
		}
		defer leave()
	}
	for _, scope := range []memory.Scope{memory.Shared(app), memory.Documents(app)} {
		erased, err := s.memories.Erase(ctx, scope, memory.Erasure{All: true, DryRun: dryRun})
		if out.add(sessionstore.Erased{}, erased); err != nil {
			return err
		}
	}
	return nil
}

// Users reads the users of an app that have sessions, state or memories, by id: up to
// limit of those after an id.
func (s *Service) Users(ctx context.Context, app, after string, limit int) ([]string, error) {
	sessions, err := s.sessions.Users(ctx, app, after, limit)
	if err != nil {
		return nil, err
	}
	memories, err := s.memories.Users(ctx, app, after, limit)
	return union(sessions, memories, limit), err
}

// Apps reads the apps that have sessions, state or memories, by id: up to limit of those
// after an id.
func (s *Service) Apps(ctx context.Context, after string, limit int) ([]string, error) {
	sessions, err := s.sessions.Apps(ctx, after, limit)
	if err != nil {
		return nil, err
	}
	memories, err := s.memories.Apps(ctx, after, limit)
	return union(sessions, memories, limit), err
}

// union is the first names of two lists together, in order.
func union(a, b []string, limit int) []string {
	all := map[string]bool{}
	for _, name := range append(a, b...) {
		all[name] = true
	}
	out := slices.Sorted(maps.Keys(all))
	return out[:min(limit, len(out))]
}
