package qdrantstore

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/qdrant/go-client/qdrant"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/index"
)

const (
	counting    = 8       // words counted at a time
	maxSessions = 1 << 20 // sessions of one scope that are counted
	maxCited    = 1 << 16 // turns of one session that facts cite
	spare       = 32      // more points asked for than a list has, which show whether its last ones tie
)

// found is a point that a search came upon. All of it is read in one call, so
// that a write meanwhile does not mix two revisions. A context point that is
// yet to be read is zero.
type found struct {
	read   bool // it was read, and is live
	hit    bool // it is in one of the two lists, or cited
	memory memory.Memory
	freqs  []int // of the query's words
	length int
	cosine float64
}

// search is one query that Qdrant answers.
type search struct {
	s      *Store
	scope  memory.Scope
	q      *memory.Query
	now    time.Time
	stats  memory.Stats
	norm   float64           // of q.Vector
	quoted []string          // q.Terms as they are written in a stored list of words
	points map[string]*found // by id of the point
	// beside are the memories that Found.Succession is chosen from, by id of the point.
	// Some may be in points too.
	beside map[string]*found
	keys   map[string]bool // those beside that are keys
}

// Search implements memory.Store. A scope is searched by its index in memory, if it has
// one; see indexOf.
func (s *Store) Search(ctx context.Context, scope memory.Scope, q memory.Query) (memory.Found, error) {
	return s.search(ctx, scope, &q, nil)
}

// PrepareSearch implements memory.Store. It begins to ask what has changed in the scope.
func (s *Store) PrepareSearch(ctx context.Context, scope memory.Scope) memory.PreparedSearch {
	ahead := s.cache.Begin(ctx, scope, s.bounded)
	return func(ctx context.Context, q memory.Query) (memory.Found, error) {
		return s.search(ctx, scope, &q, ahead)
	}
}

func (s *Store) search(ctx context.Context, scope memory.Scope, q *memory.Query, ahead *index.Ahead) (
	memory.Found, error) {
	if err := memory.ValidateVector(q.Vector, s.model.Dimension); err != nil {
		return memory.Found{}, scope.Wrap("search memories", err)
	}
	q.Hidden = false // it is for lists
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	out, done, err := s.searchIndex(ctx, scope, q, ahead)
	if err == nil && !done {
		out, err = s.searchLists(ctx, scope, q)
	}
	if err != nil {
		return memory.Found{}, scope.Wrap("search memories", err)
	}
	return out, nil
}

// searchLists answers a search by Qdrant's lists, or by the index if that is read before its turn.
func (s *Store) searchLists(ctx context.Context, scope memory.Scope, q *memory.Query) (memory.Found, error) {
	leave, err := s.byLists(ctx, scope)
	if err != nil {
		return memory.Found{}, err
	}
	if leave == nil {
		if out, done, err := s.searchIndex(ctx, scope, q, nil); done || err != nil {
			return out, err
		}
		leave = func() { s.fill(scope) }
	}
	defer leave()
	sr := &search{
		s: s, scope: scope, q: q, now: s.opts.Now(), points: map[string]*found{}, beside: map[string]*found{},
	}
	sr.norm = norm(q.Vector)
	for _, t := range q.Terms {
		name, err := memory.EncodeJSON(t)
		if err != nil {
			return memory.Found{}, err
		}
		sr.quoted = append(sr.quoted, string(name)+":")
	}
	return sr.run(ctx)
}

// norm is the length of a vector.
func norm(v []float32) (length float64) {
	for _, x := range v {
		length += float64(x) * float64(x)
	}
	return math.Sqrt(length)
}

func (sr *search) run(ctx context.Context) (memory.Found, error) {
	if err := sr.count(ctx); err != nil {
		return memory.Found{}, err
	}
	if err := sr.lists(ctx); err != nil {
		return memory.Found{}, err
	}
	sr.keys = map[string]bool{}
	for id := range sr.beside {
		sr.keys[id] = true
	}
	if sr.q.Cited {
		if err := sr.cited(ctx); err != nil {
			return memory.Found{}, err
		}
	}
	sessions, err := sr.neighbours(ctx)
	if err != nil {
		return memory.Found{}, err
	}
	if err := sr.readContext(ctx); err != nil {
		return memory.Found{}, err
	}
	out := memory.Found{Stats: sr.stats, Runs: sr.runs(sessions)}
	out.Succession, err = sr.succession(ctx, out.Runs)
	return out, err
}

// lists finds the hits, and the keys of Found.Succession, by words and by meaning, in
// one call. It asks again for
// more of a list whose last points tie, as Qdrant does not order those.
func (sr *search) lists(ctx context.Context) error {
	if sr.q.Limit <= 0 {
		return nil
	}
	passes, complete := filter(sr.scope, &sr.q.Filter, sr.now)
	queries := sr.listQueries(passes)
	if !complete {
		for _, query := range queries {
			points, err := sr.sift(ctx, query)
			if err != nil {
				return err
			}
			if err := sr.take(points, sr.points); err != nil {
				return err
			}
		}
		queries = nil
	}
	if sr.q.Succession {
		queries = append(queries, sr.listQueries(keys(sr.scope, &sr.q.Filter, sr.now))...)
	}
	for len(queries) > 0 {
		answers, err := sr.s.client.QueryBatch(ctx, sr.batch(queries))
		if err != nil {
			return sr.s.kind(ctx, err)
		}
		var again []*qdrant.QueryPoints
		for i, a := range answers {
			points := a.GetResult()
			n := len(points)
			if n == int(queries[i].GetLimit()) && points[n-1].GetScore() == points[sr.q.Limit-1].GetScore() {
				queries[i].Limit = qdrant.PtrOf(uint64(4 * n))
				again = append(again, queries[i])
				continue
			}
			into := sr.points
			if queries[i].GetFilter() != passes {
				into = sr.beside
			}
			if err := sr.take(points, into); err != nil {
				return err
			}
		}
		queries = again
	}
	return nil
}

// listQueries asks for the two lists of those that pass, as far as the question has
// words and a direction.
func (sr *search) listQueries(passes *qdrant.Filter) (queries []*qdrant.QueryPoints) {
	ask := func(vector string, q *qdrant.Query) {
		queries = append(queries, &qdrant.QueryPoints{
			CollectionName: sr.s.collection, Query: q, Using: qdrant.PtrOf(vector), Filter: passes,
			Params: &qdrant.SearchParams{Exact: qdrant.PtrOf(sr.s.opts.Exact || vector == lexical)},
			Limit:  qdrant.PtrOf(uint64(sr.q.Limit + spare)), WithPayload: candidateFields, WithVectors: sr.vectors(),
		})
	}
	weights := map[uint32]float32{}
	for i, t := range sr.q.Terms { // a word that no memory had when it was counted may be in one by now
		weights[wordIndex(t)] += float32(memory.IDF(sr.stats.Docs, sr.stats.DF[i]))
	}
	if len(weights) > 0 {
		v := sparse(weights).GetSparse()
		ask(lexical, qdrant.NewQuerySparse(v.GetIndices(), v.GetValues()))
	}
	if sr.norm > 0 {
		ask(dense, qdrant.NewQueryDense(sr.q.Vector))
	}
	return queries
}

func (sr *search) batch(queries []*qdrant.QueryPoints) *qdrant.QueryBatchPoints {
	return &qdrant.QueryBatchPoints{CollectionName: sr.s.collection, QueryPoints: queries}
}

// candidateFields is the payload that a found is read from.
var candidateFields = qdrant.NewWithPayloadInclude("id", docField, termsField, lengthField, "gone")

// vectors asks for the vectors that cosines are computed from.
func (sr *search) vectors() *qdrant.WithVectorsSelector {
	if sr.norm == 0 {
		return nil
	}
	return qdrant.NewWithVectorsInclude(dense)
}

// take keeps the best of a list: ties go to the smaller id. A point with
// neither a word nor a direction in common with the query is no hit. Qdrant may
// list one, as two words may share an index in a sparse vector.
func (sr *search) take(points []*qdrant.ScoredPoint, into map[string]*found) error {
	points = slices.DeleteFunc(points, func(p *qdrant.ScoredPoint) bool { return p.GetScore() <= 0 })
	id := func(p *qdrant.ScoredPoint) string { return p.GetPayload()["id"].GetStringValue() }
	slices.SortFunc(points, func(a, b *qdrant.ScoredPoint) int {
		return cmp.Or(cmp.Compare(b.GetScore(), a.GetScore()), strings.Compare(id(a), id(b)))
	})
	for _, p := range points[:min(len(points), sr.q.Limit)] {
		f, err := sr.read(p.GetPayload(), p.GetVectors())
		if err != nil {
			return err
		}
		was := into[p.GetId().GetUuid()]
		if !f.read || was != nil && was.memory.Revision >= f.memory.Revision {
			continue // the other list has it
		}
		if f.hit = f.cosine > 0 || slices.ContainsFunc(f.freqs, func(n int) bool { return n > 0 }); f.hit {
			into[p.GetId().GetUuid()] = f
		}
	}
	return nil
}

// cited reads the turns that the facts among the hits cite, and makes them
// hits.
func (sr *search) cited(ctx context.Context) error {
	citations := memory.Citations{}
	for _, f := range sr.points {
		citations.Cite(&f.memory)
	}
	return sr.readCited(ctx, citations, sr.points)
}

// readCited reads turns that are cited into a map, where those that are hits already
// are left out.
func (sr *search) readCited(ctx context.Context, citations memory.Citations, into map[string]*found) error {
	for _, f := range sr.points {
		if f.hit && citations.Cites(&f.memory) {
			delete(citations[f.memory.Source.SessionID], f.memory.Source.EventID())
		}
	}
	var queries []*qdrant.QueryPoints
	for session, events := range citations {
		if len(events) == 0 {
			continue
		}
		turns := sr.turnsOf(session)
		turns.Must = append(turns.Must, qdrant.NewMatchKeywords("event", slices.Sorted(maps.Keys(events))...))
		queries = append(queries, &qdrant.QueryPoints{
			CollectionName: sr.s.collection, Filter: turns, Limit: qdrant.PtrOf(uint64(maxCited)),
			WithPayload: candidateFields, WithVectors: sr.vectors(),
		})
	}
	if len(queries) == 0 {
		return nil
	}
	answers, err := sr.s.client.QueryBatch(ctx, sr.batch(queries))
	if err != nil {
		return sr.s.kind(ctx, err)
	}
	for _, a := range answers {
		if err := sr.takeAll(a.GetResult(), into); err != nil {
			return err
		}
	}
	return nil
}

// takeAll makes hits of points.
func (sr *search) takeAll(points []*qdrant.ScoredPoint, into map[string]*found) error {
	for _, p := range points {
		f, err := sr.read(p.GetPayload(), p.GetVectors())
		if err != nil {
			return err
		}
		if f.hit = f.read; f.hit {
			into[p.GetId().GetUuid()] = f
		}
	}
	return nil
}

// turnsOf passes the live turns of a session, without those of which a fact was
// forgotten unless the query has history.
func (sr *search) turnsOf(session string) *qdrant.Filter {
	f := visible(sr.scope, sr.now)
	if !sr.q.History {
		f.MustNot = append(f.MustNot, qdrant.NewMatchBool("forgotten", true))
	}
	f.Must = append(f.Must, qdrant.NewMatch("session", session), qdrant.NewMatch("kind", string(memory.KindTurn)))
	return f
}

// read reads a point.
func (sr *search) read(payload map[string]*qdrant.Value, vectors *qdrant.VectorsOutput) (*found, error) {
	f := &found{}
	if err := decode(payload[docField].GetStringValue(), &f.memory); err != nil {
		return nil, err
	}
	f.freqs = sr.frequencies(payload[termsField].GetStringValue())
	f.length = int(payload[lengthField].GetIntegerValue())
	f.read = !payload["gone"].GetBoolValue() && f.memory.Live(sr.now) && !f.memory.State.Hidden()
	if v := vectors.GetVectors().GetVectors()[dense].GetDense().GetData(); v != nil {
		for i, x := range v {
			f.cosine += float64(x) * float64(sr.q.Vector[i])
		}
		f.cosine /= sr.norm
	}
	return f, nil
}

// frequencies looks the query's words up in a stored list of words,
// {"word":n,…}. A search goes through a thousand of those, so it does not
// decode them.
func (sr *search) frequencies(words string) []int {
	out := make([]int, len(sr.quoted))
	for i, name := range sr.quoted {
		for from := 0; ; {
			at := strings.Index(words[from:], name)
			if at < 0 {
				break
			}
			at += from
			from = at + len(name)
			if at == 0 || words[at-1] != '{' && words[at-1] != ',' {
				continue // it is the end of a longer word
			}
			n := 0
			for ; from < len(words) && words[from] >= '0' && words[from] <= '9'; from++ {
				n = 10*n + int(words[from]-'0')
			}
			out[i] = n
			break
		}
	}
	return out
}
