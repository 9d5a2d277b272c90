// Package memory holds the nouns of long-term memory and the promises of the
// store that keeps them: [Scope], [Memory], [Revision], [Query], [Where], [Store] and
// the kinds of error. The rules that every store shares are functions here:
// [DecidePut], [DecideDelete], [List.Paging], [Filter.Match], [Spans]. The
// package imports the standard library alone.
package memory

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits on one memory.
const (
	MaxFact        = 64 << 10 // bytes of Memory.Fact
	MaxTopics      = 32       // topics of one memory
	MaxMetadata    = 16 << 10 // bytes of all metadata as JSON
	MaxDisplayName = 256      // bytes of Memory.DisplayName
	MaxDescription = 4 << 10  // bytes of Memory.Description
)

// MinTime and MaxTime bound the times of memories and events: from MinTime,
// before MaxTime. A timestamp outside them is a mistake, such as milliseconds
// taken for seconds, or a zero value.
var (
	MinTime = time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)
	MaxTime = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
)

// Kind tells a statement from the words it may come from.
type Kind string

const (
	// KindFact is a statement, extracted from events or given by a client.
	KindFact Kind = "fact"
	// KindTurn is the text of one event, as it was said.
	KindTurn Kind = "turn"
	// KindProfile is the value of one field of a structured profile; see Profile.
	KindProfile Kind = "profile"
)

// Kinds are all kinds.
func Kinds() []Kind { return []Kind{KindFact, KindTurn, KindProfile} }

// Validate accepts Kinds.
func (k Kind) Validate() error {
	if !slices.Contains(Kinds(), k) {
		return fmt.Errorf("%w: kind %.40q is none of %q, %q and %q", ErrInvalid, k, KindFact, KindTurn, KindProfile)
	}
	return nil
}

// The topics that the built-in extraction assigns, which are Memory Bank's
// managed topics. Clients may use others.
const (
	TopicPersonalInfo = "USER_PERSONAL_INFO"
	TopicPreferences  = "USER_PREFERENCES"
	TopicDetails      = "KEY_CONVERSATION_DETAILS"
	TopicInstructions = "EXPLICIT_INSTRUCTIONS"
)

// Source says which events a memory comes from. It is empty for a fact given by
// a client.
type Source struct {
	SessionID string   `json:"sessionId,omitempty"`
	EventIDs  []string `json:"eventIds,omitempty"`
	Quote     string   `json:"quote,omitempty"` // the exact words of the event
	// Passage says which part of a document a memory of the app's shared knowledge is; nil
	// if it is none. SessionID is the id of the document then: a document has the place
	// that a session has elsewhere.
	Passage *Passage `json:"passage,omitempty"`
}

// Metadata is a client's own data on a memory: names to JSON values.
type Metadata map[string]json.RawMessage

// Memory is one fact or turn. Times are UTC and exact to the microsecond.
type Memory struct {
	ID string `json:"id"`
	Scope
	Kind Kind   `json:"kind"`
	Fact string `json:"fact"`
	// Profile is the value that a memory of KindProfile holds; nil of all others. Fact then
	// says the same in words, so that searches find it.
	*Profile
	// DisplayName and Description are a client's own words about the memory. No search
	// looks into them, but a filter can.
	DisplayName string    `json:"displayName,omitempty"`
	Description string    `json:"description,omitempty"`
	Author      string    `json:"author,omitempty"` // who said it
	Topics      []string  `json:"topics"`
	Timestamp   time.Time `json:"timestamp"` // when it was said
	// UTCOffset is what the clock of the speaker showed beside UTC at Timestamp. It tells
	// the day on which the memory was said, and the days that it names: see Local.
	UTCOffset UTCOffset `json:"utcOffset,omitempty"`
	// ReceiveTime is when a fact was received whose Timestamp lies after that: the
	// clock that gave it was wrong, or the fact is dated in the future. See SaidAt
	// and HoldsFrom.
	ReceiveTime time.Time `json:"receiveTime,omitzero"`
	// ValidFrom is when the memory began to hold, or the day it speaks of,
	// which may lie in the future: it hides nothing, as an appointment is worth
	// knowing before its day. A memory whose ValidTo has
	// passed is history: only queries with AsOf or History return it. Zero is
	// unbounded.
	ValidFrom time.Time `json:"validFrom,omitzero"`
	ValidTo   time.Time `json:"validTo,omitzero"`
	// FromEditTime and ToEditTime are when a client last decided on ValidFrom and on
	// ValidTo of a fact, also that it has none; zero if no client has. A fact holds from
	// such a ValidFrom on, be it past or future: see HoldsFrom and KnownFrom. Nothing that
	// was said before ToEditTime ends the fact.
	FromEditTime time.Time `json:"validFromEditTime,omitzero"`
	ToEditTime   time.Time `json:"validToEditTime,omitzero"`
	// SupersededBy is the id of the memory that took this one's place at
	// ValidTo, as both cannot hold.
	SupersededBy string `json:"supersededBy,omitempty"`
	// Edited is set once a client has changed the text of a memory that was
	// extracted, or has rolled it back. The memory is then the client's, and no
	// longer depends on the events it was extracted from.
	Edited bool `json:"edited,omitzero"`
	// EditTime is when a client last decided on the text. Nothing that was said
	// before it ends the memory. It is zero if no client has, and in memories that
	// were edited before there was this field; see DecidedAt.
	EditTime time.Time `json:"editTime,omitzero"`
	// Labelled is set once a client has changed the topics, the metadata, the name, the
	// description, the times or the expiry of a memory that was extracted. Of memories
	// that say the same it is the one that stands. Its text is not the client's.
	Labelled bool `json:"labelled,omitzero"`
	// Evidence is how many statements a fact rests on that was said again: itself, and those
	// that repeat it (see Repeats) and were not taken back. It is 0 for one that was said
	// once. ConfirmedTime is when the fact was last said again.
	Evidence      int       `json:"evidence,omitzero"`
	ConfirmedTime time.Time `json:"confirmedTime,omitzero"`
	// Forgotten are the ids of the facts that a turn told and that were forgotten: a
	// client deleted them, or they were deleted on request. A turn that is a request has
	// an id of its own. Only queries with History return such a turn, even if it tells
	// more.
	Forgotten []string `json:"forgotten,omitempty"`
	// Retracted are the facts that a turn told and that the rollback of an operation took
	// back. A search for one of them finds the turn as outdated.
	Retracted []Retraction `json:"retracted,omitempty"`
	// Trust says whose words the memory rests on; the least trusted where there are
	// several.
	Trust Trust `json:"trust,omitempty"`
	// State is Quarantined if the memory was held back because its text tries to instruct
	// the agent, and later what a review of it decided. Reason says what is wrong with the
	// text.
	State      State     `json:"state,omitempty"`
	Reason     string    `json:"reason,omitempty"`
	CreateTime time.Time `json:"createTime"`
	UpdateTime time.Time `json:"updateTime"`
	// ExpireTime is when the memory expires: from then on it reads as deleted.
	// Zero is never.
	ExpireTime time.Time `json:"expireTime,omitzero"`
	// DefaultExpiry is set while ExpireTime follows from the configuration of the app or
	// from the request that the memory was made by, and not from a client's word on this
	// memory. It says nothing about how long the statement holds: see Passing.
	DefaultExpiry bool     `json:"defaultExpiry,omitzero"`
	Revision      int64    `json:"revision"` // 1 when created, one more with each change
	Source        Source   `json:"source"`
	Metadata      Metadata `json:"metadata,omitempty"`
	// Shared marks a memory of the app's shared knowledge in the answers of the HTTP API,
	// where it has no user; see Show. In a store the scope tells.
	Shared bool `json:"shared,omitzero"`
}

// Show gives m the form of the HTTP API if it is one of the app's shared knowledge: its
// scope there is the app.
func (m *Memory) Show() {
	if m.IsShared() {
		m.User, m.Shared = "", true
	}
}

// Validate reports the first rule that m breaks, naming the field as JSON does.
func (m *Memory) Validate() error {
	if err := m.validateIdentity(); err != nil {
		return err
	}
	if err := m.validateText(); err != nil {
		return err
	}
	if err := m.Metadata.Validate(); err != nil {
		return err
	}
	if m.SupersededBy != "" {
		if err := ValidateID("supersededBy", m.SupersededBy); err != nil {
			return err
		}
	}
	for _, id := range m.Forgotten {
		if err := ValidateID("forgotten", id); err != nil {
			return err
		}
	}
	if err := m.validateProfile(); err != nil {
		return err
	}
	if err := m.validateRetracted(); err != nil {
		return err
	}
	if err := m.validateTrust(); err != nil {
		return err
	}
	if err := m.validateTimes(); err != nil {
		return err
	}
	return m.Source.validate()
}

func (m *Memory) validateIdentity() error {
	if err := ValidateID("memory", m.ID); err != nil {
		return err
	}
	if err := m.Scope.ValidateOwner(); err != nil {
		return err
	}
	return m.Kind.Validate()
}

func (m *Memory) validateTrust() error {
	if err := m.Trust.Validate(); err != nil {
		return err
	}
	if err := m.State.Validate(); err != nil {
		return err
	}
	if len(m.Reason) > MaxReason || !utf8.ValidString(m.Reason) {
		return fmt.Errorf("%w: reason is not UTF-8 of at most %d bytes", ErrInvalid, MaxReason)
	}
	return nil
}

func (m *Memory) validateText() error {
	switch {
	case strings.TrimSpace(m.Fact) == "":
		return fmt.Errorf("%w: fact is empty", ErrInvalid)
	case len(m.Fact) > MaxFact:
		return fmt.Errorf("%w: fact has %d bytes, more than %d", ErrInvalid, len(m.Fact), MaxFact)
	case !utf8.ValidString(m.Fact):
		return fmt.Errorf("%w: fact is not valid UTF-8", ErrInvalid)
	case m.Evidence < 0:
		return fmt.Errorf("%w: evidence is %d", ErrInvalid, m.Evidence)
	case len(m.DisplayName) > MaxDisplayName || !utf8.ValidString(m.DisplayName):
		return fmt.Errorf("%w: displayName is not UTF-8 of at most %d bytes", ErrInvalid, MaxDisplayName)
	case len(m.Description) > MaxDescription || !utf8.ValidString(m.Description):
		return fmt.Errorf("%w: description is not UTF-8 of at most %d bytes", ErrInvalid, MaxDescription)
	case len(m.Author) > MaxID || !utf8.ValidString(m.Author):
		return fmt.Errorf("%w: author is not UTF-8 of at most %d bytes", ErrInvalid, MaxID)
	case len(m.Topics) > MaxTopics:
		return fmt.Errorf("%w: topics: %d of them, more than %d", ErrInvalid, len(m.Topics), MaxTopics)
	}
	for i, t := range m.Topics {
		if err := validateName(fmt.Sprintf("topics[%d]", i), t); err != nil {
			return err
		}
	}
	return nil
}

// validateTimes accepts a zero time wherever it stands for none.
func (m *Memory) validateTimes() error {
	if err := ValidateTime("timestamp", m.Timestamp); err != nil {
		return err
	}
	if err := m.UTCOffset.Validate(); err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		time time.Time
	}{{"validFrom", m.ValidFrom}, {"validTo", m.ValidTo}, {"expireTime", m.ExpireTime}, {"editTime", m.EditTime},
		{"receiveTime", m.ReceiveTime}, {"confirmedTime", m.ConfirmedTime},
		{"validFromEditTime", m.FromEditTime}, {"validToEditTime", m.ToEditTime}} {
		if f.time.IsZero() {
			continue
		}
		if err := ValidateTime(f.name, f.time); err != nil {
			return err
		}
	}
	return nil
}

func (s *Source) validate() error {
	if s.SessionID != "" {
		if err := ValidateID("source.session", s.SessionID); err != nil {
			return err
		}
	}
	for _, id := range s.EventIDs {
		if err := ValidateID("source.event", id); err != nil {
			return err
		}
	}
	if !utf8.ValidString(s.Quote) {
		return fmt.Errorf("%w: source.quote is not valid UTF-8", ErrInvalid)
	}
	return s.Passage.validate()
}

// Validate reports the first rule that md breaks.
func (md Metadata) Validate() error {
	size := 0
	for k, v := range md {
		if err := validateName("metadata: a name", k); err != nil {
			return err
		}
		if !json.Valid(v) || !utf8.Valid(v) {
			return fmt.Errorf("%w: metadata %q is not JSON in UTF-8", ErrInvalid, k)
		}
		size += len(k) + len(v)
	}
	if size > MaxMetadata {
		return fmt.Errorf("%w: metadata has %d bytes, more than %d", ErrInvalid, size, MaxMetadata)
	}
	return nil
}

// ValidateTime accepts times from [MinTime] up to, not including, [MaxTime].
func ValidateTime(field string, t time.Time) error {
	if t.Before(MinTime) || !t.Before(MaxTime) {
		return fmt.Errorf("%w: %s: year %d is outside %d to %d (epoch times are in seconds)",
			ErrInvalid, field, t.UTC().Year(), MinTime.Year(), MaxTime.Year()-1)
	}
	return nil
}

// SameContent reports whether m and o are equal in all that a writer sets:
// everything except the revision and the times of storing. It is what makes a
// repeated Put harmless. A Trust that one of them lacks is no difference: a write may
// repeat one from before there was that field.
func (m *Memory) SameContent(o *Memory) bool {
	return m.ID == o.ID && m.Scope == o.Scope && m.Kind == o.Kind && m.Fact == o.Fact && m.Author == o.Author &&
		m.DisplayName == o.DisplayName && m.Description == o.Description &&
		slices.Equal(m.Topics, o.Topics) && m.SupersededBy == o.SupersededBy && m.Edited == o.Edited &&
		m.EditTime.Equal(o.EditTime) && m.Labelled == o.Labelled && slices.Equal(m.Forgotten, o.Forgotten) &&
		slices.EqualFunc(m.Retracted, o.Retracted, Retraction.same) &&
		m.DefaultExpiry == o.DefaultExpiry && m.Evidence == o.Evidence && m.ConfirmedTime.Equal(o.ConfirmedTime) &&
		m.sameTrust(o) && m.Profile.same(o.Profile) &&
		m.ReceiveTime.Equal(o.ReceiveTime) && m.UTCOffset == o.UTCOffset &&
		m.FromEditTime.Equal(o.FromEditTime) && m.ToEditTime.Equal(o.ToEditTime) &&
		m.Timestamp.Equal(o.Timestamp) && m.ValidFrom.Equal(o.ValidFrom) && m.ValidTo.Equal(o.ValidTo) &&
		m.ExpireTime.Equal(o.ExpireTime) && m.Source.same(&o.Source) && m.Metadata.Equal(o.Metadata)
}

// Equal reports whether md and o have the same names, with values of the same JSON.
func (md Metadata) Equal(o Metadata) bool { return maps.EqualFunc(md, o, SameJSON) }

// sameTrust reports whether m and o are trusted alike and were reviewed alike.
func (m *Memory) sameTrust(o *Memory) bool {
	return m.State == o.State && m.Reason == o.Reason && (m.Trust == o.Trust || m.Trust == "" || o.Trust == "")
}

func (s *Source) same(o *Source) bool {
	return s.SessionID == o.SessionID && slices.Equal(s.EventIDs, o.EventIDs) && s.Quote == o.Quote &&
		s.Passage.same(o.Passage)
}

// Clone is a copy of m that shares no slice or map with it. Its Topics is a
// list even when empty, as JSON shows it.
func (m *Memory) Clone() Memory {
	out := *m
	out.Topics = append(make([]string, 0, len(m.Topics)), m.Topics...)
	out.Source.EventIDs = slices.Clone(m.Source.EventIDs)
	out.Source.Passage = m.Source.Passage.clone()
	out.Profile = m.Profile.clone()
	out.Forgotten = slices.Clone(m.Forgotten)
	out.Retracted = slices.Clone(m.Retracted)
	out.Metadata = maps.Clone(m.Metadata)
	for k, v := range out.Metadata {
		out.Metadata[k] = slices.Clone(v)
	}
	return out
}

// DecidedAt returns when a client last decided on the text of m, the zero time if
// no client has.
func (m *Memory) DecidedAt() time.Time {
	if m.Edited && m.EditTime.IsZero() {
		return m.UpdateTime
	}
	return m.EditTime
}

// Passing reports whether a client has let m expire: what it says holds for a while. A
// default expiry tells how long a memory is kept, and nothing about the statement.
func (m *Memory) Passing() bool { return !m.ExpireTime.IsZero() && !m.DefaultExpiry }

// Live reports whether m has not expired at now.
func (m *Memory) Live(now time.Time) bool {
	return m.ExpireTime.IsZero() || now.Before(m.ExpireTime)
}
