package qdrantstore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/qdrant/go-client/qdrant"
	"github.com/sourcegraph/conc/pool"

	"github.com/memoryd/memoryd/memory"
)

const (
	counting    = 8       // words counted at a time
	maxSessions = 1 << 20 // sessions of one scope that are counted
	maxCited    = 1 << 16 // turns of one session that facts cite
)

// found is a point that a search came upon, all of it read in one step, so that
// a write meanwhile does not mix two revisions.
type found struct {
	read   bool // it is there
	hit    bool // it is in one of the two lists
	memory memory.Memory
	freqs  []int // of the query's words
	length int
	cosine float64
}

// Search implements memory.Store.
func (s *Store) Search(ctx context.Context, scope memory.Scope, q memory.Query) (memory.Found, error) {
	if q.Vector != nil && len(q.Vector) != s.model.Dimension {
		return memory.Found{}, wrap("search memories", scope, fmt.Errorf("%w: query vector has %d numbers, not %d", memory.ErrInvalid, len(q.Vector), s.model.Dimension))
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	sr := &search{s: s, scope: scope, q: &q, now: s.opts.Now(), points: map[string]*found{}}
	for _, x := range q.Vector {
		sr.norm += float64(x) * float64(x)
	}
	sr.norm = math.Sqrt(sr.norm)
	for _, t := range q.Terms {
		name, err := encode(t)
		if err != nil {
			return memory.Found{}, err
		}
		sr.quoted = append(sr.quoted, string(name)+":")
	}
	out, err := sr.run(ctx)
	if err != nil {
		return memory.Found{}, wrap("search memories", scope, err)
	}
	return out, nil
}

// search is one query.
type search struct {
	s      *Store
	scope  memory.Scope
	q      *memory.Query
	now    time.Time
	stats  memory.Stats
	norm   float64           // of q.Vector
	quoted []string          // q.Terms as they are written in a stored list of words
	points map[string]*found // by id of the point
}

func (sr *search) run(ctx context.Context) (memory.Found, error) {
	if err := sr.count(ctx); err != nil {
		return memory.Found{}, err
	}
	if err := sr.lists(ctx); err != nil {
		return memory.Found{}, err
	}
	if sr.q.Cited {
		if err := sr.cited(ctx); err != nil {
			return memory.Found{}, err
		}
	}
	orders, err := sr.sessions(ctx)
	if err != nil {
		return memory.Found{}, err
	}
	if err := sr.fill(ctx); err != nil {
		return memory.Found{}, err
	}
	return memory.Found{Stats: sr.stats, Runs: sr.runs(orders)}, nil
}

// count takes the statistics: how many memories there are, and how many have
// each word, also among the turns of each session. Those by session are not
// asked for exactly: an exact facet finds the values first and then counts each
// with a query of its own. One that is not counts all points of each segment in
// one go, as long as there are no more than ten times as many values as its
// Limit; so it is as good, but for a point that is being moved to another
// segment, which it may count twice. What a session is like only says which
// turns to prefer.
func (sr *search) count(ctx context.Context) error {
	sr.stats.DF = make([]int, len(sr.q.Terms))
	turns := map[string]int{}                         // in each session
	having := make([]map[string]int, len(sr.q.Terms)) // turns in each session that have a word
	all := pool.New().WithErrors().WithFirstError().WithContext(ctx).WithMaxGoroutines(counting)
	one := func(f *qdrant.Filter, into *int) {
		all.Go(func(ctx context.Context) error {
			n, err := sr.s.client.Count(ctx, &qdrant.CountPoints{CollectionName: sr.s.collection, Filter: f, Exact: qdrant.PtrOf(true)})
			*into = int(n)
			return sr.s.kind(ctx, err)
		})
	}
	bySession := func(f *qdrant.Filter, into *map[string]int) {
		if !sr.q.Sessions {
			return
		}
		f.Must = append(f.Must, qdrant.NewMatch("kind", string(memory.KindTurn)))
		all.Go(func(ctx context.Context) error {
			counts, err := sr.s.client.Facet(ctx, &qdrant.FacetCounts{CollectionName: sr.s.collection, Key: "session", Filter: f, Exact: qdrant.PtrOf(false),
				Limit: qdrant.PtrOf(uint64(maxSessions))})
			*into = make(map[string]int, len(counts))
			for _, c := range counts {
				(*into)[c.GetValue().GetStringValue()] = int(c.GetCount())
			}
			return sr.s.kind(ctx, err)
		})
	}
	one(live(sr.scope, sr.now), &sr.stats.Docs)
	bySession(live(sr.scope, sr.now), &turns)
	for i, t := range sr.q.Terms {
		have := func() *qdrant.Filter {
			return &qdrant.Filter{Must: []*qdrant.Condition{qdrant.NewMatchInt("words", wordNumber(sr.scope, t))},
				MustNot: []*qdrant.Condition{notAfter("expires", sr.now)}}
		}
		one(have(), &sr.stats.DF[i])
		bySession(have(), &having[i])
	}
	if err := all.Wait(); err != nil {
		return err
	}
	if !sr.q.Sessions {
		return nil
	}
	sr.stats.Sessions = map[string]memory.SessionStats{}
	for i, counts := range having {
		for session, n := range counts {
			in, ok := sr.stats.Sessions[session]
			if !ok {
				in = memory.SessionStats{Turns: turns[session], DF: make([]int, len(sr.q.Terms))}
				sr.stats.Sessions[session] = in
			}
			in.DF[i] = n
		}
	}
	// A session may have begun between two of the counts.
	sr.stats.SessionCount = max(len(turns), len(sr.stats.Sessions))
	return nil
}

// cited reads the turns that the facts among the hits cite: hits themselves
// from here on.
func (sr *search) cited(ctx context.Context) error {
	events := map[string]map[string]bool{} // by session
	for _, f := range sr.points {
		if f.memory.Kind != memory.KindFact || f.memory.Source.SessionID == "" {
			continue
		}
		for _, e := range f.memory.Source.EventIDs {
			if events[f.memory.Source.SessionID] == nil {
				events[f.memory.Source.SessionID] = map[string]bool{}
			}
			events[f.memory.Source.SessionID][e] = true
		}
	}
	for _, f := range sr.points { // those that were found themselves
		if f.memory.Kind == memory.KindTurn && len(f.memory.Source.EventIDs) > 0 {
			delete(events[f.memory.Source.SessionID], f.memory.Source.EventIDs[0])
		}
	}
	var queries []*qdrant.QueryPoints
	for session, ids := range events {
		if len(ids) == 0 {
			continue
		}
		f := live(sr.scope, sr.now)
		f.Must = append(f.Must, qdrant.NewMatch("session", session), qdrant.NewMatch("kind", string(memory.KindTurn)),
			qdrant.NewMatchKeywords("event", slices.Sorted(maps.Keys(ids))...))
		queries = append(queries, &qdrant.QueryPoints{CollectionName: sr.s.collection, Filter: f, Limit: qdrant.PtrOf(uint64(maxCited)),
			WithPayload: candidateFields, WithVectors: sr.vectors()})
	}
	if len(queries) == 0 {
		return nil
	}
	answers, err := sr.s.client.QueryBatch(ctx, &qdrant.QueryBatchPoints{CollectionName: sr.s.collection, QueryPoints: queries})
	if err != nil {
		return sr.s.kind(ctx, err)
	}
	for _, a := range answers {
		for _, p := range a.GetResult() {
			f, err := sr.read(p.GetPayload(), p.GetVectors())
			if err != nil {
				return err
			}
			if f.hit = f.read; f.hit {
				sr.points[p.GetId().GetUuid()] = f
			}
		}
	}
	return nil
}

// lists finds the hits, by words and by meaning, in one call.
func (sr *search) lists(ctx context.Context) error {
	if sr.q.Limit <= 0 {
		return nil
	}
	passes := filter(sr.scope, &sr.q.Filter, sr.now)
	var queries []*qdrant.QueryPoints
	ask := func(vector string, q *qdrant.Query) {
		queries = append(queries, &qdrant.QueryPoints{CollectionName: sr.s.collection, Query: q, Using: qdrant.PtrOf(vector), Filter: passes,
			Params: &qdrant.SearchParams{Exact: qdrant.PtrOf(sr.s.opts.Exact || vector == lexical)},
			// A few more than asked for show whether the last ones tie.
			Limit: qdrant.PtrOf(uint64(sr.q.Limit + 32)), WithPayload: candidateFields, WithVectors: sr.vectors()})
	}
	weights := map[uint32]float32{}
	for i, t := range sr.q.Terms { // also what nobody had when it was counted
		weights[wordPlace(t)] += float32(memory.IDF(sr.stats.Docs, sr.stats.DF[i]))
	}
	if len(weights) > 0 {
		v := sparse(weights).GetSparse()
		ask(lexical, qdrant.NewQuerySparse(v.GetIndices(), v.GetValues()))
	}
	if sr.norm > 0 {
		ask(dense, qdrant.NewQueryDense(sr.q.Vector))
	}
	for len(queries) > 0 {
		answers, err := sr.s.client.QueryBatch(ctx, &qdrant.QueryBatchPoints{CollectionName: sr.s.collection, QueryPoints: queries})
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
			if err := sr.take(points); err != nil {
				return err
			}
		}
		queries = again
	}
	return nil
}

// candidateFields is the payload that a found is read from.
var candidateFields = qdrant.NewWithPayloadInclude("id", docField, termsField, lengthField, "gone")

// vectors asks for what cosines are taken of.
func (sr *search) vectors() *qdrant.WithVectorsSelector {
	if sr.norm == 0 {
		return nil
	}
	return qdrant.NewWithVectorsInclude(dense)
}

// take keeps the best of a list: ties go to the smaller id. What has neither a
// word nor a direction in common with the query is no hit: two words may share
// a place in a sparse vector.
func (sr *search) take(points []*qdrant.ScoredPoint) error {
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
		was := sr.points[p.GetId().GetUuid()]
		if !f.read || was != nil && was.memory.Revision >= f.memory.Revision {
			continue // the other list has it
		}
		if f.hit = f.cosine > 0 || slices.ContainsFunc(f.freqs, func(n int) bool { return n > 0 }); f.hit {
			sr.points[p.GetId().GetUuid()] = f
		}
	}
	return nil
}

// read reads a point.
func (sr *search) read(payload map[string]*qdrant.Value, vectors *qdrant.VectorsOutput) (*found, error) {
	f := &found{}
	if err := decode(payload[docField].GetStringValue(), &f.memory); err != nil {
		return nil, err
	}
	f.freqs, f.length = sr.frequencies(payload[termsField].GetStringValue()), int(payload[lengthField].GetIntegerValue())
	f.read = !payload["gone"].GetBoolValue() && f.memory.Live(sr.now)
	if v := vectors.GetVectors().GetVectors()[dense].GetDense().GetData(); v != nil {
		for i, x := range v {
			f.cosine += float64(x) * float64(sr.q.Vector[i])
		}
		f.cosine /= sr.norm
	}
	return f, nil
}

// frequencies looks the query's words up in a stored list of words, {"word":n,…}. A
// search goes through a thousand of those, so it does not decode them.
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
			if at > 0 && (words[at-1] == '{' || words[at-1] == ',') { // not the end of a longer word
				for ; from < len(words) && words[from] >= '0' && words[from] <= '9'; from++ {
					out[i] = 10*out[i] + int(words[from]-'0')
				}
				break
			}
		}
	}
	return out
}

// fill reads the points around the hits.
func (sr *search) fill(ctx context.Context) error {
	var ids []*qdrant.PointId
	for id, f := range sr.points {
		if !f.read {
			ids = append(ids, qdrant.NewIDUUID(id))
		}
	}
	if len(ids) == 0 {
		return nil
	}
	points, err := sr.s.client.Get(ctx, &qdrant.GetPoints{CollectionName: sr.s.collection, Ids: ids, WithPayload: candidateFields, WithVectors: sr.vectors()})
	if err != nil {
		return sr.s.kind(ctx, err)
	}
	for _, p := range points {
		f, err := sr.read(p.GetPayload(), p.GetVectors())
		if err != nil {
			return err
		}
		sr.points[p.GetId().GetUuid()] = f
	}
	return nil
}

// runs puts hits and context together; see memory.Found.
func (sr *search) runs(orders map[string][]turn) (out [][]memory.Candidate) {
	bySession := map[string][]*found{}
	for _, f := range sr.points {
		if f.hit && (f.memory.Kind != memory.KindTurn || orders == nil) {
			out = append(out, []memory.Candidate{sr.candidate(f)})
		}
	}
	for session, turns := range orders {
		var known []*found // in order; nil for a turn nobody needs
		for i := 0; i < len(turns); {
			_, to := moment(turns, i)
			var same []*found
			for _, t := range turns[i:to] {
				if f := sr.points[t.point]; f != nil && f.read {
					same = append(same, f)
				}
			}
			slices.SortFunc(same, func(a, b *found) int { return inSession(&a.memory, &b.memory) })
			if len(same) == 0 {
				same = append(same, nil)
			}
			known = append(known, same...)
			i = to
		}
		bySession[session] = known
	}
	for _, known := range bySession {
		from, to := 0, 0
		flush := func() {
			var run []memory.Candidate
			for _, f := range known[from:to] {
				if f != nil {
					run = append(run, sr.candidate(f))
				}
			}
			if run != nil {
				out = append(out, run)
			}
		}
		for i, f := range known {
			if f == nil || !f.hit {
				continue
			}
			if i-sr.q.Context >= to {
				flush()
				from = max(0, i-sr.q.Context)
			}
			to = min(len(known), i+sr.q.Context+1)
		}
		flush()
	}
	return out
}

// inSession is the order of turns: of (Timestamp, event id).
func inSession(a, b *memory.Memory) int {
	event := func(m *memory.Memory) string {
		if len(m.Source.EventIDs) == 0 {
			return ""
		}
		return m.Source.EventIDs[0]
	}
	return cmp.Or(a.Timestamp.Compare(b.Timestamp), strings.Compare(event(a), event(b)), strings.Compare(a.ID, b.ID))
}

func (sr *search) candidate(f *found) memory.Candidate {
	return memory.Candidate{Memory: f.memory, Freqs: f.freqs, Length: f.length, Cosine: f.cosine, Match: sr.q.Match(&f.memory, sr.now)}
}
