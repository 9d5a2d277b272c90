package sqlitedb

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// Scrub returns once the file has nothing left of what was deleted before the call, in
// its log neither: all of it is copied into the main file, where SQLite overwrites what
// is deleted, and the log is cut to nothing. Copies that SQLite has left in unused parts of
// pages are overwritten too, unless memory.MoreToErase says that another call follows.
// While a backup is being copied that is not possible. Scrub tries again for scrubTime, and
// then fails with ErrUnavailable; the log is cut later then, by a checkpoint or a close.
func (db *DB) Scrub(ctx context.Context) error {
	if db.path == Memory {
		return nil
	}
	if !memory.MoreToErase(ctx) {
		if err := db.clearGaps(ctx); err != nil {
			return err
		}
	}
	for until := time.Now().Add(scrubTime); ; {
		cut := make(chan bool, 1)
		db.scrubs.add(cut)
		// The writer makes checkpoints after commits.
		if err := db.Write(ctx, Urgent().Freeing(), func(*Tx) error { return nil }); err != nil {
			return err
		}
		select {
		case done := <-cut:
			if done {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		case <-db.stopped:
			return fmt.Errorf("%w: the database is closed", memory.ErrUnavailable)
		}
		if time.Now().After(until) {
			return fmt.Errorf("%w: a copy of %s is being read: what was erased stays in its log until that is over",
				memory.ErrUnavailable, db.path)
		}
		select {
		case <-time.After(scrubPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

const (
	scrubTime  = 20 * time.Second
	scrubPause = 200 * time.Millisecond
)

// scrubs are the calls of Scrub that wait for a checkpoint.
type scrubs struct {
	mu      sync.Mutex
	waiting []chan<- bool
}

func (s *scrubs) add(cut chan<- bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = append(s.waiting, cut)
}

// take returns those that wait. They are answered after the checkpoint that follows.
func (s *scrubs) take() []chan<- bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.waiting
	s.waiting = nil
	return out
}

// answer tells calls of Scrub whether the log is empty now.
func (db *DB) answer(waiting []chan<- bool) {
	if len(waiting) == 0 {
		return
	}
	log, err := os.Stat(db.path + "-wal")
	for _, cut := range waiting {
		cut <- err == nil && log.Size() == 0
	}
}
