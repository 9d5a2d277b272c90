package qdrantstore

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/qdrant/go-client/qdrant"
	"github.com/sourcegraph/conc/pool"

	"github.com/memoryd/memoryd/memory"
)

// wholeSession is the number of turns up to which a session's order is read
// whole. Of a longer session only the turns around the hits are read, with two
// queries a hit. On 2 cores that takes as long as reading some 20,000 turns.
const wholeSession = 10_000

// A search reads a thousand turns around its hits, in the sessions of a hundred. It asks
// in several calls at the same time, of so many points and of so many sessions each, as
// Qdrant answers a call on one core.
const (
	contextTogether = 200
	askedTogether   = 20
)

// turn is one turn of a session: its point, and when it was said. A gap, in
// place of an unknown number of turns, has no point.
type turn struct {
	point string
	at    int64
}

// sessions reads the order of the turns in the sessions of the hits, and adds
// the turns around hits to the points that are yet to be read. Of a long
// session it gives the turns around the hits, with gaps between.
func (sr *search) sessions(ctx context.Context) (map[string][]turn, error) {
	hits := map[string][]int64{} // when the hits in each session were said
	for _, f := range sr.points {
		if f.memory.Kind == memory.KindTurn {
			session := f.memory.Source.SessionID
			hits[session] = append(hits[session], f.memory.Timestamp.UnixMicro())
		}
	}
	if len(hits) == 0 || sr.q.Context <= 0 {
		return nil, nil
	}
	names := slices.Sorted(maps.Keys(hits))
	queries := make([]*qdrant.QueryPoints, len(names))
	for i, n := range names {
		queries[i] = sr.inOrder(n, nil, true, sr.s.whole+1)
	}
	answers, err := sr.askTurns(ctx, queries)
	if err != nil {
		return nil, err
	}
	out := map[string][]turn{}
	long := map[string][]int64{}
	for i, n := range names {
		if out[n] = answers[i]; len(answers[i]) > sr.s.whole {
			long[n] = hits[n]
		}
	}
	if err := sr.around(ctx, long, out); err != nil {
		return nil, err
	}
	for _, turns := range out {
		for i, t := range turns {
			if f := sr.points[t.point]; f != nil && f.hit {
				sr.want(turns, i)
			}
		}
	}
	return out, nil
}

// want adds the turns around a hit to the points that are yet to be read. Turns
// of one moment are in the order of their event ids, which are known once they
// are read, so all turns of a moment are added.
func (sr *search) want(turns []turn, i int) {
	from, to := moment(turns, i)
	from, to = max(0, from-sr.q.Context), min(len(turns), to+sr.q.Context)
	from, _ = moment(turns, from)
	_, to = moment(turns, to-1)
	for _, near := range turns[from:to] {
		if sr.points[near.point] == nil && near.point != "" {
			sr.points[near.point] = &found{}
		}
	}
}

// moment is the range of the turns said at the same time as turns[i].
func moment(turns []turn, i int) (from, to int) {
	for from = i; from > 0 && turns[from-1].at == turns[i].at; from-- {
	}
	for to = i + 1; to < len(turns) && turns[to].at == turns[i].at; to++ {
	}
	return from, to
}

// inOrder asks for a session's turns in one direction, from a time on if one is
// given.
func (sr *search) inOrder(session string, from *int64, ascending bool, limit int) *qdrant.QueryPoints {
	f := sr.turnsOf(session)
	if from != nil {
		r := &qdrant.Range{Lte: qdrant.PtrOf(float64(*from))}
		if ascending {
			r = &qdrant.Range{Gte: qdrant.PtrOf(float64(*from))}
		}
		f.Must = append(f.Must, qdrant.NewRange("at", r))
	}
	return &qdrant.QueryPoints{
		CollectionName: sr.s.collection, Filter: f, Limit: qdrant.PtrOf(uint64(limit)),
		Query: orderBy("at", ascending), WithPayload: qdrant.NewWithPayload(false),
	}
}

// askTurns gives the turns that each query finds, in several calls.
func (sr *search) askTurns(ctx context.Context, queries []*qdrant.QueryPoints) ([][]turn, error) {
	out := make([][]turn, len(queries))
	p := pool.New().WithErrors().WithFirstError().WithContext(ctx)
	for from := 0; from < len(queries); from += askedTogether {
		to := min(from+askedTogether, len(queries))
		p.Go(func(ctx context.Context) error {
			answers, err := sr.s.client.QueryBatch(ctx, sr.batch(queries[from:to]))
			if err != nil {
				return sr.s.kind(ctx, err)
			}
			for i, a := range answers {
				for _, p := range a.GetResult() {
					out[from+i] = append(out[from+i], turn{p.GetId().GetUuid(), p.GetOrderValue().GetInt()})
				}
			}
			return nil
		})
	}
	return out, p.Wait()
}

// side asks for the turns on one side of a hit, the hit's own moment included.
type side struct {
	session   string
	from      int64
	ascending bool
	limit     int
}

// stretch is a time, both ends included, of which all turns are known.
type stretch struct{ from, to int64 }

// around reads, of long sessions, the turns on both sides of each hit: at least
// as many as its context, and all turns of the moments that these are in.
func (sr *search) around(ctx context.Context, hits map[string][]int64, out map[string][]turn) error {
	var sides []side
	known := map[string]map[string]turn{} // by session and point
	stretches := map[string][]stretch{}
	for session, times := range hits {
		known[session] = map[string]turn{}
		slices.Sort(times)
		for _, at := range slices.Compact(times) {
			for _, ascending := range []bool{false, true} {
				sides = append(sides, side{session, at, ascending, 4 * (sr.q.Context + 1)})
			}
		}
	}
	for len(sides) > 0 {
		queries := make([]*qdrant.QueryPoints, len(sides))
		for i, s := range sides {
			queries[i] = sr.inOrder(s.session, &s.from, s.ascending, s.limit)
		}
		answers, err := sr.askTurns(ctx, queries)
		if err != nil {
			return err
		}
		var again []side
		for i, s := range sides {
			turns, reach, enough := s.reach(answers[i], sr.q.Context)
			if !enough {
				s.limit *= 4
				again = append(again, s)
				continue
			}
			for _, t := range turns {
				known[s.session][t.point] = t
			}
			stretches[s.session] = append(stretches[s.session], reach)
		}
		sides = again
	}
	for session, turns := range known {
		out[session] = withGaps(turns, stretches[session])
	}
	return nil
}

// reach gives the turns of an answer whose moments are complete, the time they
// cover, and whether that has enough turns beyond the hit's moment: as many as
// wanted, or all there are.
func (s side) reach(turns []turn, wanted int) (complete []turn, covers stretch, enough bool) {
	all := len(turns) < s.limit
	if !all { // the last moment may be cut off
		cut, _ := moment(turns, len(turns)-1)
		turns = turns[:cut]
	}
	beyond := 0
	covers = stretch{s.from, s.from}
	for _, t := range turns {
		if t.at != s.from {
			beyond++
		}
		covers.from, covers.to = min(covers.from, t.at), max(covers.to, t.at)
	}
	return turns, covers, all || beyond >= wanted
}

// withGaps puts turns in order, with a gap wherever it is not known whether
// there are turns between two of them.
func withGaps(turns map[string]turn, stretches []stretch) (out []turn) {
	inOrder := slices.SortedFunc(maps.Values(turns), func(a, b turn) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.point, b.point))
	})
	slices.SortFunc(stretches, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })
	end := int64(math.MinInt64) // of the time covered without a gap so far
	for _, t := range inOrder {
		for len(stretches) > 0 && stretches[0].from <= max(end, t.at) {
			if len(out) > 0 && stretches[0].from > end && out[len(out)-1].point != "" {
				out = append(out, turn{at: math.MinInt64 + int64(len(out))}) // a time that no other has
			}
			end = max(end, stretches[0].to)
			stretches = stretches[1:]
		}
		out = append(out, t)
	}
	return out
}

// readContext reads the points around the hits, in several calls.
func (sr *search) readContext(ctx context.Context) error {
	var ids []*qdrant.PointId
	for id, f := range sr.points {
		if !f.read {
			ids = append(ids, qdrant.NewIDUUID(id))
		}
	}
	if len(ids) == 0 {
		return nil
	}
	var mu sync.Mutex
	p := pool.New().WithErrors().WithFirstError().WithContext(ctx)
	for some := range slices.Chunk(ids, contextTogether) {
		p.Go(func(ctx context.Context) error {
			points, err := sr.s.client.Get(ctx, &qdrant.GetPoints{
				CollectionName: sr.s.collection, Ids: some, WithPayload: candidateFields, WithVectors: sr.vectors(),
			})
			if err != nil {
				return sr.s.kind(ctx, err)
			}
			all := make([]*found, len(points))
			for i, p := range points {
				if all[i], err = sr.read(p.GetPayload(), p.GetVectors()); err != nil {
					return err
				}
			}
			mu.Lock()
			defer mu.Unlock()
			for i, p := range points {
				sr.points[p.GetId().GetUuid()] = all[i]
			}
			return nil
		})
	}
	return p.Wait()
}

// runs puts hits and context together; see memory.Found. Without sessions, as
// no context was asked for, each hit is a run of its own.
func (sr *search) runs(sessions map[string][]turn) (out [][]memory.Candidate) {
	for _, f := range sr.points {
		if f.hit && (f.memory.Kind != memory.KindTurn || sessions == nil) {
			out = append(out, []memory.Candidate{sr.candidate(f)})
		}
	}
	for _, turns := range sessions {
		known := sr.known(turns)
		var hits []int
		for i, f := range known {
			if f != nil && f.hit {
				hits = append(hits, i)
			}
		}
		for _, span := range memory.Spans(hits, sr.q.Context, len(known)) {
			var run []memory.Candidate
			for _, f := range known[span.From:span.To] {
				if f != nil {
					run = append(run, sr.candidate(f))
				}
			}
			out = append(out, run)
		}
	}
	return out
}

// known gives the points of a session's turns in order. A moment of which no
// turn was read, and a gap, is one nil: none lies within the context of a hit.
func (sr *search) known(turns []turn) (out []*found) {
	for i := 0; i < len(turns); {
		_, to := moment(turns, i)
		var same []*found
		for _, t := range turns[i:to] {
			if f := sr.points[t.point]; f != nil && f.read {
				same = append(same, f)
			}
		}
		slices.SortFunc(same, func(a, b *found) int { return memory.CompareTurns(&a.memory, &b.memory) })
		if len(same) == 0 {
			same = append(same, nil)
		}
		out = append(out, same...)
		i = to
	}
	return out
}

func (sr *search) candidate(f *found) memory.Candidate {
	return memory.Candidate{
		Memory: &f.memory, Freqs: f.freqs, Length: f.length, Cosine: f.cosine, Match: sr.q.Match(&f.memory, sr.now),
	}
}
