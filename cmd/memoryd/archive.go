package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/archive"
	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/internal/assembly"
	"github.com/memoryd/memoryd/movein"
)

// archiveFlagNames are the flags that export, import and rebuild use.
func archiveFlagNames() []string { return slices.Concat(storeFlagNames(), embedderFlagNames()) }

// exportCommand writes a backup, or the first half of a move to other backends.
func exportCommand() *subcommand {
	return &subcommand{
		name: "export", arguments: "FILE",
		summary: "Write all sessions, memories and configurations of apps into a file.",
		details: `FILE must not exist yet; - writes to standard output. One process at a time
can open a store that is a file: stop the memoryd that serves it first.`,
		example: "memoryd export -data /var/lib/memoryd backup.jsonl",
		uses:    archiveFlagNames(),
		run: func(ctx context.Context, cfg *config, args []string, s streams) error {
			return export(ctx, cfg, args[0], s)
		}}
}

// importCommand reads a backup, or does the second half of a move. With -from it reads what
// another program has.
func importCommand() *subcommand {
	return &subcommand{
		name: "import", arguments: "FILE…",
		summary: "Bring a file that export wrote, or what another memory has, into stores.",
		details: `Everything in the stores stays, so an import can be run again. If -embedder is
another one than that of FILE, it makes new vectors. FILE is checked before any of
it is imported.

With -from the files are those of another memory: see docs/moving.md. Sessions keep
their ids, facts get ids that follow from theirs, and the next memoryd that serves the
stores makes the memories of the sessions. -dry-run shows what an import would take
and leave out; without it nothing is asked.`,
		example: "memoryd import -from mem0 -dry-run memories.json",
		uses:    append(archiveFlagNames(), "time-zone"), own: importFlags, ownVariables: true,
		run: func(ctx context.Context, cfg *config, args []string, s streams) error {
			if cfg.moveIn.from != "" {
				return moveIn(ctx, cfg, args, s)
			}
			if err := cfg.moveIn.alone(args); err != nil {
				return err
			}
			return importFile(ctx, cfg, args[0], s)
		}}
}

// bar shows progress on stderr, if that is a terminal.
func bar(stderr io.Writer, total int64, what string) *progressbar.ProgressBar {
	f, ok := stderr.(*os.File)
	return progressbar.NewOptions64(total, progressbar.OptionSetWriter(stderr),
		progressbar.OptionSetVisibility(ok && term.IsTerminal(int(f.Fd()))), progressbar.OptionSetDescription(what),
		progressbar.OptionSetWidth(30), progressbar.OptionShowBytes(true), progressbar.OptionClearOnFinish())
}

// export writes an archive of both stores.
func export(ctx context.Context, cfg *config, file string, s streams) (err error) {
	for _, place := range []string{cfg.sessions, cfg.memories} {
		if _, err := os.Stat(place); inFile(place) && err != nil {
			return fmt.Errorf("there is nothing to export: %w", err)
		}
	}
	// The embedder makes no vectors here: it names the model of the memories.
	embedder, err := newEmbedder(cfg.embedder, cfg.dimension)
	if err != nil {
		return err
	}
	st := newStores()
	if err := openStores(ctx, cfg, st, memoryd.ModelOf(embedder), slog.New(slog.DiscardHandler)); err != nil {
		return errors.Join(aloneError(err), st.Discard())
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	write := func(out io.Writer) (*archive.Ending, error) {
		shown := bar(s.err, -1, "exporting")
		defer shown.Finish()
		head := archive.NewHeading(version(), memoryd.ModelOf(embedder))
		return archive.Write(ctx, out, head, st.Sessions, st.Memories, func(n int) { _ = shown.Add(n) })
	}
	// Where the archive goes to stdout, the counts go to stderr.
	if file == "-" {
		end, err := write(s.out)
		if err == nil {
			err = tellExported(s.err, end)
		}
		return err
	}
	// For this user alone, as the stores are, and never over an earlier backup.
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s is there already: name another file", file)
	}
	if err != nil {
		return err
	}
	end, err := write(f)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(file)) // half an export is none
	}
	return tellExported(s.out, end)
}

// tellExported says how much was exported, and the checksum to compare an
// import with.
func tellExported(w io.Writer, end *archive.Ending) error {
	_, err := fmt.Fprintf(w, "exported %v\nsha256 %s\n", end.Counts, end.SHA256)
	return err
}

// importFile brings an archive into the stores. It reads the file twice: first to
// see that it is whole, then to import it.
func importFile(ctx context.Context, cfg *config, file string, s streams) (err error) {
	if err := movein.CheckFile(file); err != nil {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	checked, err := checkArchive(f, file, s)
	if err != nil {
		return err
	}
	st, embedder, err := openImport(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return checked.bring(ctx, st, embedder, nil, where(cfg), s)
}

// checkedArchive is an archive that is whole.
type checkedArchive struct {
	f    *os.File
	name string // for messages
	size int64
	head *archive.Heading
	end  *archive.Ending
}

// progress shows how far a read of the archive is.
func (a *checkedArchive) progress(s streams, what string) (archive.Progress, func() error) {
	shown := bar(s.err, a.size, what)
	return func(n int) { _ = shown.Add(n) }, shown.Finish
}

// checkArchive checks that an archive is whole.
func checkArchive(f *os.File, name string, s streams) (*checkedArchive, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	a := &checkedArchive{f: f, name: name, size: info.Size()}
	checked, finish := a.progress(s, "checking")
	if a.head, a.end, err = archive.Verify(f, checked); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	_ = finish() // it only shows
	return a, nil
}

// openImport opens the stores to import into.
func openImport(ctx context.Context, cfg *config) (*assembly.Stores, embed.Embedder, error) {
	embedder, err := newEmbedder(cfg.embedder, cfg.dimension)
	if err != nil {
		return nil, nil, err
	}
	st := newStores()
	if err := openStores(ctx, cfg, st, memoryd.ModelOf(embedder), slog.New(slog.DiscardHandler)); err != nil {
		return nil, nil, errors.Join(err, st.Discard())
	}
	return st, embedder, nil
}

// bring imports the archive into the stores that are in place, and tells how much that was.
func (a *checkedArchive) bring(ctx context.Context, st *assembly.Stores, embedder embed.Embedder,
	redactor *ingest.Redactor, place string, s streams) error {
	if _, err := a.f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	imported, finish := a.progress(s, "importing")
	found, err := archive.Import(ctx, a.f, a.head, st.Sessions, st.Memories, embedder, redactor, imported)
	if err != nil {
		return fmt.Errorf("%w (everything before it is imported; run the import again once the cause is mended)", err)
	}
	_ = finish() // it only shows
	for i, app := range found.KeptConfigs {
		if i == keptTold {
			fmt.Fprintf(s.out, "and %d more apps keep theirs\n", len(found.KeptConfigs)-i)
			break
		}
		fmt.Fprintf(s.out, "app %q keeps the configuration that it has; that in %s is another\n", app, a.name)
	}
	_, err = fmt.Fprintf(s.out, "imported %v; %d of the memories were new\nthe data is in %s\nsha256 %s\n",
		a.end.Counts, found.Memories, place, a.end.SHA256)
	return err
}

// keptTold is how many apps an import names whose configuration stays.
const keptTold = 20
