// Package archive writes all sessions and memories of two stores into one file
// and brings such a file into other stores: a move between backends, or a backup.
//
// An archive is lines of JSON, in UTF-8. The first line is a [Heading]. Then come
// the configurations of apps, the state that sessions share, the sessions, each as
// lines of its events and one line of the rest, and the memories with their history.
// The last line is an
// [Ending] with counts and a checksum, so that a file that was cut off or changed
// is refused before anything of it is imported.
package archive

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Format is the version of the lines below. An archive of another format is
// refused.
const Format = 1

// line is one line of an archive: one of its fields is set.
type line struct {
	Heading *Heading       `json:"memoryd,omitempty"`
	Config  *configLine    `json:"config,omitempty"`
	Shared  *sharedLine    `json:"shared,omitempty"`
	Events  *eventsLine    `json:"events,omitempty"`
	Session *sessionLine   `json:"session,omitempty"`
	Memory  *memory.Record `json:"memory,omitempty"`
	Ending  *Ending        `json:"end,omitempty"`
}

// Heading is the first line: the format, the version of the memoryd that wrote
// the archive, and the model of its memories.
type Heading struct {
	Format    int    `json:"format"`
	Version   string `json:"version"`
	Embedder  string `json:"embedder"`
	Dimension int    `json:"dimension"`
	Analyzer  string `json:"analyzer"`
	Keys      string `json:"keys,omitempty"` // none in archives of the first versions
	// Merge has the sessions that are there already take what is new: see
	// sessionstore.SessionRecord.
	Merge bool `json:"merge,omitempty"`
}

// NewHeading returns the heading of an archive that a version of memoryd writes
// from memories of a model.
func NewHeading(version string, m memory.Model) Heading {
	return Heading{Format: Format, Version: version, Embedder: m.Embedder, Dimension: m.Dimension, Analyzer: m.Analyzer,
		Keys: m.Keys}
}

// Model returns the model that the memories of the archive were made with.
func (h *Heading) Model() memory.Model {
	return memory.Model{Embedder: h.Embedder, Dimension: h.Dimension, Analyzer: h.Analyzer, Keys: h.Keys}
}

// sharedLine is state that all sessions of a user, or of an app, share.
type sharedLine struct {
	memory.Scope
	State sessionstore.State `json:"state"`
}

// configLine is the configuration of an app, as its owner stored it last. A store keeps
// no earlier one: the revision says how many there were.
type configLine = sessionstore.ConfigRecord

// eventsLine is some events of a session, in order.
type eventsLine struct {
	memory.Scope
	Session string            `json:"sessionId"`
	Events  []json.RawMessage `json:"events"`
}

// sessionLine is a session without its events, which come before it.
type sessionLine struct {
	memory.Scope
	ID             string             `json:"id"`
	DisplayName    string             `json:"displayName,omitempty"`
	Labels         map[string]string  `json:"labels,omitempty"`
	ExpireTime     time.Time          `json:"expireTime,omitzero"`
	CreateTime     time.Time          `json:"createTime,omitzero"`
	State          sessionstore.State `json:"state"`
	LastUpdateTime time.Time          `json:"lastUpdateTime"`
	Events         int64              `json:"events"`
	Requested      int64              `json:"requested"`
	Done           int64              `json:"done"`
	Failed         bool               `json:"failed,omitempty"`
	LastError      string             `json:"lastError,omitempty"`
	Plan           json.RawMessage    `json:"plan,omitempty"`
	PlanTo         int64              `json:"planTo,omitempty"`
	Waiting        *waiting           `json:"waiting,omitempty"`
}

// waiting is how a session waits for its trigger: see sessionstore.Waiting.
type waiting struct {
	Trigger string    `json:"trigger"` // as text
	Own     bool      `json:"own,omitempty"`
	To      int64     `json:"to,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	Last    time.Time `json:"last,omitzero"`
	Due     time.Time `json:"due,omitzero"`
}

// waitingOf is nil for a session that never had a trigger.
func waitingOf(w sessionstore.Waiting) *waiting {
	if w == (sessionstore.Waiting{}) {
		return nil
	}
	return &waiting{w.Trigger.Text(), w.Own, w.To, w.Since, w.Last, w.Due}
}

func (w *waiting) read() sessionstore.Waiting {
	if w == nil {
		return sessionstore.Waiting{}
	}
	return sessionstore.Waiting{Trigger: sessionstore.ReadTrigger(w.Trigger), Own: w.Own, To: w.To, Since: w.Since,
		Last: w.Last, Due: w.Due}
}

// Counts say how much an archive holds.
type Counts struct {
	Sessions  int `json:"sessions"`
	Events    int `json:"events"`
	Shared    int `json:"shared"`
	Memories  int `json:"memories"`
	Revisions int `json:"revisions"`
	Configs   int `json:"configs,omitempty"` // archives of the first versions have none
}

// String is the counts in words.
func (c Counts) String() string {
	return fmt.Sprintf("%d sessions with %d events, %d states of users and apps, %d configurations of apps, "+
		"%d memories with %d revisions", c.Sessions, c.Events, c.Shared, c.Configs, c.Memories, c.Revisions)
}

// add counts what a line holds. Events come before their session, so each is
// counted in its own line.
func (c *Counts) add(l *line) {
	switch {
	case l.Config != nil:
		c.Configs++
	case l.Shared != nil:
		c.Shared++
	case l.Events != nil:
		c.Events += len(l.Events.Events)
	case l.Session != nil:
		c.Sessions++
	case l.Memory != nil:
		c.Memories++
		c.Revisions += len(l.Memory.History)
	}
}

// Ending is the last line.
type Ending struct {
	Counts
	SHA256 string `json:"sha256"` // of all lines before this one, in hexadecimal
}

// Progress is told how many bytes were written or read since its last call. It
// may be nil.
type Progress func(bytes int)

// add tells of more bytes, unless p is nil.
func (p Progress) add(bytes int) {
	if p != nil {
		p(bytes)
	}
}

// Sessions is what an archive needs of a session store.
type Sessions interface {
	sessionstore.Archive
	// Events is that of sessionstore.Progress.
	Events(ctx context.Context, work sessionstore.Work, after int64, limit int) ([]sessionstore.NumberedEvent, error)
	// Append is that of sessionstore.Store.
	Append(ctx context.Context, key sessionstore.Key, events []sessionstore.Event, opts sessionstore.Append) (
		sessionstore.Appended, error)
	// Get is that of sessionstore.Store.
	Get(ctx context.Context, key sessionstore.Key, get sessionstore.Get) (*sessionstore.Session, error)
	// Config is that of sessionstore.Configs.
	Config(ctx context.Context, app string) (json.RawMessage, int64, error)
}

// Memories is what an archive needs of a memory store.
type Memories interface {
	memory.Archive
	// Model is that of memory.Movable.
	Model() memory.Model
}
