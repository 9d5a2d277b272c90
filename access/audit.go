package access

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// Entry is one line of the audit log: that somebody is about to do something, or how it
// went. It names things by their ids, and has nothing of what they say.
//
// A change has two entries of one ID: Begun, which is stored before the change, and Done
// or Failed after it. So a crash leaves no change without an entry; where the second one
// is missing, the store may have the change or not. A read has one entry.
type Entry struct {
	ID        string    `json:"id"`
	Time      time.Time `json:"time"`
	Outcome   Outcome   `json:"outcome"`
	Actor     string    `json:"actor"` // Principal.ID
	Action    string    `json:"action"`
	App       string    `json:"appName"` // AllApps for what concerns all apps
	User      string    `json:"userId,omitempty"`
	Session   string    `json:"sessionId,omitempty"`
	Memories  []string  `json:"memoryIds,omitempty"`
	Operation string    `json:"operationId,omitempty"`
	Key       string    `json:"keyId,omitempty"`
	Request   string    `json:"requestId,omitempty"`
	Address   string    `json:"address,omitempty"` // of the client, as far as the server can tell
	Status    int       `json:"status,omitempty"`  // of the answer, in HTTP's numbers
}

// Outcome is how far something has got.
type Outcome string

// The outcomes.
const (
	Begun  Outcome = "begun"
	Done   Outcome = "done"
	Failed Outcome = "failed"
)

// Audit keeps the audit log of each app. A session store is one. All methods may be
// called concurrently. Entries are only ever added; where an app has more than the store
// keeps, the oldest go.
type Audit interface {
	// AppendAudit adds entries, in their order. They are durable when it returns.
	AppendAudit(ctx context.Context, entries []Entry) error

	// ListAudit reads a page of the log of an app, the last added first. A page may have
	// fewer entries than its size, or none, although others follow: there are as long as
	// it has a NextPageToken. ErrInvalid if the page token is not one of a log.
	ListAudit(ctx context.Context, app string, list ListAudit) (AuditPage, error)

	// RewriteAudit calls change with each entry of an app's log, and stores those of which
	// it returns true as they are then, in their old places. Entries that are added
	// meanwhile may be left out. It serves the erasing of ids: see [Entry.Anonymize].
	RewriteAudit(ctx context.Context, app string, change func(*Entry) bool) error
}

// PseudonymPrefix begins each Pseudonym.
const PseudonymPrefix = "erased-"

// Pseudonym returns what the audit log has in place of an id that was erased: a keyed
// hash, HMAC-SHA256 cut to 16 bytes. The same id of the same scope has the same one.
func Pseudonym(key string, parts ...string) string {
	h := hmac.New(sha256.New, []byte(key))
	for _, p := range parts {
		h.Write(append([]byte(p), 0))
	}
	return PseudonymPrefix + hex.EncodeToString(h.Sum(nil)[:16])
}

// Anonymize replaces the ids of a user's data by pseudonyms made with key, if the entry
// is about that user and, unless session is empty, that session. Without a session the id
// of the user is replaced too. The ids of keys stay. Anonymize reports whether the entry
// is another one now.
func (e *Entry) Anonymize(key string, scope memory.Scope, session string) bool {
	if e.App != scope.App || e.User != scope.User || session != "" && e.Session != session {
		return false
	}
	if e.Session != "" {
		e.Session = Pseudonym(key, scope.App, scope.User, "session", e.Session)
	}
	e.Memories = slices.Clone(e.Memories)
	for i, id := range e.Memories {
		e.Memories[i] = Pseudonym(key, scope.App, scope.User, "memory", id)
	}
	if e.Operation != "" {
		if strings.HasPrefix(e.ID, e.Operation) { // of a batch of that operation
			e.ID = Pseudonym(key, scope.App, scope.User, "entry", e.ID)
		}
		e.Operation = Pseudonym(key, scope.App, scope.User, "operation", e.Operation)
	}
	if session == "" {
		e.User = Pseudonym(key, scope.App, "user", scope.User)
	}
	return true
}

// DefaultAuditEntries is how many entries an app's log has at most, by default. In Redis
// one takes some 400 bytes.
const DefaultAuditEntries = 100_000

// ListAudit selects a page of entries.
type ListAudit struct {
	User         string    // "" for those of all users and of the app itself
	Since, Until time.Time // zero: unbounded; Until is exclusive
	PageSize     int       // 1 to memory.MaxPageSize; 0 is memory.DefaultPageSize
	PageToken    string    // "" for the first page, else the last answer's NextPageToken
}

// AuditPage is a page of entries.
type AuditPage struct {
	Entries       []Entry
	NextPageToken string // "" on the last page
}

// Size returns how many entries the page has at most.
func (l ListAudit) Size() (int, error) {
	size := cmp.Or(l.PageSize, memory.DefaultPageSize)
	if size < 1 || size > memory.MaxPageSize {
		return 0, fmt.Errorf("%w: pageSize %d is not within 1 to %d", memory.ErrInvalid, size, memory.MaxPageSize)
	}
	return size, nil
}

// Match reports whether an entry is one that the list selects.
func (l ListAudit) Match(e *Entry) bool {
	return (l.User == "" || e.User == l.User) && (l.Since.IsZero() || !e.Time.Before(l.Since)) &&
		(l.Until.IsZero() || e.Time.Before(l.Until))
}

// Before reads a page token that is a number: the page has what is numbered below it. It
// is the highest number for the first page.
func (l ListAudit) Before() (int64, error) {
	if l.PageToken == "" {
		return 1<<63 - 1, nil
	}
	n, err := strconv.ParseInt(l.PageToken, 10, 64)
	if err != nil || n < 1 || strconv.FormatInt(n, 10) != l.PageToken {
		return 0, ErrAuditToken
	}
	return n, nil
}

// ErrAuditToken is the error of a page token that no log has given.
var ErrAuditToken = fmt.Errorf("%w: pageToken is not one that came with a page of an audit log", memory.ErrInvalid)
