package index

import (
	"unsafe"

	"github.com/memoryd/memoryd/memory"
)

// What the parts of an index take, in bytes. Slices are counted by their
// capacity. An entry of a map is counted as one and a half times its key and
// value, as a map of Go is between seven sixteenths and seven eighths full.
// TestCacheFollowsHeap compares the sum with the heap.
const (
	slotBytes    = 36 // of a live memory, in Index.slots
	wordBytes    = 48 + 36 + 16
	packedBytes  = 4
	oftenBytes   = 24 // of an entry in Index.often
	docBytes     = int64(unsafe.Sizeof(doc{}) + unsafe.Sizeof(mark{}))
	memoryBytes  = int64(unsafe.Sizeof(memory.Memory{}))
	profileBytes = int64(unsafe.Sizeof(memory.Profile{}))
	sessionBytes = 36 + 50 // in its two tables
	sharedBytes  = 48      // of an entry in Index.shared
	citingBytes  = 72 + 8  // of a fact in Index.citing
	hiddenBytes  = 84      // of an entry in Index.hidden
	termBytes    = 40      // of an entry in memory.Terms
	queuedBytes  = int64(unsafe.Sizeof(queued{})) + 64
)

// stringBytes is what a string of its own takes: the runtime allocates in
// multiples of 8 to 16 bytes.
func stringBytes(s string) int64 { return int64(len(s)+15) &^ 15 }

// memorySize is what a memory takes without the strings that memories share.
func memorySize(m *memory.Memory) int64 {
	n := memoryBytes + stringBytes(m.ID) + stringBytes(m.Fact) + stringBytes(m.SupersededBy) +
		stringBytes(m.Source.Quote) + stringBytes(m.DisplayName) + stringBytes(m.Description) + stringBytes(m.Reason)
	for _, list := range [][]string{m.Topics, m.Source.EventIDs, m.Forgotten} {
		n += int64(cap(list)) * int64(unsafe.Sizeof(""))
		for _, s := range list {
			n += stringBytes(s)
		}
	}
	if p := m.Profile; p != nil {
		n += profileBytes + stringBytes(p.SchemaID) + stringBytes(p.Field) + int64(cap(p.Value))
	}
	for name, value := range m.Metadata {
		n += 60 + stringBytes(name) + int64(cap(value))
	}
	return n
}

// size is what a live memory takes in an index, without its vector, its postings
// and its place in Index.docs.
func (d *doc) size() int64 {
	n := slotBytes + memorySize(d.memory) + packedBytes*int64(cap(d.words))
	if d.memory.Kind != memory.KindTurn {
		n += stringBytes(d.memory.Source.SessionID)
	}
	return n
}

// Size is what an entry takes while it is queued, in bytes, and about what it takes in
// an index.
func (e *Entry) Size() int64 {
	m := &e.Memory
	n := queuedBytes + memorySize(m) + stringBytes(m.App) + stringBytes(m.User) + stringBytes(string(m.Kind)) +
		stringBytes(m.Author) + stringBytes(m.Source.SessionID) + 4*int64(cap(e.Vector))
	for term := range e.Terms {
		n += termBytes + stringBytes(term)
	}
	return n
}

// size is what the index takes beside scopeBytes, and whether it has no live
// memory.
func (ix *Index) size() (bytes int64, empty bool) {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	bytes = ix.bytes + ix.vectors.bytes() + docBytes*int64(cap(ix.docs)) + 4*int64(cap(ix.departing))
	return bytes, len(ix.slots)+len(ix.hidden) == 0
}
