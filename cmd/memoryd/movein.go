package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/memoryd/memoryd/appconfig"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/movein"
)

// moveInConfig is what the flags of import say about files of other programs.
type moveInConfig struct {
	from    string
	dryRun  bool
	app     string
	user    string
	keyFile string
}

// defaultApp is the app of what names none.
const defaultApp = "default"

// importFlags defines the flags that only import has.
func importFlags(fs *flag.FlagSet, cfg *config) {
	c := &cfg.moveIn
	names := make([]string, len(movein.Formats()))
	for i, format := range movein.Formats() {
		names[i] = string(format)
	}
	fs.StringVar(&c.from, "from", "", "`FORMAT` of another memory: "+strings.Join(names, ", "))
	fs.BoolVar(&c.dryRun, "dry-run", false, "with -from: show what would be imported and what not, and import nothing")
	fs.StringVar(&c.app, "app", defaultApp, "with -from: `APP` of what names none")
	fs.StringVar(&c.user, "user", "", "with -from: `USER` of what names none, which is left out without it")
	fs.StringVar(&c.keyFile, "source-key-file", "",
		"with -from: `FILE` with the key that the Qdrant to read from wants")
}

// alone checks the flags and files of an import without -from.
func (c *moveInConfig) alone(files []string) error {
	// A flag that did nothing would be taken for one that worked.
	switch {
	case len(files) > 1:
		return usageError{fmt.Errorf("import: want one file, not %d: only -from takes several", len(files))}
	case c.dryRun || c.user != "" || c.keyFile != "" || c.app != defaultApp:
		return usageError{errors.New("import: -dry-run, -app, -user and -source-key-file are for -from alone:" +
			" a file of memoryd names apps and users itself")}
	}
	return nil
}

// moveIn brings files of another program into the stores: it makes an archive of them in a
// temporary file, and imports that.
func moveIn(ctx context.Context, cfg *config, files []string, s streams) (err error) {
	opts := movein.Options{App: cfg.moveIn.app, User: cfg.moveIn.user, Zone: cfg.zone, Version: version()}
	if cfg.moveIn.keyFile != "" {
		if opts.Key, err = readKeyFile(cfg.moveIn.keyFile); err != nil {
			return fmt.Errorf("-source-key-file: %w", err)
		}
	}
	from := movein.Format(cfg.moveIn.from)
	if err := movein.Check(from, files, opts); err != nil {
		return usageError{fmt.Errorf("import: -from, -app, -user: %w", err)}
	}
	// A dry run does all that an import does before it opens the stores.
	total := sizes(files)
	read := func(out io.Writer) error {
		shown := bar(s.err, total, "reading")
		opts.Progress = func(n int) { _ = shown.Add(n) }
		report, err := movein.Convert(ctx, from, files, out, opts)
		_ = shown.Finish() // it only shows
		if err != nil {
			return err
		}
		if err := report.Write(s.out); err != nil {
			return err
		}
		// A script that deletes what was moved must notice that nothing was.
		if !report.Taken() {
			return errors.New("import: nothing is imported: all that was found is left out, for the reasons above")
		}
		return nil
	}
	if cfg.moveIn.dryRun {
		if err := read(io.Discard); err != nil {
			return err
		}
		_, err := fmt.Fprintln(s.out, "nothing is imported: that was a dry run")
		return err
	}
	f, err := os.CreateTemp("", "memoryd-import-") // which this user alone can read
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	if err := read(f); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	checked, err := checkArchive(f, "what was read", s)
	if err != nil {
		return err
	}
	st, embedder, err := openImport(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	// Unlike an archive of memoryd, these words have never passed the app's redaction.
	redactor := ingest.NewRedactor(appconfig.NewCache(st.Sessions, nil, nil))
	return checked.bring(ctx, st, embedder, redactor, where(cfg), s)
}

// sizes returns how many bytes some files have together; -1 if that is not known.
func sizes(files []string) (total int64) {
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil { // a URL, or a file whose absence is told of when it is read
			return -1
		}
		total += info.Size()
	}
	return total
}
