package qdrantstore

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/qdrant/go-client/qdrant"

	"github.com/memoryd/memoryd/memory"
)

// Watch looks so often whether the collection is the one it was. A process that
// watches keeps a point of its own there, with a time that it renews: a collection
// that was restored from an older snapshot has an older time, or none.
const (
	lookEvery  = 2 * time.Second
	renewEvery = 10 * time.Second
	beatField  = "beat" // microseconds since 1970
)

// watch is what Watch has found, and the last time that it has stored.
type watch struct {
	mu      sync.Mutex
	point   *qdrant.PointId
	beat    int64  // 0 before the first
	trouble string // what is damaged; "" for nothing
}

const remedy = "Bring back the newest data of Qdrant, or stop memoryd and have the memories made again from the " +
	"sessions: memoryd rebuild with an empty memory store"

// Watch looks at the collection until ctx is over, or until its memories have moved
// to another. It logs once what it finds, and Check tells it.
func (s *Store) Watch(ctx context.Context, log *slog.Logger) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		if moved := s.Look(ctx, log); moved {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	s.leave()
}

// Look is one look of Watch. It reports whether the memories have moved away.
func (s *Store) Look(ctx context.Context, log *slog.Logger) (moved bool) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	m, err := s.manifestOf(ctx, s.collection)
	if err != nil {
		return false // Check tells it
	}
	if m != nil && m.Store == s.id && m.State != active {
		return true
	}
	trouble, err := s.compare(ctx, m)
	if err != nil {
		return false
	}
	if trouble != "" && trouble != s.watch.trouble {
		log.Error("Qdrant has lost memories", "what", trouble, "collection", s.collection, "remedy", remedy)
	}
	s.watch.trouble = trouble
	return false
}

// compare says what is wrong with the collection, and renews the time in it if that
// is due. The caller holds watch.mu.
func (s *Store) compare(ctx context.Context, m *manifest) (trouble string, err error) {
	switch {
	case m == nil:
		return "the collection of the memories is gone", nil
	case m.Store != s.id:
		return "another collection is in the place of the one that had the memories", nil
	}
	if s.watch.point == nil {
		s.watch.point = qdrant.NewIDUUID(uuid.NewString())
	}
	if s.watch.beat > 0 {
		got, err := s.client.Get(ctx, &qdrant.GetPoints{CollectionName: s.collection,
			Ids: []*qdrant.PointId{s.watch.point}, WithPayload: qdrant.NewWithPayload(true)})
		if err != nil {
			return "", s.kind(ctx, err)
		}
		if len(got) == 0 || got[0].GetPayload()[beatField].GetIntegerValue() < s.watch.beat {
			return "the collection is older than what it has acknowledged: memories written lately are gone", nil
		}
	}
	now := time.Now().UnixMicro()
	if now-s.watch.beat < renewEvery.Microseconds() {
		return "", nil
	}
	err = s.update(ctx, s.collection, qdrant.NewPointsUpdateUpsert(&qdrant.PointsUpdateOperation_PointStructList{
		Points: []*qdrant.PointStruct{{Id: s.watch.point, Vectors: qdrant.NewVectorsMap(map[string]*qdrant.Vector{}),
			Payload: map[string]*qdrant.Value{beatField: qdrant.NewValueInt(now)}}},
	}))
	if err == nil {
		s.watch.beat = now
	}
	return "", err
}

// leave removes the point of this process.
func (s *Store) leave() {
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	if s.watch.point == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.opts.Timeout/4)
	defer cancel()
	// A point that stays takes a few bytes and does no harm.
	_, _ = s.client.Delete(ctx, &qdrant.DeletePoints{CollectionName: s.collection,
		Points: qdrant.NewPointsSelector(s.watch.point)})
}

// damaged is what Watch has found; nil for nothing.
func (s *Store) damaged() error {
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	if s.watch.trouble == "" {
		return nil
	}
	return memory.Damaged("%s. %s", s.watch.trouble, remedy)
}
