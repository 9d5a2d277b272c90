package storetest

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// Erase implements memory.Store.
func (r *reference) Erase(ctx context.Context, scope memory.Scope, which memory.Erasure) (
	out memory.Erased, err error) {
	if err := which.Validate(); err != nil {
		return out, err
	}
	if _, err := r.beginWrite(ctx); err != nil {
		return out, err
	}
	defer r.mu.Unlock()
	erased, named := map[string]bool{}, which.Named()
	for id, rec := range r.scopes[scope] {
		at, takes := named[id]
		takes = takes && (at == 0 || at == rec.last().Revision)
		if takes || slices.ContainsFunc(rec.history, func(st memory.Step) bool { return which.Takes(&st.Memory) }) {
			out.Add(memory.Erased{Memories: 1, Revisions: len(rec.history)})
			if which.DryRun {
				continue
			}
			delete(r.scopes[scope], id)
			erased[id] = true
			r.noteRemoval()
		}
	}
	for _, rec := range r.scopes[scope] {
		for i := range rec.history {
			rec.history[i].Memory.Unlink(erased)
		}
	}
	if len(r.scopes[scope]) == 0 {
		delete(r.scopes, scope)
	}
	return out, nil
}

// Sweep implements memory.Sweeper.
func (r *reference) Sweep(ctx context.Context, before time.Time, limit int) (
	out memory.Erased, more bool, err error) {
	if _, err := r.beginWrite(ctx); err != nil {
		return out, false, err
	}
	defer r.mu.Unlock()
	for scope, records := range r.scopes {
		erased := map[string]bool{}
		for id, rec := range records {
			if !rec.due(before) {
				continue
			}
			if out.Memories == limit {
				more = true
				break
			}
			out.Add(memory.Erased{Memories: 1, Revisions: len(rec.history)})
			delete(records, id)
			erased[id] = true
			r.noteRemoval()
		}
		for _, rec := range records {
			for i := range rec.history {
				rec.history[i].Memory.Unlink(erased)
			}
		}
		if len(records) == 0 {
			delete(r.scopes, scope)
		}
	}
	left := limit
	for _, records := range r.scopes {
		for _, rec := range records {
			last := len(rec.history) - 1
			var kept []memory.Step
			for i, st := range rec.history {
				if i < last && passed(st.ExpireTime, before) && left > 0 {
					left, rec.removed = left-1, rec.removed+1
					out.Add(memory.Erased{Revisions: 1})
				} else {
					kept = append(kept, st)
				}
			}
			rec.history = kept
		}
	}
	return out, more || left == 0, nil
}

// passed reports whether a time is set and is before another one.
func passed(t, before time.Time) bool { return !t.IsZero() && t.Before(before) }

// due reports whether a sweep removes the whole record.
func (r *record) due(before time.Time) bool {
	last := r.last()
	return passed(last.Memory.ExpireTime, before) ||
		last.Action == memory.Deleted && passed(last.ExpireTime, before)
}

// Revoke implements memory.Store. A lasting store keeps no life as it is given.
func (r *reference) Revoke(ctx context.Context, _ memory.Scope, lives []string) error {
	if err := memory.ValidateLives(lives); err != nil {
		return err
	}
	now, err := r.begin(ctx)
	if err != nil {
		return err
	}
	defer r.mu.Unlock()
	maps.DeleteFunc(r.revoked, func(_ string, at time.Time) bool { return now.Sub(at) > memory.RevokedFor })
	for _, life := range lives {
		r.revoked[life] = now
	}
	return nil
}

// Users implements memory.Store.
func (r *reference) Users(ctx context.Context, app, after string, limit int) ([]string, error) {
	return r.names(ctx, after, limit, func(s memory.Scope) (string, bool) { return s.User, s.App == app && !s.OfApp() })
}

// Apps implements memory.Store.
func (r *reference) Apps(ctx context.Context, after string, limit int) ([]string, error) {
	return r.names(ctx, after, limit, func(s memory.Scope) (string, bool) { return s.App, true })
}

func (r *reference) names(ctx context.Context, after string, limit int, of func(memory.Scope) (string, bool)) (
	[]string, error) {
	if _, err := r.begin(ctx); err != nil {
		return nil, err
	}
	defer r.mu.Unlock()
	all := map[string]bool{}
	for scope, records := range r.scopes {
		if name, ok := of(scope); ok && name > after && len(records) > 0 {
			all[name] = true
		}
	}
	out := slices.Sorted(maps.Keys(all))
	return out[:min(limit, len(out))], nil
}
