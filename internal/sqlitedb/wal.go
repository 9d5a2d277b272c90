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

// walState is what a write-ahead log holds.
type walState struct {
	size     int64
	header   bool   // it has a header, and that is whole
	salts    uint64 // both, of the header
	frames   uint32 // from the beginning to the last commit, all whole
	lastSums uint64 // the checksums of the last of them
	// lost says that behind the first frame that is not whole there are frames of
	// two transactions. SQLite flushes one transaction before it begins the next, so
	// at least the first of them was acknowledged, and SQLite would drop it.
	lost bool
}

// walSums continues the two checksums of a log over data.
func walSums(order binary.ByteOrder, s0, s1 uint32, data []byte) (uint32, uint32) {
	for i := 0; i+8 <= len(data); i += 8 {
		s0 += order.Uint32(data[i:]) + s1
		s1 += order.Uint32(data[i+4:]) + s0
	}
	return s0, s1
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
	return w, w.read(bufio.NewReaderSize(f, 1<<20), limit)
}

// read reads the header and the frames.
func (w *walState) read(in io.Reader, limit uint32) error {
	head := make([]byte, walHeader)
	if _, err := io.ReadFull(in, head); err != nil {
		return ended(err)
	}
	magic, page := binary.BigEndian.Uint32(head), binary.BigEndian.Uint32(head[8:])
	var order binary.ByteOrder = binary.LittleEndian
	if magic == walMagic|1 {
		order = binary.BigEndian
	}
	s0, s1 := walSums(order, 0, 0, head[:24])
	w.salts = binary.BigEndian.Uint64(head[16:])
	if magic|1 != walMagic|1 || page < 512 || page > 65536 ||
		s0 != binary.BigEndian.Uint32(head[24:]) || s1 != binary.BigEndian.Uint32(head[28:]) {
		return nil
	}
	w.header = true
	frame := make([]byte, frameHeader+int(page))
	whole, commits := true, 0 // whole: all frames so far; commits: whole ones behind one that is not
	for n := uint32(1); limit == 0 || n <= limit; n++ {
		if _, err := io.ReadFull(in, frame); err != nil {
			return ended(err)
		}
		if binary.BigEndian.Uint64(frame[8:]) != w.salts {
			if limit > 0 {
				return nil
			}
			whole = false // a frame of an earlier log, or a damaged one
			s0, s1 = binary.BigEndian.Uint32(frame[16:]), binary.BigEndian.Uint32(frame[20:])
			continue
		}
		s0, s1 = walSums(order, s0, s1, frame[:8])
		s0, s1 = walSums(order, s0, s1, frame[frameHeader:])
		sums := binary.BigEndian.Uint64(frame[16:])
		good := uint64(s0)<<32|uint64(s1) == sums
		s0, s1 = uint32(sums>>32), uint32(sums) // so that one damaged frame does not hide the others
		commit := binary.BigEndian.Uint32(frame[4:]) != 0
		switch {
		case !good:
			whole = false
		case whole && commit:
			w.frames, w.lastSums = n, sums
		case !whole:
			w.lost = w.lost || commits > 0
			if commit {
				commits++
			}
		}
	}
	return nil
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
		if w.header && w.salts == before.salts && w.frames == before.frames && w.lastSums == before.sums {
			return "", nil
		}
		// A writer may have begun the log again meanwhile.
		if after, ok := readIndex(index); ok && after.salts == before.salts {
			return fmt.Sprintf("the write-ahead log has %d of its %d pages", w.frames, before.frames), nil
		}
	}
	return "", nil
}
