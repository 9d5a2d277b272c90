// Package reembed moves memories to another embedder, or to this version's words,
// while a memoryd serves them.
package reembed

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/conc"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
)

const (
	// countEvery is how often progress is counted: a count reads the whole store.
	countEvery = time.Second
	// logEvery is how often progress is logged.
	logEvery = 15 * time.Second
	// finishTime bounds the last step, during which no write goes through.
	finishTime = 20 * time.Second
	// longestPause is the longest wait before a failed step is tried again,
	// unless the embedder asks for more.
	longestPause = time.Minute
	// longestAsked is the longest wait that an embedder may ask for.
	longestAsked = time.Hour
)

// probeText is the text of a vector that is only made to see whether the embedder
// works.
const probeText = "memoryd"

// Mover moves the memories of one store to another model.
type Mover struct {
	move     memory.Move
	embedder embed.Embedder // of the new model
	from, to memory.Model
	log      *slog.Logger

	counted  time.Time // when progress was last counted
	progress atomic.Pointer[string]
	waiting  atomic.Bool // to try a step again
}

// New makes a Mover of a move that has begun, from one model to another, whose
// embedder it asks for vectors.
func New(move memory.Move, embedder embed.Embedder, from, to memory.Model, log *slog.Logger) *Mover {
	return &Mover{move: move, embedder: embedder, from: from, to: to, log: log}
}

// Count counts how many memories have moved, for Note.
func (m *Mover) Count(ctx context.Context) {
	done, total, err := m.move.Progress(ctx)
	if err != nil {
		return // the next step fails the same way, and is logged
	}
	text := fmt.Sprintf("%d of %d memories moved", done, total)
	m.progress.Store(&text)
	m.counted = time.Now()
}

// Note says how many memories have moved, for /readyz.
func (m *Mover) Note() string {
	text := "the memories are yet to be counted"
	if p := m.progress.Load(); p != nil {
		text = *p
	}
	if m.waiting.Load() {
		text += ", waiting to try again"
	}
	return text
}

// Work serves memories until its context is over.
type Work func(context.Context)

// Run moves the memories, and works beside it: before while they are as they
// were, and, once they have moved, the work that reopen returns. reopen opens the
// memories for the new model. Run returns when ctx is over, or when the move was
// given up for another one and before has returned.
func (m *Mover) Run(ctx context.Context, before Work, reopen func() (Work, error)) {
	work, stop := context.WithCancel(ctx)
	defer stop()
	var first conc.WaitGroup
	first.Go(func() { before(work) })
	after, err := m.moveAll(ctx, reopen)
	if err != nil {
		first.Wait()
		return
	}
	m.log.Info("the memories have moved; from now on start memoryd serve with these flags", "to", m.to)
	stop()
	first.Wait()
	move := m.move
	before, m.move = nil, nil // the old index in memory goes with them
	var rest conc.WaitGroup
	defer rest.Wait()
	rest.Go(func() { m.reclaim(ctx, move) })
	after(ctx)
}

// moveAll moves everything and opens the result.
func (m *Mover) moveAll(ctx context.Context, reopen func() (Work, error)) (after Work, err error) {
	if err := m.steps(ctx); err != nil {
		return nil, err
	}
	err = m.retry(ctx, "open the memories that have moved", func() (err error) {
		after, err = reopen()
		return err
	})
	return after, err
}

// steps moves everything. It fails when ctx is over, or when the move was given
// up for another one.
func (m *Mover) steps(ctx context.Context) error {
	m.log.Info("moving the memories", "from", m.from, "to", m.to, "so far", m.Note())
	for logged := time.Now(); ; {
		left := 0
		err := m.retry(ctx, "move memories", func() (err error) {
			left, err = m.move.Step(ctx, m.index)
			return err
		})
		if err != nil {
			return err
		}
		if time.Since(m.counted) > countEvery {
			m.Count(ctx)
		}
		if time.Since(logged) > logEvery {
			m.log.Info("moving the memories", "so far", m.Note())
			logged = time.Now()
		}
		if left > 0 {
			continue
		}
		err = m.move.Finish(ctx, m.indexLast)
		if err == nil || ctx.Err() != nil {
			return err
		}
		m.log.Warn("the move is not over yet", "err", err)
		// By chance, so that two processes that end the same move do not meet again.
		pause(ctx, rand.N(time.Second))
	}
}

// index gives memories their words and vectors. A memory whose text the embedder
// refuses does not stop the others: it gets words alone.
func (m *Mover) index(ctx context.Context, records []memory.Record) error {
	err := ingest.Index(ctx, m.embedder, records, time.Now())
	if !errors.Is(err, memory.ErrInvalid) {
		return err
	}
	if _, probe := embed.Vectors(ctx, m.embedder, embed.Document, []string{probeText}); probe != nil {
		return err // it refuses every text: a key or a name is wrong
	}
	for i := range records {
		err := ingest.Index(ctx, m.embedder, records[i:i+1], time.Now())
		if errors.Is(err, memory.ErrInvalid) {
			of := &records[i].Memory
			m.log.Warn("a memory is left without a vector: the embedder refuses it",
				"memory", of.ID, "app", of.App, "user", of.User, "err", err)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// indexLast is index for the last memories, within finishTime.
func (m *Mover) indexLast(ctx context.Context, records []memory.Record) error {
	ctx, cancel := context.WithTimeout(ctx, finishTime)
	defer cancel()
	return m.index(ctx, records)
}

// retry does something until it succeeds. It gives up when ctx is over, or when
// the move was given up for another one.
func (m *Mover) retry(ctx context.Context, what string, do func() error) error {
	for try := 0; ; try++ {
		err := do()
		m.waiting.Store(err != nil)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, memory.ErrAborted):
			m.log.Error("the memories stay as they are", "err", err)
			return err
		}
		backoff := min(longestPause, time.Second/2<<min(try, 10)) // doubles, without overflow
		wait := max(backoff, min(memory.RetryAfter(err), longestAsked))
		m.log.Error(what+": it is tried again", "in", wait, "err", err)
		pause(ctx, wait)
	}
}

// pause waits, but no longer than ctx.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// reclaim gives back the room that the old words and vectors took.
func (m *Mover) reclaim(ctx context.Context, move memory.Move) {
	for {
		more, err := move.Reclaim(ctx)
		if err != nil && ctx.Err() == nil {
			m.log.Warn("the room of the old vectors is not given back", "err", err)
		}
		if err != nil || !more {
			return
		}
	}
}
