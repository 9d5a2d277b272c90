package qdrantstore

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/qdrant/go-client/qdrant"
)

// Companion is the store of the sessions that the memories are made of. Each of the
// two keeps how far the other had got, so that one that comes back with older data is
// noticed, even if that happened while no process ran.
type Companion interface {
	// Seen is how far the sessions have got.
	Seen() ([]byte, error)
	// Expect has the sessions be at least as far as Seen has told.
	Expect(ctx context.Context, seen []byte) error
	// Remember keeps how far a collection had got.
	Remember(ctx context.Context, collection string, beat int64) error
	// Remembered returns that; 0 if it is not known. accepted says that the collection
	// may be older since.
	Remembered(ctx context.Context, collection string) (beat int64, accepted bool, err error)
}

// witnessID is a point that tells how far the collection and the sessions had got.
var witnessID = qdrant.NewIDUUID(derive("witness"))

// The payload fields of that point.
const (
	beatField = "beat" // microseconds since 1970, of the last renewal; it only grows
	seenField = "seen" // what Companion.Seen has told
)

// Accompany compares the collection and the sessions with what each keeps of the
// other, and has Watch keep it from now on. It is called before Watch, once it is
// known that they belong together.
func (s *Store) Accompany(ctx context.Context, c Companion) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	was, _, err := c.Remembered(ctx, s.collection)
	var is int64
	var seen []byte
	if err == nil { // read second, as a renewal of another process tells the collection first
		is, seen, err = s.readWitness(ctx)
	}
	if err == nil {
		err = c.Expect(ctx, seen)
	}
	if err != nil {
		return fmt.Errorf("compare memories with sessions: %w", err)
	}
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	s.watch.companion, s.watch.seen = c, seen
	s.watch.beat = max(s.watch.beat, was, is)
	if is < s.watch.beat {
		s.watch.trouble = older
	}
	return nil
}

// readWitness reads the point; a beat of 0 if there is none.
func (s *Store) readWitness(ctx context.Context) (beat int64, seen []byte, err error) {
	got, err := s.client.Get(ctx, &qdrant.GetPoints{CollectionName: s.collection,
		Ids: []*qdrant.PointId{witnessID}, WithPayload: qdrant.NewWithPayload(true)})
	if err != nil || len(got) == 0 {
		return 0, nil, s.kind(ctx, err)
	}
	return got[0].GetPayload()[beatField].GetIntegerValue(),
		[]byte(got[0].GetPayload()[seenField].GetStringValue()), nil
}

// renew stores how far both stores have got, unless that is stored already. A renewal
// that comes too late, after one of another process, changes nothing.
func (s *Store) renew(ctx context.Context) error {
	s.watch.mu.Lock()
	c, seen, beat := s.watch.companion, s.watch.seen, s.watch.beat
	written := s.written.Load() // a write that ends later is for the next renewal
	changed := written != s.watch.written
	s.watch.mu.Unlock()
	if c != nil {
		is, err := c.Seen()
		if err != nil {
			return err
		}
		changed, seen = changed || !bytes.Equal(is, seen), is
	}
	if !changed {
		return nil
	}
	beat = max(time.Now().UnixMicro(), beat+1)
	p := &qdrant.PointStruct{Id: witnessID, Vectors: qdrant.NewVectorsMap(map[string]*qdrant.Vector{}),
		Payload: map[string]*qdrant.Value{
			beatField: qdrant.NewValueInt(beat), seenField: qdrant.NewValueString(string(seen)),
		}}
	err := s.update(ctx, s.collection, insertOnly(p),
		updateOnly(p, qdrant.NewRange(beatField, &qdrant.Range{Lt: qdrant.PtrOf(float64(beat))})))
	if err == nil && c != nil {
		err = c.Remember(ctx, s.collection, beat)
	}
	if err != nil {
		return err
	}
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	s.watch.beat, s.watch.seen, s.watch.written = max(s.watch.beat, beat), seen, written
	return nil
}
