package memory

import "time"

// Current is what a store has under the id that a Write or Removal names. A nil
// *Current is a memory that never was.
type Current struct {
	Memory   Memory // of a deleted memory: as it last was
	Deleted  bool
	Embedded bool // it has a vector
}

// Effect is what a store does about one Write or Removal.
type Effect int

const (
	// NoEffect leaves the store as it is.
	NoEffect Effect = iota
	// FillVector adds the vector of the write to the current revision, which
	// has none. The words stay those that the revision was stored with.
	FillVector
	// AddRevision stores Decision.Step as the newest revision: with the words
	// and the vector of the write, or, for a deletion, without any.
	AddRevision
)

// Decision is the answer to one Write or Removal and the effect it has. The
// answer is given once the effect is stored.
type Decision struct {
	Outcome Outcome
	Effect  Effect
	Step    Step // with AddRevision
}

// DecidePut decides on a write, given what the store has and its clock. It is
// the one place of the rules that Store.Put promises; a store adds only that
// nothing changes between its reading of current and its writing of the effect.
func DecidePut(w *Write, current *Current, now time.Time) Decision {
	now = Micros(now)
	m := w.Memory.Stored()
	revision, there := int64(0), current != nil && !current.Deleted
	if current != nil {
		revision = current.Memory.Revision
	}
	var out Outcome
	if there {
		out.Memory = current.Memory
	}
	// The write is a repetition if the store has its content already: at
	// Expect+1 because it went through before, or at Expect because it changes
	// nothing.
	if there && (revision == w.Expect || revision == w.Expect+1) && current.Memory.SameContent(&m) {
		if w.Vector == nil || current.Embedded {
			return Decision{Outcome: out}
		}
		return Decision{Outcome: out, Effect: FillVector}
	}
	if revision != w.Expect {
		out.Err = ErrAborted
		return Decision{Outcome: out}
	}
	action := Created
	m.Revision, m.CreateTime, m.UpdateTime = revision+1, now, now
	if current != nil {
		action, m.CreateTime = Updated, current.Memory.CreateTime
	}
	return Decision{
		Outcome: Outcome{Memory: m, Changed: true},
		Effect:  AddRevision,
		Step: Step{
			Revision: m.Revision, Action: action, Time: now, Actor: w.Actor, Operation: w.Operation,
			Labels: w.Labels.stored(), ExpireTime: Micros(w.RevisionExpireTime), Memory: m,
		},
	}
}

// DecideDelete decides on a removal, as DecidePut does on a write, by the rules
// of Store.Delete.
func DecideDelete(r Removal, current *Current, now time.Time) Decision {
	if current == nil {
		return Decision{Outcome: Outcome{Err: ErrNotFound}}
	}
	now = Micros(now)
	out := Outcome{Memory: current.Memory}
	if current.Deleted || !current.Memory.Live(now) {
		return Decision{Outcome: out}
	}
	if r.Expect != 0 && r.Expect != current.Memory.Revision {
		out.Err = ErrAborted
		return Decision{Outcome: out}
	}
	gone := current.Memory
	gone.Revision++
	gone.UpdateTime = now
	out.Changed = true
	return Decision{
		Outcome: out, // as it last was
		Effect:  AddRevision,
		Step: Step{
			Revision: gone.Revision, Action: Deleted, Time: now, Actor: r.Actor, Operation: r.Operation,
			Labels: r.Labels.stored(), ExpireTime: Micros(r.RevisionExpireTime), Memory: gone,
		},
	}
}

// DecideImport reports whether a store takes in a record: it does unless it has
// the memory at the same revision or a later one.
func DecideImport(r *Record, current *Current) bool {
	return current == nil || current.Memory.Revision < r.Memory.Revision
}

// Micros cuts a time to the microsecond, in UTC. Stores keep times no finer, so
// a write cuts them first: what Put answers is then what every read gives.
func Micros(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// Stored is a Clone of m with its times cut as stores keep them.
func (m *Memory) Stored() Memory {
	out := m.Clone()
	for _, t := range []*time.Time{&out.Timestamp, &out.ValidFrom, &out.ValidTo, &out.ExpireTime, &out.EditTime,
		&out.ReceiveTime, &out.FromEditTime, &out.ToEditTime, &out.ConfirmedTime} {
		*t = Micros(*t)
	}
	return out
}
