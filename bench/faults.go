package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Faults happen while requests arrive, each again and again. The zero value is
// none.
type Faults struct {
	// Kill is the time between two kills of memoryd, which is started again at
	// once.
	Kill time.Duration
	// Stall is the time between two stalls, of StallFor each, of the processes in
	// StallPIDs. These default to memoryd; a Redis or a Qdrant can be stalled too.
	Stall, StallFor time.Duration
	StallPIDs       []int
	// FullDisk is the time between two times, of FullFor each, at which the file
	// system of FullDir is full. A file there takes the room that is left. MaxFill
	// bounds the file in bytes: a file system with more room is not filled, and the
	// run fails.
	FullDisk, FullFor time.Duration
	FullDir           string
	MaxFill           int64
}

// Defaults of Faults.
const (
	defaultStallFor = 2 * time.Second
	defaultFullFor  = 5 * time.Second
	defaultMaxFill  = 256 << 20
)

// Errors of faults that are not possible.
var (
	errNoProcess = errors.New("memoryd can only be killed if it was started here, not by its URL")
	errNoStall   = errors.New("processes cannot be stalled on this system")
	errNoPID     = errors.New("there is no process to stall: name its id")
	errTooLarge  = errors.New("the file system has too much room to fill: name a directory on a small one")
)

// check refuses faults that are not possible.
func (b *Bench) checkFaults() error {
	f := &b.opts.Faults
	if f.StallFor <= 0 {
		f.StallFor = defaultStallFor
	}
	if f.FullFor <= 0 {
		f.FullFor = defaultFullFor
	}
	if f.MaxFill <= 0 {
		f.MaxFill = defaultMaxFill
	}
	switch {
	case f.Kill > 0 && b.opts.Process == nil:
		return errNoProcess
	case f.Stall > 0 && !canStall:
		return errNoStall
	case f.Stall > 0 && len(f.StallPIDs) == 0 && b.opts.Process == nil && b.opts.PID == 0:
		return errNoPID
	}
	return nil
}

// inject makes the faults happen until ctx is over. When it returns, memoryd runs.
func (b *Bench) inject(ctx context.Context) error {
	if err := b.checkFaults(); err != nil {
		return err
	}
	f := b.opts.Faults
	var all sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	every := func(wait time.Duration, do func() error) {
		if wait <= 0 {
			return
		}
		all.Go(func() {
			for sleepUntil(ctx, time.Now().Add(wait)) {
				if err := do(); err != nil {
					mu.Lock()
					errs = append(errs, err)
					mu.Unlock()
					return
				}
			}
		})
	}
	// A fault in progress ends although ctx is over: what it has stopped must run.
	whole := context.WithoutCancel(ctx)
	every(f.Kill, func() error {
		b.opts.Process.Kill()
		b.report.Faults.Kills++
		return b.opts.Process.Restart(whole)
	})
	every(f.Stall, func() error {
		b.report.Faults.Stalls++
		return b.stall(ctx)
	})
	every(f.FullDisk, func() error {
		b.report.Faults.FullDisks++
		return fill(ctx, f.FullDir, f.MaxFill, f.FullFor)
	})
	all.Wait()
	return errors.Join(errs...)
}

// stalled returns the ids of the processes to stall. There is none while memoryd is
// started again after a kill. An id of 0 would stop this process and those that were
// started with it.
func (b *Bench) stalled() []int {
	if pids := b.opts.Faults.StallPIDs; len(pids) > 0 {
		return pids
	}
	if pid := max(b.opts.PID, b.opts.Process.pid()); pid > 0 {
		return []int{pid}
	}
	return nil
}

// stall stops processes for a while. One that is killed meanwhile is no error.
func (b *Bench) stall(ctx context.Context) error {
	f := b.opts.Faults
	for _, pid := range b.stalled() {
		if err := stopProcess(pid); err != nil && len(f.StallPIDs) > 0 {
			return fmt.Errorf("stall process %d: %w", pid, err)
		}
		defer continueProcess(pid)
	}
	sleepUntil(ctx, time.Now().Add(f.StallFor))
	return nil
}

// fill takes all room of a file system for a while.
func fill(ctx context.Context, dir string, most int64, length time.Duration) (err error) {
	name := filepath.Join(dir, "memoryd-bench-fills-the-disk")
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(name)) }()
	// Ever smaller pieces, so that not a page is left.
	for piece := 1 << 20; piece >= 512; {
		n, err := file.Write(make([]byte, piece))
		if most -= int64(n); most < 0 {
			return fmt.Errorf("fill %s: %w", dir, errTooLarge)
		}
		if err != nil {
			piece /= 2
		}
	}
	sleepUntil(ctx, time.Now().Add(length))
	return nil
}
