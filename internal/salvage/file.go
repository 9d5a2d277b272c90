// Package salvage reads a damaged SQLite file of memoryd page by page, without
// SQLite, and stores every row that can still be read in a new file.
//
// The new file has the schema of this version, made by the stores themselves. The
// rows of a table are found by walking its tree from the root. Of a tree that is
// broken, the pages that no tree reaches any longer are matched with the tables by the
// types of their columns. The stores check each row, and mend what the rows say about
// each other in the end.
package salvage

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/memoryd/memoryd/internal/sqlitedb"
)

// The format is https://sqlite.org/fileformat2.html.
const (
	magic       = "SQLite format 3\x00"
	defaultPage = 4096
)

// file is a database file and the write-ahead log beside it.
type file struct {
	main     *os.File
	log      *os.File         // nil if there is none
	inLog    map[uint32]int64 // where in the log the newest version of a page is
	pageSize int
	usable   int // bytes of a page that hold content
	pages    uint32
	header   bool // the header of the main file can be read
	otherLog bool // the log beside it is of another file, and is not read
}

// open opens the file at a path, which is not changed.
func open(path string) (*file, error) {
	f := &file{pageSize: defaultPage, inLog: map[uint32]int64{}}
	belongs, err := sqlitedb.LogBelongs(path)
	if err != nil {
		return nil, err
	}
	if f.main, err = os.Open(path); err != nil {
		return nil, err
	}
	f.otherLog = !belongs
	if f.log, err = os.Open(path + "-wal"); err != nil {
		f.log = nil
	}
	head := make([]byte, 100)
	_, _ = f.main.ReadAt(head, 0) // what is beyond the end stays zero
	if size := pageSize(uint32(binary.BigEndian.Uint16(head[16:]))); string(head[:16]) == magic && size > 0 {
		f.pageSize, f.header = size, true
	}
	f.usable = f.pageSize
	if f.header {
		f.usable -= int(head[20])
	}
	info, err := f.main.Stat()
	if err != nil {
		f.close()
		return nil, err
	}
	f.pages = uint32((info.Size() + int64(f.pageSize) - 1) / int64(f.pageSize))
	f.readLog()
	if f.usable < 480 || f.pages == 0 { // 480 is the least that SQLite allows
		f.close()
		return nil, fmt.Errorf("%s has no page that could be read", path)
	}
	return f, nil
}

// pageSize is the size that a header states, in which 1 stands for 65536; 0 if it is
// not one.
func pageSize(stated uint32) int {
	if stated == 1 {
		return 65536
	}
	if stated < 512 || stated > 32768 || stated&(stated-1) != 0 {
		return 0
	}
	return int(stated)
}

func (f *file) close() {
	f.main.Close()
	if f.log != nil {
		f.log.Close()
	}
}

// readLog finds the committed pages in the log. One damaged frame costs one page and not
// all that comes after it.
func (f *file) readLog() {
	if f.log == nil || f.otherLog {
		return
	}
	if !f.header { // the log knows the size of a page
		head, _ := sqlitedb.ReadLog(io.NewSectionReader(f.log, 0, math.MaxInt64), 0,
			func(sqlitedb.Frame) bool { return false })
		if head.PageSize > 0 {
			f.pageSize, f.usable = head.PageSize, head.PageSize
		}
	}
	waiting := map[uint32]int64{} // pages of a transaction that has no commit yet
	// What cannot be read of the log stays as it is in the main file.
	_, _ = sqlitedb.ReadLog(bufio.NewReaderSize(io.NewSectionReader(f.log, 0, math.MaxInt64), 1<<20), f.pageSize,
		func(frame sqlitedb.Frame) bool {
			if !frame.Good || len(frame.Data) != f.pageSize {
				return true
			}
			waiting[frame.Page] = frame.At
			if frame.Commit {
				for n, at := range waiting {
					f.inLog[n] = at
					f.pages = max(f.pages, n)
				}
				clear(waiting)
			}
			return true
		})
}

// page reads a page. What is beyond the end of the file reads as zeros.
func (f *file) page(n uint32) []byte {
	out := make([]byte, f.pageSize)
	if n == 0 || n > f.pages {
		return out
	}
	if at, ok := f.inLog[n]; ok {
		if _, err := f.log.ReadAt(out, at); err == nil {
			return out
		}
		clear(out)
	}
	_, _ = f.main.ReadAt(out, int64(n-1)*int64(f.pageSize)) // a part of a page is better than none
	return out
}

// free returns the pages that hold nothing: what is still in them was deleted. ok is
// false if the list of them is broken.
func (f *file) free() (out map[uint32]bool, ok bool) {
	out = map[uint32]bool{}
	first := f.page(1)
	if string(first[:16]) != magic {
		return out, false
	}
	total := binary.BigEndian.Uint32(first[36:])
	for trunk := binary.BigEndian.Uint32(first[32:]); trunk != 0; {
		if trunk > f.pages || out[trunk] {
			return out, false
		}
		out[trunk] = true
		p := f.page(trunk)
		n := binary.BigEndian.Uint32(p[4:])
		if int64(n) > int64(f.usable/4-2) {
			return out, false
		}
		for i := range n {
			out[binary.BigEndian.Uint32(p[8+4*i:])] = true
		}
		trunk = binary.BigEndian.Uint32(p)
	}
	return out, uint32(len(out)) == total
}
