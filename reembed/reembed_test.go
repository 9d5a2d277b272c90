package reembed

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/memory"
)

// fakeMove is a move of some memories, which can fail at each step.
type fakeMove struct {
	left      []memory.Record
	moved     []memory.Record
	stepErrs  []error // of the next steps
	finishErr error   // of the next Finish
	finished  bool
	reclaims  int
}

func (m *fakeMove) Step(ctx context.Context, index memory.Indexer) (int, error) {
	if len(m.stepErrs) > 0 {
		err := m.stepErrs[0]
		m.stepErrs = m.stepErrs[1:]
		return 0, err
	}
	some := m.left[:min(2, len(m.left))]
	if err := index(ctx, some); err != nil {
		return 0, err
	}
	m.moved, m.left = append(m.moved, some...), m.left[len(some):]
	return len(some), nil
}

func (m *fakeMove) Finish(ctx context.Context, index memory.Indexer) error {
	if err := m.finishErr; err != nil {
		m.finishErr = nil
		return err
	}
	m.finished = len(m.left) == 0
	return nil
}

func (m *fakeMove) Progress(context.Context) (done, total int, err error) {
	return len(m.moved), len(m.moved) + len(m.left), nil
}

func (m *fakeMove) Reclaim(context.Context) (bool, error) {
	m.reclaims++
	return m.reclaims < 3, nil
}

// picky is an embedder that refuses a text.
type picky struct{ down *atomic.Bool }

func (picky) Model() embed.Model { return embed.Model{Name: "picky", Dimension: 1} }

func (p picky) Embed(_ context.Context, _ embed.Task, texts []string) ([][]float32, error) {
	if p.down.Load() {
		return nil, memory.ErrUnavailable
	}
	out := make([][]float32, len(texts))
	for i, text := range texts {
		if strings.Contains(text, "unspeakable") {
			return nil, memory.ErrInvalid
		}
		out[i] = []float32{1}
	}
	return out, nil
}

func records(facts ...string) (out []memory.Record) {
	for i, fact := range facts {
		out = append(out, memory.Record{Memory: memory.Memory{ID: fmt.Sprint(i), Kind: memory.KindFact, Fact: fact}})
	}
	return out
}

func mover(move memory.Move, down *atomic.Bool) *Mover {
	return New(move, picky{down}, memory.Model{}, memory.Model{Embedder: "picky", Dimension: 1}, slog.New(slog.DiscardHandler))
}

// A move goes on through failures that pass, its note says how far it is, and the
// work changes over once everything has moved. A text that the embedder refuses
// moves without a vector.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		move := &fakeMove{left: records("a", "b", "something unspeakable", "d"), stepErrs: []error{memory.ErrUnavailable}, finishErr: memory.ErrUnavailable}
		down := &atomic.Bool{}
		down.Store(true)
		m := mover(move, down)
		if note := m.Note(); note != "the memories are yet to be counted" {
			t.Errorf("note %q", note)
		}
		m.Count(t.Context())
		ctx, cancel := context.WithCancel(t.Context())
		var before, after atomic.Bool
		reopens := 0
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			m.Run(ctx, func(ctx context.Context) {
				before.Store(true)
				<-ctx.Done()
				before.Store(false)
			}, func() (Work, error) {
				if reopens++; reopens == 1 {
					return nil, memory.ErrUnavailable
				}
				return func(ctx context.Context) {
					after.Store(true)
					<-ctx.Done()
				}, nil
			})
		}()
		time.Sleep(10 * time.Second)
		if note := m.Note(); note != "0 of 4 memories moved, waiting to try again" || !before.Load() {
			t.Errorf("while the embedder fails: note %q, the work before goes on: %v", note, before.Load())
		}
		down.Store(false)
		time.Sleep(2 * longestPause)
		synctest.Wait()
		if !move.finished || before.Load() || !after.Load() || reopens != 2 || move.reclaims != 3 {
			t.Errorf("at the end: %+v, the work before %v, after %v, %d reopens", move, before.Load(), after.Load(), reopens)
		}
		for _, r := range move.moved {
			if got, want := r.Vector != nil, !strings.Contains(r.Memory.Fact, "unspeakable"); got != want {
				t.Errorf("%q has a vector: %v", r.Memory.Fact, got)
			}
		}
		cancel()
		<-ended
	})
}

// A move that was given up for another one leaves the memories as they are: the
// work before goes on until the end.
func TestRunAborted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		move := &fakeMove{left: records("a"), stepErrs: []error{fmt.Errorf("given up: %w", memory.ErrAborted)}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		mover(move, &atomic.Bool{}).Run(ctx, func(ctx context.Context) { <-ctx.Done() }, func() (Work, error) {
			t.Error("the memories are opened for the other model")
			return nil, errors.New("no")
		})
		if ctx.Err() == nil || len(move.moved) > 0 {
			t.Errorf("it ends early (%v), or has moved %d memories", ctx.Err(), len(move.moved))
		}
	})
}
