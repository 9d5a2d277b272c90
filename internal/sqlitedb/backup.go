package sqlitedb

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// maxCopyLog is how long the write-ahead log may grow while a copy is made, in bytes.
const maxCopyLog = 1 << 30

// copyPause is when to ask for a copy again while another one is made.
const copyPause = 10 * time.Second

// Backup writes the whole file as of now into w, page by page, while others read and
// write. It calls size with the bytes that will come, before the first one. Until it
// returns, the log is not shortened, so one copy is made at a time, and a copy ends with
// ErrUnavailable once the log has 1 GiB.
func (db *DB) Backup(ctx context.Context, w io.Writer, size func(int64)) error {
	if db.path == Memory {
		return fmt.Errorf("%w: data that is kept in memory has no file", memory.ErrInvalid)
	}
	if !db.copying.CompareAndSwap(0, 1) {
		return memory.Refuse(copyPause, "a backup of this file is being made: one at a time")
	}
	defer db.copying.Store(0)
	if err := db.checkFiles(ctx); err != nil { // a damaged file is no backup
		return err
	}
	conn, err := sql.Open("sqlite", db.source+"&_pragma=query_only(1)"+cellCheck)
	if err != nil {
		return err
	}
	db.reading.RLock() // the log is not just being shortened
	select {
	case <-db.stopped:
		db.reading.RUnlock()
		_ = conn.Close() // nothing was read
		return fmt.Errorf("%w: the database is closed", memory.ErrUnavailable)
	default:
	}
	db.copies.Add(1)
	tx, err := conn.BeginTx(context.WithoutCancel(ctx), nil)
	var pages, pageSize int64
	if err == nil {
		// The first read begins the transaction.
		err = tx.QueryRow(`SELECT page_count, page_size FROM pragma_page_count, pragma_page_size,
			(SELECT count(*) FROM sqlite_schema)`).Scan(&pages, &pageSize)
	}
	db.reading.RUnlock()
	defer db.copies.Done()
	defer conn.Close() // before Done: Close of the database gives the lock up after it
	if err != nil {
		return db.classify(err)
	}
	defer tx.Rollback() // it only read
	size(pages * pageSize)
	return db.classify(db.copyPages(ctx, tx, w))
}

// pagesTogether is how many pages are copied between two looks at the log.
const pagesTogether = 1000

// checkCopyLog fails once the log has grown too long for a copy to go on.
func (db *DB) checkCopyLog() error {
	log, err := os.Stat(db.path + "-wal")
	if err != nil || log.Size() <= db.maxCopyLog { // a log that is gone is told by the next write
		return nil
	}
	return fmt.Errorf("%w: the backup took too long: the write-ahead log, which is not shortened meanwhile, has %d MB."+
		" Take the backup to a faster place, or when less is written", memory.ErrUnavailable, log.Size()>>20)
}

// copyPages writes the pages in order. The copy gets a generation of its own, so that it
// is not taken for the file that it is of, with the log beside that.
func (db *DB) copyPages(ctx context.Context, tx *sql.Tx, w io.Writer) error {
	rows, err := tx.QueryContext(ctx, `SELECT data FROM sqlite_dbpage ORDER BY pgno`)
	if err != nil {
		return err
	}
	defer rows.Close()
	out := bufio.NewWriterSize(w, 256<<10)
	for n := 0; rows.Next(); n++ {
		if n%pagesTogether == 0 {
			if err := db.checkCopyLog(); err != nil {
				return err
			}
		}
		var page sql.RawBytes
		if err := rows.Scan(&page); err != nil {
			return err
		}
		if n == 0 {
			page = bytes.Clone(page)
			binary.BigEndian.PutUint32(page[generationAt:], uint32(newGeneration()))
		}
		if _, err := out.Write(page); err != nil {
			return err
		}
	}
	return errors.Join(rows.Err(), out.Flush())
}

// VerifyCopy reads a copy that Backup wrote: SQLite checks the whole file, and it must
// be memoryd's. It returns how many rows each table has.
func VerifyCopy(ctx context.Context, path string) (rows map[string]int64, err error) {
	if path, err = filepath.Abs(path); err != nil { // a URL takes no other
		return nil, err
	}
	// immutable: nobody changes it, so no log is made beside it.
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path}).String()+"?immutable=1&mode=ro"+cellCheck)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	var id int
	var found string
	if err := db.QueryRowContext(ctx, `SELECT application_id FROM pragma_application_id`).Scan(&id); err != nil {
		return nil, fmt.Errorf("verify %s: %w", path, err)
	}
	if err := db.QueryRowContext(ctx, `PRAGMA integrity_check(1)`).Scan(&found); err != nil {
		return nil, fmt.Errorf("verify %s: %w", path, err)
	}
	if id != applicationID || found != "ok" {
		return nil, fmt.Errorf("verify %s: it is not a whole database of memoryd: %s", path, found)
	}
	names, err := collectNames(db.QueryContext(ctx, `SELECT name FROM sqlite_schema WHERE type = 'table'
		AND name IN ('sessions', 'events', 'memories', 'revisions') ORDER BY name`))
	if err != nil {
		return nil, err
	}
	rows = map[string]int64{}
	for _, name := range names {
		var n int64
		if err := db.QueryRowContext(ctx, `SELECT count(*) FROM `+name).Scan(&n); err != nil {
			return nil, fmt.Errorf("verify %s: %w", path, err)
		}
		rows[name] = n
	}
	return rows, nil
}
