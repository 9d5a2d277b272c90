package qdrantstore

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"github.com/qdrant/go-client/qdrant"

	"github.com/memoryd/memoryd/memory"
)

// wholeSession is up to how many turns a session's order is read whole. Of a
// longer one only what lies around the hits is, which takes two queries a hit:
// on 2 cores as long as reading some 20,000 turns.
const wholeSession = 10_000

// turn is one turn of a session: its point, and when it was said.
type turn struct {
	point string // "" where an unknown number of turns is left out
	at    int64
}

// sessions reads the order of the turns in the sessions of the hits, and notes
// the turns around hits as points to be read.
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
	answers, err := sr.ask(ctx, queries)
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

// want notes the turns around a hit. Turns of one moment are in the order of
// their events' ids, which takes reading them: all of a moment come along.
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

// moment is where the turns of the same time as turns[i] begin and end.
func moment(turns []turn, i int) (from, to int) {
	for from = i; from > 0 && turns[from-1].at == turns[i].at; from-- {
	}
	for to = i + 1; to < len(turns) && turns[to].at == turns[i].at; to++ {
	}
	return from, to
}

// inOrder asks for a session's turns in one direction, those from a time on if
// one is given.
func (sr *search) inOrder(session string, from *int64, ascending bool, limit int) *qdrant.QueryPoints {
	f := live(sr.scope, sr.now)
	f.Must = append(f.Must, qdrant.NewMatch("session", session), qdrant.NewMatch("kind", string(memory.KindTurn)))
	order := &qdrant.OrderBy{Key: "at", Direction: qdrant.Direction_Asc.Enum()}
	if !ascending {
		order.Direction = qdrant.Direction_Desc.Enum()
	}
	if from != nil {
		r := &qdrant.Range{Gte: qdrant.PtrOf(float64(*from))}
		if !ascending {
			r = &qdrant.Range{Lte: qdrant.PtrOf(float64(*from))}
		}
		f.Must = append(f.Must, qdrant.NewRange("at", r))
	}
	return &qdrant.QueryPoints{CollectionName: sr.s.collection, Filter: f, Limit: qdrant.PtrOf(uint64(limit)), Query: qdrant.NewQueryOrderBy(order),
		WithPayload: qdrant.NewWithPayload(false)}
}

func (sr *search) ask(ctx context.Context, queries []*qdrant.QueryPoints) ([][]turn, error) {
	answers, err := sr.s.client.QueryBatch(ctx, &qdrant.QueryBatchPoints{CollectionName: sr.s.collection, QueryPoints: queries})
	if err != nil {
		return nil, sr.s.kind(ctx, err)
	}
	out := make([][]turn, len(answers))
	for i, a := range answers {
		for _, p := range a.GetResult() {
			out[i] = append(out[i], turn{p.GetId().GetUuid(), p.GetOrderValue().GetInt()})
		}
	}
	return out, nil
}

// span is what is to be read on one side of a hit.
type span struct {
	session   string
	from      int64
	ascending bool
	limit     int
}

// stretch is a time of which all turns are known.
type stretch struct{ from, to int64 }

// around reads, of long sessions, the turns on both sides of each hit: as many
// as are its context, and the moments they are in to the end.
func (sr *search) around(ctx context.Context, hits map[string][]int64, out map[string][]turn) error {
	var spans []span
	known := map[string]map[string]turn{}
	stretches := map[string][]stretch{}
	for session, times := range hits {
		known[session] = map[string]turn{}
		slices.Sort(times)
		for _, at := range slices.Compact(times) {
			for _, ascending := range []bool{false, true} {
				spans = append(spans, span{session, at, ascending, 4 * (sr.q.Context + 1)})
			}
		}
	}
	for len(spans) > 0 {
		queries := make([]*qdrant.QueryPoints, len(spans))
		for i, s := range spans {
			queries[i] = sr.inOrder(s.session, &s.from, s.ascending, s.limit)
		}
		answers, err := sr.ask(ctx, queries)
		if err != nil {
			return err
		}
		var again []span
		for i, s := range spans {
			turns, whole := answers[i], len(answers[i]) < s.limit
			if !whole { // the last moment may be cut off
				cut, _ := moment(turns, len(turns)-1)
				turns = turns[:cut]
			}
			beyond := 0
			reach := stretch{s.from, s.from}
			for _, t := range turns {
				if t.at != s.from {
					beyond++
				}
				reach.from, reach.to = min(reach.from, t.at), max(reach.to, t.at)
			}
			if !whole && beyond < sr.q.Context {
				s.limit *= 4
				again = append(again, s)
				continue
			}
			for _, t := range turns {
				known[s.session][t.point] = t
			}
			stretches[s.session] = append(stretches[s.session], reach)
		}
		spans = again
	}
	for session, turns := range known {
		out[session] = joined(turns, stretches[session])
	}
	return nil
}

// joined puts turns in order, with a gap between those of which it is not known
// what lies between.
func joined(turns map[string]turn, stretches []stretch) (out []turn) {
	all := slices.SortedFunc(maps.Values(turns), func(a, b turn) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.point, b.point))
	})
	slices.SortFunc(stretches, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })
	end := int64(math.MinInt64) // of what is known without a gap
	for _, t := range all {
		for len(stretches) > 0 && stretches[0].from <= max(end, t.at) {
			if len(out) > 0 && stretches[0].from > end && out[len(out)-1].point != "" {
				out = append(out, turn{at: math.MinInt64 + int64(len(out))})
			}
			end = max(end, stretches[0].to)
			stretches = stretches[1:]
		}
		out = append(out, t)
	}
	return out
}
