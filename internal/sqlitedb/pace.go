package sqlitedb

import (
	"context"
	"time"
)

const (
	// restFactor is how many times as long as a step and a request take background work rests
	// after a step, while requests use the database. So fewer than one request in twenty meets
	// it, and the 95th percentile of their times stays.
	restFactor = 24
	// longestRest bounds a rest.
	longestRest = 10 * time.Second
	// usedFor is for how long after a request the database counts as used.
	usedFor = time.Second
)

// Used notes that a request uses the database, or what is held in memory of it, and how long
// it took; 0 if that is not known.
func (db *DB) Used(took time.Duration) {
	db.used.Store(time.Now().UnixNano())
	// The longest of those of late. Two that come together may lose one, which does no harm.
	if took > 0 {
		last := db.usedTook.Load()
		db.usedTook.Store(max(int64(took), last-last/8))
	}
}

// Rest has background work rest after a step that took some time, so that requests have the
// machine and the disk. While there are none it returns at once.
func (db *DB) Rest(ctx context.Context, took time.Duration) error {
	if time.Since(time.Unix(0, db.used.Load())) > usedFor {
		return ctx.Err()
	}
	took = min(took, longestRest) + min(time.Duration(db.usedTook.Load()), longestRest)
	select {
	case <-time.After(min(restFactor*took, longestRest)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
