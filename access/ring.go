package access

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// Verifier checks tokens of an issuer.
type Verifier interface {
	// Verify returns who the token is for. ErrUnauthenticated if it is not valid, and
	// ErrUnavailable if that cannot be told now.
	Verify(ctx context.Context, token string) (*Principal, error)
}

// RingOptions configure NewRing. The zero value is the default.
type RingOptions struct {
	// Verifier checks what is not a key of memoryd. Defaults to none.
	Verifier Verifier
	Now      func() time.Time // Defaults to time.Now.
	Log      *slog.Logger     // Defaults to discarding.
}

// Ring tells which principal a shown key is. It keeps the keys that it has read until a
// key changes, which Run asks the store every freshTime. So a key that is revoked by any
// process is refused by this one within a second. While the store does not answer, no
// key is valid.
type Ring struct {
	keys Keys
	opts RingOptions

	mu       sync.Mutex
	revision int64
	read     time.Time // when revision was read
	failed   error     // of the last reading, if that failed
	failedAt time.Time
	known    map[string]*Key // by id, all of revision
	used     map[string]time.Time
	asking   chan struct{} // closed when the revision has been read that is being read; nil while none is
}

const (
	// freshTime is how often Run reads the revision, and staleTime how long one counts as
	// the present one. Together with the time of a reading they are less than a second.
	freshTime = 300 * time.Millisecond
	staleTime = 800 * time.Millisecond
	// maxKnown bounds the keys that a Ring keeps, each of some 500 bytes.
	maxKnown = 50_000
	// touchTime is how often the use of a key is recorded.
	touchTime = time.Minute
	// maxShown is longer than every key and every token of an issuer, in bytes.
	maxShown = 16 << 10
)

// noKeys is a store without keys, for a Ring of an issuer alone.
type noKeys struct{ Keys }

// KeysRevision implements Keys.
func (noKeys) KeysRevision(context.Context) (int64, error) { return 1, nil }

// Key implements Keys.
func (noKeys) Key(context.Context, string) (Key, error) { return Key{}, memory.ErrNotFound }

// NewRing returns a Ring of the keys in a store. keys may be nil if there is a Verifier:
// then only its tokens count.
func NewRing(keys Keys, opts *RingOptions) *Ring {
	if keys == nil {
		keys = noKeys{}
	}
	r := &Ring{keys: keys, known: map[string]*Key{}, used: map[string]time.Time{}}
	if opts != nil {
		r.opts = *opts
	}
	if r.opts.Now == nil {
		r.opts.Now = time.Now
	}
	if r.opts.Log == nil {
		r.opts.Log = slog.New(slog.DiscardHandler)
	}
	return r
}

// Closed reports whether callers must show a key: one was made once, or there is an
// issuer.
func (r *Ring) Closed(ctx context.Context) (bool, error) {
	if r.opts.Verifier != nil {
		return true, nil
	}
	revision, err := r.fresh(ctx)
	return revision > 0, err
}

// Authenticate returns who shows a key, or the token of an issuer. shown is "" if the
// caller shows nothing: that is Owner until the first key is made. ErrUnauthenticated if
// shown is not valid, and ErrUnavailable if the store does not answer.
func (r *Ring) Authenticate(ctx context.Context, shown string) (*Principal, error) {
	closed, err := r.Closed(ctx)
	switch {
	case err != nil:
		return nil, err
	case !closed:
		return Owner, nil
	case shown == "" || len(shown) > maxShown:
		return nil, Unauthenticated()
	}
	if !strings.HasPrefix(shown, Prefix) && r.opts.Verifier != nil {
		return r.opts.Verifier.Verify(ctx, shown)
	}
	id, secret, ok := Split(shown)
	if !ok {
		return nil, Unauthenticated()
	}
	if _, err := r.fresh(ctx); err != nil { // with a Verifier, Closed has not read it
		return nil, err
	}
	key, err := r.key(ctx, id)
	if err != nil {
		return nil, err
	}
	if now := r.opts.Now(); key == nil || !key.Matches(secret, now) || !key.Live(now) {
		return nil, Unauthenticated()
	}
	r.touch(id)
	return key.Principal(), nil
}

// Holder returns the principal of a key whose holder another party has authenticated, such as by
// the signature of a service account that stands for the key. It is Owner until the first key is
// made. ErrUnauthenticated if the key is not valid.
func (r *Ring) Holder(ctx context.Context, id string) (*Principal, error) {
	closed, err := r.Closed(ctx)
	switch {
	case err != nil:
		return nil, err
	case !closed:
		return Owner, nil
	}
	if _, err := r.fresh(ctx); err != nil { // with a Verifier, Closed has not read it
		return nil, err
	}
	key, err := r.key(ctx, id)
	if err != nil {
		return nil, err
	}
	if key == nil || !key.Live(r.opts.Now()) {
		return nil, Unauthenticated()
	}
	r.touch(id)
	return key.Principal(), nil
}

// Unauthenticated returns the one error for everything that is no valid key and no valid
// token. It says nothing of what was shown.
func Unauthenticated() error {
	return fmt.Errorf("%w: show a valid key: Authorization: Bearer KEY, or X-Goog-Api-Key: KEY", ErrUnauthenticated)
}

// fresh returns the revision of the keys as of staleTime ago at most. One caller reads
// it for all that ask meanwhile. While the store does not answer, a memoryd that had no
// keys when it last did stays open: its memories may be in a store that works.
func (r *Ring) fresh(ctx context.Context) (int64, error) {
	for {
		r.mu.Lock()
		wait := r.asking
		switch {
		case time.Since(r.read) < staleTime:
			defer r.mu.Unlock()
			return r.revision, nil
		case r.failed != nil && !r.read.IsZero() && r.revision == 0:
			defer r.mu.Unlock()
			return 0, nil
		case r.failed != nil && time.Since(r.failedAt) < freshTime:
			defer r.mu.Unlock()
			return 0, r.failed
		case wait == nil:
			r.mu.Unlock()
			if err := r.ask(ctx); err != nil && ctx.Err() != nil {
				return 0, err
			}
			continue
		}
		r.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// ask reads the revision, unless another call does.
func (r *Ring) ask(ctx context.Context) error {
	r.mu.Lock()
	if r.asking != nil {
		r.mu.Unlock()
		return nil
	}
	asking, began := make(chan struct{}), time.Now()
	r.asking = asking
	r.mu.Unlock()
	revision, err := r.keys.KeysRevision(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asking = nil
	close(asking)
	if err != nil {
		if ctx.Err() == nil { // else it tells nothing of the store
			r.failed, r.failedAt = fmt.Errorf("read keys: %w", err), time.Now()
		}
		return err
	}
	if revision != r.revision {
		clear(r.known)
	}
	r.failed, r.revision, r.read = nil, revision, began
	return nil
}

// WasClosed reports whether callers had to show a key when that was last known. It is
// false while that was never known.
func (r *Ring) WasClosed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.opts.Verifier != nil || r.revision > 0
}

// Renew has the next call read the revision: this process has changed a key.
func (r *Ring) Renew() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.read.IsZero() {
		r.read = time.Unix(0, 0) // known, and long ago
	}
	r.failed = nil
}

// key returns a key as of the present revision, nil if there is none of that id. An
// unknown id is not kept: callers could fill the room of keys with such ids.
func (r *Ring) key(ctx context.Context, id string) (*Key, error) {
	r.mu.Lock()
	key, revision := r.known[id], r.revision
	r.mu.Unlock()
	if key != nil {
		return key, nil
	}
	stored, err := r.keys.Key(ctx, id)
	if errors.Is(err, memory.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read key: %w", err)
	}
	key = &stored
	r.mu.Lock()
	defer r.mu.Unlock()
	if revision == r.revision { // else the key may be of either
		if len(r.known) >= maxKnown {
			clear(r.known)
		}
		r.known[id] = key
	}
	return key, nil
}

// touch notes that a key was used.
func (r *Ring) touch(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.used) < maxKnown {
		r.used[id] = r.opts.Now()
	}
}

// Run reads the revision every freshTime, and records when keys were last used every
// touchTime, until ctx is over and then once more.
func (r *Ring) Run(ctx context.Context) {
	look, touch := time.NewTicker(freshTime), time.NewTicker(touchTime)
	defer look.Stop()
	defer touch.Stop()
	for {
		select {
		case <-look.C:
			_ = r.ask(ctx) // callers are told
		case <-touch.C:
			r.record(ctx)
		case <-ctx.Done():
			r.record(context.WithoutCancel(ctx))
			return
		}
	}
}

// record stores when keys were last used.
func (r *Ring) record(ctx context.Context) {
	r.mu.Lock()
	used := r.used
	r.used = map[string]time.Time{}
	r.mu.Unlock()
	if len(used) == 0 {
		return
	}
	if err := r.keys.TouchKeys(ctx, used); err != nil {
		r.opts.Log.Warn("the last use of keys was not recorded", "err", err)
	}
}
