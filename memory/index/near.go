package index

import (
	"time"

	"github.com/memoryd/memoryd/memory"
)

// Near are the memories next to Query.Vector by the cosines that a store has measured,
// which keeps the vectors of a scope to itself: they are most of an index.
type Near struct {
	Hits List // for the list by meaning
	Keys List // for Found.Succession
}

// List has the best memories of a scope by their cosines, in any order. It may have some
// that do not belong into an answer: the index looks at each.
type List struct {
	Best []Scored
	All  bool // the scope has no others with a cosine above 0
}

// Scored is a memory with its cosine.
type Scored struct {
	ID     string
	Cosine float64
}

// Apart reports whether there are memories whose vectors stay in the store, so that
// SearchNear finds what Search does not.
func (ix *Index) Apart() bool {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	return ix.apart > 0
}

// Changes counts what has changed the index, or may have. Of two equal ones nothing has in between.
func (ix *Index) Changes() int64 { return ix.changes.Load() }

// Words are the part of an answer that goes by the words of a query alone: in a large scope most of what an index
// without vectors has to do. It can be done while the store measures the vectors.
type Words struct {
	of      search
	changes int64
}

// Words begins a search for SearchNear, with the same query and time.
func (ix *Index) Words(q *memory.Query, now time.Time) *Words {
	ix.lockAt(now)
	defer ix.mu.RUnlock()
	w := &Words{search{ix: ix, q: q, now: now}, ix.Changes()}
	w.of.count()
	w.of.listWords()
	return w
}

// Hold reports whether an index still gives the same words. Their lists are of places in it, which a change moves.
func (w *Words) Hold(ix *Index) bool { return w != nil && w.of.ix == ix && w.changes == ix.Changes() }

// SearchNear is Search where the store has measured the vectors. In the answer, Cosine is
// NaN for the memories whose vectors stay in the store: the caller sets it. SearchNear also
// reports whether the lists reach far enough. If not, an answer needs longer ones. Without
// words, or if they hold no longer, it looks up all itself.
func (ix *Index) SearchNear(q *memory.Query, near *Near, words *Words, now time.Time) (
	found memory.Found, enough bool) {
	ix.lockAt(now)
	defer ix.mu.RUnlock()
	sr := search{ix: ix, q: q, now: now}
	if words.Hold(ix) {
		sr = words.of
	} else {
		sr.count()
	}
	sr.near = near
	found = sr.run()
	return found, !sr.short
}

// Settled tells which writes of a store an index surely has: all up to one, by its number. It may have later ones of
// the memories Later, by id.
type Settled struct {
	Write int64
	Later map[string]bool
}

// Settle remembers what the index surely has. Who brings it up to date calls it afterwards.
func (ix *Index) Settle(s Settled) { ix.settled.Store(&s) }

// Settled is what Settle was told last.
func (ix *Index) Settled() Settled {
	if s := ix.settled.Load(); s != nil {
		return *s
	}
	return Settled{}
}

// Passing gives the ids of the memories that pass the filter of a query. It reports false if
// there are more than most.
func (ix *Index) Passing(q *memory.Query, now time.Time, most int) (ids []string, few bool) {
	ix.lockAt(now)
	defer ix.mu.RUnlock()
	s := search{ix: ix, q: q, now: now}
	for slot := range ix.docs {
		if ix.docs[slot].rest == nil || !q.Match(s.memoryOf(int32(slot)), now) {
			continue
		}
		if len(ids) == most {
			return nil, false
		}
		ids = append(ids, ix.docs[slot].id())
	}
	return ids, true
}

// listed gives the slots of the Limit best of a list that pass. Memories that the list
// lacks have no larger cosine than its last one. So it is short unless the worst that is
// taken is better than that.
func (s *search) listed(list *List, passes func(*memory.Memory, time.Time) bool) []int32 {
	best, last := s.best(passes), 0.0
	for i, one := range list.Best {
		if i == 0 || one.Cosine < last {
			last = one.Cosine
		}
		if slot, ok := s.ix.slots[one.ID]; ok && one.Cosine > 0 {
			best.offer(slot, one.Cosine)
		}
	}
	if !list.All && last > 0 && (len(best.kept) < s.q.Limit || best.kept[0].score <= last) {
		s.short = true
	}
	return best.slots()
}
