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
	"path/filepath"

	"github.com/memoryd/memoryd/memory"
)

// Backup writes the whole file as of now into w, page by page, while others read and
// write. It calls size with the bytes that will come, before the first one. Until it
// returns, the log is not shortened.
func (db *DB) Backup(ctx context.Context, w io.Writer, size func(int64)) error {
	if db.path == Memory {
		return fmt.Errorf("%w: data that is kept in memory has no file", memory.ErrInvalid)
	}
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
	db.copying.Add(1)
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
	defer db.copying.Add(-1)
	defer conn.Close() // before Done: Close of the database gives the lock up after it
	if err != nil {
		return db.classify(err)
	}
	defer tx.Rollback() // it only read
	size(pages * pageSize)
	return db.classify(copyPages(ctx, tx, w))
}

// copyPages writes the pages in order. The copy gets a generation of its own, so that it
// is not taken for the file that it is of, with the log beside that.
func copyPages(ctx context.Context, tx *sql.Tx, w io.Writer) error {
	rows, err := tx.QueryContext(ctx, `SELECT data FROM sqlite_dbpage ORDER BY pgno`)
	if err != nil {
		return err
	}
	defer rows.Close()
	out := bufio.NewWriterSize(w, 256<<10)
	for first := true; rows.Next(); first = false {
		var page sql.RawBytes
		if err := rows.Scan(&page); err != nil {
			return err
		}
		if first {
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
