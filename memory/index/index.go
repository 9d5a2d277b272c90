// Package index keeps the memories of scopes in memory as searches need them: an
// inverted index of their words, their vectors, and the turns of each session in
// order. Searches over it are exact. The stores of memories share it, so that all of
// them find alike.
package index

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/memoryd/memoryd/memory"
)

// Index is one scope in memory: its memories by slot, an inverted index of
// their words, their vectors, and the turns of each session in order. A slot is written
// once. A newer revision takes a new slot, and the old one is dead until the index is
// packed.
type Index struct {
	mu sync.RWMutex
	contents
	restoring sync.Mutex // guards contents.recent between searches, after mu
	settled   atomic.Pointer[Settled]
	changes   atomic.Int64 // that have begun
}

// contents are all of an index but its lock.
type contents struct {
	docs    []doc
	marks   []mark           // of the docs, which searches go through
	slots   map[string]int32 // memory id to its slot, live ones only
	words   vocabulary
	lists   postings
	ended   map[int32]int32 // by number of a word, how many of its slots are dead
	often   map[pair]int    // frequencies that packed has no room for
	vectors vectors
	// The sessions that have ever had a turn, by number: counting by number is
	// faster than by name.
	sessions       []session
	sessionNumbers map[string]int32
	sessionCount   int                       // sessions that have turns
	rests          map[uint64]*memory.Memory // those that memories share, by the hash of their likeness
	departing      []int32                   // facts that have an end or a client's text, dead ones too
	citing         map[cited][]int32         // the same facts by what they cite
	forgotten      int                       // live turns of which a fact was forgotten
	apart          int                       // live memories whose vectors stay in the store
	hidden         map[string]hidden         // memories that no search finds, by id
	expiring       time.Time                 // the earliest ExpireTime; zero for none
	dead           int
	stored         int64                  // Memory.Bytes of the live memories
	bytes          int64                  // of memories, words and sessions; see size
	recent         weak.Pointer[memories] // see lately
}

// hidden is a live memory that is quarantined or was rejected. An index only counts it.
type hidden struct {
	revision int64
	bytes    int64     // Memory.Bytes
	expires  time.Time // zero for never
}

// doc is one revision of a memory. Its slot is its place in Index.docs.
type doc struct {
	kept
	vector int32    // row of Index.vectors; or noVector, or apart
	at     int32    // where a turn was put among those of its session; see Index.position
	words  []packed // by number
}

// mark is what each search asks of a doc.
type mark struct {
	length  int32  // in words
	session int32  // the number of a turn's session; noSession for a fact, isDead for a dead doc
	event   uint32 // a hash of a turn's event
}

// seed is the seed of the hashes of events and of likenesses. Each process has its own.
var seed = maphash.MakeSeed()

// hashed is a hash of an event.
func hashed(event string) uint32 { return uint32(maphash.String(seed, event)) }

const (
	noSession = -1
	isDead    = -2
)

// doc.vector of a memory without a vector, and of one whose vector stays in the store.
const (
	noVector = -1
	apart    = -2
)

// session is a session with its live turns, by (Timestamp, event id).
type session struct {
	name  string
	turns []int32
}

// cited is an event of a session, which has this number.
type cited struct {
	session int32
	event   string
}

func newIndex() *Index {
	return &Index{contents: contents{
		slots: map[string]int32{}, ended: map[int32]int32{}, often: map[pair]int{}, sessionNumbers: map[string]int32{},
		rests: map[uint64]*memory.Memory{}, citing: map[cited][]int32{}, hidden: map[string]hidden{},
	}}
}

// Put takes in one revision of a memory. One older than the index has is ignored, and
// so is the same revision without the vector that the index has. A memory that was created
// later is another one, whatever its revision: the one before it is gone from the store.
func (ix *Index) Put(e *Entry) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.changes.Add(1)
	if slot, ok := ix.slots[e.Memory.ID]; ok {
		has := &ix.docs[slot]
		is, created := &e.Memory, micros(e.Memory.CreateTime)
		if created < has.created {
			return
		}
		if created == has.created && (has.revision > is.Revision ||
			has.revision == is.Revision && has.vector != noVector && e.Vector == nil && !e.Apart) {
			return
		}
		ix.kill(slot)
	} else if h, ok := ix.hidden[e.Memory.ID]; ok {
		if h.revision > e.Memory.Revision {
			return
		}
		ix.reveal(e.Memory.ID)
	}
	if e.Memory.State.Hidden() {
		ix.hide(&e.Memory)
	} else {
		ix.add(e)
	}
	ix.pack()
}

// hide counts a memory that no search finds.
func (ix *Index) hide(m *memory.Memory) {
	ix.hidden[m.ID] = hidden{m.Revision, m.Bytes(), m.ExpireTime}
	ix.stored += m.Bytes()
	ix.bytes += hiddenBytes + stringBytes(m.ID)
	ix.expireBy(m.ExpireTime)
}

// reveal takes a memory out of those that are hidden: it changed, or is gone.
func (ix *Index) reveal(id string) {
	ix.stored -= ix.hidden[id].bytes
	ix.bytes -= hiddenBytes + stringBytes(id)
	delete(ix.hidden, id)
}

// expireBy notes that a memory expires at a time, unless that is zero.
func (ix *Index) expireBy(at time.Time) {
	if !at.IsZero() && (ix.expiring.IsZero() || at.Before(ix.expiring)) {
		ix.expiring = at
	}
}

// putPage takes in memories. Their vectors get their room at once: else each of the first ones of an
// index is moved several times.
func (ix *Index) putPage(page []*Entry) {
	n := 0
	for _, e := range page {
		if len(e.Vector) > 0 {
			n++
		}
	}
	expect := func(n int) {
		ix.mu.Lock()
		defer ix.mu.Unlock()
		ix.vectors.coming = n
	}
	expect(n)
	for _, e := range page {
		ix.Put(e)
	}
	expect(0) // some may have been older than what the index has
}

// add gives a memory the next slot. The caller has killed its older one.
func (ix *Index) add(e *Entry) {
	slot, m := int32(len(ix.docs)), &e.Memory
	d := doc{kept: ix.keep(m), vector: noVector, words: make([]packed, 0, len(e.Terms))}
	for term, freq := range e.Terms {
		number := ix.words.number(term)
		ix.lists.add(number, pack(slot, freq))
		d.words = append(d.words, pack(number, freq))
		if freq >= manyFreq {
			ix.often[pair{slot, number}] = freq
			ix.bytes += oftenBytes
		}
	}
	if e.Vector != nil {
		d.vector = ix.vectors.add(slot, e.Vector)
	} else if e.Apart {
		d.vector = apart
		ix.apart++
	}
	in := mark{length: int32(e.Terms.Length()), session: noSession}
	if m.Kind == memory.KindTurn {
		d.session = ix.sessionNumber(m.Source.SessionID) // a turn has one, be it ""
		in.session, in.event = d.session, hashed(d.event())
	}
	ix.docs, ix.marks = append(ix.docs, d), append(ix.marks, in)
	ix.slots[d.id()] = slot
	if m.Kind == memory.KindTurn {
		ix.insertTurn(slot)
	}
	if m.Departs(m.ValidTo) {
		ix.addDeparting(slot)
	}
	if len(m.Forgotten) > 0 {
		ix.forgotten++
	}
	ix.expireBy(m.ExpireTime)
	ix.stored += m.Bytes()
	ix.bytes += d.size()
}

// df is how many live memories have a word.
func (ix *Index) df(number int32) int { return len(ix.lists.of(number)) - int(ix.ended[number]) }

// addDeparting adds a fact to those that succession looks at.
func (ix *Index) addDeparting(slot int32) {
	ix.departing = append(ix.departing, slot)
	d := &ix.docs[slot]
	if d.session == noSession {
		return
	}
	for _, event := range d.events() {
		at := cited{d.session, strings.Clone(event)} // that of the memory would keep all of its texts
		ix.citing[at] = append(ix.citing[at], slot)
		ix.bytes += citingBytes + stringBytes(event)
	}
}

// sessionNumber gives a session its number at its first memory. It keeps the number when
// its memories are gone.
func (ix *Index) sessionNumber(name string) int32 {
	n, ok := ix.sessionNumbers[name]
	if !ok {
		n = int32(len(ix.sessions))
		ix.sessionNumbers[name] = n
		ix.sessions = append(ix.sessions, session{name: name})
		ix.bytes += sessionBytes + stringBytes(name)
	}
	return n
}

// turnsOf are the live turns of a session in order.
func (ix *Index) turnsOf(name string) []int32 {
	if n, ok := ix.sessionNumbers[name]; ok {
		return ix.sessions[n].turns
	}
	return nil
}

// position is the place of a turn among the turns of its session, or the place
// where it belongs. Most turns are where they were put, as others came behind them.
func (ix *Index) position(slot int32) (at int, found bool) {
	d := &ix.docs[slot]
	turns := ix.sessions[ix.marks[slot].session].turns
	if at := int(d.at); at < len(turns) && turns[at] == slot {
		return at, true
	}
	return slices.BinarySearchFunc(turns, slot, func(a, b int32) int {
		return compareTurns(&ix.docs[a].kept, &ix.docs[b].kept)
	})
}

// insertTurn puts a turn into the order of its session.
func (ix *Index) insertTurn(slot int32) {
	in := &ix.sessions[ix.marks[slot].session]
	if len(in.turns) == 0 {
		ix.sessionCount++
	}
	at, _ := ix.position(slot)
	before := cap(in.turns)
	in.turns = slices.Insert(in.turns, at, slot)
	ix.bytes += 4 * int64(cap(in.turns)-before)
	ix.docs[slot].at = int32(at)
}

// Remove takes in a deletion, which made a revision of the memory. It changes nothing
// at a later revision.
func (ix *Index) Remove(id string, revision int64) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.changes.Add(1)
	if slot, ok := ix.slots[id]; ok && ix.docs[slot].revision < revision {
		ix.kill(slot)
		ix.pack()
	} else if h, ok := ix.hidden[id]; ok && h.revision < revision {
		ix.reveal(id)
	}
}

// kill takes a memory out of all that searches look at except the postings, which
// would take a walk through long lists, and its vector. Searches skip dead slots
// there.
func (ix *Index) kill(slot int32) {
	d := &ix.docs[slot]
	for _, w := range d.words {
		ix.ended[w.number()]++
		if w.freq() == manyFreq {
			delete(ix.often, pair{slot, w.number()})
			ix.bytes -= oftenBytes
		}
	}
	if d.rest.Kind == memory.KindTurn {
		in := &ix.sessions[ix.marks[slot].session]
		if at, found := ix.position(slot); found {
			in.turns = slices.Delete(in.turns, at, at+1)
		}
		if len(in.turns) == 0 {
			ix.sessionCount--
		}
	}
	if len(d.rest.Forgotten) > 0 {
		ix.forgotten--
	}
	if d.vector == apart {
		ix.apart--
	}
	delete(ix.slots, d.id())
	var m restored
	ix.restore(slot, &m, false)
	ix.stored -= m.Bytes()
	ix.bytes -= d.size()
	*d, ix.marks[slot].session = doc{vector: d.vector}, isDead
	ix.dead++
}

// minDead is how many dead slots an index may have however small it is, so that
// one memory that changes often does not have its index rebuilt each time.
const minDead = 32

// pack rebuilds the index once most of it is dead.
func (ix *Index) pack() {
	if ix.dead < minDead || ix.dead < len(ix.docs)/2 {
		return
	}
	fresh := newIndex()
	for i := range ix.docs {
		if d := &ix.docs[i]; d.rest != nil {
			var m restored
			ix.restore(int32(i), &m, false)
			e := Entry{Memory: m.Memory, Terms: memory.Terms{}, Apart: d.vector == apart}
			if d.vector >= 0 {
				e.Vector = ix.vectors.row(d.vector)
			}
			for _, w := range d.words {
				e.Terms[string(ix.words.word(w.number()))] = ix.freqOf(w, int32(i), w.number())
			}
			fresh.add(&e)
		}
	}
	for id, h := range ix.hidden {
		fresh.hidden[id] = h
		fresh.stored += h.bytes
		fresh.bytes += hiddenBytes + stringBytes(id)
		fresh.expireBy(h.expires)
	}
	ix.contents = fresh.contents
}

// due reports whether a memory may have expired by now. The caller holds ix.mu.
func (ix *Index) due(now time.Time) bool { return !ix.expiring.IsZero() && !now.Before(ix.expiring) }

// lockAt locks the index for reading, without the memories that have expired by now: another
// call may have put one in since it was brought up to date.
func (ix *Index) lockAt(now time.Time) {
	for ix.mu.RLock(); ix.due(now); ix.mu.RLock() {
		ix.mu.RUnlock()
		ix.expire(now)
	}
}

// expire kills the memories that have expired by now, and reports whether there
// may have been any. Most calls only compare two times.
func (ix *Index) expire(now time.Time) bool {
	ix.mu.RLock()
	due := ix.due(now)
	ix.mu.RUnlock()
	if !due {
		return false
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.changes.Add(1)
	ix.expiring = time.Time{}
	for i := range ix.docs {
		d := &ix.docs[i]
		if d.rest == nil || d.expires == noTime {
			continue
		}
		if at := timeOf(d.expires); !now.Before(at) {
			ix.kill(int32(i))
		} else {
			ix.expireBy(at)
		}
	}
	for id, h := range ix.hidden {
		if !h.expires.IsZero() && !now.Before(h.expires) {
			ix.reveal(id)
		} else {
			ix.expireBy(h.expires)
		}
	}
	ix.pack()
	return true
}
