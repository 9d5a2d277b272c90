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
	slotBytes     = 36 // of a live memory, in Index.slots
	listHeadBytes = int64(unsafe.Sizeof([]packed{}))
	packedBytes   = 4
	endedBytes    = 12 // of an entry in Index.ended
	oftenBytes    = 24 // of an entry in Index.often
	docBytes      = int64(unsafe.Sizeof(doc{}) + unsafe.Sizeof(mark{}))
	restBytes     = int64(unsafe.Sizeof(memory.Memory{}))
	moreBytes     = int64(unsafe.Sizeof(more{}))
	likeBytes     = restBytes + (int64(unsafe.Sizeof(likeness{}))+8)*3/2 // of an entry in Index.rests
	profileBytes  = int64(unsafe.Sizeof(memory.Profile{}))
	sessionBytes  = 36 + 50 // in its two tables
	citingBytes   = 72 + 8  // of a fact in Index.citing
	hiddenBytes   = 84      // of an entry in Index.hidden
	termBytes     = 40      // of an entry in memory.Terms
	queuedBytes   = int64(unsafe.Sizeof(queued{})) + 64
)

// stringBytes is what a string of its own takes: the runtime allocates in
// multiples of 8 to 16 bytes.
func stringBytes(s string) int64 { return int64(len(s)+15) &^ 15 }

// listBytes is what a list of strings takes.
func listBytes(list []string) int64 {
	n := int64(cap(list)) * int64(unsafe.Sizeof(""))
	for _, s := range list {
		n += stringBytes(s)
	}
	return n
}

// metadataBytes is what metadata takes.
func metadataBytes(all memory.Metadata) (n int64) {
	for name, value := range all {
		n += 60 + stringBytes(name) + int64(cap(value))
	}
	return n
}

// passageBytes is what a passage takes.
func passageBytes(p *memory.Passage) int64 {
	if p == nil {
		return 0
	}
	return int64(unsafe.Sizeof(*p)) + stringBytes(p.Document) + stringBytes(p.Title) + stringBytes(p.URI) +
		listBytes(p.Headings)
}

// restSize is what a rest takes that no other memory shares, without the strings that
// memories share.
func restSize(m *memory.Memory) int64 {
	n := restBytes + stringBytes(m.DisplayName) + stringBytes(m.Description) + stringBytes(m.Reason) +
		listBytes(m.Topics) + listBytes(m.Forgotten)
	if p := m.Profile; p != nil {
		n += profileBytes + stringBytes(p.SchemaID) + stringBytes(p.Field) + int64(cap(p.Value))
	}
	for _, r := range m.Retracted {
		n += int64(unsafe.Sizeof(r)) + stringBytes(r.Fact)
	}
	return n
}

// size is what more takes.
func (x *more) size() int64 {
	return moreBytes + stringBytes(x.quote) + stringBytes(x.supersededBy) + listBytes(x.events) +
		passageBytes(x.passage) + metadataBytes(x.metadata)
}

// size is what a live memory takes in an index, without its vector, its postings
// and its place in Index.docs.
func (d *doc) size() int64 {
	n := slotBytes + packedBytes*int64(cap(d.words)) + stringBytes(d.texts)
	if d.more != nil {
		n += d.more.size()
	}
	if d.own {
		n += restSize(d.rest)
	}
	return n
}

// Size is what an entry takes while it is queued, in bytes.
func (e *Entry) Size() int64 {
	m := &e.Memory
	n := queuedBytes + restSize(m) + stringBytes(m.ID) + stringBytes(m.Fact) + stringBytes(m.SupersededBy) +
		stringBytes(m.Source.Quote) + listBytes(m.Source.EventIDs) + passageBytes(m.Source.Passage) +
		metadataBytes(m.Metadata) + stringBytes(m.App) + stringBytes(m.User) + stringBytes(string(m.Kind)) +
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
	bytes = ix.bytes + ix.vectors.bytes() + ix.words.bytes() + docBytes*int64(cap(ix.docs)) +
		ix.lists.size() + endedBytes*int64(len(ix.ended)) + 4*int64(cap(ix.departing))
	return bytes, len(ix.slots)+len(ix.hidden) == 0
}
