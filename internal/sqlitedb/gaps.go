package sqlitedb

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
)

// SQLite overwrites what is deleted, and not the place of what it only moves. When it
// parts a full page, it moves a part of the cells to another page, and their bytes stay
// in the gap of the first one, between its list of cells and its cells. If such a cell is
// deleted later, where it is then, the old copy outlives it. So a scrub also clears gaps.

// gapsTogether is how many pages one transaction reads, or clears: others read and write
// in between.
const gapsTogether = 500

// maxGapPages bounds the pages of a file whose gaps are cleared, 128 GiB of them. In such
// a file no page that has another page's number in front looks like one with cells.
const maxGapPages = 1 << 25

// lockingPage has the bytes by which SQLite locks the file, and nothing else.
func lockingPage(size int64) int64 { return 1<<30/size + 1 }

// pointerMap reports whether a page of a file with auto_vacuum has where pages belong, five
// bytes for each of those that follow it, and no cells.
func pointerMap(number, size int64) bool {
	if number < 2 {
		return false
	}
	each := size/5 + 1
	at := (number-2)/each*each + 2
	if at == lockingPage(size) {
		at++
	}
	return number == at
}

// gap returns the bytes of a page between its list of cells and its cells; nil if the
// page has no cells, or is none that SQLite has written.
func gap(page []byte, number int64) []byte {
	at := 0
	if number == 1 {
		at = 100 // behind the header of the file
	}
	if len(page) < at+12 {
		return nil
	}
	list := at + 8
	switch page[at] {
	case 2, 5: // of an index or a table, above others
		list += 4
	case 10, 13: // leaves
	default:
		return nil
	}
	from := list + 2*int(binary.BigEndian.Uint16(page[at+3:]))
	to := int(binary.BigEndian.Uint16(page[at+5:]))
	if to == 0 {
		to = 1 << 16
	}
	if from > to || to > len(page) {
		return nil
	}
	return page[from:to]
}

// dirty reports whether a gap has anything in it.
func dirty(gap []byte) bool { return len(bytes.Trim(gap, "\x00")) > 0 }

// errTooLarge is that of a file whose gaps cannot be told.
var errTooLarge = errors.New("the file is larger than 128 GiB: what was erased may be in unused parts of its pages")

// clearGaps overwrites the gaps of all pages.
func (db *DB) clearGaps(ctx context.Context) error {
	var pages, size, vacuum int64
	err := db.Read(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT page_count, page_size, auto_vacuum FROM pragma_page_count,
			pragma_page_size, pragma_auto_vacuum`).Scan(&pages, &size, &vacuum)
	})
	if err != nil {
		return err
	}
	if pages >= maxGapPages {
		return errTooLarge
	}
	cells := func(number int64) bool {
		return number != lockingPage(size) && (vacuum == 0 || !pointerMap(number, size))
	}
	for from := int64(1); from <= pages; from += gapsTogether {
		found, err := db.dirtyPages(ctx, from, min(from+gapsTogether-1, pages), cells)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			continue
		}
		err = db.Write(ctx, Urgent().Freeing(), func(tx *Tx) error {
			for _, number := range found {
				if err := clearGap(tx, number); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// dirtyPages are the numbers of the pages of a range whose gaps are to be cleared. Those
// that cells is false for have no cells.
func (db *DB) dirtyPages(ctx context.Context, from, to int64, cells func(number int64) bool) (out []int64, err error) {
	err = db.Read(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `
			WITH RECURSIVE n (p) AS (SELECT ?1 UNION ALL SELECT p + 1 FROM n WHERE p < ?2)
			SELECT p, data FROM n JOIN sqlite_dbpage ON pgno = p`, from, to)
		if err != nil {
			return err
		}
		defer rows.Close()
		out = nil
		for rows.Next() {
			var number int64
			var page sql.RawBytes
			if err := rows.Scan(&number, &page); err != nil {
				return err
			}
			if cells(number) && dirty(gap(page, number)) {
				out = append(out, number)
			}
		}
		return rows.Err()
	})
	return out, err
}

// clearGap clears the gap of a page as it is now.
func clearGap(tx *Tx, number int64) error {
	var page []byte
	err := tx.QueryRow(`SELECT data FROM sqlite_dbpage WHERE pgno = ?`, number).Scan(&page)
	if errors.Is(err, sql.ErrNoRows) { // the file has become shorter
		return nil
	}
	if err != nil {
		return err
	}
	unused := gap(page, number)
	if !dirty(unused) {
		return nil
	}
	clear(unused)
	_, err = tx.Exec(`UPDATE sqlite_dbpage SET data = ? WHERE pgno = ?`, page, number)
	return err
}
