package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/conc"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/qdrantstore"
	"github.com/memoryd/memoryd/memory/sqlitestore"
)

// reembed serves as serve does. If the memories were made with another embedder
// or analyzer than this start has, it begins with them as they are, moves them
// meanwhile, and goes on with them as they are to be. Cut off anywhere, it goes
// on where it was; started again after the end, it just serves: so it may stand
// where serve stood, under whatever starts memoryd again.
func reembed(ctx context.Context, cfg config, stdout, stderr io.Writer) error {
	log := cfg.logger(stderr)
	h, err := buildMove(ctx, cfg, stdout, log)
	if err != nil {
		return errors.Join(err, h.close())
	}
	return h.live(ctx, cfg, stdout, log)
}

// buildMove is build, for memories of whichever model.
func buildMove(ctx context.Context, cfg config, stdout io.Writer, log *slog.Logger) (h *house, err error) {
	h = newHouse()
	if h.models, err = newModels(cfg, log); err != nil {
		return h, err
	}
	want := memoryd.ModelOf(h.models.embedder)
	st := &stores{}
	if err := h.sessions(ctx, cfg, st); err != nil {
		return h, err
	}
	is, err := h.held(ctx, cfg, st, want)
	if err != nil {
		return h, err
	}
	if err := h.join(ctx, cfg, is, st, log); err != nil {
		return h, err
	}
	if is == want {
		fmt.Fprintf(stdout, "there is nothing to move: the memories in %s have %v already\n", shown(cfg.memories), want)
		h.employ(cfg, st, h.models.embedder, log)
		return h, st.memories.Stay(ctx)
	}
	m := &mover{h: h, cfg: cfg, st: st, want: want, log: log}
	if m.move, err = st.memories.Move(ctx, want); err != nil {
		return h, err
	}
	m.tell(ctx)
	h.models.notes["reembed"] = m.note
	fmt.Fprintf(stdout, "moving the memories in %s from %v to %v, %s; until that is done they are served as they are\n", shown(cfg.memories), is, want, m.note())
	h.employ(cfg, st, formerEmbedder(cfg, is, h.models.embedder, log), log)
	m.first = h.work
	h.work = m.run
	return h, nil
}

// held is the model that the memories were made with; want where there are none
// yet.
func (h *house) held(ctx context.Context, cfg config, st *stores, want memory.Model) (memory.Model, error) {
	if !inQdrant(cfg.memories) {
		db, err := h.memoryFile(cfg)
		if err != nil {
			return want, err
		}
		is, err := sqlitestore.Held(db)
		if errors.Is(err, memory.ErrNotFound) {
			return want, nil
		}
		return is, err
	}
	all, err := qdrantstore.Held(ctx, cfg.memories, nil)
	if err != nil {
		return want, fmt.Errorf("-memories: %w", err)
	}
	if len(all) == 0 {
		return want, nil
	}
	// The sessions know which one is theirs. If they know none yet, it is the one
	// that they would have if they were served.
	ids := slices.Sorted(maps.Keys(all))
	likely := ids[0]
	for _, id := range ids {
		if all[id] == want {
			likely = id
		}
	}
	bound, err := st.sessions.Bind(ctx, likely)
	if err != nil {
		return want, fmt.Errorf("-sessions: %w", err)
	}
	if is, ok := all[bound]; ok {
		return is, nil
	}
	return want, nil
}

// mover moves memories while a house serves them.
type mover struct {
	h     *house
	cfg   config
	st    *stores // as they are
	want  memory.Model
	move  memory.Move
	first func(context.Context) // the work until the move is over
	log   *slog.Logger

	counted  time.Time // when it was told last
	progress atomic.Pointer[string]
	waits    atomic.Bool
}

// How often progress is counted, and logged.
const (
	countEvery = time.Second
	logEvery   = 15 * time.Second
)

// tell counts how far it is.
func (m *mover) tell(ctx context.Context) {
	done, total, err := m.move.Progress(ctx)
	if err != nil {
		return // the step will say the same
	}
	text := fmt.Sprintf("%d of %d memories moved", done, total)
	m.progress.Store(&text)
	m.counted = time.Now()
}

// note is how far it is, for /readyz.
func (m *mover) note() string {
	text := "the memories are yet to be counted"
	if p := m.progress.Load(); p != nil {
		text = *p
	}
	if m.waits.Load() {
		text += ", waiting to try again"
	}
	return text
}

// run does the house's work: first for the memories as they are, then, once
// they have moved, for those.
func (m *mover) run(ctx context.Context) {
	work, stop := context.WithCancel(ctx)
	defer stop()
	var first conc.WaitGroup
	first.Go(func() { m.first(work) })
	if m.steps(ctx) != nil || m.again(ctx, "open the memories that have moved", m.reopen) != nil {
		first.Wait()
		return
	}
	m.log.Info("the memories have moved; from now on start memoryd serve with these flags", "to", m.want)
	stop()
	first.Wait()
	move := m.move
	m.first, m.st, m.move = nil, nil, nil // with the old index in memory
	var rest conc.WaitGroup
	defer rest.Wait()
	rest.Go(func() { m.tidy(ctx, move) })
	m.h.work(ctx)
}

// steps moves everything. It gives up when ctx is over, or the move was given up
// for another.
func (m *mover) steps(ctx context.Context) error {
	m.log.Info("moving the memories", "from", m.st.memories.Model(), "to", m.want, "so far", m.note())
	for logged := time.Now(); ; {
		left := 0
		if err := m.again(ctx, "move memories", func() (err error) {
			left, err = m.move.Step(ctx, m.index)
			return err
		}); err != nil {
			return err
		}
		if time.Since(m.counted) > countEvery {
			m.tell(ctx)
		}
		if time.Since(logged) > logEvery {
			m.log.Info("moving the memories", "so far", m.note())
			logged = time.Now()
		}
		if left > 0 {
			continue
		}
		err := m.move.Finish(ctx, m.lastly)
		if err == nil || ctx.Err() != nil {
			return err
		}
		m.log.Warn("the move is not over yet", "err", err)
		m.pause(ctx, rand.N(time.Second)) // two that end the same move are not to meet again
	}
}

// index gives memories what they are found by. One whose text the embedder will
// not take does not stop the others: it is found by its words.
func (m *mover) index(ctx context.Context, records []memory.Record) error {
	e := m.h.models.embedder
	err := ingest.Index(ctx, e, records, time.Now())
	if !errors.Is(err, memory.ErrInvalid) {
		return err
	}
	if _, probe := embed.Vectors(ctx, e, embed.Document, []string{probeText}); probe != nil {
		return err // it takes none: a key or a name is wrong
	}
	for i := range records {
		err := ingest.Index(ctx, e, records[i:i+1], time.Now())
		if errors.Is(err, memory.ErrInvalid) {
			of := &records[i].Memory
			m.log.Warn("a memory is left without a vector: the embedder refuses it", "memory", of.ID, "app", of.App, "user", of.User, "err", err)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// lastTime bounds what may be slow while nobody can write.
const lastTime = 20 * time.Second

// lastly is index, for the last memories.
func (m *mover) lastly(ctx context.Context, records []memory.Record) error {
	ctx, cancel := context.WithTimeout(ctx, lastTime)
	defer cancel()
	return m.index(ctx, records)
}

// longestPause is the longest wait before what failed is tried again, unless the
// embedder asks for more, and longestAsked the longest it may ask for.
const (
	longestPause = time.Minute
	longestAsked = time.Hour
)

func (m *mover) pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// again does something until it works.
func (m *mover) again(ctx context.Context, what string, do func() error) error {
	for try := 0; ; try++ {
		err := do()
		m.waits.Store(err != nil)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, memory.ErrAborted):
			m.log.Error("the memories stay as they are", "err", err)
			return err
		}
		pause := max(min(longestPause, time.Second/2<<min(try, 10)), min(memory.RetryAfter(err), longestAsked))
		m.log.Error(what+": it is tried again", "in", pause, "err", err)
		m.pause(ctx, pause)
	}
}

// reopen has the house go on with the memories that have moved.
func (m *mover) reopen() error {
	st := &stores{sessions: m.st.sessions}
	if err := m.h.memories(context.Background(), m.cfg, m.want, st); err != nil {
		return err
	}
	delete(m.h.models.notes, "reembed")
	was := m.h.bank.Load()
	m.h.employ(m.cfg, st, m.h.models.embedder, m.log)
	was.Stop()
	return nil
}

// tidy gives back the room of the old index.
func (m *mover) tidy(ctx context.Context, move memory.Move) {
	for {
		more, err := move.Tidy(ctx)
		if err != nil && ctx.Err() == nil {
			m.log.Warn("the room of the old vectors is not given back", "err", err)
		}
		if err != nil || !more {
			return
		}
	}
}

// former is the embedder that memories were made with, as far as it can still be
// had. What it has no vector for is stored without, as it is about to get
// another's, and found by its words meanwhile.
type former struct {
	embed.Embedder // nil if it is not to be had
	model          embed.Model
	log            *slog.Logger

	mu      sync.Mutex
	restsTo time.Time
}

// How long a write waits for the former embedder, and for how long others then
// do not ask it.
const (
	formerTime = 5 * time.Second
	formerRest = time.Minute
)

// formerEmbedder gives the embedder that memories were made with: the one of
// this start if it is that, the one inside memoryd, or one of a service that a
// flag names. No other is asked: nothing is to leave the machine for it.
func formerEmbedder(cfg config, was memory.Model, now embed.Embedder, log *slog.Logger) embed.Embedder {
	if was.SameEmbedder(memoryd.ModelOf(now)) {
		return now
	}
	f := &former{model: embed.Model{Name: was.Embedder, Dimension: was.Dimension}, log: log}
	service, _ := provider(was.Embedder)
	named, _ := provider(cfg.embedder)
	reads, _ := provider(cfg.extractor)
	cfg.embedder, cfg.dimension = was.Embedder, was.Dimension
	if was.SameEmbedder(memoryd.ModelOf(embed.Builtin{})) {
		cfg.embedder = "builtin"
	} else if service != named && service != reads {
		service = ""
	}
	if service != "" {
		if e, err := newEmbedder(cfg); err == nil && was.SameEmbedder(memoryd.ModelOf(e)) {
			f.Embedder, f.model = e, e.Model()
		}
	}
	if f.Embedder == nil {
		log.Warn("until the memories have moved they are searched by words alone: the embedder they were made with is none that this start has", "embedder", was.Embedder)
	}
	return f
}

func (f *former) Model() embed.Model { return f.model }

// Embed implements embed.Embedder, but that vectors may be nil.
func (f *former) Embed(ctx context.Context, task embed.Task, texts []string) ([][]float32, error) {
	none := make([][]float32, len(texts))
	if f.Embedder == nil {
		return none, nil
	}
	if task == embed.Query {
		return f.Embedder.Embed(ctx, task, texts)
	}
	f.mu.Lock()
	rests := time.Now().Before(f.restsTo)
	f.mu.Unlock()
	if rests {
		return none, nil
	}
	within, cancel := context.WithTimeout(ctx, formerTime)
	defer cancel()
	vectors, err := f.Embedder.Embed(within, task, texts)
	if err == nil || ctx.Err() != nil {
		return vectors, err
	}
	f.log.Warn("memories are stored without vectors until they have moved: the embedder they were made with fails", "err", err)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.restsTo = time.Now().Add(formerRest)
	return none, nil
}
