package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/internal/assembly"
)

// recoverCommand is the way back after a file was damaged and there is no backup.
func recoverCommand() *subcommand {
	return &subcommand{
		name: "recover", arguments: "OLD NEW", summary: "Save what can be read of a damaged file into a new one.",
		details: `OLD is a file of memoryd, or its directory, which no memoryd may be serving. It is
read page by page, with the write-ahead log beside it, and is not changed. NEW must
not exist yet. It gets every row that can be read, with ids, revisions and positions
as they were, and recover lists what it could not save.

If memories are lost whose sessions are in the same file, the next serve makes them
again. To go on, put NEW in the place of OLD, and remove the files beside OLD that
begin with its name. The flags of the embedder count only if OLD no longer says how
its vectors were made.`,
		example: "memoryd recover /var/lib/memoryd/memoryd.db saved.db",
		uses:    embedderFlagNames(),
		run: func(ctx context.Context, cfg *config, args []string, s streams) error {
			e, err := newEmbedder(cfg.embedder, cfg.dimension)
			if err != nil {
				return err
			}
			old := args[0]
			if info, err := os.Stat(old); err == nil && info.IsDir() {
				old = filepath.Join(old, dataFile)
			}
			if _, err := os.Stat(args[1]); !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("%s is there already: name another file", args[1])
			}
			saved, err := assembly.Recover(ctx, old, args[1], memoryd.ModelOf(e))
			if err != nil {
				return err
			}
			return tellSaved(s.out, args[1], saved)
		}}
}

// tellSaved lists what was saved and what was not.
func tellSaved(w io.Writer, file string, saved *assembly.Saved) error {
	for _, table := range slices.Sorted(maps.Keys(saved.Kept)) {
		fmt.Fprintf(w, "saved %d rows of %s\n", saved.Kept[table], table)
	}
	for _, l := range saved.Lost {
		fmt.Fprintf(w, "lost, in %s: %s\n", l.Table, l.What)
	}
	for _, note := range saved.Notes {
		fmt.Fprintln(w, note)
	}
	if saved.Again > 0 {
		fmt.Fprintf(w, "the memories of %d sessions will be made again when memoryd serves %s\n", saved.Again, file)
	}
	words := "nothing was lost"
	if len(saved.Lost) > 0 {
		words = fmt.Sprintf("%d losses are listed above", len(saved.Lost))
	}
	_, err := fmt.Fprintf(w, "%s is whole: %s\n", file, words)
	return err
}
