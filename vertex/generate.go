package vertex

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// generateOptions are the fields of a request for memories that say how they are made.
type generateOptions struct {
	memoryOptions
	// The rest is about the revisions that are made: their labels, when they expire, and whether
	// clients see them in lists.
	RevisionLabels     memory.Labels `json:"revisionLabels"`
	RevisionTTL        *Duration     `json:"revisionTtl"`
	RevisionExpireTime Time          `json:"revisionExpireTime"`
	DisableRevisions   bool          `json:"disableMemoryRevisions"`
}

// memoryOptions are those that say which memories are made. As JSON they name the session that holds
// the events of such requests, so that an empty field is left out.
type memoryOptions struct {
	// DisableConsolidation leaves known memories alone.
	DisableConsolidation bool `json:"disableConsolidation,omitempty"`
	// AllowedTopics are the topics that memories are kept of; none is all that the app keeps.
	AllowedTopics []topicBody `json:"allowedTopics,omitempty"`
	// Metadata is that of the memories that are made, and Merge says what becomes of the metadata of
	// those that are updated.
	Metadata map[string]metadataValue `json:"metadata,omitempty"`
	Merge    mergeStrategy            `json:"metadataMergeStrategy,omitempty"`
}

// mergeStrategy is what becomes of metadata. Clients may send the number of one.
type mergeStrategy string

// UnmarshalJSON implements json.Unmarshaler.
func (m *mergeStrategy) UnmarshalJSON(raw []byte) error {
	name, err := readEnum("metadataMergeStrategy", raw, "METADATA_MERGE_STRATEGY_UNSPECIFIED",
		string(sessionstore.MergeOverwrite), string(sessionstore.MergeUnite), string(sessionstore.MergeExact))
	*m = mergeStrategy(name)
	return err
}

// native are the options for package ingest.
func (o *generateOptions) native(now time.Time) (out ingest.RequestOptions, err error) {
	out.DisableConsolidation, out.MetadataMerge = o.DisableConsolidation, sessionstore.MetadataMerge(o.Merge)
	if len(o.AllowedTopics) > 0 {
		if out.AllowedTopics, err = readTopics("allowedTopics", o.AllowedTopics); err != nil {
			return out, err
		}
	}
	if len(o.Metadata) > 0 {
		if out.Metadata, err = readValues("metadata", o.Metadata); err != nil {
			return out, err
		}
	}
	labels, life, err := revisionOptions(o.RevisionLabels, o.RevisionTTL, o.RevisionExpireTime, o.DisableRevisions)
	if err != nil {
		return out, err
	}
	switch out.Labels, out.RevisionTTL = labels, life.TTL; {
	case life.TTL != 0 && !life.At.IsZero():
		return out, invalid("revisionTtl and revisionExpireTime: want one of them")
	case !life.At.IsZero() && !life.At.After(now):
		return out, invalid("revisionExpireTime: %s has passed", sessionstore.FormatTime(life.At))
	case !life.At.IsZero():
		out.RevisionTTL = life.At.Sub(now)
	}
	return out, nil
}

// session is the id of the session that holds contents whose memories are made so: the options
// of a request hold for all events that wait with it. The options of revisions are left out, as clients
// label each request in its own way, and would have a session for each.
func (o *memoryOptions) session() (string, error) {
	raw, err := Encode(o)
	if err != nil || string(raw) == "{}" {
		return sessionstore.ContentsPrefix, err
	}
	sum := sha256.Sum256(raw)
	return sessionstore.ContentsPrefix + hex.EncodeToString(sum[:8]), nil
}

// generateIn is the body of a request to generate memories. It has one of the three sources.
type generateIn struct {
	// Session is a session of memoryd, or the part of it from StartTime up to, not including, EndTime.
	Session *struct {
		Session   string `json:"session"`
		StartTime *Time  `json:"startTime"`
		EndTime   *Time  `json:"endTime"`
	} `json:"vertexSessionSource"`
	Contents *contents `json:"directContentsSource"`
	// Memories are facts as they are: nothing is extracted, and they are compared with known ones.
	Memories *struct {
		Memories []struct {
			Fact   string      `json:"fact"`
			Topics []topicBody `json:"topics"`
		} `json:"directMemories"`
	} `json:"directMemoriesSource"`
	// Scope may be missing if the source is a session: then it is that of the session's user.
	Scope map[string]string `json:"scope"`
	generateOptions
}

// generateMemories carries out GenerateMemories. The request is stored when it returns, and the
// memories are made then, or follow. A client that gets no answer may send it again.
func (s *Service) generateMemories(ctx context.Context, call *Call) (any, error) {
	if call.Resource.Kind != "memories" || call.Resource.ID != "" {
		return nil, notHere(call)
	}
	var in generateIn
	if err := Decode(call.Body, &in); err != nil {
		return nil, err
	}
	sources := 0
	for _, has := range []bool{in.Session != nil, in.Contents != nil, in.Memories != nil} {
		if has {
			sources++
		}
	}
	if sources != 1 {
		return nil, invalid("want one of vertexSessionSource, directContentsSource and directMemoriesSource")
	}
	opts, err := in.native(s.opts.Now())
	if err != nil {
		return nil, err
	}
	if in.Session != nil {
		return s.generateOfSession(ctx, call.Resource, &in, opts)
	}
	ctx, scope, err := s.within(ctx, call.Resource.Engine, in.Scope)
	if err == nil {
		err = s.ingest.CheckRequest(ctx, scope, opts)
	}
	if err != nil {
		return nil, err
	}
	var op *sessionstore.Operation
	if in.Contents != nil {
		op, err = s.generateOfContents(ctx, scope, &in, opts)
	} else {
		op, err = s.generateOfFacts(ctx, scope, &in, opts)
	}
	if err != nil {
		return nil, err
	}
	return s.awaited(ctx, call.Resource, op, in.Scope)
}

// generateOfSession makes memories of the events of a session, or of a part of them. Those of a whole
// session go on where the last request has ended. A part, and events for the memory of another scope, are
// copied: those that memories were made of before change nothing.
func (s *Service) generateOfSession(ctx context.Context, r Resource, in *generateIn, opts ingest.RequestOptions) (
	any, error) {
	name, err := ParseName(in.Session.Session, false)
	if err != nil || name.Kind != "sessions" || name.ID == "" || name.SubKind != "" {
		return nil, invalid("vertexSessionSource.session %.200q: want the name of a session, such as %s",
			in.Session.Session, r.session("ID"))
	}
	if name.Engine != r.Engine {
		return nil, invalid("vertexSessionSource.session: it is of engine %q, and the call of %q", name.Engine,
			r.Engine)
	}
	part, err := in.part()
	if err != nil {
		return nil, err
	}
	key, err := s.find(ctx, name)
	if err != nil {
		return nil, err
	}
	// Without a scope it is the session's own, also of a native user whose id reads as another one's.
	there, scope, shown := ctx, key.Scope, ScopeOf(key.User)
	if len(in.Scope) > 0 {
		// The caller reads the session as itself, and writes to a scope that may natively be of another user.
		shown = in.Scope
		there, scope, err = s.within(ctx, r.Engine, shown)
	}
	if err == nil {
		err = s.ingest.CheckRequest(there, scope, opts)
	}
	if err != nil {
		return nil, err
	}
	var op *sessionstore.Operation
	if scope == key.Scope && part == (ingest.Range{}) {
		op, err = s.ingest.AddSession(ctx, key, opts)
	} else {
		var events []sessionstore.Event
		if events, err = s.ingest.RangeEvents(ctx, key, part, maxContents, maxEvents); err == nil {
			op, err = s.ingest.AddEvents(there, sessionstore.Key{Scope: scope, ID: key.ID}, events, opts)
		}
	}
	if err != nil {
		return nil, err
	}
	return s.awaited(there, r, op, shown)
}

// part is the part of the session that memories are made of.
func (in *generateIn) part() (out ingest.Range, err error) {
	if t := in.Session.StartTime; t != nil {
		out.From = t.Time
	}
	if t := in.Session.EndTime; t != nil {
		out.To = t.Time
	}
	if !out.To.IsZero() && !out.From.Before(out.To) {
		return out, invalid("vertexSessionSource.endTime: want a time after startTime")
	}
	return out, nil
}

// generateOfContents makes memories of events that the request has brought. They are stored in a
// session of their own, which has each event once.
func (s *Service) generateOfContents(ctx context.Context, scope memory.Scope, in *generateIn,
	opts ingest.RequestOptions) (*sessionstore.Operation, error) {
	in.Contents.speakForUser()
	events, err := in.Contents.native(scope.User, s.opts.Now())
	if err != nil {
		return nil, err
	}
	if len(events) == 0 {
		return nil, invalid("directContentsSource.events: want at least one")
	}
	key := sessionstore.Key{Scope: scope}
	if key.ID, err = in.session(); err != nil {
		return nil, err
	}
	opts.Flush = true
	return s.ingest.Ingest(ctx, key, events, opts)
}

// generateOfFacts compares facts with what is known.
func (s *Service) generateOfFacts(ctx context.Context, scope memory.Scope, in *generateIn,
	opts ingest.RequestOptions) (*sessionstore.Operation, error) {
	if n := len(in.Memories.Memories); n == 0 || n > ingest.MaxGiven {
		return nil, invalid("directMemoriesSource.directMemories: want 1 to %d of them, not %d", ingest.MaxGiven, n)
	}
	var facts []ingest.GivenFact
	for i, m := range in.Memories.Memories {
		at := fmt.Sprintf("directMemoriesSource.directMemories[%d].topics", i)
		topics, err := readTopics(at, m.Topics)
		if err != nil {
			return nil, err
		}
		facts = append(facts, ingest.GivenFact{Fact: m.Fact, Topics: topics})
	}
	return s.ingest.IngestFacts(ctx, scope, facts, opts)
}

// defaultWait is the default of Options.Wait.
const defaultWait = 2 * time.Second

// awaited answers with an operation of ingestion: when it is done, or after Options.Wait as it is
// then. One that waits for a trigger is answered at once.
func (s *Service) awaited(ctx context.Context, r Resource, op *sessionstore.Operation, shown map[string]string) (
	*Operation, error) {
	if op.DueTime.IsZero() && !op.Done() {
		// Whatever happens to the waiting, the request is stored, and the client can ask for the operation.
		if last, _ := s.ingest.Wait(ctx, op.Key.Scope, op.ID, s.opts.Wait); last != nil {
			op = last
		}
	}
	return s.operationOf(ctx, r, op, shown)
}

// generated is a memory that was generated.
type generated struct {
	Memory *memoryBody   `json:"memory"`
	Action memory.Action `json:"action"`
	// PreviousRevision is the name of the revision that the memory had before the operation; "" of one
	// that the operation has created.
	PreviousRevision string `json:"previousRevision,omitempty"`
}

type generateOut struct {
	Memories []generated `json:"generatedMemories,omitempty"`
}

// generatedBy reads what an operation has changed: each memory once, as the operation left it.
func (s *Service) generatedBy(ctx context.Context, r Resource, op *sessionstore.Operation, shown map[string]string) (
	out generateOut, err error) {
	var ids []string
	of := map[string]*touched{}
	bytes := int64(0)
	for after := (sessionstore.ChangePosition{}); ; {
		page, next, err := s.ingest.Changes(ctx, op.Key.Scope, op.ID, after)
		if err != nil {
			return out, err
		}
		for i := range page {
			m := page[i].Memory
			if m == nil || !m.Kind.Statement() {
				continue
			}
			if of[m.ID] == nil {
				ids, of[m.ID] = append(ids, m.ID), &touched{first: page[i]}
			}
			of[m.ID].last = page[i]
			if bytes += m.Bytes(); bytes > maxEvents {
				return out, memory.Refuse(0, "the operation has changed memories of more than %d bytes: list them",
					maxEvents)
			}
		}
		if after = next; next == (sessionstore.ChangePosition{}) {
			break
		}
	}
	for _, id := range ids {
		if g, ok := of[id].generated(r, s.opts.Now(), shown); ok {
			out.Memories = append(out.Memories, g)
		}
	}
	return out, nil
}

// touched are the first and the last change that an operation has made of a memory.
type touched struct{ first, last ingest.Changed }

// generated is what clients are told of a memory; false if they are told nothing. A memory that
// was superseded is history, and to clients it is deleted.
func (t *touched) generated(r Resource, now time.Time, shown map[string]string) (out generated, ok bool) {
	m := t.last.Memory
	gone := t.last.Action == memory.Deleted || m.Ended(now)
	isNew := t.first.Action == memory.Created
	out.Memory, out.Action = r.memoryOf(m, shown), memory.Updated
	switch {
	case m.State.Hidden(), gone && isNew:
		return out, false
	case gone:
		out.Action = memory.Deleted
	case isNew:
		out.Action = memory.Created
		return out, true
	}
	before := t.first.Memory.Revision - 1
	if t.first.Action == memory.Deleted { // it is as it was before that
		before = t.first.Memory.Revision
	}
	if before > 0 {
		out.PreviousRevision = r.revision(m.ID, before)
	}
	return out, true
}
