package memory

import (
	"context"
	"time"
)

// Sweeper removes what has expired, of all scopes.
type Sweeper interface {
	// Sweep removes up to limit memories that expired before a time, deleted ones too, as
	// Erase does: with their revisions, and so that what stays no longer names them. One
	// that was brought back meanwhile stays. It removes as many memories that were deleted
	// by a revision that expired before the time, and as many past revisions that did, of
	// which the memory keeps the count. more says that there may be others to remove; a
	// sweep without others to remove gives the room back to the disk, if the store can. It
	// rests in between as long as searches and writes of requests need the store.
	// Several processes may sweep one store at a time.
	Sweep(ctx context.Context, before time.Time, limit int) (out Erased, more bool, err error)
}
