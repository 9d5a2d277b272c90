package movein

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/memoryd/memoryd/archive"
	"github.com/memoryd/memoryd/extract/injection"
	"github.com/memoryd/memoryd/internal/legible"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// The reasons that several formats have.
const (
	noUser      = "it names no user: name one with -user"
	again       = "it came before, in these files"
	badMemory   = "no memory can be as it is"
	badEvent    = "no event can be as it is"
	badSession  = "no session can be as it is"
	badItem     = "it has another form than the format has"
	noText      = "it has no text"
	noEvents    = "the conversation has no message that can be taken"
	longGone    = "it has expired"
	longPast    = "earlier texts of a memory with more than 999, or with more than 8 MiB of them"
	ofTools     = "calls and answers of tools"
	ofSystem    = "messages of the system"
	ofReasoning = "the reasoning of a model"
)

// actor is who makes the revisions of memories that were moved in.
const actor = "import"

// sink checks what a reader has found, and writes it as lines of an archive.
type sink struct {
	from   Format
	w      *archive.Writer
	opts   Options
	report *Report
	seen   map[[16]byte]bool // sessions and memories
}

// first reports whether something was not met before. Parts never have a NUL in them,
// except the last one.
func (s *sink) first(parts ...string) bool {
	// 16 bytes of a hash stand for an id, however long it is. Two different ids have the same
	// ones by chance once in 2^64 pairs.
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	key := [16]byte(sum[:16])
	if s.seen[key] {
		return false
	}
	s.seen[key] = true
	return true
}

// namespace is that of the IDs derived here; any fixed UUID would do.
var namespace = uuid.MustParse("6d656d6f-7279-5d01-8000-6d6f7665696e")

// derive makes an ID from that of the source, so that a second import writes the same.
func (s *sink) derive(parts ...string) string {
	return uuid.NewSHA1(namespace, []byte(string(s.from)+"\x00"+strings.Join(parts, "\x00"))).String()
}

// scope returns the owner of what names an app and a user, each "" if it names none.
func (s *sink) scope(app, user string) memory.Scope {
	return memory.Scope{App: cmp.Or(app, s.opts.App), User: cmp.Or(user, s.opts.User)}
}

// fact is a statement that another memory keeps.
type fact struct {
	scope     memory.Scope
	id        string // of the source; "" if it has none
	text      string
	author    string
	topics    []string
	at        time.Time // when it was made, in the location that it was written with
	updated   time.Time // when it was last changed; zero if it is not known
	validFrom time.Time
	expires   time.Time
	trust     memory.Trust
	metadata  memory.Metadata
	past      []past // earlier texts, oldest first
}

// past is an earlier text of a fact.
type past struct {
	text string
	at   time.Time
}

// fact writes a memory, or counts why it cannot be taken.
func (s *sink) fact(place string, f fact) error {
	leave := func(reason, detail string) error {
		s.report.leave(reason, place, detail)
		return nil
	}
	switch {
	case f.scope.User == "":
		return leave(noUser, "")
	case strings.TrimSpace(f.text) == "":
		return leave(noText, "")
	case !f.expires.IsZero() && !f.expires.After(s.opts.Now()):
		return leave(longGone, "")
	}
	if f.id == "" { // the words and their time are all that tell it from others
		f.id = f.at.UTC().Format(time.RFC3339Nano) + "\x00" + f.text
	}
	if !s.first("memory", f.scope.App, f.scope.User, f.id) {
		return leave(again, "")
	}
	// The time of the source is also that of making: a list by age is then as it was there.
	m := memory.Memory{
		ID: s.derive("memory", f.scope.App, f.scope.User, f.id), Scope: f.scope, Kind: memory.KindFact, Fact: f.text,
		Author: f.author, Topics: append([]string{}, f.topics...), Timestamp: sessionstore.Micros(f.at),
		UTCOffset: memory.OffsetOf(f.at), ValidFrom: f.validFrom, ExpireTime: f.expires, Trust: f.trust,
		Metadata: f.metadata, CreateTime: sessionstore.Micros(f.at),
	}
	if err := m.Metadata.Validate(); err != nil {
		s.report.leave("metadata that no memory can have: the memory is taken without it", place, err.Error())
		m.Metadata = nil
	}
	m.Topics = slices.DeleteFunc(m.Topics, func(topic string) bool {
		err := memory.ValidateTopic("topics", topic)
		if err != nil {
			s.report.leave("topics that no memory can have: the memory is taken without them", place, err.Error())
		}
		return err != nil
	})
	r := s.record(m, f)
	if err := r.Validate(0); err != nil {
		return leave(badMemory, err.Error())
	}
	if r.Memory.State == memory.Quarantined {
		s.report.Quarantined++
	}
	s.report.user(f.scope).Memories++
	return s.w.Memory(r)
}

// record makes the record of a memory: a revision for each earlier text, and the memory
// as it is.
func (s *sink) record(m memory.Memory, f fact) memory.Record {
	r := memory.Record{}
	step := func(text string, at time.Time) {
		rev := m.Clone()
		rev.Fact, rev.UpdateTime, rev.Revision = text, sessionstore.Micros(at), int64(len(r.History)+1)
		// A model of another program wrote it, of words that are not here to be seen. So an
		// order in it is held back as one from anywhere is, unless it is the user's own.
		from := rev.Trust
		if from != memory.TrustUser {
			from = memory.TrustExternal
		}
		if rev.Reason = injection.Check(text, from); rev.Reason != "" {
			rev.State = memory.Quarantined
		}
		action := memory.Updated
		if len(r.History) == 0 {
			action = memory.Created
		}
		r.History = append(r.History, memory.Step{Revision: rev.Revision, Action: action, Time: rev.UpdateTime,
			Actor: actor, Memory: rev})
		r.Memory = rev
	}
	for _, p := range f.past {
		step(p.text, p.at)
	}
	// The history may end before the last change, or not know of the memory.
	if n := len(r.History); n == 0 || r.Memory.Fact != m.Fact {
		at := f.at
		if f.updated.After(at) {
			at = f.updated
		}
		step(m.Fact, at)
	}
	return r
}

// session collects the events of one conversation, and writes them in lines.
type session struct {
	*sink
	key     sessionstore.Key
	place   string
	rec     sessionstore.SessionRecord
	ids     map[string]bool
	pending []json.RawMessage
	bytes   int
	skip    bool // the session itself cannot be taken
}

// maxPending is how many bytes of events wait to be written.
const maxPending = 4 << 20

// about is what a source says of a conversation beside its events.
type about struct {
	name             string
	created, updated time.Time // zero if they are not known
	state            sessionstore.State
}

// begin begins a session. end ends it, and nothing else may be written between: so all
// that could be refused is checked here, and a session without a good time of its own has
// those of its events.
func (s *sink) begin(place string, key sessionstore.Key, of about) *session {
	c := &session{sink: s, key: key, place: place, ids: map[string]bool{}, rec: sessionstore.SessionRecord{
		Key: key, State: of.state, Details: sessionstore.Details{DisplayName: title(of.name)}}}
	if memory.ValidateTime("createTime", of.created) == nil {
		c.rec.CreateTime = sessionstore.Micros(of.created)
	}
	if memory.ValidateTime("lastUpdateTime", of.updated) == nil {
		c.rec.LastUpdateTime = sessionstore.Micros(of.updated)
	}
	checked := c.rec
	checked.LastUpdateTime = s.opts.Now() // any valid one
	leave := func(reason, detail string) *session {
		s.report.leave(reason, place, detail)
		c.skip = true
		return c
	}
	if key.User == "" {
		return leave(noUser, "")
	}
	if err := checked.Validate(); err != nil {
		return leave(badSession, err.Error())
	}
	if !s.first("session", key.App, key.User, key.ID) {
		return leave(again, "")
	}
	return c
}

// title returns a name as one line that a session can have.
func title(name string) string {
	return memory.Cut(legible.Line(name), sessionstore.MaxDisplayName)
}

// message is an event of a conversation that is not in the form of ADK.
type message struct {
	id     string // "" if the source has none
	author string
	role   string // user, model or system
	text   string
	at     time.Time
}

// message adds a message of a conversation.
func (c *session) message(place string, m message) error {
	if strings.TrimSpace(m.text) == "" {
		c.report.leave(noText, place, "")
		return nil
	}
	if m.id == "" {
		m.id = c.derive("event", c.key.App, c.key.User, c.key.ID, m.role, m.at.UTC().Format(time.RFC3339Nano), m.text)
	}
	doc, err := json.Marshal(map[string]any{
		"id": m.id, "author": m.author, "timestamp": m.at.Format(time.RFC3339Nano),
		"content": map[string]any{"role": m.role, "parts": []any{map[string]any{"text": m.text}}},
	})
	if err != nil {
		return err
	}
	return c.event(place, doc)
}

// event adds an event in the form of ADK.
func (c *session) event(place string, doc []byte) error {
	if c.skip {
		return nil
	}
	e, err := sessionstore.ParseEvent(doc)
	switch {
	case err != nil:
		c.report.leave(badEvent, place, err.Error())
		return nil
	case e.Partial:
		c.report.leave("parts of events that came while a model was speaking", place, "")
		return nil
	case e.Timestamp.IsZero() || e.ID == "":
		c.report.leave(badEvent, place, "it has no id or no time")
		return nil
	// A store would skip it, and the session would count an event that is not there.
	case c.ids[e.ID]:
		c.report.leave(again, place, "")
		return nil
	}
	// Stored leaves out state of one invocation. Id and time are there, so it makes none.
	e = e.Stored(uuid.NewString, c.opts.Now())
	c.ids[e.ID] = true
	c.pending, c.bytes = append(c.pending, e.Doc), c.bytes+len(e.Doc)
	if e.Timestamp.After(c.rec.LastUpdateTime) {
		c.rec.LastUpdateTime = e.Timestamp
	}
	if c.bytes > maxPending {
		return c.flush()
	}
	return nil
}

// flush writes the events that wait.
func (c *session) flush() error {
	for len(c.pending) > 0 {
		n, err := c.w.Events(c.key, c.pending)
		if err != nil {
			return err
		}
		c.pending = c.pending[n:]
	}
	c.pending, c.bytes = nil, 0
	return nil
}

// end writes the session. Its events are requested, so that the next memoryd that serves
// the stores makes their memories.
func (c *session) end() error {
	if c.skip {
		return nil
	}
	n := int64(len(c.ids))
	if n == 0 && len(c.rec.State) == 0 {
		c.report.leave(noEvents, c.place, "")
		return nil
	}
	c.rec.Events, c.rec.Requested = n, n
	if c.rec.LastUpdateTime.IsZero() {
		c.rec.LastUpdateTime = sessionstore.Micros(c.opts.Now())
	}
	counts := c.report.user(c.key.Scope)
	counts.Sessions, counts.Events = counts.Sessions+1, counts.Events+len(c.ids)
	if err := c.flush(); err != nil {
		return err
	}
	return c.w.Session(c.rec)
}
