package sqlitedb

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/memoryd/memoryd/memory"
)

const (
	// incremental is the value of PRAGMA auto_vacuum for files that can be shortened a few
	// pages at a time. Files of earlier versions have 0: they keep the room of what is
	// deleted, and use it again.
	incremental = 2
	// A file keeps one page free in so many, and some at least: new rows soon need them.
	keptFree, keptFreePages = 50, 64
	// shrunkTogether is how many pages one write of Shrink moves: some milliseconds, of which
	// the flush of the disk is a small part.
	shrunkTogether = 400
)

// Shrink gives free pages at the end of the file back to the disk, a few in each write. A
// file that an earlier version has made does not shrink.
func (db *DB) Shrink(ctx context.Context) error {
	for {
		var mode, free, pages int64
		err := db.Read(ctx, func(tx *sql.Tx) error {
			return tx.QueryRowContext(ctx, `SELECT a.auto_vacuum, f.freelist_count, p.page_count
				FROM pragma_auto_vacuum a, pragma_freelist_count f, pragma_page_count p`).Scan(&mode, &free, &pages)
		})
		if err != nil || mode != incremental || free <= max(keptFreePages, pages/keptFree) {
			return err
		}
		began := time.Now()
		if err := db.Write(ctx, For(memory.Scope{}).Freeing(), shrinkSome); err != nil {
			return err
		}
		if err := db.Rest(ctx, time.Since(began)); err != nil {
			return err
		}
	}
}

// shrinkSome moves pages from the end of the file to free ones. SQLite frees one with each
// step of the statement.
func shrinkSome(tx *Tx) error {
	rows, err := tx.Query(fmt.Sprintf(`PRAGMA incremental_vacuum(%d)`, shrunkTogether))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() { // until it is done
	}
	return rows.Err()
}
