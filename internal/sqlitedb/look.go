package sqlitedb

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// seen is the main file and its log as this process left them. Only memoryd writes
// them while it has them open, so any other change is damage, or nearly.
type seen struct {
	mu     sync.Mutex // held from a look to the commit that follows it
	infos  map[string]os.FileInfo
	header header // of the main file
	// harmless counts the changes by others behind which nothing was damaged. After
	// maxHarmless times are not compared any more: some file systems change them by
	// themselves.
	harmless int
}

const (
	maxHarmless = 3
	// lookTime bounds the check that follows a change by another program. Writes
	// wait for it.
	lookTime = 2 * time.Second
)

// stat describes the main file and the log. It fails if one of the files, or the
// lock, is no longer at its path: SQLite would go on writing to a file that was
// deleted or moved away, and the data would be lost.
func (db *DB) stat() (map[string]os.FileInfo, error) {
	out := map[string]os.FileInfo{}
	for path, was := range db.opened {
		now, err := os.Stat(path)
		if err != nil || !os.SameFile(now, was) {
			return nil, fmt.Errorf("%w: %s was moved or deleted while in use: put it back, or start again",
				memory.ErrUnavailable, path)
		}
		out[path] = now
	}
	return out, nil
}

// look compares the files with what this process left. The caller holds seen.mu and
// keeps the log from being shortened. sizesOnly leaves out the times, which the
// writer itself has changed within a transaction.
func (db *DB) look(ctx context.Context, sizesOnly bool) error {
	infos, err := db.stat()
	if err != nil || db.seen.infos == nil {
		return err
	}
	changed := false
	for path, was := range db.seen.infos {
		now := infos[path]
		if now.Size() < was.Size() {
			name := "the file"
			if path != db.path {
				name = "its write-ahead log"
			}
			return db.MarkDamaged(fmt.Sprintf("%s was cut from %d to %d bytes while in use", name, was.Size(),
				now.Size()))
		}
		changed = changed || now.Size() != was.Size() || !now.ModTime().Equal(was.ModTime())
	}
	if sizesOnly || !changed || db.seen.harmless >= maxHarmless {
		return nil
	}
	if err := db.verify(ctx); err != nil {
		return err
	}
	db.seen.harmless++
	db.seen.infos = infos
	db.log.Warn("another program has changed the database or its log: a quick check has found no damage",
		"file", db.path)
	return nil
}

// verify looks for the damage that a change by another program may have done.
func (db *DB) verify(ctx context.Context) error {
	head, err := readHeader(db.handles.file)
	if err != nil {
		return Error(err)
	}
	if !bytes.Equal(head[:], db.seen.header[:]) {
		return db.MarkDamaged("the first page of the file was overwritten while in use")
	}
	what, err := checkWAL(db.path+"-wal", db.handles.index)
	if err != nil {
		return Error(err)
	}
	if what != "" {
		return db.MarkDamaged(what)
	}
	_, err = db.QuickCheck(ctx, lookTime)
	return err
}

// note keeps how this process leaves the files after a commit.
func (db *DB) note() {
	infos, err := db.stat()
	if err != nil {
		return // the next look says so
	}
	delete(infos, db.path+".lock")
	if header, err := readHeader(db.handles.file); err == nil {
		db.seen.header = header
	}
	db.seen.infos = infos
	db.writeRecord()
}

// QuickCheck has SQLite check the structure of the file, for at most some time, and
// marks the database as damaged if it is. done is false if the time did not suffice.
func (db *DB) QuickCheck(ctx context.Context, limit time.Duration) (done bool, err error) {
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	found, err := db.integrity(within, "PRAGMA quick_check(1)")
	switch {
	case len(found) > 0:
		return true, db.MarkDamaged(found[0])
	case within.Err() != nil:
		return false, ctx.Err()
	case err != nil:
		return false, db.classify(err)
	}
	return true, nil
}

// IntegrityCheck has SQLite check the whole file, its indexes too, and returns what
// it finds, at most 100 things. It takes about a second for each 100 MB.
func (db *DB) IntegrityCheck(ctx context.Context) ([]string, error) {
	found, err := db.integrity(ctx, "PRAGMA integrity_check")
	if err != nil && IsDamage(err) {
		return append(found, err.Error()), nil
	}
	return found, err
}

// integrity runs one of SQLite's checks on a connection of its own: those in use
// have pages in their caches that may differ from the file.
func (db *DB) integrity(ctx context.Context, check string) (found []string, err error) {
	source := db.reader
	if db.path != Memory {
		if source, err = sql.Open("sqlite", db.source+"&_pragma=query_only(1)&_pragma=cell_size_check(1)"); err != nil {
			return nil, err
		}
		defer source.Close()
	}
	rows, err := source.QueryContext(ctx, check)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return found, err
		}
		if line != "ok" {
			found = append(found, line)
		}
	}
	return found, rows.Err()
}
