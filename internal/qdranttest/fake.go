package qdranttest

import (
	"cmp"
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// StandIn runs a server in this process that answers the calls memoryd makes as
// the Qdrant of a version does, with exact searches. Where Qdrant promises no
// order, it gives any.
func StandIn(t testing.TB, version string) *Server {
	t.Helper()
	return standIn(t, version)
}

func standIn(t testing.TB, version string, opts ...grpc.ServerOption) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{collections: map[string]*collection{}}
	s := grpc.NewServer(append(opts, grpc.MaxRecvMsgSize(maxMessage), grpc.MaxSendMsgSize(maxMessage))...)
	qdrant.RegisterPointsServer(s, points{fake: f})
	qdrant.RegisterCollectionsServer(s, collectionsServer{fake: f})
	qdrant.RegisterQdrantServer(s, health{version: version})
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = s.Serve(l) // it ends with Stop
	}()
	t.Cleanup(func() {
		s.Stop()
		<-served
	})
	return &Server{Addr: l.Addr().String(), fake: f}
}

// maxMessage is the largest message, in bytes, as that of qdrantstore.
const maxMessage = 256 << 20

// fake is the state that the services of a stand-in share. One mutex makes each
// call atomic, as Qdrant makes the writes to one point.
type fake struct {
	mu          sync.Mutex
	collections map[string]*collection
}

// collection is a collection with what memoryd reads back of its configuration.
// Indexes are not kept: every search compares all points.
type collection struct {
	config *qdrant.CollectionParams
	points map[string]*point
	// indexes are the payload fields of which an index was asked for. Conditions are evaluated without one.
	indexes map[string]*qdrant.PayloadSchemaInfo
}

// point is a point as Qdrant answers with it: dense vectors are of unit length,
// as in a collection that compares by cosine.
type point struct {
	id      *qdrant.PointId
	payload map[string]*qdrant.Value
	dense   map[string][]float32
	sparse  map[string]map[uint32]float32
}

// with runs do on a collection, alone.
func (f *fake) with(name string, do func(*collection) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.collections[name]
	if c == nil {
		return status.Errorf(codes.NotFound, "Not found: Collection `%s` doesn't exist!", name)
	}
	return do(c)
}

// copied copies all collections. Points are replaced and never changed, so the copy
// shares them.
func (f *fake) copied() map[string]*collection {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[string]*collection{}
	for name, c := range f.collections {
		out[name] = &collection{config: c.config, points: maps.Clone(c.points), indexes: maps.Clone(c.indexes)}
	}
	return out
}

// replace puts copied collections in the place of all.
func (f *fake) replace(copied map[string]*collection) {
	again := (&fake{collections: copied}).copied() // the copy may be brought back again
	f.mu.Lock()
	defer f.mu.Unlock()
	f.collections = again
}

// health answers the first call of a client, which asks for the version.
type health struct {
	qdrant.UnimplementedQdrantServer
	version string
}

// HealthCheck gives the version.
func (h health) HealthCheck(context.Context, *qdrant.HealthCheckRequest) (*qdrant.HealthCheckReply, error) {
	return &qdrant.HealthCheckReply{Title: "in-process stand-in", Version: h.version}, nil
}

// collectionsServer manages collections. Calls that memoryd does not make are
// answered as unimplemented.
type collectionsServer struct {
	qdrant.UnimplementedCollectionsServer
	*fake
}

// CollectionExists reports whether there is a collection of a name.
func (f collectionsServer) CollectionExists(
	_ context.Context, r *qdrant.CollectionExistsRequest,
) (*qdrant.CollectionExistsResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	there := f.collections[r.GetCollectionName()] != nil
	return &qdrant.CollectionExistsResponse{Result: &qdrant.CollectionExists{Exists: there}}, nil
}

// Create makes an empty collection.
func (f collectionsServer) Create(
	_ context.Context, r *qdrant.CreateCollection,
) (*qdrant.CollectionOperationResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	// The words matter too: a real server gives this error other codes, and
	// qdrantstore knows it by them.
	if f.collections[r.GetCollectionName()] != nil {
		return nil, status.Errorf(codes.AlreadyExists, "Wrong input: Collection `%s` already exists!",
			r.GetCollectionName())
	}
	f.collections[r.GetCollectionName()] = &collection{points: map[string]*point{},
		indexes: map[string]*qdrant.PayloadSchemaInfo{},
		config: &qdrant.CollectionParams{VectorsConfig: r.GetVectorsConfig(),
			SparseVectorsConfig: r.GetSparseVectorsConfig()}}
	return &qdrant.CollectionOperationResponse{Result: true}, nil
}

// Delete succeeds whether the collection is there or not, as Qdrant does.
func (f collectionsServer) Delete(
	_ context.Context, r *qdrant.DeleteCollection,
) (*qdrant.CollectionOperationResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.collections, r.GetCollectionName())
	return &qdrant.CollectionOperationResponse{Result: true}, nil
}

// List gives the names of all collections, in any order.
func (f collectionsServer) List(
	context.Context, *qdrant.ListCollectionsRequest,
) (*qdrant.ListCollectionsResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := &qdrant.ListCollectionsResponse{}
	for name := range f.collections {
		out.Collections = append(out.Collections, &qdrant.CollectionDescription{Name: name})
	}
	return out, nil
}

// Get describes a collection, whose status is always green.
func (f collectionsServer) Get(
	_ context.Context, r *qdrant.GetCollectionInfoRequest,
) (*qdrant.GetCollectionInfoResponse, error) {
	out := &qdrant.GetCollectionInfoResponse{}
	err := f.with(r.GetCollectionName(), func(c *collection) error {
		out.Result = &qdrant.CollectionInfo{Status: qdrant.CollectionStatus_Green,
			Config: &qdrant.CollectionConfig{Params: c.config}, PayloadSchema: maps.Clone(c.indexes)}
		return nil
	})
	return out, err
}

// points reads and writes points. Calls that memoryd does not make are answered
// as unimplemented.
type points struct {
	qdrant.UnimplementedPointsServer
	*fake
}

// CreateFieldIndex notes the index in what the collection tells of itself.
func (f points) CreateFieldIndex(
	_ context.Context, r *qdrant.CreateFieldIndexCollection,
) (*qdrant.PointsOperationResponse, error) {
	return &qdrant.PointsOperationResponse{Result: completed},
		f.with(r.GetCollectionName(), func(c *collection) error {
			c.indexes[r.GetFieldName()] = &qdrant.PayloadSchemaInfo{Params: r.GetFieldIndexParams()}
			return nil
		})
}

// completed is the answer to a write that is applied, as Wait asks for.
var completed = &qdrant.UpdateResult{Status: qdrant.UpdateStatus_Completed}

// UpdateBatch applies the operations in their order. Unlike a server of one node
// it insists on strong ordering.
func (f points) UpdateBatch(_ context.Context, r *qdrant.UpdateBatchPoints) (*qdrant.UpdateBatchResponse, error) {
	// A mistake here would show with several replicas only, which tests do not
	// have.
	if r.GetOrdering().GetType() != qdrant.WriteOrderingType_Strong {
		return nil, status.Error(codes.InvalidArgument,
			"the stand-in wants strong ordering: replicas check conditions each on its own otherwise")
	}
	out := &qdrant.UpdateBatchResponse{}
	return out, f.with(r.GetCollectionName(), func(c *collection) error {
		for _, op := range r.GetOperations() {
			up := op.GetUpsert()
			switch {
			case op.GetSetPayload() != nil:
				c.setPayload(op.GetSetPayload())
			case op.GetDeletePayload() != nil:
				c.deletePayload(op.GetDeletePayload())
			case op.GetDeletePoints() != nil:
				c.remove(op.GetDeletePoints().GetPoints())
			case up == nil:
				return status.Error(codes.Unimplemented, "the stand-in knows upserts, payloads and removals only")
			}
			for _, p := range up.GetPoints() {
				if err := c.upsert(p, up); err != nil {
					return err
				}
			}
			out.Result = append(out.Result, completed)
		}
		return nil
	})
}

// upsert writes a point as the mode says, and one that is there only if it
// passes the filter.
func (c *collection) upsert(p *qdrant.PointStruct, how *qdrant.PointsUpdateOperation_PointStructList) error {
	was, mode := c.points[p.GetId().GetUuid()], how.GetUpdateMode()
	if was == nil && mode == qdrant.UpdateMode_UpdateOnly {
		return nil
	}
	if was != nil && (mode == qdrant.UpdateMode_InsertOnly || !passes(was, how.GetUpdateFilter())) {
		return nil
	}
	// The request belongs to gRPC once the call is over.
	p = proto.Clone(p).(*qdrant.PointStruct)
	now := &point{
		id: p.GetId(), payload: p.GetPayload(), dense: map[string][]float32{}, sparse: map[string]map[uint32]float32{},
	}
	for name, v := range p.GetVectors().GetVectors().GetVectors() {
		if s := v.GetSparse(); s != nil {
			words := map[uint32]float32{}
			for i, n := range s.GetIndices() {
				words[n] = s.GetValues()[i]
			}
			now.sparse[name] = words
			continue
		}
		d := v.GetDense().GetData()
		if want := c.config.GetVectorsConfig().GetParamsMap().GetMap()[name].GetSize(); uint64(len(d)) != want {
			return status.Errorf(codes.InvalidArgument, "Wrong input: Vector dimension error: expected dim: %d, got %d",
				want, len(d))
		}
		now.dense[name] = unit(d) // as for cosine
	}
	c.points[p.GetId().GetUuid()] = now
	return nil
}

// remove removes the points that a selector names.
func (c *collection) remove(of *qdrant.PointsSelector) {
	for _, id := range of.GetPoints().GetIds() {
		delete(c.points, id.GetUuid())
	}
	if f := of.GetFilter(); f != nil {
		for _, p := range c.in(f) {
			delete(c.points, p.id.GetUuid())
		}
	}
}

// deletePayload removes fields of the points that a filter selects.
func (c *collection) deletePayload(gone *qdrant.PointsUpdateOperation_DeletePayload) {
	for _, p := range c.in(gone.GetPointsSelector().GetFilter()) {
		now := *p
		now.payload = maps.Clone(p.payload)
		for _, field := range gone.GetKeys() {
			delete(now.payload, field)
		}
		c.points[p.id.GetUuid()] = &now
	}
}

// setPayload changes fields of the points that a filter selects.
func (c *collection) setPayload(set *qdrant.PointsUpdateOperation_SetPayload) {
	for _, p := range c.in(set.GetPointsSelector().GetFilter()) {
		now := *p // points are replaced, never changed
		now.payload = maps.Clone(p.payload)
		for field, v := range set.GetPayload() {
			now.payload[field] = proto.Clone(v).(*qdrant.Value)
		}
		c.points[p.id.GetUuid()] = &now
	}
}

// unit scales a vector to unit length. One that is so within rounding stays as
// it is, bit by bit, as in Qdrant.
func unit(v []float32) []float32 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 || math.Abs(sum-1) < 1e-6 {
		return v
	}
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(float64(x) / math.Sqrt(sum))
	}
	return out
}

// Count counts the points that pass, exactly.
func (f points) Count(_ context.Context, r *qdrant.CountPoints) (*qdrant.CountResponse, error) {
	out := &qdrant.CountResponse{}
	return out, f.with(r.GetCollectionName(), func(c *collection) error {
		out.Result = &qdrant.CountResult{Count: uint64(len(c.in(r.GetFilter())))}
		return nil
	})
}

// Facet counts the values of a field among the points that pass. Qdrant orders
// them by count, and values of one count in any order.
func (f points) Facet(_ context.Context, r *qdrant.FacetCounts) (*qdrant.FacetResponse, error) {
	out := &qdrant.FacetResponse{}
	return out, f.with(r.GetCollectionName(), func(c *collection) error {
		counts := map[string]uint64{}
		for _, p := range c.in(r.GetFilter()) {
			if v, ok := p.payload[r.GetKey()]; ok {
				counts[v.GetStringValue()]++
			}
		}
		for v, n := range counts {
			value := &qdrant.FacetValue{Variant: &qdrant.FacetValue_StringValue{StringValue: v}}
			out.Hits = append(out.Hits, &qdrant.FacetHit{Value: value, Count: n})
		}
		slices.SortFunc(out.Hits, func(a, b *qdrant.FacetHit) int { return cmp.Compare(b.GetCount(), a.GetCount()) })
		limit := 10
		if r.Limit != nil {
			limit = int(r.GetLimit())
		}
		out.Hits = out.Hits[:min(limit, len(out.Hits))]
		return nil
	})
}

// Get gives the points of some ids that are there, in any order.
func (f points) Get(_ context.Context, r *qdrant.GetPoints) (*qdrant.GetResponse, error) {
	out := &qdrant.GetResponse{}
	return out, f.with(r.GetCollectionName(), func(c *collection) error {
		for _, id := range r.GetIds() {
			if p := c.points[id.GetUuid()]; p != nil {
				out.Result = append(out.Result, p.retrieved(r.GetWithPayload(), r.GetWithVectors()))
			}
		}
		// Qdrant answers in any order, and so a caller must not rely on one.
		rand.Shuffle(len(out.Result), func(i, j int) { out.Result[i], out.Result[j] = out.Result[j], out.Result[i] })
		return nil
	})
}

// Scroll gives a page of the points that pass, by id, and the id that the next
// page begins with.
func (f points) Scroll(_ context.Context, r *qdrant.ScrollPoints) (*qdrant.ScrollResponse, error) {
	out := &qdrant.ScrollResponse{}
	return out, f.with(r.GetCollectionName(), func(c *collection) error {
		all := c.in(r.GetFilter())
		slices.SortFunc(all, func(a, b *point) int { return strings.Compare(a.id.GetUuid(), b.id.GetUuid()) })
		limit := 10
		if r.Limit != nil {
			limit = int(r.GetLimit())
		}
		for _, p := range all {
			if p.id.GetUuid() < r.GetOffset().GetUuid() {
				continue
			}
			if len(out.Result) == limit {
				out.NextPageOffset = p.id
				break
			}
			out.Result = append(out.Result, p.retrieved(r.GetWithPayload(), r.GetWithVectors()))
		}
		return nil
	})
}

// retrieved is the point with the parts that a call asks for.
func (p *point) retrieved(
	payload *qdrant.WithPayloadSelector, vectors *qdrant.WithVectorsSelector,
) *qdrant.RetrievedPoint {
	return &qdrant.RetrievedPoint{Id: p.id, Payload: p.shown(payload), Vectors: p.vectors(vectors)}
}

// shown is the part of the payload that a selector names: fields, all of it, or
// nothing.
func (p *point) shown(s *qdrant.WithPayloadSelector) map[string]*qdrant.Value {
	if include := s.GetInclude(); include != nil {
		out := map[string]*qdrant.Value{}
		for _, f := range include.GetFields() {
			if v, ok := p.payload[f]; ok {
				out[f] = v
			}
		}
		return out
	}
	if s.GetEnable() {
		return p.payload
	}
	return nil
}

// vectors gives the dense vectors that a selector names. Nothing asks for sparse
// ones.
func (p *point) vectors(s *qdrant.WithVectorsSelector) *qdrant.VectorsOutput {
	named := map[string]*qdrant.VectorOutput{}
	for _, name := range s.GetInclude().GetNames() {
		if v := p.dense[name]; v != nil {
			named[name] = &qdrant.VectorOutput{Vector: &qdrant.VectorOutput_Dense{Dense: &qdrant.DenseVector{Data: v}}}
		}
	}
	if len(named) == 0 {
		return nil
	}
	return &qdrant.VectorsOutput{VectorsOptions: &qdrant.VectorsOutput_Vectors{
		Vectors: &qdrant.NamedVectorsOutput{Vectors: named},
	}}
}

// Query answers one query.
func (f points) Query(_ context.Context, r *qdrant.QueryPoints) (*qdrant.QueryResponse, error) {
	out := &qdrant.QueryResponse{}
	return out, f.with(r.GetCollectionName(), func(c *collection) error {
		out.Result = c.query(r)
		return nil
	})
}

// QueryBatch answers several queries at one state of the collection.
func (f points) QueryBatch(_ context.Context, r *qdrant.QueryBatchPoints) (*qdrant.QueryBatchResponse, error) {
	out := &qdrant.QueryBatchResponse{}
	return out, f.with(r.GetCollectionName(), func(c *collection) error {
		for _, q := range r.GetQueryPoints() {
			out.Result = append(out.Result, &qdrant.BatchResult{Result: c.query(q)})
		}
		return nil
	})
}
