package qdrantstore

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/memoryd/memoryd/memory"
)

// deed says what a collection is, in a point of its own. It is only changed
// from what was read, which Qdrant checks as it writes.
type deed struct {
	Store string `json:"store"` // the id of the store
	Model Model  `json:"model"`
	State state  `json:"state,omitempty"`
	Next  string `json:"next,omitempty"` // the collection that the memories are moving to, or have moved to
	Mark  string `json:"mark"`           // of this deed and no other; "" in collections of earlier versions
}

// state is where a collection is on its way. A store has one collection that is
// held or closing, but for the moment between the last one being left and the
// next one being held, which whoever comes by ends.
type state string

const (
	held    state = ""        // the memories are here
	filling state = "filling" // a move is bringing them
	closing state = "closing" // a move from here is about to end: no write counts
	left    state = "left"    // they have moved to Next
)

// deedID is the point of the deed, deedField what it is in.
var deedID = qdrant.NewIDUUID(derive("store"))

const (
	deedField  = "deed"
	storeField = "store"
	markField  = "mark"
)

func (d *deed) point() (*qdrant.PointStruct, error) {
	raw, err := encode(d)
	return &qdrant.PointStruct{Id: deedID, Vectors: qdrant.NewVectorsMap(map[string]*qdrant.Vector{}), Payload: map[string]*qdrant.Value{
		storeField: qdrant.NewValueString(d.Store), markField: qdrant.NewValueString(d.Mark), deedField: qdrant.NewValueString(string(raw))}}, err
}

// deedIn reads the deed of a collection; nil if it has none, or is not there.
func (s *Store) deedIn(ctx context.Context, collection string) (*deed, error) {
	got, err := s.client.Get(ctx, &qdrant.GetPoints{CollectionName: collection, Ids: []*qdrant.PointId{deedID}, WithPayload: qdrant.NewWithPayload(true)})
	if status.Code(err) == codes.NotFound || err == nil && (len(got) != 1 || got[0].GetPayload()[storeField].GetStringValue() == "") {
		return nil, nil
	}
	if err != nil {
		return nil, s.kind(ctx, err)
	}
	d := &deed{Store: got[0].GetPayload()[storeField].GetStringValue()}
	if raw, ok := got[0].GetPayload()[deedField]; ok {
		return d, decode(raw.GetStringValue(), d)
	}
	return d, s.guess(ctx, collection, d)
}

// guess reads the model off the name of a collection, as far as it tells.
func (s *Store) guess(ctx context.Context, collection string, d *deed) error {
	info, err := s.client.GetCollectionInfo(ctx, collection)
	if err != nil {
		return s.kind(ctx, err)
	}
	d.Model.Dimension = int(info.GetConfig().GetParams().GetVectorsConfig().GetParamsMap().GetMap()[dense].GetSize())
	name := strings.TrimPrefix(collection, s.set.collection+"-")
	between := fmt.Sprintf("-%d-", d.Model.Dimension)
	if at := strings.LastIndex(name, between); at >= 0 {
		d.Model.Embedder, d.Model.Analyzer = name[:at], name[at+len(between):]
	}
	return nil
}

// claim gives the collection a deed, once, and reads the one it has.
func (s *Store) claim(ctx context.Context, d deed) (*deed, error) {
	d.Mark = uuid.NewString()
	p, err := d.point()
	if err != nil {
		return nil, err
	}
	if err := s.update(ctx, s.collection, insertOnly(p)); err != nil {
		return nil, err
	}
	is, err := s.deedIn(ctx, s.collection)
	if err == nil && is == nil {
		err = fmt.Errorf("collection %s has lost its id", s.collection)
	}
	return is, err
}

// swap changes a deed, and reports whether it was as it is thought to be.
func (s *Store) swap(ctx context.Context, collection string, was, now *deed) (bool, error) {
	now.Mark = uuid.NewString()
	p, err := now.point()
	if err != nil {
		return false, err
	}
	same := qdrant.NewMatch(markField, was.Mark)
	if was.Mark == "" {
		same = qdrant.NewIsEmpty(markField)
	}
	if err := s.update(ctx, collection, qdrant.NewPointsUpdateUpsert(&qdrant.PointsUpdateOperation_PointStructList{Points: []*qdrant.PointStruct{p},
		UpdateMode: qdrant.UpdateMode_UpdateOnly.Enum(), UpdateFilter: &qdrant.Filter{Must: []*qdrant.Condition{same}}})); err != nil {
		return false, err
	}
	is, err := s.deedIn(ctx, collection)
	return is != nil && is.Mark == now.Mark, err
}

func (s *Store) update(ctx context.Context, collection string, op *qdrant.PointsUpdateOperation) error {
	_, err := s.client.UpdateBatch(ctx, &qdrant.UpdateBatchPoints{CollectionName: collection, Wait: qdrant.PtrOf(true), Ordering: strictly,
		Operations: []*qdrant.PointsUpdateOperation{op}})
	return s.kind(ctx, err)
}

// refuse is why a collection cannot be served.
func (d *deed) refuse(s *Store) error {
	switch d.State {
	case filling:
		return fmt.Errorf("the memories of collection %s are still on their way into it: go on with memoryd reembed and the flags of this start, or start with the -embedder they were made with", s.collection)
	case left:
		return fmt.Errorf("the memories of collection %s have moved to %s: start with the -embedder of that, or move them with memoryd reembed and the flags of this start", s.collection, d.Next)
	}
	return nil
}

// writable is ErrUnavailable if a deed says that no write counts any more.
func writable(p *qdrant.RetrievedPoint, collection string) error {
	var d deed
	if raw, ok := p.GetPayload()[deedField]; ok {
		if err := decode(raw.GetStringValue(), &d); err != nil {
			return err
		}
	}
	if d.State == closing || d.State == left {
		return fmt.Errorf("%w: the memories of collection %s are moving to %s: start memoryd with the -embedder of that", memory.ErrUnavailable, collection, d.Next)
	}
	return nil
}

// holding is a collection and its deed.
type holding struct {
	collection string
	deed
}

// holdings are the collections of a URL's name that have a deed. A move that
// only lacks its last step has it taken here.
func (s *Store) holdings(ctx context.Context) ([]*holding, error) {
	names, err := s.client.ListCollections(ctx)
	if err != nil {
		return nil, s.kind(ctx, err)
	}
	var out []*holding
	ends := map[string]bool{} // collections that memories have moved to
	for _, name := range names {
		if !strings.HasPrefix(name, s.set.collection+"-") {
			continue
		}
		d, err := s.deedIn(ctx, name)
		if err != nil {
			return nil, err
		}
		if d != nil {
			out = append(out, &holding{name, *d})
			ends[d.Next] = ends[d.Next] || d.State == left
		}
	}
	for _, h := range out {
		if h.State == filling && ends[h.collection] {
			if err := s.hold(ctx, h.collection); err != nil {
				return nil, err
			}
			h.State = held
		}
	}
	return out, nil
}

// hold makes a collection the one that is held, after the one before was left.
func (s *Store) hold(ctx context.Context, collection string) error {
	for {
		d, err := s.deedIn(ctx, collection)
		if err != nil {
			return err
		}
		if d == nil {
			return fmt.Errorf("%w: collection %s is gone", memory.ErrAborted, collection)
		}
		if d.State != filling {
			return nil
		}
		now := *d
		now.State = held
		if ok, err := s.swap(ctx, collection, d, &now); ok || err != nil {
			return err
		}
	}
}

// Held gives the models that the stores under a URL's collection name are held
// for, by their IDs.
func Held(ctx context.Context, url string, opts *Options) (map[string]Model, error) {
	s, err := connect(ctx, url, opts)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	all, err := s.holdings(ctx)
	if err != nil {
		return nil, s.where(err)
	}
	out := map[string]Model{}
	for _, h := range all {
		if h.State == held || h.State == closing {
			out[h.Store] = h.Model
		}
	}
	return out, nil
}
