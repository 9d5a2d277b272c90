package sqlitedb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// reserve is the file PATH.reserve, which keeps room on the disk. When the disk is
// full, writes that free room get it: without it nothing could be deleted, as SQLite
// writes first what it is about to delete. Once it is given up no other write is
// tried, until there is room for the file again.
type reserve struct {
	path  string
	bytes int64 // 0 for no reserve

	mu    sync.Mutex
	spent bool
	tried time.Time // when it was last tried to take the room again
}

// retakePause is the time between two tries to take the room again.
const retakePause = time.Second

// take makes the file. It fails if there is no room for it.
func (r *reserve) take() error {
	if r.bytes <= 0 {
		return nil
	}
	if info, err := os.Stat(r.path); err == nil && info.Size() == r.bytes {
		return nil
	}
	f, err := os.OpenFile(r.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	err = allocate(f, r.bytes)
	if errors.Is(err, errors.ErrUnsupported) {
		err = fill(f, r.bytes)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Truncate(r.path, 0))
	}
	return nil
}

// begin takes the room at a start, and a quarter of the disk at most. On a disk that is
// full it is given up already if there is a file: the process before may have given it
// to deletions. Without a file there was no reserve, so that none is kept, until a later
// start.
func (r *reserve) begin(log *slog.Logger) {
	if disk := diskSize(filepath.Dir(r.path)); disk > 0 && r.bytes > disk/4 {
		log.Warn("the disk is small: a quarter of it is kept for deletions when it is full, less than -delete-reserve",
			"file", r.path, "bytes", disk/4, "flag", r.bytes)
		r.bytes = disk / 4
	}
	first := missing(r.path)
	err := r.take()
	if err == nil {
		return
	}
	log.Warn("the reserve that deletions get when the disk is full cannot be kept", "file", r.path, "bytes", r.bytes,
		"err", err)
	if first {
		_ = os.Remove(r.path) // so that the next start finds none either
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spent, r.tried = errors.Is(err, syscall.ENOSPC), time.Now()
}

// fill writes bytes that no file system can store in less room.
func fill(f *os.File, bytes int64) error {
	random := rand.NewChaCha8([32]byte{})
	block := make([]byte, 64<<10)
	for ; bytes > 0; bytes -= int64(len(block)) {
		_, _ = random.Read(block) // it never fails
		if _, err := f.Write(block[:min(int64(len(block)), bytes)]); err != nil {
			return err
		}
	}
	return nil
}

// give gives the room up, unless it is already. It reports whether deletions have it.
func (r *reserve) give(log *slog.Logger) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.spent || r.bytes <= 0 {
		return r.spent
	}
	info, err := os.Stat(r.path)
	if err != nil || info.Size() == 0 || os.Truncate(r.path, 0) != nil {
		return false
	}
	r.spent, r.tried = true, time.Now()
	log.Warn("the disk is full: its reserve is given up for a deletion", "file", r.path)
	return true
}

// given reports whether the room is given up. The log is then cut after each write: its room
// is as good as the reserve's, and a log that grew would use that up.
func (r *reserve) given() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.spent
}

// check fails while the room is given up. Now and then it tries to take it again.
func (r *reserve) check() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.spent {
		return nil
	}
	if time.Since(r.tried) >= retakePause {
		r.tried = time.Now()
		if r.take() == nil {
			r.spent = false
			return nil
		}
	}
	return fmt.Errorf("%w: the disk is full: what is left of it is kept for deletions, until there are %d bytes"+
		" for the reserve (-delete-reserve)", memory.ErrUnavailable, r.bytes)
}

// full reports whether an error can come from a full disk.
func full(err error) bool {
	return errors.Is(err, memory.ErrUnavailable) && code(err) != 0 && !IsDamage(err)
}

// Freeing is the same turn for a write that makes room: when the disk is full, it gets
// the reserve. The write may be run twice.
func (t Turn) Freeing() Turn {
	t.freeing = true
	return t
}

// Write runs fn inside a transaction, alone, and returns once its changes are on
// the disk. If fn fails, none of its changes stay and Write returns its error. A
// ctx that ends before fn has begun stops it; one that ends later does not.
func (db *DB) Write(ctx context.Context, turn Turn, fn func(*Tx) error) error {
	if !turn.freeing {
		if err := db.reserve.check(); err != nil {
			return err
		}
	}
	err := db.write(ctx, turn, fn)
	if turn.freeing && full(err) && db.reserve.give(db.log) {
		// After this one, even if it fails, the log is cut, as far as there is room.
		_ = db.write(ctx, Urgent(), func(*Tx) error { return nil })
		err = db.write(ctx, turn, fn)
	}
	return err
}
