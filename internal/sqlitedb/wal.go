package sqlitedb

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// The format of SQLite's write-ahead log: https://sqlite.org/fileformat2.html#walformat.
const (
	walHeader   = 32
	frameHeader = 24
	walMagic    = 0x377f0682 // its last bit says that checksums are big-endian
)

// LogHead is the header of a write-ahead log.
type LogHead struct {
	Whole    bool   // its checksum is right
	PageSize int    // in bytes; 0 if it states none that is allowed
	Salts    uint64 // both: those of all frames of this log

	order binary.ByteOrder // of checksums
	sums  uint64           // checksums of the header, which the first frame continues
}

// Frame is a version of a page in a write-ahead log.
type Frame struct {
	Number uint32 // counts from 1
	At     int64  // where in the log its page begins
	Page   uint32 // the number of the page
	Commit bool   // it ends a transaction
	Own    bool   // its salts are the log's; else it is of an earlier log, or damaged
	Good   bool   // Own, and its checksum follows from the one that the frame before it states
	Sums   uint64 // the checksums that it states
	Data   []byte // the page, until the next frame
}

// readLogHead reads a header. A log that ends within it gives one that is not whole.
func readLogHead(in io.Reader) (h LogHead, err error) {
	raw := make([]byte, walHeader)
	if _, err := io.ReadFull(in, raw); err != nil {
		return h, ended(err)
	}
	magic, page := binary.BigEndian.Uint32(raw), binary.BigEndian.Uint32(raw[8:])
	h.order = binary.LittleEndian
	if magic == walMagic|1 {
		h.order = binary.BigEndian
	}
	if page >= 512 && page <= 65536 && page&(page-1) == 0 {
		h.PageSize = int(page)
	}
	h.Salts, h.sums = binary.BigEndian.Uint64(raw[16:]), binary.BigEndian.Uint64(raw[24:])
	h.Whole = magic|1 == walMagic|1 && h.PageSize > 0 && continueSums(h.order, 0, raw[:24]) == h.sums
	return h, nil
}

// continueSums continues the two checksums of a log over data.
func continueSums(order binary.ByteOrder, sums uint64, data []byte) uint64 {
	s0, s1 := uint32(sums>>32), uint32(sums)
	for i := 0; i+8 <= len(data); i += 8 {
		s0 += order.Uint32(data[i:]) + s1
		s1 += order.Uint32(data[i+4:]) + s0
	}
	return uint64(s0)<<32 | uint64(s1)
}

// ReadLog reads a write-ahead log, and calls see with its frames until see returns
// false. One damaged frame does not hide those behind it. pageSize is for a log whose
// header is not whole: such a log has the salts of its first frame. 0 is for a caller
// that wants no frames of it.
func ReadLog(in io.Reader, pageSize int, see func(Frame) bool) (LogHead, error) {
	h, err := readLogHead(in)
	if h.Whole {
		pageSize = h.PageSize
	}
	if err != nil || pageSize == 0 || h.order == nil {
		return h, err
	}
	raw := make([]byte, frameHeader+pageSize)
	sums := h.sums
	for n := uint32(1); ; n++ {
		if _, err := io.ReadFull(in, raw); err != nil {
			return h, ended(err)
		}
		f := Frame{Number: n, At: walHeader + int64(n-1)*int64(len(raw)) + frameHeader,
			Page: binary.BigEndian.Uint32(raw), Commit: binary.BigEndian.Uint32(raw[4:]) != 0,
			Sums: binary.BigEndian.Uint64(raw[16:]), Data: raw[frameHeader:]}
		salts := binary.BigEndian.Uint64(raw[8:])
		if n == 1 && !h.Whole {
			h.Salts = salts
		}
		if f.Own = salts == h.Salts; f.Own {
			f.Good = continueSums(h.order, continueSums(h.order, sums, raw[:8]), f.Data) == f.Sums
		}
		sums = f.Sums
		if !see(f) {
			return h, nil
		}
	}
}

// walState is what a write-ahead log holds.
type walState struct {
	size     int64
	whole    bool   // it has a header, and that is whole
	salts    uint64 // both, of the header
	frames   uint32 // from the beginning to the last commit, all whole
	lastSums uint64 // the checksums of the last of them
	// lost says that behind the first frame that is not whole there are frames of
	// two transactions. SQLite flushes one transaction before it begins the next, so
	// at least the first of them was acknowledged, and SQLite would drop it.
	lost  bool
	heads []header // of the versions of page 1 that are whole, each different from the one before
}

// readWAL reads the log at a path, which may be missing, up to a number of frames;
// 0 is all of them.
func readWAL(path string, limit uint32) (w walState, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return w, nil
	}
	if err != nil {
		return w, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return w, err
	}
	w.size = info.Size()
	whole, commits := true, 0 // whole: all frames so far; commits: whole ones behind one that is not
	head, err := ReadLog(bufio.NewReaderSize(f, 1<<20), 0, func(f Frame) bool {
		if !f.Own && limit > 0 {
			return false
		}
		whole = whole && f.Good
		if f.Good && f.Page == 1 {
			if head := header(f.Data[:headerBytes]); len(w.heads) == 0 || head != w.heads[len(w.heads)-1] {
				w.heads = append(w.heads, head)
			}
		}
		switch {
		case whole && f.Commit:
			w.frames, w.lastSums = f.Number, f.Sums
		case !whole && f.Good:
			w.lost = w.lost || commits > 0
			if f.Commit {
				commits++
			}
		}
		return limit == 0 || f.Number < limit
	})
	w.whole, w.salts = head.Whole, head.Salts
	return w, err
}

// ended is nil for the end of a file, wherever in a frame that is.
func ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// walIndex is what the index of the log (the -shm file) says about the log.
type walIndex struct {
	frames   uint32 // of committed transactions
	salts    uint64
	sums     uint64 // of the last frame
	backfill uint32 // how many of the frames the main file has too
}

// readIndex reads the header of the index, which SQLite has mapped. ok is false if
// the index cannot be read, or is just being written.
func readIndex(f io.ReaderAt) (ix walIndex, ok bool) {
	head := make([]byte, 100)
	if _, err := f.ReadAt(head, 0); err != nil || string(head[:48]) != string(head[48:96]) || head[12] != 1 {
		return ix, false
	}
	// SQLite writes the index in the byte order of the machine, and the salts as they
	// are in the log.
	ix.frames = binary.NativeEndian.Uint32(head[16:])
	ix.sums = uint64(binary.NativeEndian.Uint32(head[24:]))<<32 | uint64(binary.NativeEndian.Uint32(head[28:]))
	ix.salts = binary.BigEndian.Uint64(head[32:])
	ix.backfill = binary.NativeEndian.Uint32(head[96:])
	return ix, true
}

// checkWAL reads the log as far as its index says it is committed, and returns what
// is wrong with it: "" if nothing is. The caller keeps the log from being shortened.
func checkWAL(path string, index io.ReaderAt) (what string, err error) {
	for range 3 {
		before, ok := readIndex(index)
		if !ok || before.frames == 0 {
			return "", nil
		}
		w, err := readWAL(path, before.frames)
		if err != nil {
			return "", err
		}
		if w.whole && w.salts == before.salts && w.frames == before.frames && w.lastSums == before.sums {
			return "", nil
		}
		// A writer may have begun the log again meanwhile.
		if after, ok := readIndex(index); ok && after.salts == before.salts {
			return fmt.Sprintf("the write-ahead log has %d of its %d pages", w.frames, before.frames), nil
		}
	}
	return "", nil
}
