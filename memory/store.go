package memory

import (
	"context"
	"fmt"
	"time"
)

// Write asks for one new revision of one memory.
type Write struct {
	// Memory is the whole new state. Revision, CreateTime and UpdateTime are
	// the store's to set.
	Memory Memory
	// Expect is the revision this write was decided on: 0 for a memory that is
	// not there yet.
	Expect int64
	// Terms and Vector are what searches find the memory by: its analyzed
	// words, and its embedding of unit length or nil while there is none yet.
	Terms  Terms
	Vector []float32
	// Actor and Operation go into the revision.
	Actor, Operation string
	// Labels go into the revision too. A repetition adds none.
	Labels Labels
	// RevisionExpireTime is when the revision expires; zero is never. See Revision.
	RevisionExpireTime time.Time
	// Life names what the write was made of, so that it is refused once that was erased:
	// a life of a session. It is "" for a write that a client makes itself.
	Life string
	// UniqueInApp refuses an id of which any user of the app has or had a memory. Of writes with it that
	// run at once, in any scopes of the app, one succeeds; the others are refused with ErrExists, or
	// with ErrAborted as long as it is not decided which. Expect is 0.
	UniqueInApp bool
}

// ValidateWrites reports the first rule that writes to one scope break, for a
// store of vectors of dimension numbers.
func ValidateWrites(scope Scope, writes []Write, dimension int) error {
	seen := map[string]bool{}
	for i := range writes {
		w := &writes[i]
		if err := w.Memory.Validate(); err != nil {
			return err
		}
		if w.Memory.Scope != scope {
			return fmt.Errorf("%w: memory %q is of another scope", ErrInvalid, w.Memory.ID)
		}
		if err := w.Labels.Validate("labels"); err != nil {
			return err
		}
		if err := validateExpiry(w.RevisionExpireTime); err != nil {
			return err
		}
		if len(w.Life) > MaxLife {
			return ValidateLives([]string{w.Life})
		}
		if seen[w.Memory.ID] {
			return fmt.Errorf("%w: memory %q is written twice in one call", ErrInvalid, w.Memory.ID)
		}
		seen[w.Memory.ID] = true
		if err := ValidateVector(w.Vector, dimension); err != nil {
			return fmt.Errorf("memory %q: %w", w.Memory.ID, err)
		}
	}
	return nil
}

// validateExpiry checks when a revision expires.
func validateExpiry(at time.Time) error {
	if at.IsZero() {
		return nil
	}
	return ValidateTime("revisionExpireTime", at)
}

// Removal asks for the deletion of one memory.
type Removal struct {
	ID               string
	Expect           int64 // the revision it was decided on; 0 for whichever is current
	Actor, Operation string
	Labels           Labels // of the revision, valid ones
	// RevisionExpireTime is when the revision expires; zero is never. Once it has, nothing
	// is left of the memory.
	RevisionExpireTime time.Time
}

// Outcome is the result of one Write or Removal.
type Outcome struct {
	// Memory is as stored now; after a Removal, as it last was.
	Memory Memory
	// Changed is false when the store already had exactly this.
	Changed bool
	// Err is nil, ErrAborted, (Removal) ErrNotFound or (Write.UniqueInApp) ErrExists. Memory is then the
	// current one if there is any.
	Err error
}

// Store keeps memories. Package storetest spells its promises out as cases,
// which every implementation passes. All methods may be called concurrently. A
// scope that was never written to, or is not valid, reads as empty. Slices passed
// in stay the caller's; slices returned are the caller's. A method whose context
// has ended returns the error of the context. Every method of a store that cannot
// be reached fails with ErrUnavailable.
//
// A backend of memoryd is also an [Archive] and a [Movable].
type Store interface {
	// ID names this store for as long as it lives, however often it is opened.
	// No other store has it. A session store that records which memories were
	// made records it for the store of this ID.
	ID() string

	// Put makes one new revision for each write, or none where the store has
	// exactly this already. Writes stand alone: one that is ABORTED (its
	// Outcome.Err) does not stop the others. All must be valid
	// (Memory.Validate, a Vector of the store's dimension), of scope, and name
	// distinct memories, else nothing is written and the error is ErrInvalid.
	// Times are cut to the microsecond.
	//
	// A write goes through when the current revision is Expect. A deleted or
	// expired memory keeps its last revision, so a create cannot bring it back,
	// but a write that expects that revision can, as an update. When the
	// current revision is Expect or Expect+1 with the same content, the write
	// is a repetition: it makes no revision, but fills in a missing Vector.
	// Every other write is ErrAborted. DecidePut is these rules as a function.
	//
	// When Put returns, Get, List and Search see what it wrote, and a crash
	// does not undo it.
	Put(ctx context.Context, scope Scope, writes []Write) ([]Outcome, error)

	// Get returns the live memories among ids, in the order of ids: an id that
	// comes twice gives its memory twice. It leaves out those that are missing,
	// deleted or expired. Where the store cannot read some of the others, it returns
	// a Damage that names them beside the memories that it can read.
	Get(ctx context.Context, scope Scope, ids []string) ([]Memory, error)

	// Delete removes memories, each leaving a revision. A Removal whose memory
	// is deleted or expired already gives Changed false; one whose memory never
	// was, ErrNotFound. DecideDelete is these rules as a function.
	Delete(ctx context.Context, scope Scope, removals []Removal) ([]Outcome, error)

	// List returns a page of the live memories that pass the filter.
	List(ctx context.Context, scope Scope, list List) (Page, error)

	// Search returns the candidates for a query; see Query and Found.
	Search(ctx context.Context, scope Scope, q Query) (Found, error)

	// PrepareSearch begins a search whose query is not known yet, and returns the rest of
	// it at once: a store may look meanwhile for what has changed in the scope. The rest may
	// be called several times, also at the same time. It sees what was written before
	// PrepareSearch, and may leave out what is written after that.
	PrepareSearch(ctx context.Context, scope Scope) PreparedSearch

	// Revisions returns revisions of one memory, deleted or not, newest first:
	// those numbered below before, or from the newest on if that is 0. It returns
	// as many as CutRevisions leaves, and none if none follow. It leaves out those that
	// have expired; see Kept. The error is ErrNotFound if the memory never was, or was
	// deleted by a revision that has expired.
	Revisions(ctx context.Context, scope Scope, id string, before int64) ([]Revision, error)

	// ChangedBy reads the ids of the memories of which an operation has made a revision,
	// each once, in any order: deleted and expired ones too. from is "" for the first
	// page, else the next that came with the page before; next is "" if no page follows.
	// Revisions that have expired count for nothing.
	// A page has MaxPageSize ids at most, and may have none although others follow. What
	// the operation changes meanwhile may be left out.
	ChangedBy(ctx context.Context, scope Scope, operation, from string) (ids []string, next string, err error)

	// Erase removes memories with all of their revisions, words and vectors, as if they
	// had never been: no read and no export has anything of them, and a write that
	// expects none makes them again. What it leaves no longer names them: see
	// Memory.Unlink. Memories that are missing are no error. An erasing that was
	// interrupted is finished by calling it again. A dry run counts exactly what the same
	// erasing would count then, and holds no more than a page of memories.
	Erase(ctx context.Context, scope Scope, which Erasure) (Erased, error)

	// Revoke has Put refuse every write of these lives from then on, with ErrRevoked:
	// also one that was decided on before, and comes late. A store need not keep that
	// longer than RevokedFor.
	Revoke(ctx context.Context, scope Scope, lives []string) error

	// Users reads the users of an app that have memories, deleted ones included, by id, up
	// to limit of those after an id. The scopes of the app itself are of no user.
	Users(ctx context.Context, app, after string, limit int) ([]string, error)

	// Apps reads the apps that have memories, by id, up to limit of those after an id.
	Apps(ctx context.Context, after string, limit int) ([]string, error)

	AppReader
	Counter
	Sweeper
}
