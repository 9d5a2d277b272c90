package index

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// bareOf are entries whose vectors stay in the store.
func bareOf(entries []*Entry) (out []*Entry) {
	for _, e := range entries {
		bare := *e
		bare.Vector, bare.Apart = nil, e.Vector != nil
		out = append(out, &bare)
	}
	return out
}

// nearest are the n best of some entries by their cosines.
func nearest(entries []*Entry, v []float32, n int) List {
	var all []Scored
	for _, e := range entries {
		if len(e.Vector) != len(v) {
			continue
		}
		one := Scored{ID: e.Memory.ID}
		for i, x := range e.Vector {
			one.Cosine += float64(x) * float64(v[i])
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b Scored) int { return cmp.Compare(b.Cosine, a.Cosine) })
	return List{Best: all[:min(n, len(all))], All: n > len(all)}
}

// idsOf are the ids of what a search found, and the cosines that it has.
func idsOf(found memory.Found) (ids []string, cosines map[string]float64) {
	cosines = map[string]float64{}
	for _, run := range append(found.Runs, found.Succession) {
		for _, c := range run {
			ids, cosines[c.Memory.ID] = append(ids, c.Memory.ID), c.Cosine
		}
	}
	slices.Sort(ids)
	return ids, cosines
}

// An index without vectors finds what one with vectors finds, if the store gives it the
// nearest memories, and asks for more of these where they may not be all that it needs.
func TestSearchNear(t *testing.T) {
	const dim, n = 8, 2000
	entries := randomEntries(n, dim)
	for i, e := range entries {
		e.Memory.Topics = []string{[]string{"rare", "common"}[min(i%20, 1)]}
		if i%3 == 0 {
			e.Memory.ValidTo, e.Memory.SupersededBy = time.Unix(int64(i), 0), entries[(i+1)%n].Memory.ID
		}
		if len(e.Vector) > dim { // of another model: it has none here
			e.Vector = nil
		}
	}
	whole, bare := newIndex(), newIndex()
	for i, e := range bareOf(entries) {
		whole.Put(entries[i])
		bare.Put(e)
	}
	random, short := rand.New(rand.NewPCG(3, 4)), 0
	for i := range 40 {
		q := memory.Query{Terms: []string{"word7", "absent"}, Vector: unit(random, dim), Limit: 20, Succession: true}
		if i%2 == 1 {
			q.Topics = []string{"rare"}
		}
		want, cosines := idsOf(whole.Search(&q, time.Now()))
		var words *Words
		if i%3 > 0 { // with words, without, and with those of before a change
			words = bare.Words(&q, time.Now())
		}
		if i%3 == 2 {
			again := bareOf(entries[i : i+1])[0]
			again.Memory.Revision++
			bare.Put(again)
			if words.Hold(bare) {
				t.Fatal("the words hold after a change")
			}
		}
		for limit := 25; ; limit *= 4 {
			found, enough := bare.SearchNear(&q,
				&Near{Hits: nearest(entries, q.Vector, limit), Keys: nearest(entries, q.Vector, limit)}, words, time.Now())
			if !enough {
				short++
				continue
			}
			got, are := idsOf(found)
			if !slices.Equal(got, want) {
				t.Fatalf("%d memories, want %d", len(got), len(want))
			}
			for id, is := range are {
				if embedded := bare.docs[bare.slots[id]].vector == apart; math.IsNaN(is) != embedded ||
					!embedded && cosines[id] != 0 {
					t.Errorf("%s has a vector: %v, and the cosine %v", id, embedded, is)
				}
			}
			break
		}
	}
	if short == 0 {
		t.Error("no list was short")
	}
}

// Lists that end within memories of one cosine are short: the store may have left out that
// one of them which is due by its id.
func TestSearchNearTies(t *testing.T) {
	ix := newIndex()
	ids := []string{"a", "b", "c", "d"}
	for _, id := range ids {
		e := fact(ann, id, 1)
		e.Apart = true
		ix.Put(e)
	}
	q := memory.Query{Vector: []float32{1}, Limit: 2}
	for _, c := range []struct {
		list   List
		enough bool
		want   []string
	}{
		{List{Best: []Scored{{"d", 0.5}, {"c", 0.5}}}, false, nil},
		{List{Best: []Scored{{"d", 0.5}, {"c", 0.5}, {"a", 0.5}, {"b", 0.4}}}, true, []string{"a", "c"}},
		{List{Best: []Scored{{"d", 0.5}, {"c", 0.5}}, All: true}, true, []string{"c", "d"}},
		{List{Best: []Scored{{"d", 0.5}, {"c", 0}}}, true, []string{"d"}},
		{List{Best: []Scored{{"gone", 0.9}, {"d", 0.5}}}, false, nil},
		{List{All: true}, true, nil},
	} {
		found, enough := ix.SearchNear(&q, &Near{Hits: c.list}, nil, time.Now())
		if got, _ := idsOf(found); enough != c.enough || enough && !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, enough: %v", c.list, got, enough)
		}
	}
}

// An index tells whether vectors stay in the store, through changes, deletions and packing.
func TestApart(t *testing.T) {
	ix := newIndex()
	is := func(when string, want bool) {
		t.Helper()
		if ix.Apart() != want {
			t.Errorf("%s: %v", when, !want)
		}
	}
	is("empty", false)
	one := fact(ann, "m", 1)
	ix.Put(one)
	is("without a vector", false)
	embedded := *one
	embedded.Apart = true
	ix.Put(&embedded)
	is("embedded", true)
	ix.Put(one) // read before
	is("read earlier", true)
	for revision := range int64(3 * minDead) {
		e := embedded
		e.Memory.Revision = 2 + revision
		ix.Put(&e)
	}
	is("packed", true)
	ix.Remove("m", 1000)
	is("deleted", false)
}

// The memories that pass a filter are named unless they are too many.
func TestPassing(t *testing.T) {
	ix := newIndex()
	for i, id := range []string{"a", "b", "c", "gone"} {
		e := fact(ann, id, 1)
		e.Memory.Topics = []string{[]string{"even", "odd"}[i%2]}
		ix.Put(e)
	}
	ix.Remove("gone", 2)
	for _, c := range []struct {
		topic string
		most  int
		want  []string
		few   bool
	}{
		{"even", 2, []string{"a", "c"}, true},
		{"even", 1, nil, false},
		{"odd", 1, []string{"b"}, true},
		{"none", 0, nil, true},
	} {
		q := memory.Query{Filter: memory.Filter{Topics: []string{c.topic}}}
		if ids, few := ix.Passing(&q, time.Now(), c.most); !slices.Equal(ids, c.want) || few != c.few {
			t.Errorf("%+v: %v, few: %v", c, ids, few)
		}
	}
}
