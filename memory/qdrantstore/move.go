package qdrantstore

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/qdrant/go-client/qdrant"

	"github.com/memoryd/memoryd/memory"
)

var _ memory.Movable = (*Store)(nil)

// Model implements memory.Movable.
func (s *Store) Model() memory.Model { return s.model }

// move is a memory.Move: it copies a collection into another one. What is
// behind is known by comparing the revisions of both, so any number of moves
// to one collection may be at it at a time; each begins somewhere else.
type move struct {
	from, to *Store
	pass
}

// pass is a way through a collection.
type pass struct {
	at     *qdrant.PointId   // where it goes on; nil at its beginning
	whole  bool              // it began at the beginning
	took   int               // how many were behind in it
	behind []*qdrant.PointId // of those, what is left
}

// comparedTogether is how many points are compared in one call, and
// copiedTogether how many memories are copied in one step.
const (
	comparedTogether = 1000
	copiedTogether   = 50
)

// Move implements memory.Movable. A collection that another store has is only
// taken if there is nothing in it, as after a start by mistake.
func (s *Store) Move(ctx context.Context, to Model) (memory.Move, error) {
	t := &Store{client: s.client, set: s.set, opts: s.opts, whole: s.whole, id: s.id}
	t.use(to)
	m := &move{from: s, to: t, pass: pass{at: qdrant.NewIDUUID(uuid.NewString())}}
	ctx, cancel := s.unhurried(ctx)
	defer cancel()
	err := s.heads(ctx, t.collection)
	if err == nil {
		err = t.receive(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("move the memories of collection %s to %s: %w", s.collection, t.collection, err)
	}
	return m, nil
}

// Stay implements memory.Movable.
func (s *Store) Stay(ctx context.Context) error {
	ctx, cancel := s.unhurried(ctx)
	defer cancel()
	if err := s.heads(ctx, ""); err != nil {
		return fmt.Errorf("give up moving the memories of collection %s: %w", s.collection, err)
	}
	return nil
}

// heads says to which collection the memories are moving, "" for none, and
// throws away what a move to any other has made. Writes count, whoever was about
// to end a move.
func (s *Store) heads(ctx context.Context, next string) error {
	for {
		d, err := s.deedIn(ctx, s.collection)
		if err != nil {
			return err
		}
		if d == nil || d.State == left || d.State == filling {
			return fmt.Errorf("%w: they have moved elsewhere", memory.ErrAborted)
		}
		now := deed{Store: d.Store, Model: s.model, Next: next}
		if ok, err := s.swap(ctx, s.collection, d, &now); err != nil {
			return err
		} else if ok {
			break
		}
	}
	// From here on no move to another collection can end.
	all, err := s.holdings(ctx)
	if err != nil {
		return err
	}
	for _, h := range all {
		if h.Store == s.id && h.State == filling && h.collection != next {
			if err := s.drop(ctx, h.collection); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Store) drop(ctx context.Context, collection string) error {
	return s.kind(ctx, s.client.DeleteCollection(ctx, collection))
}

// receive makes the collection that memories are to move into, or finds the one
// that has some already.
func (s *Store) receive(ctx context.Context) error {
	d, err := s.deedIn(ctx, s.collection)
	if err != nil {
		return err
	}
	switch {
	case d == nil:
	case d.Store == s.id && d.State == held:
		return fmt.Errorf("%w: they have moved there already", memory.ErrAborted)
	case d.Store == s.id && d.State == left: // they were there before
		err = s.drop(ctx, s.collection)
	case d.Store != s.id:
		n, countErr := s.client.Count(ctx, &qdrant.CountPoints{CollectionName: s.collection, Exact: qdrant.PtrOf(true)})
		if err = s.kind(ctx, countErr); err == nil && n > 1 { // its deed is one
			err = fmt.Errorf("collection %s has the memories of another store: name another with collection= in the URL, or delete it", s.collection)
		} else if err == nil {
			err = s.drop(ctx, s.collection)
		}
	}
	if err != nil {
		return err
	}
	if err := s.prepare(ctx); err != nil {
		return err
	}
	if d, err = s.claim(ctx, deed{Store: s.id, Model: s.model, State: filling}); err == nil && d.Store != s.id {
		err = fmt.Errorf("%w: another memoryd has just taken collection %s", memory.ErrAborted, s.collection)
	}
	return err
}

// over reports whether another process has ended the move; ErrAborted if it was
// given up.
func (m *move) over(ctx context.Context) (bool, error) {
	d, err := m.to.deedIn(ctx, m.to.collection)
	if err == nil && (d == nil || d.Store != m.to.id) {
		err = fmt.Errorf("%w: this move was given up", memory.ErrAborted)
	}
	return err == nil && d.State != filling, err
}

// Step implements memory.Move.
func (m *move) Step(ctx context.Context, index memory.Indexer) (int, error) {
	n, err := m.step(ctx, index)
	if err != nil {
		return 0, fmt.Errorf("move memories of collection %s to %s: %w", m.from.collection, m.to.collection, err)
	}
	return n, nil
}

func (m *move) step(ctx context.Context, index memory.Indexer) (int, error) {
	if over, err := m.over(ctx); over || err != nil {
		return 0, err
	}
	for len(m.behind) == 0 {
		end, err := m.look(ctx)
		if err != nil {
			return 0, err
		}
		if end {
			quiet := m.whole && m.took == 0
			m.pass = pass{whole: true, behind: m.behind}
			if quiet {
				return 0, nil
			}
		}
	}
	some := m.behind[:min(len(m.behind), copiedTogether)]
	if err := m.copy(ctx, some, index); err != nil {
		return 0, err
	}
	m.behind = m.behind[len(some):]
	return len(some), nil
}

// look compares the next points, and reports whether they were the last.
func (m *move) look(ctx context.Context) (end bool, err error) {
	ctx, cancel := m.from.unhurried(ctx)
	defer cancel()
	revision := qdrant.NewWithPayloadInclude("revision")
	points, next, err := m.from.client.ScrollAndOffset(ctx, &qdrant.ScrollPoints{CollectionName: m.from.collection, Offset: m.at,
		Limit: qdrant.PtrOf(uint32(comparedTogether)), WithPayload: revision})
	if err != nil {
		return false, m.from.kind(ctx, err)
	}
	var ids []*qdrant.PointId
	for _, p := range points {
		if p.GetPayload()["revision"] != nil { // else it is a past revision, or the deed
			ids = append(ids, p.GetId())
		}
	}
	there := map[string]int64{}
	if len(ids) > 0 {
		got, err := m.to.get(ctx, ids, []string{"revision"})
		if err != nil {
			return false, err
		}
		for _, p := range got {
			there[p.GetId().GetUuid()] = p.GetPayload()["revision"].GetIntegerValue()
		}
	}
	for _, p := range points {
		if p.GetPayload()["revision"].GetIntegerValue() > there[p.GetId().GetUuid()] {
			m.behind = append(m.behind, p.GetId())
			m.took++
		}
	}
	m.at = next
	return next == nil, nil
}

// copy brings memories over, with what they are found by there.
func (m *move) copy(ctx context.Context, ids []*qdrant.PointId, index memory.Indexer) error {
	records, err := m.read(ctx, ids)
	if err != nil {
		return err
	}
	var live []memory.Record
	for _, r := range records {
		if !r.Deleted {
			live = append(live, memory.Record{Memory: r.Memory, Vector: r.Vector})
		}
	}
	if len(live) > 0 {
		if err := index(ctx, live); err != nil {
			return err
		}
	}
	for i := range records {
		if r := &records[i]; !r.Deleted {
			r.Terms, r.Vector = live[0].Terms, live[0].Vector
			live = live[1:]
		}
	}
	_, err = m.to.importAll(ctx, records)
	return err
}

// read reads memories whole, with their vectors if those can stay.
func (m *move) read(ctx context.Context, ids []*qdrant.PointId) ([]memory.Record, error) {
	ctx, cancel := m.from.unhurried(ctx)
	defer cancel()
	q := &qdrant.GetPoints{CollectionName: m.from.collection, Ids: ids, WithPayload: qdrant.NewWithPayloadInclude(whole...)}
	if m.from.model.SameEmbedder(m.to.model) {
		q.WithVectors = qdrant.NewWithVectorsInclude(dense)
	}
	points, err := m.from.client.Get(ctx, q)
	if err != nil {
		return nil, m.from.kind(ctx, err)
	}
	var out []memory.Record
	for _, p := range points {
		r, err := m.from.exported(ctx, p)
		if err != nil {
			return nil, err
		}
		out = append(out, *r)
	}
	return out, nil
}

// Finish implements memory.Move. Whoever writes looks after the write whether
// the collection is closing, and then acknowledges nothing; so a pass that
// begins after that finds everything that was acknowledged.
func (m *move) Finish(ctx context.Context, index memory.Indexer) error {
	if err := m.finish(ctx, index); err != nil {
		return fmt.Errorf("end the move of collection %s to %s: %w", m.from.collection, m.to.collection, err)
	}
	return nil
}

func (m *move) finish(ctx context.Context, index memory.Indexer) (err error) {
	if over, err := m.over(ctx); over || err != nil {
		return err
	}
	was, err := m.from.deedIn(ctx, m.from.collection)
	if err != nil {
		return err
	}
	if was == nil || was.Next != m.to.collection {
		return fmt.Errorf("%w: this move was given up", memory.ErrAborted)
	}
	if was.State != left {
		if err := m.leave(ctx, was, index); err != nil {
			return err
		}
	}
	return m.to.hold(ctx, m.to.collection)
}

// leave closes the collection, brings over what is left, and leaves it.
func (m *move) leave(ctx context.Context, was *deed, index memory.Indexer) (err error) {
	shut := deed{Store: was.Store, Model: m.from.model, State: closing, Next: m.to.collection}
	if err := m.change(ctx, was, &shut); err != nil {
		return err
	}
	defer func() {
		if err == nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), m.from.opts.Timeout)
		defer cancel()
		open := deed{Store: was.Store, Model: m.from.model, Next: m.to.collection}
		_, _ = m.from.swap(ctx, m.from.collection, &shut, &open) // if it is left shut, the next move opens it
	}()
	m.pass = pass{whole: true}
	for n := 1; n > 0; {
		if n, err = m.step(ctx, index); err != nil {
			return err
		}
	}
	gone := shut
	gone.State = left
	return m.change(ctx, &shut, &gone)
}

// change swaps the deed of the collection that is moved; ErrAborted if others
// did so meanwhile.
func (m *move) change(ctx context.Context, was, now *deed) error {
	ctx, cancel := m.from.bounded(ctx)
	defer cancel()
	ok, err := m.from.swap(ctx, m.from.collection, was, now)
	if err == nil && !ok {
		err = fmt.Errorf("%w: another memoryd is at the end of the same move", memory.ErrAborted)
	}
	return err
}

// Progress implements memory.Move.
func (m *move) Progress(ctx context.Context) (done, total int, err error) {
	ctx, cancel := m.from.unhurried(ctx)
	defer cancel()
	for _, of := range []struct {
		store *Store
		into  *int
	}{{m.from, &total}, {m.to, &done}} {
		n, err := of.store.client.Count(ctx, &qdrant.CountPoints{CollectionName: of.store.collection, Exact: qdrant.PtrOf(true),
			Filter: &qdrant.Filter{Must: []*qdrant.Condition{qdrant.NewMatchBool("gone", false)}}})
		if err != nil {
			return 0, 0, fmt.Errorf("count the memories that have moved: %w", of.store.kind(ctx, err))
		}
		*of.into = int(n)
	}
	return min(done, total), total, nil
}

// Tidy implements memory.Move: other processes may still search the collection
// that was left.
func (m *move) Tidy(context.Context) (bool, error) { return false, nil }
