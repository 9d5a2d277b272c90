package client

import (
	"context"
	"iter"
	"net/url"

	"github.com/memoryd/memoryd/memory"
)

// Shared is a client for the shared knowledge of an app: memories for all of its users. It
// takes a key with the verb admin for the app. Agents find shared knowledge by the searches
// of their users; see Search.Shared. The memories that it answers have no User, and
// their Shared is set. It may be used by many goroutines at once.
type Shared struct{ of *User }

// Shared returns a client for the shared knowledge of an app. An invalid id is reported by
// its calls.
func (c *Client) Shared(app string) *Shared {
	return &Shared{&User{c: c, path: "/v1/apps/" + url.PathEscape(app), err: memory.ValidateID("app", app)}}
}

// AddMemory stores a fact for all users, as User.AddMemory does for one.
func (s *Shared) AddMemory(ctx context.Context, f Fact) (memory.Memory, error) {
	return s.of.AddMemory(ctx, f)
}

// Memory reads one memory; memory.ErrNotFound if there is none of that id.
func (s *Shared) Memory(ctx context.Context, id string) (memory.Memory, error) {
	return s.of.Memory(ctx, id)
}

// Memories reads a page of the memories. The SessionID of a list is the id of a document.
func (s *Shared) Memories(ctx context.Context, list memory.List) (memory.Page, error) {
	return s.of.Memories(ctx, list)
}

// EachMemory yields memories in the order of a list, from as many pages as they take.
func (s *Shared) EachMemory(ctx context.Context, list memory.List) iter.Seq2[memory.Memory, error] {
	return s.of.EachMemory(ctx, list)
}

// UpdateMemory changes a memory and makes a new revision.
func (s *Shared) UpdateMemory(ctx context.Context, id string, c Change) (memory.Memory, error) {
	return s.of.UpdateMemory(ctx, id, c)
}

// DeleteMemory deletes a memory. Its revisions stay, and Rollback restores it.
func (s *Shared) DeleteMemory(ctx context.Context, id string) error {
	return s.of.DeleteMemory(ctx, id)
}

// Revisions reads the revisions of a memory, newest first.
func (s *Shared) Revisions(ctx context.Context, id string) ([]memory.Revision, error) {
	return s.of.Revisions(ctx, id)
}

// Rollback restores a memory, deleted or not, to one of its revisions.
func (s *Shared) Rollback(ctx context.Context, id string, revision int64) (memory.Memory, error) {
	return s.of.Rollback(ctx, id, revision)
}

// EraseMemory erases a memory with its history, for good.
func (s *Shared) EraseMemory(ctx context.Context, id string) (Erased, error) {
	return s.of.EraseMemory(ctx, id)
}

// Purge erases the shared knowledge that meets conditions, as User.Purge does, and returns
// how many memories.
func (s *Shared) Purge(ctx context.Context, p Purge) (int, error) { return s.of.Purge(ctx, p) }

// Search searches the shared knowledge alone.
func (s *Shared) Search(ctx context.Context, q Search) ([]memory.Match, error) {
	return s.of.Search(ctx, q)
}

// Context searches the shared knowledge alone, and makes a block of it; see User.Context.
func (s *Shared) Context(ctx context.Context, q Search, maxTokens int) (Block, error) {
	return s.of.Context(ctx, q, maxTokens)
}
