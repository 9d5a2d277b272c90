package qdrantstore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/google/uuid"
	"github.com/qdrant/go-client/qdrant"
	"github.com/sourcegraph/conc/pool"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/index"
)

const (
	// maxLanes is how many calls read an index at the same time, and laneOf how many
	// memories are worth one. Qdrant answers a call on one core, and memoryd decodes the
	// answers to others meanwhile.
	maxLanes = 4
	laneOf   = 250
	// loadedFirst is how many memories the first call of a lane reads, and loadedMost how
	// many each later one reads at most: Qdrant looks for the beginning of each page in
	// the whole scope. The memories of a later one take about loadedBytes.
	loadedFirst = 300
	loadedMost  = 1000
	loadedBytes = 4 << 20
)

var (
	// errLarge says that a scope is too large for an index.
	errLarge = errors.New("the scope is too large for an index")
	// errVectors says that a scope has room in an index without its vectors.
	errVectors = fmt.Errorf("%w with vectors", errLarge)
	// errLong says that a scope is too large to wait until its index is read.
	errLong = errors.New("the index of the scope takes long to read")
)

// load is the index.Loader of the store. The head is read before the memories: what is
// written later has a larger number, and the first refresh finds it.
func (s *Store) load(ctx context.Context, scope memory.Scope, take func([]*index.Entry) int64) (index.Refresh, error) {
	var h *head
	var n int
	p := pool.New().WithErrors().WithFirstError().WithContext(ctx)
	p.Go(func(ctx context.Context) (err error) { h, err = s.headOf(ctx, scope); return err })
	p.Go(func(ctx context.Context) (err error) { n, err = s.roughly(ctx, scope); return err })
	if err := p.Wait(); err != nil {
		return nil, err
	}
	l := loading{s: s, scope: scope, n: n, lanes: min(maxLanes, max(1, n/laneOf)), bare: s.sizes.of(scope) == bare}
	if n > s.atOnce {
		if ctx.Value(inBackground{}) == nil {
			return nil, errLong
		}
		l.lanes = 2 // as searches are answered by Qdrant meanwhile
	}
	f := &follower{s: s, scope: scope, bare: l.bare, turn: make(chan struct{}, 1), safe: h.n, last: h.last()}
	l.read = func(single bool, points []*qdrant.RetrievedPoint) { f.loaded(ctx, single, points) }
	if err := l.run(ctx, take); err != nil {
		return nil, err
	}
	return f.refresh, nil
}

// loading is the reading of the live memories of a scope for an index. Each lane reads
// those of a part of the ids, which are as good as random.
type loading struct {
	s     *Store
	scope memory.Scope
	n     int // of the memories, roughly
	lanes int
	bare  bool // the index is one without vectors
	// read is called once all memories are read, before the last of them are taken, with
	// the last points, which are all if a single call has read them.
	read  func(single bool, points []*qdrant.RetrievedPoint)
	under atomic.Int32 // lanes that still read
	pages chan []*index.Entry

	taken    int
	measured bool // whether the scope has room
}

// run gives take all memories, some at a time.
func (l *loading) run(ctx context.Context, take func([]*index.Entry) int64) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := pool.New().WithErrors().WithFirstError().WithContext(ctx).WithCancelOnError()
	l.under.Store(int32(l.lanes))
	l.pages = make(chan []*index.Entry)
	for i := range l.lanes {
		p.Go(func(ctx context.Context) error { return l.lane(ctx, i) })
	}
	ended := make(chan error, 1)
	go func() {
		ended <- p.Wait()
		close(l.pages)
	}()
	for entries := range l.pages {
		if err == nil {
			if err = l.take(ctx, entries, take); err != nil {
				cancel()
			}
		}
	}
	if err != nil {
		return err
	}
	return <-ended
}

// take takes a page. The error is errLarge if the index has no room for all, and errVectors
// if it has for all but the vectors.
func (l *loading) take(ctx context.Context, entries []*index.Entry, take func([]*index.Entry) int64) (err error) {
	size := take(entries)
	l.taken += len(entries)
	limit := l.s.cache.Stats().Limit / 2
	expected, n := size, int64(l.taken)
	if !l.measured && l.under.Load() > 0 && size > limit/16 {
		l.measured = true
		if n, err = l.s.count(ctx, l.scope); err != nil {
			return err
		}
		expected = size / int64(max(l.taken, 1)) * n
	}
	switch vectors := 4 * int64(l.s.model.Dimension) * n; {
	case expected <= limit:
		return nil
	case !l.bare && expected-vectors <= limit:
		l.s.sizes.set(l.scope, bare)
		return errVectors
	default:
		l.s.sizes.set(l.scope, large)
		return errLarge
	}
}

// lane reads one part of the ids.
func (l *loading) lane(ctx context.Context, i int) error {
	from, until := qdrant.NewIDUUID(l.bound(i)), l.bound(i+1)
	together := min(loadedFirst, l.n/l.lanes*9/8+16) // few memories, of which the last page has more
	head := headID(l.scope).GetUuid()
	wire, read := int64(0), 0
	for more := true; more; {
		points, next, err := l.page(ctx, from, together)
		if err != nil {
			return err
		}
		if more = next != nil && (until == "" || next.GetUuid() < until); !more && l.under.Add(-1) == 0 {
			l.read(l.lanes == 1 && read == 0, points)
		}
		from = next
		entries := make([]*index.Entry, 0, len(points))
		for _, p := range points {
			if until != "" && p.GetId().GetUuid() >= until {
				break
			}
			if p.GetId().GetUuid() == head {
				continue
			}
			e, _, err := readEntry(p.GetPayload(), p.GetVectors())
			if err != nil {
				return err
			}
			wire += e.Size()
			entries = append(entries, e)
		}
		read += len(entries)
		together = int(min(loadedMost, 1+loadedBytes*int64(read)/(wire+1)))
		select {
		case l.pages <- entries:
		case <-ctx.Done():
			return l.s.kind(ctx, ctx.Err())
		}
	}
	return nil
}

// bound is the id that a lane begins with; "" after the last lane.
func (l *loading) bound(i int) string {
	if i == l.lanes {
		return ""
	}
	var id uuid.UUID
	binary.BigEndian.PutUint16(id[:], uint16(i<<16/l.lanes))
	return id.String()
}

// indexFields is the payload that an index.Entry is read from.
var indexFields = []string{docField, termsField, embeddedField}

// loadFields is the payload of a page.
var loadFields = qdrant.NewWithPayloadInclude(append([]string{changeField, tokenField}, indexFields...)...)

// page reads some live memories of the scope, in the order of their ids, and the id of
// the one after them; nil for none. A single lane reads the head too, which loaded looks at.
func (l *loading) page(ctx context.Context, from *qdrant.PointId, together int) (
	points []*qdrant.RetrievedPoint, next *qdrant.PointId, err error,
) {
	ctx, cancel := l.s.bounded(ctx)
	defer cancel()
	passes := live(l.scope, l.s.opts.Now())
	if l.lanes == 1 {
		passes = &qdrant.Filter{Should: []*qdrant.Condition{
			qdrant.NewFilterAsCondition(passes), qdrant.NewHasID(headID(l.scope)),
		}}
	}
	points, next, err = l.s.client.ScrollAndOffset(ctx, &qdrant.ScrollPoints{
		CollectionName: l.s.collection, Offset: from, Limit: qdrant.PtrOf(uint32(together)),
		Filter: passes, WithPayload: loadFields, WithVectors: denseUnless(l.bare),
	})
	return points, next, l.s.kind(ctx, err)
}

// count counts the memories of a scope that can be read.
func (s *Store) count(ctx context.Context, scope memory.Scope) (int64, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	n, err := s.client.Count(ctx, &qdrant.CountPoints{
		CollectionName: s.collection, Filter: live(scope, s.opts.Now()), Exact: qdrant.PtrOf(true),
	})
	return int64(n), s.kind(ctx, err)
}
