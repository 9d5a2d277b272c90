package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/appconfig"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// agingStore is a memory store whose new revisions expire as the configuration of the app
// says, unless the write says when. Those of the shared knowledge of an app have no such
// lifetime: the configuration tells how long it keeps what users said.
type agingStore struct {
	memory.Store
	configs *appconfig.Cache
	now     func() time.Time
}

// Put implements memory.Store. It fails if the configuration cannot be read: a revision
// would stay for ever whose words are to be gone some day.
func (a agingStore) Put(ctx context.Context, scope memory.Scope, writes []memory.Write) ([]memory.Outcome, error) {
	if !scope.OfApp() {
		config, err := a.configs.Of(ctx, scope.App)
		if err != nil {
			return nil, err
		}
		writes = aged(writes, config, a.now())
	}
	out, err := a.Store.Put(ctx, scope, writes)
	if err != nil {
		return nil, err
	}
	return out, a.again(ctx, scope, writes, out)
}

// again makes facts whose id is that of a memory which was deleted by a revision that has
// expired: it removes what no sweep has come to yet. A turn that was deleted stays so.
func (a agingStore) again(ctx context.Context, scope memory.Scope, writes []memory.Write, out []memory.Outcome) error {
	var places []int
	var ids []string
	var left []memory.Write
	for i := range writes {
		w := &writes[i]
		if w.Expect != 0 || w.Memory.Kind == memory.KindTurn || out[i].Memory.ID != "" ||
			!errors.Is(out[i].Err, memory.ErrAborted) {
			continue
		}
		_, err := a.Store.Revisions(ctx, scope, w.Memory.ID, 0)
		if errors.Is(err, memory.ErrNotFound) {
			places, ids, left = append(places, i), append(ids, w.Memory.ID), append(left, *w)
		} else if err != nil {
			return err
		}
	}
	if len(left) == 0 {
		return nil
	}
	if _, err := a.Store.Erase(access.With(ctx, access.System), scope, memory.Erasure{IDs: ids}); err != nil {
		return err
	}
	made, err := a.Store.Put(ctx, scope, left)
	if err != nil {
		return err
	}
	for i, at := range places {
		out[at] = made[i]
	}
	return nil
}

// aged gives writes the time of expiry of the configuration, where they have none.
func aged(writes []memory.Write, config *appconfig.Config, now time.Time) []memory.Write {
	ttl := config.TTL.Revisions.Duration.Duration
	if ttl == 0 {
		return writes
	}
	out := slices.Clone(writes)
	for i := range out {
		if out[i].RevisionExpireTime.IsZero() {
			out[i].RevisionExpireTime = now.Add(ttl)
		}
	}
	return out
}

// Delete implements memory.Store. While the configuration cannot be read, that which was
// read last counts: what is to be deleted is not kept for that.
func (a agingStore) Delete(ctx context.Context, scope memory.Scope, removals []memory.Removal) (
	[]memory.Outcome, error) {
	if !scope.OfApp() {
		if ttl := a.configs.Known(ctx, scope.App).TTL.Revisions.Duration.Duration; ttl > 0 {
			removals = slices.Clone(removals)
			for i := range removals {
				if removals[i].RevisionExpireTime.IsZero() {
					removals[i].RevisionExpireTime = a.now().Add(ttl)
				}
			}
		}
	}
	return a.Store.Delete(ctx, scope, removals)
}

// revisionEnd is when the revisions expire that are made now for a request which says how
// long they live; zero if it does not say.
func (s *Service) revisionEnd(r *sessionstore.Request) time.Time {
	if r.RevisionTTL == 0 {
		return time.Time{}
	}
	return sessionstore.Micros(s.opts.Now()).Add(r.RevisionTTL)
}

// Lifetime is how long something lives from now, or until when in its place. Both zero leave
// it open.
type Lifetime struct {
	TTL time.Duration
	At  time.Time
}

// end is when the revision expires that a client makes now; zero if it does not say.
func (l Lifetime) end(now time.Time) (time.Time, error) {
	switch {
	case l.TTL != 0 && !l.At.IsZero():
		return l.At, fmt.Errorf("%w: revisionTtl and revisionExpireTime: want one of them", memory.ErrInvalid)
	case l.TTL != 0:
		return now.Add(l.TTL), nil
	case !l.At.IsZero() && !l.At.After(now):
		return l.At, fmt.Errorf("%w: revisionExpireTime: %s has passed", memory.ErrInvalid,
			sessionstore.FormatTime(l.At))
	}
	return l.At, nil
}
