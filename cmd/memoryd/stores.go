package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/internal/assembly"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/qdrantstore"
	"github.com/memoryd/memoryd/sessionstore/redissession"
)

// dataFile is the file in -data.
const dataFile = memoryd.FileName

// scheme is the part of a URL before its colon, in lower case: places are compared
// by it, and the rest may hold a password.
func scheme(url string) string {
	s, _, _ := strings.Cut(url, ":")
	return strings.ToLower(s)
}

// inRedis reports whether a store's URL names a Redis.
func inRedis(url string) bool {
	return slices.Contains([]string{"redis", "rediss", "redis+cluster", "rediss+cluster"}, scheme(url))
}

// inQdrant reports whether a store's URL names a Qdrant.
func inQdrant(url string) bool {
	return slices.Contains([]string{"qdrant", "qdrants"}, scheme(url))
}

// inFile reports whether a place, as check has left it, is a SQLite file.
func inFile(place string) bool { return !inRedis(place) && !inQdrant(place) }

// shown is a place without its password.
func shown(place string) string {
	if inFile(place) {
		return place
	}
	scheme, rest, ok := strings.Cut(place, "://")
	if !ok {
		return "…"
	}
	if i := strings.LastIndex(rest, "@"); i >= 0 {
		rest = "…@" + rest[i+1:]
	}
	return scheme + "://" + rest
}

// where says in words where the data is.
func where(cfg *config) string {
	if cfg.oneFile() {
		return whole(cfg.sessions)
	}
	return whole(cfg.sessions) + " (sessions) and " + whole(cfg.memories) + " (memories)"
}

// whole says where a store is: a file with its whole path, a URL without its password.
func whole(place string) string {
	if place == sqlitedb.Memory {
		return "memory alone, and gone when it stops"
	}
	if abs, err := filepath.Abs(place); err == nil && inFile(place) {
		return abs
	}
	return shown(place)
}

// oneFile reports whether one SQLite file holds both stores.
func (c *config) oneFile() bool {
	return inFile(c.sessions) && inFile(c.memories) && assembly.SameFile(c.sessions, c.memories)
}

// newStores returns stores of which neither is open. An error of opening a file
// names the flags that choose another one.
func newStores() *assembly.Stores {
	st := assembly.NewStores()
	st.Hint = "name another place with -data, -sessions or -memories"
	return st
}

// aloneError says what to do where a command cannot work on data that a memoryd serves.
func aloneError(err error) error {
	if errors.Is(err, sqlitedb.ErrInUse) {
		return fmt.Errorf("%w: stop that one first, or name a backup of the file", err)
	}
	return err
}

// openStores opens both stores for a model, and checks that they belong together.
// The caller closes st, or discards it if this fails.
func openStores(ctx context.Context, cfg *config, st *assembly.Stores, m memory.Model, log *slog.Logger) error {
	open := []func() error{
		func() error { return openSessions(ctx, cfg, st) },
		func() error { return openMemories(ctx, cfg, st, m) },
	}
	// Memories of another model are refused before the sessions have changed: a
	// Qdrant makes a collection for each model, so there the order is the other.
	if inFile(cfg.memories) {
		slices.Reverse(open)
	}
	for _, open := range open {
		if err := open(); err != nil {
			return err
		}
	}
	return join(ctx, cfg, st, log)
}

// openSessions opens the session store that -sessions names.
func openSessions(ctx context.Context, cfg *config, st *assembly.Stores) error {
	if !inRedis(cfg.sessions) {
		return st.OpenSessions(cfg.sessions, cfg.oneFile())
	}
	s, err := redissession.Open(ctx, cfg.sessions, &redissession.Options{TTL: cfg.sessionTTL, Contain: true,
		MaxSessions: cfg.quotas.sessions, AuditEntries: cfg.audit.entries})
	if err != nil {
		return fmt.Errorf("-sessions: %w", err)
	}
	st.UseSessions(s, s.Check, s.Close)
	st.Watches, st.Notes["redis"] = append(st.Watches, s.Watch), s.Note
	return nil
}

// openMemories opens the memory store that -memories names, for a model.
func openMemories(ctx context.Context, cfg *config, st *assembly.Stores, m memory.Model) error {
	if !inQdrant(cfg.memories) {
		return st.OpenMemories(cfg.memories, cfg.oneFile(), m)
	}
	s, err := qdrantstore.Open(ctx, cfg.memories, m, &qdrantstore.Options{CacheBytes: cfg.cacheBytes})
	if err != nil {
		return fmt.Errorf("-memories: %w", err)
	}
	st.UseMemories(s, s.Check, s.Close, s.Discard)
	st.Watches = append(st.Watches, s.Watch)
	return nil
}

// errSome ends a walk at the first memory.
var errSome = errors.New("there is a memory")

// noticeEmptied records a loss if a Redis knows of no memory store although there are
// memories: it was emptied, or it is another one than before.
func noticeEmptied(ctx context.Context, st *assembly.Stores) error {
	r, ok := st.Sessions.(*redissession.Store)
	if !ok {
		return nil
	}
	bound, err := r.Bound(ctx)
	if err != nil || bound {
		return err
	}
	err = st.Memories.Export(ctx, func(memory.Record) error { return errSome })
	if errors.Is(err, errSome) {
		return r.RecordEmptied(ctx)
	}
	return err
}

// join checks that the sessions have their memories in this memory store.
func join(ctx context.Context, cfg *config, st *assembly.Stores, log *slog.Logger) error {
	if err := noticeEmptied(ctx, st); err != nil {
		return fmt.Errorf("-sessions: %w", err)
	}
	err := st.Join(ctx)
	if errors.Is(err, assembly.ErrElsewhere) {
		return fmt.Errorf("the sessions in %s have their memories elsewhere, not in %s,"+
			" which would miss the memories that were made before:"+
			" name with -memories the store that has them, or with -sessions another place for sessions"+
			"; if they were made with another -embedder, or by another version,"+
			" move them: memoryd reembed with the flags of this start"+
			" (or, if that store is lost, have the memories made again: memoryd rebuild)",
			shown(cfg.sessions), shown(cfg.memories))
	}
	if err != nil {
		return fmt.Errorf("-sessions: %w", err)
	}
	if err := accompany(ctx, st); err != nil {
		return err
	}
	if inRedis(cfg.sessions) && !inQdrant(cfg.memories) {
		log.Warn("the sessions can be shared, but the memories are in a file of this process: run one memoryd only",
			"memories", cfg.memories)
	}
	return nil
}

// accompany has the memories, which belong to the sessions in Redis, keep how far these
// had got.
func accompany(ctx context.Context, st *assembly.Stores) error {
	r, isRedis := st.Sessions.(*redissession.Store)
	if !isRedis {
		return nil
	}
	if q, ok := st.Memories.(*qdrantstore.Store); ok {
		return q.Accompany(ctx, r)
	}
	return st.Accompany(ctx, r)
}

// storedModel is the model that the memories were made with; want if there are
// none yet.
func storedModel(ctx context.Context, cfg *config, st *assembly.Stores, want memory.Model) (memory.Model, error) {
	if !inQdrant(cfg.memories) {
		is, err := st.StoredModel(cfg.memories, cfg.oneFile())
		if errors.Is(err, memory.ErrNotFound) {
			return want, nil
		}
		return is, err
	}
	all, err := qdrantstore.StoredModels(ctx, cfg.memories, nil)
	if err != nil {
		return want, fmt.Errorf("-memories: %w", err)
	}
	if len(all) == 0 {
		return want, nil
	}
	// The sessions know which collection has their memories. Sessions that are
	// bound to none yet get the one that serve would give them.
	ids := slices.Sorted(maps.Keys(all))
	likely := ids[0]
	for _, id := range ids {
		if all[id] == want {
			likely = id
		}
	}
	bound, err := st.Sessions.Bind(ctx, likely)
	if err != nil {
		return want, fmt.Errorf("-sessions: %w", err)
	}
	if is, ok := all[bound]; ok {
		return is, nil
	}
	return want, nil
}
