package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"

	"github.com/memoryd/memoryd/internal/sqlitedb"
)

// backupCommand copies the embedded file while it is served.
func backupCommand() *subcommand {
	return &subcommand{
		name: "backup", arguments: "FILE", summary: "Copy the embedded data into a file, also while memoryd serves it.",
		details: `FILE must not exist yet. The copy is of one moment, and is read back before the
command ends. If a memoryd has the data, it is asked for it through the socket beside the file.
If sessions and memories are in two files, FILE gets the sessions and FILE.memories
the memories.

To restore, stop memoryd, remove the files that begin with the name of the data file,
and put FILE in its place.`,
		example: "memoryd backup -data /var/lib/memoryd backup.db",
		uses:    storeFlagNames(),
		run: func(ctx context.Context, cfg *config, args []string, s streams) error {
			return backup(ctx, cfg, args[0], s)
		}}
}

// backup copies the files of the embedded stores. The sessions come first: memories
// that are newer than their sessions are only made again.
func backup(ctx context.Context, cfg *config, file string, s streams) error {
	done := 0
	for _, store := range []struct{ name, place, to string }{
		{"sessions", cfg.sessions, file}, {"memories", cfg.memories, file + ".memories"},
	} {
		switch {
		case !inFile(store.place):
			fmt.Fprintf(s.err, "the %s are not in a file: back up %s with its own means\n", store.name,
				shown(store.place))
			continue
		case store.name == "memories" && cfg.oneFile():
			continue
		case store.name == "memories" && !inFile(cfg.sessions):
			store.to = file
		}
		if _, err := os.Stat(store.place); err != nil {
			return fmt.Errorf("there is nothing to back up: %w", err)
		}
		if err := backupFile(ctx, cfg, store.name, store.place, store.to, s); err != nil {
			return err
		}
		done++
	}
	if done == 0 {
		return errors.New("no store of this configuration is a file")
	}
	return nil
}

// backupFile copies one file, and reads the copy back.
func backupFile(ctx context.Context, cfg *config, store, place, to string, s streams) (err error) {
	if _, err := os.Lstat(to); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s is there already: name another file", to)
	}
	// Under another name until it is whole, so that half a backup is not taken for one.
	part, err := os.CreateTemp(filepath.Dir(to), filepath.Base(to)+".part-*") // readable by this user alone
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(part.Name()))
		}
	}()
	shown := bar(s.err, -1, "copying")
	from, err := copyFile(ctx, cfg, store, place, io.MultiWriter(part, shown))
	_ = shown.Finish() // it only shows
	if err = errors.Join(err, part.Sync(), part.Close()); err != nil {
		return err
	}
	rows, err := sqlitedb.VerifyCopy(ctx, part.Name())
	if err != nil {
		return err
	}
	if err := os.Rename(part.Name(), to); err != nil {
		return err
	}
	fmt.Fprintf(s.out, "%s is a copy of %s, and was read back: it is whole\n", to, from)
	for _, table := range slices.Sorted(maps.Keys(rows)) {
		fmt.Fprintf(s.out, "%d rows of %s\n", rows[table], table)
	}
	return nil
}

// copyFile writes the file of a store into w, and returns where it is from.
func copyFile(ctx context.Context, cfg *config, store, place string, w io.Writer) (from string, err error) {
	db, err := sqlitedb.Open(place, nil)
	if errors.Is(err, sqlitedb.ErrInUse) {
		return "the data of the memoryd that serves " + place, download(ctx, cfg.socket(), store, w)
	}
	if err != nil {
		return "", err
	}
	return db.Path(), errors.Join(db.Backup(ctx, w, func(int64) {}), db.Close())
}

// download asks the memoryd that runs for the file of a store, through its socket.
func download(ctx context.Context, socket, store string, w io.Writer) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/v1/backup?store="+store, nil)
	if err != nil {
		return err
	}
	transport := socketTransport(socket)
	defer transport.CloseIdleConnections()
	res, err := transport.RoundTrip(req)
	if err != nil {
		return fmt.Errorf("a memoryd has the data, but does not answer at the socket beside it: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		words, _ := io.ReadAll(io.LimitReader(res.Body, 1<<12))
		return fmt.Errorf("the memoryd that has the data gives no backup: %s", words)
	}
	_, err = io.Copy(w, res.Body)
	return err
}
