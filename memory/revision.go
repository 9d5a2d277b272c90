package memory

import (
	"context"
	"encoding/json"
	"time"
)

// Action is what a revision did to its memory.
type Action string

// The actions.
const (
	Created Action = "CREATED"
	Updated Action = "UPDATED"
	Deleted Action = "DELETED"
)

// Revision is one step in the history of a memory. Revisions count from 1 and are never
// changed. A deletion is a revision too. Those that have expired are left out.
type Revision struct {
	Revision int64  `json:"revision"`
	Action   Action `json:"action"`
	Fact     string `json:"fact"` // after the step; for a deletion, before it
	// Value is that of a field of a profile, as Fact is.
	Value      json.RawMessage `json:"value,omitempty"`
	CreateTime time.Time       `json:"createTime"`
	Actor      string          `json:"actor"`               // "client", or the name of the extractor
	Operation  string          `json:"operation,omitempty"` // id of the ingestion that made it
	Labels     Labels          `json:"labels,omitempty"`    // of who asked for the change
	// ExpireTime is when the revision expires: from then on no read shows it, unless it is
	// the current one of a memory that was not deleted. Zero is never.
	ExpireTime time.Time `json:"expireTime,omitzero"`
	Memory     Memory    `json:"-"` // the whole memory at that step
}

// RevisionFields are the types of the fields that a filter of revisions compares.
func RevisionFields() map[string]FieldType {
	return map[string]FieldType{
		FieldRevision: NumberField, FieldAction: TextField, FieldFact: TextField, FieldCreateTime: TimeField,
		FieldActor: TextField, FieldOperation: TextField, FieldLabels: JSONField,
		FieldExpireTime: TimeField,
	}
}

// Compare reports whether c holds of r.
func (r *Revision) Compare(c Cmp) bool {
	switch c.Field {
	case FieldRevision:
		return c.OfNumber(r.Revision)
	case FieldAction:
		return c.OfText(string(r.Action))
	case FieldFact:
		return c.OfText(r.Fact)
	case FieldCreateTime:
		return c.OfTime(r.CreateTime)
	case FieldExpireTime:
		return c.OfTime(r.ExpireTime)
	case FieldActor:
		return c.OfText(r.Actor)
	case FieldOperation:
		return c.OfText(r.Operation)
	case FieldLabels:
		return c.OfTexts(r.Labels)
	}
	return false
}

// RevisionsOf turns a history, oldest first, into what Store.Revisions answers:
// newest first.
func RevisionsOf(history []Step) []Revision {
	out := make([]Revision, len(history))
	for i, st := range history {
		out[len(history)-1-i] = Revision{
			Revision: st.Revision, Action: st.Action, Fact: st.Memory.Fact, CreateTime: st.Time,
			Actor: st.Actor, Operation: st.Operation, Labels: st.Labels, ExpireTime: st.ExpireTime,
			Memory: st.Memory,
		}
		if p := st.Memory.Profile; p != nil {
			out[len(history)-1-i].Value = p.Value
		}
	}
	return out
}

// Expired reports whether a step has expired at now.
func (st *Step) Expired(now time.Time) bool {
	return !st.ExpireTime.IsZero() && !now.Before(st.ExpireTime)
}

// Kept returns the steps of a history, oldest first, that a read at now shows: those that
// have not expired, and the last one, which is the memory as it is. If that is a deletion
// that has expired, it returns none: nothing is left of the memory.
func Kept(history []Step, now time.Time) []Step {
	last := len(history) - 1
	if last < 0 || history[last].Action == Deleted && history[last].Expired(now) {
		return nil
	}
	var out []Step
	for i := range history {
		if i == last || !history[i].Expired(now) {
			out = append(out, history[i])
		}
	}
	return out
}

// CutRevisions ends what Store.Revisions returns: after MaxPageSize revisions, or
// before one with which they would have more than MaxListBytes.
func CutRevisions(found []Revision) []Revision {
	bytes := int64(0)
	for i := range found {
		if bytes += found[i].Memory.Bytes(); i == MaxPageSize || i > 0 && bytes > MaxListBytes {
			return found[:i]
		}
	}
	return found
}

// EachRevision calls see with the revisions of a memory, newest first, until it
// returns false.
func EachRevision(ctx context.Context, store Store, scope Scope, id string, see func(*Revision) bool) error {
	for before := int64(0); before != 1; {
		some, err := store.Revisions(ctx, scope, id, before)
		if err != nil || len(some) == 0 {
			return err
		}
		for i := range some {
			if !see(&some[i]) {
				return nil
			}
		}
		before = some[len(some)-1].Revision
	}
	return nil
}

// MaxRevisionsSeen bounds how many revisions PassingRevisions looks at in one call.
const MaxRevisionsSeen = 10 * MaxPageSize

// PassingRevisions reads up to size revisions of a memory, newest first, that pass: those
// numbered below before, or from the newest on if that is 0. last is the number of the last
// one that it has looked at, from which the next call goes on; 1 if none follow.
func PassingRevisions(ctx context.Context, store Store, scope Scope, id string, before int64, size int,
	passes func(*Revision) bool) (out []Revision, last int64, err error) {
	last, bytes := before, int64(0)
	for seen := 0; seen < MaxRevisionsSeen; {
		some, err := store.Revisions(ctx, scope, id, last)
		if err != nil {
			return nil, 0, err
		}
		if len(some) == 0 {
			return out, 1, nil
		}
		for i := range some {
			r := &some[i]
			if seen++; !passes(r) {
				last = r.Revision
				continue
			}
			if bytes += r.Memory.Bytes(); len(out) == size || len(out) > 0 && bytes > MaxListBytes {
				return out, last, nil
			}
			out, last = append(out, *r), r.Revision
		}
		if last == 1 {
			break
		}
	}
	return out, last, nil
}
