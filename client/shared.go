package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
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

// PreviewEraseMemory counts what EraseMemory would erase. Nothing changes.
func (s *Shared) PreviewEraseMemory(ctx context.Context, id string) (Erased, error) {
	return s.of.PreviewEraseMemory(ctx, id)
}

// Purge erases the shared knowledge that meets conditions, as User.Purge does, and returns
// how many memories.
func (s *Shared) Purge(ctx context.Context, p Purge) (int, error) { return s.of.Purge(ctx, p) }

// Document is a text for the shared knowledge of an app.
type Document struct {
	ID       string          `json:"id,omitempty"` // "" for one that never changes: memoryd makes an id of the text
	Title    string          `json:"title,omitempty"`
	URI      string          `json:"uri,omitempty"`      // where it is from
	MimeType string          `json:"mimeType,omitempty"` // text/markdown, the default, or text/plain
	Text     string          `json:"text"`               // 1 MiB at most
	Topics   []string        `json:"topics,omitempty"`   // of each passage
	Metadata memory.Metadata `json:"metadata,omitempty"` // of each passage
}

// StoredDocument tells what memoryd has of a document.
type StoredDocument struct {
	ID         string   `json:"id"`
	Title      string   `json:"title"`
	URI        string   `json:"uri"`
	MimeType   string   `json:"mimeType"`
	Topics     []string `json:"topics"`
	Bytes      int      `json:"bytes"`
	Characters int      `json:"characters"` // Unicode code points
	Passages   int      `json:"passages"`
	// Embedded is how many of the first passages have a vector. The others are found by
	// their words.
	Embedded int `json:"embedded"`
	// Complete is false if the document is to be put again, to go on with what is missing.
	Complete   bool      `json:"complete"`
	CreateTime time.Time `json:"createTime"`
	UpdateTime time.Time `json:"updateTime"`
	Revision   int64     `json:"revision"`
	// Added, Changed and Removed count what PutDocument did to passages.
	Added   int `json:"added"`
	Changed int `json:"changed"`
	Removed int `json:"removed"`
}

// PutDocument stores a document as passages, in place of the one of its id. The same call
// again changes nothing.
func (s *Shared) PutDocument(ctx context.Context, d Document) (out StoredDocument, err error) {
	err = s.of.do(ctx, call{method: http.MethodPost, path: documents, body: d, answer: &out, idempotent: true})
	return out, err
}

// Document reads what memoryd has of a document; memory.ErrNotFound if there is none.
func (s *Shared) Document(ctx context.Context, id string) (out StoredDocument, err error) {
	err = s.of.do(ctx, call{method: http.MethodGet, path: documentPath(id), answer: &out, idempotent: true})
	return out, err
}

// Documents reads a page of the documents, those first that were stored last. pageSize is 1
// to 1000, or 0 for 100; pageToken is "" for the first page, and next is "" on the last.
func (s *Shared) Documents(ctx context.Context, pageSize int, pageToken string) (
	all []StoredDocument, next string, err error) {
	var out struct {
		Documents     []StoredDocument `json:"documents"`
		NextPageToken string           `json:"nextPageToken"`
	}
	err = s.of.do(ctx, call{method: http.MethodGet, path: documents, answer: &out, idempotent: true,
		query: page(sessionstore.List{PageSize: pageSize, PageToken: pageToken})})
	return out.Documents, out.NextPageToken, err
}

// DeleteDocument deletes a document with its passages.
func (s *Shared) DeleteDocument(ctx context.Context, id string) error {
	return s.of.do(ctx, call{method: http.MethodDelete, path: documentPath(id)})
}

// EraseDocument erases a document with its passages and their history, for good.
func (s *Shared) EraseDocument(ctx context.Context, id string) (Erased, error) {
	return s.of.erase(ctx, call{method: http.MethodPost, path: erasePath("documents", id)})
}

// PreviewEraseDocument counts what EraseDocument would erase. Nothing changes.
func (s *Shared) PreviewEraseDocument(ctx context.Context, id string) (Erased, error) {
	return s.of.erase(ctx, dryRun(erasePath("documents", id)))
}

const documents = "/documents"

func documentPath(id string) string { return documents + "/" + url.PathEscape(id) }

// Search searches the shared knowledge alone.
func (s *Shared) Search(ctx context.Context, q Search) ([]memory.Match, error) {
	return s.of.Search(ctx, q)
}

// Context searches the shared knowledge alone, and makes a block of it; see User.Context.
func (s *Shared) Context(ctx context.Context, q Search, maxTokens int) (Block, error) {
	return s.of.Context(ctx, q, maxTokens)
}
