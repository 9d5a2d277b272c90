package sessionstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/memoryd/memoryd/memory"
)

// Erased tells what an erasing has removed, or would remove.
type Erased struct {
	Sessions int // that could be read; those that were deleted and had work left do not count
	Events   int // of all lives
	// Lives are those that were removed: see [Life]. A memory store that revokes them
	// refuses what a worker still writes of their events. A dry run leaves them out.
	Lives []string
}

// Life names one life of a session, by the Ref that its store has given it, for
// memory.Write. It tells neither the scope nor the session.
func Life(key Key, ref string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s/%s/%s", key.App, key.User, key.ID, ref))
	return hex.EncodeToString(sum[:16])
}

// Blank returns what is left of an event that was erased: its id, so that the event is
// not stored again if it is sent again, its author and its time.
func Blank(e Event) (Event, error) {
	doc, err := json.Marshal(map[string]any{"id": e.ID, "author": e.Author,
		"timestamp": e.Timestamp.UTC().Format("2006-01-02T15:04:05.000000Z"), "erased": true})
	if err != nil {
		return Event{}, err
	}
	return ReadEvent(doc)
}

// Life names the life of the session that the work is of.
func (w Work) Life() string { return Life(w.Key, w.Ref) }

// Eraser removes sessions for good, and tells whose there are. What it erases is in no
// answer and no export afterwards, and in no file of the store: a store that others run
// says when its own files follow.
//
// An erasing that was interrupted is finished by calling it again. What is made while
// it runs may be erased or not. With dryRun a call changes nothing, and counts exactly what
// the same call without it would count then; it holds no more than a page of sessions.
type Eraser interface {
	// EraseSession removes all that the store has of a session id, also of deleted and
	// one-shot sessions of that id: events, state, positions, plans, operations and their
	// changes. A session that is missing is no error.
	EraseSession(ctx context.Context, key Key, dryRun bool) (Erased, error)

	// EraseEvents blanks events of a session id, in all of its lives: see [Blank]. Their
	// changes, which operations report, are removed, and stored plans. It returns how
	// many events it has blanked. Events that are missing, or blank, are no error.
	EraseEvents(ctx context.Context, key Key, events []string, dryRun bool) (int, error)

	// EraseChanges removes the changes that operations of a scope report, and the stored
	// plans of its sessions, of which has says that they have something that is erased
	// elsewhere. It returns how many it has removed. A worker that has read such a plan is
	// like one whose lease has ended.
	EraseChanges(ctx context.Context, scope memory.Scope, has func(doc json.RawMessage) bool) (int, error)

	// EraseUser does so with all sessions of a user, and removes the "user:" state and the
	// lease on the scope.
	EraseUser(ctx context.Context, scope memory.Scope, dryRun bool) (Erased, error)

	// EraseApp removes what an app has beside its users, which is the "app:" state and
	// its configuration. Its users are erased before.
	EraseApp(ctx context.Context, app string) error

	// Users reads the users of an app that have sessions or state, by id, up to limit of
	// those after an id.
	Users(ctx context.Context, app, after string, limit int) ([]string, error)

	// Apps reads the apps that have sessions, state or a configuration, by id, up to limit of
	// those after an id.
	Apps(ctx context.Context, after string, limit int) ([]string, error)
}
