package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"

	"github.com/sourcegraph/conc"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/reembed"
)

// reembedCommand has all flags of serve, because it serves.
func reembedCommand() *subcommand {
	c := &subcommand{
		name: "reembed", summary: "Serve, and meanwhile move the memories to another -embedder or this version.",
		details: `It serves as serve does. Memories of another embedder, or with the words and
lookup keys of another version, are served as they are until all of them have
moved, and with the new ones from then on.

A reembed that was stopped goes on where it was. Once everything has moved it only
serves: it can stand wherever serve stood.`,
		example: "memoryd reembed -embedder gemini",
		uses:    serveFlagNames(),
	}
	c.run = func(ctx context.Context, cfg *config, _ []string, s streams) error {
		if err := cfg.checkDoors(); err != nil {
			return c.mistake(err)
		}
		a, on, err := startApp(cfg, cfg.logger(s.err), func(a *app) error { return a.openMove(ctx, s.out) })
		if err != nil {
			return err
		}
		a.announce(on, s.out)
		return a.run(ctx, on)
	}
	return c
}

// openMove is open for memories of whichever model: those of another one than
// this start's are moved while they are served.
func (a *app) openMove(ctx context.Context, stdout io.Writer) error {
	if err := a.tryOpenMove(ctx, stdout); err != nil {
		return errors.Join(err, a.stores.Discard())
	}
	return nil
}

// tryOpenMove opens the stores for the model that the memories have. Where that
// is not the model of this start, it begins the move, or goes on with it.
func (a *app) tryOpenMove(ctx context.Context, stdout io.Writer) error {
	if err := openSessions(ctx, a.cfg, a.stores); err != nil {
		return err
	}
	if err := a.closeDoors(ctx); err != nil {
		return err
	}
	want := memoryd.ModelOf(a.models.embedder)
	is, err := storedModel(ctx, a.cfg, a.stores, want)
	if err != nil {
		return err
	}
	if err := openMemories(ctx, a.cfg, a.stores, is); err != nil {
		return err
	}
	if err := join(ctx, a.cfg, a.stores, a.log); err != nil {
		return err
	}
	// An earlier start may have begun a move that this one does not want any longer.
	if is == want {
		fmt.Fprintf(stdout, "there is nothing to move: the memories in %s have %v already\n",
			shown(a.cfg.memories), want)
		a.serveWith(a.models.embedder)
		return a.stores.Memories.CancelMove(ctx)
	}
	move, err := a.stores.Memories.Move(ctx, want)
	if err != nil {
		return err
	}
	m := reembed.New(move, a.models.embedder, is, want, a.log)
	m.Count(ctx)
	a.models.notes["reembed"] = m.Note
	fmt.Fprintf(stdout, "moving the memories in %s from %v to %v, %s; until that is done they are served as they are\n",
		shown(a.cfg.memories), is, want, m.Note())
	a.serveWith(formerEmbedder(a.cfg, is, a.models.embedder, a.log))
	before := a.work
	a.work = func(ctx context.Context) {
		first := before
		before = nil // so that Run alone keeps the old index in memory
		m.Run(ctx, first, func() (reembed.Work, error) { return a.reopen(want) })
	}
	return nil
}

// reopen has the app serve the memories that have moved to a model, and returns
// the work to do beside it. That includes the watches of the store that it opens: run
// has started only those of the first.
func (a *app) reopen(m memory.Model) (reembed.Work, error) {
	watched := len(a.stores.Watches)
	// Not within the context of the work: the store is used after it, too.
	if err := openMemories(context.Background(), a.cfg, a.stores, m); err != nil {
		return nil, err
	}
	if err := accompany(context.Background(), a.stores); err != nil {
		return nil, err
	}
	delete(a.models.notes, "reembed")
	// New requests go to the new bank from here on. Streams of the old one end, and
	// their clients connect again.
	was := a.bank.Load()
	a.serveWith(a.models.embedder)
	was.Stop()
	work, watches := a.work, slices.Clone(a.stores.Watches[watched:])
	a.stores.Watches = nil // those of the old store keep it in memory
	return func(ctx context.Context) {
		var beside conc.WaitGroup
		defer beside.Wait()
		for _, watch := range watches {
			beside.Go(func() { watch(ctx, a.log) })
		}
		work(ctx)
	}, nil
}

// formerEmbedder is the embedder that memories were made with: the one of this
// start if it is the same, the built-in one, or one of a service that a flag
// names. It asks no other, since nothing may leave the machine that no flag names.
func formerEmbedder(cfg *config, was memory.Model, now embed.Embedder, log *slog.Logger) embed.Embedder {
	if was.SameEmbedder(memoryd.ModelOf(now)) {
		return now
	}
	flag := was.Embedder
	if was.SameEmbedder(memoryd.ModelOf(embed.Builtin{})) {
		flag = "builtin"
	}
	if service, _ := provider(flag); flag == "builtin" || service != "" && namesService(cfg, service) {
		if e, err := newEmbedder(flag, was.Dimension); err == nil && was.SameEmbedder(memoryd.ModelOf(e)) {
			return reembed.NewFormer(e, was, log)
		}
	}
	log.Warn("until the memories have moved they are searched by words alone: "+
		"this start does not have the embedder that they were made with", "embedder", was.Embedder)
	return reembed.NewFormer(nil, was, log)
}

// namesService reports whether -embedder or -extractor names a model of a service.
func namesService(cfg *config, service string) bool {
	embeds, _ := provider(cfg.embedder)
	extracts, _ := provider(cfg.extractor)
	return service == embeds || service == extracts
}
