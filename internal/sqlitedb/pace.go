package sqlitedb

import (
	"context"
	"time"
)

const (
	// restFactor is how many times as long as a step took background work rests after it
	// while requests use the database. So it works for 4 % of the time, and fewer than one
	// request in twenty meets it.
	restFactor = 24
	// longestRest bounds a rest.
	longestRest = 10 * time.Second
	// usedFor is for how long after a request the database counts as used.
	usedFor = time.Second
)

// Used notes that a request uses the database, or what is held in memory of it.
func (db *DB) Used() { db.used.Store(time.Now().UnixNano()) }

// Rest has background work rest after a step that took some time, so that requests have the
// machine and the disk. While there are none it returns at once.
func (db *DB) Rest(ctx context.Context, took time.Duration) error {
	if time.Since(time.Unix(0, db.used.Load())) > usedFor {
		return ctx.Err()
	}
	select {
	case <-time.After(min(restFactor*took, longestRest)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
