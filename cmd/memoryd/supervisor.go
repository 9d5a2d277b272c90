package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/sourcegraph/conc"

	"github.com/memoryd/memoryd/client"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
)

// supervisor sees to it that a memoryd answers at -listen: one that is there, or
// else this process. Several supervisors may share one address and one data
// directory. The operating system gives each of the two to one process at a time,
// which decides who serves; when that process leaves, another one takes over.
type supervisor struct {
	log    *slog.Logger
	stderr io.Writer
	mu     sync.Mutex // guards cfg.listen and told, and lets one look at a time
	cfg    *config
	told   bool // that another memoryd is used
	serves conc.WaitGroup
	beside http.RoundTripper // to the memoryd at -listen
}

// newSupervisor makes a supervisor. It writes to stderr alone: stdout belongs
// to the protocol.
func newSupervisor(cfg *config, log *slog.Logger, stderr io.Writer) *supervisor {
	return &supervisor{cfg: cfg, log: log, stderr: stderr, beside: cfg.beside()}
}

const (
	// takeoverTime is how long a supervisor waits for a process that has the data
	// or the address but does not answer: it is starting, or leaving.
	takeoverTime = 10 * time.Second
	lookPause    = 100 * time.Millisecond // between looks
	lookTime     = 2 * time.Second        // for the answer to a look
)

// ensure returns when a memoryd answers at -listen. If it is this process, it
// serves until life is over. If neither is possible, the error names the flag to
// change.
func (s *supervisor) ensure(ctx, life context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	within, cancel := context.WithTimeout(ctx, takeoverTime)
	defer cancel()
	for {
		found, err := s.look(ctx)
		if found && !s.told {
			s.told = true
			s.log.Info(fmt.Sprintf("using the memoryd at %s; -data and the flags of models are that one's",
				s.cfg.listen))
		}
		if found || err != nil {
			return err
		}
		busy, err := s.become(life)
		if !busy {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-within.Done():
			return fmt.Errorf("%w; nor does a memoryd answer at -listen %s:"+
				" if one runs elsewhere, name its address with -listen or -server", err, s.cfg.listen)
		case <-time.After(lookPause):
		}
	}
}

// look reports whether a memoryd answers. Any other program that answers is an
// error.
func (s *supervisor) look(ctx context.Context) (bool, error) {
	if strings.HasSuffix(s.cfg.listen, ":0") { // a port that is not known yet
		return false, nil
	}
	base, err := s.cfg.base()
	if err != nil {
		return false, err
	}
	within, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	req, err := http.NewRequestWithContext(within, http.MethodGet, base+"/v1/tools", nil)
	if err != nil {
		return false, err
	}
	if key, err := s.cfg.shownKey(); err != nil {
		return false, err
	} else if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	res, err := (&http.Client{Transport: s.beside}).Do(req)
	// A connection that is refused or reset, and one without an answer, is a
	// memoryd that is not there, or is starting or leaving. Every other failure is
	// an answer of something else.
	switch op := (*net.OpError)(nil); {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case errors.As(err, &op), errors.Is(err, io.EOF), within.Err() != nil:
		return false, nil
	case err != nil:
		return false, s.stranger(err)
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusUnauthorized {
		return false, fmt.Errorf("the memoryd at -listen %s wants a key: give one with -key-file or %s",
			s.cfg.listen, keyVariable)
	}
	var tools struct {
		FunctionDeclarations []json.RawMessage `json:"functionDeclarations"`
	}
	err = json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&tools)
	if err != nil || len(tools.FunctionDeclarations) == 0 {
		return false, s.stranger(fmt.Errorf("GET /v1/tools: %s", res.Status))
	}
	return true, nil
}

// stranger is the error for another program at the address.
func (s *supervisor) stranger(err error) error {
	return fmt.Errorf("-listen %s: what answers there is no memoryd, or one of an older version (%w):"+
		" name another address with -listen, or a memoryd with -server", s.cfg.listen, err)
}

// become makes this process the memoryd. busy says that another process has the
// data or the address, which may pass.
func (s *supervisor) become(life context.Context) (busy bool, err error) {
	cfg := *s.cfg // listen changes below
	a, on, err := startApp(&cfg, s.log, func(a *app) error { return a.open(life) })
	if err != nil {
		return errors.Is(err, sqlitedb.ErrInUse) || errors.Is(err, errAddress), err
	}
	a.announce(on, s.stderr)
	s.cfg.listen, s.told = on.Addr().String(), true
	s.serves.Go(func() {
		if err := a.run(life, on); err != nil {
			s.log.Error("memoryd ended", "err", err)
		}
	})
	return false, nil
}

// wait returns when this process no longer serves.
func (s *supervisor) wait() { s.serves.Wait() }

// bank is the memory of a scope at whichever memoryd answers.
func (s *supervisor) bank(life context.Context, scope memory.Scope) (*supervisedBank, error) {
	base, err := s.cfg.base()
	if err != nil {
		return nil, err
	}
	key, err := s.cfg.shownKey()
	if err != nil {
		return nil, err
	}
	// ensure is better than waiting
	c, err := client.New(base, &client.Options{Key: key, Transport: s.beside, Retries: -1})
	if err != nil {
		return nil, err
	}
	ensure := func(ctx context.Context) error { return s.ensure(ctx, life) }
	return &supervisedBank{user: c.User(scope.App, scope.User), ensure: ensure}, nil
}

// supervisedBank is a memory whose memoryd may leave at any time. It implements
// the bank of package mcp.
type supervisedBank struct {
	user   *client.User
	ensure func(context.Context) error
}

// CallTool calls a tool.
func (b *supervisedBank) CallTool(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	return supervised(ctx, b, func() (json.RawMessage, error) { return b.user.CallTool(ctx, name, args) })
}

// Memories lists memories.
func (b *supervisedBank) Memories(ctx context.Context, list memory.List) (memory.Page, error) {
	return supervised(ctx, b, func() (memory.Page, error) { return b.user.Memories(ctx, list) })
}

// Memory returns one memory.
func (b *supervisedBank) Memory(ctx context.Context, id string) (memory.Memory, error) {
	return supervised(ctx, b, func() (memory.Memory, error) { return b.user.Memory(ctx, id) })
}

// supervised calls a memoryd and, if none has answered, the next one. A tool may
// then be called twice, which has the effect of one call for all of them.
func supervised[T any](ctx context.Context, b *supervisedBank, call func() (T, error)) (T, error) {
	out, err := call()
	if answered := (*client.Error)(nil); !errors.Is(err, memory.ErrUnavailable) || errors.As(err, &answered) {
		return out, err
	}
	if gone := b.ensure(ctx); gone != nil {
		return out, fmt.Errorf("%w: %v", memory.ErrUnavailable, gone)
	}
	return call()
}
