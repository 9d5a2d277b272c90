package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/sessionstore/redissession"
)

// rebuildCommand is the way back after the memory store was lost and the
// sessions were not.
func rebuildCommand() *subcommand {
	return &subcommand{
		name: "rebuild", summary: "Have memories made again from all sessions, after their store was lost.",
		details: `It binds the sessions to the memory store at -memories, which has none of their
memories, and marks all of them as work, which the next serve does. Memories of
sessions that are gone do not come back, and neither do changes by clients, nor the
shared knowledge of apps.

With -again the memory store is the one that the sessions have already, and has lost
only some of them, such as one restored from an older backup. Memories that are there
stay as they are. One that was deleted after the backup is there again, and so is one
that was purged or has expired: purge it again.

Stop every memoryd that serves these stores first.`,
		example: "memoryd rebuild -sessions redis://127.0.0.1:6379 -memories qdrant://127.0.0.1:6334",
		uses:    archiveFlagNames(),
		own: func(fs *flag.FlagSet, cfg *config) {
			fs.BoolVar(&cfg.again, "again", false, "make missing memories again in the store that the sessions have")
		},
		run: rebuild,
	}
}

// rebuild binds the sessions to the new memory store and moves their done marks
// back. It makes no memories itself: that takes long, and serve does it while
// it answers.
func rebuild(ctx context.Context, cfg *config, _ []string, s streams) (err error) {
	if _, err := os.Stat(cfg.sessions); inFile(cfg.sessions) && err != nil {
		return fmt.Errorf("there is nothing to rebuild from: %w", err)
	}
	e, err := newEmbedder(cfg.embedder, cfg.dimension)
	if err != nil {
		return err
	}
	st := newStores()
	end := st.Discard // until the sessions are bound to these memories
	defer func() { err = errors.Join(err, end()) }()
	if err := openSessions(ctx, cfg, st); err != nil {
		return aloneError(err)
	}
	if err := openMemories(ctx, cfg, st, memoryd.ModelOf(e)); err != nil {
		return err
	}
	// Bind tells where the memories are. Sessions that are bound to no store yet have
	// no memories that could be lost.
	bound, err := st.Sessions.Bind(ctx, st.Memories.ID())
	if err != nil {
		return fmt.Errorf("-sessions: %w", err)
	}
	switch same := bound == st.Memories.ID(); {
	case same && !cfg.again:
		end = st.Close
		return fmt.Errorf("the memories of the sessions in %s are in %s already: there is nothing to rebuild"+
			" (or, if that store has lost some of them, have those made again: memoryd rebuild -again)",
			shown(cfg.sessions), shown(cfg.memories))
	case !same && cfg.again:
		return fmt.Errorf("the memories of the sessions in %s are not in %s: have them made there without -again,"+
			" or name with -memories the store that has them", shown(cfg.sessions), shown(cfg.memories))
	}
	n, err := st.Sessions.Rebind(ctx, st.Memories.ID())
	end = st.Close // also after a failure: the same command can go on with the same store
	if r, ok := st.Sessions.(*redissession.Store); ok && err == nil {
		err = r.AcceptMemories(ctx)
	}
	if err != nil {
		return fmt.Errorf("-sessions: %w", err)
	}
	_, err = fmt.Fprintf(s.out, `the memories of %d sessions will be made again, in %s, when memoryd serves these stores
(not those of sessions that are gone, nor those that clients have written or changed themselves, nor shared knowledge)
`, n, shown(cfg.memories))
	return err
}
