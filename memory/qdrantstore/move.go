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

// move is a memory.Move: it copies a collection into another one. A comparison
// of the revisions in both shows which memories are behind, so any number of
// processes may move to one collection at a time. Each begins at another place.
type move struct {
	from, to *Store
	pass
}

// pass is one way through the old collection.
type pass struct {
	at     *qdrant.PointId   // the next point to compare; nil at the beginning
	whole  bool              // it began at the beginning
	took   int               // memories that were behind
	behind []*qdrant.PointId // those of them that are not copied yet
}

// comparedTogether is how many points are compared in one call, and
// copiedTogether how many memories are copied in one step.
const (
	comparedTogether = 1000
	copiedTogether   = 50
)

// Move implements memory.Movable. It takes over the collection of another store
// only if that is empty, as a start with the wrong flags leaves it.
func (s *Store) Move(ctx context.Context, to Model) (memory.Move, error) {
	t := &Store{client: s.client, set: s.set, opts: s.opts, whole: s.whole, id: s.id, copying: true}
	t.merge()
	t.use(to)
	m := &move{from: s, to: t, pass: pass{at: qdrant.NewIDUUID(uuid.NewString())}}
	ctx, cancel := s.unhurried(ctx)
	defer cancel()
	err := s.setNext(ctx, t.collection)
	if err == nil {
		err = t.prepareTarget(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("move the memories of collection %s to %s: %w", s.collection, t.collection, err)
	}
	return m, nil
}

// CancelMove implements memory.Movable.
func (s *Store) CancelMove(ctx context.Context) error {
	ctx, cancel := s.unhurried(ctx)
	defer cancel()
	if err := s.setNext(ctx, ""); err != nil {
		return fmt.Errorf("cancel the move of the memories of collection %s: %w", s.collection, err)
	}
	return nil
}

// setNext notes the collection that the memories are moving to, "" for none,
// and removes what a move to any other has made. It makes the collection active
// again if a process was cut off while it was draining.
func (s *Store) setNext(ctx context.Context, next string) error {
	for {
		m, err := s.manifestOf(ctx, s.collection)
		if err != nil {
			return err
		}
		if m == nil || m.State == retired || m.State == building {
			return fmt.Errorf("%w: they have moved elsewhere", memory.ErrAborted)
		}
		now := manifest{Store: m.Store, Model: s.model, Next: next, Removals: m.Removals}
		if ok, err := s.swap(ctx, s.collection, m, &now); err != nil {
			return err
		} else if ok {
			break
		}
	}
	// From here on no move to another collection can end.
	all, err := s.collections(ctx)
	if err != nil {
		return err
	}
	for _, c := range all {
		if c.Store == s.id && c.State == building && c.collection != next {
			if err := s.drop(ctx, c.collection); err != nil {
				return err
			}
		}
	}
	return nil
}

// prepareTarget makes the collection that memories are to move into, or finds
// the one that has some already.
func (s *Store) prepareTarget(ctx context.Context) error {
	m, err := s.manifestOf(ctx, s.collection)
	if err != nil {
		return err
	}
	if m != nil {
		if err := s.clearTarget(ctx, m); err != nil {
			return err
		}
	}
	if err := s.prepare(ctx); err != nil {
		return err
	}
	m, _, err = s.claim(ctx, manifest{Store: s.id, Model: s.model, State: building, Removals: true})
	if err == nil && m.Store != s.id {
		err = fmt.Errorf("%w: another memoryd has just taken collection %s", memory.ErrAborted, s.collection)
	}
	return err
}

// clearTarget removes a collection that is in the way of the move, unless it
// has memories that are not copies.
func (s *Store) clearTarget(ctx context.Context, m *manifest) error {
	if m.Store == s.id {
		switch m.State {
		case active:
			return fmt.Errorf("%w: they have moved there already", memory.ErrAborted)
		case retired: // the memories were there before
			return s.drop(ctx, s.collection)
		}
		return nil
	}
	empty, err := s.empty(ctx)
	if err != nil {
		return err
	}
	if !empty {
		return fmt.Errorf("collection %s has the memories of another store:"+
			" name another with collection= in the URL, or delete it", s.collection)
	}
	return s.drop(ctx, s.collection)
}

// over reports whether another process has ended the move. The error is
// ErrAborted if the move was cancelled.
func (m *move) over(ctx context.Context) (bool, error) {
	is, err := m.to.manifestOf(ctx, m.to.collection)
	if err != nil {
		return false, err
	}
	if is == nil || is.Store != m.to.id {
		return false, fmt.Errorf("%w: this move was cancelled", memory.ErrAborted)
	}
	return is.State != building, nil
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
		end, err := m.compare(ctx)
		if err != nil {
			return 0, err
		}
		if end {
			nothingBehind := m.whole && m.took == 0
			m.pass = pass{whole: true, behind: m.behind}
			if nothingBehind {
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

// compare finds which of the next points are behind, and reports whether they
// were the last.
func (m *move) compare(ctx context.Context) (end bool, err error) {
	ctx, cancel := m.from.unhurried(ctx)
	defer cancel()
	points, next, err := m.from.client.ScrollAndOffset(ctx, &qdrant.ScrollPoints{
		CollectionName: m.from.collection, Offset: m.at, Limit: qdrant.PtrOf(uint32(comparedTogether)),
		WithPayload: qdrant.NewWithPayloadInclude("revision"),
	})
	if err != nil {
		return false, m.from.kind(ctx, err)
	}
	var ids []*qdrant.PointId
	for _, p := range points {
		if p.GetPayload()["revision"] != nil { // not a past revision, nor the manifest
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

// copy copies memories with the words and vectors of the other model.
func (m *move) copy(ctx context.Context, ids []*qdrant.PointId, index memory.Indexer) error {
	records, err := m.read(ctx, ids)
	if err != nil {
		return err
	}
	if err := index.Apply(ctx, records); err != nil {
		return err
	}
	_, err = m.to.importAll(ctx, records)
	return err
}

// read reads whole memories, with their vectors if those can stay.
func (m *move) read(ctx context.Context, ids []*qdrant.PointId) ([]memory.Record, error) {
	ctx, cancel := m.from.unhurried(ctx)
	defer cancel()
	q := &qdrant.GetPoints{
		CollectionName: m.from.collection, Ids: ids, WithPayload: qdrant.NewWithPayloadInclude(recordFields...),
	}
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

// Finish implements memory.Move. Every writer checks after its write whether
// the collection is draining, and then does not acknowledge the write. So a
// pass that begins after that finds every write that was acknowledged.
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
	was, err := m.from.manifestOf(ctx, m.from.collection)
	if err != nil {
		return err
	}
	if was == nil || was.Next != m.to.collection {
		return fmt.Errorf("%w: this move was cancelled", memory.ErrAborted)
	}
	if was.State != retired {
		if err := m.retire(ctx, was, index); err != nil {
			return err
		}
	}
	return m.to.activate(ctx, m.to.collection)
}

// retire drains the old collection, copies what is left, and retires it. If
// that fails, the collection is active again.
func (m *move) retire(ctx context.Context, was *manifest, index memory.Indexer) (err error) {
	drain := manifest{Store: was.Store, Model: m.from.model, State: draining, Next: m.to.collection,
		Removals: was.Removals}
	if err := m.replace(ctx, was, &drain); err != nil {
		return err
	}
	defer func() {
		if err == nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), m.from.opts.Timeout)
		defer cancel()
		reopened := manifest{Store: was.Store, Model: m.from.model, Next: m.to.collection, Removals: was.Removals}
		_, _ = m.from.swap(ctx, m.from.collection, &drain, &reopened) // if it fails, the next move does it
	}()
	m.pass = pass{whole: true}
	for n := 1; n > 0; {
		if n, err = m.step(ctx, index); err != nil {
			return err
		}
	}
	if err := m.moveRevocations(ctx); err != nil {
		return err
	}
	done := drain
	done.State = retired
	return m.replace(ctx, &drain, &done)
}

// replace swaps the manifest of the old collection. The error is ErrAborted if
// another process did so meanwhile.
func (m *move) replace(ctx context.Context, was, now *manifest) error {
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
		n, err := of.store.client.Count(ctx, &qdrant.CountPoints{
			CollectionName: of.store.collection, Exact: qdrant.PtrOf(true),
			Filter: &qdrant.Filter{Must: []*qdrant.Condition{qdrant.NewMatchBool("gone", false)}},
		})
		if err != nil {
			return 0, 0, fmt.Errorf("count the memories that have moved: %w", of.store.kind(ctx, err))
		}
		*of.into = int(n)
	}
	return min(done, total), total, nil
}

// Reclaim implements memory.Move. It frees nothing, as other processes may
// still search the retired collection.
func (m *move) Reclaim(context.Context) (bool, error) { return false, nil }
