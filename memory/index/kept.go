package index

import (
	"cmp"
	"hash/maphash"
	"math"
	"slices"
	"strings"
	"time"
	"weak"

	"github.com/memoryd/memoryd/memory"
)

// kept is a memory as an index keeps it. A memory.Memory takes 672 bytes, and most of
// them say the same in most memories of a scope. So kept and more have what is a
// memory's own, and memories that are alike in all else share the rest.
type kept struct {
	rest      *memory.Memory // the fields that neither kept nor more has; nil once the memory is dead
	more      *more          // nil for most turns
	texts     string         // the id, the fact and Source.EventID, one after another
	timestamp int64          // this and all times here are in microseconds since 1970, or noTime
	created   int64
	updated   int64
	expires   int64
	revision  int64
	factAt    uint32 // in texts
	eventAt   uint32
	session   int32 // the number of Source.SessionID; noSession for ""
	own       bool  // no other memory shares rest
}

// id is Memory.ID.
func (k *kept) id() string { return k.texts[:k.factAt] }

// event is Source.EventID.
func (k *kept) event() string { return k.texts[k.eventAt:] }

// more is a part of a memory that few turns have, and most facts.
type more struct {
	quote              string
	supersededBy       string
	events             []string // Source.EventIDs, if there are several
	passage            *memory.Passage
	metadata           memory.Metadata
	validFrom, validTo int64
	received           int64
	confirmed          int64
	evidence           int
}

// likeness is what memories share that have nothing else beside kept and more.
type likeness struct {
	memory.Scope
	kind          memory.Kind
	author        string
	trust         memory.Trust
	offset        memory.UTCOffset
	topics        string // all of them, in order
	hasTopics     bool   // Memory.Topics is not nil
	defaultExpiry bool
}

func likenessOf(m *memory.Memory) likeness {
	return likeness{
		m.Scope, m.Kind, m.Author, m.Trust, m.UTCOffset, strings.Join(m.Topics, "\n"), m.Topics != nil, m.DefaultExpiry,
	}
}

// noTime stands for the zero time.
const noTime = math.MinInt64

// micros is a time as kept has it. No store keeps a time more exactly.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return noTime
	}
	return t.UnixMicro()
}

// timeOf is the time that micros has made a number of.
func timeOf(at int64) time.Time {
	if at == noTime {
		return time.Time{}
	}
	return time.UnixMicro(at).UTC()
}

// keep gives a memory the form that the index keeps.
func (ix *Index) keep(m *memory.Memory) kept {
	k := kept{
		texts: m.ID + m.Fact + m.Source.EventID(), factAt: uint32(len(m.ID)), eventAt: uint32(len(m.ID) + len(m.Fact)),
		timestamp: micros(m.Timestamp), created: micros(m.CreateTime),
		updated: micros(m.UpdateTime), expires: micros(m.ExpireTime),
		revision: m.Revision, session: noSession,
	}
	if m.Source.SessionID != "" {
		k.session = ix.sessionNumber(m.Source.SessionID)
	}
	x := more{
		quote: m.Source.Quote, supersededBy: m.SupersededBy, passage: m.Source.Passage, metadata: m.Metadata,
		validFrom: micros(m.ValidFrom), validTo: micros(m.ValidTo), received: micros(m.ReceiveTime),
		confirmed: micros(m.ConfirmedTime), evidence: m.Evidence,
	}
	if len(m.Source.EventIDs) > 1 {
		x.events = m.Source.EventIDs
	}
	if x.quote != "" || x.supersededBy != "" || x.events != nil || x.passage != nil || x.metadata != nil ||
		x.evidence != 0 || max(x.validFrom, x.validTo, x.received, x.confirmed) > noTime {
		more := x // the one that lives on the heap
		k.more = &more
	}
	k.rest, k.own = ix.restOf(m)
	return k
}

// restOf is the part of a memory that is in neither kept nor more, and whether no other
// memory shares it.
func (ix *Index) restOf(m *memory.Memory) (rest *memory.Memory, own bool) {
	like := likenessOf(m)
	// A map whose keys are hashes takes a tenth of one with these keys, in a scope of few memories.
	hash := maphash.Comparable(seed, like)
	alike := m.Profile == nil && m.DisplayName == "" && m.Description == "" && !m.Edited && !m.Labelled &&
		m.FromEditTime.IsZero() && m.ToEditTime.IsZero() && m.EditTime.IsZero() && m.Forgotten == nil &&
		m.Retracted == nil && m.State == "" && m.Reason == "" && !m.Shared
	has := ix.rests[hash]
	if alike && has != nil && likenessOf(has) == like && slices.Equal(has.Topics, m.Topics) {
		return has, false
	}
	copied := *m
	rest = &copied
	// The strings that kept and more have would otherwise live as long as the rest does.
	rest.ID, rest.Fact, rest.SupersededBy, rest.Source, rest.Metadata = "", "", "", memory.Source{}, nil
	if alike && has == nil {
		ix.rests[hash] = rest
		ix.bytes += likeBytes + stringBytes(m.App) + stringBytes(m.User) + stringBytes(m.Author) + listBytes(m.Topics)
		return rest, false
	}
	return rest, true
}

// restored is a memory as it was put, with the slice of its event.
type restored struct {
	memory.Memory
	event [1]string
}

// restore sets m to the memory of a slot. Where m has the rest of that memory already, as
// that of the slot before was the same, hasRest saves the copy of it.
func (ix *Index) restore(slot int32, m *restored, hasRest bool) {
	k := &ix.docs[slot].kept
	if !hasRest {
		m.Memory = *k.rest
	}
	m.ID, m.Fact, m.Revision = k.id(), k.texts[k.factAt:k.eventAt], k.revision
	m.Timestamp, m.CreateTime = timeOf(k.timestamp), timeOf(k.created)
	m.UpdateTime, m.ExpireTime = timeOf(k.updated), timeOf(k.expires)
	session, events := "", []string(nil)
	if k.session >= 0 {
		session = ix.sessions[k.session].name
	}
	if event := k.event(); event != "" {
		m.event[0] = event
		events = m.event[:]
	}
	x := k.more
	if x == nil {
		x = &more{validFrom: noTime, validTo: noTime, received: noTime, confirmed: noTime}
	}
	if x.events != nil {
		events = x.events
	}
	m.Source = memory.Source{SessionID: session, EventIDs: events, Quote: x.quote, Passage: x.passage}
	m.SupersededBy, m.Metadata, m.Evidence = x.supersededBy, x.metadata, x.evidence
	m.ValidFrom, m.ValidTo = timeOf(x.validFrom), timeOf(x.validTo)
	m.ReceiveTime, m.ConfirmedTime = timeOf(x.received), timeOf(x.confirmed)
}

// memories are those that searches have restored lately, by slot.
type memories []*restored

// lately returns the memories that searches have restored since the last garbage
// collection. They share them: a search gives hundreds of memories, and to restore all of
// them each time took a quarter of its time. The caller holds ix.restoring.
func (ix *Index) lately() *memories {
	m := ix.recent.Value()
	if m == nil {
		m = &memories{}
		ix.recent = weak.Make(m)
	}
	if more := len(ix.docs) - len(*m); more > 0 {
		*m = append(*m, make(memories, more)...)
	}
	return m
}

// of is the memory of a slot. The caller holds ix.restoring.
func (m memories) of(ix *Index, slot int32) *memory.Memory {
	if m[slot] == nil {
		m[slot] = &restored{}
		ix.restore(slot, m[slot], false)
	}
	return &m[slot].Memory
}

// compareTurns orders two turns of a session as memory.CompareTurns does.
func compareTurns(a, b *kept) int {
	return cmp.Or(cmp.Compare(a.timestamp, b.timestamp), strings.Compare(a.event(), b.event()),
		strings.Compare(a.id(), b.id()))
}

// departs is memory.Memory.Departs of a memory that is live.
func (k *kept) departs(at time.Time) bool {
	return k.rest.Kind == memory.KindFact && (k.rest.Edited || k.ended(at))
}

// ended is memory.Memory.Ended.
func (k *kept) ended(at time.Time) bool {
	return k.more != nil && k.more.validTo != noTime && !at.Before(timeOf(k.more.validTo))
}

// successorAt is memory.Memory.SuccessorAt.
func (k *kept) successorAt(at time.Time) string {
	if !k.ended(at) {
		return ""
	}
	return k.more.supersededBy
}

// events are the events that the memory comes from.
func (k *kept) events() []string {
	if k.more != nil && k.more.events != nil {
		return k.more.events
	}
	if k.event() == "" {
		return nil
	}
	return []string{k.event()}
}
