package sqlitedb

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
)

// generation is a number in the header of the main file (PRAGMA user_version) that
// shows which write-ahead log belongs to which file. SQLite itself compares nothing
// there: it would mix the pages of a log into any file.
//
// Whenever a transaction may begin the log again, it also counts the generation up. So
// the first version of page 1 in a log has the generation that follows the one of the
// file when the log began. The file that belongs to it has that one still, or a version
// of page 1 that is in the log. A new file and each copy begin at a random number.
type generation uint32

// firstGenerations are the numbers at which a file or a copy begins: the multiples of
// this one. So a log that brings a file of an earlier version, which has generation 0,
// its first one is known by it.
const firstGenerations = 1 << 12

// newGeneration is one for a file that has none yet. It is small enough to be counted up
// for ever.
func newGeneration() generation {
	return generation((1 + rand.Uint32N(1<<31/firstGenerations-1)) * firstGenerations)
}

// next is the generation of the log that begins on a file.
func (g generation) next() generation {
	if g == 0 {
		return newGeneration()
	}
	return g + 1
}

// between reports whether a file has generation g that had the first one, and whose logs
// came to the last one.
func (g generation) between(first, last generation) bool {
	if first == 0 && g != 0 {
		first = last &^ (firstGenerations - 1) // the one that the file got in the place of 0
	}
	return g-first <= last-first
}

// header is the header of the main file: the beginning of page 1.
type header [headerBytes]byte

const (
	headerBytes  = 100
	generationAt = 60                    // in the header
	magic        = "SQLite format 3\x00" // begins it
)

// readHeader reads the header of a file, as far as there is one.
func readHeader(f io.ReaderAt) (h header, err error) {
	_, err = f.ReadAt(h[:], 0)
	return h, ended(err)
}

func (h *header) generation() generation {
	return generation(binary.BigEndian.Uint32(h[generationAt:]))
}

// follows reports whether the generation of a file allows that the log is its own. A log
// without page 1 does not tell: earlier versions have written such logs.
func (w *walState) follows(file generation) bool {
	if len(w.heads) == 0 {
		return true
	}
	first, last := w.heads[0].generation(), w.heads[len(w.heads)-1].generation()
	return file == 0 && first%firstGenerations == 0 || file.between(max(first, 1)-1, last)
}

// has reports whether the header of a file of which the log has begun to be written into
// the file is in the log. If it is not, the log has been cut, or the file is a copy from
// a moment of the same log.
func (w *walState) has(head header) bool {
	if len(w.heads) == 0 || head.generation() == 0 { // earlier versions did not count
		return true
	}
	return head.generation()+1 == w.heads[0].generation() || slices.Contains(w.heads, head)
}

// LogBelongs reports whether the log beside the file at a path is the one of that file,
// as far as both can be read.
func LogBelongs(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head, err := readHeader(f)
	if err != nil {
		return false, err
	}
	w, err := readWAL(path+"-wal", 0)
	return string(head[:len(magic)]) != magic || w.follows(head.generation()) && w.has(head), err
}

// count counts the generation up if the transaction that has just begun may begin the
// log again. SQLite does so when the main file has all that is in the log.
func (db *DB) count(tx *Tx) error {
	if db.path == Memory {
		return nil
	}
	if ix, ok := readIndex(db.handles.index); ok && ix.backfill < ix.frames {
		return nil
	}
	var is int32
	if err := tx.QueryRow("PRAGMA user_version").Scan(&is); err != nil {
		return err
	}
	db.newest = generation(is).next()
	// A pragma takes no arguments, so the statement is not one to keep.
	_, err := db.conn.ExecContext(context.Background(), fmt.Sprint("PRAGMA user_version = ", int32(db.newest)))
	return err
}
