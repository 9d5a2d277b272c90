// Package index keeps the memories of scopes in memory as searches need them: an
// inverted index of their words, their vectors, and the turns of each session in
// order. Searches over it are exact. The stores of memories share it, so that all of
// them find alike.
package index

import (
	"slices"
	"sync"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// Index is one scope in memory: its memories by slot, an inverted index of
// their words, their vectors, and the turns of each session in order. A slot is
// written once. A newer revision takes a new slot, and the old one is dead until
// the index is packed.
type Index struct {
	mu       sync.RWMutex
	docs     []doc
	lengths  []int32          // by slot, in words
	session  []int32          // by slot, the number of a turn's session; -1 for a fact, and once it is dead
	slots    map[string]int32 // memory id to its slot, live ones only
	words    map[string]*word
	names    []string // of words by number
	vectors  vectors
	sessions map[string][]int32 // live turns by (Timestamp, event id)
	// The sessions that have ever had a turn, by number: counting by number is
	// faster than by name.
	sessionNames   []string
	sessionNumbers map[string]int32
	departing      []int32           // facts that have an end or a client's text, dead ones too
	citing         map[cited][]int32 // the same facts by what they cite
	forgotten      int               // live turns of which a fact was forgotten
	expiring       time.Time         // the earliest ExpireTime; zero for none
	dead           int
	bytes          int64 // of memories, words and sessions; see size
}

// doc is one revision of a memory. Its slot is its place in Index.docs.
type doc struct {
	memory *memory.Memory // nil once it is dead
	words  []count
	vector int32 // row of Index.vectors; -1 for none
	at     int32 // where a turn was put among those of its session; see Index.position
}

// cited is an event of a session, which has this number.
type cited struct {
	session int32
	event   string
}

// count says how often a memory has a word, given by its number.
type count struct{ word, freq int32 }

// word is a term and the slots that have it.
type word struct {
	number int32
	df     int       // live memories that have it
	list   []posting // of dead slots too
}

// posting says how often a slot has a word.
type posting struct{ slot, freq int32 }

func newIndex() *Index {
	return &Index{
		slots: map[string]int32{}, words: map[string]*word{},
		sessions: map[string][]int32{}, sessionNumbers: map[string]int32{}, citing: map[cited][]int32{},
	}
}

// Put takes in one revision of a memory. One older than the index has is ignored, and
// so is the same revision without the vector that the index has.
func (ix *Index) Put(e *Entry) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if slot, ok := ix.slots[e.Memory.ID]; ok {
		has := &ix.docs[slot]
		if has.memory.Revision > e.Memory.Revision ||
			has.memory.Revision == e.Memory.Revision && has.vector >= 0 && e.Vector == nil {
			return
		}
		ix.kill(slot)
	}
	ix.add(e)
	ix.pack()
}

// add gives a memory the next slot. The caller has killed its older one.
func (ix *Index) add(e *Entry) {
	slot := int32(len(ix.docs))
	m := e.Memory
	d := doc{memory: &m, vector: -1, words: make([]count, 0, len(e.Terms))}
	for term, freq := range e.Terms {
		w := ix.word(term)
		w.df++
		before := cap(w.list)
		w.list = append(w.list, posting{slot, int32(freq)})
		ix.bytes += postingBytes * int64(cap(w.list)-before)
		d.words = append(d.words, count{w.number, int32(freq)})
	}
	if e.Vector != nil {
		d.vector = ix.vectors.add(slot, e.Vector)
	}
	session := int32(-1)
	if m.Kind == memory.KindTurn {
		session = ix.sessionNumber(m.Source.SessionID)
		m.Source.SessionID = ix.sessionNames[session] // one string for all turns of a session
	}
	ix.docs = append(ix.docs, d)
	ix.lengths = append(ix.lengths, int32(e.Terms.Length()))
	ix.session = append(ix.session, session)
	ix.slots[m.ID] = slot
	if m.Kind == memory.KindTurn {
		ix.insertTurn(slot)
	}
	if m.Departs(m.ValidTo) {
		ix.addDeparting(slot)
	}
	if len(m.Forgotten) > 0 {
		ix.forgotten++
	}
	if !m.ExpireTime.IsZero() && (ix.expiring.IsZero() || m.ExpireTime.Before(ix.expiring)) {
		ix.expiring = m.ExpireTime
	}
	ix.bytes += d.size()
}

// word returns the word of a term, which it makes if it is new.
func (ix *Index) word(term string) *word {
	w := ix.words[term]
	if w == nil {
		w = &word{number: int32(len(ix.names))}
		ix.words[term] = w
		ix.names = append(ix.names, term)
		ix.bytes += wordBytes + stringBytes(term)
	}
	return w
}

// addDeparting adds a fact to those that succession looks at.
func (ix *Index) addDeparting(slot int32) {
	ix.departing = append(ix.departing, slot)
	source := &ix.docs[slot].memory.Source
	for _, event := range source.EventIDs {
		at := cited{ix.sessionNumber(source.SessionID), event}
		ix.citing[at] = append(ix.citing[at], slot)
		ix.bytes += citingBytes
	}
}

// sessionNumber gives a session its number at its first turn, or at the first fact
// of departing that cites it. It keeps the number when its turns are gone.
func (ix *Index) sessionNumber(session string) int32 {
	n, ok := ix.sessionNumbers[session]
	if !ok {
		n = int32(len(ix.sessionNames))
		ix.sessionNumbers[session] = n
		ix.sessionNames = append(ix.sessionNames, session)
		ix.bytes += sessionBytes + stringBytes(session)
	}
	return n
}

// position is the place of a turn among the turns of its session, or the place
// where it belongs. Most turns are where they were put, as others came behind them.
func (ix *Index) position(slot int32) (at int, found bool) {
	d := &ix.docs[slot]
	turns := ix.sessions[d.memory.Source.SessionID]
	if at := int(d.at); at < len(turns) && turns[at] == slot {
		return at, true
	}
	return slices.BinarySearchFunc(turns, slot, func(a, b int32) int {
		return memory.CompareTurns(ix.docs[a].memory, ix.docs[b].memory)
	})
}

// insertTurn puts a turn into the order of its session.
func (ix *Index) insertTurn(slot int32) {
	d := &ix.docs[slot]
	session := d.memory.Source.SessionID
	at, _ := ix.position(slot)
	ix.sessions[session] = slices.Insert(ix.sessions[session], at, slot)
	d.at = int32(at)
}

// Remove takes in a deletion, which made a revision of the memory. It changes nothing
// at a later revision.
func (ix *Index) Remove(id string, revision int64) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if slot, ok := ix.slots[id]; ok && ix.docs[slot].memory.Revision < revision {
		ix.kill(slot)
		ix.pack()
	}
}

// kill takes a memory out of all that searches look at except the postings, which
// would take a walk through long lists, and its vector. Searches skip dead slots
// there.
func (ix *Index) kill(slot int32) {
	d := &ix.docs[slot]
	for _, c := range d.words {
		ix.words[ix.names[c.word]].df--
	}
	if d.memory.Kind == memory.KindTurn {
		session := d.memory.Source.SessionID
		if at, found := ix.position(slot); found {
			ix.sessions[session] = slices.Delete(ix.sessions[session], at, at+1)
		}
		if len(ix.sessions[session]) == 0 {
			delete(ix.sessions, session)
		}
	}
	if len(d.memory.Forgotten) > 0 {
		ix.forgotten--
	}
	delete(ix.slots, d.memory.ID)
	ix.bytes -= d.size()
	d.memory, d.words, ix.session[slot] = nil, nil, -1
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
		if d := &ix.docs[i]; d.memory != nil {
			e := Entry{Memory: *d.memory, Terms: memory.Terms{}}
			if d.vector >= 0 {
				e.Vector = ix.vectors.row(d.vector)
			}
			for _, c := range d.words {
				e.Terms[ix.names[c.word]] = int(c.freq)
			}
			fresh.add(&e)
		}
	}
	ix.docs, ix.lengths, ix.session, ix.vectors = fresh.docs, fresh.lengths, fresh.session, fresh.vectors
	ix.slots, ix.words, ix.names = fresh.slots, fresh.words, fresh.names
	ix.sessions, ix.expiring, ix.dead, ix.bytes = fresh.sessions, fresh.expiring, 0, fresh.bytes
	ix.sessionNames, ix.sessionNumbers = fresh.sessionNames, fresh.sessionNumbers
	ix.departing, ix.citing, ix.forgotten = fresh.departing, fresh.citing, fresh.forgotten
}

// expire kills the memories that have expired by now, and reports whether there
// may have been any. Most calls only compare two times.
func (ix *Index) expire(now time.Time) bool {
	ix.mu.RLock()
	due := !ix.expiring.IsZero() && !now.Before(ix.expiring)
	ix.mu.RUnlock()
	if !due {
		return false
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.expiring = time.Time{}
	for i := range ix.docs {
		d := &ix.docs[i]
		if d.memory == nil || d.memory.ExpireTime.IsZero() {
			continue
		}
		if !d.memory.Live(now) {
			ix.kill(int32(i))
		} else if ix.expiring.IsZero() || d.memory.ExpireTime.Before(ix.expiring) {
			ix.expiring = d.memory.ExpireTime
		}
	}
	ix.pack()
	return true
}
