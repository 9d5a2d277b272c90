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

// keeper sees to it that a memoryd answers at -listen: one that is there, or
// else this process. Several may do so for one address and one directory of
// data; the operating system, which gives both to one process at a time, decides
// which of them serves, and when that leaves, another does.
type keeper struct {
	log    *slog.Logger
	stderr io.Writer
	mu     sync.Mutex // guards cfg and told, and lets one look at a time
	cfg    config
	told   bool // whose memory this is
	serves conc.WaitGroup
}

func newKeeper(cfg config, log *slog.Logger, stderr io.Writer) *keeper {
	return &keeper{cfg: cfg, log: log, stderr: stderr}
}

// How long a keeper waits for one that has the data but does not answer yet, or
// any more, between looks, and for the answer to a look.
const (
	patience  = 10 * time.Second
	lookPause = 100 * time.Millisecond
	lookTime  = 2 * time.Second
)

// keep returns when a memoryd answers at -listen. If that is this one, it serves
// until life is over. What keeps both from being so is an error that names the
// flag to change.
func (k *keeper) keep(ctx, life context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		found, err := k.look(ctx)
		if found && !k.told {
			k.told = true
			k.log.Info(fmt.Sprintf("using the memoryd at %s; -data and the flags of models are that one's", k.cfg.listen))
		}
		if found || err != nil {
			return err
		}
		busy, err := k.become(life)
		if !busy {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-within.Done():
			return fmt.Errorf("%w; nor does a memoryd answer at -listen %s: if one runs elsewhere, name its address with -listen or -server", err, k.cfg.listen)
		case <-time.After(lookPause):
		}
	}
}

// look reports whether a memoryd answers. Something else that does is an error.
func (k *keeper) look(ctx context.Context) (bool, error) {
	if strings.HasSuffix(k.cfg.listen, ":0") { // nobody can know where that is
		return false, nil
	}
	at, err := k.cfg.address()
	if err != nil {
		return false, err
	}
	within, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	req, err := http.NewRequestWithContext(within, http.MethodGet, "http://"+at+"/v1/tools", nil)
	if err != nil {
		return false, err
	}
	res, err := http.DefaultClient.Do(req)
	switch op := (*net.OpError)(nil); {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case errors.As(err, &op), errors.Is(err, io.EOF), within.Err() != nil:
		return false, nil // nobody there, or just coming or leaving
	case err != nil:
		return false, k.stranger(err)
	}
	defer res.Body.Close()
	var tools struct {
		FunctionDeclarations []json.RawMessage `json:"functionDeclarations"`
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&tools); err != nil || len(tools.FunctionDeclarations) == 0 {
		return false, k.stranger(fmt.Errorf("GET /v1/tools: %s", res.Status))
	}
	return true, nil
}

func (k *keeper) stranger(err error) error {
	return fmt.Errorf("-listen %s: what answers there is no memoryd, or one of an older version (%w): name another address with -listen, or a memoryd with -server", k.cfg.listen, err)
}

// become makes this process the memoryd. busy tells that another has the data or
// the address, which may pass.
func (k *keeper) become(life context.Context) (busy bool, err error) {
	h, err := build(life, k.cfg, k.log)
	if err != nil {
		return errors.Is(err, sqlitedb.ErrInUse), err
	}
	on, err := h.listen(k.cfg, k.stderr, k.log)
	if err != nil {
		return true, errors.Join(err, h.close())
	}
	k.cfg.listen, k.told = on.Addr().String(), true
	k.serves.Go(func() {
		if err := errors.Join(h.run(life, on, k.log), h.close()); err != nil {
			k.log.Error("memoryd ended", "err", err)
		}
	})
	return false, nil
}

// wait returns when this process serves no more.
func (k *keeper) wait() { k.serves.Wait() }

// bank is the memory of a scope at whichever memoryd there is.
func (k *keeper) bank(life context.Context, scope memory.Scope) (*keptBank, error) {
	at, err := k.cfg.address()
	if err != nil {
		return nil, err
	}
	c, err := client.New("http://"+at, &client.Options{Retries: -1}) // keep does better than wait
	if err != nil {
		return nil, err
	}
	return &keptBank{user: c.User(scope.App, scope.User), keep: func(ctx context.Context) error { return k.keep(ctx, life) }}, nil
}

// keptBank is a memory whose memoryd may leave at any time.
type keptBank struct {
	user *client.User
	keep func(context.Context) error
}

func (b *keptBank) CallTool(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	return kept(ctx, b, func() (json.RawMessage, error) { return b.user.CallTool(ctx, name, args) })
}

func (b *keptBank) Memories(ctx context.Context, list memory.List) (memory.Page, error) {
	return kept(ctx, b, func() (memory.Page, error) { return b.user.Memories(ctx, list) })
}

func (b *keptBank) Memory(ctx context.Context, id string) (memory.Memory, error) {
	return kept(ctx, b, func() (memory.Memory, error) { return b.user.Memory(ctx, id) })
}

// kept calls a memoryd, and if nobody has answered, the next one. A tool may
// then be called twice, which for all of them is as once.
func kept[T any](ctx context.Context, b *keptBank, call func() (T, error)) (T, error) {
	out, err := call()
	if answered := (*client.Error)(nil); !errors.Is(err, memory.ErrUnavailable) || errors.As(err, &answered) {
		return out, err
	}
	if gone := b.keep(ctx); gone != nil {
		return out, fmt.Errorf("%w: %v", memory.ErrUnavailable, gone)
	}
	return call()
}
